package keyspace

import (
	"bytes"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"kiln/actors/keyspace/arena"
	"kiln/actors/keyspace/table"
)

// HashKey is the hash of a key: all places that need one get it from here.
func HashKey(seed uint64, key []byte) uint64 { return xxh3.HashSeed(key, seed) }

// Counters are what a partition counts. Only the partition's runner writes them.
type Counters struct {
	Hits, Misses, Expired uint64
}

// Space is the keys of one database in one partition.
type Space struct {
	arena    *arena.Arena
	table    *table.Table
	expiry   expiry
	seed     uint64
	settings *Settings
	dice     uint64
	changes  uint64
	keys     atomic.Int64 // read by others
	timed    atomic.Int64
	next     atomic.Int64 // the first deadline, 0 for none
	Counters *Counters
}

// Settings are what an operator can change while a space is in use.
type Settings struct {
	LFU          atomic.Bool // access clocks count frequency, not recency
	LFULogFactor atomic.Int64
	LFUDecayMin  atomic.Int64
}

// NewSettings returns Redis's defaults.
func NewSettings() *Settings {
	s := &Settings{}
	s.LFULogFactor.Store(10)
	s.LFUDecayMin.Store(1)
	return s
}

// New returns an empty space, which takes memory only once a key is put in it. seed is the
// server's hash seed, dice any number that is not 0.
func New(a *arena.Arena, seed, dice uint64, settings *Settings, counters *Counters) *Space {
	s := &Space{arena: a, seed: seed, dice: dice | 1, settings: settings, Counters: counters}
	s.table = table.New(a, s.hashOf)
	s.expiry.arena = a
	return s
}

func (s *Space) hashOf(rec arena.Addr) uint64 { return HashKey(s.seed, Entry{rec: rec}.Key()) }

// Hash is the hash of a key in this server.
func (s *Space) Hash(key []byte) uint64 { return HashKey(s.seed, key) }

// Changes counts what changed: a handler that returns an error must leave it as it was.
func (s *Space) Changes() uint64 { return s.changes }

// Len is the number of keys, expired ones not yet removed included. Any goroutine may ask.
func (s *Space) Len() int { return int(s.keys.Load()) }

// Timed is the number of keys with a deadline. Any goroutine may ask.
func (s *Space) Timed() int { return int(s.timed.Load()) }

// NextDeadline is the first deadline in Unix nanoseconds, 0 if there is none. Any goroutine may
// ask.
func (s *Space) NextDeadline() int64 { return s.next.Load() }

// Find looks a key up. It gives expired records too: see [Space.Expired].
func (s *Space) Find(key []byte, h uint64) Entry {
	rec, slot := s.table.First(h)
	if rec != 0 && isKey(rec, key) {
		return Entry{rec: rec, slot: slot}
	}
	if slot == 0 {
		return Entry{}
	}
	return s.findAll(key, h)
}

// findAll looks at all candidates.
func (s *Space) findAll(key []byte, h uint64) Entry {
	for p := s.table.Seek(h); ; {
		rec, slot := p.Next()
		if rec == 0 {
			return Entry{}
		}
		if isKey(rec, key) {
			return Entry{rec: rec, slot: slot}
		}
	}
}

func isKey(rec arena.Addr, key []byte) bool {
	n, _, start := lengths(rec, arena.Load(rec))
	return n == len(key) && bytes.Equal(arena.Bytes(rec+arena.Addr(start), n), key)
}

// Line gives the address that a look-up of h reads first. Any goroutine may ask, to prefetch.
func (s *Space) Line(h uint64) uint64 { return uint64(s.table.Line(h)) }

// Candidate gives the record that a look-up of h will most likely read, from the line that Line
// gave. Any goroutine may ask, to prefetch.
func Candidate(line, h uint64) uint64 { return uint64(table.Candidate(arena.Addr(line), h)) }

// Delete removes a record and frees what it holds.
func (s *Space) Delete(e Entry) {
	s.unlink(e)
	s.freeRecord(e.rec)
}

// unlink takes a record out of the index and the heap.
func (s *Space) unlink(e Entry) {
	s.untime(e)
	s.table.Delete(s.hashOf(e.rec), e.slot)
	s.keys.Store(int64(s.table.Len()))
	s.changes++
}

// Move takes a record out of this space and puts it into another of the same partition or of
// another, under the given key, deadline included. REQUIRES: the target has no such key.
func (s *Space) Move(e Entry, to *Space, key []byte) Entry {
	if to.arena != s.arena {
		moved := s.Copy(e, to, key)
		s.Delete(e)
		return moved
	}
	at, n := e.value() // the block of a big value goes along
	moved := to.insert(key, to.Hash(key), e.header()&keptMask, arena.Bytes(at, n), e.Deadline())
	if to == s { // the slots of both are void: the table may have grown, and may shrink
		e = s.Find(e.Key(), s.hashOf(e.rec))
	}
	s.unlink(e)
	s.freeBlock(e.rec)
	if to == s {
		moved = s.Find(moved.Key(), s.hashOf(moved.rec))
	}
	return moved
}

