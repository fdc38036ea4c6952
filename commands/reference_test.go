package commands

import (
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"kiln/wire/resp"
)

// reference is a connection to a real Redis, at the address that KILN_REFERENCE holds, with
// --enable-debug-command yes. Tests against it are skipped where there is none.
type reference struct {
	t    *testing.T
	conn net.Conn
	in   *resp.Reader
}

func newReference(t *testing.T) *reference {
	address := os.Getenv("KILN_REFERENCE")
	if address == "" || !strings.Contains(address, ":") {
		t.Skip("KILN_REFERENCE holds no address")
	}
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &reference{t: t, conn: conn, in: resp.NewReader(conn)}
}

func (r *reference) run(words ...string) resp.Value {
	if _, err := r.conn.Write(resp.AppendCommand(nil, words...)); err != nil {
		r.t.Fatal(err)
	}
	v, err := r.in.Read()
	if err != nil {
		r.t.Fatalf("%q: %v", words, err)
	}
	return v
}

// value runs a command on the bench and reads the reply back.
func (b *bench) value(words ...string) resp.Value {
	text := b.run(words...)
	in := resp.NewReader(strings.NewReader(text))
	v, err := in.Read()
	if err != nil || in.Buffered() > 0 {
		b.t.Fatalf("%q: not one reply: %q, %v", words, text, err)
	}
	return v
}

// unquote splits a line at spaces; a word in quotes may hold anything but quotes, with \n, \0.
func unquote(line string) (words []string) {
	escapes := strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\0`, "\x00")
	for len(line) > 0 {
		var word string
		if rest, quoted := strings.CutPrefix(line, `"`); quoted {
			word, line, _ = strings.Cut(rest, `"`)
			line = strings.TrimPrefix(line, " ")
		} else {
			word, line, _ = strings.Cut(line, " ")
		}
		words = append(words, escapes.Replace(word))
	}
	return words
}

// sameAsReference runs lines on a bench and a real server, in a protocol, and wants the same
// replies.
func sameAsReference(t *testing.T, proto string, lines []string) {
	t.Helper()
	b, r := newBench(t, 3), newReference(t)
	b.run("hello", proto)
	r.run("hello", proto)
	for _, line := range lines {
		words := unquote(line)
		want, got := r.run(words...).String(), b.value(words...).String()
		if want != got {
			t.Errorf("%s: want %s, got %s", line, want, got)
		}
	}
}

// everyName lists the full names of all rows.
func everyName() (names []string) {
	for _, s := range table.rows {
		names = append(names, s.full)
		for i := range s.Subs {
			names = append(names, s.Subs[i].full)
		}
	}
	return names
}

func TestCommandInfoIsAsInRedis(t *testing.T) {
	b, r := newBench(t, 1), newReference(t)
	for _, proto := range []string{"2", "3"} {
		b.run("hello", proto)
		r.run("hello", proto)
		for _, name := range everyName() {
			want, got := r.run("command", "info", name), b.value("command", "info", name)
			if want.Elems[0].Elems == nil {
				t.Logf("%s: Redis does not have it", name)
				continue
			}
			// Subcommands are rows of their own, and there may be fewer than in Redis.
			want.Elems[0].Elems[9].Elems, got.Elems[0].Elems[9].Elems = nil, nil
			if want.String() != got.String() {
				t.Errorf("%s: want\n%s\ngot\n%s", name, want, got)
			}
		}
	}
}

// field gives a value of a map, in either protocol.
func field(v resp.Value, name string) resp.Value {
	for i := 0; i+1 < len(v.Elems); i += 2 {
		if string(v.Elems[i].Text) == name {
			return v.Elems[i+1]
		}
	}
	return resp.Value{}
}

func TestCommandDocsIsAsInRedis(t *testing.T) {
	b, r := newBench(t, 1), newReference(t)
	for _, name := range everyName() {
		want := field(r.run("command", "docs", name), name)
		got := field(b.value("command", "docs", name), name)
		if want.Elems == nil {
			continue
		}
		for _, key := range []string{
			"since", "group", "doc_flags", "deprecated_since", "replaced_by",
		} {
			if w, g := field(want, key).String(), field(got, key).String(); w != g {
				t.Errorf("%s: %s: want %s, got %s", name, key, w, g)
			}
		}
		if w, g := versions(want), versions(got); w != g {
			t.Errorf("%s: history: want %s, got %s", name, w, g)
		}
		// Names, and how groups nest, do not follow from the notation.
		w, g := shape(field(want, "arguments"), false), shape(field(got, "arguments"), false)
		if w != g {
			t.Logf("%s: arguments: Redis %s\n%sours  %s", name, w, strings.Repeat(" ", 40), g)
		}
		w, g = shape(field(want, "arguments"), true), shape(field(got, "arguments"), true)
		if !within(strings.Fields(w), strings.Fields(g)) {
			t.Errorf("%s: words: want %s, got %s", name, w, g)
		}
	}
}

// within tells whether all words are among the others, in the same order: we may know options of
// later versions.
func within(words, others []string) bool {
	for _, w := range others {
		if len(words) > 0 && words[0] == w {
			words = words[1:]
		}
	}
	return len(words) == 0
}

// versions lists when a command changed, up to the reference's version.
func versions(docs resp.Value) string {
	var list []string
	for _, h := range field(docs, "history").Elems {
		if version := string(h.Elems[0].Text); version <= RedisVersion {
			list = append(list, version)
		}
	}
	return strings.Join(list, " ")
}

// shape writes a tree of arguments in one line; flat, only its words: what a person sees.
func shape(list resp.Value, flat bool) string {
	var parts []string
	for _, a := range list.Elems {
		kind, text := string(field(a, "type").Text), string(field(a, "token").Text)
		if kind != "pure-token" && kind != "oneof" && kind != "block" {
			if shown := string(field(a, "display_text").Text); flat {
				text = strings.TrimSpace(text + " " + shown)
			} else {
				text += ":" + kind
			}
		}
		if nested := shape(field(a, "arguments"), flat); flat {
			text = strings.TrimSpace(text + " " + nested)
		} else if kind == "oneof" || kind == "block" {
			text += kind + "(" + nested + ")"
		}
		for _, f := range field(a, "flags").Elems {
			if !flat {
				text += "," + string(f.Text)[:3]
			}
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

func TestCommandNamesAreInRedis(t *testing.T) {
	r := newReference(t)
	var names []string
	for _, v := range r.run("command", "list").Elems {
		names = append(names, string(v.Text))
	}
	for _, name := range everyName() {
		if !slices.Contains(names, name) {
			t.Logf("%s: Redis does not have it", name)
		}
	}
}
