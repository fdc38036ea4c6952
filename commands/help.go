package commands

import (
	"strings"

	"kiln/wire/resp"
)

// cmdHelp is the HELP of every container: what the rows of its subcommands say, laid out as Redis
// does.
func cmdHelp(c *Call) error {
	container := c.Spec.container()
	replyHelp(c.Reply, container, container.Subs)
	return nil
}

// replyHelp is for containers that Redis has no rows below, too: DEBUG.
func replyHelp(w *resp.Writer, container *Spec, subs []Spec) {
	lines, alone := 1+2*len(subs), container.Run != nil && container.Subs != nil
	if alone {
		lines += 2
	}

	w.Array(lines)
	w.Simple(strings.ToUpper(container.Name) +
		" <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")
	if alone {
		w.Simple("(no subcommand)")
		w.Simple("    " + container.Doc)
	}
	for i := range subs {
		sub := &subs[i]
		w.Simple(strings.TrimSpace(strings.ToUpper(sub.Name) + " " + sub.Syntax))
		w.Simple("    " + sub.Doc)
	}
}
