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
	first  int // no chunk before this one has a free unit
	lent   atomic.Int64
	mapped atomic.Int64
}

// A chunk is 1024 units, the first of which holds the state of its spans.
type chunk struct {
	base  Addr
	taken [chunkUnits / 64]uint64
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
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lent.Add(int64(n) * unitBytes)
	for i := d.first; i < len(d.chunks); i++ {
		c := d.chunks[i]
		if c.free == 0 && i == d.first {
			d.first++
		}
		if c.free < n {
			continue
		}
		if u := c.find(n, align); u >= 0 {
			c.mark(u, n)
			return c.base + Addr(u)*unitBytes
		}
	}
	c := &chunk{base: mapChunk(), free: chunkUnits - 1}
	c.taken[0] = 1
	Store(c.base, uint64(len(d.chunks))) // the first unit has no span: its state says who it is
	d.mapped.Add(chunkBytes)
	d.chunks = append(d.chunks, c)
	u := c.find(n, align)
	c.mark(u, n)
	return c.base + Addr(u)*unitBytes
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
	d.first = min(d.first, i)
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

// Trim gives huge pages of which no unit is lent back to the kernel, at most max bytes, and
// returns how many bytes it gave. It is meant for a background goroutine.
func (d *Depot) Trim(maxBytes int) int {
	const words = hugePage / unitBytes / 64 // a huge page is one word of the bitmap
	given := 0
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.chunks {
		for w := 0; w < len(c.taken); w += words {
			if c.taken[w] == 0 && c.dirty[w] != 0 && given < maxBytes {
				release(c.base+Addr(w)*hugePage, hugePage)
				c.dirty[w] = 0
				given += hugePage
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
	if n == 1 {
		for w, taken := range c.taken {
			if taken != ^uint64(0) {
				return w*64 + bits.TrailingZeros64(^taken)
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
