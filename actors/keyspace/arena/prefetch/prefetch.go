//go:build amd64 || arm64

package prefetch

// Lines asks for the cache line at each of the n addresses. Any address will do: a prefetch
// never faults.
//
//go:noescape
func Lines(addrs *uint64, n int)

// Pairs asks for the cache line at each of the n addresses and for the one after it.
//
//go:noescape
func Pairs(addrs *uint64, n int)
