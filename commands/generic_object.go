package commands

import (
	"strings"

	"kiln/actors/keyspace"
)

var objectCommands = []Spec{
	{
		Name: "encoding", Arity: 3, Flags: ReadOnly, Group: GroupGeneric, Keys: objectKey,
		Run: cmdObjectEncoding, Since: "2.2.3", Complexity: "O(1)", Syntax: "key",
		Doc:  "Names the way in which a value is stored.",
		Tips: []string{"nondeterministic_output"},
	},
	{
		Name: "freq", Arity: 3, Flags: ReadOnly, Group: GroupGeneric, Keys: objectKey,
		Run: cmdObjectFreq, Since: "4.0.0", Complexity: "O(1)", Syntax: "key",
		Doc:  "Tells how often a key is used, on a logarithmic scale up to 255.",
		Tips: []string{"nondeterministic_output"},
	},
	{
		Name: "help", Arity: 2, Flags: Loading | Stale, Group: GroupGeneric, Where: Loop,
		Run: cmdHelp, Since: "6.2.0", Complexity: "O(1)", Doc: "Prints this help.",
	},
	{
		Name: "idletime", Arity: 3, Flags: ReadOnly, Group: GroupGeneric, Keys: objectKey,
		Run: cmdObjectIdletime, Since: "2.2.3", Complexity: "O(1)", Syntax: "key",
		Doc:  "Tells for how many seconds a key has not been used.",
		Tips: []string{"nondeterministic_output"},
	},
	{
		Name: "refcount", Arity: 3, Flags: ReadOnly, Group: GroupGeneric, Keys: objectKey,
		Run: cmdObjectRefcount, Since: "2.2.3", Complexity: "O(1)", Syntax: "key",
		Doc:  "Counts who refers to a value, as Redis would.",
		Tips: []string{"nondeterministic_output"},
	},
}

var objectKey = []KeySpec{{Flags: KeyRO, At: 2, Step: 1}}

func cmdObjectEncoding(c *Call) error {
	return c.replyObject(func(_ *keyspace.Space, e keyspace.Entry) error {
		c.Reply.BulkString(e.EncodingName())
		return nil
	})
}

func cmdObjectFreq(c *Call) error {
	return c.replyObject(func(s *keyspace.Space, e keyspace.Entry) error {
		if !c.Server.Config.Keyspace.LFU.Load() {
			return errNotLFU
		}
		c.Reply.Int(s.Frequency(e, c.Now))
		return nil
	})
}

func cmdObjectIdletime(c *Call) error {
	return c.replyObject(func(s *keyspace.Space, e keyspace.Entry) error {
		if c.Server.Config.Keyspace.LFU.Load() {
			return errLFU
		}
		c.Reply.Int(s.Idle(e, c.Now))
		return nil
	})
}

// Redis keeps one object for each small integer, and gives it this count; but not where each key
// has to have an access clock of its own, which is in the object.
const (
	sharedIntegers = 10000
	sharedRefcount = 1<<31 - 1
)

func cmdObjectRefcount(c *Call) error {
	return c.replyObject(func(_ *keyspace.Space, e keyspace.Entry) error {
		c.Reply.Int(c.refcount(e))
		return nil
	})
}

func (c *Call) refcount(e keyspace.Entry) int64 {
	if e.Type() != keyspace.String {
		return 1
	}
	n, ok := e.Int()
	if !ok || n < 0 || n >= sharedIntegers || c.Server.Config.clocksKeys() {
		return 1
	}
	return sharedRefcount
}

// clocksKeys tells whether keys are evicted by their access clocks.
func (c *Config) clocksKeys() bool {
	policy := c.Value("maxmemory-policy")
	return c.MaxMemory.Load() > 0 &&
		(strings.HasSuffix(policy, "-lru") || strings.HasSuffix(policy, "-lfu"))
}

// replyObject has a reply made about a key, null if there is none.
func (c *Call) replyObject(reply func(*keyspace.Space, keyspace.Entry) error) (err error) {
	failed := c.inspectAs(c.Args.Next(), lookupInspect,
		func(s *keyspace.Space, e keyspace.Entry) {
			if e.Exists() {
				err = reply(s, e)
			} else {
				c.Reply.Null()
			}
		})
	if failed != nil {
		return failed
	}
	return err
}
