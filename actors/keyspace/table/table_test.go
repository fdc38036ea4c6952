package table

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"kiln/actors/keyspace/arena"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rounds gives the number of operations of a model test: many with KILN_LONG=1.
func rounds(short, long int) int {
	if os.Getenv("KILN_LONG") != "" {
		return long
	}
	return short
}

// A record of these tests: its hash, then its number.
const recordBytes = 16

// item is what the model knows of a record.
type item struct {
	h, id uint64
	rec   arena.Addr
}

// model is a table and what should be in it.
type model struct {
	t     testing.TB
	a     *arena.Arena
	table *Table
	r     *rand.Rand
	hash  func(r *rand.Rand) uint64
	live  []item
	ids   uint64
	moved int // records hashed since it was reset: those that a step moved
	worst int
}

func good(r *rand.Rand) uint64 { return r.Uint64() }

func newModel(t testing.TB, seed uint64, hash func(r *rand.Rand) uint64) *model {
	m := &model{
		t: t, a: arena.New(arena.NewDepot()), hash: hash, r: rand.New(rand.NewPCG(seed, 2)),
	}
	m.table = New(m.a, func(rec arena.Addr) uint64 {
		m.moved++
		return arena.Load(rec)
	})
	return m
}

func (m *model) insert() {
	m.ids++
	x := item{h: m.hash(m.r), id: m.ids, rec: m.a.Alloc(recordBytes)}
	arena.Store(x.rec, x.h)
	arena.Store(x.rec+8, x.id)
	m.moved = 0
	slot := m.table.Insert(x.h, x.rec)
	m.worst = max(m.worst, m.moved)
	if want, got := x.rec, Record(slot); want != got {
		m.t.Fatalf("record at the slot of an insertion: want %#x, got %#x", want, got)
	}
	m.live = append(m.live, x)
}

// find gives the slot of a record, 0 if the table has none of that hash and number.
func (m *model) find(h, id uint64) Slot {
	for p := m.table.Seek(h); ; {
		rec, slot := p.Next()
		if rec == 0 {
			return 0
		}
		if arena.Load(rec) == h && arena.Load(rec+8) == id {
			return slot
		}
	}
}

func (m *model) lookup(i int) Slot {
	x := m.live[i]
	slot := m.find(x.h, x.id)
	if slot == 0 || Record(slot) != x.rec {
		m.t.Fatalf("record %d with hash %#x of %d is not found", x.id, x.h, len(m.live))
	}
	return slot
}

func (m *model) delete(i int) {
	slot, x := m.lookup(i), m.live[i]
	m.moved = 0
	m.table.Delete(x.h, slot)
	m.worst = max(m.worst, m.moved)
	m.a.Free(x.rec, recordBytes)
	m.live[i] = m.live[len(m.live)-1]
	m.live = m.live[:len(m.live)-1]
}

// replace moves a record in memory.
func (m *model) replace(i int) {
	slot := m.lookup(i)
	x := &m.live[i]
	rec := m.a.Alloc(recordBytes)
	arena.Move(rec, x.rec, recordBytes)
	Replace(slot, rec)
	m.a.Free(x.rec, recordBytes)
	x.rec = rec
}

// step does something at random; grow of 100 is how often that is an insertion.
func (m *model) step(grow int) {
	switch k := m.r.IntN(200); {
	case k < grow || len(m.live) == 0:
		m.insert()
	case k < 100:
		m.delete(m.r.IntN(len(m.live)))
	case k < 150:
		m.lookup(m.r.IntN(len(m.live)))
	case k < 190:
		if h := m.hash(m.r); m.find(h, 0) != 0 {
			m.t.Fatalf("a record that is not there was found")
		}
	default:
		m.replace(m.r.IntN(len(m.live)))
	}
}

func (m *model) run(ops, grow int) {
	for range ops {
		m.step(grow)
	}
	m.check()
}

