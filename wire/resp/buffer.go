package resp

import "slices"

// The buffer of a Writer: one slice, or for a long reply a list of sealed chunks and then one.
// Places in it (Mark, Deferred) are counted from its start, so they outlive moves of the slice.

const (
	// ChunkMin is the size from which Seal takes the buffer away. Below it a copy is cheaper
	// than another element of a writev.
	ChunkMin = 256 << 10
	// KeepMax bounds the memory that an idle Writer holds on to.
	KeepMax = ChunkMin

	chunksKept = 64 // elements of an empty list of chunks: 1.5 KB
)

// Seal starts a fresh buffer if the present one is at least ChunkMin long. Call it between the
// values of a reply that may be huge: the buffer then never moves and never doubles. A Deferred
// may be open; Rewind works across.
func (w *Writer) Seal() {
	if len(w.buf) >= ChunkMin {
		w.seal()
	}
}

func (w *Writer) seal() {
	w.chunks = append(w.chunks, w.buf)
	w.sealed += len(w.buf)
	w.buf = make([]byte, 0, ChunkMin+ChunkMin/16) // What is written between two Seals is small.
}

// Bytes is all that was written since Reset, until the next call. NB: after Seal it joins the
// chunks, which copies; Chunks does not.
func (w *Writer) Bytes() []byte {
	if len(w.chunks) == 0 {
		return w.buf
	}
	return slices.Concat(w.Chunks()...)
}

// Chunks is all that was written since Reset, in order, until the next call.
func (w *Writer) Chunks() [][]byte {
	if len(w.buf) == 0 {
		return w.chunks
	}
	all := append(w.chunks, w.buf)
	w.chunks = all[:len(w.chunks)] // Keeps the room, so that only the first call allocates.
	return all
}

// Len is the number of bytes written since Reset.
func (w *Writer) Len() int { return w.sealed + len(w.buf) }

// Grow makes room for n more bytes.
func (w *Writer) Grow(n int) { w.buf = reserve(w.buf, n) }

// Truncate keeps the first n bytes and drops the rest. It leaves Owed alone.
func (w *Writer) Truncate(n int) {
	for n < w.sealed {
		last := len(w.chunks) - 1
		w.buf = w.chunks[last]
		w.chunks[last] = nil
		w.chunks = w.chunks[:last]
		w.sealed -= len(w.buf)
	}
	w.buf = w.buf[:n-w.sealed]
}

// Reset drops all that was written, and the memory beyond KeepMax. It leaves Resp3 alone.
func (w *Writer) Reset() {
	if cap(w.chunks) > 0 {
		w.dropChunks()
	}
	if cap(w.buf) > KeepMax {
		w.buf = nil
	}
	w.buf = w.buf[:0]
	w.owed = 0
}

// dropChunks also clears what is behind the list: Chunks leaves a reference to buf there.
func (w *Writer) dropChunks() {
	w.sealed = 0
	w.chunks = w.chunks[:cap(w.chunks)]
	if len(w.chunks) > chunksKept {
		w.chunks = nil
	}
	clear(w.chunks)
	w.chunks = w.chunks[:0]
}

// Use makes w write behind the bytes that buf already has, and returns the buffer it had, which
// is no longer w's: for callers that pool buffers or hand them to the kernel.
//
// REQUIRES: nothing is sealed.
func (w *Writer) Use(buf []byte) (old []byte) {
	if len(w.chunks) > 0 {
		panic("resp: Use of a Writer with sealed chunks")
	}
	old, w.buf = w.buf, buf
	return old
}

// Take hands over all that was written, in order, with the memory, and leaves w empty.
func (w *Writer) Take() [][]byte {
	all := w.Chunks()
	w.chunks, w.buf, w.sealed = nil, nil, 0
	return all
}

// Deferred is an aggregate whose length is told when it ends. Its header has room for the longest
// length, and End closes the gap: it moves what follows the header in the same chunk, once. That
// is linear; a header padded with zeros would not move anything, but Redis sends none.
type Deferred struct {
	at   int // where the header begins
	kind byte
}

// deferredOwed is owed while a Deferred is open, so that one never ended cannot go unnoticed.
const deferredOwed = 1 << 40

var headerRoom [headerMax]byte

// DeferArray begins an array whose length End tells.
func (w *Writer) DeferArray() Deferred { return w.deferAs('*') }

// DeferMap begins a map whose number of pairs End tells.
func (w *Writer) DeferMap() Deferred { return w.deferAs('%') }

// DeferSet begins a set whose length End tells.
func (w *Writer) DeferSet() Deferred { return w.deferAs('~') }

func (w *Writer) deferAs(kind byte) Deferred {
	at := w.Len()
	w.owed += deferredOwed
	w.buf = append(w.buf, headerRoom[:]...)
	return Deferred{at: at, kind: kind}
}

// End writes the header of d: n values were written since, or n pairs if d is a map.
//
// REQUIRES: what was deferred after d has ended before; no mark taken after d is used again.
func (w *Writer) End(d Deferred, n int) {
	values := n
	if d.kind == '%' {
		values = 2 * n
	}
	kind, length := d.kind, n
	if !w.Resp3 {
		kind, length = '*', values
	}
	w.owed += values - 1 - deferredOwed

	var header [headerMax]byte
	h := appendHeader(header[:0], kind, int64(length))
	if d.at >= w.sealed {
		w.buf = closeGap(w.buf, d.at-w.sealed, h)
		return
	}
	i, start := len(w.chunks)-1, w.sealed-len(w.chunks[len(w.chunks)-1])
	for d.at < start {
		i--
		start -= len(w.chunks[i])
	}
	w.chunks[i] = closeGap(w.chunks[i], d.at-start, h)
	w.sealed -= headerMax - len(h)
}

// closeGap puts h in the place of the room for it at b[p:].
func closeGap(b []byte, p int, h []byte) []byte {
	p += copy(b[p:], h)
	gap := headerMax - len(h)
	copy(b[p:], b[p+gap:])
	return b[:len(b)-gap]
}
