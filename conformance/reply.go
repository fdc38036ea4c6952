package conformance

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// kindClosed is the reply of a server that has closed the connection. It is no RESP type.
const kindClosed = '@'

// Replies beyond these sizes are a broken server, not a transcript.
const (
	bulkMax  = 600 << 20
	elemsMax = 1 << 24
	depthMax = 64
)

// A Reply is one RESP value as it was on the wire: two replies print alike only if they are
// the same bytes. Numbers stay text for that reason.
type Reply struct {
	Kind  byte    // the RESP type byte, or kindClosed
	Null  bool    // `$-1`, `*-1`
	Text  string  // scalars
	Elems []Reply // aggregates; maps and attributes alternate keys and values

	relax  []relaxation // only in what a transcript expects
	expand bool         // Text has variables
}

// aggregate says whether the kind has elements, and how many lie behind its count of one.
func aggregate(kind byte) (per int, ok bool) {
	switch kind {
	case '*', '~', '>':
		return 1, true
	case '%', '|':
		return 2, true
	}
	return 0, false
}

// readReply reads one value. An attribute is followed by the value it is about, which
// becomes its last element.
func readReply(r *bufio.Reader, depth int) (Reply, error) {
	if depth > depthMax {
		return Reply{}, errors.New("reply nests too deep")
	}
	line, err := readLine(r)
	if err != nil {
		return Reply{}, err
	}
	if line == "" {
		return Reply{}, errors.New("empty line where a reply starts")
	}
	v := Reply{Kind: line[0]}
	rest := line[1:]
	switch v.Kind {
	case '+', '-', ':', ',', '#', '(':
		v.Text = rest
		return v, nil
	case '_':
		return v, nil
	case '$', '=', '!':
		return readBulk(r, v, rest)
	}
	per, ok := aggregate(v.Kind)
	if !ok {
		return Reply{}, fmt.Errorf("unknown reply type in %q", line)
	}
	n, err := strconv.Atoi(rest)
	switch {
	case err != nil || n < -1 || n > elemsMax:
		return Reply{}, fmt.Errorf("bad count in %q", line)
	case n == -1:
		v.Null = true
		return v, nil
	}
	n *= per
	if v.Kind == '|' {
		n++
	}
	v.Elems = make([]Reply, n)
	for i := range v.Elems {
		if v.Elems[i], err = readReply(r, depth+1); err != nil {
			return Reply{}, err
		}
	}
	return v, nil
}

func readBulk(r *bufio.Reader, v Reply, count string) (Reply, error) {
	n, err := strconv.Atoi(count)
	if err != nil || n < -1 || n > bulkMax {
		return Reply{}, fmt.Errorf("bad length in \"%c%s\"", v.Kind, count)
	}
	if n == -1 {
		v.Null = true
		return v, nil
	}
	buf := make([]byte, n+2)
	if _, err := io.ReadFull(r, buf); err != nil {
		return Reply{}, err
	}
	if string(buf[n:]) != "\r\n" {
		return Reply{}, fmt.Errorf("bulk of %d bytes ends with %q instead of CRLF", n, buf[n:])
	}
	v.Text = string(buf[:n])
	return v, nil
}

func readLine(r *bufio.Reader) (string, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return "", err
	}
	if !strings.HasSuffix(line, "\r\n") {
		return "", fmt.Errorf("line %q does not end with CRLF", line)
	}
	return line[:len(line)-2], nil
}

// encodeCommand is the request as clients send it: an array of bulks.
func encodeCommand(dst []byte, args []string) []byte {
	dst = fmt.Appendf(dst, "*%d\r\n", len(args))
	for _, a := range args {
		dst = fmt.Appendf(dst, "$%d\r\n", len(a))
		dst = append(dst, a...)
		dst = append(dst, "\r\n"...)
	}
	return dst
}

