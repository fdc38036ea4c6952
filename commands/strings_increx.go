package commands

import (
	"math"

	"kiln/actors/keyspace"
	"kiln/wire/resp"
)

// increxOptions are INCREX's as they are written. No option may be there twice.
type increxOptions struct {
	by            incrementKind
	increment     []byte
	lower, upper  []byte
	saturate, enx bool
	expiry        expiry
}

type incrementKind uint8

const (
	byOne incrementKind = iota
	byInt
	byFloat
)

func (o *increxOptions) parse(a *Args) error {
	for a.More() {
		switch {
		case o.by == byOne && a.Is("BYINT"):
			o.by, o.increment = byInt, a.Next()
		case o.by == byOne && a.Is("BYFLOAT"):
			o.by, o.increment = byFloat, a.Next()
		case o.lower == nil && a.Is("LBOUND"):
			o.lower = a.Next()
		case o.upper == nil && a.Is("UBOUND"):
			o.upper = a.Next()
		case !o.saturate && a.Is("SATURATE"):
			o.saturate = true
		case !o.enx && o.expiry.kind != expiryPersist && a.Is("ENX"):
			o.enx = true
		case o.expiry.kind == expiryNone && !o.enx && o.expiry.persists(a):
		case o.expiry.kind == expiryNone && o.expiry.times(a):
		default:
			a.Fail(errSyntax)
		}
	}
	if err := a.Err(); err != nil {
		return err
	}
	if o.enx && !o.expiry.timed() {
		return errENX
	}
	return nil
}

func cmdIncrex(c *Call) error {
	key := c.Args.Next()
	var o increxOptions
	if err := o.parse(&c.Args); err != nil {
		return err
	}
	if o.by == byFloat {
		return c.increxFloat(key, &o)
	}
	return c.increxInt(key, &o)
}

func (c *Call) increxInt(key []byte, o *increxOptions) error {
	delta, lower, upper, err := o.ints()
	if err != nil {
		return err
	}
	deadline, err := o.expiry.deadline(c)
	if err != nil {
		return err
	}

	e, err := c.strForWrite(key)
	if err != nil {
		return err
	}
	old, err := intOf(e)
	if err != nil {
		return err
	}
	n, ok := sum(old, delta)
	if !ok || n < lower || n > upper {
		if !o.saturate {
			n, delta = old, 0
			c.replyInts(n, delta)
			return nil
		}
		n = saturated(n, ok, delta, lower, upper)
		if delta = n - old; (n > old) != (delta > 0) {
			return errApplied
		}
	}

	d := o.deadlineOf(e, deadline)
	if gone, err := c.increxExpired(e, key, d); gone || err != nil {
		c.replyInts(n, delta)
		return err
	}
	timed := e.Exists() && e.Deadline() != 0
	if err := c.putInt(e, key, n, d); err != nil {
		return err
	}
	c.journalSet(key, c.keepInt(n), d)
	c.Event(ClassString, "incrby", key)
	c.increxEvent(key, d, timed)
	c.replyInts(n, delta)
	return nil
}

// ints gives the increment and the bounds, which are 1 and the limits of 64 bits if not given.
func (o *increxOptions) ints() (delta, lower, upper int64, err error) {
	delta, lower, upper = 1, math.MinInt64, math.MaxInt64
	for _, option := range [...]struct {
		word []byte
		name string
		n    *int64
	}{
		{o.increment, "Increment", &delta}, {o.lower, "LBOUND", &lower},
		{o.upper, "UBOUND", &upper},
	} {
		if option.word == nil {
			continue
		}
		n, ok := resp.ParseInt(option.word)
		if !ok {
			return 0, 0, 0, errNotIntOption(option.name)
		}
		*option.n = n
	}
	if lower > upper {
		return 0, 0, 0, errBounds
	}
	return delta, lower, upper, nil
}

// saturated gives the bound that a sum went over, or would have gone over had it fitted.
func saturated(n int64, fits bool, delta, lower, upper int64) int64 {
	switch {
	case fits:
		return min(max(n, lower), upper)
	case delta > 0:
		return upper
	}
	return lower
}

