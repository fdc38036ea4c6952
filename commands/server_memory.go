package commands

var memoryCommands = []Spec{
	{
		Name: "help", Arity: 2, Flags: Loading | Stale, Group: GroupServer, Where: Loop,
		Run: cmdHelp, Since: "4.0.0", Complexity: "O(1)", Doc: "Prints this help.",
	},
	{
		Name: "usage", Arity: -3, Flags: ReadOnly, Group: GroupServer,
		Keys: []KeySpec{{Flags: KeyRO, At: 2, Step: 1}}, Run: cmdMemoryUsage, Since: "4.0.0",
		Complexity: "O(N) where N is the number of samples.", Syntax: "key [SAMPLES count]",
		Doc: "Tells how many bytes a key takes, with its value and its share of the index.",
	},
}

// cmdMemoryUsage takes SAMPLES, but counts what there is instead of a sample.
func cmdMemoryUsage(c *Call) error {
	a := &c.Args
	key := a.Next()
	for a.More() {
		if a.Left() < 2 || !a.Is("SAMPLES") {
			return errSyntax
		}
		if n := a.Int(); a.Err() == nil && n < 0 {
			return errSyntax
		}
	}
	if err := a.Err(); err != nil {
		return err
	}
	n, err := c.memoryOf(key)
	if err != nil {
		return err
	}

	if n == 0 {
		c.Reply.Null()
		return nil
	}
	c.Reply.Int(int64(n))
	return nil
}
