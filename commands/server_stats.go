package commands

import (
	"maps"
	"slices"
	"sync/atomic"

	"kiln/wire/resp"
)

// prefixMax bounds the kinds of errors that are counted apart: scripts can make up any number.
const prefixMax = 128

// prefixCounts counts errors by their first word. The map is replaced as a whole; its counters
// are shared by its successors.
type prefixCounts map[string]*atomic.Int64

// CountError counts an error that a client gets, by whoever replies it.
func (s *Stats) CountError(e resp.Error) {
	s.Errors.Add(1)
	prefix := e.Prefix()
	if len(prefix) == len(e) {
		prefix = "ERR" // no word before the text
	}
	for {
		old := s.prefixes.Load()
		if old != nil {
			if n := (*old)[prefix]; n != nil {
				n.Add(1)
				return
			}
			if len(*old) >= prefixMax {
				return
			}
		}
		next := prefixCounts{prefix: new(atomic.Int64)}
		if old != nil {
			maps.Copy(next, *old)
		}
		s.prefixes.CompareAndSwap(old, &next)
	}
}

// errorsByPrefix gives the kinds of errors in order, and how many there were.
func (s *Stats) errorsByPrefix() (prefixes []string, count func(string) int64) {
	counts := s.prefixes.Load()
	if counts == nil {
		return nil, nil
	}
	return slices.Sorted(maps.Keys(*counts)), func(p string) int64 { return (*counts)[p].Load() }
}

// Reset sets the counters back to zero.
func (s *Stats) Reset() {
	for _, n := range []*atomic.Int64{
		&s.Commands, &s.Connections, &s.Rejected, &s.BytesIn, &s.BytesOut, &s.Panics, &s.Errors,
		&s.SweptKeys, &s.RoamersInterleaved,
	} {
		n.Store(0)
	}
	s.prefixes.Store(nil)
}

// rateSamples is how many samples a rate is the average of: Redis's 16, a tenth of a second each.
const rateSamples = 16

// rates are what the counters grew by lately, in a second.
type rates struct {
	at      int64 // Unix nanoseconds of the last sample
	last    [3]int64
	samples [3][rateSamples]int64
	next    int

	commands, bytesIn, bytesOut atomic.Int64 // read by others
}

// Tick samples what INFO shows of the recent past: rates, and the most memory used. To be called
// about ten times a second, by one goroutine, which is no event loop: it waits for partitions.
func (s *Server) Tick(now int64) {
	s.usedMemory()
	r, st := &s.Stats.rates, &s.Stats
	current := [3]int64{st.Commands.Load(), st.BytesIn.Load(), st.BytesOut.Load()}
	passed := now - r.at
	if r.at != 0 && passed > 0 {
		for i, n := range current {
			grown := max(n-r.last[i], 0) // less than before: CONFIG RESETSTAT
			r.samples[i][r.next] = int64(float64(grown) * 1e9 / float64(passed))
		}
		r.next = (r.next + 1) % rateSamples
		for i, out := range []*atomic.Int64{&r.commands, &r.bytesIn, &r.bytesOut} {
			sum := int64(0)
			for _, n := range r.samples[i] {
				sum += n
			}
			out.Store(sum / rateSamples)
		}
	}
	r.at, r.last = now, current
}

// usedMemory is what data takes outside the Go heap, and what that heap takes. It keeps the peak.
func (s *Server) usedMemory() (used, data int64) {
	if s.Process == nil {
		return 0, 0
	}
	data, _, _ = s.Process.Arena()
	used = data + s.Process.Heap()
	for peak := s.Stats.PeakMemory.Load(); used > peak; peak = s.Stats.PeakMemory.Load() {
		if s.Stats.PeakMemory.CompareAndSwap(peak, used) {
			break
		}
	}
	return used, data
}
