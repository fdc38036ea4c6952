package tidy

import (
	"go/ast"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
)

// folders are the Go files of each package, tests included, in the order of their folders.
func folders(t *tree) (names []string, files map[string][]*file) {
	files = make(map[string][]*file)
	for _, f := range t.source(true) {
		files[f.dir()] = append(files[f.dir()], f)
	}
	return slices.Sorted(maps.Keys(files)), files
}

var packageCommentRule = rule{
	name: "package-comment",
	why:  "each package says what it is, what it is not and where to start (style.md, section 11)",
	check: func(t *tree) (out []finding) {
		names, files := folders(t)
		for _, dir := range names {
			if !slices.ContainsFunc(files[dir], func(f *file) bool {
				return f.ast.Doc != nil && len(f.ast.Doc.Text()) > 0
			}) {
				out = append(out, finding{what: dir, text: "no doc.go and no package comment"})
			}
		}
		return out
	},
	plants: []plant{
		{map[string]string{"ai/a.go": "package ai\n"}, "ai: no doc.go"},
		{map[string]string{"ai/a.go": "// An aside.\n\npackage ai\n"}, "ai: no doc.go"},
		{map[string]string{"ai/a_test.go": "// Package ai thinks.\npackage ai\n"}, ""},
	},
}

var packageNameRule = rule{
	name: "package-name",
	why:  "a name says what is inside (style.md, section 1)",
	check: func(t *tree) (out []finding) {
		vague := []string{
			"util", "utils", "common", "helper", "helpers", "types", "models", "misc", "base",
		}
		names, _ := folders(t)
		for _, dir := range names {
			if slices.Contains(vague, path.Base(dir)) {
				out = append(out, finding{what: dir, text: "a name that says nothing"})
			}
		}
		return out
	},
	plants: []plant{
		{map[string]string{"wire/util/a.go": "package util\n"}, "wire/util: a name"},
	},
}

var goleakRule = rule{
	name: "goleak",
	why: "a test binary that leaves goroutines behind hides a leak of ours: TestMain calls " +
		"goleak.VerifyTestMain (design.md, Dependencies)",
	check: func(t *tree) (out []finding) {
		names, files := folders(t)
		for _, dir := range names {
			tests, verified := false, false
			for _, f := range files[dir] {
				if !f.isTest() {
					continue
				}
				imports(f, func(path string, _ token.Pos) { tests = tests || path == "testing" })
				verified = verified || verifiesLeaks(f)
			}
			if tests && !verified {
				out = append(out, finding{
					what: dir, text: "tests without goleak.VerifyTestMain in TestMain",
				})
			}
		}
		return out
	},
	plants: []plant{
		{
			map[string]string{"wire/b_test.go": "package wire\n\nimport _ \"testing\"\n"},
			"wire: tests without",
		},
		{map[string]string{"wire/b_test.go": "package wire\n\nimport \"testing\"\n\n" +
			"func TestMain(m *testing.M) { m.Run() }\n"}, "wire: tests without"},
		{map[string]string{
			"wire/b_test.go": "package wire\n\nimport _ \"testing\"\n",
			"wire/c_test.go": "package wire_test\n\nimport (\n\t\"testing\"\n\n" +
				"\t\"go.uber.org/goleak\"\n)\n\n" +
				"func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }\n",
		}, ""},
	},
}

// verifiesLeaks looks for the call in TestMain, or in what TestMain could only be followed by.
func verifiesLeaks(f *file) bool {
	found := false
	for _, d := range f.ast.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Recv != nil || fn.Name.Name != "TestMain" {
			continue
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "VerifyTestMain" {
				found = found || isPackage(f, sel.X, "go.uber.org/goleak")
			}
			return true
		})
	}
	return found
}

var testdataRule = rule{
	name: "testdata",
	why:  "testdata belongs to tests: beside them, and read by nothing else",
	check: func(t *tree) (out []finding) {
		tested := make(map[string]bool)
		for _, f := range t.files {
			if f.isTest() {
				tested[f.dir()] = true
			}
		}
		orphans := make(map[string]bool)
		for _, f := range t.files {
			if dir, _, ok := strings.Cut("/"+f.path, "/testdata/"); ok {
				if dir = strings.TrimPrefix(dir, "/"); !tested[dir] {
					orphans[dir+"/testdata"] = true
				}
			}
		}
		for _, dir := range slices.Sorted(maps.Keys(orphans)) {
			out = append(out, finding{what: dir, text: "testdata with no test beside it"})
		}
		for _, f := range t.source(false) {
			ast.Inspect(f.ast, func(n ast.Node) bool {
				lit, ok := n.(*ast.BasicLit)
				if text, is := "", false; ok {
					if text, is = unquote(lit); is && strings.Contains(text, "testdata") {
						out = append(out, t.at(f, n.Pos(), "reads testdata, which is for tests"))
					}
				}
				return true
			})
		}
		return out
	},
	plants: []plant{
		{map[string]string{"wire/testdata/a.txt": "x\n"}, "wire/testdata: testdata with no test"},
		{
			map[string]string{"wire/b.go": "package wire\n\nconst x = \"testdata/a.txt\"\n"},
			"wire/b.go (line 3): reads testdata",
		},
		{map[string]string{
			"wire/testdata/a.txt": "x\n",
			"wire/b_test.go":      "package wire\n\nconst x = \"testdata/a.txt\"\n",
		}, ""},
	},
}
