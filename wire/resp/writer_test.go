package resp

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

func TestRepliesInBothProtocols(t *testing.T) {
	for _, c := range []struct {
		name         string
		resp2, resp3 string
		write        func(w *Writer)
	}{
		{"ok", "+OK\r\n", "+OK\r\n", func(w *Writer) { w.OK() }},
		{"simple", "+PONG\r\n", "+PONG\r\n", func(w *Writer) { w.Simple("PONG") }},
		{"error", "-ERR no\r\n", "-ERR no\r\n", func(w *Writer) { w.Error("ERR no") }},
		{"int", ":-42\r\n", ":-42\r\n", func(w *Writer) { w.Int(-42) }},
		{"bulk", "$3\r\na\r\n\r\n", "$3\r\na\r\n\r\n", func(w *Writer) { w.Bulk([]byte("a\r\n")) }},
		{"empty bulk", "$0\r\n\r\n", "$0\r\n\r\n", func(w *Writer) { w.Bulk(nil) }},
		{
			"bulk string", "$10\r\n0123456789\r\n", "$10\r\n0123456789\r\n",
			func(w *Writer) { w.BulkString("0123456789") },
		},
		{"null", "$-1\r\n", "_\r\n", func(w *Writer) { w.Null() }},
		{"null array", "*-1\r\n", "_\r\n", func(w *Writer) { w.NullArray() }},
		{
			"array", "*2\r\n:1\r\n:2\r\n", "*2\r\n:1\r\n:2\r\n",
			func(w *Writer) { w.Array(2); w.Int(1); w.Int(2) },
		},
		{
			"map", "*2\r\n+a\r\n:2\r\n", "%1\r\n+a\r\n:2\r\n",
			func(w *Writer) { w.Map(1); w.Simple("a"); w.Int(2) },
		},
		{"set", "*1\r\n:2\r\n", "~1\r\n:2\r\n", func(w *Writer) { w.Set(1); w.Int(2) }},
		{
			"push", "*1\r\n:2\r\n", ">1\r\n:2\r\n",
			func(w *Writer) { w.Push(1); w.Int(2); w.NoReply() },
		},
		{"true", ":1\r\n", "#t\r\n", func(w *Writer) { w.Bool(true) }},
		{"false", ":0\r\n", "#f\r\n", func(w *Writer) { w.Bool(false) }},
		{"double", "$3\r\n3.1\r\n", ",3.1\r\n", func(w *Writer) { w.Double(3.1) }},
		{"whole double", "$1\r\n3\r\n", ",3\r\n", func(w *Writer) { w.Double(3) }},
		{"infinity", "$4\r\n-inf\r\n", ",-inf\r\n", func(w *Writer) { w.Double(math.Inf(-1)) }},
		{"big number", "$2\r\n-7\r\n", "(-7\r\n", func(w *Writer) { w.BigNumber("-7") }},
		{
			"verbatim", "$4\r\ntext\r\n", "=8\r\ntxt:text\r\n",
			func(w *Writer) { w.Verbatim("txt", "text") },
		},
		{"raw", "~0\r\n", "~0\r\n", func(w *Writer) { w.Raw([]byte("~0\r\n")) }},
		{
			"raw elements", "*2\r\n:1\r\n:2\r\n", "*2\r\n:1\r\n:2\r\n",
			func(w *Writer) { w.Array(2); w.RawN([]byte(":1\r\n:2\r\n"), 2) },
		},
		{
			"reserve", "$2\r\nab\r\n", "$2\r\nab\r\n",
			func(w *Writer) { copy(w.BulkReserve(2), "ab") },
		},
		{"reserve nothing", "$0\r\n\r\n", "$0\r\n\r\n", func(w *Writer) { w.BulkReserve(0) }},
		{"deferred array", "*0\r\n", "*0\r\n", func(w *Writer) { w.End(w.DeferArray(), 0) }},
		{
			"deferred map", "*2\r\n:1\r\n:2\r\n", "%1\r\n:1\r\n:2\r\n",
			func(w *Writer) { d := w.DeferMap(); w.Int(1); w.Int(2); w.End(d, 1) },
		},
		{
			"deferred set", "*1\r\n*1\r\n:2\r\n", "~1\r\n~1\r\n:2\r\n",
			func(w *Writer) { d := w.DeferSet(); e := w.DeferSet(); w.Int(2); w.End(e, 1); w.End(d, 1) },
		},
	} {
		for _, resp3 := range []bool{false, true} {
			w := Writer{Resp3: resp3}
			w.Begin()
			c.write(&w)
			want := c.resp2
			if resp3 {
				want = c.resp3
			}
			if got := string(w.Bytes()); want != got {
				t.Errorf("%s: want %q, got %q", c.name, want, got)
			}
			if w.Owed() != 0 {
				t.Errorf("%s: owes %d", c.name, w.Owed())
			}
		}
	}
}

