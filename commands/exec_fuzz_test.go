package commands

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// auditor is a listener that looks at each effect, and carries it out on a replica: a journal is
// right if it can be replayed, and what comes out is the same data.
type auditor struct {
	t       *testing.T
	replica *bench
	line    string // what runs
}

func (a *auditor) Journal(effects []Effect) {
	for _, e := range effects {
		words := make([]string, len(e.Args))
		for i, w := range e.Args {
			words[i] = string(w)
		}
		if len(words) == 0 {
			a.t.Fatalf("%q: an empty effect", a.line)
		}
		spec, err := Resolve(e.Args)
		if err != nil || spec.Flags&Write == 0 {
			a.t.Fatalf("%q: the effect %q is no write", a.line, words)
		}
		a.replica.conn.DB = e.DB
		if reply := a.replica.run(words...); reply[0] == '-' {
			a.t.Fatalf("%q: the effect %q fails: %s", a.line, words, reply)
		}
	}
}

func (a *auditor) Changed(db int, _ []byte)                  { a.inRange(db, 0) }
func (a *auditor) Event(_ Class, _ string, db int, _ []byte) { a.inRange(db, 0) }
func (a *auditor) Ready(db int, _ []byte)                    { a.inRange(db, 0) }
func (a *auditor) Flushed(db int)                            { a.inRange(db, -1) }

func (a *auditor) inRange(db, least int) {
	if db < least || db >= a.replica.server.Config.Databases {
		a.t.Fatalf("%q: told of database %d", a.line, db)
	}
}

// data writes down all keys of a bench with their values and deadlines.
func (b *bench) data() string {
	var out strings.Builder
	b.server.Config = NewConfig() // it may ask for a password by now
	b.conn.Begin(b.server)
	for db := range b.server.Config.Databases {
		b.conn.DB = db
		var keys []string
		for _, v := range b.value("keys", "*").Elems {
			keys = append(keys, string(v.Text))
		}
		slices.Sort(keys)
		for _, k := range keys {
			out.WriteString(strings.Join([]string{
				b.run("pexpiretime", k), b.run("type", k), b.run("get", k), k, "\n",
			}, " "))
		}
	}
	return out.String()
}

// FuzzExec runs command lines. Each must have one whole reply, which can be read back, and
// effects that make a replica hold the same data.
func FuzzExec(f *testing.F) {
	for _, seed := range execSeeds {
		f.Add(seed)
	}
	f.Add(strings.Join(connectionLines, "\n"))
	b, replica := newBench(f, 3), newBench(f, 2)
	f.Fuzz(func(t *testing.T, script string) {
		b.renew(t)
		replica.renew(t)
		audit := &auditor{t: t, replica: replica}
		b.call.Effects.Listener = audit
		for i, line := range strings.Split(script, "\n") {
			words := unquote(line)
			if i == 256 || len(line) > 4096 {
				break
			}
			if len(words) == 0 || tooMuch(words) {
				continue
			}
			audit.line = line
			if !b.answers(words) {
				return
			}
			b.now += 1e6
			replica.now = b.now
		}
		b.call.Effects.Listener = nil
		if want, got := b.data(), replica.data(); want != got {
			t.Errorf("%q: want the replica to hold\n%s\ngot\n%s", script, want, got)
		}
	})
}

// renew makes a bench as good as new. To make a new one costs a hundred times as much: its memory
// is the system's.
func (b *bench) renew(t *testing.T) {
	b.t, b.now, b.log = t, 1_700_000_000_000_000_000, recorder{}
	b.server.Config = NewConfig()
	b.server.Config.DebugCommand.Store(PermitYes)
	b.server.Config.BulkMax.Store(1 << 20) // What a fuzzer tries must fit into memory.
	b.process.shutdowns, b.closed = nil, nil
	b.conn = &Session{ID: 1, Created: b.now, Addr: "127.0.0.1:1001"}
	b.call.Conn, b.clients = b.conn, []*Session{b.conn}
	b.conn.Begin(b.server)
	b.call.Effects = &Effects{Listener: &b.log}
	b.Flush(-1)
}

