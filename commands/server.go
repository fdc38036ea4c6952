package commands

import (
	"strconv"
)

var serverCommands = []Spec{
	{
		Name: "config", Arity: -2, Group: GroupServer, Subs: configCommands, Since: "2.0.0",
		Complexity: "Depends on subcommand.",
		Doc:        "Holds the commands about the server's settings.",
	},
	{
		Name: "debug", Arity: -2, Flags: Admin | NoScript | Loading | Stale | ProtectedFlag,
		Group: GroupServer, Where: Worker, Run: cmdDebug, Since: "1.0.0",
		Complexity: "Depends on subcommand.",
		Doc:        "Holds commands that look inside the server or provoke its troubles.",
		Internal:   true,
	},
	{
		Name: "info", Arity: -1, Flags: Loading | Stale, Categories: CatDangerous,
		Group: GroupServer, Where: Worker, Run: cmdInfo, Since: "1.0.0", Complexity: "O(1)",
		Syntax: "[section [section ...]]",
		Doc:    "Tells what the server is and has done, for people and monitoring.",
		Tips: []string{
			"nondeterministic_output", "request_policy:all_shards", "response_policy:special",
		},
		History: [][2]string{{"7.0.0", "Added support for taking multiple section arguments."}},
	},
	{
		Name: "memory", Arity: -2, Group: GroupServer, Subs: memoryCommands, Since: "4.0.0",
		Complexity: "Depends on subcommand.",
		Doc:        "Holds the commands about memory.",
	},
	{
		Name: "shutdown", Arity: -1,
		Flags: Admin | NoScript | Loading | Stale | NoMulti | AllowBusy,
		Group: GroupServer, Where: Loop, Run: cmdShutdown, Since: "1.0.0",
		Complexity: "O(N) when saving, where N is the total number of keys in all databases when " +
			"saving data, otherwise O(1)",
		Syntax:  "[NOSAVE | SAVE] [NOW] [FORCE] [ABORT]",
		Doc:     "Ends the server, saving first what there is to save.",
		History: [][2]string{{"7.0.0", "Added the `NOW`, `FORCE` and `ABORT` modifiers."}},
	},
	{
		Name: "time", Arity: 1, Flags: Loading | Stale | Fast, Group: GroupServer, Where: Loop,
		Run: cmdTime, Since: "2.6.0", Complexity: "O(1)",
		Doc:  "Tells the server's time: seconds since 1970, and microseconds.",
		Tips: []string{"nondeterministic_output"},
	},
}

// cmdShutdown does not answer where it succeeds: the connection just ends.
func cmdShutdown(c *Call) error {
	var o ShutdownOptions
	for a := &c.Args; a.More(); {
		switch {
		case a.Is("NOSAVE"):
			o.NoSave = true
		case a.Is("SAVE"):
			o.Save = true
		case a.Is("NOW"):
			o.Now = true
		case a.Is("FORCE"):
			o.Force = true
		case a.Is("ABORT"):
			o.Abort = true
		default:
			return errSyntax
		}
	}
	if o.Save && o.NoSave || o.Abort && (o.Save || o.NoSave || o.Now || o.Force) {
		return errSyntax
	}
	if err := c.Server.Process.Shutdown(o); err != nil {
		if o.Abort {
			return errNoShutdown
		}
		return errShutdown
	}

	if o.Abort {
		c.Reply.OK()
		return nil
	}
	c.Conn.Closing = true
	c.Reply.NoReply()
	return nil
}

func cmdTime(c *Call) error {
	c.Reply.Array(2)
	c.Reply.BulkString(strconv.FormatInt(c.Now/1e9, 10))
	c.Reply.BulkString(strconv.FormatInt(c.Now/1e3%1e6, 10))
	return nil
}
