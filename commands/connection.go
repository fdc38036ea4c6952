package commands

import "crypto/subtle"

var connectionCommands = []Spec{
	{
		Name: "auth", Arity: -2,
		Flags: NoScript | Loading | Stale | Fast | NoAuth | AllowBusy | Sentinel,
		Group: GroupConnection, Where: Loop, Run: cmdAuth, Since: "1.0.0",
		Complexity: "O(N) where N is the number of passwords of the user",
		Doc:        "Says who the client is, with a password to prove it.",
		Syntax:     "[username] password",
		History:    [][2]string{{"6.0.0", "A user's name before the password."}},
	},
	{
		Name: "client", Arity: -2, Flags: Sentinel, Group: GroupConnection, Subs: clientCommands,
		Since: "2.4.0", Complexity: "Depends on subcommand.",
		Doc: "Holds the commands about client connections.",
	},
	{
		Name: "echo", Arity: 2, Flags: Loading | Stale | Fast, Group: GroupConnection,
		Where: Loop, Run: cmdEcho, Since: "1.0.0", Complexity: "O(1)",
		Doc: "Gives back its argument.", Syntax: "message",
	},
	{
		Name: "hello", Arity: -1,
		Flags: NoScript | Loading | Stale | Fast | NoAuth | AllowBusy | Sentinel,
		Group: GroupConnection, Where: Loop, Run: cmdHello, Since: "6.0.0", Complexity: "O(1)",
		Doc:     "Chooses the protocol, and on request authenticates and names the connection.",
		Syntax:  "[protover [AUTH username password] [SETNAME clientname]]",
		History: [][2]string{{"6.2.0", "May be called without a version, just to ask."}},
	},
	{
		Name: "ping", Arity: -1, Flags: Fast | Sentinel, Group: GroupConnection, Where: Loop,
		Run: cmdPing, Since: "1.0.0", Complexity: "O(1)", Syntax: "[message]",
		Tips: []string{"request_policy:all_shards", "response_policy:all_succeeded"},
		Doc:  "Answers, so that a client sees the server live.",
	},
	{
		Name: "quit", Arity: -1, Flags: NoScript | Loading | Stale | Fast | NoAuth | AllowBusy,
		Group: GroupConnection, Where: Loop, Run: cmdQuit, Since: "1.0.0", Complexity: "O(1)",
		Doc:        "Answers, then closes the connection.",
		Deprecated: "7.2.0", ReplacedBy: "just closing the connection",
	},
	{
		Name: "reset", Arity: 1, Flags: NoScript | Loading | Stale | Fast | NoAuth | AllowBusy,
		Group: GroupConnection, Where: Loop, Run: cmdReset, Since: "6.2.0", Complexity: "O(1)",
		Doc: "Makes the connection as good as new.",
	},
	{
		Name: "select", Arity: 2, Flags: Loading | Stale | Fast, Group: GroupConnection,
		Where: Loop, Run: cmdSelect, Since: "1.0.0", Complexity: "O(1)", Syntax: "index",
		Doc: "Switches the connection to another database.",
	},
}

// cmdAuth takes a password, of the default user unless another is named. Only that one exists.
func cmdAuth(c *Call) error {
	if c.Args.Len() > 3 {
		return errSyntax
	}
	if c.Args.Len() == 2 && !c.Server.PasswordSet() {
		return errNoPassword
	}
	user := []byte(defaultUser)
	if c.Args.Len() == 3 {
		user = c.Args.Next()
	}
	password := c.Args.Next()

	if err := c.authenticate(user, password); err != nil {
		return err
	}

	c.Reply.OK()
	return nil
}

// authenticate makes the client known, if it is the default user with the right password: any,
// where none is set. A failure leaves it who it was.
func (c *Call) authenticate(user, password []byte) error {
	want := c.Server.Config.Password.Load()
	if want != nil && *want != "" && !samePassword(*want, password) {
		return errWrongPass
	}
	if string(user) != defaultUser {
		return errWrongPass
	}
	c.Conn.User, c.Conn.Authenticated = defaultUser, true
	c.Conn.Show()
	return nil
}

// samePassword takes a time that tells nothing about where the two differ.
func samePassword(want string, got []byte) bool {
	return subtle.ConstantTimeCompare([]byte(want), got) == 1
}

func cmdEcho(c *Call) error {
	c.Reply.Bulk(c.Args.Next())
	return nil
}

func cmdPing(c *Call) error {
	if c.Args.Left() > 1 {
		return errArity(c.Spec.full)
	}
	if c.Args.Left() == 1 {
		c.Reply.Bulk(c.Args.Next())
		return nil
	}
	c.Reply.Simple("PONG")
	return nil
}

func cmdQuit(c *Call) error {
	c.Conn.Closing = true
	c.Reply.OK()
	return nil
}

// cmdReset keeps what says which program the client is: the library's name and version.
func cmdReset(c *Call) error {
	c.Conn.Begin(c.Server)
	c.Reply.Resp3 = false
	c.Reply.Simple("RESET")
	return nil
}

// cmdSelect tells a number that is no int, which is refused by its own text, from one that is
// just no database: conformance connection/select_errors.
func cmdSelect(c *Call) error {
	index := c.Args.Int()
	if err := c.Args.Err(); err != nil {
		return err
	}
	if index != int64(int32(index)) {
		return errIntRange
	}
	if index < 0 || index >= int64(c.Server.Config.Databases) {
		return errDBRange
	}
	if int(index) != c.Conn.DB {
		c.Conn.DB = int(index)
		c.Conn.Show()
	}
	c.Reply.OK()
	return nil
}
