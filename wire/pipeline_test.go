package wire

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"kiln/wire/resp"
)

// setUp fills in what mixed pipelines read: a thousand keys, and two strings for LCS to chew on.
func setUp(p *peer) {
	p.t.Helper()
	words := []string{"MSET"}
	for i := range 1000 {
		words = append(words, "m:"+strconv.Itoa(i), strconv.Itoa(i))
	}
	p.want("+OK", words...)
	p.want("+OK", "MSET", "lcs:a", strings.Repeat("ab", 400), "lcs:b", strings.Repeat("ba", 400))
}

var (
	thousandKeys = func() (words []string) {
		for i := range 1000 {
			words = append(words, "m:"+strconv.Itoa(i))
		}
		return append([]string{"MGET"}, words...)
	}()
	thousandValues = func() string {
		var b strings.Builder
		b.WriteString("*1000")
		for i := range 1000 {
			b.WriteString("\n  " + bulk(strconv.Itoa(i)))
		}
		return b.String()
	}()
)

// mix adds n commands to a script: quick ones and, one in slow, such as are run elsewhere, so that
// the client is parked. prefix keeps clients apart.
func (s *script) mix(dice *rand.Rand, prefix string, n, slow int) {
	key := func(name string) string { return prefix + name }
	values := map[string]string{}
	for i := range n {
		k := key("k" + strconv.Itoa(dice.IntN(20)))
		if dice.IntN(slow) == 0 {
			switch dice.IntN(5) {
			case 0:
				s.add(thousandValues, thousandKeys...)
			case 1:
				s.add("*1\n  "+bulk("lcs:a"), "KEYS", "lcs:[a]")
			case 2:
				s.add(`$"# Server*`, "INFO", "server")
			case 3:
				s.add("+OK", "DEBUG", "SLEEP", "0")
			case 4:
				s.add(":799", "LCS", "lcs:a", "lcs:b", "LEN")
			}
			continue
		}
		switch dice.IntN(8) {
		case 0:
			values[k] = strings.Repeat("v", dice.IntN(100)) + strconv.Itoa(i)
			s.add("+OK", "SET", k, values[k])
		case 1, 2:
			want := "$-1"
			if v, ok := values[k]; ok {
				want = bulk(v)
			}
			s.add(want, "GET", k)
		case 3:
			values[k] += "+"
			s.add(":"+strconv.Itoa(len(values[k])), "APPEND", k, "+")
		case 4:
			s.raw("", []string{"\r\n", "*0\r\n", "*-1\r\n", "\n", "   \r\n"}[dice.IntN(5)])
			s.add(":"+strconv.Itoa(len(values[k])), "STRLEN", k)
		case 5:
			s.raw(bulk("in "+strconv.Itoa(i)), fmt.Sprintf("ECHO 'in %d'\r\n", i))
		case 6:
			s.add("-ERR unknown command 'NO-SUCH', with args beginning with: 'x' ", "NO-SUCH", "x")
		case 7:
			_, there := values[k]
			delete(values, k)
			s.add(map[bool]string{true: ":1", false: ":0"}[there], "DEL", k)
		}
	}
}

// TestPipelinesOfAnyDepth sends pipelines of 1 to 100,000 commands in one write, and wants all
// replies, in order, with commands among them that the client is parked for.
func TestPipelinesOfAnyDepth(t *testing.T) {
	each(t, func(t *testing.T, loops int) {
		r := start(t, Options{Loops: loops})
		setUp(r.dial())
		depths := []int{1, 2, 3, 127, 128, 129, 1000, 10_000, 100_000}
		if testing.Short() {
			depths = depths[:7]
		}
		dice := rand.New(rand.NewPCG(1, uint64(loops)))
		for _, depth := range depths {
			slow := 3 + depth/100
			var s script
			s.mix(dice, fmt.Sprintf("%d:", depth), depth, slow)
			p := r.dial()
			sent := p.stream(s.bytes)
			p.expect(&s)
			if err := <-sent; err != nil {
				t.Fatal(err)
			}
			p.want("+PONG", "PING")
			_ = p.Close()
		}
		r.quiet(1)
	})
}

// TestSeveralClientsAtOnce is the same for clients beside each other, spread over the loops.
func TestSeveralClientsAtOnce(t *testing.T) {
	each(t, func(t *testing.T, loops int) {
		r := start(t, Options{Loops: loops})
		setUp(r.dial())
		const clients = 12
		ends := make(chan struct{}, clients)
		for i := range clients {
			p := r.dial()
			var s script
			s.mix(rand.New(rand.NewPCG(uint64(i), 9)), fmt.Sprintf("c%d:", i), 2000, 10)
			go func() {
				defer func() { ends <- struct{}{} }()
				for rest := s.bytes; len(rest) > 0; {
					n := min(len(rest), 1+int(rest[0])*97)
					if _, err := p.Write(rest[:n]); err != nil {
						t.Error(err)
						return
					}
					rest = rest[n:]
				}
			}()
			go func() {
				defer func() { ends <- struct{}{} }()
				for j, want := range s.replies {
					v, err := p.r.Read()
					if err != nil || !fits(want, v) {
						t.Errorf("client %d, reply %d: want %.100s, got %.100s and %v", i, j, want, v, err)
						_ = p.Close()
						return
					}
				}
			}()
		}
		if loops > 1 {
			used := 0
			r.onLoops(func(l *loop) {
				if l.count.Load() > 0 {
					used++
				}
			})
			if used != loops {
				t.Errorf("want clients on all %d loops, they are on %d", loops, used)
			}
		}
		for range 2 * clients {
			<-ends
		}
	})
}

