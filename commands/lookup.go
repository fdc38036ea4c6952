package commands

import (
	"kiln/actors/keyspace"
)

// quickValueMax is the largest value that a handler works on while it keeps an event loop: about
// 20 us of copying.
const quickValueMax = 128 << 10

// hash gives a key's hash: the router has it already for the keys that it found, and handlers
// mostly ask in that order.
func (c *Call) hash(key []byte) uint64 {
	if len(key) > 0 {
		for i := c.nextKey; i < len(c.Keys); i++ {
			if k := c.Keys[i]; len(k) == len(key) && &k[0] == &key[0] {
				c.nextKey = i
				return c.Hashes[i]
			}
		}
		for i, k := range c.Keys[:c.nextKey] {
			if len(k) == len(key) && &k[0] == &key[0] {
				c.nextKey = i
				return c.Hashes[i]
			}
		}
	}
	return keyspace.HashKey(c.Server.Seed, key)
}

// open gives the space that owns a key, entered; close must follow.
func (c *Call) open(db int, key []byte, h uint64) (*keyspace.Space, error) {
	if c.Space != nil && db == c.DB {
		return c.Space, nil
	}
	return c.Shards.SpaceOf(db, key, h)
}

func (c *Call) close(db int) {
	if c.Space == nil || db != c.DB {
		c.Shards.Leave()
	}
}

// How a lookup treats the access clock and the hit and miss counters.
type lookupMode uint8

const (
	lookupRead    lookupMode = iota // touches, and counts a hit or a miss
	lookupWrite                     // touches
	lookupPeek                      // neither: DEL
	lookupCount                     // counts, but does not touch: EXISTS, TTL, TYPE
	lookupInspect                   // lookupCount without a keymiss event: OBJECT
	lookupTouch                     // lookupRead also for a client with NO-TOUCH: TOUCH
)

func (m lookupMode) touches(noTouch bool) bool {
	switch m {
	case lookupRead, lookupWrite:
		return !noTouch
	case lookupTouch:
		return true
	default:
		return false
	}
}

// find looks a live key up in a space; an expired one is deleted first.
func (c *Call) find(s *keyspace.Space, db int, key []byte, h uint64, mode lookupMode,
) keyspace.Entry {
	e := s.Find(key, h)
	if e.Exists() && e.Expired(c.Now) {
		if !c.Keep {
			c.expire(s, db, key, e)
		}
		e = keyspace.Entry{}
	}
	if mode == lookupPeek {
		return e
	}
	if mode != lookupWrite {
		if e.Exists() {
			s.Counters.Hits++
		} else {
			s.Counters.Misses++
			if mode != lookupInspect {
				c.eventIn(db, ClassMiss, "keymiss", key)
			}
		}
	}
	if e.Exists() && mode.touches(c.Conn.NoTouch) {
		s.Touch(e, c.Now)
	}
	return e
}

// expire deletes a key whose deadline has passed: its effect is a DEL before the command's own.
func (c *Call) expire(s *keyspace.Space, db int, key []byte, e keyspace.Entry) {
	s.Delete(e)
	s.Counters.Expired++
	if l := c.Effects.Listener; l != nil {
		c.addEffect(db, [][]byte{wordDel, key})
		l.Changed(db, key)
		l.Event(ClassExpired, "expired", db, key)
	}
}

var wordDel = []byte("DEL")

// entry looks up a key of any type. In a held call the entry's slot is void on return: give it
// to a lookup that writes only.
func (c *Call) entry(key []byte, mode lookupMode) (keyspace.Entry, error) {
	return c.entryIn(c.DB, key, mode)
}

func (c *Call) entryIn(db int, key []byte, mode lookupMode) (keyspace.Entry, error) {
	h := c.hash(key)
	s, err := c.open(db, key, h)
	if err != nil {
		return keyspace.Entry{}, err
	}
	e := c.find(s, db, key, h, mode)
	c.close(db)
	return e, nil
}

// str looks up a string to read it; the zero Entry if there is none.
func (c *Call) str(key []byte) (keyspace.Entry, error) { return c.typed(key, lookupRead) }

