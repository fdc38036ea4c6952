package actors

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kiln/commands"
	"kiln/wire/resp"
)

func pairs(prefix, value string, n int) (words []string) {
	for i := range n {
		words = append(words, prefix+strconv.Itoa(i), value)
	}
	return words
}

func names(prefix string, n int) (words []string) {
	for i := range n {
		words = append(words, prefix+strconv.Itoa(i))
	}
	return words
}

func waits(done chan struct{}) bool {
	select {
	case <-done:
		return false
	default:
		return true
	}
}

func (c *client) want(want string, words ...string) {
	c.rig.t.Helper()
	if got := c.do(words...); got != want {
		c.rig.t.Errorf("%.200q: want %.200q, got %.200q", words, want, got)
	}
}

func (c *client) wantOut(want string) {
	c.rig.t.Helper()
	if got := string(c.out.Bytes()); got != want {
		c.rig.t.Errorf("want %.200q, got %.200q", want, got)
	}
}

// settle waits until a partition has handled what was posted to it so far.
func (r *rig) settle() {
	for _, p := range r.partitions {
		p.await()
		p.leave()
	}
}

// waiting is the number of requests and goroutines that wait for holds.
func (r *rig) waiting() (n int) {
	for _, p := range r.partitions {
		p.await()
		for _, h := range p.holds {
			n += len(h.waiters)
		}
		p.leave()
	}
	return n
}

func (r *rig) untilWaiting(n int) {
	r.t.Helper()
	until(r.t, func() bool { return r.waiting() == n })
}

// unheld checks that no hold is left behind.
func (r *rig) unheld() {
	r.t.Helper()
	for _, p := range r.partitions {
		p.await()
		if n := len(p.holds); n > 0 {
			r.t.Errorf("partition %d has %d holds left", p.id, n)
		}
		p.leave()
	}
}

func TestSlowCommandHoldsItsKeysNotTheirPartition(t *testing.T) {
	r := newRig(t, Options{Partitions: 1})
	defer r.unheld()
	writer, other := r.client(), r.client()
	other.want("+OK\r\n", append([]string{"MSET"}, pairs("held", "old", 4)...)...)
	slow := latch("mset")
	done := writer.with(slow.spec, append([]string{"MSET"}, pairs("held", "new", 4)...)...)
	wait(r, slow.begun, "the slow command")

	other.want("+OK\r\n", "SET", "free", "1")
	other.want(":2\r\n", "INCR", "free")
	other.want("*1\r\n$1\r\n2\r\n", "MGET", "free")
	other.want(bulk("PONG"), "ECHO", "PONG")
	other.want(":5\r\n", "DBSIZE")
	if other.parked != 0 {
		t.Errorf("want what touches no held key to be served at once, %d were not", other.parked)
	}
	var readers []*client
	var replies []chan struct{}
	for _, line := range []string{"GET held1", "MGET free held2 held3", "FLUSHALL", "SWAPDB 0 1"} {
		c := r.client()
		readers, replies = append(readers, c), append(replies, c.start(strings.Fields(line)...))
		if !waits(replies[len(replies)-1]) {
			t.Errorf("%s did not wait for the held key", line)
		}
	}
	r.settle()
	for i, done := range replies {
		if !waits(done) {
			t.Errorf("reader %d did not wait", i)
		}
	}
	close(slow.proceed)
	wait(r, done, "the slow command")
	for i := range replies {
		wait(r, replies[i], fmt.Sprintf("the reply to reader %d", i))
	}
	readers[0].wantOut(bulk("new"))
	if got := string(readers[1].out.Bytes()); got != array(bulk("2"), bulk("new"), bulk("new")) &&
		got != array("$-1\r\n", "$-1\r\n", "$-1\r\n") { // after FLUSHALL
		t.Errorf("got %q", got)
	}
}

