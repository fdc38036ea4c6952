package commands

import (
	"math"

	"kiln/actors/keyspace"
)

// Units of time in milliseconds.
const (
	unitSecond = 1000
	unitMilli  = 1
)

// deadline turns an expire argument into a point in time: n in the given unit, from now or
// absolute. Like Redis it refuses what is not above 0 or overflows, except where past is allowed:
// then ok is true and the deadline 0 for a time that is already over.
func (c *Call) deadline(n, unit int64, absolute bool) (d keyspace.Deadline, ok bool) {
	if n <= 0 {
		return 0, false
	}
	if n > math.MaxInt64/unit {
		return 0, false
	}
	ms := n * unit
	if absolute {
		return keyspace.AtMilli(ms), true
	}
	now := c.Now / 1e6
	if ms > math.MaxInt64-now {
		return 0, false
	}
	if ns := math.MaxInt64 - c.Now; ms < ns/1e6 {
		return keyspace.AtNano(c.Now + ms*1e6), true
	}
	return keyspace.AtMilli(now + ms), true
}
