package tidy

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// module is the import path of the tree's root.
const module = "kiln"

// file is one file of the tree; path is relative to the root, with slashes.
type file struct {
	path string
	data []byte
	ast  *ast.File // nil unless it is Go that parses
}

func (f *file) dir() string     { return path.Dir(f.path) }
func (f *file) isGo() bool      { return strings.HasSuffix(f.path, ".go") }
func (f *file) isTest() bool    { return strings.HasSuffix(f.path, "_test.go") }
func (f *file) isBinary() bool  { return bytes.IndexByte(f.data, 0) >= 0 }
func (f *file) isFixture() bool { return strings.Contains("/"+f.path, "/testdata/") }

func (f *file) isGenerated() bool {
	return f.ast != nil && ast.IsGenerated(f.ast)
}

// tree is what the rules look at.
type tree struct {
	files []*file
	fset  *token.FileSet
}

// finding is one breach of a rule. what names the thing at fault in a way that an exception can
// repeat: it has no line number, since those move.
type finding struct {
	what string
	line int
	size int // how long the thing is, for the rules of length
	text string
}

func (f finding) String() string {
	if f.line > 0 {
		return fmt.Sprintf("%s (line %d): %s", f.what, f.line, f.text)
	}
	return f.what + ": " + f.text
}

// at makes a finding about a whole file.
func (t *tree) at(f *file, pos token.Pos, format string, args ...any) finding {
	line := 0
	if pos.IsValid() {
		line = t.fset.Position(pos).Line
	}
	return finding{what: f.path, line: line, text: fmt.Sprintf(format, args...)}
}

// source is the Go files that are part of a binary; with tests, all Go files outside testdata.
func (t *tree) source(tests bool) []*file {
	var out []*file
	for _, f := range t.files {
		if f.ast != nil && (tests || !f.isTest()) {
			out = append(out, f)
		}
	}
	return out
}

// load reads the tree at root: what git tracks, and what it would track if it were added. A
// checkout without git (a release archive) is walked instead.
func load(root string) (*tree, error) {
	names, err := listGit(root)
	if err != nil {
		if names, err = listWalk(root); err != nil {
			return nil, err
		}
	}
	slices.Sort(names)
	t := &tree{fset: token.NewFileSet()}
	for _, name := range slices.Compact(names) {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			continue // tracked but deleted, or a link to nowhere: not part of the tree
		}
		f := &file{path: name, data: data}
		if f.isGo() && !f.isFixture() {
			f.ast, err = parser.ParseFile(t.fset, name, data, parser.ParseComments)
			if err != nil {
				return nil, err
			}
		}
		t.files = append(t.files, f)
	}
	return t, nil
}

func listGit(root string) ([]string, error) {
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		return nil, err // a repository further up does not count
	}
	args := []string{"-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"}
	out, err := exec.Command("git", args...).Output()
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimRight(string(out), "\x00"), "\x00"), nil
}

func listWalk(root string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name == ".git" || name == "bin" || name == "node_modules" {
				return filepath.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root, p)
		names = append(names, filepath.ToSlash(rel))
		return err
	})
	return names, err
}

// moduleRoot is the nearest folder upwards that has a go.mod.
func moduleRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = up
	}
}

// under says whether the package path dir matches pattern: itself, or with "/..." at the end
// itself and all below.
func under(dir, pattern string) bool {
	base, all := strings.CutSuffix(pattern, "/...")
	return dir == base || all && strings.HasPrefix(dir, base+"/")
}

func underAny(dir string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return under(dir, p) })
}
