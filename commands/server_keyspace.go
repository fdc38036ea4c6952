package commands

var keyspaceCommands = []Spec{
	{
		Name: "dbsize", Arity: 1, Flags: ReadOnly | Fast, Categories: CatKeyspace,
		Group: GroupServer, Where: Everywhere, Run: cmdDbsize, Since: "1.0.0", Complexity: "O(1)",
		Doc:  "Counts the keys of the database.",
		Tips: []string{"request_policy:all_shards", "response_policy:agg_sum"},
	},
	{
		Name: "flushall", Arity: -1, Flags: Write, Categories: CatKeyspace | CatDangerous,
		Group: GroupServer, Where: AllShards, Run: cmdFlushall, Since: "1.0.0",
		Complexity: "O(1); the memory of N keys is freed in the background",
		Syntax:     "[ASYNC | SYNC]", Doc: "Removes all keys of all databases.",
		Tips:    []string{"request_policy:all_shards", "response_policy:all_succeeded"},
		History: [][2]string{{"4.0.0", "Takes ASYNC."}, {"6.2.0", "Takes SYNC."}},
	},
	{
		Name: "flushdb", Arity: -1, Flags: Write, Categories: CatKeyspace | CatDangerous,
		Group: GroupServer, Where: AllShards, Run: cmdFlushdb, Since: "1.0.0",
		Complexity: "O(1); the memory of N keys is freed in the background",
		Syntax:     "[ASYNC | SYNC]", Doc: "Removes all keys of the database.",
		Tips:    []string{"request_policy:all_shards", "response_policy:all_succeeded"},
		History: [][2]string{{"4.0.0", "Takes ASYNC."}, {"6.2.0", "Takes SYNC."}},
	},
	{
		Name: "swapdb", Arity: 3, Flags: Write | Fast, Categories: CatKeyspace | CatDangerous,
		Group: GroupServer, Where: AllShards, Run: cmdSwapdb, Since: "4.0.0",
		Complexity: "O(N) where N is the number of clients that watch or wait for keys of the two",
		Syntax:     "index1 index2", Doc: "Exchanges two databases.",
	},
}

// cmdDbsize counts expired keys that are still there, as Redis does.
func cmdDbsize(c *Call) error {
	n := 0
	for p := range c.Shards.Count() {
		n += c.Shards.Peek(p, c.DB).Len()
	}
	c.Reply.Int(int64(n))
	return nil
}

func cmdFlushall(c *Call) error { return c.flush(-1) }

func cmdFlushdb(c *Call) error { return c.flush(c.DB) }

// flush empties a database, or all (-1). ASYNC and SYNC mean the same: it takes no time.
func (c *Call) flush(db int) error {
	a := &c.Args
	if a.More() && !a.Is("SYNC") && !a.Is("ASYNC") || a.More() {
		return errSyntax
	}

	c.Shards.Flush(db)
	c.flushed(db)

	c.Reply.OK()
	return nil
}

// cmdSwapdb: both numbers are read before either is checked: conformance server/swapdb_errors.
func cmdSwapdb(c *Call) error {
	one, other := c.Args.index(errFirstDB), c.Args.index(errSecondDB)
	if err := c.Args.Err(); err != nil {
		return err
	}
	if !c.hasDB(one) || !c.hasDB(other) {
		return errDBRange
	}

	if one != other {
		c.Shards.Swap(one, other)
		c.flushed(one)
		c.flushed(other)
	}

	c.Reply.OK()
	return nil
}
