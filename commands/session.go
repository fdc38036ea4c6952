package commands

import (
	"strings"
	"sync/atomic"
)

// Session is what the server knows of one client. Its loop alone writes it; what other clients
// may see of it is in atomics, or in the description it publishes.
type Session struct {
	ID            int64
	DB            int
	Resp3         bool
	Authenticated bool
	User          string
	Name          string
	LibName       string
	LibVer        string
	Addr          string
	LocalAddr     string
	FD            int
	Created       int64 // Unix nanoseconds
	NoTouch       bool
	NoEvict       bool
	Closing       bool // close the connection once the replies so far are written
	Unix          bool // came over the unix socket

	// Server is what the client is connected to. Check asks it whether a password is wanted;
	// without it, Authenticated alone decides.
	Server *Server

	LastActive atomic.Int64          // Unix nanoseconds
	LastSpec   atomic.Pointer[Spec]  // the last command
	Shown      atomic.Pointer[Shown] // what CLIENT LIST prints
	Commands   atomic.Int64
	BytesIn    atomic.Int64
	BytesOut   atomic.Int64
	Pending    atomic.Int64 // bytes of replies not written yet
	Query      atomic.Int64 // bytes of an incomplete command
	Kill       atomic.Bool  // to be closed by its loop
}

// Shown is the part of a session that changes rarely, as others see it. It is never changed
// once published.
type Shown struct {
	DB                              int
	Resp3                           bool
	User, Name, LibName, LibVer     string
	NoTouch, NoEvict, Authenticated bool
}

// Begin makes the session that of a new client, or one as good as new (RESET): it is the default
// user, and known to be unless a password is asked for.
func (s *Session) Begin(server *Server) {
	s.Server = server
	s.DB, s.Resp3, s.Name = 0, false, ""
	s.User, s.Authenticated = defaultUser, !server.PasswordSet()
	s.NoTouch, s.NoEvict = false, false
	s.Show()
}

// defaultUser is the one user there is.
const defaultUser = "default"

// PasswordSet tells whether the default user has a password.
func (s *Server) PasswordSet() bool {
	p := s.Config.Password.Load()
	return p != nil && *p != ""
}

// Stranger tells whether the client must authenticate first. One that never did needs not once
// the password is taken away, and has to again when there is a new one.
func (s *Session) Stranger() bool {
	return !s.Authenticated && (s.Server == nil || s.Server.PasswordSet())
}

// permitted tells whether the client may use a protected command: DEBUG, or one of MODULE.
func (s *Session) permitted(spec *Spec) bool {
	if s.Server == nil {
		return false
	}
	permit := s.Server.Config.DebugCommand.Load()
	if spec.container().Name == "module" {
		permit = s.Server.Config.ModuleCommand.Load()
	}
	return permit == PermitYes || permit == PermitLocal && s.local()
}

// local tells whether the client is on this machine for certain.
func (s *Session) local() bool {
	return s.Unix || strings.HasPrefix(s.Addr, "127.0.0.1:") || strings.HasPrefix(s.Addr, "[::1]:")
}

// Show publishes the session's state.
func (s *Session) Show() {
	s.Shown.Store(&Shown{
		DB: s.DB, Resp3: s.Resp3, User: s.User, Name: toNUL(s.Name), LibName: toNUL(s.LibName),
		LibVer: toNUL(s.LibVer), NoTouch: s.NoTouch, NoEvict: s.NoEvict,
		Authenticated: s.Authenticated,
	})
}

// toNUL is what CLIENT LIST shows of a name, as C does: conformance connection/client_name_nul.
func toNUL(name string) string {
	name, _, _ = strings.Cut(name, "\x00")
	return name
}

// Clients is the server's view of its clients; package wire has it. Any goroutine may call it.
type Clients interface {
	// Each calls f for every client, oldest first, until it returns false.
	Each(f func(*Session) bool)
	// Close ends a client's connection: at once, or, if it is the caller's own, after its reply.
	Close(s *Session)
	// Count is the number of clients.
	Count() int
	// Blocked is the number of clients that wait for a key.
	Blocked() int
}

// Server is what all calls share.
type Server struct {
	Seed    uint64 // of key hashes
	Config  *Config
	Clients Clients
	Process Process
	Started int64  // Unix nanoseconds
	RunID   string // 40 hex digits
	Loops   int    // event loops that run
	Stats   Stats
	// OnBug is told of faults of ours, which cost a request its reply.
	OnBug func(command, what string)
}

// Stats are the server's counters. Loops add to them once per batch.
type Stats struct {
	Commands, Connections, Rejected, BytesIn, BytesOut, Panics, Errors atomic.Int64
	SweptKeys, RoamersInterleaved                                      atomic.Int64
	PeakMemory                                                         atomic.Int64

	prefixes atomic.Pointer[prefixCounts] // errors by their first word
	rates    rates
}

// Process is what the operating system knows of the server; package main has it.
type Process interface {
	// Resident is the resident memory in bytes.
	Resident() int64
	// CPU is the time used so far in seconds, in the kernel and outside.
	CPU() (system, user float64)
	// PID is the process's number.
	PID() int
	// Arena gives the bytes of data handed out, lent to partitions and mapped.
	Arena() (used, lent, mapped int64)
	// Heap is what the Go heap takes, in bytes.
	Heap() int64
	// Host is the operating system with its version, and the machine's memory in bytes; empty
	// and 0 if unknown.
	Host() (system string, memory int64)
	// Sleep holds the calling goroutine up for a time in nanoseconds.
	Sleep(ns int64)
	// Shutdown begins the end of the server; it returns an error text where it refuses.
	Shutdown(o ShutdownOptions) error
	// Executable and ConfigFile are paths, empty if unknown.
	Executable() string
	ConfigFile() string
}

// ShutdownOptions are SHUTDOWN's.
type ShutdownOptions struct {
	NoSave, Save, Now, Force, Abort bool
}
