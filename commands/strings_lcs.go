package commands

import (
	"math"
	"math/bits"

	"kiln/actors/keyspace"
)

// lcsQuickCells is how large a matrix is worked on while an event loop waits: some 30 us.
const lcsQuickCells = 1 << 18

type lcsOptions struct {
	length, index, withLength bool
	min                       int64
}

func (o *lcsOptions) parse(a *Args) error {
	for a.More() {
		switch {
		case a.Is("IDX"):
			o.index = true
		case a.Is("LEN"):
			o.length = true
		case a.Is("WITHMATCHLEN"):
			o.withLength = true
		case a.Is("MINMATCHLEN"):
			o.min = a.Int()
		default:
			a.Fail(errSyntax)
		}
	}
	if err := a.Err(); err != nil {
		return err
	}
	if o.index && o.length {
		return errLCSBoth
	}
	return nil
}

// cmdLcs looks at the types before the options, as Redis does (conformance string/lcs_errors).
func cmdLcs(c *Call) error {
	var scratchA, scratchB keyspace.Scratch
	a, err := c.lcsString(c.Args.Next(), &scratchA)
	b, errB := c.lcsString(c.Args.Next(), &scratchB)
	if err != nil {
		return err
	}
	if errB != nil {
		return errB
	}
	var o lcsOptions
	if err := o.parse(&c.Args); err != nil {
		return err
	}
	if err := c.lcsFits(len(a), len(b)); err != nil {
		return err
	}

	if o.length {
		c.Reply.Int(int64(newLCS(a, b, false).length))
		return nil
	}
	l := newLCS(a, b, true)
	if o.index {
		c.replyMatches(l, &o)
		return nil
	}
	c.Reply.Bulk(l.text())
	return nil
}

func (c *Call) lcsString(key []byte, scratch *keyspace.Scratch) ([]byte, error) {
	e, err := c.str(key)
	switch {
	case err == errWrongType:
		return nil, errLCSTypes
	case err != nil || !e.Exists():
		return nil, err
	}
	return e.Bytes(scratch), nil
}

// lcsFits applies Redis's limits, on a matrix of four bytes a cell. Ours has a bit a cell, but
// what is refused should not depend on that. Large work goes off the event loop.
func (c *Call) lcsFits(a, b int) error {
	const cellBytes = 4
	if a >= math.MaxUint32-1 || b >= math.MaxUint32-1 {
		return errLCSLength
	}
	hi, cells := bits.Mul64(uint64(a)+1, uint64(b)+1)
	if hi != 0 || cells > uint64(c.Server.Config.BulkMax.Load())/cellBytes {
		return errLCSMemory
	}
	if c.Quick && cells > lcsQuickCells {
		return ErrElsewhere
	}
	return nil
}

func (c *Call) replyMatches(l *lcs, o *lcsOptions) {
	w := c.Reply
	w.Map(2)
	w.BulkString("matches")
	matches, n := w.DeferArray(), 0
	l.walk(func(m match) {
		if int64(m.n) < o.min {
			return
		}
		n++
		if o.withLength {
			w.Array(3)
		} else {
			w.Array(2)
		}
		for _, from := range [...]int{m.a, m.b} {
			w.Array(2)
			w.Int(int64(from))
			w.Int(int64(from + m.n - 1))
		}
		if o.withLength {
			w.Int(int64(m.n))
		}
	})
	w.End(matches, n)
	w.BulkString("len")
	w.Int(int64(l.length))
}

// lcs is the matrix of the longest common subsequence, L[i][j] that of a[:i] and b[:j]. A step
// to the right adds 0 or 1, so a row is kept as a bit a cell: cleared where the step adds 1.
// Rows are made 64 cells at a time, in 1/32 of the memory that numbers would take (Hyyro,
// "Bit-Parallel LCS-length Computation Revisited", 2004).
type lcs struct {
	a, b   []byte
	words  int      // of a row
	rows   []uint64 // of a[:1], a[:2], ...; without history, one only
	length int
}

// newLCS fills the matrix in. Without history only the length is known.
func newLCS(a, b []byte, history bool) *lcs {
	l := &lcs{a: a, b: b, words: (len(b) + 63) / 64}
	if len(a) == 0 || len(b) == 0 {
		return l
	}
	kept := 1
	if history {
		kept = len(a)
	}
	l.rows = make([]uint64, kept*l.words)
	places := l.places()

	row := make([]uint64, l.words)
	for w := range row {
		row[w] = math.MaxUint64
	}
	for i, letter := range a {
		next := l.rows[i%kept*l.words:][:l.words]
		nextRow(next, row, places[letter])
		row = next
	}
	for j := range b {
		if l.adds(row, j) {
			l.length++
		}
	}
	return l
}

// places gives for each letter of a where it is in b.
func (l *lcs) places() (places [256][]uint64) {
	for _, letter := range l.a {
		if places[letter] == nil {
			places[letter] = make([]uint64, l.words)
		}
	}
	for j, letter := range l.b {
		if at := places[letter]; at != nil {
			at[j/64] |= 1 << (j % 64)
		}
	}
	return places
}

// nextRow may write over the row before: each word is read first.
func nextRow(next, row, places []uint64) {
	var carry uint64
	for w, v := range row {
		var added uint64
		added, carry = bits.Add64(v, v&places[w], carry)
		next[w] = added | v&^places[w]
	}
}

func (l *lcs) adds(row []uint64, j int) bool { return row[j/64]>>(j%64)&1 == 0 }

// match is a run of n bytes that is at a in one string and at b in the other.
type match struct{ a, b, n int }

// walk gives the runs of the subsequence, last first. Of the ways back through the matrix it
// takes Redis's: along equal bytes, else up if the cell above is greater than the one at the
// left. Where the bytes differ, that is where the step to the right added 1.
func (l *lcs) walk(each func(match)) {
	var m match
	for i, j := len(l.a), len(l.b); i > 0 && j > 0; {
		if l.a[i-1] == l.b[j-1] {
			i, j = i-1, j-1
			m = match{a: i, b: j, n: m.n + 1}
			continue
		}
		if m.n > 0 {
			each(m)
			m.n = 0
		}
		if l.adds(l.rows[(i-1)*l.words:][:l.words], j-1) {
			i--
		} else {
			j--
		}
	}
	if m.n > 0 {
		each(m)
	}
}

// text gives the subsequence itself.
func (l *lcs) text() []byte {
	text := make([]byte, l.length)
	end := len(text)
	l.walk(func(m match) {
		end -= m.n
		copy(text[end:], l.a[m.a:m.a+m.n])
	})
	return text
}
