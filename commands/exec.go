package commands

import (
	"fmt"
	"runtime/debug"

	"kiln/wire/resp"
)

// Check applies the preconditions that all commands share, in Redis's order, which clients can
// observe: an unknown command and a wrong number of arguments are told even to strangers. It does
// not run anything.
func Check(spec *Spec, conn *Session, argv [][]byte) error {
	if !spec.fits(len(argv)) {
		return errArity(spec.full)
	}
	if spec.Flags&ProtectedFlag != 0 && !conn.permitted(spec) {
		return errProtected(spec.container().Name)
	}
	if !conn.Authenticated && spec.Flags&NoAuth == 0 && conn.Stranger() {
		return errNoAuth
	}
	return nil
}

// fits tells whether a command line may have so many words.
func (s *Spec) fits(words int) bool {
	return words == s.Arity || s.Arity < 0 && words >= -s.Arity
}

// Resolve finds the row for a command line: of a container, the subcommand's. A container alone
// is a row of its own, whose arity then is not met, except COMMAND's.
func Resolve(argv [][]byte) (*Spec, error) { return table.resolve(argv) }

func (t *Table) resolve(argv [][]byte) (*Spec, error) {
	spec := t.lookup(argv[0])
	if spec == nil {
		return nil, errUnknown(argv)
	}
	if spec.Subs == nil || len(argv) < 2 {
		return spec, nil
	}
	if sub := spec.sub(argv[1]); sub != nil {
		return sub, nil
	}
	return nil, errUnknownSub(argv[0], argv[1])
}

// Reset readies a call for its next execution; what all executions share stays.
func (c *Call) Reset(spec *Spec, argv [][]byte) {
	c.Spec = spec
	c.Args = Args{argv: argv, at: 1}
	if spec.parent != nil {
		c.Args.at = 2
	}
	c.nextKey, c.dirty, c.own = 0, 0, 0
}

// Exec runs a call and writes exactly one reply. The error is nil, or ErrElsewhere: then nothing
// was done or written, and the call has to run off the event loop.
func Exec(c *Call) (err error) {
	mark := c.Reply.Begin()
	before := c.dirty
	defer func() {
		if r := recover(); r != nil {
			c.panicked(r, mark, before)
		}
	}()
	err = c.Spec.Run(c)
	if err == nil && c.Reply.Owed() == 0 {
		c.finish()
		return nil
	}
	return c.failed(err, mark, before)
}

// finish hands the effects over. Under -tags invariants it also spoils the arguments, so that
// whoever kept them uncopied is found out.
func (c *Call) finish() {
	if c.dirty > 0 || c.own > 0 || len(c.Effects.list) > 0 {
		c.commit()
	}
	if invariants {
		scribble(c)
	}
}

// failed replies an error: the handler's, or that it did not keep to one reply.
func (c *Call) failed(err error, mark resp.Mark, before int) error {
	if err == nil {
		owed := c.Reply.Owed()
		c.Reply.Rewind(mark)
		c.replyError(errInternal)
		c.Server.bug(c.Spec.full, fmt.Sprintf("reply is off by %d", owed))
		c.finish()
		return nil
	}
	c.Reply.Rewind(mark)
	if err == ErrElsewhere {
		if c.dirty != before {
			panic("commands: " + c.Spec.full + " left for elsewhere after a write")
		}
		c.commitExpired()
		c.Reset(c.Spec, c.Args.argv)
		return err
	}
	if c.dirty != before && invariants {
		panic("commands: " + c.Spec.full + " failed after a write: " + err.Error())
	}
	c.replyError(err)
	c.own, c.dirty = 0, 0
	c.finish()
	return nil
}

// commitExpired journals keys that a call found expired before it gave up.
func (c *Call) commitExpired() {
	if len(c.Effects.list) > 0 {
		c.commit()
	}
}

func (c *Call) replyError(err error) {
	e, ok := err.(resp.Error)
	if !ok {
		e = errOther(err)
	}
	c.Server.Stats.CountError(e)
	c.Reply.Error(e)
}

// panicked costs the request an error if nothing was written yet; else the process ends, since a
// half-applied write is worse than a restart.
func (c *Call) panicked(r any, mark resp.Mark, before int) {
	if c.dirty != before || c.Spec.Flags&Write != 0 && c.own > 0 {
		panic(r)
	}
	c.Server.Stats.Panics.Add(1)
	c.Server.bug(c.Spec.full, fmt.Sprintf("%v\n%s", r, debug.Stack()))
	c.Reply.Rewind(mark)
	c.replyError(errInternal)
	c.forgetEffects()
}

// bug reports a fault of ours: to the log, and in tests fatally.
func (s *Server) bug(command, what string) {
	if s.OnBug != nil {
		s.OnBug(command, what)
	}
}
