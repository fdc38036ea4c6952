package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"kiln/commands"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start configures in an empty working directory.
func start(t *testing.T, files map[string]string, stdin string, args ...string) (*setup, error) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return configure(args, strings.NewReader(stdin))
}

// TestCommandLine follows redis-server 8.0.6, where not about a directive of Kiln's own.
func TestCommandLine(t *testing.T) {
	conf := map[string]string{"a.conf": "port 7001\nsave 60 1\nsave 30 2\ntimeout 5\n"}
	for _, x := range []struct {
		args        string // separated by |
		stdin       string
		name, value string
	}{
		{"", "", "port", "6379"},
		{"--port|7002", "", "port", "7002"},
		{"--PORT|7002", "", "port", "7002"},
		{"--port 7002|--timeout|3", "", "timeout", "3"},
		{"a.conf", "", "port", "7001"},
		{"a.conf|--port|7002", "", "port", "7002"},
		{"a.conf|--port|7002|-", "port 7003\ntimeout 6\n", "port", "7002"},
		{"a.conf|--port|7002|-", "port 7003\ntimeout 6\n", "timeout", "6"},
		{"-", "timeout 7", "timeout", "7"},
		{"a.conf", "", "save", "60 1 30 2"},
		{"a.conf|--save|5|5", "", "save", "60 1 30 2 5 5"},
		{"a.conf|--save|", "", "save", ""},
		{"a.conf|--save|--port|1", "", "save", ""},
		{"a.conf|--save", "", "save", ""},
		{"--save||--port|7000", "", "port", "7000"},
		{"--save|900  1", "", "save", "900 1"},
		{"--requirepass|--secret|--port|1", "", "requirepass", "--secret"},
		{"--requirepass|a \"b'\n\x01é", "", "requirepass", "a \"b'\n\x01é"},
		{"--bind|127.0.0.1|-::1", "", "bind", "127.0.0.1 -::1"},
		{"--client-output-buffer-limit|normal|1mb|0|0", "", "client-output-buffer-limit",
			"normal 1048576 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60"},
		{"--", "", "port", "6379"},
		{"--keyspace-group|a:*:|--keyspace-group|b:*:", "", "keyspace-group", "a:*: b:*:"},
	} {
		args := strings.Split(x.args, "|")
		if x.args == "" {
			args = nil
		}
		s, err := start(t, conf, x.stdin, args...)
		if err != nil {
			t.Errorf("%s: %v", x.args, err)
		} else if got := s.config.Value(x.name); got != x.value {
			t.Errorf("%s: want %s %q, got %q", x.args, x.name, x.value, got)
		}
	}
}

