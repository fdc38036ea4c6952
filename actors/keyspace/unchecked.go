//go:build !arenacheck

package keyspace

// arenaUnchecked allows a record to be overwritten by one of the same size class.
const arenaUnchecked = true
