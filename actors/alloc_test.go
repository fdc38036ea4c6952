package actors

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kiln/wire/resp"
)

// pipeline encodes command lines as clients send them.
func pipeline(lines ...string) []byte {
	var b []byte
	for _, line := range lines {
		words := strings.Fields(line)
		b = fmt.Appendf(b, "*%d\r\n", len(words))
		for _, w := range words {
			b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(w), w)
		}
	}
	return b
}

// TestSimpleCommandsAllocateNothing from the bytes read to the reply, in a batch.
func TestSimpleCommandsAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, lines := range [][]string{
		{"GET k1"}, {"GET none"}, {"SET k1 value", "SET k2 other"}, {"SET k1 1 EX 100"}, {"INCR n"},
		{"EXISTS k1 k2 k3"}, {"EXPIRE k1 100", "TTL k1", "PERSIST k1"}, {"TTL k2"},
		{"MGET k1 k2 k3 k4 k5 k6 k7 k8"}, {"MSET k1 a k2 b k3 c k4 d"}, {"DEL k9", "SET k9 x"},
		{"APPEND a x", "SETRANGE a 0 y", "GETRANGE a 0 3"}, {"STRLEN k1", "TYPE k1"}, {"PING"},
		{"GET k1", "GET k2", "SET k3 1", "INCR n", "GET k4", "MGET k1 k2", "EXISTS k5", "GET k6"},
	} {
		r := newRig(t, Options{Partitions: 16})
		c := r.client()
		for i := range 9 {
			c.do("SET", fmt.Sprintf("k%d", i+1), "value")
		}
		input := pipeline(lines...)
		var decoder resp.Decoder
		limits := resp.DefaultLimits()
		var argv [][]byte
		var prepared [BatchMax]Prepared
		now := time.Now().UnixNano()
		turn := func() {
			c.loop.Begin()
			argv = argv[:0]
			n := 0
			for at := 0; at < len(input); n++ {
				from := len(argv)
				var size int
				argv, size, _ = decoder.Next(input[at:], argv, &limits)
				at += size
				c.loop.Prepare(&prepared[n], argv[from:len(argv):len(argv)])
			}
			c.loop.Prefetch(0)
			for i := range n {
				if c.loop.Run(&prepared[i], c.conn, now, &c.out) != nil {
					t.Fatalf("%q had to wait", prepared[i].Argv)
				}
			}
			c.out.Reset()
		}
		for range 100 { // buffers grow to what is needed; a string does not, at each append
			turn()
		}
		r.close() // the sweeper's allocations are its own
		if n := testing.AllocsPerRun(200, turn); n != 0 {
			t.Errorf("%q: %v allocations", lines, n)
		}
	}
}