// TestFileIsQuotedAsInRedis is about lines of a file.
func TestFileIsQuotedAsInRedis(t *testing.T) {
	for _, x := range []struct{ line, value, fault string }{
		{`requirepass abc`, "abc", ""},
		{"  \t requirepass\tabc  \r", "abc", ""},
		{`REQUIREPASS "a b\x41\n\"\q"`, "a bA\n\"q", ""},
		{`requirepass 'a b\x41\'"'`, `a b\x41'"`, ""},
		{`requirepass ""`, "", ""},
		{`# requirepass abc`, "", ""},
		{`requirepass "abc`, "", "Unbalanced quotes in configuration line"},
		{`requirepass "abc"d`, "", "Unbalanced quotes in configuration line"},
		{`requirepass 'abc`, "", "Unbalanced quotes in configuration line"},
		{`requirepass`, "", "wrong number of arguments"},
		{`requirepass a b`, "", "wrong number of arguments"},
		{`bogus 1`, "", "Bad directive or wrong number of arguments"},
		{`*1`, "", "Bad directive or wrong number of arguments"},
		{`include a b`, "", "Bad directive or wrong number of arguments"},
		{`port abc`, "", "argument couldn't be parsed into an integer"},
		{`dir /nonexistent`, "", "No such file or directory"},
		{`appendonly yes`, "", "'yes' is not supported yet"},
	} {
		s, err := start(t, map[string]string{"a.conf": "\n" + x.line + "\n"}, "", "a.conf")
		if x.fault != "" {
			dir, _ := os.Getwd()
			want := "\n*** FATAL CONFIG FILE ERROR (Kiln " + commands.KilnVersion + ") ***\n" +
				"Reading the configuration file " + dir + "/a.conf, at line 2\n>>> '" + x.line +
				"'\n" + x.fault
			if err == nil || err.Error() != want {
				t.Errorf("%s: want %s, got %v", x.line, want, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", x.line, err)
		} else if got := s.config.Value("requirepass"); got != x.value {
			t.Errorf("%s: want %q, got %q", x.line, x.value, got)
		}
	}
}

func TestFaults(t *testing.T) {
	for _, x := range []struct{ args, want string }{
		{"--port|abc", "Reading the command line\n>>> 'port \"abc\"'\n" +
			"argument couldn't be parsed into an integer"},
		{"--nosuch|1", "Bad directive or wrong number of arguments"},
		{"-x", "Bad directive or wrong number of arguments"},
		{"--port|--loglevel", "argument couldn't be parsed into an integer"},
		{"--port|7002|x", "wrong number of arguments"},
		{"--daemonize|yes", "'yes' is not supported yet"},
		{"nosuch.conf", "nosuch.conf': No such file or directory"},
		{"--port|0", "Configured to not listen anywhere, exiting."},
		{"--bind|", "Configured to not listen anywhere, exiting."},
		{"loop.conf", "Too many nested or included files"},
		{"tree.conf", "Too many nested or included files"},
	} {
		_, err := start(t, map[string]string{
			"loop.conf": "include loop.conf\n", "tree.conf": strings.Repeat("include tree.conf\n", 9),
		}, "", strings.Split(x.args, "|")...)
		if err == nil || !strings.HasSuffix(err.Error(), x.want) {
			t.Errorf("%s: want ... %s, got %v", x.args, x.want, err)
		}
	}
}

func TestInclude(t *testing.T) {
	s, err := start(t, map[string]string{
		"a.conf": "port 1\ninclude b.conf\ntimeout 3\ninclude c?.conf\ninclude none*.conf\n",
		"b.conf": "port 2\ntimeout 2\n", "c1.conf": "hz 20\n", "c2.conf": "hz 30\n",
	}, "", "a.conf")
	if err != nil {
		t.Fatal(err)
	}
	c := s.config
	if got := []string{c.Value("port"), c.Value("timeout"), c.Value("hz")}; !slices.Equal(got,
		[]string{"2", "3", "30"}) {
		t.Errorf("want port 2, timeout 3, hz 30, got %v", got)
	}
	dir, _ := os.Getwd()
	if s.file != filepath.Join(dir, "a.conf") || c.Dir != dir || c.Value("dir") != dir {
		t.Errorf("want %s/a.conf, got %s, dir %s", dir, s.file, c.Dir)
	}
}

func TestAddresses(t *testing.T) {
	for _, x := range []struct{ args, want string }{
		{"--port|7000", "tcp4://0.0.0.0:7000 -tcp6://[::]:7000"},
		{"--bind|127.0.0.1|::1|-fe80::1%lo", "tcp4://127.0.0.1:6379 tcp6://[::1]:6379 " +
			"-tcp6://[fe80::1%lo]:6379"},
		{"--bind|localhost", "tcp://localhost:6379"},
		{"--port|0|--unixsocket|/tmp/k.sock", "unix:///tmp/k.sock"},
	} {
		s, err := start(t, nil, "", strings.Split(x.args, "|")...)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range s.listen {
			url := a.url()
			if a.optional {
				url = "-" + url
			}
			got = append(got, url)
		}
		if strings.Join(got, " ") != x.want {
			t.Errorf("%s: want %s, got %s", x.args, x.want, got)
		}
	}
}

func TestHelpAndVersion(t *testing.T) {
	for arg, want := range map[string]string{
		"-v": "Kiln 0.1.0 (Redis 8.0.6 compatible) go", "--version": "Kiln 0.1.0 (Redis",
		"-h": "Usage: kiln ", "--help": "Usage: kiln ",
	} {
		s, err := start(t, nil, "", arg)
		if err != nil || !strings.HasPrefix(s.show, want) {
			t.Errorf("%s: want %s..., got %v, %v", arg, want, s, err)
		}
	}
}

func FuzzConfigFile(f *testing.F) {
	for _, text := range []string{
		"port 7000\n# a\nsave 900 1\nbind 127.0.0.1 ::1", "requirepass \"a\\x41\\\"\"", "save ''",
		"client-output-buffer-limit normal 1mb 0 0", "maxmemory 99999999999gb", "*1\r\n$1\r\na",
		"unixsocketperm 0700\nkeyspace-group a*b", "port \"\x00", "io-threads auto\nhz 9999",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lower := strings.ToLower(text)
		if strings.Contains(lower, "include") || strings.Contains(lower, "dir") {
			return // these look at the machine
		}
		l := loader{config: commands.NewConfig()}
		if err := l.text(text, "a.conf", 0); err != nil {
			if _, ok := err.(*fault); !ok {
				t.Errorf("want a fault that names the line, got %T %v", err, err)
			}
			return
		}
		// What a line says must be what its words say, however they are quoted.
		again := loader{config: commands.NewConfig()}
		for line := range strings.SplitSeq(text, "\n") {
			words, ok := splitWords(strings.Trim(line, " \t\r\n"))
			if !ok || len(words) == 0 || strings.HasPrefix(words[0], "#") {
				continue
			}
			for i, w := range words {
				words[i] = quote(w)
			}
			if err := again.text(strings.Join(words, " "), "a.conf", 0); err != nil {
				t.Fatalf("%q is taken, %q is not: %v", line, words, err)
			}
		}
		for _, d := range commands.Directives() {
			if want, got := l.config.Value(d.Name), again.config.Value(d.Name); want != got {
				t.Errorf("%s: want %q, got %q", d.Name, want, got)
			}
		}
	})
}
