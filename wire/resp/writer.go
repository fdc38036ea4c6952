package resp

import (
	"slices"
	"strconv"
	"strings"
)

// Writer appends replies to a buffer, and is the only one to know RESP2 from RESP3. The zero
// Writer is ready to use and speaks RESP2.
//
// It counts what it owes: [Writer.Begin] owes one reply, a scalar pays one, an aggregate of n
// pays one and owes n. A command whose reply is whole leaves Owed at 0.
type Writer struct {
	Resp3 bool

	buf    []byte
	owed   int
	chunks [][]byte // sealed, in order, before buf
	sealed int      // bytes in chunks
}

// Mark is a place to go back to. It counts bytes from the last Reset.
type Mark int

// Begin starts the reply to one command: it owes one value from here on.
func (w *Writer) Begin() Mark {
	w.owed = 1
	return Mark(w.sealed + len(w.buf))
}

// Owed is how many values are still to be written: 0 after a whole reply, less than 0 after too
// much, very much after a Deferred that was not ended.
func (w *Writer) Owed() int { return w.owed }

// Rewind drops what was written since Begin returned m, and owes one value again.
//
// REQUIRES: no Reset, Take or Use since; no Deferred begun before m and ended after it.
func (w *Writer) Rewind(m Mark) {
	w.Truncate(int(m))
	w.owed = 1
}

// SaveOwed and RestoreOwed go around a command that runs inside another, and whose Begin would
// forget what the outer one owes. EXEC, whose array takes in the inner reply, restores one less
// than it saved; a script, which reads that reply and rewinds, restores what it saved.
func (w *Writer) SaveOwed() int { return w.owed }

// RestoreOwed sets what is owed.
func (w *Writer) RestoreOwed(owed int) { w.owed = owed }

// NoReply pays for a reply that is not sent: SUBSCRIBE answers by push frames alone.
func (w *Writer) NoReply() { w.owed-- }

// OK writes +OK.
func (w *Writer) OK() {
	w.owed--
	w.buf = append(w.buf, "+OK\r\n"...)
}

// Simple writes a status. CR and LF become spaces, which is all it takes for no text to break the
// protocol.
func (w *Writer) Simple(s string) {
	w.owed--
	w.buf = appendLine(w.buf, '+', s)
}

// Error writes an error reply. CR and LF at its end are dropped, elsewhere they become spaces.
func (w *Writer) Error(e Error) {
	w.owed--
	for len(e) > 0 && (e[len(e)-1] == '\r' || e[len(e)-1] == '\n') {
		e = e[:len(e)-1]
	}
	w.buf = appendLine(w.buf, '-', string(e))
}

// Int writes an integer.
func (w *Writer) Int(n int64) {
	w.owed--
	w.buf = appendHeader(w.buf, ':', n)
}

// Bulk writes a string, which it copies.
func (w *Writer) Bulk(b []byte) {
	w.owed--
	w.buf = appendBytes(w.buf, b)
}

// BulkString is Bulk for a string.
func (w *Writer) BulkString(s string) {
	w.owed--
	w.buf = appendBulk(w.buf, s)
}

// BulkReserve writes a string of n bytes that the caller fills in. NB: they hold whatever was
// there, so all of them must be set; and they are only there until the next call.
func (w *Writer) BulkReserve(n int) []byte {
	w.owed--
	b := reserve(w.buf, n+headerMax+2)
	b = appendHeader(b, '$', int64(n))
	p := len(b)
	b = append(b[:p+n], "\r\n"...)
	w.buf = b
	return b[p : p+n : p+n]
}

// Null writes the absence of a value.
func (w *Writer) Null() {
	w.owed--
	if w.Resp3 {
		w.buf = append(w.buf, "_\r\n"...)
	} else {
		w.buf = append(w.buf, "$-1\r\n"...)
	}
}

// NullArray writes the absence of an array, which RESP3 does not tell from Null.
func (w *Writer) NullArray() {
	w.owed--
	if w.Resp3 {
		w.buf = append(w.buf, "_\r\n"...)
	} else {
		w.buf = append(w.buf, "*-1\r\n"...)
	}
}

// Array begins an array: n values must follow.
func (w *Writer) Array(n int) {
	w.owed += n - 1
	w.buf = appendHeader(w.buf, '*', int64(n))
}

// Map begins a map of n pairs: 2n values must follow. In RESP2 it is an array of them.
func (w *Writer) Map(n int) {
	w.owed += 2*n - 1
	if w.Resp3 {
		w.buf = appendHeader(w.buf, '%', int64(n))
	} else {
		w.buf = appendHeader(w.buf, '*', int64(2*n))
	}
}

// Set begins a set: n values must follow. In RESP2 it is an array.
func (w *Writer) Set(n int) {
	w.owed += n - 1
	w.buf = appendHeader(w.buf, w.kind('~'), int64(n))
}