// TestSplitAnywhere sends a pipeline in two parts, cut at each byte, and byte by byte.
func TestSplitAnywhere(t *testing.T) {
	r := start(t, Options{Loops: 1})
	setUp(r.dial())
	var s script
	s.add("+OK", "SET", "a", "some value")
	s.add(bulk("some value"), "GET", "a")
	s.raw("", "\r\n*0\r\n")
	s.add("+OK", "DEBUG", "SLEEP", "0")
	s.raw(bulk("x y"), "ECHO 'x y'\r\n")
	s.add(":799", "LCS", "lcs:a", "lcs:b", "LEN")
	s.add(":10", "STRLEN", "a")

	p := r.dial()
	c := r.find(p.id())
	part := func(data []byte) {
		before := c.BytesIn.Load()
		p.send(data)
		await(t, "the part to arrive", func() bool {
			return c.BytesIn.Load() == before+int64(len(data))
		})
	}
	for cut := 1; cut < len(s.bytes); cut++ {
		part(s.bytes[:cut])
		p.send(s.bytes[cut:])
		p.expect(&s)
	}
	for i := range s.bytes {
		part(s.bytes[i : i+1])
	}
	p.expect(&s)
}

// TestBigValues sets, reads and extends values of up to 100 MB within pipelines, and wants the
// memory back that they took on their way.
func TestBigValues(t *testing.T) {
	sizes := []int{1 << 20, 16 << 20, 100 << 20}
	if testing.Short() {
		sizes = sizes[:2]
	}
	r := start(t, Options{Loops: 1})
	p := r.dial()
	for _, size := range sizes {
		value := bytes.Repeat([]byte("0123456789abcdef"), size/16)
		before := r.process.Heap()
		var data []byte
		data = resp.AppendCommand(data, "SET", "n", "0")
		data = resp.AppendCommand(data, []byte("SET"), []byte("big"), value)
		data = resp.AppendCommand(data, "INCR", "n")
		data = resp.AppendCommand(data, "GET", "big")
		data = resp.AppendCommand(data, "INCR", "n")
		data = resp.AppendCommand(data, []byte("APPEND"), []byte("big"), value)
		data = resp.AppendCommand(data, "INCR", "n")
		data = resp.AppendCommand(data, "STRLEN", "big")
		data = resp.AppendCommand(data, "GETRANGE", "big", strconv.Itoa(size-4), strconv.Itoa(size+3))
		sent := p.stream(data)
		for i, want := range []string{"+OK", "+OK", ":1", "", ":2", ":" + strconv.Itoa(2*size), ":3",
			":" + strconv.Itoa(2*size), bulk("cdef0123")} {
			v := p.read()
			if want == "" {
				if !bytes.Equal(v.Text, value) {
					t.Fatalf("size %d: another value came back, of %d bytes", size, len(v.Text))
				}
			} else if got := v.String(); got != want {
				t.Fatalf("size %d, reply %d: want %s, got %.100s", size, i, want, got)
			}
		}
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
		p.want(":1", "DEL", "big")
		value, data = nil, nil
		await(t, "the heap to shrink", func() bool { return r.process.Heap() < before+4<<20 })
	}
}

// TestLongCommandIsReadInLinearTime: while a long argument comes in, its buffer is moved a few
// times only, and does not outgrow it by much.
func TestLongCommandIsReadInLinearTime(t *testing.T) {
	c := newMemoryClient(t)
	const size = 64 << 20
	head := []byte(fmt.Sprintf("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$%d\r\n", size))
	c.traffic(head, 0)
	piece := make([]byte, readBytes)
	moved, before := 0, 0
	for sent := 0; sent+len(piece) < size; sent += len(piece) {
		c.traffic(piece, 0)
		if cap(c.query) != before {
			moved += len(c.query)
			before = cap(c.query)
		}
		if held := len(c.query) - c.at; cap(c.query) > 3*held+2*readBytes {
			t.Fatalf("a buffer of %d bytes for %d", cap(c.query), held)
		}
	}
	if moved > 3*size {
		t.Errorf("%d bytes were moved while %d came in", moved, size)
	}
	if cap(c.query) > size+size/8 {
		t.Errorf("the buffer has %d bytes for a command of %d", cap(c.query), size)
	}
}
