package tidy

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// errorRooms lists where no text of a Redis error may stand, but for errorHomes.
var (
	errorRooms = []string{"commands/...", "actors/...", "wire/...", "durability/...", "ai/..."}
	errorHomes = []string{"commands/errors.go", "wire/resp/..."}
)

// errorText is how the text of an error begins: one of Redis's codes and a space. The codes are
// named, since documentation may well begin with a word in capitals.
var errorText = regexp.MustCompile(`^-?(ERR|WRONGTYPE|NOAUTH|WRONGPASS|NOPERM|NOPROTO|NOSCRIPT|` +
	`LOADING|READONLY|OOM|NOREPLICAS|MISCONF|BUSY|BUSYKEY|BUSYGROUP|NOGROUP|NOTBUSY|UNKILLABLE|` +
	`EXECABORT|UNBLOCKED|MOVED|ASK|CLUSTERDOWN|CROSSSLOT|TRYAGAIN|MASTERDOWN|NOMASTERLINK|` +
	`INVALIDOBJ|NOGOODSLAVE|INPROG|IOERR|DENIED|NOTREADY) `)

var errorsRule = rule{
	name: "errors",
	why: "every text of an error is a constant or a function in commands/errors.go " +
		"(style.md, section 5)",
	check: func(t *tree) (out []finding) {
		for _, f := range t.source(false) {
			home := underAny(f.path, errorHomes) || underAny(f.dir(), errorHomes)
			if home || !underAny(f.dir(), errorRooms) {
				continue
			}
			ast.Inspect(f.ast, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.ImportSpec:
					return false
				case *ast.BasicLit:
					if text, ok := unquote(n); ok && errorText.MatchString(text) {
						out = append(out, t.at(f, n.Pos(),
							"the text of an error, %q, belongs in commands/errors.go", text))
					}
				case *ast.CallExpr:
					if under(f.dir(), "commands/...") && makesError(f, n) {
						out = append(out, t.at(f, n.Pos(),
							"an error made on the spot; it belongs in commands/errors.go"))
					}
				}
				return true
			})
		}
		return out
	},
	plants: []plant{
		commandsBreach("const x = \"ERR no such key\"\n", "belongs in commands/errors.go"),
		commandsBreach("const x = \"WRONGTYPE Operation\"\n", "belongs in commands/errors.go"),
		commandsBreach("const x = `-NOSCRIPT No matching script`\n", "belongs in"),
		commandsBreach("import \"errors\"\n\nvar x = errors.New(\"no\")\n", "made on the spot"),
		commandsBreach("import \"fmt\"\n\nvar x = fmt.Errorf(\"no\")\n", "made on the spot"),
		commandsBreach("import \"kiln/wire/resp\"\n\nvar x = resp.Error(\"no\")\n", "made on the spot"),
		{
			map[string]string{"wire/b.go": "package wire\n\nconst x = \"ERR max clients\"\n"},
			"wire/b.go",
		},
		{
			map[string]string{"actors/b.go": "package actors\n\nconst x = \"OOM command\"\n"},
			"actors/b.go",
		},
		{map[string]string{
			"commands/b.go":      "package commands\n\nconst doc = \"LRU clock, or ERRATIC\"\n",
			"commands/b_test.go": "package commands\n\nconst x = \"ERR no such key\"\n",
			"wire/resp/b.go":     "package resp\n\nconst x = \"ERR Protocol error\"\n",
			"durability/b.go": "// Package durability lasts.\npackage durability\n\n" +
				"import \"fmt\"\n\nvar x = fmt.Errorf(\"replay aof\")\n",
		}, ""},
	},
}

func commandsBreach(body, want string) plant {
	return plant{map[string]string{"commands/b.go": "package commands\n\n" + body}, want}
}

// makesError sees errors.New, fmt.Errorf and a conversion of a literal to resp.Error.
func makesError(f *file, call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	switch sel.Sel.Name {
	case "New":
		return isPackage(f, sel.X, "errors")
	case "Errorf":
		return isPackage(f, sel.X, "fmt")
	case "Error":
		if len(call.Args) != 1 || !isPackage(f, sel.X, module+"/wire/resp") {
			return false
		}
		_, ok := call.Args[0].(*ast.BasicLit)
		return ok
	}
	return false
}

func unquote(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

var rowsRule = rule{
	name: "rows",
	why: "a command is one row: named fields only, rows sorted by name, so that it is found " +
		"and two branches meet in few places (style.md, section 3)",
	check: func(t *tree) (out []finding) {
		for _, f := range t.source(false) {
			if !under(f.dir(), "commands/...") {
				continue
			}
			ast.Inspect(f.ast, func(n ast.Node) bool {
				if list, ok := n.(*ast.CompositeLit); ok && isSpecs(list.Type) {
					out = append(out, checkRows(t, f, list)...)
				}
				return true
			})
		}
		return out
	},
	plants: []plant{
		commandsBreach("var t = []Spec{\n\t{Name: \"b\"},\n\t{Name: \"a\"},\n}\n",
			`"a" stands after "b"`),
		commandsBreach("var t = []Spec{\n\t{Name: \"a\"},\n\t{Name: \"a\"},\n}\n",
			`"a" stands after "a"`),
		commandsBreach("var t = []Spec{{\"a\", 2}}\n", "named fields only"),
		commandsBreach("var t = []Spec{{Arity: 2}}\n", "without a name"),
		commandsBreach("var t = []Spec{get}\n", "not a literal row"),
		commandsBreach("var t = []Spec{{Name: \"a\", Subs: []Spec{{Name: \"d\"}, {Name: \"c\"}}}}\n",
			`"c" stands after "d"`),
		commandsBreach("var t = []Spec{\n\t{Name: \"a\", Arity: 2},\n\t{Name: \"b\"},\n}\n", ""),
	},
}

func isSpecs(e ast.Expr) bool {
	array, ok := e.(*ast.ArrayType)
	if !ok {
		return false
	}
	id, ok := array.Elt.(*ast.Ident)
	return ok && id.Name == "Spec"
}

func checkRows(t *tree, f *file, list *ast.CompositeLit) (out []finding) {
	last := ""
	for _, e := range list.Elts {
		row, ok := e.(*ast.CompositeLit)
		if !ok {
			out = append(out, t.at(f, e.Pos(), "not a literal row"))
			continue
		}
		name, named := "", true
		for _, field := range row.Elts {
			kv, ok := field.(*ast.KeyValueExpr)
			if !ok {
				named = false
				break
			}
			if key, ok := kv.Key.(*ast.Ident); ok && key.Name == "Name" {
				name, _ = unquote(kv.Value)
			}
		}
		switch {
		case !named:
			out = append(out, t.at(f, row.Pos(), "a row has named fields only"))
		case name == "":
			out = append(out, t.at(f, row.Pos(), "a row without a name in quotes"))
		case strings.Compare(last, name) >= 0:
			out = append(out, t.at(f, row.Pos(), "row %q stands after %q", name, last))
		}
		last = max(last, name)
	}
	return out
}
