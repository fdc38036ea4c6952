package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	startMax = 15 * time.Second
	stopMax  = 10 * time.Second
)

// server is one of the servers compared.
type server struct {
	name    string
	command []string
	version string // as INFO says, known once it was started

	addr string
	dir  string
	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended
}

// start starts the server in an empty folder and waits until it answers.
func (s *server) start(ctx context.Context) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("find a free port: %w", err)
	}
	s.addr = l.Addr().String()
	_, port, _ := net.SplitHostPort(s.addr)
	if err = l.Close(); err != nil {
		return err
	}
	if s.dir, err = os.MkdirTemp("", "kiln-perf"); err != nil {
		return err
	}
	words := make([]string, len(s.command))
	for i, w := range s.command {
		words[i] = strings.ReplaceAll(w, "{port}", port)
	}
	if strings.ContainsRune(words[0], filepath.Separator) {
		if words[0], err = filepath.Abs(words[0]); err != nil {
			return err
		}
	}
	s.cmd = exec.Command(words[0], words[1:]...)
	s.cmd.Dir = s.dir
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that a shell's children end too
	if err = s.cmd.Start(); err != nil {
		s.cmd = nil
		return fmt.Errorf("start %s: %w", s.name, err)
	}
	s.done = make(chan struct{})
	go func(cmd *exec.Cmd, done chan struct{}) {
		_ = cmd.Wait()
		close(done)
	}(s.cmd, s.done)
	return s.await(ctx)
}

func (s *server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startMax)
	defer cancel()
	for {
		err := s.ask(func(c *client) error {
			text, err := c.text("INFO", "server")
			s.version = versionOf(text)
			return err
		})
		if err == nil {
			return nil
		}
		select {
		case <-s.done:
			return fmt.Errorf("%s ended: %s", s.name, s.cmd.ProcessState)
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer: %w", s.name, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// versionOf reads what INFO calls the version, with the name of the fork.
func versionOf(info string) string {
	fields := make(map[string]string)
	for line := range strings.Lines(info) {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[k] = v
		}
	}
	for _, who := range []string{"kiln", "valkey", "dragonfly", "redis"} {
		if v := fields[who+"_version"]; v != "" {
			return who + " " + v
		}
	}
	return "unknown"
}

// startAll starts all servers, to run beside each other.
func startAll(ctx context.Context, servers []*server) error {
	for _, s := range servers {
		if err := s.start(ctx); err != nil {
			return err
		}
	}
	return nil
}

// stop ends the server; it may not have been started.
func (s *server) stop() {
	if s.cmd == nil {
		return
	}
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGTERM)
	select {
	case <-s.done:
	case <-time.After(stopMax):
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
		<-s.done
	}
	s.cmd = nil
	_ = os.RemoveAll(s.dir)
}

// ask does something on a connection of its own.
func (s *server) ask(f func(*client) error) error {
	c, err := dial(s.addr)
	if err != nil {
		return err
	}
	return errors.Join(f(c), c.close())
}

// tree is the process and its children, since a server may be started through a shell.
func (s *server) tree() []string {
	all := []string{strconv.Itoa(s.cmd.Process.Pid)}
	for i := 0; i < len(all); i++ {
		lists, _ := filepath.Glob("/proc/" + all[i] + "/task/*/children")
		for _, list := range lists {
			text, _ := os.ReadFile(list)
			all = append(all, strings.Fields(string(text))...)
		}
	}
	return all
}

// clockTick is the unit of the times in /proc/PID/stat on every Linux that Go runs on.
const clockTick = 10 * time.Millisecond

// cpu is the user and system time used so far.
func (s *server) cpu() time.Duration {
	var ticks int64
	for _, pid := range s.tree() {
		text, _ := os.ReadFile("/proc/" + pid + "/stat")
		// The name, in parentheses, may hold anything; the times are the 12th and 13th after it.
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(fields) < 13 {
			continue
		}
		for _, f := range fields[11:13] {
			n, _ := strconv.ParseInt(f, 10, 64)
			ticks += n
		}
	}
	return time.Duration(ticks) * clockTick
}

// exactCPU is the time used by the threads that live now, to the nanosecond.
func (s *server) exactCPU() time.Duration {
	var sum int64
	for _, pid := range s.tree() {
		lists, _ := filepath.Glob("/proc/" + pid + "/task/*/schedstat")
		for _, list := range lists {
			text, _ := os.ReadFile(list)
			first, _, _ := strings.Cut(string(text), " ")
			n, _ := strconv.ParseInt(first, 10, 64)
			sum += n
		}
	}
	return time.Duration(sum)
}

// rss is the resident memory in bytes.
func (s *server) rss() int64 { return s.status("status", "VmRSS:") * 1024 }

// wakes is how often the threads that live now have gone to sleep by themselves.
func (s *server) wakes() int64 { return s.status("task/*/status", "voluntary_ctxt_switches:") }

// status sums a field of a file of /proc over the processes.
func (s *server) status(file, field string) int64 {
	var sum int64
	for _, pid := range s.tree() {
		lists, _ := filepath.Glob("/proc/" + pid + "/" + file)
		for _, list := range lists {
			text, _ := os.ReadFile(list)
			for line := range strings.Lines(string(text)) {
				if f := strings.Fields(line); len(f) > 1 && f[0] == field {
					n, _ := strconv.ParseInt(f[1], 10, 64)
					sum += n
				}
			}
		}
	}
	return sum
}
