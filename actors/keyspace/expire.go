package keyspace

import (
	"math"

	"kiln/actors/keyspace/arena"
)

// Deadline is a point in time: Unix nanoseconds, or, from the year 2262 on, where those end, Unix
// milliseconds with the highest bit set. So it orders as a number does. 0 is never.
type Deadline uint64

const (
	farFlag   = 1 << 63
	nanoMilli = int64(1e6)

	// KeepDeadline, given where a value is set, keeps the deadline that the key has. It is no
	// time: one with this bit is late.
	KeepDeadline = Deadline(farFlag)
)

// AtMilli is the deadline at a Unix time in milliseconds, which is above 0.
func AtMilli(ms int64) Deadline {
	if ms > math.MaxInt64/nanoMilli {
		return farFlag | Deadline(ms)
	}
	return Deadline(ms * nanoMilli)
}

// AtNano is the deadline at a Unix time in nanoseconds, which is above 0.
func AtNano(ns int64) Deadline { return Deadline(ns) }

// Passed reports whether the deadline is over.
func (d Deadline) Passed(now int64) bool { return Deadline(now) > d }

// Milli is the deadline in Unix milliseconds, rounded up.
func (d Deadline) Milli() int64 {
	if d&farFlag != 0 {
		return int64(d &^ farFlag)
	}
	return int64((d + Deadline(nanoMilli) - 1) / Deadline(nanoMilli))
}

// Nano is the deadline in Unix nanoseconds, the largest number there is for one beyond.
func (d Deadline) Nano() int64 {
	if d&farFlag != 0 {
		return math.MaxInt64
	}
	return int64(d)
}

// expiry is a heap of deadlines with four children to a node, in blocks outside the Go heap. A
// record knows its place in it, so a deadline is changed or taken out in O(log n), and the
// earliest is at hand. 16 bytes a key; pushing deadlines in rising order costs one comparison.
type expiry struct {
	arena  *arena.Arena
	blocks []arena.Addr
	n      int
}

const (
	heapEntry  = 16 // deadline, record
	heapBlock  = 4 << 10
	blockShift = 8
	blockNodes = 1 << blockShift
)

func (x *expiry) at(i int) arena.Addr {
	return x.blocks[i>>blockShift] + arena.Addr(i&(blockNodes-1)*heapEntry)
}

func (x *expiry) deadline(i int) Deadline { return Deadline(arena.Load(x.at(i))) }

// put writes a node and tells its record where it is.
func (x *expiry) put(i int, deadline Deadline, rec arena.Addr) {
	p := x.at(i)
	arena.Store(p, uint64(deadline))
	arena.Store(p+8, uint64(rec))
	e := Entry{rec: rec}
	arena.Store(e.timed(e.header())+8, uint64(i))
}

func (x *expiry) push(deadline Deadline, rec arena.Addr) {
	if x.n == len(x.blocks)*blockNodes {
		x.blocks = append(x.blocks, x.arena.Alloc(heapBlock))
	}
	x.n++
	x.up(x.n-1, deadline, rec)
}

func (x *expiry) up(i int, deadline Deadline, rec arena.Addr) {
	for i > 0 {
		parent := (i - 1) / 4
		p := x.at(parent)
		if d := Deadline(arena.Load(p)); d <= deadline {
			break
		} else {
			x.put(i, d, arena.Addr(arena.Load(p+8)))
		}
		i = parent
	}
	x.put(i, deadline, rec)
}

func (x *expiry) down(i int, deadline Deadline, rec arena.Addr) {
	for {
		least, best := -1, deadline
		for c := 4*i + 1; c <= 4*i+4 && c < x.n; c++ {
			if d := x.deadline(c); d < best {
				least, best = c, d
			}
		}
		if least < 0 {
			break
		}
		x.put(i, best, arena.Addr(arena.Load(x.at(least)+8)))
		i = least
	}
	x.put(i, deadline, rec)
}

