package commands

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"kiln/wire/resp"
)

// info gives the fields of a reply to INFO.
func (b *bench) info(sections string) map[string]string {
	b.t.Helper()
	_, text, _ := strings.Cut(b.do("INFO "+sections), "\r\n")
	fields := map[string]string{}
	for line := range strings.SplitSeq(text, "\r\n") {
		if name, value, ok := strings.Cut(line, ":"); ok {
			fields[name] = value
		}
	}
	return fields
}

func TestInfoSections(t *testing.T) {
	b := newBench(t, 4)
	headlines := regexp.MustCompile(`(?m)^# (\w+)\r$`)
	all := "Server Clients Memory Persistence Stats Replication CPU Modules Errorstats Cluster " +
		"Keyspace"
	for _, x := range []struct{ line, want string }{
		{"INFO", all},
		{"INFO default", all},
		{"INFO nosuch ALL", all},
		{"INFO everything", all},
		{"INFO nosuch", ""},
		{"INFO Replication clients clients", "Clients Replication"},
	} {
		var got []string
		for _, m := range headlines.FindAllStringSubmatch(b.do(x.line), -1) {
			got = append(got, m[1])
		}
		if strings.Join(got, " ") != x.want {
			t.Errorf("%s: want %s, got %s", x.line, x.want, got)
		}
	}
	if got, want := b.do("INFO cluster keyspace"),
		"$49\r\n# Cluster\r\ncluster_enabled:0\r\n\r\n# Keyspace\r\n\r\n"; got[4:] != want[4:] {
		t.Errorf("want %q, got %q", want, got)
	}
	b.conn.Resp3 = true
	if got, want := b.do("INFO nosuch"), "=4\r\ntxt:\r\n"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

// TestInfoFields names what BullMQ, Sidekiq, StackExchange.Redis and monitoring read.
func TestInfoFields(t *testing.T) {
	b := newBench(t, 4)
	b.server.RunID = strings.Repeat("ab", 20)
	b.server.Loops = 2
	fields := b.info("")
	for name, want := range map[string]string{
		"redis_version": RedisVersion, "redis_mode": "standalone", "server_name": "kiln",
		"os": "Linux 6.1.0 x86_64", "arch_bits": "64", "tcp_port": "6379", "process_id": "4711",
		"run_id": b.server.RunID, "uptime_in_seconds": "0", "uptime_in_days": "0",
		"executable": "/usr/bin/kiln", "config_file": "", "io_threads_active": "1",
		"listener0":         "name=tcp,bind=*,bind=-::*,port=6379",
		"connected_clients": "1", "blocked_clients": "0", "maxclients": "10000",
		"used_memory": "10485760", "used_memory_human": "10.00M", "used_memory_rss": "31457280",
		"used_memory_peak": "10485760", "used_memory_peak_human": "10.00M", "maxmemory": "0",
		"maxmemory_human": "0B", "maxmemory_policy": "noeviction",
		"mem_fragmentation_ratio": "3.00", "used_memory_dataset_perc": "80.00%",
		"loading": "0", "async_loading": "0", "rdb_bgsave_in_progress": "0",
		"rdb_last_bgsave_status": "ok", "rdb_last_save_time": "1700000000", "aof_enabled": "0",
		"aof_rewrite_in_progress": "0", "aof_last_write_status": "ok",
		"total_commands_processed": "0", "instantaneous_ops_per_sec": "0", "keyspace_hits": "0",
		"keyspace_misses": "0", "expired_keys": "0", "evicted_keys": "0",
		"rejected_connections": "0", "role": "master", "connected_slaves": "0",
		"master_replid": b.server.RunID, "master_repl_offset": "0",
		"used_cpu_sys": "1.500000", "used_cpu_user": "2.250000", "cluster_enabled": "0",
	} {
		if got, ok := fields[name]; !ok || got != want {
			t.Errorf("%s: want %q, got %q", name, want, got)
		}
	}
	text := strings.ToLower(b.do("INFO"))
	if strings.Contains(text, "dragonfly") || strings.Contains(text, "valkey") {
		t.Error("BullMQ would take the server for another one")
	}
}

func TestInfoKeyspaceAndStats(t *testing.T) {
	b := newBench(t, 4)
	b.do("set a 1")
	b.do("get a")
	b.do("get nosuch")
	b.do("get nosuch2")
	b.do("incr b c")
	if got, want := b.info("keyspace")["db0"], "keys=1,expires=0,avg_ttl=0,subexpiry=0"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
	for n := range 100 {
		b.do(fmt.Sprintf("set t%d v px 50000", n))
	}
	b.conn.DB = 7
	b.do("set x 1")
	fields := b.info("keyspace")
	if got, want := fields["db0"], "keys=101,expires=100,avg_ttl=50000,subexpiry=0"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
	if got, want := fields["db7"], "keys=1,expires=0,avg_ttl=0,subexpiry=0"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
	fields = b.info("stats")
	if fields["keyspace_hits"] != "1" || fields["keyspace_misses"] != "2" {
		t.Errorf("want 1 hit and 2 misses, got %v", fields)
	}
	if got := b.do("CONFIG RESETSTAT"); got != "+OK\r\n" {
		t.Errorf("RESETSTAT: %q", got)
	}
	fields = b.info("stats")
	if fields["keyspace_hits"] != "0" || fields["keyspace_misses"] != "0" {
		t.Errorf("want none after RESETSTAT, got %v", fields)
	}
}

func TestErrorstats(t *testing.T) {
	b := newBench(t, 1)
	s := &b.server.Stats
	b.do("set a x")
	b.do("incr a")
	s.CountError("WRONGTYPE Operation")
	s.CountError("odd")
	s.CountError("A:B\nC x")
	if got, want := b.do("INFO errorstats")[5:], "# Errorstats\r\nerrorstat_A_B_C:count=1\r\n"+
		"errorstat_ERR:count=2\r\nerrorstat_WRONGTYPE:count=1\r\n\r\n"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
	if got := b.info("stats")["total_error_replies"]; got != "4" {
		t.Errorf("want 4 errors, got %s", got)
	}
	s.Reset()
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for n := range 1000 {
				s.CountError(resp.Error(fmt.Sprintf("E%d x", (n+w)%200)))
			}
		})
	}
	all.Wait()
	prefixes, _ := s.errorsByPrefix()
	if len(prefixes) != prefixMax || s.Errors.Load() != 4000 {
		t.Errorf("want %d kinds of 4000 errors, got %d of %d", prefixMax, len(prefixes),
			s.Errors.Load())
	}
}

