package resp

import (
	"math"
	"strconv"
)

// doubleMax is the longest text of AppendDouble: "-2.2250738585072014e-308" and room to spare.
const doubleMax = 32

// AppendDouble appends v as Redis replies with scores and RESP3 doubles: whole numbers up to
// 2^62 as integers, the rest in digits that read back as v.
func AppendDouble(dst []byte, v float64) []byte {
	switch {
	case v != v:
		return append(dst, "nan"...)
	case v >= -(1<<62) && v <= 1<<62 && v == math.Trunc(v):
		if v == 0 && math.Signbit(v) {
			return append(dst, "-0"...)
		}
		return AppendInt(dst, int64(v))
	case v > math.MaxFloat64:
		return append(dst, "inf"...)
	case v < -math.MaxFloat64:
		return append(dst, "-inf"...)
	}
	if v < 0 {
		dst = append(dst, '-')
		v = -v
	}
	var digits [digitsMax]byte
	n, exp := shortDigits(v, &digits)
	return appendDigits(dst, digits[:n], exp)
}

// appendDigits appends digits × 10^exp. Where the exponent comes in is fpconv's choice, and not
// C's %g: 123456789012345690000000, but 1e+20.
func appendDigits(dst, digits []byte, exp int) []byte {
	n := len(digits)
	size := n + exp // digits before the point
	switch {
	case exp >= 0 && exp < 8:
		dst = append(dst, digits...)
		return append(dst, "0000000"[:exp]...)
	case exp < 0 && size > 0 && (exp > -7 || size < 5):
		dst = append(dst, digits[:size]...)
		dst = append(dst, '.')
		return append(dst, digits[size:]...)
	case exp < 0 && size <= 0 && (exp > -7 || size > -3):
		dst = append(dst, "0."...)
		dst = append(dst, "000000"[:-size]...)
		return append(dst, digits...)
	}
	dst = append(dst, digits[0])
	if n > 1 {
		dst = append(dst, '.')
		dst = append(dst, digits[1:]...)
	}
	if size--; size < 0 {
		return strconv.AppendInt(append(dst, "e-"...), int64(-size), 10)
	}
	return strconv.AppendInt(append(dst, "e+"...), int64(size), 10)
}

// ParseDouble reads what Redis, by way of strtod, takes as a score: decimal or hexadecimal, with
// an exponent or not, "inf", "infinity"; no spaces, no NaN, nothing that overflows, nor underflows
// to zero.
func ParseDouble(b []byte) (float64, bool) {
	if n, ok := ParseInt(b); ok { // Most scores. Rounds as strtod does.
		return float64(n), true
	}
	if len(b) == 0 {
		return 0, false
	}
	digits := b
	if b[0] == '-' || b[0] == '+' {
		digits = b[1:]
	}
	if isInfinity(digits) {
		if b[0] == '-' {
			return math.Inf(-1), true
		}
		return math.Inf(1), true
	}
	n, ok := scanNumber(digits)
	if !ok {
		return 0, false
	}
	if !n.hex && n.mant < 1<<53 && n.count <= decimalMax && n.exp <= 0 && n.exp >= -exactPow10 {
		// Both are exact, so the quotient is the nearest double, as strtod's is.
		v := float64(n.mant) / pow10[-n.exp]
		if b[0] == '-' {
			v = -v
		}
		return v, true
	}
	var v float64
	var err error
	if n.hex && !hasExponent(digits) {
		v, err = strconv.ParseFloat(string(b)+"p0", 64) // Go insists on it, C does not.
	} else {
		v, err = strconv.ParseFloat(string(b), 64)
	}
	if err != nil || v == 0 && !n.zero() {
		return 0, false
	}
	return v, true
}

func hasExponent(hexadecimal []byte) bool {
	for _, c := range hexadecimal {
		if c|0x20 == 'p' {
			return true
		}
	}
	return false
}

// exactPow10 is the last power of ten that a double holds exactly.
const exactPow10 = 22

var pow10 = [exactPow10 + 1]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}
