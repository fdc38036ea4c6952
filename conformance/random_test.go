package conformance

import (
	"context"
	"flag"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	seedFlag   = flag.Uint64("seed", 1, "of the random commands; 0 for one by the clock")
	linesFlag  = flag.Int("lines", 20_000, "random commands in each protocol")
	groupsFlag = flag.String("groups", "", "of the random commands, with commas; empty for all")
)

const differencesMax = 40

// TestRandom tells Kiln and a real server the same random commands, and wants the same replies.
func TestRandom(t *testing.T) {
	if *referenceFlag == "" || strings.Contains(*referenceFlag, ":") {
		t.Skip("KILN_REFERENCE or -reference names no program")
	}
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	args := []string{"--enable-debug-command", "yes"}
	want, err := newServers(t, *referenceFlag).get(t, args)
	if err != nil {
		t.Fatal(err)
	}
	got, err := newServers(t, kiln(t)).get(t, args)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	names := commonNames(ctx, t, want.Addr, got.Addr)
	var groups []string
	if *groupsFlag != "" {
		groups = strings.Split(*groupsFlag, ",")
	}
	for _, proto := range []string{"2", "3"} {
		t.Run("resp"+proto, func(t *testing.T) {
			seen := map[string]int{}
			p := Pair{Want: want.Addr, Got: got.Addr, Proto: proto, Report: func(d Difference) {
				kind := strings.ToLower(strings.Join(strings.Fields(d.Line)[1:2], " ")) + d.Want[:1] + d.Got[:1]
				if seen[kind]++; seen[kind] <= 2 && len(seen) < differencesMax {
					t.Errorf("-seed %d\n%s", seed, d)
				}
			}}
			stream := NewStream(seed, time.Now().Unix(), names, groups...)
			if err := p.Play(ctx, stream, *linesFlag); err != nil {
				t.Error(err)
			}
			t.Logf("%d lines of seed %d", p.Lines, seed)
		})
	}
}

// commonNames are the commands that both servers know.
func commonNames(ctx context.Context, t *testing.T, addrs ...string) []string {
	t.Helper()
	var common []string
	for i, addr := range addrs {
		names, err := commandNames(ctx, addr)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			common = names
		}
		common = slices.DeleteFunc(common, func(n string) bool { return !slices.Contains(names, n) })
	}
	return common
}

// TestStreamIsRepeatable: a seed that found something has to find it again.
func TestStreamIsRepeatable(t *testing.T) {
	a, b := NewStream(1, 1_700_000_000, []string{"get"}), NewStream(1, 1_700_000_000, []string{"get"})
	for range 20_000 {
		if want, got := printLine(a.Next()), printLine(b.Next()); want != got {
			t.Fatalf("want %s, got %s", want, got)
		}
	}
}
