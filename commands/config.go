package commands

import (
	"sync/atomic"

	"kiln/actors/keyspace"
)

// Config is what an operator sets. What is read on the way of a command is in atomics.
type Config struct {
	Databases  int
	BulkMax    atomic.Int64 // proto-max-bulk-len
	QueryMax   atomic.Int64 // client-query-buffer-limit
	MaxClients atomic.Int64
	Password   atomic.Pointer[string] // requirepass, nil for none
	ActiveOff  atomic.Bool            // DEBUG SET-ACTIVE-EXPIRE 0
	Keyspace   *keyspace.Settings
}

// NewConfig returns the defaults.
func NewConfig() *Config {
	c := &Config{Databases: 16, Keyspace: keyspace.NewSettings()}
	c.BulkMax.Store(512 << 20)
	c.QueryMax.Store(1 << 30)
	c.MaxClients.Store(10000)
	return c
}