func TestRates(t *testing.T) {
	b := newBench(t, 1)
	now := b.now
	for range 2 * rateSamples {
		b.server.Stats.Commands.Add(50)
		b.server.Stats.BytesIn.Add(102_400)
		b.server.Tick(now)
		now += 1e8
	}
	fields := b.info("stats")
	if fields["instantaneous_ops_per_sec"] != "500" ||
		fields["instantaneous_input_kbps"] != "1000.00" {
		t.Errorf("want 500 commands and 1000 kB in a second, got %v", fields)
	}
	b.server.Stats.Reset()
	b.server.Tick(now)
	if n := b.server.Stats.rates.commands.Load(); n < 0 || n > 500 {
		t.Errorf("a reset must not count backwards: %d", n)
	}
}

// TestDebug follows the replies of redis-server 8.0.6.
func TestDebug(t *testing.T) {
	b := newBench(t, 4)
	unknown := func(name string) string {
		return "-ERR unknown subcommand or wrong number of arguments for '" + name +
			"'. Try DEBUG HELP.\r\n"
	}
	for _, x := range []struct{ line, want string }{
		{"DEBUG", "-ERR wrong number of arguments for 'debug' command\r\n"},
		{"DEBUG JMAP", unknown("JMAP")},
		{"DEBUG SLEEP", unknown("SLEEP")},
		{"DEBUG SLEEP 0.5", "+OK\r\n"},
		{"debug sleep abc", "+OK\r\n"},
		{"DEBUG SLEEP -1", "+OK\r\n"},
		{"DEBUG HELP x", unknown("HELP")},
		{"DEBUG OBJECT nosuch", "-ERR no such key\r\n"},
		{"DEBUG SET-ACTIVE-EXPIRE 0", "+OK\r\n"},
		{"DEBUG POPULATE abc", "-ERR value is out of range, must be positive\r\n"},
		{"DEBUG POPULATE 1 x -1", "-ERR value is out of range, must be positive\r\n"},
		{"DEBUG POPULATE 1 x 1 2", unknown("POPULATE")},
		{"set bar:1 mine", "+OK\r\n"},
		{"DEBUG POPULATE 2", "+OK\r\n"},
		{"DEBUG POPULATE 2 bar 9", "+OK\r\n"},
		{"DEBUG POPULATE 1 cut 3", "+OK\r\n"},
		{"mget key:0 key:1", "*2\r\n$7\r\nvalue:0\r\n$7\r\nvalue:1\r\n"},
		{"mget bar:0 bar:1 cut:0", "*3\r\n$9\r\nvalue:0\x00\x00\r\n$4\r\nmine\r\n$3\r\nval\r\n"},
	} {
		if got := b.do(x.line); got != x.want {
			t.Errorf("%s: want %q, got %q", x.line, x.want, got)
		}
	}
	if b.process.slept != 5e8 {
		t.Errorf("want half a second slept, got %d", b.process.slept)
	}
	if !b.server.Config.ActiveOff.Load() {
		t.Error("want active expiry off")
	}
	want := []string{"set bar:1 mine", "SET key:0 value:0", "SET key:1 value:1",
		"SET bar:0 value:0\x00\x00", "SET cut:0 val"}
	if got := b.log.journal; strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("want the journal %q, got %q", want, got)
	}
	if got := b.do("DEBUG HELP"); !strings.HasPrefix(got,
		"*11\r\n+DEBUG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:\r\n") {
		t.Errorf("DEBUG HELP: %q", got)
	}
	b.server.Config.DebugCommand.Store(PermitNo)
	if got := b.do("DEBUG SLEEP 0"); !strings.HasPrefix(got, "-ERR DEBUG command not allowed. ") {
		t.Errorf("want a refusal, got %q", got)
	}
}

