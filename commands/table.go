package commands

import (
	"slices"
	"strings"
)

// table is all rows. Handlers, which the rows name, cannot name the table (Go would see a cycle):
// they have it from Spec.table.
var table = build(
	stringCommands,
	genericCommands,
	keyspaceCommands,
	connectionCommands,
	commandCommands,
	serverCommands,
)

// Table is a set of commands: its rows, sorted by name, and an index of them.
type Table struct {
	rows  []*Spec
	slots [slotCount]*Spec
}

const (
	slotCount = 1 << 11
	nameMax   = 32
)

// build concatenates the families, completes the rows and makes the index: open addressing, the
// hash in nameHash. A name declared twice is a fault of ours and stops the start.
func build(families ...[]Spec) *Table {
	t := new(Table)
	for _, family := range families {
		for i := range family {
			t.rows = append(t.rows, complete(&family[i], nil, t))
		}
	}
	slices.SortFunc(t.rows, func(a, b *Spec) int { return strings.Compare(a.Name, b.Name) })
	for i, spec := range t.rows {
		spec.index = i
		if i > 0 && t.rows[i-1].Name == spec.Name {
			panic("commands: " + spec.Name + " is declared twice")
		}
		at := nameHash([]byte(spec.Name))
		for t.slots[at] != nil {
			at = (at + 1) % slotCount
		}
		t.slots[at] = spec
	}
	return t
}

func complete(s, parent *Spec, t *Table) *Spec {
	s.table, s.parent, s.full = t, parent, s.Name
	if parent != nil {
		s.full = parent.Name + "|" + s.Name
	}
	if len(s.Keys) == 1 && s.Keys[0].simple() {
		k := s.Keys[0]
		s.first, s.gap, s.last = k.At, k.Step, k.Last
		if k.Last >= 0 {
			s.last = k.At + k.Last
		}
	}
	s.categories = s.Categories | implied(s)
	for i := range s.Subs {
		complete(&s.Subs[i], s, t)
	}
	return s
}

func (k *KeySpec) simple() bool {
	return k.Keyword == "" && !k.Counted && k.Limit == 0 && k.Flags&KeyNotKey == 0 && k.Step > 0
}

// nameHash folds case: letters differ in one bit only.
func nameHash(name []byte) uint32 {
	h := uint32(len(name))
	for _, c := range name {
		h = h*31 + uint32(c|0x20)
	}
	return (h ^ h>>11) % slotCount
}

// Lookup finds a command's row by its name, in any case; nil if there is none.
func Lookup(name []byte) *Spec { return table.lookup(name) }

func (t *Table) lookup(name []byte) *Spec {
	if len(name) > nameMax {
		return nil
	}
	for at := nameHash(name); ; at = (at + 1) % slotCount {
		spec := t.slots[at]
		if spec == nil || sameName(name, spec.Name) {
			return spec
		}
	}
}

func sameName(word []byte, lower string) bool {
	if len(word) != len(lower) {
		return false
	}
	for i, c := range word {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

func (s *Spec) sub(name []byte) *Spec {
	for i := range s.Subs {
		if sameName(name, s.Subs[i].Name) {
			return &s.Subs[i]
		}
	}
	return nil
}

// container is the row that s is a subcommand of, or s itself.
func (s *Spec) container() *Spec {
	if s.parent != nil {
		return s.parent
	}
	return s
}

// FullName is the command's name; of a subcommand with its container's: "client|list".
func (s *Spec) FullName() string { return s.full }

// FindKeys appends the keys of a command line to dst. It fails where the arguments do not fit
// the key specs; the handler then says what is wrong.
func (s *Spec) FindKeys(argv, dst [][]byte) (keys [][]byte, ok bool) {
	if s.gap > 0 {
		last := s.last
		if last < 0 {
			last += len(argv)
		}
		if last >= len(argv) {
			return dst, false
		}
		for i := s.first; i <= last; i += s.gap {
			dst = append(dst, argv[i])
		}
		return dst, true
	}
	if s.Places != nil {
		places, ok := s.Places(argv, nil)
		for _, p := range places {
			dst = append(dst, argv[p.At])
		}
		return dst, ok
	}
	for i := range s.Keys {
		if s.Keys[i].Flags&KeyNotKey != 0 {
			continue
		}
		if dst, ok = s.Keys[i].find(argv, dst); !ok {
			return dst, false
		}
	}
	return dst, true
}

func (k *KeySpec) find(argv, dst [][]byte) ([][]byte, bool) {
	places, ok := k.places(argv)
	for _, p := range places {
		dst = append(dst, argv[p])
	}
	return dst, ok
}

// places gives the indices of the keys that a spec finds in a command line.
func (k *KeySpec) places(argv [][]byte) (places []int, ok bool) {
	at := k.At
	if k.Keyword != "" {
		at = 0
		for i := k.From; i < len(argv); i++ {
			if equalFold(argv[i], k.Keyword) {
				at = i + 1
				break
			}
		}
		if at == 0 {
			return nil, true
		}
	}
	if at >= len(argv) {
		return nil, false
	}
	first, last, step := at, at+k.Last, max(k.Step, 1)
	if k.Counted {
		if at+k.NumAt >= len(argv) {
			return nil, false
		}
		n, ok := parseCount(argv[at+k.NumAt])
		first = at + k.FirstAt
		if !ok || n < 0 || n > (len(argv)-first+step-1)/step {
			return nil, false
		}
		last = first + (n-1)*step
	} else if k.Last < 0 {
		last = len(argv) + k.Last
		if k.Limit > 1 {
			last = at + (len(argv)-at)/k.Limit - 1
		}
	}
	for i := first; i <= last; i += step {
		if i >= len(argv) {
			return nil, false
		}
		places = append(places, i)
	}
	return places, true
}

func parseCount(w []byte) (int, bool) {
	n := 0
	for _, c := range w {
		if c < '0' || c > '9' || n > 1<<30 {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, len(w) > 0
}
