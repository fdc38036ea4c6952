package arena

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rounds gives the number of operations of a model test: many with KILN_LONG=1.
func rounds(short, long int) int {
	if os.Getenv("KILN_LONG") != "" {
		return long
	}
	if checked { // each block is filled twice then
		return short / 4
	}
	return short
}

// block is what the model knows of a block: its bytes are stamped with mark.
type block struct {
	p    Addr
	n    int
	mark uint64
}

// stamps calls each for the places of a block that carry its mark: all of a small block, both
// ends and a byte of each page of a large one.
func stamps(n int, each func(i int)) {
	if n <= 512 {
		for i := range n {
			each(i)
		}
		return
	}
	for i := 0; i < n; i += 4 << 10 {
		each(i)
	}
	for i := range 64 {
		each(i)
		each(n - 1 - i)
	}
}

func stampOf(mark uint64, i int) byte { return byte((mark + uint64(i)) * 0x9e3779b97f4a7c15 >> 56) }

func (b block) write(from int) {
	bytes := Bytes(b.p, b.n)
	stamps(b.n, func(i int) {
		if i >= from {
			bytes[i] = stampOf(b.mark, i)
		}
	})
}

func (b block) verify(t *testing.T, n int) {
	t.Helper()
	bytes := Bytes(b.p, b.n)
	stamps(n, func(i int) {
		if want, got := stampOf(b.mark, i), bytes[i]; want != got {
			t.Fatalf("block %#x of %d bytes, byte %d: want %#x, got %#x", b.p, b.n, i, want, got)
		}
	})
}

// model drives one arena and knows what it should hold.
type model struct {
	t     *testing.T
	a     *Arena
	r     *rand.Rand
	live  []block
	bytes int64
	max   int64
}

// size is drawn so that each doubling is as likely as any other.
func (m *model) size(most int) int {
	switch m.r.IntN(8) {
	case 0: // the borders of classes
		return min(int(classBytes[m.r.IntN(classCount)])+m.r.IntN(3)-1, most)
	case 1:
		return 64 * (1 + m.r.IntN(min(most, 64<<10)/64))
	default:
		return int(math.Exp2(m.r.Float64() * math.Log2(float64(most))))
	}
}

func (m *model) step() {
	most := 2 << 10
	switch k := m.r.IntN(1000); {
	case k < 2:
		most = 20 << 20
	case k < 30:
		most = 1 << 20
	}
	grow := len(m.live) == 0 || m.bytes < m.max/2 || m.bytes < m.max && m.r.IntN(2) == 0
	switch {
	case m.r.IntN(3) == 0 && len(m.live) > 0:
		m.resize(m.r.IntN(len(m.live)), most)
	case grow:
		b := block{n: m.size(most), mark: m.r.Uint64()}
		b.p = m.a.Alloc(b.n)
		m.aligned(b)
		b.write(0)
		m.live = append(m.live, b)
		m.bytes += int64(SizeOf(b.n))
	default:
		m.free(m.r.IntN(len(m.live)))
	}
}

func (m *model) resize(i, most int) {
	b := m.live[i]
	n := m.size(most)
	if m.r.IntN(2) == 0 {
		n = max(1, b.n+m.r.IntN(64)-32)
	}
	keep := min(n, b.n)
	old := b
	m.bytes += int64(SizeOf(n) - SizeOf(b.n))
	b.p, b.n = m.a.Resize(b.p, b.n, n, keep), n
	m.aligned(b)
	if old.n <= 512 && n <= 512 {
		b.verify(m.t, keep)
	} else if keep >= 128 {
		b.verify(m.t, 64)
	}
	b.write(0)
	m.live[i] = b
}

func (m *model) free(i int) {
	b := m.live[i]
	b.verify(m.t, b.n)
	m.a.Free(b.p, b.n)
	m.bytes -= int64(SizeOf(b.n))
	m.live[i] = m.live[len(m.live)-1]
	m.live = m.live[:len(m.live)-1]
}

func (m *model) aligned(b block) {
	m.t.Helper()
	if b.p%8 != 0 || b.n%64 == 0 && b.p%64 != 0 || b.p>>47 != 0 {
		m.t.Fatalf("%d bytes at %#x", b.n, b.p)
	}
}

