package commands

import (
	"kiln/actors/keyspace"
	"kiln/wire/resp"
)

// Effect is a command as the journal gets it: deterministic, with absolute times.
type Effect struct {
	DB   int
	Args [][]byte // valid during the call
}

// Class is a class of keyspace notifications, as in notify-keyspace-events.
type Class uint32

// The classes that the commands so far belong to.
const (
	ClassGeneric     Class = 1 << iota // g
	ClassString                        // $
	ClassExpired                       // x
	ClassEvicted                       // e
	ClassNew                           // n
	ClassOverwritten                   // o
	ClassTypeChanged                   // c
	ClassMiss                          // m
)

// Listener is told what calls change, while the partitions concerned are still held: so order is
// execution order for each key. Nothing given to it may be kept uncopied.
type Listener interface {
	// Journal gets the effects of one call, which are one indivisible entry.
	Journal(effects []Effect)
	// Changed says that a key was written, deleted or has expired: for watchers and tracking.
	Changed(db int, key []byte)
	// Event is a keyspace notification.
	Event(class Class, event string, db int, key []byte)
	// Ready says that a key now exists on which clients may be blocked.
	Ready(db int, key []byte)
	// Flushed says that a database (-1: each) was emptied or exchanged as a whole.
	Flushed(db int)
}

// Effects collects what one call changes. Its zero value has no listener, and costs one branch.
type Effects struct {
	Listener Listener
	list     []Effect
	words    [][]byte
	kept     []byte // words that are no arguments
}

// Journal declares an effect, where it is not the command as it came: the handler is not
// deterministic, or its times are relative. The words must stay as they are during the call.
func (c *Call) Journal(words ...[]byte) {
	if c.Effects.Listener == nil {
		return
	}
	c.own++
	c.addEffect(c.DB, words)
}

// keep copies a word that is to be given to Journal and is no argument. It is nothing where nobody
// listens, so that a scratch buffer can stay on the stack.
func (c *Call) keep(word []byte) []byte {
	fx := c.Effects
	if fx.Listener == nil {
		return nil
	}
	from := len(fx.kept)
	fx.kept = append(fx.kept, word...)
	return fx.kept[from:]
}

// keepInt is keep for a number.
func (c *Call) keepInt(n int64) []byte {
	var digits keyspace.Scratch
	return c.keep(resp.AppendInt(digits[:0], n))
}

var (
	wordSet       = []byte("SET")
	wordKeepTTL   = []byte("KEEPTTL")
	wordPXAT      = []byte("PXAT")
	wordPexpireAt = []byte("PEXPIREAT")
	wordPersist   = []byte("PERSIST")
)

// journalSet declares that a key was set to a string, with a deadline in absolute time, or with
// the one it has (KeepDeadline).
func (c *Call) journalSet(key, value []byte, deadline keyspace.Deadline) {
	switch deadline {
	case 0:
		c.Journal(wordSet, key, value)
	case keyspace.KeepDeadline:
		c.Journal(wordSet, key, value, wordKeepTTL)
	default:
		c.Journal(wordSet, key, value, wordPXAT, c.keepInt(deadline.Milli()))
	}
}

// JournalNothing declares that the call, though it wrote, has no effect of its own.
func (c *Call) JournalNothing() { c.own++ }

// journalIn is Journal for a database that is not the call's.
func (c *Call) journalIn(db int, words ...[]byte) {
	if c.Effects.Listener == nil {
		return
	}
	c.own++
	c.addEffect(db, words)
}

func (c *Call) addEffect(db int, words [][]byte) {
	from := len(c.Effects.words)
	c.Effects.words = append(c.Effects.words, words...)
	c.Effects.list = append(c.Effects.list, Effect{DB: db, Args: c.Effects.words[from:]})
}

// changed notes a write to a key. All lookups that write call it.
func (c *Call) changed(db int, key []byte) {
	c.dirty++
	if c.Effects.Listener != nil {
		c.Effects.Listener.Changed(db, key)
	}
}

// flushed notes that a database (-1: each) was emptied or exchanged as a whole.
func (c *Call) flushed(db int) {
	c.dirty++
	if c.Effects.Listener != nil {
		c.Effects.Listener.Flushed(db)
	}
}

// Event states a keyspace notification.
func (c *Call) Event(class Class, event string, key []byte) { c.eventIn(c.DB, class, event, key) }

func (c *Call) eventIn(db int, class Class, event string, key []byte) {
	if c.Effects.Listener != nil {
		c.Effects.Listener.Event(class, event, db, key)
	}
}

// commit gives the call's effects to the journal.
func (c *Call) commit() {
	fx := c.Effects
	if fx.Listener == nil {
		return
	}
	if c.own == 0 && c.dirty > 0 && c.Spec.Flags&Write != 0 {
		c.addEffect(c.DB, c.Args.All())
	}
	if len(fx.list) > 0 {
		fx.Listener.Journal(fx.list)
	}
	c.forgetEffects()
}

func (c *Call) forgetEffects() {
	clear(c.Effects.list)
	clear(c.Effects.words)
	c.Effects.list, c.Effects.words = c.Effects.list[:0], c.Effects.words[:0]
	c.Effects.kept = c.Effects.kept[:0]
}