// strForWrite looks up a string to change it; the zero Entry if there is none.
func (c *Call) strForWrite(key []byte) (keyspace.Entry, error) { return c.typed(key, lookupWrite) }

func (c *Call) typed(key []byte, mode lookupMode) (keyspace.Entry, error) {
	e, err := c.entry(key, mode)
	if err != nil || !e.Exists() {
		return e, err
	}
	if e.Type() != keyspace.String {
		return keyspace.Entry{}, errWrongType
	}
	if c.Quick && e.Large(quickValueMax) && c.Spec.Flags&SlowBySize != 0 {
		return keyspace.Entry{}, ErrElsewhere
	}
	return e, nil
}

// again gives the entry to write to: the one found, or, where the partition was left meanwhile,
// the key looked up anew. Nobody else touched it: it is held.
func (c *Call) again(s *keyspace.Space, key []byte, h uint64, e keyspace.Entry) keyspace.Entry {
	if c.Held {
		return s.Find(key, h)
	}
	return e
}

// put stores a string under a key; e is what a lookup of it gave.
func (c *Call) put(e keyspace.Entry, key, value []byte, deadline keyspace.Deadline) error {
	return c.putIn(c.DB, e, key, value, deadline)
}

func (c *Call) putIn(db int, e keyspace.Entry, key, value []byte, deadline keyspace.Deadline,
) error {
	h := c.hash(key)
	s, err := c.open(db, key, h)
	if err != nil {
		return err
	}
	e = c.again(s, key, h, e)
	c.announce(db, e, key, keyspace.String)
	s.SetString(e, key, h, value, deadline, c.Now)
	c.close(db)
	c.changed(db, key)
	return nil
}

// putText is put for digits that stay a string: what INCRBYFLOAT makes is no int.
func (c *Call) putText(e keyspace.Entry, key, value []byte, deadline keyspace.Deadline) error {
	h := c.hash(key)
	s, err := c.open(c.DB, key, h)
	if err != nil {
		return err
	}
	e = c.again(s, key, h, e)
	c.announce(c.DB, e, key, keyspace.String)
	s.SetText(e, key, h, value, deadline, c.Now)
	c.close(c.DB)
	c.changed(c.DB, key)
	return nil
}

// putInt stores an integer under a key; e is what a lookup of it gave.
func (c *Call) putInt(e keyspace.Entry, key []byte, n int64, deadline keyspace.Deadline) error {
	h := c.hash(key)
	s, err := c.open(c.DB, key, h)
	if err != nil {
		return err
	}
	e = c.again(s, key, h, e)
	c.announce(c.DB, e, key, keyspace.String)
	s.SetInt(e, key, h, n, deadline, c.Now)
	c.close(c.DB)
	c.changed(c.DB, key)
	return nil
}

// announce states that a key is new, or that its value or type is replaced.
func (c *Call) announce(db int, e keyspace.Entry, key []byte, t keyspace.Type) {
	if c.Effects.Listener == nil {
		return
	}
	if !e.Exists() {
		c.eventIn(db, ClassNew, "new", key)
	}
	_ = t
}

// grow makes a string at least n bytes long, new bytes zero, and lets edit change its bytes; a
// key that is not there begins empty.
func (c *Call) grow(e keyspace.Entry, key []byte, n int, edit func(b []byte)) error {
	h := c.hash(key)
	s, err := c.open(c.DB, key, h)
	if err != nil {
		return err
	}
	e = c.again(s, key, h, e)
	c.announce(c.DB, e, key, keyspace.String)
	if !e.Exists() {
		e = s.SetString(e, key, h, nil, 0, c.Now)
	}
	_, b := s.Grow(e, max(n, e.Len()), c.Now)
	edit(b)
	c.close(c.DB)
	c.changed(c.DB, key)
	return nil
}

// drop deletes a key; e is what a lookup of it gave, and exists.
func (c *Call) drop(e keyspace.Entry, key []byte) error { return c.dropIn(c.DB, e, key) }

func (c *Call) dropIn(db int, e keyspace.Entry, key []byte) error {
	h := c.hash(key)
	s, err := c.open(db, key, h)
	if err != nil {
		return err
	}
	s.Delete(c.again(s, key, h, e))
	c.close(db)
	c.changed(db, key)
	return nil
}

