package commands

func cmdCommandDocs(c *Call) error {
	var asked []*Spec
	if c.Args.More() {
		for _, name := range c.Args.Rest() {
			if s := c.Spec.table.named(name); s != nil {
				asked = append(asked, s)
			}
		}
	} else {
		asked = c.Spec.table.rows
	}

	c.Reply.Map(len(asked))
	for _, s := range asked {
		c.replyDocs(s)
	}
	return nil
}

// replyDocs replies a command's name and what there is to say of it. It leaves out what there is
// not, so it has to count first.
func (c *Call) replyDocs(s *Spec) {
	w, args := c.Reply, s.arguments()
	w.BulkString(s.full)
	n := 2
	for _, there := range []bool{
		s.Doc != "", s.Complexity != "", s.Deprecated != "" || s.Internal, s.Deprecated != "",
		s.ReplacedBy != "", len(s.History) > 0, len(args) > 0, len(s.Subs) > 0,
	} {
		if there {
			n++
		}
	}
	w.Map(n)
	c.replyText("summary", s.Doc)
	w.BulkString("since")
	w.BulkString(s.Since)
	w.BulkString("group")
	w.BulkString(string(s.Group))
	c.replyText("complexity", s.Complexity)
	c.replyDocFlags(s)
	c.replyText("deprecated_since", s.Deprecated)
	c.replyText("replaced_by", s.ReplacedBy)
	if len(s.History) > 0 {
		w.BulkString("history")
		w.Set(len(s.History))
		for _, h := range s.History {
			w.Array(2)
			w.BulkString(h[0])
			w.BulkString(h[1])
		}
	}
	if len(args) > 0 {
		w.BulkString("arguments")
		c.replyArguments(args)
	}
	if len(s.Subs) > 0 {
		w.BulkString("subcommands")
		w.Map(len(s.Subs))
		for i := range s.Subs {
			c.replyDocs(&s.Subs[i])
		}
	}
}

func (c *Call) replyText(name, text string) {
	if text != "" {
		c.Reply.BulkString(name)
		c.Reply.BulkString(text)
	}
}

func (c *Call) replyDocFlags(s *Spec) {
	var flags []string
	if s.Deprecated != "" {
		flags = append(flags, "deprecated")
	}
	if s.Internal {
		flags = append(flags, "syscmd")
	}
	if len(flags) == 0 {
		return
	}
	c.Reply.BulkString("doc_flags")
	c.replyStatuses(flags)
}

func (c *Call) replyStatuses(words []string) {
	c.Reply.Set(len(words))
	for _, w := range words {
		c.Reply.Simple(w)
	}
}

func (c *Call) replyArguments(args []argument) {
	w := c.Reply
	w.Array(len(args))
	for i := range args {
		a := &args[i]
		flags, nested := a.flags(), a.args != nil
		n := 2
		for _, there := range []bool{!nested, a.kind == kindKey, a.token != "",
			len(flags) > 0, nested} {
			if there {
				n++
			}
		}
		w.Map(n)
		w.BulkString("name")
		w.BulkString(a.name)
		w.BulkString("type")
		w.BulkString(a.kind)
		if !nested {
			w.BulkString("display_text")
			w.BulkString(a.name)
		}
		if a.kind == kindKey {
			w.BulkString("key_spec_index")
			w.Int(int64(a.spec))
		}
		c.replyText("token", a.token)
		if len(flags) > 0 {
			w.BulkString("flags")
			c.replyStatuses(flags)
		}
		if nested {
			w.BulkString("arguments")
			c.replyArguments(a.args)
		}
	}
}

func (a *argument) flags() (flags []string) {
	if a.optional {
		flags = append(flags, "optional")
	}
	if a.multiple {
		flags = append(flags, "multiple")
	}
	if a.manyToken {
		flags = append(flags, "multiple_token")
	}
	return flags
}
