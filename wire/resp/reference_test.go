package resp

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
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
	address := os.Getenv("KILN_REFERENCE")
	if address == "" {
		t.Skip("KILN_REFERENCE is unset: no real Redis to compare with")
	}
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &reference{t, conn, NewReader(conn)}
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
