// Package arena hands out memory that lives outside the Go heap, so that data costs the garbage
// collector nothing.
//
// A [Depot] maps chunks of 32 MB, advised to be huge pages, and lends runs of 32 KB units. Each
// partition has an [Arena] of its own: size classes at most 12.5 % apart, carved from runs
// ("spans"), with one free list per span. Spans that empty go back to the depot, but for two.
// Blocks above 16 MB are mappings of their own.
//
// An arena is not safe for concurrent use; a depot is: it is entered once per span, so its lock
// is off the path of commands. It is the one place of the keyspace that may lock.
//
// The package is not a general allocator: whoever frees a block says how many bytes it asked for,
// since records know their size; no header is spent on it. Under the build tag arenacheck every
// block has a red zone, freed blocks are poisoned, and a wrong free panics.
//
// A depot never unmaps a chunk. So reading through a stale address of a block below 16 MB gives
// stale bytes, never a fault: the event loops rely on it when they prefetch.
package arena
