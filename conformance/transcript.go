package conformance

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// The format, by example:
//
//	# BLPOP waits on its own connection; a push from another one wakes it.
//	a>> BLPOP q 0
//	b> RPUSH q x y
//	:2
//	a<
//	*2
//	  $"q"
//	  $"x"
//
// A line that starts with a letter is a step: a connection's name and
//
//	a> CMD args     sends, and reads one reply
//	a>> CMD args    only sends, then waits until the server counts the client as blocked
//	a<              reads one reply
//	a> @raw "text"  sends these bytes, and reads one reply
//	a> @send "text" only sends these bytes
//	a> @pipe CMD    keeps the command back; all that are kept go out in one write at the next a<
//	a> @close       closes the connection
//	@wait MS        pauses the script (a small defeat; see ~soon)
//
// Connections are opened when first named, and speak RESP2 until they say HELLO 3. Arguments
// are separated by blanks, or quoted with Go's escapes; "x"*3+"y" is xxxy. $(name) in an
// argument, a regular expression or an expected text is a variable: one that ~save made, now and
// nowms (the Unix time, also now+5 or now-5), a.addr (the client's own address), a.id (its
// CLIENT ID), port (the server's).
//
// The reply follows the step as RESP printed without loss: the type byte, then the text (bulks
// always quoted, lines quoted where an editor might hurt them) or the count, elements
// indented by two blanks. A map's keys and values alternate. @closed is the reply of a server
// that has hung up.
//
// A line that starts with ~ and a letter relaxes the reply after it, at any depth:
//
//	~unordered     elements (of a map: entries) in any order
//	~pairs         elements two by two in any order (a map, written as an array)
//	~contains      the elements (entries; with ~pairs, pairs) drawn, and any others, in any order
//	~any           any value of the same type; recording leaves its contents out
//	~near N        a number at most N away
//	~match REGEX   the text matches as a whole
//	~find REGEX    a part of the text matches; ^ and $ are ends of lines
//	~soon          the step may be sent again, for a while, until the reply is as expected
//	~save NAME     no relaxation: keeps the text for $(NAME)
//
// `# ` starts a comment. Those before the first step may be directives:
//
//	# since 8.2     skip on a reference older than that Redis
//	# valkey 9.0    may also run on a Valkey reference of that version, where all others are
//	                skipped; alone, without since, it is not for Redis
//	# needs list    skip where LPUSH is unknown (list, set, hash, zset, stream, or a command;
//	                of a subcommand, config|rewrite)
//	# needs directive K   skip where CONFIG GET K finds nothing
//	# needs info K        skip where INFO has no section K
//	# needs enforced maxmemory   skip where nothing is refused beyond maxmemory
//	# config K V    wants a server started with --K V
type Transcript struct {
	Name   string // group/story
	Path   string
	Since  string
	Valkey string
	Needs  []Need
	Config []string // command-line arguments of the server
	Steps  []Step

	lines []string
}

// A Need is something that a server must have for a transcript to make sense.
type Need struct {
	Kind string // command, directive, info or enforced
	Name string // in lower case
}

func (n Need) String() string {
	if n.Kind == "command" {
		return n.Name
	}
	return n.Kind + " " + n.Name
}

// A Step is one thing done, and the reply expected to it.
type Step struct {
	Line int    // from 1
	Text string // as written
	Conn string // empty for @wait
	Verb Verb
	Args []arg

	want       *Reply       // nil if nothing is recorded yet
	relax      []relaxation // of the reply that is not there yet
	start, end int          // the lines of the reply
}

// Verb says what a step does with its connection.
type Verb int

// The verbs, as drawn above.
const (
	Call Verb = iota
	SendBlocked
	Read
	Raw
	Send
	Pipe
	Close
	Wait
)

var atVerbs = map[string]Verb{"@raw": Raw, "@send": Send, "@pipe": Pipe, "@close": Close}

// replies says whether the step reads one.
func (s *Step) replies() bool {
	return s.Verb == Call || s.Verb == Read || s.Verb == Raw
}

// Command is the step's command and first argument in lower case, for the coverage test.
func (s *Step) Command() (name, sub string) {
	if s.Verb != Call && s.Verb != SendBlocked && s.Verb != Pipe || len(s.Args) == 0 {
		return "", ""
	}
	if len(s.Args) > 1 {
		sub = strings.ToLower(s.Args[1].text)
	}
	return strings.ToLower(s.Args[0].text), sub
}

// An arg keeps apart what was quoted, so that `"\x24(x)"` is no variable.
type arg struct {
	text   string
	expand bool
}

