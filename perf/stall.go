package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// The stall scenario asks whether what one client asks moves the latency of another: GETs at a
// fixed rate, while a disturber runs one large command.
//
// The GETs are an open loop. Each has a time at which it is to be sent, whatever happened to those
// before it, and its latency counts from that time. A closed loop would send nothing while the
// server stands still, and so report one slow GET where there were hundreds.

// stall is what the flags say.
type stall struct {
	keys, size, rate, connections, rounds int
	mget, flushKeys                       int
	window                                time.Duration
	only                                  string
}

// disturbance is what the other client does, once in each window of GETs.
type disturbance struct {
	name     string
	prepare  func(*client) error // before the window, unmeasured
	commands [][]byte            // one after another; none, to see the noise
}

// shots is what was seen of one server with one disturbance: a set of figures for each window.
type shots struct {
	windows []map[string]float64
	err     error
}

// quantiles of the latencies of a window that are told.
var quantiles = []struct {
	name string
	q    float64
}{{"p50_us", 0.5}, {"p99_us", 0.99}, {"p99.9_us", 0.999}, {"max_us", 1}}

func stallScenario() *scenario {
	var o stall
	return &scenario{
		name: "stall",
		flags: func(fs *flag.FlagSet) {
			fs.IntVar(&o.keys, "keys", 1_000_000, "keys to fill")
			fs.IntVar(&o.size, "size", 64, "bytes of a value")
			fs.IntVar(&o.rate, "rate", 2000, "GETs a second, over all connections")
			fs.IntVar(&o.connections, "connections", 10, "connections that send GETs")
			fs.IntVar(&o.rounds, "rounds", 5, "windows for each server and disturbance")
			fs.IntVar(&o.mget, "mget", 10_000, "keys of the MGET")
			fs.IntVar(&o.flushKeys, "flush-keys", 200_000, "keys of the database that is flushed")
			fs.DurationVar(&o.window, "window", 1500*time.Millisecond, "length of a window")
			fs.StringVar(&o.only, "only", "", "just this: quiet, keys, mget, flushdb or turn (the three)")
		},
		run: o.run,
	}
}

func (o *stall) run(ctx context.Context, r *report, servers []*server) error {
	if err := startAll(ctx, servers); err != nil {
		return err
	}
	for _, s := range servers {
		if err := s.ask(func(c *client) error { return c.fill(o.keys, 16, o.size) }); err != nil {
			return fmt.Errorf("fill %s: %w", s.name, err)
		}
	}
	r.printf("GETs at %d/s from %d connections, %d keys of %d bytes, latency from the intended "+
		"time of sending;\none command of another client in each of %d windows of %v; medians of the "+
		"windows, and the worst of all\n\n",
		o.rate, o.connections, o.keys, o.size, o.rounds, o.window)
	r.printf("%-8s %-10s %9s %9s %9s %9s %9s   %s\n", "beside", "server", "p50 us", "p99 us",
		"p99.9 us", "max us", "worst us", "the command took, ms")
	for _, d := range o.disturbances() {
		if o.only != "" && o.only != d.name {
			continue
		}
		seen := make(map[*server]*shots)
		for _, s := range servers {
			seen[s] = new(shots)
		}
		err := rounds(o.rounds, servers, func(round int, s *server) error {
			if seen[s].err == nil {
				figures, err := o.shoot(ctx, s, d, uint64(round))
				seen[s].windows = append(seen[s].windows, figures)
				seen[s].err = err
			}
			return ctx.Err()
		})
		if err != nil {
			return err
		}
		o.tell(r, servers, d, seen)
	}
	return nil
}

func (o *stall) disturbances() []disturbance {
	dice := rand.New(rand.NewPCG(7, 7))
	ask := newTemplate(1, append([]string{"MGET"}, slices.Repeat([]string{keyOf(16)}, o.mget)...)...)
	ask.setRandom(dice, o.keys)
	keys, flush := appendCommand(nil, "KEYS", "*"), appendCommand(nil, "FLUSHDB")
	fillOther := func(c *client) error {
		return errors.Join(c.do("SELECT", "1"), c.fill(o.flushKeys, 16, o.size))
	}
	fillAndReturn := func(c *client) error { return errors.Join(fillOther(c), c.do("SELECT", "0")) }
	return []disturbance{
		{name: "quiet"},
		{name: "keys", commands: [][]byte{keys}},
		{name: "mget", commands: [][]byte{ask.bytes}},
		{name: "flushdb", commands: [][]byte{flush}, prepare: fillOther},
		{
			name:     "turn",
			commands: [][]byte{keys, ask.bytes, appendCommand(nil, "SELECT", "1"), flush},
			prepare:  fillAndReturn,
		},
	}
}

// shoot runs one window.
func (o *stall) shoot(ctx context.Context, s *server, d disturbance, seed uint64) (
	figures map[string]float64, err error,
) {
	err = s.ask(func(c *client) error {
		if d.prepare != nil {
			if wrong := d.prepare(c); wrong != nil {
				return wrong
			}
		}
		sleep(ctx, 200*time.Millisecond) // what preparing has left to do
		gets, wrong := openLoop(s.addr, o.connections, o.rate, o.keys, seed)
		if wrong != nil {
			return wrong
		}
		sleep(ctx, o.window/4)
		var took time.Duration
		for _, command := range d.commands {
			each, failed := c.doLarge(command)
			took += each
			wrong = errors.Join(wrong, failed)
		}
		sleep(ctx, o.window*3/4)
		latencies, loopErr := gets.end()
		slices.Sort(latencies)
		figures = map[string]float64{"gets": float64(len(latencies)), "command_ms": millis(took)}
		for _, q := range quantiles {
			figures[q.name] = micros(quantile(latencies, q.q))
		}
		return errors.Join(wrong, loopErr)
	})
	return figures, err
}

// tell prints the median over the windows of each figure: what else the machine did in one of
// them does not count then. The worst of all is kept for the file.
func (o *stall) tell(r *report, servers []*server, d disturbance, seen map[*server]*shots) {
	var first map[string]float64
	for _, s := range servers {
		if err := seen[s].err; err != nil {
			r.printf("%-8s %-10s no figure: %v\n", d.name, s.name, err)
			continue
		}
		f := medians(seen[s].windows)
		for _, w := range seen[s].windows {
			f["worst_us"] = max(f["worst_us"], w["max_us"])
		}
		r.printf("%-8s %-10s", d.name, s.name)
		for _, q := range quantiles {
			r.printf(" %9.0f", f[q.name])
		}
		r.printf(" %9.0f   %.1f\n", f["worst_us"], f["command_ms"])
		if s == servers[0] {
			first = f
		} else if first != nil {
			r.printf("%-8s %-10s", "", "  / "+servers[0].name)
			for _, q := range quantiles {
				f["ratio_"+q.name] = f[q.name] / first[q.name]
				r.printf(" %9.2f", f["ratio_"+q.name])
			}
			r.printf("\n")
		}
		r.add(s, d.name, f)
	}
}

// sleep waits, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
