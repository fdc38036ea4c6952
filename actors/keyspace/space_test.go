package keyspace

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"go.uber.org/goleak"

	"kiln/actors/keyspace/arena"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rounds gives the number of operations of a model test: many with KILN_LONG=1.
func rounds(short, long int) int {
	if os.Getenv("KILN_LONG") != "" {
		return long
	}
	return short
}

const (
	testSeed = 0x5eed
	testNow  = int64(1_700_000_000) * second
)

// testDepot serves all models: a depot never unmaps its chunks.
var testDepot = arena.NewDepot()

// stored is what the model knows of a key.
type stored struct {
	value    []byte
	encoding string
	deadline Deadline
}

// model is a space and what should be in it.
type model struct {
	t     *testing.T
	s     *Space
	a     *arena.Arena
	r     *rand.Rand
	want  map[string]*stored
	names []string // the keys of want, to draw from
	index map[string]int
	now   int64
}

func newSpace(d *arena.Depot) (*Space, *arena.Arena) {
	a := arena.New(d)
	return New(a, testSeed, 1, NewSettings(), &Counters{}), a
}

func newModel(t *testing.T, seed uint64) *model {
	m := &model{
		t: t, r: rand.New(rand.NewPCG(seed, 3)),
		want: map[string]*stored{}, index: map[string]int{}, now: testNow,
	}
	m.s, m.a = newSpace(testDepot)
	return m
}

func (m *model) note(key []byte, v *stored) {
	name := string(key)
	if _, ok := m.want[name]; !ok {
		m.index[name] = len(m.names)
		m.names = append(m.names, name)
	}
	m.want[name] = v
}

func (m *model) forget(key []byte) {
	name := string(key)
	i, last := m.index[name], m.names[len(m.names)-1]
	m.names[i], m.index[last] = last, i
	m.names = m.names[:len(m.names)-1]
	delete(m.index, name)
	delete(m.want, name)
}

// key draws a key: mostly one of a limited number of short ones.
func (m *model) key() []byte {
	switch m.r.IntN(50) {
	case 0:
		return pattern(m.r, []int{0, 1, 255, 256, 257, 1000}[m.r.IntN(6)], m.r.IntN(3))
	case 1:
		if m.r.IntN(20) == 0 {
			return pattern(m.r, 70_000, m.r.IntN(3))
		}
	}
	return fmt.Appendf(nil, "key:%d", m.r.IntN(3000))
}

// pattern is n bytes, the same ones for the same n and kind.
func pattern(_ *rand.Rand, n, kind int) []byte {
	b := bytes.Repeat([]byte{'a' + byte(kind), 'x', byte(n)}, n/3+1)
	return b[:n]
}

func (m *model) value() []byte {
	n := 0
	switch k := m.r.IntN(1000); {
	case k < 2:
		n = 1<<20 - 1 + m.r.IntN(3)
	case k < 10:
		n = 65535 + m.r.IntN(3) - 1
	case k < 40:
		n = 4096 + m.r.IntN(3) - 1
	case k < 100:
		n = 44 + m.r.IntN(3) - 1
	case k < 150:
		n = m.r.IntN(2)
	case k < 300:
		return strconv.AppendInt(nil, m.r.Int64()>>m.r.IntN(64)-m.r.Int64()>>m.r.IntN(64), 10)
	case k < 350:
		n = m.r.IntN(20_000)
	default:
		n = m.r.IntN(300)
	}
	b := make([]byte, n)
	mark := byte(m.r.Uint32())
	for i := range b {
		b[i] = mark + byte(i)
	}
	return b
}

func (m *model) deadline() Deadline {
	switch m.r.IntN(10) {
	case 0, 1, 2, 3:
		return 0
	case 4:
		return AtMilli(9_223_372_036_854 + m.r.Int64N(1000)) // about the end of nanoseconds
	case 5:
		return AtNano(m.now + m.r.Int64N(1000))
	default:
		return AtMilli(m.now/nanoMilli + 1 + m.r.Int64N(1_000_000))
	}
}