// check sees that no two blocks overlap and that the arena counts as the model does.
func (m *model) check() {
	m.t.Helper()
	if want, got := m.bytes, m.a.Used(); want != got {
		m.t.Fatalf("used: want %d, got %d", want, got)
	}
	sorted := slices.Clone(m.live)
	slices.SortFunc(sorted, func(x, y block) int { return int(int64(x.p) - int64(y.p)) })
	for i, b := range sorted[:max(len(sorted)-1, 0)] {
		if next := sorted[i+1]; b.p+Addr(SizeOf(b.n)) > next.p {
			m.t.Fatalf("%d bytes at %#x overlap %d at %#x", b.n, b.p, next.n, next.p)
		}
	}
}

func (m *model) run(ops int) {
	for i := range ops {
		m.step()
		if i%20000 == 0 {
			m.check()
		}
	}
	m.check()
}

func (m *model) freeAll() {
	for len(m.live) > 0 {
		m.free(m.r.IntN(len(m.live)))
	}
	m.check()
}

func newModel(t *testing.T, d *Depot, seed uint64, most int64) *model {
	return &model{t: t, a: New(d), r: rand.New(rand.NewPCG(seed, 1)), max: most}
}

func TestBlocksKeepTheirBytes(t *testing.T) {
	d := NewDepot()
	m := newModel(t, d, 1, 64<<20)
	m.run(rounds(150_000, 5_000_000))
	if lent, used := d.Lent(), m.a.Used(); lent < used || lent > used*3/2+32<<20 {
		t.Errorf("lent %d for %d used", lent, used)
	}
	m.freeAll()
	if want, got := int64(0), m.a.Used(); want != got {
		t.Errorf("used after all is freed: want %d, got %d", want, got)
	}
	if most, got := int64(len(m.a.spare)*unitBytes), d.Lent(); got < 0 || got > most {
		t.Errorf("lent after all is freed: want at most %d, got %d", most, got)
	}
	if got := d.Mapped() % chunkBytes; got != 0 {
		t.Errorf("mapped is not a number of chunks, by %d: a large block was not unmapped", got)
	}
}

func TestClassIsTheSmallestThatFits(t *testing.T) {
	for n := 0; n <= classMax; n++ {
		c := class(n)
		if int(classBytes[c]) < n || c > 0 && int(classBytes[c-1]) >= n {
			t.Fatalf("%d bytes: class %d of %d", n, c, classBytes[c])
		}
	}
	for c, size := range classBytes[1:] {
		before := classBytes[c]
		if gap := size - before; size%8 != 0 || gap > max(8, before/8) {
			t.Errorf("classes %d and %d", before, size)
		}
	}
	last := 0
	for n := 1; n <= 40<<20; n += 1 + n/1000 {
		size := SizeOf(n)
		if size < last || size < n+redZone || size > n+redZone+max(16, (n+redZone)/8) {
			t.Fatalf("%d bytes take %d", n, size)
		}
		last = size
	}
}

// A span ends in waste if its class does not divide it.
func TestSpansHoldTheirBlocks(t *testing.T) {
	for c, size := range classBytes {
		span := int(spanUnits[c]) * unitBytes
		if span&(span-1) != 0 || span/int(size) < 1 {
			t.Errorf("class %d of %d bytes: span of %d", c, size, span)
		}
		if waste := span % int(size); waste > span*3/16 {
			t.Errorf("class %d of %d bytes: %d of %d wasted", c, size, waste, span)
		}
	}
}

func TestAlignment(t *testing.T) {
	a := New(NewDepot())
	for n := 64; n <= 300<<10; n += 64 {
		p, q := a.Alloc(n), a.Alloc(n)
		if p%64 != 0 || q%64 != 0 {
			t.Fatalf("%d bytes at %#x and %#x", n, p, q)
		}
		a.Free(p, n)
		a.Free(q, n)
	}
}

func TestSpansGoBackToTheDepot(t *testing.T) {
	d := NewDepot()
	a := New(d)
	for _, n := range []int{16, 40, 1000, 6144, 20_000, 100_000, 250_000, 1 << 20} {
		var blocks []Addr
		for total := 0; total < 8<<20; total += SizeOf(n) {
			blocks = append(blocks, a.Alloc(n))
		}
		if got := d.Lent(); got < 8<<20 {
			t.Errorf("%d bytes: lent %d", n, got)
		}
		for _, p := range blocks {
			a.Free(p, n)
		}
	}
	if most, got := int64(len(a.spare)*unitBytes), d.Lent(); got > most {
		t.Errorf("lent after all is freed: want at most %d, got %d", most, got)
	}
}

