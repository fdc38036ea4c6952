package actors

import (
	"sync/atomic"

	"kiln/actors/keyspace"
	"kiln/actors/keyspace/arena/prefetch"
	"kiln/commands"
	"kiln/wire/resp"
)

const (
	// BatchMax is how many commands of one read are prepared together. More would push the first
	// ones' lines out of the cache again.
	BatchMax = 128
	// keysMax is how many keys a batch may have; the commands that are over it are not prefetched.
	keysMax = 512
	// spanMax is how many lines of a record are prefetched at most: the processor itself goes on.
	spanMax = 6
	// quickKeysMax and quickBytesMax bound what a command may do while it keeps the event loop.
	quickKeysMax  = 64
	quickBytesMax = 256 << 10
	// lookahead is for how many commands later a partition's state is fetched: long enough for it to
	// come from another core, and so short that this one does not take it back before.
	lookahead = 3
)

// Prepared is a command line with what the router found out about it: where its keys live.
type Prepared struct {
	Spec *commands.Spec
	Err  error // why there is no Spec
	Argv [][]byte

	keys       [][]byte
	hashes     []uint64
	partitions []uint16
	located    bool // the keys are known; else they are too many, or the arguments do not fit
}

// Loop is an event loop's way into the partitions. It belongs to one goroutine; everything in it
// is used again for the next command.
type Loop struct {
	router  *Router
	call    commands.Call
	effects commands.Effects
	grip    grip

	keys       [][]byte
	hashes     []uint64
	partitions []uint16
	lines      [keysMax]uint64
	carried    int // a moving average of bytes for each key
	held       [quickKeysMax]uint16
	latest     atomic.Int64 // when the last request of a client of the loop was run
}

// NewLoop returns the state that one event loop needs.
func (r *Router) NewLoop() *Loop {
	l := &Loop{
		router: r, keys: make([][]byte, 0, keysMax), hashes: make([]uint64, 0, keysMax),
		partitions: make([]uint16, 0, keysMax),
	}
	l.effects.Listener = r.listener
	l.grip.router = r
	l.call = commands.Call{Server: r.server, Shards: &l.grip, Effects: &l.effects}
	return l
}

// Begin starts a batch: what was prepared before is void.
func (l *Loop) Begin() {
	l.keys, l.hashes, l.partitions = l.keys[:0], l.hashes[:0], l.partitions[:0]
}

// Prepare resolves a command line and locates its keys.
func (l *Loop) Prepare(p *Prepared, argv [][]byte) {
	p.Argv = argv
	p.keys, p.located = nil, false
	if p.Spec, p.Err = commands.Resolve(argv); p.Err != nil || p.Spec.Where != commands.ByKey {
		return
	}
	from := len(l.keys)
	if from+len(argv) > keysMax && from+quickKeysMax > keysMax || len(argv) > 2*quickKeysMax {
		return
	}
	keys, ok := p.Spec.FindKeys(argv, l.keys)
	if !ok || len(keys)-from > quickKeysMax || len(keys) > keysMax {
		return
	}
	l.keys = keys
	for _, key := range keys[from:] {
		h, part := l.router.place(key)
		l.hashes = append(l.hashes, h)
		l.partitions = append(l.partitions, uint16(part))
	}
	p.keys, p.located = keys[from:], true
	p.hashes, p.partitions = l.hashes[from:], l.partitions[from:]
}

// Prefetch asks for the memory that the batch's commands will read: first the index lines, then
// the records. It enters no partition, so what it sees may be stale; see package arena.
func (l *Loop) Prefetch(db int) {
	n := len(l.hashes)
	if n < 2 {
		return
	}
	k := 0
	for i, h := range l.hashes {
		if line := l.router.peek(int(l.partitions[i]), db).Line(h); line != 0 {
			l.lines[k] = line
			k++
		} else {
			l.lines[k] = 0
			k++
		}
	}
	prefetch.Lines(&l.lines[0], k)
	k = 0
	for i, h := range l.hashes {
		if line := l.lines[i]; line != 0 {
			if rec := keyspace.Candidate(line, h); rec != 0 {
				l.lines[k] = rec
				k++
			}
		}
	}
	prefetch.Spans(&l.lines[0], k, l.span())
}

// span is how many cache lines of a record are worth fetching: as many as the last commands
// have carried bytes for each key.
func (l *Loop) span() int { return min(1+(l.carried+32)/64, spanMax) }

// carry notes the bytes that a command took in or gave out for each of its keys.
func (l *Loop) carry(p *Prepared, reply int) {
	if n := len(p.hashes); n > 0 {
		bytes := max(reply, size(p.Argv)) / n
		l.carried += (min(bytes, 64*spanMax) - l.carried) / 8
	}
}

