package actors

import "kiln/commands"

// A slow command holds its keys, not their partitions: others are served meanwhile, and those
// that touch a held key wait behind it. It waits for nobody once it has them all, so to wait for
// it is always safe. Only one slow command at a time is taking hold (Router.holding); while it
// does, it may wait for keys of commands that have all theirs.
type holdKey struct {
	db  int
	key string
}

type hold struct {
	place   holdKey
	waiters []waiter
}

// waiter is a request that goes on, or a goroutine that is woken, when a hold ends.
type waiter struct {
	request *Request
	wake    chan struct{}
}

// blocked makes a request wait if one of its keys is held. REQUIRES: the caller is the runner.
func (p *partition) blocked(q *Request) bool {
	if len(p.holds) == 0 {
		return false
	}
	for i, key := range q.call.Keys {
		if int(q.partitions[i]) != p.id {
			continue
		}
		if h := p.holds[holdKey{q.call.DB, string(key)}]; h != nil {
			h.waiters = append(h.waiters, waiter{request: q})
			return true
		}
	}
	return false
}

// slow runs a request on a worker while it holds its keys.
func (r *Router) slow(q *Request) {
	r.work(func() {
		r.hold(q)
		q.call.Quick, q.call.Held, q.call.Space = false, true, nil
		q.grip.mode = visiting
		_ = commands.Exec(&q.call) // never elsewhere: it is there
		r.release(q)
		q.finish()
	})
}

// hold takes hold of a request's keys, each once.
func (r *Router) hold(q *Request) {
	r.holding <- struct{}{}
	mine := make(map[holdKey]bool, len(q.call.Keys))
	for i, key := range q.call.Keys {
		place := holdKey{q.call.DB, string(key)}
		if mine[place] {
			continue
		}
		mine[place] = true
		p := r.partitions[q.partitions[i]]
		p.await()
		for {
			other := p.holds[place]
			if other == nil {
				break
			}
			wake := make(chan struct{})
			other.waiters = append(other.waiters, waiter{wake: wake})
			p.leave()
			<-wake
			p.await()
		}
		h := &hold{place: place}
		p.holds[place] = h
		p.leave()
		q.holds = append(q.holds, h)
	}
	<-r.holding
}

// release lets go of a request's keys and starts who waits for them, in the order they came.
func (r *Router) release(q *Request) {
	for _, h := range q.holds {
		p := r.owner([]byte(h.place.key), r.hash(h.place.key))
		p.await()
		delete(p.holds, h.place)
		for _, w := range h.waiters {
			if w.wake != nil {
				close(w.wake)
				continue
			}
			r.again(p, w.request)
		}
		p.leave()
	}
	q.holds = nil
}
