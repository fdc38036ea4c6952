package actors

import (
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"

	"kiln/actors/keyspace"
	"kiln/actors/keyspace/arena"
)

// partition owns a part of the keyspace. It is entered by one goroutine at a time, its runner:
// what follows mailbox is the runner's, but for the atomics.
//
// Loops that use a partition in turn hand its cache lines to each other. For a command that only
// reads it is one: that of the mailbox's state, where the counters are too. The blocks that Go has
// for this size begin with a line: TestOneLineOfAPartitionIsWritten.
type partition struct {
	mailbox
	counters keyspace.Counters

	router   *Router
	id       int
	pid      *actor.PID
	arena    *arena.Arena
	spaces   []atomic.Pointer[keyspace.Space] // nil until used
	holds    map[uint64]*hold                 // by key hash
	dropping []*keyspace.Space
	chores   atomic.Bool // there are spaces to drop
	dice     uint64
	_        [24]byte
}

// Receive is protoactor's: one line for each message.
func (p *partition) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *Request:
		p.handle(m)
	case *grant:
		p.transfer(m)
	}
}

// grant asks for the partition as a whole: once its turn has come, the one who asked is the
// runner, and is told so.
type grant struct {
	given chan struct{}
}

// await makes the caller the runner, waiting for its turn. Never call it on an event loop, nor
// while another partition is held: only an admitted gather may.
func (p *partition) await() {
	if p.occupy() {
		return
	}
	g := &grant{given: make(chan struct{}, 1)}
	p.router.tell(p, g)
	<-g.given
}

// space gives the space of a database, made if need be. REQUIRES: the caller is the runner.
func (p *partition) space(db int) *keyspace.Space {
	if s := p.spaces[db].Load(); s != nil {
		return s
	}
	p.dice = p.dice*6364136223846793005 + 1442695040888963407 // Knuth's MMIX generator
	s := keyspace.New(p.arena, p.router.server.Seed, p.dice, p.router.server.Config.Keyspace,
		&p.counters)
	p.spaces[db].Store(s)
	return s
}

// handle runs a request that was queued. REQUIRES: all its keys are this partition's.
func (p *partition) handle(q *Request) {
	q.call.Keep = false
	if p.blocked(q) {
		return
	}
	q.call.Space = p.space(q.call.DB)
	here := q.run(holding)
	q.call.Space = nil
	if !here {
		p.router.slow(q)
		return
	}
	q.finish()
}

// flush drops the spaces of a database, or of all (-1). Freeing them is left to the sweeper.
func (p *partition) flush(db int) {
	for i := range p.spaces {
		if s := p.spaces[i].Load(); s != nil && (db < 0 || db == i) && s.Len() > 0 {
			p.spaces[i].Store(nil)
			p.dropping = append(p.dropping, s)
			p.chores.Store(true)
		}
	}
}

func (p *partition) swap(a, b int) {
	x, y := p.spaces[a].Load(), p.spaces[b].Load()
	p.spaces[a].Store(y)
	p.spaces[b].Store(x)
}
