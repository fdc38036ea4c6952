package commands

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kiln/actors/keyspace"
)

// expect runs lines, each followed by the reply that is wanted, in the form "line => reply".
func (b *bench) expect(lines ...string) {
	b.t.Helper()
	for _, l := range lines {
		line, want, _ := strings.Cut(l, " => ")
		if got := strings.TrimSuffix(b.do(line), "\r\n"); got != want {
			b.t.Errorf("%s: want %q, got %q", line, want, got)
		}
	}
}

// TestGenericEvents follows what Redis 8.0.6 notifies with notify-keyspace-events AKEnm.
func TestGenericEvents(t *testing.T) {
	for _, partitions := range []int{1, 7} {
		b := newBench(t, partitions)
		for _, c := range []struct{ line, events, journal string }{
			{"set a 1", "new a, set a", "set a 1"},
			{"rename a b", "new b, rename_from a, rename_to b", "rename a b"},
			{"set c 2", "new c, set c", "set c 2"},
			{"rename c b", "new b, rename_from c, rename_to b", "rename c b"},
			{"rename b b", "", ""},
			{"rename no b", "", ""},
			{"renamenx b d", "new d, rename_from b, rename_to d", "renamenx b d"},
			{"set b 1", "new b, set b", "set b 1"},
			{"renamenx d b", "", ""},
			{"copy b x", "new x, copy_to x", "copy b x"},
			{"copy b x", "", ""},
			{"copy b x replace", "new x, copy_to x", "copy b x replace"},
			{"copy b x db 1", "new x, copy_to x", "copy b x db 1"},
			{"copy no x", "keymiss no", ""},
			{"move b 1", "new b, move_from b, move_to b", "move b 1"},
			{"move x 1", "", ""},
			{"expire x 100", "expire x", "PEXPIREAT x 1700000100000"},
			{"expire x 100 nx", "", ""},
			{"expire no 100", "", ""},
			{"persist x", "persist x", "persist x"},
			{"persist x", "", ""},
			{"expire x -1", "del x", "DEL x"},
			{"set x 1", "new x, set x", "set x 1"},
			{"pexpireat x 1", "del x", "DEL x"},
			{"del d x d no", "del d", "del d x d no"},
			{"unlink d", "", ""},
			{"exists no", "keymiss no", ""},
			{"ttl no", "keymiss no", ""},
			{"type no", "keymiss no", ""},
			{"touch no", "keymiss no", ""},
			{"object encoding no", "", ""},
			{"keys no", "", ""},
			{"flushdb", "", "flushdb"},
			{"flushall", "", "flushall"},
			{"swapdb 0 1", "", "swapdb 0 1"},
			{"swapdb 1 1", "", ""},
		} {
			b.log = recorder{}
			b.do(c.line)
			if got := strings.Join(b.log.events, ", "); got != c.events {
				t.Errorf("%s: want events %q, got %q", c.line, c.events, got)
			}
			if got := strings.Join(b.log.journal, ", "); got != c.journal {
				t.Errorf("%s: want effects %q, got %q", c.line, c.journal, got)
			}
		}
	}
}

func TestExpiredTargetGoesFirst(t *testing.T) {
	for _, partitions := range []int{1, 7} {
		b := newBench(t, partitions)
		b.do("mset a 1 b 2")
		b.do("pexpire b 1")
		b.now += 2e6
		b.log = recorder{}
		b.expect("renamenx a b => :1", "get b => $1\r\n1", "pttl b => :-1")
		want := "expired b, new b, rename_from a, rename_to b"
		if got := strings.Join(b.log.events, ", "); got != want {
			t.Errorf("want events %q, got %q", want, got)
		}
		if got := strings.Join(b.log.journal, ", "); got != "DEL b, renamenx a b" {
			t.Errorf("want DEL before RENAMENX, got %q", got)
		}
	}
}

