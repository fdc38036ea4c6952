package conformance

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestReplyPrintsWithoutLoss(t *testing.T) {
	for _, wire := range []string{
		"+OK\r\n", "-ERR no 'x' \r\n", "+\"q\"\r\n", "+\r\n", ":-5\r\n", "$-1\r\n", "*-1\r\n", "_\r\n",
		"$0\r\n\r\n", "$3\r\na\"\xff\r\n", "#t\r\n", ",inf\r\n", ",3.10\r\n", "(123456789012345678901\r\n",
		"=7\r\ntxt:a\nb\r\n", "!5\r\nERR x\r\n", "~2\r\n:1\r\n:2\r\n", "%1\r\n+a\r\n*2\r\n:1\r\n*0\r\n",
		">2\r\n$1\r\na\r\n_\r\n", "|1\r\n+k\r\n+v\r\n:7\r\n", "$4\r\n$(x)\r\n",
		"$70\r\n" + strings.Repeat("a", 69) + "b\r\n",
	} {
		v, err := readReply(bufio.NewReader(strings.NewReader(wire)), 0)
		if err != nil {
			t.Errorf("read %q: %v", wire, err)
			continue
		}
		s, err := Parse("x.txt", "x", "a> X\n"+v.String()+"\n")
		if err != nil {
			t.Errorf("parse what %q printed: %v\n%s", wire, err, v)
			continue
		}
		again := s.Steps[0].want
		if ok, err := again.matches(v, nil, nil); !ok || err != nil || again.String() != v.String() {
			t.Errorf("%q printed as\n%s\nreads as\n%s (%v)", wire, v, again, err)
		}
	}
}

func TestBadRepliesAreErrors(t *testing.T) {
	for _, wire := range []string{
		"", "\r\n", "?\r\n", "+OK\n", "$3\r\nab\r\n", "$2\r\nabc\r\n", "$x\r\n", "*-2\r\n", "*2\r\n:1\r\n",
		"$-2\r\n", strings.Repeat("*1\r\n", depthMax+2),
	} {
		if v, err := readReply(bufio.NewReader(strings.NewReader(wire)), 0); err == nil {
			t.Errorf("%q read as %s", wire, v)
		}
	}
}

func TestNeeds(t *testing.T) {
	s, err := Parse("x.txt", "x", "# needs list config|REWRITE\n# needs directive hz port\n"+
		"# needs info commandstats\n# needs enforced maxmemory\na> X\n# needs nothing\n")
	if err != nil {
		t.Fatal(err)
	}
	want := "[lpush config|rewrite directive hz directive port info commandstats enforced maxmemory]"
	if got := fmt.Sprint(s.Needs); got != want {
		t.Errorf("want %s, got %s", want, got)
	}
	for _, bad := range []string{"# needs directive", "# needs info", "# needs enforced peace"} {
		if s, err := Parse("x.txt", "x", bad+"\n"); err == nil {
			t.Errorf("%s: parsed as %v", bad, s.Needs)
		}
	}
}

func TestArguments(t *testing.T) {
	for line, want := range map[string]string{
		`a> SET k v`:               "SET|k|v",
		`a> SET  k ""`:             "SET|k|",
		`a> SET k "\x41\r\n\"\\ "`: "SET|k|A\r\n\"\\ ",
		`a> SET "x"*3+"y" a\nb`:    `SET|xxxy|a\nb`,
		`a> SET 'k' {t}`:           "SET|'k'|{t}",
	} {
		s, err := parseStep(line)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		var got []string
		for _, a := range s.Args {
			got = append(got, a.text)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s: want %q, got %q", line, want, got)
		}
	}
	for _, line := range []string{
		`a>`, `a> `, `a>GET k`, `> GET k`, `a< x`, `1> GET`, `a> GET "k`, `a> GET "k"x`, `a> GET "\q"`,
		`a> @send`, `a> @send x y`, `a>> @raw x`, `@wait x`, `GET k`,
	} {
		if s, err := parseStep(line); err == nil {
			t.Errorf("%s: parsed as %+v", line, s)
		}
	}
}

