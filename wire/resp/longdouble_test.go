package resp

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// addText is INCRBYFLOAT: the new value, or the error.
func addText(value, step string) string {
	v, ok := ParseLongDouble([]byte(value))
	s, ok2 := ParseLongDouble([]byte(step))
	if !ok || !ok2 {
		return "ERR value is not a valid float"
	}
	v = v.Add(s)
	if v.IsNaN() || v.IsInf() {
		return "ERR increment would produce NaN or Infinity"
	}
	return string(AppendLongDouble(nil, v))
}

const (
	notFloat = "ERR value is not a valid float"
	notSum   = "ERR increment would produce NaN or Infinity"
)

// incrbyfloat is what Redis 8.0.6 replies; TestReferenceIncrbyfloat asks it again.
var incrbyfloat = []struct{ value, step, want string }{
	{"10.5", "0.1", "10.6"},
	{"3.0e3", "200", "3200"},
	{"5.0e3", "1e20", "100000000000000005000"},
	{"0", "1e-17", "0.00000000000000001"},
	{"0", "1e-18", "0"},
	{"0", "5e-18", "0"},
	{"0", "1.5e-17", "0.00000000000000002"},
	{"1", "1e-17", "1.00000000000000001"},
	{"1", "1e-18", "1"},
	{"0.1", "0.2", "0.3"},
	{"3", "1.0e2", "103"},
	{"-1", "1", "0"},
	{"0", "-0", "0"},
	{"0", "-1e-20", "0"},
	{"9223372036854775807", "1", "9223372036854775808"},
	{"18446744073709551615", "1", "18446744073709551616"},
	{"18446744073709551616", "1", "18446744073709551616"},
	{"123456789012345678901234567890", "0.1", "123456789012345678899921813504"},
	{"1e22", "0", "10000000000000000000000"},
	{"1e30", "1e-17", "1000000000000000000024696061952"},
	{"0", "inf", notSum},
	{"0", "-inf", notSum},
	{"inf", "-inf", notSum},
	{"infinity", "1", notSum},
	{"1e4932", "1e4932", notSum},
	{"0", "nan", notFloat},
	{"0", "NAN(1)", notFloat},
	{"nan", "1", notFloat},
	{"0", "0x10", "16"},
	{"0", "0x1p-3", "0.125"},
	{"0x1.8", "1", "2.5"},
	{"0", "0x.8", "0.5"},
	{"0", "0x1p", notFloat},
	{"0", "0x", notFloat},
	{"0", "0x1p16384", notFloat},
	{"0", "0x1p-16445", "0"},
	{"0", "0x1p-16446", notFloat},
	{"0", "0x1.8p-16446", "0"},
	{"0", "+1", "1"},
	{"0", " 1", notFloat},
	{"0", "1 ", notFloat},
	{"0", "1\x00", notFloat},
	{"0", "", notFloat},
	{"", "1", notFloat},
	{"0", ".", notFloat},
	{"0", "1.", "1"},
	{"0", ".5", "0.5"},
	{"0", "1e", notFloat},
	{"0", "1_0", notFloat},
	{"0", "infinit", notFloat},
	{"0", "1.2e4932", notFloat},
	{"0", "1e-4932", "0"},
	{"0", "1.9e-4951", "0"},
	{"0", "1.8e-4951", notFloat},
	{"0", "1e99999", notFloat},
	{"0", "1e-99999", notFloat},
	{"0", "1e5000000000000000000000", notFloat},
	{"0", "0e99999", "0"},
	{"0", strings.Repeat("0", 5118) + "1", "1"},
	{"0", strings.Repeat("0", 5119) + "1", notFloat},
	{"0", "0." + strings.Repeat("0", 5100) + "1", notFloat},
	{"0", strings.Repeat("1", 5119), notFloat},
	{"1" + strings.Repeat("0", 4932) + "e-4932", "0." + strings.Repeat("0", 4000) + "1e4000", "1.1"},
}

func TestIncrbyfloatAsRecorded(t *testing.T) {
	for _, c := range incrbyfloat {
		if got := addText(c.value, c.step); c.want != got {
			t.Errorf("%.40q + %.40q: want %s, got %.80s", c.value, c.step, c.want, got)
		}
	}
}

func TestLongestLongDouble(t *testing.T) {
	v, ok := ParseLongDouble([]byte("1.1e4932"))
	text := string(AppendLongDouble(nil, v))
	if !ok || len(text) != 4933 ||
		!strings.HasPrefix(text, "1099999999999999999974373107528241817659") ||
		!strings.HasSuffix(text, "529957267178522323242088136704") {
		t.Error(ok, len(text), text)
	}
}

