package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain is the test binary itself; started with PERF_FAKE set, it is a server that knows just
// enough for the scenarios to run against, so that they do not rot.
func TestMain(m *testing.M) {
	if addr := os.Getenv("PERF_FAKE"); addr != "" {
		fake(addr)
		return
	}
	goleak.VerifyTestMain(m)
}

// fake answers by the first letter of a command, and knows no ZADD.
func fake(addr string) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		panic(err)
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			c := &client{conn: conn, in: nil}
			c.serve(newReplies())
		}()
	}
}

func newReplies() map[string]string {
	return map[string]string{
		"PING": "+PONG\r\n", "SET": "+OK\r\n", "GET": "$3\r\nabc\r\n", "KEYS": "*1\r\n$1\r\na\r\n",
		"INFO": "$19\r\nredis_version:9.9.9\r\n", "DBSIZE": ":1000\r\n", "SELECT": "+OK\r\n",
		"FLUSHDB": "+OK\r\n", "MGET": "*2\r\n$-1\r\n$1\r\na\r\n", "INCR": ":1\r\n",
		"ECHO": "$24\r\n" + marker + "\r\n", "MSET": "+OK\r\n",
	}
}

// serve reads commands of plain arguments and answers each.
func (c *client) serve(replies map[string]string) {
	defer func() { _ = c.close() }()
	in := make([]byte, 0, 1<<20)
	buf := make([]byte, 64<<10)
	for {
		n, err := c.conn.Read(buf)
		if err != nil {
			return
		}
		in = append(in, buf[:n]...)
		var out []byte
		for {
			name, size := firstCommand(in)
			if size == 0 {
				break
			}
			in = append(in[:0], in[size:]...)
			reply, ok := replies[name]
			if !ok {
				reply = "-ERR unknown command\r\n"
			}
			out = append(out, reply...)
		}
		if _, err := c.conn.Write(out); err != nil {
			return
		}
	}
}

// firstCommand is the name and the length of the first command, if it is there whole. No value
// that perf sends has a line break in it.
func firstCommand(b []byte) (name string, size int) {
	line, rest, ok := bytes.Cut(b, []byte("\r\n"))
	if !ok {
		return "", 0
	}
	args := 0
	for _, c := range line[1:] {
		args = args*10 + int(c-'0')
	}
	for i := range 2 * args {
		line, rest, ok = bytes.Cut(rest, []byte("\r\n"))
		if !ok {
			return "", 0
		}
		if i == 1 {
			name = string(line)
		}
	}
	return name, len(b) - len(rest)
}

// TestScenarios runs each scenario in small against the fake server, twice.
func TestScenarios(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	fakes := []string{
		"a=env PERF_FAKE=127.0.0.1:{port} " + self, "b=env PERF_FAKE=127.0.0.1:{port} " + self,
	}
	try := func(want string, args ...string) {
		t.Helper()
		dir := t.TempDir()
		var out bytes.Buffer
		all := slices.Concat(args[:1], []string{"-out", dir}, args[1:], fakes)
		if err := run(t.Context(), all, &out); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out.String())
		}
		text, err := os.ReadFile(filepath.Join(dir, args[0]+".txt"))
		if err != nil || !strings.Contains(string(text), want) ||
			!strings.Contains(string(text), "# commit ") ||
			!strings.Contains(string(text), "b: redis 9.9.9") {
			t.Errorf("%v: want %q in the results, got %s, %v", args, want, text, err)
		}
		data, err := os.ReadFile(filepath.Join(dir, args[0]+".json"))
		if err != nil || !bytes.Contains(data, []byte(`"server": "b"`)) ||
			bytes.Contains(data, []byte(filepath.Dir(self))) {
			t.Errorf("%v: results %s, %v", args, data, err)
		}
	}
	try("flushdb  b", "stall", "-keys", "1000", "-window", "100ms", "-rounds", "1", "-flush-keys", "10")
	try("1000x16x16", "memory", "-shapes", "1000x16x16", "-settle", "1ms")
	try("% of a core", "idle", "-time", "10ms", "-settle", "1ms")
	try("B/connection", "connections", "-count", "10", "-settle", "1ms")
	try("b: ERR unknown command", "commands", "-keys", "1000", "-requests", "2000", "-rounds", "2")
}

func TestUnknownScenarioIsUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"nosuch"}, {"idle"}, {"idle", "noname"}, {"idle", "a='x"}} {
		if err := run(t.Context(), args, io.Discard); err == nil {
			t.Errorf("%q: want an error", args)
		}
	}
	err := run(t.Context(), []string{"idle", "-out", "", "a=false"}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "ended") {
		t.Errorf("a server that ends: got %v", err)
	}
}

