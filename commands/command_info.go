package commands

import (
	"bytes"
	"math"
)

// commandFlags are the flags of COMMAND itself and all its subcommands.
const commandFlags = Loading | Stale | Sentinel

// What describes all commands takes a millisecond or more, too long for an event loop:
// BenchmarkCommandDocs.
var commandCommands = []Spec{
	{
		Name: "command", Arity: -1, Flags: commandFlags, Group: GroupServer, Where: Worker,
		Categories: CatConnection, Run: cmdCommand, Since: "2.8.13",
		Complexity: "O(N) where N is the number of commands",
		Doc:        "Describes all commands.",
		Tips:       []string{"nondeterministic_output_order"},
		Subs: []Spec{
			{
				Name: "count", Arity: 2, Flags: commandFlags, Group: GroupServer, Where: Loop,
				Categories: CatConnection, Run: cmdCommandCount, Since: "2.8.13",
				Complexity: "O(1)", Doc: "Counts the commands.",
			},
			{
				Name: "docs", Arity: -2, Flags: commandFlags, Group: GroupServer, Where: Worker,
				Categories: CatConnection, Run: cmdCommandDocs, Since: "7.0.0",
				Complexity: "O(N) where N is the number of commands asked for",
				Doc:        "Gives the documentation of some commands, or of all.",
				Syntax:     "[command-name [command-name ...]]",
				Tips:       []string{"nondeterministic_output_order"},
			},
			{
				Name: "getkeys", Arity: -3, Flags: commandFlags, Group: GroupServer, Where: Loop,
				Categories: CatConnection, Run: cmdCommandGetkeys, Since: "2.8.13",
				Complexity: "O(N) where N is the number of arguments of the command",
				Doc:        "Finds the keys in a command line.",
				Syntax:     "command [arg [arg ...]]",
			},
			{
				Name: "getkeysandflags", Arity: -3, Flags: commandFlags, Group: GroupServer,
				Where: Loop, Categories: CatConnection, Run: cmdCommandGetkeysandflags,
				Since:      "7.0.0",
				Complexity: "O(N) where N is the number of arguments of the command",
				Doc:        "Finds the keys in a command line, and what is done with them.",
				Syntax:     "command [arg [arg ...]]",
			},
			{
				Name: "help", Arity: 2, Flags: commandFlags, Group: GroupServer, Where: Loop,
				Categories: CatConnection, Run: cmdHelp, Since: "5.0.0", Complexity: "O(1)",
				Doc: "Lists the subcommands.",
			},
			{
				Name: "info", Arity: -2, Flags: commandFlags, Group: GroupServer, Where: Worker,
				Categories: CatConnection, Run: cmdCommandInfo, Since: "2.8.13",
				Complexity: "O(N) where N is the number of commands asked for",
				Doc:        "Describes some commands, or all.",
				Syntax:     "[command-name [command-name ...]]",
				History:    [][2]string{{"7.0.0", "Without names, all commands."}},
				Tips:       []string{"nondeterministic_output_order"},
			},
			{
				Name: "list", Arity: -2, Flags: commandFlags, Group: GroupServer, Where: Loop,
				Categories: CatConnection, Run: cmdCommandList, Since: "7.0.0",
				Complexity: "O(N) where N is the number of commands",
				Doc:        "Lists the names of the commands, of all or of those that a filter lets by.",
				Syntax: "[FILTERBY <MODULE module-name | ACLCAT category | " +
					"PATTERN pattern>]",
				Tips: []string{"nondeterministic_output_order"},
			},
		},
	},
}

// flagNames are the flags that COMMAND INFO tells, in its order.
var flagNames = []struct {
	flag Flags
	name string
}{
	{Write, "write"}, {ReadOnly, "readonly"}, {DenyOOM, "denyoom"}, {Module, "module"},
	{Admin, "admin"}, {PubSub, "pubsub"}, {NoScript, "noscript"}, {Blocking, "blocking"},
	{Loading, "loading"}, {Stale, "stale"}, {SkipMonitor, "skip_monitor"},
	{SkipSlowlog, "skip_slowlog"}, {Asking, "asking"}, {Fast, "fast"}, {NoAuth, "no_auth"},
	{NoMandatoryKeys, "no_mandatory_keys"}, {NoAsyncLoading, "no_async_loading"},
	{NoMulti, "no_multi"}, {MovableKeys, "movablekeys"}, {AllowBusy, "allow_busy"},
}

// keyFlagNames are the flags of keys by their bits.
var keyFlagNames = [...]string{
	"RO", "RW", "OW", "RM", "access", "update", "insert", "delete", "not_key", "incomplete",
	"variable_flags",
}

func cmdCommand(c *Call) error {
	c.replyInfoOfAll()
	return nil
}

func cmdCommandCount(c *Call) error {
	c.Reply.Int(int64(len(c.Spec.table.rows)))
	return nil
}

func cmdCommandInfo(c *Call) error {
	if !c.Args.More() {
		c.replyInfoOfAll()
		return nil
	}
	names := c.Args.Rest()
	c.Reply.Array(len(names))
	for _, name := range names {
		if s := c.Spec.table.named(name); s != nil {
			c.replyInfo(s)
		} else {
			c.Reply.Null()
		}
	}
	return nil
}