func TestTrimGivesFreeMemoryBack(t *testing.T) {
	d := NewDepot()
	a := New(d)
	const n, count = 1 << 20, 60
	var blocks []Addr
	for range count {
		p := a.Alloc(n)
		for i := 0; i < n; i += 4096 {
			Bytes(p, n)[i] = 1
		}
		blocks = append(blocks, p)
	}
	if got := d.Trim(1 << 40); got != 0 {
		t.Errorf("trimmed %d bytes while all is lent", got)
	}
	for _, p := range blocks {
		a.Free(p, n)
	}
	if most, got := 2*hugePage+1, d.Trim(2*hugePage+1); got > most || got < hugePage {
		t.Errorf("trim of at most %d bytes gave %d", most, got)
	}
	if least, got := (count-4)*n-2*hugePage, d.Trim(1<<40); got < least {
		t.Errorf("trimmed: want at least %d, got %d", least, got)
	}
	if got := d.Trim(1 << 40); got != 0 {
		t.Errorf("trimmed %d bytes twice", got)
	}
	p := blocks[count-1]
	stale := Bytes(p, n)[n-4096] // stale, but no fault
	if runtime.GOOS == "linux" && stale != 0 {
		t.Errorf("trimmed memory still holds %d", stale)
	}
	p = a.Alloc(n)
	Bytes(p, n)[0] = 1
	a.Free(p, n)
	if d.Trim(1<<40) == 0 {
		t.Error("memory used again is not trimmed again")
	}
}

func TestValueThatGrowsByteByByte(t *testing.T) {
	d := NewDepot()
	a := New(d)
	most := 1_000_000
	if checked {
		most = 10_000 // each step moves the value then
	}
	p, moves := a.Alloc(1), 0
	Bytes(p, 1)[0] = 1
	for n := 1; n < most; n++ {
		q := a.Resize(p, n, n+1, n)
		if q != p {
			moves++
		}
		p = q
		Bytes(p, n+1)[n] = byte(n + 1)
	}
	for i, got := range Bytes(p, most) {
		if want := byte(i + 1); want != got {
			t.Fatalf("byte %d: want %d, got %d", i, want, got)
		}
	}
	if !checked && moves > 150 {
		t.Errorf("moved %d times", moves)
	}
	a.Free(p, most)
	if got := a.Used(); got != 0 {
		t.Errorf("used %d", got)
	}
}

// Blocks with a mapping of their own are grown by the kernel, behind the depot's back.
func TestLargeBlocksAreCounted(t *testing.T) {
	d := NewDepot()
	a := New(d)
	sizes := []int{17 << 20, 40 << 20, 18 << 20, 90 << 20, 1 << 20, 33 << 20, 17<<20 + 1}
	p, n := a.Alloc(100), 100
	copy(Bytes(p, n), "large")
	for _, to := range sizes {
		p, n = a.Resize(p, n, to, min(n, to)), to
		if want, got := "large", string(Bytes(p, 5)); want != got {
			t.Fatalf("%d bytes: want %q, got %q", n, want, got)
		}
		Bytes(p, n)[n-1] = 1
		if want, got := int64(SizeOf(n)), a.Used(); want != got {
			t.Errorf("%d bytes: used: want %d, got %d", n, want, got)
		}
		if least, got := a.Used(), d.Lent(); got < least || got > least+unitBytes {
			t.Errorf("%d bytes: lent: want about %d, got %d", n, least, got)
		}
	}
	a.Free(p, n)
	if most, got := int64(unitBytes), d.Lent(); got < 0 || got > most {
		t.Errorf("lent after all is freed: want at most %d, got %d", most, got)
	}
	if want, got := int64(0), d.Mapped()%chunkBytes; want != got {
		t.Errorf("mapped: %d bytes that are no chunk", got)
	}
}

func TestArenasShareADepot(t *testing.T) {
	d := NewDepot()
	var wait sync.WaitGroup
	models := []*model{newModel(t, d, 2, 16<<20), newModel(t, d, 3, 16<<20)}
	for _, m := range models {
		wait.Go(func() {
			m.run(rounds(30_000, 1_000_000))
			d.Trim(4 << 20)
			m.run(rounds(10_000, 100_000))
		})
	}
	wait.Wait()
	both := &model{t: t, a: New(d), live: slices.Concat(models[0].live, models[1].live)}
	both.bytes = both.a.Used()
	both.check()
	for _, m := range models {
		m.freeAll()
	}
}

func Example() {
	a := New(NewDepot())
	p := a.Alloc(11)
	copy(Bytes(p, 11), "hello world")
	p = a.Resize(p, 11, 300, 11)
	fmt.Println(string(Bytes(p, 5)), SizeOf(11) <= SizeOf(300))
	a.Free(p, 300)
	fmt.Println(a.Used())
	// Output:
	// hello true
	// 0
}