func (x *expiry) change(i int, deadline Deadline, rec arena.Addr) {
	if deadline < x.deadline(i) {
		x.up(i, deadline, rec)
	} else {
		x.down(i, deadline, rec)
	}
}

func (x *expiry) remove(i int) {
	x.n--
	last := x.at(x.n)
	deadline, rec := Deadline(arena.Load(last)), arena.Addr(arena.Load(last+8))
	if i < x.n {
		x.change(i, deadline, rec)
	}
	// One block is kept spare, so that a key at the border does not visit the arena each time.
	for last := len(x.blocks) - 1; last >= 0 && (x.n <= (last-1)*blockNodes || x.n == 0); last-- {
		x.arena.Free(x.blocks[last], heapBlock)
		x.blocks = x.blocks[:last]
	}
}

// drop empties the heap and frees some of its blocks, and reports whether there are more.
func (x *expiry) drop(blocks int) (more bool) {
	x.n = 0
	for ; blocks > 0 && len(x.blocks) > 0; blocks-- {
		last := len(x.blocks) - 1
		x.arena.Free(x.blocks[last], heapBlock)
		x.blocks = x.blocks[:last]
	}
	return len(x.blocks) > 0
}

// share is the part of the blocks that one node answers for; the emptiness of a single block is
// nobody's.
func (x *expiry) share() int {
	if x.n <= blockNodes {
		return heapEntry
	}
	return (len(x.blocks)*arena.SizeOf(heapBlock) + x.n/2) / x.n
}

// Expired reports whether a record's deadline has passed.
func (e Entry) Expired(now int64) bool {
	h := e.header()
	return h&flagTimed != 0 && Deadline(arena.Load(e.timed(h))).Passed(now)
}

// SetDeadline gives a record a deadline, or takes it away (0), and returns the entry as it is
// then.
func (s *Space) SetDeadline(e Entry, deadline Deadline) Entry {
	h := e.header()
	timed := h&flagTimed != 0
	if !timed && deadline == 0 {
		return e
	}
	s.changes++
	if timed && deadline != 0 {
		at := e.timed(h)
		place := int(arena.Load(at + 8))
		arena.Store(at, uint64(deadline))
		s.expiry.change(place, deadline, e.rec)
		s.published()
		return e
	}
	at, n := e.value()
	return s.rewrite(e, e.Key(), h&keptMask, arena.Bytes(at, n), n, deadline)
}

// retime gives the place that a record has in the heap to the one that replaces it.
func (s *Space) retime(old, e Entry) {
	from, to := old.header(), e.header()
	switch {
	case to&flagTimed == 0:
		s.untime(old)
		return
	case from&flagTimed == 0:
		s.expiry.push(e.Deadline(), e.rec)
	default:
		place, deadline := int(arena.Load(old.timed(from)+8)), e.Deadline()
		if deadline == old.Deadline() { // nothing moves: most often it is kept
			s.expiry.put(place, deadline, e.rec)
			return
		}
		s.expiry.change(place, deadline, e.rec)
	}
	s.published()
}

// untime takes a record out of the heap; its own deadline stays as it is.
func (s *Space) untime(e Entry) {
	if h := e.header(); h&flagTimed != 0 {
		s.expiry.remove(int(arena.Load(e.timed(h) + 8)))
		s.published()
	}
}

// published tells other goroutines when the next key is due.
func (s *Space) published() {
	s.timed.Store(int64(s.expiry.n))
	next := int64(0)
	if s.expiry.n > 0 {
		next = s.expiry.deadline(0).Nano()
	}
	if s.next.Load() != next {
		s.next.Store(next)
	}
}

// Due gives the record whose deadline has come first, the zero Entry if none is due. It is
// found by its key, so that it can be deleted.
func (s *Space) Due(now int64) Entry {
	if s.expiry.n == 0 || !s.expiry.deadline(0).Passed(now) {
		return Entry{}
	}
	e := Entry{rec: arena.Addr(arena.Load(s.expiry.at(0) + 8))}
	return s.Find(e.Key(), s.hashOf(e.rec))
}
