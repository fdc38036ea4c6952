//go:build !amd64 && !arm64

package prefetch

// Lines does nothing on this processor.
func Lines(*uint64, int) {}

// Pairs does nothing on this processor.
func Pairs(*uint64, int) {}
