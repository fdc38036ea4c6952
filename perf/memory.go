package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The memory scenario asks what a key costs, and whether growing is felt: while one connection
// fills, another one asks for a reply every millisecond.

// shape is how many keys of which size.
type shape struct{ keys, keySize, valueSize int }

func (s shape) String() string { return fmt.Sprintf("%dx%dx%d", s.keys, s.keySize, s.valueSize) }

// memory is what the flags say.
type memory struct {
	shapes string
	rounds int
	settle time.Duration
}

func memoryScenario() *scenario {
	var o memory
	return &scenario{
		name: "memory",
		flags: func(fs *flag.FlagSet) {
			fs.StringVar(&o.shapes, "shapes", "1000000x16x256,5000000x16x16",
				"KEYSxKEYBYTESxVALUEBYTES, separated by commas")
			fs.IntVar(&o.rounds, "rounds", 1, "fills of each shape and server; the median counts")
			fs.DurationVar(&o.settle, "settle", 3*time.Second, "wait before memory is read")
		},
		run: o.run,
	}
}

func (o *memory) run(ctx context.Context, r *report, servers []*server) error {
	shapes, err := parseShapes(o.shapes)
	if err != nil {
		return err
	}
	r.printf("%-16s %-10s %9s %9s %9s %8s %9s %9s %9s\n", "keys x key x val", "server",
		"rss MB", "B/key", "overhead", "fill s", "p99 us", "p99.9 us", "max us")
	for _, sh := range shapes {
		seen := make(map[*server][]map[string]float64)
		err := rounds(o.rounds, servers, func(_ int, s *server) error {
			// One at a time, so that they do not compete for memory.
			figures, err := o.measure(ctx, s, sh)
			seen[s] = append(seen[s], figures)
			return err
		})
		if err != nil {
			return err
		}
		first := medians(seen[servers[0]])
		for _, s := range servers {
			f := medians(seen[s])
			r.printf("%-16s %-10s %9.1f %9.1f %9.1f %8.1f %9.0f %9.0f %9.0f", sh, s.name, f["rss_mb"],
				f["bytes_per_key"], f["overhead"], f["fill_s"], f["probe_p99_us"], f["probe_p99.9_us"],
				f["probe_max_us"])
			if s != servers[0] {
				f["ratio_rss"] = f["rss_mb"] / first["rss_mb"]
				r.printf("   rss / %s: %.2f", servers[0].name, f["ratio_rss"])
			}
			r.printf("\n")
			r.add(s, sh.String(), f)
		}
	}
	r.printf("\noverhead: bytes of a key beyond those of its name and value, the empty server taken " +
		"off;\np99 to max: replies to another connection while filling, asked each millisecond\n")
	return nil
}

func (o *memory) measure(ctx context.Context, s *server, sh shape) (map[string]float64, error) {
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	defer s.stop()
	empty := s.rss()
	probe, err := openProbe(s.addr)
	if err != nil {
		return nil, err
	}
	started := time.Now()
	err = s.ask(func(c *client) error { return c.fill(sh.keys, sh.keySize, sh.valueSize) })
	took := time.Since(started)
	latencies, probeErr := probe.end()
	if err = errors.Join(err, probeErr); err != nil {
		return nil, fmt.Errorf("fill %s, and probe it: %w", s.name, err)
	}
	size := ""
	err = s.ask(func(c *client) (err error) {
		size, err = c.text("DBSIZE")
		return err
	})
	if err == nil && size != strconv.Itoa(sh.keys) {
		err = fmt.Errorf("holds %s keys, not %d", size, sh.keys)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	sleep(ctx, o.settle)
	rss := s.rss()
	slices.Sort(latencies)
	each := float64(rss-empty) / float64(sh.keys)
	return map[string]float64{
		"rss_mb": float64(rss) / (1 << 20), "empty_mb": float64(empty) / (1 << 20),
		"bytes_per_key": each, "overhead": each - float64(sh.keySize+sh.valueSize),
		"fill_s":         took.Seconds(),
		"probe_p99_us":   micros(quantile(latencies, 0.99)),
		"probe_p99.9_us": micros(quantile(latencies, 0.999)),
		"probe_max_us":   micros(quantile(latencies, 1)),
	}, ctx.Err()
}

// openProbe asks for one key a thousand times a second, on one connection.
func openProbe(addr string) (*loop, error) { return openLoop(addr, 1, 1000, 1, 1) }

func parseShapes(text string) ([]shape, error) {
	var shapes []shape
	for one := range strings.SplitSeq(text, ",") {
		var s shape
		n, err := fmt.Sscanf(one, "%dx%dx%d", &s.keys, &s.keySize, &s.valueSize)
		if err != nil || n != 3 || s.keys < 1 || s.keySize < digits {
			return nil, fmt.Errorf("not a shape, such as 1000000x16x256: %q", one)
		}
		shapes = append(shapes, s)
	}
	return shapes, nil
}

// medians takes the median of each figure.
func medians(all []map[string]float64) map[string]float64 {
	columns := make(map[string][]float64)
	for _, figures := range all {
		for name, v := range figures {
			columns[name] = append(columns[name], v)
		}
	}
	out := make(map[string]float64)
	for name, v := range columns {
		out[name] = median(v)
	}
	return out
}
