package wire

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// backed waits until a client's commands wait for it to read.
func (r *rig) backed(c *client) {
	r.t.Helper()
	await(r.t, "the client's commands to wait", func() bool {
		is := false
		r.onLoops(func(l *loop) { is = is || c.loop == l && c.waits() && c.request == nil })
		return is
	})
}

// TestSlowReadersAreBounded: a client that sends and sends and does not read costs a bounded
// amount of memory; others do not notice; when it reads, it gets all replies in order.
func TestSlowReadersAreBounded(t *testing.T) {
	each(t, func(t *testing.T, loops int) {
		r := start(t, Options{Loops: loops})
		other := r.dial()
		value := strings.Repeat("v", 100<<10)
		other.want("+OK", "SET", "k", value)
		const commands, slow = 1000, 4
		var peers []*peer
		var sent []chan error
		var data []byte
		for i := range commands {
			data = append(data, line("GET", "k")...)
			data = append(data, line("ECHO", fmt.Sprint(i))...)
		}
		before := r.process.Heap()
		for range slow {
			p := r.dial()
			c := r.find(p.id())
			peers, sent = append(peers, p), append(sent, p.stream(data))
			r.backed(c)
			const most = pendingMax + 2*flushBytes + 2*(100<<10)
			if n := c.Pending.Load(); n > most {
				t.Errorf("%d bytes are pending, want %d at most", n, most)
			}
		}
		if grown := r.process.Heap() - before; grown > slow*(3<<20) {
			t.Errorf("the heap has grown by %d for %d slow readers", grown, slow)
		}
		for i := range 1000 {
			begun := time.Now()
			other.want(bulk(fmt.Sprint(i)), "ECHO", fmt.Sprint(i))
			if took := time.Since(begun); took > time.Second {
				t.Errorf("another client waited for %v", took)
			}
		}
		for i, p := range peers {
			for j := range commands {
				if v := p.read(); string(v.Text) != value {
					t.Fatalf("client %d, reply %d: another value, of %d bytes", i, j, len(v.Text))
				}
				if v := p.read(); v.String() != bulk(fmt.Sprint(j)) {
					t.Fatalf("client %d: want %d, got %s", i, j, v)
				}
			}
			if err := <-sent[i]; err != nil {
				t.Error(err)
			}
		}
		r.quiet(1 + slow)
	})
}

// TestSmallRepliesShareBlocks: the backlog of a client that leaves many short replies unread takes
// little more than their bytes.
func TestSmallRepliesShareBlocks(t *testing.T) {
	c := newMemoryClient(t)
	c.mem.room = 100
	for c.Pending.Load() < pendingMax/2 {
		c.traffic([]byte("PING\r\n"), 0)
		c.turn()
	}
	held := 0
	for _, p := range c.backlog {
		held += cap(p)
	}
	if pending := int(c.Pending.Load()); held > pending+2*blockBytes || len(c.backlog) > pending/blockBytes+2 {
		t.Errorf("%d blocks of %d bytes in all for %d", len(c.backlog), held, pending)
	}
	before := c.Pending.Load()
	c.mem.room = 1 << 40
	for c.Pending.Load() > 0 {
		c.writable()
		c.turn()
	}
	if got := string(c.mem.out[100:]); got != strings.Repeat("+PONG\r\n", len(got)/7+1)[2:2+len(got)] {
		t.Errorf("%d bytes came out in another order", before)
	}
	if c.mem.memory.write || !c.mem.read || c.loop.backlogged != 0 {
		t.Error("the client is not as it was before the backlog")
	}
}

// TestHardLimitOfUnreadReplies: client-output-buffer-limit closes the client that is over it, and
// no other.
func TestHardLimitOfUnreadReplies(t *testing.T) {
	r := start(t, Options{Loops: 1}, "client-output-buffer-limit", "normal 300000 0 0")
	other := r.dial()
	other.want("+OK", "SET", "k", strings.Repeat("v", 100<<10))
	p := r.dial()
	p.want("+PONG", "PING")
	p.stream([]byte(strings.Repeat("GET k\r\n", 1000)))
	r.quiet(1)
	other.want("+OK", "SET", "big", strings.Repeat("v", 10<<20)) // one reply alone is too much
	p = r.dial()
	p.stream([]byte("GET big\r\n"))
	r.quiet(1)
	other.want("+OK", "CONFIG", "SET", "client-output-buffer-limit", "normal 0 0 0")
	if v := other.do("GET", "big"); len(v.Text) != 10<<20 {
		t.Errorf("want the value, got %.60s", v)
	}
}

// TestSoftLimitOfUnreadReplies: a client may be over the soft limit for so many seconds, not more;
// being under it again starts anew.
func TestSoftLimitOfUnreadReplies(t *testing.T) {
	r := start(t, Options{Loops: 1}, "client-output-buffer-limit", "normal 0 200000 1")
	other := r.dial()
	value := strings.Repeat("v", 100<<10)
	other.want("+OK", "SET", "k", value)

	// One that reads in time goes on.
	p := r.dial()
	c := r.find(p.id())
	for range 3 {
		sent := p.stream([]byte(strings.Repeat("GET k\r\n", 200)))
		r.backed(c)
		strained := int64(0)
		r.onLoops(func(*loop) { strained = c.strained })
		if strained == 0 {
			t.Fatal("the client is over the limit and the loop does not know")
		}
		for range 200 {
			if v := p.read(); len(v.Text) != len(value) {
				t.Fatalf("want the value, got %.60s", v)
			}
		}
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
	}
	r.quiet(2)

	begun := time.Now()
	p.stream([]byte(strings.Repeat("GET k\r\n", 200)))
	r.quiet(1)
	if took := time.Since(begun); took < time.Second {
		t.Errorf("closed after %v, want a second at least", took)
	}
}

// TestSoftLimitByTheClock checks the rule itself, with a clock in hand.
func TestSoftLimitByTheClock(t *testing.T) {
	c := newMemoryClient(t, "client-output-buffer-limit", "normal 1000 100 2")
	second := int64(time.Second)
	at := func(seconds float64, pending int64, want bool) {
		t.Helper()
		c.loop.stamp = second + int64(seconds*float64(second))
		if got := c.over(pending); got != want {
			t.Errorf("at %g s with %d bytes: want %t, got %t", seconds, pending, want, got)
		}
	}
	at(0, 99, false)
	at(1, 100, false)
	at(3, 100, false) // two seconds, not more
	at(3.1, 100, true)
	at(3.2, 99, false) // starts anew
	at(3.3, 500, false)
	at(5.2, 500, false)
	at(5.4, 500, true)
	at(6, 1000, true)
	at(6, 99, false)
	if c.loop.strained != 0 || c.strained != 0 {
		t.Error("the loop still counts a client that is under the limit")
	}
}
