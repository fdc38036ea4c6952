package actors

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kiln/actors/keyspace"
	"kiln/commands"
)

// recorder is a listener that keeps what it is told, in order.
type recorder struct {
	mu      sync.Mutex
	journal [][]entry
	changed map[string]int // by key: calls of Changed that no entry has accounted for
	whole   int            // the same for Flushed
	events  map[string]int
	faults  []string
}

type entry struct {
	db   int
	argv []string
}

func (r *recorder) Journal(effects []commands.Effect) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var entries []entry
	for _, e := range effects {
		x := entry{db: e.DB}
		for _, w := range e.Args {
			x.argv = append(x.argv, string(w))
		}
		entries = append(entries, x)
	}
	told := map[string]bool{}
	for _, x := range entries {
		r.account(x, told)
	}
	for key := range told {
		delete(r.changed, key)
	}
	r.journal = append(r.journal, entries)
}

// account checks that watchers were told of the keys that an effect names: of all that MSET names,
// and of at least one for DEL, since of a key that was not there nobody is told.
func (r *recorder) account(x entry, told map[string]bool) {
	argv := argvOf(x.argv)
	spec := commands.Lookup(argv[0])
	if spec.Where == commands.AllShards {
		if r.whole == 0 {
			r.faults = append(r.faults, fmt.Sprintf("%q without Flushed", x.argv))
		}
		r.whole = 0
		return
	}
	keys, _ := spec.FindKeys(argv, nil)
	if spec.Name == "copy" {
		keys = keys[1:]
	}
	n := 0
	for _, key := range keys {
		if r.changed[string(key)] > 0 {
			n++
			told[string(key)] = true
		}
	}
	if n == 0 || spec.Name == "mset" && n != len(keys) {
		r.faults = append(r.faults, fmt.Sprintf("%.200q with Changed of %d keys", x.argv, n))
	}
}

func (r *recorder) Changed(_ int, key []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changed == nil {
		r.changed = map[string]int{}
	}
	r.changed[string(key)]++
}

func (r *recorder) Event(_ commands.Class, event string, _ int, _ []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.events == nil {
		r.events = map[string]int{}
	}
	r.events[event]++
}

func (r *recorder) Ready(int, []byte) {}

func (r *recorder) Flushed(int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.whole++
}

// digest describes all keys of all databases. REQUIRES: nobody else uses the router.
func (r *rig) digest() map[string]string {
	all := map[string]string{}
	for db := range r.server.Config.Databases {
		for p := range r.partitions {
			s := r.partitions[p].spaces[db].Load()
			if s == nil {
				continue
			}
			for cursor := uint64(0); ; {
				cursor = s.Scan(cursor, 100, func(e keyspace.Entry) {
					all[fmt.Sprintf("%d %q", db, e.Key())] = describe(e)
				})
				if cursor == 0 {
					break
				}
			}
		}
	}
	return all
}

// describe leaves out how a value is kept: of digits that INCRBYFLOAT made, Redis's journal does
// not keep that either.
func describe(e keyspace.Entry) string {
	var scratch keyspace.Scratch
	return fmt.Sprintf("%v until %d: %q", e.Type(), e.Deadline().Milli(), e.Bytes(&scratch))
}

