package commands

var genericCommands = []Spec{
	{
		Name: "copy", Arity: -3, Flags: Write | DenyOOM, Group: GroupGeneric,
		Keys: []KeySpec{
			{Flags: KeyRO | KeyAccess, At: 1, Step: 1},
			{Flags: KeyOW | KeyUpdate, At: 2, Step: 1},
		},
		Run: cmdCopy, Since: "6.2.0", Syntax: "source destination [DB destination-db] [REPLACE]",
		Complexity: "O(1) for a string's record and O(N) for what it holds, N the bytes or elements",
		Doc:        "Makes a second key with the same value and deadline.",
	},
	{
		Name: "del", Arity: -2, Flags: Write, Group: GroupGeneric, Keys: AllKeys(KeyRM | KeyDelete),
		Run: cmdDel, Since: "1.0.0", Syntax: "key [key ...]",
		Complexity: "O(N) where N is the number of keys, and of the elements that they hold",
		Doc:        "Removes keys, and counts those that were there.",
		Tips:       []string{"request_policy:multi_shard", "response_policy:agg_sum"},
	},
	{
		Name: "exists", Arity: -2, Flags: ReadOnly | Fast, Group: GroupGeneric,
		Keys: AllKeys(KeyRO), Run: cmdExists, Since: "1.0.0", Syntax: "key [key ...]",
		Complexity: "O(N) where N is the number of keys",
		Doc:        "Counts the keys that are there, each as often as it is named.",
		Tips:       []string{"request_policy:multi_shard", "response_policy:agg_sum"},
		History:    [][2]string{{"3.0.3", "Takes more than one key."}},
	},
	{
		Name: "expire", Arity: -3, Flags: Write | Fast, Group: GroupGeneric,
		Keys: Key1(KeyRW | KeyUpdate), Run: cmdExpire, Since: "1.0.0", Complexity: "O(1)",
		Syntax:  "key seconds [NX | XX | GT | LT]",
		Doc:     "Gives a key so many seconds to live.",
		History: [][2]string{{"7.0.0", "Takes NX, XX, GT and LT."}},
	},
	{
		Name: "expireat", Arity: -3, Flags: Write | Fast, Group: GroupGeneric,
		Keys: Key1(KeyRW | KeyUpdate), Run: cmdExpireat, Since: "1.2.0", Complexity: "O(1)",
		Syntax:  "key unix-time-seconds [NX | XX | GT | LT]",
		Doc:     "Sets the second at which a key goes.",
		History: [][2]string{{"7.0.0", "Takes NX, XX, GT and LT."}},
	},
	{
		Name: "expiretime", Arity: 2, Flags: ReadOnly | Fast, Group: GroupGeneric,
		Keys: Key1(KeyRO | KeyAccess), Run: cmdExpiretime, Since: "7.0.0", Complexity: "O(1)",
		Syntax: "key", Doc: "Tells at which second a key goes.",
	},
	{
		Name: "keys", Arity: 2, Flags: ReadOnly, Categories: CatDangerous, Group: GroupGeneric,
		Where: Everywhere, Run: cmdKeys, Since: "1.0.0", Syntax: "pattern",
		Complexity: "O(N) where N is the number of keys in the database",
		Doc:        "Lists the keys whose names match a pattern.",
		Tips:       []string{"request_policy:all_shards", "nondeterministic_output_order"},
	},
	{
		Name: "move", Arity: 3, Flags: Write | Fast, Group: GroupGeneric,
		Keys: Key1(KeyRW | KeyAccess | KeyUpdate), Run: cmdMove, Since: "1.0.0",
		Complexity: "O(1)", Syntax: "key db",
		Doc: "Takes a key to another database, unless one of that name is there.",
	},
	{
		Name: "object", Arity: -2, Group: GroupGeneric, Subs: objectCommands, Since: "2.2.3",
		Complexity: "Depends on subcommand.",
		Doc:        "Holds the commands that look at how a value is kept.",
	},
	{
		Name: "persist", Arity: 2, Flags: Write | Fast, Group: GroupGeneric,
		Keys: Key1(KeyRW | KeyUpdate), Run: cmdPersist, Since: "2.2.0", Complexity: "O(1)",
		Syntax: "key", Doc: "Takes a key's deadline away.",
	},
	{
		Name: "pexpire", Arity: -3, Flags: Write | Fast, Group: GroupGeneric,
		Keys: Key1(KeyRW | KeyUpdate), Run: cmdPexpire, Since: "2.6.0", Complexity: "O(1)",
		Syntax:  "key milliseconds [NX | XX | GT | LT]",
		Doc:     "Gives a key so many milliseconds to live.",
		History: [][2]string{{"7.0.0", "Takes NX, XX, GT and LT."}},
	},
	{
		Name: "pexpireat", Arity: -3, Flags: Write | Fast, Group: GroupGeneric,
		Keys: Key1(KeyRW | KeyUpdate), Run: cmdPexpireat, Since: "2.6.0", Complexity: "O(1)",
		Syntax:  "key unix-time-milliseconds [NX | XX | GT | LT]",
		Doc:     "Sets the millisecond at which a key goes.",
		History: [][2]string{{"7.0.0", "Takes NX, XX, GT and LT."}},
	},
	{
		Name: "pexpiretime", Arity: 2, Flags: ReadOnly | Fast, Group: GroupGeneric,
		Keys: Key1(KeyRO | KeyAccess), Run: cmdPexpiretime, Since: "7.0.0", Complexity: "O(1)",
		Syntax: "key", Doc: "Tells at which millisecond a key goes.",
	},
	{
		Name: "pttl", Arity: 2, Flags: ReadOnly | Fast, Group: GroupGeneric,
		Keys: Key1(KeyRO | KeyAccess), Run: cmdPttl, Since: "2.6.0", Complexity: "O(1)",
		Syntax: "key", Doc: "Tells how many milliseconds a key has left.",
		Tips:    []string{"nondeterministic_output"},
		History: [][2]string{{"2.8.0", "Answers -2 where there is no key."}},
	},
	{
		Name: "randomkey", Arity: 1, Flags: ReadOnly, Group: GroupGeneric, Where: Everywhere,
		Run: cmdRandomkey, Since: "1.0.0", Complexity: "O(1)",
		Doc: "Draws a key of the database.",
		Tips: []string{
			"request_policy:all_shards", "response_policy:special", "nondeterministic_output",
		},
	},
	{
		Name: "rename", Arity: 3, Flags: Write, Group: GroupGeneric,
		Keys: []KeySpec{
			{Flags: KeyRW | KeyAccess | KeyDelete, At: 1, Step: 1},
			{Flags: KeyOW | KeyUpdate, At: 2, Step: 1},
		},
		Run: cmdRename, Since: "1.0.0", Complexity: "O(1)", Syntax: "key newkey",
		Doc: "Gives a key another name; a key that had it is gone.",
	},
	{
		Name: "renamenx", Arity: 3, Flags: Write | Fast, Group: GroupGeneric,
		Keys: []KeySpec{
			{Flags: KeyRW | KeyAccess | KeyDelete, At: 1, Step: 1},
			{Flags: KeyOW | KeyInsert, At: 2, Step: 1},
		},
		Run: cmdRenamenx, Since: "1.0.0", Complexity: "O(1)", Syntax: "key newkey",
		Doc:     "Gives a key another name, unless a key has it.",
		History: [][2]string{{"3.2.0", "The same name twice is no error any more."}},
	},
	{
		Name: "scan", Arity: -2, Flags: ReadOnly, Group: GroupGeneric, Where: Everywhere,
		Run: cmdScan, Since: "2.8.0",
		Complexity: "O(1) for a call of the usual COUNT, O(N) for all calls of an iteration, N the keys",
		Syntax:     "cursor [MATCH pattern] [COUNT count] [TYPE type]",
		Doc:        "Lists keys of the database, some at a time.",
		Tips: []string{
			"nondeterministic_output", "request_policy:special", "response_policy:special",
		},
		History: [][2]string{{"6.0.0", "Takes TYPE."}},
	},
	{
		Name: "touch", Arity: -2, Flags: ReadOnly | Fast, Group: GroupGeneric,
		Keys: AllKeys(KeyRO), Run: cmdTouch, Since: "3.2.1", Syntax: "key [key ...]",
		Complexity: "O(N) where N is the number of keys",
		Doc:        "Notes an access to keys, and counts those that are there.",
		Tips:       []string{"request_policy:multi_shard", "response_policy:agg_sum"},
	},
	{
		Name: "ttl", Arity: 2, Flags: ReadOnly | Fast, Group: GroupGeneric,
		Keys: Key1(KeyRO | KeyAccess), Run: cmdTtl, Since: "1.0.0", Complexity: "O(1)",
		Syntax: "key", Doc: "Tells how many seconds a key has left.",
		Tips:    []string{"nondeterministic_output"},
		History: [][2]string{{"2.8.0", "Answers -2 where there is no key."}},
	},
	{
		Name: "type", Arity: 2, Flags: ReadOnly | Fast, Group: GroupGeneric, Keys: Key1(KeyRO),
		Run: cmdType, Since: "1.0.0", Complexity: "O(1)", Syntax: "key",
		Doc: "Names the type of what a key holds.",
	},
	{
		Name: "unlink", Arity: -2, Flags: Write | Fast, Group: GroupGeneric,
		Keys: AllKeys(KeyRM | KeyDelete), Run: cmdUnlink, Since: "4.0.0", Syntax: "key [key ...]",
		Complexity: "O(N) where N is the number of keys; what they hold is freed later",
		Doc:        "Removes keys, and leaves the freeing of large values for later.",
		Tips:       []string{"request_policy:multi_shard", "response_policy:agg_sum"},
	},
}

