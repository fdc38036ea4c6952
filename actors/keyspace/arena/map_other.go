//go:build unix && !linux

package arena

import (
	"fmt"

	"golang.org/x/sys/unix"
)

func remap(Addr, int, int) (Addr, bool) { return 0, false }

func mapAligned(size, align int) Addr {
	raw, err := unix.MmapPtr(-1, 0, nil, uintptr(size+align),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
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
	return Addr(base)
}

func unmap(p Addr, n int) {
	if err := unix.MunmapPtr(pointer(p), uintptr(n)); err != nil {
		panic(fmt.Sprintf("arena: unmap %d bytes: %v", n, err))
	}
}

func release(p Addr, n int) { _ = unix.Madvise(Bytes(p, n), unix.MADV_FREE) }

// populate does nothing: memory is found when it is used.
func populate(Addr, int) {}