func TestWaitersForAKeyComeInOrder(t *testing.T) {
	r := newRig(t, Options{Partitions: 2})
	defer r.unheld()
	slow := latch("set")
	first := r.client()
	done := first.with(slow.spec, "SET", "k", "0")
	wait(r, slow.begun, "the slow command")
	const clients = 20
	var replies []chan struct{}
	var all []*client
	for i := range clients {
		c := r.client()
		all = append(all, c)
		if i%5 == 4 { // a slow one among them
			replies = append(replies, c.start("APPEND", "k", strings.Repeat("x", quickBytesMax+i)))
		} else {
			replies = append(replies, c.start("APPEND", "k", "y"))
		}
		r.settle()
	}
	close(slow.proceed)
	wait(r, done, "the slow command")
	last := int64(1)
	for i := range clients {
		wait(r, replies[i], fmt.Sprintf("the reply to client %d", i))
		if i%5 == 4 {
			continue
		}
		n, _ := resp.ParseInt(all[i].out.Bytes()[1 : all[i].out.Len()-2])
		if n <= last {
			t.Errorf("client %d came out of turn: %d bytes after %d", i, n, last)
		}
		last = n
	}
}

func TestReadersPassASlowReader(t *testing.T) {
	r := newRig(t, Options{Partitions: 4})
	defer r.unheld()
	reader, other, third := r.client(), r.client(), r.client()
	other.want("+OK\r\n", append([]string{"MSET"}, pairs("k", "v", 10)...)...)
	slow := latch("mget")
	done := reader.with(slow.spec, append([]string{"MGET"}, names("k", 10)...)...)
	wait(r, slow.begun, "the slow command")
	other.want(bulk("v"), "GET", "k3")
	other.want(array(bulk("v"), bulk("v")), "MGET", "k1", "k2")
	if other.parked != 0 {
		t.Error("a reader had to wait for a reader")
	}
	// So does another slow one, as long as nobody waits to write.
	second := third.with(slow.spec, append([]string{"MGET"}, names("k", 8)...)...)
	wait(r, slow.begun, "the second slow command")
	writer := r.client()
	written := writer.start("SET", "k3", "w")
	r.untilWaiting(1)
	// A third one has to wait behind the writer.
	late := r.client()
	last := late.with(slow.spec, "MGET", "k3")
	r.untilWaiting(2)
	if len(slow.begun) > 0 {
		t.Error("a slow reader overtook a writer")
	}
	close(slow.proceed)
	wait(r, done, "the slow command")
	wait(r, second, "the second slow command")
	wait(r, written, "the writer")
	wait(r, last, "the third slow command")
	late.wantOut(array(bulk("w")))
	if got := string(reader.out.Bytes()); strings.Contains(got, "w") || got != array(
		strings.Split(strings.Repeat(bulk("v")+"|", 9)+bulk("v"), "|")...) {
		t.Errorf("got %q", got)
	}
	other.want(bulk("w"), "GET", "k3")
}

// TestSlowReaderLeavesNoRoomForEver: readers do not keep a writer waiting by coming one after the
// other.
func TestSlowReadersLetAWriterIn(t *testing.T) {
	r := newRig(t, Options{Partitions: 4})
	defer r.unheld()
	stop := make(chan struct{})
	var rounds atomic.Int64
	writes := 0
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		together(4, func(i int) {
			c := r.client()
			for waits(stop) {
				c.do(append([]string{"MGET", "hot"}, names("k"+strconv.Itoa(i), quickKeysMax)...)...)
				rounds.Add(1)
			}
		})
	}()
	writer, several := r.client(), r.client()
	for until(t, func() bool { return rounds.Load() > 8 }); rounds.Load() < 2000; {
		writer.want("+OK\r\n", "SET", "hot", "1")
		several.want("+OK\r\n", "MSET", "hot", "2", "k01", "2", "k11", "2")
		writes++
	}
	close(stop)
	wait(r, ended, "the end of the readers")
	if writes < 20 {
		t.Errorf("%d writes only among %d slow readers", writes, rounds.Load())
	}
	t.Logf("%d writes, %d slow readers", writes, rounds.Load())
}

// TestSlowCommandsWaitOnlyForEachOthersKeys: one that waits for a key keeps no other.
func TestSlowCommandsWaitOnlyForEachOthersKeys(t *testing.T) {
	r := newRig(t, Options{Partitions: 4})
	defer r.unheld()
	long := latch("set")
	first := r.client()
	done := first.with(long.spec, "SET", "held", "1")
	wait(r, long.begun, "the slow command")

	second := r.client()
	words := append([]string{"MSET", "held", "2"}, pairs("a", "2", 70)...)
	waiting := second.start(words...)
	r.untilWaiting(1)
	third := r.client()
	third.want("+OK\r\n", append([]string{"MSET"}, pairs("b", "3", 70)...)...)
	third.want("+OK\r\n", "SET", "a3", "3")
	if !waits(waiting) {
		t.Error("a slow command did not wait for a held key")
	}
	close(long.proceed)
	wait(r, done, "the slow command")
	wait(r, waiting, "the command that waited for it")
	third.want(array(bulk("2"), bulk("2")), "MGET", "held", "a3")
}