// TestGenericCounters follows keyspace_hits and keyspace_misses of Redis 8.0.6.
func TestGenericCounters(t *testing.T) {
	for _, c := range []struct {
		line         string
		hits, misses uint64
	}{
		{"exists k k no", 2, 1},
		{"touch k no", 1, 1},
		{"ttl k", 1, 0}, {"pttl no", 0, 1}, {"expiretime k", 1, 0}, {"pexpiretime no", 0, 1},
		{"type k", 1, 0}, {"type no", 0, 1},
		{"object encoding k", 1, 0}, {"object idletime no", 0, 1}, {"object freq k", 1, 0},
		{"copy k x", 1, 0}, {"copy no x", 0, 1},
		{"persist k", 0, 0}, {"expire k 1", 0, 0}, {"expire no 1", 0, 0},
		{"rename k x", 0, 0}, {"rename no x", 0, 0}, {"move k 1", 0, 0}, {"move no 1", 0, 0},
		{"del k no", 0, 0}, {"unlink k no", 0, 0},
		{"keys *", 0, 0}, {"keys k", 0, 0}, {"scan 0", 0, 0}, {"randomkey", 0, 0},
	} {
		b := newBench(t, 1)
		b.do("set k v")
		counters := b.spaces[0][0].Counters
		*counters = keyspace.Counters{}
		b.do(c.line)
		if counters.Hits != c.hits || counters.Misses != c.misses {
			t.Errorf("%s: want %d hits and %d misses, got %d and %d", c.line, c.hits, c.misses,
				counters.Hits, counters.Misses)
		}
	}
}

func TestOnlyTouchTouchesForClientsThatDoNot(t *testing.T) {
	b := newBench(t, 1)
	b.do("set k v")
	for _, c := range []struct {
		line    string
		noTouch bool
		idle    string
	}{
		{"exists k", false, ":10"}, {"ttl k", false, ":20"}, {"type k", false, ":30"},
		{"object encoding k", false, ":40"}, {"copy k x replace", true, ":50"},
		{"touch k", true, ":0"}, {"persist k", true, ":10"}, {"persist k", false, ":0"},
		{"copy k x replace", false, ":0"}, {"expire k 1000", false, ":0"},
		{"rename k k2", false, ":-"},
	} {
		b.now += 10e9
		b.conn.NoTouch = c.noTouch
		b.do(c.line)
		if c.idle != ":-" {
			b.expect("object idletime k => " + c.idle)
		}
	}
	b.expect("object idletime k2 => :0")
}

// TestDeadlinesAreFine: deadlines have nanoseconds; what is told of them is rounded as in Redis.
func TestDeadlinesAreFine(t *testing.T) {
	b := newBench(t, 1)
	b.now += 123
	b.do("set k v")
	b.expect("pexpire k 1500 => :1", "pttl k => :1500", "ttl k => :2",
		"pexpiretime k => :1700000001501")
	if want, got := "PEXPIREAT k 1700000001501", b.log.journal[1]; got != want {
		t.Errorf("want %q, rounded up, got %q", want, got)
	}
	b.now += 1
	b.expect("pttl k => :1500", "ttl k => :2")
	b.now += 1e6
	b.expect("pttl k => :1499", "ttl k => :1")
	b.now += 1499e6 - 1
	b.expect("pttl k => :0", "exists k => :1", "ttl k => :0")
	b.now++
	b.expect("pttl k => :-2", "exists k => :0")
}

// TestDeadlinesAreFar: nanoseconds end in the year 2262, milliseconds do not.
func TestDeadlinesAreFar(t *testing.T) {
	b := newBench(t, 1)
	b.do("set k v")
	now := b.now / 1e6
	for _, ms := range []int64{
		math.MaxInt64/1000000 - 1, math.MaxInt64 / 1000000, math.MaxInt64/1000000 + 1,
		math.MaxInt64 - 500, math.MaxInt64 - 1, math.MaxInt64,
	} {
		seconds := (uint64(ms) + 500) / 1000
		b.expect(
			fmt.Sprintf("pexpireat k %d => :1", ms),
			fmt.Sprintf("pexpiretime k => :%d", ms),
			fmt.Sprintf("expiretime k => :%d", seconds),
			fmt.Sprintf("pttl k => :%d", ms-now),
			fmt.Sprintf("pexpireat k %d gt => :0", ms),
			fmt.Sprintf("pexpireat k %d lt => :0", ms),
			"exists k => :1",
		)
		if ms < math.MaxInt64 {
			b.expect(fmt.Sprintf("pexpireat k %d gt => :1", ms+1))
		}
	}
	most := math.MaxInt64 - now
	b.expect(
		fmt.Sprintf("pexpire k %d => :1", most),
		fmt.Sprintf("pexpiretime k => :%d", math.MaxInt64),
		fmt.Sprintf("pexpire k %d => -ERR invalid expire time in 'pexpire' command", most+1),
		"set k w keepttl => +OK",
		fmt.Sprintf("pexpiretime k => :%d", math.MaxInt64),
		"pexpireat k 10 lt => :1", "exists k => :0",
	)
}

