package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
)

// The commands scenario asks what a command costs the server: the CPU time of its process, which
// does not depend on how fast the generator is.

// mix is what the flags say.
type mix struct {
	only                                             string
	pipeline, clients, keys, size, requests, samples int
}

func commandsScenario() *scenario {
	var o mix
	return &scenario{
		name: "commands",
		flags: func(fs *flag.FlagSet) {
			fs.StringVar(&o.only, "only", "", "just these, separated by commas")
			fs.IntVar(&o.pipeline, "pipeline", 30, "commands sent at once")
			fs.IntVar(&o.clients, "clients", 20, "connections")
			fs.IntVar(&o.keys, "keys", 1_000_000, "keys to fill and to choose from")
			fs.IntVar(&o.size, "size", 256, "bytes of a value")
			fs.IntVar(&o.requests, "requests", 600_000, "commands in a round")
			fs.IntVar(&o.samples, "rounds", 3, "rounds; the median counts")
		},
		run: o.run,
	}
}

// lines are the commands, in the order in which they run.
func (o *mix) lines() [][]string {
	value, key := randomText(o.size), keyOf(16)
	several := []string{"MSET"}
	for range 4 {
		several = append(several, key, value)
	}
	return [][]string{
		{"PING"},
		{"GET", key},
		{"SET", key, value},
		{"SETNX", "nx:" + hole, value},
		{"INCR", "counter:" + hole},
		append([]string{"MGET"}, slices.Repeat([]string{key}, 8)...),
		several,
		{"LPUSH", "list:" + hole, value},
		{"SADD", "set:" + hole, "member:" + hole},
		{"HSET", "hash:" + hole, "field:" + hole, value},
		{"HGET", "hash:" + hole, "field:" + hole},
		{"ZADD", "zset:" + hole, hole, "member:" + hole},
	}
}

func (o *mix) run(ctx context.Context, r *report, servers []*server) error {
	if err := startAll(ctx, servers); err != nil {
		return err
	}
	for _, s := range servers {
		if err := s.ask(func(c *client) error { return c.fill(o.keys, 16, o.size) }); err != nil {
			return fmt.Errorf("fill %s: %w", s.name, err)
		}
	}
	r.printf("pipeline %d, %d clients, %d keys, values of %d bytes; CPU of the server's process "+
		"for one command\n\n", o.pipeline, o.clients, o.keys, o.size)
	ratios := make(map[*server][]float64)
	for _, line := range o.lines() {
		name := strings.ToLower(line[0])
		if o.only != "" && !slices.Contains(strings.Split(o.only, ","), name) {
			continue
		}
		if err := o.measure(ctx, r, servers, name, line, ratios); err != nil {
			return err
		}
	}
	for _, s := range servers[1:] {
		if v := ratios[s]; len(v) > 0 {
			sum := 0.0
			for _, x := range v {
				sum += math.Log(x)
			}
			r.printf("%s / %s: geometric mean %.2f, least %.2f over %d commands\n", s.name,
				servers[0].name, math.Exp(sum/float64(len(v))), slices.Min(v), len(v))
		}
	}
	return nil
}

func (o *mix) measure(ctx context.Context, r *report, servers []*server, name string,
	line []string, ratios map[*server][]float64,
) error {
	cost, rate := make(map[*server][]float64), make(map[*server][]float64)
	unknown := make(map[*server]string)
	n := o.requests
	if len(line) > 4 {
		n /= 4 // those with many keys
	}
	err := rounds(o.samples, servers, func(round int, s *server) error {
		if unknown[s] != "" {
			return nil
		}
		before, started := s.cpu(), time.Now()
		err := o.load(s, line, n, uint64(1000+17*round))
		wrong := errorReply("")
		switch {
		case errors.As(err, &wrong):
			unknown[s] = wrong.short()
			return nil // what a server does not know is told, and is no failure
		case err != nil:
			return err
		}
		cost[s] = append(cost[s], micros(s.cpu()-before)/float64(n))
		rate[s] = append(rate[s], float64(n)/time.Since(started).Seconds()/1000)
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	r.printf("%-6s", name)
	first := median(cost[servers[0]])
	for _, s := range servers {
		if unknown[s] != "" {
			r.printf(" | %s: %s", s.name, unknown[s])
			continue
		}
		f := map[string]float64{"cpu_us": median(cost[s]), "kops": median(rate[s])}
		r.printf(" | %s %.2f us, %.0f kops", s.name, f["cpu_us"], f["kops"])
		if s != servers[0] && first > 0 {
			f["ratio"] = f["cpu_us"] / first
			ratios[s] = append(ratios[s], f["ratio"])
			r.printf(", ratio %.2f", f["ratio"])
		}
		r.add(s, name, f)
	}
	r.printf("\n")
	return nil
}

// load sends n commands over all connections, each of which waits for its batch.
func (o *mix) load(s *server, line []string, n int, seed uint64) error {
	failed := make([]error, o.clients)
	var wait sync.WaitGroup
	for i := range o.clients {
		wait.Go(func() {
			failed[i] = s.ask(func(c *client) error {
				batch := newTemplate(o.pipeline, line...)
				dice := rand.New(rand.NewPCG(seed, uint64(i)))
				for left := n / o.clients; left > 0; left -= o.pipeline {
					batch.setRandom(dice, o.keys)
					if err := c.send(batch.bytes); err != nil {
						return err
					}
					if err := c.skip(batch.count); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	wait.Wait()
	return errors.Join(failed...)
}
