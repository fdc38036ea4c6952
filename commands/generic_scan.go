package commands

import (
	"bytes"
	"math"
	"strconv"

	"kiln/actors/keyspace"
	"kiln/wire/resp"
)

// What SCAN does on an event loop is bounded by these, and by the keys' lengths.
const (
	quickScanMax    = 1000     // keys, some 100 us
	quickPatternMax = 64 << 10 // bytes of pattern times keys: a bad one is matched elsewhere
)

// scanSlice is how many keys are scanned at most before others have a turn: about 20 us.
const scanSlice = 256

// cmdScan gives a cursor and keys. NB: it deletes no expired key, which would have to be journaled
// while the partition is still entered; sweeping finds them.
func cmdScan(c *Call) error {
	cursor, ok := parseCursor(c.Args.Next())
	if !ok {
		return errBadCursor
	}
	var o scanOptions
	if err := o.parse(&c.Args); err != nil {
		return err
	}
	if c.Quick && (o.count > quickScanMax || o.count*int64(len(o.pattern)) > quickPatternMax) {
		return ErrElsewhere
	}

	var keys resp.Writer // apart, for the cursor comes first and is known last
	n := 0
	next, err := c.scan(cursor, o.count, func(s *keyspace.Space, e keyspace.Entry) {
		if o.takes(s, e) {
			keys.Bulk(e.Key())
			keys.Seal()
			n++
		}
	})
	if err != nil {
		return err
	}

	var digits [20]byte
	c.Reply.Array(2)
	c.Reply.Bulk(strconv.AppendUint(digits[:0], next, 10))
	c.Reply.Array(n)
	for _, chunk := range keys.Chunks() {
		c.Reply.RawN(chunk, 0)
		c.Reply.Seal()
	}
	c.Reply.RawN(nil, n)
	return nil
}

// parseCursor takes what Redis takes, which gives what is no canonical number to strtoull: blanks
// before it, a sign, zeros, and anything behind a NUL (conformance generic/scan_errors).
func parseCursor(w []byte) (cursor uint64, ok bool) {
	if n, ok := resp.ParseInt(w); ok {
		return uint64(n), n >= 0
	}
	if i := bytes.IndexByte(w, 0); i >= 0 {
		w = w[:i]
	}
	w = bytes.TrimLeft(w, " \t\n\v\f\r")
	negative := len(w) > 0 && w[0] == '-'
	if negative || len(w) > 0 && w[0] == '+' {
		w = w[1:]
	}
	for _, c := range w {
		d := uint64(c - '0')
		if d > 9 || cursor > (math.MaxUint64-d)/10 {
			return 0, false
		}
		cursor = cursor*10 + d
	}
	if negative {
		cursor = -cursor
	}
	return cursor, len(w) > 0
}

// scanOptions are SCAN's.
type scanOptions struct {
	pattern []byte // nil for all
	count   int64
	typed   bool
	kind    keyspace.Type
}

func (o *scanOptions) parse(a *Args) error {
	o.count = 10
	for a.More() {
		switch {
		case a.Left() > 1 && a.Is("COUNT"):
			if o.count = a.Int(); a.Err() == nil && o.count < 1 {
				a.Fail(errSyntax)
			}
		case a.Left() > 1 && a.Is("MATCH"):
			// A lone * also matches the empty key, which globMatch would not.
			if o.pattern = a.Next(); string(o.pattern) == "*" {
				o.pattern = nil
			}
		case a.Left() > 1 && a.Is("TYPE"):
			o.typed, o.kind = true, typeNamed(a.Next())
		case a.Is("NOVALUES"):
			a.Fail(errNoValues)
		default:
			a.Fail(errSyntax)
		}
	}
	return a.Err()
}

// typeNamed finds a type by its name, in any case. None, which no key has, stands for a name that
// Redis does not know: it is no error.
func typeNamed(name []byte) keyspace.Type {
	for t := keyspace.String; t <= keyspace.Stream; t++ {
		if sameName(name, t.String()) {
			return t
		}
	}
	return keyspace.None
}

// takes counts a hit for each key whose type it looks at, as Redis does: conformance
// server/info_scan_hits.
func (o *scanOptions) takes(s *keyspace.Space, e keyspace.Entry) bool {
	if o.pattern != nil && !globMatch(o.pattern, e.Key(), false) {
		return false
	}
	if o.typed {
		s.Counters.Hits++
		return e.Type() == o.kind
	}
	return true
}

// The cursor of a whole database: which partition, in the lowest bits, and where in it.
//
//	63        53 52               10 9         0
//	+-----------+-------------------+-----------+
//	|     0     |  keyspace's own   | partition |
//	+-----------+-------------------+-----------+
const (
	cursorPartition = 10 // bits
	cursorOwn       = keyspace.CursorBits
)

