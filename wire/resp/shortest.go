package resp

import (
	"math"
	"math/bits"
)

// Redis spells doubles with Grisu2 (Florian Loitsch, Printing Floating-Point Numbers Quickly and
// Accurately with Integers, PLDI 2010). Its text always reads back as the same number, but about
// one time in a thousand it is not the shortest that does, or not the nearest of the shortest, so
// strconv, which is always both, would differ from Redis there. The choice of the power of ten
// and the rounding are those of the fpconv library, because they show in the digits.

// grisu is an unsigned number frac × 2^exp.
type grisu struct {
	frac uint64
	exp  int
}

func (a grisu) mul(b grisu) grisu {
	hi, lo := bits.Mul64(a.frac, b.frac)
	return grisu{hi + lo>>63, a.exp + b.exp + 64}
}

func (a grisu) normalized() grisu {
	n := bits.LeadingZeros64(a.frac)
	return grisu{a.frac << n, a.exp - n}
}

const (
	mantBits  = 52
	hiddenBit = 1 << mantBits
	digitsMax = 18
)

// shortDigits puts the digits of v, which is finite and above 0, into digits: v is their number
// times 10^exp.
func shortDigits(v float64, digits *[digitsMax]byte) (n, exp int) {
	word := math.Float64bits(v)
	w := grisu{word & (hiddenBit - 1), 1 - 1023 - mantBits}
	if e := int(word >> mantBits); e != 0 {
		w.frac |= hiddenBit
		w.exp = e - 1023 - mantBits
	}
	// Every number between lower and upper reads back as v. Below a power of two the neighbours
	// are twice as close.
	upper := grisu{w.frac<<1 + 1, w.exp - 1}.normalized()
	lower := grisu{w.frac<<1 - 1, w.exp - 1}
	if w.frac == hiddenBit {
		lower = grisu{w.frac<<2 - 1, w.exp - 2}
	}
	lower = grisu{lower.frac << (lower.exp - upper.exp), upper.exp}

	// Scaled by a power of ten, the whole part of upper has at most 32 bits.
	power, exp10 := cachedPower(upper.exp)
	w = w.normalized().mul(power)
	upper, lower = upper.mul(power), lower.mul(power)
	upper.frac-- // The product may be off by one.
	lower.frac++
	n, exp = cutDigits(w.frac, lower.frac, upper.frac, -upper.exp, digits)
	return n, exp - exp10
}

// cutDigits writes the digits of upper, a number with the given number of bits after the point,
// until what is left is no more than its distance from lower; then it steps down towards w.
func cutDigits(w, lower, upper uint64, point int, digits *[digitsMax]byte) (n, exp int) {
	one := uint64(1) << point
	toW, delta := upper-w, upper-lower
	whole, frac := uint32(upper>>point), upper&(one-1)

	exp = 10
	for unit := uint32(1e9); exp > 0; unit /= 10 {
		d := whole / unit
		whole %= unit
		if d != 0 || n != 0 {
			digits[n] = byte('0' + d)
			n++
		}
		exp--
		if rest := uint64(whole)<<point + frac; rest <= delta {
			stepDown(&digits[n-1], delta, rest, uint64(unit)<<point, toW)
			return n, exp
		}
	}
	for scale := uint64(10); ; scale *= 10 {
		frac *= 10
		delta *= 10
		d := frac >> point
		frac &= one - 1
		if d != 0 || n != 0 {
			digits[n] = byte('0' + d)
			n++
		}
		exp--
		if frac < delta {
			stepDown(&digits[n-1], delta, frac, one, toW*scale)
			return n, exp
		}
	}
}

// stepDown lowers the last digit while that brings the number, which is rest below upper, closer
// to w, which is toW below it, and leaves it within delta.
func stepDown(digit *byte, delta, rest, unit, toW uint64) {
	for rest < toW && delta-rest >= unit && (rest+unit < toW || toW-rest > rest+unit-toW) {
		*digit--
		rest += unit
	}
}

const (
	powerFirst = -348
	powerStep  = 8
	pointMin   = 32 // of bits after the point, once scaled
	pointMax   = 60
)

