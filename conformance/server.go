package conformance

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"
)

const (
	startMax  = 10 * time.Second
	stopMax   = 5 * time.Second
	outputMax = 64 << 10 // of a server's output, the newest
)

// A Server is a process under test, on a port of its own.
type Server struct {
	Addr string

	cmd  *exec.Cmd
	out  output
	done chan struct{} // closed when the process has ended
}

// StartServer starts the program on a free loopback port, in a directory of its own, without
// persistence, and returns once it answers PING. If it does not, the error has its output.
func StartServer(ctx context.Context, program, dir string, args ...string) (*Server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	s := &Server{Addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), done: make(chan struct{})}
	args = append([]string{"--port", strconv.Itoa(port), "--save", ""}, args...)
	s.cmd = exec.Command(program, args...)
	s.cmd.Dir = dir
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.out
	dieWithParent(s.cmd)
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	go func() {
		_ = s.cmd.Wait()
		close(s.done)
	}()
	if err := s.awaitPing(ctx); err != nil {
		_ = s.Stop()
		return nil, fmt.Errorf("start %s %q: %w\n%s", program, args, err, s.Output())
	}
	return s, nil
}

func (s *Server) awaitPing(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startMax)
	defer cancel()
	p := Player{Addr: s.Addr, Timeout: time.Second}
	last := errors.New("not tried")
	for {
		c, err := p.dial(ctx)
		if err == nil {
			_, err = c.command("PING")
			c.close()
		}
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-s.done:
			return fmt.Errorf("it ended: %s", s.cmd.ProcessState)
		case <-ctx.Done():
			return fmt.Errorf("no answer to PING within %v: %w", startMax, last)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Alive says whether the process still runs.
func (s *Server) Alive() bool {
	select {
	case <-s.done:
		return false
	default:
		return true
	}
}

// Stop ends the process, by force if it does not want to. A server that was asked to end and has
// not ended well is an error: so races and faults at the end do not stay unseen.
func (s *Server) Stop() error {
	if s.cmd == nil {
		return nil
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.done:
		if !s.cmd.ProcessState.Success() {
			return fmt.Errorf("the server ended with %s", s.cmd.ProcessState)
		}
		return nil
	case <-time.After(stopMax):
	}
	_ = s.cmd.Process.Kill()
	<-s.done
	return fmt.Errorf("the server did not end within %v of SIGTERM", stopMax)
}

// Output is what the process has printed, or the end of it.
func (s *Server) Output() string { return s.out.String() }

// OutputSize is how much it has printed so far, for OutputSince.
func (s *Server) OutputSize() int { return s.out.size() }

// OutputSince is what it has printed since then.
func (s *Server) OutputSince(size int) string {
	text := s.out.String()
	if n := s.out.size() - size; n < len(text) {
		text = text[len(text)-n:]
	}
	return text
}

// output keeps the newest outputMax bytes.
type output struct {
	mu    sync.Mutex
	buf   []byte
	total int
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf = append(o.buf, p...)
	o.total += len(p)
	if extra := len(o.buf) - outputMax; extra > 0 {
		o.buf = append(o.buf[:0], o.buf[extra:]...)
	}
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.buf)
}

func (o *output) size() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.total
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port, nil
}
