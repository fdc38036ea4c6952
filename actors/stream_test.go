package actors

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kiln/commands"
)

// author writes random command lines after the syntax in the commands' rows, and, some of the
// time, not quite after it.
type author struct {
	dice *rand.Rand
	rows []commands.Spec // of the string and generic families
	now  func() int64    // for absolute times
	far  bool            // no deadline is over before long
}

// newAuthor takes the rows from COMMAND LIST, so what is new is written as well.
func newAuthor(c *client, dice *rand.Rand) *author {
	a := &author{dice: dice, now: c.now}
	list := elements(c.do("COMMAND", "LIST"))
	slices.Sort(list)
	for _, name := range list {
		spec := commands.Lookup([]byte(name))
		if spec == nil || spec.Group != commands.GroupString && spec.Group != commands.GroupGeneric ||
			name == "scan" || name == "keys" || name == "randomkey" || name == "object" {
			continue // the last ones have an order of their own, or subcommands
		}
		a.rows = append(a.rows, *spec)
	}
	return a
}

func (a *author) pick(words ...string) string { return words[a.dice.IntN(len(words))] }

func (a *author) one(in int) bool { return a.dice.IntN(in) == 0 }

// line writes a command line.
func (a *author) line() []string {
	if a.one(25) {
		return []string{"OBJECT", a.pick("ENCODING", "REFCOUNT", "IDLETIME", "FREQ"), a.key()}
	}
	row := a.rows[a.dice.IntN(len(a.rows))]
	words := []string{row.Name}
	tokens := strings.Fields(strings.NewReplacer("[", " [ ", "]", " ] ", "|", " | ").
		Replace(row.Syntax))
	words = a.expand(words, tokens)
	switch a.dice.IntN(30) {
	case 0:
		words = words[:len(words)-1]
	case 1:
		words = append(words, a.value("junk"))
	case 2:
		words[a.dice.IntN(len(words))] = a.pick("junk", "-1", "", "NX", "99999999999999999999")
	}
	if len(words) == 0 || words[0] == "" {
		return []string{"ECHO", "nothing"}
	}
	return words
}

// expand appends a reading of a piece of syntax: one of its alternatives, each option or not.
func (a *author) expand(words, tokens []string) []string {
	alternatives := [][]string{nil}
	depth := 0
	for _, t := range tokens {
		switch {
		case t == "[":
			depth++
		case t == "]":
			depth--
		case t == "|" && depth == 0:
			alternatives = append(alternatives, nil)
			continue
		}
		last := len(alternatives) - 1
		alternatives[last] = append(alternatives[last], t)
	}
	tokens = alternatives[a.dice.IntN(len(alternatives))]
	for i := 0; i < len(tokens); i++ {
		if tokens[i] != "[" {
			words = append(words, a.value(tokens[i]))
			continue
		}
		end, depth := i+1, 1
		for ; depth > 0; end++ {
			switch tokens[end] {
			case "[":
				depth++
			case "]":
				depth--
			}
		}
		inner := tokens[i+1 : end-1]
		i = end - 1
		times := a.dice.IntN(2)
		if n := len(inner); n > 0 && inner[n-1] == "..." {
			inner = inner[:n-1]
			if times = a.dice.IntN(4); a.one(100) {
				times = quickKeysMax + a.dice.IntN(3)
			}
		}
		for range times {
			words = a.expand(words, inner)
		}
	}
	return words
}

func (a *author) key() string {
	if a.one(40) {
		return a.pick("", "{}", "}{", strings.Repeat("long", 100), "k\r\n")
	}
	return a.pick("a", "b", "c", "d", "e", "f", "g", "h", "{t}1", "{t}2", "bull:q:1", "bull:q:2")
}

// value gives something for a placeholder; a keyword is itself.
func (a *author) value(token string) string {
	if strings.ToLower(token) != token {
		return token
	}
	ms := a.now() / 1e6
	switch token {
	case "key", "newkey", "source", "destination", "key1", "key2":
		return a.key()
	case "value", "append":
		switch a.dice.IntN(12) {
		case 0:
			return strings.Repeat(a.pick("x", "y", "12"), a.dice.IntN(100))
		case 1:
			return a.pick("3.5", "-1e3", "nan", "9223372036854775807", "0", "-0", "")
		case 2:
			if a.one(8) {
				return strings.Repeat(a.pick("x", "yz"), 70_000) // slow to read
			}
		}
		return strconv.Itoa(a.dice.IntN(1000) - 200)
	case "seconds":
		return a.after(1, 4)
	case "milliseconds":
		return a.after(1, 300)
	case "unix-time-seconds":
		return strconv.FormatInt(ms/1000+int64(a.dice.IntN(5)), 10)
	case "unix-time-milliseconds":
		return strconv.FormatInt(ms-50+int64(a.dice.IntN(300)), 10)
	case "numkeys":
		return a.pick("1", "1", "2", "3")
	case "offset":
		return strconv.Itoa(a.dice.IntN(60) * a.dice.IntN(60))
	case "start", "end":
		return strconv.Itoa(a.dice.IntN(40) - 20)
	case "db", "destination-db":
		return a.pick("0", "1", "2", "16", "x")
	case "increment", "decrement":
		return a.pick("1", "-3", "10", "0.5", "x", "9223372036854775807")
	}
	return a.pick("1", "2", "-1", "abc", "100", "0123456789abcdef")
}