// Run executes a prepared command and writes its reply to w. Where that cannot be done at once it
// returns a request, whose Done and Client the caller sets before Start: the client is parked.
func (l *Loop) Run(p *Prepared, conn *commands.Session, now int64, w *resp.Writer) *Request {
	if p.Err == nil {
		p.Err = commands.Check(p.Spec, conn, p.Argv)
	}
	if p.Err != nil {
		l.router.refuse(w, p.Err)
		return nil
	}
	if latest := l.latest.Load(); now < latest { // the turn began before a request was run
		now = latest
	}
	c := &l.call
	c.Conn, c.DB, c.Now, c.Reply = conn, conn.DB, now, w
	c.Reset(p.Spec, p.Argv)
	c.Keys, c.Hashes, c.Space, c.Quick, c.Keep = p.keys, p.hashes, nil, true, false
	switch p.Spec.Where {
	case commands.ByKey:
		return l.byKey(p, conn, now)
	case commands.Loop:
		l.grip.mode = trying
		if commands.Exec(c) == nil {
			return nil
		}
	case commands.Everywhere:
		l.grip.mode = trying
		err := commands.Exec(c)
		l.grip.Leave()
		if err == nil {
			return nil
		}
	}
	return l.newRequest(p, conn, now)
}

func (r *Router) refuse(w *resp.Writer, err error) {
	w.Begin()
	if e, ok := err.(resp.Error); ok {
		r.server.Stats.CountError(e)
		w.Error(e)
	}
}

func (l *Loop) byKey(p *Prepared, conn *commands.Session, now int64) *Request {
	c := &l.call
	before := c.Reply.Len()
	if len(p.partitions) == 1 && p.located {
		if cap(p.partitions) > lookahead { // what lies behind is of the batch's next commands
			next := p.partitions[:lookahead+1][lookahead]
			prefetch.ForWrite(&l.router.partitions[next].state)
		}
		part := l.router.partitions[p.partitions[0]]
		if !part.enterSoon() {
			return l.newRequest(p, conn, now)
		}
		h, keep := part.obstacle(p.Spec, p.hashes, p.partitions)
		if h == nil {
			c.Space, c.Keep = part.space(c.DB), keep
			l.grip.mode = holding
			err := commands.Exec(c)
			part.leave()
			l.carry(p, c.Reply.Len()-before)
			if err == nil {
				return nil
			}
			return l.newRequest(p, conn, now)
		}
		part.leave()
		return l.newRequest(p, conn, now)
	}
	if !p.located || size(p.Argv) > quickBytesMax {
		return l.newRequest(p, conn, now)
	}
	n, ok := l.enterAll(p)
	if !ok {
		return l.newRequest(p, conn, now)
	}
	l.grip.mode = holding
	err := commands.Exec(c)
	l.leaveAll(n)
	l.carry(p, c.Reply.Len()-before)
	if err == nil {
		return nil
	}
	return l.newRequest(p, conn, now)
}

func size(argv [][]byte) (n int) {
	for _, w := range argv {
		n += len(w)
	}
	return n
}

// enterAll enters a command's partitions, in ascending order and each once; or none, if one is busy
// or a slow command holds one of the keys.
func (l *Loop) enterAll(p *Prepared) (n int, ok bool) {
	for _, id := range p.partitions {
		i := n
		for i > 0 && l.held[i-1] > id {
			i--
		}
		if i > 0 && l.held[i-1] == id {
			continue
		}
		copy(l.held[i+1:n+1], l.held[i:n])
		l.held[i] = id
		n++
	}
	for i, id := range l.held[:n] {
		part := l.router.partitions[id]
		if !part.enterSoon() {
			l.leaveAll(i)
			return 0, false
		}
		h, keep := part.obstacle(p.Spec, p.hashes, p.partitions)
		if h != nil {
			l.leaveAll(i + 1)
			return 0, false
		}
		l.call.Keep = l.call.Keep || keep
	}
	return n, true
}

func (l *Loop) leaveAll(n int) {
	for _, id := range l.held[:n] {
		l.router.partitions[id].leave()
	}
}

// newRequest makes a prepared command one that waits.
func (l *Loop) newRequest(p *Prepared, conn *commands.Session, now int64) *Request {
	q := l.router.newRequest(p, conn, now)
	q.latest = &l.latest
	return q
}

// Start sends a request on its way: to its partition, to the gathers, or to a worker.
func (q *Request) Start() {
	q.router.workers.Add(1)
	q.router.start(q)
}

func (r *Router) start(q *Request) {
	switch spec := q.call.Spec; spec.Where {
	case commands.ByKey:
		one := len(q.partitions) > 0
		for _, p := range q.partitions {
			one = one && p == q.partitions[0]
		}
		switch {
		case len(q.partitions) > quickKeysMax || size(q.call.Args.All()) > quickBytesMax:
			r.slow(q)
		case one:
			r.tell(r.partitions[q.partitions[0]], q)
		default:
			r.gather(q)
		}
	case commands.AllShards:
		r.gather(q)
	default:
		r.work(func() {
			_ = q.run(visiting) // never elsewhere: it is there
			q.finish()
		})
	}
}
