package resp

import (
	"bytes"
	"math"
	"math/big"
	"math/bits"
)

// LongDouble is C's long double as x86-64 has it, the 80-bit extended format: INCRBYFLOAT and
// HINCRBYFLOAT add in it, and only a sum with its 64 bits of mantissa prints the digits that
// Redis prints. Most numbers that people write stay in registers; the rest goes through math/big,
// exactly.
//
// The value is mant × 2^exp. mant has its top bit set unless the value is 0 or subnormal.
type LongDouble struct {
	mant uint64
	exp  int
	neg  bool
	kind longKind
}

type longKind uint8

const (
	longFinite longKind = iota
	longInf
	longNaN
)

const (
	longExpMin   = -16445 // of the subnormals
	longExpMax   = 16383 - 63
	longTextMax  = 5*1024 - 1  // Redis copies the text into a buffer of MAX_LONG_DOUBLE_CHARS.
	longDecimals = 17          // that Redis prints
	pow10Text    = 1e17        // 10^longDecimals
	pow5Max      = 27          // 5^27 is the last that fits in 64 bits
	decimalMax   = 19          // digits that fit in 64 bits
	exp10Bound   = 4 * 5 << 10 // An exponent beyond it overflows or underflows with any digits.
)

// ParseLongDouble reads what Redis, by way of strtold, takes as the increment of INCRBYFLOAT or
// as a value that can be incremented: decimal or hexadecimal, with an exponent or not, "inf",
// "infinity"; no spaces, no NaN, nothing that overflows, nor underflows to zero.
func ParseLongDouble(b []byte) (LongDouble, bool) {
	if len(b) == 0 || len(b) > longTextMax {
		return LongDouble{}, false
	}
	neg := b[0] == '-'
	if neg || b[0] == '+' {
		b = b[1:]
	}
	if isInfinity(b) {
		return LongDouble{kind: longInf, neg: neg}, true
	}
	n, ok := scanNumber(b)
	if !ok {
		return LongDouble{}, false
	}
	v := n.longDouble()
	if v.kind != longFinite || v.mant == 0 && !n.zero() {
		return LongDouble{}, false
	}
	v.neg = neg
	return v, true
}

// LongDoubleOf widens v, which is exact.
func LongDoubleOf(v float64) LongDouble {
	switch {
	case math.IsNaN(v):
		return LongDouble{kind: longNaN}
	case math.IsInf(v, 0):
		return LongDouble{kind: longInf, neg: v < 0}
	}
	frac, exp := math.Frexp(math.Abs(v))
	r := roundLong(uint64(frac*(1<<53)), 0, false, exp-53)
	r.neg = math.Signbit(v)
	return r
}

// Float64 narrows v.
func (v LongDouble) Float64() float64 {
	f := math.Ldexp(float64(v.mant), v.exp)
	switch v.kind {
	case longInf:
		f = math.Inf(1)
	case longNaN:
		f = math.NaN()
	}
	if v.neg {
		return -f
	}
	return f
}

// IsInf reports whether v is infinite, of either sign.
func (v LongDouble) IsInf() bool { return v.kind == longInf }

// IsNaN reports whether v is not a number: the sum of infinities of both signs.
func (v LongDouble) IsNaN() bool { return v.kind == longNaN }

// Add returns the sum, rounded to nearest, ties to even.
func (v LongDouble) Add(u LongDouble) LongDouble {
	switch {
	case v.kind == longNaN || u.kind == longNaN,
		v.kind == longInf && u.kind == longInf && v.neg != u.neg:
		return LongDouble{kind: longNaN}
	case v.kind == longInf || u.mant == 0 && u.kind == longFinite:
		return v
	case u.kind == longInf || v.mant == 0:
		return u
	}
	if v.exp < u.exp || v.exp == u.exp && v.mant < u.mant {
		v, u = u, v
	}
	// v is hi:0, u is moved right to stand under it.
	shift := v.exp - u.exp
	uhi, ulo, sticky := shiftRight(u.mant, 0, shift)
	var sum LongDouble
	if v.neg == u.neg {
		hi, carry := bits.Add64(v.mant, uhi, 0)
		exp := v.exp
		if carry != 0 {
			sticky = sticky || ulo&1 != 0
			ulo = ulo>>1 | hi<<63
			hi = hi>>1 | 1<<63
			exp++
		}
		sum = roundLong(hi, ulo, sticky, exp)
	} else {
		var less uint64
		if sticky { // The bits that fell off u make the difference smaller.
			less = 1
		}
		lo, borrow := bits.Sub64(0, ulo, less)
		hi, _ := bits.Sub64(v.mant, uhi, borrow)
		sum = roundLong(hi, lo, sticky, v.exp)
	}
	sum.neg = v.neg
	return sum
}

