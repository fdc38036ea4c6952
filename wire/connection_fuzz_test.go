package wire

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"kiln/wire/resp"
)

// FuzzConnection feeds a client any bytes, cut anywhere, over a connection that takes its replies
// in portions of any size; how is where the randomness of both comes from. The server must stay up
// and owe nobody anything; replies must parse; and they must be the same bytes that a client gets
// whose bytes come in one piece, over a connection that takes all.
func FuzzConnection(f *testing.F) {
	for _, fault := range faults {
		f.Add([]byte("PING\r\n"+fault+"PING\r\n"), uint64(len(fault)))
	}
	for _, list := range [][]string{foreign, odd, {
		"SET k v\r\nGET k\r\nDEL k\r\n", "DEBUG SLEEP 0\r\nINCR n\r\nDEBUG SLEEP 0\r\nINCR n\r\n",
		string(line(thousandKeys...)), "HELLO 3\r\nGET none\r\nHELLO 2\r\nGET none\r\n",
		"CLIENT KILL ID 1 SKIPME no\r\nPING\r\n", "CLIENT KILL ID 2\r\nPING\r\n", "QUIT\r\nPING\r\n",
		"CONFIG SET requirepass pw\r\nRESET\r\nAUTH pw\r\nPING\r\n", "KEYS *\r\nSCAN 0\r\n*0\r\n\r\n",
		"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$20\r\n01234567890123456789\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\n",
		"SET k " + strings.Repeat("x", 300) + "\r\n" + strings.Repeat("GET k\r\n", 300),
		"SETRANGE k 200000 x\r\nGET k\r\nGET k\r\nAPPEND k y\r\nGETRANGE k 0 -1\r\n",
		"CONFIG SET client-output-buffer-limit \"normal 1000 0 0\"\r\nDEBUG POPULATE 10\r\nKEYS *\r\n",
	}} {
		for i, text := range list {
			f.Add([]byte(text), uint64(i)*0x9e3779b97f4a7c15)
		}
	}
	pipe := newMemoryClient(f)
	r, l := pipe.rig, pipe.loop
	pipe.end()
	r.process.wake() // nobody sleeps
	f.Fuzz(func(t *testing.T, data []byte, how uint64) {
		if len(data) > 1<<14 || heavy(data) {
			return
		}
		r.t = t
		r.shared.OnBug = func(command, what string) { t.Errorf("%s: %s", command, what) }
		whole, _ := r.play(l, data, 0)
		pieces, closed := r.play(l, data, how|1)
		if !random(data) && !bytes.Equal(whole, pieces) && !(closed && bytes.HasPrefix(whole, pieces)) {
			t.Errorf("%q, cut by %d: want %q, got %q", data, how, whole, pieces)
		}
		replies := resp.NewReader(bytes.NewReader(whole))
		for {
			if _, err := replies.Read(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%q: replies %q: %v", data, whole, err)
			}
		}
		if l.parked != 0 || l.backlogged != 0 || l.strained != 0 || l.count.Load() != 0 ||
			len(l.pieces)+len(l.leaving) != 0 || r.shared.Clients.Count() != 0 {
			t.Fatalf("%q: something is left: %d parked, %d bytes, %d clients", data, l.parked,
				l.backlogged, r.shared.Clients.Count())
		}
	})
}

// play sends bytes as a new client of an empty server, to their end, and returns the replies, and
// whether the server closed the connection before the end.
func (r *rig) play(l *loop, data []byte, how uint64) (replies []byte, closed bool) {
	r.clear(l, r.changed)
	r.changed = contains(data, "CONFIG", "DEBUG")
	c := r.memoryClient(l)
	next := func(n uint64) uint64 { // splitmix64
		how += 0x9e3779b97f4a7c15
		x := (how ^ how>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		return (x ^ x>>31) % n
	}
	whole := how == 0
	for len(data) > 0 && !c.closed {
		n := min(len(data), readBytes)
		if !whole {
			n = min(n, 1+int(next(1<<next(12))))
			c.mem.room += int(next(1 << next(14)))
			c.mem.room -= int(next(uint64(c.mem.room) + 1))
		}
		if c.deaf {
			c.writeOut(whole)
			continue
		}
		l.stamp++
		c.arrive(data[:n])
		data = data[n:]
		if whole || next(3) > 0 {
			c.turn()
		}
		if !whole && next(3) == 0 {
			c.mem.room = int(next(1 << next(16)))
			c.writable()
			c.turn()
		}
	}
	closed = c.closed
	if !c.closed {
		c.ended()
	}
	c.writeOut(whole)
	if !c.closed {
		r.t.Fatalf("a client that has sent all is not closed: %d bytes left", len(c.query)-c.at)
	}
	return c.mem.out, closed
}

// arrive is what loop.serve does with bytes that it has read.
func (c *memoryClient) arrive(data []byte) {
	buf := c.loop.buffer[:]
	kept := len(c.query) - c.at
	if kept > 0 && (kept > joinBytes || c.waits() || kept+len(data) > len(buf)) {
		kept = 0
	}
	copy(buf[:kept], c.query[c.at:])
	n := copy(buf[kept:], data)
	c.traffic(buf[:kept+n], kept)
}

// writeOut reads all that the client has to write.
func (c *memoryClient) writeOut(whole bool) {
	for i := 0; i == 0 || len(c.backlog) > 0 || c.again; i++ {
		c.mem.room = 1 << 40
		if !whole {
			c.mem.room = 1000 + i*1000
		}
		c.writable()
		c.turn()
	}
}

// clear makes the server as good as new: its data and, if they may have changed, its settings.
func (r *rig) clear(l *loop, settings bool) {
	c := r.memoryClient(l)
	c.Authenticated = true
	lines := [][]string{
		{"FLUSHALL"}, {"CONFIG", "SET", "requirepass", ""}, {"CONFIG", "RESETSTAT"},
		{"CONFIG", "SET", "client-output-buffer-limit", "normal 0 0 0", "proto-max-bulk-len", "1mb",
			"client-query-buffer-limit", "1mb", "timeout", "0", "maxclients", "10000"},
		{"DEBUG", "SET-ACTIVE-EXPIRE", "1"},
	}
	if !settings {
		lines = lines[:1]
	}
	for _, words := range lines {
		c.traffic(line(words...), 0)
		c.turn()
	}
	if got := string(c.mem.out); got != strings.Repeat("+OK\r\n", len(lines)) {
		r.t.Fatalf("cannot begin anew: %q", got)
	}
	c.end()
	r.server.register.last.Store(0)
}

// random reports whether the replies may not be the same each time.
func random(data []byte) bool {
	return contains(data, "RANDOMKEY", "INFO", "TIME", "CLIENT", "DEBUG", "EX", "TTL", "PX", "CONFIG", "OBJECT",
		"MEMORY", "LOLWUT", "LATENCY", "SLOWLOG", "COMMAND", "SCAN")
}

// heavy reports whether the commands may take long, or much memory.
func heavy(data []byte) bool {
	most, digits := 0, 0
	for _, c := range data {
		if digits++; c < '0' || c > '9' {
			digits = 0
		}
		most = max(most, digits)
	}
	return most > 6 || most > 4 && contains(data, "LCS", "POPULATE")
}

func contains(data []byte, words ...string) bool {
	text := strings.ToUpper(string(data))
	for _, word := range words {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}
