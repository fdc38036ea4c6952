package resp

import (
	"encoding/binary"
	"math"
	"slices"
)

// Limits bound what one command may take. They are read on each call of Next, so that CONFIG SET
// and AUTH work at once.
type Limits struct {
	BulkMax   int64 // bytes of one argument: proto-max-bulk-len
	ArgsMax   int   // arguments of one command
	InlineMax int   // bytes of an inline command, and of the line that carries a length
	// Unauthenticated holds a stranger to 10 arguments of 16 KiB: enough for AUTH and HELLO.
	Unauthenticated bool
}

// DefaultLimits are those of a Redis that nobody configured.
func DefaultLimits() Limits {
	return Limits{BulkMax: 512 << 20, ArgsMax: math.MaxInt32, InlineMax: 64 << 10}
}

// What a stranger may send.
const (
	unauthArgsMax = 10
	unauthBulkMax = 16384
)

// Decoder decodes the commands of one client. It keeps how far it came, never bytes: those stay
// with the caller. The zero Decoder is ready to use.
//
// A command that is not whole yet is scanned once, however many pieces it comes in; when the last
// piece is there, a second pass over the headers alone cuts it into arguments. So the decoder
// holds no list of arguments, and 2^31 announced ones cost it nothing.
type Decoder struct {
	pos    int  // bytes of the command that are done with: whole headers and arguments
	scan   int  // bytes after pos in which the end of a line was sought in vain
	args   int  // arguments that the command announced; 0 before its header
	left   int  // those not seen yet, counting the one in hand
	bulk   int  // length of the argument in hand
	inBulk bool // bulk is known, pos is where the argument begins
	need   int
}

// Next decodes the command at the start of buf and appends its arguments to argv. They alias buf;
// only inline arguments with quotes or escapes are built anew. n is the number of bytes consumed.
//
// n == 0 without an error: more bytes are needed. The next call must pass the same bytes and
// more, possibly at another address. n > 0 without arguments: an empty command ("*0", "*-1", a
// blank line), which gets no reply.
//
// An error is an [Error] to be written after the replies to the commands before it; then the
// connection must be closed. Calling again without Reset gives the same error.
func (d *Decoder) Next(buf []byte, argv [][]byte, lim *Limits) (args [][]byte, n int, err error) {
	if d.pos|d.scan == 0 && !lim.Unauthenticated &&
		lim.BulkMax >= wholeBulkMax && lim.ArgsMax >= wholeArgsMax {
		if args, n = decodeWhole(buf, argv); n != 0 {
			return args, n, nil
		}
	}
	return d.next(buf, argv, lim)
}

// Need is how many bytes beyond those given the argument in hand still takes, or 0 if that is
// not known: what is worth making room for at once. NB: it is what the client announced, not
// what it sent, and goes up to Limits.BulkMax.
func (d *Decoder) Need() int { return d.need }

// Reset forgets the command in progress.
func (d *Decoder) Reset() { *d = Decoder{} }

// What decodeWhole takes on. The second is less than proto-max-bulk-len can be set to.
const (
	wholeArgsMax = 9999
	wholeBulkMax = 999999
)

// decodeWhole is the fast path: a multibulk command that is all there, of a usual size, written
// the way every client writes it. Whatever else it meets, it returns n == 0, and next decides. It
// is one function because calls, not digits, are what costs at 20 ns per command. Four bytes are
// loaded at once because most lengths have one digit.
func decodeWhole(buf []byte, argv [][]byte) (args [][]byte, n int) {
	if len(buf) < bulkMin {
		return argv, 0
	}
	x := binary.LittleEndian.Uint32(buf)
	count := int(byte(x>>8) - '0')
	if byte(x) != '*' || uint(count-1) > 8 {
		return argv, 0
	}
	p := 4
	if x>>16 != crlf {
		for p = 2; buf[p] != '\r'; p++ {
			d := int(buf[p] - '0')
			if count = count*10 + d; d > 9 || count > wholeArgsMax || p+2 == len(buf) {
				return argv, 0
			}
		}
		if buf[p+1] != '\n' {
			return argv, 0
		}
		p += 2
	}
	if cap(argv)-len(argv) < count {
		if len(buf)-p < count*bulkMin { // Do not make room for what cannot be here.
			return argv, 0
		}
		argv = slices.Grow(argv, count)
	}
	args = argv[:len(argv)+count]
	for i := len(argv); i < len(args); i++ {
		if len(buf)-p < bulkMin {
			return argv, 0
		}
		x = binary.LittleEndian.Uint32(buf[p:])
		size := int(byte(x>>8) - '0')
		if byte(x) != '$' || size > 9 {
			return argv, 0
		}
		if x>>16 == crlf {
			p += 4
		} else if size == 0 {
			return argv, 0
		} else {
			for p += 2; buf[p] != '\r'; p++ {
				d := int(buf[p] - '0')
				if size = size*10 + d; d > 9 || size > wholeBulkMax || p+2 == len(buf) {
					return argv, 0
				}
			}
			if buf[p+1] != '\n' {
				return argv, 0
			}
			p += 2
		}
		end := p + size
		if end+2 > len(buf) {
			return argv, 0
		}
		args[i] = buf[p:end:end]
		p = end + 2 // Redis does not look at what ends an argument either.
	}
	return args, p
}