func TestTextCannotBreakALine(t *testing.T) {
	// As recorded from redis.error_reply and redis.status_reply.
	var w Writer
	w.Error("A\r\nB c\r\n")
	w.Error("\r\n")
	w.Error("")
	w.Simple("A\r\nB c\r\n")
	w.Simple("a\nb")
	if want := "-A  B c\r\n-\r\n-\r\n+A  B c  \r\n+a b\r\n"; want != string(w.Bytes()) {
		t.Errorf("want %q, got %q", want, w.Bytes())
	}
}

func TestIntsOfEveryLength(t *testing.T) {
	for n := int64(1); n > 0 && n < math.MaxInt64/10; n *= 10 {
		for _, v := range []int64{n - 1, n, n + 1, -n, 9 * n} {
			var w Writer
			w.Int(v)
			if want := ":" + strconv.FormatInt(v, 10) + "\r\n"; want != string(w.Bytes()) {
				t.Errorf("want %q, got %q", want, w.Bytes())
			}
		}
	}
}

func TestBulksOfEveryLength(t *testing.T) {
	for _, spare := range []int{0, 7, 40, 5000} { // Room left in the buffer before it must grow.
		for n := range 1200 {
			text := strings.Repeat("x", n)
			want := "$" + strconv.Itoa(n) + "\r\n" + text + "\r\n"
			w := Writer{buf: make([]byte, 0, spare)}
			w.BulkString(text)
			w.Bulk([]byte(text))
			copy(w.BulkReserve(n), text)
			if string(w.Bytes()) != want+want+want {
				t.Fatalf("%d bytes: %q", n, w.Bytes())
			}
		}
	}
}

func TestOwedFindsWhatIsWrong(t *testing.T) {
	for name, write := range map[string]func(w *Writer){
		"nothing":            func(*Writer) {},
		"two replies":        func(w *Writer) { w.OK(); w.OK() },
		"short array":        func(w *Writer) { w.Array(2); w.Int(1) },
		"long array":         func(w *Writer) { w.Array(1); w.Int(1); w.Int(1) },
		"short map":          func(w *Writer) { w.Map(1); w.Int(1) },
		"push alone":         func(w *Writer) { w.Push(1); w.Int(1) },
		"short push":         func(w *Writer) { w.Push(2); w.Int(1); w.NoReply() },
		"deferred, not done": func(w *Writer) { w.DeferArray(); w.Int(1) },
		"deferred, too long": func(w *Writer) { d := w.DeferArray(); w.Int(1); w.End(d, 2) },
		"deferred map":       func(w *Writer) { d := w.DeferMap(); w.Int(1); w.End(d, 1) },
	} {
		var w Writer
		w.Begin()
		if write(&w); w.Owed() == 0 {
			t.Errorf("%s: %q is taken for a whole reply", name, w.Bytes())
		}
	}
}

func TestRewindDropsTheReplyInProgress(t *testing.T) {
	var w Writer
	w.Begin()
	w.OK()
	m := w.Begin()
	w.Array(3)
	w.BulkString("half")
	w.DeferMap()
	w.Rewind(m)
	w.Error("ERR internal error")
	if want := "+OK\r\n-ERR internal error\r\n"; want != string(w.Bytes()) || w.Owed() != 0 {
		t.Errorf("want %q, got %q owing %d", want, w.Bytes(), w.Owed())
	}
}

