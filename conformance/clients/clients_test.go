package clients_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"kiln/conformance"
)

const (
	buildMax = 5 * time.Minute
	toolMax  = time.Minute // for one run of a client; all take a few seconds
	replyMax = 10 * time.Second
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if build.program != "" {
			_ = os.RemoveAll(filepath.Dir(build.program))
		}
		os.Exit(code)
	}))
}

var build struct {
	once    sync.Once
	program string
	failed  string
}

// program is the server to start: what KILN_SERVER names, or a build of cmd/kiln.
func program(t *testing.T) string {
	t.Helper()
	if p := os.Getenv("KILN_SERVER"); p != "" {
		return p
	}
	build.once.Do(func() {
		dir, err := os.MkdirTemp("", "kiln-clients")
		if err != nil {
			build.failed = err.Error()
			return
		}
		build.program = filepath.Join(dir, "kiln")
		ctx, cancel := context.WithTimeout(context.Background(), buildMax)
		defer cancel()
		cmd := exec.CommandContext(ctx, "go", "build", "-o", build.program, "./cmd/kiln")
		cmd.Dir = filepath.Join("..", "..")
		cmd.WaitDelay = time.Second
		if out, err := cmd.CombinedOutput(); err != nil {
			build.failed = err.Error() + "\n" + string(out)
		}
	})
	if build.failed != "" {
		t.Fatalf("go build ./cmd/kiln: %s", build.failed)
	}
	return build.program
}

// server gives the address of an empty server.
func server(t *testing.T) (host, port string) {
	t.Helper()
	addr := os.Getenv("KILN_ADDR")
	if addr == "" {
		s, err := conformance.StartServer(t.Context(), program(t), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if !s.Alive() {
				t.Errorf("the server did not live through the test:\n%s", s.Output())
			}
			s.Stop()
		})
		addr = s.Addr
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	flush(t, addr)
	return host, port
}

func flush(t *testing.T, addr string) {
	t.Helper()
	c, err := net.DialTimeout("tcp", addr, replyMax)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(replyMax))
	reply := make([]byte, len("+OK\r\n"))
	if _, err = io.WriteString(c, "FLUSHALL\r\n"); err == nil {
		_, err = io.ReadFull(c, reply)
	}
	if err != nil || string(reply) != "+OK\r\n" {
		t.Fatalf("FLUSHALL: got %q, %v", reply, err)
	}
}

// mayNotSkip says that a missing tool is a failure.
func mayNotSkip() bool { return os.Getenv("KILN_CLIENTS") == "1" }

// lack skips the test, or fails it where nothing may be skipped.
func lack(t *testing.T, format string, args ...any) {
	t.Helper()
	if mayNotSkip() {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// tool finds a program of Redis or Valkey.
func tool(t *testing.T, name string) string {
	t.Helper()
	if slices.Contains(strings.Fields(os.Getenv("KILN_WITHOUT")), name) {
		t.Skipf("without %s: KILN_WITHOUT says that there is none", name)
	}
	if dir := os.Getenv("KILN_PEERS"); dir != "" {
		p := filepath.Join(dir, name)
		if _, err := os.Stat(p); err == nil {
			return p
		}
	}
	p, err := exec.LookPath(name)
	if err != nil {
		lack(t, "no %s: put the folder that has it into KILN_PEERS", name)
	}
	return p
}

// result is what a program printed and how it ended.
type result struct {
	out, err string
	status   int
}

// run runs a program to its end, in an empty home, in bounded time.
func run(t *testing.T, input []byte, program string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), toolMax)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &stdout, &stderr
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("%s %q: no end within %v\n%s%s", filepath.Base(program), args, toolMax,
			stdout.String(), stderr.String())
	}
	if cmd.ProcessState == nil {
		t.Fatalf("%s: %v", program, err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// must is run for a program that has to succeed; it gives what was printed.
func must(t *testing.T, input []byte, program string, args ...string) string {
	t.Helper()
	r := run(t, input, program, args...)
	if r.status != 0 {
		t.Fatalf("%s %q: status %d\n%s%s", filepath.Base(program), args, r.status, r.out, r.err)
	}
	return r.out
}

// appendCommand appends a command as clients send it.
func appendCommand(b []byte, args ...string) []byte {
	b = fmt.Appendf(b, "*%d\r\n", len(args))
	for _, a := range args {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(a), a)
	}
	return b
}
