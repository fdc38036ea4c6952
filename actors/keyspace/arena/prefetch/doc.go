// Package prefetch asks the processor for cache lines before they are needed. Go has no intrinsic
// for it, so amd64 and arm64 have a few lines of assembly; elsewhere it does nothing.
package prefetch