// TestOwedNests is EXEC around two commands, of which the second is a script around one more.
func TestOwedNests(t *testing.T) {
	var w Writer
	w.Begin()
	w.Array(2)

	owed := w.SaveOwed()
	w.Begin()
	w.OK()
	if w.Owed() != 0 {
		t.Fatal("inner reply owes", w.Owed())
	}
	w.RestoreOwed(owed - 1)

	owed = w.SaveOwed()
	w.Begin()
	script := w.SaveOwed()
	m := w.Begin()
	w.Array(5) // redis.pcall of a command that goes astray
	w.Rewind(m)
	w.Error("ERR internal error")
	w.Truncate(int(m)) // read by the script
	w.RestoreOwed(script)
	w.Int(1)
	if w.Owed() != 0 {
		t.Fatal("script owes", w.Owed())
	}
	w.RestoreOwed(owed - 1)

	if want := "*2\r\n+OK\r\n:1\r\n"; want != string(w.Bytes()) || w.Owed() != 0 {
		t.Errorf("want %q, got %q owing %d", want, w.Bytes(), w.Owed())
	}
}

// keys writes a reply like that of KEYS, sealing as it goes.
func keys(w *Writer, n int) {
	d := w.DeferArray()
	for i := range n {
		w.BulkString("key:" + strconv.Itoa(i))
		w.Seal()
	}
	w.End(d, n)
}

func TestSealedRepliesReadBack(t *testing.T) {
	for _, n := range []int{0, 1, 9, 10, 5000, 100_000} {
		var w Writer
		w.Begin()
		w.OK() // The deferred header need not be at the start of its chunk.
		before := w.Len()
		w.Begin()
		keys(&w, n)
		w.Seal()
		if w.Owed() != 0 {
			t.Fatalf("%d keys: owes %d", n, w.Owed())
		}
		all := bytes.Join(w.Chunks(), nil)
		if !bytes.Equal(all, w.Bytes()) || w.Len() != len(all) {
			t.Fatalf("%d keys: Chunks, Bytes and Len (%d) do not agree", n, w.Len())
		}
		if big := len(all) > 3*ChunkMin; big != (len(w.Chunks()) > 3) {
			t.Fatalf("%d keys: %d chunks for %d bytes", n, len(w.Chunks()), len(all))
		}
		for _, c := range w.Chunks() {
			if cap(c) > 2*ChunkMin {
				t.Fatalf("%d keys: a chunk of %d bytes", n, cap(c))
			}
		}
		want := appendHeader(nil, '*', int64(n))
		for i := range n {
			want = appendBulk(want, "key:"+strconv.Itoa(i))
		}
		if !bytes.Equal(want, all[before:]) {
			t.Fatalf("%d keys: bytes differ", n)
		}
	}
}

func TestRewindAcrossSeals(t *testing.T) {
	var w Writer
	w.Begin()
	keys(&w, 30_000)
	first := bytes.Clone(w.Bytes())
	for _, more := range []int{0, 10, 10_000, 100_000} {
		m := w.Begin()
		if int(m) != len(first) {
			t.Fatal("mark at", m)
		}
		keys(&w, more)
		w.Rewind(m)
		if !bytes.Equal(first, w.Bytes()) || w.Owed() != 1 || w.Len() != len(first) {
			t.Fatalf("%d keys rewound: %d bytes, owing %d", more, w.Len(), w.Owed())
		}
	}
	w.OK()
	if want := string(first) + "+OK\r\n"; want != string(w.Bytes()) {
		t.Error("cannot write after Rewind")
	}
	for n := len(first); n >= 0; n -= 50_000 {
		w.Truncate(n)
		if !bytes.Equal(first[:n], w.Bytes()) {
			t.Fatal("truncated to", n)
		}
	}
}

func TestNestedDeferredAcrossSeals(t *testing.T) {
	w := Writer{Resp3: true}
	w.Begin()
	outer := w.DeferMap()
	var want []byte
	want = append(want, "%40\r\n"...)
	for i := range 40 {
		w.Int(int64(i))
		want = appendHeader(want, ':', int64(i))
		inner := w.DeferSet()
		for range i * 100 {
			w.Bulk(bulk64)
			w.Seal()
		}
		w.End(inner, i*100)
		want = appendHeader(want, '~', int64(i*100))
		want = append(want, bytes.Repeat(bulk64Reply, i*100)...)
	}
	w.End(outer, 40)
	if !bytes.Equal(want, w.Bytes()) || w.Owed() != 0 {
		t.Errorf("bytes differ, or it owes %d", w.Owed())
	}
	if len(w.Chunks()) < 10 {
		t.Error("nothing was sealed")
	}
}

