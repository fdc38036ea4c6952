package table

import (
	"math/bits"
	"sync/atomic"

	"kiln/actors/keyspace/arena"
)

// Which bits of a hash serve what. The lowest ten are left to the router, which chooses the
// partition with them: within one partition they are all alike.
const (
	tagShift   = 10 // 16 bits: the tag in the slot
	placeShift = 26 // 16 bits: the bucket in the segment
	placeBits  = 16
	dirBits    = 22 // the upper bits: the segment in the directory

	slots      = 8
	lineBytes  = 64
	addrMask   = 1<<47 - 8
	countMask  = 1<<47 | 7
	countStuck = 15

	headCount   = 0  // a segment's first line: records in it,
	headGone    = 8  // counts that stuck,
	headDeleted = 16 // and deletions since it was built
)

// sizes are the lines a segment may have, its head included. The two largest ones are half as
// far apart as the others so that the load never falls under 58 %.
var sizes = [...]int{8, 16, 32, 64, 96, 128}

// directory is the one part of a table that a foreign goroutine may read, to prefetch: entries
// are read and written atomically, and a directory replaced is left to the garbage collector.
//
// An entry: segment's address in bits 0 to 47, its buckets in 48 to 55, its depth in 56 to 61.
type directory struct {
	depth   uint
	entries []uint64
}

// Table maps hashes to records. The zero Table is not ready: see [New].
type Table struct {
	arena *arena.Arena
	hash  func(arena.Addr) uint64
	dir   atomic.Pointer[directory]
	count int
	deep  int // segments as deep as the directory: it is halved when there are none
	bytes int64
}

// New returns an empty table, which takes no memory yet. hash gives the hash of a record.
func New(a *arena.Arena, hash func(arena.Addr) uint64) *Table {
	t := &Table{arena: a, hash: hash, deep: 1}
	t.dir.Store(&directory{entries: make([]uint64, 1)})
	return t
}

// Len is the number of records.
func (t *Table) Len() int { return t.count }

// Bytes is the memory of the segments.
func (t *Table) Bytes() int64 { return t.bytes }

// Slot is the place of a record's address; it is valid until the next Insert or Delete.
type Slot = arena.Addr

// Probe walks the candidates for one hash.
type Probe struct {
	segment arena.Addr
	tag     uint64
	bucket  uint32
	buckets uint32
	next    uint32 // the next slot of the bucket
	passed  uint32
	line    arena.Addr
}

func tagOf(h uint64) uint64 {
	tag := h >> tagShift & 0xffff
	if tag == 0 {
		tag = 1
	}
	return tag
}

func placeOf(h uint64) uint64 { return h >> placeShift & (1<<placeBits - 1) }

func home(h uint64, buckets uint64) uint64 { return placeOf(h) * buckets >> placeBits }

func (t *Table) entry(h uint64) uint64 {
	d := t.dir.Load()
	return atomic.LoadUint64(&d.entries[h>>(64-d.depth)])
}

func bucketsOf(entry uint64) uint64        { return entry >> 48 & 0xff }
func segmentOf(entry uint64) arena.Addr    { return arena.Addr(entry & (1<<48 - 1)) }
func depthOf(entry uint64) uint            { return uint(entry >> 56) }
func lineOf(seg arena.Addr, b uint64) Slot { return seg + lineBytes + Slot(b*lineBytes) }

// Seek starts the walk over the candidates for h.
func (t *Table) Seek(h uint64) Probe {
	e := t.entry(h)
	if e == 0 {
		return Probe{}
	}
	b := home(h, bucketsOf(e))
	return Probe{
		segment: segmentOf(e), tag: tagOf(h), bucket: uint32(b),
		buckets: uint32(bucketsOf(e)), line: lineOf(segmentOf(e), b),
	}
}

// Elsewhere is the slot that First gives where it does not know.
const Elsewhere Slot = 1

// First gives the first candidate of the line where h is looked for first, and its slot. If there
// is none the record is 0, and the slot is 0 where no line has one, else Elsewhere. Look-ups that
// are not content with it go on with Seek; 19 of 20 are, and need no Probe.
func (t *Table) First(h uint64) (rec arena.Addr, slot Slot) {
	e := t.entry(h)
	if e == 0 {
		return 0, 0
	}
	line := lineOf(segmentOf(e), home(h, bucketsOf(e)))
	// Without branches, since nobody can foresee which slot it is: of x, the tags' difference,
	// x-1 is below 0 only if they are alike.
	tag, fits := tagOf(h), uint64(0)
	for i := slots - 1; i >= 0; i-- {
		x := arena.Load(line+Slot(i*8))>>48 ^ tag
		fits = fits<<1 | (x-1)>>63
	}
	if fits != 0 {
		slot = line + Slot(bits.TrailingZeros64(fits)*8)
		return Record(slot), slot
	}
	if overflow(line) != 0 {
		return 0, Elsewhere
	}
	return 0, 0
}

