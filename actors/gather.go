package actors

import (
	"github.com/asynkron/protoactor-go/actor"
	"github.com/bits-and-blooms/bitset"

	"kiln/commands"
)

// A gather is a command that needs several partitions at once. Its fast path is Loop.enterAll: all
// free, or none. Here is the slow path: gathers queue first-come-first-served, and one is admitted
// when no gather before it, running or waiting, needs a partition of its own. Invariants:
//
//  1. A gather that waits to be admitted holds nothing. An admitted one takes its partitions in
//     ascending order; it waits only for runners that wait for nobody, and no two admitted
//     gathers share a partition. So there is no deadlock.
//  2. Messages that come to a partition after an admitted gather asked for it queue behind it.
//  3. Nothing starves: admission is in order of arrival.
type admissions struct {
	router  *Router
	waiting []*gather
	running *bitset.BitSet
}

type gather struct {
	request    *Request
	partitions *bitset.BitSet
}

type finished struct{ gather *gather }

func newAdmissions(r *Router) *admissions {
	return &admissions{router: r, running: bitset.New(uint(len(r.partitions)))}
}

// gather queues a request for all the partitions of its keys, or for all there are.
func (r *Router) gather(q *Request) {
	g := &gather{request: q, partitions: bitset.New(uint(len(r.partitions)))}
	if q.call.Spec.Where == commands.AllShards || len(q.partitions) == 0 {
		g.partitions.SetAll()
	}
	for _, p := range q.partitions {
		g.partitions.Set(uint(p))
	}
	r.workers.Add(1)
	r.system.Root.Send(r.admissions, g)
}

// Receive is protoactor's: one line for each message.
func (a *admissions) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *gather:
		a.waiting = append(a.waiting, m)
		a.admit()
	case *finished:
		a.running.InPlaceDifference(m.gather.partitions)
		a.admit()
	}
}

// admit starts each waiting gather that shares no partition with one before it.
func (a *admissions) admit() {
	taken := a.running.Clone()
	left := a.waiting[:0]
	for _, g := range a.waiting {
		if taken.IntersectionCardinality(g.partitions) == 0 {
			a.running.InPlaceUnion(g.partitions)
			go a.router.runGather(g)
		} else {
			left = append(left, g)
		}
		taken.InPlaceUnion(g.partitions)
	}
	clear(a.waiting[len(left):])
	a.waiting = left
}

// runGather runs an admitted gather on its own goroutine. If one of its keys is held by a slow
// command it lets go of everything and goes on as a slow command; if it needs whole partitions, it
// comes back when no slow command is under way, and those that come later wait for it.
func (r *Router) runGather(g *gather) {
	q := g.request
	for i, ok := g.partitions.NextSet(0); ok; i, ok = g.partitions.NextSet(i + 1) {
		r.partitions[i].await()
	}
	whole := q.call.Spec.Where == commands.AllShards
	q.call.Space, q.call.Keep = nil, false
	blocked := r.gatherBlocked(g, whole)
	elsewhere := !blocked && !q.run(holding)
	for i, ok := g.partitions.NextSet(0); ok; i, ok = g.partitions.NextSet(i + 1) {
		r.partitions[i].leave()
	}
	r.system.Root.Send(r.admissions, &finished{g})
	switch {
	case elsewhere:
		r.slow(q)
	case blocked && whole:
		r.work(func() {
			r.gate.Lock()
			q.gated = true
			r.gather(q)
		})
	case !blocked:
		if q.gated {
			r.gate.Unlock()
		}
		q.finish()
	}
	r.workers.Done()
}

// gatherBlocked tells whether a slow command holds a key that a gather needs: of one that needs
// whole partitions, any. One that needs only keys then waits for them by itself.
func (r *Router) gatherBlocked(g *gather, whole bool) bool {
	for i, ok := g.partitions.NextSet(0); ok; i, ok = g.partitions.NextSet(i + 1) {
		p := r.partitions[i]
		if whole && len(p.holds) > 0 || !whole && p.blocked(g.request) {
			return true
		}
	}
	return false
}