// Load reads and parses a transcript file.
func Load(path, name string) (*Transcript, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, name, string(text))
}

// Parse reads a transcript. Errors carry path and line.
func Parse(path, name, text string) (*Transcript, error) {
	t := &Transcript{Name: name, Path: path}
	t.lines = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(t.lines); {
		next, err := t.parseLine(i)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
		i = next
	}
	return t, nil
}

// parseLine parses the step or comment at line i, with its reply, and returns the line after.
func (t *Transcript) parseLine(i int) (int, error) {
	line := t.lines[i]
	switch {
	case strings.TrimSpace(line) == "" || line == "#":
		return i + 1, nil
	case strings.HasPrefix(line, "# "):
		if len(t.Steps) > 0 {
			return i + 1, nil
		}
		return i + 1, t.directive(strings.Fields(line[2:]))
	}
	s, err := parseStep(line)
	if err != nil {
		return 0, err
	}
	s.Line, s.Text, s.start = i+1, line, i+1
	s.end = s.start
	if s.replies() {
		if s.end, err = s.parseReply(t.lines); err != nil {
			return 0, err
		}
	}
	t.Steps = append(t.Steps, s)
	return s.end, nil
}

// directive takes a comment before the first step. Prose that starts with one of these words
// does not look like a directive: the second word decides.
func (t *Transcript) directive(words []string) error {
	if len(words) < 2 {
		return nil
	}
	switch words[0] {
	case "since", "valkey":
		if _, ok := parseVersion(words[1]); !ok || len(words) != 2 {
			return nil
		}
		if words[0] == "since" {
			t.Since = words[1]
		} else {
			t.Valkey = words[1]
		}
	case "needs":
		return t.needs(words[1:])
	case "config":
		t.Config = append(t.Config, "--"+words[1])
		for _, w := range words[2:] {
			if strings.HasPrefix(w, `"`) {
				text, rest, err := unquote(w)
				if err != nil || rest != "" {
					return fmt.Errorf("bad value %s", w)
				}
				w = text
			}
			t.Config = append(t.Config, w)
		}
	}
	return nil
}

func (t *Transcript) needs(words []string) error {
	kind := "command"
	switch words[0] {
	case "directive", "info", "enforced":
		kind, words = words[0], words[1:]
	}
	if len(words) == 0 {
		return fmt.Errorf("needs what %s?", kind)
	}
	for _, w := range words {
		if kind == "enforced" && w != "maxmemory" {
			return fmt.Errorf("cannot find out whether %s is enforced", w)
		}
		if c, ok := groupCommands[w]; ok && kind == "command" {
			w = c
		}
		t.Needs = append(t.Needs, Need{kind, strings.ToLower(w)})
	}
	return nil
}

