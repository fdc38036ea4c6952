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
	unread   []event // sockets that have more, which no event will tell
	spare    []event // for the next turn's unread
	buffer   [readBytes]byte
	argv     [][]byte
	prepared [actors.BatchMax]actors.Prepared
	ends     [actors.BatchMax]int
	limits   resp.Limits
	stamp    int64 // Unix nanoseconds at the turn's start

	out     resp.Writer // replies of this turn
	pieces  []piece     // whose they are
	leaving []*client   // those to settle when the turn ends
	marked  int         // how far out has been given to pieces

	parked     int   // clients that wait for a request
	backlogged int64 // bytes in backlogs
	strained   int   // clients over the soft limit of unread replies
	bytesIn    int64 // of this turn
	bytesOut   int64
	commands   int64
	checked    int64 // when clients were last checked for the time

	mu      sync.Mutex
	errands []errand
	ended   bool // there is no poller any more
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
	defer l.mu.Unlock()
	first := len(l.errands) == 0
	l.errands = append(l.errands, e)
	if first && !l.ended { // locked, or the descriptor may be another's by now
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
	unread := l.unread
	if len(unread) > 0 {
		timeoutMs = 0
	}
	n := l.poll.wait(&l.events, timeoutMs)
	l.stamp = time.Now().UnixNano()
	woken := false
	l.unread = l.spare[:0]
	for i, e := range unread {
		if c := l.clients[e.fd]; c != nil && !c.deaf { // perhaps another one by now: no harm
			l.serve(c, e)
		}
		unread[i] = event{}
	}
	l.spare = unread
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
	l.settle()
	l.publish()
	l.check()
}

func (l *loop) serve(c *client, e event) {
	if e.writable {
		c.writable()
	}
	if !e.readable || c.closed || (c.eof || c.deaf) && !e.broken {
		return
	}
	kept := len(c.query) - c.at
	if kept > 0 && (kept > joinBytes || c.waits()) {
		kept = 0
	}
	copy(l.buffer[:kept], c.query[c.at:])
	n, err := kernel.Read(c.FD, l.buffer[kept:])
	if n == len(l.buffer)-kept || n > 0 && e.last {
		l.unread = append(l.unread, event{fd: c.FD, readable: true, last: e.last})
	}
	switch {
	case n > 0:
		c.traffic(l.buffer[:kept+n], kept)
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
	clear(l.pieces)
	l.pieces = l.pieces[:0]
}

// settle closes the connections of those clients for which nothing is left to do.
func (l *loop) settle() {
	if len(l.leaving) > 0 {
		for _, c := range l.leaving {
			c.settle()
		}
		clear(l.leaving)
		l.leaving = l.leaving[:0]
	}
}

// letGo forgets the words of the last batch: they keep the memory alive that they lie in.
func (l *loop) letGo() {
	clear(l.prepared[:])
	clear(l.argv[:cap(l.argv)])
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
	most := actors.BatchMax
	if l.limits.Unauthenticated = c.Stranger(); l.limits.Unauthenticated {
		most = 1 // the limits are others once it has authenticated
	}
	l.actors.Begin()
	argv := l.argv[:0]
	var failure error
	n, at := 0, 0
	for n < most && at < len(data) {
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
	l.actors.Prefetch(c.DB)
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
	return used, n == most
}

// one runs a command; false if the client has to wait after it.
func (l *loop) one(c *client, p *actors.Prepared) bool {
	if c.Kill.Load() { // whoever killed it has an answer, and may rely on it
		c.Closing = true
		return false
	}
	if c.LastSpec.Store(p.Spec); p.Spec == nil && crossProtocol(p.Argv) {
		c.expel("it speaks HTTP")
		return false
	}
	l.out.Resp3 = c.Resp3
	if q := l.actors.Run(p, &c.Session, l.stamp, &l.out); q != nil {
		c.parked(q)
	}
	if l.out.Len() > flushBytes {
		c.due()
	}
	if !c.waits() {
		return true
	}
	c.spared = c.Closing && c.Kill.Load() // it killed itself, and gets the answer first
	return false
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
	if err := l.poll.add(fd); err != nil || l.stop {
		_ = unix.Close(fd)
		l.count.Add(-1)
		l.server.register.count.Add(-1)
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
	if l.count.Load() > 0 { // CONFIG SET timeout does not wake the loops
		return int(checkPeriod.Milliseconds())
	}
	return -1
}

// check closes the clients whose time has run out: they said nothing for longer than the timeout,
// or left too much unread for too long.
func (l *loop) check() {
	timeoutSec := l.server.shared.Config.TimeoutSec.Load()
	if timeoutSec <= 0 && l.strained == 0 || l.stamp-l.checked < int64(checkPeriod) {
		return
	}
	l.checked = l.stamp
	for _, c := range l.clients {
		if c != nil {
			c.check(timeoutSec)
		}
	}
}

// drain closes the listeners, lets the commands under way end and their replies be read, for a
// bounded time, then closes everything.
func (l *loop) drain() {
	for fd, ln := range l.listens {
		ln.close()
		delete(l.listens, fd)
	}
	for _, c := range l.clients {
		if c != nil {
			c.Closing, c.deaf = true, true // nothing more is read or run
			c.watch()
			c.due()
		}
	}
	l.settle()
	begun := time.Now()
	for l.parked > 0 || l.backlogged > 0 {
		waited := time.Since(begun)
		if waited > drainPatience || l.parked == 0 && waited > readPatience {
			break
		}
		l.turn(10)
	}
	for _, c := range l.clients {
		if c != nil {
			c.end()
		}
	}
	l.publish()
}

// close lets go of the poller, and of connections that were on their way to the loop. REQUIRES: the
// loop does not run.
func (l *loop) close() {
	l.stop = true
	l.runErrands()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.poll.close()
}
