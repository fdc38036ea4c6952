package keyspace

import "kiln/actors/keyspace/arena"

const (
	lfuInit   = 5 // a new key's counter, so that it is not evicted at once
	lfuMax    = 255
	second    = 1e9
	minute    = 60 * second
	minutesOf = 1<<16 - 1
)

// clock gives the access clock of a key touched now for the first time: seconds, or minutes and
// a logarithmic counter under an LFU policy.
func (s *Space) clock(now int64) uint64 {
	if s.settings.LFU.Load() {
		return (uint64(now/minute)&minutesOf<<8 | lfuInit) << clockShift
	}
	return uint64(now/second) & clockMask << clockShift
}

// Touch notes an access. Under LRU the record is written at most once a second, so that reading
// a hot key does not dirty its cache line.
func (s *Space) Touch(e Entry, now int64) {
	h := e.header()
	var clock uint64
	if s.settings.LFU.Load() {
		clock = s.frequent(h>>clockShift&clockMask, now)
	} else {
		clock = uint64(now/second) & clockMask
	}
	if h>>clockShift&clockMask != clock {
		arena.Store(e.rec, h&^(clockMask<<clockShift)|clock<<clockShift)
	}
}

// frequent is Redis's approximate counting (redis.conf, LFU): a counter of eight bits that rises
// with probability 1/(counter*factor+1) and falls by one each lfu-decay-time minutes.
func (s *Space) frequent(clock uint64, now int64) uint64 {
	counter := s.decayed(clock, now)
	if counter < lfuMax {
		base := max(int64(counter)-lfuInit, 0)
		if s.roll()>>11 < (1<<53)/uint64(base*s.settings.LFULogFactor.Load()+1) {
			counter++
		}
	}
	return uint64(now/minute)&minutesOf<<8 | counter
}

func (s *Space) decayed(clock uint64, now int64) uint64 {
	counter := clock & lfuMax
	decay := uint64(s.settings.LFUDecayMin.Load())
	if decay == 0 {
		return counter
	}
	passed := (uint64(now/minute) - clock>>8) & minutesOf
	return counter - min(counter, passed/decay)
}

// Idle is the time since the last access in seconds.
func (s *Space) Idle(e Entry, now int64) int64 {
	return int64((uint64(now/second) - e.header()>>clockShift) & clockMask)
}

// Frequency is the access counter, 0 to 255, as it is now.
func (s *Space) Frequency(e Entry, now int64) int64 {
	return int64(s.decayed(e.header()>>clockShift&clockMask, now))
}
