package clients_test

import (
	"encoding/csv"
	"strconv"
	"strings"
	"testing"
)

// The benchmark programs are clients too: they ask CONFIG GET first, pipeline, and some of them
// stop at the first error.
func TestBenchmarks(t *testing.T) {
	for _, name := range []string{"redis-benchmark", "valkey-benchmark"} {
		t.Run(name, func(t *testing.T) {
			bin := tool(t, name)
			host, port := server(t)
			bench := func(rows int, args ...string) {
				t.Helper()
				all := append([]string{"-h", host, "-p", port, "--csv"}, args...)
				r := run(t, nil, bin, all...)
				if r.status != 0 || strings.Contains(r.out+r.err, "rror") ||
					strings.Contains(r.out+r.err, "WARN") {
					t.Fatalf("%s %q: %+v", name, all, r)
				}
				table, err := csv.NewReader(strings.NewReader(r.out)).ReadAll()
				if err != nil || len(table) != rows+1 {
					t.Fatalf("%s %q: want %d rows, got %q, %v", name, args, rows, r.out, err)
				}
				for _, row := range table[1:] {
					if rate, err := strconv.ParseFloat(row[1], 64); err != nil || rate <= 0 {
						t.Errorf("%s %q: no rate in %q", name, args, row)
					}
				}
			}
			which := "ping,get,set,incr,mset" // ping stands for two: inline and not
			bench(6, "-t", which, "-n", "50000", "-P", "16", "-r", "10000")
			bench(6, "-t", which, "-n", "5000", "-c", "20")
			bench(6, "-t", which, "-n", "20000", "-P", "50", "-3", "-d", "1000", "-r", "100")
			bench(2, "-t", "get,set", "-n", "20000", "-P", "8", "--threads", "2", "-c", "64")
			bench(1, "-n", "10000", "-P", "16", "-r", "1000",
				"SET", "key:__rand_int__", "value", "EX", "100")
		})
	}
}
