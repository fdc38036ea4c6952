package table

import (
	"sync/atomic"

	"kiln/actors/keyspace/arena"
	"kiln/actors/keyspace/arena/prefetch"
)

func makeEntry(seg arena.Addr, lines int, depth uint) uint64 {
	return uint64(seg) | uint64(lines-1)<<48 | uint64(depth)<<56
}

func linesOf(e uint64) int { return int(bucketsOf(e)) + 1 }

func (t *Table) newSegment(lines int, depth uint) uint64 {
	seg := t.arena.Alloc(lines * lineBytes)
	arena.Zero(seg, lines*lineBytes)
	t.bytes += int64(lines * lineBytes)
	return makeEntry(seg, lines, depth)
}

func (t *Table) freeSegment(e uint64) {
	t.bytes -= int64(linesOf(e) * lineBytes)
	t.arena.Free(segmentOf(e), linesOf(e)*lineBytes)
}

// setSegment points all directory entries that the segment of h covers to e.
func (t *Table) setSegment(h, e uint64) {
	d := t.dir.Load()
	n := uint64(1) << (d.depth - depthOf(e))
	from := h >> (64 - d.depth) &^ (n - 1)
	for i := from; i < from+n; i++ {
		atomic.StoreUint64(&d.entries[i], e)
	}
}

// grow makes room for one more record in the segment of h; false if it has the last size and
// cannot be split, since all hash bits are used.
func (t *Table) grow(h, e uint64) bool {
	for _, lines := range sizes {
		if lines > linesOf(e) {
			t.resize(h, e, lines)
			return true
		}
	}
	depth := depthOf(e)
	if depth == dirBits {
		return false
	}
	if d := t.dir.Load(); depth == d.depth {
		wide := &directory{depth: d.depth + 1, entries: make([]uint64, 2*len(d.entries))}
		for i, old := range d.entries {
			wide.entries[2*i], wide.entries[2*i+1] = old, old
		}
		t.dir.Store(wide)
		t.deep = 0
	}
	const last = len(sizes) - 1
	half := sizes[last-1] // half of a full segment fills them to 58 %
	low, high := t.newSegment(half, depth+1), t.newSegment(half, depth+1)
	if !t.spread(e, depth, low, high) { // unequal parts: only a bad hash gets here
		t.freeSegment(low)
		t.freeSegment(high)
		low, high = t.newSegment(sizes[last], depth+1), t.newSegment(sizes[last], depth+1)
		t.spread(e, depth, low, high)
	}
	t.setSegment(h&^(1<<(63-depth)), low)
	t.setSegment(h|1<<(63-depth), high)
	t.freeSegment(e)
	if depth+1 == t.dir.Load().depth {
		t.deep += 2
	}
	return true
}

func (t *Table) resize(h, e uint64, lines int) {
	to := t.newSegment(lines, depthOf(e))
	t.spread(e, 0, to, to)
	t.setSegment(h, to)
	t.freeSegment(e)
}

// spread moves a segment's records to low or high, by the hash's bit of that depth, and reports
// whether they had room. Records are prefetched in groups: their hashes are all that it reads.
func (t *Table) spread(e uint64, depth uint, low, high uint64) bool {
	const group = 8 * slots
	var recs [group]uint64
	n := 0
	flush := func() bool {
		prefetch.Lines(&recs[0], n)
		for _, rec := range recs[:n] {
			h := t.hash(arena.Addr(rec))
			to := low
			if h>>(63-depth)&1 == 1 {
				to = high
			}
			count := segmentOf(to) + headCount
			if arena.Load(count) == bucketsOf(to)*slots {
				return false
			}
			arena.Store(count, arena.Load(count)+1)
			place(to, h, arena.Addr(rec))
		}
		n = 0
		return true
	}
	for b := uint64(0); b < bucketsOf(e); b++ {
		line := lineOf(segmentOf(e), b)
		for i := Slot(0); i < slots*8; i += 8 {
			if rec := arena.Load(line+i) & addrMask; rec != 0 {
				recs[n] = rec
				n++
			}
		}
		if n > group-slots && !flush() {
			return false
		}
	}
	return flush()
}

// fit is the smallest size that n records fill to less than 69 %, 0 if there is none.
func fit(n int) (lines int) {
	for _, lines := range sizes {
		if n*16 < (lines-1)*slots*11 {
			return lines
		}
	}
	return 0
}

// shrink follows a segment of which three quarters are free: a smaller size, or, from the
// smallest size of a split segment on, one segment with its sibling. If few records are in that
// too, it goes on, so that no empty segments are left when there are no more records to delete.
func (t *Table) shrink(h, e uint64) (changed bool) {
	for {
		n := int(arena.Load(segmentOf(e) + headCount))
		if lines := fit(n); lines < linesOf(e) {
			t.resize(h, e, lines)
			return true
		}
		depth := depthOf(e)
		if depth == 0 {
			return changed
		}
		sibling := t.entry(h ^ 1<<(64-depth))
		if depthOf(sibling) != depth {
			return changed
		}
		both := n + int(arena.Load(segmentOf(sibling)+headCount))
		lines := fit(both)
		if lines == 0 {
			return changed
		}
		to := t.newSegment(lines, depth-1)
		t.spread(e, 0, to, to)
		t.spread(sibling, 0, to, to)
		t.setSegment(h, to)
		t.freeSegment(e)
		t.freeSegment(sibling)
		if depth == t.dir.Load().depth {
			if t.deep -= 2; t.deep == 0 {
				t.narrow()
			}
		}
		if both*4 >= (lines-1)*slots {
			return true
		}
		e, changed = to, true
	}
}

// narrow halves the directory while no segment needs its last bit.
func (t *Table) narrow() {
	for d := t.dir.Load(); d.depth > 0 && t.deep == 0; {
		half := &directory{depth: d.depth - 1, entries: make([]uint64, len(d.entries)/2)}
		for i := range half.entries {
			half.entries[i] = d.entries[2*i]
			if depthOf(half.entries[i]) == half.depth {
				t.deep++
			}
		}
		t.dir.Store(half)
		d = half
	}
}

// Drop frees the segments, a bounded number of them; it calls each for every record in them
// and reports whether any segment is left. The table is good for nothing else from then on.
func (t *Table) Drop(segments int, each func(rec arena.Addr)) (more bool) {
	d := t.dir.Load()
	for i := 0; i < len(d.entries); i++ {
		e := d.entries[i]
		if e == 0 {
			continue
		}
		if segments == 0 {
			return true
		}
		segments--
		walk(e, func(_ Slot, rec arena.Addr) { each(rec) })
		t.count -= int(arena.Load(segmentOf(e) + headCount))
		t.freeSegment(e)
		for k := i; k < len(d.entries) && d.entries[k] == e; k++ {
			atomic.StoreUint64(&d.entries[k], 0)
		}
	}
	return false
}

func walk(e uint64, each func(Slot, arena.Addr)) {
	for b := uint64(0); b < bucketsOf(e); b++ {
		line := lineOf(segmentOf(e), b)
		for i := Slot(0); i < slots*8; i += 8 {
			if rec := arena.Load(line+i) & addrMask; rec != 0 {
				each(line+i, arena.Addr(rec))
			}
		}
	}
}
