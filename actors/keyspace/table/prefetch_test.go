package table

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"kiln/actors/keyspace/arena"
	"kiln/actors/keyspace/arena/prefetch"
)

// Event loops ask for lines and candidates while a partition's runner changes the table.
func TestPrefetchWhileTheOwnerMutates(t *testing.T) {
	m := newModel(t, 16, good)
	var done atomic.Bool
	var wait sync.WaitGroup
	for i := range 2 {
		wait.Go(func() {
			r := rand.New(rand.NewPCG(17, uint64(i)))
			var lines, recs [16]uint64
			for !done.Load() {
				for i := range lines {
					h := r.Uint64()
					lines[i] = uint64(m.table.Line(h))
					if line := arena.Addr(lines[i]); line != 0 {
						recs[i] = uint64(Candidate(line, h))
					}
				}
				prefetch.Lines(&lines[0], len(lines))
				prefetch.Lines(&recs[0], len(recs))
			}
		})
	}
	for range rounds(1, 30) {
		for range 20_000 {
			m.step(85)
		}
		for range 40_000 {
			m.step(15)
		}
	}
	m.drain(true)
	done.Store(true)
	wait.Wait()
}

// At rest, a candidate is what a look-up finds first.
func TestCandidateIsFound(t *testing.T) {
	m := newModel(t, 18, good)
	if got := m.table.Line(1); got != 0 {
		t.Errorf("an empty table has a line at %#x", got)
	}
	for range 20_000 {
		m.insert()
	}
	hits := 0
	for _, x := range m.live {
		p := m.table.Seek(x.h)
		first, _ := p.Next()
		if got := Candidate(m.table.Line(x.h), x.h); got == x.rec {
			hits++
		} else if got != 0 && got != first {
			t.Fatalf("candidate %#x, but a look-up finds %#x first", got, first)
		}
	}
	if least := len(m.live) * 9 / 10; hits < least {
		t.Errorf("%d of %d candidates were right", hits, len(m.live))
	}
}
