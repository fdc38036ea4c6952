package actors

import (
	"sync/atomic"

	"kiln/actors/keyspace"
	"kiln/commands"
	"kiln/wire/resp"
)

// Request is a command that could not be run at once: it has its arguments, its reply and its
// call to itself, and travels between goroutines.
type Request struct {
	// Reply is the whole reply once Done was called.
	Reply resp.Writer
	// Done is called once, on any goroutine, when the reply is there.
	Done func(*Request)
	// Client is whatever Done needs to find the client again.
	Client any

	router     *Router
	call       commands.Call
	effects    commands.Effects
	grip       grip
	partitions []uint16 // of each key
	holds      []*hold
	gated      bool          // no slow command runs until it has run
	latest     *atomic.Int64 // the time that the client's loop must not go back behind
}

// run executes the request, at the time it is by now: it may have waited long. It fails if the
// request has to go elsewhere.
func (q *Request) run(mode gripMode) (here bool) {
	c := &q.call
	c.Now = max(c.Now, q.router.clock())
	for l := q.latest; l != nil; {
		if was := l.Load(); was >= c.Now || l.CompareAndSwap(was, c.Now) {
			break
		}
	}
	c.Quick = mode == holding
	q.grip.mode = mode
	err := commands.Exec(c)
	q.grip.Leave() // where a handler that panicked did not
	return err == nil
}

// finish tells the client's loop, which may let go of the request at once.
func (q *Request) finish() {
	workers := &q.router.workers
	q.Done(q)
	workers.Done()
}

// newRequest copies a prepared command out of the read buffer.
func (r *Router) newRequest(p *Prepared, conn *commands.Session, now int64) *Request {
	size := 0
	for _, w := range p.Argv {
		size += len(w)
	}
	block := make([]byte, 0, size)
	argv := make([][]byte, len(p.Argv))
	for i, w := range p.Argv {
		from := len(block)
		block = append(block, w...)
		argv[i] = block[from:len(block):len(block)]
	}
	q := &Request{router: r}
	q.effects.Listener = r.listener
	q.grip = grip{router: r, request: q}
	q.Reply.Resp3 = conn.Resp3
	q.call = commands.Call{
		Conn: conn, DB: conn.DB, Now: now, Server: r.server, Shards: &q.grip, Reply: &q.Reply,
		Effects: &q.effects,
	}
	q.call.Reset(p.Spec, argv)
	q.call.Keys, _ = p.Spec.FindKeys(argv, nil)
	q.call.Hashes = make([]uint64, len(q.call.Keys))
	q.partitions = make([]uint16, len(q.call.Keys))
	for i, key := range q.call.Keys {
		h, part := r.place(key)
		q.call.Hashes[i], q.partitions[i] = h, uint16(part)
	}
	return q
}

// gripMode says what a call may assume of the partitions it reaches for.
type gripMode uint8

const (
	holding  gripMode = iota // it holds all it needs
	trying                   // on an event loop: enter, or fail
	visiting                 // on a worker: wait for its turn, one partition at a time
)

// grip is a call's reach to the partitions: its commands.Shards.
type grip struct {
	router  *Router
	mode    gripMode
	entered *partition
	request *Request // nil on a loop
}

// SpaceOf waits, where the call holds nothing, for a slow command that holds the key: DEBUG visits
// keys that the router knows nothing of.
func (g *grip) SpaceOf(db int, key []byte, h uint64) (*keyspace.Space, error) {
	s, err := g.reach(g.router.owner(key, h), db)
	if g.mode != visiting || len(g.request.holds) > 0 {
		return s, err
	}
	for p := g.entered; ; {
		other := p.holds[h]
		if other == nil {
			return p.space(db), nil
		}
		p.yieldTo(other, nil)
	}
}

func (g *grip) Enter(i, db int) (*keyspace.Space, error) {
	return g.reach(g.router.partitions[i], db)
}

func (g *grip) reach(p *partition, db int) (*keyspace.Space, error) {
	if g.mode == holding {
		return p.space(db), nil
	}
	if g.entered != nil {
		panic("actors: a call that holds no partition reached for two at once")
	}
	if g.mode == visiting {
		p.await()
	} else if !p.enter() {
		return nil, commands.ErrElsewhere
	}
	g.entered = p
	return p.space(db), nil
}

func (g *grip) Leave() {
	if p := g.entered; p != nil {
		g.entered = nil
		p.leave()
	}
}

func (g *grip) Count() int { return len(g.router.partitions) }

func (g *grip) Peek(i, db int) *keyspace.Space { return g.router.peek(i, db) }

func (r *Router) peek(i, db int) *keyspace.Space {
	if s := r.partitions[i].spaces[db].Load(); s != nil {
		return s
	}
	return r.empty
}

func (g *grip) Flush(db int) {
	for _, p := range g.router.partitions {
		p.flush(db)
	}
}

func (g *grip) Swap(a, b int) {
	for _, p := range g.router.partitions {
		p.swap(a, b)
	}
}
