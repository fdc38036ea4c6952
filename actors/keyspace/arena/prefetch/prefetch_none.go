//go:build !amd64 && !arm64

package prefetch

import "sync/atomic"

// Lines does nothing on this processor.
func Lines(*uint64, int) {}

// Spans does nothing on this processor.
func Spans(*uint64, int, int) {}

// ForWrite does nothing on this processor.
func ForWrite(*atomic.Uint32) {}
