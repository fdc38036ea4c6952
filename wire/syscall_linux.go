package wire

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The calls of the hot path go to the kernel past Go's scheduler. A socket does not block, so
// there is nothing that the scheduler should know; but it would take the processor from a loop that
// waits, give it back a moment later on another thread, and have its monitor look 2,400 times a
// second meanwhile: a fifth of the CPU of a server that is sent one command at a time.

// epollWait waits for events. quick: without telling the scheduler, so for a short time only.
func epollWait(fd int, events []unix.EpollEvent, timeoutMs int, quick bool) int {
	if !quick {
		n, _ := unix.EpollWait(fd, events, timeoutMs) // EINTR is the only error there is
		return max(n, 0)
	}
	n, _, errno := syscall.RawSyscall6(syscall.SYS_EPOLL_PWAIT, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)),
		uintptr(timeoutMs), 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// read reads from a socket that does not block.
func read(fd int, p []byte) (int, error) {
	n, _, errno := syscall.RawSyscall(syscall.SYS_READ, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// write writes to a socket that does not block.
func write(fd int, p []byte) (int, error) {
	n, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