func TestRelaxations(t *testing.T) {
	for _, c := range []struct {
		want, got string
		ok        bool
	}{
		{"~any\n:1", ":2", true},
		{"~any\n:1", "$\"2\"", false},
		{"~near 2\n:10", ":12", true},
		{"~near 2\n:10", ":13", false},
		{"~near 0.5\n$\"1.5\"", "$\"1.9\"", true},
		{"~near 2\n:9223372036854775807", ":-9223372036854775808", false},
		{"~match [a-c]+\n$\"x\"", "$\"abc\"", true},
		{"~match [a-c]+\n$\"x\"", "$\"abcd\"", false},
		{"~find ^b$\n$\"x\"", "$\"a\\r\\nb\\r\\nc\"", true},
		{"~find ^b$\n~find ^d$\n$\"x\"", "$\"a\\r\\nb\\r\\nc\"", false},
		{"~match $(v)\n+x", "+1.5", true},
		{"~match $(v)\n+x", "+1x5", false},
		{":$(v)", ":1.5", true},
		{"~unordered\n*2\n  :1\n  :2", "*2\n  :2\n  :1", true},
		{"~unordered\n*2\n  :1\n  :1", "*2\n  :2\n  :1", false},
		{"~unordered\n*2\n  ~any\n  :1\n  :1", "*2\n  :1\n  :3", true},
		{"~unordered\n%2\n  :1\n  :2\n  :3\n  :4", "%2\n  :3\n  :4\n  :1\n  :2", true},
		{"~unordered\n%2\n  :1\n  :2\n  :3\n  :4", "%2\n  :3\n  :2\n  :1\n  :4", false},
		{"~pairs\n*4\n  :1\n  :2\n  :3\n  :4", "*4\n  :3\n  :4\n  :1\n  :2", true},
		{"~pairs\n*4\n  :1\n  :2\n  :3\n  :4", "*4\n  :3\n  :1\n  :4\n  :2", false},
		{"~contains\n*1\n  :2", "*2\n  :1\n  :2", true},
		{"~contains\n*1\n  :3", "*2\n  :1\n  :2", false},
		{"~contains\n*2\n  :1\n  :1", "*2\n  :1\n  :2", false},
		{"~pairs\n~contains\n*2\n  :1\n  :2", "*4\n  :3\n  :4\n  :1\n  :2", true},
		{"~pairs\n~contains\n*2\n  :4\n  :1", "*4\n  :3\n  :4\n  :1\n  :2", false},
		{"~contains\n%1\n  :1\n  :2", "%2\n  :3\n  :4\n  :1\n  :2", true},
		{"*2\n  :1\n  ~near 1\n  :5", "*2\n  :1\n  :6", true},
		{"*2\n  :1\n  ~near 1\n  :5", "*2\n  :2\n  :6", false},
		{"$-1", "*-1", false},
		{"$-1", "_", false},
		{"$\"\"", "$-1", false},
	} {
		s, err := Parse("x.txt", "x", "a> X\n"+c.want+"\na> X\n"+c.got+"\n")
		if err != nil {
			t.Errorf("%q: %v", c.want, err)
			continue
		}
		vars := func(string) (string, error) { return "1.5", nil }
		ok, err := s.Steps[0].want.matches(*s.Steps[1].want, vars, map[string]string{})
		if ok != c.ok || err != nil {
			t.Errorf("%q against %q: want %v, got %v, %v", c.want, c.got, c.ok, ok, err)
		}
	}
}

