package wire

import (
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"kiln/actors"
	"kiln/commands"
	"kiln/wire/kernel"
	"kiln/wire/resp"
)

// loop is one event loop: a goroutine with its sockets, its clients and all that it uses again
// and again. Only post may be called from elsewhere.
//
// A turn: wait for ready sockets; read each and run its commands; write all replies. Writing last
// lets the peers, which mostly wait for one reply each, come back together, so that the next turn
// serves several of them with one wait.
type loop struct {
	server  *Server
	poll    *poller
	actors  *actors.Loop
	clients []*client // by descriptor
	count   atomic.Int64
	listens map[int]*listener

	events   [eventsMax]event
	buffer   [readBytes]byte
	argv     [][]byte
	prepared [actors.BatchMax]actors.Prepared
	ends     [actors.BatchMax]int
	limits   resp.Limits
	stamp    int64 // Unix nanoseconds at the turn's start

	out    resp.Writer // replies of this turn
	pieces []piece     // whose they are
	marked int         // how far out has been given to pieces

	parked     int   // clients that wait for a request
	backlogged int64 // bytes in backlogs
	bytesIn    int64 // of this turn
	bytesOut   int64
	commands   int64
	checked    int64 // when idle clients were last looked for

	mu      sync.Mutex
	errands []errand
	stop    bool
}

// piece is a client's part of the loop's replies.
type piece struct {
	client   *client
	from, to int
}

// errand is a task on its way to a client's loop; without a client, a function for the loop.
type errand struct {
	client *client
	what   task
	do     func()
}

func newLoop(s *Server) (*loop, error) {
	p, err := newPoller()
	if err != nil {
		return nil, err
	}
	l := &loop{
		server: s, poll: p, actors: s.router.NewLoop(), limits: resp.DefaultLimits(),
		listens: map[int]*listener{},
	}
	l.out.Grow(2 * flushBytes)
	return l, nil
}

// post has a task done on the loop. Any goroutine may call it.
func (l *loop) post(c *client, what task) { l.send(errand{client: c, what: what}) }

func (l *loop) send(e errand) {
	l.mu.Lock()
	first := len(l.errands) == 0
	l.errands = append(l.errands, e)
	l.mu.Unlock()
	if first {
		l.poll.wake()
	}
}

// halt has the loop drain and end. Any goroutine may call it.
func (l *loop) halt() { l.send(errand{do: func() { l.stop = true }}) }

func (l *loop) run() {
	for !l.stop {
		l.turn(l.patience())
	}
	l.drain()
}

// turn serves what is ready.
func (l *loop) turn(timeoutMs int) {
	n := l.poll.wait(&l.events, timeoutMs)
	l.stamp = time.Now().UnixNano()
	woken := false
	for _, e := range l.events[:n] {
		if e.fd == l.poll.wakeFD {
			woken = true
			continue
		}
		if e.fd < len(l.clients) && l.clients[e.fd] != nil {
			l.serve(l.clients[e.fd], e)
		} else if ln := l.listens[e.fd]; ln != nil {
			l.accept(ln)
		}
	}
	if woken {
		l.poll.awake()
		l.runErrands()
	}
	l.flush()
	l.publish()
	l.endIdle()
}

func (l *loop) serve(c *client, e event) {
	if e.writable {
		c.writable()
	}
	if !e.readable || c.closed {
		return
	}
	n, err := kernel.Read(c.FD, l.buffer[:])
	switch {
	case n > 0:
		c.traffic(l.buffer[:n])
	case err == nil && !c.eof:
		c.ended()
	case err == nil || err != unix.EAGAIN && err != unix.EINTR:
		c.end()
	}
}

func (l *loop) runErrands() {
	l.mu.Lock()
	errands := l.errands
	l.errands = nil
	l.mu.Unlock()
	for _, e := range errands {
		if e.do != nil {
			e.do()
			continue
		}
		e.client.run(e.what)
	}
}

// flush writes each client its piece of the replies.
func (l *loop) flush() {
	if len(l.pieces) == 0 {
		return
	}
	if l.out.Len() > 0 {
		out := l.out.Bytes()
		for i := range l.pieces {
			p := &l.pieces[i]
			p.client.send(out[p.from:p.to], false)
		}
	}
	l.out.Reset()
	l.marked = 0
	for i := range l.pieces {
		l.pieces[i].client.settle()
	}
	clear(l.pieces)
	l.pieces = l.pieces[:0]
}

// publish adds the turn's counts to the server's.
func (l *loop) publish() {
	stats := &l.server.shared.Stats
	if l.bytesIn > 0 {
		stats.BytesIn.Add(l.bytesIn)
		l.bytesIn = 0
	}
	if l.bytesOut > 0 {
		stats.BytesOut.Add(l.bytesOut)
		l.bytesOut = 0
	}
	if l.commands > 0 {
		stats.Commands.Add(l.commands)
		l.commands = 0
	}
}

