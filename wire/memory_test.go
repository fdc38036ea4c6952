package wire

import (
	"testing"
)

// memory is a transport in memory. It takes as many bytes as room says.
type memory struct {
	out         []byte
	room        int
	read, write bool
	closed      bool
}

func (m *memory) take(p []byte) int {
	n := min(len(p), m.room)
	m.room -= n
	m.out = append(m.out, p[:n]...)
	return n
}

// memoryClient is a client on a loop that nobody runs: the test does, so all is in its hands.
type memoryClient struct {
	*client
	rig *rig
	mem *memoryTransport
}

type memoryTransport struct{ memory }

func (m *memoryTransport) write(p []byte) (int, error) { return m.take(p), nil }
func (m *memoryTransport) watch(read, write bool)      { m.read, m.memory.write = read, write }
func (m *memoryTransport) close()                      { m.closed = true }

// newMemoryClient returns a client whose connection takes any number of bytes.
func newMemoryClient(t testing.TB, settings ...string) *memoryClient {
	t.Helper()
	r := newRig(t, Options{Loops: 1}, settings...)
	l, err := newLoop(r.server)
	if err != nil {
		t.Fatal(err)
	}
	r.server.loops = append(r.server.loops, l)
	t.Cleanup(r.stopMemory)
	return r.memoryClient(l)
}

// memoryClient connects a client. The descriptor that it is told is none.
func (r *rig) memoryClient(l *loop) *memoryClient {
	c := &client{loop: l}
	c.ID = r.server.register.last.Add(1)
	c.FD = int(c.ID) % 8
	c.Addr, c.LocalAddr = "127.0.0.1:1", "127.0.0.1:2"
	c.Begin(r.shared)
	m := &memoryTransport{memory{room: 1 << 40}}
	c.transport = m
	r.server.register.count.Add(1)
	r.server.register.add(c)
	l.count.Add(1)
	if l.clients == nil {
		l.clients = make([]*client, 8)
	}
	l.clients[c.FD] = c
	return &memoryClient{c, r, m}
}

// stopMemory ends a rig whose loop was never run.
func (r *rig) stopMemory() {
	r.process.wake()
	for _, l := range r.server.loops {
		for l.parked > 0 {
			l.turn(10)
		}
		for _, c := range l.clients {
			if c != nil {
				c.end()
			}
		}
	}
	_ = r.server.release()
	r.router.Close()
}

// turn does what a turn of the loop does after it has read.
func (c *memoryClient) turn() {
	l := c.loop
	l.flush()
	l.settle()
	for l.parked > 0 || l.expects() {
		l.turn(1)
	}
	l.flush()
	l.settle()
}

// expects reports whether there are errands.
func (l *loop) expects() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.errands) > 0
}
