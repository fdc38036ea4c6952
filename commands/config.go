package commands

import (
	"slices"
	"strings"
	"sync/atomic"

	"kiln/actors/keyspace"
)

// Config is what an operator sets: directives (config_table.go) as they are shown, and the fields
// that follow from them. What CONFIG SET may change while others read is in atomics; the rest is
// written before the start only.
type Config struct {
	Databases  int
	BulkMax    atomic.Int64 // proto-max-bulk-len
	QueryMax   atomic.Int64 // client-query-buffer-limit
	MaxClients atomic.Int64
	Password   atomic.Pointer[string] // requirepass, nil for none
	ActiveOff  atomic.Bool            // DEBUG SET-ACTIVE-EXPIRE 0
	Keyspace   *keyspace.Settings

	Port           int // 0: no TCP
	Bind           []string
	UnixSocket     string // path, empty for none
	UnixSocketPerm uint32 // 0: as the umask leaves it
	Backlog        int
	Loops          int // io-threads; 0: as many as are of use
	Partitions     int
	KeyGroups      []string // keyspace-group
	HashSeed       uint64   // 0: a random one
	Dir            string
	LogFile        string

	DebugCommand  atomic.Int32 // enable-debug-command: PermitNo, ...
	ModuleCommand atomic.Int32 // enable-module-command: nothing sets it yet
	ProtectedMode atomic.Bool
	TimeoutSec    atomic.Int64 // idle clients; 0: never
	KeepAliveSec  atomic.Int64 // tcp-keepalive; 0: off
	MaxMemory     atomic.Int64 // 0: no limit
	Hz            atomic.Int64
	LogLevel      atomic.Int32 // a place in LogLevels

	// client-output-buffer-limit of class normal, in bytes; 0: none.
	NormalHard, NormalSoft, SoftSeconds atomic.Int64

	// values is what each directive is set to, in the order of the table. It is never changed,
	// but replaced as a whole: so CONFIG GET sees one instant.
	values atomic.Pointer[[]setting]
}

// setting is a directive's value: its text, and the number where it is one.
type setting struct {
	text string
	n    int64
	set  bool // by a file or the command line: repeated directives add to each other
}

// Who may use a command that can do harm: nobody, all, connections from this machine.
const (
	PermitNo int32 = iota
	PermitYes
	PermitLocal
)

// LogLevels are the values of loglevel, from the most talkative.
var LogLevels = []string{"debug", "verbose", "notice", "warning", "nothing"}

// NewConfig returns the defaults.
func NewConfig() *Config {
	c := &Config{Keyspace: keyspace.NewSettings()}
	values := make([]setting, len(directives))
	for i := range directives {
		d := &directives[i]
		v, err := d.parse(setting{}, d.defaultWords(), true)
		if err != nil {
			panic("commands: default of " + d.name + ": " + err.Error())
		}
		v.set = false
		values[i] = v
		d.apply(c, v)
	}
	c.values.Store(&values)
	return c
}

// Set sets a directive before the start, from a configuration file or the command line. The
// error says what is wrong with the words, as Redis does.
func (c *Config) Set(name string, words []string) error {
	i := findDirective(name)
	if i < 0 {
		return errDirective
	}
	d := &directives[i]
	if !d.list && len(words) != 1 {
		return errDirectiveWords
	}
	if d.list && len(words) == 1 {
		words = strings.Fields(words[0]) // save "900 1"
	}
	values := slices.Clone(*c.values.Load())
	v, err := d.parse(values[i], words, true)
	if err != nil {
		return err
	}
	v.set = true
	values[i] = v
	c.values.Store(&values)
	d.apply(c, v)
	return nil
}

// Value is what a directive is set to, as CONFIG GET shows it; empty if there is no such
// directive.
func (c *Config) Value(name string) string {
	if i := findDirective(name); i >= 0 {
		return (*c.values.Load())[i].text
	}
	return ""
}

// change is a directive's new value, as CONFIG SET has it.
type change struct {
	name string // as the client spells it
	at   int    // in the table
	word string
}

// change sets several directives or, if one of them is refused, none.
func (c *Config) change(changes []change) error {
	for {
		old := c.values.Load()
		next := slices.Clone(*old)
		for _, ch := range changes {
			d := &directives[ch.at]
			v, err := d.parse(next[ch.at], d.split(ch.word), false)
			if err != nil {
				return errConfigSet(ch.name, err)
			}
			next[ch.at] = v
		}
		if c.values.CompareAndSwap(old, &next) {
			c.settle(changes)
			return nil
		}
	}
}

// settle brings the fields up to date with values. Another loop may change the same directive
// meanwhile; whoever is last to look finds the newest values, and so the fields end as they say.
func (c *Config) settle(changes []change) {
	for {
		values := c.values.Load()
		for _, ch := range changes {
			directives[ch.at].apply(c, (*values)[ch.at])
		}
		if c.values.Load() == values {
			return
		}
	}
}

// findDirective gives a directive's place in the table, -1 if there is none.
func findDirective(name string) int {
	name = strings.ToLower(name)
	return slices.IndexFunc(directives, func(d directive) bool {
		return d.name == name || d.alias != "" && d.alias == name
	})
}

func (d *directive) names() []string {
	if d.alias == "" {
		return []string{d.name}
	}
	return []string{d.name, d.alias}
}

// split is what CONFIG SET does to the value of a directive of several words: at each space.
func (d *directive) split(word string) []string {
	switch {
	case !d.list:
		return []string{word}
	case word == "":
		return nil
	default:
		return strings.Split(word, " ")
	}
}

// A Directive is one line of what can be configured, for --help.
type Directive struct {
	Name, Default, Note string
	Live                bool // CONFIG SET may change it
}

// Directives lists what can be configured, sorted by name.
func Directives() []Directive {
	var out []Directive
	for _, d := range directives {
		out = append(out, Directive{d.name, d.initial, d.note, d.change == changeLive})
	}
	return out
}
