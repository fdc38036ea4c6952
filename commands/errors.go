package commands

import (
	"bytes"
	"strings"

	"kiln/wire/resp"
)

// The error texts, byte for byte as Redis has them.
const (
	errSyntax     = resp.Error("ERR syntax error")
	errNotInt     = resp.Error("ERR value is not an integer or out of range")
	errNotFloat   = resp.Error("ERR value is not a valid float")
	errWrongType  = resp.Error("WRONGTYPE Operation against a key holding the wrong kind of value")
	errNoKey      = resp.Error("ERR no such key")
	errSameObject = resp.Error("ERR source and destination objects are the same")
	errDBRange    = resp.Error("ERR DB index is out of range")
	errBadDB      = resp.Error("ERR invalid DB index")
	errOverflow   = resp.Error("ERR increment or decrement would overflow")
	errDecrement  = resp.Error("ERR decrement would overflow")
	errNaN        = resp.Error("ERR increment would produce NaN or Infinity")
	errOffset     = resp.Error("ERR offset is out of range")
	errTooLong    = resp.Error("ERR string exceeds maximum allowed size (proto-max-bulk-len)")
	errInternal   = resp.Error("ERR internal error")
	errNoAuth     = resp.Error("NOAUTH Authentication required.")
	errBadCursor  = resp.Error("ERR invalid cursor")
	errIntRange   = resp.Error("ERR value is out of range, " +
		"value must between -2147483648 and 2147483647")

	errNoPassword = resp.Error("ERR AUTH <password> called without any password configured for " +
		"the default user. Are you sure your configuration is correct?")
	errWrongPass = resp.Error(
		"WRONGPASS invalid username-password pair or user is disabled.")
	errNoAuthHello = resp.Error("NOAUTH HELLO must be called with the client already " +
		"authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used to " +
		"authenticate the client and select the RESP protocol version at the same time")
	errNoProto     = resp.Error("NOPROTO unsupported protocol version")
	errProtoNotInt = resp.Error("ERR Protocol version is not an integer or out of range")
	errClientName  = resp.Error(
		"ERR Client names cannot contain spaces, newlines or special characters.")
	errClientID      = resp.Error("ERR Invalid client ID")
	errClientIDRange = resp.Error("ERR client-id should be greater than 0")
	errMaxAgeNotInt  = resp.Error("ERR maxage is not an integer or out of range")
	errMaxAgeRange   = resp.Error("ERR maxage should be greater than 0")
	errNoClient      = resp.Error("ERR No such client")
	errKeysUnknown   = resp.Error("ERR Invalid command specified")
	errKeysNone      = resp.Error("ERR The command has no key arguments")
	errKeysArity     = resp.Error("ERR Invalid number of arguments specified for command")
	errKeysNotFound  = resp.Error("ERR Invalid arguments specified for command")
	errUnsupported   = resp.Error("ERR this option is not supported yet")

	// ErrElsewhere is no reply: the call must run off the event loop, and nothing was done yet.
	ErrElsewhere = resp.Error("ERR elsewhere")
)

func errArity(name string) error {
	return resp.Error("ERR wrong number of arguments for '" + name + "' command")
}

func errExpire(name string) error {
	return resp.Error("ERR invalid expire time in '" + name + "' command")
}

// quoted is what Redis quotes of a word in an error text: C ends it at a NUL.
func quoted(w []byte, limit int) []byte {
	w = w[:min(len(w), max(limit, 0))]
	if i := bytes.IndexByte(w, 0); i >= 0 {
		w = w[:i]
	}
	return w
}

// errUnknown quotes the first words, as far as Redis does: 128 bytes of name, and of arguments.
func errUnknown(argv [][]byte) error {
	const limit = 128
	var b strings.Builder
	b.WriteString("ERR unknown command '")
	b.Write(quoted(argv[0], limit))
	b.WriteString("', with args beginning with: ")
	n := 0
	for _, w := range argv[1:] {
		if n >= limit {
			break
		}
		w = quoted(w, limit-n)
		b.WriteByte('\'')
		b.Write(w)
		b.WriteString("' ")
		n += len(w) + 3
	}
	return resp.Error(b.String())
}

func errUnknownSub(parent, sub []byte) error {
	return resp.Error("ERR unknown subcommand '" + string(quoted(sub, 128)) + "'. Try " +
		string(bytes.ToUpper(parent)) + " HELP.")
}

// errProtected refuses a command that the configuration has to allow: DEBUG, MODULE.
func errProtected(name string) error {
	return resp.Error("ERR " + strings.ToUpper(name) + " command not allowed. If the enable-" +
		name + "-command option is set to \"local\", you can run it from a local connection, otherwise you " +
		"need to set this option in the configuration file, and then restart the server.")
}

func errHelloOption(option []byte) error {
	return resp.Error("ERR Syntax error in HELLO option '" + cString(option) + "'")
}

func errClientType(name []byte) error {
	return resp.Error("ERR Unknown client type '" + cString(name) + "'")
}

func errNoUser(name []byte) error {
	return resp.Error("ERR No such user '" + cString(name) + "'")
}

func errInfoOption(option []byte) error {
	return resp.Error("ERR Unrecognized option '" + cString(option) + "'")
}

func errInfoValue(option []byte) error {
	return resp.Error("ERR " + cString(option) +
		" cannot contain spaces, newlines or special characters.")
}

// cString is a word as far as C prints it.
func cString(w []byte) string { return string(quoted(w, len(w))) }
