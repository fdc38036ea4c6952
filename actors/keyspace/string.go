package keyspace

import (
	"encoding/binary"

	"kiln/actors/keyspace/arena"
	"kiln/actors/keyspace/table"
)

func putBig(to *[bigBytes]byte, block arena.Addr, length, room int) {
	binary.NativeEndian.PutUint64(to[0:], uint64(block))
	binary.NativeEndian.PutUint64(to[8:], uint64(length))
	binary.NativeEndian.PutUint64(to[16:], uint64(room))
}

// SetString stores a string under a key. e is what Find gave for the key: a record of any type,
// which is replaced, or none. The deadline may be KeepDeadline.
// A string that is a canonical integer is stored as one.
func (s *Space) SetString(e Entry, key []byte, h uint64, value []byte, deadline Deadline,
	now int64,
) Entry {
	if n, ok := canonicalInt(value); ok {
		var word [8]byte
		binary.NativeEndian.PutUint64(word[:], uint64(n))
		return s.set(e, key, h, EncInt, word[:], deadline, now)
	}
	return s.SetText(e, key, h, value, deadline, now)
}

// SetText is SetString for a string that stays one, be it an integer's digits or not.
func (s *Space) SetText(e Entry, key []byte, h uint64, value []byte, deadline Deadline,
	now int64,
) Entry {
	switch {
	case len(value) <= embeddedMax:
		return s.set(e, key, h, EncEmbedded, value, deadline, now)
	case len(value) <= inlineMax:
		return s.set(e, key, h, EncRaw, value, deadline, now)
	default:
		block := s.arena.Alloc(len(value))
		copy(arena.Bytes(block, len(value)), value)
		var big [bigBytes]byte
		putBig(&big, block, len(value), len(value))
		return s.set(e, key, h, EncBig, big[:], deadline, now)
	}
}

// SetInt stores an integer under a key, like SetString.
func (s *Space) SetInt(e Entry, key []byte, h uint64, n int64, deadline Deadline,
	now int64,
) Entry {
	if e.rec != 0 && deadline == KeepDeadline {
		if hd := e.header(); hd&(typeMask|encMask<<encShift) == uint64(String)|uint64(EncInt)<<encShift {
			at, _ := e.value()
			arena.Store(at, uint64(n))
			s.changes++
			return e
		}
	}
	var word [8]byte
	binary.NativeEndian.PutUint64(word[:], uint64(n))
	return s.set(e, key, h, EncInt, word[:], deadline, now)
}

// set stores a value area under a key, in the place of the old record where it fits.
func (s *Space) set(e Entry, key []byte, h uint64, enc Encoding, value []byte,
	deadline Deadline, now int64,
) Entry {
	header := uint64(String) | uint64(enc)<<encShift
	if e.rec == 0 {
		if deadline == KeepDeadline {
			deadline = 0
		}
		return s.insert(key, h, header|s.clock(now), value, deadline)
	}
	old := e.header()
	header |= old & (clockMask << clockShift)
	if deadline == KeepDeadline {
		deadline = e.Deadline()
	}
	s.changes++
	oldKey, oldValue, start := lengths(e.rec, old)
	var block arena.Addr // is freed at the end, since the new value may be a part of it
	var room int
	if encoding(old) == EncBig {
		at := e.rec + arena.Addr(start+oldKey)
		block, room = arena.Addr(arena.Load(at)), int(arena.Load(at+16))
	}
	timed := old&flagTimed != 0
	n := recordBytes(len(key), len(value), deadline != 0)
	if timed == (deadline != 0) && (old&flagLong != 0) == (len(key) > shortKeyMax) &&
		arena.SizeOf(n) == arena.SizeOf(start+oldKey+oldValue) && arenaUnchecked {
		e = s.overwrite(e, old, header, value, deadline)
	} else {
		e = s.rewrite(e, key, header, value, len(value), deadline)
	}
	if block != 0 {
		s.arena.Free(block, room)
	}
	return e
}

// rewrite puts a new record in the place of an old one: a value area of n bytes, that begins with
// the given ones and is zero from there on. key and value may be the old record's own.
func (s *Space) rewrite(
	e Entry, key []byte, header uint64, value []byte, n int, deadline Deadline,
) Entry {
	rec := s.arena.Alloc(recordBytes(len(key), n, deadline != 0))
	at := writeRecord(rec, header, key, n, deadline)
	area := arena.Bytes(at, n)
	clear(area[copy(area, value):])
	s.retime(e, Entry{rec: rec})
	table.Replace(e.slot, rec)
	s.freeBlock(e.rec)
	e.rec = rec
	return e
}

