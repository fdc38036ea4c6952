package main

import (
	"context"
	"flag"
	"fmt"
	"time"
)

// idle is what the flags say.
type idle struct {
	keys         int
	time, settle time.Duration
}

// idleScenario asks what a server costs that nobody talks to. All servers are idle beside each
// other, since that disturbs nobody.
func idleScenario() *scenario {
	var o idle
	return &scenario{
		name: "idle",
		flags: func(fs *flag.FlagSet) {
			fs.IntVar(&o.keys, "keys", 0, "keys to fill first")
			fs.DurationVar(&o.settle, "settle", 3*time.Second, "wait before it begins")
			fs.DurationVar(&o.time, "time", 20*time.Second, "how long")
		},
		run: o.run,
	}
}

func (o *idle) run(ctx context.Context, r *report, servers []*server) error {
	if err := startAll(ctx, servers); err != nil {
		return err
	}
	for _, s := range servers {
		if err := s.ask(func(c *client) error { return c.fill(o.keys, 16, 64) }); err != nil {
			return fmt.Errorf("fill %s: %w", s.name, err)
		}
	}
	sleep(ctx, o.settle) // what starting has left to do
	type reading struct {
		cpu   time.Duration
		wakes int64
	}
	before := make(map[*server]reading)
	for _, s := range servers {
		before[s] = reading{s.exactCPU(), s.wakes()}
	}
	started := time.Now()
	sleep(ctx, o.time)
	r.printf("idle for %v with %d keys\n\n%-10s %12s %10s %9s\n", o.time, o.keys, "server",
		"% of a core", "wakes/s", "rss MB")
	var first float64
	for _, s := range servers {
		elapsed := time.Since(started)
		share := float64(s.exactCPU()-before[s].cpu) / float64(elapsed)
		f := map[string]float64{
			"core_share": share, "rss_mb": float64(s.rss()) / (1 << 20),
			"wakes_per_s": float64(s.wakes()-before[s].wakes) / elapsed.Seconds(),
		}
		r.printf("%-10s %12.3f %10.1f %9.1f", s.name, share*100, f["wakes_per_s"], f["rss_mb"])
		if s == servers[0] {
			first = share
		} else {
			r.printf("   cpu / %s: %s", servers[0].name, ratio(share, first))
		}
		r.printf("\n")
		r.add(s, "idle", f)
	}
	return ctx.Err()
}