func (c *Call) replyInts(n, delta int64) {
	c.Reply.Array(2)
	c.Reply.Int(n)
	c.Reply.Int(delta)
}

func (c *Call) increxFloat(key []byte, o *increxOptions) error {
	delta, lower, upper, err := o.floats()
	if err != nil {
		return err
	}
	deadline, err := o.expiry.deadline(c)
	if err != nil {
		return err
	}

	e, err := c.strForWrite(key)
	if err != nil {
		return err
	}
	old, err := decimalOf(e)
	if err != nil {
		return err
	}
	if old.IsInf() {
		return errValueInf
	}
	v := old.Add(delta)
	if v.IsInf() || v.Compare(lower) < 0 || v.Compare(upper) > 0 {
		if !o.saturate {
			c.replyFloats(old, resp.LongDouble{})
			return nil
		}
		if v.Compare(lower) < 0 || v.IsInf() && delta.Compare(resp.LongDouble{}) < 0 {
			v = lower
		} else {
			v = upper
		}
		if delta = v.Add(old.Neg()); delta.IsInf() {
			return errAppliedInf
		}
	}

	d := o.deadlineOf(e, deadline)
	if gone, err := c.increxExpired(e, key, d); gone || err != nil {
		c.replyFloats(v, delta)
		return err
	}
	timed := e.Exists() && e.Deadline() != 0
	var room [decimalRoom]byte
	text := resp.AppendLongDouble(room[:0], v)
	if err := c.putText(e, key, text, d); err != nil {
		return err
	}
	c.journalSet(key, c.keep(text), d)
	c.Event(ClassString, "incrbyfloat", key)
	c.increxEvent(key, d, timed)
	c.replyFloats(v, delta)
	return nil
}

// floats gives the increment and the bounds, which are the largest finite numbers if not given.
// Infinite ones are none.
func (o *increxOptions) floats() (delta, lower, upper resp.LongDouble, err error) {
	lower, upper = resp.MaxLongDouble.Neg(), resp.MaxLongDouble
	for _, option := range [...]struct {
		word []byte
		name string
		v    *resp.LongDouble
	}{
		{o.increment, "Increment", &delta}, {o.lower, "LBOUND", &lower},
		{o.upper, "UBOUND", &upper},
	} {
		if option.word == nil {
			continue
		}
		v, ok := resp.ParseLongDouble(option.word)
		if !ok {
			return delta, lower, upper, errNotFloatOption(option.name)
		}
		if option.v == &delta && v.IsInf() {
			return delta, lower, upper, errIncrementInf
		}
		*option.v = v
	}
	if lower.Compare(upper) > 0 {
		return delta, lower, upper, errBounds
	}
	return delta, lower, upper, nil
}

func (c *Call) replyFloats(v, delta resp.LongDouble) {
	c.Reply.Array(2)
	c.Reply.LongDouble(v)
	c.Reply.LongDouble(delta)
}

// deadlineOf gives the deadline that the key gets, KeepDeadline if it stays as it is.
func (o *increxOptions) deadlineOf(e keyspace.Entry, deadline keyspace.Deadline) keyspace.Deadline {
	if o.expiry.kind == expiryNone || o.enx && e.Exists() && e.Deadline() != 0 {
		return keyspace.KeepDeadline
	}
	return deadline
}

// increxExpired deletes the key, or makes none, if its deadline is over from the start.
func (c *Call) increxExpired(e keyspace.Entry, key []byte, d keyspace.Deadline) (bool, error) {
	if d == 0 || d == keyspace.KeepDeadline || !d.Passed(c.Now) {
		return false, nil
	}
	if !e.Exists() {
		return true, nil
	}
	return true, c.dropString(e, key)
}

// increxEvent states what became of the deadline; timed says that there was one.
func (c *Call) increxEvent(key []byte, d keyspace.Deadline, timed bool) {
	switch {
	case d == 0 && timed:
		c.Event(ClassGeneric, "persist", key)
	case d != 0 && d != keyspace.KeepDeadline:
		c.Event(ClassGeneric, "expire", key)
	}
}
