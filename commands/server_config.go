package commands

import (
	"bytes"
	"strings"
)

var configCommands = []Spec{
	{
		Name: "get", Arity: -3, Flags: Admin | NoScript | Loading | Stale, Group: GroupServer,
		Where: Loop, Run: cmdConfigGet, Since: "2.0.0",
		Complexity: "O(N) when N is the number of configuration parameters provided",
		Syntax:     "parameter [parameter ...]",
		Doc:        "Gives the settings whose names match any of some patterns.",
		History: [][2]string{
			{"7.0.0", "Added the ability to pass multiple pattern parameters in one call"},
		},
	},
	{
		Name: "help", Arity: 2, Flags: Loading | Stale, Group: GroupServer, Where: Loop,
		Run: cmdHelp, Since: "5.0.0", Complexity: "O(1)", Doc: "Prints this help.",
	},
	{
		Name: "resetstat", Arity: 2, Flags: Admin | NoScript | Loading | Stale,
		Group: GroupServer, Where: Worker, Run: cmdConfigResetstat, Since: "2.0.0",
		Complexity: "O(1)", Doc: "Sets the counters that INFO shows back to zero.",
		Tips: []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
	},
	{
		Name: "set", Arity: -4, Flags: Admin | NoScript | Loading | Stale, Group: GroupServer,
		Where: Loop, Run: cmdConfigSet, Since: "2.0.0",
		Complexity: "O(N) when N is the number of configuration parameters provided",
		Syntax:     "parameter value [parameter value ...]",
		Doc:        "Changes settings of the running server: all of those given, or none.",
		Tips:       []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
		History: [][2]string{
			{"7.0.0", "Added the ability to set multiple parameters in one call."},
		},
	},
}

// cmdConfigGet gives a name without wildcards back as the client spells it, and each name once:
// conformance server/config_get. Redis's order is that of its hash table; here it is the
// patterns', and of one pattern the table's.
func cmdConfigGet(c *Call) error {
	type pair struct{ name, text string }
	values := *c.Server.Config.values.Load()
	var found []pair
	seen := map[string]bool{}
	add := func(name, shown string, at int) {
		if !seen[name] {
			seen[name] = true
			found = append(found, pair{shown, values[at].text})
		}
	}
	for _, pattern := range c.Args.Rest() {
		if !bytes.ContainsAny(pattern, "[]?*") {
			if i := findDirective(string(pattern)); i >= 0 {
				add(string(bytes.ToLower(pattern)), string(pattern), i)
			}
			continue
		}
		for i := range directives {
			for _, name := range directives[i].names() {
				if globMatch(pattern, []byte(name), true) {
					add(name, name, i)
				}
			}
		}
	}

	c.Reply.Map(len(found))
	for _, p := range found {
		c.Reply.BulkString(p.name)
		c.Reply.BulkString(p.text)
	}
	return nil
}

// cmdConfigSet first looks whether it may change what is named, then at the values, each in the
// order given: conformance server/config_set_errors. An alias is no repetition.
func cmdConfigSet(c *Call) error {
	words := c.Args.Rest()
	if len(words)%2 != 0 {
		return errSyntax
	}
	var changes []change
	seen := map[string]bool{}
	for i := 0; i < len(words); i += 2 {
		ch := change{name: cString(words[i]), word: string(words[i+1])}
		ch.at = findDirective(ch.name)
		switch {
		case ch.at < 0:
			return errConfigUnknown(ch.name)
		case directives[ch.at].change == changeFixed:
			return errConfigSet(ch.name, errConfigFixed)
		case directives[ch.at].change == changeProtected:
			return errConfigSet(ch.name, errConfigGuarded)
		case seen[strings.ToLower(ch.name)]:
			return errConfigSet(ch.name, errConfigTwice)
		}
		seen[strings.ToLower(ch.name)] = true
		changes = append(changes, ch)
	}

	if err := c.Server.Config.change(changes); err != nil {
		return err
	}

	c.Reply.OK()
	return nil
}

// cmdConfigResetstat enters the partitions, since only their runners write their counters.
func cmdConfigResetstat(c *Call) error {
	for p := range c.Shards.Count() {
		s, err := c.Shards.Enter(p, 0)
		if err != nil {
			return err
		}
		s.Counters.Hits, s.Counters.Misses, s.Counters.Expired = 0, 0, 0
		c.Shards.Leave()
	}
	c.Server.Stats.Reset()

	c.Reply.OK()
	return nil
}
