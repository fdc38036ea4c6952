package commands

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kiln/actors/keyspace"
)

func TestStringTranscripts(t *testing.T) { playTranscripts(t, "string/*.txt") }

// TestStringReplies holds what no reference here can record: the commands of Redis 8.4 and 8.8,
// as its pages and its own tests have them.
func TestStringReplies(t *testing.T) {
	syntax := "-ERR syntax error\r\n"
	b := newBench(t, 3)
	for _, c := range []struct{ line, want string }{
		{"DELEX none FOO v", ":0\r\n"}, // The key is looked at before the condition.
		{"SET k hello", "+OK\r\n"},
		{"DELEX k FOO v", "-ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE\r\n"},
		{"DELEX k IFDEQ abc", "-ERR must be exactly 16 hexadecimal characters\r\n"},
		{"DELEX k IFDNE zzzzzzzzzzzzzzzz IFEQ",
			"-ERR wrong number of arguments for 'delex' command\r\n"},
		{"DELEX none IFEQ", "-ERR wrong number of arguments for 'delex' command\r\n"},
		{"DIGEST k", "$16\r\n9555e8555c62dcfd\r\n"},
		{"SET none v IFDEQ abc", "$-1\r\n"},
		{"SET none v IFDNE abc", "+OK\r\n"},
		{"SET k v IFDEQ abc", "-ERR must be exactly 16 hexadecimal characters\r\n"},
		{"SET k v IFDNE zzzzzzzzzzzzzzzz GET", "$5\r\nhello\r\n"},
		{"SET k v IFEQ v IFNE v", syntax},
		{"SET k hello NX IFEQ v", syntax},
		{"MSETEX 0 a b", "-ERR invalid numkeys value\r\n"},
		{"MSETEX 2147483648 a b", "-ERR invalid numkeys value\r\n"},
		{"MSETEX 2147483647 a b", "-ERR wrong number of key-value pairs\r\n"},
		{"MSETEX 2 a b c", "-ERR wrong number of key-value pairs\r\n"},
		{"MSETEX 1 a b c", syntax},
		{"INCREX n BYINT x", "-ERR Increment is not an integer or out of range\r\n"},
		{"INCREX n LBOUND 1.5", "-ERR LBOUND is not an integer or out of range\r\n"},
		{"INCREX n BYFLOAT x", "-ERR Increment is not a valid float\r\n"},
		{"INCREX n BYFLOAT 1 UBOUND x", "-ERR UBOUND is not a valid float\r\n"},
		{"INCREX n BYFLOAT -inf", "-ERR BYFLOAT increment cannot be Infinity\r\n"},
		{"INCREX n LBOUND 2 UBOUND 1", "-ERR LBOUND can't be greater than UBOUND\r\n"},
		{"INCREX n ENX", "-ERR ENX flag requires an expiration\r\n"},
		{"INCREX n ENX PERSIST", syntax},
		{"INCREX n PERSIST ENX", syntax},
		{"INCREX n EX 1 EX 1", syntax},
		{"INCREX n BYINT 1 BYINT 1", syntax},
		{"INCREX n SATURATE SATURATE", syntax},
		{"INCREX n LBOUND", syntax},
		{"INCREX n EX 0", "-ERR invalid expire time in 'increx' command\r\n"},
		{"SET n 9223372036854775800", "+OK\r\n"},
		{"INCREX n BYINT 1 SATURATE UBOUND -9223372036854775808",
			"-ERR applied increment would overflow\r\n"},
		{"INCREX n BYINT 100 UBOUND 10 SATURATE", "*2\r\n:10\r\n:-9223372036854775790\r\n"},
		{"INCREX n BYFLOAT 1 UBOUND inf", "*2\r\n$2\r\n11\r\n$1\r\n1\r\n"},
		{"INCREX n BYFLOAT 1 LBOUND inf UBOUND inf", "*2\r\n$2\r\n11\r\n$1\r\n0\r\n"},
		{"INCREX n BYFLOAT 1 LBOUND inf UBOUND inf SATURATE",
			"-ERR applied increment would be Infinity\r\n"},
		{"INCREX n BYFLOAT -1 LBOUND -inf UBOUND 5 SATURATE", "*2\r\n$1\r\n5\r\n$2\r\n-6\r\n"},
		{"SET n inf", "+OK\r\n"},
		{"INCREX n BYFLOAT 1", "-ERR value cannot be Infinity\r\n"},
		{"SET n 1 EX 100", "+OK\r\n"},
		{"INCREX n EXAT 1 ENX", "*2\r\n:2\r\n:1\r\n"},
		{"INCREX n EXAT 1", "*2\r\n:3\r\n:1\r\n"},
		{"GET n", "$-1\r\n"},
		{"INCREX n EXAT 1", "*2\r\n:1\r\n:1\r\n"},
		{"GET n", "$-1\r\n"},
	} {
		if got := b.do(c.line); got != c.want {
			t.Errorf("%s: want %q, got %q", c.line, c.want, got)
		}
	}
}

