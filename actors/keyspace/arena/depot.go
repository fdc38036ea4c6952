package arena

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// Depot maps memory and lends it to arenas in runs of 32 KB units. It is safe for concurrent use.
type Depot struct {
	mu     sync.Mutex
	chunks []*chunk
	first  [hints]int // no chunk before this one has an aligned free run of 1<<k units
	lent   atomic.Int64
	mapped atomic.Int64

	// OnTake, if set, is called when a huge page is taken into use: then it may be time to
	// Prepare the next. It must not block. Set it before the depot is used.
	OnTake func()
}

const hints = 6 // 1<<5 is spanUnitsMax

// A chunk is 1024 units, the first of which hold the state of its spans.
type chunk struct {
	base  Addr
	taken [chunkUnits / 64]uint64 // a word is a huge page
	dirty [chunkUnits / 64]uint64 // touched since the kernel last took the page back
	free  int
}

// NewDepot returns a depot that has mapped nothing yet.
func NewDepot() *Depot { return &Depot{} }

// Lent is the number of bytes of units lent to arenas, and of large blocks.
func (d *Depot) Lent() int64 { return d.lent.Load() }

// Mapped is the number of bytes of address space the depot has taken.
func (d *Depot) Mapped() int64 { return d.mapped.Load() }

// take lends n units, a power of two, aligned to their size.
func (d *Depot) take(n int) Addr { return d.run(n, n) }

func (d *Depot) run(n, align int) Addr {
	p, fresh := d.place(n, align)
	if fresh && d.OnTake != nil {
		d.OnTake()
	}
	return p
}

// place lends a run of n units; fresh says that a huge page was taken into use for it.
func (d *Depot) place(n, align int) (p Addr, fresh bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lent.Add(int64(n) * unitBytes)
	k := bits.Len(uint(n)) - 1
	if align < n { // within any run of 2m-1 units there is an aligned one of m
		k = min(bits.Len(uint(n+1))-2, hints-1)
	}
	for i := d.first[k]; i < len(d.chunks); i++ {
		c := d.chunks[i]
		if c.free >= n {
			if u := c.find(n, align); u >= 0 {
				fresh = c.taken[u/64] == 0 || c.taken[(u+n-1)/64] == 0
				c.mark(u, n)
				return c.base + Addr(u)*unitBytes, fresh
			}
		}
		if i == d.first[k] && (align == n || c.free == 0) {
			d.first[k]++
		}
	}
	c := newChunk()
	d.add(c)
	u := c.find(n, align)
	c.mark(u, n)
	return c.base + Addr(u)*unitBytes, true
}

// newChunk maps a chunk and touches its first huge page.
func newChunk() *chunk {
	c := &chunk{base: mapChunk(), free: chunkUnits - metaUnits}
	c.taken[0] = 1<<metaUnits - 1
	c.dirty[0] = 1
	Store(c.base, 0)
	return c
}

// add puts a chunk in use. REQUIRES: the lock is held.
func (d *Depot) add(c *chunk) {
	Store(c.base, uint64(len(d.chunks))) // the first unit has no span: its state says who it is
	d.mapped.Add(chunkBytes)
	d.chunks = append(d.chunks, c)
}

// ahead is how many huge pages are kept touched before they are needed: to have one from the
// kernel takes up to 10 ms where the machine is a virtual one that has not used it yet.
func (d *Depot) ahead() int {
	const share, most = 32, 8
	if d.lent.Load() == 0 {
		return 0
	}
	return int(min(1+d.lent.Load()/hugePage/share, most))
}

// Prepare touches the next huge page, or maps the next chunk, if fewer are ready than should be,
// and reports whether it did. It is for one background goroutine: the depot is not locked while
// the kernel works.
func (d *Depot) Prepare() (did bool) {
	c, w, enough := d.cold()
	if enough {
		return false
	}
	if c == nil {
		c = newChunk()
		d.mu.Lock()
		defer d.mu.Unlock()
		d.add(c)
		return true
	}
	populate(c.base+Addr(w)*hugePage, hugePage)
	d.mu.Lock()
	defer d.mu.Unlock()
	c.dirty[w] = ^uint64(0)
	return true
}

// cold finds the first huge page that was never touched; none if enough unused ones were.
func (d *Depot) cold() (first *chunk, word int, enough bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	warm := 0
	for _, c := range d.chunks {
		for w := range c.taken {
			switch {
			case c.taken[w] != 0:
			case c.dirty[w] != 0:
				warm++
			case first == nil:
				first, word = c, w
			}
		}
	}
	return first, word, warm >= d.ahead()
}

// give takes back n units.
func (d *Depot) give(p Addr, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lent.Add(-int64(n) * unitBytes)
	i := int(Load(p &^ (chunkBytes - 1)))
	c := d.chunks[i]
	u := int(p-c.base) / unitBytes
	for k := u; k < u+n; k++ {
		c.taken[k/64] &^= 1 << (k % 64)
	}
	c.free += n
	for k := range d.first {
		d.first[k] = min(d.first[k], i)
	}
}

// large lends a block above the classes: a run of units, or a mapping of its own.
func (d *Depot) large(size int) Addr {
	if size <= largeMax {
		return d.run(size/unitBytes, 1)
	}
	d.lent.Add(int64(size))
	d.mapped.Add(int64(size))
	return mapAlone(size)
}

func (d *Depot) freeLarge(p Addr, size int) {
	if size <= largeMax {
		d.give(p, size/unitBytes)
		return
	}
	d.lent.Add(-int64(size))
	d.mapped.Add(-int64(size))
	unmapAlone(p, size)
}

// resized notes that the kernel made a block with a mapping of its own longer by so many bytes.
func (d *Depot) resized(by int) {
	d.lent.Add(int64(by))
	d.mapped.Add(int64(by))
}

// Trim gives huge pages of which no unit is lent back to the kernel, at most max bytes, and
// returns how many bytes it gave. Those that Prepare would want are kept. It is meant for a
// background goroutine.
func (d *Depot) Trim(maxBytes int) int {
	given, keep := 0, d.ahead()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.chunks {
		for w := range c.taken {
			from, kept := 0, uint64(0)
			if w == 0 { // all but the state of the spans
				from, kept = metaUnits*unitBytes, 1<<metaUnits-1
			}
			n := hugePage - from
			if c.taken[w] != kept || c.dirty[w] == 0 {
				continue
			}
			if w > 0 && keep > 0 {
				keep--
				continue
			}
			if given+n <= maxBytes {
				release(c.base+Addr(w*hugePage+from), n)
				c.dirty[w] = 0
				given += n
			}
		}
	}
	return given
}

func (c *chunk) mark(u, n int) {
	for k := u; k < u+n; k++ {
		c.taken[k/64] |= 1 << (k % 64)
		c.dirty[k/64] |= 1 << (k % 64)
	}
	c.free -= n
}

// find returns the first unit of a free run, or -1.
func (c *chunk) find(n, align int) int {
	if n == align && n <= spanUnitsMax {
		places := ^uint64(0) / (1<<n - 1) // a bit at each multiple of n
		for w, taken := range c.taken {
			free := ^taken
			for k := 1; k < n; k *= 2 {
				free &= free >> k
			}
			if free &= places; free != 0 {
				return w*64 + bits.TrailingZeros64(free)
			}
		}
		return -1
	}
	for u := 0; u+n <= chunkUnits; {
		stop := -1
		for k := u + n - 1; k >= u; k-- {
			if c.taken[k/64]&(1<<(k%64)) != 0 {
				stop = k
				break
			}
		}
		if stop < 0 {
			return u
		}
		u = (stop + align) / align * align
	}
	return -1
}
