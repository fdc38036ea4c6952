//go:build darwin || freebsd || netbsd || openbsd

package kernel

import "golang.org/x/sys/unix"

// Read reads from a socket that does not block.
func Read(fd int, p []byte) (int, error) { return unix.Read(fd, p) }

// Write writes to a socket that does not block.
func Write(fd int, p []byte) (int, error) { return unix.Write(fd, p) }