func cmdDel(c *Call) error { return c.deleteAll(c.Args.Rest()) }

func cmdUnlink(c *Call) error { return c.deleteAll(c.Args.Rest()) }

// deleteAll removes keys. A key named twice counts once, since it is gone by then.
func (c *Call) deleteAll(keys [][]byte) error {
	deleted := 0
	for _, key := range keys {
		e, err := c.entry(key, lookupPeek)
		if err != nil {
			return err
		}
		if !e.Exists() {
			continue
		}
		if err := c.drop(e, key); err != nil {
			return err
		}
		c.Event(ClassGeneric, "del", key)
		deleted++
	}
	c.Reply.Int(int64(deleted))
	return nil
}

func cmdExists(c *Call) error { return c.countAll(c.Args.Rest(), lookupCount) }

func cmdTouch(c *Call) error { return c.countAll(c.Args.Rest(), lookupTouch) }

// countAll looks keys up. A key named twice counts twice.
func (c *Call) countAll(keys [][]byte, mode lookupMode) error {
	n := 0
	for _, key := range keys {
		e, err := c.entry(key, mode)
		if err != nil {
			return err
		}
		if e.Exists() {
			n++
		}
	}
	c.Reply.Int(int64(n))
	return nil
}

func cmdType(c *Call) error {
	e, err := c.entry(c.Args.Next(), lookupCount)
	if err != nil {
		return err
	}
	c.Reply.Simple(e.Type().String())
	return nil
}
