package wire

import (
	"fmt"

	"golang.org/x/sys/unix"

	"kiln/wire/kernel"
)

// poller tells which sockets are ready. All but wake belongs to one goroutine.
type poller struct {
	fd, wakeFD int
	raw        [eventsMax]unix.EpollEvent
}

// event is a socket that is ready. A broken one is said to be readable: reading tells why.
type event struct {
	fd                 int
	readable, writable bool
	last               bool // there is an end behind the bytes, which no further event will tell
	broken             bool // both sides have ended, or there was an error
}

func newPoller() (*poller, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("create epoll: %w", err)
	}
	wakeFD, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("create eventfd: %w", err)
	}
	p := &poller{fd: fd, wakeFD: wakeFD}
	return p, p.add(wakeFD)
}

// add watches a socket for connections, or for being woken.
func (p *poller) add(fd int) error { return p.control(fd, unix.EPOLLIN) }

// addClient watches a client's socket for bytes to read. An event is told once: the loop reads
// until a read comes back short, and the kernel need not look at the socket again.
func (p *poller) addClient(fd int) error { return p.control(fd, clientEvents|unix.EPOLLIN) }

const clientEvents = unix.EPOLLET | unix.EPOLLRDHUP

func (p *poller) control(fd int, events uint32) error {
	e := unix.EpollEvent{Events: events, Fd: int32(fd)}
	if err := unix.EpollCtl(p.fd, unix.EPOLL_CTL_ADD, fd, &e); err != nil {
		return fmt.Errorf("watch a socket: %w", err)
	}
	return nil
}

// watch changes what a listening socket is watched for.
func (p *poller) watch(fd int, read bool) { p.change(fd, 0, read, false) }

// watchClient changes what a client's socket is watched for. What is ready already is told again;
// and again and again while it is watched for writing, since that is done a piece at a time.
func (p *poller) watchClient(fd int, read, write bool) {
	if write {
		p.change(fd, 0, read, true)
		return
	}
	p.change(fd, clientEvents, read, false)
}

func (p *poller) change(fd int, events uint32, read, write bool) {
	e := unix.EpollEvent{Events: events, Fd: int32(fd)}
	if read {
		e.Events |= unix.EPOLLIN
	}
	if write {
		e.Events |= unix.EPOLLOUT
	}
	_ = unix.EpollCtl(p.fd, unix.EPOLL_CTL_MOD, fd, &e) // fails only for a socket that is gone
}

// wait blocks until a socket is ready, wake is called or the time is over (-1: never). A busy loop
// is not kept waiting long: only after quickWaitMs without an event does it tell the scheduler.
func (p *poller) wait(events *[eventsMax]event, timeoutMs int) int {
	quick := quickWaitMs
	if timeoutMs == 0 {
		quick = 0
	}
	n := kernel.EpollWait(p.fd, p.raw[:], quick, true)
	if n == 0 && timeoutMs != 0 {
		n = kernel.EpollWait(p.fd, p.raw[:], timeoutMs, false)
	}
	for i := range n {
		e := &p.raw[i]
		broken := e.Events&(unix.EPOLLERR|unix.EPOLLHUP) != 0
		events[i] = event{
			fd: int(e.Fd), readable: e.Events&unix.EPOLLIN != 0 || broken,
			writable: e.Events&unix.EPOLLOUT != 0,
			last:     broken || e.Events&unix.EPOLLRDHUP != 0, broken: broken,
		}
	}
	return n
}

// wake makes wait return. Any goroutine may call it.
func (p *poller) wake() {
	_, _ = unix.Write(p.wakeFD, []byte{1, 0, 0, 0, 0, 0, 0, 0}) // full means it is awake
}

// awake takes the wake-up in.
func (p *poller) awake() {
	var b [8]byte
	_, _ = unix.Read(p.wakeFD, b[:])
}

func (p *poller) close() {
	_ = unix.Close(p.wakeFD)
	_ = unix.Close(p.fd)
}

func accept(fd int) (int, unix.Sockaddr, error) {
	return unix.Accept4(fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
}

func keepAlive(fd int, seconds int) {
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, seconds)
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, max(seconds/3, 1))
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 3)
}