// overwrite writes a value over one of the same size class. REQUIRES: same key, and both or
// neither timed; value areas are never longer than inlineMax, so only a key makes a record long.
func (s *Space) overwrite(e Entry, old, header uint64, value []byte, deadline Deadline) Entry {
	at := e.rec + headerBytes
	var key int
	if old&flagLong != 0 {
		key = int(arena.Load32(at))
		arena.Store32(at+4, uint32(len(value)))
		header |= flagLong
		at += longBytes
	} else {
		key = int(old >> keyShift & shortKeyMax)
		header |= uint64(key)<<keyShift | uint64(len(value))<<valueShift
	}
	if deadline != 0 {
		header |= flagTimed
	}
	arena.Store(e.rec, header)
	if deadline != 0 {
		if Deadline(arena.Load(at)) != deadline {
			arena.Store(at, uint64(deadline))
			s.expiry.change(int(arena.Load(at+8)), deadline, e.rec)
			s.published()
		}
		at += timedBytes
	}
	copy(arena.Bytes(at+arena.Addr(key), len(value)), value)
	return e
}

// Grow makes a string n bytes long, new bytes zero, and gives the entry and the bytes, to be
// written before anything else is done with the space. A string grown is raw from then on, as in
// Redis, and a long one has spare room, so that a million appended bytes are copied a few times
// only. REQUIRES: e is a string, n at least its length.
func (s *Space) Grow(e Entry, n int, now int64) (Entry, []byte) {
	h := e.header()
	if encoding(h) == EncBig {
		return e, s.growBig(e, h, n)
	}
	var scratch Scratch
	old := e.Bytes(&scratch)
	if n > inlineMax {
		room := roomFor(n)
		block := s.arena.Alloc(room)
		b := arena.Bytes(block, n)
		clear(b[copy(b, old):])
		var big [bigBytes]byte
		putBig(&big, block, n, room)
		return s.set(e, e.Key(), 0, EncBig, big[:], KeepDeadline, now), b
	}
	s.changes++
	key, length, start := lengths(e.rec, h)
	header := h&keptMask&^(encMask<<encShift) | uint64(EncRaw)<<encShift
	room := arena.SizeOf(start + key + length)
	if encoding(h) != EncInt && start+key+n <= room && arenaUnchecked {
		if header |= h & (flagLong | flagTimed); h&flagLong != 0 {
			arena.Store32(e.rec+headerBytes+4, uint32(n))
		} else {
			header |= uint64(key)<<keyShift | uint64(n)<<valueShift
		}
		arena.Store(e.rec, header)
		b := arena.Bytes(e.rec+arena.Addr(start+key), n)
		clear(b[length:])
		return e, b
	}
	e = s.rewrite(e, e.Key(), header, old, n, e.Deadline())
	at, _ := e.value()
	return e, arena.Bytes(at, n)
}

func (s *Space) growBig(e Entry, h uint64, n int) []byte {
	key, _, start := lengths(e.rec, h)
	at := e.rec + arena.Addr(start+key)
	block, room := arena.Addr(arena.Load(at)), int(arena.Load(at+16))
	length := int(arena.Load(at + 8))
	if n > room {
		room, old := roomFor(n), room
		block = s.arena.Resize(block, old, room, length)
		arena.Store(at, uint64(block))
		arena.Store(at+16, uint64(room))
	}
	arena.Store(at+8, uint64(n))
	s.changes++
	b := arena.Bytes(block, n)
	clear(b[length:])
	return b
}

// roomFor is the room given to a string that grows to n bytes: twice that, and from 1 MB on
// 1 MB more, as Redis's strings do.
func roomFor(n int) int {
	const step = 1 << 20
	if n < step {
		return 2 * n
	}
	return n + step
}

func canonicalInt(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > 20 {
		return 0, false
	}
	i, neg := 0, b[0] == '-'
	if neg {
		i = 1
		if len(b) == 1 {
			return 0, false
		}
	}
	if b[i] == '0' {
		return 0, len(b) == 1
	}
	var n uint64
	if len(b)-i > 19 {
		return 0, false
	}
	for ; i < len(b); i++ {
		d := b[i] - '0'
		if d > 9 {
			return 0, false
		}
		n = n*10 + uint64(d)
	}
	if neg {
		return -int64(n), n <= 1<<63
	}
	return int64(n), n < 1<<63
}
