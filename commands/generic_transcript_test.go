package commands

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kiln/actors/keyspace"
)

// The transcripts of conformance, played on a bench: those that need no socket. Time is the
// bench's, so that waiting takes none. The format is in conformance/transcript.go.

func TestGenericTranscripts(t *testing.T) {
	playTranscripts(t, "generic/*.txt", "server/dbsize.txt", "server/flush*.txt", "server/swapdb*.txt")
}

func playTranscripts(t *testing.T, patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		paths, err := filepath.Glob(filepath.Join("../conformance/testdata", pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no transcripts at %s: %v", pattern, err)
		}
		for _, path := range paths {
			for _, partitions := range []int{1, 7} {
				t.Run(fmt.Sprintf("%s/%d", filepath.Base(path), partitions), func(t *testing.T) {
					play(t, path, newBench(t, partitions))
				})
			}
			t.Run(filepath.Base(path)+"/held", func(t *testing.T) {
				b := newBench(t, 7)
				b.call.Held = true
				play(t, path, b)
			})
		}
	}
}

// show is a reply, wanted or got, with what relaxes it.
type show struct {
	kind  byte
	text  string
	null  bool
	elems []show
	relax []string
}

// bare are the kinds of which a line is all there is.
var bare = map[byte]bool{
	'+': true, '-': true, ':': true, '_': true, ',': true, '#': true, '(': true,
}

func play(t *testing.T, path string, b *bench) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	conns := map[string]*Session{"a": b.conn}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for i := 0; i < len(lines); {
		line := lines[i]
		i++
		if needs, ok := strings.CutPrefix(line, "# needs "); ok {
			if need := strings.NewReplacer("list", "lpush").Replace(needs); Lookup([]byte(need)) == nil {
				t.Skipf("needs %s", needs)
			}
		}
		if ms, ok := strings.CutPrefix(line, "@wait "); ok {
			n, _ := strconv.Atoi(ms)
			b.now += int64(n) * 1e6
			continue
		}
		name, command, ok := strings.Cut(line, "> ")
		if !ok || strings.HasPrefix(line, "#") || strings.HasSuffix(name, ">") || command[0] == '@' {
			if line != "" && line[0] != '#' {
				t.Skipf("cannot do %q", line)
			}
			continue
		}
		if conns[name] == nil {
			conns[name] = &Session{ID: int64(len(conns) + 1)}
			conns[name].Begin(b.server)
		}
		b.conn, b.call.Conn = conns[name], conns[name]
		argv, err := splitArgs(command)
		if err != nil {
			t.Fatalf("%s:%d: %v", path, i, err)
		}
		if Lookup([]byte(argv[0])) == nil {
			t.Skipf("needs %s", argv[0])
		}
		var want show
		at := i
		if want, i, err = parseShow(lines, i, ""); err != nil {
			t.Fatalf("%s:%d: %v", path, at, err)
		}
		if slices.Contains(want.relax, "soon") {
			b.now += 100e6
			b.sweep()
		}
		reply := b.run(argv...)
		got, _, err := readShow([]byte(reply))
		if err == nil {
			err = want.check(got, b.now)
		}
		if err != nil {
			t.Errorf("%s:%d: %s: %v\ngot %q", path, at, line, err, reply)
		}
	}
}

// sweep deletes all that is expired, as the partitions do in time.
func (b *bench) sweep() {
	for _, db := range b.spaces {
		for _, s := range db {
			for e := s.Due(b.now); e.Exists(); e = s.Due(b.now) {
				s.Delete(e)
			}
		}
	}
}

var timesWord = regexp.MustCompile(`^\*([0-9]+)`)

// splitArgs splits a command line: words, or "quoted"*3+"quoted".
func splitArgs(s string) (argv []string, err error) {
	for s = strings.TrimLeft(s, " "); s != ""; s = strings.TrimLeft(s, " ") {
		if s[0] != '"' {
			word, rest, _ := strings.Cut(s, " ")
			argv, s = append(argv, word), rest
			continue
		}
		arg := ""
		for {
			quoted, err := strconv.QuotedPrefix(s)
			if err != nil {
				return nil, fmt.Errorf("%w: %s", err, s)
			}
			part, _ := strconv.Unquote(quoted)
			s = s[len(quoted):]
			if m := timesWord.FindStringSubmatch(s); m != nil {
				n, _ := strconv.Atoi(m[1])
				part, s = strings.Repeat(part, n), s[len(m[0]):]
			}
			arg += part
			if !strings.HasPrefix(s, "+") {
				break
			}
			s = s[1:]
		}
		argv = append(argv, arg)
	}
	return argv, nil
}

