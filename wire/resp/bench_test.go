package resp

import (
	"bytes"
	"math"
	"strconv"
	"testing"
)

func mget(n int) []string {
	args := []string{"MGET"}
	for i := range n {
		args = append(args, "key:"+strconv.Itoa(i))
	}
	return args
}

// commandLines are those that the allocation test and the benchmarks decode.
var commandLines = []struct {
	name string
	args []string
}{
	{"ping", []string{"PING"}},
	{"get", []string{"GET", "key:00000042"}},
	{"set", []string{"SET", "key:00000042", "xxx"}},
	{"set256", []string{"SET", "key:00000042", string(bytes.Repeat([]byte("x"), 256))}},
	{"set4096", []string{"SET", "key:00000042", string(bytes.Repeat([]byte("x"), 4096))}},
	{"hset", []string{"HSET", "user:1000", "name", "Ada", "born", "1815", "city", "London"}},
	{"mget100", mget(100)},
	{"mget2000", mget(2000)},
}

func BenchmarkDecode(b *testing.B) {
	for _, c := range commandLines {
		b.Run(c.name, func(b *testing.B) {
			lim := DefaultLimits()
			line := AppendCommand(nil, c.args...)
			buf := bytes.Repeat(line, 16) // A batch, so that the branches are those of a batch.
			argv := make([][]byte, 0, len(c.args))
			var d Decoder
			at := 0
			b.ReportAllocs()
			for b.Loop() {
				args, n, err := d.Next(buf[at:], argv[:0], &lim)
				if err != nil || len(args) != len(c.args) {
					b.Fatal(len(args), err)
				}
				if at += n; at == len(buf) {
					at = 0
				}
			}
		})
	}
}

// BenchmarkDecodeMixed meets another command each time, as a server does.
func BenchmarkDecodeMixed(b *testing.B) {
	lim := DefaultLimits()
	var buf []byte
	for i := range 512 {
		key := "key:" + strconv.Itoa(i*i*i%100000)
		switch i * 7 % 5 {
		case 0, 1:
			buf = AppendCommand(buf, "GET", key)
		case 2:
			buf = AppendCommand(buf, "SET", key, mget(100)[i%90])
		case 3:
			buf = AppendCommand(buf, "HGET", key, "f")
		case 4:
			buf = AppendCommand(buf, "INCR", key)
		}
	}
	argv := make([][]byte, 0, 8)
	var d Decoder
	at := 0
	b.ReportAllocs()
	for b.Loop() {
		args, n, err := d.Next(buf[at:], argv[:0], &lim)
		if err != nil || len(args) == 0 {
			b.Fatal(err)
		}
		if at += n; at == len(buf) {
			at = 0
		}
	}
}

// BenchmarkDecodePieces takes one command that arrives 16 KiB at a time; what counts is ns/byte,
// and that it is the same for both.
func BenchmarkDecodePieces(b *testing.B) {
	for name, command := range map[string][]byte{
		"bulk16M":  AppendCommand(nil, "SET", "key", string(make([]byte, 16<<20))),
		"args256K": AppendCommand(nil, mget(256<<10)...),
	} {
		b.Run(name, func(b *testing.B) {
			lim := DefaultLimits()
			argv := make([][]byte, 0, 1<<19)
			b.SetBytes(int64(len(command)))
			for b.Loop() {
				var d Decoder
				for end := 1; ; end = min(end+16<<10, len(command)) {
					_, n, err := d.Next(command[:end], argv[:0], &lim)
					if err != nil {
						b.Fatal(err)
					}
					if n > 0 {
						break
					}
				}
			}
		})
	}
}