// TestStringEffects pins what the journal and the subscribers of keyspace events get. A real
// Redis 8.0.6 gave the same, but for options that have done their work: it keeps SET's NX, XX and
// GET, and options that were there twice.
func TestStringEffects(t *testing.T) {
	for _, c := range []struct{ before, line, journal, events string }{
		{"", "SET k v", "SET k v", "new k, set k"},
		{"", "SET k v EX 10", "SET k v PXAT 1700000010000", "new k, set k, expire k"},
		{"", "SET k v NX PX 10", "SET k v PXAT 1700000000010", "new k, set k, expire k"},
		{"SET k v EX 10", "SET k w KEEPTTL GET", "SET k w KEEPTTL", "set k"},
		{"", "SET k w GET", "SET k w", "keymiss k, new k, set k"},
		{"SET k v", "SET k w NX", "", ""},
		{"SET k v", "SET k w IFEQ v", "SET k w", "set k"},
		{"", "SETEX k 10 v", "SET k v PXAT 1700000010000", "new k, set k, expire k"},
		{"SET k v", "GETSET k w", "SET k w", "set k"},
		{"SET k v", "GETDEL k", "DEL k", "del k"},
		{"SET k v", "GETEX k", "", ""},
		{"SET k v", "GETEX k PERSIST", "", ""},
		{"SET k v EX 10", "GETEX k PERSIST", "PERSIST k", "persist k"},
		{"SET k v", "GETEX k EX 10", "PEXPIREAT k 1700000010000", "expire k"},
		{"SET k v", "GETEX k EXAT 1", "DEL k", "del k"},
		{"SET k v", "DELEX k IFNE w", "DEL k", "del k"},
		{"SET k v", "DELIFEQ k v", "DEL k", "del k"},
		{"SET k v", "APPEND k w", "APPEND k w", "append k"},
		{"SET k v", "SETRANGE k 3 w", "SETRANGE k 3 w", "setrange k"},
		{"", "DECR k", "DECR k", "new k, incrby k"},
		{"SET k 1 EX 10", "INCRBYFLOAT k 0.5", "SET k 1.5 KEEPTTL", "incrbyfloat k"},
		{"", "MSET k v k w", "MSET k v k w", "new k, set k, set k"},
		{"", "MSETNX k v l w", "MSETNX k v l w", "new k, set k, new l, set l"},
		{"", "MSETEX 2 k v l w", "SET k v; SET l w", "new k, set k, new l, set l"},
		{"SET k u EX 10", "MSETEX 1 k v KEEPTTL", "SET k v KEEPTTL", "set k"},
		{"", "INCREX k", "SET k 1 KEEPTTL", "new k, incrby k"},
		{"", "INCREX k BYFLOAT 0.5 EX 10", "SET k 0.5 PXAT 1700000010000",
			"new k, incrbyfloat k, expire k"},
		{"SET k 1 EX 10", "INCREX k PERSIST", "SET k 2", "incrby k, persist k"},
		{"SET k 1 EX 10", "INCREX k EX 20 ENX", "SET k 2 KEEPTTL", "incrby k"},
		{"SET k 1", "INCREX k EXAT 1", "DEL k", "del k"},
		{"", "INCREX k EXAT 1", "", ""},
		{"SET k 1", "INCREX k UBOUND 1 EX 10", "", ""},
	} {
		b := newBench(t, 1)
		if c.before != "" {
			b.do(c.before)
		}
		b.log = recorder{}
		b.do(c.line)
		if got := strings.Join(b.log.journal, "; "); got != c.journal {
			t.Errorf("%s: want journal %q, got %q", c.line, c.journal, got)
		}
		if got := strings.Join(b.log.events, ", "); got != c.events {
			t.Errorf("%s: want events %q, got %q", c.line, c.events, got)
		}
	}
}

