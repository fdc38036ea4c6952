package wire

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"kiln/actors"
	"kiln/commands"
)

// Options say where a server listens and with how many event loops.
type Options struct {
	Listen   []Listen
	UnixPerm uint32 // mode of unix sockets, 0 as the umask leaves it
	Loops    int    // 0: one less than there are processors
	Logger   *slog.Logger
}

// Listen is an address to listen on.
type Listen struct {
	Network  string // tcp, tcp4, tcp6 or unix
	Address  string // host:port, or a path
	Optional bool   // may fail: IPv6 on a machine without it
}

var errNoAddress = errors.New("there is no address to listen on")

// Server listens and has the clients.
type Server struct {
	shared    *commands.Server
	router    *actors.Router
	options   Options
	loops     []*loop
	listeners []*listener
	register  register
	running   sync.WaitGroup
}

// New returns a server that does not listen yet. It sets shared.Clients and
// shared.Loops.
func New(shared *commands.Server, router *actors.Router, o Options) *Server {
	if o.Loops <= 0 {
		// A loop that takes the last processor from the clients and the workers serves nobody.
		o.Loops = max(runtime.NumCPU()-1, 1)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{shared: shared, router: router, options: o}
	shared.Loops = o.Loops
	s.register.byID = map[int64]*client{}
	shared.Clients = &s.register
	return s
}

// Start listens and starts the event loops. After an error nothing is left behind.
func (s *Server) Start() error {
	for range s.options.Loops {
		l, err := newLoop(s)
		if err != nil {
			s.release()
			return fmt.Errorf("start an event loop: %w", err)
		}
		s.loops = append(s.loops, l)
	}
	if err := s.listen(); err != nil {
		s.release()
		return err
	}
	// Loops keep their processors while they wait a moment, so the others get their own.
	if n := runtime.NumCPU() + len(s.loops); n > runtime.GOMAXPROCS(0) {
		runtime.GOMAXPROCS(n)
	}
	for _, l := range s.loops {
		s.running.Add(1)
		go func() {
			defer s.running.Done()
			l.run()
		}()
	}
	return nil
}

func (s *Server) listen() error {
	for _, where := range s.options.Listen {
		ln, err := listen(where, s.options.UnixPerm)
		if err != nil && where.Optional && absent(err) {
			s.options.Logger.Warn("not listening", "address", where.Address, "reason", err)
			continue
		}
		if err != nil {
			return err
		}
		s.listeners = append(s.listeners, ln)
	}
	if len(s.listeners) == 0 {
		return errNoAddress
	}
	for _, ln := range s.listeners {
		l := s.loops[0]
		l.listens[ln.fd] = ln
		if err := l.poll.add(ln.fd); err != nil {
			return err
		}
	}
	return nil
}

// Stop closes the listeners, lets the commands under way end and be answered, disconnects the
// clients and ends the event loops.
func (s *Server) Stop() error {
	for _, l := range s.loops {
		l.halt()
	}
	s.running.Wait()
	return s.release()
}

func (s *Server) release() error {
	var errs []error
	for _, ln := range s.listeners {
		errs = append(errs, ln.close())
	}
	for _, l := range s.loops {
		l.close()
	}
	s.listeners, s.loops = nil, nil
	return errors.Join(errs...)
}

// Addrs gives the addresses that the server listens on, as host:port or path.
func (s *Server) Addrs() (addrs []string) {
	for _, ln := range s.listeners {
		addrs = append(addrs, ln.addr)
	}
	return addrs
}

// emptiest is the loop with the fewest clients.
func (s *Server) emptiest() *loop {
	return slices.MinFunc(s.loops, func(a, b *loop) int {
		return int(a.count.Load() - b.count.Load())
	})
}

// register is the list of all clients, which every loop may ask.
type register struct {
	mu    sync.Mutex
	byID  map[int64]*client
	last  atomic.Int64
	count atomic.Int64
}

func (r *register) add(c *client) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byID[c.ID] = c
}

func (r *register) remove(c *client) {
	r.count.Add(-1)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byID, c.ID)
}

// Each calls f for every client, oldest first, until it returns false.
func (r *register) Each(f func(*commands.Session) bool) {
	r.mu.Lock()
	all := make([]*client, 0, len(r.byID))
	for _, c := range r.byID {
		all = append(all, c)
	}
	r.mu.Unlock()
	slices.SortFunc(all, func(a, b *client) int { return int(a.ID - b.ID) })
	for _, c := range all {
		if !f(&c.Session) {
			return
		}
	}
}

// Close ends a client's connection. None of its commands is begun any more.
func (r *register) Close(s *commands.Session) {
	r.mu.Lock()
	c := r.byID[s.ID]
	r.mu.Unlock()
	if c != nil {
		c.Kill.Store(true)
		c.loop.post(c, taskKill)
	}
}

// Count is the number of clients.
func (r *register) Count() int { return int(r.count.Load()) }

// Blocked is the number of clients that wait for a key.
func (r *register) Blocked() int { return 0 }
