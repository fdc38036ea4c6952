package commands

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
}
