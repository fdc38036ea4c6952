package conformance

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

func sortTemplates(lines []template) {
	slices.SortFunc(lines, func(a, b template) int { return strings.Compare(a.text, b.text) })
}

// make fills a template in.
func (s *Stream) make(text string) []string {
	var line []string
	for text = strings.TrimLeft(text, " "); text != ""; text = strings.TrimLeft(text, " ") {
		var choices []string
		choices, text = alternatives(text)
		optional := choices[0] == ""
		times := 1
		if after, ok := strings.CutPrefix(text, "..."); ok {
			times, text = 1+s.r.IntN(4), after
		}
		if optional {
			choices = choices[1:]
			times *= s.r.IntN(2)
		}
		for range times {
			choice := s.of(choices)
			if strings.ContainsAny(choice, " ([") {
				line = append(line, s.make(choice)...)
			} else {
				line = append(line, s.word(choice)...)
			}
		}
	}
	return line
}

// alternatives takes the first item of a template apart, and returns the template after it. What
// may be left out has "" as its first alternative.
func alternatives(text string) (choices []string, rest string) {
	if text[0] != '[' && text[0] != '(' {
		end := strings.IndexByte(text+" ", ' ')
		if dots := strings.Index(text[:end], "..."); dots > 0 {
			end = dots
		}
		return []string{text[:end]}, text[end:]
	}
	if text[0] == '[' {
		choices = []string{""}
	}
	depth, start := 0, 1
	for i := range len(text) {
		switch c := text[i]; {
		case c == '[' || c == '(':
			depth++
		case c == '|' && depth == 1:
			choices, start = append(choices, text[start:i]), i+1
		case c == ']' || c == ')':
			if depth--; depth == 0 {
				return append(choices, text[start:i]), text[i+1:]
			}
		}
	}
	panic("conformance: no closing bracket in " + text)
}

// word makes an argument of a kind, or of several words; what is no kind stands for itself.
func (s *Stream) word(kind string) []string {
	switch kind {
	case "expiry":
		return s.make([]string{"EX sec", "PX ms", "EXAT at", "PXAT atms"}[s.r.IntN(4)])
	case "killfilter":
		return s.make([]string{
			"ID (otherid|junk)", "TYPE (MASTER|REPLICA|PUBSUB|junk)", "ADDR (otheraddr|junk)",
			"USER val", "SKIPME (yes|no|junk)", "MAXAGE 1000000", "LADDR junk", "junk junk",
		}[s.r.IntN(8)])
	case "line":
		return s.inner()
	case "setting":
		return s.setting()
	}
	if f := kinds[kind]; f != nil {
		return []string{f(s)}
	}
	if strings.ToUpper(kind) == kind && s.r.IntN(5) == 0 {
		kind = strings.ToLower(kind)
	}
	return []string{kind}
}

// inner is a command line as an argument of COMMAND GETKEYS.
func (s *Stream) inner() []string {
	for {
		line := s.make(s.pick())
		if s.r.IntN(4) == 0 {
			line = s.spoil(line)
		}
		if slices.Contains(s.names, strings.ToLower(line[0])) || s.r.IntN(30) == 0 {
			return line
		}
	}
}

var keyNames = []string{
	"a", "b", "c", "d", "e", "f", "g", "h", "key:1", "key:2", "key:3", "{t}1", "{t}2", "x{t}", "",
	"bull:q:1", "bull:q:2", "a b", "\x00\xff\r\n", "*", "k[1]", "Key:1",
	strings.Repeat("long", 20), "{}z", "1",
}

var numbers = []string{
	"0", "1", "-1", "5", "10", "100", "-100", "9223372036854775807", "-9223372036854775808",
	"9223372036854775806", "2147483647", "-2147483648", "4294967296", "3.0e3", "1.5", "-0.1", "10.50",
	"1e10", "0.1", "3", "12345678901234567", "1e300", "1.7976931348623157e308", "17.00000000000000001",
}

