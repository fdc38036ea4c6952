package main

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// resident reads the second number of statm: resident pages.
func resident() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

func cpu() (system, user float64) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, 0
	}
	return float64(u.Stime.Nano()) / 1e9, float64(u.Utime.Nano()) / 1e9
}

func host() (system string, memory int64) {
	var u unix.Utsname
	if err := unix.Uname(&u); err == nil {
		system = unix.ByteSliceToString(u.Sysname[:]) + " " +
			unix.ByteSliceToString(u.Release[:]) + " " + unix.ByteSliceToString(u.Machine[:])
	}
	var i unix.Sysinfo_t
	if err := unix.Sysinfo(&i); err == nil {
		memory = int64(i.Totalram) * int64(i.Unit)
	}
	return system, memory
}
