package wire

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// faults are what a client may send that is no RESP.
var faults = []string{
	"*abc\r\n", "*2147483648\r\n", "*9223372036854775808\r\n", "*\r\n", "*1 \r\n", "*+1\r\n", "*01\r\n",
	"*1\r\nPING\r\n", "*1\r\n:4\r\n", "*1\r\n$abc\r\n", "*1\r\n$-1\r\n", "*1\r\n$-2\r\n", "*1\r\n$\r\n",
	"*1\r\n$536870913\r\n", "*1\r\n$99999999999999999999\r\n", "*1\r\n\r\n\r\n", "*2\r\n$4\r\nPING\r\nx\r\n",
	"*1\r\n+PING\r\n", "*1\r\n*1\r\n", "GET \"x\r\n", "GET 'x\r\n", "GET \"x\"y\r\n",
	"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n*1\r\n$x\r\n", "*-1\r\n*0\r\n*x\r\n",
}

// endless are lines that are too long before their end has come.
var endless = []string{
	"*" + strings.Repeat("1", 70000), "*1\r\n$" + strings.Repeat("1", 70000), strings.Repeat("a", 70000),
}

// foreign is what browsers say: such a client is not even told what is due to it.
var foreign = []string{
	"POST / HTTP/1.1\r\n", "Host: x\r\n", "*1\r\n$4\r\nPOST\r\n", "GET / HTTP/1.1\r\nHost: x\r\n", "host:\r\n",
}

// odd is what looks like a fault and is none.
var odd = []string{
	"\x80\r\n", "*1\r\n$4\r\nPI\x00G\r\n", "*-5\r\n", "*1\r\n$0\r\n\r\n", "  \r\n", "\n\n\r\n",
	"*1\r\n$4\r\nPINGxxPING\r\n", "*1\r\n$1\r\n\r\r\n",
}

// TestProtocolErrors: what is no RESP is told so, after the replies that are due before it, and
// nothing behind it is run. Where there is a real Redis, every byte is what it sends.
func TestProtocolErrors(t *testing.T) {
	r := start(t, Options{Loops: 1})
	real := realRedis(t)
	const before, due = "PING\r\n*2\r\n$4\r\nECHO\r\n$1\r\nx\r\n", "+PONG\r\n$1\r\nx\r\n"
	compare := func(data string) (got string) {
		t.Helper()
		got = r.converse(r.addr, data)
		if real != "" {
			if want := r.converse(real, data); got != want {
				t.Errorf("%.60q: want %q, got %q", data, want, got)
			}
		}
		return got
	}
	for _, fault := range faults {
		got := compare(before + fault + "SET behind 1\r\n")
		if !strings.HasPrefix(got, due) || !strings.Contains(got, "-ERR Protocol error: ") {
			t.Errorf("%.60q: want what is due and an error, got %q", fault, got)
		}
	}
	for _, fault := range endless {
		if got := compare(before + fault); !strings.HasPrefix(got, due+"-ERR Protocol error: too big ") {
			t.Errorf("%.60q: want what is due and an error, got %q", fault, got)
		}
	}
	for _, text := range foreign {
		if got := compare(before + text + "SET behind 1\r\n"); got != "" {
			t.Errorf("%.60q: want silence, got %q", text, got)
		}
	}
	r.quiet(0)
	r.dial().want("$-1", "GET", "behind")
	for _, text := range odd {
		if got := compare(before + text + "PING end\r\n"); !strings.HasSuffix(got, "$3\r\nend\r\n") {
			t.Errorf("%.60q: want no error, got %q", text, got)
		}
	}
}