// Next gives the next record whose tag fits, and its slot; 0 when there is none left.
func (p *Probe) Next() (rec arena.Addr, slot Slot) {
	if p.segment == 0 {
		return 0, 0
	}
	for {
		for i := p.next; i < slots; i++ {
			s := p.line + Slot(i*8)
			if w := arena.Load(s); w>>48 == p.tag {
				p.next = i + 1
				return arena.Addr(w & addrMask), s
			}
		}
		if p.passed++; overflow(p.line) == 0 || p.passed == p.buckets {
			return 0, 0
		}
		p.next = 0
		if p.bucket++; p.bucket == p.buckets {
			p.bucket = 0
		}
		p.line = lineOf(p.segment, uint64(p.bucket))
	}
}

func overflow(line arena.Addr) uint64 {
	w := arena.Load(line)
	return w&7 | w>>44&8
}

func setOverflow(line arena.Addr, n uint64) {
	arena.Store(line, arena.Load(line)&^countMask|n&7|n&8<<44)
}

// Line gives the address of the cache line where h is looked for first, 0 for an empty table.
// It may be called from any goroutine.
func (t *Table) Line(h uint64) arena.Addr {
	e := t.entry(h)
	if e == 0 {
		return 0
	}
	return lineOf(segmentOf(e), home(h, bucketsOf(e)))
}

// Candidate gives the address of the first record in a line whose tag fits h, or 0. It may be
// called from any goroutine; then the address may be stale, and is good for a prefetch only.
func Candidate(line arena.Addr, h uint64) arena.Addr {
	tag := tagOf(h)
	for i := Slot(0); i < slots*8; i += 8 {
		if w := arena.Load(line + i); w>>48 == tag {
			return arena.Addr(w & addrMask)
		}
	}
	return 0
}

// Record gives the record at a slot.
func Record(s Slot) arena.Addr { return arena.Addr(arena.Load(s) & addrMask) }

// Replace puts another record, of the same hash, in a slot.
func Replace(s Slot, rec arena.Addr) {
	arena.Store(s, arena.Load(s)&^addrMask|uint64(rec))
}

// Share is the part of the segments' memory that one record of this hash answers for.
func (t *Table) Share(h uint64) int {
	e := t.entry(h)
	if e == 0 {
		return 0
	}
	n := int(arena.Load(segmentOf(e) + headCount))
	if n == 0 {
		return 0
	}
	return (arena.SizeOf(linesOf(e)*lineBytes) + n/2) / n
}

// Insert adds a record. REQUIRES: it is not in the table.
func (t *Table) Insert(h uint64, rec arena.Addr) Slot {
	for {
		e := t.entry(h)
		if e == 0 {
			t.setSegment(h, t.newSegment(sizes[0], 0))
			continue
		}
		seg := segmentOf(e)
		n, cap8 := arena.Load(seg+headCount), bucketsOf(e)*slots
		if n*8 >= cap8*7 && t.grow(h, e) {
			continue
		}
		if n >= cap8 { // depth is exhausted: only one hash value, repeated, gets here
			panic("table: a segment overflows")
		}
		arena.Store(seg+headCount, n+1)
		t.count++
		return place(e, h, rec)
	}
}

// place puts a record in the first free slot from its home on. REQUIRES: there is one.
func place(e, h uint64, rec arena.Addr) Slot {
	seg, buckets := segmentOf(e), bucketsOf(e)
	for b := home(h, buckets); ; {
		line := lineOf(seg, b)
		for i := Slot(0); i < slots*8; i += 8 {
			if w := arena.Load(line + i); w&addrMask == 0 {
				arena.Store(line+i, w|tagOf(h)<<48|uint64(rec))
				return line + i
			}
		}
		if n := overflow(line); n < countStuck {
			setOverflow(line, n+1)
			if n+1 == countStuck {
				arena.Store(seg+headGone, arena.Load(seg+headGone)+1)
			}
		}
		if b++; b == buckets {
			b = 0
		}
	}
}

// Delete takes out the record at a slot.
func (t *Table) Delete(h uint64, s Slot) {
	e := t.entry(h)
	seg, buckets := segmentOf(e), bucketsOf(e)
	arena.Store(s, arena.Load(s)&countMask)
	at := uint64(s-seg-lineBytes) / lineBytes
	for b := home(h, buckets); b != at; {
		line := lineOf(seg, b)
		if n := overflow(line); n < countStuck {
			setOverflow(line, n-1)
		}
		if b++; b == buckets {
			b = 0
		}
	}
	n, deleted := arena.Load(seg+headCount)-1, arena.Load(seg+headDeleted)+1
	arena.Store(seg+headCount, n)
	arena.Store(seg+headDeleted, deleted)
	t.count--
	if n*4 < buckets*slots && t.shrink(h, e) {
		return
	}
	// Rebuilt to free counts that stuck, but not at each deletion where they stick again at once.
	if arena.Load(seg+headGone)*8 > buckets && deleted*4 > buckets*slots {
		t.resize(h, e, linesOf(e))
	}
}
