//go:build arenacheck

package keyspace

// arenaUnchecked is off, since a block's exact length is checked when it is freed.
const arenaUnchecked = false
