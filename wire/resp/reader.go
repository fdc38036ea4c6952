package resp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// Value is one reply as it came over the wire: nothing is translated, so what a RESP2 server and
// a RESP3 server send for the same thing differ here too.
type Value struct {
	// Kind is the type byte: one of + - : $ * _ # , ( = % ~ > |
	Kind byte
	// Null is set for $-1 and *-1. A RESP3 null is of kind '_' instead.
	Null bool
	// Text is what the first line says, or the contents of $ and = (with its "txt:").
	Text []byte
	// Elems are the elements of * ~ > and, key after value, those of % and |.
	Elems []Value
	// Attr is the attribute (of kind '|') that came before this value.
	Attr *Value
}

// Int is the value of an integer reply, 0 of any other.
func (v Value) Int() int64 {
	n, _ := ParseInt(v.Text)
	return n
}

// Err is the error that v is, or nil.
func (v Value) Err() error {
	if v.Kind == '-' {
		return Error(v.Text)
	}
	return nil
}

// String prints v without loss, one value per line, elements indented under their aggregate. A
// line is what went over the wire, except that strings stand in Go's quotes.
func (v Value) String() string { return string(v.append(nil, 0)) }

func (v Value) append(dst []byte, depth int) []byte {
	if v.Attr != nil {
		dst = append(v.Attr.append(dst, depth), '\n')
	}
	dst = append(dst, bytes.Repeat([]byte("  "), depth)...)
	dst = append(dst, v.Kind)
	switch {
	case v.Null:
		return append(dst, "-1"...)
	case v.Kind == '$' || v.Kind == '=':
		return strconv.AppendQuoteToASCII(dst, string(v.Text))
	case !aggregate(v.Kind):
		return append(dst, v.Text...)
	}
	n := len(v.Elems)
	if pairs(v.Kind) {
		n /= 2
	}
	dst = strconv.AppendInt(dst, int64(n), 10)
	for _, e := range v.Elems {
		dst = e.append(append(dst, '\n'), depth+1)
	}
	return dst
}

// aggregate tells the kinds that have elements.
func aggregate(kind byte) bool {
	return kind == '*' || kind == '~' || kind == '>' || pairs(kind)
}

func pairs(kind byte) bool { return kind == '%' || kind == '|' }

// Reader reads replies. It is for tests and tools: it allocates freely, and it is strict, so that
// a Writer that goes astray is found out.
type Reader struct {
	src *bufio.Reader
}

// NewReader returns a Reader of src.
func NewReader(src io.Reader) *Reader { return &Reader{src: bufio.NewReader(src)} }

// What a Reader refuses to hold.
const (
	readerBulkMax  = 1 << 30
	readerElemsMax = 1 << 30
	readerDepthMax = 64
)

// Buffered is the number of bytes that were received but not read yet.
func (r *Reader) Buffered() int { return r.src.Buffered() }

// Read returns the next reply, or io.EOF if the stream ends before it.
func (r *Reader) Read() (Value, error) { return r.read(0) }

func (r *Reader) read(depth int) (Value, error) {
	if depth > readerDepthMax {
		return Value{}, errors.New("read reply: nested too deeply")
	}
	line, err := r.src.ReadBytes('\n')
	if err != nil {
		if err == io.EOF && len(line)+depth > 0 {
			err = io.ErrUnexpectedEOF
		}
		return Value{}, err
	}
	if len(line) < 3 || line[len(line)-2] != '\r' || bytes.IndexByte(line, '\r') != len(line)-2 {
		return Value{}, fmt.Errorf("read reply: bad line %q", line)
	}
	v := Value{Kind: line[0], Text: line[1 : len(line)-2]}
	switch {
	case v.Kind == '+' || v.Kind == '-':
		return v, nil
	case v.Kind == '$' || v.Kind == '=':
		return r.bulk(v)
	case aggregate(v.Kind):
		return r.elems(v, depth)
	case !v.plausible():
		return Value{}, fmt.Errorf("read reply: bad line %q", line)
	}
	return v, nil
}

// plausible checks a scalar that is all in its line.
func (v Value) plausible() bool {
	switch v.Kind {
	case ':':
		_, ok := ParseInt(v.Text)
		return ok
	case '_':
		return len(v.Text) == 0
	case '#':
		return string(v.Text) == "t" || string(v.Text) == "f"
	case ',':
		_, ok := ParseDouble(v.Text)
		return ok || string(v.Text) == "nan"
	case '(':
		digits := bytes.TrimPrefix(v.Text, []byte("-"))
		return len(digits) > 0 && len(bytes.Trim(digits, "0123456789")) == 0
	}
	return false
}

// bulk reads the contents of a string. The room grows with what arrives, not with what was
// announced.
func (r *Reader) bulk(v Value) (Value, error) {
	n, ok := ParseInt(v.Text)
	if ok && n == -1 && v.Kind == '$' {
		return Value{Kind: '$', Null: true}, nil
	}
	if !ok || n < 0 || n > readerBulkMax {
		return Value{}, fmt.Errorf("read reply: bad length %c%q", v.Kind, v.Text)
	}
	v.Text = nil
	for size := int(n) + 2; len(v.Text) < size; {
		have := len(v.Text)
		step := min(size-have, max(have, 4096))
		v.Text = slices.Grow(v.Text, step)[:have+step]
		if _, err := io.ReadFull(r.src, v.Text[have:]); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return Value{}, err
		}
	}
	if string(v.Text[n:]) != "\r\n" {
		return Value{}, fmt.Errorf("read reply: %d bytes not followed by CRLF", n)
	}
	v.Text = v.Text[:n]
	if v.Kind == '=' && (n < 4 || v.Text[3] != ':') {
		return Value{}, fmt.Errorf("read reply: verbatim string without a format: %q", v.Text)
	}
	return v, nil
}

// elems reads the elements of an aggregate. An attribute is followed by the value it is about.
func (r *Reader) elems(v Value, depth int) (Value, error) {
	n, ok := ParseInt(v.Text)
	if ok && n == -1 && v.Kind == '*' {
		return Value{Kind: '*', Null: true}, nil
	}
	if !ok || n < 0 || n > readerElemsMax {
		return Value{}, fmt.Errorf("read reply: bad length %c%q", v.Kind, v.Text)
	}
	v.Text = nil
	if pairs(v.Kind) {
		n *= 2
	}
	for range n {
		e, err := r.read(depth + 1)
		if err != nil {
			return Value{}, err
		}
		v.Elems = append(v.Elems, e)
	}
	if v.Kind != '|' {
		return v, nil
	}
	about, err := r.read(depth + 1)
	if err != nil {
		return Value{}, err
	}
	if about.Attr != nil {
		return Value{}, errors.New("read reply: two attributes before one value")
	}
	about.Attr = &v
	return about, nil
}

// AppendCommand appends a command the way clients send it.
func AppendCommand[T []byte | string](dst []byte, args ...T) []byte {
	dst = appendHeader(dst, '*', int64(len(args)))
	for _, a := range args {
		dst = appendBulk(dst, a)
	}
	return dst
}
