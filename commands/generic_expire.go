package commands

import (
	"math"

	"kiln/actors/keyspace"
	"kiln/wire/resp"
)

func cmdExpire(c *Call) error { return c.expireKey(unitSecond, false) }

func cmdExpireat(c *Call) error { return c.expireKey(unitSecond, true) }

func cmdPexpire(c *Call) error { return c.expireKey(unitMilli, false) }

func cmdPexpireat(c *Call) error { return c.expireKey(unitMilli, true) }

// expireKey sets a deadline; a key whose time is over goes at once. The options are read before
// the number, and both before the key: conformance generic/expire_errors.
func (c *Call) expireKey(unit int64, absolute bool) error {
	key, number := c.Args.Next(), c.Args.Next()
	var only expireOnly
	if err := only.parse(&c.Args); err != nil {
		return err
	}
	n, ok := resp.ParseInt(number)
	if !ok {
		return errNotInt
	}
	when, ok := c.expireAt(n, unit, absolute)
	if !ok {
		return errExpire(c.Spec.Name)
	}

	e, err := c.entry(key, lookupWrite)
	if err != nil {
		return err
	}
	if !e.Exists() || !only.allows(e.Deadline(), when) {
		c.Reply.Int(0)
		return nil
	}
	if err := c.expireEntry(e, key, when); err != nil {
		return err
	}

	c.Reply.Int(1)
	return nil
}

// expireEntry sets a deadline, or deletes the key where it is 0: over.
func (c *Call) expireEntry(e keyspace.Entry, key []byte, when keyspace.Deadline) error {
	if when == 0 {
		if err := c.drop(e, key); err != nil {
			return err
		}
		c.Journal(wordDel, key)
		c.Event(ClassGeneric, "del", key)
		return nil
	}
	if err := c.setDeadline(e, key, when); err != nil {
		return err
	}
	c.Journal(wordPexpireAt, key, c.keepInt(when.Milli()))
	c.Event(ClassGeneric, "expire", key)
	return nil
}

// expireAt is deadline for EXPIRE and its kin, which take any time that is over: 0 stands for it.
// They refuse what overflows in either direction (conformance generic/expire_limits).
func (c *Call) expireAt(n, unit int64, absolute bool) (when keyspace.Deadline, ok bool) {
	if n < math.MinInt64/unit || n > math.MaxInt64/unit {
		return 0, false
	}
	if !absolute && n <= 0 || absolute && n*unit <= c.Now/1e6 {
		return 0, true
	}
	return c.deadline(n, unit, absolute)
}

// expireOnly is the option group NX | XX | GT | LT of EXPIRE: when it may change a deadline.
type expireOnly struct {
	nx, xx, gt, lt bool
}

// parse reads the options up to the end of the line.
func (o *expireOnly) parse(a *Args) error {
	for a.More() {
		switch {
		case a.Is("NX"):
			o.nx = true
		case a.Is("XX"):
			o.xx = true
		case a.Is("GT"):
			o.gt = true
		case a.Is("LT"):
			o.lt = true
		default:
			return errExpireOption(a.Next())
		}
	}
	switch {
	case o.nx && (o.xx || o.gt || o.lt):
		return errExpireNX
	case o.gt && o.lt:
		return errExpireGTLT
	}
	return a.Err()
}

// allows compares in milliseconds, as Redis does; no deadline counts as one that never comes.
func (o *expireOnly) allows(now, then keyspace.Deadline) bool {
	switch {
	case o.nx && now != 0, o.xx && now == 0:
		return false
	case o.gt && (now == 0 || then.Milli() <= now.Milli()):
		return false
	case o.lt && now != 0 && then.Milli() >= now.Milli():
		return false
	}
	return true
}

func cmdPersist(c *Call) error {
	key := c.Args.Next()
	e, err := c.entry(key, lookupWrite)
	if err != nil {
		return err
	}
	if !e.Exists() || e.Deadline() == 0 {
		c.Reply.Int(0)
		return nil
	}
	if err := c.setDeadline(e, key, 0); err != nil {
		return err
	}
	c.Event(ClassGeneric, "persist", key)

	c.Reply.Int(1)
	return nil
}

func cmdTtl(c *Call) error { return c.replyTime((*Call).left, unitSecond) }

func cmdPttl(c *Call) error { return c.replyTime((*Call).left, unitMilli) }

func cmdExpiretime(c *Call) error { return c.replyTime((*Call).milli, unitSecond) }

func cmdPexpiretime(c *Call) error { return c.replyTime((*Call).milli, unitMilli) }

// replyTime replies something about a key's deadline, seconds rounded to the nearest; -1 where
// there is no deadline, -2 where there is no key.
func (c *Call) replyTime(ms func(*Call, keyspace.Deadline) int64, unit int64) error {
	e, err := c.entry(c.Args.Next(), lookupCount)
	if err != nil {
		return err
	}
	switch {
	case !e.Exists():
		c.Reply.Int(-2)
	case e.Deadline() == 0:
		c.Reply.Int(-1)
	case unit == unitMilli:
		c.Reply.Int(ms(c, e.Deadline()))
	default: // Unsigned: half a second more may be above the largest int64.
		c.Reply.Int(int64((uint64(ms(c, e.Deadline())) + 500) / 1000))
	}
	return nil
}

func (c *Call) milli(d keyspace.Deadline) int64 { return d.Milli() }

// left is the time until a deadline that has not passed, in milliseconds, rounded up.
func (c *Call) left(d keyspace.Deadline) int64 {
	if ns := d.Nano(); ns != math.MaxInt64 {
		return (ns - c.Now + 1e6 - 1) / 1e6
	}
	return d.Milli() - c.Now/1e6
}
