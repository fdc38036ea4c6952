// Package prefetch asks the processor for cache lines before they are needed. Go has no intrinsic
// for it, so amd64 and arm64 have a short assembly stub; elsewhere it does nothing.
package prefetch
