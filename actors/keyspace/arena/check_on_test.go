//go:build arenacheck

package arena

import (
	"strings"
	"testing"
)

func panics(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		got, _ := recover().(string)
		if !strings.Contains(got, want) {
			t.Errorf("want a panic with %q, got %q", want, got)
		}
	}()
	f()
}

func TestWrongUsePanics(t *testing.T) {
	for _, n := range []int{1, 8, 40, 64, 1000, 100_000, 300_000, 17 << 20} {
		a := New(NewDepot())
		p := a.Alloc(n)
		panics(t, "freed as", func() { a.Free(p, n+1) })
		panics(t, "freed as", func() { a.Free(p, max(n-1, 0)) })
		panics(t, "not handed out", func() { a.Free(p+8, n) })
		panics(t, "not handed out", func() { New(NewDepot()).Free(p, n) })
		over := Bytes(p, n+1)
		over[n]++
		panics(t, "written", func() { a.Free(p, n) })
		over[n]--
		a.Free(p, n)
		panics(t, "not handed out", func() { a.Free(p, n) })
		panics(t, "not handed out", func() { a.Resize(p, n, 2*n, n) })
	}
}

func TestFreedBlocksArePoisoned(t *testing.T) {
	a := New(NewDepot())
	p := a.Alloc(100)
	clear(Bytes(p, 100))
	a.Free(p, 100)
	if got := Bytes(p, 100)[50]; got != poison {
		t.Errorf("want %#x, got %#x", poison, got)
	}
}
