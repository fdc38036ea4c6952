//go:build !linux

package main

import (
	"runtime"
	"runtime/metrics"
)

// resident is what the Go runtime knows; data outside its heap is not in it.
func resident() int64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64())
}

// cpu is the runtime's estimate, which has no parts.
func cpu() (system, user float64) {
	samples := []metrics.Sample{{Name: "/cpu/classes/user:cpu-seconds"}}
	metrics.Read(samples)
	return 0, samples[0].Value.Float64()
}

func host() (system string, memory int64) { return runtime.GOOS + " " + runtime.GOARCH, 0 }
