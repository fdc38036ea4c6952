//go:build darwin || freebsd || netbsd || openbsd

package wire

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// poller tells which sockets are ready. All but wake belongs to one goroutine.
type poller struct {
	fd, wakeFD, wakeTo int
	raw                [eventsMax]unix.Kevent_t
}

// event is a socket that is ready. A broken one is said to be readable: reading tells why.
type event struct {
	fd                 int
	readable, writable bool
	last               bool // there is an end behind the bytes, which no further event will tell
	broken             bool // both sides have ended, or there was an error
}

func newPoller() (*poller, error) {
	fd, err := unix.Kqueue()
	if err != nil {
		return nil, fmt.Errorf("create kqueue: %w", err)
	}
	unix.CloseOnExec(fd)
	var pipe [2]int
	if err := unix.Pipe(pipe[:]); err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("create pipe: %w", err)
	}
	for _, end := range pipe {
		unix.CloseOnExec(end)
		_ = unix.SetNonblock(end, true)
	}
	p := &poller{fd: fd, wakeFD: pipe[0], wakeTo: pipe[1]}
	return p, p.add(p.wakeFD)
}

func (p *poller) change(fd, filter, flags int) error {
	var e unix.Kevent_t
	unix.SetKevent(&e, fd, filter, flags)
	_, err := unix.Kevent(p.fd, []unix.Kevent_t{e}, nil, nil)
	return err
}

// add watches a socket for connections, or for being woken.
func (p *poller) add(fd int) error {
	if err := p.change(fd, unix.EVFILT_READ, unix.EV_ADD); err != nil {
		return fmt.Errorf("watch a socket: %w", err)
	}
	return nil
}

// addClient watches a client's socket for bytes to read.
func (p *poller) addClient(fd int) error { return p.add(fd) }

// watch changes what a listening socket is watched for.
func (p *poller) watch(fd int, read bool) { p.watchClient(fd, read, false) }

// watchClient changes what a client's socket is watched for.
func (p *poller) watchClient(fd int, read, write bool) {
	flags := map[bool]int{true: unix.EV_ADD, false: unix.EV_DELETE}
	_ = p.change(fd, unix.EVFILT_READ, flags[read]) // what is not there cannot be deleted: fine
	_ = p.change(fd, unix.EVFILT_WRITE, flags[write])
}

// wait blocks until a socket is ready, wake is called or the time is over (-1: never).
func (p *poller) wait(events *[eventsMax]event, timeoutMs int) int {
	var timeout *unix.Timespec
	if timeoutMs >= 0 {
		t := unix.NsecToTimespec(int64(timeoutMs) * 1e6)
		timeout = &t
	}
	n, _ := unix.Kevent(p.fd, nil, p.raw[:], timeout) // EINTR is the only error there is
	for i := range max(n, 0) {
		e := &p.raw[i]
		events[i] = event{
			fd: int(e.Ident), readable: e.Filter == unix.EVFILT_READ,
			writable: e.Filter == unix.EVFILT_WRITE,
		}
	}
	return max(n, 0)
}

// wake makes wait return. Any goroutine may call it.
func (p *poller) wake() { _, _ = unix.Write(p.wakeTo, []byte{1}) } // full means it is awake

// awake takes the wake-ups in.
func (p *poller) awake() {
	var b [64]byte
	_, _ = unix.Read(p.wakeFD, b[:])
}

func (p *poller) close() {
	_ = unix.Close(p.wakeFD)
	_ = unix.Close(p.wakeTo)
	_ = unix.Close(p.fd)
}

func accept(fd int) (int, unix.Sockaddr, error) {
	conn, from, err := unix.Accept(fd)
	if err != nil {
		return 0, nil, err
	}
	unix.CloseOnExec(conn)
	return conn, from, unix.SetNonblock(conn, true)
}

func keepAlive(fd int, _ int) {
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
}
