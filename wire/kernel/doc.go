// Package kernel has the system calls of an event loop's hot path, made past Go's scheduler.
//
// A socket that does not block keeps nobody waiting, so there is nothing that the scheduler should
// know. It would take the processor from a loop that waits, give it back a moment later on another
// thread, and have its monitor look thousands of times a second meanwhile: a sixth of the CPU of a
// server that is sent one command at a time, measured with perf stat and /proc/PID/task.
package kernel