// check holds the table to its own invariants, and to the model.
func (m *model) check() {
	t := m.t
	t.Helper()
	d := m.table.dir.Load()
	if len(d.entries) != 1<<d.depth {
		t.Fatalf("a directory of depth %d has %d entries", d.depth, len(d.entries))
	}
	count, bytes, deep := 0, int64(0), 0
	for i := 0; i < len(d.entries); {
		e := d.entries[i]
		n := 1 << (d.depth - depthOf(e))
		if i%n != 0 {
			t.Fatalf("a segment of depth %d begins at %d of %d", depthOf(e), i, len(d.entries))
		}
		for k := i; k < i+n; k++ {
			if d.entries[k] != e {
				t.Fatalf("entries %d and %d of one segment differ", i, k)
			}
		}
		if depthOf(e) == d.depth {
			deep++
		}
		if e != 0 {
			count += m.checkSegment(e, uint64(i)<<(64-d.depth))
			bytes += int64(linesOf(e) * lineBytes)
		}
		i += n
	}
	if want := len(m.live); want != count || want != m.table.Len() {
		t.Fatalf("records: want %d, got %d, Len %d", want, count, m.table.Len())
	}
	if want, got := bytes, m.table.Bytes(); want != got {
		t.Fatalf("bytes: want %d, got %d", want, got)
	}
	if want, got := deep, m.table.deep; want != got {
		t.Fatalf("segments of depth %d: want %d, got %d", d.depth, want, got)
	}
	for i := range m.live {
		m.lookup(i)
	}
	blocks := int64(len(m.live) * arena.SizeOf(recordBytes))
	if want, got := blocks+bytes, m.a.Used(); redFree && want != got {
		t.Fatalf("the arena has %d bytes in use, want %d", got, want)
	}
}

// redFree says that blocks have no red zones, so that sizes are what they seem.
var redFree = arena.SizeOf(16) == 16

func (m *model) checkSegment(e, prefix uint64) (count int) {
	m.t.Helper()
	seg, buckets, depth := segmentOf(e), bucketsOf(e), depthOf(e)
	if seg%lineBytes != 0 {
		m.t.Fatalf("segment at %#x", seg)
	}
	passed := make([]int, buckets)
	walk(e, func(s Slot, rec arena.Addr) {
		count++
		h := arena.Load(rec)
		if depth > 0 && h>>(64-depth) != prefix>>(64-depth) {
			m.t.Fatalf("hash %#x in the segment of %#x, depth %d", h, prefix, depth)
		}
		for b := home(h, buckets); b != uint64(s-seg-lineBytes)/lineBytes; b = (b + 1) % buckets {
			passed[b]++
		}
	})
	gone := uint64(0)
	for b, n := range passed {
		got := int(overflow(lineOf(seg, uint64(b))))
		if got != n && got != countStuck {
			m.t.Fatalf("bucket %d was passed by %d, its count is %d", b, n, got)
		}
		if got == countStuck {
			gone++
		}
	}
	if want, got := gone, arena.Load(seg+headGone); want != got {
		m.t.Fatalf("counts that stuck: want %d, got %d", want, got)
	}
	if want, got := uint64(count), arena.Load(seg+headCount); want != got {
		m.t.Fatalf("records in a segment: want %d, got %d", want, got)
	}
	return count
}

// drain deletes all, last first or at random.
func (m *model) drain(random bool) {
	for len(m.live) > 0 {
		i := len(m.live) - 1
		if random {
			i = m.r.IntN(len(m.live))
		}
		m.delete(i)
	}
	m.check()
	if most, got := int64(sizes[0]*lineBytes), m.table.Bytes(); got > most {
		m.t.Errorf("an emptied table has %d bytes, want %d", got, most)
	}
	if want, got := 1, len(m.table.dir.Load().entries); want != got {
		m.t.Errorf("an emptied table has a directory of %d", got)
	}
}

