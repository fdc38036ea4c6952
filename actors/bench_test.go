//go:build linux

package actors

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"kiln/commands"
	"kiln/wire/resp"
)

const (
	benchKeys  = 1_000_000
	benchBatch = 32
	benchRound = 10_000 // commands of a goroutine in one round
)

// mix is what a benchmark's commands are like.
type mix struct {
	name   string
	writes int                                 // of a hundred
	key    func(dice *rand.Rand) func() uint64 // draws keys
}

func uniform(n uint64) func(*rand.Rand) func() uint64 {
	return func(dice *rand.Rand) func() uint64 {
		return func() uint64 { return dice.Uint64N(n) }
	}
}

// zipf draws as YCSB does: with s = 1.01, one key of the million gets 7 % of all commands.
func zipf(dice *rand.Rand) func() uint64 {
	return rand.NewZipf(dice, 1.01, 1, benchKeys-1).Uint64
}

// apart draws keys of every other partition, for an even and an odd seed different ones.
func apart(r *Router, seed uint64) func() uint64 {
	var mine []uint32
	for k := range uint32(benchKeys) {
		if _, p := r.place(fmt.Appendf(nil, "key:%012d", k)); p%2 == seed%2 {
			mine = append(mine, k)
		}
	}
	newDice(seed, 2).Shuffle(len(mine), func(i, k int) { mine[i], mine[k] = mine[k], mine[i] })
	next := 0
	return func() uint64 {
		next++
		return uint64(mine[next%len(mine)])
	}
}

var mixes = []mix{
	{"get", 0, uniform(benchKeys)},
	{"set20", 20, uniform(benchKeys)},
	{"hot10", 0, uniform(10)},
	{"hot10set20", 20, uniform(10)},
	{"zipf", 0, zipf},
	{"zipfset20", 20, zipf},
}

// driver is an event loop without sockets: it has batches of commands, decoded, and drops replies.
type driver struct {
	b        *testing.B
	loop     *Loop
	conn     *commands.Session
	dice     *rand.Rand
	draw     func() uint64
	writes   int
	out      resp.Writer
	argv     [benchBatch][3][]byte
	keys     [benchBatch][16]byte
	prepared [benchBatch]Prepared
	waiting  atomic.Int64
	done     int64 // commands
	parked   int64 // of them, those that came upon a busy partition
}

var (
	wordGet = []byte("GET")
	wordSet = []byte("SET")
	value64 = make([]byte, 64)
)

func newDriver(r *Router, server *commands.Server, m mix, seed uint64) *driver {
	d := &driver{loop: r.NewLoop(), conn: &commands.Session{}, dice: newDice(seed, 1), writes: m.writes}
	d.conn.Begin(server)
	if d.draw = apart(r, seed); m.key != nil {
		d.draw = m.key(d.dice)
	}
	for i := range d.keys {
		copy(d.keys[i][:], "key:000000000000")
		d.argv[i] = [3][]byte{wordGet, d.keys[i][:], value64}
	}
	return d
}

func (d *driver) batch(now int64) {
	d.loop.Begin()
	for i := range d.prepared {
		for k, at := d.draw(), 15; k > 0; at-- {
			d.keys[i][at] = '0' + byte(k%10)
			k /= 10
		}
		if d.writes > 0 && d.dice.IntN(100) < d.writes {
			d.argv[i][0] = wordSet
			d.loop.Prepare(&d.prepared[i], d.argv[i][:])
		} else {
			d.argv[i][0] = wordGet
			d.loop.Prepare(&d.prepared[i], d.argv[i][:2])
		}
	}
	d.loop.Prefetch(0)
	for i := range d.prepared {
		if q := d.loop.Run(&d.prepared[i], d.conn, now, &d.out); q != nil {
			// Its client waits, and the loop goes on with those of others.
			d.parked++
			d.waiting.Add(1)
			q.Done = func(*Request) { d.waiting.Add(-1) }
			q.Start()
		}
	}
	for spins := 0; d.waiting.Load() > 0; spins++ {
		if spins > 1000 {
			runtime.Gosched()
		}
	}
	d.out.Reset()
}