func TestResetKeepsBoundedRoom(t *testing.T) {
	var w Writer
	keys(&w, 100_000)
	w.Reset()
	if w.Len() != 0 || len(w.Chunks()) != 0 || len(w.Bytes()) != 0 {
		t.Error("Reset left", w.Len(), "bytes")
	}
	w.BulkReserve(10 << 20)
	w.Chunks()
	w.Reset()
	if cap(w.buf) > KeepMax {
		t.Error("Reset kept", cap(w.buf))
	}
	for _, c := range w.chunks[:cap(w.chunks)] {
		if c != nil {
			t.Error("Reset kept a chunk of", cap(c))
		}
	}
	w.Grow(1000)
	w.OK()
	w.Reset()
	if cap(w.buf) < 1000 {
		t.Error("Reset dropped a small buffer")
	}
}

func TestUseAndTakeHandOverTheBuffer(t *testing.T) {
	var w Writer
	mine := append(make([]byte, 0, 100), "+A\r\n"...)
	if old := w.Use(mine); old != nil {
		t.Error("a fresh Writer had a buffer")
	}
	m := w.Begin()
	w.OK()
	if w.Rewind(m); string(w.Bytes()) != "+A\r\n" {
		t.Errorf("%q", w.Bytes())
	}
	w.OK()
	if got := w.Use(nil); string(got) != "+A\r\n+OK\r\n" || &got[0] != &mine[0] {
		t.Errorf("%q", got)
	}
	keys(&w, 100_000)
	want := w.Bytes()
	chunks := w.Take()
	if !bytes.Equal(want, bytes.Join(chunks, nil)) || w.Len() != 0 {
		t.Error("Take lost something")
	}
	w.OK()
	if string(w.Bytes()) != "+OK\r\n" || !bytes.Equal(want, bytes.Join(chunks, nil)) {
		t.Error("the Writer still has what was taken")
	}
}

func TestWritingDoesNotAllocate(t *testing.T) {
	for _, resp3 := range []bool{false, true} {
		w := &Writer{Resp3: resp3}
		w.Grow(1 << 20)
		for _, c := range writerCalls {
			w.Begin()
			if c.call(w); w.Owed() != 0 {
				t.Errorf("%s: owes %d", c.name, w.Owed())
			}
			if allocs := testing.AllocsPerRun(50, func() { c.call(w) }); allocs != 0 {
				t.Errorf("%s: %v allocations", c.name, allocs)
			}
		}
	}
	var w Writer
	w.OK()
	w.Chunks()
	if allocs := testing.AllocsPerRun(50, func() { w.Chunks(); w.Bytes() }); allocs != 0 {
		t.Errorf("Chunks: %v allocations", allocs)
	}
}

// script writes random values by a program of bytes, and builds what a Reader must find.
type script struct {
	program []byte
	w       *Writer
	rnd     *rand.Rand
}

func (s *script) next() byte {
	if len(s.program) == 0 {
		return 0
	}
	b := s.program[0]
	s.program = s.program[1:]
	return b
}

func (s *script) text() string {
	n := min(int(s.next()), len(s.program))
	text := string(s.program[:n])
	s.program = s.program[n:]
	return text
}

// scalar is a value in RESP3, or in RESP2 what stands for it.
func (s *script) scalar(kind3 byte, text3 string, kind2 byte, text2 string) Value {
	if s.w.Resp3 {
		return Value{Kind: kind3, Text: []byte(text3)}
	}
	return Value{Kind: kind2, Text: []byte(text2)}
}

