package main

import (
	"os"
	"runtime/metrics"
	"sync"
	"time"

	"kiln/commands"
)

// process is what the operating system knows of the server: it implements commands.Process. Its
// func fields are given before the server starts.
type process struct {
	arena    func() (used, lent, mapped int64)
	shutdown func(commands.ShutdownOptions) error

	executable, configFile string
	system                 string
	memory                 int64
	quit                   chan struct{} // closed by wake
	woken                  sync.Once
}

var _ commands.Process = (*process)(nil)

// newProcess looks up what stays the same.
func newProcess(configFile string) *process {
	p := &process{configFile: configFile, quit: make(chan struct{})}
	p.executable, _ = os.Executable()
	p.system, p.memory = host()
	return p
}

// Resident is the resident memory in bytes.
func (p *process) Resident() int64 { return resident() }

// CPU is the time used so far in seconds.
func (p *process) CPU() (system, user float64) { return cpu() }

// PID is the process's number.
func (p *process) PID() int { return os.Getpid() }

// Arena gives the bytes of data handed out, lent to partitions and mapped.
func (p *process) Arena() (used, lent, mapped int64) {
	if p.arena == nil {
		return 0, 0, 0
	}
	return p.arena()
}

// Heap is what the Go runtime has from the operating system, stacks and its own needs included.
func (p *process) Heap() int64 {
	samples := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64() - samples[1].Value.Uint64())
}

// Host is the operating system and the machine's memory in bytes.
func (p *process) Host() (system string, memory int64) { return p.system, p.memory }

// Sleep holds the calling goroutine up, but no longer than until the server ends.
func (p *process) Sleep(ns int64) {
	t := time.NewTimer(time.Duration(ns))
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.quit:
	}
}

// wake ends all sleeps, those to come too: the server waits for its workers before it ends.
func (p *process) wake() { p.woken.Do(func() { close(p.quit) }) }

// Shutdown begins the end of the server.
func (p *process) Shutdown(o commands.ShutdownOptions) error {
	if p.shutdown == nil {
		return os.ErrInvalid
	}
	return p.shutdown(o)
}

// Executable is the program's path.
func (p *process) Executable() string { return p.executable }

// ConfigFile is the configuration file's path.
func (p *process) ConfigFile() string { return p.configFile }
