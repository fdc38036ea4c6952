package commands

import (
	"bytes"
	"testing"
)

// naiveMatch is Redis's own algorithm (stringmatchlen), recursive and exponential.
func naiveMatch(p, s []byte, fold bool) bool {
	for len(p) > 0 && len(s) > 0 {
		if p[0] == '*' {
			for len(p) > 1 && p[1] == '*' {
				p = p[1:]
			}
			if len(p) == 1 {
				return true
			}
			for ; len(s) > 0; s = s[1:] {
				if naiveMatch(p[1:], s, fold) {
					return true
				}
			}
			return false
		}
		n, ok := matchByte(p, s[0], fold)
		if !ok {
			return false
		}
		p, s = p[n:], s[1:]
		if len(s) == 0 {
			for len(p) > 0 && p[0] == '*' {
				p = p[1:]
			}
			break
		}
	}
	return len(p) == 0 && len(s) == 0
}

func TestGlobMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"", "", true},
		{"*", "", false}, // Redis: KEYS and SCAN know a lone * by themselves.
		{"**", "", false},
		{"", "a", false},
		{"*", "a", true},
		{"a*", "a", true},
		{"a**", "a", true},
		{"*a", "banana", true},
		{"*n?n*", "banana", true},
		{"*n?b*", "banana", false},
		{"b*n*a", "banana", true},
		{"?", "", false},
		{"[a-c]x", "bx", true},
		{"[c-a]x", "bx", true},
		{"[^a-c]x", "bx", false},
		{`[\^a]`, "^", true},
		{`[a\-z]`, "-", true},
		{`[a\-z]`, "m", false},
		{"[a-]x", "a", true}, // not closed: the range ends in ], and x is one more of the class
		{"[a-]x", "x", true},
		{"[a-]x", "ax", false},
		{"b[", "bx", false},
		{"b[^", "bx", true},
		{"b[a", "ba", true},
		{"b[]", "b", false},
		{`b\`, `b\`, true},
		{`\*`, "*", true},
		{`\*`, "a", false},
		{"[a-\xff]", "b", false}, // -1 to 97, in C
		{"[a-\xff]", "A", true},
	} {
		if got := globMatch([]byte(c.pattern), []byte(c.s), false); got != c.want {
			t.Errorf("%q against %q: want %t, got %t", c.pattern, c.s, c.want, got)
		}
	}
}

func TestGlobMatchFolds(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"MaxMemory*", "maxmemory-policy", true},
		{"*POLICY", "maxmemory-policy", true},
		{"[A-Z]", "m", true},
		{"[A-z]", "M", true},
		{"[a-Z]", "m", false}, // the bounds change places before they are folded
		{`[\M]`, "m", false},
		{`\M`, "m", true},
	} {
		if got := globMatch([]byte(c.pattern), []byte(c.s), true); got != c.want {
			t.Errorf("%q against %q: want %t, got %t", c.pattern, c.s, c.want, got)
		}
	}
}

// TestGlobMatchHasNoBadPatterns runs the patterns that took Redis minutes (CVE-2022-36021,
// CVE-2024-31228). Exponential time would not end at all.
func TestGlobMatchHasNoBadPatterns(t *testing.T) {
	const n = 100_000
	stars, s := bytes.Repeat([]byte("*a"), n), bytes.Repeat([]byte("a"), n)
	if !globMatch(stars, s, false) || !globMatch(stars, s, true) {
		t.Error("want a match of as many a as there are")
	}
	if globMatch(append(stars, 'b'), s, false) || globMatch(append(stars, "*a"...), s, false) {
		t.Error("want no match")
	}
	if globMatch(bytes.Repeat([]byte("*?"), n+1), s, false) {
		t.Error("want no match of one byte too many")
	}
}

func FuzzGlobMatch(f *testing.F) {
	for _, seed := range [][2]string{
		{"h*llo", "hello"}, {"h[^e]llo", "hallo"}, {"*a*b*", "xaxb"}, {`\[a\]`, "[a]"},
		{"[a-", "a"}, {"[^", "b"}, {"**", ""}, {"?*?", "ab"},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]), false)
		f.Add([]byte(seed[0]), []byte(seed[1]), true)
	}
	f.Fuzz(func(t *testing.T, p, s []byte, fold bool) {
		if len(p) > 12 || len(s) > 12 {
			return
		}
		if got, want := globMatch(p, s, fold), naiveMatch(p, s, fold); got != want {
			t.Errorf("%q against %q, fold %t: want %t, got %t", p, s, fold, want, got)
		}
	})
}

func BenchmarkGlobMatch(b *testing.B) {
	key := []byte("session:2f1c9a77-3a54-4a0e-9d55-8f3f8c3e6c1b:profile")
	for _, pattern := range []string{"session:*", "*:profile", "*9d55*", "s?ss[a-i]on:*-*:profil?"} {
		b.Run(pattern, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				globMatch([]byte(pattern), key, false)
			}
		})
	}
}