// exact is v as a big.Float, which holds every LongDouble but NaN.
func exact(v LongDouble) *big.Float {
	f := new(big.Float).SetPrec(64).SetUint64(v.mant)
	f.SetMantExp(f, v.exp)
	if v.kind == longInf {
		f.SetInf(false)
	}
	if v.neg {
		f.Neg(f)
	}
	return f
}

func randomLongDouble(rnd *rand.Rand) LongDouble {
	mant := rnd.Uint64() | 1<<63
	switch rnd.IntN(4) {
	case 0:
		mant = 1 << 63
	case 1:
		mant = 1<<64 - 1
	case 2:
		mant &= math.MaxUint64 << rnd.IntN(64)
		mant |= 1 << 63
	}
	return LongDouble{mant: mant, exp: rnd.IntN(150) - 100, neg: rnd.IntN(2) == 0}
}

func TestLongDoubleAddsAsBigFloatDoes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		a, b := randomLongDouble(rnd), randomLongDouble(rnd)
		want := new(big.Float).SetPrec(64).Add(exact(a), exact(b))
		if got := exact(a.Add(b)); want.Cmp(got) != 0 {
			t.Fatalf("%v + %v: want %v, got %v", exact(a), exact(b), want, got)
		}
	}
}

func TestLongDoublePrintsAsRatDoes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 50_000 {
		v := randomLongDouble(rnd)
		r, _ := exact(v).Rat(nil)
		want := evenDecimals(r)
		if got := string(AppendLongDouble(nil, v)); want != got {
			t.Fatalf("%v: want %s, got %s", exact(v), want, got)
		}
	}
}

// evenDecimals rounds ties to even, as C's printf does; Rat.FloatString rounds them away from 0.
func evenDecimals(r *big.Rat) string {
	scaled := new(big.Rat).Mul(new(big.Rat).Abs(r), new(big.Rat).SetInt64(1e17))
	q, rem := new(big.Int).QuoRem(scaled.Num(), scaled.Denom(), new(big.Int))
	switch c := rem.Lsh(rem, 1).Cmp(scaled.Denom()); {
	case c > 0 || c == 0 && q.Bit(0) != 0:
		q.Add(q, big.NewInt(1))
	}
	s := q.String()
	if len(s) <= 17 {
		s = strings.Repeat("0", 18-len(s)) + s
	}
	s = strings.TrimRight(s[:len(s)-17]+"."+s[len(s)-17:], "0")
	s = strings.TrimSuffix(s, ".")
	if r.Sign() < 0 && s != "0" {
		s = "-" + s
	}
	return s
}

func TestLongDoubleParsesAsBigRatDoes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 50_000 {
		text := randomNumber(rnd)
		v, ok := ParseLongDouble([]byte(text))
		if !ok || v.kind != longFinite || v.exp <= longExpMin+64 || strings.Contains(text, "x") ||
			strings.Contains(text, "X") {
			continue
		}
		r, good := new(big.Rat).SetString(text)
		if !good {
			t.Fatalf("%q is no number", text)
		}
		want := new(big.Float).SetPrec(64).SetRat(r)
		if got := exact(v); want.Cmp(got) != 0 {
			t.Fatalf("%q: want %v, got %v", text, want, got)
		}
	}
}

func TestLongDoubleOfFloat64IsExact(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for range 10_000 {
		f := randomDouble(rnd)
		if got := LongDoubleOf(f).Float64(); f != got {
			t.Fatalf("want %v, got %v", f, got)
		}
	}
	for _, f := range []float64{0, 5e-324, math.MaxFloat64, math.Inf(1), math.Inf(-1)} {
		if got := LongDoubleOf(f).Float64(); f != got {
			t.Errorf("want %v, got %v", f, got)
		}
	}
	if v := LongDoubleOf(math.NaN()); !v.IsNaN() || !math.IsNaN(v.Float64()) {
		t.Error("NaN is lost")
	}
	for want, v := range map[string]float64{ // GEOPOS prints its doubles this way.
		"13.36138933897018433": 13.361389338970184, "nan": math.NaN(), "-inf": math.Inf(-1),
		"0": math.Copysign(0, -1),
	} {
		if got := string(AppendLongDouble(nil, LongDoubleOf(v))); want != got {
			t.Errorf("want %s, got %s", want, got)
		}
	}
}

func TestIncrbyfloatDoesNotAllocate(t *testing.T) {
	text := make([]byte, 0, 64)
	value, step := []byte("-10.5"), []byte("-1e-1")
	allocs := testing.AllocsPerRun(100, func() {
		v, _ := ParseLongDouble(value)
		s, _ := ParseLongDouble(step)
		text = AppendLongDouble(text[:0], v.Add(s))
	})
	if allocs != 0 || string(text) != "-10.6" {
		t.Errorf("%v allocations for %s", allocs, text)
	}
}
