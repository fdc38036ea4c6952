//go:build !amd64 && !arm64

package prefetch

// Lines does nothing on this processor.
func Lines(*uint64, int) {}

// Spans does nothing on this processor.
func Spans(*uint64, int, int) {}
