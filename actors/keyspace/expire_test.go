package keyspace

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestDeadlinesBeyondNanoseconds(t *testing.T) {
	const endMilli = math.MaxInt64 / nanoMilli // the last in nanoseconds: April 2262
	times := []int64{
		1, 2, 999, 1000, 1_700_000_000_000, endMilli - 1, endMilli, endMilli + 1, endMilli + 2,
		1e13, 253402300799999, 1e15, 1e18, math.MaxInt64 - 1, math.MaxInt64,
	}
	last := Deadline(0)
	for _, ms := range times {
		d := AtMilli(ms)
		if d <= last || d == KeepDeadline {
			t.Errorf("%d ms: deadline %#x after %#x", ms, d, last)
		}
		last = d
		if got := d.Milli(); ms != got {
			t.Errorf("milliseconds: want %d, got %d", ms, got)
		}
		if want := ms > endMilli; want != (d.Nano() == math.MaxInt64) || !want && d.Nano() != ms*nanoMilli {
			t.Errorf("%d ms are %d ns", ms, d.Nano())
		}
		if d.Passed(d.Nano()) || ms <= endMilli && !d.Passed(d.Nano()+1) || d.Passed(0) {
			t.Errorf("%d ms: passed at the wrong time", ms)
		}
	}
}

func TestMilliRoundsUp(t *testing.T) {
	cases := []struct{ ns, ms int64 }{
		{1, 1}, {999_999, 1}, {1_000_000, 1}, {1_000_001, 2}, {math.MaxInt64, 9_223_372_036_855},
	}
	for _, c := range cases {
		if got := AtNano(c.ns).Milli(); c.ms != got {
			t.Errorf("%d ns: want %d ms, got %d", c.ns, c.ms, got)
		}
	}
}

// The heap against the model, with deadlines that rise, fall, are all alike or random.
func TestHeapGivesTheEarliest(t *testing.T) {
	orders := map[string]func(r *rand.Rand, i int) int64{
		"rising":  func(_ *rand.Rand, i int) int64 { return int64(i) },
		"falling": func(_ *rand.Rand, i int) int64 { return int64(1<<20 - i) },
		"alike":   func(*rand.Rand, int) int64 { return 7 },
		"random":  func(r *rand.Rand, _ int) int64 { return r.Int64N(1 << 20) },
	}
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			m := newModel(t, 8)
			n := rounds(3000, 100_000)
			for i := range n {
				m.put(m.numbered(i), []byte("v"), AtNano(1+order(m.r, i)))
			}
			checkHeap(t, &m.s.expiry)
			for i := range n / 2 {
				key := m.numbered(m.r.IntN(n))
				e := m.find(key)
				v := m.want[string(key)]
				v.deadline = AtNano(1 + order(m.r, i))
				m.s.SetDeadline(e, v.deadline)
			}
			checkHeap(t, &m.s.expiry)
			last, count := Deadline(0), 0
			for e := m.s.Due(1 << 21); e.Exists(); e = m.s.Due(1 << 21) {
				if d := e.Deadline(); d < last {
					t.Fatalf("deadline %d after %d", d, last)
				} else {
					last = d
				}
				m.forget(e.Key())
				m.s.Delete(e)
				if count++; count%(n/10) == 0 {
					m.check()
				}
			}
			if n != count || len(m.s.expiry.blocks) != 0 {
				t.Errorf("%d of %d came due; %d blocks are left", count, n, len(m.s.expiry.blocks))
			}
		})
	}
}

func (m *model) numbered(i int) []byte { return []byte{byte(i), byte(i >> 8), byte(i >> 16), 'k'} }

// A key at the border of a block of the heap should not visit the arena each time.
func TestHeapKeepsABlockSpare(t *testing.T) {
	m := newModel(t, 9)
	for i := range blockNodes {
		m.put(m.numbered(i), []byte("v"), AtNano(int64(1+i)))
	}
	blocks := func(want int) {
		t.Helper()
		if got := len(m.s.expiry.blocks); want != got {
			t.Errorf("blocks: want %d, got %d", want, got)
		}
	}
	blocks(1)
	m.put(m.numbered(blockNodes), []byte("v"), 9)
	blocks(2)
	m.s.Delete(m.find(m.numbered(blockNodes)))
	m.s.Delete(m.find(m.numbered(blockNodes - 1)))
	blocks(2)
	for i := range blockNodes - 1 {
		m.s.Delete(m.find(m.numbered(i)))
	}
	blocks(0)
}
