package wire

import (
	"sync/atomic"

	"golang.org/x/sys/unix"

	"kiln/actors"
	"kiln/commands"
	"kiln/wire/kernel"
	"kiln/wire/resp"
)

// transport is what a client needs of its connection: a socket here, memory in tests.
type transport interface {
	// write writes as much as the connection takes at once; 0 if it takes nothing now.
	write(p []byte) (n int, err error)
	// watch says what the loop wants to know of the connection.
	watch(read, write bool)
	// close ends the connection.
	close()
}

// task is what a client is asked to do on its loop.
type task uint8

const (
	taskResume task = iota // the reply that the client is parked for is there
	taskKill               // another client, or the server, ends this one
)

// How far a parked request has come: Start may call Done before it returns.
const (
	parkStarting int32 = iota
	parkWaiting
	parkDone
)

// client is one connection, on one loop. All its methods run on that loop.
//
// Bytes come in through traffic and are decoded at once where they lie; what is left of an
// incomplete command, or behind a command that has to wait, is kept in query. Replies collect in
// the loop's buffer, as the client's piece of it, and are written when all ready clients have been
// served. What the socket does not take is the client's backlog; while that is long, its commands
// wait and it is not read.
type client struct {
	commands.Session
	loop      *loop
	transport transport
	decoder   resp.Decoder
	query     []byte // bytes not used yet: from at on
	at        int
	request   *actors.Request // the command that the client is parked for
	park      atomic.Int32
	backlog   [][]byte
	deaf      bool // not read for now
	eof       bool // it sends no more
	closed    bool
}

// traffic takes bytes that arrived. They are the loop's: what is not used now is copied.
func (c *client) traffic(data []byte) {
	c.BytesIn.Add(int64(len(data)))
	c.loop.bytesIn += int64(len(data))
	c.LastActive.Store(c.loop.stamp)
	if len(c.query) == c.at && !c.waits() {
		c.keep(data[c.process(data):])
	} else {
		c.keep(data)
		c.resume()
	}
	c.due()
	switch n := int64(len(c.query) - c.at); {
	case n > c.loop.server.shared.Config.QueryMax.Load():
		c.end()
	case n > aheadMax && c.waits() && !c.closed:
		c.deaf = true
		c.watch()
	}
}

// waits reports whether the client's commands have to wait: for a reply, or for it to read.
func (c *client) waits() bool {
	return c.request != nil || c.Closing || c.closed || c.Pending.Load() > pendingMax
}

func (c *client) watch() { c.transport.watch(!c.eof && !c.deaf, len(c.backlog) > 0) }

// keep stores bytes for later.
func (c *client) keep(data []byte) {
	if len(data) > 0 {
		if c.at > 0 && c.at >= len(c.query)/2 {
			c.query = c.query[:copy(c.query, c.query[c.at:])]
			c.at = 0
		}
		c.query = append(c.query, data...)
	}
	c.Query.Store(int64(len(c.query) - c.at))
}

// resume goes on with the bytes kept.
func (c *client) resume() {
	for !c.waits() && c.at < len(c.query) {
		n := c.process(c.query[c.at:])
		if c.at += n; n == 0 {
			break
		}
	}
	if c.at == len(c.query) {
		if c.query, c.at = c.query[:0], 0; cap(c.query) > queryKeep {
			c.query = nil
		}
	}
	c.Query.Store(int64(len(c.query) - c.at))
	if c.deaf && !c.waits() && !c.closed {
		c.deaf = false
		c.watch()
	}
}

// process runs the commands at the start of data, until it is used up or the client has to wait,
// and returns how many bytes it used.
func (c *client) process(data []byte) (used int) {
	for used < len(data) && !c.waits() {
		n, more := c.loop.batch(c, data[used:])
		used += n
		if !more {
			break
		}
	}
	return used
}

// parked keeps the client from running commands until the request is done.
func (c *client) parked(q *actors.Request) {
	c.request = q
	c.loop.parked++
	c.park.Store(parkStarting)
	q.Client, q.Done = c, requestDone
	q.Start()
	if !c.park.CompareAndSwap(parkStarting, parkWaiting) {
		c.answer()
	}
}

// requestDone may run on any goroutine.
func requestDone(q *actors.Request) {
	c := q.Client.(*client)
	if c.park.Swap(parkDone) == parkWaiting {
		c.loop.post(c, taskResume)
	}
}