// broken has no small positive numbers: as a deadline they would be too soon.
var broken = []string{
	"", " ", "abc", " 1", "1 ", "+1", "01", "-0", "0", "-1", "1.5", "nan", "inf", "-inf", "1e400",
	"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
	"18446744073709551615", "18446744073709551616", "\x00\xff", "0x10", "1e5", "3.0", "*", "NX", "XX",
	"GET", "EX", "PX", "EXAT", "KEEPTTL", "PERSIST", "COUNT", "MATCH", "TYPE", "DB", "REPLACE", "GT",
	"LT", "LEN", "IDX", "a'b", "a\"b", "a\r\nb", "yes", "no", "on", "[", "\\", "default",
	strings.Repeat("x", 130),
}

var values = []string{
	"", "x", "hello", "hello world", "ohmytext", "mynewtext", "\x00", "\xff\xfe", "a\r\nb", "'", "\"",
	strings.Repeat("y", 44), strings.Repeat("y", 45), strings.Repeat("z", 300), "embstr or raw",
	strings.Repeat("0123456789", 2), "$5\r\nhello\r\n", "00", "1", "-1", "20", "123456",
}

var directiveNames = []string{
	"appendonly", "client-output-buffer-limit", "client-query-buffer-limit", "cluster-enabled",
	"databases", "enable-debug-command", "hz", "lfu-decay-time", "lfu-log-factor", "loglevel",
	"maxmemory", "maxmemory-policy", "proto-max-bulk-len", "protected-mode", "requirepass", "save",
	"tcp-backlog", "tcp-keepalive", "timeout", "unixsocket", "replica-read-only", "slave-read-only",
	"TIMEOUT", "lfu-*", "maxmemory-polic?", "tcp-*", "nosuch", "no*such", "[", "", "database[s]",
	"\\timeout", "unixsocketperm", "bind", "daemonize",
}

var kinds = map[string]func(*Stream) string{
	"key":    func(s *Stream) string { return s.of(keyNames) },
	"junk":   (*Stream).junk,
	"val":    func(s *Stream) string { return s.of(values) },
	"number": func(s *Stream) string { return s.of(numbers) },
	"int": func(s *Stream) string {
		return s.mostly(func() string { return strconv.Itoa(s.r.IntN(2000) - 1000) }, numbers)
	},
	"float": func(s *Stream) string {
		return s.mostly(func() string {
			f := (s.r.Float64() - 0.5) * float64(s.r.IntN(1000))
			return strconv.FormatFloat(f, "fge"[s.r.IntN(3)], s.r.IntN(8), 64)
		}, numbers)
	},
	"index": func(s *Stream) string {
		return s.mostly(func() string { return strconv.Itoa(s.r.IntN(40) - 20) }, numbers)
	},
	"offset": func(s *Stream) string {
		return s.mostly(func() string { return strconv.Itoa(s.r.IntN(400)) },
			[]string{"-1", "536870912", "9223372036854775807", "x", "0"})
	},
	"sec": func(s *Stream) string {
		return s.mostly(func() string { return strconv.Itoa(1e6 + s.r.IntN(1e9)) }, broken)
	},
	"ms": func(s *Stream) string {
		return s.mostly(func() string { return strconv.Itoa(1e7 + s.r.IntN(1e9)) }, broken)
	},
	"at": func(s *Stream) string {
		return s.mostly(func() string { return strconv.FormatInt(s.now+s.far(), 10) }, broken)
	},
	"atms": func(s *Stream) string {
		return s.mostly(func() string { return strconv.FormatInt((s.now+s.far())*1000+7, 10) }, broken)
	},
	"db": func(s *Stream) string {
		return s.mostly(func() string { return strconv.Itoa(s.r.IntN(4)) },
			[]string{"15", "16", "-1", "x", "", "99999999999", "01", " 1"})
	},
	"name": func(s *Stream) string { return s.of([]string{"me", "", "a b", "x\n", "lib-1", "\xff"}) },
	"type": func(s *Stream) string {
		return s.of([]string{"string", "STRING", "list", "hash", "zset", "set", "stream", "nosuch", ""})
	},
	"pattern": func(s *Stream) string {
		return s.of([]string{
			"*", "a*", "key:*", "key:?", "[a-c]", "[^a-c]", "[a", "\\*", "*{t}*", "", "k[[]1]", "*[", "?",
			"bull:*", "**", "[c-a]", "k\\[1\\]", "*\xff*", "[]a]", "\\",
		})
	},
	"proto":    func(s *Stream) string { return s.of([]string{"2", "3", "1", "4", "x", "", "03"}) },
	"password": func(*Stream) string { return "pw" },
	"command": func(s *Stream) string {
		name := s.of(s.names)
		if s.r.IntN(3) == 0 {
			name = strings.ToUpper(name)
		}
		return name
	},
	"directive": func(s *Stream) string { return s.of(directiveNames) },
	// These stand for something else on each server: see Pair.
	"myid":      func(*Stream) string { return myID },
	"otherid":   func(*Stream) string { return otherID },
	"otheraddr": func(*Stream) string { return otherAddr },
}

