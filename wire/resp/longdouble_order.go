package resp

// MaxLongDouble is the largest finite long double.
var MaxLongDouble = LongDouble{mant: 1<<64 - 1, exp: longExpMax}

// Neg returns v with the other sign.
func (v LongDouble) Neg() LongDouble {
	v.neg = !v.neg
	return v
}

// Compare tells whether v is less than u (-1), equal to it (0) or greater (1). Zeros of both
// signs are equal.
//
// REQUIRES: neither is NaN.
func (v LongDouble) Compare(u LongDouble) int {
	switch s, t := v.sign(), u.sign(); {
	case s < t:
		return -1
	case s > t:
		return 1
	default:
		return s * v.compareSize(u)
	}
}

func (v LongDouble) sign() int {
	switch {
	case v.kind == longFinite && v.mant == 0:
		return 0
	case v.neg:
		return -1
	}
	return 1
}

// compareSize compares without the signs. Of two mantissas, each with its top bit set unless its
// exponent is the smallest, the one with the larger exponent is larger.
func (v LongDouble) compareSize(u LongDouble) int {
	switch {
	case v.kind != u.kind && v.kind == longInf:
		return 1
	case v.kind != u.kind:
		return -1
	case v.kind == longInf || v.exp == u.exp && v.mant == u.mant:
		return 0
	case v.exp > u.exp || v.exp == u.exp && v.mant > u.mant:
		return 1
	}
	return -1
}

// LongDouble writes v as AppendLongDouble spells it; in RESP2 as a bulk string.
func (w *Writer) LongDouble(v LongDouble) {
	w.owed--
	if w.Resp3 {
		w.buf = append(AppendLongDouble(append(w.buf, ','), v), "\r\n"...)
		return
	}
	var text [2 * doubleMax]byte
	w.buf = appendBytes(w.buf, AppendLongDouble(text[:0], v))
}