// find looks a key up and holds what it gives to the model.
func (m *model) find(key []byte) Entry {
	m.t.Helper()
	e := m.s.Find(key, m.s.Hash(key))
	want := m.want[string(key)]
	if e.Exists() != (want != nil) {
		m.t.Fatalf("key %.20q: want %v, got %v", key, want != nil, e.Exists())
	}
	if want != nil {
		m.verify(e, key, want)
	} else if got := e.Type(); got != None {
		m.t.Fatalf("key %.20q: type %v", key, got)
	}
	return e
}

func (m *model) verify(e Entry, key []byte, want *stored) {
	m.t.Helper()
	var scratch Scratch
	if got := e.Bytes(&scratch); !bytes.Equal(want.value, got) {
		m.t.Fatalf("key %.20q: want %d bytes %.60q, got %d bytes %.60q",
			key, len(want.value), want.value, len(got), got)
	}
	if !bytes.Equal(key, e.Key()) || e.Len() != len(want.value) || e.Type() != String {
		m.t.Fatalf("key %.20q, type %v, length %d", e.Key(), e.Type(), e.Len())
	}
	if got := e.EncodingName(); want.encoding != got {
		m.t.Fatalf("encoding of %.50q: want %s, got %s", want.value, want.encoding, got)
	}
	if n, ok := e.Int(); ok != (want.encoding == "int") ||
		ok && strconv.FormatInt(n, 10) != string(want.value) {
		m.t.Fatalf("Int of %.50q: %d %v", want.value, n, ok)
	}
	if got := e.Deadline(); want.deadline != got {
		m.t.Fatalf("key %.20q: deadline: want %d, got %d", key, want.deadline, got)
	}
	if want, got := want.deadline != 0 && want.deadline.Passed(m.now), e.Expired(m.now); want != got {
		m.t.Fatalf("key %.20q: expired: want %v, got %v", key, want, got)
	}
}

func encodingOf(value []byte, text bool) string {
	n, err := strconv.ParseInt(string(value), 10, 64)
	switch {
	case !text && err == nil && strconv.FormatInt(n, 10) == string(value):
		return "int"
	case len(value) <= 44:
		return "embstr"
	default:
		return "raw"
	}
}

func (m *model) set() {
	key, value := m.key(), m.value()
	old := m.want[string(key)]
	e, h := m.find(key), m.s.Hash(key)
	v := &stored{deadline: m.deadline()}
	given := v.deadline
	if m.r.IntN(3) == 0 {
		given, v.deadline = KeepDeadline, 0
		if old != nil {
			v.deadline = old.deadline
		}
	}
	switch m.r.IntN(4) {
	case 0:
		n := m.r.Int64() >> m.r.IntN(64)
		v.value, v.encoding = strconv.AppendInt(nil, n, 10), "int"
		e = m.s.SetInt(e, key, h, n, given, m.now)
	case 1:
		v.value, v.encoding = value, encodingOf(value, true)
		e = m.s.SetText(e, key, h, value, given, m.now)
	default:
		v.value, v.encoding = value, encodingOf(value, false)
		e = m.s.SetString(e, key, h, value, given, m.now)
	}
	m.note(key, v)
	m.verify(e, key, v)
}

func (m *model) grow() {
	key := m.key()
	e := m.find(key)
	if !e.Exists() {
		return
	}
	v := m.want[string(key)]
	n := len(v.value) + m.r.IntN(40)
	switch m.r.IntN(30) {
	case 0:
		n = max(n, 65536+m.r.IntN(3)-1)
	case 1, 2:
		n = max(n, 4096+m.r.IntN(3)-1)
	case 3:
		n += m.r.IntN(10_000)
	case 4:
		n = len(v.value)
	}
	e, b := m.s.Grow(e, n, m.now)
	if len(b) != n {
		m.t.Fatalf("grown to %d, got %d bytes", n, len(b))
	}
	v.value = append(slices.Clone(v.value), make([]byte, n-len(v.value))...)
	v.encoding = "raw"
	m.verify(e, key, v)
	for range min(n, 5) {
		i := m.r.IntN(n)
		b[i], v.value[i] = byte(i), byte(i)
	}
	m.verify(e, key, v)
}

