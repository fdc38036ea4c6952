package wire

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestProtoMaxBulkLen: an argument may be as long as the limit, not longer.
func TestProtoMaxBulkLen(t *testing.T) {
	r := start(t, Options{Loops: 1}, "proto-max-bulk-len", "1mb")
	p := r.dial()
	p.want("+OK", "SET", "k", strings.Repeat("x", 1<<20))
	p.send([]byte(fmt.Sprintf("PING\r\n*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$%d\r\n", 1<<20+1)))
	var s script
	s.replies = []string{"+PONG", "-ERR Protocol error: invalid bulk length"}
	p.expect(&s)
	p.eof()
	q := r.dial()
	q.want("+OK", "CONFIG", "SET", "proto-max-bulk-len", "2mb")
	q.want("+OK", "SET", "k", strings.Repeat("x", 1<<20+1))
	r.quiet(1)
}

// TestClientQueryBufferLimit: a command that grows beyond the limit costs the connection; commands
// that wait for their turn do not, however many they are.
func TestClientQueryBufferLimit(t *testing.T) {
	r := start(t, Options{Loops: 1}, "client-query-buffer-limit", "1mb")
	p := r.dial()
	p.want("+PONG", "PING")
	p.stream([]byte("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$3000000\r\n" + strings.Repeat("x", 2<<20)))
	p.ended()
	r.quiet(0)

	q := r.dial()
	const n = 400_000
	sent := q.stream([]byte("DEBUG SLEEP 0.2\r\n" + strings.Repeat("INCR n\r\n", n)))
	if got := q.read().String(); got != "+OK" {
		t.Fatal(got)
	}
	for i := range n {
		if got := q.read().Int(); got != int64(i+1) {
			t.Fatalf("want %d, got %d", i+1, got)
		}
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	r.quiet(1)
}

// TestWaitingCommandsAreBounded: a client that is parked is not read without end.
func TestWaitingCommandsAreBounded(t *testing.T) {
	r := start(t, Options{Loops: 1})
	p := r.dial()
	c := r.find(p.id())
	sent := p.stream([]byte("DEBUG SLEEP 1\r\n" + strings.Repeat("PING\r\n", 4<<20/6)))
	await(t, "the client not to be read", func() bool {
		deaf := false
		r.onLoops(func(*loop) { deaf = c.deaf })
		return deaf
	})
	if n := c.Query.Load(); n > aheadMax+readBytes {
		t.Errorf("%d bytes wait", n)
	}
	r.process.wake() // ends the sleep
	if got := p.read().String(); got != "+OK" {
		t.Fatal(got)
	}
	for i := range 4 << 20 / 6 {
		if got := p.read().String(); got != "+PONG" {
			t.Fatalf("reply %d: %s", i, got)
		}
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	r.quiet(1)
	r.onLoops(func(*loop) {
		if cap(c.query) > queryKeep {
			t.Errorf("a client with nothing to say keeps %d bytes", cap(c.query))
		}
	})
}

// TestMaxClients: one too many is told, closed and counted; when one has gone there is room.
func TestMaxClients(t *testing.T) {
	each(t, func(t *testing.T, loops int) {
		r := start(t, Options{Loops: loops}, "maxclients", "5")
		var peers []*peer
		for range 5 {
			p := r.dial()
			p.want("+PONG", "PING")
			peers = append(peers, p)
		}
		for range 3 {
			p := r.dial()
			if got := p.read().String(); got != "-ERR max number of clients reached" {
				t.Errorf("want a refusal, got %s", got)
			}
			p.ended()
		}
		if n := r.shared.Stats.Rejected.Load(); n != 3 {
			t.Errorf("want 3 rejected, got %d", n)
		}
		if n := r.shared.Stats.Connections.Load(); n != 5 {
			t.Errorf("want 5 connections, got %d", n)
		}
		_ = peers[2].Close()
		r.quiet(4)
		r.dial().want("+PONG", "PING")
		peers[0].want("+OK", "CONFIG", "SET", "maxclients", "6")
		r.dial().want("+PONG", "PING")
		r.quiet(6)
	})
}

// TestTimeout closes clients that say nothing, but none that waits for a reply, and none that reads.
func TestTimeout(t *testing.T) {
	each(t, func(t *testing.T, loops int) {
		r := start(t, Options{Loops: loops})
		p := r.dial()
		for range 3 { // on all loops, which are all asleep when the timeout is set
			r.dial().want("+PONG", "PING")
		}
		parked := r.dial()
		parked.want("+PONG", "PING")
		p.want("+OK", "CONFIG", "SET", "timeout", "1")
		parked.send([]byte("DEBUG SLEEP 3\r\n"))
		begun := time.Now()
		r.quietButParked(1)
		if took := time.Since(begun); took < time.Second {
			t.Errorf("clients were closed after %v", took)
		}
		if got := parked.read().String(); got != "+OK" {
			t.Errorf("want the reply to a long command, got %s", got)
		}
		parked.want("+PONG", "PING")
		parked.eof()
		r.quiet(0)
	})
}

func (r *rig) quietButParked(clients int) {
	r.t.Helper()
	await(r.t, "idle clients to be closed", func() bool { return r.shared.Clients.Count() == clients })
}

// TestStrangers: who has not authenticated may send and leave unread only little; a password at the
// head of a pipeline makes the rest of it that of a friend.
func TestStrangers(t *testing.T) {
	r := start(t, Options{Loops: 1}, "requirepass", "pw")
	long := strings.Repeat("x", 20000)
	var s script
	s.add("-NOAUTH Authentication required.", "PING")
	s.add("+OK", "AUTH", "pw")
	s.add("+OK", "SET", "k", long)
	s.add(bulk(long), "GET", "k")
	s.add("-ERR wrong number of arguments for 'get' command", strings.Fields("GET"+strings.Repeat(" x", 20))...)
	s.add(":1", "DEL", "k")
	p := r.dial()
	p.send(s.bytes)
	p.expect(&s)

	for text, want := range map[string]string{
		"*11\r\n":                    "-ERR Protocol error: unauthenticated multibulk length",
		"*2\r\n$4\r\nAUTH\r\n$16385": "-ERR Protocol error: unauthenticated bulk length",
	} {
		q := r.dial()
		q.send([]byte(text + "\r\n"))
		if got := q.read().String(); got != want {
			t.Errorf("want %s, got %s", want, got)
		}
		q.eof()
	}

	// One who does not read the refusals is closed soon; Redis holds it to 1 KB as well.
	q := r.dial()
	q.stream([]byte(strings.Repeat("GET k\r\n", 4<<20)))
	r.quiet(1)
}

// TestConnectionsComeAndGo opens and closes connections from many goroutines, with and without
// commands.
func TestConnectionsComeAndGo(t *testing.T) {
	each(t, func(t *testing.T, loops int) {
		r := start(t, Options{Loops: loops})
		const workers, rounds = 20, 100
		var all sync.WaitGroup
		for w := range workers {
			all.Go(func() {
				for i := range rounds {
					conn, err := net.Dial("tcp", r.addr)
					if err != nil {
						t.Error(err)
						return
					}
					_ = conn.SetDeadline(time.Now().Add(patience))
					if (w+i)%3 > 0 {
						_, _ = conn.Write([]byte("INCR n\r\nINCR n\r\n"))
					}
					if (w+i)%3 > 1 {
						var b [1]byte
						if _, err := conn.Read(b[:]); err != nil || b[0] != ':' {
							t.Errorf("want a number, got %q and %v", b, err)
						}
					}
					if i%2 == 0 {
						_ = conn.(*net.TCPConn).SetLinger(0)
					}
					_ = conn.Close()
				}
			})
		}
		all.Wait()
		r.quiet(0)
		if n := r.shared.Stats.Connections.Load(); n != workers*rounds {
			t.Errorf("want %d connections counted, got %d", workers*rounds, n)
		}
		r.dial().want("+PONG", "PING")
	})
}