// String is the reply as transcripts write it, without the last newline.
func (v Reply) String() string {
	var b strings.Builder
	v.print(&b, "")
	return strings.TrimSuffix(b.String(), "\n")
}

func (v Reply) print(b *strings.Builder, indent string) {
	for _, r := range v.relax {
		fmt.Fprintf(b, "%s%s\n", indent, r)
	}
	fmt.Fprintf(b, "%s%s\n", indent, v.head())
	for _, e := range v.Elems {
		e.print(b, indent+"  ")
	}
}

// head is the line of the value itself.
func (v Reply) head() string {
	if v.Null {
		return string(v.Kind) + "-1"
	}
	switch v.Kind {
	case kindClosed:
		return "@closed"
	case '_':
		return "_"
	case '$', '=', '!':
		return string(v.Kind) + quote(v.Text)
	case '|':
		return "|" + strconv.Itoa(len(v.Elems)/2)
	}
	if per, ok := aggregate(v.Kind); ok {
		return string(v.Kind) + strconv.Itoa(len(v.Elems)/per)
	}
	if plain(v.Text) {
		return string(v.Kind) + v.Text
	}
	return string(v.Kind) + quote(v.Text)
}

// plain says whether a line can be written bare and read back: editors strip trailing blanks,
// and a leading quote means a quoted text.
func plain(s string) bool {
	if s == "" || s[0] == '"' || s[len(s)-1] == ' ' || strings.Contains(s, "$(") {
		return false
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// runMin is the shortest run of one byte that is written as `"x"*N`.
const runMin = 64

// quote writes a text so that unquote gives back the same bytes. Long runs of one byte, which
// big values in transcripts are made of, are written as a factor: `"a"*1000000+"b"`.
func quote(s string) string {
	var parts []string
	for len(s) > 0 {
		start, end := longRun(s)
		if start > 0 {
			parts = append(parts, quotePlain(s[:start]))
		}
		if end > start {
			parts = append(parts, quotePlain(s[start:start+1])+"*"+strconv.Itoa(end-start))
		}
		s = s[end:]
	}
	if parts == nil {
		return `""`
	}
	return strings.Join(parts, "+")
}

// longRun finds the first run of at least runMin equal bytes, or the empty run at the end.
func longRun(s string) (start, end int) {
	for start < len(s) {
		end = start + 1
		for end < len(s) && s[end] == s[start] {
			end++
		}
		if end-start >= runMin {
			return start, end
		}
		start = end
	}
	return len(s), len(s)
}

func quotePlain(s string) string {
	b := []byte{'"'}
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c < ' ' || c > '~' || c == '$' && i+1 < len(s) && s[i+1] == '(':
			b = fmt.Appendf(b, `\x%02x`, c)
		default:
			b = append(b, c)
		}
	}
	return string(append(b, '"'))
}

// unquote reads a quoted text at the start of s and returns what follows it.
func unquote(s string) (text, rest string, err error) {
	var b strings.Builder
	for {
		end := closingQuote(s)
		if end < 0 {
			return "", "", fmt.Errorf("no closing quote in %s", s)
		}
		part, err := strconv.Unquote(s[:end+1])
		if err != nil {
			return "", "", fmt.Errorf("bad quoted text %s", s[:end+1])
		}
		s = s[end+1:]
		n := 1
		if strings.HasPrefix(s, "*") {
			digits := len(s[1:]) - len(strings.TrimLeft(s[1:], "0123456789"))
			if n, err = strconv.Atoi(s[1 : 1+digits]); err != nil || n*len(part) > bulkMax {
				return "", "", fmt.Errorf("bad factor at %s", s)
			}
			s = s[1+digits:]
		}
		b.WriteString(strings.Repeat(part, n))
		if !strings.HasPrefix(s, `+"`) {
			return b.String(), s, nil
		}
		s = s[1:]
	}
}

// closingQuote is the index of the quote that ends the text which starts at s[0], or -1.
func closingQuote(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}
