package actors

import (
	"cmp"
	"slices"

	"kiln/commands"
)

const (
	// holdSlice is how many keys a slow command takes hold of, or lets go of, before it gives the
	// partition back: a few microseconds.
	holdSlice = 32
	// holdTries is how often a slow command lets go of all it has when it finds a key held, before
	// it keeps what it has while it waits.
	holdTries = 3
)

// A slow command holds its keys, not their partitions: others are served meanwhile, and those
// that touch a held key wait behind it, unless both only read. It waits for nobody once it has
// them all, so to wait for it is always safe.
//
// Slow commands take hold in one order, that of partitions and hashes, so they never wait for each
// other in a circle. One that finds a key held at first lets go of what it has and comes again when
// that hold has ended: while it waits, nobody waits for it. Only if it has no luck several times it
// keeps what it has; then it is given the key in its turn, so it does not starve.
//
// A key is known by its hash, in all databases: two keys that hash alike wait for each other once
// in a while, and MOVE and COPY to another database need no rule of their own.
type hold struct {
	hash      uint64
	partition *partition
	shared    bool // who has it only reads; there may be several
	owners    int
	waiters   []waiter
}

// waiter is who goes on when a hold ends: a request, or a goroutine that is woken. If that has
// brought a hold, it has the key from then on.
type waiter struct {
	request *Request
	wake    chan struct{}
	hold    *hold
}

// join makes one more command that only reads an owner, unless others wait already.
func (h *hold) join(shared bool) bool {
	if !h.shared || !shared || len(h.waiters) > 0 {
		return false
	}
	h.owners++
	return true
}

// obstacle gives a hold that a command has to wait for, if one of the keys of this partition is
// held; keep says that it may run beside holders that read: what they read must not go. REQUIRES:
// the caller is the runner.
func (p *partition) obstacle(spec *commands.Spec, hashes []uint64, partitions []uint16) (
	h *hold, keep bool,
) {
	if len(p.holds) == 0 {
		return nil, false
	}
	for i, hash := range hashes {
		if int(partitions[i]) != p.id {
			continue
		}
		switch h := p.holds[hash]; {
		case h == nil:
		case h.shared && spec.Flags&commands.ReadOnly != 0:
			keep = true
		default:
			return h, false
		}
	}
	return nil, keep
}

// blocked makes a request wait if one of its keys is held. One with several keys goes on as a slow
// command, since it could find another of them held each time. REQUIRES: the caller is the runner.
func (p *partition) blocked(q *Request) bool {
	h, keep := p.obstacle(q.call.Spec, q.call.Hashes, q.partitions)
	switch {
	case h == nil:
		q.call.Keep = q.call.Keep || keep
		return false
	case len(q.call.Keys) == 1:
		h.waiters = append(h.waiters, waiter{request: q})
	default:
		p.router.slow(q)
	}
	return true
}

// slow runs a request on a worker while it holds its keys.
func (r *Router) slow(q *Request) {
	r.work(func() {
		r.gate.RLock()
		r.hold(q)
		q.call.Held, q.call.Keep = true, q.reads()
		_ = q.run(visiting) // never elsewhere: it is there
		r.release(q)
		r.gate.RUnlock()
		q.finish()
	})
}

func (q *Request) reads() bool { return q.call.Spec.Flags&commands.ReadOnly != 0 }

// hold takes hold of a request's keys, each once.
func (r *Router) hold(q *Request) {
	order := make([]int, len(q.partitions))
	for i := range order {
		order[i] = i
	}
	compare := func(a, b int) int {
		return cmp.Or(cmp.Compare(q.partitions[a], q.partitions[b]),
			cmp.Compare(q.call.Hashes[a], q.call.Hashes[b]))
	}
	slices.SortFunc(order, compare)
	order = slices.CompactFunc(order, func(a, b int) bool { return compare(a, b) == 0 })
	for try := 1; ; try++ {
		wake := r.take(q, order, try > holdTries)
		if wake == nil {
			return
		}
		r.release(q)
		<-wake
	}
}

// take takes hold of keys in order, up to the first that is held, unless it is to wait for those.
// wake is nil if the request has them all, else it is closed when that hold ends.
func (r *Router) take(q *Request, order []int, wait bool) (wake chan struct{}) {
	slab := make([]hold, len(order)) // of each try: others may share what the last one made
	for len(order) > 0 {
		p := r.partitions[q.partitions[order[0]]]
		p.await()
		for n := 0; n < holdSlice && len(order) > 0; n++ {
			i := order[0]
			if int(q.partitions[i]) != p.id {
				break
			}
			h, other := &slab[len(slab)-len(order)], p.holds[q.call.Hashes[i]]
			order = order[1:]
			*h = hold{hash: q.call.Hashes[i], partition: p, shared: q.reads(), owners: 1}
			switch {
			case other == nil:
				p.holds[h.hash] = h
			case other.join(h.shared):
			case wait:
				p.yieldTo(other, h)
			default:
				wake = make(chan struct{})
				other.waiters = append(other.waiters, waiter{wake: wake})
				p.leave()
				return wake
			}
			q.holds = append(q.holds, p.holds[h.hash])
		}
		p.leave()
	}
	return nil
}

// yieldTo leaves the partition until a hold has ended, and h, if there is one, is in its place or
// shares it with others. REQUIRES: the caller is the runner, on a worker; it is the runner again
// on return.
func (p *partition) yieldTo(other, h *hold) {
	wake := make(chan struct{})
	other.waiters = append(other.waiters, waiter{wake: wake, hold: h})
	p.leave()
	<-wake
	p.await()
}

// release lets go of a request's keys and starts who waits for them, in the order they came.
func (r *Router) release(q *Request) {
	for held := q.holds; len(held) > 0; {
		p := held[0].partition
		p.await()
		for n := 0; n < holdSlice && len(held) > 0 && held[0].partition == p; n++ {
			p.free(held[0])
			held = held[1:]
		}
		p.leave()
	}
	clear(q.holds)
	q.holds = q.holds[:0]
}

// free takes one owner off a hold, and with the last one ends it. The first waiter that has brought
// a hold then takes the key over, and with it those behind that cannot run beside it.
func (p *partition) free(h *hold) {
	if h.owners--; h.owners > 0 {
		return
	}
	delete(p.holds, h.hash)
	for _, w := range h.waiters {
		next := p.holds[h.hash]
		switch {
		case w.request != nil:
			p.handle(w.request)
		case w.hold == nil:
			close(w.wake)
		case next == nil:
			p.holds[h.hash] = w.hold
			close(w.wake)
		case next.join(w.hold.shared):
			close(w.wake)
		default:
			next.waiters = append(next.waiters, w)
		}
	}
	h.waiters = nil
}
