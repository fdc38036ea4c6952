package actors

import (
	"time"

	"kiln/actors/keyspace"
)

const (
	sweepPeriod = 100 * time.Millisecond // as Redis's hz 10
	sweepSlice  = 64                     // keys deleted before the partition is left
	sweepBurst  = time.Millisecond       // work after which the sweeper rests as long
	dropSlice   = 1                      // segments freed before the partition is left
	trimBytes   = 4 << 20                // given back to the system while the depot is locked
	trimRounds  = 16                     // how often in one period
)

// sweeper is the goroutine that does what nobody waits for: it deletes keys whose deadline has
// passed, frees flushed spaces and gives memory back. It visits one partition at a time, for a few
// tens of microseconds, and works at most half of the time.
type sweeper struct {
	router *Router
	quit   chan struct{}
	gone   chan struct{}
	since  time.Time

	taken    chan struct{} // a huge page was
	prepared chan struct{} // closed when prepare has ended
}

func startSweeper(r *Router) *sweeper {
	s := &sweeper{
		router: r, quit: make(chan struct{}), gone: make(chan struct{}),
		taken: make(chan struct{}, 1), prepared: make(chan struct{}),
	}
	r.depot.OnTake = func() {
		select {
		case s.taken <- struct{}{}:
		default:
		}
	}
	go s.run()
	go s.prepare()
	return s
}

func (s *sweeper) stop() {
	close(s.quit)
	<-s.gone
	<-s.prepared
}

func (s *sweeper) run() {
	defer close(s.gone)
	tick := time.NewTicker(sweepPeriod)
	defer tick.Stop()
	for {
		select {
		case <-s.quit:
			return
		case <-tick.C:
		}
		s.since = time.Now()
		for more := true; more && !s.stopping(); {
			more = false
			for _, p := range s.router.partitions {
				more = s.drop(p) || more
				if !s.router.server.Config.ActiveOff.Load() {
					more = s.expire(p) || more
				}
			}
		}
		for n := 0; n < trimRounds && s.router.depot.Trim(trimBytes) > 0; n++ {
		}
	}
}

// prepare has memory ready before the partitions need it.
func (s *sweeper) prepare() {
	defer close(s.prepared)
	for {
		select {
		case <-s.quit:
			return
		case <-s.taken:
		}
		for s.router.depot.Prepare() && !s.stopping() {
		}
	}
}

func (s *sweeper) stopping() bool {
	select {
	case <-s.quit:
		return true
	default:
		return false
	}
}

// rest lets others have the processor after a burst of work.
func (s *sweeper) rest() {
	if time.Since(s.since) > sweepBurst {
		time.Sleep(sweepBurst)
		s.since = time.Now()
	}
}

// drop frees a piece of a flushed space; more is left if it says so.
func (s *sweeper) drop(p *partition) (more bool) {
	if !p.chores.Load() {
		return false
	}
	p.await()
	if len(p.dropping) > 0 && !p.dropping[0].Drop(dropSlice) {
		p.dropping = p.dropping[1:]
	}
	more = len(p.dropping) > 0
	if !more {
		p.dropping = nil
		p.chores.Store(false)
	}
	p.leave()
	s.rest()
	return more
}

// expire deletes some keys that are due; more are left if it says so.
func (s *sweeper) expire(p *partition) (more bool) {
	for db := range p.spaces {
		space := p.spaces[db].Load()
		if space == nil || space.NextDeadline() == 0 {
			continue
		}
		if now := s.router.clock(); space.NextDeadline() < now {
			more = s.expireIn(p, db, now) || more
		}
	}
	return more
}

func (s *sweeper) expireIn(p *partition, db int, now int64) (more bool) {
	p.await()
	space := p.space(db) // it may have been flushed or swapped meanwhile
	for range sweepSlice {
		e := space.Due(now)
		more = e.Exists()
		if !more {
			break
		}
		if len(p.holds) > 0 && p.holds[space.Hash(e.Key())] != nil {
			more = false // later: it is in use
			break
		}
		s.delete(p, space, db, e)
	}
	p.leave()
	s.rest()
	return more
}

func (s *sweeper) delete(p *partition, space *keyspace.Space, db int, e keyspace.Entry) {
	listener := s.router.listener
	var key []byte
	if listener != nil {
		key = append(key, e.Key()...)
	}
	space.Delete(e)
	p.counters.Expired++
	if listener != nil {
		s.router.expired(db, key)
	}
}