// TestReplyInjection: whatever bytes are in a command that fails, the error is one line.
func TestReplyInjection(t *testing.T) {
	r := start(t, Options{Loops: 1})
	real := realRedis(t)
	const evil = "x\r\n+OK\r\n\x00\xff\n"
	lines := [][]string{
		{evil}, {evil, evil}, {"GET"}, {"GET", evil, evil}, {"CLIENT", evil}, {"CONFIG", "SET", evil, evil},
		{"SET", "k", "v", evil}, {"SET", "k", "v", "EX", evil}, {"INCRBY", "k", evil}, {"OBJECT", evil, "k"},
		{"SELECT", evil}, {"AUTH", evil}, {"AUTH", evil, evil}, {"HELLO", evil}, {"HELLO", "3", evil},
		{"HELLO", "3", "AUTH", evil, evil}, {"HELLO", "3", "SETNAME", evil}, {"CLIENT", "SETNAME", evil},
		{"CLIENT", "KILL", evil}, {"CLIENT", "KILL", "USER", evil}, {"CLIENT", "LIST", "TYPE", evil},
		{"CLIENT", "SETINFO", evil, evil}, {"CONFIG", evil}, {"CONFIG", "GET", evil}, {"CONFIG", "SET", "maxclients", evil},
		{"DEBUG", evil}, {"COMMAND", evil}, {"COMMAND", "INFO", evil}, {"COMMAND", "GETKEYS", evil},
		{"LCS", "a", "b", evil}, {"SCAN", evil}, {"SCAN", "0", evil}, {"RESTORE", "k", "0", evil}, {"MEMORY", evil},
		{"EXPIRE", "k", "1", evil}, {"GETEX", "k", evil}, {"COPY", "a", "b", evil}, {"MSETEX", evil, "k"},
		{"INFO", evil}, {"KEYS", evil}, {"TYPE", evil}, {"SHUTDOWN", evil}, {"LOLWUT", evil}, {"ECHO", evil},
	}
	for _, words := range lines {
		data := string(line(words...)) + "PING\r\n"
		text := r.converse(r.addr, data)
		p := r.dial()
		p.send(line(words...))
		v := p.read()
		p.want("+PONG", "PING")
		if (v.Kind == '-' || v.Kind == '+') && strings.ContainsAny(string(v.Text), "\r\n\x00") {
			t.Errorf("%q: the reply has more than a line: %q", words, v.Text)
		}
		_ = p.Close()
		if real == "" || words[0] == "COMMAND" || words[0] == "HELLO" || v.Kind != '-' {
			continue
		}
		if want := r.converse(real, data); text != want && strings.HasPrefix(want, "-") {
			t.Logf("%q: Redis says %q, we say %q", words, want, text)
		}
	}
	r.quiet(0)
}

// converse sends bytes, shuts down and returns all that comes back. Redis does not answer once it
// sees the end, so that is sent when nothing has come for a moment.
func (r *rig) converse(addr, data string) string {
	r.t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		r.t.Fatal(err)
	}
	defer conn.Close()
	go func() { _, _ = conn.Write([]byte(data)) }()
	var out []byte
	buf := make([]byte, 1<<16)
	for begun := time.Now(); time.Since(begun) < patience; {
		_ = conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		n, err := conn.Read(buf)
		out = append(out, buf[:n]...)
		if ne, ok := err.(net.Error); ok && ne.Timeout() {
			_ = conn.(*net.TCPConn).CloseWrite()
			continue
		}
		if err != nil {
			break
		}
	}
	return string(out)
}

// realRedis starts the Redis that KILN_PEERS has, if there is one; else it returns nothing.
func realRedis(t *testing.T) (addr string) {
	t.Helper()
	program := filepath.Join(os.Getenv("KILN_PEERS"), "redis-server")
	if _, err := os.Stat(program); err != nil {
		return ""
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := ln.Addr().(*net.TCPAddr).Port
	_ = ln.Close()
	cmd := exec.Command(program, "--port", strconv.Itoa(port), "--save", "", "--enable-debug-command", "yes")
	cmd.Dir = t.TempDir()
	cmd.Stdout = io.Discard
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	await(t, "Redis to answer", func() bool {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return addr
}
