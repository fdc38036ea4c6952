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
	errFirstDB       = resp.Error("ERR invalid first DB index")
	errSecondDB      = resp.Error("ERR invalid second DB index")
	errNoValues      = resp.Error("ERR NOVALUES option can only be used in HSCAN")
	errExpireNX      = resp.Error(
		"ERR NX and XX, GT or LT options at the same time are not compatible")
	errExpireGTLT = resp.Error("ERR GT and LT options at the same time are not compatible")
	errNotLFU     = resp.Error("ERR An LFU maxmemory policy is not selected, access frequency not " +
		"tracked. Please note that when switching between policies at runtime LRU and LFU data " +
		"will take some time to adjust.")
	errLFU = resp.Error("ERR An LFU maxmemory policy is selected, idle time not tracked. Please " +
		"note that when switching between policies at runtime LRU and LFU data will take some " +
		"time to adjust.")

	errShutdown    = resp.Error("ERR Errors trying to SHUTDOWN. Check logs.")
	errNoShutdown  = resp.Error("ERR No shutdown in progress.")
	errNotPositive = resp.Error("ERR value is out of range, must be positive")

	// What is wrong with a directive; CONFIG SET puts errConfigSet around it.
	errDirective      = resp.Error("Bad directive or wrong number of arguments")
	errDirectiveWords = resp.Error("wrong number of arguments")
	errConfigInt      = resp.Error("argument couldn't be parsed into an integer")
	errConfigOctal    = resp.Error("argument couldn't be parsed as an octal number")
	errConfigMemory   = resp.Error("argument must be a memory value")
	errConfigBool     = resp.Error("argument must be 'yes' or 'no'")
	errConfigPower    = resp.Error("argument must be a power of two")
	errConfigGroup    = resp.Error("argument must be a pattern with one * in its middle")
	errConfigBind     = resp.Error("Too many bind addresses specified.")
	errConfigSave     = resp.Error("Invalid save parameters")
	errConfigFixed    = resp.Error("can't set immutable config")
	errConfigGuarded  = resp.Error("can't set protected config")
	errConfigTwice    = resp.Error("duplicate parameter")

	errConfigLimitWords = resp.Error("Wrong number of arguments in buffer limit configuration.")
	errConfigLimitClass = resp.Error("Invalid client class specified in buffer limit configuration.")
	errConfigLimit      = resp.Error(
		"Error in hard, soft or soft_seconds setting in buffer limit configuration.")

	// ErrElsewhere is no reply: the call must run off the event loop, and nothing was done yet.
	ErrElsewhere = resp.Error("ERR elsewhere")
)

// The texts of the string commands.
const (
	errLCSTypes  = resp.Error("ERR The specified keys must contain string values")
	errLCSBoth   = resp.Error("ERR If you want both the length and indexes, please just use IDX.")
	errLCSLength = resp.Error("ERR String too long for LCS")
	errLCSMemory = resp.Error(
		"ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len")

	errDigest        = resp.Error("ERR must be exactly 16 hexadecimal characters")
	errCondition     = resp.Error("ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE")
	errConditionType = resp.Error("ERR Key should be of string type if conditions are specified")

	errNumKeys  = resp.Error("ERR invalid numkeys value")
	errNumPairs = resp.Error("ERR wrong number of key-value pairs")

	errENX          = resp.Error("ERR ENX flag requires an expiration")
	errBounds       = resp.Error("ERR LBOUND can't be greater than UBOUND")
	errApplied      = resp.Error("ERR applied increment would overflow")
	errAppliedInf   = resp.Error("ERR applied increment would be Infinity")
	errIncrementInf = resp.Error("ERR BYFLOAT increment cannot be Infinity")
	errValueInf     = resp.Error("ERR value cannot be Infinity")
)

// errNotIntOption and errNotFloatOption say which of INCREX's numbers is none.
func errNotIntOption(name string) error {
	return resp.Error("ERR " + name + " is not an integer or out of range")
}

func errNotFloatOption(name string) error {
	return resp.Error("ERR " + name + " is not a valid float")
}

func errArity(name string) error {
	return resp.Error("ERR wrong number of arguments for '" + name + "' command")
}

func errExpireOption(option []byte) error {
	return resp.Error("ERR Unsupported option " + cString(option))
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
		name + "-command option is set to \"local\", you can run it from a local connection, " +
		"otherwise you need to set this option in the configuration file, and then restart the " +
		"server.")
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

func errConfigRange(least, most string) error {
	return resp.Error("argument must be between " + least + " and " + most + " inclusive")
}

func errConfigEnum(names []string) error {
	return resp.Error("argument(s) must be one of the following: " + strings.Join(names, ", "))
}

// errConfigNever is ours: a setting of Redis's that this server does not have yet.
func errConfigNever(word string) error {
	return resp.Error("'" + word + "' is not supported yet")
}

func errConfigSet(name string, why error) error {
	return resp.Error("ERR CONFIG SET failed (possibly related to argument '" + name + "') - " +
		why.Error())
}

func errConfigUnknown(name string) error {
	return resp.Error("ERR Unknown option or number of arguments for CONFIG SET - '" + name + "'")
}

// errDebug is for subcommands that are not there, and for those with too many or few arguments.
func errDebug(sub []byte) error {
	return resp.Error("ERR unknown subcommand or wrong number of arguments for '" +
		string(quoted(sub, 128)) + "'. Try DEBUG HELP.")
}

// errOther makes a reply of an error that is none of Redis's.
func errOther(err error) resp.Error { return resp.Error("ERR " + err.Error()) }

// What the event loops answer when a connection is refused.
const (
	// ErrTooMany is the answer above maxclients.
	ErrTooMany = resp.Error("ERR max number of clients reached")
	// ErrProtected is the answer to another machine in protected mode.
	ErrProtected = resp.Error("DENIED Kiln is running in protected mode because protected mode is " +
		"enabled and no password is set for the default user. In this mode connections are only " +
		"accepted from the loopback interface. To connect from other hosts, set a password " +
		"(requirepass), bind to chosen addresses only, or turn protected mode off " +
		"(protected-mode no).")
)