// writerCalls are every kind of reply, for the allocation test and the benchmarks.
var writerCalls = []struct {
	name string
	call func(w *Writer)
}{
	{"ok", func(w *Writer) { w.OK() }},
	{"simple", func(w *Writer) { w.Simple("PONG") }},
	{"error", func(w *Writer) { w.Error("ERR no such key") }},
	{"int1", func(w *Writer) { w.Int(1) }},
	{"int12345", func(w *Writer) { w.Int(12345) }},
	{"intMin", func(w *Writer) { w.Int(math.MinInt64) }},
	{"bulk3", func(w *Writer) { w.Bulk(bulk3) }},
	{"bulk64", func(w *Writer) { w.Bulk(bulk64) }},
	{"bulk1024", func(w *Writer) { w.Bulk(bulk1024) }},
	{"bulkString", func(w *Writer) { w.BulkString("field") }},
	{"bulkReserve", func(w *Writer) { copy(w.BulkReserve(64), bulk64) }},
	{"null", func(w *Writer) { w.Null() }},
	{"nullArray", func(w *Writer) { w.NullArray() }},
	{"array0", func(w *Writer) { w.Array(0) }},
	{"map0", func(w *Writer) { w.Map(0) }},
	{"set0", func(w *Writer) { w.Set(0) }},
	{"push0", func(w *Writer) { w.Push(0); w.NoReply() }},
	{"bool", func(w *Writer) { w.Bool(true) }},
	{"double1", func(w *Writer) { w.Double(1) }},
	{"double0.1", func(w *Writer) { w.Double(0.1) }},
	{"doubleBig", func(w *Writer) { w.Double(-2.2250738585072014e-308) }},
	{"bigNumber", func(w *Writer) { w.BigNumber("3492890328409238509324850943850943825024385") }},
	{"verbatim", func(w *Writer) { w.Verbatim("txt", "some text") }},
	{"raw", func(w *Writer) { w.Raw(bulk64Reply) }},
	{"deferArray", func(w *Writer) { d := w.DeferArray(); w.Int(1); w.Int(2); w.End(d, 2) }},
	{"rewind", func(w *Writer) { m := w.Begin(); w.Array(5); w.Rewind(m); w.OK() }},
}

var (
	bulk3       = []byte("xyz")
	bulk64      = bytes.Repeat([]byte("x"), 64)
	bulk64Reply = appendBulk(nil, bulk64)
	bulk1024    = bytes.Repeat([]byte("x"), 1024)
)

func BenchmarkWriter(b *testing.B) {
	for _, c := range writerCalls {
		b.Run(c.name, func(b *testing.B) {
			w := &Writer{Resp3: true}
			w.Grow(64 << 10)
			b.ReportAllocs()
			for b.Loop() {
				w.Begin()
				c.call(w)
				if w.Len() > 60<<10 {
					w.Reset()
				}
			}
		})
	}
}

// BenchmarkSetReply is the whole of what this package does for one SET.
func BenchmarkSetReply(b *testing.B) {
	lim := DefaultLimits()
	buf := AppendCommand(nil, "SET", "key:00000042", "xxx")
	argv := make([][]byte, 0, 8)
	var d Decoder
	var w Writer
	w.Grow(64 << 10)
	b.ReportAllocs()
	for b.Loop() {
		args, n, err := d.Next(buf, argv[:0], &lim)
		if err != nil || n != len(buf) || len(args) != 3 {
			b.Fatal(err)
		}
		w.Begin()
		w.OK()
		if w.Len() > 60<<10 {
			w.Reset()
		}
	}
}

func BenchmarkAppendDouble(b *testing.B) {
	for _, v := range []float64{3, 0.1, 3.14159, 123456.789, 1.7976931348623157e308} {
		b.Run(strconv.FormatFloat(v, 'g', -1, 64), func(b *testing.B) {
			var text [doubleMax]byte
			b.ReportAllocs()
			for b.Loop() {
				AppendDouble(text[:0], v)
			}
		})
	}
}

func BenchmarkParseDouble(b *testing.B) {
	for _, s := range []string{"3", "0.1", "123456.789", "-1.7976931348623157e308"} {
		b.Run(s, func(b *testing.B) {
			text := []byte(s)
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := ParseDouble(text); !ok {
					b.Fatal(s)
				}
			}
		})
	}
}

func BenchmarkParseInt(b *testing.B) {
	for _, s := range []string{"1", "42", "-12345678", "9223372036854775807"} {
		b.Run(s, func(b *testing.B) {
			text := []byte(s)
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := ParseInt(text); !ok {
					b.Fatal(s)
				}
			}
		})
	}
}

// BenchmarkIncrbyfloat is the arithmetic of one INCRBYFLOAT: read twice, add, spell.
func BenchmarkIncrbyfloat(b *testing.B) {
	for _, c := range []struct{ value, step string }{
		{"10.5", "0.1"}, {"3", "1e-9"}, {"100000000000000000000", "5000"}, {"1e-30", "0.5"},
	} {
		b.Run(c.value+"+"+c.step, func(b *testing.B) {
			value, step := []byte(c.value), []byte(c.step)
			var text [64]byte
			b.ReportAllocs()
			for b.Loop() {
				v, _ := ParseLongDouble(value)
				s, _ := ParseLongDouble(step)
				AppendLongDouble(text[:0], v.Add(s))
			}
		})
	}
}
