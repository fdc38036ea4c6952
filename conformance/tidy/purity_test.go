package tidy

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// pure lists the rooms that have no goroutine, lock, clock, outside world or global dice, so that
// a test can run them with any clock and any dice, and a partition needs no lock.
var pure = []string{"commands/...", "actors/keyspace/..."}

// impure is what pure rooms may not import; with /..., nor anything below. sync/atomic is allowed,
// for counters that others read.
var impure = []string{"sync", "time", "os/...", "log/...", "math/rand", "crypto/rand"}

// seeded is what a pure room may use of math/rand/v2: the rest of it throws global dice.
var seeded = []string{"Rand", "Source", "PCG", "ChaCha8", "New", "NewPCG", "NewChaCha8"}

var purityRule = rule{
	name: "purity",
	why:  "commands and actors/keyspace are pure (style.md, section 1)",
	check: func(t *tree) (out []finding) {
		for _, f := range t.source(false) {
			if !underAny(f.dir(), pure) {
				continue
			}
			say := func(pos token.Pos, what string) {
				out = append(out, finding{
					what: f.path + " " + what, line: t.fset.Position(pos).Line,
					text: f.dir() + " is pure: no " + what,
				})
			}
			imports(f, func(path string, pos token.Pos) {
				if underAny(path, impure) {
					say(pos, path)
				}
			})
			ast.Inspect(f.ast, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.GoStmt:
					say(n.Pos(), "go")
				case *ast.ChanType:
					say(n.Pos(), "chan")
				case *ast.SelectStmt:
					say(n.Pos(), "select")
				case *ast.SelectorExpr:
					if isPackage(f, n.X, "math/rand/v2") && !slices.Contains(seeded, n.Sel.Name) {
						say(n.Pos(), "rand."+n.Sel.Name)
					}
				}
				return true
			})
		}
		return out
	},
	plants: []plant{
		pureBreach("import _ \"sync\"\n", "no sync"),
		pureBreach("import _ \"time\"\n", "no time"),
		pureBreach("import _ \"os\"\n", "no os"),
		pureBreach("import _ \"os/signal\"\n", "no os/signal"),
		pureBreach("import _ \"log/slog\"\n", "no log/slog"),
		pureBreach("import _ \"math/rand\"\n", "no math/rand"),
		pureBreach("import \"math/rand/v2\"\n\nvar x = rand.IntN(3)\n", "no rand.IntN"),
		pureBreach("import r \"math/rand/v2\"\n\nvar x = r.Uint64()\n", "no rand.Uint64"),
		pureBreach("func f() { go f() }\n", "no go"),
		pureBreach("var c chan int\n", "no chan"),
		pureBreach("func f() { select {} }\n", "no select"),
		{
			map[string]string{"actors/keyspace/table/b.go": "package table\n\nimport _ \"sync\"\n"},
			"actors/keyspace/table is pure: no sync",
		},
		{map[string]string{
			"commands/b_test.go": "package commands\n\nimport _ \"time\"\n",
			"commands/b.go":      "package commands\n\nimport _ \"sync/atomic\"\n",
			"commands/c.go": "package commands\n\nimport \"math/rand/v2\"\n\n" +
				"var x = rand.New(rand.NewPCG(1, 2)).IntN(3)\n",
			"actors/b.go": "package actors\n\nimport _ \"sync\"\n\nvar c chan int\n",
		}, ""},
	},
}

func pureBreach(body, want string) plant {
	return plant{map[string]string{"commands/b.go": "package commands\n\n" + body}, want}
}

// isPackage says whether x is the name under which f imports path.
func isPackage(f *file, x ast.Expr, path string) bool {
	id, ok := x.(*ast.Ident)
	if !ok {
		return false
	}
	for _, s := range f.ast.Imports {
		if s.Path.Value != `"`+path+`"` {
			continue
		}
		if s.Name != nil {
			return id.Name == s.Name.Name
		}
		return id.Name == lastName(path)
	}
	return false
}

// lastName is the name a package has by its path: the last element that is no version.
func lastName(path string) string {
	name := ""
	for part := range strings.SplitSeq(path, "/") {
		if len(part) < 2 || part[0] != 'v' || part[1] < '0' || part[1] > '9' {
			name = part
		}
	}
	return name
}