// stringLines draws commands over few keys, so that they meet.
type stringLines struct{ *rand.Rand }

func (r stringLines) one(of ...string) string { return of[r.IntN(len(of))] }
func (r stringLines) key() string             { return r.one("a", "b", "c", "d", "") }
func (r stringLines) int() string {
	return r.one("0", "1", "-7", "9223372036854775807", "x")
}

func (r stringLines) value() string {
	return r.one("", "v", "12", "-3", "0.5", strings.Repeat("x", r.IntN(200)),
		strings.Repeat("big", 2000))
}

func (r stringLines) expiry() []string {
	return [][]string{
		nil, {"EX", "10"}, {"PX", r.one("30", "3000")}, {"EXAT", r.one("1", "4102444800")},
		{"PXAT", r.one("1", "4102444800123")}, {r.one("KEEPTTL", "PERSIST")}, {"EX", "0"},
	}[r.IntN(7)]
}

func (r stringLines) draw() []string {
	k, v := r.key(), r.value()
	lines := [][]string{
		{"APPEND", k, v}, {"DECR", k}, {"INCR", k}, {"DECRBY", k, r.int()}, {"INCRBY", k, r.int()},
		{"INCRBYFLOAT", k, r.one("0.1", "-2", "1e20")}, {"DELIFEQ", k, v}, {"DIGEST", k},
		{"DELEX", k, r.one("IFEQ", "IFNE", "IFDEQ"), v}, {"GET", k}, {"GETDEL", k},
		append([]string{"GETEX", k}, r.expiry()...), {"GETRANGE", k, r.int(), r.int()},
		{"GETSET", k, v}, {"LCS", k, r.key(), r.one("IDX", "LEN")}, {"MGET", k, r.key(), k},
		{"MSET", k, v, r.key(), v}, {"MSETNX", k, v, r.key(), v}, {"SETEX", k, "5", v},
		append([]string{"MSETEX", "2", k, v, r.key(), v}, r.expiry()...),
		append([]string{"INCREX", k, r.one("SATURATE", "BYINT", "BYFLOAT"), "3"}, r.expiry()...),
		append([]string{"INCREX", k, "UBOUND", "20"}, r.expiry()...),
		append([]string{"SET", k, v, r.one("NX", "XX", "GET", "KEEPTTL")}, r.expiry()...),
		append([]string{"SET", k, v}, r.expiry()...), {"SET", k, v, "IFEQ", r.value()},
		{"SETNX", k, v}, {"SETRANGE", k, r.one("0", "3", "5000"), v}, {"STRLEN", k},
	}
	return lines[r.IntN(len(lines))]
}

// TestStringPartitions: how many there are, and whether the call holds them, changes no reply.
func TestStringPartitions(t *testing.T) {
	const seed = 11
	lines := stringLines{rand.New(rand.NewPCG(seed, 1))}
	one, many, held := newBench(t, 1), newBench(t, 7), newBench(t, 7)
	held.call.Held = true
	for i := range 20_000 {
		line := lines.draw()
		one.now += int64(lines.IntN(4_000_000))
		many.now, held.now = one.now, one.now
		want := one.run(line...)
		if got := many.run(line...); got != want {
			t.Fatalf("%d (seed %d): %q: want %q, got %q", i, seed, line, want, got)
		}
		if got := held.run(line...); got != want {
			t.Fatalf("%d (seed %d), held: %q: want %q, got %q", i, seed, line, want, got)
		}
	}
}

// keeper is a listener that keeps the journal as it is.
type keeper struct {
	recorder
	lines [][]string
}

func (k *keeper) Journal(effects []Effect) {
	for _, e := range effects {
		var line []string
		for _, w := range e.Args {
			line = append(line, string(w))
		}
		k.lines = append(k.lines, line)
	}
}

