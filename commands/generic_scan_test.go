package commands

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"kiln/actors/keyspace"
)

// scanned runs one SCAN and gives its cursor and keys.
func (b *bench) scanned(words ...string) (cursor string, keys []string) {
	b.t.Helper()
	v, _, err := readShow([]byte(b.run(append([]string{"scan"}, words...)...)))
	if err != nil || len(v.elems) != 2 {
		b.t.Fatalf("scan %q: %v %v", words, v, err)
	}
	for _, e := range v.elems[1].elems {
		keys = append(keys, e.text)
	}
	return v.elems[0].text, keys
}

// TestScanGivesAllThatStays scans while keys come and go: those that stay are all given.
func TestScanGivesAllThatStays(t *testing.T) {
	for _, partitions := range []int{1, 7, 64} {
		for _, count := range []string{"1", "10", "1000", "100000"} {
			b := newBench(t, partitions)
			r := rand.New(rand.NewPCG(1, uint64(partitions)))
			const stay = 2000
			for i := range stay {
				b.run("set", fmt.Sprint("stay", i), "x")
			}
			come := 0
			given := make(map[string]int)
			cursor, calls := "0", 0
			for first := true; first || cursor != "0"; first = false {
				var keys []string
				cursor, keys = b.scanned(cursor, "COUNT", count, "MATCH", "stay*")
				for _, k := range keys {
					given[k]++
				}
				calls++
				for range r.IntN(20) {
					switch {
					case calls/100%2 == 0:
						b.run("set", fmt.Sprint("come", come), "x")
						come++
					default:
						b.run("del", fmt.Sprint("come", r.IntN(come+1)))
					}
				}
			}
			if len(given) != stay {
				t.Errorf("%d partitions, count %s: want %d keys, got %d", partitions, count, stay,
					len(given))
			}
			n, _ := strconv.Atoi(count)
			if most := 3 * (stay + come) / n; calls > most+partitions+5 {
				t.Errorf("%d partitions, count %s: %d calls", partitions, count, calls)
			}
		}
	}
}

func TestScanSkipsEmptyPartitionsAtOnce(t *testing.T) {
	b := newBench(t, 64)
	b.do("set k v")
	cursor, keys := b.scanned("0")
	if cursor != "0" || len(keys) != 1 {
		t.Errorf("want the one key at once, got %q and %q", keys, cursor)
	}
}

func TestScanTakesAnyCursor(t *testing.T) {
	b := newBench(t, 7)
	for i := range 500 {
		b.run("set", fmt.Sprint(i), "x")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		cursor := strconv.FormatUint(r.Uint64()>>r.IntN(64), 10)
		for range 3 {
			cursor, _ = b.scanned(cursor)
		}
	}
	for cursor, want := range map[string]uint64{
		"0": 0, "00": 0, "+5": 5, "-0": 0, "-01": math.MaxUint64, " 7": 7, "\t\n7": 7, "7\x00x": 7,
		"18446744073709551615": math.MaxUint64, "-18446744073709551615": 1,
		"9223372036854775808": 1 << 63,
	} {
		if got, ok := parseCursor([]byte(cursor)); !ok || got != want {
			t.Errorf("%q: want %d, got %d %t", cursor, want, got, ok)
		}
	}
	for _, cursor := range []string{
		"", " ", "+", "-", "-1", "0 ", "1.5", "0x", "18446744073709551616", "\x00", "--1",
		"99999999999999999999999",
	} {
		if got, ok := parseCursor([]byte(cursor)); ok {
			t.Errorf("%q: want none, got %d", cursor, got)
		}
	}
}

// busy is a bench whose partitions are busy, or whose entries are counted.
type busy struct {
	*bench
	entered, left int
	refuse        bool
}

func (b *busy) Enter(p, db int) (*keyspace.Space, error) {
	if b.refuse {
		return nil, ErrElsewhere
	}
	b.entered++
	return b.bench.Enter(p, db)
}

func (b *busy) SpaceOf(db int, key []byte, h uint64) (*keyspace.Space, error) {
	if b.refuse {
		return nil, ErrElsewhere
	}
	b.entered++
	return b.bench.SpaceOf(db, key, h)
}

func (b *busy) Leave() { b.left++ }