// Copy puts a copy of a record into a space under the given key, deadline included. REQUIRES:
// the target has no such key.
func (s *Space) Copy(e Entry, to *Space, key []byte) Entry {
	h := e.header()
	at, n := e.value()
	deadline := e.Deadline()
	value := arena.Bytes(at, n)
	if encoding(h) == EncBig {
		length := int(arena.Load(at + 8))
		block := to.arena.Alloc(length)
		arena.Move(block, arena.Addr(arena.Load(at)), length)
		var big [bigBytes]byte
		putBig(&big, block, length, length)
		value = big[:]
	}
	return to.insert(key, to.Hash(key), h&keptMask, value, deadline)
}

// insert adds a record. The header gives type, encoding and clock.
func (s *Space) insert(key []byte, h, header uint64, value []byte, deadline Deadline) Entry {
	rec := s.arena.Alloc(recordBytes(len(key), len(value), deadline != 0))
	at := writeRecord(rec, header, key, len(value), deadline)
	copy(arena.Bytes(at, len(value)), value)
	return s.link(h, rec, deadline)
}

func (s *Space) link(h uint64, rec arena.Addr, deadline Deadline) Entry {
	e := Entry{rec: rec, slot: s.table.Insert(h, rec)}
	if deadline != 0 {
		s.expiry.push(deadline, rec)
		s.published()
	}
	s.keys.Store(int64(s.table.Len()))
	s.changes++
	return e
}

func recordBytes(key, value int, timed bool) int {
	n := headerBytes + key + value
	if key > shortKeyMax || value > shortValueMax {
		n += longBytes
	}
	if timed {
		n += timedBytes
	}
	return n
}

// writeRecord writes all but the value and returns where that goes.
func writeRecord(
	rec arena.Addr, header uint64, key []byte, value int, deadline Deadline,
) arena.Addr {
	at := rec + headerBytes
	if len(key) > shortKeyMax || value > shortValueMax {
		header |= flagLong
		arena.Store(at, uint64(len(key))|uint64(value)<<32)
		at += longBytes
	} else {
		header |= uint64(len(key))<<keyShift | uint64(value)<<valueShift
	}
	if deadline != 0 {
		header |= flagTimed
		arena.Store(at, uint64(deadline))
		at += timedBytes
	}
	arena.Store(rec, header)
	copy(arena.Bytes(at, len(key)), key)
	return at + arena.Addr(len(key))
}

func (s *Space) freeRecord(rec arena.Addr) {
	h := arena.Load(rec)
	key, value, start := lengths(rec, h)
	if encoding(h) == EncBig {
		at := rec + arena.Addr(start+key)
		s.arena.Free(arena.Addr(arena.Load(at)), int(arena.Load(at+16)))
	}
	s.arena.Free(rec, start+key+value)
}

// freeBlock frees a record's block, not what it refers to.
func (s *Space) freeBlock(rec arena.Addr) {
	key, value, start := lengths(rec, arena.Load(rec))
	s.arena.Free(rec, start+key+value)
}

// Memory is what a record takes: its block, the block of a big value, its share of the index
// and its place in the expiry heap.
func (s *Space) Memory(e Entry) int {
	h := e.header()
	key, value, start := lengths(e.rec, h)
	n := arena.SizeOf(start + key + value)
	if encoding(h) == EncBig {
		n += arena.SizeOf(int(arena.Load(e.rec + arena.Addr(start+key) + 16)))
	}
	if h&flagTimed != 0 {
		n += s.expiry.share()
	}
	return n + s.table.Share(s.hashOf(e.rec))
}

// Drop frees a space that nobody uses any more, a bounded piece at a time, and reports whether
// there is more to do.
func (s *Space) Drop(segments int) (more bool) {
	more = s.expiry.drop(8 * segments)
	s.published()
	more = s.table.Drop(segments, s.freeRecord) || more
	s.keys.Store(int64(s.table.Len()))
	return more
}

// Random gives an entry chosen at random, the zero Entry if the space is empty.
func (s *Space) Random() Entry {
	rec, slot := s.table.Random(s.roll)
	return Entry{rec: rec, slot: slot}
}

// roll is xorshift64* (Vigna, 2016).
func (s *Space) roll() uint64 {
	s.dice ^= s.dice >> 12
	s.dice ^= s.dice << 25
	s.dice ^= s.dice >> 27
	return s.dice * 0x2545f4914f6cdd1d
}
