package commands

import (
	"kiln/actors/keyspace"
)

func cmdGetrange(c *Call) error { return c.getRange() }

func cmdSubstr(c *Call) error { return c.getRange() }

func (c *Call) getRange() error {
	key, start, end := c.Args.Next(), c.Args.Int(), c.Args.Int()
	if err := c.Args.Err(); err != nil {
		return err
	}

	e, err := c.str(key)
	if err != nil {
		return err
	}

	var scratch keyspace.Scratch
	var value []byte
	if e.Exists() {
		value = e.Bytes(&scratch)
	}
	from, to := byteRange(start, end, int64(len(value)))
	c.Reply.Bulk(value[from:to])
	return nil
}

// byteRange gives the half-open range that first and last mean in n bytes: below 0 they count
// from the end, and beyond either end they stop there. So 0 -100 is the first byte, but -100 -101
// is nothing, since those are compared before they are stopped.
func byteRange(first, last, n int64) (from, to int64) {
	if first < 0 && last < 0 && first > last {
		return 0, 0
	}
	if first < 0 {
		first = max(first+n, 0)
	}
	if last < 0 {
		last = max(last+n, 0)
	}
	last = min(last, n-1)
	if first > last {
		return 0, 0
	}
	return first, last + 1
}

// checkLength refuses what would make a string longer than a client may send one. The sum is
// never made: an offset can be any int64.
func (c *Call) checkLength(n, more int64) error {
	if limit := c.Server.Config.BulkMax.Load(); more > limit || n > limit-more {
		return errTooLong
	}
	return nil
}

func cmdAppend(c *Call) error {
	key, tail := c.Args.Next(), c.Args.Next()

	e, err := c.strForWrite(key)
	if err != nil {
		return err
	}
	n := 0
	if e.Exists() {
		n = e.Len()
		if err := c.checkLength(int64(n), int64(len(tail))); err != nil {
			return err
		}
		err = c.grow(e, key, n+len(tail), func(b []byte) { copy(b[n:], tail) })
	} else {
		err = c.put(e, key, tail, 0)
	}
	if err != nil {
		return err
	}

	c.Event(ClassString, "append", key)
	c.Reply.Int(int64(n + len(tail)))
	return nil
}

// cmdSetrange leaves a key alone if there is nothing to write, and makes none.
func cmdSetrange(c *Call) error {
	key, offset, value := c.Args.Next(), c.Args.Int(), c.Args.Next()
	if err := c.Args.Err(); err != nil {
		return err
	}
	if offset < 0 {
		return errOffset
	}

	e, err := c.strForWrite(key)
	if err != nil {
		return err
	}
	n := 0
	if e.Exists() {
		n = e.Len()
	}
	if len(value) == 0 {
		c.Reply.Int(int64(n))
		return nil
	}
	if err := c.checkLength(offset, int64(len(value))); err != nil {
		return err
	}
	at := int(offset)
	if c.Quick && at+len(value) > quickValueMax {
		return ErrElsewhere // Zero bytes take their time as well.
	}
	err = c.grow(e, key, at+len(value), func(b []byte) { copy(b[at:], value) })
	if err != nil {
		return err
	}

	c.Event(ClassString, "setrange", key)
	c.Reply.Int(int64(max(n, at+len(value))))
	return nil
}
