package wire

import (
	"sync/atomic"
	"time"

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
	taskMore               // its turn has come again
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
	strained  int64 // since when its backlog is over the soft limit; 0 if it is not
	again     bool  // it has commands for another turn, and a taskMore on its way
	deaf      bool  // not read for now
	eof       bool  // it sends no more
	spared    bool  // it killed itself: the taskKill on its way is void
	leaving   bool  // it is on the loop's list of those to settle
	closed    bool
}

// traffic takes bytes that arrived, behind what was left of the ones before where that is small:
// the first kept bytes of data. They are the loop's: what is not used now is copied.
func (c *client) traffic(data []byte, kept int) {
	arrived := int64(len(data) - kept)
	c.BytesIn.Add(arrived)
	c.loop.bytesIn += arrived
	c.LastActive.Store(c.loop.stamp)
	if kept > 0 {
		c.query, c.at = c.query[:0], 0
	}
	if len(c.query) == c.at && !c.waits() {
		c.keep(data[c.process(data):])
		c.shed()
	} else {
		c.keep(data)
		c.resume()
	}
	c.due()
	n := int64(len(c.query) - c.at)
	switch {
	case c.closed:
	case c.waits() || c.again:
		if n > aheadMax && !c.deaf {
			c.deaf = true
			c.watch()
		}
	case n > c.loop.server.shared.Config.QueryMax.Load():
		c.expel("it sends a command that is too long")
	}
}

// waits reports whether the client's commands have to wait: for a reply, or for it to read.
func (c *client) waits() bool {
	return c.request != nil || c.Closing || c.closed || c.Pending.Load() > pendingMax
}

func (c *client) watch() { c.transport.watch(!c.eof && !c.deaf, len(c.backlog) > 0) }

// keep stores bytes for later.
func (c *client) keep(data []byte) {
	if len(data) > 0 && !c.Closing && !c.closed {
		if c.at > 0 && c.at >= len(c.query)/2 {
			c.query = c.query[:copy(c.query, c.query[c.at:])]
			c.at = 0
		}
		if need := c.decoder.Need(); need > readBytes && cap(c.query)-len(c.query) < len(data) {
			c.reserve(len(data), need)
		}
		c.query = append(c.query, data...)
	}
	c.Query.Store(int64(len(c.query) - c.at))
}

// reserve makes room for n bytes, and for those of a long argument to come; but no more than as
// much again as was sent, since to announce 512 MB costs a client nothing.
func (c *client) reserve(n, need int) {
	held := len(c.query) - c.at + n
	c.query = append(make([]byte, 0, held+min(need, max(held, readBytes))), c.query[c.at:]...)
	c.at = 0
}

// resume goes on with the bytes kept: as many as one read brings, then others have their turn.
func (c *client) resume() {
	if !c.waits() && c.at < len(c.query) {
		n := c.process(c.query[c.at:])
		if c.at += n; n >= readBytes && c.at < len(c.query) && !c.waits() && !c.again {
			c.again = true
			c.loop.post(c, taskMore)
		}
	}
	c.shed()
	c.Query.Store(int64(len(c.query) - c.at))
	if c.deaf && !c.waits() && !c.again {
		c.deaf = false
		c.watch()
	}
}

// shed keeps no large buffer for nothing.
func (c *client) shed() {
	if c.at == len(c.query) {
		if c.query, c.at = c.query[:0], 0; cap(c.query) > queryKeep {
			c.query = nil
			c.loop.letGo()
		}
	}
}

