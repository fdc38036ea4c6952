package keyspace

import (
	"strconv"

	"kiln/actors/keyspace/arena"
)

// A record, as it lies in the arena:
//
//	0  header: one word
//	8  key length, value length: 4 bytes each, only if the header says long
//	8  deadline, place in the expiry heap: 8 bytes each, only if the header says so
//	   key
//	   value: the bytes; or an int64; or for a big one: address, length and capacity of a block
//
// The header, from its lowest bit:
//
//	type 4 | encoding 4 | flags 8 | access clock 24 | key length 8 | value length 16
const (
	typeMask  = 0xf
	encShift  = 4
	encMask   = 0xf
	flagLong  = 1 << 8
	flagTimed = 1 << 9

	clockShift  = 16
	clockMask   = 1<<24 - 1
	keyShift    = 40
	valueShift  = 48
	keptMask    = typeMask | encMask<<encShift | clockMask<<clockShift // what a copy keeps
	headerBytes = 8
	longBytes   = 8
	timedBytes  = 16

	shortKeyMax   = 1<<8 - 1
	shortValueMax = 1<<16 - 1

	// A string longer than this lies in a block of its own, which has spare room to grow.
	inlineMax = 4 << 10
	bigBytes  = 24
)

// Type is what a key holds.
type Type uint8

// The types, in Redis's order. None is what a key that does not exist has.
const (
	None Type = iota
	String
	List
	Set
	ZSet
	Hash
	Stream
)

var typeNames = [...]string{"none", "string", "list", "set", "zset", "hash", "stream"}

// String is the type's name as TYPE replies it.
func (t Type) String() string { return typeNames[t] }

// Encoding is how a value is stored.
type Encoding uint8

// The encodings of a string.
const (
	EncEmbedded Encoding = iota // short bytes, never changed in place
	EncInt                      // a canonical int64
	EncRaw                      // bytes
	EncBig                      // bytes in a block of their own
)

// embeddedMax is the longest string that Redis keeps in one allocation with its object.
const embeddedMax = 44

// Entry is a record that was found, with its slot in the table. The zero Entry is "not there".
type Entry struct {
	rec  arena.Addr
	slot arena.Addr
}

// Exists reports whether there is a record.
func (e Entry) Exists() bool { return e.rec != 0 }

func (e Entry) header() uint64 { return arena.Load(e.rec) }

// Type gives the record's type, None for the zero Entry.
func (e Entry) Type() Type {
	if e.rec == 0 {
		return None
	}
	return Type(e.header() & typeMask)
}

// Encoding tells how the value is stored.
func (e Entry) Encoding() Encoding { return encoding(e.header()) }

func encoding(h uint64) Encoding { return Encoding(h >> encShift & encMask) }

// EncodingName is what OBJECT ENCODING replies.
func (e Entry) EncodingName() string {
	switch e.Encoding() {
	case EncInt:
		return "int"
	case EncEmbedded:
		return "embstr"
	default:
		return "raw"
	}
}

// lengths gives the bytes of key and value area, and where the key starts.
func lengths(rec arena.Addr, h uint64) (key, value, start int) {
	start = headerBytes
	if h&flagLong != 0 {
		w := arena.Load(rec + headerBytes)
		key, value = int(w&0xffffffff), int(w>>32)
		start += longBytes
	} else {
		key, value = int(h>>keyShift&shortKeyMax), int(h>>valueShift)
	}
	if h&flagTimed != 0 {
		start += timedBytes
	}
	return key, value, start
}

// Key gives the key's bytes, which are the record's.
func (e Entry) Key() []byte {
	key, _, start := lengths(e.rec, e.header())
	return arena.Bytes(e.rec+arena.Addr(start), key)
}

// value gives the value area.
func (e Entry) value() (at arena.Addr, n int) {
	key, value, start := lengths(e.rec, e.header())
	return e.rec + arena.Addr(start+key), value
}

// Deadline is when the record expires.
func (e Entry) Deadline() Deadline {
	h := e.header()
	if h&flagTimed == 0 {
		return 0
	}
	return Deadline(arena.Load(e.timed(h)))
}

// timed gives the address of deadline and heap place. REQUIRES: the header says timed.
func (e Entry) timed(h uint64) arena.Addr {
	if h&flagLong != 0 {
		return e.rec + headerBytes + longBytes
	}
	return e.rec + headerBytes
}

// Scratch is room for an integer's digits.
type Scratch [24]byte

// Bytes gives a string's bytes: the record's own, to be read only and not kept, or an integer's
// digits in the scratch. REQUIRES: the type is String.
func (e Entry) Bytes(scratch *Scratch) []byte {
	h := e.header()
	key, n, start := lengths(e.rec, h)
	at := e.rec + arena.Addr(start+key)
	switch encoding(h) {
	case EncInt:
		return strconv.AppendInt(scratch[:0], int64(arena.Load(at)), 10)
	case EncBig:
		return arena.Bytes(arena.Addr(arena.Load(at)), int(arena.Load(at+8)))
	default:
		return arena.Bytes(at, n)
	}
}

// Int gives the value of a string that is stored as an integer.
func (e Entry) Int() (n int64, ok bool) {
	h := e.header()
	if encoding(h) != EncInt {
		return 0, false
	}
	key, _, start := lengths(e.rec, h)
	return int64(arena.Load(e.rec + arena.Addr(start+key))), true
}

// Len is a string's length in bytes. REQUIRES: the type is String.
func (e Entry) Len() int {
	h := e.header()
	switch encoding(h) {
	case EncInt:
		var scratch Scratch
		return len(e.Bytes(&scratch))
	case EncBig:
		at, _ := e.value()
		return int(arena.Load(at + 8))
	default:
		_, n, _ := lengths(e.rec, h)
		return n
	}
}

// Large reports whether a string is longer than n bytes, which is above [inlineMax].
func (e Entry) Large(n int) bool {
	h := e.header()
	return encoding(h) == EncBig && h&typeMask == uint64(String) && e.Len() > n
}
