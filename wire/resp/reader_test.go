package resp

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReaderPrintsWithoutLoss(t *testing.T) {
	for input, want := range map[string]string{
		"+OK\r\n":                              "+OK",
		"-ERR no\r\n":                          "-ERR no",
		":-7\r\n":                              ":-7",
		"$2\r\na\n\r\n":                        `$"a\n"`,
		"$0\r\n\r\n":                           `$""`,
		"$-1\r\n":                              "$-1",
		"*-1\r\n":                              "*-1",
		"*0\r\n":                               "*0",
		"_\r\n":                                "_",
		"#t\r\n":                               "#t",
		",3.1\r\n":                             ",3.1",
		",nan\r\n":                             ",nan",
		",-inf\r\n":                            ",-inf",
		"(-123\r\n":                            "(-123",
		"=6\r\ntxt:\xff\n\r\n":                 `="txt:\xff\n"`,
		"*2\r\n*1\r\n:1\r\n$1\r\na\r\n":        "*2\n  *1\n    :1\n  $\"a\"",
		"%1\r\n+k\r\n~1\r\n+v\r\n":             "%1\n  +k\n  ~1\n    +v",
		">2\r\n+invalidate\r\n_\r\n":           ">2\n  +invalidate\n  _",
		"|1\r\n+ttl\r\n:9\r\n+OK\r\n":          "|1\n  +ttl\n  :9\n+OK",
		"*2\r\n|1\r\n+t\r\n:9\r\n:1\r\n:2\r\n": "*2\n  |1\n    +t\n    :9\n  :1\n  :2",
	} {
		r := NewReader(iotest.OneByteReader(strings.NewReader(input)))
		v, err := r.Read()
		if err != nil || want != v.String() {
			t.Errorf("%q: want %s, got %s, %v", input, want, v, err)
		}
		if _, err = r.Read(); err != io.EOF {
			t.Errorf("%q: want EOF, got %v", input, err)
		}
		for n := range len(input) - 1 {
			_, err := NewReader(strings.NewReader(input[:n+1])).Read()
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%q cut at %d: %v", input, n+1, err)
			}
		}
	}
}

func TestReaderIsStrict(t *testing.T) {
	for _, input := range []string{
		"\r\n", "x\r\n", "+OK\n", "+O\rK\r\n", ":01\r\n", ":\r\n", ":1 \r\n",
		"$+1\r\na\r\n", "$-2\r\n", "$1\r\nab\r",
		"$2\r\na\r\n\r", "$9999999999\r\n",
		"_x\r\n", "#x\r\n",
		",\r\n", ",1,5\r\n", "(1.5\r\n", "(\r\n", "*-2\r\n",
		"~-1\r\n", "=3\r\ntxt\r\n", "=-1\r\n", "*1\r\n+a\n", "|0\r\n|0\r\n+OK\r\n", strings.Repeat("*1\r\n", 100),
	} {
		v, err := NewReader(strings.NewReader(input)).Read()
		if err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%q: read as %s, %v", input, v, err)
		}
	}
}

func TestValueKnowsIntsAndErrors(t *testing.T) {
	read := func(s string) Value {
		v, err := NewReader(strings.NewReader(s)).Read()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if got := read(":42\r\n").Int(); got != 42 {
		t.Error(got)
	}
	if got := read("+OK\r\n"); got.Int() != 0 || got.Err() != nil {
		t.Error(got)
	}
	var e Error
	if err := read("-MOVED 1 a:1\r\n").Err(); !errors.As(err, &e) || e.Prefix() != "MOVED" {
		t.Error(err)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("*2\r\n$1\r\na\r\n%1\r\n:1\r\n_\r\n"))
	f.Add([]byte("|1\r\n+a\r\n,1.5\r\n=5\r\ntxt:a\r\n"))
	f.Add([]byte("*1000000000\r\n"))
	f.Fuzz(func(t *testing.T, input []byte) {
		r := NewReader(strings.NewReader(string(input)))
		for {
			v, err := r.Read()
			if err != nil {
				return
			}
			_ = v.String()
		}
	})
}
