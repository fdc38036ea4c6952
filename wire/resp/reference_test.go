package resp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// reference is a connection to a real Redis, the last word in every doubt. The tests that use it
// are skipped unless KILN_REFERENCE says where one listens.
type reference struct {
	t    *testing.T
	conn net.Conn
	*Reader
}

func dialReference(t *testing.T) *reference {
	t.Helper()
	conn := connectReference(t)
	t.Cleanup(func() { conn.Close() })
	return &reference{t, conn, NewReader(conn)}
}

func connectReference(t *testing.T) *net.TCPConn {
	t.Helper()
	address := os.Getenv("KILN_REFERENCE")
	if address == "" {
		t.Skip("KILN_REFERENCE is unset: no real Redis to compare with")
	}
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return conn.(*net.TCPConn)
}

// pipeline sends all commands and returns all replies.
func (r *reference) pipeline(commands [][]string) []Value {
	r.t.Helper()
	var out []byte
	for _, c := range commands {
		out = AppendCommand(out, c...)
	}
	go r.conn.Write(out)
	replies := make([]Value, len(commands))
	for i := range replies {
		var err error
		if replies[i], err = r.Read(); err != nil {
			r.t.Fatalf("after %q: %v", commands[i], err)
		}
	}
	return replies
}

// randomDouble draws from what people write, from what arithmetic leaves, and from all bits.
func randomDouble(rnd *rand.Rand) float64 {
	v := 0.0
	switch rnd.IntN(6) {
	case 0:
		v = math.Float64frombits(rnd.Uint64())
	case 1:
		v = float64(rnd.Int64N(1e6)) / math.Pow10(rnd.IntN(9))
	case 2:
		v = rnd.Float64()
	case 3:
		v = float64(rnd.Int64()) * math.Pow(2, float64(rnd.IntN(20)-10))
	case 4:
		v = rnd.NormFloat64() * math.Pow10(rnd.IntN(50)-25)
	case 5:
		v, _ = strconv.ParseFloat(fmt.Sprintf("%de%d", rnd.IntN(1e4), rnd.IntN(640)-330), 64)
	}
	if rnd.IntN(2) == 0 {
		v = -v
	}
	if math.IsNaN(v) || v == 0 { // Redis stores -0 as 0.
		return 1
	}
	return v
}

func TestReferenceDouble(t *testing.T) {
	ref := dialReference(t)
	seed := uint64(time.Now().UnixNano())
	rnd := rand.New(rand.NewPCG(seed, 0))
	differ := 0
	for range 20 {
		var commands [][]string
		var values []float64
		commands = append(commands, []string{"DEL", "kiln:resp"})
		for range 5000 {
			v := randomDouble(rnd)
			values = append(values, v)
			commands = append(commands,
				[]string{"ZADD", "kiln:resp", strconv.FormatFloat(v, 'e', -1, 64), "m"},
				[]string{"ZSCORE", "kiln:resp", "m"})
		}
		for i, reply := range ref.pipeline(commands) {
			if i == 0 || i%2 == 1 {
				continue
			}
			v := values[i/2-1]
			if got := AppendDouble(nil, v); !bytes.Equal(got, reply.Text) {
				if differ++; differ < 20 {
					t.Errorf("seed %d: %v is %s, want %s", seed, v, got, reply.Text)
				}
			}
		}
	}
}

// answer sends input, says that no more will come, and returns all that comes back.
func answer(t *testing.T, input []byte) string {
	t.Helper()
	conn := connectReference(t)
	defer conn.Close()
	conn.Write(input)
	conn.CloseWrite()
	out, err := io.ReadAll(conn)
	if err != nil && !errors.Is(err, syscall.ECONNRESET) { // Closed with our bytes unread.
		t.Fatal(err)
	}
	return string(out)
}

// compareStreams sends input as it is and then the commands that we find in it, the way clients
// send them; the real Redis must give the same replies to both, plus our error.
func compareStreams(t *testing.T, input []byte) {
	t.Helper()
	lim := DefaultLimits()
	ours := decodeWholeInput(t, input, &lim)
	var plain []byte
	for _, c := range ours.commands {
		if len(c) > 0 {
			if name := strings.ToLower(c[0]); name == "post" || name == "host:" {
				return // Redis hangs up: a browser was tricked into speaking to it.
			}
			plain = AppendCommand(plain, c...)
		}
	}
	want, got := answer(t, input), answer(t, plain)
	if ours.err != nil {
		var w Writer
		w.Error(ours.err.(Error))
		got += string(w.Bytes())
	}
	if want != got {
		t.Errorf("%.200q\nwant %.300q\ngot  %.300q by %.300s", input, want, got, ours)
	}
}

func TestReferenceRecorded(t *testing.T) {
	for _, c := range recorded {
		compareStreams(t, []byte(c.input))
	}
}

