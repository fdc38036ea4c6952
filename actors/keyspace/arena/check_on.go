//go:build arenacheck

package arena

import "fmt"

const (
	checked = true
	redZone = 64 // so that a multiple of 64 stays one
	canary  = 0xC5
	poison  = 0xDB
)

// shadow knows every live block, so that a wrong free, a write past the end and a second free
// panic where they happen.
type shadow struct {
	live map[Addr]int
}

func (s *shadow) allocated(p Addr, n int) {
	if s.live == nil {
		s.live = map[Addr]int{}
	}
	if old, ok := s.live[p]; ok {
		panic(fmt.Sprintf("arena: %#x (%d bytes) handed out twice", uint64(p), old))
	}
	s.live[p] = n
	fill(p, n-redZone, poison)
	fill(p+Addr(n-redZone), redZone, canary)
}

func (s *shadow) freed(p Addr, n int) {
	s.verify(p, n)
	delete(s.live, p)
	fill(p, n, poison)
}

// verify panics unless the block is handed out, has n bytes and was not written past its end.
func (s *shadow) verify(p Addr, n int) {
	old, ok := s.live[p]
	if !ok {
		panic(fmt.Sprintf("arena: %#x freed, but it is not handed out", uint64(p)))
	}
	if old != n {
		panic(fmt.Sprintf("arena: %#x has %d bytes, freed as %d", uint64(p), old-redZone, n-redZone))
	}
	for i, b := range Bytes(p+Addr(n-redZone), redZone) {
		if b != canary {
			panic(fmt.Sprintf("arena: %#x written %d past its %d bytes", uint64(p), i, n-redZone))
		}
	}
}

func fill(p Addr, n int, with byte) {
	b := Bytes(p, n)
	for i := range b {
		b[i] = with
	}
}