// process runs the commands at the start of data, until it or readBytes of it are used up or the
// client has to wait, and returns how many bytes it used.
func (c *client) process(data []byte) (used int) {
	for used < min(len(data), readBytes) && !c.waits() {
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
	c.LastActive.Store(c.loop.stamp)
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
	switch t {
	case taskResume:
		c.answer()
	case taskMore:
		c.again = false
	case taskKill:
		if !c.spared {
			c.end()
		}
		c.spared = false
	}
	if !c.closed {
		c.resume()
		c.due()
	}
}

// due marks the replies that the loop has collected since the last client's as this client's. A
// client that is about to leave is looked at again when the turn ends: it may have commands left.
func (c *client) due() {
	l := c.loop
	if (c.Closing || c.eof) && !c.leaving {
		c.leaving = true
		l.leaving = append(l.leaving, c)
	}
	if to := l.out.Len(); to > l.marked {
		l.pieces = append(l.pieces, piece{c, l.marked, to})
		l.marked = to
		if to > flushBytes {
			l.flush()
		}
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
	c.store(p, owned)
	c.loop.backlogged += int64(len(p))
	pending := c.Pending.Add(int64(len(p)))
	if c.over(pending) {
		c.expel("it does not read its replies")
	}
}

// store appends to the backlog. Small replies share a block.
func (c *client) store(p []byte, owned bool) {
	if n := len(c.backlog); n > 0 && !owned {
		if last := c.backlog[n-1]; cap(last)-len(last) >= len(p) {
			c.backlog[n-1] = append(last, p...)
			return
		}
	}
	if !owned {
		p = append(make([]byte, 0, max(len(p), blockBytes)), p...)
	}
	if c.backlog = append(c.backlog, p); len(c.backlog) == 1 {
		c.watch()
	}
}

// over reports whether the client leaves more unread than client-output-buffer-limit allows it,
// or as a stranger.
func (c *client) over(pending int64) bool {
	config := c.loop.server.shared.Config
	if hard := config.NormalHard.Load(); hard > 0 && pending >= hard {
		return true
	}
	if pending > strangerMax && c.Stranger() {
		return true
	}
	soft, since := config.NormalSoft.Load(), c.strained
	switch {
	case soft == 0 || pending < soft:
		c.strain(0)
	case since == 0:
		c.strain(c.loop.stamp)
	default:
		return c.loop.stamp-since > config.SoftSeconds.Load()*int64(time.Second)
	}
	return false
}

// strain notes since when the backlog is over the soft limit. The loop counts those clients, to
// know whether there is a clock to look at.
func (c *client) strain(since int64) {
	if c.strained != 0 {
		c.loop.strained--
	}
	if c.strained = since; since != 0 {
		c.loop.strained++
	}
}

// check looks whether time has run out for the client.
func (c *client) check(timeoutSec int64) {
	idle := c.loop.stamp - c.LastActive.Load()
	switch {
	case timeoutSec > 0 && c.request == nil && idle > timeoutSec*int64(time.Second):
		c.end()
	case c.strained != 0 && c.over(c.Pending.Load()):
		c.expel("it reads its replies too slowly")
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
	if n > 0 {
		c.LastActive.Store(c.loop.stamp)
	}
	pending := c.Pending.Add(-int64(n))
	c.loop.backlogged -= int64(n)
	if c.strained != 0 && pending < c.loop.server.shared.Config.NormalSoft.Load() {
		c.strain(0)
	}
	if c.backlog[0] = p[n:]; n == len(p) {
		c.backlog[0] = nil
		if c.backlog = c.backlog[1:]; len(c.backlog) == 0 {
			c.backlog = nil
			c.watch()
		}
	}
	c.resume()
	c.due()
}

// settle closes the connection once nothing is left to do for it: after QUIT or a protocol error
// its replies are written first, and so they are when the client has closed its sending side.
// REQUIRES: the end of a turn, so that commands left wait for something, or are not whole.
func (c *client) settle() {
	c.leaving = false
	if !c.closed && len(c.backlog) == 0 && c.request == nil && (c.Closing || !c.again) {
		c.end()
	}
}

// ended is called when the client sends no more. What it sent before is still run and answered.
func (c *client) ended() {
	c.eof = true
	c.watch()
	c.due()
}

// expel ends the connection of a client that asks for too much.
func (c *client) expel(why string) {
	if !c.closed {
		c.loop.server.options.Logger.Warn("closing a client", "id", c.ID, "addr", c.Addr, "reason", why)
		c.end()
	}
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
	c.strain(0)
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

func (s *socket) watch(read, write bool) { s.poll.watchClient(s.fd, read, write) }

func (s *socket) close() { _ = unix.Close(s.fd) }
