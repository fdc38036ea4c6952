// Kiln is the server: it reads its configuration, joins the parts, and waits for the end.
package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"kiln/actors"
	"kiln/commands"
	"kiln/wire"
)

func main() {
	s, err := configure(os.Args[1:], os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if s.show != "" {
		fmt.Print(s.show)
		return
	}
	if err := serve(s); err != nil {
		slog.Error("kiln cannot go on", "reason", err)
		os.Exit(1)
	}
}

// serve runs the server until a signal or SHUTDOWN ends it.
func serve(s *setup) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	signal.Ignore(syscall.SIGHUP, syscall.SIGPIPE)
	asked := make(chan struct{}, 1)
	p := newProcess(s.file)
	p.shutdown = func(o commands.ShutdownOptions) error {
		if o.Abort {
			return os.ErrInvalid // the end, once begun, is not called off
		}
		select {
		case asked <- struct{}{}:
		default:
		}
		return nil
	}
	shared := &commands.Server{
		Seed: seed(s.config.HashSeed), Config: s.config, Process: p,
		Started: time.Now().UnixNano(), RunID: runID(),
		OnBug: func(command, what string) {
			slog.Error("a fault in kiln cost a request its reply", "command", command, "what", what)
		},
	}
	router := actors.New(shared, actors.Options{
		Partitions: s.config.Partitions, Groups: s.config.KeyGroups,
	})
	p.arena = router.Memory
	server := wire.New(shared, router, options(s))
	if err := server.Start(); err != nil {
		router.Close()
		return err
	}
	slog.Info("kiln is ready", "version", commands.KilnVersion, "addresses", server.Addrs(),
		"loops", shared.Loops, "partitions", router.Partitions(), "pid", os.Getpid())
	slog.Warn("nothing is saved: this version of kiln keeps data in memory only")
	ctx, stopTicking := context.WithCancel(context.Background())
	ticking := tick(ctx, shared)
	select {
	case sig := <-signals:
		slog.Info("asked to end", "signal", sig)
	case <-asked:
		slog.Info("asked to end", "command", "SHUTDOWN")
	}
	p.wake()
	err := server.Stop()
	stopTicking()
	<-ticking
	router.Close()
	slog.Info("kiln has ended")
	return err
}

func options(s *setup) wire.Options {
	o := wire.Options{
		UnixPerm: s.config.UnixSocketPerm, Loops: s.config.Loops, Logger: slog.Default(),
	}
	for _, a := range s.listen {
		o.Listen = append(o.Listen, wire.Listen{
			Network: a.network, Address: a.address, Optional: a.optional,
		})
	}
	return o
}

// tick feeds the server's rates until ctx ends, then closes done.
func tick(ctx context.Context, shared *commands.Server) (done chan struct{}) {
	const period = 100 * time.Millisecond
	done = make(chan struct{})
	go func() {
		defer close(done)
		t := time.NewTicker(period)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-t.C:
				shared.Tick(now.UnixNano())
			}
		}
	}()
	return done
}

// seed is the hash seed that was asked for, or a random one, so that nobody can send keys that
// all hash alike.
func seed(configured uint64) uint64 {
	if configured != 0 {
		return configured
	}
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:])
}

func runID() string {
	var b [20]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
