package main

import (
	"errors"
	"os"
	"testing"
	"time"

	"kiln/commands"
)

func TestProcessKnowsItself(t *testing.T) {
	p := newProcess("/etc/kiln.conf")
	if n := p.Resident(); n < 1<<20 || n > 1<<40 {
		t.Errorf("resident: %d", n)
	}
	if n := p.Heap(); n < 1<<16 || n > 1<<40 {
		t.Errorf("heap: %d", n)
	}
	busy := 0
	for start := time.Now(); time.Since(start) < 30*time.Millisecond; busy++ {
	}
	if system, user := p.CPU(); system+user <= 0 || system+user > 1e6 {
		t.Errorf("CPU: %g %g", system, user)
	}
	if p.PID() != os.Getpid() || p.Executable() == "" || p.ConfigFile() != "/etc/kiln.conf" {
		t.Errorf("want this process, got %d %s %s", p.PID(), p.Executable(), p.ConfigFile())
	}
	if system, _ := p.Host(); system == "" {
		t.Error("want the system's name")
	}
}

func TestProcessAsksMain(t *testing.T) {
	p := newProcess("")
	if used, lent, mapped := p.Arena(); used|lent|mapped != 0 {
		t.Error("want nothing before main says so")
	}
	if p.Shutdown(commands.ShutdownOptions{}) == nil {
		t.Error("want a refusal before main says otherwise")
	}
	p.arena = func() (used, lent, mapped int64) { return 1, 2, 3 }
	if used, lent, mapped := p.Arena(); used != 1 || lent != 2 || mapped != 3 {
		t.Errorf("want 1 2 3, got %d %d %d", used, lent, mapped)
	}
	refused := errors.New("no")
	var asked commands.ShutdownOptions
	p.shutdown = func(o commands.ShutdownOptions) error { asked = o; return refused }
	if err := p.Shutdown(commands.ShutdownOptions{Now: true}); !errors.Is(err, refused) || !asked.Now {
		t.Errorf("want main's answer, got %v", err)
	}
}

func TestSleepEndsWithTheServer(t *testing.T) {
	p := newProcess("")
	p.Sleep(1)
	p.Sleep(-1)
	done := make(chan struct{})
	go func() {
		p.Sleep(int64(time.Hour))
		close(done)
	}()
	p.wake()
	p.wake()
	<-done
	p.Sleep(int64(time.Hour))
}