// AppendLongDouble appends v as Redis stores and replies with it: 17 decimals, less the zeros at
// the end, and never an exponent.
func AppendLongDouble(dst []byte, v LongDouble) []byte {
	start := len(dst)
	if v.neg && v.kind != longNaN {
		dst = append(dst, '-')
	}
	switch {
	case v.kind == longNaN:
		return append(dst, "nan"...)
	case v.kind == longInf:
		return append(dst, "inf"...)
	case v.exp > 0:
		n := new(big.Int).SetUint64(v.mant)
		return n.Lsh(n, uint(v.exp)).Append(dst, 10)
	}
	whole, frac := uint64(0), v.mant
	if v.exp > -64 {
		whole, frac = v.mant>>-v.exp, v.mant&(1<<-v.exp-1)
	}
	hi, lo := bits.Mul64(frac, pow10Text)
	decimals := shiftRound(hi, lo, -v.exp)
	if decimals == pow10Text {
		whole, decimals = whole+1, 0
	}
	if whole|decimals == 0 {
		return append(dst[:start], '0') // Redis shows no negative zero.
	}
	dst = appendUint(dst, whole)
	if decimals == 0 {
		return dst
	}
	dst = append(dst, '.')
	point := len(dst)
	dst = append(dst, "00000000000000000"[:longDecimals]...)
	for i := len(dst) - 1; i >= point; i-- {
		dst[i] = byte('0' + decimals%10)
		decimals /= 10
	}
	return bytes.TrimRight(dst, "0")
}

// roundLong makes the value (hi:lo) × 2^(exp-64), of which sticky says that something not zero
// follows, so exp belongs to hi. Ties go to even; beyond the range lie infinity and zero.
func roundLong(hi, lo uint64, sticky bool, exp int) LongDouble {
	if hi == 0 {
		hi, lo = lo, 0
		exp -= 64
	}
	if hi == 0 {
		return LongDouble{}
	}
	n := bits.LeadingZeros64(hi)
	hi = hi<<n | lo>>(64-n)
	lo <<= n
	exp -= n
	if exp < longExpMin {
		var lost bool
		hi, lo, lost = shiftRight(hi, lo, longExpMin-exp)
		sticky = sticky || lost
		exp = longExpMin
	}
	if lo > 1<<63 || lo == 1<<63 && (sticky || hi&1 != 0) {
		if hi++; hi == 0 {
			hi = 1 << 63
			exp++
		}
	}
	switch {
	case hi == 0:
		return LongDouble{}
	case exp > longExpMax:
		return LongDouble{kind: longInf}
	}
	return LongDouble{mant: hi, exp: exp}
}

// shiftRight moves hi:lo right; lost tells whether bits that were set fell off.
func shiftRight(hi, lo uint64, n int) (h, l uint64, lost bool) {
	switch {
	case n >= 128:
		return 0, 0, hi|lo != 0
	case n >= 64:
		lost = lo != 0
		hi, lo = 0, hi
		n -= 64
	}
	lost = lost || lo<<(64-n) != 0
	return hi >> n, lo>>n | hi<<(64-n), lost
}

// shiftRound divides hi:lo by 2^n, to nearest, ties to even. The quotient fits.
func shiftRound(hi, lo uint64, n int) uint64 {
	if n == 0 {
		return lo
	}
	h, q, lost := shiftRight(hi, lo, n-1)
	half := q&1 != 0
	q = q>>1 | h<<63
	if half && (lost || q&1 != 0) {
		q++
	}
	return q
}

// isInfinity knows what strtod takes for infinity, less the sign.
func isInfinity(b []byte) bool {
	return len(b) == 3 && bytes.EqualFold(b, []byte("inf")) ||
		len(b) == 8 && bytes.EqualFold(b, []byte("infinity"))
}

// number is the text of a number, without sign, taken apart. Its value is digits × 10^exp or, if
// hex, digits × 2^exp.
type number struct {
	digits []byte // without zeros in front; may hold the point
	count  int    // of digits in it, without the point
	mant   uint64 // the digits, if they fit: count <= decimalMax, or 16 if hex
	exp    int
	hex    bool
}

func (n *number) zero() bool { return n.count == 0 }