func TestTableKeepsItsRecords(t *testing.T) {
	m := newModel(t, 1, good)
	n := rounds(40_000, 2_500_000)
	for _, grow := range []int{90, 50, 10, 60, 52, 48, 20} {
		m.run(n, grow)
	}
	m.drain(true)
	m.run(n/4, 80)
	m.drain(false)
	if most := 1000; m.worst > most {
		t.Errorf("one step moved %d records, want at most %d", m.worst, most)
	}
	t.Logf("at most %d records moved in one step", m.worst)
}

// Records deleted in the order of a scan leave empty segments behind each other.
func TestTableShrinksInAnyOrder(t *testing.T) {
	orders := map[string]func(x item) uint64{
		"rising":  func(x item) uint64 { return x.h },
		"falling": func(x item) uint64 { return ^x.h },
		"place":   func(x item) uint64 { return placeOf(x.h) },
		"far":     func(x item) uint64 { return x.h * 0x9e3779b97f4a7c15 },
	}
	for name, by := range orders {
		t.Run(name, func(t *testing.T) {
			m := newModel(t, 3, good)
			for range rounds(20_000, 500_000) {
				m.insert()
			}
			slices.SortFunc(m.live, func(x, y item) int { // the last one goes first
				return cmp.Compare(by(y), by(x))
			})
			m.drain(false)
			if most := 1000; m.worst > most {
				t.Errorf("one step moved %d records, want at most %d", m.worst, most)
			}
		})
	}
}

func TestBadHashes(t *testing.T) {
	const limit = 700 // records alike in some bits that a table bears without effort
	few := func(bits uint64) func(r *rand.Rand) uint64 {
		return func(r *rand.Rand) uint64 { return r.Uint64() & bits }
	}
	hashes := []struct {
		name string
		most int
		hash func(r *rand.Rand) uint64
	}{
		{"upper bits alike", limit, few(1<<42 - 1)},
		{"places alike", 50_000, few(^uint64(0xffff << placeShift))},
		{"tags alike", 50_000, few(^uint64(0xffff << tagShift))},
		{"lower half alike", 50_000, few(^uint64(1<<32 - 1))},
		{"two values", limit, func(r *rand.Rand) uint64 { return uint64(r.IntN(2)) << 63 }},
		{"all alike", limit, few(0)},
		{"all ones", limit, func(*rand.Rand) uint64 { return ^uint64(0) }},
	}
	for _, c := range hashes {
		t.Run(c.name, func(t *testing.T) {
			m := newModel(t, 4, c.hash)
			for range min(c.most, rounds(2_000, c.most)) {
				m.insert()
			}
			m.check()
			for i := range rounds(1_500, 30_000) {
				m.step(80 - 60*min(1, len(m.live)/c.most))
				if i%500 == 0 {
					m.check()
				}
			}
			m.drain(true)
		})
	}
}

// A split may put all records of a full segment in one half.
func TestSplitInUnequalParts(t *testing.T) {
	for _, bits := range []uint{1, 2, 5, 12} {
		m := newModel(t, 5, func(r *rand.Rand) uint64 { return r.Uint64() >> bits })
		for range 5000 {
			m.insert()
		}
		m.check()
		m.drain(true)
	}
}

func TestTooManyAlikePanics(t *testing.T) {
	m := newModel(t, 6, func(r *rand.Rand) uint64 { return r.Uint64() & (1<<42 - 1) })
	defer func() {
		if got := fmt.Sprint(recover()); !strings.Contains(got, "overflows") {
			t.Errorf("want a panic of overflow, got %q", got)
		}
		if least := 1000; len(m.live) < least {
			t.Errorf("overflow at %d records, want at least %d", len(m.live), least)
		}
	}()
	for range 2000 {
		m.insert()
	}
}

