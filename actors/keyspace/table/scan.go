package table

import (
	"math/bits"

	"kiln/actors/keyspace/arena"
)

// A cursor says how far a scan has come, in hash order: the directory position (22 bits), the
// place within a segment (16), and the depth of the segment it stands in (5).
//
//	42            21 20         5 4     0
//	+---------------+------------+-------+
//	|   directory   |   place    | depth |
//	+---------------+------------+-------+
const (
	cursorDepth = 5
	cursorPlace = cursorDepth + placeBits

	// CursorBits is the width of a cursor.
	CursorBits = dirBits + placeBits + cursorDepth
)

// Scan calls each for the records of one or more buckets from the cursor on, until it has seen
// at least count records or visited many empty buckets, and gives the next cursor, 0 at the end.
//
// Its promise: a record that is in the table from the first call with cursor 0 to the call that
// returns 0 is given at least once, however the table grows and shrinks in between. Within one
// table size none is given twice.
func (t *Table) Scan(cursor uint64, count int, each func(rec arena.Addr)) uint64 {
	seen := 0
	for budget := 10 * count; ; {
		n, visited, next := t.scanSome(cursor, count-seen, budget, each)
		seen += n
		budget -= visited
		cursor = next
		if cursor == 0 || seen >= count || budget <= 0 {
			return cursor
		}
	}
}

// scanSome scans on within one segment.
func (t *Table) scanSome(cursor uint64, count, budget int, each func(arena.Addr)) (
	seen, visited int, next uint64,
) {
	pos := cursor >> cursorPlace << (64 - dirBits)
	from := cursor >> cursorDepth & (1<<placeBits - 1)
	e := t.entry(pos)
	depth := depthOf(e)
	if depth != uint(cursor&(1<<cursorDepth-1)) {
		from = 0 // split or merged meanwhile: begin the segment anew rather than miss a record
	}
	if e != 0 {
		buckets := bucketsOf(e)
		for b := from * buckets >> placeBits; b < buckets; b++ {
			seen += t.scanBucket(e, b, from, each)
			if visited++; seen >= count || visited >= budget {
				if b+1 == buckets {
					break
				}
				place := ((b+1)<<placeBits + buckets - 1) / buckets
				at := pos >> (64 - depth) << (64 - depth) // start of the segment's range
				return seen, visited, at>>(64-dirBits)<<cursorPlace | place<<cursorDepth | uint64(depth)
			}
		}
	}
	return seen, visited + 1, t.after(pos, depth)
}

// after gives the cursor at the start of the segment that follows, 0 at the end.
func (t *Table) after(pos uint64, depth uint) uint64 {
	at := pos>>(64-depth)<<(64-depth) | (1<<(64-depth) - 1)
	if depth == 0 || at == ^uint64(0) {
		return 0
	}
	at++
	return at>>(64-dirBits)<<cursorPlace | uint64(depthOf(t.entry(at)))
}

// scanBucket gives the records whose home is bucket b and whose place is at least from: they may
// stand in the buckets after it.
func (t *Table) scanBucket(e, b, from uint64, each func(arena.Addr)) (seen int) {
	seg, buckets := segmentOf(e), bucketsOf(e)
	for at, passed := b, uint64(0); passed < buckets; passed++ {
		line := lineOf(seg, at)
		for i := Slot(0); i < slots*8; i += 8 {
			rec := arena.Addr(arena.Load(line+i) & addrMask)
			if rec == 0 {
				continue
			}
			if h := t.hash(rec); home(h, buckets) == b && placeOf(h) >= from {
				each(rec)
				seen++
			}
		}
		if overflow(line) == 0 {
			break
		}
		if at++; at == buckets {
			at = 0
		}
	}
	return seen
}

// Random gives a record chosen with the given random bits, 0 if there is none. Records of fuller
// segments are a little less likely; within a segment all are alike.
func (t *Table) Random(next func() uint64) (rec arena.Addr, slot Slot) {
	if t.count == 0 {
		return 0, 0
	}
	for {
		e := t.entry(next())
		if e == 0 {
			continue
		}
		hi, _ := bits.Mul64(next(), bucketsOf(e)*slots)
		// A sparse segment is walked on from the place drawn, so that this ends.
		for i := uint64(0); i < bucketsOf(e)*slots; i++ {
			k := (hi + i) % (bucketsOf(e) * slots)
			s := lineOf(segmentOf(e), 0) + Slot(k*8)
			if w := arena.Load(s) & addrMask; w != 0 {
				return arena.Addr(w), s
			}
			if i == 64 {
				break
			}
		}
	}
}
