package prefetch

import (
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Addresses come from words that another goroutine may be writing, so any must do.
func TestAnyAddressWillDo(t *testing.T) {
	addrs := []uint64{0, 1, 63, 4096, 1<<47 - 1, 1 << 47, 1 << 63, ^uint64(0), 0xdeadbeefdeadbeef}
	for n := range len(addrs) + 1 {
		Lines(&addrs[0], n)
		Spans(&addrs[0], n, 2)
	}
	var word atomic.Uint32
	word.Store(7)
	ForWrite(&word)
	ForWrite(nil)
	if got := word.Load(); got != 7 {
		t.Errorf("a word was changed: want 7, got %d", got)
	}
	Lines(nil, 0)
	Spans(nil, -1, 2)
	if want, got := uint64(4096), addrs[3]; want != got {
		t.Errorf("an address was changed: want %d, got %d", want, got)
	}
}
