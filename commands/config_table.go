package commands

import "strings"

// directive is a row of what can be configured.
type directive struct {
	name    string
	alias   string // an older name
	initial string // the default; of a list, its words joined by spaces
	change  changeable
	list    bool   // takes several words
	note    string // what --help says; also where it does not do yet what it says

	// parse makes a value of words. Where a directive is repeated, and where words only change
	// part of it, the new value depends on the old. start: not by CONFIG SET.
	parse func(old setting, words []string, start bool) (setting, error)
	// apply brings the fields up to date.
	apply func(*Config, setting)
}

// changeable says when a directive may be set.
type changeable uint8

const (
	changeFixed     changeable = iota // before the start only
	changeLive                        // by CONFIG SET too
	changeProtected                   // not by CONFIG SET, since that has been used to break in
)

const (
	intMax  = 1<<31 - 1
	uintMax = 1<<32 - 1
	longMax = 1<<63 - 1
	mega    = 1 << 20
)

// directives is what can be configured so far, sorted by name.
var directives = []directive{
	{
		name: "appendonly", initial: "no", change: changeLive, note: "only \"no\" so far",
		parse: never("yes", yesOrNo), apply: noEffect,
	},
	{
		name: "bind", initial: "* -::*", list: true,
		note:  "addresses to listen on; a leading - excuses one that is not there",
		parse: parseBind,
		apply: func(c *Config, v setting) { c.Bind = strings.Fields(v.text) },
	},
	{
		name: "client-output-buffer-limit", change: changeLive, list: true,
		initial: "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60",
		note:    "class, hard limit, soft limit, seconds; only class normal has an effect so far",
		parse:   parseOutputLimits, apply: applyOutputLimits,
	},
	{
		name: "client-query-buffer-limit", initial: "1gb", change: changeLive,
		note: "bytes of one command that is not complete yet", parse: memoryBetween(mega, longMax),
		apply: func(c *Config, v setting) { c.QueryMax.Store(v.n) },
	},
	{
		name: "cluster-enabled", initial: "no", note: "only \"no\" so far",
		parse: never("yes", yesOrNo), apply: noEffect,
	},
	{
		name: "daemonize", initial: "no", note: "only \"no\": leave it to systemd or a container",
		parse: never("yes", yesOrNo), apply: noEffect,
	},
	{
		name: "databases", initial: "16", note: "number of databases, for SELECT",
		parse: intBetween(1, intMax), apply: func(c *Config, v setting) { c.Databases = int(v.n) },
	},
	{
		name: "dir", initial: ".", change: changeProtected, note: "the working directory",
		parse: anyText, apply: func(c *Config, v setting) { c.Dir = v.text },
	},
	{
		name: "enable-debug-command", initial: "no", note: "who may use DEBUG: no, yes or local",
		parse: enumOf("no", "yes", "local"),
		apply: func(c *Config, v setting) { c.DebugCommand.Store(int32(v.n)) },
	},
	{
		name: "hash-seed", initial: "0",
		note:  "Kiln's own: decides which keys share a partition; 0 for a random one",
		parse: intBetween(0, longMax),
		apply: func(c *Config, v setting) { c.HashSeed = uint64(v.n) },
	},
	{
		name: "hz", initial: "10", change: changeLive,
		note:  "accepted and shown; nothing here runs by it",
		parse: parseHz, apply: func(c *Config, v setting) { c.Hz.Store(v.n) },
	},
	{
		name: "io-threads", initial: "0",
		note:  "number of event loops, at most 128; 0 or auto for what suits the machine",
		parse: parseLoops, apply: func(c *Config, v setting) { c.Loops = int(v.n) },
	},
	{
		name: "keyspace-group", initial: "bull:*:", list: true,
		note: "Kiln's own: keys alike up to the end of this pattern share a partition; " +
			"may repeat, \"\" for none",
		parse: parseGroups,
		apply: func(c *Config, v setting) { c.KeyGroups = strings.Fields(v.text) },
	},
	{
		name: "lfu-decay-time", initial: "1", change: changeLive,
		note:  "minutes after which a key's access counter falls by one; 0 for never",
		parse: intBetween(0, intMax),
		apply: func(c *Config, v setting) { c.Keyspace.LFUDecayMin.Store(v.n) },
	},
	{
		name: "lfu-log-factor", initial: "10", change: changeLive,
		note:  "how slowly a key's access counter rises",
		parse: intBetween(0, intMax),
		apply: func(c *Config, v setting) { c.Keyspace.LFULogFactor.Store(v.n) },
	},
	{
		name: "logfile", initial: "", note: "accepted and shown; the log goes to standard error",
		parse: anyText, apply: func(c *Config, v setting) { c.LogFile = v.text },
	},
	{
		name: "loglevel", initial: "notice", change: changeLive,
		note: "accepted and shown; all that there is to say is logged", parse: enumOf(LogLevels...),
		apply: func(c *Config, v setting) { c.LogLevel.Store(int32(v.n)) },
	},
	{
		name: "maxclients", initial: "10000", change: changeLive, note: "connections at one time",
		parse: intBetween(1, uintMax), apply: func(c *Config, v setting) { c.MaxClients.Store(v.n) },
	},
	{
		name: "maxmemory", initial: "0", change: changeLive,
		note:  "accepted and shown, not enforced yet; 0 for no limit",
		parse: memoryBetween(0, ^uint64(0)),
		apply: func(c *Config, v setting) { c.MaxMemory.Store(v.n) },
	},
	{
		name: "maxmemory-policy", initial: "noeviction", change: changeLive,
		note: "nothing is evicted yet; the LFU policies make OBJECT FREQ count",
		parse: enumOf("volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl",
			"allkeys-lru", "allkeys-lfu", "allkeys-random", "noeviction"),
		apply: func(c *Config, v setting) {
			c.Keyspace.LFU.Store(strings.HasSuffix(v.text, "-lfu"))
		},
	},
	{
		name: "partitions", initial: "64",
		note:  "Kiln's own: parts of the keyspace that can be used at one time; a power of two",
		parse: parsePartitions, apply: func(c *Config, v setting) { c.Partitions = int(v.n) },
	},
	{
		name: "port", initial: "6379", note: "TCP port; 0 for none", parse: intBetween(0, 65535),
		apply: func(c *Config, v setting) { c.Port = int(v.n) },
	},
	{
		name: "protected-mode", initial: "yes", change: changeLive,
		note:  "without a password, only this machine may connect",
		parse: yesOrNo, apply: func(c *Config, v setting) { c.ProtectedMode.Store(v.n != 0) },
	},
	{
		name: "proto-max-bulk-len", initial: "512mb", change: changeLive,
		note: "bytes of one argument, and of a string", parse: memoryBetween(mega, longMax),
		apply: func(c *Config, v setting) { c.BulkMax.Store(v.n) },
	},
	{
		name: "replica-read-only", alias: "slave-read-only", initial: "yes", change: changeLive,
		note: "accepted and shown; there are no replicas yet", parse: yesOrNo, apply: noEffect,
	},
	{
		name: "requirepass", initial: "", change: changeLive, note: "the password; empty for none",
		parse: anyText,
		apply: func(c *Config, v setting) {
			if v.text == "" {
				c.Password.Store(nil)
			} else {
				c.Password.Store(&v.text)
			}
		},
	},
	{
		name: "save", initial: "", change: changeLive, list: true,
		note:  "accepted and shown; nothing is saved yet",
		parse: parseSave, apply: noEffect,
	},
	{
		name: "tcp-backlog", initial: "511",
		note:  "accepted and shown; as many wait as the system permits",
		parse: intBetween(0, intMax), apply: func(c *Config, v setting) { c.Backlog = int(v.n) },
	},
	{
		name: "tcp-keepalive", initial: "300", change: changeLive,
		note: "seconds after which a silent peer is probed; 0 for never", parse: intBetween(0, intMax),
		apply: func(c *Config, v setting) { c.KeepAliveSec.Store(v.n) },
	},
	{
		name: "timeout", initial: "0", change: changeLive,
		note: "seconds after which an idle client is closed; 0 for never", parse: intBetween(0, intMax),
		apply: func(c *Config, v setting) { c.TimeoutSec.Store(v.n) },
	},
	{
		name: "unixsocket", initial: "", note: "path of a socket to listen on; empty for none",
		parse: anyText, apply: func(c *Config, v setting) { c.UnixSocket = v.text },
	},
	{
		name: "unixsocketperm", initial: "0", note: "the socket's permissions, in octal",
		parse: octalBetween(0, 0o777),
		apply: func(c *Config, v setting) { c.UnixSocketPerm = uint32(v.n) },
	},
}

// noEffect is for directives that have no effect but to be shown.
func noEffect(*Config, setting) {}

// defaultWords are the default as a file would have it.
func (d *directive) defaultWords() []string {
	if d.list {
		return strings.Fields(d.initial)
	}
	return []string{d.initial}
}
