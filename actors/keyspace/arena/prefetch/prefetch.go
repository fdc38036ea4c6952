//go:build amd64 || arm64

package prefetch

import "sync/atomic"

// Lines asks for the cache line at each of the n addresses. Any address will do: a prefetch
// never faults.
//
//go:noescape
func Lines(addrs *uint64, n int)

// Spans asks for the given number of cache lines, at least one, from each of the n addresses on.
//
//go:noescape
func Spans(addrs *uint64, n, lines int)

// ForWrite asks for the line of a word that is about to be written, so that no other core has it.
//
//go:noescape
func ForWrite(word *atomic.Uint32)