// The numbers of doc.go.
func TestBytesPerKey(t *testing.T) {
	m := newModel(t, 7, good)
	least, most := 100.0, 0.0
	next := 1000
	for n := 1; n <= rounds(100_000, 4_000_000); n++ {
		m.insert()
		if n < next {
			continue
		}
		next += next / 50
		per := float64(m.table.Bytes()) / float64(n)
		if n >= 10_000 {
			least, most = min(least, per), max(most, per)
		}
	}
	t.Logf("%.1f to %.1f bytes a key; at most %d records moved in one insertion", least, most, m.worst)
	if least < 9 || most > 14 {
		t.Errorf("%.1f to %.1f bytes a key, want 9 to 14", least, most)
	}
	sum, lines, probes := 0, 0, 0
	for _, x := range m.live {
		sum += m.table.Share(x.h)
		if seen := m.linesTo(x); seen > 1 {
			lines += seen - 1
			probes++
		}
	}
	n := float64(len(m.live))
	t.Logf("%.3f of lookups read a second line, %.3f lines a lookup", float64(probes)/n, 1+float64(lines)/n)
	if share := float64(sum) / float64(m.table.Bytes()); redFree && (share < 0.98 || share > 1.02) {
		t.Errorf("the shares of all records make up %.3f of the table", share)
	}
}

// linesTo counts the lines that a look-up reads.
func (m *model) linesTo(x item) int {
	e := m.table.entry(x.h)
	b := home(x.h, bucketsOf(e))
	at := uint64(m.find(x.h, x.id)-segmentOf(e)-lineBytes) / lineBytes
	return int((at+bucketsOf(e)-b)%bucketsOf(e)) + 1
}

func TestRandomIsRoughlyUniform(t *testing.T) {
	for _, n := range []int{1, 5, 100, rounds(3000, 20_000)} {
		m := newModel(t, 8, good)
		for range n {
			m.insert()
		}
		m.uniform(n)
	}
	// A table that has shrunk is sparse.
	m := newModel(t, 9, good)
	for range 30_000 {
		m.insert()
	}
	for len(m.live) > 2000 {
		m.delete(m.r.IntN(len(m.live)))
	}
	m.uniform(2000)
}

func (m *model) uniform(n int) {
	const draws = 120
	got := map[arena.Addr]int{}
	for range n * draws {
		rec, slot := m.table.Random(m.r.Uint64)
		if rec == 0 || Record(slot) != rec {
			m.t.Fatalf("of %d: record %#x at a slot of %#x", n, rec, Record(slot))
		}
		got[rec]++
	}
	if len(got) != n {
		m.t.Errorf("of %d records %d were drawn", n, len(got))
	}
	for _, x := range m.live {
		if k := got[x.rec]; k < draws*2/5 || k > draws*5/2 {
			m.t.Errorf("of %d: a record was drawn %d times, want about %d", n, k, draws)
			return
		}
	}
}

func TestRandomOfAnEmptyTable(t *testing.T) {
	m := newModel(t, 10, good)
	if rec, _ := m.table.Random(m.r.Uint64); rec != 0 {
		t.Errorf("got %#x", rec)
	}
	m.insert()
	m.delete(0)
	if rec, _ := m.table.Random(m.r.Uint64); rec != 0 {
		t.Errorf("got %#x", rec)
	}
}

func TestDropFreesAll(t *testing.T) {
	m := newModel(t, 11, good)
	const n = 20_000
	for range n {
		m.insert()
	}
	given, calls := 0, 0
	for more := true; more; calls++ {
		before := given
		more = m.table.Drop(3, func(rec arena.Addr) {
			given++
			m.a.Free(rec, recordBytes)
		})
		if given-before > 3*1016 {
			t.Errorf("one call dropped %d records", given-before)
		}
		if want, got := n-given, m.table.Len(); want != got {
			t.Fatalf("records left: want %d, got %d", want, got)
		}
	}
	if given != n || calls < n/3/1016 {
		t.Errorf("%d records of %d dropped in %d calls", given, n, calls)
	}
	if used, bytes := m.a.Used(), m.table.Bytes(); used != 0 || bytes != 0 {
		t.Errorf("in use: %d, table %d", used, bytes)
	}
	if New(m.a, nil).Drop(1, nil) {
		t.Error("an empty table has nothing to drop")
	}
}
