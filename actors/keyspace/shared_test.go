package keyspace

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"kiln/actors/keyspace/arena/prefetch"
)

// What doc.go allows to others while the owner changes the space: its counters and its lines.
func TestOthersReadWhileTheOwnerWrites(t *testing.T) {
	m := newModel(t, 10)
	var done atomic.Bool
	var wait sync.WaitGroup
	for i := range uint64(2) {
		wait.Go(func() {
			r := rand.New(rand.NewPCG(11, i))
			for !done.Load() {
				key := []byte{'k', 'e', 'y', ':', '0' + byte(r.IntN(10)), '0' + byte(r.IntN(10))}
				h := m.s.Hash(key)
				addrs := [2]uint64{m.s.Line(h)}
				if addrs[0] != 0 {
					addrs[1] = Candidate(addrs[0], h)
				}
				prefetch.Lines(&addrs[0], len(addrs))
				if m.s.Len() < 0 || m.s.Timed() < 0 || m.s.NextDeadline() < 0 {
					t.Error("a counter below zero")
				}
			}
		})
	}
	for range rounds(10_000, 200_000) {
		m.step()
	}
	for len(m.names) > 0 {
		key := []byte(m.names[0])
		m.s.Delete(m.find(key))
		m.forget(key)
	}
	done.Store(true)
	wait.Wait()
	m.check()
}

func TestNothingIsAllocated(t *testing.T) {
	if checked {
		t.Skip("the arena keeps a map of its blocks")
	}
	m := newModel(t, 12)
	for range 2000 {
		m.set()
	}
	key, value, long := []byte("key:1"), make([]byte, 256), make([]byte, 5000)
	h := m.s.Hash(key)
	i := 0
	check := func(name string, f func(e Entry)) {
		t.Helper()
		m.s.SetString(m.s.Find(key, h), key, h, []byte("before"), 0, testNow)
		got := testing.AllocsPerRun(500, func() {
			i++
			f(m.s.Find(key, h))
		})
		if got != 0 {
			t.Errorf("%s: %v allocations", name, got)
		}
	}
	check("Find", func(Entry) {})
	check("Touch", func(e Entry) { m.s.Touch(e, testNow+int64(i)*second) })
	check("SetString", func(e Entry) { m.s.SetString(e, key, h, value[:i%256], 0, testNow) })
	check("SetString, an integer", func(e Entry) { m.s.SetString(e, key, h, []byte("12345"), 0, testNow) })
	check("SetString, a big one", func(e Entry) { m.s.SetString(e, key, h, long[:i%5000], 0, testNow) })
	check("SetString, timed", func(e Entry) {
		m.s.SetString(e, key, h, value[:i%256], AtNano(int64(1+i*7%13)), testNow)
	})
	check("SetInt", func(e Entry) { m.s.SetInt(e, key, h, int64(i), KeepDeadline, testNow) })
	check("Grow", func(e Entry) { m.s.Grow(e, e.Len()+20, testNow) })
	check("SetDeadline", func(e Entry) { m.s.SetDeadline(e, AtNano(int64(i%2*(1+i*7%13)))) })
	check("Bytes", func(e Entry) {
		var scratch Scratch
		e.Bytes(&scratch)
	})
	check("Delete and insert", func(e Entry) {
		m.s.Delete(e)
		m.s.SetString(Entry{}, key, h, value, AtNano(5), testNow)
	})
	check("Move there and back", func(e Entry) {
		e = m.s.Move(e, m.s, []byte("other"))
		m.s.Move(e, m.s, key)
	})
	check("Random", func(Entry) { m.s.Random() })
	check("Scan", func(Entry) { m.s.Scan(0, 10, func(Entry) {}) })
}
