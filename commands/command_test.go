package commands

import (
	"strings"
	"testing"
)

// outline writes a tree of arguments in one line, as shape does for replies.
func outline(args []argument) string {
	var parts []string
	for i := range args {
		a := &args[i]
		text := a.token
		switch {
		case a.args != nil:
			text += a.kind + "(" + outline(a.args) + ")"
		case a.kind != kindPureToken:
			text += ":" + a.name
			if a.kind != "string" {
				text += "/" + a.kind
			}
		}
		for _, f := range a.flags() {
			text += "," + f
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

func TestArgumentsFollowTheNotation(t *testing.T) {
	for _, c := range []struct{ syntax, want string }{
		{"", ""},
		{"key", ":key/key"},
		{"key [key ...]", ":key/key,multiple"},
		{"[section [section ...]]", ":section,optional,multiple"},
		{"key value [NX | XX] [GET] [EX seconds | KEEPTTL]", ":key/key :value " +
			"oneof(NX XX),optional GET,optional oneof(EX:seconds/integer KEEPTTL),optional"},
		{"key <BEFORE | AFTER> pivot", ":key/key oneof(BEFORE AFTER) :pivot"},
		{"key field value [field value ...]", ":key/key block(:field :value),multiple"},
		{"[LIMIT offset count]", "LIMITblock(:offset/integer :count/integer),optional"},
		{"[GET pattern [GET pattern ...]]", "GET:pattern/pattern,optional,multiple,multiple_token"},
		{"[WEIGHTS weight [weight ...]]", "WEIGHTS:weight/integer,optional,multiple"},
		{"STREAMS key [key ...] id [id ...]", "STREAMSblock(:key/key,multiple :id,multiple)"},
		{"[COUNT count [ANY]]", "block(COUNT:count/integer ANY,optional),optional"},
		{"<host port | NO ONE>", "oneof(block(:host :port/integer) block(NO ONE))"},
		{"<* | id>", "oneof(* :id)"},
		{"key [A x | B y [A x | B y ...]]", ":key/key oneof(A:x B:y),optional,multiple"},
		{"<a | <[ID b] | [ADDR c] [...]>>",
			"oneof(:a oneof(ID:b,optional ADDR:c,optional),multiple)"},
	} {
		s := Spec{Name: "x", full: "x", Syntax: c.syntax, Keys: Key1(KeyRO)}
		if got := outline(s.arguments()); got != c.want {
			t.Errorf("%s: want %s, got %s", c.syntax, c.want, got)
		}
	}
}

// TestArgumentsOfBrokenNotation: a mistake in a row costs a strange reply, no more.
func TestArgumentsOfBrokenNotation(t *testing.T) {
	for _, syntax := range []string{"[", "]", "<", ">", "|", "...", "[...]", "[ | ]", "a ] b", "<[a"} {
		s := Spec{Name: "x", full: "x", Syntax: syntax}
		s.arguments()
	}
}

func TestLegacyKeys(t *testing.T) {
	index := func(at int) KeySpec { return KeySpec{At: at, Step: 1} }
	for _, c := range []struct {
		keys              []KeySpec
		first, last, step int
		movable           bool
	}{
		{nil, 0, 0, 0, false},
		{Key1(KeyRO), 1, 1, 1, false},
		{AllKeys(KeyRO), 1, -1, 1, false},
		{[]KeySpec{{At: 1, Last: -1, Step: 2}}, 1, -1, 2, false},
		{[]KeySpec{index(1), index(2)}, 1, 2, 1, false},
		{[]KeySpec{index(1), {At: 2, Last: -1, Step: 1}}, 1, -1, 1, false},
		{[]KeySpec{index(1), index(3)}, 1, 1, 1, true},
		{[]KeySpec{index(1), {At: 2, Counted: true, FirstAt: 1, Step: 1}}, 1, 1, 1, true},
		{[]KeySpec{{Keyword: "STREAMS", From: 1, Last: -1, Limit: 2}}, 0, 0, 0, true},
		{[]KeySpec{index(1), {}}, 1, 1, 1, true},
	} {
		s := Spec{Keys: c.keys}
		first, last, step, movable := s.legacyKeys()
		if first != c.first || last != c.last || step != c.step || movable != c.movable {
			t.Errorf("%+v: want %d %d %d %v, got %d %d %d %v", c.keys,
				c.first, c.last, c.step, c.movable, first, last, step, movable)
		}
	}
}

func TestEveryRowIsDescribed(t *testing.T) {
	b := newBench(t, 1)
	for _, name := range everyName() {
		s := table.named([]byte(name))
		if s == nil || s.full != name {
			t.Errorf("%s: not found by its name", name)
			continue
		}
		if s.Since == "" || s.Doc == "" || s.Group == "" || s.Complexity == "" {
			t.Errorf("%s: its row lacks since, doc, group or complexity", name)
		}
		if n := len(b.value("command", "docs", name).Elems); n != 2 {
			t.Errorf("%s: %d elements of documentation", name, n)
		}
	}
}

func BenchmarkCommandDocs(b *testing.B) {
	bench := newBench(b, 1)
	b.ReportAllocs()
	for b.Loop() {
		bench.run("command", "docs")
	}
}