func TestReferenceRandomStreams(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Log("seed", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	alphabet := []byte("*$\r\n\r\n0123-+ ax\"'\\\x00\t\v\xff")
	for range 500 {
		var input []byte
		for range 1 + rnd.IntN(3) {
			part := recorded[rnd.IntN(len(recorded))].input
			if len(part) > 1000 {
				continue
			}
			b := []byte(part)
			for range rnd.IntN(4) {
				i, c := rnd.IntN(len(b)), alphabet[rnd.IntN(len(alphabet))]
				switch rnd.IntN(3) {
				case 0:
					b[i] = c
				case 1:
					b = slices.Insert(b, i, c)
				case 2:
					b = slices.Delete(b, i, i+1)
				}
				if len(b) == 0 {
					break
				}
			}
			input = append(input, b...)
		}
		compareStreams(t, input)
	}
}

// randomNumber is text that strtod may or may not take.
func randomNumber(rnd *rand.Rand) string {
	digits := func(set string, n int) string {
		b := make([]byte, rnd.IntN(n))
		for i := range b {
			b[i] = set[rnd.IntN(len(set))]
		}
		return string(b)
	}
	pick := func(of ...string) string { return of[rnd.IntN(len(of))] }
	switch rnd.IntN(8) {
	case 0:
		return pick("", "-", "+") + pick("0x", "0X") + digits("0123456789abcdefABCDEF", 20) +
			pick("", ".") + digits("0123456789abcdef", 12) +
			pick("", "", "p", "P-", "p+") + digits("0123456789", 3)
	case 1:
		return pick("", "-", "+") + pick("inf", "Infinity", "infinit", "nan", "NaN(12)", "1_0", " 1",
			"1 ", "0x", ".", "e5", "1e", "0b1", "1e5f", "0x1e+5", "0e999", "1..", "1e1.5", "0x.p1")
	case 2: // About the ends of both ranges.
		return pick("", "-") + digits("123456789", 3) + pick("", "."+digits("0123456789", 25)) + "e" +
			pick("-4951", "-4950", "-4949", "4932", "4931", "308", "-324", "-323", "-308", "4940")
	case 3: // Halfway between two mantissas of 64 bits, or near it.
		n := new(big.Int).SetUint64(rnd.Uint64() | 1<<63)
		n.Lsh(n, 1).Add(n, big.NewInt(int64(rnd.IntN(3))))
		n.Lsh(n, uint(rnd.IntN(70)))
		return n.Add(n, big.NewInt(int64(rnd.IntN(3)-1))).String() + pick("", ".", ".000", ".0001")
	case 4:
		return pick("", "-") + digits("0123456789", 40) + "." + digits("0123456789", 40)
	}
	return pick("", "-", "+") + digits("0123456789", 12) + pick("", "."+digits("0123456789", 19)) +
		pick("", "", "e-"+digits("0123456789", 3), "E"+digits("0123456789", 3))
}

func TestReferenceParseDouble(t *testing.T) {
	ref := dialReference(t)
	seed := uint64(time.Now().UnixNano())
	rnd := rand.New(rand.NewPCG(seed, 0))
	commands := [][]string{{"DEL", "kiln:resp"}}
	var texts []string
	for range 20000 {
		text := randomNumber(rnd)
		texts = append(texts, text)
		commands = append(commands, []string{"ZADD", "kiln:resp", text, "m"},
			[]string{"ZSCORE", "kiln:resp", "m"})
	}
	replies := ref.pipeline(commands)[1:]
	for i, text := range texts {
		want := string(replies[2*i].Text)
		if replies[2*i].Kind == ':' {
			want = string(replies[2*i+1].Text)
		}
		got := "ERR value is not a valid float"
		if v, ok := ParseDouble([]byte(text)); ok {
			got = string(AppendDouble(nil, v+0)) // Redis stores -0 as 0.
			if v == 0 {
				got = "0"
			}
		}
		if want != got {
			t.Errorf("seed %d: %q: want %s, got %s", seed, text, want, got)
		}
	}
}

func TestReferenceIncrbyfloat(t *testing.T) {
	ref := dialReference(t)
	seed := uint64(time.Now().UnixNano())
	rnd := rand.New(rand.NewPCG(seed, 0))
	type pair struct{ value, step string }
	var pairs []pair
	for _, c := range incrbyfloat {
		pairs = append(pairs, pair{c.value, c.step})
	}
	for range 20000 {
		pairs = append(pairs, pair{randomNumber(rnd), randomNumber(rnd)})
	}
	var commands [][]string
	for _, p := range pairs {
		commands = append(commands, []string{"SET", "kiln:resp", p.value},
			[]string{"INCRBYFLOAT", "kiln:resp", p.step})
	}
	replies := ref.pipeline(commands)
	ref.pipeline([][]string{{"DEL", "kiln:resp"}})
	for i, p := range pairs {
		if want, got := string(replies[2*i+1].Text), addText(p.value, p.step); want != got {
			t.Errorf("seed %d: %q + %q\nwant %s\ngot  %s", seed, p.value, p.step, want, got)
		}
	}
}
