package clients_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// cli makes a function that runs redis-cli with one command and gives what it prints.
func cli(t *testing.T) func(want string, args ...string) {
	t.Helper()
	bin := tool(t, "redis-cli")
	host, port := server(t)
	return func(want string, args ...string) {
		t.Helper()
		got := must(t, nil, bin, append([]string{"-h", host, "-p", port}, args...)...)
		if strings.TrimSuffix(got, "\n") != want {
			t.Errorf("redis-cli %q: want %q, got %q", args, want, got)
		}
	}
}

func TestRedisCliOneCommandEach(t *testing.T) {
	is := cli(t)
	is("PONG", "PING")
	is("hello", "ECHO", "hello")
	is("OK", "SET", "greeting", "hello")
	is("hello", "GET", "greeting")
	is("", "GET", "nothing") // a null prints as an empty line
	is("11", "APPEND", "greeting", " world")
	is("1", "INCR", "counter")
	is("2", "-r", "1", "INCR", "counter")
	is("OK", "MSET", "a", "1", "b", "2")
	is("1\n2\n", "MGET", "a", "b", "c")
	is(`"1","2",NULL`, "--csv", "MGET", "a", "b", "c")
	is("(integer) 4", "--no-raw", "DBSIZE")
	is("1) \"1\"\n2) (nil)", "--no-raw", "MGET", "a", "c")
	is("OK", "-n", "3", "SET", "elsewhere", "1")
	is("1", "-n", "3", "DBSIZE")
	is("", "GET", "elsewhere")
	is("string", "TYPE", "a")
	is("1", "PEXPIRE", "a", "100000000")
	is("3", "DEL", "a", "b", "counter")
}

// RESP3 is spoken with -3, and by itself with --json.
func TestRedisCliSpeaksResp3(t *testing.T) {
	is := cli(t)
	is("OK", "-3", "SET", "k", "v")
	is(`["v",null]`, "--json", "MGET", "k", "none")
	is(`{"maxmemory":"0"}`, "--json", "CONFIG", "GET", "maxmemory")
	is(`1# "maxmemory" => "0"`, "-3", "--no-raw", "CONFIG", "GET", "maxmemory")
}

func TestRedisCliReportsErrors(t *testing.T) {
	bin := tool(t, "redis-cli")
	host, port := server(t)
	try := func(want string, args ...string) {
		t.Helper()
		r := run(t, nil, bin, append([]string{"-h", host, "-p", port, "-e"}, args...)...)
		if r.status != 1 || !strings.Contains(r.out+r.err, want) {
			t.Errorf("redis-cli %q: want %q and status 1, got %+v", args, want, r)
		}
	}
	try("ERR unknown command 'NOSUCH', with args beginning with: 'a' ", "NOSUCH", "a")
	try("ERR wrong number of arguments for 'get' command", "GET")
	try("ERR value is not an integer or out of range", "SETRANGE", "k", "x", "v")
	try("ERR syntax error", "SET", "k", "v", "EX", "1", "PX", "1")
}

// Lines on standard input share one connection.
func TestRedisCliReadsLines(t *testing.T) {
	bin := tool(t, "redis-cli")
	host, port := server(t)
	lines := "SET k \"a \\x00 b\"\nSTRLEN k\nSELECT 2\nSET k 2\nDBSIZE\nSELECT 0\n" +
		"CLIENT SETNAME shell\nCLIENT GETNAME\n3 INCR n\nGET k2\n"
	got := must(t, []byte(lines), bin, "-h", host, "-p", port)
	want := "OK\n5\nOK\nOK\n1\nOK\nOK\nshell\n1\n2\n3\n\n"
	if got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

// -x takes the last argument from standard input, byte for byte.
func TestRedisCliStoresBytes(t *testing.T) {
	bin := tool(t, "redis-cli")
	host, port := server(t)
	value := make([]byte, 70000)
	for i := range value {
		value[i] = byte(i * 7)
	}
	at := []string{"-h", host, "-p", port}
	must(t, value, bin, append(at, "-x", "SET", "blob")...)
	if got := must(t, nil, bin, append(at, "GET", "blob")...); got != string(value)+"\n" {
		t.Errorf("%d bytes did not come back as they went: got %d", len(value), len(got)-1)
	}
}

func TestRedisCliScans(t *testing.T) {
	bin := tool(t, "redis-cli")
	host, port := server(t)
	const n = 3000
	var fill []byte
	var want []string
	for i := range n {
		key := fmt.Sprintf("user:%d", i)
		want = append(want, key)
		fill = appendCommand(fill, "SET", key, "x")
		fill = appendCommand(fill, "SET", fmt.Sprintf("other:%d", i), "x")
	}
	at := []string{"-h", host, "-p", port}
	must(t, fill, bin, append(at, "--pipe")...)
	for _, count := range []string{"10", "1000"} {
		out := must(t, nil, bin, append(at, "--scan", "--pattern", "user:*", "--count", count)...)
		got := strings.Fields(out)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(slices.Compact(got), want) {
			t.Errorf("--scan --count %s: want %d keys, got %d", count, n, len(got))
		}
	}
	out := must(t, nil, bin, append(at, "--bigkeys")...)
	if !strings.Contains(out, fmt.Sprintf("Sampled %d keys in the keyspace!", 2*n)) {
		t.Errorf("--bigkeys: %s", out)
	}
}

// Mass insertion: redis-cli --pipe sends as fast as it can, ends with an ECHO, and counts.
func TestRedisCliPipes(t *testing.T) {
	bin := tool(t, "redis-cli")
	host, port := server(t)
	at := []string{"-h", host, "-p", port}
	const n = 100000
	var fill []byte
	for i := range n {
		fill = appendCommand(fill, "SET", fmt.Sprintf("key:%d", i), fmt.Sprintf("value of %d", i))
	}
	out := must(t, fill, bin, append(at, "--pipe")...)
	if want := fmt.Sprintf("errors: 0, replies: %d", n); !strings.Contains(out, want) {
		t.Errorf("want %q, got %s", want, out)
	}
	if got := must(t, nil, bin, append(at, "DBSIZE")...); got != fmt.Sprintln(n) {
		t.Errorf("DBSIZE: want %d, got %s", n, got)
	}
	if got := must(t, nil, bin, append(at, "GET", "key:77777")...); got != "value of 77777\n" {
		t.Errorf("GET: got %q", got)
	}
	// Inline commands and errors are counted as well.
	r := run(t, []byte("SET a 1\r\nINCR a\r\nNOSUCH\r\nGET a\r\n"), bin, append(at, "--pipe")...)
	if !strings.Contains(r.out, "errors: 1, replies: 4") {
		t.Errorf("want 1 error of 4 replies, got %+v", r)
	}
}
