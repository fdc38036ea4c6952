package wire

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestUnixSocket: it has the mode that was asked for, takes the place of one that was left behind,
// and its file is gone when the server is.
func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kiln.sock")
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	_ = left.Close()
	if _, err := os.Lstat(path); err != nil {
		t.Fatal("no socket was left behind:", err)
	}
	umask := unix.Umask(0o22)
	unix.Umask(umask)
	for _, perm := range []uint32{0o700, 0o777, 0o660, 0} {
		r := start(t, Options{Loops: 2, UnixPerm: perm, Listen: []Listen{
			{Network: "unix", Address: path}, {Network: "tcp", Address: "127.0.0.1:0"},
		}})
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		want := fs.FileMode(perm)
		if perm == 0 {
			want = fs.FileMode(0o777 &^ umask)
		}
		if got := info.Mode(); got&fs.ModeSocket == 0 || got.Perm() != want {
			t.Errorf("want a socket of mode %v, got %v", want, got)
		}
		if got := unix.Umask(umask); got != umask {
			t.Errorf("the umask is %o, it was %o", got, umask)
		}
		p := r.dial()
		p.want("+PONG", "PING")
		if got := p.do("CLIENT", "INFO").String(); !strings.Contains(got, "addr="+path+":0 laddr="+path+":0") ||
			!strings.Contains(got, "flags=U") {
			t.Errorf("want the path as addresses and flag U, got %s", got)
		}
		dial(t, r.server.Addrs()[1]).want("+PONG", "PING")
		r.stop()
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Error("the socket's file is still there")
		}
	}
}

// TestUnixSocketDoesNotReplaceAFile: what is no socket is not ours to remove.
func TestUnixSocketDoesNotReplaceAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(path, []byte("data"), 0o600); err != nil {
		t.Fatal(err)
	}
	refuses(t, Listen{Network: "unix", Address: path})
	if text, err := os.ReadFile(path); err != nil || string(text) != "data" {
		t.Errorf("the file is not as it was: %q, %v", text, err)
	}
}

// refuses wants a server not to start, and nothing to be left of the attempt.
func refuses(t *testing.T, listens ...Listen) {
	t.Helper()
	before := descriptors(t)
	r := newRig(t, Options{Loops: 3, Listen: append([]Listen{}, listens...)})
	err := r.server.Start()
	if err == nil {
		t.Errorf("%v: want an error", listens)
	}
	if got := r.server.Addrs(); len(got) > 0 {
		t.Errorf("still listening on %v", got)
	}
	r.stop()
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors are left open", after-before)
	}
}

// TestStartThatFails leaves nothing behind: no descriptor, no goroutine (TestMain looks), no file.
func TestStartThatFails(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	path := filepath.Join(t.TempDir(), "kiln.sock")
	good := Listen{Network: "tcp", Address: "127.0.0.1:0"}
	refuses(t, good, Listen{Network: "tcp", Address: taken.Addr().String()})
	refuses(t, Listen{Network: "unix", Address: path}, Listen{Network: "tcp", Address: taken.Addr().String()})
	if _, err := os.Lstat(path); err == nil {
		t.Error("a unix socket is left behind")
	}
	refuses(t, good, Listen{Network: "tcp", Address: "203.0.113.1:0"})
	refuses(t, good, Listen{Network: "unix", Address: "/no/such/folder/kiln.sock"})
	refuses(t)
	// What may be missing is an address, not a port that another program has.
	refuses(t, good, Listen{Network: "tcp", Address: taken.Addr().String(), Optional: true})
	refuses(t, Listen{Network: "tcp", Address: "203.0.113.1:0", Optional: true})
	r := start(t, Options{Listen: []Listen{{Network: "tcp", Address: "203.0.113.1:0", Optional: true}, good}})
	r.dial().want("+PONG", "PING")
}