func TestSplitCommand(t *testing.T) {
	got, err := splitCommand(`bin/kiln --save "" --x 'a "b' c"d e"`)
	want := []string{"bin/kiln", "--save", "", "--x", `a "b`, "cd e"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("want %q, got %q, %v", want, got, err)
	}
}

func TestResultsNameNoPathOfTheMachine(t *testing.T) {
	got := withoutPaths([]string{"stall", "-keys", "5", "kiln=/a/b/kiln --dir /c/d --port {port}"})
	want := []string{"stall", "-keys", "5", "'kiln=kiln --dir d --port {port}'"}
	if !slices.Equal(got, want) {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestQuantile(t *testing.T) {
	var all []time.Duration
	for i := range 1000 {
		all = append(all, time.Duration(i+1))
	}
	for q, want := range map[float64]time.Duration{0.5: 500, 0.99: 990, 0.999: 999, 1: 1000, 0: 1} {
		if got := quantile(all, q); got != want {
			t.Errorf("quantile %v: want %d, got %d", q, want, got)
		}
	}
	if got := quantile(nil, 0.5); got != 0 {
		t.Errorf("of nothing: got %d", got)
	}
}

func TestTemplateWritesNumbers(t *testing.T) {
	b := newTemplate(2, "SET", keyOf(16), "v")
	b.setSequence(41)
	want := appendCommand(nil, "SET", "key:000000000041", "v")
	want = appendCommand(want, "SET", "key:000000000042", "v")
	if !bytes.Equal(b.bytes, want) {
		t.Errorf("want %q, got %q", want, b.bytes)
	}
	b.setRandom(rand.New(rand.NewPCG(1, 1)), 10)
	if bytes.Equal(b.bytes, want) || len(b.holes) != 2 || b.count != 2 {
		t.Errorf("got %q, %v, %d", b.bytes, b.holes, b.count)
	}
	for _, size := range []int{12, 16, 40} {
		if got := len(keyOf(size)); got != size {
			t.Errorf("keyOf(%d) has %d bytes", size, got)
		}
	}
}

// A server that stands still makes every request late that was to be sent meanwhile: the latency
// counts from the intended time.
func TestOpenLoopCountsFromTheIntendedTime(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const stands = 300 * time.Millisecond
	served := make(chan struct{})
	go func() {
		defer close(served)
		conn, wrong := l.Accept()
		if wrong != nil {
			return
		}
		buf := make([]byte, 1<<20)
		_, _ = conn.Read(buf)
		_, _ = io.WriteString(conn, "+PONG\r\n")
		n, _ := conn.Read(buf)
		timer := time.NewTimer(stands)
		<-timer.C
		(&client{conn: &replayed{conn, buf[:n]}}).serve(newReplies())
	}()
	loop, err := openLoop(l.Addr().String(), 1, 1000, 10, 1)
	if err != nil {
		t.Fatal(err)
	}
	sleep(context.Background(), 2*stands)
	seen, err := loop.end()
	_ = l.Close()
	<-served
	if err != nil {
		t.Fatal(err)
	}
	late := 0
	for _, d := range seen {
		if d > stands/3 {
			late++
		}
	}
	// All of the first 200 ms were to be sent more than 100 ms before the server went on.
	if len(seen) < 500 || late < 150 {
		t.Errorf("of %d requests %d were late, want at least 150", len(seen), late)
	}
}

// replayed gives what was read already once more.
type replayed struct {
	net.Conn
	first []byte
}

func (r *replayed) Read(b []byte) (int, error) {
	if len(r.first) > 0 {
		n := copy(b, r.first)
		r.first = r.first[n:]
		return n, nil
	}
	return r.Conn.Read(b)
}

func TestSkip(t *testing.T) {
	text := "+OK\r\n:1\r\n$-1\r\n$3\r\na\r\n\r\n*2\r\n*1\r\n$1\r\nx\r\n_\r\n%1\r\n+a\r\n,1.5\r\n" +
		"*-1\r\n-ERR no\r\n+END\r\n"
	here, there := net.Pipe()
	go func() {
		_, _ = io.WriteString(there, text)
		_ = there.Close()
	}()
	c := newClient(here)
	if err := c.skip(7); err != nil {
		t.Fatal(err)
	}
	var wrong errorReply
	if err := c.skip(2); !errors.As(err, &wrong) || wrong != "ERR no" {
		t.Errorf("want ERR no, got %v", err)
	}
	if err := c.skip(1); !errors.Is(err, io.EOF) {
		t.Errorf("want the end, got %v", err)
	}
	_ = c.close()
}

// The flags of all scenarios can be declared and have help.
func TestFlags(t *testing.T) {
	for _, s := range scenarios() {
		fs := flag.NewFlagSet(s.name, flag.ContinueOnError)
		s.flags(fs)
		fs.VisitAll(func(f *flag.Flag) {
			if f.Usage == "" {
				t.Errorf("%s -%s has no help", s.name, f.Name)
			}
		})
	}
}
