package resp

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// zscores is what Redis 8.0.6 replies to ZSCORE after ZADD with the text; "" if it refuses it.
var zscores = []struct{ text, want string }{
	{"3", "3"}, {"3.0", "3"}, {"1e15", "1000000000000000"}, {"1e16", "10000000000000000"},
	{"1e17", "100000000000000000"}, {"1e18", "1000000000000000000"}, {"1e19", "1e+19"},
	{"1e20", "1e+20"}, {"1e21", "1e+21"}, {"4611686018427387904", "4611686018427387904"},
	{"4611686018427387905", "4611686018427387904"}, {"-4611686018427387904", "-4611686018427387904"},
	{"4.7e18", "4.7e+18"}, {"9223372036854775807", "9223372036854776000"},
	{"123456789012345678901234", "123456789012345690000000"},
	{"1e-1", "0.1"}, {"1e-6", "0.000001"}, {"1e-7", "1e-7"}, {"1.5e-5", "0.000015"},
	{"1.23e-7", "1.23e-7"}, {"1.5e300", "1.5e+300"}, {"-1.5e300", "-1.5e+300"},
	{"5e-324", "5e-324"}, {"2.2250738585072014e-308", "2.2250738585072014e-308"},
	{"-1.7976931348623157e308", "-1.7976931348623157e+308"}, {"123456.789", "123456.789"},
	{"0.30000000000000004", "0.30000000000000004"}, {"3.1", "3.1"}, {"0", "0"},
	{"inf", "inf"}, {"-inf", "-inf"}, {"+inf", "inf"}, {"infinity", "inf"}, {"iNf", "inf"},
	{"0x10", "16"}, {"0x1p3", "8"}, {"-0x.8", "-0.5"}, {"+1", "1"},
	{".5", "0.5"}, {"5.", "5"}, {"-.5", "-0.5"},
	{"1e+5", "100000"}, {"1E5", "100000"}, {"00012", "12"}, {"0e400", "0"}, {"0e-400", "0"},
	{"2.4703282292062328e-324", "5e-324"},
	// Grisu2 is not always the shortest, nor the nearest of them.
	{"0.03687689636369074", "0.036876896363690737"}, {"0.00916536", "0.009165359999999999"},
	{"1.7109788374399662e15", "1710978837439966.3"},
	{"nan", ""}, {"-nan", ""}, {"nan(1)", ""}, {"1e400", ""}, {"-1e400", ""}, {"1e-400", ""},
	{"2.4703282292062327e-324", ""}, {".", ""}, {"1e", ""}, {"e1", ""}, {"1e+", ""}, {"-", ""},
	{"+", ""}, {"1_0", ""}, {"1.5f", ""}, {"--1", ""}, {"0x", ""}, {"", ""}, {" 1", ""},
	{"1 ", ""}, {"1\x00", ""}, {"\t1", ""}, {"0x1_0p1", ""}, {"1.5.", ""}, {"infinit", ""},
}

func TestScoresAsRecorded(t *testing.T) {
	for _, c := range zscores {
		v, ok := ParseDouble([]byte(c.text))
		got := string(AppendDouble(nil, v))
		if ok != (c.want != "") || ok && c.want != got {
			t.Errorf("%q: want %q, got %q, %v", c.text, c.want, got, ok)
		}
	}
	for want, v := range map[string]float64{
		"nan": math.NaN(), "-0": math.Copysign(0, -1), "1": 1,
	} {
		if got := string(AppendDouble(nil, v)); want != got {
			t.Errorf("want %s, got %s", want, got)
		}
	}
}

func TestDoublesReadBack(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		v := randomDouble(rnd)
		text := AppendDouble(nil, v)
		got, ok := ParseDouble(text)
		if !ok || v != got || len(text) > doubleMax {
			t.Fatalf("%v is written as %s and read as %v, %v", v, text, got, ok)
		}
	}
}

func TestParseDoubleIsStrconvWhereBothRead(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 100_000 {
		text := randomNumber(rnd)
		v, ok := ParseDouble([]byte(text))
		want, err := strconv.ParseFloat(text, 64)
		if err == nil && ok && want != v {
			t.Fatalf("%q: want %v, got %v", text, want, v)
		}
		if err == nil && !ok && !math.IsNaN(want) && want != 0 && !strings.Contains(text, "_") {
			t.Fatalf("%q is refused", text)
		}
	}
}

func TestPowers(t *testing.T) {
	for i, got := range powers {
		exp10 := powerFirst + i*powerStep
		pow := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exp10, -exp10))), nil)
		r := new(big.Rat).SetInt(pow)
		if exp10 < 0 {
			r.Inv(r)
		}
		f := new(big.Float).SetPrec(64).SetRat(r)
		mant := new(big.Float)
		f.MantExp(mant)
		want, _ := mant.SetMantExp(mant, 64).Uint64()
		if want != got {
			t.Errorf("10^%d: want %#016x, got %#016x", exp10, want, got)
		}
	}
}

func TestFloatsDoNotAllocate(t *testing.T) {
	text := make([]byte, 0, doubleMax)
	for _, s := range []string{"3", "0.1", "-1.7976931348623157e308", "inf", "0x1p3"} {
		b := []byte(s)
		allocs := testing.AllocsPerRun(100, func() {
			v, _ := ParseDouble(b)
			text = AppendDouble(text[:0], v)
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations", s, allocs)
		}
	}
}

func FuzzParseFloats(f *testing.F) {
	for _, c := range zscores {
		f.Add([]byte(c.text))
	}
	for _, c := range incrbyfloat {
		f.Add([]byte(c.step))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, ok := ParseLongDouble(text)
		d, ok2 := ParseDouble(text)
		if !ok && ok2 && len(text) <= longTextMax {
			t.Errorf("%q is a double but no long double", text)
		}
		if !ok {
			return
		}
		if again, ok := ParseLongDouble(AppendLongDouble(nil, v)); !ok {
			t.Errorf("%q is written as what cannot be read", text)
		} else if v.exp > 0 && again != v {
			t.Errorf("%q is written as another number", text)
		}
		if f := v.Float64(); ok2 && math.Abs(f-d) > math.Abs(d)*1e-15+5e-324 { // Rounded twice.
			t.Errorf("%q is %v and %v", text, d, f)
		}
	})
}
