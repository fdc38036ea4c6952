package tidy

import (
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// room is a row of the table of style.md, section 1: a package (or, with /..., a package and all
// below it) and what it may import of ours. Of two rows that fit, the first one counts.
type room struct {
	pkg   string
	may   []string
	tests []string // what its tests may import besides
}

var rooms = []room{
	{pkg: "wire/resp"},
	{pkg: "wire/kernel"},
	{pkg: "wire", may: []string{"actors", "commands", "wire/resp", "wire/kernel"}},
	{pkg: "actors/keyspace/...", may: []string{"actors/keyspace/..."}},
	// A partition owns its arena, all arenas share a depot, and the loop prefetches for a batch.
	{pkg: "actors", may: []string{
		"commands", "actors/keyspace", "actors/keyspace/arena", "actors/keyspace/arena/prefetch",
		"wire/resp",
	}},
	// Without a partition around it, a test gives the space its arena.
	{
		pkg: "commands", may: []string{"actors/keyspace", "ai", "durability/rdb", "wire/resp"},
		tests: []string{"actors/keyspace/arena"},
	},
	{pkg: "durability/rdb", may: []string{"actors/keyspace"}},
	{pkg: "durability/...", may: []string{"durability/...", "actors/keyspace", "wire/resp"}},
	{pkg: "ai/...", may: []string{"ai/..."}},
	{pkg: "cmd/...", may: []string{
		"wire/...", "actors/...", "commands", "durability/...", "ai/...", "cmd/...",
	}},
	{pkg: "conformance/...", may: []string{"conformance/..."}}, // a black box: none of the above
	{pkg: "perf", may: []string{"wire/resp"}},
}

// door is an import that few may use: it is the edge of a dependency.
type door struct {
	path  string   // and everything below it
	rooms []string // who may import it
	tests bool     // tests may import it anywhere
}

var doors = []door{
	{"github.com/panjf2000", []string{"wire"}, false},
	{"github.com/asynkron", []string{"actors"}, false},
	{"unsafe", []string{"actors/keyspace/arena/...", "actors/keyspace/prefetch", "wire/kernel"}, false},
	{"go.uber.org/goleak", nil, true},
	{"github.com/anishathalye/porcupine", nil, true},
	{"github.com/redis/go-redis", nil, true},
}

// bare lists the packages whose binaries need nothing but the standard library. Their tests may
// use goleak, as all do.
var bare = []string{"wire/resp", "conformance/tidy"}

func imports(f *file, visit func(path string, pos token.Pos)) {
	for _, s := range f.ast.Imports {
		if path, err := strconv.Unquote(s.Path.Value); err == nil {
			visit(path, s.Pos())
		}
	}
}

// ours is the package path below the module, or false.
func ours(path string) (string, bool) {
	if path == module {
		return ".", true
	}
	return strings.CutPrefix(path, module+"/")
}

var roomsRule = rule{
	name: "rooms",
	why: "bytes walk wire, actors, commands, keyspace; imports follow the walk and nothing " +
		"imports upstream (style.md, section 1)",
	check: func(t *tree) (out []finding) {
		for _, f := range t.source(true) {
			i := slices.IndexFunc(rooms, func(r room) bool { return under(f.dir(), r.pkg) })
			if i < 0 {
				out = append(out, t.at(f, token.NoPos,
					"package %s has no row in the table of rooms", f.dir()))
				continue
			}
			may := rooms[i].may
			if f.isTest() {
				may = slices.Concat(may, rooms[i].tests)
			}
			imports(f, func(path string, pos token.Pos) {
				p, ok := ours(path)
				if ok && p != f.dir() && !underAny(p, may) {
					out = append(out, t.at(f, pos, "%s may not import %s", f.dir(), p))
				}
			})
		}
		return out
	},
	plants: []plant{
		{
			map[string]string{"actors/keyspace/b.go": "package keyspace\n\nimport _ \"kiln/commands\"\n"},
			"actors/keyspace may not import commands",
		},
		{
			map[string]string{"actors/keyspace/b.go": "package keyspace\n\nimport _ \"kiln/wire/resp\"\n"},
			"may not import wire/resp",
		},
		{
			map[string]string{"wire/resp/b.go": "package resp\n\nimport _ \"kiln/actors\"\n"},
			"wire/resp may not import actors",
		},
		{
			map[string]string{"commands/b.go": "package commands\n\nimport _ \"kiln/actors\"\n"},
			"commands may not import actors",
		},
		{
			map[string]string{"durability/rdb/b.go": "package rdb\n\nimport _ \"kiln/wire/resp\"\n"},
			"durability/rdb may not import wire/resp",
		},
		{
			map[string]string{"actors/b.go": "package actors\n\nimport _ \"kiln/wire\"\n"},
			"actors may not import wire",
		},
		{
			map[string]string{"conformance/b_test.go": "package conformance\n\nimport _ \"kiln/wire/resp\"\n"},
			"conformance may not import wire/resp",
		},
		{
			map[string]string{"commands/b.go": "package commands\n\nimport _ \"kiln/actors/keyspace/arena\"\n"},
			"commands may not import actors/keyspace/arena",
		},
		{
			map[string]string{"commands/b_test.go": "package commands\n\nimport _ \"kiln/actors/keyspace/arena\"\n"},
			"",
		},
		{map[string]string{"internal/b.go": "package internal\n"}, "no row in the table"},
		{map[string]string{"actors/b.go": "package actors\n\nimport _ \"kiln/commands\"\n"}, ""},
		{map[string]string{"cmd/kiln/main.go": "package main\n\nimport _ \"kiln/wire\"\n"}, ""},
	},
}

var doorsRule = rule{
	name: "doors",
	why:  "one room knows each dependency, so that it can be replaced (style.md, section 1)",
	check: func(t *tree) (out []finding) {
		for _, f := range t.source(true) {
			imports(f, func(path string, pos token.Pos) {
				if _, ok := ours(path); ok {
					return
				}
				if underAny(f.dir(), bare) && !f.isTest() && isThirdParty(path) {
					out = append(out, t.at(f, pos,
						"%s is standard library only, not %s", f.dir(), path))
				}
				for _, d := range doors {
					if under(path, d.path+"/...") && !underAny(f.dir(), d.rooms) &&
						(!d.tests || !f.isTest()) {
						out = append(out, t.at(f, pos, "%s may not import %s", f.dir(), path))
					}
				}
			})
		}
		return out
	},
	plants: []plant{
		{
			map[string]string{"actors/b.go": "package actors\n\nimport _ \"github.com/panjf2000/gnet/v2\"\n"},
			"actors may not import github.com/panjf2000/gnet/v2",
		},
		{
			map[string]string{"wire/b.go": "package wire\n\nimport _ \"github.com/asynkron/protoactor-go/actor\"\n"},
			"wire may not import github.com/asynkron",
		},
		{
			map[string]string{"wire/b.go": "package wire\n\nimport \"unsafe\"\n\nvar x unsafe.Pointer\n"},
			"wire may not import unsafe",
		},
		{
			map[string]string{"actors/keyspace/b.go": "package keyspace\n\nimport _ \"unsafe\"\n"},
			"may not import unsafe",
		},
		{
			map[string]string{"wire/b.go": "package wire\n\nimport _ \"go.uber.org/goleak\"\n"},
			"wire may not import go.uber.org/goleak",
		},
		{
			map[string]string{"wire/resp/b.go": "package resp\n\nimport _ \"github.com/zeebo/xxh3\"\n"},
			"standard library only",
		},
		{map[string]string{
			"wire/b.go":                      "package wire\n\nimport _ \"github.com/panjf2000/gnet/v2\"\n",
			"actors/keyspace/arena/a.go":     "package arena\n\nimport _ \"unsafe\"\n",
			"actors/keyspace/prefetch/p.go":  "package prefetch\n\nimport _ \"unsafe\"\n",
			"actors/keyspace/arena/os/m.go":  "package os\n\nimport _ \"unsafe\"\n",
			"actors/b_test.go":               "package actors\n\nimport _ \"go.uber.org/goleak\"\n",
			"conformance/clients/a_test.go":  "package c\n\nimport _ \"github.com/redis/go-redis/v9\"\n",
			"actors/keyspace/table/table.go": "package table\n\nimport _ \"github.com/zeebo/xxh3\"\n",
		}, ""},
	},
}

// isThirdParty tells the packages of others by the dot in their first element.
func isThirdParty(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return strings.Contains(first, ".")
}
