package clients_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

const npmMax = 5 * time.Minute

func TestIoredis(t *testing.T)   { playNode(t, "ioredis.js") }
func TestNodeRedis(t *testing.T) { playNode(t, "noderedis.js") }

// playNode runs a session written for Node with each protocol.
func playNode(t *testing.T, script string) {
	node, err := exec.LookPath("node")
	if err != nil {
		lack(t, "no node: this session is written for it")
	}
	modules := nodeModules(t)
	t.Setenv("NODE_PATH", modules)
	for _, protocol := range []string{"2", "3"} {
		t.Run("resp"+protocol, func(t *testing.T) {
			host, port := server(t)
			r := run(t, nil, node, filepath.Join("testdata", script), host, port, protocol)
			if r.status != 0 || r.out != "passed\n" {
				t.Errorf("%s: %+v", script, r)
			}
		})
	}
}

// nodeModules is the folder with the clients that testdata/package.json pins. They are fetched
// once for each version of that file, into the user's cache.
func nodeModules(t *testing.T) string {
	t.Helper()
	pins, err := os.ReadFile(filepath.Join("testdata", "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	sum := sha256.Sum256(pins)
	home := filepath.Join(cache, "kiln-clients", hex.EncodeToString(sum[:8]))
	modules := filepath.Join(home, "node_modules")
	if _, err = os.Stat(modules); err == nil {
		return modules
	}
	if !mayNotSkip() {
		t.Skip("the Node clients are not there: KILN_CLIENTS=1 lets npm fetch them")
	}
	// Beside its place and then renamed, so that half a folder is never used.
	if err = os.MkdirAll(filepath.Dir(home), 0o755); err != nil {
		t.Fatal(err)
	}
	fresh, err := os.MkdirTemp(filepath.Dir(home), "fresh")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(fresh) }()
	if err = os.WriteFile(filepath.Join(fresh, "package.json"), pins, 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), npmMax)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "install",
		"--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts")
	cmd.Dir = fresh
	cmd.WaitDelay = time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm install: %v\n%s", err, out)
	}
	if err := os.Rename(fresh, home); err != nil {
		if _, there := os.Stat(modules); there != nil {
			t.Fatal(err)
		}
	}
	return modules
}
