//go:build linux

package actors

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"kiln/commands"
	"kiln/wire/resp"
)

// threadTime is the processor time of this thread in nanoseconds.
func threadTime(b *testing.B) int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		b.Fatal(err)
	}
	return t.Nano()
}

// BenchmarkFill fills 5 M keys of 16 bytes with values of 16 bytes through one loop, in batches of
// 30, and reports how long the slowest command took inside the server: no table doubles at once,
// and memory comes in huge pages. Whatever else runs on the machine counts in the wall time; so the
// processor time of the slowest batch is reported too, which it does not count in:
//
//	go test ./actors -run '^$' -bench BenchmarkFill -benchtime 1x
func BenchmarkFill(b *testing.B) {
	const keys, batch = 5_000_000, 30
	for b.Loop() {
		server := &commands.Server{Config: commands.NewConfig(), Seed: 1}
		r := New(server, Options{Partitions: 64})
		l := r.NewLoop()
		conn := &commands.Session{}
		conn.Begin(server)
		var out resp.Writer
		var prepared [batch]Prepared
		var keyBytes [batch][16]byte
		var argv [batch][3][]byte
		for k := range argv {
			argv[k] = [3][]byte{[]byte("SET"), keyBytes[k][:], keyBytes[k][:]}
		}
		runtime.LockOSThread()
		var slowest int64
		took := make([]time.Duration, 0, keys+batch)
		for i := 0; i < keys; i += batch {
			l.Begin()
			for k := range prepared {
				copy(keyBytes[k][:], fmt.Sprintf("key:%012d", i+k))
				l.Prepare(&prepared[k], argv[k][:])
			}
			used := threadTime(b)
			l.Prefetch(0)
			now := time.Now()
			for k := range prepared {
				if l.Run(&prepared[k], conn, now.UnixNano(), &out) != nil {
					b.Fatal("a SET was parked on an idle server")
				}
				next := time.Now()
				took = append(took, next.Sub(now))
				now = next
			}
			slowest = max(slowest, threadTime(b)-used)
			out.Reset()
		}
		runtime.UnlockOSThread()
		b.ReportMetric(float64(slowest)/1000, "max-cpu-us/batch")
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)-1].Microseconds()), "max-us")
		b.ReportMetric(float64(took[len(took)-6].Microseconds()), "p99.9999-us")
		b.ReportMetric(float64(took[len(took)/10000*9999].Nanoseconds())/1000, "p99.99-us")
		used, lent, _ := r.Memory()
		b.ReportMetric(float64(used)/keys, "used-B/key")
		b.ReportMetric(float64(lent)/keys, "lent-B/key")
		r.Close()
	}
}
