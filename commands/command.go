package commands

import (
	"kiln/actors/keyspace"
	"kiln/wire/resp"
)

// Handler runs one command. It replies exactly once or returns an error, never both; an error
// means that nothing changed.
type Handler func(*Call) error

// Spec is a row of the command table: all that is known of a command. Arity, flags, key specs,
// tips and versions are as Redis says them.
type Spec struct {
	Name       string // lower case; of a subcommand its own name
	Arity      int    // words, the command's name included; negative: at least so many
	Flags      Flags
	Categories Categories // the ACL categories that group and flags do not imply
	Group      Group
	Keys       []KeySpec
	Places     Places // where Keys cannot tell all: SORT's STORE
	Where      Where
	Run        Handler
	Subs       []Spec // sorted by name

	Since      string
	Complexity string
	Doc        string // one sentence, in words of our own
	Syntax     string // the arguments, in the notation of Redis's documentation
	Tips       []string
	Internal   bool   // between servers and for debugging: "syscmd" in COMMAND DOCS
	Deprecated string // the version since which the command is deprecated
	ReplacedBy string
	History    [][2]string // version, change

	table            *Table
	parent           *Spec
	full             string // "client|list"
	categories       Categories
	first, last, gap int // the keys' places, if they are a simple range; gap 0: none
	index            int
}

// Flags say what a command does to the server.
type Flags uint64

// The flags that Redis knows, in the order in which COMMAND INFO prints them, and from Slow on
// our own.
const (
	Write Flags = 1 << iota
	ReadOnly
	DenyOOM
	Module
	Admin
	PubSub
	NoScript
	Blocking
	Loading
	Stale
	SkipMonitor
	SkipSlowlog
	Asking
	Fast
	NoAuth
	MayReplicate
	NoMulti
	MovableKeys
	AllowBusy
	NoAsyncLoading
	TouchesArbitraryKeys
	NoMandatoryKeys
	ProtectedFlag
	Sentinel
	OnlySentinel
	SubjectToNoMulti

	// SlowBySize marks a command that may take long because of what its keys hold: the lookups
	// send it off the event loop where a value is large.
	SlowBySize
)

// Where says who runs a command.
type Where uint8

const (
	// ByKey: the partitions that own the keys.
	ByKey Where = iota
	// Loop: the client's event loop, against Call.Conn. The command touches no key.
	Loop
	// Everywhere: visits partitions one after another, in slices; not at one instant.
	Everywhere
	// AllShards: all partitions are held for the call; its work in each is bounded.
	AllShards
	// Worker: a goroutine of its own, which may take its time; holds nothing.
	Worker
)

// Group is a section of Redis's documentation.
type Group string

// The groups.
const (
	GroupBitmap       Group = "bitmap"
	GroupCluster      Group = "cluster"
	GroupConnection   Group = "connection"
	GroupGeneric      Group = "generic"
	GroupGeo          Group = "geo"
	GroupHash         Group = "hash"
	GroupHyperLogLog  Group = "hyperloglog"
	GroupList         Group = "list"
	GroupPubSub       Group = "pubsub"
	GroupScripting    Group = "scripting"
	GroupServer       Group = "server"
	GroupSet          Group = "set"
	GroupSortedSet    Group = "sorted-set"
	GroupStream       Group = "stream"
	GroupString       Group = "string"
	GroupTransactions Group = "transactions"
)

// KeyFlags say what a command does with the keys of one key spec.
type KeyFlags uint32

// Redis's key-spec flags, in the order in which COMMAND INFO prints them.
const (
	KeyRO KeyFlags = 1 << iota
	KeyRW
	KeyOW
	KeyRM
	KeyAccess
	KeyUpdate
	KeyInsert
	KeyDelete
	KeyNotKey
	KeyIncomplete
	KeyVariable
)

// KeySpec tells where keys are among the arguments, in one of three shapes.
type KeySpec struct {
	Flags KeyFlags
	Notes string

	// The search begins at argument At, or after the keyword, looked for from argument From on.
	At      int
	Keyword string
	From    int

	// Range: from there to Last (relative; -1: the last argument, -2: the one before, ...), every
	// Step arguments; Limit 2 means up to the half of the arguments.
	Last, Step, Limit int

	// Counted: the argument NumAt (relative) counts the keys, the first of which is FirstAt.
	Counted        bool
	NumAt, FirstAt int
}

// KeyPlace is where in a command line a key is, and what is done with it.
type KeyPlace struct {
	At    int
	Flags KeyFlags
}

// Places appends the places of the keys of a command line, whose arity is met. It fails where the
// arguments make no sense.
type Places func(argv [][]byte, dst []KeyPlace) ([]KeyPlace, bool)

// unknown tells that a spec only says that there may be keys: where, only Places knows.
func (k *KeySpec) unknown() bool { return k.At == 0 && k.Keyword == "" }

// Key1 is the spec of a command whose one key is its first argument.
func Key1(flags KeyFlags) []KeySpec { return []KeySpec{{Flags: flags, At: 1, Step: 1}} }

// Key2 is the spec of a command with two keys of one kind first.
func Key2(flags KeyFlags) []KeySpec { return []KeySpec{{Flags: flags, At: 1, Last: 1, Step: 1}} }

// AllKeys is the spec of a command whose arguments are all keys.
func AllKeys(flags KeyFlags) []KeySpec {
	return []KeySpec{{Flags: flags, At: 1, Last: -1, Step: 1}}
}

// Call is one execution of a command. A handler may use it until it returns, and keep nothing.
type Call struct {
	Spec  *Spec
	Args  Args
	Reply *resp.Writer
	Conn  *Session // the client's state; only its own loop may change it
	DB    int      // the database that the command is for
	Now   int64    // Unix nanoseconds, the same all through the call

	// Server is what all calls share: settings, clients, identity.
	Server *Server
	// Shards leads to the partitions. Handlers use the lookups instead.
	Shards Shards
	// Space is the space of all the call's keys, or nil where Shards has to be asked.
	Space *keyspace.Space
	// Quick: the call runs on an event loop, which it must not keep long.
	Quick bool
	// Held: the call holds its keys, not their partitions, and runs on a worker.
	Held bool

	// Keep: slow commands are reading in the partition, so an expired record is left to be. Only a
	// command that writes nothing runs so.
	Keep bool

	// Keys and Hashes are the keys that the router found, and their hashes.
	Keys   [][]byte
	Hashes []uint64

	Effects *Effects
	nextKey int
	dirty   int
	own     int // effects declared by the handler
	dice    uint64
	entered bool
}

// Shards is the call's way to the partitions; package actors has it.
type Shards interface {
	// SpaceOf gives the space that owns a key in a database, entering its partition where the
	// call does not hold it. Leave must follow.
	SpaceOf(db int, key []byte, h uint64) (*keyspace.Space, error)
	// Leave gives back what SpaceOf or Enter entered.
	Leave()
	// Count is the number of partitions.
	Count() int
	// Enter enters a partition and gives its space of a database. Leave must follow. On an event
	// loop it fails with ErrElsewhere when the partition is busy.
	Enter(partition, db int) (*keyspace.Space, error)
	// Peek gives a partition's space of a database without entering: only what any goroutine may
	// ask of a space is allowed.
	Peek(partition, db int) *keyspace.Space
	// Flush replaces all spaces of a database, or of all databases (-1), by empty ones and has
	// the old ones freed in the background. REQUIRES: the call holds all partitions.
	Flush(db int)
	// Swap exchanges two databases. REQUIRES: the call holds all partitions.
	Swap(a, b int)
}
