package table

import (
	"testing"

	"kiln/actors/keyspace/arena"
)

func nothing(arena.Addr) {}

// Records are put in until there are a million; those of the next table are made outside the time.
func BenchmarkTableInsert(b *testing.B) {
	b.ReportAllocs()
	const most = 1 << 20
	m := newModel(b, 19, good)
	recs := make([]item, most)
	for i := range recs {
		m.insert()
		recs[i] = m.live[i]
	}
	i := 0
	t := New(m.a, m.table.hash)
	for b.Loop() {
		t.Insert(recs[i].h, recs[i].rec)
		if i++; i == most {
			b.StopTimer()
			for t.Drop(1000, nothing) {
			}
			t, i = New(m.a, m.table.hash), 0
			b.StartTimer()
		}
	}
}

func BenchmarkTableSeek(b *testing.B) {
	m := newModel(b, 20, good)
	for range 1 << 20 {
		m.insert()
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		x := &m.live[uint64(i)*0x9e3779b97f4a7c15>>20&(1<<20-1)]
		p := m.table.Seek(x.h)
		if rec, _ := p.Next(); rec == 0 {
			b.Fatal("not found")
		}
	}
}
