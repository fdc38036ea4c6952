package resp

import (
	"math"
	"strconv"
)

// doubleMax is the longest text of AppendDouble.
const doubleMax = 32

// AppendDouble appends v as Redis replies with scores and RESP3 doubles.
func AppendDouble(dst []byte, v float64) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, "nan"...)
	case math.IsInf(v, 1):
		return append(dst, "inf"...)
	case math.IsInf(v, -1):
		return append(dst, "-inf"...)
	case v == 0 && math.Signbit(v):
		return append(dst, "-0"...)
	case math.Abs(v) <= 1<<62 && v == math.Trunc(v):
		return AppendInt(dst, int64(v))
	}
	return strconv.AppendFloat(dst, v, 'g', -1, 64)
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
	var v float64
	var err error
	if n.hex && !hasExponent(digits) {
		v, err = strconv.ParseFloat(string(b)+"p0", 64) // Go insists on it, C does not.
	} else {
		v, err = strconv.ParseFloat(string(b), 64)
	}
	return v, err == nil && (v != 0 || n.zero())
}

func hasExponent(hexadecimal []byte) bool {
	for _, c := range hexadecimal {
		if c|0x20 == 'p' {
			return true
		}
	}
	return false
}