const (
	crlf    = '\n'<<8 | '\r' // as a little-endian load sees it
	bulkMin = len("$0\r\n\r\n")
)

// next goes on with a command from where the last call left it.
func (d *Decoder) next(buf []byte, argv [][]byte, lim *Limits) (args [][]byte, n int, err error) {
	d.need = 0
	if d.args == 0 {
		if len(buf) == 0 {
			return argv, 0, nil
		}
		if buf[0] != '*' {
			return d.inline(buf, argv, lim)
		}
		line, bad := d.line(buf, lim.InlineMax, errArgsLine)
		if line == nil {
			return argv, 0, bad
		}
		count, ok := ParseInt(line[1:])
		switch {
		case !ok || count > int64(lim.ArgsMax):
			return argv, 0, errArgsLength
		case count > unauthArgsMax && lim.Unauthenticated:
			return argv, 0, errArgsLengthUnauth
		case count <= 0:
			d.Reset()
			return argv, len(line) + 2, nil
		}
		d.advance(len(line) + 2)
		d.args, d.left = int(count), int(count)
	}
	for d.left > 0 {
		if !d.inBulk {
			line, bad := d.line(buf, lim.InlineMax, errBulkLine)
			if line == nil {
				return argv, 0, bad
			}
			if d.bulk, bad = bulkLength(line, lim); bad != nil {
				return argv, 0, bad
			}
			d.advance(len(line) + 2)
			d.inBulk = true
		}
		if rest := len(buf) - d.pos; rest-2 < d.bulk {
			if d.need = d.bulk - rest + 2; d.need < 0 { // Only if BulkMax is near the end of int.
				d.need = math.MaxInt
			}
			return argv, 0, nil
		}
		d.advance(d.bulk + 2)
		d.inBulk = false
		d.left--
	}
	args, n = cut(buf, argv, d.args), d.pos
	d.Reset()
	return args, n, nil
}

// bulkLength reads "$5". line holds all before the CR, so it may be empty: the byte that Redis
// complains of is then the CR.
func bulkLength(line []byte, lim *Limits) (int, error) {
	if len(line) == 0 {
		return 0, errExpectedBulk('\r')
	}
	if line[0] != '$' {
		return 0, errExpectedBulk(line[0])
	}
	n, ok := ParseInt(line[1:])
	if !ok || n < 0 || n > lim.BulkMax {
		return 0, errBulkLength
	}
	if n > unauthBulkMax && lim.Unauthenticated {
		return 0, errBulkLengthUnauth
	}
	return int(n), nil
}

// line returns what stands before the CR that ends the line at d.pos, once the byte after the
// CR is there too (any byte: Redis does not look). The line is never nil then, though it may be
// empty.
func (d *Decoder) line(buf []byte, limit int, tooBig Error) ([]byte, error) {
	rest := buf[d.pos:]
	i, found := d.find(rest, '\r', limit)
	switch {
	case found && i+1 < len(rest):
		return rest[:i:i], nil
	case !found && len(rest) > limit:
		return nil, tooBig
	}
	return nil, nil
}

// find looks for c among the first limit+1 bytes of rest, from where the last search gave up. It
// does not look behind a NUL, because Redis searches with strchr: a line with a NUL in it is not
// refused but goes on until it is too big.
func (d *Decoder) find(rest []byte, c byte, limit int) (int, bool) {
	if len(rest)-1 > limit {
		rest = rest[:limit+1]
	}
	i := min(d.scan, len(rest)) // The limit may have come down since.
	for i < len(rest) && rest[i] != c && rest[i] != 0 {
		i++
	}
	d.scan = i
	return i, i < len(rest) && rest[i] == c
}

func (d *Decoder) advance(n int) {
	d.pos += n
	d.scan = 0
}

// cut is the second pass over a command that next has found whole and good.
func cut(buf []byte, argv [][]byte, count int) [][]byte {
	argv = slices.Grow(argv, count)
	p := 2
	for buf[p] != '\r' {
		p++
	}
	for range count {
		size := 0
		for p += 3; buf[p] != '\r'; p++ { // Over CR, LF and '$'.
			size = size*10 + int(buf[p]-'0')
		}
		p += 2 + size
		argv = append(argv, buf[p-size:p:p])
	}
	return argv
}