// TestStopAnswersWhatIsUnderWay: commands that run, or wait for their turn elsewhere, are answered
// before the connections end; what was not begun is not run; who does not read is not waited for
// long.
func TestStopAnswersWhatIsUnderWay(t *testing.T) {
	each(t, func(t *testing.T, loops int) {
		r := start(t, Options{Loops: loops})
		p := r.dial()
		large := strings.Repeat("large ", 1<<20)
		p.want("+OK", "SET", "large", large)
		reader := r.dial()
		c := r.find(reader.id())
		reader.send([]byte("GET large\r\nGET large\r\nGET large\r\n"))
		await(t, "a backlog", func() bool { return c.Pending.Load() > 0 })
		mute := r.dial()
		m := r.find(mute.id())
		mute.stream([]byte(strings.Repeat("GET large\r\n", 100)))
		await(t, "a backlog", func() bool { return m.Pending.Load() > 0 })
		// They sleep one after the other. The first one's time is what this test has until all are
		// parked, and less than what a stop waits.
		var sleepers []*peer
		for range 5 {
			q := r.dial()
			q.want("+PONG", "PING")
			sleepers = append(sleepers, q)
		}
		for i, q := range sleepers {
			nap := []string{"3", "0.05"}[min(i, 1)]
			q.send([]byte("DEBUG SLEEP " + nap + "\r\nINCR never\r\n"))
		}
		parked := func() (n int) {
			r.onLoops(func(l *loop) { n += l.parked })
			return n
		}
		await(t, "all to be parked", func() bool { return parked() >= 5 })
		idle := r.dial()
		idle.want("+PONG", "PING")

		stopped := make(chan time.Duration)
		go func() {
			begun := time.Now()
			if err := r.server.Stop(); err != nil {
				t.Error(err)
			}
			stopped <- time.Since(begun)
		}()
		idle.ended()
		if v := reader.read(); string(v.Text) != large {
			t.Errorf("want a reply that was under way, got %d bytes", len(v.Text))
		}
		for _, q := range sleepers {
			if got := q.read().String(); got != "+OK" {
				t.Errorf("want the reply of a command under way, got %s", got)
			}
			q.ended()
		}
		if took := <-stopped; took > drainPatience {
			t.Errorf("it took %v to stop", took)
		}
		if _, err := net.Dial("tcp", r.addr); err == nil {
			t.Error("a server that has stopped accepts connections")
		}
		r.stop()
	})
}

// TestStopUnderLoad stops servers while connections come and go and commands of all kinds run.
func TestStopUnderLoad(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 3
	}
	each(t, func(t *testing.T, loops int) {
		for range rounds {
			r := start(t, Options{Loops: loops})
			setUp(r.dial())
			var busy atomic.Int64
			var all sync.WaitGroup
			for w := range 8 {
				all.Go(func() {
					for i := 0; ; i++ {
						conn, err := net.Dial("tcp", r.addr)
						if err != nil {
							return
						}
						_ = conn.SetDeadline(time.Now().Add(patience))
						var s script
						for range 10 {
							s.add("", thousandKeys...)
							s.add("", "INCR", "n")
							s.add("", "DEBUG", "SLEEP", "0.0001")
						}
						_, err = conn.Write(s.bytes)
						busy.Add(1)
						for buf := make([]byte, 1<<16); err == nil && w%2 == 0; {
							_, err = conn.Read(buf)
							if i%2 == 0 {
								break
							}
						}
						_ = conn.Close()
						if err != nil {
							return
						}
					}
				})
			}
			await(t, "some load", func() bool { return busy.Load() > 30 })
			r.stop()
			all.Wait()
		}
	})
}

// TestStopOfWhatNeverStarted does no harm, nor does a second one.
func TestStopOfWhatNeverStarted(t *testing.T) {
	r := newRig(t, Options{})
	for range 2 {
		if err := r.server.Stop(); err != nil {
			t.Error(err)
		}
	}
	r.stop()
	s := start(t, Options{})
	s.stop()
	if err := s.server.Stop(); err != nil {
		t.Error(err)
	}
}

// TestShutdownUnderLoad: SHUTDOWN stops a server that is busy, without a reply.
func TestShutdownUnderLoad(t *testing.T) {
	r := start(t, Options{Loops: 2})
	asked := make(chan struct{}, 1)
	ask := func() error { asked <- struct{}{}; return nil }
	r.process.shutdown.Store(&ask)
	var all sync.WaitGroup
	for range 4 {
		p := r.dial()
		all.Go(func() {
			for i := 0; ; i++ {
				if _, err := p.Write(line("SET", "k", strconv.Itoa(i))); err != nil {
					return
				}
				if _, err := p.r.Read(); err != nil {
					return
				}
			}
		})
	}
	p := r.dial()
	p.send(line("SHUTDOWN", "NOSAVE"))
	<-asked
	r.stop()
	p.ended()
	all.Wait()
}