// TestSlowCommandsDoNotStarveEachOther: commands with many keys in common, in any order, all end.
func TestSlowCommandsDoNotStarveEachOther(t *testing.T) {
	for _, partitions := range []int{1, 16} {
		r := newRig(t, Options{Partitions: partitions})
		defer r.unheld()
		seed := seedOf(t)
		var ends [6]atomic.Int64
		stop := time.Now().Add(span(400*time.Millisecond, 10*time.Second))
		together(len(ends), func(i int) {
			c, dice := r.client(), newDice(seed, i)
			for time.Now().Before(stop) {
				keys := dice.Perm(100)[:66]
				words := []string{"MGET"}
				if i%2 == 0 {
					words[0] = "MSET"
				}
				for _, k := range keys {
					words = append(words, "k"+strconv.Itoa(k))
					if i%2 == 0 {
						words = append(words, strconv.Itoa(i))
					}
				}
				c.do(words...)
				ends[i].Add(1)
			}
		})
		var counts []int64
		for i := range ends {
			counts = append(counts, ends[i].Load())
			if counts[i] < 3 {
				t.Errorf("client %d came through %d times only", i, counts[i])
			}
		}
		t.Logf("%d partitions: %d", partitions, counts)
	}
}

// TestWholePartitionsDoNotStarve: FLUSHALL and gathers come through however many slow commands
// overlap.
func TestWholePartitionsDoNotStarve(t *testing.T) {
	r := newRig(t, Options{Partitions: 8})
	defer r.unheld()
	stop := make(chan struct{})
	slow := changed("mset", func(c *commands.Call, handler commands.Handler) error {
		if !c.Held {
			return commands.ErrElsewhere
		}
		time.Sleep(5 * time.Millisecond)
		return handler(c)
	})
	ended := make(chan struct{})
	var rounds atomic.Int64
	go func() {
		defer close(ended)
		together(4, func(i int) { // at any time one of them is under way
			c := r.client()
			for waits(stop) {
				done := c.with(slow, "MSET", "x"+strconv.Itoa(i), "1", "y"+strconv.Itoa(i), "1")
				wait(r, done, "a slow command")
				rounds.Add(1)
			}
		})
	}()
	until(t, func() bool { return rounds.Load() > 3 })
	c := r.client()
	for range 5 {
		c.want("+OK\r\n", "FLUSHALL")
		c.want("+OK\r\n", "SWAPDB", "0", "1")
		c.do("MGET", "x0", "x1", "x2", "x3", "y0", "y1", "y2", "y3")
		c.do("DEL", "x0", "y1")
	}
	close(stop)
	wait(r, ended, "the end of the slow commands")
}

// TestWholePartitionsCloseTheGate: slow commands that come after FLUSHALL wait for it, so that it
// waits only for those under way.
func TestWholePartitionsCloseTheGate(t *testing.T) {
	r := newRig(t, Options{Partitions: 4})
	defer r.unheld()
	first, second := latch("set"), latch("set")
	a, b, flusher, quick := r.client(), r.client(), r.client(), r.client()
	done := a.with(first.spec, "SET", "a", "1")
	wait(r, first.begun, "the slow command")
	flushed := flusher.start("FLUSHALL")
	until(t, func() bool { // it has found the hold, and closes the gate
		open := r.gate.TryRLock()
		if open {
			r.gate.RUnlock()
		}
		return !open
	})
	later := b.with(second.spec, "SET", "b", "2")
	quick.want("+OK\r\n", "SET", "c", "3")
	quick.want("+OK\r\n", "MSET", "c", "3", "d", "3", "e", "3", "f", "3")
	time.Sleep(5 * time.Millisecond)
	if len(second.begun) > 0 {
		t.Error("a slow command overtook FLUSHALL")
	}
	close(first.proceed)
	wait(r, done, "the slow command")
	wait(r, flushed, "FLUSHALL")
	wait(r, second.begun, "the second slow command")
	quick.want(":0\r\n", "EXISTS", "a", "c", "d")
	close(second.proceed)
	wait(r, later, "the second slow command's reply")
	quick.want(":1\r\n", "DBSIZE")
}

