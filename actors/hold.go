package actors

import (
	"slices"

	"kiln/commands"
)

// holdSlice is how many keys a slow command takes hold of, or lets go of, before it gives the
// partition back: a few microseconds.
const holdSlice = 32

// A slow command holds its keys, not their partitions: others are served meanwhile, and those
// that touch a held key wait behind it, unless both only read. It waits for nobody once it has
// them all, so to wait for it is always safe. Only one slow command at a time is taking hold
// (Router.holding); while it does, it may wait for keys of commands that have all theirs.
//
// A key is known by its hash, in all databases: two keys that hash alike wait for each other once
// in a while, and MOVE and COPY to another database need no rule of their own.
type hold struct {
	owner     *Request
	hash      uint64
	partition *partition
	shared    bool // the owner only reads
	waiters   []waiter
}

// waiter is a request that goes on, or a goroutine that is woken, when a hold ends.
type waiter struct {
	request *Request
	wake    chan struct{}
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

// blocked makes a request wait if one of its keys is held. REQUIRES: the caller is the runner.
func (p *partition) blocked(q *Request) bool {
	h, keep := p.obstacle(q.call.Spec, q.call.Hashes, q.partitions)
	if h != nil {
		h.waiters = append(h.waiters, waiter{request: q})
		return true
	}
	q.call.Keep = q.call.Keep || keep
	return false
}

// slow runs a request on a worker while it holds its keys.
func (r *Router) slow(q *Request) {
	r.work(func() {
		r.hold(q)
		q.call.Quick, q.call.Held, q.call.Keep, q.call.Space = false, true, false, nil
		q.grip.mode = visiting
		_ = commands.Exec(&q.call) // never elsewhere: it is there
		r.release(q)
		q.finish()
	})
}

// hold takes hold of a request's keys, each once, one partition after another.
func (r *Router) hold(q *Request) {
	order := make([]int, len(q.partitions))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return int(q.partitions[a]) - int(q.partitions[b])
	})
	slab := make([]hold, len(order))
	r.holding <- struct{}{}
	for len(order) > 0 {
		p := r.partitions[q.partitions[order[0]]]
		p.await()
		for n := 0; n < holdSlice && len(order) > 0; n++ {
			i := order[0]
			if int(q.partitions[i]) != p.id {
				break
			}
			other := p.holds[q.call.Hashes[i]]
			if other != nil && other.owner != q {
				p.yieldTo(other)
				continue
			}
			order = order[1:]
			if other == nil {
				h := &slab[i]
				*h = hold{
					owner: q, hash: q.call.Hashes[i], partition: p,
					shared: q.call.Spec.Flags&commands.ReadOnly != 0,
				}
				p.holds[h.hash] = h
				q.holds = append(q.holds, h)
			}
		}
		p.leave()
	}
	<-r.holding
}

// yieldTo leaves the partition until a hold has ended. REQUIRES: the caller is the runner, on a
// worker; it is the runner again on return.
func (p *partition) yieldTo(h *hold) {
	wake := make(chan struct{})
	h.waiters = append(h.waiters, waiter{wake: wake})
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
			h := held[0]
			held = held[1:]
			delete(p.holds, h.hash)
			for _, w := range h.waiters {
				if w.wake != nil {
					close(w.wake)
					continue
				}
				r.again(p, w.request)
			}
		}
		p.leave()
	}
	q.holds = nil
}
