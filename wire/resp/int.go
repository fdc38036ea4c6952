package resp

import "strconv"

// ParseInt reads an integer in the one form that Redis takes: no plus sign, no leading zeros, no
// "-0", no spaces, and within int64. AppendInt gives back the same bytes for all it accepts.
func ParseInt(b []byte) (int64, bool) {
	if len(b) == 1 { // Counters, flags and most lengths.
		d := b[0] - '0'
		return int64(d), d <= 9
	}
	digits := b
	if len(b) > 0 && b[0] == '-' {
		digits = b[1:]
	}
	// The first digit is never 0 here: "0" itself was one byte long and "-0" is refused.
	if len(digits) == 0 || len(digits) > 19 || digits[0] == '0' {
		return 0, false
	}
	var n uint64 // 19 digits do not overflow it.
	for _, c := range digits {
		d := c - '0'
		if d > 9 {
			return 0, false
		}
		n = n*10 + uint64(d)
	}
	if len(digits) != len(b) {
		return -int64(n), n <= 1<<63 // -2^63 is its own negation.
	}
	return int64(n), n < 1<<63
}

// AppendInt appends n in decimal.
func AppendInt(dst []byte, n int64) []byte {
	if uint64(n) < 10 {
		return append(dst, byte('0'+n))
	}
	return strconv.AppendInt(dst, n, 10)
}

func appendUint(dst []byte, n uint64) []byte { return strconv.AppendUint(dst, n, 10) }
