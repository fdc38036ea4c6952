package kernel

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// EpollWait waits for events. quick: without telling the scheduler, so for a short time only.
func EpollWait(fd int, events []unix.EpollEvent, timeoutMs int, quick bool) int {
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

// Read reads from a socket that does not block. As recvfrom it does not go through the layer of
// files.
func Read(fd int, p []byte) (int, error) {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), syscall.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// Write writes to a socket that does not block.
func Write(fd int, p []byte) (int, error) {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_SENDTO, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)),
		syscall.MSG_DONTWAIT|syscall.MSG_NOSIGNAL, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
