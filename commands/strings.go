package commands

import (
	"kiln/actors/keyspace"
	"kiln/wire/resp"
)

var stringCommands = []Spec{
	{
		Name: "get", Arity: 2, Flags: ReadOnly | Fast | SlowBySize, Group: GroupString,
		Keys: Key1(KeyRO | KeyAccess), Run: cmdGet, Since: "1.0.0",
		Doc: "Gives the value of a key.",
	},
	{
		Name: "incr", Arity: 2, Flags: Write | DenyOOM | Fast, Group: GroupString,
		Keys: Key1(KeyRW | KeyAccess | KeyUpdate), Run: cmdIncr, Since: "1.0.0",
		Doc: "Adds one to the integer that a key holds.",
	},
	{
		Name: "mget", Arity: -2, Flags: ReadOnly | Fast | SlowBySize, Group: GroupString,
		Keys: AllKeys(KeyRO | KeyAccess), Run: cmdMget, Since: "1.0.0",
		Doc: "Gives the values of several keys, at one instant.",
	},
	{
		Name: "mset", Arity: -3, Flags: Write | DenyOOM, Group: GroupString,
		Keys: []KeySpec{{Flags: KeyOW | KeyUpdate, At: 1, Last: -1, Step: 2}},
		Run:  cmdMset, Since: "1.0.1",
		Doc: "Sets several keys at one instant.",
	},
	{
		Name: "set", Arity: -3, Flags: Write | DenyOOM, Group: GroupString,
		Keys: Key1(KeyRW | KeyAccess | KeyUpdate | KeyVariable), Run: cmdSet, Since: "1.0.0",
		Doc: "Sets a key to a string.",
	},
	{
		Name: "setnx", Arity: 3, Flags: Write | DenyOOM | Fast, Group: GroupString,
		Keys: Key1(KeyOW | KeyInsert), Run: cmdSetnx, Since: "1.0.0",
		Doc: "Sets a key that does not exist.",
	},
}

func cmdGet(c *Call) error {
	e, err := c.str(c.Args.Next())
	if err != nil {
		return err
	}
	replyString(c.Reply, e)
	return nil
}

func replyString(w *resp.Writer, e keyspace.Entry) {
	if !e.Exists() {
		w.Null()
		return
	}
	var scratch keyspace.Scratch
	w.Bulk(e.Bytes(&scratch))
}

func cmdIncr(c *Call) error {
	key := c.Args.Next()
	e, err := c.strForWrite(key)
	if err != nil {
		return err
	}
	var n int64
	if e.Exists() {
		var ok bool
		if n, ok = e.Int(); !ok {
			return errNotInt
		}
	}
	if err := c.putInt(e, key, n+1, keyspace.KeepDeadline); err != nil {
		return err
	}
	c.Reply.Int(n + 1)
	return nil
}

func cmdMget(c *Call) error {
	keys := c.Args.Rest()
	c.Reply.Array(len(keys))
	for _, key := range keys {
		e, err := c.str(key)
		if err == errWrongType {
			e = keyspace.Entry{}
		} else if err != nil {
			return err
		}
		replyString(c.Reply, e)
	}
	return nil
}

func cmdMset(c *Call) error {
	pairs := c.Args.Rest()
	for i := 0; i < len(pairs); i += 2 {
		e, err := c.entry(pairs[i], lookupWrite)
		if err != nil {
			return err
		}
		if err := c.put(e, pairs[i], pairs[i+1], 0); err != nil {
			return err
		}
	}
	c.Reply.OK()
	return nil
}

func cmdSet(c *Call) error {
	key, value := c.Args.Next(), c.Args.Next()
	e, err := c.entry(key, lookupWrite)
	if err != nil {
		return err
	}
	if err := c.put(e, key, value, 0); err != nil {
		return err
	}
	c.Event(ClassString, "set", key)
	c.Reply.OK()
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
	if err := c.put(e, key, value, 0); err != nil {
		return err
	}
	c.Event(ClassString, "set", key)
	c.Reply.Int(1)
	return nil
}