func (s *Stream) of(words []string) string { return words[s.r.IntN(len(words))] }

func (s *Stream) junk() string { return s.of(broken) }

// far is a distance in seconds to a time that is not soon: in the past, or the future.
func (s *Stream) far() int64 {
	n := int64(10_000 + s.r.IntN(1_000_000_000))
	if s.r.IntN(5) == 0 {
		return -n
	}
	return n
}

// mostly is what f makes, and now and then one of the others.
func (s *Stream) mostly(f func() string, others []string) string {
	if s.r.IntN(5) == 0 {
		return s.of(others)
	}
	return f()
}

// setting is a directive and a value, of those that leave the servers as they are.
func (s *Stream) setting() []string {
	limits := fmt.Sprintf("%s %d %d 60", s.of([]string{"normal", "pubsub", "slave", "replica", "x"}),
		s.r.IntN(2)<<30, s.r.IntN(2)<<28)
	all := [][]string{
		{"timeout", "0", "100000", "abc", "-1", "2147483648", ""},
		{"hz", "10", "100", "1", "500", "501", "0", "x"},
		{"lfu-log-factor", "10", "0", "x", "-1"},
		{"lfu-decay-time", "1", "0", "", "2147483648"},
		{"loglevel", "notice", "warning", "verbose", "nothing", "loud", ""},
		{"tcp-keepalive", "300", "0", "60", "-5", "x"},
		{"proto-max-bulk-len", "512mb", "100m", "1mb", "1", "1mbx", "-1", "0x10"},
		{"client-query-buffer-limit", "1gb", "2gb", "1mb", "5", "1 gb", "1GB", "1kb"},
		{"maxmemory", "0", "100gb", "x", "", "-1", "1.5gb", "99999999999999999999"},
		{"maxmemory-policy", "noeviction", "allkeys-lru", "allkeys-lfu", "NOEVICTION", ""},
		// With a rule that is right, Redis would begin to write files.
		{"save", "", "900", "x y", "60 100 300", "-1 5", " ", "900 1 ", "0 0", "900 x"},
		{"client-output-buffer-limit", limits, "normal 0 0", "", "normal 0 0 0 x", "normal a b c"},
		{"protected-mode", "yes", "no", "YES", "maybe", "1"},
		{"replica-read-only", "yes", "no", "x"},
		{"slave-read-only", "yes", "no", "x"},
		{"appendonly", "no"},
		{"requirepass", "pw", "", "", ""},
		{"dir", "/nonexistent", ""},
	}
	d := all[s.r.IntN(len(all))]
	return []string{d[0], d[1+s.r.IntN(len(d)-1)]}
}