// Push begins a message out of band: n values must follow, but it pays for no reply. In RESP2 it
// is an array.
func (w *Writer) Push(n int) {
	w.owed += n
	w.buf = appendHeader(w.buf, w.kind('>'), int64(n))
}

// Bool writes true or false; in RESP2, 1 or 0.
func (w *Writer) Bool(v bool) {
	w.owed--
	switch {
	case w.Resp3 && v:
		w.buf = append(w.buf, "#t\r\n"...)
	case w.Resp3:
		w.buf = append(w.buf, "#f\r\n"...)
	case v:
		w.buf = append(w.buf, ":1\r\n"...)
	default:
		w.buf = append(w.buf, ":0\r\n"...)
	}
}

// Double writes a score or a distance as AppendDouble spells it; in RESP2 as a bulk string.
func (w *Writer) Double(v float64) {
	w.owed--
	if w.Resp3 {
		w.buf = append(AppendDouble(append(w.buf, ','), v), "\r\n"...)
		return
	}
	var text [doubleMax]byte
	w.buf = appendBytes(w.buf, AppendDouble(text[:0], v))
}

// BigNumber writes an integer of any size, given in decimal; in RESP2 as a bulk string.
func (w *Writer) BigNumber(digits string) {
	w.owed--
	if w.Resp3 {
		w.buf = appendLine(w.buf, '(', digits)
	} else {
		w.buf = appendBulk(w.buf, digits)
	}
}

// Verbatim writes text for people, with its format in three letters ("txt", "mkd"); in RESP2 the
// text alone.
func (w *Writer) Verbatim(format, text string) {
	w.owed--
	if !w.Resp3 {
		w.buf = appendBulk(w.buf, text)
		return
	}
	b := appendHeader(w.buf, '=', int64(len(format)+1+len(text)))
	b = append(append(b, format...), ':')
	w.buf = append(append(b, text...), "\r\n"...)
}

// Raw writes one whole value that is RESP already.
func (w *Writer) Raw(b []byte) { w.RawN(b, 1) }

// RawN writes n whole values that are RESP already: what a partition contributes to an array.
func (w *Writer) RawN(b []byte, n int) {
	w.owed -= n
	w.buf = append(w.buf, b...)
}

// kind is the type byte of an aggregate that RESP2 only has as an array.
func (w *Writer) kind(resp3 byte) byte {
	if w.Resp3 {
		return resp3
	}
	return '*'
}

// headerMax is the longest first line of a reply: a type byte, an int64, CR and LF.
const headerMax = 1 + 20 + 2

// appendHeader appends a type byte and a number: the whole of an integer, the first line of a
// bulk string or an aggregate. Few numbers have more than four digits.
func appendHeader(b []byte, kind byte, n int64) []byte {
	switch u := uint64(n); {
	case u < 10:
		return append(b, kind, byte('0'+u), '\r', '\n')
	case u < 100:
		return append(b, kind, byte('0'+u/10), byte('0'+u%10), '\r', '\n')
	case u < 1000:
		return append(b, kind, byte('0'+u/100), byte('0'+u/10%10), byte('0'+u%10), '\r', '\n')
	case u < 10000:
		return append(b, kind, byte('0'+u/1000), byte('0'+u/100%10), byte('0'+u/10%10),
			byte('0'+u%10), '\r', '\n')
	}
	return append(strconv.AppendInt(append(b, kind), n, 10), "\r\n"...)
}

// appendBytes makes room once and then knows every index: with three appends it takes twice as
// long. It stands beside appendBulk, since what another package gives to a generic function
// escapes: each reply from a scratch buffer would then cost an allocation.
func appendBytes(b, v []byte) []byte {
	n := len(v)
	b = reserve(b, n+headerMax+2)
	p := len(b)
	if n < 10 {
		b = b[:p+n+6]
		h := b[p:]
		h[0], h[1], h[2], h[3] = '$', byte('0'+n), '\r', '\n'
		copy(h[4:], v)
		h[4+n], h[5+n] = '\r', '\n'
		return b
	}
	b = appendHeader(b, '$', int64(n))
	return append(append(b, v...), "\r\n"...)
}

func appendBulk[T []byte | string](b []byte, v T) []byte {
	b = appendHeader(reserve(b, len(v)+headerMax+2), '$', int64(len(v)))
	return append(append(b, v...), "\r\n"...)
}

// appendLine appends a reply that ends with its line, and so must not hold another.
func appendLine(b []byte, kind byte, s string) []byte {
	b = append(b, kind)
	p := len(b)
	b = append(b, s...)
	if strings.IndexByte(s, '\n') >= 0 || strings.IndexByte(s, '\r') >= 0 {
		for i, c := range b[p:] {
			if c == '\r' || c == '\n' {
				b[p+i] = ' '
			}
		}
	}
	return append(b, "\r\n"...)
}

// reserve makes room for n more bytes.
func reserve(b []byte, n int) []byte {
	if cap(b)-len(b) < n {
		return slices.Grow(b, max(n, len(b), 512)) // Doubling: replies may be large.
	}
	return b
}
