package commands

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

func TestDirectivesAreSorted(t *testing.T) {
	if !slices.IsSortedFunc(directives, func(a, b directive) int {
		return strings.Compare(a.name, b.name)
	}) {
		t.Error("want the table sorted by name")
	}
	for _, d := range Directives() {
		if d.Note == "" {
			t.Errorf("%s has no note", d.Name)
		}
	}
}

func TestDefaults(t *testing.T) {
	c := NewConfig()
	for _, x := range []struct{ what, want, got any }{
		{"databases", 16, c.Databases},
		{"proto-max-bulk-len", int64(512 << 20), c.BulkMax.Load()},
		{"client-query-buffer-limit", int64(1 << 30), c.QueryMax.Load()},
		{"maxclients", int64(10000), c.MaxClients.Load()},
		{"requirepass", (*string)(nil), c.Password.Load()},
		{"port", 6379, c.Port},
		{"bind", 2, len(c.Bind)},
		{"partitions", 64, c.Partitions},
		{"keyspace-group", "bull:*:", strings.Join(c.KeyGroups, ",")},
		{"protected-mode", true, c.ProtectedMode.Load()},
		{"loglevel", "notice", LogLevels[c.LogLevel.Load()]},
		{"tcp-keepalive", int64(300), c.KeepAliveSec.Load()},
		{"debug", PermitNo, c.DebugCommand.Load()},
		{"lfu-log-factor", int64(10), c.Keyspace.LFULogFactor.Load()},
	} {
		if x.want != x.got {
			t.Errorf("%v: want %v, got %v", x.what, x.want, x.got)
		}
	}
}

// TestSetBeforeTheStart follows what redis-server 8.0.6 makes of the same lines of a file.
func TestSetBeforeTheStart(t *testing.T) {
	for _, x := range []struct{ lines, name, want, fault string }{
		{"save 900 1", "save", "900 1", ""},
		{`save "900  1 300 10"`, "save", "900 1 300 10", ""},
		{"save 900 1\nsave 300 10", "save", "900 1 300 10", ""},
		{"save 900 1\nsave \"\"\nsave 7 7", "save", "7 7", ""},
		{"save 900", "save", "", "Invalid save parameters"},
		{"save 0 1", "save", "", "Invalid save parameters"},
		{"bind 127.0.0.1 -::1", "bind", "127.0.0.1 -::1", ""},
		{`bind ""`, "bind", "", ""},
		{"port 1 2", "port", "6379", "wrong number of arguments"},
		{"port 70000", "port", "6379", "argument must be between 0 and 65535 inclusive"},
		{"port 0x10", "port", "6379", "argument couldn't be parsed into an integer"},
		{"unixsocketperm 0700", "unixsocketperm", "700", ""},
		{"unixsocketperm 999", "unixsocketperm", "0",
			"argument couldn't be parsed as an octal number"},
		{"unixsocketperm 1777", "unixsocketperm", "0", "argument must be between 0 and 777 inclusive"},
		{"hz 9999", "hz", "500", ""},
		{"enable-debug-command LOCAL", "enable-debug-command", "local", ""},
		{"enable-debug-command maybe", "enable-debug-command", "no",
			"argument(s) must be one of the following: no, yes, local"},
		{"nosuch 1", "nosuch", "", "Bad directive or wrong number of arguments"},
		{"io-threads auto", "io-threads", "0", ""},
		{"partitions 48", "partitions", "64", "argument must be a power of two"},
		{"appendonly yes", "appendonly", "no", "'yes' is not supported yet"},
		{"keyspace-group a:*:\nkeyspace-group b*/", "keyspace-group", "a:*: b*/", ""},
		{`keyspace-group ""`, "keyspace-group", "", ""},
		{"keyspace-group abc", "keyspace-group", "bull:*:",
			"argument must be a pattern with one * in its middle"},
		{"client-output-buffer-limit replica 1mb 2k 3", "client-output-buffer-limit",
			"normal 0 0 0 slave 1048576 2000 3 pubsub 33554432 8388608 60", ""},
		{"client-output-buffer-limit normal 0 0", "client-output-buffer-limit", "-",
			"Wrong number of arguments in buffer limit configuration."},
	} {
		c, fault := NewConfig(), ""
		for line := range strings.SplitSeq(x.lines, "\n") {
			name, rest, _ := strings.Cut(line, " ")
			words := strings.Fields(rest)
			if strings.HasPrefix(rest, `"`) {
				words = []string{strings.Trim(rest, `"`)}
			}
			if err := c.Set(name, words); err != nil {
				fault = err.Error()
			}
		}
		if fault != x.fault {
			t.Errorf("%s: want %q, got %q", x.lines, x.fault, fault)
		}
		if got := c.Value(x.name); got != x.want && x.want != "-" {
			t.Errorf("%s: want %q, got %q", x.lines, x.want, got)
		}
	}
}