// answer takes the reply of the request that the client was parked for.
func (c *client) answer() {
	q := c.request
	c.request = nil
	c.loop.parked--
	if c.closed || q.Reply.Len() == 0 {
		return
	}
	if q.Reply.Len() < flushBytes/2 {
		for _, chunk := range q.Reply.Chunks() {
			c.loop.out.RawN(chunk, 0)
		}
		return
	}
	c.due()
	c.loop.flush()
	for _, chunk := range q.Reply.Take() {
		c.send(chunk, true)
	}
}

// run is a task posted to the client's loop.
func (c *client) run(t task) {
	if t == taskResume {
		c.answer()
	}
	if c.closed {
		return
	}
	if t == taskKill {
		c.end()
		return
	}
	c.resume()
	c.due()
}

// due marks the replies that the loop has collected since the last client's as this client's.
func (c *client) due() {
	l := c.loop
	if to := l.out.Len(); to > l.marked {
		l.pieces = append(l.pieces, piece{c, l.marked, to})
		l.marked = to
		if to > flushBytes {
			l.flush()
		}
	} else if c.Closing || c.eof {
		l.pieces = append(l.pieces, piece{c, to, to}) // to be settled
	}
}

// send writes bytes; what the socket does not take becomes backlog. owned bytes are not used by
// anyone else.
func (c *client) send(p []byte, owned bool) {
	if c.closed || len(p) == 0 {
		return
	}
	c.BytesOut.Add(int64(len(p)))
	c.loop.bytesOut += int64(len(p))
	if len(c.backlog) == 0 {
		n, err := c.transport.write(p[:min(len(p), writeBytes)])
		if err != nil {
			c.end()
			return
		}
		if p = p[n:]; len(p) == 0 {
			return
		}
	}
	if !owned {
		p = append([]byte(nil), p...)
	}
	c.backlog = append(c.backlog, p)
	c.loop.backlogged += int64(len(p))
	pending := c.Pending.Add(int64(len(p)))
	if len(c.backlog) == 1 {
		c.watch()
	}
	if hard := c.loop.server.shared.Config.NormalHard.Load(); hard > 0 && pending > hard {
		c.end()
	}
}

// writable writes a piece of the backlog.
func (c *client) writable() {
	if len(c.backlog) == 0 {
		return
	}
	p := c.backlog[0]
	n, err := c.transport.write(p[:min(len(p), writeBytes)])
	if err != nil {
		c.end()
		return
	}
	c.Pending.Add(-int64(n))
	c.loop.backlogged -= int64(n)
	if c.backlog[0] = p[n:]; n == len(p) {
		c.backlog[0] = nil
		if c.backlog = c.backlog[1:]; len(c.backlog) == 0 {
			c.backlog = nil
			c.watch()
		}
	}
	if !c.waits() {
		c.resume()
	}
	c.due()
}

// settle closes the connection once nothing is left to do for it: after QUIT or a protocol error
// its replies are written first, and so they are when the client has closed its sending side.
func (c *client) settle() {
	if !c.closed && (c.Closing || c.eof) && len(c.backlog) == 0 && c.request == nil {
		c.end()
	}
}

// ended is called when the client sends no more. What it sent before is still run and answered.
func (c *client) ended() {
	c.eof = true
	c.watch()
	c.due()
}

// end closes the connection at once, and forgets the client.
func (c *client) end() {
	if c.closed {
		return
	}
	c.closed = true
	c.query, c.at = nil, 0
	for _, p := range c.backlog {
		c.loop.backlogged -= int64(len(p))
	}
	c.backlog = nil
	c.loop.forget(c)
	c.transport.close()
}

// socket is a descriptor as a transport.
type socket struct {
	fd   int
	poll *poller
}

func (s *socket) write(p []byte) (int, error) {
	for {
		n, err := kernel.Write(s.fd, p)
		switch err {
		case nil:
			return n, nil
		case unix.EAGAIN:
			return 0, nil
		case unix.EINTR:
		default:
			return 0, err
		}
	}
}

func (s *socket) watch(read, write bool) { s.poll.watch(s.fd, read, write) }

func (s *socket) close() { _ = unix.Close(s.fd) }
