// Package table is the index of a space: a hash table of records that lives outside the Go heap
// and grows a bounded piece at a time.
//
// It is an extendible hash table (Fagin et al., 1979): a directory, indexed by the hash's upper
// bits, of segments of at most 8 KB. A full segment first gets larger, then splits in two; an
// empty one gets smaller, then merges with its sibling. One step moves at most 900 slots, about
// 20 us, so no command pays for the whole table.
//
// A segment is an array of buckets of one cache line, eight slots each. A slot is one word:
//
//	63      48 47 46                                3 2   0
//	+---------+--+-----------------------------------+-----+
//	|   tag   |o |          address of a record      |  o  |
//	+---------+--+-----------------------------------+-----+
//
// The tag is 16 bits of the hash, never 0. The four bits o of a bucket's first slot count the
// records that had to pass this bucket since it was full (F14 does so); a look-up goes on to the
// next bucket only where the count is not 0. A count of 15 sticks until the segment is rebuilt.
//
// Numbers: 9 to 14 bytes a key, load 58 to 88 %; a look-up reads the directory and, in 19 of 20
// cases, one line. Buckets are taken in proportion to the hash, so a bucket order is a hash order
// in every size of a segment: a scan's cursor stays valid while the table grows and shrinks.
//
// The hash is trusted: some thousand records whose upper 22 bits are alike make a segment overflow,
// which is a panic. So the hash has to be seeded.
//
// The table knows nothing of keys: it gives candidates, the caller compares.
package table