func TestConfigGet(t *testing.T) {
	b := newBench(t, 1)
	for _, x := range []struct{ line, want string }{
		{"CONFIG GET MaxMemory", "MaxMemory 0"},
		{"CONFIG GET maxmemory MAXMEMORY maxmemor?", "maxmemory 0"},
		{"CONFIG GET maxm*", "maxmemory 0 maxmemory-policy noeviction"},
		{"CONFIG GET LFU-*", "lfu-decay-time 1 lfu-log-factor 10"},
		{"CONFIG GET nosuch nosuch*", ""},
		{"CONFIG GET slave-*", "slave-read-only yes"},
		{"CONFIG GET *a-read-only slave-read-only", "replica-read-only yes slave-read-only yes"},
		{"CONFIG GET client-query-buffer-limit", "client-query-buffer-limit 1073741824"},
	} {
		if got := bulks(b.do(x.line)); got != x.want {
			t.Errorf("%s: want %q, got %q", x.line, x.want, got)
		}
	}
	b.conn.Resp3 = true
	if got, want := b.do("CONFIG GET port"), "%1\r\n$4\r\nport\r\n$4\r\n6379\r\n"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

// bulks gives the bulk strings of a reply, separated by spaces.
func bulks(reply string) string {
	var out []string
	lines := strings.Split(reply, "\r\n")
	for i := range lines {
		if strings.HasPrefix(lines[i], "$") && i+1 < len(lines) {
			out = append(out, lines[i+1])
		}
	}
	return strings.Join(out, " ")
}

// TestConfigSet follows the replies of redis-server 8.0.6.
func TestConfigSet(t *testing.T) {
	b := newBench(t, 1)
	failed := func(name, why string) string {
		return "-ERR CONFIG SET failed (possibly related to argument '" + name + "') - " + why + "\r\n"
	}
	for _, x := range []struct{ line, want string }{
		{"CONFIG SET timeout 7 maxclients 20", "+OK\r\n"},
		{"CONFIG SET timeout", "-ERR wrong number of arguments for 'config|set' command\r\n"},
		{"CONFIG SET a b c", "-ERR syntax error\r\n"},
		{"CONFIG SET nosuch 2 databases 3",
			"-ERR Unknown option or number of arguments for CONFIG SET - 'nosuch'\r\n"},
		{"CONFIG SET databases 3 nosuch 2", failed("databases", "can't set immutable config")},
		{"CONFIG SET dir /tmp", failed("dir", "can't set protected config")},
		{"CONFIG SET timeout 1 TIMEOUT 2", failed("TIMEOUT", "duplicate parameter")},
		{"CONFIG SET timeout 9 hz abc",
			failed("hz", "argument couldn't be parsed into an integer")},
		{"CONFIG SET timeout 2147483648",
			failed("timeout", "argument must be between 0 and 2147483647 inclusive")},
		{"CONFIG SET proto-max-bulk-len 1",
			failed("proto-max-bulk-len",
				"argument must be between 1048576 and 9223372036854775807 inclusive")},
		{"CONFIG SET maxmemory 1tb", failed("maxmemory", "argument must be a memory value")},
		{"CONFIG SET maxmemory -1", failed("maxmemory", "argument must be a memory value")},
		{"CONFIG SET maxmemory 1GB", "+OK\r\n"},
		{"CONFIG SET protected-mode maybe",
			failed("protected-mode", "argument must be 'yes' or 'no'")},
		{"CONFIG SET maxmemory-policy AllKeys-LFU requirepass secret", "+OK\r\n"},
		{"CONFIG FOO", "-ERR unknown subcommand 'FOO'. Try CONFIG HELP.\r\n"},
		{"CONFIG SET slave-read-only no replica-read-only yes", "+OK\r\n"},
		{"CONFIG SET slave-read-only no SLAVE-read-only yes",
			failed("SLAVE-read-only", "duplicate parameter")},
	} {
		if got := b.do(x.line); got != x.want {
			t.Errorf("%s: want %q, got %q", x.line, x.want, got)
		}
	}
	c := b.server.Config
	if c.TimeoutSec.Load() != 7 || c.MaxClients.Load() != 20 || c.MaxMemory.Load() != 1<<30 ||
		!c.Keyspace.LFU.Load() || *c.Password.Load() != "secret" {
		t.Errorf("the fields do not follow: %s", bulks(b.do("CONFIG GET *")))
	}
	b.run("CONFIG", "SET", "requirepass", "", "save", "900 1", "client-output-buffer-limit",
		"normal 1mb 2k 3")
	if c.Password.Load() != nil || c.NormalHard.Load() != 1<<20 || c.NormalSoft.Load() != 2000 ||
		c.SoftSeconds.Load() != 3 || c.Value("save") != "900 1" {
		t.Errorf("the fields do not follow: %s", bulks(b.do("CONFIG GET *")))
	}
	b.run("CONFIG", "SET", "save", "300 10")
	if got := c.Value("save"); got != "300 10" {
		t.Errorf("CONFIG SET save replaces: want 300 10, got %s", got)
	}
}

func TestMemorySizes(t *testing.T) {
	for _, x := range []struct {
		word string
		want uint64
		ok   bool
	}{
		{"", 0, true},
		{"kb", 0, true},
		{"10", 10, true},
		{"10B", 10, true},
		{"2k", 2000, true},
		{"2KB", 2048, true},
		{"3m", 3e6, true},
		{"3mb", 3 << 20, true},
		{"1g", 1e9, true},
		{"1gb", 1 << 30, true},
		{"1kk", 0, false},
		{"1.5k", 0, false},
		{"-1", 0, false},
		{" 1", 0, false},
		{"18446744073709551616", 1<<64 - 1, true},
		{"99999999999gb", 15140462030378500096, true},
	} {
		if got, ok := parseMemory(x.word); got != x.want || ok != x.ok {
			t.Errorf("%q: want %d %v, got %d %v", x.word, x.want, x.ok, got, ok)
		}
	}
}

// TestConcurrentConfigSet is about CONFIG SET on several event loops: in the end the fields say
// what CONFIG GET says, and no reader sees half of a change.
func TestConcurrentConfigSet(t *testing.T) {
	c := NewConfig()
	at, other := findDirective("timeout"), findDirective("maxclients")
	var writers, reader sync.WaitGroup
	done := make(chan struct{})
	reader.Go(func() {
		for {
			values := *c.values.Load()
			if a, b := values[at].n, values[other].n; a != 0 && a != b {
				t.Errorf("timeout %d beside maxclients %d", a, b)
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	for w := range 4 {
		writers.Go(func() {
			for n := range 500 {
				word := strconv.Itoa(1 + w*1000 + n)
				changes := []change{{"timeout", at, word}, {"maxclients", other, word}}
				if err := c.change(changes); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	close(done)
	reader.Wait()
	want := c.Value("timeout")
	if got := strconv.FormatInt(c.TimeoutSec.Load(), 10); got != want {
		t.Errorf("want timeout %s, got %s", want, got)
	}
	if got := strconv.FormatInt(c.MaxClients.Load(), 10); got != want {
		t.Errorf("want maxclients %s, got %s", want, got)
	}
}

func FuzzDirective(f *testing.F) {
	for _, d := range directives {
		f.Add(d.name, d.initial, true)
		f.Add(d.name, "normal 1 2 3 x", false)
	}
	f.Fuzz(func(t *testing.T, name, value string, start bool) {
		c := NewConfig()
		i := findDirective(name)
		if i < 0 {
			return
		}
		if start {
			if c.Set(name, []string{value}) != nil {
				return
			}
		} else if c.change([]change{{name, i, value}}) != nil {
			return
		}
		// What CONFIG GET shows must be accepted again, and mean the same.
		shown, again := c.Value(name), NewConfig()
		if err := again.Set(name, []string{shown}); err != nil || again.Value(name) != shown {
			t.Errorf("%s %q is shown as %q, which is not taken: %v", name, value, shown, err)
		}
	})
}