// named finds a row by the name that COMMAND INFO gives it: "client|list", or "get".
func (t *Table) named(name []byte) *Spec {
	name, sub, inside := bytes.Cut(name, []byte("|"))
	s := t.lookup(name)
	if s == nil || !inside {
		return s
	}
	return s.sub(sub)
}

func (c *Call) replyInfoOfAll() {
	rows := c.Spec.table.rows
	c.Reply.Array(len(rows))
	for _, s := range rows {
		c.replyInfo(s)
	}
}

func (c *Call) replyInfo(s *Spec) {
	w := c.Reply
	first, last, step, movable := s.legacyKeys()
	flags := s.Flags
	if movable {
		flags |= MovableKeys
	}
	w.Array(10)
	w.BulkString(s.full)
	w.Int(int64(s.Arity))
	c.replyFlags(flags)
	w.Int(int64(first))
	w.Int(int64(last))
	w.Int(int64(step))
	c.replyNames(uint64(s.categories), "@", categoryNames[:])
	w.Set(len(s.Tips))
	for _, tip := range s.Tips {
		w.BulkString(tip)
	}
	w.Set(len(s.Keys))
	for i := range s.Keys {
		c.replyKeySpec(&s.Keys[i])
	}
	if s.Subs == nil { // Redis has no type for no subcommands but a set's.
		w.Set(0)
		return
	}
	w.Array(len(s.Subs))
	for i := range s.Subs {
		c.replyInfo(&s.Subs[i])
	}
}

func (c *Call) replyFlags(flags Flags) {
	n := 0
	for _, f := range flagNames {
		if flags&f.flag != 0 {
			n++
		}
	}
	c.Reply.Set(n)
	for _, f := range flagNames {
		if flags&f.flag != 0 {
			c.Reply.Simple(f.name)
		}
	}
}

// replyNames replies the names of the bits that are set, as a set of statuses.
func (c *Call) replyNames(set uint64, prefix string, names []string) {
	n := 0
	for i := range names {
		n += int(set >> i & 1)
	}
	c.Reply.Set(n)
	for i, name := range names {
		if set>>i&1 != 0 {
			c.Reply.Simple(prefix + name)
		}
	}
}

func (c *Call) replyKeyFlags(flags KeyFlags) {
	c.replyNames(uint64(flags), "", keyFlagNames[:])
}

func (c *Call) replyKeySpec(k *KeySpec) {
	w := c.Reply
	if k.Notes != "" {
		w.Map(4)
		w.BulkString("notes")
		w.BulkString(k.Notes)
	} else {
		w.Map(3)
	}
	w.BulkString("flags")
	c.replyKeyFlags(k.Flags)

	w.BulkString("begin_search")
	switch {
	case k.unknown():
		c.replySearch("unknown")
	case k.Keyword != "":
		c.replySearch("keyword", "keyword", k.Keyword, "startfrom", k.From)
	default:
		c.replySearch("index", "index", k.At)
	}

	w.BulkString("find_keys")
	switch step := max(k.Step, 1); {
	case k.unknown():
		c.replySearch("unknown")
	case k.Counted:
		c.replySearch("keynum", "keynumidx", k.NumAt, "firstkey", k.FirstAt, "keystep", step)
	default:
		c.replySearch("range", "lastkey", k.Last, "keystep", step, "limit", k.Limit)
	}
}

// replySearch replies one half of a key spec: names and values, which are words or numbers.
func (c *Call) replySearch(kind string, pairs ...any) {
	w := c.Reply
	w.Map(2)
	w.BulkString("type")
	w.BulkString(kind)
	w.BulkString("spec")
	w.Map(len(pairs) / 2)
	for _, p := range pairs {
		switch p := p.(type) {
		case string:
			w.BulkString(p)
		case int:
			w.Int(int64(p))
		}
	}
}

// legacyKeys gives the first key, the last and the step between, which is all that clients from
// before Redis 7 know; movable tells that there may be more keys than that. One range is told as
// it is. Of several specs, ranges of step 1 that follow one another are told as one.
func (s *Spec) legacyKeys() (first, last, step int, movable bool) {
	if len(s.Keys) == 1 && s.Keys[0].isRange() {
		k := &s.Keys[0]
		return k.At, k.lastPlace(), max(k.Step, 1), k.Flags&KeyIncomplete != 0
	}
	first, before := math.MaxInt, 0
	for i := range s.Keys {
		k := &s.Keys[i]
		if !k.isRange() || k.Step > 1 || before != 0 && before != k.At-1 {
			movable = true
			continue
		}
		movable = movable || k.Flags&KeyIncomplete != 0
		first = min(first, k.At)
		// A last place that counts from the end is beyond any that counts from the start.
		last = int(int32(max(uint32(int32(last)), uint32(int32(k.lastPlace())))))
		before = last
	}
	if first == math.MaxInt {
		return 0, 0, 0, movable
	}
	return first, last, 1, movable
}

func (k *KeySpec) isRange() bool { return k.At > 0 && k.Keyword == "" && !k.Counted }

// lastPlace is where the last key of a range is; negative: from the end.
func (k *KeySpec) lastPlace() int {
	if k.Last < 0 {
		return k.Last
	}
	return k.At + k.Last
}