func (a *author) after(unit, most int) string {
	if a.far {
		return strconv.Itoa(10_000_000 + a.dice.IntN(1000))
	}
	if a.one(20) {
		return a.pick("0", "-5", "x", "9223372036854775807")
	}
	return strconv.Itoa(unit + a.dice.IntN(most))
}

// variant is a way to run commands whose replies must be the same.
type variant struct {
	partitions       int
	forced, listened bool
}

func (v variant) String() string {
	return fmt.Sprintf("%d partitions, forced %v, listened to %v", v.partitions, v.forced, v.listened)
}

// step is a command line and how far time goes on before it.
type step struct {
	words []string
	later int64
}

func (a *author) stream(n int) (steps []step) {
	for range n {
		s := step{words: a.line(), later: a.dice.Int64N(2e6)}
		switch a.dice.IntN(60) {
		case 0:
			s.later = a.dice.Int64N(2e9)
		case 1:
			s.words = []string{"SELECT", a.pick("0", "0", "1", "2", "77")}
		case 2:
			s.words = []string{a.pick("DBSIZE", "DBSIZE", "FLUSHDB", "FLUSHALL")}
		case 3:
			s.words = []string{"SWAPDB", a.pick("0", "1"), a.pick("0", "1", "2", "16")}
		case 4:
			s.words = []string{"KEYS", a.pick("*", "[a-c]", "{t}?", "bull:*", "none")}
		case 5:
			s.words = []string{"SCAN", "0", "COUNT", a.pick("1", "3", "10", "2000"), "MATCH",
				a.pick("*", "[a-d]", "bull*"), "TYPE", a.pick("string", "string", "list")}
		case 6:
			s.words = []string{"RANDOMKEY"}
		case 7:
			s.words = []string{"HELLO", a.pick("2", "3")}
		case 8:
			s.words = []string{"nosuch", "command"}
		}
		steps = append(steps, s)
	}
	return steps
}

// play runs a stream and gives its replies, those without an order sorted.
func (v variant) play(t *testing.T, steps []step, start int64) (replies []string) {
	now := start
	o := Options{
		Partitions: v.partitions, Clock: func() int64 { return now }, Groups: []string{"bull:*:"},
	}
	if v.listened {
		o.Listener = &recorder{}
	}
	r := newRig(t, o)
	defer r.close()
	defer r.unheld()
	c := r.client()
	c.now, c.forced = o.Clock, v.forced
	c.want("+OK\r\n", "DEBUG", "SET-ACTIVE-EXPIRE", "0") // the sweeper has a clock as well
	for _, s := range steps {
		now += s.later
		if v.forced {
			r.settle() // nothing of ours is under way, so that the clock can be set
		}
		replies = append(replies, c.unordered(s.words))
	}
	return replies
}

// unordered is do, with what Redis leaves open taken out.
func (c *client) unordered(words []string) string {
	reply := c.do(words...)
	switch strings.ToUpper(words[0]) {
	case "KEYS":
		keys := elements(reply)
		slices.Sort(keys)
		return fmt.Sprintf("%q", keys)
	case "SCAN":
		if reply[0] != '*' || len(words) < 3 {
			return reply
		}
		var keys []string
		for {
			cursor, rest := firstOf(reply)
			keys = append(keys, elements(rest)...)
			if words[1] = cursor; cursor == "0" {
				slices.Sort(keys)
				return fmt.Sprintf("%q", slices.Compact(keys))
			}
			reply = c.do(words...)
		}
	case "RANDOMKEY":
		if reply[0] != '$' || reply == "$-1\r\n" {
			return reply
		}
		key := elements("*1\r\n" + reply)
		found := slices.Contains(elements(c.do("KEYS", "*")), key[0])
		return fmt.Sprintf("a key of the database: %v", found)
	}
	return reply
}

// firstOf gives the cursor of SCAN's reply, and its array.
func firstOf(reply string) (cursor, rest string) {
	_, rest, _ = strings.Cut(reply, "\r\n")
	head, rest, _ := strings.Cut(rest, "\r\n")
	n, _ := strconv.Atoi(head[1:])
	return rest[:n], rest[n+2:]
}

// TestPartitionsChangeNoReply: one stream of commands, with the same replies whatever the number of
// partitions is, whether somebody listens, and whether a command is run at once or as a request.
func TestPartitionsChangeNoReply(t *testing.T) {
	seed := seedOf(t)
	commandsMax := 6000
	if long {
		commandsMax = 200_000
	}
	const start = 1_800_000_000_123_456_789
	var steps []step
	{
		r := newRig(t, Options{Partitions: 1})
		c := r.client()
		c.now = func() int64 { return start }
		steps = newAuthor(c, newDice(seed, 0)).stream(commandsMax)
	}
	reference := variant{partitions: 1}
	want := reference.play(t, steps, start)
	for _, v := range []variant{
		{1, true, true}, {2, false, true}, {2, true, false}, {7, false, false}, {8, true, true},
		{16, false, true}, {16, false, false}, {16, true, false},
	} {
		got := v.play(t, steps, start)
		for i := range steps {
			if got[i] == want[i] {
				continue
			}
			t.Errorf("%v: after", v)
			for j := max(0, i-30); j <= i; j++ {
				t.Errorf("  %d %.200q -> %.200q", j, steps[j].words, want[j])
			}
			t.Fatalf("want %.300q\ngot  %.300q", want[i], got[i])
		}
	}
	errors := 0
	for _, reply := range want {
		if strings.HasPrefix(reply, "-") {
			errors++
		}
	}
	t.Logf("%d commands, %d of which fail", len(want), errors)
}
