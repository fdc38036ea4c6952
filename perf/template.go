package main

import "math/rand/v2"

// hole stands in an argument where a number belongs, which is written over it.
const hole = "{___key____}"

// digits is how many digits the number has: enough for any number of keys.
const digits = len(hole)

// template is a batch of commands made once. Before each use only the digits of its holes are
// written over, so that a load of any size costs the generator next to nothing.
type template struct {
	bytes []byte
	holes []int // where they begin
	count int   // commands
}

// newTemplate repeats a command n times.
func newTemplate(n int, args ...string) *template {
	t := &template{count: n}
	for range n {
		t.bytes = appendCommand(t.bytes, args...)
	}
	for i := 0; i+digits <= len(t.bytes); i++ {
		if string(t.bytes[i:i+digits]) == hole {
			t.holes = append(t.holes, i)
		}
	}
	return t
}

// setRandom fills the holes with numbers below n.
func (t *template) setRandom(dice *rand.Rand, n int) {
	for _, at := range t.holes {
		putDigits(t.bytes[at:at+digits], dice.IntN(n))
	}
}

// setSequence fills the holes with numbers from first on.
func (t *template) setSequence(first int) {
	for i, at := range t.holes {
		putDigits(t.bytes[at:at+digits], first+i)
	}
}

func putDigits(b []byte, n int) {
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = byte('0' + n%10)
		n /= 10
	}
}

// randomText is n characters that do not compress well, the same in every run.
func randomText(n int) string {
	dice := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"[dice.IntN(64)]
	}
	return string(b)
}

// keyOf is a key of size bytes that ends in a hole.
func keyOf(size int) string {
	const prefix = "key:"
	if len(prefix)+digits > size {
		return hole
	}
	return prefix + randomText(size-len(prefix)-digits) + hole
}

// fillBatch is how many SETs go out at once while filling.
const fillBatch = 200

// fill sets n keys over one connection.
func (c *client) fill(n, keySize, valueSize int) error {
	key, value := keyOf(keySize), randomText(valueSize)
	batch := newTemplate(fillBatch, "SET", key, value)
	for first := 0; first < n; first += fillBatch {
		if n-first < fillBatch {
			batch = newTemplate(n-first, "SET", key, value)
		}
		batch.setSequence(first)
		if err := c.send(batch.bytes); err != nil {
			return err
		}
		if err := c.skip(batch.count); err != nil {
			return err
		}
	}
	return nil
}