// batch decodes commands from data, up to a batch, locates their keys, has their memory fetched,
// and runs them. It returns the bytes used up, and whether it is worth calling again.
func (l *loop) batch(c *client, data []byte) (used int, more bool) {
	l.limits.BulkMax = l.server.shared.Config.BulkMax.Load()
	l.limits.Unauthenticated = c.Stranger()
	l.actors.Begin()
	argv := l.argv[:0]
	var failure error
	n, at := 0, 0
	for n < actors.BatchMax && at < len(data) {
		from := len(argv)
		var size int
		argv, size, failure = c.decoder.Next(data[at:], argv, &l.limits)
		if size == 0 || failure != nil {
			break
		}
		at += size
		if len(argv) > from { // an empty command gets no reply
			l.actors.Prepare(&l.prepared[n], argv[from:len(argv):len(argv)])
			n++
		}
		if n > 0 {
			l.ends[n-1] = at
		} else {
			used = at
		}
	}
	if l.argv = argv[:0]; cap(argv) > argvKeep {
		l.argv = nil
	}
	if n > 1 {
		l.actors.Prefetch(c.DB)
	}
	for i := range n {
		if !l.one(c, &l.prepared[i]) {
			l.counted(c, i+1)
			if l.ends[i] != at || failure != nil {
				c.decoder.Reset() // what was looked at beyond is decoded anew
			}
			return l.ends[i], true
		}
	}
	if n > 0 {
		l.counted(c, n)
		used = l.ends[n-1]
	}
	if failure != nil {
		l.refuse(c, failure)
		return used, false
	}
	return used, n == actors.BatchMax
}

// one runs a command; false if the client has to wait after it.
func (l *loop) one(c *client, p *actors.Prepared) bool {
	if p.Spec != nil {
		c.LastSpec.Store(p.Spec)
	} else if crossProtocol(p.Argv) {
		c.Closing = true
		return false
	}
	l.out.Resp3 = c.Resp3
	if q := l.actors.Run(p, &c.Session, l.stamp, &l.out); q != nil {
		c.parked(q)
	}
	if l.out.Len() > flushBytes {
		c.due()
	}
	return !c.waits()
}

func (l *loop) counted(c *client, n int) {
	c.Commands.Add(int64(n))
	l.commands += int64(n)
}

// refuse answers a protocol error, after which the connection is closed.
func (l *loop) refuse(c *client, failure error) {
	l.out.Begin()
	if e, ok := failure.(resp.Error); ok {
		l.server.shared.Stats.CountError(e)
		l.out.Error(e)
	}
	c.Closing = true
}

// crossProtocol reports a command line that a browser was tricked into sending: the connection is
// closed without a word, as Redis does.
func crossProtocol(argv [][]byte) bool {
	return commands.IsWord(argv[0], "POST") || commands.IsWord(argv[0], "HOST:")
}

// adopt takes over a connection that was accepted.
func (l *loop) adopt(c *client) {
	fd := c.FD
	if err := l.poll.add(fd); err != nil {
		_ = unix.Close(fd)
		l.count.Add(-1)
		return
	}
	for fd >= len(l.clients) {
		l.clients = append(l.clients, make([]*client, max(64, len(l.clients)))...)
	}
	l.clients[fd] = c
	c.loop = l
	c.transport = &socket{fd: fd, poll: l.poll}
	l.server.register.add(c)
	c.Show()
}

func (l *loop) forget(c *client) {
	l.clients[c.FD] = nil
	l.count.Add(-1)
	l.server.register.remove(c)
}

// patience is how long a turn may wait for something to happen, in milliseconds.
func (l *loop) patience() int {
	if l.server.shared.Config.TimeoutSec.Load() > 0 {
		return int(checkPeriod.Milliseconds())
	}
	return -1
}

// endIdle closes the clients that said nothing for longer than the timeout.
func (l *loop) endIdle() {
	timeout := l.server.shared.Config.TimeoutSec.Load()
	if timeout <= 0 || l.stamp-l.checked < int64(checkPeriod) {
		return
	}
	l.checked = l.stamp
	for _, c := range l.clients {
		if c != nil && c.request == nil && l.stamp-c.LastActive.Load() > timeout*int64(time.Second) {
			c.end()
		}
	}
}

// drain lets the commands under way end and their replies be read, for a bounded time, then closes
// everything.
func (l *loop) drain() {
	for fd := range l.listens {
		l.poll.watch(fd, false, false)
	}
	for _, c := range l.clients {
		if c != nil {
			c.eof = true // nothing more is read
			c.watch()
		}
	}
	for until := time.Now().Add(drainPatience); time.Now().Before(until); {
		if l.parked == 0 && l.backlogged == 0 {
			break
		}
		l.turn(10)
	}
	l.flush()
	for _, c := range l.clients {
		if c != nil {
			c.end()
		}
	}
	l.publish()
}