// scanNumber takes all of b as C's strtod does, or refuses it.
func scanNumber(b []byte) (n number, ok bool) {
	base, expMark := uint64(10), byte('e')
	if len(b) > 2 && b[0] == '0' && b[1]|0x20 == 'x' {
		n.hex = true
		base, expMark = 16, 'p'
		b = b[2:]
	}
	i, start := 0, 0
	seen, point := false, false
	for ; i < len(b); i++ {
		if b[i] == '.' && !point {
			point = true
			continue
		}
		d := uint64(hex(b[i]))
		if d >= base {
			break
		}
		seen = true
		if point {
			n.exp--
		}
		if n.count == 0 && d == 0 {
			continue
		}
		if n.count == 0 {
			start = i
		}
		n.count++
		n.mant = n.mant*base + d // Wraps when there are too many digits; see mant.
	}
	if !seen {
		return n, false
	}
	if n.count > 0 {
		n.digits = b[start:i]
	}
	if n.hex {
		n.exp *= 4
	}
	if i < len(b) {
		if b[i]|0x20 != expMark {
			return n, false
		}
		exp, good := scanExponent(b[i+1:])
		if !good {
			return n, false
		}
		n.exp += exp
	}
	return n, true
}

// scanExponent stops counting where the result is certain.
func scanExponent(b []byte) (exp int, ok bool) {
	neg := len(b) > 0 && b[0] == '-'
	if neg || len(b) > 0 && b[0] == '+' {
		b = b[1:]
	}
	for _, c := range b {
		d := c - '0'
		if d > 9 {
			return 0, false
		}
		if exp < 16*exp10Bound {
			exp = exp*10 + int(d)
		}
	}
	if neg {
		exp = -exp
	}
	return exp, len(b) > 0
}

// longDouble rounds the number; the sign is the caller's.
func (n *number) longDouble() LongDouble {
	switch {
	case n.zero():
		return LongDouble{}
	case n.hex && n.count <= 16:
		return roundLong(n.mant, 0, false, n.exp)
	case n.hex || n.count > decimalMax || n.exp < -pow5Max || n.exp > pow5Max:
		return n.big()
	case n.exp >= 0:
		hi, lo := bits.Mul64(n.mant, pow5[n.exp])
		return roundLong(hi, lo, false, n.exp+64)
	}
	// 128 bits of the quotient, of which the first is among the upper two.
	div := pow5[-n.exp]
	shift, divShift := bits.LeadingZeros64(n.mant), bits.LeadingZeros64(div)
	mant := n.mant << shift
	div <<= divShift
	hi, rem := bits.Div64(mant>>1, mant<<63, div)
	lo, rem := bits.Div64(rem, 0, div)
	return roundLong(hi, lo, rem != 0, n.exp+divShift-shift-63)
}

// big is longDouble for the numbers that do not fit in registers.
func (n *number) big() LongDouble {
	base := 10
	if n.hex {
		base = 16
	}
	text := bytes.ReplaceAll(n.digits, []byte("."), nil)
	m, _ := new(big.Int).SetString(string(text), base)
	if n.hex {
		return roundBig(m, false, n.exp)
	}
	switch size := n.count + n.exp; { // The value is below 10^size.
	case size > exp10Bound:
		return LongDouble{kind: longInf}
	case size < -exp10Bound:
		return LongDouble{}
	}
	pow := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(n.exp, -n.exp))), nil)
	if n.exp >= 0 {
		return roundBig(m.Mul(m, pow), false, 0)
	}
	shift := max(0, pow.BitLen()-m.BitLen()+130) // At least 129 bits of quotient.
	rem := new(big.Int)
	m.QuoRem(m.Lsh(m, uint(shift)), pow, rem)
	return roundBig(m, rem.Sign() != 0, -shift)
}

// roundBig rounds m × 2^exp, of which sticky says that something follows.
func roundBig(m *big.Int, sticky bool, exp int) LongDouble {
	if size := m.BitLen(); size > 128 {
		drop := uint(size - 128)
		sticky = sticky || m.TrailingZeroBits() < drop
		m.Rsh(m, drop)
		exp += int(drop)
	}
	var b [16]byte
	m.FillBytes(b[:])
	var hi, lo uint64
	for i := range 8 {
		hi, lo = hi<<8|uint64(b[i]), lo<<8|uint64(b[8+i])
	}
	return roundLong(hi, lo, sticky, exp+64)
}

// pow5 has the powers of 5 that fit in 64 bits.
var pow5 = func() (p [pow5Max + 1]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1] * 5
	}
	return p
}()
