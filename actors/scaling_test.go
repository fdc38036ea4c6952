package actors

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"kiln/commands"
	"kiln/wire/resp"
)

// BenchmarkRouter drives the router without a network: batches of 32 commands on 64 partitions,
// 1 M keys of 16 bytes with values of 64, from 1 and from 2 goroutines. ns/op is for one command of
// one goroutine, so gain is what two get done beside what one does:
//
//	go test ./actors -run '^$' -bench BenchmarkRouter -benchtime 3s
func BenchmarkRouter(b *testing.B) {
	const keys = 1_000_000
	server := &commands.Server{Config: commands.NewConfig(), Seed: 1}
	r := New(server, Options{Partitions: 64})
	defer r.Close()
	name := make([][]byte, keys)
	fill, conn := r.NewLoop(), &commands.Session{}
	conn.Begin(server)
	var out resp.Writer
	for i := range name {
		name[i] = fmt.Appendf(nil, "key:%012d", i)
		var p Prepared
		fill.Begin()
		fill.Prepare(&p, [][]byte{[]byte("SET"), name[i], make([]byte, 64)})
		fill.Run(&p, conn, 1, &out)
		out.Reset()
	}
	for _, load := range []struct {
		name   string
		writes int // of 10
		keys   int
	}{{"get", 0, keys}, {"set 20 %", 2, keys}, {"ten hot keys", 0, 10}} {
		one := 0.0
		for _, loops := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/loops=%d", load.name, loops), func(b *testing.B) {
				var group sync.WaitGroup
				for g := range loops {
					group.Go(func() { drive(r, server, name[:load.keys], load.writes, b.N, uint64(g)) })
				}
				group.Wait()
				rate := float64(loops*b.N) / b.Elapsed().Seconds()
				b.ReportMetric(rate/1e6, "M/s")
				if loops == 1 {
					one = rate
				}
				b.ReportMetric(rate/one, "gain")
			})
		}
	}
}

// drive runs n commands, as an event loop does; what is parked is waited for.
func drive(r *Router, server *commands.Server, keys [][]byte, writes, n int, seed uint64) {
	const batch = 32
	l, conn := r.NewLoop(), &commands.Session{}
	conn.Begin(server)
	dice := rand.New(rand.NewPCG(seed, 1))
	get, set, value := []byte("GET"), []byte("SET"), make([]byte, 64)
	var prepared [batch]Prepared
	var argv [batch][3][]byte
	var out resp.Writer
	done := make(chan struct{}, 1)
	for ; n > 0; n -= batch {
		l.Begin()
		for i := range argv {
			key := keys[dice.IntN(len(keys))]
			if dice.IntN(10) < writes {
				argv[i] = [3][]byte{set, key, value}
				l.Prepare(&prepared[i], argv[i][:])
			} else {
				argv[i] = [3][]byte{get, key}
				l.Prepare(&prepared[i], argv[i][:2])
			}
		}
		l.Prefetch(0)
		for i := range prepared {
			if q := l.Run(&prepared[i], conn, 1, &out); q != nil {
				q.Done = func(*Request) { done <- struct{}{} }
				q.Start()
				<-done
			}
		}
		out.Reset()
	}
}