func (m *model) setDeadline() {
	key := m.key()
	e := m.find(key)
	if !e.Exists() {
		return
	}
	v, before := m.want[string(key)], m.s.Changes()
	old := v.deadline
	v.deadline = m.deadline()
	e = m.s.SetDeadline(e, v.deadline)
	m.verify(e, key, v)
	if old == 0 && v.deadline == 0 && m.s.Changes() != before {
		m.t.Fatal("no deadline taken from a key without one counts as a change")
	}
}

func (m *model) delete() {
	key := m.key()
	if e := m.find(key); e.Exists() {
		m.s.Delete(e)
		m.forget(key)
		m.find(key)
	}
}

// copyOrMove copies or renames a key to another one of the space.
func (m *model) copyOrMove() {
	from, to := m.key(), m.key()
	e := m.find(from)
	if !e.Exists() || bytes.Equal(from, to) {
		return
	}
	if old := m.find(to); old.Exists() {
		m.s.Delete(old)
		m.forget(to)
		e = m.find(from)
	}
	v := *m.want[string(from)]
	v.value = slices.Clone(v.value)
	if m.r.IntN(2) == 0 {
		e = m.s.Copy(e, m.s, to)
	} else {
		e = m.s.Move(e, m.s, to)
		m.forget(from)
	}
	m.note(to, &v)
	m.verify(e, to, &v)
	m.find(from)
}

// due lets time pass and takes out what is due then, earliest first.
func (m *model) due() {
	m.now += m.r.Int64N(int64(200) * 1e6)
	last := Deadline(0)
	for {
		e := m.s.Due(m.now)
		if !e.Exists() {
			break
		}
		d, key := e.Deadline(), bytes.Clone(e.Key())
		if d < last || !d.Passed(m.now) {
			m.t.Fatalf("due: deadline %d after %d at %d", d, last, m.now)
		}
		last = d
		m.verify(e, key, m.want[string(key)])
		if m.r.IntN(4) == 0 { // it may get another life
			v := m.want[string(key)]
			v.deadline = AtNano(m.now + 1 + m.r.Int64N(1e12))
			m.s.SetDeadline(e, v.deadline)
			continue
		}
		m.s.Delete(e)
		m.forget(key)
	}
	if next := m.s.NextDeadline(); next != 0 && AtNano(next).Passed(m.now) {
		m.t.Fatalf("a key due at %d is left at %d", next, m.now)
	}
}

func (m *model) step() {
	switch k := m.r.IntN(100); {
	case k < 40:
		m.set()
	case k < 55:
		m.grow()
	case k < 70:
		m.setDeadline()
	case k < 85:
		m.delete()
	case k < 95:
		m.copyOrMove()
	case k < 96:
		m.due()
	default:
		key := m.key()
		if e := m.find(key); e.Exists() {
			m.s.Touch(e, m.now)
			m.find(key)
		}
	}
	if len(m.names) > 0 && m.r.IntN(20) == 0 {
		e := m.s.Random()
		m.verify(e, e.Key(), m.want[string(e.Key())])
	}
}

// check compares all of the space with the model.
func (m *model) check() {
	m.t.Helper()
	timed, next := 0, Deadline(0)
	for name, v := range m.want {
		m.find([]byte(name))
		if v.deadline != 0 {
			timed++
			if next == 0 || v.deadline < next {
				next = v.deadline
			}
		}
	}
	want := [3]int64{int64(len(m.want)), int64(timed), next.Nano()}
	if got := [3]int64{int64(m.s.Len()), int64(m.s.Timed()), m.s.NextDeadline()}; want != got {
		m.t.Fatalf("keys, timed, next deadline: want %v, got %v", want, got)
	}
	checkHeap(m.t, &m.s.expiry)
	seen := map[string]int{}
	for cursor := uint64(0); ; {
		cursor = m.s.Scan(cursor, 10, func(e Entry) { seen[string(e.Key())]++ })
		if cursor == 0 {
			break
		}
	}
	if len(seen) != len(m.want) {
		m.t.Fatalf("a scan gave %d of %d keys", len(seen), len(m.want))
	}
}

