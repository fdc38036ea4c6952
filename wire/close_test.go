package wire

import (
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// both is a server that listens on TCP and on a unix socket.
func both(t *testing.T, loops int, settings ...string) (r *rig, addrs []string) {
	t.Helper()
	r = start(t, Options{Loops: loops, Listen: []Listen{
		{Network: "tcp", Address: "127.0.0.1:0"},
		{Network: "unix", Address: filepath.Join(t.TempDir(), "kiln.sock")},
	}}, settings...)
	return r, r.server.Addrs()
}

// TestHalfCloseIsAnswered: a client that has shut down its sending side gets the replies to all
// that it sent before, then the end of the stream.
func TestHalfCloseIsAnswered(t *testing.T) {
	large := strings.Repeat("large ", 1<<20) // 6 MB: more than the sockets' buffers take
	medium := strings.Repeat("m", 100<<10)
	scripts := map[string]func(s *script){
		"nothing":     func(*script) {},
		"one command": func(s *script) { s.add("+PONG", "PING") },
		"quick": func(s *script) {
			for i := range 5000 {
				s.add(bulk(fmt.Sprint(i)), "ECHO", fmt.Sprint(i))
			}
		},
		"parked first": func(s *script) {
			s.add("+OK", "DEBUG", "SLEEP", "0.05")
			for i := range 5000 {
				s.add(bulk(fmt.Sprint(i)), "ECHO", fmt.Sprint(i))
			}
		},
		"parked last": func(s *script) {
			s.add("+PONG", "PING")
			s.add("+OK", "DEBUG", "SLEEP", "0.05")
		},
		"parked often": func(s *script) {
			for range 20 {
				s.add("+OK", "DEBUG", "SLEEP", "0.001")
				s.add(thousandValues, thousandKeys...)
				s.add("+PONG", "PING")
			}
		},
		"large replies": func(s *script) {
			for range 3 {
				s.add(asItIs+large, "GET", "large")
				s.add("+PONG", "PING")
			}
		},
		"many replies": func(s *script) {
			for range 300 {
				s.add(asItIs+medium, "GET", "medium")
			}
		},
		"one large reply": func(s *script) { s.add(asItIs+large, "GET", "large") },
		"mixed":           func(s *script) { s.mix(rand.New(rand.NewPCG(3, 3)), fmt.Sprintf("mixed%d:", rand.Int()), 3000, 10) },
		"a piece at the end": func(s *script) {
			s.add("+PONG", "PING")
			s.add("+OK", "DEBUG", "SLEEP", "0.01")
			s.raw("", "*2\r\n$3\r\nGET\r\n$1\r\n")
		},
		"quit before": func(s *script) {
			s.add(asItIs+large, "GET", "large")
			s.add("+OK", "QUIT")
			s.raw("", "PING\r\n")
		},
	}
	each(t, func(t *testing.T, loops int) {
		r, addrs := both(t, loops)
		p := r.dial()
		setUp(p)
		p.want("+OK", "SET", "large", large)
		p.want("+OK", "SET", "medium", medium)
		for name, fill := range scripts {
			for _, late := range []bool{false, true} {
				for _, addr := range addrs {
					p := dial(t, addr)
					var s script
					fill(&s)
					c := r.find(p.id())
					read := c.BytesIn.Load()
					sent := p.stream(s.bytes)
					if late { // the server has all and can write no more before a byte is read
						if err := <-sent; err != nil {
							t.Fatalf("%s: %v", name, err)
						}
						p.closeWrite()
						sent <- nil
						await(t, "the command to arrive", func() bool {
							return len(s.bytes) == 0 || c.BytesIn.Load() > read
						})
					} else {
						go func() {
							err := <-sent
							_ = p.Conn.(interface{ CloseWrite() error }).CloseWrite()
							sent <- err
						}()
					}
					p.expect(&s)
					p.eof()
					if err := <-sent; err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					_ = p.Close()
				}
			}
		}
		r.quiet(1)
	})
}

// TestClientsThatGoAway: a client that closes its connection in the middle of something, orderly
// or with a reset, leaves nothing behind, and nobody notices.
func TestClientsThatGoAway(t *testing.T) {
	large := strings.Repeat("large ", 1<<20)
	states := map[string]func(p *peer){
		"idle":               func(*peer) {},
		"in mid-command":     func(p *peer) { p.send([]byte("*2\r\n$3\r\nGET\r\n$100\r\nabc")) },
		"in a long argument": func(p *peer) { p.send([]byte("*1\r\n$1000000\r\n" + large[:500000])) },
		"parked":             func(p *peer) { p.send(line("DEBUG", "SLEEP", "0.1")) },
		"parked, with more": func(p *peer) {
			p.send([]byte("DEBUG SLEEP 0.1\r\n" + strings.Repeat("INCR n\r\n", 1000)))
		},
		"parked, deaf": func(p *peer) {
			p.send([]byte("DEBUG SLEEP 0.1\r\n" + strings.Repeat("INCR n\r\n", aheadMax/8+10000)))
		},
		"with a backlog":       func(p *peer) { p.send(line("GET", "large")) },
		"with a long backlog":  func(p *peer) { p.send([]byte(strings.Repeat("GET large\r\n", 1000))) },
		"parked and half shut": func(p *peer) { p.send(line("DEBUG", "SLEEP", "0.1")); p.closeWrite() },
		"half shut, with a backlog": func(p *peer) {
			p.send([]byte(strings.Repeat("GET large\r\n", 10)))
			p.closeWrite()
		},
		"having quit, with a backlog": func(p *peer) {
			p.send([]byte("GET large\r\nQUIT\r\n" + strings.Repeat("PING\r\n", 1000)))
		},
	}
	each(t, func(t *testing.T, loops int) {
		r, addrs := both(t, loops)
		p := r.dial()
		p.want("+OK", "SET", "large", large)
		for name, enter := range states {
			for _, addr := range addrs {
				for _, reset := range []bool{false, true} {
					for _, seen := range []bool{false, true} {
						q := dial(t, addr)
						c := r.find(q.id())
						before := c.BytesIn.Load()
						enter(q)
						if seen && name != "idle" {
							await(t, "bytes to arrive", func() bool { return c.BytesIn.Load() > before })
						}
						if reset {
							q.reset()
						} else {
							_ = q.Close()
						}
						p.want("+PONG", "PING")
					}
				}
			}
		}
		r.quiet(1)
		p.want("+PONG", "PING")
	})
}

// TestAClosedPeerDoesNotKeepTheLoopBusy: epoll tells of a connection that is closed on both sides
// whether one wants to know or not. A client that is parked then must not take the processor.
func TestAClosedPeerDoesNotKeepTheLoopBusy(t *testing.T) {
	r, addrs := both(t, 1)
	watcher := r.dial()
	ahead := strings.Repeat("PING\r\n", aheadMax/6+20000)
	for _, addr := range addrs {
		for _, how := range []string{"close", "reset", "half", "half then close", "deaf"} {
			p := dial(t, addr)
			c := r.find(p.id())
			before := c.BytesIn.Load()
			p.send([]byte("DEBUG SLEEP 0.3\r\n"))
			await(t, "the command to arrive", func() bool { return c.BytesIn.Load() > before })
			switch how {
			case "close":
				_ = p.Close()
			case "reset":
				p.reset()
			case "half":
				p.closeWrite()
			case "half then close":
				p.closeWrite()
				watcher.want("+PONG", "PING")
				_ = p.Close()
			case "deaf":
				p.stream([]byte(ahead))
				await(t, "the loop to stop reading", func() bool {
					deaf := false
					r.onLoops(func(*loop) { deaf = c.deaf })
					return deaf
				})
				p.reset()
			}
			const span = 200 * time.Millisecond
			used, timer := cpuTime(t), time.NewTimer(span)
			<-timer.C
			if used = cpuTime(t) - used; used > span/2 {
				t.Errorf("%s, %s: %v of the processor in %v", addr, how, used, span)
			}
			_ = p.Close()
			r.quiet(1)
		}
	}
}

func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestNothingRunsAfterQuit: what a client sent behind QUIT is neither run nor answered.
func TestNothingRunsAfterQuit(t *testing.T) {
	r := start(t, Options{Loops: 1})
	p := r.dial()
	p.want("+PONG", "PING")
	q := r.dial()
	q.send([]byte("PING\r\nQUIT\r\nPING\r\n"))
	if text, _ := io.ReadAll(q.Conn); string(text) != "+PONG\r\n+OK\r\n" {
		t.Errorf("want the replies up to QUIT's, got %q", text)
	}
	r.quiet(1)
}
