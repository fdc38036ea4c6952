package actors

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kiln/wire/resp"
)

// TestGathersEndAndStayWhole is a storm of 64 clients on 8 keys: commands of 1 to 8 keys, slow
// ones, and those that need whole partitions. Each client must come on at all times; and pairs
// of keys that are only ever set together must never be seen apart.
func TestGathersEndAndStayWhole(t *testing.T) {
	const clients = 64
	seed := seedOf(t)
	r := newRig(t, Options{Partitions: 16})
	defer r.unheld()
	for i := range 2 {
		defer r.meddle(newDice(seed, 1000+i), 50*time.Microsecond)()
	}
	var counts [clients]atomic.Int64
	stop := time.Now().Add(span(2*time.Second, 10*time.Minute))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		together(clients, func(i int) {
			s := &storm{client: r.client(), dice: newDice(seed, i), serial: i * 1_000_000_000}
			for time.Now().Before(stop) && !t.Failed() {
				s.step()
				counts[i].Add(1)
			}
		})
	}()
	r.watch(t, counts[:], ended)
	total, least := int64(0), int64(1<<62)
	for i := range counts {
		total += counts[i].Load()
		least = min(least, counts[i].Load())
	}
	t.Logf("%d commands of %d clients, at least %d each", total, clients, least)
}

// watch fails if a client does not come on for long.
func (r *rig) watch(t *testing.T, counts []atomic.Int64, ended chan struct{}) {
	const period = 10 * time.Second // generous: the machine is shared
	last := make([]int64, len(counts))
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
		}
		for i := range counts {
			n := counts[i].Load()
			if n == last[i] && waits(ended) {
				r.hang("client %d has not come on from command %d for %v", i, n, period)
			}
			last[i] = n
		}
	}
}

// storm is a client of the test above.
type storm struct {
	*client
	dice   *rand.Rand
	serial int
}

// step runs a random command. The keys are p0a, p0b to p3a, p3b: both of a pair are always set to
// the same value, by one command; k0 to k7 are anybody's.
func (s *storm) step() {
	s.serial++
	value := strconv.Itoa(s.serial)
	pair := "p" + strconv.Itoa(s.dice.IntN(4))
	switch n := s.dice.IntN(200); {
	case n == 0:
		s.want("+OK\r\n", "FLUSHALL")
	case n < 3:
		s.want("+OK\r\n", "SWAPDB", "0", strconv.Itoa(s.dice.IntN(3)))
	case n < 4:
		s.do("FLUSHDB", "ASYNC")
	case n < 40:
		s.want("+OK\r\n", "MSET", pair+"a", value, pair+"b", value)
	case n < 90:
		s.same(s.do("MGET", pair+"a", pair+"b"))
	case n < 95: // slow by the number of keys
		words := []string{"MGET", pair + "a", pair + "b"}
		for range quickKeysMax {
			words = append(words, "none")
		}
		s.same(s.do(words...))
	case n < 98: // slow by the size of the value, and slow to be read
		value += strings.Repeat(".", 130<<10)
		s.want("+OK\r\n", "MSET", pair+"a", value, pair+"b", value)
	case n < 100:
		words := []string{"MSET"}
		for range quickKeysMax {
			words = append(words, pair+"a", value, pair+"b", value)
		}
		s.want("+OK\r\n", words...)
	case n < 104:
		s.do("DEL", pair+"a", pair+"b")
	case n < 106:
		s.do("MSETNX", pair+"a", value, pair+"b", value)
	case n < 108:
		s.do("RENAME", "k"+strconv.Itoa(s.dice.IntN(8)), "k"+strconv.Itoa(s.dice.IntN(8)))
	case n < 110:
		s.do("COPY", "k"+strconv.Itoa(s.dice.IntN(8)), "k"+strconv.Itoa(s.dice.IntN(8)), "REPLACE")
	case n < 112:
		s.do("KEYS", "*")
	case n < 130:
		s.do(append([]string{"MGET"}, s.some()...)...)
	case n < 140:
		s.do(append([]string{"DEL"}, s.some()...)...)
	case n < 150:
		s.do("APPEND", s.some()[0], "x")
	case n < 170:
		s.do("SET", s.some()[0], value)
	default:
		s.do("GET", s.some()[0])
	}
}

func (s *storm) some() (keys []string) {
	for _, k := range s.dice.Perm(8)[:1+s.dice.IntN(8)] {
		keys = append(keys, "k"+strconv.Itoa(k))
	}
	return keys
}

