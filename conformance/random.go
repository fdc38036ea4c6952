package conformance

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// A Stream makes random command lines, a part of them broken. The same seed and names give the
// same lines, but for the absolute times in them.
//
// A line is made from a template: words in capitals stand for themselves, [a|b c] is one of the
// alternatives or nothing, (a|b) one of them, x... one to four of the word before, and words in
// small letters are kinds of arguments, which kinds maps to generators.
type Stream struct {
	r     *rand.Rand
	names []string // of commands that both servers know: for COMMAND INFO and the like
	now   int64    // Unix seconds
	lines []template
	total int
}

type template struct {
	weight int
	text   string
}

// NewStream makes a stream of the groups, all if there are none named.
func NewStream(seed uint64, now int64, names []string, groups ...string) *Stream {
	s := &Stream{r: rand.New(rand.NewPCG(seed, 0x6b696c6e)), now: now, names: names}
	for group, lines := range templates {
		if len(groups) > 0 && !slices.Contains(groups, group) {
			continue
		}
		s.lines = append(s.lines, lines...)
	}
	sortTemplates(s.lines)
	for _, t := range s.lines {
		s.total += t.weight
	}
	return s
}

// templates of all groups. A weight is how often a line comes, compared with others.
var templates = map[string][]template{
	"string": {
		{8, "APPEND key val"},
		{6, "DECR key"},
		{6, "DECRBY key int"},
		{20, "GET key"},
		{6, "GETDEL key"},
		{8, "GETEX key [expiry|PERSIST]"},
		{6, "GETRANGE key index index"},
		{6, "GETSET key val"},
		{8, "INCR key"},
		{10, "INCRBY key int"},
		{14, "INCRBYFLOAT key float"},
		{4, "LCS key key"},
		{3, "LCS key key LEN"},
		{5, "LCS key key IDX [MINMATCHLEN index] [WITHMATCHLEN]"},
		{6, "MGET key..."},
		{3, "MSET key val"},
		{3, "MSET key val key val key val"},
		{3, "MSETNX key val"},
		{3, "MSETNX key val key val"},
		{5, "PSETEX key ms val"},
		{12, "SET key val"},
		{10, "SET key number"},
		{12, "SET key val [NX|XX] [GET] [expiry|KEEPTTL]"},
		{8, "SET key val [expiry|KEEPTTL] [GET] [NX|XX]"},
		{5, "SETEX key sec val"},
		{4, "SETNX key val"},
		{6, "SETRANGE key offset val"},
		{5, "STRLEN key"},
		{4, "SUBSTR key index index"},
	},
	"generic": {
		{6, "COPY key key [DB db] [REPLACE]"},
		{8, "DEL key..."},
		{5, "EXISTS key..."},
		{8, "EXPIRE key sec [NX|XX|GT|LT] [NX|XX|GT|LT]"},
		{6, "EXPIREAT key at [NX|XX|GT|LT]"},
		{4, "EXPIRETIME key"},
		{3, "KEYS pattern"},
		{4, "MOVE key db"},
		{4, "OBJECT ENCODING key"},
		{2, "OBJECT FREQ key"},
		{2, "OBJECT IDLETIME key"},
		{1, "OBJECT junk [key]"},
		{4, "PERSIST key"},
		{7, "PEXPIRE key ms [NX|XX|GT|LT]"},
		{6, "PEXPIREAT key atms [NX|XX|GT|LT] [NX|XX|GT|LT]"},
		{4, "PEXPIRETIME key"},
		{4, "PTTL key"},
		{2, "RANDOMKEY"},
		{5, "RENAME key key"},
		{4, "RENAMENX key key"},
		{4, "SCAN 0 [MATCH pattern] [COUNT 1000] [TYPE type]"},
		{2, "SCAN 0 COUNT 1000 [TYPE type] [MATCH pattern]"},
		{2, "SCAN junk [MATCH pattern] [COUNT int]"},
		{3, "TOUCH key..."},
		{4, "TTL key"},
		{4, "TYPE key"},
		{4, "UNLINK key..."},
	},
	"connection": {
		{3, "AUTH (password|val)"},
		{2, "AUTH (DEFAULT|default|val) (password|val)"},
		{2, "CLIENT GETNAME"},
		{1, "CLIENT ID"},
		{2, "CLIENT INFO"},
		{1, "CLIENT KILL (otheraddr|junk)"},
		{1, "CLIENT KILL ID (otherid|junk)"},
		{1, "CLIENT KILL killfilter..."},
		{1, "CLIENT LIST [TYPE (NORMAL|MASTER|REPLICA|SLAVE|PUBSUB|junk)]"},
		{1, "CLIENT LIST ID (otherid|junk|myid)..."},
		{1, "CLIENT NO-EVICT (ON|OFF|junk)"},
		{1, "CLIENT NO-TOUCH (ON|OFF|junk)"},
		{2, "CLIENT SETINFO (LIB-NAME|LIB-VER|junk) (name|val)"},
		{3, "CLIENT SETNAME (name|val)"},
		{1, "CLIENT junk [val]"},
		{3, "ECHO val"},
		{1, "HELLO"},
		{2, "HELLO (2|3|junk) [AUTH default password] [SETNAME name]"},
		{1, "HELLO proto [SETNAME (name|val)] [AUTH default val]"},
		{3, "PING [val]"},
		{1, "QUIT"},
		{1, "RESET"},
		{5, "SELECT db"},
		{2, "junk [val] [val]"},
		{1, "val val..."},
	},
	"server": {
		{2, "COMMAND GETKEYS line"},
		{2, "COMMAND GETKEYSANDFLAGS line"},
		{2, "COMMAND INFO command"},
		{1, "COMMAND INFO command junk command"},
		{1, "COMMAND LIST FILTERBY PATTERN junk"},
		{1, "COMMAND LIST FILTERBY (ACLCAT|MODULE|junk) junk"},
		{1, "COMMAND junk [val]"},
		{3, "CONFIG GET directive..."},
		{1, "CONFIG RESETSTAT"},
		{3, "CONFIG SET setting"},
		{1, "CONFIG SET setting setting"},
		{1, "CONFIG SET (NOSUCH|val) val"},
		{1, "CONFIG SET (databases|enable-debug-command|cluster-enabled|unixsocket|daemonize) val"},
		{1, "CONFIG junk"},
		{3, "DBSIZE"},
		{1, "DEBUG SET-ACTIVE-EXPIRE (0|1|val)"},
		{1, "DEBUG OBJECT key"},
		{1, "DEBUG POPULATE (0|3) [name] [offset]"},
		{1, "DEBUG SLEEP 0"},
		{1, "DEBUG XYZ [val]"},
		{1, "FLUSHALL [ASYNC|SYNC|junk]"},
		{1, "FLUSHDB [ASYNC|SYNC|junk]"},
		{1, "INFO keyspace"},
		{1, "INFO errorstats"},
		{1, "INFO XYZ"},
		{1, "MEMORY USAGE key [SAMPLES int]"},
		{1, "MEMORY XYZ"},
		{1, "SHUTDOWN (ABORT|XYZ|NOSAVE SAVE|SAVE ABORT|NOW ABORT)"},
		{2, "SWAPDB db db"},
		{1, "TIME"},
	},
}

