package commands

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// journalLog is a listener that keeps the journal as a server would write it.
type journalLog struct {
	recorder
	effects []loggedEffect
}

type loggedEffect struct {
	db    int
	words []string
}

func (l *journalLog) Journal(effects []Effect) {
	for _, e := range effects {
		var words []string
		for _, w := range e.Args {
			words = append(words, string(w))
		}
		l.effects = append(l.effects, loggedEffect{e.DB, words})
	}
}

// TestReplayGivesTheSameData runs a random workload, and then its journal on an empty bench, whose
// clock stands: keys, values and deadlines must be the same. A journal may be replayed at any
// later time, so a clock that is ahead of it would delete what PEXPIREAT meets too late; whoever
// replays sets one that is behind.
func TestReplayGivesTheSameData(t *testing.T) {
	for seed := range uint64(10) {
		for _, partitions := range []int{1, 7} {
			name := fmt.Sprintf("seed %d, %d partitions", seed, partitions)
			r := rand.New(rand.NewPCG(seed, 1))
			b := newBench(t, partitions)
			b.call.Held = seed%5 == 4
			log := &journalLog{}
			b.call.Effects.Listener = log
			for range 3000 {
				b.do(randomLine(r))
				if r.IntN(10) == 0 {
					b.now += int64(r.IntN(40)) * 1e6
				}
			}

			again := newBench(t, 8-partitions)
			for _, e := range log.effects {
				again.conn.DB = e.db
				reply := again.run(e.words...)
				if reply[0] == '-' {
					t.Fatalf("%s: %q gives %q", name, e.words, reply)
				}
			}
			again.now = b.now
			for db := range b.spaces {
				want, got := b.keysOf(db), again.keysOf(db)
				for k, v := range want {
					if textOf(v) != textOf(got[k]) {
						t.Errorf("%s: %d:%s: want %q, got %q", name, db, k, v, got[k])
					}
				}
				if len(want) != len(got) {
					t.Errorf("%s: want %d keys in %d, got %d", name, len(want), db, len(got))
				}
			}
		}
		if t.Failed() {
			return
		}
	}
}

// textOf leaves out how a value is encoded: the journal has bytes.
func textOf(shown string) string {
	_, text, _ := strings.Cut(shown, " ")
	return text
}

var randomLines = []string{
	"set K V", "set K N", "set K V px T", "set K V keepttl", "set K V pxat A", "set K V nx get",
	"set K L", "mset K V K N K V", "msetnx K V K V", "getdel K", "getex K px T", "getex K persist",
	"incr K", "decrby K N", "incrbyfloat K 1.5", "append K V", "setrange K 5 V", "get K",
	"setex K 1 V",
	"del K K", "unlink K", "exists K K", "touch K K", "ttl K", "type K",
	"expire K 1", "pexpire K T", "pexpireat K A", "pexpire K T gt", "pexpire K T lt", "pexpire K T nx",
	"pexpire K T xx", "expire K -1", "expire K 9999999999999", "persist K", "persist K",
	"rename K K", "rename K K", "renamenx K K", "copy K K", "copy K K replace", "copy K K db D",
	"copy K K replace db D", "move K D", "select D", "keys *", "scan 0 count 1000", "randomkey",
	"dbsize",
}

// randomLine fills a line in: keys, values, numbers, long values, times from now, absolute times
// and databases. Once in a while it is one that changes all.
func randomLine(r *rand.Rand) string {
	if r.IntN(400) == 0 {
		return []string{"flushdb", "flushall async", "swapdb 0 1", "swapdb 2 1"}[r.IntN(4)]
	}
	words := strings.Fields(randomLines[r.IntN(len(randomLines))])
	for i, w := range words {
		switch w {
		case "K":
			words[i] = fmt.Sprint("k", r.IntN(30))
		case "V":
			words[i] = strings.Repeat("v", r.IntN(70)+1)
		case "L":
			words[i] = strings.Repeat("long", 1+r.IntN(3000))
		case "N":
			words[i] = fmt.Sprint(r.IntN(2000) - 1000)
		case "T":
			words[i] = fmt.Sprint(r.IntN(2000) - 100)
		case "A":
			words[i] = fmt.Sprint(1_700_000_000_000 + r.IntN(10_000))
		case "D":
			words[i] = fmt.Sprint(r.IntN(3))
		}
	}
	return strings.Join(words, " ")
}

// TestPartitionsChangeNoReply runs one stream with one partition and with several.
func TestPartitionsChangeNoReply(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 2))
		one, seven, held := newBench(t, 1), newBench(t, 7), newBench(t, 7)
		held.call.Held = true
		for range 2000 {
			line := randomLine(r)
			if unordered := strings.Fields(line)[0]; unordered == "keys" || unordered == "scan" ||
				unordered == "randomkey" {
				continue
			}
			want := one.do(line)
			if got := seven.do(line); got != want {
				t.Fatalf("seed %d: %s: want %q, got %q", seed, line, want, got)
			}
			if got := held.do(line); got != want {
				t.Fatalf("seed %d: held: %s: want %q, got %q", seed, line, want, got)
			}
			if r.IntN(10) == 0 {
				one.now += int64(r.IntN(40_000_000))
				seven.now, held.now = one.now, one.now
			}
		}
		if a, b := one.log.journal, seven.log.journal; !bytes.Equal(
			[]byte(strings.Join(a, "\n")), []byte(strings.Join(b, "\n"))) {
			t.Errorf("seed %d: the journals differ: %d and %d effects", seed, len(a), len(b))
		}
	}
}