func (s *script) value(depth int) Value {
	op := s.next() % 20
	if depth > 8 {
		op %= 11
	}
	switch op {
	case 0:
		s.w.OK()
		return Value{Kind: '+', Text: []byte("OK")}
	case 1:
		text := s.text()
		s.w.Simple(text)
		text = strings.NewReplacer("\r", " ", "\n", " ").Replace(text)
		return Value{Kind: '+', Text: []byte(text)}
	case 2:
		text := s.text()
		s.w.Error(Error(text))
		text = strings.NewReplacer("\r", " ", "\n", " ").Replace(strings.TrimRight(text, "\r\n"))
		return Value{Kind: '-', Text: []byte(text)}
	case 3:
		n := int64(s.rnd.Uint64()) >> (s.next() % 64)
		s.w.Int(n)
		return Value{Kind: ':', Text: strconv.AppendInt(nil, n, 10)}
	case 4:
		text := s.text()
		s.w.BulkString(text)
		return Value{Kind: '$', Text: []byte(text)}
	case 5:
		text := strings.Repeat(s.text(), int(s.next()))
		copy(s.w.BulkReserve(len(text)), text)
		return Value{Kind: '$', Text: []byte(text)}
	case 6:
		s.w.Null()
		if s.w.Resp3 {
			return Value{Kind: '_'}
		}
		return Value{Kind: '$', Null: true}
	case 7:
		s.w.NullArray()
		if s.w.Resp3 {
			return Value{Kind: '_'}
		}
		return Value{Kind: '*', Null: true}
	case 8:
		v := math.Float64frombits(s.rnd.Uint64())
		s.w.Double(v)
		text := string(AppendDouble(nil, v))
		return s.scalar(',', text, '$', text)
	case 9:
		v := s.next()%2 == 0
		s.w.Bool(v)
		if v {
			return s.scalar('#', "t", ':', "1")
		}
		return s.scalar('#', "f", ':', "0")
	case 10:
		if s.next()%2 == 0 {
			s.w.BigNumber("-123")
			return s.scalar('(', "-123", '$', "-123")
		}
		text := s.text()
		s.w.Verbatim("txt", text)
		return s.scalar('=', "txt:"+text, '$', text)
	}
	return s.aggregate(op, depth)
}

func (s *script) aggregate(op byte, depth int) Value {
	n := int(s.next() % 12)
	values, v := n, Value{Kind: '*'}
	var d Deferred
	switch op {
	case 11, 12:
		s.w.Array(n)
	case 13:
		s.w.Set(n)
		v.Kind = '~'
	case 14:
		s.w.Map(n)
		v.Kind, values = '%', 2*n
	case 15:
		s.w.Push(n)
		s.w.NoReply()
		v.Kind = '>'
	case 16, 17:
		d = s.w.DeferArray()
	case 18:
		d = s.w.DeferSet()
		v.Kind = '~'
	case 19:
		d = s.w.DeferMap()
		v.Kind, values = '%', 2*n
	}
	if !s.w.Resp3 {
		v.Kind = '*'
	}
	for range values {
		v.Elems = append(v.Elems, s.value(depth+1))
		if s.next()%4 == 0 {
			s.w.seal() // However little there is.
		}
	}
	if op >= 16 {
		s.w.End(d, n)
	}
	return v
}

func FuzzWriterReader(f *testing.F) {
	for op := range byte(20) {
		f.Add([]byte{op, 3, op + 1, 4, 'a', '\r', '\n', 'b', 1, 2, 3}, uint64(op), op%2 == 0)
	}
	f.Fuzz(func(t *testing.T, program []byte, seed uint64, resp3 bool) {
		w := Writer{Resp3: resp3}
		s := script{program, &w, rand.New(rand.NewPCG(seed, 0))}
		var want []Value
		for len(s.program) > 0 {
			m := w.Begin()
			if s.next()%8 == 0 {
				again := s
				s.value(0)
				w.Rewind(m)
				s.program = again.program
			}
			want = append(want, s.value(0))
			if w.Owed() != 0 {
				t.Fatalf("owes %d after %s", w.Owed(), want[len(want)-1])
			}
		}
		all := w.Bytes()
		if w.Len() != len(all) {
			t.Fatalf("Len %d of %d bytes", w.Len(), len(all))
		}
		r := NewReader(bytes.NewReader(all))
		for _, v := range want {
			got, err := r.Read()
			if err != nil || v.String() != got.String() {
				t.Fatalf("want %s\ngot  %s, %v", v, got, err)
			}
		}
		if v, err := r.Read(); err == nil {
			t.Fatalf("more than was written: %s", v)
		}
	})
}