// TestQuickCallsLeaveForElsewhere: on an event loop a call that would take long, or meets a busy
// partition, writes nothing and is run elsewhere.
func TestQuickCallsLeaveForElsewhere(t *testing.T) {
	b := newBench(t, 7)
	for i := range 100 {
		b.run("set", fmt.Sprint("k", i), "x")
	}
	shards := &busy{bench: b}
	b.call.Shards, b.call.Quick, b.call.Space = shards, true, nil
	for _, c := range []struct {
		line            string
		free, elsewhere bool // what is wanted where partitions are free, and where not
	}{
		{"scan 0", false, true},
		{"scan 0 count 1000", false, true},
		{"scan 0 count 1001", true, true},
		{"scan 0 count 1000 match " + strings.Repeat("*a", 40), true, true},
		{"scan 0 count 10 match " + strings.Repeat("*a", 40), false, true},
		{"keys *", true, true},
		{"keys k5", false, true},
		{"randomkey", false, true},
		{"dbsize", false, false},
	} {
		for _, refuse := range []bool{false, true} {
			shards.refuse, shards.entered, shards.left = refuse, 0, 0
			argv := splitLine(c.line)
			spec, err := Resolve(argv)
			if err != nil {
				t.Fatal(err)
			}
			b.reply.Reset()
			b.call.Keys, b.call.Hashes = nil, nil
			b.call.Reset(spec, argv)
			err = Exec(&b.call)
			want := c.free
			if refuse {
				want = c.elsewhere
			}
			if got := err == ErrElsewhere; got != want || (b.reply.Len() == 0) != want {
				t.Errorf("%.40s, busy %t: want elsewhere %t, got %v and %d bytes", c.line, refuse,
					want, err, b.reply.Len())
			}
			if shards.entered != shards.left {
				t.Errorf("%.40s: %d entered, %d left", c.line, shards.entered, shards.left)
			}
		}
	}
}

func TestExpiredKeysAreNotShown(t *testing.T) {
	for _, partitions := range []int{1, 7} {
		b := newBench(t, partitions)
		for i := range 500 {
			b.run("set", fmt.Sprint("dead", i), "x", "px", "1")
		}
		b.now += 2e6
		b.expect("randomkey => $-1", "keys * => *0", "keys dead5 => *0", "dbsize => :500")
		if _, keys := b.scanned("0", "COUNT", "10000"); len(keys) != 0 {
			t.Errorf("want no keys, got %q", keys)
		}
		b.do("set live x")
		b.expect("randomkey => $4\r\nlive", "keys * => *1\r\n$4\r\nlive")
		if len(b.log.events) != 0 && strings.Contains(strings.Join(b.log.events, " "), "expired") {
			t.Error("what holds no partition must not delete")
		}
	}
}

// TestRandomkeyIsFair draws often: each key comes about as often as the others.
func TestRandomkeyIsFair(t *testing.T) {
	for _, partitions := range []int{1, 7} {
		b := newBench(t, partitions)
		const keys, draws = 50, 50_000
		for i := range keys {
			b.run("set", fmt.Sprint("k", i), "x")
		}
		drawn := make(map[string]int)
		for range draws {
			drawn[b.do("randomkey")]++
		}
		if len(drawn) != keys {
			t.Errorf("%d partitions: want all %d keys, got %d", partitions, keys, len(drawn))
		}
		for k, n := range drawn {
			if n < draws/keys/8 || n > draws/keys*4 {
				t.Errorf("%d partitions: %q was drawn %d times of %d", partitions, k, n, draws)
			}
		}
	}
}

func TestKeysSealsLongReplies(t *testing.T) {
	b := newBench(t, 7)
	const n = 3000
	for i := range n {
		b.run("set", fmt.Sprintf("%0200d", i), "x")
	}
	for _, line := range []string{"keys *", "keys *1*", "scan 0 count 100000"} {
		v, rest, err := readShow([]byte(b.do(line)))
		if err != nil || len(rest) > 0 {
			t.Fatalf("%s: %v, %d bytes too many", line, err, len(rest))
		}
		if strings.HasPrefix(line, "scan") {
			v = v.elems[1]
		}
		seen := make(map[string]bool)
		for _, e := range v.elems {
			seen[e.text] = true
		}
		want := 0
		for i := range n {
			if line != "keys *1*" || strings.Contains(strconv.Itoa(i), "1") {
				want++
			}
		}
		if len(seen) != want || len(v.elems) != want {
			t.Errorf("%s: want %d keys, got %d of %d", line, want, len(seen), len(v.elems))
		}
	}
}
