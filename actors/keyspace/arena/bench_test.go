package arena

import (
	"strconv"
	"sync"
	"testing"
)

func BenchmarkAllocFree(b *testing.B) {
	for _, n := range []int{40, 300, 5000, 200_000, 1 << 20} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			a := New(NewDepot())
			keep := a.Alloc(n)
			b.ReportAllocs()
			for b.Loop() {
				a.Free(a.Alloc(n), n)
			}
			a.Free(keep, n)
		})
	}
}

// The states of two spans should not share a cache line if their arenas are on two cores.
func BenchmarkTwoArenas(b *testing.B) {
	d := NewDepot()
	arenas := [2]*Arena{New(d), New(d)}
	var wait sync.WaitGroup
	for _, a := range arenas {
		a.Alloc(40)
	}
	b.ResetTimer()
	for _, a := range arenas {
		wait.Go(func() {
			for range b.N {
				a.Free(a.Alloc(40), 40)
			}
		})
	}
	wait.Wait()
}
