package commands

import (
	"cmp"
	flags "flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flags.Bool("update", false, "rewrite docs/commands.md and docs/config.md")

// TestDocs holds two pages to the tables that they are made from.
func TestDocs(t *testing.T) {
	for path, want := range map[string]string{
		"../docs/commands.md": commandsPage(), "../docs/config.md": configPage(),
	} {
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s is not what the tables say: go generate ./commands", path)
		}
	}
}

// What the pages say before their tables.
const (
	generated = "<!-- Made by `go generate ./commands` from the tables there; do not edit. -->\n"

	commandsHead = `
# Commands

Kiln %s knows %d commands, subcommands counted one by one. They do what they do in Redis %s, but
for [some differences](differences.md). Of commands and options that are newer, the version of
Redis that brought them is given. "COMMAND DOCS" and "COMMAND INFO" tell a client the same.

Each command works on its keys at one instant, as in Redis, however many they are. Those few that
visit the parts of the keyspace one after another say so.
`

	debugHead = `
## DEBUG

These are its subcommands, for those whom "enable-debug-command" permits to use them.

| command | what it does |
|---|---|
`

	configHead = `
# Configuration

Directives stand in a file, one a line ("kiln redis.conf"), or on the command line with two dashes
("kiln --port 7000"), which counts after the file; "include" reads another file, "-" standard
input. Words may be quoted, sizes have units ("1gb" is 2^30 bytes, "1g" is 10^9), all as in Redis.
A directive that is not in this list stops the start, with file, line and reason.

Those marked "live" may be changed by "CONFIG SET" while the server runs; "CONFIG GET" shows all.

| directive | default | live | meaning |
|---|---|---|---|
`
)

// commandsPage lists all commands by group, and those with subcommands by these.
func commandsPage() string {
	rows := map[Group][]*Spec{}
	count := 0
	for _, s := range table.rows {
		list := []*Spec{s}
		if s.Subs != nil {
			list = list[:0]
			if s.Arity == -1 { // COMMAND alone does something
				list = append(list, s)
			}
			for i := range s.Subs {
				list = append(list, &s.Subs[i])
			}
		}
		rows[s.Group] = append(rows[s.Group], list...)
		count += len(list)
	}
	groups := make([]Group, 0, len(rows))
	for g := range rows {
		groups = append(groups, g)
	}
	slices.Sort(groups)
	var b strings.Builder
	b.WriteString(generated)
	fmt.Fprintf(&b, commandsHead, KilnVersion, count, RedisVersion)
	for _, g := range groups {
		fmt.Fprintf(&b, "\n## %s\n\n| command | since | time | what it does |\n|---|---|---|---|\n", g)
		for _, s := range rows[g] {
			name := strings.ToUpper(strings.Replace(s.full, "|", " ", 1))
			does := s.Doc
			if s.Where == Everywhere {
				does += " Not at one instant."
			}
			if s.Deprecated != "" {
				does += " Deprecated since " + s.Deprecated
				if s.ReplacedBy != "" {
					does += ": use " + s.ReplacedBy
				}
				does += "."
			}
			for _, h := range newer(s.History) {
				does += " Since " + h[0] + ": " + strings.ToLower(h[1][:1]) + h[1][1:]
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", strings.TrimSpace(name+" "+cell(s.Syntax)),
				cmp.Or(s.Since, "-"), prose(cmp.Or(strings.TrimSuffix(s.Complexity, "."), "-")), prose(does))
		}
	}
	b.WriteString(debugHead)
	for _, s := range debugCommands {
		fmt.Fprintf(&b, "| `%s` | %s |\n",
			strings.TrimSpace("DEBUG "+strings.ToUpper(s.Name)+" "+cell(s.Syntax)), prose(s.Doc))
	}
	return b.String()
}

// newer are the changes later than the Redis that Kiln says it is.
func newer(history [][2]string) (out [][2]string) {
	for _, h := range history {
		if strings.Compare(h[0], RedisVersion) > 0 {
			out = append(out, h)
		}
	}
	return out
}

// cell keeps a text in its cell.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// prose keeps it from being taken for HTML, too.
func prose(s string) string { return strings.ReplaceAll(cell(s), "<", `\<`) }

func configPage() string {
	var b strings.Builder
	b.WriteString(generated)
	b.WriteString(configHead)
	for i := range directives {
		d := &directives[i]
		name, live := "`"+d.name+"`", ""
		if d.alias != "" {
			name += ", `" + d.alias + "`"
		}
		if d.change == changeLive {
			live = "live"
		}
		value := d.initial
		if value == "" {
			value = `""`
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s |\n", name, value, live, prose(d.note))
	}
	return b.String()
}