// TestRenameKeepsWhatIsThere renames, copies and moves keys of all encodings between many others,
// so that tables grow and shrink under it.
func TestRenameKeepsWhatIsThere(t *testing.T) {
	for _, partitions := range []int{1, 7} {
		b := newBench(t, partitions)
		const n = 3000
		value := func(i int) string { return strings.Repeat(strconv.Itoa(i), 1+i%7*(i%11)*60) }
		for i := range n {
			b.run("set", fmt.Sprint("a", i), value(i))
			if i%3 == 0 {
				b.run("pexpire", fmt.Sprint("a", i), "1000000")
			}
		}
		want := b.keysOf(0)
		for i := range n {
			if got := b.do(fmt.Sprintf("rename a%d b%d", i, i)); got != "+OK\r\n" {
				t.Fatalf("rename %d: %s", i, got)
			}
		}
		for i := range n {
			b.do(fmt.Sprintf("copy b%d a%d", i, i))
		}
		b.do("swapdb 0 2")
		b.do("select 2")
		for i := range n {
			if got := b.do(fmt.Sprintf("move a%d 0", i)); got != ":1\r\n" {
				t.Fatalf("move %d: %s", i, got)
			}
		}
		if len(b.keysOf(2)) != n {
			t.Errorf("want %d keys left, got %d", n, len(b.keysOf(2)))
		}
		got := b.keysOf(0)
		for k, v := range want {
			if got[k] != v {
				t.Errorf("%s: want %.60q, got %.60q", k, v, got[k])
			}
			if i, _ := strconv.Atoi(k[1:]); !strings.Contains(v, " "+value(i)+" ") {
				t.Errorf("%s holds %.60q", k, v)
			}
		}
		if len(got) != n {
			t.Errorf("want %d keys, got %d", n, len(got))
		}
	}
}

func TestFlushedIsTold(t *testing.T) {
	b := newBench(t, 7)
	told := &flushes{}
	b.call.Effects.Listener = told
	b.do("select 3")
	b.do("flushdb")
	b.do("flushall")
	b.do("swapdb 1 2")
	b.do("flushdb foo")
	b.do("swapdb 1 99")
	if want := []int{3, -1, 1, 2}; !slices.Equal(*told, want) {
		t.Errorf("want %v, got %v", want, *told)
	}
}

// flushes is a listener that keeps the databases that were flushed.
type flushes []int

func (*flushes) Journal([]Effect)                 {}
func (*flushes) Changed(int, []byte)              {}
func (*flushes) Event(Class, string, int, []byte) {}
func (*flushes) Ready(int, []byte)                {}
func (f *flushes) Flushed(db int)                 { *f = append(*f, db) }

func TestGenericDoesNotAllocate(t *testing.T) {
	b := newBench(t, 1)
	b.do("mset k v n 12")
	b.do("expire n 1000")
	b.call.Effects.Listener = nil
	for _, line := range []string{
		"exists k", "exists no", "expire k 100", "expire n 200 gt", "pexpireat n 4102444800000",
		"ttl k", "pttl no", "del no", "unlink no", "type k", "touch k n", "persist no", "keys k",
		"rename k k", "randomkey", "dbsize",
	} {
		argv := splitLine(line)
		spec, err := Resolve(argv)
		if err != nil {
			t.Fatal(err)
		}
		c := &b.call
		c.Keys, c.Hashes, c.Space = nil, nil, b.spaces[0][0]
		if allocs := testing.AllocsPerRun(100, func() {
			b.reply.Reset()
			c.Reset(spec, argv)
			_ = Exec(c)
		}); allocs > 0 && !invariants {
			t.Errorf("%s: want no allocation, got %v", line, allocs)
		}
	}
}

func splitLine(line string) (argv [][]byte) {
	for _, w := range strings.Fields(line) {
		argv = append(argv, []byte(w))
	}
	return argv
}
