package actors

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"kiln/actors/keyspace"
)

// The model of docs/scaling.md, which tells where the numbers are from. Times are in nanoseconds.
const (
	modelCommand = 250.0 // a GET on one core with a million keys, from decoded batch to reply
	modelInside  = 60.0  // of that, with the partition entered
	modelKeys    = 1_000_000
	modelUpdate  = 20.0 // the three additions of a turn to the server's counters, the line at hand
)

// machine is how long it takes to move a cache line from one core to another.
type machine struct {
	cores int
	move  float64
}

var machines = []machine{{1, 0}, {2, 60}, {16, 60}, {160, 110}}

// shares gives the part of all commands that each partition gets.
func shares(partitions int, zipf bool) []float64 {
	all := make([]float64, partitions)
	if !zipf {
		for i := range all {
			all[i] = 1 / float64(partitions)
		}
		return all
	}
	sum := 0.0
	for k := range modelKeys {
		sum += 1 / float64(k+1)
	}
	var key [8]byte
	for k := range modelKeys {
		binary.LittleEndian.PutUint64(key[:], uint64(k))
		all[keyspace.HashKey(1, key[:])%uint64(partitions)] += 1 / float64(k+1) / sum
	}
	return all
}

// taken is how likely another core has a partition's line when a loop enters it. The loop asked for
// the line lookahead commands before; since then each other core has run as many.
func (m machine) taken(share float64) float64 {
	others := float64(m.cores-1) / float64(m.cores)
	return others * (1 - math.Pow(1-share, lookahead*float64(m.cores-1)))
}

// throughput is how many commands a nanosecond the loops do, one on each core, and how busy the
// busiest partition is: mean value analysis of a closed network, where each loop is a customer
// that works for itself, then queues at one partition, which serves one at a time.
func (m machine) throughput(share []float64) (rate, busiest float64) {
	queue := make([]float64, len(share))
	response := make([]float64, len(share))
	inside := make([]float64, len(share))
	for p, v := range share {
		inside[p] = modelInside + m.move*m.taken(v)
	}
	for loops := 1; loops <= m.cores; loops++ {
		total := modelCommand - modelInside
		for p, v := range share {
			response[p] = inside[p] * (1 + queue[p])
			total += v * response[p]
		}
		rate = float64(loops) / total
		busiest = 0
		for p, v := range share {
			queue[p] = rate * v * response[p]
			busiest = max(busiest, rate*v*inside[p])
		}
	}
	return rate, busiest
}

// turns is how many turns a nanosecond all loops can publish their counts of.
func (m machine) turns() float64 { return 1 / (modelUpdate + m.move) }

func modelTable() string {
	var b strings.Builder
	b.WriteString("| cores | partitions | line moves in | uniform: M/s | gain | busiest partition |" +
		" zipf: M/s | gain | busiest partition | turns: M/s |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|\n")
	for _, m := range machines {
		for _, partitions := range []int{64, 1024} {
			if m.cores < 16 && partitions > 64 {
				continue
			}
			one, _ := machines[0].throughput([]float64{1})
			even, evenBusy := m.throughput(shares(partitions, false))
			zipf, zipfBusy := m.throughput(shares(partitions, true))
			fmt.Fprintf(&b, "| %d | %d | %.0f ns | %.0f | %.1f | %.0f %% | %.0f | %.1f | %.0f %% | %.0f |\n",
				m.cores, partitions, m.move, even*1e3, even/one, evenBusy*100, zipf*1e3, zipf/one,
				zipfBusy*100, m.turns()*1e3)
		}
	}
	return b.String()
}

// TestScalingModel computes the table of docs/scaling.md.
func TestScalingModel(t *testing.T) {
	text, err := os.ReadFile("../docs/scaling.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := modelTable(); !strings.Contains(string(text), want) {
		t.Errorf("docs/scaling.md has another table than\n%s", want)
	}
}
