package commands

var serverCommands = []Spec{
	{
		Name: "dbsize", Arity: 1, Flags: ReadOnly | Fast, Group: GroupServer, Where: Worker,
		Run: cmdDbsize, Since: "1.0.0", Doc: "Counts the keys of the database.",
	},
}

func cmdDbsize(c *Call) error {
	n := 0
	for p := range c.Shards.Count() {
		n += c.Shards.Peek(p, c.DB).Len()
	}
	c.Reply.Int(int64(n))
	return nil
}