func parseStep(line string) (Step, error) {
	if ms, ok := strings.CutPrefix(line, "@wait "); ok {
		_, err := strconv.Atoi(ms)
		return Step{Verb: Wait, Args: []arg{{text: ms}}}, err
	}
	i := strings.IndexAny(line, "<> ")
	if i < 1 || !letter(line[0]) || line[i] == ' ' {
		return Step{}, fmt.Errorf("neither a step, a comment nor a reply: %s", line)
	}
	s := Step{Conn: line[:i]}
	rest := line[i:]
	switch {
	case rest == "<":
		s.Verb = Read
		return s, nil
	case strings.HasPrefix(rest, ">> "):
		s.Verb, rest = SendBlocked, rest[3:]
	case strings.HasPrefix(rest, "> "):
		s.Verb, rest = Call, rest[2:]
	default:
		return Step{}, fmt.Errorf("no such step: %s", line)
	}
	var err error
	if s.Args, err = parseArgs(rest); err != nil {
		return Step{}, err
	}
	if len(s.Args) == 0 {
		return Step{}, errors.New("a step without a command")
	}
	if verb, ok := atVerbs[s.Args[0].text]; ok {
		if s.Verb == SendBlocked {
			return Step{}, errors.New(">> takes a command")
		}
		s.Verb, s.Args = verb, s.Args[1:]
		if (verb == Raw || verb == Send) != (len(s.Args) == 1) && verb != Pipe {
			return Step{}, errors.New("wrong number of arguments")
		}
	}
	return s, nil
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func parseArgs(s string) ([]arg, error) {
	var args []arg
	for {
		s = strings.TrimLeft(s, " ")
		if s == "" {
			return args, nil
		}
		if s[0] != '"' {
			word, rest, _ := strings.Cut(s, " ")
			args = append(args, arg{word, strings.Contains(word, "$(")})
			s = rest
			continue
		}
		text, rest, err := unquote(s)
		if err != nil {
			return nil, err
		}
		if rest != "" && rest[0] != ' ' {
			return nil, fmt.Errorf("no blank after a quoted argument: %s", s)
		}
		args = append(args, arg{text, strings.Contains(s[:len(s)-len(rest)], "$(")})
		s = rest
	}
}

// parseReply parses relaxations and the reply that follow the step, and returns the line after.
func (s *Step) parseReply(lines []string) (int, error) {
	p := replyParser{lines: lines, i: s.start}
	v, found, err := p.parse("")
	if err != nil {
		return 0, fmt.Errorf("reply at line %d: %w", p.i+1, err)
	}
	if found {
		s.want = &v
	} else {
		s.relax = v.relax
	}
	return p.i, nil
}

type replyParser struct {
	lines []string
	i     int
}

// parse takes relaxations and one value at this indent. Not found means that there are at
// most relaxations.
func (p *replyParser) parse(indent string) (v Reply, found bool, err error) {
	for p.i < len(p.lines) {
		line, ok := strings.CutPrefix(p.lines[p.i], indent)
		if !ok || line == "" || line == "#" || strings.HasPrefix(line, "# ") {
			return v, false, nil
		}
		if line[0] == '~' && len(line) > 1 && letter(line[1]) {
			r, err := parseRelaxation(line)
			if err != nil {
				return v, false, err
			}
			v.relax = append(v.relax, r)
			p.i++
			continue
		}
		if !strings.ContainsRune("+-:$*%~>_,#(=!|", rune(line[0])) && line != "@closed" {
			return v, false, nil
		}
		n, err := v.parseHead(line)
		if err != nil {
			return v, false, err
		}
		p.i++
		for range n {
			e, ok, err := p.parse(indent + "  ")
			if err != nil {
				return v, false, err
			}
			if !ok {
				return v, false, fmt.Errorf("%s has %d of its %d elements", line, len(v.Elems), n)
			}
			v.Elems = append(v.Elems, e)
		}
		return v, true, nil
	}
	return v, false, nil
}

// parseHead reads the line of a value, and returns the number of elements to come.
func (v *Reply) parseHead(line string) (elems int, err error) {
	v.Kind = line[0]
	text := line[1:]
	_, aggr := aggregate(v.Kind)
	switch {
	case v.Kind == kindClosed:
		return 0, nil
	case text == "-1" && (aggr || v.Kind == '$'):
		v.Null = true
		return 0, nil
	case aggr:
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > elemsMax {
			return 0, fmt.Errorf("bad count: %s", line)
		}
		if v.Kind == '%' || v.Kind == '|' {
			n *= 2
		}
		if v.Kind == '|' {
			n++
		}
		return n, nil
	}
	v.Text = text
	v.expand = strings.Contains(text, "$(")
	bulk := v.Kind == '$' || v.Kind == '=' || v.Kind == '!'
	if !strings.HasPrefix(text, `"`) {
		if bulk {
			return 0, fmt.Errorf("a bulk is quoted: %s", line)
		}
		return 0, nil
	}
	var rest string
	if v.Text, rest, err = unquote(text); err == nil && rest != "" {
		err = fmt.Errorf("text after a quoted reply: %s", line)
	}
	return 0, err
}

// rewrite is the transcript with new replies for some steps; comments and all else stay.
func (t *Transcript) rewrite(replies map[int]Reply) string {
	var b strings.Builder
	at := 0
	for i := range t.Steps {
		v, ok := replies[i]
		if !ok {
			continue
		}
		s := &t.Steps[i]
		for _, line := range t.lines[at:s.start] {
			b.WriteString(line + "\n")
		}
		v.print(&b, "")
		at = s.end
	}
	for _, line := range t.lines[at:] {
		b.WriteString(line + "\n")
	}
	return b.String()
}

// parseVersion reads "8.2" or "8.0.6" into something that compares.
func parseVersion(s string) (v [3]int, ok bool) {
	parts := strings.Split(s, ".")
	if len(parts) > 3 {
		return v, false
	}
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 {
			return v, false
		}
		v[i] = n
	}
	return v, true
}

func olderThan(have, want string) bool {
	h, _ := parseVersion(have)
	w, _ := parseVersion(want)
	for i := range h {
		if h[i] != w[i] {
			return h[i] < w[i]
		}
	}
	return false
}