func (d *driver) run(n int) {
	for ; n > 0; n -= benchBatch {
		d.done += benchBatch
		d.batch(time.Now().UnixNano())
	}
}

// benchRouter has 64 partitions with a million keys of 16 bytes and values of 64.
func benchRouter(b *testing.B) (*Router, *commands.Server) {
	server := &commands.Server{Config: commands.NewConfig(), Seed: 1}
	r := New(server, Options{Partitions: 64})
	b.Cleanup(r.Close)
	d := newDriver(r, server, mix{writes: 100, key: uniform(1)}, 1)
	next := uint64(0)
	d.draw = func() uint64 { next++; return next - 1 }
	d.run(benchKeys)
	return r, server
}

func driversFor(b *testing.B, r *Router, server *commands.Server, m mix, n int) (drivers []*driver) {
	for i := range n {
		d := newDriver(r, server, m, uint64(100+i))
		d.run(10_000) // caches are warm, buffers are grown
		d.done, d.parked, d.b = 0, 0, b
		drivers = append(drivers, d)
	}
	return drivers
}

// preempted is how often this thread had to give its processor to another one.
func preempted(b *testing.B) int64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		b.Fatal(err)
	}
	return u.Nivcsw
}

// race runs n commands with each driver, all at once. It gives the time that took, and whether the
// threads had the processors for themselves meanwhile.
func race(drivers []*driver, n int) (took time.Duration, alone bool) {
	var ready atomic.Int32
	var all sync.WaitGroup
	starts, ends := make([]time.Time, len(drivers)), make([]time.Time, len(drivers))
	alones := make([]bool, len(drivers))
	for i, d := range drivers {
		all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			for ready.Add(1); int(ready.Load()) < len(drivers); { // nobody begins before all run
			}
			starts[i] = time.Now()
			before := preempted(d.b)
			d.run(n)
			ends[i], alones[i] = time.Now(), preempted(d.b) == before
		})
	}
	all.Wait()
	// From the first start to the last end: else two that ran one after the other, since the host
	// took a processor away, would count as if they had run at once.
	first := slices.MinFunc(starts, time.Time.Compare)
	last := slices.MaxFunc(ends, time.Time.Compare)
	return last.Sub(first), !slices.Contains(alones, false)
}

// BenchmarkScaling is how many times the commands of one loop two loops do in the same time: gain.
// It is for machines that others use too. Short rounds take turns, and only those count in which
// the loops had the processors for themselves. Since two processors of a virtual machine may be one
// of its host, each round is done again with loops that share no partition: allowed is their gain.
// What it takes to draw keys and to spell them is counted in.
//
//	go test ./actors -run '^$' -bench BenchmarkScaling -benchtime 1000x
func BenchmarkScaling(b *testing.B) {
	if runtime.NumCPU() < 2 {
		b.Skip("one processor only")
	}
	r, server := benchRouter(b)
	for _, m := range mixes {
		b.Run(m.name, func(b *testing.B) {
			drivers := driversFor(b, r, server, m, 2)
			yardstick := driversFor(b, r, server, mix{writes: m.writes}, 2)
			var took [4][]time.Duration
			for b.Loop() {
				for i, who := range [][]*driver{drivers[:1], drivers, yardstick[:1], yardstick} {
					if t, alone := race(who, benchRound); alone {
						took[i] = append(took[i], t)
					}
				}
			}
			var median [4]float64
			for i, t := range took {
				if len(t) == 0 {
					b.Skip("the processors were never free")
				}
				slices.Sort(t)
				median[i] = float64(t[len(t)/2].Nanoseconds()) / benchRound
			}
			b.ReportMetric(2*median[0]/median[1], "gain")
			b.ReportMetric(2*median[2]/median[3], "allowed")
			b.ReportMetric(median[0], "ns-1-loop")
			b.ReportMetric(median[1], "ns-2-loops")
			b.ReportMetric(float64(len(took[1])), "rounds")
			b.ReportMetric(0, "ns/op")
			done := drivers[0].done + drivers[1].done
			b.ReportMetric(100*float64(drivers[0].parked+drivers[1].parked)/float64(done), "%parked")
		})
	}
}