// same checks that an MGET of pairs has pairs alike.
func (s *storm) same(reply string) {
	values := elements(reply)
	for i := 0; i < len(values); i += 2 {
		if values[i] != values[i+1] {
			s.rig.t.Errorf("a pair was torn: %.80q and %.80q", values[i], values[i+1])
		}
	}
}

// elements gives the bulk strings of an array.
func elements(reply string) (values []string) {
	_, rest, _ := strings.Cut(reply, "\r\n")
	for rest != "" {
		head, tail, _ := strings.Cut(rest, "\r\n")
		n, _ := strconv.Atoi(head[1:])
		if n < 0 {
			values, rest = append(values, "nil"), tail
			continue
		}
		values, rest = append(values, tail[:n]), tail[n+2:]
	}
	return values
}

// TestMgetSeesConstantSum: whoever moves amounts between accounts by MSET leaves the sum alone. All
// transfers are one client's for each group of accounts, so that it knows their balances.
func TestMgetSeesConstantSum(t *testing.T) {
	const groups, accounts, sum = 4, 6, 600
	seed := seedOf(t)
	r := newRig(t, Options{Partitions: 16})
	defer r.unheld()
	defer r.meddle(newDice(seed, 1000), 50*time.Microsecond)()
	account := func(g, i int) string { return fmt.Sprintf("account:%d:%d", g, i) }
	setup := r.client()
	for g := range groups {
		for i := range accounts {
			setup.do("SET", account(g, i), strconv.Itoa(sum/accounts))
		}
	}
	stop := time.Now().Add(span(400*time.Millisecond, 20*time.Second))
	var reads, transfers atomic.Int64
	together(3*groups, func(i int) {
		c, g, dice := r.client(), i%groups, newDice(seed, i)
		var balance [accounts]int
		for i := range balance {
			balance[i] = sum / accounts
		}
		for time.Now().Before(stop) && !t.Failed() {
			if i < groups {
				from, to, n := dice.IntN(accounts), dice.IntN(accounts), dice.IntN(50)
				if from == to {
					continue
				}
				balance[from] -= n
				balance[to] += n
				words := []string{"MSET", account(g, from), strconv.Itoa(balance[from]),
					account(g, to), strconv.Itoa(balance[to])}
				if dice.IntN(10) == 0 { // a slow one
					for range quickKeysMax {
						words = append(words, words[1:5]...)
					}
				}
				c.want("+OK\r\n", words...)
				transfers.Add(1)
				continue
			}
			words := []string{"MGET"}
			for i := range accounts {
				words = append(words, account(g, i))
			}
			for i%3 == 2 && len(words) < quickKeysMax+2 {
				words = append(words, account(g, 0))
			}
			total := 0
			for _, v := range elements(c.do(words...))[:accounts] {
				n, _ := resp.ParseInt([]byte(v))
				total += int(n)
			}
			if total != sum {
				t.Errorf("want a sum of %d, got %d", sum, total)
			}
			reads.Add(1)
		}
	})
	t.Logf("%d transfers, %d reads", transfers.Load(), reads.Load())
}

// TestAdmissionIsInOrder: a gather that waits is not overtaken by one that needs its partitions,
// while those that do not share any run beside each other.
func TestAdmissionIsInOrder(t *testing.T) {
	r := newRig(t, Options{Partitions: 8})
	defer r.unheld()
	var keys [8]string // one of each partition
	for i := range 1000 {
		key := "k" + strconv.Itoa(i)
		_, p := r.place([]byte(key))
		keys[p] = key
	}
	r.partitions[1].await()
	a, b, c := r.client(), r.client(), r.client()
	first := a.start("MSET", keys[0], "1", keys[1], "1")
	until(t, func() bool { // it has entered the first of its partitions
		entered := r.partitions[0].enter()
		if entered {
			r.partitions[0].leave()
		}
		return !entered
	})
	second := b.start("MSET", keys[0], "2", keys[2], "2") // free, but behind the first
	c.forced = true
	third := c.start("MSET", keys[2], "3", keys[3], "3") // free, but behind the second
	d := r.client()
	d.forced = true
	wait(r, d.start("MSET", keys[4], "4", keys[5], "4"), "a gather that shares no partition")
	if !waits(first) || !waits(second) || !waits(third) {
		t.Error("a gather ran without its partitions, or overtook one")
	}
	r.partitions[1].leave()
	wait(r, first, "the first gather")
	wait(r, second, "the second gather")
	wait(r, third, "the third gather")
	d.want(bulk("2"), "GET", keys[0])
	d.want(bulk("1"), "GET", keys[1])
	d.want(bulk("3"), "GET", keys[2])
}
