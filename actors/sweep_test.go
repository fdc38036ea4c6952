package actors

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func (c *client) size() (n int) {
	_, _ = fmt.Sscanf(c.do("DBSIZE"), ":%d", &n)
	return n
}

// TestDueKeysAreSweptSoonAndNeverEarly: very many keys that expire within one second are gone a few
// seconds later, though nobody asks for them, and none before its time.
func TestDueKeysAreSweptSoonAndNeverEarly(t *testing.T) {
	keys, within := 100_000, 5*time.Second
	if long {
		keys = 1_000_000
	}
	if raceEnabled {
		keys, within = 20_000, 20*time.Second
	}
	r := newRig(t, Options{Partitions: 64})
	c := r.client()
	due := time.Now().Add(time.Second + time.Duration(keys)*10*time.Microsecond).
		Truncate(time.Millisecond)
	for i := range keys {
		at := due.UnixMilli() + int64(i%1000)
		c.want("+OK\r\n", "SET", fmt.Sprintf("key:%012d", i), "value", "PXAT", fmt.Sprint(at))
	}
	if time.Now().After(due) {
		t.Skip("the machine is too slow for this test")
	}
	if got := c.size(); got != keys {
		t.Errorf("want %d keys, got %d", keys, got)
	}
	for {
		left, passed := c.size(), time.Since(due).Milliseconds()
		if passed > 1000 {
			break
		}
		if least := keys / 1000 * (1000 - int(max(passed+1, 0))); left < least {
			t.Fatalf("%d ms after the first deadline %d keys are left, want at least %d", passed,
				left, least)
		}
		time.Sleep(5 * time.Millisecond)
	}
	last := due.Add(time.Second)
	for c.size() > 0 {
		if time.Since(last) > within {
			t.Fatalf("%d of %d keys are left after %v", c.size(), keys, within)
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Logf("%d keys were gone %v after the last was due", keys, time.Since(last))
}

// TestNoSweepingWhenItIsSwitchedOff leaves due keys where they are until they are asked for.
func TestNoSweepingWhenItIsSwitchedOff(t *testing.T) {
	var now atomic.Int64
	now.Store(1_800_000_000_000_000_000)
	r := newRig(t, Options{Partitions: 4, Clock: now.Load})
	c := r.client()
	c.now = now.Load
	c.want("+OK\r\n", "DEBUG", "SET-ACTIVE-EXPIRE", "0")
	for i := range 100 {
		c.want("+OK\r\n", "SET", fmt.Sprint("k", i), "v", "PX", "10")
	}
	now.Add(int64(time.Second))
	time.Sleep(3 * sweepPeriod)
	if got := c.size(); got != 100 {
		t.Errorf("want 100 keys, got %d", got)
	}
	c.want("$-1\r\n", "GET", "k7")
	if got := c.size(); got != 99 {
		t.Errorf("want 99 keys, got %d", got)
	}
	c.want("+OK\r\n", "DEBUG", "SET-ACTIVE-EXPIRE", "1")
	until(t, func() bool { return c.size() == 0 })
}

// TestFlushedSpacesAreFreed: what a flush leaves behind is freed while others are served, and the
// partitions give their memory back.
func TestFlushedSpacesAreFreed(t *testing.T) {
	keys := 100_000
	if raceEnabled {
		keys = 10_000
	}
	r := newRig(t, Options{Partitions: 16})
	c := r.client()
	value := strings.Repeat("v", 200)
	for round := range 3 {
		for i := range keys {
			words := []string{"SET", fmt.Sprint("key", i), value}
			if i%3 == 0 {
				words = append(words, "EX", "1000")
			}
			c.want("+OK\r\n", words...)
		}
		c.want("+OK\r\n", "SET", "big", strings.Repeat("b", 20<<20)) // a mapping of its own
		full, lentFull, _ := r.Memory()
		c.want("+OK\r\n", []string{"FLUSHALL", "FLUSHDB", "FLUSHALL"}[round])
		if got := c.size(); got != 0 {
			t.Errorf("want no keys, got %d", got)
		}
		c.want("+OK\r\n", "SET", "key1", "new")
		var used, lent int64
		until(t, func() bool {
			used, lent, _ = r.Memory()
			return used < 64<<10 && lent < 8<<20
		})
		c.want(bulk("new"), "GET", "key1")
		c.want(":1\r\n", "DBSIZE")
		t.Logf("used %d KB, lent %d KB; after the flush %d and %d", full>>10, lentFull>>10,
			used>>10, lent>>10)
	}
}

// TestSweptKeysOfSwappedDatabases: the sweeper finds the keys where they are by then.
func TestSweptKeysOfSwappedDatabases(t *testing.T) {
	r := newRig(t, Options{Partitions: 4})
	c := r.client()
	for i := range 1000 {
		c.do("SET", fmt.Sprint("k", i), "v", "PX", fmt.Sprint(50+i%200))
	}
	for i := range 200 {
		c.want("+OK\r\n", "SWAPDB", "0", fmt.Sprint(1+i%3))
		time.Sleep(time.Millisecond)
	}
	for _, db := range []string{"0", "1", "2", "3"} {
		c.do("SELECT", db)
		until(t, func() bool { return c.size() == 0 })
	}
}
