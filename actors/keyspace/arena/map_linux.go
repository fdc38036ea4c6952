package arena

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

const mapFlags = unix.MAP_ANON | unix.MAP_PRIVATE | unix.MAP_NORESERVE

// remap grows or shrinks a mapping of its own without copying it.
func remap(p Addr, from, to int) (Addr, bool) {
	q, err := unix.MremapPtr(pointer(p), uintptr(from), nil, uintptr(to), unix.MREMAP_MAYMOVE)
	if err != nil {
		return 0, false
	}
	return Addr(uintptr(q)), true
}

func mapAligned(size, align int) Addr {
	raw, err := unix.MmapPtr(-1, 0, nil, uintptr(size+align), unix.PROT_READ|unix.PROT_WRITE, mapFlags)
	if err != nil {
		panic(fmt.Sprintf("arena: map %d bytes: %v", size, err))
	}
	start := uintptr(raw)
	base := (start + uintptr(align) - 1) &^ (uintptr(align) - 1)
	if head := base - start; head > 0 {
		unmap(Addr(start), int(head))
	}
	if tail := uintptr(align) - (base - start); tail > 0 {
		unmap(Addr(base)+Addr(size), int(tail))
	}
	advise(Addr(base), size, unix.MADV_HUGEPAGE)
	return Addr(base)
}

func unmap(p Addr, n int) {
	if err := unix.MunmapPtr(pointer(p), uintptr(n)); err != nil {
		panic(fmt.Sprintf("arena: unmap %d bytes: %v", n, err))
	}
}

// advise is a hint: a kernel without huge pages refuses it, and nothing is lost.
func advise(p Addr, n, what int) {
	_ = unix.Madvise(unsafe.Slice((*byte)(pointer(p)), n), what)
}

func release(p Addr, n int) { advise(p, n, unix.MADV_DONTNEED) }

// populate has the kernel find the memory now. One that is too old for it (before 5.14) refuses;
// then the page is found when it is used.
func populate(p Addr, n int) { advise(p, n, unix.MADV_POPULATE_WRITE) }