func checkHeap(t *testing.T, x *expiry) {
	t.Helper()
	for i := range x.n {
		d, rec := x.deadline(i), arena.Addr(arena.Load(x.at(i)+8))
		e := Entry{rec: rec}
		if got := e.Deadline(); d != got {
			t.Fatalf("node %d has deadline %d, its record %d", i, d, got)
		}
		if got := int(arena.Load(e.timed(e.header()) + 8)); got != i {
			t.Fatalf("node %d: its record says %d", i, got)
		}
		if parent := (i - 1) / 4; i > 0 && x.deadline(parent) > d {
			t.Fatalf("node %d comes before its parent", i)
		}
	}
	if least, got := (x.n+blockNodes-1)/blockNodes, len(x.blocks); got < least || got > least+1 {
		t.Fatalf("%d blocks for %d nodes", got, x.n)
	}
}

func TestSpaceKeepsItsKeys(t *testing.T) {
	for seed := range uint64(rounds(2, 10)) {
		m := newModel(t, seed)
		n := rounds(20_000, 400_000)
		for i := range n {
			m.step()
			if i%(n/4) == 0 {
				m.check()
			}
		}
		m.check()
		for len(m.names) > 0 {
			key := []byte(m.names[m.r.IntN(len(m.names))])
			m.s.Delete(m.find(key))
			m.forget(key)
		}
		m.check()
		if most, got := int64(arena.SizeOf(512)), m.a.Used(); got > most {
			t.Errorf("in use when all is deleted: want at most %d, got %d", most, got)
		}
	}
}

// Every length at which a layout changes, each as a new key, over another and from another.
func TestBordersOfLayouts(t *testing.T) {
	keys := []int{0, 1, 16, 255, 256, 70_000}
	values := []int{0, 1, 8, 20, 44, 45, 4096, 4097, 65_535, 65_536, 1 << 20}
	for _, key := range keys {
		for _, from := range values {
			for _, to := range values {
				if (key != 16 || from+to > 1<<20) && from+to > 4200 && from != to {
					continue
				}
				m := newModel(t, 0)
				name := pattern(nil, key, 0)
				for _, deadline := range []Deadline{0, AtMilli(5e12), KeepDeadline, 0, AtNano(7)} {
					for _, n := range []int{from, to} {
						m.put(name, pattern(nil, n, 1), deadline)
					}
				}
				m.check()
				m.s.Delete(m.find(name))
				m.forget(name)
				m.check()
			}
		}
	}
}

// put sets a string and notes it.
func (m *model) put(key, value []byte, deadline Deadline) {
	m.t.Helper()
	old := m.want[string(key)]
	e := m.s.SetString(m.find(key), key, m.s.Hash(key), value, deadline, m.now)
	if deadline == KeepDeadline {
		if deadline = 0; old != nil {
			deadline = old.deadline
		}
	}
	v := &stored{value, encodingOf(value, false), deadline}
	m.note(key, v)
	m.verify(e, key, v)
}

// A caller may well set what it has read, in whole or in part.
func TestValueOfTheRecordItself(t *testing.T) {
	for _, from := range []int{5, 40, 100, 4000, 5000, 100_000} {
		for _, to := range []int{0, 1, 30, 45, 3999, 4097, 90_000} {
			if to > from {
				continue
			}
			for i, deadline := range []Deadline{0, 0, AtMilli(5e12), AtMilli(5e12)} {
				off := i % 2 * (from - to)
				m := newModel(t, 0)
				key, value := []byte("self"), pattern(nil, from, 2)
				m.put(key, value, 0)
				e := m.find(key)
				var scratch Scratch
				part := e.Bytes(&scratch)[off : off+to]
				e = m.s.SetString(e, key, m.s.Hash(key), part, deadline, m.now)
				v := &stored{value[off : off+to], encodingOf(value[off:off+to], false), deadline}
				m.note(key, v)
				m.verify(e, key, v)
			}
		}
	}
}

