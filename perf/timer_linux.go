package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// sharpenTimer lets the calling thread sleep to the microsecond instead of to 50 of them.
func sharpenTimer() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) }

// sleepUntil blocks the thread, not only the goroutine: the runtime wakes sleeping goroutines to
// the millisecond at best when nothing else goes on.
func sleepUntil(t time.Time) {
	for {
		left := time.Until(t)
		if left <= 0 {
			return
		}
		ts := unix.NsecToTimespec(int64(left))
		_ = unix.Nanosleep(&ts, nil)
	}
}