func TestBadTranscriptsNameTheirLine(t *testing.T) {
	for text, want := range map[string]string{
		"# x\n:1\n":               "x.txt:2:",
		"a> X\n*2\n  :1\n":        "x.txt:1:",
		"a> X\n~near x\n:1\n":     "x.txt:1:",
		"a> X\n~match (\n+x\n":    "x.txt:1:",
		"a> X\n~what\n:1\n":       "x.txt:1:",
		"a> X\n$x\n":              "x.txt:1:",
		"a> X\n\n:1\n":            "x.txt:3:",
		"# config k \"x\na> X\n":  "x.txt:1:",
		"a> X\n*1\n  *1\n  :1\n#": "x.txt:1:",
	} {
		if _, err := Parse("x.txt", "x", text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: want an error at %s, got %v", text, want, err)
		}
	}
}

// A server that answers every command with the same bytes, then hangs up or says nothing.
func stubServer(t *testing.T, reply string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				r := bufio.NewReader(conn)
				for {
					v, err := readReply(r, 0)
					if err != nil {
						return
					}
					text := reply
					switch v.Elems[0].Text {
					case "INFO":
						text = "$0\r\n\r\n"
					case "FLUSHALL":
						text = "+OK\r\n"
					}
					if _, err := conn.Write([]byte(text)); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

func TestSilentServerIsAFailureNotAHang(t *testing.T) {
	s, err := Parse("x.txt", "x", "a> PING\n+PONG\na> PING\n+PONG\n")
	if err != nil {
		t.Fatal(err)
	}
	p := Player{Addr: stubServer(t, ""), Timeout: 30 * time.Millisecond}
	out, err := p.Play(t.Context(), s)
	if err != nil || len(out.Failures) != 1 || !strings.HasPrefix(out.Failures[0].String(), "x.txt:1: a> PING") {
		t.Errorf("want one failure at x.txt:1, got %v, %v", out.Failures, err)
	}
}

func TestMismatchShowsWantAndGot(t *testing.T) {
	s, err := Parse("x.txt", "x", "a> PING\n+PONG\n")
	if err != nil {
		t.Fatal(err)
	}
	p := Player{Addr: stubServer(t, "$1\r\nx\r\n")}
	out, err := p.Play(t.Context(), s)
	want := "x.txt:1: a> PING\n  want\n    +PONG\n  got\n    $\"x\""
	if err != nil || len(out.Failures) != 1 || out.Failures[0].String() != want {
		t.Errorf("want %q, got %v, %v", want, out.Failures, err)
	}
}

func TestRecordKeepsCommentsAndRelaxations(t *testing.T) {
	p := Player{Addr: stubServer(t, "*2\r\n:1\r\n:2\r\n"), Record: true}
	for text, want := range map[string]string{
		"# one\na> X\n# two\na> Y\n":                   "# one\na> X\n*2\n  :1\n  :2\n# two\na> Y\n*2\n  :1\n  :2\n",
		"a> X\n~unordered\n+old\n\n# end\n":            "a> X\n~unordered\n*2\n  :1\n  :2\n\n# end\n",
		"a> X\n*2\n  ~near 3\n  :3\n  :2\n":            "",
		"a> X\n~unordered\n*2\n  :2\n  :1\n":           "",
		"a> X\n*2\n  ~near 3\n  :3\n  ~any\n  +x\n#\n": "a> X\n*2\n  ~near 3\n  :1\n  ~any\n  :2\n#\n",
	} {
		s, err := Parse("x.txt", "x", text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		out, err := p.Play(t.Context(), s)
		if err != nil || len(out.Failures) > 0 || out.Recorded != want {
			t.Errorf("%q: want %q, got %q, %v, %v", text, want, out.Recorded, out.Failures, err)
		}
	}
}

func TestServerThatDoesNotStartIsAnErrorWithItsOutput(t *testing.T) {
	program := filepath.Join(t.TempDir(), "server")
	script := "#!/bin/sh\necho cannot start: $1 >&2\nexit 3\n"
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := StartServer(context.Background(), program, t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "cannot start: --port") ||
		!strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("want the exit status and the output, got %v", err)
	}
}