// TestJournalReplaysToTheSameData: what the listener was told, in the order in which it was told,
// gives the same keys, whoever did it: several loops at once, gathers, slow commands, the sweeper.
func TestJournalReplaysToTheSameData(t *testing.T) {
	const clients = 8
	seed := seedOf(t)
	log := &recorder{}
	r := newRig(t, Options{Partitions: 16, Listener: log})
	still := r.meddle(newDice(seed, 1000), 40*time.Microsecond)
	start := time.Now().UnixNano()
	stop := time.Now().Add(span(700*time.Millisecond, time.Minute))
	together(clients, func(i int) {
		c := r.client()
		a := newAuthor(c, newDice(seed, i))
		for n := 0; time.Now().Before(stop) || n%500 != 0; n++ { // at the end, without a flush
			switch a.dice.IntN(100) {
			case 0:
				c.do("SELECT", a.pick("0", "0", "1"))
			case 1:
				if n%500 < 20 {
					c.do(a.pick("FLUSHDB", "FLUSHALL"))
				}
			case 2:
				c.do("SWAPDB", "0", a.pick("0", "1"))
			case 3, 4, 5, 6:
				a.far = a.one(2)
				v := fmt.Sprint(i, "-", n)
				c.do("MSETEX", "2", "pair1", v, "pair2", v, "EX", "1000")
			case 7, 8: // short-lived keys that nobody touches again
				for k := range 20 {
					c.do("SET", fmt.Sprint("brief", i, "-", n, "-", k), "x", "PX", "20")
				}
			default:
				c.do(a.line()...)
			}
		}
	})
	until(t, func() bool { // the sweeper has been there
		return r.partitions[0].counters.Expired > 0 || log.count("expired") > 0
	})
	still()
	r.close()
	want := r.digest()
	if len(log.faults) > 0 {
		t.Errorf("%d effects of keys that no watcher was told of, such as %s", len(log.faults),
			log.faults[0])
	}
	for _, event := range []string{"set", "del", "expired", "rename_to", "new", "keymiss"} {
		if log.events[event] == 0 {
			t.Errorf("no event %q", event)
		}
	}

	again := newRig(t, Options{Partitions: 4, Clock: func() int64 { return start }})
	c := again.client()
	c.now = func() int64 { return start } // nothing expires by itself
	c.do("DEBUG", "SET-ACTIVE-EXPIRE", "0")
	effects := 0
	for _, entries := range log.journal {
		for _, e := range entries {
			effects++
			c.conn.DB = e.db
			if reply := c.do(e.argv...); strings.HasPrefix(reply, "-") {
				t.Errorf("%.200q in database %d is journaled, but says %s", e.argv, e.db, reply)
			}
		}
		for c.conn.DB = range 2 { // each entry is whole
			values := elements(c.do("MGET", "pair1", "pair2"))
			if values[0] != values[1] {
				t.Fatalf("after %.300s: %q", fmt.Sprint(entries), values)
			}
		}
	}
	again.close()
	got := again.digest()
	for key, v := range want {
		if got[key] != v {
			t.Errorf("key %s: want %.100s, got %.100s", key, v, got[key])
		}
	}
	for key, v := range got {
		if want[key] == "" {
			t.Errorf("key %s: want none, got %.100s", key, v)
		}
	}
	t.Logf("%d entries, %d effects, %d events of expiry, %d keys", len(log.journal), effects,
		log.events["expired"], len(want))
}

func (r *recorder) count(event string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.events[event]
}

// TestListenerIsToldWhileKeysAreHeld: between a change and its journal entry nobody else gets to
// the key, also where the command is a slow one. So order in the journal is execution order.
func TestListenerIsToldWhileKeysAreHeld(t *testing.T) {
	seed := seedOf(t)
	watch := &ordered{}
	r := newRig(t, Options{Partitions: 8, Listener: watch})
	stop := time.Now().Add(span(300*time.Millisecond, 10*time.Second))
	together(6, func(i int) {
		c, dice := r.client(), newDice(seed, i)
		for time.Now().Before(stop) {
			words := []string{"MSET"}
			n := 1 + dice.IntN(4)
			if dice.IntN(8) == 0 {
				n = quickKeysMax + 2
			}
			for range n {
				words = append(words, fmt.Sprint("k", dice.IntN(8)), "v")
			}
			c.do(words...)
		}
	})
	if n := watch.faults.Load(); n > 0 {
		t.Errorf("%d times a key was changed by another call before the change was journaled", n)
	}
}

// ordered checks that Changed of a key and the entry that names it are not interleaved with those
// of other calls.
type ordered struct {
	recorder
	open   [8]atomic.Int64 // changes of each key not journaled yet
	faults atomic.Int64
}

func (o *ordered) Changed(_ int, key []byte) { o.open[key[1]-'0'].Add(1) }

func (o *ordered) Event(commands.Class, string, int, []byte) {}

func (o *ordered) Journal(effects []commands.Effect) {
	var named [8]int64
	for _, e := range effects {
		keys, _ := commands.Lookup(e.Args[0]).FindKeys(e.Args, nil)
		for _, k := range keys {
			named[k[1]-'0']++
		}
	}
	for k, n := range named {
		if n > 0 && o.open[k].Swap(0) != n {
			o.faults.Add(1)
		}
	}
}
