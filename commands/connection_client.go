package commands

import (
	"strconv"
	"strings"
)

// session are the flags of what a client asks about itself.
const session = NoScript | Loading | Stale | Sentinel

var clientCommands = []Spec{
	{
		Name: "getname", Arity: 2, Flags: session, Group: GroupConnection, Where: Loop,
		Run: cmdClientGetname, Since: "2.6.9", Complexity: "O(1)",
		Doc: "Gives the name of the connection.",
	},
	{
		Name: "help", Arity: 2, Flags: Loading | Stale | Sentinel, Group: GroupConnection,
		Where: Loop, Run: cmdHelp, Since: "5.0.0", Complexity: "O(1)",
		Doc: "Lists the subcommands.",
	},
	{
		Name: "id", Arity: 2, Flags: session, Group: GroupConnection, Where: Loop,
		Run: cmdClientID, Since: "5.0.0", Complexity: "O(1)",
		Doc: "Gives the connection's number, which no other ever has.",
	},
	{
		Name: "info", Arity: 2, Flags: session, Group: GroupConnection, Where: Loop,
		Run: cmdClientInfo, Since: "6.2.0", Complexity: "O(1)",
		Tips: []string{"nondeterministic_output"},
		Doc:  "Describes the connection, as CLIENT LIST does.",
	},
	{
		Name: "kill", Arity: -3, Flags: Admin | session, Group: GroupConnection, Where: Loop,
		Run: cmdClientKill, Since: "2.4.0",
		Complexity: "O(N) where N is the number of clients",
		Doc:        "Closes connections.",
		Syntax: "<ip:port | <[ID client-id] | [TYPE <NORMAL | MASTER | SLAVE | REPLICA | " +
			"PUBSUB>] | [USER username] | [ADDR ip:port] | [LADDR ip:port] | " +
			"[SKIPME <YES | NO>] | [MAXAGE maxage] [...]>>",
		History: [][2]string{
			{"2.8.12", "Filters by option and value."},
			{"2.8.12", "`ID`."},
			{"3.2.0", "`TYPE master`."},
			{"5.0.0", "`TYPE replica`; `slave` means the same."},
			{"6.2.0", "`LADDR`."},
			{"7.4.0", "`MAXAGE`."},
		},
	},
	{
		Name: "list", Arity: -2, Flags: Admin | session, Group: GroupConnection, Where: Loop,
		Run: cmdClientList, Since: "2.4.0",
		Complexity: "O(N) where N is the number of clients",
		Tips:       []string{"nondeterministic_output"},
		Doc:        "Describes the open connections, a line for each.",
		Syntax: "[TYPE <NORMAL | MASTER | REPLICA | PUBSUB>] " +
			"[ID client-id [client-id ...]]",
		History: [][2]string{
			{"2.8.12", "Field `id`."},
			{"5.0.0", "Filter `TYPE`."},
			{"6.0.0", "Field `user`."},
			{"6.2.0", "Fields `argv-mem`, `tot-mem`, `laddr`, `redir`; filter `ID`."},
			{"7.0.0", "Fields `resp`, `multi-mem`, `rbs`, `rbp`."},
			{"7.0.3", "Field `ssub`."},
			{"7.2.0", "Fields `lib-name`, `lib-ver`."},
			{"7.4.0", "Field `watch`."},
			{"8.0.0", "Field `io-thread`."},
		},
	},
	{
		Name: "no-evict", Arity: 3, Flags: Admin | session, Group: GroupConnection, Where: Loop,
		Run: cmdClientNoEvict, Since: "7.0.0", Complexity: "O(1)", Syntax: "<ON | OFF>",
		Doc: "Spares the connection when the memory for clients runs out.",
	},
	{
		Name: "no-touch", Arity: 3, Flags: session, Group: GroupConnection, Where: Loop,
		Run: cmdClientNoTouch, Since: "7.2.0", Complexity: "O(1)", Syntax: "<ON | OFF>",
		Doc: "Makes the connection's commands leave no trace in LRU and LFU of keys.",
	},
	{
		Name: "setinfo", Arity: 4, Flags: session, Group: GroupConnection, Where: Loop,
		Run: cmdClientSetinfo, Since: "7.2.0", Complexity: "O(1)",
		Tips:   []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
		Doc:    "Says which library, in which version, the client uses.",
		Syntax: "<LIB-NAME libname | LIB-VER libver>",
	},
	{
		Name: "setname", Arity: 3, Flags: session, Group: GroupConnection, Where: Loop,
		Run: cmdClientSetname, Since: "2.6.9", Complexity: "O(1)",
		Tips:   []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
		Doc:    "Names the connection.",
		Syntax: "connection-name",
	},
}

