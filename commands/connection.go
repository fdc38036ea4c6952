package commands

var connectionCommands = []Spec{
	{
		Name: "ping", Arity: -1, Flags: Fast, Group: GroupConnection, Where: Loop,
		Run: cmdPing, Since: "1.0.0", Doc: "Answers, so that a client sees the server live.",
	},
}

func cmdPing(c *Call) error {
	if c.Args.Left() > 1 {
		return errArity(c.Spec.full)
	}
	if c.Args.Left() == 1 {
		c.Reply.Bulk(c.Args.Next())
		return nil
	}
	c.Reply.Simple("PONG")
	return nil
}
