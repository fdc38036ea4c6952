package arena

import "math/bits"

const (
	classMin     = 16
	classLinear  = 128       // up to here classes are 8 bytes apart
	classMax     = 256 << 10 // larger blocks are runs of units
	classesFew   = (classLinear-classMin)/8 + 1
	classCount   = classesFew + 8*11 // eight to a doubling from 128 B to 256 KB
	unitBytes    = 32 << 10
	unitShift    = 15
	chunkBytes   = 32 << 20
	chunkUnits   = chunkBytes / unitBytes
	largeMax     = 16 << 20 // larger blocks are mappings of their own
	hugePage     = 2 << 20
	spanUnitsMax = 32
	lookupMax    = 1024
	lookupGrains = lookupMax/8 + 1
)

// classOf maps a size in grains of 8 bytes to its class, for the sizes most keys have.
var classOf = func() (t [lookupGrains]uint8) {
	for g := range t {
		t[g] = uint8(classFor(g * 8))
	}
	return t
}()

// classBytes and spanUnits give each class's block size and the units of its spans: the fewest
// of which a sixteenth at most is wasted at the end, or the most where there are none. Small
// spans are better, since on average half of one lies idle for each class and arena.
var classBytes, spanUnits = func() (size [classCount]uint32, units [classCount]uint32) {
	for c := range size {
		n := classMin + 8*c
		if c >= classesFew {
			step := c - classesFew
			base := classLinear << (step / 8)
			n = base + base/8*(step%8+1)
		}
		size[c] = uint32(n)
		units[c] = spanUnitsMax
		for u := spanUnitsMax; u*unitBytes >= n; u /= 2 {
			if u*unitBytes%n <= u*unitBytes/16 {
				units[c] = uint32(u)
			}
		}
	}
	return size, units
}()

func class(n int) int {
	if n <= lookupMax {
		return int(classOf[(n+7)>>3])
	}
	return classFor(n)
}

func classFor(n int) int {
	if n <= classMin {
		return 0
	}
	if n <= classLinear {
		return (n - classMin + 7) / 8
	}
	shift := bits.Len(uint(n-1)) - 1 // 2^shift < n <= 2^(shift+1), shift >= 7
	base := 1 << shift
	return classesFew + 8*(shift-7) + (n-base+base/8-1)/(base/8) - 1
}

// SizeOf gives the bytes that a block of n bytes takes.
func SizeOf(n int) int {
	n += redZone
	switch {
	case n <= classMax:
		return int(classBytes[class(n)])
	case n <= largeMax:
		return (n + unitBytes - 1) &^ (unitBytes - 1)
	default:
		return (n + hugePage - 1) &^ (hugePage - 1)
	}
}
