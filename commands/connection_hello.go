package commands

import "bytes"

// hello are HELLO's options.
type hello struct {
	proto          int64 // 0: as it is
	user, password []byte
	auth           bool
	name           []byte
	named          bool
}

// cmdHello changes nothing until all its options are found good; but a password is taken before
// the name, as Redis does.
func cmdHello(c *Call) error {
	var o hello
	if err := o.parse(&c.Args); err != nil {
		return err
	}

	if o.auth {
		if err := c.authenticate(o.user, o.password); err != nil {
			return err
		}
	}
	if !c.Conn.Authenticated {
		return errNoAuthHello
	}
	if o.named {
		c.Conn.Name = string(o.name)
	}
	if o.proto != 0 {
		c.Conn.Resp3 = o.proto == 3
		c.Reply.Resp3 = c.Conn.Resp3
	}
	c.Conn.Show()

	c.replyHello()
	return nil
}

func (o *hello) parse(a *Args) error {
	if !a.More() {
		return nil
	}
	o.proto = a.Int(errProtoNotInt)
	if err := a.Err(); err != nil {
		return err
	}
	if o.proto < 2 || o.proto > 3 {
		return errNoProto
	}
	for a.More() {
		switch {
		case a.Left() > 2 && a.Is("AUTH"):
			o.user, o.password, o.auth = a.Next(), a.Next(), true
		case a.Left() > 1 && a.Is("SETNAME"):
			o.name, o.named = a.Next(), true
			if !printable(o.name) {
				return errClientName
			}
		default:
			return errHelloOption(a.Next())
		}
	}
	return a.Err()
}

func (c *Call) replyHello() {
	proto := int64(2)
	if c.Conn.Resp3 {
		proto = 3
	}
	w := c.Reply
	w.Map(7)
	w.BulkString("server")
	w.BulkString("redis") // Clients look for nothing else.
	w.BulkString("version")
	w.BulkString(RedisVersion)
	w.BulkString("proto")
	w.Int(proto)
	w.BulkString("id")
	w.Int(c.Conn.ID)
	w.BulkString("mode")
	w.BulkString("standalone")
	w.BulkString("role")
	w.BulkString("master")
	w.BulkString("modules")
	w.Array(0)
}

// printable tells whether a client may call itself that: what CLIENT LIST prints must stay one
// word. Redis looks no further than to a NUL: conformance connection/client_name.
func printable(word []byte) bool {
	word, _, _ = bytes.Cut(word, []byte{0})
	for _, b := range word {
		if b < '!' || b > '~' {
			return false
		}
	}
	return true
}
