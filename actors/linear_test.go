package actors

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"kiln/wire/resp"
)

const linearKeys = 4

// linearState is the whole keyspace: of each key "" or "=" and its value. It compares with ==.
type linearState [linearKeys]string

// linearOp is a command line, its keys by number.
type linearOp struct {
	name string
	keys []int
	args []string // of MSET and MSETNX one for each key
}

func (o linearOp) String() string {
	s := o.name
	for i, k := range o.keys {
		if s += " k" + strconv.Itoa(k); o.pairs() {
			s += " " + brief(o.args[i])
		}
	}
	if !o.pairs() {
		for _, a := range o.args {
			s += " " + brief(a)
		}
	}
	return s
}

func brief(s string) string {
	if len(s) > 40 {
		return fmt.Sprintf("%.8s...(%d)", s, len(s))
	}
	return s
}

func (o linearOp) pairs() bool { return o.name == "MSET" || o.name == "MSETNX" }

// words gives the command line, each key's name behind a prefix.
func (o linearOp) words(prefix string) []string {
	words := []string{o.name}
	for i, k := range o.keys {
		if words = append(words, prefix+strconv.Itoa(k)); o.pairs() {
			words = append(words, o.args[i])
		}
	}
	if !o.pairs() {
		words = append(words, o.args...)
	}
	return words
}

func (s linearState) get(k int) string {
	if s[k] == "" {
		return "$-1\r\n"
	}
	return bulk(s[k][1:])
}

// apply is the sequential Redis that histories are held to.
func (s linearState) apply(o linearOp) (linearState, string) {
	const ok = "+OK\r\n"
	switch k := o.keys[0]; o.name {
	case "GET":
		return s, s.get(k)
	case "SET":
		s[k] = "=" + o.args[0]
		return s, ok
	case "INCR":
		n := int64(0)
		if s[k] != "" {
			var valid bool
			if n, valid = resp.ParseInt([]byte(s[k][1:])); !valid {
				return s, "-ERR value is not an integer or out of range\r\n"
			}
		}
		s[k] = "=" + strconv.FormatInt(n+1, 10)
		return s, fmt.Sprintf(":%d\r\n", n+1)
	case "APPEND":
		if s[k] == "" {
			s[k] = "="
		}
		s[k] += o.args[0]
		return s, fmt.Sprintf(":%d\r\n", len(s[k])-1)
	case "MSET":
		for i, k := range o.keys {
			s[k] = "=" + o.args[i]
		}
		return s, ok
	case "MSETNX":
		for _, k := range o.keys {
			if s[k] != "" {
				return s, ":0\r\n"
			}
		}
		for i, k := range o.keys {
			s[k] = "=" + o.args[i]
		}
		return s, ":1\r\n"
	case "MGET":
		var replies []string
		for _, k := range o.keys {
			replies = append(replies, s.get(k))
		}
		return s, array(replies...)
	case "DEL":
		n := 0
		for _, k := range o.keys {
			if s[k] != "" {
				s[k] = ""
				n++
			}
		}
		return s, fmt.Sprintf(":%d\r\n", n)
	case "RENAME":
		if s[k] == "" {
			return s, "-ERR no such key\r\n"
		}
		v := s[k]
		s[k] = ""
		s[o.keys[1]] = v
		return s, ok
	case "COPY":
		to := o.keys[1]
		if s[k] == "" || s[to] != "" {
			return s, ":0\r\n"
		}
		s[to] = s[k]
		return s, ":1\r\n"
	}
	panic(o.name)
}

var linearModel = porcupine.Model{
	Init: func() any { return linearState{} },
	Step: func(state, input, output any) (bool, any) {
		next, want := state.(linearState).apply(input.(linearOp))
		return want == output.(string), next
	},
}