// cachedPower finds the power of ten that moves a number with exponent exp to where cutDigits
// wants it. Two may do; the first guess decides, and the digits depend on it.
func cachedPower(exp int) (power grisu, exp10 int) {
	const log2 = 0.30102999566398114 // of base 10; the last digits are fpconv's
	guess := int(-float64(exp+len(powers)) * log2)
	for i := (guess - powerFirst) / powerStep; ; {
		exp10 = powerFirst + i*powerStep
		power = grisu{powers[i], exp10*217706>>16 - 63} // 217706 / 2^16 is log2(10).
		switch point := -(exp + power.exp + 64); {
		case point > pointMax:
			i++
		case point < pointMin:
			i--
		default:
			return power, exp10
		}
	}
}

// powers are 10^-348, 10^-340, …, 10^340, rounded to 64 bits; TestPowers makes them anew.
var powers = [...]uint64{
	0xfa8fd5a0081c0288, 0xbaaee17fa23ebf76, 0x8b16fb203055ac76, 0xcf42894a5dce35ea,
	0x9a6bb0aa55653b2d, 0xe61acf033d1a45df, 0xab70fe17c79ac6ca, 0xff77b1fcbebcdc4f,
	0xbe5691ef416bd60c, 0x8dd01fad907ffc3c, 0xd3515c2831559a83, 0x9d71ac8fada6c9b5,
	0xea9c227723ee8bcb, 0xaecc49914078536d, 0x823c12795db6ce57, 0xc21094364dfb5637,
	0x9096ea6f3848984f, 0xd77485cb25823ac7, 0xa086cfcd97bf97f4, 0xef340a98172aace5,
	0xb23867fb2a35b28e, 0x84c8d4dfd2c63f3b, 0xc5dd44271ad3cdba, 0x936b9fcebb25c996,
	0xdbac6c247d62a584, 0xa3ab66580d5fdaf6, 0xf3e2f893dec3f126, 0xb5b5ada8aaff80b8,
	0x87625f056c7c4a8b, 0xc9bcff6034c13053, 0x964e858c91ba2655, 0xdff9772470297ebd,
	0xa6dfbd9fb8e5b88f, 0xf8a95fcf88747d94, 0xb94470938fa89bcf, 0x8a08f0f8bf0f156b,
	0xcdb02555653131b6, 0x993fe2c6d07b7fac, 0xe45c10c42a2b3b06, 0xaa242499697392d3,
	0xfd87b5f28300ca0e, 0xbce5086492111aeb, 0x8cbccc096f5088cc, 0xd1b71758e219652c,
	0x9c40000000000000, 0xe8d4a51000000000, 0xad78ebc5ac620000, 0x813f3978f8940984,
	0xc097ce7bc90715b3, 0x8f7e32ce7bea5c70, 0xd5d238a4abe98068, 0x9f4f2726179a2245,
	0xed63a231d4c4fb27, 0xb0de65388cc8ada8, 0x83c7088e1aab65db, 0xc45d1df942711d9a,
	0x924d692ca61be758, 0xda01ee641a708dea, 0xa26da3999aef774a, 0xf209787bb47d6b85,
	0xb454e4a179dd1877, 0x865b86925b9bc5c2, 0xc83553c5c8965d3d, 0x952ab45cfa97a0b3,
	0xde469fbd99a05fe3, 0xa59bc234db398c25, 0xf6c69a72a3989f5c, 0xb7dcbf5354e9bece,
	0x88fcf317f22241e2, 0xcc20ce9bd35c78a5, 0x98165af37b2153df, 0xe2a0b5dc971f303a,
	0xa8d9d1535ce3b396, 0xfb9b7cd9a4a7443c, 0xbb764c4ca7a44410, 0x8bab8eefb6409c1a,
	0xd01fef10a657842c, 0x9b10a4e5e9913129, 0xe7109bfba19c0c9d, 0xac2820d9623bf429,
	0x80444b5e7aa7cf85, 0xbf21e44003acdd2d, 0x8e679c2f5e44ff8f, 0xd433179d9c8cb841,
	0x9e19db92b4e31ba9, 0xeb96bf6ebadf77d9, 0xaf87023b9bf0ee6b,
}