// scan visits the live keys from a cursor on, until at least count keys were seen, expired ones
// included, or a partition proved sparse; it gives the next cursor, 0 at the end. Any number is
// good for a cursor: one that is not ours may only skip keys or give some again.
//
// A key that is there all through a scan is given at least once. For within a partition the
// keyspace promises that, partitions come in order, and one is passed over only while empty.
func (c *Call) scan(cursor uint64, count int64, visit func(*keyspace.Space, keyspace.Entry),
) (uint64, error) {
	p := c.inhabited(int(cursor & (1<<cursorPartition - 1)))
	at := uint64(0)
	if p == int(cursor&(1<<cursorPartition-1)) {
		at = cursor >> cursorPartition & (1<<cursorOwn - 1)
	}
	for sparse := count / scanSlice; p < c.Shards.Count() && count > 0 && sparse >= 0; {
		s, err := c.Shards.Enter(p, c.DB)
		if err != nil {
			return 0, err
		}
		seen, slice := int64(0), min(count, scanSlice)
		at = s.Scan(at, int(slice), func(e keyspace.Entry) {
			seen++
			if !e.Expired(c.Now) {
				visit(s, e)
			}
		})
		c.Shards.Leave()
		count -= seen
		if at == 0 {
			p = c.inhabited(p + 1)
		} else if seen < slice {
			sparse-- // Many empty buckets were visited: that is work, too.
		}
	}
	if p >= c.Shards.Count() {
		return 0, nil
	}
	return at<<cursorPartition | uint64(p), nil
}

// inhabited gives the first partition from p on that has keys in the call's database.
func (c *Call) inhabited(p int) int {
	for p < c.Shards.Count() && c.Shards.Peek(p, c.DB).Len() == 0 {
		p++
	}
	return p
}

// cmdKeys lists keys by pattern. It looks up a name without wildcards.
func cmdKeys(c *Call) error {
	pattern := c.Args.Next()
	if bytes.IndexAny(pattern, `*?[\`) < 0 {
		return c.keysNamed(pattern)
	}
	if c.Quick {
		return ErrElsewhere
	}

	all := string(pattern) == "*" // It also matches the empty key, which globMatch would not.
	n := 0
	list := c.Reply.DeferArray()
	err := c.eachKey(func(key []byte, _ keyspace.Entry) {
		if all || globMatch(pattern, key, false) {
			c.Reply.Bulk(key)
			n++
		}
	})
	if err != nil {
		return err
	}
	c.Reply.End(list, n)
	return nil
}

// keysNamed is KEYS of one name. It asks the space itself, since a lookup would delete an expired
// key: see cmdScan.
func (c *Call) keysNamed(key []byte) error {
	h := c.hash(key)
	s, err := c.Shards.SpaceOf(c.DB, key, h)
	if err != nil {
		return err
	}
	e := s.Find(key, h)
	live := e.Exists() && !e.Expired(c.Now)
	c.Shards.Leave()

	if !live {
		c.Reply.Array(0)
		return nil
	}
	c.Reply.Array(1)
	c.Reply.Bulk(key)
	return nil
}

// randomTries is how often RANDOMKEY draws again where it drew a key that has expired.
const randomTries = 100

// cmdRandomkey draws a partition, each as likely as it has many keys, and in it a key.
func cmdRandomkey(c *Call) error {
	for range randomTries {
		p, ok := c.randomPartition()
		if !ok {
			c.Reply.Null()
			return nil
		}
		s, err := c.Shards.Enter(p, c.DB)
		if err != nil {
			return err
		}
		e := s.Random()
		found := e.Exists() && !e.Expired(c.Now)
		if found {
			c.Reply.Bulk(e.Key())
		}
		c.Shards.Leave()
		if found {
			return nil
		}
	}
	return c.replyAnyKey()
}

// randomPartition draws a partition that has keys; there may be none.
func (c *Call) randomPartition() (p int, ok bool) {
	total := 0
	for p := range c.Shards.Count() {
		total += c.Shards.Peek(p, c.DB).Len()
	}
	if total == 0 {
		return 0, false
	}
	left := int(c.roll() % uint64(total))
	for p := range c.Shards.Count() {
		n := c.Shards.Peek(p, c.DB).Len()
		if left < n {
			return p, true
		}
		left -= n
	}
	return c.inhabited(0) % c.Shards.Count(), true // Keys went while they were counted.
}

// replyAnyKey is RANDOMKEY where nearly all keys have expired and are not swept yet: it looks at
// all of them for one that is live.
func (c *Call) replyAnyKey() error {
	if c.Quick {
		return ErrElsewhere
	}
	found := false
	for cursor, ended := uint64(0), false; !ended && !found; ended = cursor == 0 {
		var err error
		cursor, err = c.scan(cursor, scanSlice, func(_ *keyspace.Space, e keyspace.Entry) {
			if !found {
				found = true
				c.Reply.Bulk(e.Key())
			}
		})
		if err != nil {
			return err
		}
	}
	if !found {
		c.Reply.Null()
	}
	return nil
}

// roll is xorshift64* (Vigna, 2016). The dice are the call's, which runs many commands.
func (c *Call) roll() uint64 {
	if c.dice == 0 {
		c.dice = c.Server.Seed ^ uint64(c.Now) | 1
	}
	c.dice ^= c.dice >> 12
	c.dice ^= c.dice << 25
	c.dice ^= c.dice >> 27
	return c.dice * 0x2545f4914f6cdd1d
}
