package commands

import (
	"math"

	"kiln/actors/keyspace"
	"kiln/wire/resp"
)

func cmdIncr(c *Call) error { return c.count(c.Args.Next(), 1) }

func cmdDecr(c *Call) error { return c.count(c.Args.Next(), -1) }

func cmdIncrby(c *Call) error {
	key, delta := c.Args.Next(), c.Args.Int()
	if err := c.Args.Err(); err != nil {
		return err
	}
	return c.count(key, delta)
}

func cmdDecrby(c *Call) error {
	key, delta := c.Args.Next(), c.Args.Int()
	if err := c.Args.Err(); err != nil {
		return err
	}
	if delta == math.MinInt64 {
		return errDecrement // It has no negative.
	}
	return c.count(key, -delta)
}

func (c *Call) count(key []byte, delta int64) error {
	e, err := c.strForWrite(key)
	if err != nil {
		return err
	}
	n, err := intOf(e)
	if err != nil {
		return err
	}
	n, ok := sum(n, delta)
	if !ok {
		return errOverflow
	}
	if err := c.putInt(e, key, n, keyspace.KeepDeadline); err != nil {
		return err
	}

	c.Event(ClassString, "incrby", key)
	c.Reply.Int(n)
	return nil
}

func sum(a, b int64) (n int64, ok bool) {
	n = a + b
	return n, (n > a) == (b > 0)
}

// intOf gives the number that a string holds, 0 for a key that is not there.
func intOf(e keyspace.Entry) (int64, error) {
	if !e.Exists() {
		return 0, nil
	}
	if n, ok := e.Int(); ok {
		return n, nil
	}
	var scratch keyspace.Scratch
	n, ok := resp.ParseInt(e.Bytes(&scratch))
	if !ok {
		return 0, errNotInt
	}
	return n, nil
}

// decimalOf is intOf for a number that may have decimals.
func decimalOf(e keyspace.Entry) (resp.LongDouble, error) {
	if !e.Exists() {
		return resp.LongDouble{}, nil
	}
	var scratch keyspace.Scratch
	v, ok := resp.ParseLongDouble(e.Bytes(&scratch))
	if !ok {
		return v, errNotFloat
	}
	return v, nil
}

// decimalRoom is enough for the digits of all numbers that people count in; more are allocated.
const decimalRoom = 64

func cmdIncrbyfloat(c *Call) error {
	key, word := c.Args.Next(), c.Args.Next()

	e, err := c.strForWrite(key)
	if err != nil {
		return err
	}
	v, err := decimalOf(e)
	if err != nil {
		return err
	}
	delta, ok := resp.ParseLongDouble(word)
	if !ok {
		return errNotFloat
	}
	v = v.Add(delta)
	if v.IsNaN() || v.IsInf() {
		return errNaN
	}
	var room [decimalRoom]byte
	text := resp.AppendLongDouble(room[:0], v)
	if err := c.putText(e, key, text, keyspace.KeepDeadline); err != nil {
		return err
	}
	c.journalSet(key, c.keep(text), keyspace.KeepDeadline)

	c.Event(ClassString, "incrbyfloat", key)
	c.Reply.Bulk(text)
	return nil
}
