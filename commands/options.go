package commands

import (
	"math"

	"kiln/actors/keyspace"
	"kiln/wire/resp"
)

// Units of time in milliseconds.
const (
	unitSecond = 1000
	unitMilli  = 1
)

// deadline turns an expire argument into a point in time: n in the given unit, from now or
// absolute; an absolute one may be over already. Like Redis it refuses what is not above 0 or
// overflows. EXPIRE and its kin, which take any time that is over, ask expireAt.
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

// index reads a number that names a database, as far as C's int goes; anything else fails with
// bad, or with the usual texts if that is empty. Whether there is such a database is asked later.
func (a *Args) index(bad ...resp.Error) int {
	n := a.Int(bad...)
	if n != int64(int32(n)) {
		a.Fail(append(bad, errIntRange)[0])
	}
	return int(n)
}

// hasDB tells whether there is such a database.
func (c *Call) hasDB(n int) bool { return n >= 0 && n < c.Server.Config.Databases }

// expiry is the option group EX | PX | EXAT | PXAT | KEEPTTL | PERSIST, of which one may be given.
type expiry struct {
	kind   expiryKind
	amount []byte
}

type expiryKind uint8

const (
	expiryNone expiryKind = iota
	expiryKeep
	expiryPersist
	expiryEX
	expiryPX
	expiryEXAT
	expiryPXAT
)

var expiryTimes = [...]struct {
	kind    expiryKind
	keyword string
}{{expiryEX, "EX"}, {expiryPX, "PX"}, {expiryEXAT, "EXAT"}, {expiryPXAT, "PXAT"}}

// is reads a keyword of the group, unless another one was there before it. The same one again is
// taken, as in Redis; where it counts it replaces the first.
func (x *expiry) is(a *Args, kind expiryKind, keyword string) bool {
	if x.kind != expiryNone && x.kind != kind || !a.Is(keyword) {
		return false
	}
	x.kind = kind
	return true
}

// keeps reads KEEPTTL.
func (x *expiry) keeps(a *Args) bool { return x.is(a, expiryKeep, "KEEPTTL") }

// persists reads PERSIST.
func (x *expiry) persists(a *Args) bool { return x.is(a, expiryPersist, "PERSIST") }

// times reads one of the four options that name a time.
func (x *expiry) times(a *Args) bool {
	for i := range expiryTimes {
		if t := &expiryTimes[i]; x.is(a, t.kind, t.keyword) {
			x.amount = a.Next()
			return true
		}
	}
	return false
}

// timed reports whether there is an option that names a time.
func (x *expiry) timed() bool { return x.kind >= expiryEX }

// deadline gives what the group asks for: 0 to clear a deadline, KeepDeadline, or the time, which
// may be over already. It is asked after the options: a syntax error comes before a bad number
// (conformance string/set_precedence).
func (x *expiry) deadline(c *Call) (keyspace.Deadline, error) {
	switch {
	case x.kind == expiryKeep:
		return keyspace.KeepDeadline, nil
	case !x.timed():
		return 0, nil
	}
	n, ok := resp.ParseInt(x.amount)
	if !ok {
		return 0, errNotInt
	}
	unit := int64(unitMilli)
	if x.kind == expiryEX || x.kind == expiryEXAT {
		unit = unitSecond
	}
	d, ok := c.deadline(n, unit, x.kind >= expiryEXAT)
	if !ok {
		return 0, errExpire(c.Spec.full)
	}
	return d, nil
}
