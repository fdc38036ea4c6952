package wire

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"kiln/commands"
	"kiln/wire/resp"
)

// listener is a socket that connections come in by.
type listener struct {
	fd   int
	addr string
	unix bool
	from net.Listener
	file *os.File
	full bool // the last connection could not be accepted
}

func listen(where Listen, unixPerm uint32) (*listener, error) {
	if where.Network == "unix" {
		return listenUnix(where.Address, unixPerm)
	}
	ln, err := net.Listen(where.Network, where.Address)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return newListener(ln, false)
}

// listenUnix makes a unix socket. Until it has its mode only the owner can connect.
func listenUnix(path string, perm uint32) (*listener, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSocket != 0 {
		_ = os.Remove(path) // left by a server that was killed
	}
	if perm != 0 {
		old := unix.Umask(0o177)
		defer unix.Umask(old)
	}
	ln, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	if perm != 0 {
		if err := os.Chmod(path, os.FileMode(perm)); err != nil {
			_ = ln.Close()
			return nil, fmt.Errorf("listen: %w", err)
		}
	}
	return newListener(ln, true)
}

func newListener(from net.Listener, isUnix bool) (*listener, error) {
	f, err := from.(interface{ File() (*os.File, error) }).File()
	if err != nil {
		_ = from.Close()
		return nil, fmt.Errorf("listen on %s: %w", from.Addr(), err)
	}
	fd := int(f.Fd())
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = f.Close()
		_ = from.Close()
		return nil, fmt.Errorf("listen on %s: %w", from.Addr(), err)
	}
	return &listener{fd: fd, addr: from.Addr().String(), unix: isUnix, from: from, file: f}, nil
}

// close may be called again.
func (ln *listener) close() error {
	if ln.file == nil {
		return nil
	}
	_ = ln.file.Close()
	ln.file = nil
	return ln.from.Close()
}

// absent reports whether an address cannot be had because the machine has none such.
func absent(err error) bool {
	for _, no := range []error{
		unix.EADDRNOTAVAIL, unix.EAFNOSUPPORT, unix.EPFNOSUPPORT, unix.EPROTONOSUPPORT,
		unix.ENOPROTOOPT, unix.ESOCKTNOSUPPORT,
	} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}

// accept takes in connections and spreads them over the loops.
func (l *loop) accept(ln *listener) {
	for range acceptMax {
		fd, from, err := accept(ln.fd)
		switch err {
		case nil:
			ln.full = false
			l.admit(ln, fd, from)
		case unix.EINTR, unix.ECONNABORTED:
		case unix.EAGAIN:
			return
		default: // out of descriptors or memory: to ask again at once would take a processor
			if !ln.full {
				l.server.options.Logger.Warn("cannot accept a connection", "reason", err)
			}
			ln.full = true
			l.poll.watch(ln.fd, false)
			time.AfterFunc(acceptPause, func() {
				l.send(errand{do: func() { l.poll.watch(ln.fd, !l.stop) }})
			})
			return
		}
	}
}

// admit makes a client of a connection, or refuses it with a reason.
func (l *loop) admit(ln *listener, fd int, from unix.Sockaddr) {
	s := l.server
	config := s.shared.Config
	remote, loopback := describe(from)
	refusal := resp.Error("")
	if s.register.count.Add(1) > config.MaxClients.Load() {
		refusal = commands.ErrTooMany
	} else if config.ProtectedMode.Load() && !s.shared.PasswordSet() && !ln.unix && !loopback {
		refusal = commands.ErrProtected
	}
	if refusal != "" {
		s.register.count.Add(-1)
		s.shared.Stats.Rejected.Add(1)
		_, _ = unix.Write(fd, []byte("-"+refusal+"\r\n"))
		_ = unix.Close(fd)
		return
	}
	s.shared.Stats.Connections.Add(1)
	c := &client{}
	c.ID = s.register.last.Add(1)
	c.FD = fd
	c.Created = time.Now().UnixNano()
	c.LastActive.Store(c.Created)
	c.Unix = ln.unix
	c.Begin(s.shared)
	c.Addr, c.LocalAddr = remote, ln.addr
	if ln.unix {
		c.Addr, c.LocalAddr = ln.addr+":0", ln.addr+":0"
	} else {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
		if seconds := config.KeepAliveSec.Load(); seconds > 0 {
			keepAlive(fd, int(seconds))
		}
		if local, err := unix.Getsockname(fd); err == nil {
			c.LocalAddr, _ = describe(local)
		}
	}
	to := s.emptiest()
	to.count.Add(1)
	if c.loop = to; to == l {
		l.adopt(c)
		return
	}
	to.send(errand{do: func() { to.adopt(c) }})
}

// describe prints an address as Redis does, and says whether it is this machine.
func describe(a unix.Sockaddr) (text string, loopback bool) {
	var ip netip.Addr
	var port int
	switch a := a.(type) {
	case *unix.SockaddrInet4:
		ip, port = netip.AddrFrom4(a.Addr), a.Port
	case *unix.SockaddrInet6:
		ip, port = netip.AddrFrom16(a.Addr).Unmap(), a.Port
	default:
		return "", true
	}
	text = netip.AddrPortFrom(ip, uint16(port)).String()
	return strings.ReplaceAll(text, "%", "-"), ip.IsLoopback()
}
