package table

import (
	"math/rand/v2"
	"testing"

	"kiln/actors/keyspace/arena"
)

// scanner runs one scan over a model, and knows what it must give.
type scanner struct {
	m      *model
	cursor uint64
	calls  int
	steady map[uint64]int // how often each record was given that was there at the start
}

func (m *model) scan() *scanner {
	s := &scanner{m: m, steady: map[uint64]int{}}
	for _, x := range m.live {
		s.steady[x.id] = 0
	}
	return s
}

// call scans on; false is the end.
func (s *scanner) call(count int) bool {
	s.calls++
	seen, given := 0, s.m.table.Len()
	before := s.cursor
	s.cursor = s.m.table.Scan(s.cursor, count, func(rec arena.Addr) {
		seen++
		id := arena.Load(rec + 8)
		if _, ok := s.steady[id]; ok {
			s.steady[id]++
		}
	})
	if seen > given || seen > count+1016 {
		s.m.t.Fatalf("COUNT %d gave %d records of %d", count, seen, given)
	}
	if s.cursor != 0 && s.cursor>>CursorBits != 0 {
		s.m.t.Fatalf("cursor %#x is wider than %d bits", s.cursor, CursorBits)
	}
	if s.cursor != 0 && unpack(s.cursor).pack() != s.cursor {
		s.m.t.Fatalf("cursor %#x does not unpack", s.cursor)
	}
	if s.cursor == before && before != 0 {
		s.m.t.Fatalf("cursor %#x stands still", s.cursor)
	}
	return s.cursor != 0
}

// end sees that all records that stayed were given, once.
func (s *scanner) end() {
	s.m.t.Helper()
	for _, x := range s.m.live {
		if n, ok := s.steady[x.id]; ok && n != 1 {
			s.m.t.Fatalf("record %d of %d, hash %#x, was given %d times in %d calls",
				x.id, len(s.m.live), x.h, n, s.calls)
		}
	}
}

func TestScanOfAStableTable(t *testing.T) {
	for _, n := range []int{0, 1, 7, 50, 60, 1000, 5000, rounds(20_000, 60_000)} {
		for _, count := range []int{1, 10, 1000, 1 << 62} {
			m := newModel(t, uint64(n), good)
			for range n {
				m.insert()
			}
			s := m.scan()
			for s.call(count) {
			}
			s.end()
			if most := 2*n/count + n/1016 + 2; s.calls > most*10 {
				t.Errorf("COUNT %d of %d took %d calls", count, n, s.calls)
			}
		}
	}
}

// While a scan is under way the table grows from a few records to tens of thousands and shrinks
// again, many times. https://redis.io/docs/latest/commands/scan/ states the promise; ours is
// stronger, since nothing that stays is given twice.
func TestScanWhileTheTableChanges(t *testing.T) {
	shapes := []struct {
		name      string
		hash      func(r *rand.Rand) uint64
		low, high int
		keep      int // records that are never deleted
	}{
		{"small", good, 20, 3000, 20},
		{"large", good, 2000, 40_000, 1000},
		{"mostly steady", good, 25_000, 40_000, 25_000},
		{"to nothing", good, 0, 2500, 0},
		{"skewed", func(r *rand.Rand) uint64 { return r.Uint64() >> r.IntN(12) }, 300, 20_000, 300},
		{"few places", func(r *rand.Rand) uint64 { return r.Uint64() &^ (0xfff << placeShift) }, 50, 5000, 50},
	}
	for i, shape := range shapes {
		t.Run(shape.name, func(t *testing.T) {
			for round := range rounds(2, 60) {
				m := newModel(t, uint64(100*i+round), shape.hash)
				for len(m.live) < shape.keep+m.r.IntN(shape.high) {
					m.insert()
				}
				m.scanWhileChanging(shape.low, shape.high, shape.keep)
			}
		})
	}
}

func (m *model) scanWhileChanging(low, high, keep int) {
	s := m.scan()
	rising := m.r.IntN(2) == 0
	flips, burst, budget := 0, 1<<m.r.IntN(14), rounds(100_000, 5_000_000)
	for s.call(1 << m.r.IntN(8)) {
		for range min(m.r.IntN(burst), budget) {
			budget--
			if len(m.live) >= high {
				rising, flips = false, flips+1
			}
			if len(m.live) <= max(low, keep) {
				rising, flips = true, flips+1
			}
			if rising == (m.r.IntN(10) > 0) {
				m.insert()
			} else if len(m.live) > keep {
				m.deleteAfter(keep)
			}
		}
		if s.calls > 50_000 {
			m.t.Fatalf("no end after %d calls and %d flips, %d records", s.calls, flips, len(m.live))
		}
	}
	s.end()
	m.check()
}

// deleteAfter deletes a record, but none of the first ones.
func (m *model) deleteAfter(keep int) {
	i := keep + m.r.IntN(len(m.live)-keep)
	last := len(m.live) - 1
	m.live[i], m.live[last] = m.live[last], m.live[i]
	m.delete(last)
}

// A client that inserts and deletes the same records between any two calls must not hold up a
// scan, though a segment is split and merged each time.
func TestScanEndsThoughASegmentSplitsEachTime(t *testing.T) {
	for _, count := range []int{1, 10, 100} {
		m := newModel(t, 12, good)
		for range 10 {
			m.insert()
		}
		s := m.scan()
		for s.call(count) {
			n := 10
			if s.calls%2 == 1 {
				n = 2000
			}
			for len(m.live) < n {
				m.insert()
			}
			for len(m.live) > n {
				m.delete(len(m.live) - 1)
			}
			if s.calls > 20_000 {
				t.Fatalf("COUNT %d: no end", count)
			}
		}
		s.end()
	}
}

// A scan begun on a small table and left lying while it grew a hundredfold.
func TestScanOfATableGrownMeanwhile(t *testing.T) {
	m := newModel(t, 13, good)
	for range 800 {
		m.insert()
	}
	s := m.scan()
	s.call(10)
	for len(m.live) < rounds(30_000, 800_000) {
		m.insert()
	}
	for s.call(10) {
		if s.calls > len(m.live) {
			t.Fatal("no end")
		}
	}
	s.end()
	if most := len(m.live)/3 + 1000; s.calls > most {
		t.Errorf("%d records took %d calls with COUNT 10", len(m.live), s.calls)
	}
}

// A cursor comes from a client and may be anything.
func TestScanOfAnyCursor(t *testing.T) {
	for _, n := range []int{0, 1, 1000, 20_000} {
		m := newModel(t, 14, good)
		for range n {
			m.insert()
		}
		for range 300 {
			cursor := m.r.Uint64() >> m.r.IntN(64)
			for calls := 0; ; calls++ {
				if cursor = m.table.Scan(cursor, 1000, func(arena.Addr) {}); cursor == 0 || calls == 3 {
					break
				}
			}
			m.table.Scan(cursor, m.r.IntN(3)-1, func(arena.Addr) {})
		}
	}
}

// A call with COUNT 1 visits few buckets, however empty the table.
func TestScanVisitsFewBuckets(t *testing.T) {
	m := newModel(t, 15, good)
	for range 50_000 {
		m.insert()
	}
	for cursor := uint64(0); ; {
		m.moved = 0
		cursor = m.table.Scan(cursor, 1, func(arena.Addr) {})
		if m.moved > 300 {
			t.Fatalf("COUNT 1 read %d records", m.moved)
		}
		if cursor == 0 {
			break
		}
	}
}