// setDeadline changes when a key expires, 0 for never; e is what a lookup of it gave, and exists.
func (c *Call) setDeadline(e keyspace.Entry, key []byte, deadline keyspace.Deadline) error {
	h := c.hash(key)
	s, err := c.open(c.DB, key, h)
	if err != nil {
		return err
	}
	s.SetDeadline(c.again(s, key, h, e), deadline)
	c.close(c.DB)
	c.changed(c.DB, key)
	return nil
}

// copyTo copies the value under key to another key, in the same or another database, deadline
// included. REQUIRES: the source exists and the target does not (it was dropped).
func (c *Call) copyTo(key []byte, db int, target []byte) error {
	return c.transfer(key, db, target, false)
}

// moveTo is copyTo, after which the source is gone.
func (c *Call) moveTo(key []byte, db int, target []byte) error {
	return c.transfer(key, db, target, true)
}

func (c *Call) transfer(key []byte, db int, target []byte, move bool) error {
	from, h := c.hash(key), c.hash(target)
	s, err := c.open(c.DB, key, from)
	if err != nil {
		return err
	}
	e := s.Find(key, from)
	if c.Held {
		// Two partitions are never entered at once. The record stays where it is: it is held.
		c.close(c.DB)
	}
	to, err := c.open(db, target, h)
	if err != nil {
		return err
	}
	c.announce(db, keyspace.Entry{}, target, e.Type())
	s.Copy(e, to, target)
	c.close(db)
	c.changed(db, target)
	if !move {
		return nil
	}
	if c.Held {
		if s, err = c.open(c.DB, key, from); err != nil {
			return err
		}
	}
	s.Delete(s.Find(key, from))
	if c.Held {
		c.close(c.DB)
	}
	c.changed(c.DB, key)
	return nil
}

// eachKey visits the live keys of the call's database, one partition after another, a slice at a
// time: others are served in between. The key and entry are valid during the visit.
func (c *Call) eachKey(visit func(key []byte, e keyspace.Entry)) error {
	const slice = 256 // keys, about 20 us
	if c.Quick {
		return ErrElsewhere
	}
	for p := range c.Shards.Count() {
		for cursor := uint64(0); ; {
			s, err := c.Shards.Enter(p, c.DB)
			if err != nil {
				return err
			}
			cursor = s.Scan(cursor, slice, func(e keyspace.Entry) {
				if !e.Expired(c.Now) {
					visit(e.Key(), e)
				}
			})
			c.Shards.Leave()
			c.Reply.Seal()
			if cursor == 0 {
				break
			}
		}
	}
	return nil
}

// memoryOf gives the bytes that a key takes, 0 if it is not there.
func (c *Call) memoryOf(key []byte) (n int, err error) {
	err = c.inspect(key, func(s *keyspace.Space, e keyspace.Entry) {
		if e.Exists() {
			n = s.Memory(e)
		}
	})
	return n, err
}

// inspect looks a key up, and not more than that, while its space is entered. The entry may not
// be there; it is valid during the visit.
func (c *Call) inspect(key []byte, visit func(*keyspace.Space, keyspace.Entry)) error {
	return c.inspectAs(key, lookupPeek, visit)
}

func (c *Call) inspectAs(key []byte, mode lookupMode,
	visit func(*keyspace.Space, keyspace.Entry),
) error {
	h := c.hash(key)
	s, err := c.open(c.DB, key, h)
	if err != nil {
		return err
	}
	visit(s, c.find(s, c.DB, key, h, mode))
	c.close(c.DB)
	return nil
}

// populate sets a key that is not there, and hands its effect over while the partition is still
// entered: the call goes on to other keys, and holds none.
func (c *Call) populate(key, value []byte) error {
	h := c.hash(key)
	s, err := c.open(c.DB, key, h)
	if err != nil {
		return err
	}
	defer c.close(c.DB)
	if e := c.find(s, c.DB, key, h, lookupPeek); !e.Exists() {
		c.announce(c.DB, e, key, keyspace.String)
		s.SetString(e, key, h, value, 0, c.Now)
		c.changed(c.DB, key)
		c.journalSet(key, value, 0)
	}
	c.commit()
	return nil
}