// Next makes a line.
func (s *Stream) Next() []string {
	for {
		line := s.make(s.pick())
		if s.r.IntN(8) == 0 {
			line = s.spoil(line)
		}
		if s.r.IntN(6) == 0 {
			line[0] = strings.ToLower(line[0])
		}
		if !s.soon(line) && !harmful(line) {
			return line
		}
	}
}

func (s *Stream) pick() string {
	n := s.r.IntN(s.total)
	for _, t := range s.lines {
		if n -= t.weight; n < 0 {
			return t.text
		}
	}
	return ""
}

// spoil breaks a line, or makes it another that is right: that is for the servers to say.
func (s *Stream) spoil(line []string) []string {
	at := s.r.IntN(len(line) + 1)
	switch s.r.IntN(5) {
	case 0: // An argument too many,
		return splice(line, at, at, s.junk())
	case 1: // or too few,
		return line[:max(1, at)]
	case 2: // or another one,
		if at < len(line) && at > 0 {
			line[at] = s.junk()
		}
		return line
	case 3: // or the same again,
		if at < len(line) {
			return splice(line, at, at, line[at])
		}
		return line
	default: // or two the other way round.
		if at+1 < len(line) && at > 0 {
			line[at], line[at+1] = line[at+1], line[at]
		}
		return line
	}
}