func cmdClientGetname(c *Call) error {
	if c.Conn.Name == "" {
		c.Reply.Null()
		return nil
	}
	c.Reply.BulkString(c.Conn.Name)
	return nil
}

func cmdClientID(c *Call) error {
	c.Reply.Int(c.Conn.ID)
	return nil
}

func cmdClientNoEvict(c *Call) error { return c.toggle(&c.Conn.NoEvict) }
func cmdClientNoTouch(c *Call) error { return c.toggle(&c.Conn.NoTouch) }

func (c *Call) toggle(flag *bool) error {
	switch {
	case c.Args.Is("ON"):
		*flag = true
	case c.Args.Is("OFF"):
		*flag = false
	default:
		return errSyntax
	}
	c.Conn.Show()
	c.Reply.OK()
	return nil
}

// cmdClientSetinfo quotes the option as the client spelled it: conformance
// connection/client_setinfo.
func cmdClientSetinfo(c *Call) error {
	option := c.Args.At(c.Args.at)
	var field *string
	switch {
	case c.Args.Is("LIB-NAME"):
		field = &c.Conn.LibName
	case c.Args.Is("LIB-VER"):
		field = &c.Conn.LibVer
	default:
		return errInfoOption(option)
	}
	value := c.Args.Next()
	if !printable(value) {
		return errInfoValue(option)
	}
	*field = string(value)
	c.Conn.Show()
	c.Reply.OK()
	return nil
}

func cmdClientSetname(c *Call) error {
	name := c.Args.Next()
	if !printable(name) {
		return errClientName
	}
	c.Conn.Name = string(name)
	c.Conn.Show()
	c.Reply.OK()
	return nil
}

// clientKind is a type of client, as CLIENT LIST TYPE and CLIENT KILL TYPE know them.
type clientKind uint8

const (
	anyKind clientKind = iota
	normalKind
	replicaKind
	pubsubKind
	masterKind
)

// kind reads a type of client. There are only normal ones so far, but clients may ask for all.
func (a *Args) kind() (k clientKind) {
	switch {
	case a.Is("NORMAL"):
		return normalKind
	case a.Is("SLAVE"), a.Is("REPLICA"):
		return replicaKind
	case a.Is("PUBSUB"):
		return pubsubKind
	case a.Is("MASTER"):
		return masterKind
	}
	a.Fail(errClientType(a.Next()))
	return anyKind
}

func (s *Session) kind() clientKind { return normalKind }

func cmdClientInfo(c *Call) error {
	c.Reply.Verbatim("txt", string(append(c.describe(nil, c.Conn), '\n')))
	return nil
}

// cmdClientList has one filter at most, and its first word alone says which; ids are answered in
// the order in which they are asked for, as often as they are.
func cmdClientList(c *Call) error {
	a := &c.Args
	var lines []byte
	kind := anyKind
	switch {
	case a.Left() == 2 && a.Is("TYPE"):
		kind = a.kind()
	case a.Left() > 1 && a.Is("ID"):
		ids, err := a.clientIDs()
		if err != nil {
			return err
		}
		for _, s := range c.clientsByID(ids) {
			lines = append(c.describe(lines, s), '\n')
		}
		c.Reply.Verbatim("txt", string(lines))
		return nil
	case a.More():
		return errSyntax
	}
	if err := a.Err(); err != nil {
		return err
	}

	c.eachClient(func(s *Session) bool {
		if kind == anyKind || kind == s.kind() {
			lines = append(c.describe(lines, s), '\n')
		}
		return true
	})

	c.Reply.Verbatim("txt", string(lines))
	return nil
}