func parseShow(lines []string, i int, indent string) (v show, next int, err error) {
	for ; i < len(lines); i++ {
		line, ok := strings.CutPrefix(lines[i], indent)
		if !ok || line == "" {
			break
		}
		if line[0] == '~' && len(line) > 1 && line[1] >= 'a' {
			v.relax = append(v.relax, line[1:])
			continue
		}
		v.kind, v.text = line[0], line[1:]
		switch {
		case v.text == "-1" && v.kind != ':':
			v.null = true
		case v.kind == '$':
			args, err := splitArgs(v.text)
			if err != nil {
				return v, i, err
			}
			v.text = args[0]
		case bare[v.kind]:
			if strings.HasPrefix(v.text, `"`) {
				if v.text, err = strconv.Unquote(v.text); err != nil {
					return v, i, err
				}
			}
		default:
			n, _ := strconv.Atoi(v.text)
			if v.kind == '%' {
				n *= 2
			}
			i++
			for range n {
				var e show
				if e, i, err = parseShow(lines, i, indent+"  "); err != nil {
					return v, i, err
				}
				v.elems = append(v.elems, e)
			}
			return v, i, nil
		}
		return v, i + 1, nil
	}
	return v, i, errors.New("a reply is missing")
}

func readShow(b []byte) (v show, rest []byte, err error) {
	line, rest, ok := bytes.Cut(b, []byte("\r\n"))
	if !ok || len(line) == 0 {
		return v, nil, fmt.Errorf("not RESP: %q", b)
	}
	v.kind, v.text = line[0], string(line[1:])
	n, _ := strconv.Atoi(v.text)
	switch {
	case bare[v.kind]:
	case n < 0:
		v.null = true
	case v.kind == '$' || v.kind == '=':
		v.text, rest = string(rest[:n]), rest[n+2:]
	default:
		if v.kind == '%' {
			n *= 2
		}
		for range n {
			var e show
			if e, rest, err = readShow(rest); err != nil {
				return v, rest, err
			}
			v.elems = append(v.elems, e)
		}
	}
	return v, rest, nil
}

// check compares what is got with what is wanted at a time.
func (v *show) check(got show, now int64) error {
	text := v.text
	if base, ok := strings.CutPrefix(text, "$(now"); ok {
		unit := int64(1e9)
		if base, ok = strings.CutPrefix(base, "ms"); ok {
			unit = 1e6
		}
		n, _ := strconv.ParseInt(strings.Trim(base, "+)"), 10, 64)
		text = strconv.FormatInt(now/unit+n, 10)
	}
	unordered := false
	for _, r := range v.relax {
		verb, arg, _ := strings.Cut(r, " ")
		switch verb {
		case "any":
			return nil
		case "near":
			w, _ := strconv.ParseInt(text, 10, 64)
			g, err := strconv.ParseInt(got.text, 10, 64)
			far, _ := strconv.ParseInt(arg, 10, 64)
			if err != nil || g-w > far || w-g > far {
				return fmt.Errorf("want %d, give or take %d, got %s", w, far, got.text)
			}
			return nil
		case "match":
			if !regexp.MustCompile("^(?:" + arg + ")$").MatchString(got.text) {
				return fmt.Errorf("want a match of %s, got %q", arg, got.text)
			}
			return nil
		case "unordered":
			unordered = true
		}
	}
	if got.kind == '-' {
		got.text = strings.TrimRight(got.text, "\r\n")
	}
	aggregate := !bare[v.kind] && v.kind != '$'
	if v.kind != got.kind || v.null != got.null || !v.null && !aggregate && text != got.text ||
		len(v.elems) != len(got.elems) {
		return fmt.Errorf("want %c %q and %d elements", v.kind, text, len(v.elems))
	}
	if unordered {
		sort := func(a, b show) int { return strings.Compare(a.text, b.text) }
		slices.SortFunc(v.elems, sort)
		slices.SortFunc(got.elems, sort)
	}
	for i := range v.elems {
		if err := v.elems[i].check(got.elems[i], now); err != nil {
			return err
		}
	}
	return nil
}

// keysOf gives a database's keys with their values and deadlines, for tests to compare.
func (b *bench) keysOf(db int) map[string]string {
	all := make(map[string]string)
	for _, s := range b.spaces[db] {
		for cursor, first := uint64(0), true; first || cursor != 0; first = false {
			cursor = s.Scan(cursor, 100, func(e keyspace.Entry) {
				if !e.Expired(b.now) {
					var scratch keyspace.Scratch
					all[string(e.Key())] = fmt.Sprintf("%s %s %d", e.EncodingName(),
						e.Bytes(&scratch), e.Deadline().Milli())
				}
			})
		}
	}
	return all
}