// randomOp draws a command; some have many keys or a long value, so that they are slow ones.
func randomOp(dice *rand.Rand, serial int) linearOp {
	value := func() string {
		if dice.IntN(40) == 0 {
			return strconv.Itoa(serial) + strings.Repeat("x", 140<<10) // more than is quick
		}
		return strconv.Itoa(serial)
	}
	some := func(least int) []int {
		n := least + dice.IntN(linearKeys-least+1)
		keys := dice.Perm(linearKeys)[:n]
		if dice.IntN(6) == 0 { // so many that it is slow
			for len(keys) < quickKeysMax+6 {
				keys = append(keys, keys[dice.IntN(n)])
			}
		}
		return keys
	}
	one := []int{dice.IntN(linearKeys)}
	two := dice.Perm(linearKeys)[:2]
	args := func(keys []int) (args []string) {
		for i := range keys {
			args = append(args, fmt.Sprintf("%d%02d", serial, i))
		}
		args[dice.IntN(len(args))] = value()
		return args
	}
	switch dice.IntN(16) {
	case 0, 1:
		return linearOp{"GET", one, nil}
	case 2, 3:
		return linearOp{"SET", one, []string{value()}}
	case 4:
		return linearOp{"INCR", one, nil}
	case 5:
		return linearOp{"APPEND", one, []string{strconv.Itoa(serial % 10)}}
	case 6, 7:
		keys := some(2)
		return linearOp{"MSET", keys, args(keys)}
	case 8, 9, 10:
		return linearOp{"MGET", some(2), nil}
	case 11:
		keys := some(1)
		return linearOp{"MSETNX", keys, args(keys)}
	case 12, 13:
		return linearOp{"DEL", some(1), nil}
	case 14:
		return linearOp{"RENAME", two, nil}
	default:
		return linearOp{"COPY", two, nil}
	}
}

// history lets clients run random commands on a few keys at once, and notes what they saw. torn
// plants a fault: an MSET that is two.
func (r *rig) history(clients []*client, seed uint64, prefix string, ops int, torn bool,
) []porcupine.Operation {
	var clock atomic.Int64
	notes := make([][]porcupine.Operation, len(clients))
	together(len(clients), func(i int) {
		dice := newDice(seed, i)
		for n := range ops {
			op := randomOp(dice, 1+i+len(clients)*n)
			note := porcupine.Operation{ClientId: i, Input: op, Call: clock.Add(1)}
			if torn && op.name == "MSET" {
				half := linearOp{"MSET", op.keys[:1], op.args[:1]}
				clients[i].do(half.words(prefix)...)
				rest := linearOp{"MSET", op.keys[1:], op.args[1:]}
				note.Output = clients[i].do(rest.words(prefix)...)
			} else {
				note.Output = clients[i].do(op.words(prefix)...)
			}
			note.Return = clock.Add(1)
			notes[i] = append(notes[i], note)
		}
	})
	var all []porcupine.Operation
	for _, n := range notes {
		all = append(all, n...)
	}
	return all
}

func tell(history []porcupine.Operation) string {
	var b bytes.Buffer
	for _, o := range history {
		fmt.Fprintf(&b, "client %d, %d to %d: %v -> %.80q\n", o.ClientId, o.Call, o.Return, o.Input,
			o.Output)
	}
	return b.String()
}

// linear makes histories for a time, and gives how many of them no order explains.
func (r *rig) linear(seed uint64, forTime time.Duration, torn bool) (histories, illegal int,
	example []porcupine.Operation,
) {
	const workers, ops = 5, 7
	dice := newDice(seed, 1000)
	for range 2 {
		defer r.meddle(newDice(seed, 1001), 60*time.Microsecond)()
	}
	clients := make([]*client, workers)
	for i := range clients {
		clients[i] = r.client()
		clients[i].forced = i == workers-1
	}
	unknown := 0
	for until := time.Now().Add(forTime); time.Now().Before(until); histories++ {
		prefix := fmt.Sprintf("h%d:", histories)
		h := r.history(clients, dice.Uint64(), prefix, ops, torn)
		switch porcupine.CheckOperationsTimeout(linearModel, h, 10*time.Second) {
		case porcupine.Illegal:
			return histories, 1, h
		case porcupine.Unknown:
			unknown++
		}
	}
	parked := 0
	for _, c := range clients {
		parked += c.parked
	}
	r.t.Logf("%d histories of %d commands, of which %d had to wait", histories,
		histories*workers*ops, parked)
	if unknown > histories/20 {
		r.t.Errorf("%d of %d histories took too long to check", unknown, histories)
	}
	return histories, 0, nil
}

func TestHistoriesAreLinearizable(t *testing.T) {
	for _, partitions := range []int{1, 2, 7, 16} {
		t.Run(strconv.Itoa(partitions), func(t *testing.T) {
			seed := seedOf(t)
			r := newRig(t, Options{Partitions: partitions})
			_, illegal, h := r.linear(seed, span(800*time.Millisecond, time.Minute), false)
			if illegal > 0 {
				t.Errorf("no order of these commands explains their replies:\n%s", tell(h))
			}
		})
	}
}

// TestATornCommandIsFound: the test above can fail.
func TestATornCommandIsFound(t *testing.T) {
	seed := seedOf(t)
	r := newRig(t, Options{Partitions: 16})
	n, illegal, _ := r.linear(seed, patience, true)
	if illegal == 0 {
		t.Errorf("%d histories with an MSET that is two were all found to be linearizable", n)
	}
}