func (a *Args) clientIDs() (ids []int64, err error) {
	for a.More() {
		ids = append(ids, a.Int(errClientID))
	}
	return ids, a.Err()
}

func (c *Call) clientsByID(ids []int64) (found []*Session) {
	byID := make(map[int64]*Session, len(ids))
	for _, id := range ids {
		byID[id] = nil
	}
	c.eachClient(func(s *Session) bool {
		if _, asked := byID[s.ID]; asked {
			byID[s.ID] = s
		}
		return true
	})
	for _, id := range ids {
		if s := byID[id]; s != nil {
			found = append(found, s)
		}
	}
	return found
}

// eachClient calls f for the clients, the caller too, but not for those that have been killed and
// whose loops have not yet heard of it: whoever killed them has an answer, and may rely on it.
func (c *Call) eachClient(f func(*Session) bool) {
	c.Server.Clients.Each(func(s *Session) bool { return s != c.Conn && s.Kill.Load() || f(s) })
}

// describe appends a client's line. Of other clients it sees what they published.
func (c *Call) describe(b []byte, s *Session) []byte {
	shown := s.Shown.Load()
	if shown == nil {
		shown = &Shown{User: defaultUser}
	}
	last, idle, args := s.LastSpec.Load(), (c.Now-s.LastActive.Load())/1e9, 0
	if s == c.Conn {
		last, idle = c.Spec, 0
		for _, w := range c.Args.All() {
			args += len(w)
		}
	}
	command, proto := "NULL", int64(2)
	if last != nil {
		command = last.full
	}
	if shown.Resp3 {
		proto = 3
	}
	query, pending := s.Query.Load(), s.Pending.Load()

	b = appendField(b, "id", s.ID)
	b = append(b, " addr="+s.Addr+" laddr="+s.LocalAddr...)
	b = appendField(b, " fd", int64(s.FD))
	b = append(b, " name="+shown.Name...)
	b = appendField(b, " age", max(0, c.Now-s.Created)/1e9)
	b = appendField(b, " idle", max(0, idle))
	b = append(b, " flags="+s.letters(shown)...)
	b = appendField(b, " db", int64(shown.DB))
	b = append(b, " sub=0 psub=0 ssub=0 multi=-1 watch=0"...)
	b = appendField(b, " qbuf", query)
	b = append(b, " qbuf-free=0"...)
	b = appendField(b, " argv-mem", int64(args))
	b = append(b, " multi-mem=0 rbs=0 rbp=0 obl=0 oll=0"...)
	b = appendField(b, " omem", pending)
	b = appendField(b, " tot-mem", query+pending+int64(args))
	b = append(b, " events=r cmd="+command+" user="+shown.User+" redir=-1"...)
	b = appendField(b, " resp", proto)
	return append(b, " lib-name="+shown.LibName+" lib-ver="+shown.LibVer+" io-thread=0"...)
}

func appendField(b []byte, name string, n int64) []byte {
	return strconv.AppendInt(append(append(b, name...), '='), n, 10)
}

// letters are the flags of a client, in Redis's order; N where there is none.
func (s *Session) letters(shown *Shown) string {
	var b strings.Builder
	if s.Unix {
		b.WriteByte('U')
	}
	if shown.NoEvict {
		b.WriteByte('e')
	}
	if shown.NoTouch {
		b.WriteByte('T')
	}
	if b.Len() == 0 {
		return "N"
	}
	return b.String()
}
