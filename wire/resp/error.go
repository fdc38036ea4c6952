package resp

import "strings"

// Error is an error reply: the text without the leading '-', as Redis spells it. Returning a
// constant of this type as an error does not allocate.
type Error string

// Error makes Error an error; the text is what the client sees.
func (e Error) Error() string { return string(e) }

// Prefix is the first word of the text, by which clients and INFO errorstats tell errors apart:
// "ERR", "WRONGTYPE", "MOVED".
func (e Error) Prefix() string {
	word, _, _ := strings.Cut(string(e), " ")
	return word
}

// What a client gets before its connection is closed. Spelled by Redis 8.0.6.
const (
	errArgsLength       = Error("ERR Protocol error: invalid multibulk length")
	errArgsLengthUnauth = Error("ERR Protocol error: unauthenticated multibulk length")
	errBulkLength       = Error("ERR Protocol error: invalid bulk length")
	errBulkLengthUnauth = Error("ERR Protocol error: unauthenticated bulk length")
	errArgsLine         = Error("ERR Protocol error: too big mbulk count string")
	errBulkLine         = Error("ERR Protocol error: too big bulk count string")
	errInlineLine       = Error("ERR Protocol error: too big inline request")
	errQuotes           = Error("ERR Protocol error: unbalanced quotes in request")
)

// errExpectedBulk shows CR and LF as a space, as Redis does in every error text.
func errExpectedBulk(got byte) Error {
	if got == '\r' || got == '\n' {
		got = ' '
	}
	return Error("ERR Protocol error: expected '$', got '" + string([]byte{got}) + "'")
}
