package keyspace

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"kiln/actors/keyspace/arena"
)

// checked says that blocks have red zones, so that sizes are not what they are in earnest.
var checked = arena.SizeOf(16) != 16

// What MEMORY USAGE says of all keys should add up to what they take.
func TestMemoryAddsUp(t *testing.T) {
	type dataset struct {
		name  string
		keys  int
		size  func(r *rand.Rand) (key, value int)
		timed int // of 10
		left  int // of 10, when some are deleted again
	}
	fixed := func(key, value int) func(*rand.Rand) (int, int) {
		return func(*rand.Rand) (int, int) { return key, value }
	}
	upTo := func(key, value int) func(*rand.Rand) (int, int) {
		return func(r *rand.Rand) (int, int) { return 9 + r.IntN(key), r.IntN(value) }
	}
	sets := []dataset{
		{"small", 10_000, fixed(16, 16), 0, 10},
		{"small timed", 10_000, fixed(16, 16), 10, 10},
		{"small half timed", 37_000, fixed(16, 16), 5, 10},
		{"tiny", 12_000, fixed(9, 0), 0, 10},
		{"tiny timed", 12_000, fixed(9, 1), 10, 10},
		{"few timed", 15_000, fixed(16, 30), 1, 10},
		{"middle", 20_000, upTo(40, 600), 3, 10},
		{"large", 10_000, upTo(40, 9000), 0, 10},
		{"large timed", 10_000, upTo(300, 9000), 10, 10},
		{"small, half deleted", 40_000, fixed(16, 16), 5, 5},
		{"small, most deleted", 100_000, fixed(16, 16), 10, 1},
	}
	for _, set := range sets {
		t.Run(set.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(6, 6))
			s, a := newSpace(testDepot)
			for i := range set.keys {
				keyLen, n := set.size(r)
				key, value := make([]byte, keyLen), make([]byte, n)
				binary.BigEndian.PutUint64(key, uint64(i))
				deadline := Deadline(0)
				if r.IntN(10) < set.timed {
					deadline = AtMilli(5e12 + r.Int64N(1e9))
				}
				e := s.SetString(Entry{}, key, s.Hash(key), value, deadline, testNow)
				if r.IntN(10) == 0 {
					s.Grow(e, e.Len()+r.IntN(n+1), testNow)
				}
				if r.IntN(10) >= set.left {
					s.Delete(s.Find(key, s.Hash(key)))
				}
			}
			sum, used := memoryOf(s), a.Used()
			if ratio := float64(sum) / float64(used); ratio < 0.97 || ratio > 1.03 {
				t.Errorf("%d keys: the sum of Memory is %.4f of %d used", s.Len(), ratio, used)
			} else {
				t.Logf("%d keys: the sum of Memory is %.4f of %d used", s.Len(), ratio, used)
			}
			for s.Drop(1000) {
			}
		})
	}
}

func memoryOf(s *Space) (sum int64) {
	for cursor := uint64(0); ; {
		cursor = s.Scan(cursor, 100, func(e Entry) { sum += int64(s.Memory(e)) })
		if cursor == 0 {
			return sum
		}
	}
}

// fill puts n keys of 16 bytes with values of 16 bytes in 64 spaces, by the hash's lowest bits.
func fill(spaces []*Space, from, n int) {
	var key, value [16]byte
	for i := from; i < n; i++ {
		binary.BigEndian.PutUint64(key[:], uint64(i))
		h := spaces[0].Hash(key[:])
		spaces[h%64].SetString(Entry{}, key[:], h, value[:], 0, testNow)
	}
}

func TestOverheadOfSmallKeys(t *testing.T) {
	if checked {
		t.Skip("red zones")
	}
	d := arena.NewDepot()
	var spaces []*Space
	var arenas []*arena.Arena
	for range 64 {
		s, a := newSpace(d)
		spaces, arenas = append(spaces, s), append(arenas, a)
	}
	least, most := 100.0, 0.0
	for n, before := 100_000, 0; n <= rounds(200_000, 4_000_000); n, before = n*9/8, n {
		fill(spaces, before, n)
		used := int64(0)
		for _, a := range arenas {
			used += a.Used()
		}
		per := float64(used)/float64(n) - 32
		lent := float64(d.Lent())/float64(n) - 32
		least, most = min(least, per), max(most, per)
		if n < 140_000 || n > 1_800_000 {
			t.Logf("%d keys: %.2f bytes of overhead a key in use, %.2f lent", n, per, lent)
		}
	}
	t.Logf("%.2f to %.2f bytes of overhead a key", least, most)
	if most > 24 {
		t.Errorf("up to %.2f bytes of overhead a key, want at most 24", most)
	}
}

// A deadline costs 32 bytes: 16 in the record, 16 in the heap.
func TestOverheadOfDeadlines(t *testing.T) {
	s, a := newSpace(testDepot)
	const n = 20_000
	for i := range n {
		key := fmt.Appendf(nil, "%016d", i)
		s.SetString(Entry{}, key, s.Hash(key), []byte("a value of 16 b."), 0, testNow)
	}
	before := a.Used()
	for i := range n {
		key := fmt.Appendf(nil, "%016d", i)
		s.SetDeadline(s.Find(key, s.Hash(key)), AtMilli(5e12+int64(i*i%n)))
	}
	if got := float64(a.Used()-before) / n; !checked && got > 33 {
		t.Errorf("a deadline costs %.2f bytes", got)
	}
	for s.Drop(1000) {
	}
}