func splice(line []string, from, to int, words ...string) []string {
	out := append([]string{}, line[:from]...)
	return append(append(out, words...), line[to:]...)
}

// soonSec is how near to now no deadline may be: two servers do not look at their clocks at the
// same time.
const soonSec = 600

var timed = map[string]bool{
	"set": true, "getex": true, "setex": true, "psetex": true, "expire": true, "pexpire": true,
	"expireat": true, "pexpireat": true,
}

// soon tells of lines that might let a key expire while the stream runs. A SET with a time in the
// past is one of them: Redis keeps the key until somebody asks for it, or it is swept away.
func (s *Stream) soon(line []string) bool {
	name := strings.ToLower(line[0])
	if !timed[name] {
		return false
	}
	for i, w := range line {
		n, err := strconv.ParseInt(w, 10, 64)
		if err != nil || i < 2 || i == 2 && name == "set" { // the value may be any number
			continue
		}
		before := strings.ToLower(line[i-1])
		at, atMs := n-s.now, n/1000-s.now
		if 0 < n && n < soonSec*1000 || -soonSec < at && at < soonSec ||
			-soonSec < atMs && atMs < soonSec ||
			name == "set" && (before == "exat" && at < 0 || before == "pxat" && atMs < 0) {
			return true
		}
	}
	return false
}

// harmful tells of lines that would end the servers, or what two of them cannot do alike.
func harmful(line []string) bool {
	name, sub := strings.ToLower(line[0]), ""
	if len(line) > 1 {
		sub = strings.ToLower(line[1])
	}
	switch name {
	case "shutdown":
		return len(line) == 1 || len(line) == 2 && sub != "abort" && sub != "xyz"
	case "config":
		if sub == "set" {
			for i := 2; i+1 < len(line); i += 2 {
				switch v := line[i+1]; strings.ToLower(line[i]) {
				case "maxmemory":
					if small(v) {
						return true
					}
				case "appendonly": // needs a disk
					if v != "no" {
						return true
					}
				case "requirepass": // or nobody would know it any more
					if v != "" && v != "pw" {
						return true
					}
				}
			}
		}
		// Not all servers have the same directives,
		return sub == "get" && slices.ContainsFunc(line[2:], all)
	case "command":
		// or the same commands.
		return sub == "list" && (len(line) < 5 || all(line[4])) || sub == "help" ||
			len(line) < 3 && (sub == "info" || sub == "docs" || sub == "count" || sub == "")
	case "debug":
		return sub == "sleep" && (len(line) != 3 || line[2] != "0") ||
			sub == "populate" && slices.ContainsFunc(line[2:], long) || !debugAlike[sub]
	}
	return sub == "help"
}

var debugAlike = map[string]bool{
	"set-active-expire": true, "object": true, "populate": true, "sleep": true, "xyz": true,
}

// long tells of words that may be numbers too large to be done.
func long(w string) bool { return len(w) > 3 }

// all tells of patterns that everything matches.
func all(pattern string) bool { return strings.Trim(pattern, "*") == "" && pattern != "" }

// small tells of memory limits that a server is over from the start.
func small(w string) bool {
	n, err := strconv.ParseInt(w, 10, 64)
	return err == nil && 0 < n && n < 1<<30
}
