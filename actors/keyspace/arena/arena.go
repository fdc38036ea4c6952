package arena

// A span's state is kept in its chunk's first units, 64 bytes for each unit, a cache line, since
// the neighbours may belong to arenas on other cores:
//
//	 0  next span of this class that has room   8  previous one
//	16  first free block (offset + 1, 0: none)  20  first byte never handed out (offset)
//	24  blocks handed out                       28  1 if the span is in the list
const (
	spanNext = 0
	spanPrev = 8
	spanFree = 16
	spanBump = 20
	spanLive = 24
	spanIn   = 28
	spanMeta = 64

	metaUnits = chunkUnits * spanMeta / unitBytes
)

// Arena hands out blocks for one owner. Its cost: a few instructions for each Alloc or Free, and
// on average half a span for each class in use.
type Arena struct {
	depot  *Depot
	room   [classCount]Addr // first span with room, of each class
	spare  [2]Addr          // empty spans of one unit, for any class: see retire
	spares int
	used   int64
	check  shadow
}

// New returns an empty arena that takes its memory from d.
func New(d *Depot) *Arena { return &Arena{depot: d} }

// Used is the number of bytes handed out: the sum of [SizeOf] over all live blocks.
func (a *Arena) Used() int64 { return a.used }

// Alloc returns a block of at least n bytes, not cleared. Blocks whose size is a multiple of 64
// are aligned to 64, all others to 8.
func (a *Arena) Alloc(n int) Addr {
	n += redZone
	var p Addr
	if n <= classMax {
		p = a.allocSmall(class(n))
	} else {
		size := SizeOf(n - redZone)
		a.used += int64(size)
		p = a.depot.large(size)
	}
	if checked {
		a.check.allocated(p, n)
	}
	return p
}

// Free takes back a block; n is what was asked of Alloc.
func (a *Arena) Free(p Addr, n int) {
	n += redZone
	if checked {
		a.check.freed(p, n)
	}
	if n <= classMax {
		a.freeSmall(p, class(n))
		return
	}
	size := SizeOf(n - redZone)
	a.used -= int64(size)
	a.depot.freeLarge(p, size)
}

// Resize gives a block of at least n bytes that starts with the old block's first keep bytes.
func (a *Arena) Resize(p Addr, old, n, keep int) Addr {
	if SizeOf(old) == SizeOf(n) && !checked {
		return p
	}
	if !checked && old > largeMax && n > largeMax {
		from, to := SizeOf(old), SizeOf(n)
		if q, ok := remap(p, from, to); ok {
			a.used += int64(to - from)
			a.depot.resized(to - from)
			return q
		}
	}
	if checked {
		a.check.verify(p, old+redZone)
	}
	q := a.Alloc(n)
	Move(q, p, keep)
	a.Free(p, old)
	return q
}

func (a *Arena) allocSmall(c int) Addr {
	size := classBytes[c]
	a.used += int64(size)
	span := a.room[c]
	if span == 0 {
		span = a.newSpan(c)
	}
	m := metaOf(span)
	free := Load(m + spanFree) // first free block and bump, read together
	var p Addr
	if off := uint32(free); off != 0 {
		p = span + Addr(off-1)
		free = free&^0xffffffff | uint64(Load32(p))
	} else {
		p = span + Addr(free>>32)
		free += uint64(size) << 32
	}
	Store(m+spanFree, free)
	Store32(m+spanLive, Load32(m+spanLive)+1)
	if uint32(free) == 0 && uint32(free>>32)+size > spanUnits[c]*unitBytes {
		a.unlink(c, m)
	}
	return p
}

func (a *Arena) newSpan(c int) (span Addr) {
	if a.spares > 0 && spanUnits[c] == 1 {
		a.spares--
		span = a.spare[a.spares]
	} else {
		span = a.depot.take(int(spanUnits[c]))
	}
	m := metaOf(span)
	Store(m+spanNext, 0)
	Store(m+spanPrev, 0)
	Store(m+spanFree, 0)
	Store(m+spanLive, 1<<32)
	a.room[c] = span
	return span
}

// retire gives an empty span back. A few of one unit are kept, so that a key that comes and goes
// does not visit the depot each time.
func (a *Arena) retire(c int, span Addr) {
	if spanUnits[c] == 1 && a.spares < len(a.spare) {
		a.spare[a.spares] = span
		a.spares++
		return
	}
	a.depot.give(span, int(spanUnits[c]))
}

func (a *Arena) freeSmall(p Addr, c int) {
	a.used -= int64(classBytes[c])
	span := p &^ (Addr(spanUnits[c])*unitBytes - 1)
	m := metaOf(span)
	Store32(p, Load32(m+spanFree))
	Store32(m+spanFree, uint32(p-span)+1)
	live := Load32(m+spanLive) - 1
	Store32(m+spanLive, live)
	in := Load32(m+spanIn) != 0
	switch {
	case live == 0:
		if in {
			a.unlink(c, m)
		}
		a.retire(c, span)
	case !in:
		next := a.room[c]
		Store(m+spanNext, uint64(next))
		Store(m+spanPrev, 0)
		Store32(m+spanIn, 1)
		if next != 0 {
			Store(metaOf(next)+spanPrev, uint64(span))
		}
		a.room[c] = span
	}
}

func (a *Arena) unlink(c int, m Addr) {
	next, prev := Addr(Load(m+spanNext)), Addr(Load(m+spanPrev))
	if prev != 0 {
		Store(metaOf(prev)+spanNext, uint64(next))
	} else {
		a.room[c] = next
	}
	if next != 0 {
		Store(metaOf(next)+spanPrev, uint64(prev))
	}
	Store(m+spanNext, 0)
	Store(m+spanPrev, 0)
	Store32(m+spanIn, 0)
}

func metaOf(span Addr) Addr {
	chunk := span &^ (chunkBytes - 1)
	return chunk + (span-chunk)>>unitShift*spanMeta
}