func TestDebugObject(t *testing.T) {
	b := newBench(t, 4)
	line := regexp.MustCompile(`^\+Value at:0x[0-9a-f]+ refcount:\d+ encoding:(\w+) ` +
		`serializedlength:(\d+) lru:(\d+) lru_seconds_idle:(\d+)\r\n$`)
	b.do("set a hello")
	b.now += 3e9
	for _, x := range []struct{ value, want string }{
		{"", "embstr 6 5501184 3"},
		{"5", "int 2 5501187 0"},
		{"12345", "int 3 5501187 0"},
		{"100000", "int 5 5501187 0"},
		{"9999999999", "int 11 5501187 0"},
		{strings.Repeat("xy", 50), "raw 102 5501187 0"},
	} {
		if x.value != "" {
			b.do("del a")
			b.do("set a " + x.value)
		}
		m := line.FindStringSubmatch(b.do("DEBUG OBJECT a"))
		if m == nil {
			t.Fatalf("%s: %q", x.value, b.do("DEBUG OBJECT a"))
		}
		if got := strings.Join(m[1:], " "); got != x.want {
			t.Errorf("%s: want %s, got %s", x.value, x.want, got)
		}
	}
}

func TestMemoryUsage(t *testing.T) {
	b := newBench(t, 4)
	b.do("set a hello")
	for _, x := range []struct{ line, want string }{
		{"MEMORY", "-ERR wrong number of arguments for 'memory' command\r\n"},
		{"MEMORY FOO", "-ERR unknown subcommand 'FOO'. Try MEMORY HELP.\r\n"},
		{"MEMORY USAGE nosuch", "$-1\r\n"},
		{"MEMORY USAGE nosuch FOO", "-ERR syntax error\r\n"},
		{"MEMORY USAGE a SAMPLES", "-ERR syntax error\r\n"},
		{"MEMORY USAGE a SAMPLES abc", "-ERR value is not an integer or out of range\r\n"},
		{"MEMORY USAGE a SAMPLES -1", "-ERR syntax error\r\n"},
	} {
		if got := b.do(x.line); got != x.want {
			t.Errorf("%s: want %q, got %q", x.line, x.want, got)
		}
	}
	for _, line := range []string{"MEMORY USAGE a", "memory usage a samples 5 SAMPLES 0"} {
		if got := b.do(line); !regexp.MustCompile(`^:[1-9]\d+\r\n$`).MatchString(got) {
			t.Errorf("%s: want some bytes, got %q", line, got)
		}
	}
}

func TestShutdown(t *testing.T) {
	b := newBench(t, 1)
	for _, line := range []string{"x", "SAVE NOSAVE", "NOSAVE SAVE", "ABORT NOW", "NOW ABORT"} {
		if got := b.do("SHUTDOWN " + line); got != "-ERR syntax error\r\n" {
			t.Errorf("SHUTDOWN %s: want a syntax error, got %q", line, got)
		}
	}
	b.process.refuse = errors.New("no")
	if got, want := b.do("SHUTDOWN ABORT"), "-ERR No shutdown in progress.\r\n"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
	if got, want := b.do("SHUTDOWN"), "-ERR Errors trying to SHUTDOWN. Check logs.\r\n"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
	if b.conn.Closing {
		t.Error("a shutdown that fails closes nothing")
	}
	b.process.refuse = nil
	if got := b.do("SHUTDOWN NOSAVE NOW FORCE"); got != "" || !b.conn.Closing {
		t.Errorf("want no answer and the connection closed, got %q", got)
	}
	want := ShutdownOptions{NoSave: true, Now: true, Force: true}
	if len(b.process.shutdowns) != 1 || b.process.shutdowns[0] != want {
		t.Errorf("want %v, got %v", want, b.process.shutdowns)
	}
}

func TestTime(t *testing.T) {
	b := newBench(t, 1)
	b.now += 12345678
	if got, want := bulks(b.do("TIME")), "1700000000 12345"; got != want {
		t.Errorf("want %s, got %s", want, got)
	}
}