// answers wants one whole reply, except of a SHUTDOWN that succeeds.
func (b *bench) answers(words []string) bool {
	if strings.EqualFold(words[0], "shutdown") {
		b.run(words...)
		return len(b.process.shutdowns) == 0
	}
	b.value(words...)
	return true
}

// tooMuch tells of lines that do as they are told, and are told to do too much.
func tooMuch(words []string) bool {
	if len(words) < 3 {
		return false
	}
	name, sub := strings.ToLower(words[0]), strings.ToLower(words[1])
	switch name {
	case "debug":
		return sub == "populate" || sub == "stringmatch-len"
	case "config":
		return sub == "set" && strings.Contains(strings.ToLower(strings.Join(words, " ")), "max")
	}
	return false
}

// execSeeds are scripts whose lines a fuzzer can shuffle.
var execSeeds = []string{
	"set 0 1\nconfig set requirepass 0\nget 0",
	"set a 1 ex 10\nget a\npexpiretime a\nincr a\nappend a x\nstrlen a\ngetrange a 0 -1",
	"set a 1 px 1\nget a\nget a\nexists a\nset a 2 keepttl\nset a 3 xx get\nset b 1 nx get",
	"mset a 1 b 2 c 3\nmget a b c d\nmsetnx a 1 e 2\ndel a b\nunlink c\nexists a b c\ndbsize",
	"setrange a 5 x\nsubstr a 0 3\nsetrange a 1048577 x\ngetdel a\ngetex b ex 5\ngetset a 1",
	"incrby a 9223372036854775807\nincr a\ndecrby a -9223372036854775808\nincrbyfloat a 1e30",
	"set a ohmytext\nset b mynewtext\nlcs a b idx withmatchlen minmatchlen 2\nlcs a b len",
	"set a 1\nrename a b\nrenamenx b c\ncopy c d replace\ncopy c c db 3\nmove d 2\nselect 2\nget d",
	"set a 1\nexpire a 10 nx\nexpire a -1\nttl a\npersist a\npexpireat b 1 xx\nexpireat a 1",
	"set a 1\nscan 0 match * count 10 type string\nkeys a*\nrandomkey\ntype a\ntouch a b",
	"set a 1\nobject encoding a\nobject freq a\nobject idletime a\nobject refcount a\nobject help",
	"set a 1\ndump a\nrestore b 0 \"\" replace\nsort a by x limit 0 1 get # store b\nsort_ro a",
	"set a 1\nswapdb 0 1\nflushdb async\nselect 1\nflushall\nselect 16",
	"config get *\nconfig set maxmemory-policy allkeys-lru\nconfig set requirepass x\nconfig foo",
	"info everything\ninfo server clients\ntime\nlolwut version 5\nrole\nlastsave\nmemory usage a",
	"debug sleep 0\ndebug object a\ndebug set-active-expire 0\ndebug help\ndebug nosuch",
	"shutdown nosave\nshutdown abort\nbgsave\nsave\nslowlog get\nlatency latest\nmodule list",
	"hello 3\nclient list\nclient info\ncommand\ncommand docs\ncommand list\ncommand help",
	"command getkeys set a b get\ncommand getkeysandflags mset a 1 b\ncommand getkeys sort a store b",
	"\"\" \"\"\n\"a\\0b\"\nget \"a\\r\\nb\"\nset \"\" \"\"\nget \"\"",
}

// TestUnquote keeps the seeds what they seem to be.
func TestUnquote(t *testing.T) {
	want := [][]byte{[]byte("set"), {}, []byte("a b\n"), []byte("c")}
	for i, w := range unquote(`set "" "a b\n" c`) {
		if !bytes.Equal([]byte(w), want[i]) {
			t.Errorf("want %q, got %q", want[i], w)
		}
	}
}