func TestHeldKeysDoNotExpire(t *testing.T) {
	var now atomic.Int64
	now.Store(1_800_000_000_000_000_000)
	r := newRig(t, Options{Partitions: 2, Clock: now.Load})
	defer r.unheld()
	reader, other, debug := r.client(), r.client(), r.client()
	for _, c := range []*client{reader, other, debug} {
		c.now = now.Load
	}
	text := strings.Repeat("abc", 2000)
	other.want("+OK\r\n", "SET", "a", text, "PX", "50")
	other.want("+OK\r\n", "SET", "b", text, "PX", "50")
	slow := latch("mget")
	done := reader.with(slow.spec, "MGET", "a", "b")
	wait(r, slow.begun, "the slow command")
	now.Add(int64(time.Second))
	time.Sleep(3 * sweepPeriod)
	// The key is gone for others, but not away.
	other.want("$-1\r\n", "GET", "a")
	other.want(":0\r\n", "EXISTS", "a", "b")
	other.want(":2\r\n", "DBSIZE")
	looked := debug.start("DEBUG", "OBJECT", "a")
	r.untilWaiting(1)
	close(slow.proceed)
	wait(r, done, "the slow command")
	reader.wantOut(array(bulk(text), bulk(text)))
	wait(r, looked, "DEBUG OBJECT")
	debug.wantOut("-ERR no such key\r\n")
	until(t, func() bool { return other.do("DBSIZE") == ":0\r\n" })
}

// TestAHeldKeyIsHeldInAllDatabases: COPY and MOVE reach into other databases.
func TestAHeldKeyIsHeldInAllDatabases(t *testing.T) {
	r := newRig(t, Options{Partitions: 4})
	defer r.unheld()
	reader, other := r.client(), r.client()
	reader.want("+OK\r\n", "SELECT", "1")
	reader.want("+OK\r\n", "SET", "k", "one")
	other.want("+OK\r\n", "MSET", "k", "two", "m", "three")
	slow := latch("mget")
	done := reader.with(slow.spec, "MGET", "k", "m")
	wait(r, slow.begun, "the slow command")
	copied := other.start("COPY", "m", "k", "DB", "1", "REPLACE")
	moved := r.client()
	moves := moved.start("MOVE", "m", "1")
	r.untilWaiting(2)
	close(slow.proceed)
	wait(r, done, "the slow command")
	reader.wantOut(array(bulk("one"), "$-1\r\n"))
	wait(r, copied, "COPY")
	wait(r, moves, "MOVE")
}

// TestTimeOfACommandThatWaited: what a command does, it does when it runs, not when it came; and
// its client does not see time go back.
func TestTimeOfACommandThatWaited(t *testing.T) {
	var now atomic.Int64
	start := int64(1_800_000_000_000_000_000)
	now.Store(start)
	r := newRig(t, Options{Partitions: 1, Clock: now.Load})
	defer r.unheld()
	c, holder := r.client(), r.client()
	c.now = func() int64 { return start } // a turn that has lasted long
	holder.now = now.Load
	slow := latch("set")
	done := holder.with(slow.spec, "SET", "k", "1")
	wait(r, slow.begun, "the slow command")
	set := c.start("SET", "k", "2", "PX", "100")
	now.Add(int64(time.Second))
	close(slow.proceed)
	wait(r, done, "the slow command")
	wait(r, set, "SET")
	holder.want(":100\r\n", "PTTL", "k")
	c.want(":100\r\n", "PTTL", "k")
	c.want(bulk("2"), "GET", "k")
}

func TestPanicInASlowCommandLeavesNothingHeld(t *testing.T) {
	r := newRig(t, Options{Partitions: 4})
	defer r.unheld()
	c := r.client()
	r.bugs.Store(2)
	for _, inside := range []bool{false, true} {
		spec := changed("mset", func(c *commands.Call, _ commands.Handler) error {
			if !c.Held {
				return commands.ErrElsewhere
			}
			if inside {
				if _, err := c.Shards.SpaceOf(0, c.Keys[0], c.Hashes[0]); err != nil {
					return err
				}
			}
			panic("a fault")
		})
		wait(r, c.with(spec, "MSET", "a", "1", "b", "2", "c", "3"), "the reply")
		c.wantOut("-ERR internal error\r\n")
		c.want(array("$-1\r\n", "$-1\r\n", "$-1\r\n"), "MGET", "a", "b", "c")
	}
}
