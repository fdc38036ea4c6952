package keyspace

import (
	"kiln/actors/keyspace/arena"
	"kiln/actors/keyspace/table"
)

// CursorBits is the width of a scan's cursor within one space.
const CursorBits = table.CursorBits

// Scan calls each for about count records from the cursor on, expired ones included, and gives
// the next cursor, 0 at the end. A record that is there during a whole scan is given at least
// once. Entries given are for reading: each must not change the space.
func (s *Space) Scan(cursor uint64, count int, each func(Entry)) (next uint64) {
	return s.table.Scan(cursor, count, func(rec arena.Addr) { each(Entry{rec: rec}) })
}
