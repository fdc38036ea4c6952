package resp

import (
	"math"
	"strconv"
	"testing"
)

func TestOnlyCanonicalIntegersAreRead(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
		ok   bool
	}{
		{"0", 0, true}, {"7", 7, true}, {"-1", -1, true}, {"10", 10, true}, {"-10", -10, true},
		{"1234567890123456789", 1234567890123456789, true},
		{"9223372036854775807", math.MaxInt64, true}, {"-9223372036854775808", math.MinInt64, true},
		{"9223372036854775808", 0, false}, {"-9223372036854775809", 0, false},
		{"9999999999999999999", 0, false}, {"18446744073709551616", 0, false},
		{"18446744073709551617", 0, false}, {"10000000000000000000", 0, false},
		{"", 0, false}, {"-", 0, false}, {"+1", 0, false}, {"01", 0, false}, {"00", 0, false},
		{"-0", 0, false}, {"-01", 0, false}, {" 1", 0, false}, {"1 ", 0, false}, {"1.0", 0, false},
		{"--1", 0, false}, {"a", 0, false}, {"1a", 0, false}, {"\x001", 0, false},
		{"/", 0, false}, {":", 0, false},
	} {
		got, ok := ParseInt([]byte(c.text))
		if ok != c.ok || ok && c.want != got {
			t.Errorf("%q: want %d, %v, got %d, %v", c.text, c.want, c.ok, got, ok)
		}
	}
}

func FuzzParseInt(f *testing.F) {
	for _, s := range []string{"0", "-0", "12", "-9223372036854775808", "9223372036854775808", "01"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		n, err := strconv.ParseInt(string(text), 10, 64)
		want := err == nil && strconv.FormatInt(n, 10) == string(text)
		got, ok := ParseInt(text)
		if want != ok || ok && (n != got || string(AppendInt(nil, got)) != string(text)) {
			t.Errorf("%q: want %d, %v, got %d, %v", text, n, want, got, ok)
		}
	})
}

func TestIntegersDoNotAllocate(t *testing.T) {
	var text [20]byte
	allocs := testing.AllocsPerRun(100, func() {
		if n, ok := ParseInt(AppendInt(text[:0], math.MinInt64)); !ok || n != math.MinInt64 {
			t.Fatal(n)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
