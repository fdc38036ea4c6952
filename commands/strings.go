package commands

import (
	"kiln/actors/keyspace"
	"kiln/wire/resp"
)

var stringCommands = []Spec{
	{
		Name: "append", Arity: 3, Flags: Write | DenyOOM | Fast | SlowBySize, Group: GroupString,
		Keys: Key1(KeyRW | KeyInsert), Run: cmdAppend, Since: "2.0.0",
		Complexity: "O(1) amortized, for the room that a string gets grows with it",
		Doc:        "Adds bytes to the end of a string; makes the key if there is none.",
		Syntax:     "key value",
	},
	{
		Name: "decr", Arity: 2, Flags: Write | DenyOOM | Fast, Group: GroupString,
		Keys: Key1(KeyRW | KeyAccess | KeyUpdate), Run: cmdDecr, Since: "1.0.0",
		Complexity: "O(1)", Syntax: "key",
		Doc: "Takes one from the integer that a key holds, which is 0 if there is none.",
	},
	{
		Name: "decrby", Arity: 3, Flags: Write | DenyOOM | Fast, Group: GroupString,
		Keys: Key1(KeyRW | KeyAccess | KeyUpdate), Run: cmdDecrby, Since: "1.0.0",
		Complexity: "O(1)", Syntax: "key decrement",
		Doc: "Takes a number from the integer that a key holds, which is 0 if there is none.",
	},
	{
		Name: "delex", Arity: -2, Flags: Write | Fast | SlowBySize, Group: GroupString,
		Keys: Key1(KeyRW | KeyDelete), Run: cmdDelex, Since: "8.4.0",
		Complexity: "O(1), but for IFDEQ and IFDNE O(N), where N is the length of the value",
		Syntax: "key [IFEQ ifeq-value | IFNE ifne-value | IFDEQ ifdeq-digest | " +
			"IFDNE ifdne-digest]",
		Doc: "Deletes a key if its value, or the value's digest, is as asked.",
	},
	{
		Name: "delifeq", Arity: 3, Flags: Write | Fast | SlowBySize, Group: GroupString,
		Keys: Key1(KeyRM | KeyDelete), Run: cmdDelifeq, Since: "9.0.0",
		Complexity: "O(1)", Syntax: "key value",
		Doc: "Deletes a key if its value is the one given. It comes from Valkey.",
	},
	{
		Name: "digest", Arity: 2, Flags: ReadOnly | Fast | SlowBySize, Group: GroupString,
		Keys: Key1(KeyRO | KeyAccess), Run: cmdDigest, Since: "8.4.0",
		Complexity: "O(N), where N is the length of the value", Syntax: "key",
		Doc: "Gives the XXH3 digest of a string, as hexadecimal digits.",
	},
	{
		Name: "get", Arity: 2, Flags: ReadOnly | Fast | SlowBySize, Group: GroupString,
		Keys: Key1(KeyRO | KeyAccess), Run: cmdGet, Since: "1.0.0",
		Complexity: "O(1)", Syntax: "key",
		Doc: "Gives the value of a key.",
	},
	{
		Name: "getdel", Arity: 2, Flags: Write | Fast | SlowBySize, Group: GroupString,
		Keys: Key1(KeyRW | KeyAccess | KeyDelete), Run: cmdGetdel, Since: "6.2.0",
		Complexity: "O(1)", Syntax: "key",
		Doc: "Gives the value of a key and deletes the key.",
	},
	{
		Name: "getex", Arity: -2, Flags: Write | Fast | SlowBySize, Group: GroupString,
		Keys: []KeySpec{{
			Flags: KeyRW | KeyAccess | KeyUpdate, At: 1, Step: 1,
			Notes: "RW and UPDATE because it changes the TTL",
		}},
		Run: cmdGetex, Since: "6.2.0", Complexity: "O(1)",
		Syntax: "key [EX seconds | PX milliseconds | EXAT unix-time-seconds | " +
			"PXAT unix-time-milliseconds | PERSIST]",
		Doc: "Gives the value of a key, and sets or clears when the key expires.",
	},
	{
		Name: "getrange", Arity: 4, Flags: ReadOnly | SlowBySize, Group: GroupString,
		Keys: Key1(KeyRO | KeyAccess), Run: cmdGetrange, Since: "2.4.0",
		Complexity: "O(N), where N is the length of the reply", Syntax: "key start end",
		Doc: "Gives a part of a string; places below 0 count from its end.",
	},
	{
		Name: "getset", Arity: 3, Flags: Write | DenyOOM | Fast | SlowBySize, Group: GroupString,
		Keys: Key1(KeyRW | KeyAccess | KeyUpdate), Run: cmdGetset, Since: "1.0.0",
		Complexity: "O(1)", Syntax: "key value",
		Doc:        "Sets a key to a string and gives the string it held before.",
		Deprecated: "6.2.0", ReplacedBy: "`SET` with the `!GET` argument",
	},
	{
		Name: "incr", Arity: 2, Flags: Write | DenyOOM | Fast, Group: GroupString,
		Keys: Key1(KeyRW | KeyAccess | KeyUpdate), Run: cmdIncr, Since: "1.0.0",
		Complexity: "O(1)", Syntax: "key",
		Doc: "Adds one to the integer that a key holds, which is 0 if there is none.",
	},
	{
		Name: "incrby", Arity: 3, Flags: Write | DenyOOM | Fast, Group: GroupString,
		Keys: Key1(KeyRW | KeyAccess | KeyUpdate), Run: cmdIncrby, Since: "1.0.0",
		Complexity: "O(1)", Syntax: "key increment",
		Doc: "Adds a number to the integer that a key holds, which is 0 if there is none.",
	},
	{
		Name: "incrbyfloat", Arity: 3, Flags: Write | DenyOOM | Fast, Group: GroupString,
		Keys: Key1(KeyRW | KeyAccess | KeyUpdate), Run: cmdIncrbyfloat, Since: "2.6.0",
		Complexity: "O(1)", Syntax: "key increment",
		Doc: "Adds a number, with decimals or not, to the one that a key holds.",
	},
	{
		Name: "increx", Arity: -2, Flags: Write | DenyOOM | Fast, Group: GroupString,
		Keys: Key1(KeyRW | KeyAccess | KeyUpdate), Run: cmdIncrex, Since: "8.8.0",
		Complexity: "O(1)",
		Syntax: "key [BYFLOAT increment | BYINT increment] [LBOUND lowerbound] " +
			"[UBOUND upperbound] [SATURATE] [EX seconds | PX milliseconds | " +
			"EXAT unix-time-seconds | PXAT unix-time-milliseconds | PERSIST] [ENX]",
		Doc: "Adds to a number within bounds, and sets or clears when its key expires.",
	},
	{
		Name: "lcs", Arity: -3, Flags: ReadOnly | SlowBySize, Group: GroupString,
		Keys: Key2(KeyRO | KeyAccess), Run: cmdLcs, Since: "7.0.0",
		Complexity: "O(N*M), where N and M are the lengths of the two strings",
		Syntax:     "key1 key2 [LEN] [IDX] [MINMATCHLEN min-match-len] [WITHMATCHLEN]",
		Doc:        "Gives the longest run of bytes that two strings have in the same order.",
	},
	{
		Name: "mget", Arity: -2, Flags: ReadOnly | Fast | SlowBySize, Group: GroupString,
		Keys: AllKeys(KeyRO | KeyAccess), Run: cmdMget, Since: "1.0.0",
		Complexity: "O(N), where N is the number of keys", Syntax: "key [key ...]",
		Tips: []string{"request_policy:multi_shard"},
		Doc:  "Gives the values of several keys, at one instant.",
	},
	{
		Name: "mset", Arity: -3, Flags: Write | DenyOOM, Group: GroupString,
		Keys: []KeySpec{{Flags: KeyOW | KeyUpdate, At: 1, Last: -1, Step: 2}},
		Run:  cmdMset, Since: "1.0.1",
		Complexity: "O(N), where N is the number of keys", Syntax: "key value [key value ...]",
		Tips: []string{"request_policy:multi_shard", "response_policy:all_succeeded"},
		Doc:  "Sets several keys at one instant.",
	},
	{
		Name: "msetex", Arity: -4, Flags: Write | DenyOOM | MovableKeys, Group: GroupString,
		Keys: []KeySpec{{
			Flags: KeyOW | KeyUpdate, At: 1, Counted: true, NumAt: 0, FirstAt: 1, Step: 2,
		}},
		Run: cmdMsetex, Since: "8.4.0", Complexity: "O(N), where N is the number of keys",
		Syntax: "numkeys key value [key value ...] [NX | XX] [EX seconds | PX milliseconds | " +
			"EXAT unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL]",
		Tips: []string{"request_policy:multi_shard", "response_policy:all_succeeded"},
		Doc:  "Sets several keys at one instant, and when they all expire.",
	},
	{
		Name: "msetnx", Arity: -3, Flags: Write | DenyOOM, Group: GroupString,
		Keys: []KeySpec{{Flags: KeyOW | KeyInsert, At: 1, Last: -1, Step: 2}},
		Run:  cmdMsetnx, Since: "1.0.1",
		Complexity: "O(N), where N is the number of keys", Syntax: "key value [key value ...]",
		Doc: "Sets several keys at one instant, if none of them exists.",
	},
	{
		Name: "psetex", Arity: 4, Flags: Write | DenyOOM, Group: GroupString,
		Keys: Key1(KeyOW | KeyUpdate), Run: cmdPsetex, Since: "2.6.0",
		Complexity: "O(1)", Syntax: "key milliseconds value",
		Doc:        "Sets a key to a string for a time in milliseconds.",
		Deprecated: "2.6.12", ReplacedBy: "`SET` with the `PX` argument",
	},
	{
		Name: "set", Arity: -3, Flags: Write | DenyOOM | SlowBySize, Group: GroupString,
		Keys: []KeySpec{{
			Flags: KeyRW | KeyAccess | KeyUpdate | KeyVariable, At: 1, Step: 1,
			Notes: "RW and ACCESS due to the optional `GET` argument",
		}},
		Places: setPlaces,
		Run:    cmdSet, Since: "1.0.0", Complexity: "O(1)",
		Syntax: "key value [NX | XX | IFEQ ifeq-value | IFNE ifne-value | IFDEQ ifdeq-digest | " +
			"IFDNE ifdne-digest] [GET] [EX seconds | PX milliseconds | EXAT unix-time-seconds | " +
			"PXAT unix-time-milliseconds | KEEPTTL]",
		Doc: "Sets a key to a string, on a condition and for a time if asked to.",
		History: [][2]string{
			{"2.6.12", "`EX`, `PX`, `NX` and `XX` came."},
			{"6.0.0", "`KEEPTTL` came."},
			{"6.2.0", "`GET`, `EXAT` and `PXAT` came."},
			{"7.0.0", "`NX` and `GET` may stand together."},
			{"8.4.0", "`IFEQ`, `IFNE`, `IFDEQ` and `IFDNE` came."},
		},
	},
	{
		Name: "setex", Arity: 4, Flags: Write | DenyOOM, Group: GroupString,
		Keys: Key1(KeyOW | KeyUpdate), Run: cmdSetex, Since: "2.0.0",
		Complexity: "O(1)", Syntax: "key seconds value",
		Doc:        "Sets a key to a string for a time in seconds.",
		Deprecated: "2.6.12", ReplacedBy: "`SET` with the `EX` argument",
	},
	{
		Name: "setnx", Arity: 3, Flags: Write | DenyOOM | Fast, Group: GroupString,
		Keys: Key1(KeyOW | KeyInsert), Run: cmdSetnx, Since: "1.0.0",
		Complexity: "O(1)", Syntax: "key value",
		Doc:        "Sets a key that does not exist.",
		Deprecated: "2.6.12", ReplacedBy: "`SET` with the `NX` argument",
	},
	{
		Name: "setrange", Arity: 4, Flags: Write | DenyOOM | SlowBySize, Group: GroupString,
		Keys: Key1(KeyRW | KeyUpdate), Run: cmdSetrange, Since: "2.2.0",
		Complexity: "O(M), where M is the length of the argument; the copy of the old bytes, " +
			"where there has to be one, is not counted",
		Syntax: "key offset value",
		Doc:    "Writes bytes over a part of a string, which grows with zero bytes as needed.",
	},
	{
		Name: "strlen", Arity: 2, Flags: ReadOnly | Fast, Group: GroupString,
		Keys: Key1(KeyRO), Run: cmdStrlen, Since: "2.2.0",
		Complexity: "O(1)", Syntax: "key",
		Doc: "Gives the length of a string in bytes.",
	},
	{
		Name: "substr", Arity: 4, Flags: ReadOnly | SlowBySize, Group: GroupString,
		Keys: Key1(KeyRO | KeyAccess), Run: cmdSubstr, Since: "1.0.0",
		Complexity: "O(N), where N is the length of the reply", Syntax: "key start end",
		Doc:        "Gives a part of a string; it is the old name of GETRANGE.",
		Deprecated: "2.0.0", ReplacedBy: "`GETRANGE`",
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

// replyString writes a string, or null for a key that is not there. It copies, so it goes before
// what replaces the string.
func replyString(w *resp.Writer, e keyspace.Entry) {
	if !e.Exists() {
		w.Null()
		return
	}
	var scratch keyspace.Scratch
	w.Bulk(e.Bytes(&scratch))
}

func cmdGetdel(c *Call) error {
	key := c.Args.Next()
	e, err := c.str(key)
	if err != nil {
		return err
	}
	replyString(c.Reply, e)
	if !e.Exists() {
		return nil
	}
	return c.dropString(e, key)
}

// dropString deletes a key, which is what the journal then says.
func (c *Call) dropString(e keyspace.Entry, key []byte) error {
	if err := c.drop(e, key); err != nil {
		return err
	}
	c.Event(ClassGeneric, "del", key)
	c.Journal(wordDel, key)
	return nil
}

// cmdGetex looks at the time last: of a key that is not there it may be anything, if it stands in
// its place (conformance string/getex_errors).
func cmdGetex(c *Call) error {
	key := c.Args.Next()
	var x expiry
	for c.Args.More() {
		if !x.persists(&c.Args) && !x.times(&c.Args) {
			c.Args.Fail(errSyntax)
		}
	}
	if err := c.Args.Err(); err != nil {
		return err
	}

	e, err := c.str(key)
	if err != nil {
		return err
	}
	if !e.Exists() {
		c.Reply.Null()
		return nil
	}
	deadline, err := x.deadline(c)
	if err != nil {
		return err
	}

	replyString(c.Reply, e)
	switch {
	case x.timed() && deadline.Passed(c.Now):
		return c.dropString(e, key)
	case x.timed():
		err = c.setDeadline(e, key, deadline)
		c.Event(ClassGeneric, "expire", key)
		c.Journal(wordPexpireAt, key, c.keepInt(deadline.Milli()))
	case x.kind == expiryPersist && e.Deadline() != 0:
		err = c.setDeadline(e, key, 0)
		c.Event(ClassGeneric, "persist", key)
		c.Journal(wordPersist, key)
	}
	return err
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
		c.Reply.Seal()
	}
	return nil
}

func cmdStrlen(c *Call) error {
	e, err := c.str(c.Args.Next())
	if err != nil {
		return err
	}
	if !e.Exists() {
		c.Reply.Int(0)
		return nil
	}
	c.Reply.Int(int64(e.Len()))
	return nil
}
