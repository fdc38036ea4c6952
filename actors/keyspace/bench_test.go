package keyspace

import (
	"encoding/binary"
	"syscall"
	"testing"

	"kiln/actors/keyspace/arena"
)

const benchKeys = 1 << 20

// cpu is the processor time used so far, in nanoseconds: on a machine shared with others it lies
// less than the time on the wall.
func cpu() int64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}

func reportCPU(b *testing.B, since int64) {
	b.ReportMetric(float64(cpu()-since)/float64(b.N), "cpu-ns/op")
}

// cold gives the keys 0 to n-1 in an order that no cache foresees. n is a power of two.
func cold(i, n int) int { return int(uint64(i) * 0x9e3779b97f4a7c15 >> 20 & uint64(n-1)) }

func benchKey(key *[16]byte, i int) []byte {
	copy(key[:], "bench:ke")
	binary.BigEndian.PutUint64(key[8:], uint64(i))
	return key[:]
}

func benchSpace(b *testing.B, n, value int, deadline Deadline) (*Space, *arena.Arena) {
	b.Helper()
	s, a := newSpace(testDepot)
	bytes := make([]byte, value)
	var key [16]byte
	for i := range n {
		k := benchKey(&key, i)
		s.SetString(Entry{}, k, s.Hash(k), bytes, deadline, testNow)
	}
	b.Cleanup(func() {
		for s.Drop(1000) {
		}
	})
	return s, a
}

// A million keys of 256 B do not fit a cache: a look-up waits for memory about twice.
func BenchmarkSpaceFind(b *testing.B) {
	s, _ := benchSpace(b, benchKeys, 256, 0)
	run := func(name string, from, mask int) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var key [16]byte
			found, i := 0, 0
			since := cpu()
			for b.Loop() {
				i++
				k := benchKey(&key, from+cold(i, benchKeys)&mask)
				if s.Find(k, s.Hash(k)).Exists() {
					found++
				}
			}
			reportCPU(b, since)
			if (found == 0) != (from > 0) {
				b.Fatalf("%d of %d found", found, i)
			}
		})
	}
	run("hit", 0, benchKeys-1)
	run("miss", benchKeys, benchKeys-1)
	run("hot", 0, 1023)
}

func BenchmarkSpaceSetString(b *testing.B) {
	s, _ := benchSpace(b, benchKeys, 256, 0)
	value := make([]byte, 256)
	run := func(name string, mask int) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var key [16]byte
			i := 0
			since := cpu()
			for b.Loop() {
				i++
				k := benchKey(&key, cold(i, benchKeys)&mask)
				h := s.Hash(k)
				s.SetString(s.Find(k, h), k, h, value, 0, testNow)
			}
			reportCPU(b, since)
		})
	}
	run("overwrite", benchKeys-1)
	run("overwrite hot", 1023)
}

// Keys are put in until there are a million, and all deleted again, outside the time.
func BenchmarkSpaceInsert(b *testing.B) {
	b.ReportAllocs()
	s, _ := newSpace(testDepot)
	value := make([]byte, 16)
	var key [16]byte
	i := 0
	for b.Loop() {
		k := benchKey(&key, i)
		h := s.Hash(k)
		s.SetString(s.Find(k, h), k, h, value, 0, testNow)
		if i++; i == benchKeys {
			b.StopTimer()
			for s.Drop(1000) {
			}
			s, _ = newSpace(testDepot)
			i = 0
			b.StartTimer()
		}
	}
	for s.Drop(1000) {
	}
}

func BenchmarkSpaceDelete(b *testing.B) {
	b.ReportAllocs()
	s, _ := benchSpace(b, benchKeys, 16, 0)
	var key [16]byte
	i, value := 0, make([]byte, 16)
	for b.Loop() {
		k := benchKey(&key, cold(i, benchKeys))
		if e := s.Find(k, s.Hash(k)); e.Exists() {
			s.Delete(e)
		}
		if i++; i%benchKeys == 0 {
			b.StopTimer()
			for j := range benchKeys {
				k := benchKey(&key, j)
				s.SetString(s.Find(k, s.Hash(k)), k, s.Hash(k), value, 0, testNow)
			}
			b.StartTimer()
		}
	}
}

// Half a million keys with a deadline; each turn takes out the one that is due and puts in
// another, which is due last.
func BenchmarkSpaceExpire(b *testing.B) {
	b.ReportAllocs()
	s, _ := newSpace(testDepot)
	value := make([]byte, 16)
	var key [16]byte
	put := func(i int) {
		k := benchKey(&key, i)
		s.SetString(Entry{}, k, s.Hash(k), value, AtNano(int64(1+i)), testNow)
	}
	i := 0
	for ; i < benchKeys/2; i++ {
		put(i)
	}
	since := cpu()
	for b.Loop() {
		s.Delete(s.Due(1 << 60))
		put(i)
		i++
	}
	reportCPU(b, since)
	for s.Drop(1000) {
	}
}

func BenchmarkSpaceSetDeadline(b *testing.B) {
	s, _ := benchSpace(b, benchKeys/2, 16, AtNano(1<<60))
	b.ReportAllocs()
	var key [16]byte
	i := 0
	since := cpu()
	for b.Loop() {
		i++
		k := benchKey(&key, cold(i, benchKeys/2))
		s.SetDeadline(s.Find(k, s.Hash(k)), AtNano(int64(1<<59+i)))
	}
	reportCPU(b, since)
}

func BenchmarkSpaceGrow(b *testing.B) {
	b.ReportAllocs()
	s, _ := newSpace(testDepot)
	key := []byte("key")
	h := s.Hash(key)
	n := 10
	e := s.SetString(Entry{}, key, h, make([]byte, n), 0, testNow)
	since := cpu()
	for b.Loop() {
		if n++; n > 1000 {
			n = 10
			e = s.SetString(e, key, h, make([]byte, n), 0, testNow)
		}
		e, _ = s.Grow(e, n, testNow)
	}
	reportCPU(b, since)
	s.Delete(e)
}
