package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"
)

// connections is what the flags say.
type connections struct {
	count  int
	settle time.Duration
}

// connectionsScenario asks what a connection costs that has asked once and then says nothing.
func connectionsScenario() *scenario {
	var o connections
	return &scenario{
		name: "connections",
		flags: func(fs *flag.FlagSet) {
			fs.IntVar(&o.count, "count", 10_000, "connections")
			fs.DurationVar(&o.settle, "settle", 3*time.Second, "wait before memory is read")
		},
		run: o.run,
	}
}

func (o *connections) run(ctx context.Context, r *report, servers []*server) error {
	r.printf("%-10s %8s %9s %9s %9s %13s %12s\n", "server", "open", "empty MB", "open MB",
		"closed MB", "B/connection", "% of a core")
	var first float64
	for _, s := range servers {
		f, err := o.measure(ctx, s)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		each := f["bytes_per_connection"]
		r.printf("%-10s %8d %9.1f %9.1f %9.1f %13.0f %12.3f", s.name, o.count, f["empty_mb"],
			f["open_mb"], f["closed_mb"], each, f["core_share"]*100)
		if s == servers[0] {
			first = each
		} else {
			r.printf("   B / %s: %s", servers[0].name, ratio(each, first))
		}
		r.printf("\n")
		r.add(s, "connections", f)
	}
	return nil
}

func (o *connections) measure(ctx context.Context, s *server) (_ map[string]float64, err error) {
	if err = s.start(ctx); err != nil {
		return nil, err
	}
	defer s.stop()
	sleep(ctx, o.settle)
	empty := s.rss()
	var open []*client
	closeAll := func() {
		for _, c := range open {
			err = errors.Join(err, c.close())
		}
		open = nil
	}
	defer closeAll()
	for range o.count {
		var c *client
		if c, err = dial(s.addr); err != nil {
			return nil, fmt.Errorf("connection %d: %w", len(open), err)
		}
		open = append(open, c)
		// A real client asks at least once, and the server has then used its buffers.
		if err = c.do("SET", "key", randomText(64)); err != nil {
			return nil, fmt.Errorf("connection %d: %w", len(open), err)
		}
		c.in = nil // its buffer is of no more use here
	}
	sleep(ctx, o.settle)
	full, before, started := s.rss(), s.exactCPU(), time.Now()
	sleep(ctx, o.settle)
	share := float64(s.exactCPU()-before) / float64(time.Since(started))
	closeAll()
	sleep(ctx, o.settle)
	return map[string]float64{
		"empty_mb": float64(empty) / (1 << 20), "open_mb": float64(full) / (1 << 20),
		"closed_mb":            float64(s.rss()) / (1 << 20),
		"bytes_per_connection": float64(full-empty) / float64(o.count), "core_share": share,
	}, errors.Join(err, ctx.Err())
}