func TestCopyAndMoveBetweenSpaces(t *testing.T) {
	for _, shared := range []bool{true, false} {
		for _, n := range []int{0, 10, 100, 4097, 70_000} {
			m, to := newModel(t, 1), newModel(t, 2)
			if shared {
				to.a = m.a
				to.s = New(m.a, testSeed, 1, NewSettings(), &Counters{})
			}
			for i := range 100 {
				key := fmt.Appendf(nil, "key:%d", i)
				m.put(key, pattern(nil, n, i%3), Deadline(i%2)*AtMilli(5e12))
				v := m.want[string(key)]
				to.verify(m.s.Copy(m.find(key), to.s, key), key, v)
				to.note(key, v)
				other := append(key, "moved"...)
				moved := m.s.Move(m.find(key), to.s, other)
				to.verify(moved, other, v)
				to.note(other, v)
				m.forget(key)
			}
			m.check()
			to.check()
		}
	}
}

func TestDropFreesAll(t *testing.T) {
	m := newModel(t, 4)
	for i := range 20_000 {
		m.put(fmt.Appendf(nil, "key:%d", i), pattern(nil, i%6000, 0), Deadline(i%3)*AtMilli(5e12))
	}
	calls := 1
	for ; m.s.Drop(2); calls++ {
		if m.s.Timed() != 0 || m.s.NextDeadline() != 0 || m.s.Due(1<<62).Exists() {
			t.Fatal("a space that is dropped has keys that are due")
		}
	}
	if calls < 10 {
		t.Errorf("dropped in %d calls", calls)
	}
	if got := [3]int64{int64(m.s.Len()), int64(m.s.Timed()), m.s.NextDeadline()}; got != [3]int64{} {
		t.Errorf("keys, timed, next deadline: %v", got)
	}
	if got := m.a.Used(); got != 0 {
		t.Errorf("in use: %d", got)
	}
}

func TestCanonicalInt(t *testing.T) {
	cases := []string{
		"", "-", "0", "-0", "00", "01", "+1", " 1", "1 ", "1a", "a", "-1", "-01", "9", "10", "--1",
		"9223372036854775807", "9223372036854775808", "-9223372036854775808",
		"-9223372036854775809", "18446744073709551615", "18446744073709551616",
		"18446744073709551617", "99999999999999999999", "-99999999999999999999",
		"9999999999999999999", "-9999999999999999999", "1234567890123456789", "1.0", "1e3", "/", ":",
	}
	r := rand.New(rand.NewPCG(5, 5))
	for range rounds(20_000, 2_000_000) {
		b := []byte(cases[r.IntN(30)])
		if len(b) > 0 {
			b[r.IntN(len(b))] = "0123456789-+ "[r.IntN(13)]
		}
		cases = append(cases, string(b), strconv.FormatInt(r.Int64()>>r.IntN(64), 10))
	}
	for _, c := range cases {
		want, err := strconv.ParseInt(c, 10, 64)
		canonical := err == nil && strconv.FormatInt(want, 10) == c
		if got, ok := canonicalInt([]byte(c)); ok != canonical || ok && got != want {
			t.Fatalf("%q: want %d %v, got %d %v", c, want, canonical, got, ok)
		}
	}
}

func Example() {
	s := New(arena.New(arena.NewDepot()), 1, 1, NewSettings(), &Counters{})
	key := []byte("greeting")
	h := s.Hash(key)
	s.SetString(s.Find(key, h), key, h, []byte("hello"), AtMilli(1000), 0)
	e := s.Find(key, h)
	var scratch Scratch
	fmt.Println(string(e.Bytes(&scratch)), e.EncodingName(), e.Deadline().Milli())
	s.Delete(s.Due(2000 * 1e6))
	fmt.Println(s.Find(key, h).Exists(), s.Len())
	// Output:
	// hello embstr 1000
	// false 0
}
