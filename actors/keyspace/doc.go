// Package keyspace holds one partition's data: a space for each database, each an index of
// records outside the Go heap.
//
// It knows no goroutine, lock, clock, reply or actor: a space is used by one goroutine at a time,
// time (Unix nanoseconds) comes in with each call, and what is returned is data. Only a space's
// counters and the lines given by [Space.Prefetch] may be read by others.
//
// Start with [Entry], which draws a record, and [Space].
//
// Invariants:
//
//  1. A record has one reference, in the table; and one more in the expiry heap if it has a
//     deadline. So it can be moved.
//  2. A record's size follows from its header: it is never stored.
//  3. A method that changes a record may move it. It returns the entry to go on with; the old one
//     is void, and so are all others of the space after an insertion or deletion.
package keyspace
