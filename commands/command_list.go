package commands

// cmdCommandList gives the names of all commands and subcommands, or of those that are in an ACL
// category or fit a pattern. No command is of a module, so that filter lets none by.
func cmdCommandList(c *Call) error {
	keep := func(*Spec) bool { return true }
	if a := &c.Args; a.More() {
		if a.Left() != 3 || !a.Is("FILTERBY") {
			return errSyntax
		}
		switch {
		case a.Is("MODULE"):
			keep = func(*Spec) bool { return false }
		case a.Is("ACLCAT"):
			wanted := category(a.Next())
			keep = func(s *Spec) bool { return s.categories&wanted != 0 }
		case a.Is("PATTERN"):
			pattern := a.Next()
			keep = func(s *Spec) bool { return globMatch(pattern, []byte(s.full), true) }
		default:
			return errSyntax
		}
	}

	var names []string
	add := func(s *Spec) {
		if keep(s) {
			names = append(names, s.full)
		}
	}
	for _, s := range c.Spec.table.rows {
		add(s)
		for i := range s.Subs {
			add(&s.Subs[i])
		}
	}

	c.Reply.Array(len(names))
	for _, name := range names {
		c.Reply.BulkString(name)
	}
	return nil
}
