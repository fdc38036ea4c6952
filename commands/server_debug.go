package commands

import (
	"bytes"
	"fmt"
	"strconv"

	"kiln/actors/keyspace"
	"kiln/wire/resp"
)

// debugCommands are no rows of the table, since Redis's COMMAND knows DEBUG as one command. Of
// their fields only these count; the arity is DEBUG's with this subcommand.
var debugCommands = []Spec{
	{Name: "help", Arity: 2, Doc: "Prints this help."},
	{
		Name: "object", Arity: 3, Run: cmdDebugObject, Syntax: "<key>",
		Doc: "Tells how a key is stored.",
	},
	{
		Name: "populate", Arity: -3, Run: cmdDebugPopulate, Syntax: "<count> [<prefix>] [<size>]",
		Doc: "Makes strings <prefix>:0, <prefix>:1, ... (key:0, ...) where they are not there yet.",
	},
	{
		Name: "set-active-expire", Arity: 3, Run: cmdDebugSetActiveExpire, Syntax: "<0|1>",
		Doc: "With 0, leaves expired keys where they are until someone asks for them.",
	},
	{
		Name: "sleep", Arity: 3, Run: cmdDebugSleep, Syntax: "<seconds>",
		Doc: "Answers after some time, with decimals; others are served meanwhile.",
	},
}

// cmdDebug has one text for what is unknown and for what has the wrong number of arguments.
func cmdDebug(c *Call) error {
	name := c.Args.Next()
	for i := range debugCommands {
		sub := &debugCommands[i]
		n := c.Args.Len()
		if !sameName(name, sub.Name) || !sub.fits(n) {
			continue
		}
		if sub.Run != nil {
			return sub.Run(c)
		}
		replyHelp(c.Reply, c.Spec, debugCommands)
		return nil
	}
	return errDebug(name)
}

// cmdDebugObject shows where the key's bytes are, which is as near as there is to Redis's address
// of a value. serializedlength is what RDB takes without compression.
func cmdDebugObject(c *Call) error {
	var line string
	err := c.inspect(c.Args.Next(), func(s *keyspace.Space, e keyspace.Entry) {
		if !e.Exists() {
			return
		}
		idle := s.Idle(e, c.Now)
		line = fmt.Sprintf("Value at:%p refcount:%d encoding:%s serializedlength:%d lru:%d "+
			"lru_seconds_idle:%d", e.Key(), c.refcount(e), e.EncodingName(), serializedLength(e),
			lruClock(c.Now-idle*1e9), idle)
	})
	if err != nil {
		return err
	}
	if line == "" {
		return errNoKey
	}

	c.Reply.Simple(line)
	return nil
}

// lruClock is Redis's clock of accesses: seconds, in 24 bits.
func lruClock(now int64) int64 { return now / 1e9 & (1<<24 - 1) }

// serializedLength is the length of a string in RDB: an integer of up to 32 bits in 2, 3 or 5
// bytes, even if it is not stored as one, else the bytes after their length. Of other types it is
// not known.
func serializedLength(e keyspace.Entry) int {
	if e.Type() != keyspace.String {
		return 0
	}
	n, ok := e.Int()
	if !ok && e.Len() <= len("-2147483648") {
		n, ok = resp.ParseInt(e.Bytes(new(keyspace.Scratch)))
	}
	if ok {
		switch {
		case n == int64(int8(n)):
			return 2
		case n == int64(int16(n)):
			return 3
		case n == int64(int32(n)):
			return 5
		}
	}
	switch n := e.Len(); {
	case n < 1<<6:
		return 1 + n
	case n < 1<<14:
		return 2 + n
	default:
		return 5 + n
	}
}

// cmdDebugPopulate cuts values to the size or fills them up with zero bytes:
// conformance server/debug_populate.
func cmdDebugPopulate(c *Call) error {
	if c.Args.Len() > 5 {
		return errDebug(c.Args.At(1))
	}
	count, err := naturalNumber(c.Args.Next())
	if err != nil {
		return err
	}
	prefix, size := []byte("key"), int64(0)
	if c.Args.More() {
		prefix = c.Args.Next()
	}
	if c.Args.More() {
		if size, err = naturalNumber(c.Args.Next()); err != nil {
			return err
		}
		if count > 0 && size > c.Server.Config.BulkMax.Load() {
			return errTooLong
		}
	}

	var key, value []byte
	for i := range count {
		key = strconv.AppendInt(append(append(key[:0], prefix...), ':'), i, 10)
		value = strconv.AppendInt(append(value[:0], "value:"...), i, 10)
		if n := int(size); n > len(value) {
			value = append(value, make([]byte, n-len(value))...)
		} else if n > 0 {
			value = value[:n]
		}
		if err := c.populate(key, value); err != nil {
			return err
		}
	}

	c.Reply.OK()
	return nil
}

func naturalNumber(w []byte) (int64, error) {
	n, ok := resp.ParseInt(w)
	if !ok || n < 0 {
		return 0, errNotPositive
	}
	return n, nil
}

// cmdDebugSetActiveExpire takes what is no number for 0, as C does.
func cmdDebugSetActiveExpire(c *Call) error {
	n, _ := strconv.ParseInt(string(bytes.TrimSpace(c.Args.Next())), 10, 64)

	c.Server.Config.ActiveOff.Store(n == 0)

	c.Reply.OK()
	return nil
}

// cmdDebugSleep takes what is no number for 0, as C does.
func cmdDebugSleep(c *Call) error {
	const longest = 1e9 // seconds
	seconds, err := strconv.ParseFloat(string(c.Args.Next()), 64)

	if err == nil && seconds > 0 {
		c.Server.Process.Sleep(int64(min(seconds, longest) * 1e9))
	}

	c.Reply.OK()
	return nil
}
