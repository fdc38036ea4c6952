package table

import (
	"math"
	"math/bits"

	"kiln/actors/keyspace/arena"
)

// A cursor says how far a scan has come:
//
//	42            21 20         5 4     0
//	+---------------+------------+-------+
//	|   position    |   place    | depth |
//	+---------------+------------+-------+
//
// A scan goes through the table in ranges. A range is what was one segment when the scan came to
// it: all hashes with the same upper bits, as many as depth says. Within a range it goes by
// place, a bucket at a time; so it does not matter whether the range is still one segment, or
// now a part of one. Where it has been split meanwhile, the scan goes by stripes of 1/128 of the
// places through all its segments, and the position says which is next.
//
// So what is done is always: all ranges before this one; in this one, all lower places; and in
// this stripe, all lower positions. The cursor only rises, which is why a scan ends.
const (
	cursorDepth = 5
	cursorPlace = cursorDepth + placeBits

	// CursorBits is the width of a cursor.
	CursorBits = dirBits + placeBits + cursorDepth

	placeEnd = 1 << placeBits
	stripe   = placeEnd / 128
)

// cursor is an unpacked cursor.
type cursor struct {
	at    uint64 // a hash, of which the position is the upper bits
	place uint64
	depth uint
}

func unpack(c uint64) cursor {
	return cursor{
		at:    c >> cursorPlace << (64 - dirBits),
		place: c >> cursorDepth & (placeEnd - 1),
		depth: min(uint(c&(1<<cursorDepth-1)), dirBits), // it comes from a client
	}
}

func (c cursor) pack() uint64 {
	return c.at>>(64-dirBits)<<cursorPlace | c.place<<cursorDepth | uint64(c.depth)
}

// lower is the bits of a hash below its upper ones.
func lower(depth uint) uint64 { return 1<<(64-depth) - 1 }

// Scan calls each for the records of one or more buckets from the cursor on, until it has seen
// at least count records or visited many empty buckets, and gives the next cursor, 0 at the end.
//
// Its promise: a record that is in the table from the first call with cursor 0 to the call that
// returns 0 is given exactly once, however the table grows and shrinks in between; and there is
// such a call, however much is inserted meanwhile.
func (t *Table) Scan(from uint64, count int, each func(rec arena.Addr)) uint64 {
	c, seen := unpack(from), 0
	for budget := 10 * min(count, math.MaxInt/10); ; {
		n, visited, more := t.scanStep(&c, each)
		if !more {
			return 0
		}
		seen += n
		if budget -= visited; seen >= count || budget <= 0 {
			return c.pack()
		}
	}
}

// scanStep scans a bucket, or a stripe of one segment, and moves the cursor on.
func (t *Table) scanStep(c *cursor, each func(arena.Addr)) (seen, visited int, more bool) {
	e := t.entry(c.at)
	depth, buckets := depthOf(e), bucketsOf(e)
	if c.place == 0 && c.at&lower(c.depth) == 0 { // a new range, a segment or what is left of one
		c.depth = max(depth, uint(64-bits.TrailingZeros64(c.at)))
	}
	first, last := c.at&^lower(c.depth), c.at|lower(c.depth)
	end := uint64(placeEnd)
	switch whole := depth <= c.depth && c.at == first; {
	case e == 0: // an empty table
	case whole:
		b := c.place * buckets >> placeBits
		end = ((b+1)<<placeBits + buckets - 1) / buckets
	default:
		end = c.place/stripe*stripe + stripe
	}
	if e != 0 {
		for b := c.place * buckets >> placeBits; b <= (end-1)*buckets>>placeBits; b++ {
			seen += t.scanBucket(e, b, c.place, end, c.at, last, each)
			visited++
		}
	}
	if next := c.at | lower(depth); next < last {
		c.at = next + 1
		return seen, visited, true
	}
	c.at, c.place = first, end
	if end == placeEnd {
		c.at, c.place = last+1, 0
		c.depth = uint(64 - bits.TrailingZeros64(c.at)) // to be chosen when the range is begun
	}
	return seen, visited + 1, c.at|c.place != 0
}

// scanBucket gives the records whose home is bucket b, whose place is in [from, end) and whose
// hash in [first, last]: they may stand in the buckets after it.
func (t *Table) scanBucket(
	e, b, from, end, first, last uint64, each func(arena.Addr),
) (seen int) {
	seg, buckets := segmentOf(e), bucketsOf(e)
	for at, passed := b, uint64(0); passed < buckets; passed++ {
		line := lineOf(seg, at)
		for i := Slot(0); i < slots*8; i += 8 {
			rec := arena.Addr(arena.Load(line+i) & addrMask)
			if rec == 0 {
				continue
			}
			h := t.hash(rec)
			if p := placeOf(h); home(h, buckets) == b && p >= from && p < end &&
				h >= first && h <= last {
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
		seg, places := segmentOf(e), bucketsOf(e)*slots
		for range 32 {
			k, _ := bits.Mul64(next(), places)
			s := lineOf(seg, 0) + Slot(k*8)
			if w := arena.Load(s) & addrMask; w != 0 {
				return arena.Addr(w), s
			}
		}
		if n := arena.Load(seg + headCount); n > 0 { // a sparse segment: count them off
			k, _ := bits.Mul64(next(), n)
			walk(e, func(s Slot, r arena.Addr) {
				if k == 0 {
					rec, slot = r, s
				}
				k--
			})
			return rec, slot
		}
	}
}
