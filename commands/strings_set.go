package commands

import (
	"math"

	"kiln/actors/keyspace"
)

// setString sets a key to a string, with the events of SET. e is what a lookup of it gave.
func (c *Call) setString(e keyspace.Entry, key, value []byte, deadline keyspace.Deadline) error {
	if err := c.put(e, key, value, deadline); err != nil {
		return err
	}
	c.Event(ClassString, "set", key)
	if deadline != 0 && deadline != keyspace.KeepDeadline {
		c.Event(ClassGeneric, "expire", key)
	}
	return nil
}

// setOptions are SET's: at most one of nx, xx and when.
type setOptions struct {
	nx, xx, get bool
	when        condition
	expiry      expiry
}

func (o *setOptions) parse(a *Args) error {
	for a.More() {
		switch {
		case !o.xx && o.when.kind == whenever && a.Is("NX"):
			o.nx = true
		case !o.nx && o.when.kind == whenever && a.Is("XX"):
			o.xx = true
		case !o.nx && !o.xx && o.when.is(a):
		case a.Is("GET"):
			o.get = true
		case o.expiry.keeps(a) || o.expiry.times(a):
		default:
			a.Fail(errSyntax)
		}
	}
	return a.Err()
}

// allows reports whether what the key holds is as the options ask.
func (o *setOptions) allows(e keyspace.Entry) (bool, error) {
	switch {
	case o.nx:
		return !e.Exists(), nil
	case o.xx:
		return e.Exists(), nil
	case o.when.kind != whenever && e.Exists():
		return o.when.holds(e)
	}
	return !o.when.equal(), nil
}

// lookup finds the key. Where the old value is of interest it has to be a string.
func (o *setOptions) lookup(c *Call, key []byte) (keyspace.Entry, error) {
	switch {
	case o.get:
		return c.str(key)
	case o.when.kind != whenever:
		return c.strForWrite(key)
	}
	return c.entry(key, lookupWrite)
}

func cmdSet(c *Call) error {
	key, value := c.Args.Next(), c.Args.Next()
	var o setOptions
	if err := o.parse(&c.Args); err != nil {
		return err
	}
	deadline, err := o.expiry.deadline(c)
	if err != nil {
		return err
	}

	e, err := o.lookup(c, key)
	if err != nil {
		return err
	}
	ok, err := o.allows(e)
	if err != nil {
		return err
	}

	switch {
	case o.get:
		replyString(c.Reply, e)
	case ok:
		c.Reply.OK()
	default:
		c.Reply.Null()
	}
	if !ok {
		return nil
	}
	if err := c.setString(e, key, value, deadline); err != nil {
		return err
	}
	if c.Args.Len() > 3 {
		c.journalSet(key, value, deadline)
	}
	return nil
}

func cmdGetset(c *Call) error {
	key, value := c.Args.Next(), c.Args.Next()

	e, err := c.str(key)
	if err != nil {
		return err
	}

	replyString(c.Reply, e)
	if err := c.setString(e, key, value, 0); err != nil {
		return err
	}
	c.journalSet(key, value, 0)
	return nil
}

func cmdSetnx(c *Call) error {
	key, value := c.Args.Next(), c.Args.Next()

	e, err := c.entry(key, lookupWrite)
	if err != nil {
		return err
	}
	if e.Exists() {
		c.Reply.Int(0)
		return nil
	}

	if err := c.setString(e, key, value, 0); err != nil {
		return err
	}
	c.Reply.Int(1)
	return nil
}

func cmdSetex(c *Call) error { return c.setFor(unitSecond) }

func cmdPsetex(c *Call) error { return c.setFor(unitMilli) }

func (c *Call) setFor(unit int64) error {
	key, amount, value := c.Args.Next(), c.Args.Int(), c.Args.Next()
	if err := c.Args.Err(); err != nil {
		return err
	}
	deadline, ok := c.deadline(amount, unit, false)
	if !ok {
		return errExpire(c.Spec.full)
	}

	e, err := c.entry(key, lookupWrite)
	if err != nil {
		return err
	}

	if err := c.setString(e, key, value, deadline); err != nil {
		return err
	}
	c.journalSet(key, value, deadline)
	c.Reply.OK()
	return nil
}

func cmdMset(c *Call) error {
	pairs := c.Args.Rest()
	if len(pairs)%2 != 0 {
		return errArity(c.Spec.full)
	}
	if err := c.setPairs(pairs, 0); err != nil {
		return err
	}
	c.Reply.OK()
	return nil
}

// setPairs looks each key up just before it is set: a key may be there twice, and setting one
// voids the entries of the others.
func (c *Call) setPairs(pairs [][]byte, deadline keyspace.Deadline) error {
	for i := 0; i < len(pairs); i += 2 {
		e, err := c.entry(pairs[i], lookupWrite)
		if err != nil {
			return err
		}
		if err := c.setString(e, pairs[i], pairs[i+1], deadline); err != nil {
			return err
		}
	}
	return nil
}

func cmdMsetnx(c *Call) error {
	pairs := c.Args.Rest()
	if len(pairs)%2 != 0 {
		return errArity(c.Spec.full)
	}
	if ok, err := c.allPairs(pairs, false); !ok || err != nil {
		return c.replyNone(err)
	}
	if err := c.setPairs(pairs, 0); err != nil {
		return err
	}
	c.Reply.Int(1)
	return nil
}

// allPairs reports whether all keys exist, or none of them.
func (c *Call) allPairs(pairs [][]byte, exist bool) (bool, error) {
	for i := 0; i < len(pairs); i += 2 {
		e, err := c.entry(pairs[i], lookupWrite)
		if err != nil || e.Exists() != exist {
			return false, err
		}
	}
	return true, nil
}

// replyNone says that no key was set, unless there is an error.
func (c *Call) replyNone(err error) error {
	if err == nil {
		c.Reply.Int(0)
	}
	return err
}

func cmdMsetex(c *Call) error {
	n := c.Args.Int(errNumKeys)
	switch {
	case c.Args.Err() != nil || n < 1 || n > math.MaxInt32:
		return errNumKeys
	case 2*n > int64(c.Args.Left()):
		return errNumPairs
	}
	pairs := c.Args.Take(2 * int(n))
	var nx, xx bool
	var x expiry
	for a := &c.Args; a.More(); {
		switch {
		case !xx && a.Is("NX"):
			nx = true
		case !nx && a.Is("XX"):
			xx = true
		case x.keeps(a) || x.times(a):
		default:
			a.Fail(errSyntax)
		}
	}
	if err := c.Args.Err(); err != nil {
		return err
	}
	deadline, err := x.deadline(c)
	if err != nil {
		return err
	}

	if nx || xx {
		if ok, err := c.allPairs(pairs, xx); !ok || err != nil {
			return c.replyNone(err)
		}
	}
	if err := c.setPairs(pairs, deadline); err != nil {
		return err
	}
	for i := 0; i < len(pairs); i += 2 {
		c.journalSet(pairs[i], pairs[i+1], deadline)
	}
	c.Reply.Int(1)
	return nil
}
