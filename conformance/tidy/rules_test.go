package tidy

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// rule is one of the tree's manners. Its plants are trees that break it, each in one way.
type rule struct {
	name   string
	why    string
	check  func(*tree) []finding
	plants []plant
}

// plant is a tree of a few files (added to the clean one below) and what the rule must say of it.
type plant struct {
	files map[string]string
	want  string // a part of one finding; empty means that the rule must stay silent
}

var rules = []rule{
	roomsRule, doorsRule, purityRule, errorsRule, rowsRule,
	functionsRule, lengthRule, columnsRule, gofmtRule,
	packageCommentRule, packageNameRule, goleakRule, testdataRule,
	openEndsRule, machineRule, topLevelRule,
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestTree holds the tree to every rule.
func TestTree(t *testing.T) {
	tr, err := load(moduleRoot(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			for _, problem := range judge(r.check(tr), exceptions[r.name]) {
				t.Error(problem)
			}
			if t.Failed() {
				t.Log("why:", r.why)
			}
		})
	}
	for name := range exceptions {
		if !slices.ContainsFunc(rules, func(r rule) bool { return r.name == name }) {
			t.Errorf("exceptions name a rule that does not exist: %q", name)
		}
	}
}

// clean is a tree that breaks no rule, the soil of all plants.
var clean = map[string]string{
	"go.mod":               "module kiln\n",
	"wire/resp/doc.go":     "// Package resp is the codec.\npackage resp\n",
	"wire/doc.go":          "// Package wire has the sockets.\npackage wire\n\nimport _ \"kiln/wire/resp\"\n",
	"actors/doc.go":        "// Package actors owns.\npackage actors\n",
	"commands/errors.go":   "// Package commands has the handlers.\npackage commands\n\nconst errSyntax = \"ERR syntax error\"\n",
	"actors/keyspace/a.go": "// Package keyspace is one partition's data.\npackage keyspace\n",
}

// TestEachRuleCatches plants a violation for each rule and sees it caught, and sees that neither
// the rule nor any other complains of a clean tree.
func TestEachRuleCatches(t *testing.T) {
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			if found := r.check(grow(t, nil)); len(found) > 0 {
				t.Errorf("a clean tree is found fault with: %v", found)
			}
			catches := 0
			for _, p := range r.plants {
				found := r.check(grow(t, p.files))
				if p.want == "" {
					if len(found) > 0 {
						t.Errorf("planted %v, want silence, got %v", p.files, found)
					}
					continue
				}
				catches++
				if !slices.ContainsFunc(found, func(f finding) bool {
					return strings.Contains(f.String(), p.want)
				}) {
					t.Errorf("planted %v, want a finding with %q, got %v", p.files, p.want, found)
				}
			}
			if catches == 0 {
				t.Error("has no plant that it catches: a check that cannot fail is worthless")
			}
		})
	}
}

// grow writes the clean tree and files over it to a temporary folder, and loads it.
func grow(t *testing.T, files map[string]string) *tree {
	t.Helper()
	root := t.TempDir()
	all := maps.Clone(clean)
	maps.Copy(all, files)
	for name, text := range all {
		p := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tr, err := load(root)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}
