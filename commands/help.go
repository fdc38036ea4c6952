package commands

import "strings"

// cmdHelp is the HELP of every container: what the rows of its subcommands say, laid out as Redis
// does.
func cmdHelp(c *Call) error {
	container := c.Spec.container()
	w := c.Reply
	lines := 1 + 2*len(container.Subs)
	if container.Run != nil {
		lines += 2
	}

	w.Array(lines)
	w.Simple(strings.ToUpper(container.Name) +
		" <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")
	if container.Run != nil {
		w.Simple("(no subcommand)")
		w.Simple("    " + container.Doc)
	}
	for i := range container.Subs {
		sub := &container.Subs[i]
		w.Simple(strings.TrimSpace(strings.ToUpper(sub.Name) + " " + sub.Syntax))
		w.Simple("    " + sub.Doc)
	}
	return nil
}
