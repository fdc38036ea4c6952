package commands

import (
	"strings"

	"kiln/wire/resp"
)

// The error texts, byte for byte as Redis has them.
const (
	errSyntax      = resp.Error("ERR syntax error")
	errNotInt      = resp.Error("ERR value is not an integer or out of range")
	errNotFloat    = resp.Error("ERR value is not a valid float")
	errWrongType   = resp.Error("WRONGTYPE Operation against a key holding the wrong kind of value")
	errNoKey       = resp.Error("ERR no such key")
	errSameObject  = resp.Error("ERR source and destination objects are the same")
	errDBRange     = resp.Error("ERR DB index is out of range")
	errBadDB       = resp.Error("ERR invalid DB index")
	errOverflow    = resp.Error("ERR increment or decrement would overflow")
	errDecrement   = resp.Error("ERR decrement would overflow")
	errNaN         = resp.Error("ERR increment would produce NaN or Infinity")
	errOffset      = resp.Error("ERR offset is out of range")
	errTooLong     = resp.Error("ERR string exceeds maximum allowed size (proto-max-bulk-len)")
	errInternal    = resp.Error("ERR internal error")
	errNoAuth      = resp.Error("NOAUTH Authentication required.")
	errBadCursor   = resp.Error("ERR invalid cursor")
	errUnsupported = resp.Error("ERR this option is not supported yet")

	// ErrElsewhere is no reply: the call must run off the event loop, and nothing was done yet.
	ErrElsewhere = resp.Error("ERR elsewhere")
)

func errArity(name string) error {
	return resp.Error("ERR wrong number of arguments for '" + name + "' command")
}

func errExpire(name string) error {
	return resp.Error("ERR invalid expire time in '" + name + "' command")
}

// errUnknown quotes the first words, as far as Redis does: 128 bytes of name, and of arguments.
func errUnknown(argv [][]byte) error {
	const limit = 128
	var b strings.Builder
	b.WriteString("ERR unknown command '")
	b.Write(argv[0][:min(len(argv[0]), limit)])
	b.WriteString("', with args beginning with: ")
	n := 0
	for _, w := range argv[1:] {
		if n >= limit {
			break
		}
		w = w[:min(len(w), limit-n)]
		b.WriteByte('\'')
		b.Write(w)
		b.WriteString("' ")
		n += len(w) + 3
	}
	return resp.Error(b.String())
}

func errUnknownSub(parent string, sub []byte) error {
	return resp.Error("ERR unknown subcommand '" + string(sub[:min(len(sub), 128)]) +
		"'. Try " + strings.ToUpper(parent) + " HELP.")
}
