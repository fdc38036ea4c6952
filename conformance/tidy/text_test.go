package tidy

import (
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// eachLine visits the lines of every file that is text.
func eachLine(t *tree, visit func(f *file, n int, line string)) {
	for _, f := range t.files {
		if f.isBinary() {
			continue
		}
		n := 0
		for line := range strings.Lines(string(f.data)) {
			n++
			visit(f, n, line)
		}
	}
}

// The words and the paths below are put together from pieces, since this file is held to the
// rules too.
var (
	openEnd  = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`)
	numbered = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\(#\d+\)`)
)

var openEndsRule = rule{
	name: "open-ends",
	why:  "what is left open has an issue, or it is forgotten (style.md, section 11)",
	check: func(t *tree) (out []finding) {
		eachLine(t, func(f *file, n int, line string) {
			if f.isFixture() {
				return // a transcript may well store such a word
			}
			if openEnd.MatchString(numbered.ReplaceAllString(line, "")) {
				out = append(out, finding{what: f.path, line: n, text: "left open without an issue"})
			}
		})
		return out
	},
	plants: []plant{
		{map[string]string{"wire/b.go": "package wire\n\n// TO" + "DO: more\n"}, "wire/b.go (line 3)"},
		{map[string]string{"justfile": "# FIX" + "ME later\n"}, "justfile (line 1)"},
		{map[string]string{"wire/b.go": "package wire\n\n// XX" + "X\n"}, "wire/b.go (line 3)"},
		{map[string]string{"wire/b.go": "package wire\n\n// TO" + "DO(#12): more\n"}, ""},
	},
}

// machinePath is a folder that one machine has and the next one has not. Before it stands no part
// of a longer path or of a web address.
var machinePath = regexp.MustCompile(`(^|[^\w.~/-])/(wo` + `rk|ro` + `ot|ho` + `me)/`)

// registry is a host that packages come from, or a setting that chooses one: which one to use is
// a matter of the machine, not of the tree.
var registry = regexp.MustCompile(`(?i)(regis` + `try\.npmjs\.|regis` + `try\.yarnpkg\.|` +
	`proxy\.gol` + `ang\.org|sum\.gol` + `ang\.org|gopr` + `oxy\.(io|cn)|pypi\.` + `org|` +
	`pythonho` + `sted\.org|(deb|security|ftp|snapshot)(\.\w+)?\.debi` + `an\.org|` +
	`crates\.` + `io|rubyg` + `ems\.org|repo\d?\.maven\.|gopr` + `oxy\s*[=:]\s*"?https?:|` +
	`regis` + `try["']?\s*[=:]\s*["']?https?:|index-` + `url\s*[=:]?\s*["']?https?:)`)

var machineRule = rule{
	name: "machine",
	why:  "the tree is built on any machine: no path and no registry of one of them",
	check: func(t *tree) (out []finding) {
		eachLine(t, func(f *file, n int, line string) {
			if machinePath.MatchString(line) {
				out = append(out, finding{what: f.path, line: n, text: "a path of one machine"})
			}
			if registry.MatchString(line) {
				out = append(out, finding{what: f.path, line: n, text: "a package registry"})
			}
		})
		return out
	},
	plants: []plant{
		{map[string]string{"docs/a.md": "see `/wo" + "rk/x`\n"}, "docs/a.md (line 1): a path"},
		{map[string]string{"docs/a.md": "\n/ro" + "ot/.cache\n"}, "docs/a.md (line 2): a path"},
		{map[string]string{"wire/testdata/a.txt": "$\"/ho" + "me/me\"\n"}, "a.txt (line 1): a path"},
		{map[string]string{"docs/a.md": "https://regis" + "try.npmjs.org/x\n"}, "a package registry"},
		{map[string]string{"docs/a.md": "GOPR" + "OXY=https://10.0.0.1/go\n"}, "a package registry"},
		{map[string]string{"docs/a.md": "deb https://deb.debi" + "an.org x\n"}, "a package registry"},
		{map[string]string{".npmrc": "regis" + "try = \"http://10.0.0.1\"\n"}, "a package registry"},
		{map[string]string{
			"docs/a.md": "https://example.org/ho" + "me/x ../ro" + "ot/x a/wo" + "rk/b work/root\n",
		}, ""},
	},
}

// topLevel is all that may stand at the top of the tree.
var topLevel = []string{
	"actors", "wire", "commands", "durability", "ai", "cmd", "conformance", "perf", "docs",
	"go.mod", "go.sum", "justfile", "README.md", "LICENSE", "SECURITY.md",
	".ci", ".github", ".golangci.yml", ".gitignore", ".gitattributes",
}

var topLevelRule = rule{
	name: "top-level",
	why:  "the house has its rooms: a new one is a decision, not an accident",
	check: func(t *tree) (out []finding) {
		seen := make(map[string]bool)
		for _, f := range t.files {
			first, _, _ := strings.Cut(f.path, "/")
			if !seen[first] && !slices.Contains(topLevel, first) {
				found := t.at(f, token.NoPos, "has no place at the top of the tree")
				found.what = first
				out = append(out, found)
			}
			seen[first] = true
		}
		return out
	},
	plants: []plant{
		{map[string]string{"notes.txt": "x\n"}, "notes.txt: has no place"},
		{map[string]string{"internal/a.go": "package internal\n"}, "internal: has no place"},
		{map[string]string{"README.md": "x\n", ".github/a.yml": "x\n", ".ci/run": "x\n"}, ""},
	},
}
