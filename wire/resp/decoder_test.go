package resp

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// decoded is what a stream of bytes amounts to.
type decoded struct {
	commands [][]string
	err      error
	rest     int // bytes of a command that is not whole
}

func (d decoded) String() string {
	var b strings.Builder
	for _, c := range d.commands {
		fmt.Fprintf(&b, "%q ", c)
	}
	if d.err != nil {
		fmt.Fprintf(&b, "-%s", d.err)
	} else {
		fmt.Fprintf(&b, "+%d", d.rest)
	}
	return b.String()
}

// decodeSplit feeds input in the pieces that next says, each time at another address, as a client
// whose buffer moves would.
func decodeSplit(t *testing.T, input []byte, lim *Limits, next func(left int) int) decoded {
	t.Helper()
	var d Decoder
	var out decoded
	var argv [][]byte
	start, needed := 0, 0
	for end := min(next(len(input)), len(input)); ; {
		buf := bytes.Clone(input[start:end])
		args, n, err := d.Next(buf, argv[:0], lim)
		switch {
		case n < 0 || n > len(buf) || err != nil && n != 0:
			t.Fatalf("n = %d of %d, err = %v", n, len(buf), err)
		case n > 0 && end < needed:
			t.Fatalf("Need wanted %d bytes, %d did", needed, end)
		case cap(args) > 2*len(input)+64 || d.Need() < 0 || int64(d.Need()) > lim.BulkMax+2:
			t.Fatalf("cap(args) = %d for %d bytes, Need = %d", cap(args), len(input), d.Need())
		}
		if err != nil {
			_, n, again := d.Next(buf, argv[:0], lim)
			if n != 0 || again != err {
				t.Fatalf("error %v, and then %d, %v", err, n, again)
			}
			out.err = err
			return out
		}
		if n > 0 {
			command := []string{}
			for _, a := range args {
				command = append(command, string(a))
			}
			clear(buf) // Strings must have been copied from it by now.
			out.commands = append(out.commands, command)
			argv, start, needed = args, start+n, 0
			continue
		}
		if d.Need() > 0 {
			needed = max(needed, end+d.Need())
		}
		if end == len(input) {
			out.rest = end - start
			return out
		}
		end += min(max(1, next(len(input)-end)), len(input)-end)
	}
}

func decodeWholeInput(t *testing.T, input []byte, lim *Limits) decoded {
	t.Helper()
	return decodeSplit(t, input, lim, func(left int) int { return left })
}

func decodeBytewise(t *testing.T, input []byte, lim *Limits) decoded {
	t.Helper()
	return decodeSplit(t, input, lim, func(int) int { return 1 })
}

const proto = "-ERR Protocol error: "

