package conformance

import (
	"context"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

var (
	referenceFlag = flag.String("reference", os.Getenv("KILN_REFERENCE"),
		"a redis-server or valkey-server, or host:port of one, to replay against as well")
	kilnFlag = flag.String("kiln", os.Getenv("KILN_SERVER"),
		"the server to test instead of a fresh build of cmd/kiln: a program, or host:port")
	record = flag.Bool("record", false, "rewrite the replies in testdata from the reference")
)

const (
	buildMax  = 5 * time.Minute
	scriptMax = 30 * time.Second
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if build.program != "" {
			_ = os.RemoveAll(filepath.Dir(build.program))
		}
		os.Exit(code)
	}))
}

// later is what transcripts need (`# needs`) and Kiln has not yet. It only shrinks: a transcript
// that is skipped for anything else fails, so that nothing that works can be lost unseen.
var later = map[string]string{
	"lpush":                            "the types other than strings come later",
	"config|rewrite":                   "comes with the whole of redis.conf",
	"info commandstats":                "comes with the whole of INFO",
	"directive appendfsync":            "comes with the append-only file",
	"directive notify-keyspace-events": "comes with publish and subscribe",
	"enforced maxmemory":               "comes with eviction",
}

// TestKiln replays all transcripts against Kiln.
func TestKiln(t *testing.T) {
	if *record {
		t.Skip("recording is from the reference")
	}
	unmet := replayAll(t, kiln(t), false)
	for need, names := range unmet {
		if later[need] == "" {
			t.Errorf("%s: skipped for want of %q, which is not in the list", names, need)
		}
	}
	if t.Failed() || *kilnFlag != "" {
		return
	}
	// `-run TestKiln/string` and the like play only some of the transcripts.
	if f := flag.Lookup("test.run").Value.String(); strings.Contains(f, "/") {
		return
	}
	for need, reason := range later {
		if unmet[need] == nil {
			t.Errorf("no transcript is skipped for want of %q; take it off the list (%s)", need, reason)
		}
	}
}

// TestReference replays them against a real server, so that they cannot drift from the truth.
func TestReference(t *testing.T) {
	if *referenceFlag == "" {
		t.Skip("KILN_REFERENCE or -reference names no server")
	}
	replayAll(t, *referenceFlag, true)
}

var build struct {
	once    sync.Once
	program string
	failed  string
}

// kiln is the server under test: built once, or what -kiln says.
func kiln(t *testing.T) string {
	t.Helper()
	if *kilnFlag != "" {
		return *kilnFlag
	}
	build.once.Do(func() {
		dir, err := os.MkdirTemp("", "kiln-conformance")
		if err != nil {
			build.failed = err.Error()
			return
		}
		build.program = filepath.Join(dir, "kiln")
		ctx, cancel := context.WithTimeout(t.Context(), buildMax)
		defer cancel()
		args := append([]string{"build", "-o", build.program}, buildFlags()...)
		cmd := exec.CommandContext(ctx, "go", append(args, "./cmd/kiln")...)
		cmd.Dir = ".."
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

// buildFlags are the flags that this test binary was built with, so that `just race` looks for
// races in the server, and the invariants of `just test` are on in it.
func buildFlags() []string {
	var flags []string
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return nil
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "-race" && s.Value == "true":
			flags = append(flags, "-race")
		case s.Key == "-tags" && s.Value != "":
			flags = append(flags, "-tags", s.Value)
		}
	}
	return flags
}

// replayAll replays testdata, a subtest for each file. server is a program or host:port. It returns
// the transcripts that were skipped for want of something, by what it is.
func replayAll(t *testing.T, server string, reference bool) map[string][]string {
	servers := newServers(t, server)
	// All the transcripts fail without a server; say so once.
	if _, err := servers.get(t, nil); err != nil {
		t.Fatal(err)
	}
	unmet := map[string][]string{}
	for _, script := range transcripts(t) {
		t.Run(script.Name, func(t *testing.T) {
			if servers.at != "" && len(script.Config) > 0 {
				t.Skip("wants a server of its own: " + strings.Join(script.Config, " "))
			}
			server, err := servers.get(t, script.Config)
			if err != nil {
				t.Fatal(err)
			}
			printed := server.OutputSize()
			ctx, cancel := context.WithTimeout(t.Context(), scriptMax)
			defer cancel()
			p := Player{Addr: server.Addr, Reference: reference, Record: *record && reference}
			out, err := p.Play(ctx, script)
			for _, f := range out.Failures {
				t.Errorf("%s", f)
			}
			if err != nil {
				t.Errorf("%s: %v", script.Path, err)
			}
			if p.Record && out.Recorded != "" {
				t.Logf("recorded %s", script.Path)
				if err := os.WriteFile(script.Path, []byte(out.Recorded), 0o644); err != nil {
					t.Error(err)
				}
			}
			if t.Failed() {
				servers.drop(t, script.Config, printed)
			}
			if out.Unmet != "" {
				unmet[out.Unmet] = append(unmet[out.Unmet], script.Name)
			}
			if out.Skipped != "" {
				t.Skip(out.Skipped)
			}
		})
	}
	return unmet
}

// servers keeps a running server for each set of arguments that transcripts ask for.
type servers struct {
	program string // or empty
	at      string // or empty
	dir     string
	running map[string]*Server
}

func newServers(t *testing.T, server string) *servers {
	t.Helper()
	s := &servers{running: map[string]*Server{}}
	if _, err := os.Stat(server); err != nil && strings.Contains(server, ":") {
		s.at = server
		return s
	}
	program, err := filepath.Abs(server)
	if err != nil {
		t.Fatal(err)
	}
	s.program, s.dir = program, t.TempDir()
	t.Cleanup(func() {
		for _, r := range s.running {
			if err := r.Stop(); err != nil {
				t.Errorf("%v\n%s", err, r.Output())
			}
		}
	})
	return s
}

// get is a running server with these arguments.
func (s *servers) get(t *testing.T, args []string) (*Server, error) {
	t.Helper()
	if s.at != "" {
		return &Server{Addr: s.at}, nil
	}
	key := strings.Join(args, "\x00")
	r := s.running[key]
	if r == nil || !r.Alive() {
		var err error
		if r, err = StartServer(t.Context(), s.program, s.dir, args...); err != nil {
			return nil, err
		}
		s.running[key] = r
	}
	return r, nil
}

// drop ends a server after a failure, and shows what it has printed since: whatever the
// transcript left behind must not spoil the next.
func (s *servers) drop(t *testing.T, args []string, printed int) {
	t.Helper()
	key := strings.Join(args, "\x00")
	r := s.running[key]
	if r == nil {
		return
	}
	if !r.Alive() {
		t.Errorf("the server has ended: %s", r.cmd.ProcessState)
	}
	if out := r.OutputSince(printed); strings.TrimSpace(out) != "" {
		t.Logf("the server's output:\n%s", out)
	}
	if err := r.Stop(); err != nil {
		t.Log(err)
	}
	delete(s.running, key)
}

// transcripts loads testdata/<group>/<story>.txt.
func transcripts(t *testing.T) []*Transcript {
	t.Helper()
	var all []*Transcript
	err := filepath.WalkDir("testdata", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".txt" {
			return err
		}
		name, err := filepath.Rel("testdata", path)
		if err != nil {
			return err
		}
		script, err := Load(path, filepath.ToSlash(strings.TrimSuffix(name, ".txt")))
		if err != nil {
			return err
		}
		all = append(all, script)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("no transcripts in testdata")
	}
	return all
}
