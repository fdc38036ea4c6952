package keyspace

import (
	"testing"
)

func oneKey(t *testing.T, lfu bool) (*Space, Entry) {
	t.Helper()
	s, _ := newSpace(testDepot)
	s.settings.LFU.Store(lfu)
	key := []byte("key")
	return s, s.SetString(Entry{}, key, s.Hash(key), []byte("value"), 0, testNow)
}

func TestIdleTime(t *testing.T) {
	s, e := oneKey(t, false)
	check := func(want, now int64) {
		t.Helper()
		if got := s.Idle(e, now); want != got {
			t.Errorf("idle: want %d, got %d", want, got)
		}
	}
	check(0, testNow)
	check(0, testNow+second-1)
	check(1, testNow+second)
	check(3600, testNow+3600*second)
	s.Touch(e, testNow+100*second)
	check(0, testNow+100*second)
	check(25, testNow+125*second)
	// 24 bits of seconds are half a year; then it begins anew.
	check(1<<24-1, testNow+(100+1<<24-1)*second)
	check(0, testNow+(100+1<<24)*second)
}

func TestTouchLeavesTheRestAlone(t *testing.T) {
	for _, lfu := range []bool{false, true} {
		m := newModel(t, 7)
		m.s.settings.LFU.Store(lfu)
		for range 200 {
			m.set()
		}
		for range 2000 {
			m.now += m.r.Int64N(100 * second)
			key := m.key()
			if e := m.find(key); e.Exists() {
				before := m.s.Changes()
				m.s.Touch(e, m.now)
				if m.s.Changes() != before {
					t.Fatal("a touch counts as a change")
				}
			}
		}
		m.check()
	}
}

// https://redis.io/docs/latest/develop/reference/eviction/: a counter starts at 5 and is divided
// by no more than time, one a minute.
func TestFrequencyDecays(t *testing.T) {
	s, e := oneKey(t, true)
	check := func(want, now int64) {
		t.Helper()
		if got := s.Frequency(e, now); want != got {
			t.Errorf("frequency: want %d, got %d", want, got)
		}
	}
	check(5, testNow)
	check(5, testNow+59*second-testNow%minute)
	check(4, testNow+minute)
	check(2, testNow+3*minute)
	check(0, testNow+5*minute)
	check(0, testNow+500*minute)
	s.settings.LFUDecayMin.Store(10)
	check(5, testNow+9*minute)
	check(4, testNow+10*minute)
	check(3, testNow+29*minute)
	s.settings.LFUDecayMin.Store(0)
	check(5, testNow+50_000*minute)
	s.settings.LFUDecayMin.Store(1)
	// The first accesses always count.
	s.Touch(e, testNow)
	check(6, testNow)
	s.Touch(e, testNow+2*minute) // 4, then 5
	check(5, testNow+2*minute)
	s.settings.LFULogFactor.Store(0)
	for range 300 {
		s.Touch(e, testNow+2*minute)
	}
	check(255, testNow+2*minute)
	check(155, testNow+102*minute)
}

// The table in redis.conf, at lfu-log-factor: what the counter is after so many hits. Its last
// column, a million, is the first power of ten at which factor 10 gives 255: by the formula that
// takes 311,500 hits on average.
func TestFrequencyIsLogarithmic(t *testing.T) {
	cases := []struct {
		factor    int64
		hits      int
		low, high int64
	}{
		{0, 100, 104, 105}, {0, 1000, 255, 255},
		{1, 100, 16, 20}, {1, 1000, 44, 54}, {1, 100_000, 255, 255},
		{10, 100, 7, 12}, {10, 1000, 15, 22}, {10, 100_000, 130, 155}, {10, 1_000_000, 253, 255},
		{100, 100, 5, 10}, {100, 1000, 7, 13}, {100, 100_000, 42, 57}, {100, 1_000_000, 130, 155},
	}
	for _, c := range cases {
		s, e := oneKey(t, true)
		s.settings.LFULogFactor.Store(c.factor)
		for range c.hits {
			s.Touch(e, testNow)
		}
		if got := s.Frequency(e, testNow); got < c.low || got > c.high {
			t.Errorf("factor %d, %d hits: want %d to %d, got %d", c.factor, c.hits, c.low, c.high, got)
		}
	}
	const runs = 5
	total := 0
	for i := range runs {
		s, e := oneKey(t, true)
		s.dice += uint64(i) * 0x9e3779b97f4a7c15
		for s.Frequency(e, testNow) < 255 {
			s.Touch(e, testNow)
			total++
		}
	}
	hits := total / runs
	t.Logf("%d hits to reach 255", hits)
	if hits < 250_000 || hits > 400_000 {
		t.Errorf("%d hits to reach 255, want about 311,500", hits)
	}
}