// contents gives all keys with value, encoding and deadline.
func (b *bench) contents() (all []string) {
	for _, s := range b.spaces[0] {
		for cursor, first := uint64(0), true; first || cursor != 0; first = false {
			cursor = s.Scan(cursor, 100, func(e keyspace.Entry) {
				var scratch keyspace.Scratch
				all = append(all, fmt.Sprintf("%s = %s, until %d", e.Key(), e.Bytes(&scratch),
					e.Deadline().Milli()))
			})
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestStringReplay: the journal of a random stream, played at a later time, gives the same keys,
// values and deadlines (spec/effects.md).
func TestStringReplay(t *testing.T) {
	const seed = 12
	if Lookup([]byte("PEXPIREAT")) == nil {
		t.Skip("the generic commands are not there")
	}
	lines := stringLines{rand.New(rand.NewPCG(seed, 1))}
	b := newBench(t, 3)
	log := &keeper{}
	b.call.Effects.Listener = log
	played := 0
	replayed := newBench(t, 2)
	for i := range 20_000 {
		b.now += int64(lines.IntN(4_000_000))
		b.run(lines.draw()...)
		if i%500 != 0 {
			continue
		}
		for ; played < len(log.lines); played++ {
			replayed.run(log.lines[played]...)
		}
		want, got := b.contents(), replayed.contents()
		if !slices.Equal(want, got) {
			t.Fatalf("after %d (seed %d): want %q, got %q", i, seed, want, got)
		}
	}
}

// TestStringAllocs: the calls that servers are made of cost the collector nothing.
func TestStringAllocs(t *testing.T) {
	if invariants {
		t.Skip("the arguments of a call are spoilt after it")
	}
	for _, c := range []struct {
		line string
		max  float64
	}{
		{"GET k", 0},
		{"GET none", 0},
		{"SET k v", 0},
		{"SET k 12345", 0},
		{"SET k v EX 100", 0},
		{"SET k v XX GET", 0},
		{"SET k v IFDNE 0123456789abcdef", 0},
		{"SETEX k 100 v", 0},
		{"SETNX k v", 0},
		{"GETSET k v", 0},
		{"GETEX k EX 100", 0},
		{"GETRANGE k 0 -1", 0},
		{"STRLEN k", 0},
		{"DIGEST k", 0},
		{"INCR n", 0},
		{"DECRBY n 3", 0},
		{"INCRBYFLOAT f 0.1", 0},
		{"INCREX n EX 100", 0},
		{"APPEND log xxxxxxxxxxxxxxxx", 0},
		{"SETRANGE r 10 xxxx", 0},
		{"MGET k n f k none k n f", 0},
		{"MSET k v n 1 f 0.1", 0},
		{"MSETEX 2 k v n 1 EX 100", 0},
		{"GETDEL k", 0},
		{"LCS k f LEN", 8},
	} {
		b := newBench(t, 1)
		for _, line := range []string{"SET k v", "SET n 1", "SET f 0.1"} {
			b.do(line)
		}
		b.do(c.line)
		b.call.Effects.Listener = nil
		b.call.Space = b.spaces[0][0]
		argv := make([][]byte, 0, 16)
		for _, w := range strings.Fields(c.line) {
			argv = append(argv, []byte(w))
		}
		spec := Lookup(argv[0])
		got := testing.AllocsPerRun(500, func() {
			b.reply.Reset()
			b.call.Reset(spec, argv)
			if err := Exec(&b.call); err != nil || b.reply.Bytes()[0] == '-' {
				t.Fatalf("%s: %v %s", c.line, err, b.reply.Bytes())
			}
		})
		if got > c.max {
			t.Errorf("%s: want at most %v allocations, got %v", c.line, c.max, got)
		} else {
			t.Logf("%-32s %v", c.line, got)
		}
	}
}

func TestLargeStringsLeaveTheLoop(t *testing.T) {
	b := newBench(t, 1)
	b.run("SET", "big", strings.Repeat("x", quickValueMax+1))
	b.run("SET", "small", strings.Repeat("x", 4000))
	b.do("SET k v")
	b.call.Quick = true
	for _, c := range []struct {
		line  string
		leave bool
	}{
		{"GET big", true}, {"GETRANGE big 0 1", true}, {"APPEND big x", true},
		{"SETRANGE big 0 x", true},
		{"SET big v GET", true}, {"GETSET big v", true}, {"GETDEL big", true}, {"DIGEST big", true},
		{"MGET k big", true}, {"DELEX big IFEQ x", true}, {"LCS k big", true},
		{"LCS small small", true}, {"SETRANGE none 200000 x", true}, {"LCS k small", false},
		{"STRLEN big", false}, {"INCREX k", false}, {"DELEX big", false}, {"GET small", false},
	} {
		var argv [][]byte
		for _, w := range strings.Fields(c.line) {
			argv = append(argv, []byte(w))
		}
		b.reply.Reset()
		b.call.Keys, b.call.Now = nil, b.now
		b.call.Reset(Lookup(argv[0]), argv)
		err := Exec(&b.call)
		if left := err == ErrElsewhere; left != c.leave || left && b.reply.Len() > 0 {
			t.Errorf("%s: want to leave %v, got %v %q", c.line, c.leave, err, b.reply.Bytes())
		}
	}
}

// lcsModel is the matrix cell by cell, and the way back as Redis goes it.
func lcsModel(a, b string) (text string, matches []match) {
	m := make([][]int, len(a)+1)
	for i := range m {
		m[i] = make([]int, len(b)+1)
		for j := 1; i > 0 && j <= len(b); j++ {
			if a[i-1] == b[j-1] {
				m[i][j] = m[i-1][j-1] + 1
			} else {
				m[i][j] = max(m[i-1][j], m[i][j-1])
			}
		}
	}
	open := false
	for i, j := len(a), len(b); i > 0 && j > 0; {
		switch {
		case a[i-1] == b[j-1]:
			i, j = i-1, j-1
			text = a[i:i+1] + text
			if !open {
				matches = append(matches, match{})
			}
			last := &matches[len(matches)-1]
			last.a, last.b, last.n, open = i, j, last.n+1, true
		case m[i-1][j] > m[i][j-1]:
			i, open = i-1, false
		default:
			j, open = j-1, false
		}
	}
	return text, matches
}

func TestLCSAgainstModel(t *testing.T) {
	const seed = 13
	r := rand.New(rand.NewPCG(seed, 1))
	random := func() string {
		b := make([]byte, r.IntN(300))
		for i := range b {
			b[i] = "abcdefghijklmnop"[r.IntN(1+r.IntN(16))]
		}
		return string(b)
	}
	for range 500 {
		a, b := random(), random()
		text, matches := lcsModel(a, b)
		l := newLCS([]byte(a), []byte(b), true)
		var got []match
		l.walk(func(m match) { got = append(got, m) })
		if string(l.text()) != text || l.length != len(text) || !slices.Equal(got, matches) {
			t.Fatalf("seed %d, %q and %q: want %q %v, got %q %v", seed, a, b, text, matches,
				l.text(), got)
		}
		if short := newLCS([]byte(a), []byte(b), false); short.length != len(text) {
			t.Fatalf("seed %d, %q and %q: want %d, got %d", seed, a, b, len(text), short.length)
		}
	}
}

func TestLCSRefusesHugeMatrices(t *testing.T) {
	b := newBench(t, 1)
	b.server.Config.BulkMax.Store(4 * 101 * 101)
	b.run("SET", "a", strings.Repeat("x", 100))
	b.run("SET", "b", strings.Repeat("x", 101))
	want := "-ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len\r\n"
	if got := b.do("LCS a b"); got != want {
		t.Errorf("want %q, got %q", want, got)
	}
	if got := b.do("LCS a a LEN"); got != ":100\r\n" {
		t.Errorf("want 100, got %q", got)
	}
}

func BenchmarkLCS(b *testing.B) {
	for _, n := range []int{100, 500, 4000} {
		x := []byte(strings.Repeat("abcdefgh", n/8))
		y := []byte(strings.Repeat("hgfedcba", n/8))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				newLCS(x, y, true).text()
			}
		})
	}
}