// recorded is what Redis 8.0.6 does, in the words of decoded.String. TestReferenceRecorded asks it
// again.
var recorded = []struct{ input, want string }{
	// The count of arguments.
	{"*1\r\n$4\r\nPING\r\n", `["PING"] +0`},
	{"*01\r\n$4\r\nPING\r\n", proto + "invalid multibulk length"},
	{"*+1\r\n$4\r\nPING\r\n", proto + "invalid multibulk length"},
	{"* 1\r\n$4\r\nPING\r\n", proto + "invalid multibulk length"},
	{"*1 \r\n$4\r\nPING\r\n", proto + "invalid multibulk length"},
	{"*\r\n", proto + "invalid multibulk length"},
	{"*a\r\n", proto + "invalid multibulk length"},
	{"*-0\r\nPING\r\n", proto + "invalid multibulk length"},
	{"*-1\r\nPING\r\n", `[] ["PING"] +0`},
	{"*-2147483649\r\nPING\r\n", `[] ["PING"] +0`},
	{"*-9223372036854775808\r\nPING\r\n", `[] ["PING"] +0`},
	{"*-9223372036854775809\r\nPING\r\n", proto + "invalid multibulk length"},
	{"*0\r\nPING\r\n", `[] ["PING"] +0`},
	{"*00\r\nPING\r\n", proto + "invalid multibulk length"},
	{"*2147483647\r\n$4\r\nPING\r\n", `+23`},
	{"*2147483648\r\n", proto + "invalid multibulk length"},
	{"*1\x00\r\n$4\r\nPING\r\n", `+15`},
	// Lengths of arguments.
	{"*1\r\n$04\r\nPING\r\n", proto + "invalid bulk length"},
	{"*1\r\n$+4\r\nPING\r\n", proto + "invalid bulk length"},
	{"*1\r\n$ 4\r\nPING\r\n", proto + "invalid bulk length"},
	{"*1\r\n$4 \r\nPING\r\n", proto + "invalid bulk length"},
	{"*1\r\n$-1\r\nPING\r\n", proto + "invalid bulk length"},
	{"*1\r\n$-0\r\nPING\r\n", proto + "invalid bulk length"},
	{"*1\r\n$\r\nPING\r\n", proto + "invalid bulk length"},
	{"*1\r\n$536870912\r\n", `+16`},
	{"*1\r\n$536870913\r\n", proto + "invalid bulk length"},
	{"*1\r\n$99999999999999999999\r\n", proto + "invalid bulk length"},
	{"*1\r\n$0\r\n\r\nPING\r\n", `[""] ["PING"] +0`},
	{"*2\r\n$4\r\nECHO\r\n$12\r\nhello, world\r\n", `["ECHO" "hello, world"] +0`},
	{"*2\r\n$4\r\nECHO\r\n$5\r\na\r\nb\x00\r\n", `["ECHO" "a\r\nb\x00"] +0`},
	// What is not a length.
	{"*1\r\nX", `+5`},
	{"*1\r\nX\r", `+6`},
	{"*1\r\nX\r\n", proto + "expected '$', got 'X'"},
	{"*1\r\n\xff\r\n", proto + "expected '$', got '\xff'"},
	{"*1\r\n:4\r\n", proto + "expected '$', got ':'"},
	{"*1\r\n\r\n$4\r\nPING\r\n", proto + "expected '$', got ' '"},
	{"*1\r\n\rX", proto + "expected '$', got ' '"},
	{"*1\r\n\nX\r\n", proto + "expected '$', got ' '"},
	{"*1\r\n*0\r\n", proto + "expected '$', got '*'"},
	{"*1\r\n\x00\r\n", `+7`},
	{"*1\r\n\x00$4\r\nPING\r\n", `+15`},
	{"*3\r\n$4\r\nPING\r\n$1\r\na\r\n#2\r\n", proto + "expected '$', got '#'"},
	// Ends of lines: the byte after a CR is not looked at, nor what ends an argument.
	{"*1\n$4\r\nPING\r\n", proto + "invalid multibulk length"},
	{"*1\rX$4\rYPINGZZPING\r\n", `["PING"] ["PING"] +0`},
	{"*1\r\n$4\r\nPINGab*1\r\n$4\r\nPING\r\n", `["PING"] ["PING"] +0`},
	{"*1\r\n$4\r\nPING\r", `+13`},
	{"*1\r\n$4\r\nPING\r\n\r\n", `["PING"] [] +0`},
	{"*2\rX$11\rYhello worldZZ$12\r\nhello, world\r\n", `["hello world" "hello, world"] +0`},
	// Commands before a bad one.
	{"PING\r\n*1\r\n$4\r\nPING\r\n*1\r\n$x\r\n", `["PING"] ["PING"] ` + proto + "invalid bulk length"},
	// Inline.
	{"PING\n", `["PING"] +0`},
	{"\r\nPING\r\n", `[] ["PING"] +0`},
	{"\nPING\n", `[] ["PING"] +0`},
	{"   \r\nPING\r\n", `[] ["PING"] +0`},
	{"PING\r\r\n", `["PING"] +0`},
	{" \tPING  \v\f \r\n", `["PING"] +0`},
	{"PING a\vb\r\n", `["PING" "a\vb"] +0`},
	{"PING\ra\r\n", `["PING" "a"] +0`},
	{"PING \xff\xfe\r\n", `["PING" "\xff\xfe"] +0`},
	{"PING *\r\n", `["PING" "*"] +0`},
	{"$4\r\nPING\r\n", `["$4"] ["PING"] +0`},
	{"PING 'a b'\r\n", `["PING" "a b"] +0`},
	{`PING "a\x41\n\q"` + "\r\n", `["PING" "aA\nq"] +0`},
	{`PING "\r\t\b\a\\\""` + "\r\n", `["PING" "\r\t\b\a\\\""] +0`},
	{`PING "\xfF\x00"` + "\r\n", `["PING" "\xff\x00"] +0`},
	{`PING "\x4" "\x4g" "\x"` + "\r\n", `["PING" "x4" "x4g" "x"] +0`},
	{`PING \x41 a\n` + "\r\n", `["PING" "\\x41" "a\\n"] +0`},
	{`PING 'a\'b\n\\'` + "\r\n", proto + "unbalanced quotes in request"},
	{`PING 'a\'b\n\\x'` + "\r\n", `["PING" "a'b\\n\\\\x"] +0`},
	{`PING a"b c" a'b c'` + "\r\n", `["PING" "ab c" "ab c"] +0`},
	{`PING "" ''` + "\r\n", `["PING" "" ""] +0`},
	{"PING 'a'\vb 'a'\fb\r\n", `["PING" "a" "b" "a" "b"] +0`},
	{`PING "a"b` + "\r\n", proto + "unbalanced quotes in request"},
	{`PING 'a'b` + "\r\n", proto + "unbalanced quotes in request"},
	{`PING 'a'"b"` + "\r\n", proto + "unbalanced quotes in request"},
	{`PING "a` + "\r\n", proto + "unbalanced quotes in request"},
	{`PING 'a` + "\r\n", proto + "unbalanced quotes in request"},
	{`PING "a\` + "\r\n", proto + "unbalanced quotes in request"},
	{`PING 'a\'` + "\r\n", proto + "unbalanced quotes in request"},
	{`PING "a\`, `+8`},
	{"PING\x00\r\nPING\r\n", `+13`},
	{"\x00PING\r\n", `+7`},
	// Lines without an end.
	{strings.Repeat("x", 65536), `+65536`},
	{strings.Repeat("x", 65537), proto + "too big inline request"},
	{strings.Repeat("\x00", 65537), proto + "too big inline request"},
	{"*" + strings.Repeat("1", 65535), `+65536`},
	{"*" + strings.Repeat("1", 65536), proto + "too big mbulk count string"},
	{"*1\r\n$" + strings.Repeat("1", 65535), `+65540`},
	{"*1\r\n$" + strings.Repeat("1", 65536), proto + "too big bulk count string"},
	{"*1\r\nx" + strings.Repeat("1", 65536), proto + "too big bulk count string"},
	{"*1\r\n$\x00\r\n" + strings.Repeat("1", 65536), proto + "too big bulk count string"},
	{strings.Repeat(" ", 65536) + "\n", `[] +0`},
	{"*" + strings.Repeat("1", 65535) + "\r\n", proto + "invalid multibulk length"},
}

func TestRecordedStreams(t *testing.T) {
	lim := DefaultLimits()
	for _, c := range recorded {
		if got := decodeWholeInput(t, []byte(c.input), &lim).String(); c.want != got {
			t.Errorf("%.80q\nwant %s\ngot  %s", c.input, c.want, got)
		}
		if len(c.input) > 1000 {
			continue
		}
		if got := decodeBytewise(t, []byte(c.input), &lim).String(); c.want != got {
			t.Errorf("%.80q, byte by byte\nwant %s\ngot  %s", c.input, c.want, got)
		}
	}
}

func TestStrangersAreHeldShort(t *testing.T) {
	lim := DefaultLimits()
	lim.Unauthenticated = true
	ten := string(AppendCommand(nil, strings.Split("a b c d e f g h i j", " ")...))
	for _, c := range []struct{ input, want string }{
		{ten, `["a" "b" "c" "d" "e" "f" "g" "h" "i" "j"] +0`},
		{"*11\r\n", proto + "unauthenticated multibulk length"},
		{"*2147483648\r\n", proto + "invalid multibulk length"},
		{"*1\r\n$16384\r\n", `+12`},
		{"*1\r\n$16385\r\n", proto + "unauthenticated bulk length"},
		{"*1\r\n$536870913\r\n", proto + "invalid bulk length"},
		{"a b c d e f g h i j k\r\n", `["a" "b" "c" "d" "e" "f" "g" "h" "i" "j" "k"] +0`},
	} {
		if got := decodeWholeInput(t, []byte(c.input), &lim).String(); c.want != got {
			t.Errorf("%q\nwant %s\ngot  %s", c.input, c.want, got)
		}
	}
}

func TestLimitsAreReadOnEachCall(t *testing.T) {
	lim := Limits{BulkMax: 3, ArgsMax: 2, InlineMax: 10}
	for _, c := range []struct{ input, want string }{
		{"*2\r\n$3\r\nabc\r\n$3\r\nabc\r\n", `["abc" "abc"] +0`},
		{"*3\r\n", proto + "invalid multibulk length"},
		{"*2\r\n$4\r\n", proto + "invalid bulk length"},
		{"ab cd efg\r\n", `["ab" "cd" "efg"] +0`},
		{"ab cd efghi\n", proto + "too big inline request"},
		{"*0000000000", proto + "too big mbulk count string"},
	} {
		if got := decodeWholeInput(t, []byte(c.input), &lim).String(); c.want != got {
			t.Errorf("%q\nwant %s\ngot  %s", c.input, c.want, got)
		}
	}

	var d Decoder
	input := []byte("*1\r\n$3\r\nabc\r\n*1\r\n$3\r\n")
	_, n, err := d.Next(input, nil, &lim)
	if n != 13 || err != nil {
		t.Fatal(n, err)
	}
	lim.BulkMax = 2
	if _, _, err = d.Next(input[n:], nil, &lim); err != errBulkLength {
		t.Fatal(err)
	}
}

func TestNeedIsWhatIsMissingOfTheArgument(t *testing.T) {
	lim := DefaultLimits()
	var d Decoder
	for _, c := range []struct {
		input string
		want  int
	}{
		{"*2", 0}, {"*2\r\n", 0}, {"*2\r\n$1000", 0}, {"*2\r\n$1000\r\n", 1002},
		{"*2\r\n$1000\r\nabc", 999}, {"*2\r\n$1000\r\nabc" + strings.Repeat("x", 998), 1},
	} {
		_, n, err := d.Next([]byte(c.input), nil, &lim)
		if n != 0 || err != nil || c.want != d.Need() {
			t.Errorf("after %.20q: want %d, got %d (n %d, err %v)", c.input, c.want, d.Need(), n, err)
		}
	}
	d.Reset()
	if args, n, err := d.Next([]byte("PING\n"), nil, &lim); len(args) != 1 || n != 5 || err != nil {
		t.Error("Reset did not forget the command:", args, n, err)
	}

	lim.BulkMax = 1<<63 - 1
	d.Reset()
	d.Next([]byte("*1\r\n$9223372036854775807\r\n"), nil, &lim)
	if d.Need() <= 0 {
		t.Error("Need overflows:", d.Need())
	}
}

func TestArgumentsAliasTheBuffer(t *testing.T) {
	lim := DefaultLimits()
	for _, input := range []string{
		"*2\r\n$3\r\nabc\r\n$10\r\n0123456789\r\n", "*2\rX$3\r\nabc\r\n$10\r\n0123456789\r\n",
		"abc 0123456789\r\n",
	} {
		buf := []byte(input)
		var d Decoder
		prefix := [][]byte{[]byte("before")}
		args, n, err := d.Next(buf, prefix, &lim)
		if err != nil || n != len(buf) || len(args) != 3 || string(args[0]) != "before" {
			t.Fatalf("%q: %q %d %v", input, args, n, err)
		}
		for i := range buf {
			buf[i] = '#'
		}
		if string(args[1]) != "###" || string(args[2]) != "##########" {
			t.Errorf("%q: copied: %q", input, args)
		}
		_ = append(args[1], "overflow"...)
		if string(args[2]) != "##########" || !bytes.Equal(buf, bytes.Repeat([]byte("#"), len(buf))) {
			t.Errorf("%q: appending to one argument wrote into the next", input)
		}
	}
}

func TestDecodingDoesNotAllocate(t *testing.T) {
	lim := DefaultLimits()
	for _, c := range commandLines {
		line := AppendCommand(nil, c.args...)
		argv := make([][]byte, 0, len(c.args))
		var d Decoder
		allocs := testing.AllocsPerRun(20, func() {
			for _, end := range []int{1, len(line) / 2, len(line) - 1, len(line)} { // In pieces,
				d.Next(line[:end], argv, &lim)
			}
			if _, n, _ := d.Next(line, argv, &lim); n != len(line) { // and whole.
				t.Fatal(n)
			}
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations", c.name, allocs)
		}
	}
	argv := make([][]byte, 0, 3)
	var d Decoder
	line := []byte("SET k v\r\n")
	if allocs := testing.AllocsPerRun(20, func() { d.Next(line, argv, &lim) }); allocs != 0 {
		t.Errorf("inline: %v allocations", allocs)
	}
}

// TestProgressIsKept is why a command in many pieces costs no more than in one: the decoder never
// goes back behind what it has seen, except for the second pass at the end.
func TestProgressIsKept(t *testing.T) {
	lim := DefaultLimits()
	command := AppendCommand(nil, mget(1000)...)
	var d Decoder
	buf := bytes.Clone(command)
	for end := 1; end < len(command); end++ {
		if _, n, err := d.Next(buf[:end], nil, &lim); n != 0 || err != nil {
			t.Fatal(n, err)
		}
		if d.pos+d.scan < end-16 { // An argument in hand is shorter than that.
			t.Fatalf("at %d of %d bytes", d.pos+d.scan, end)
		}
		if end > 1 {
			clear(buf[:d.pos]) // Progress must not depend on what was seen.
		}
	}
	args, n, err := d.Next(command, nil, &lim)
	if len(args) != 1001 || n != len(command) || err != nil {
		t.Fatal(len(args), n, err)
	}
}

// model decodes one command from all of the input, written after the protocol page and the
// recorded streams for shortness alone. ok is false if there is no whole command.
func model(input string, lim *Limits) (args []string, rest string, ok bool, err error) {
	line := func(end string, tooBig Error) (string, bool) {
		until, _, _ := strings.Cut(input, "\x00")
		if i := strings.Index(until, end); i >= 0 && i <= lim.InlineMax {
			if end == "\n" {
				l := input[:i]
				input = input[i+1:]
				return strings.TrimSuffix(l, "\r"), true
			}
			if i+1 < len(input) {
				l := input[:i]
				input = input[i+2:]
				return l, true
			}
			return "", false
		}
		if len(input) > lim.InlineMax {
			err = tooBig
		}
		return "", false
	}
	if !strings.HasPrefix(input, "*") {
		l, whole := line("\n", errInlineLine)
		if !whole {
			return nil, "", false, err
		}
		words, good := splitWords([]byte(l), nil)
		if !good {
			return nil, "", false, errQuotes
		}
		for _, w := range words {
			args = append(args, string(w))
		}
		return args, input, true, nil
	}
	l, whole := line("\r", errArgsLine)
	if !whole {
		return nil, "", false, err
	}
	count, good := ParseInt([]byte(l[1:]))
	switch {
	case !good || count > int64(lim.ArgsMax):
		return nil, "", false, errArgsLength
	case lim.Unauthenticated && count > 10:
		return nil, "", false, errArgsLengthUnauth
	}
	for ; count > 0; count-- {
		l, whole := line("\r", errBulkLine)
		switch {
		case !whole:
			return nil, "", false, err
		case l == "" || l[0] != '$':
			return nil, "", false, errExpectedBulk((l + "\r")[0])
		}
		n, good := ParseInt([]byte(l[1:]))
		switch {
		case !good || n < 0 || n > lim.BulkMax:
			return nil, "", false, errBulkLength
		case lim.Unauthenticated && n > 16384:
			return nil, "", false, errBulkLengthUnauth
		case int(n)+2 > len(input):
			return nil, "", false, nil
		}
		args = append(args, input[:n])
		input = input[n+2:]
	}
	return args, input, true, nil
}

func decodeModel(input string, lim *Limits) (out decoded) {
	for input != "" {
		args, rest, ok, err := model(input, lim)
		if err != nil {
			out.err = err
			return out
		}
		if !ok {
			break
		}
		out.commands = append(out.commands, args)
		input = rest
	}
	out.rest = len(input)
	return out
}

func FuzzDecoder(f *testing.F) {
	for i, c := range recorded {
		if len(c.input) < 1000 {
			f.Add([]byte(c.input), uint64(i), uint8(i))
		}
	}
	for _, c := range commandLines {
		f.Add(AppendCommand(nil, c.args...), uint64(len(c.args)), uint8(0))
	}
	limits := []Limits{
		DefaultLimits(),
		{BulkMax: 1 << 20, ArgsMax: 1 << 20, InlineMax: 16},
		{BulkMax: 16, ArgsMax: 4, InlineMax: 32},
		{BulkMax: 1 << 20, ArgsMax: 1 << 20, InlineMax: 64 << 10, Unauthenticated: true},
	}
	f.Fuzz(func(t *testing.T, input []byte, seed uint64, which uint8) {
		lim := limits[int(which)%len(limits)]
		want := decodeModel(string(input), &lim)
		if got := decodeWholeInput(t, input, &lim); want.String() != got.String() {
			t.Errorf("%q whole\nwant %s\ngot  %s", input, want, got)
		}
		rnd := rand.New(rand.NewPCG(seed, 0))
		for _, most := range []int{1, 3, 1 + len(input)} {
			got := decodeSplit(t, input, &lim, func(int) int { return 1 + rnd.IntN(most) })
			if want.String() != got.String() {
				t.Errorf("%q in pieces\nwant %s\ngot  %s", input, want, got)
			}
		}
	})
}

// FuzzInline holds the two ways to read a line of words against each other: splitWords, and what
// a client would have sent for the same words.
func FuzzInline(f *testing.F) {
	f.Add([]byte("SET k \"a b\\x41\"\nGET 'k'"), uint64(1))
	f.Fuzz(func(t *testing.T, word []byte, seed uint64) {
		// Any bytes can be said in double quotes, and most in many ways.
		rnd := rand.New(rand.NewPCG(seed, 0))
		line := []byte(`ECHO "`)
		for _, c := range word {
			switch {
			case c == 0 || c == '\n' || c == '"' && rnd.IntN(2) == 0 || rnd.IntN(8) == 0:
				line = fmt.Appendf(line, [...]string{`\x%02x`, `\x%02X`}[rnd.IntN(2)], c)
			case c == '"' || c == '\\':
				line = append(line, '\\', c)
			default:
				line = append(line, c)
			}
		}
		line = append(line, "\"\r\n"...)
		if len(line) > 60000 {
			return
		}
		lim := DefaultLimits()
		got := decodeBytewise(t, line, &lim)
		want := [][]string{{"ECHO", string(word)}}
		if got.err != nil || !slices.EqualFunc(want, got.commands, slices.Equal) {
			t.Errorf("%q: want %q, got %s", line, want, got)
		}
	})
}
