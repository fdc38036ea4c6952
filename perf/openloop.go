package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// loop sends GETs at fixed times. GET k goes out on connection k mod n at start + k*interval, so
// a reader knows from its count alone when what it reads was to be sent.
type loop struct {
	clients  []*client
	interval time.Duration
	start    time.Time
	stop     atomic.Bool
	sent     chan sending   // what the pacer did, once it has ended
	received []atomic.Int64 // of each connection
	readers  sync.WaitGroup
	seen     [][]time.Duration // of each connection, by its reader
	failed   []error
	broken   atomic.Bool // a reader has given up
}

type sending struct {
	count int
	err   error
}

// openLoop starts a loop of GETs of random keys below keys.
func openLoop(addr string, connections, rate, keys int, seed uint64) (*loop, error) {
	l := &loop{
		interval: time.Second / time.Duration(rate), sent: make(chan sending, 1),
		received: make([]atomic.Int64, connections), seen: make([][]time.Duration, connections),
		failed: make([]error, connections),
	}
	for range connections {
		c, err := dial(addr)
		if err == nil {
			l.clients = append(l.clients, c)
			err = c.do("PING")
		}
		if err != nil {
			l.closeAll()
			return nil, err
		}
		_ = c.conn.SetDeadline(time.Time{})
	}
	for i := range l.seen {
		l.seen[i] = make([]time.Duration, 0, 8*rate/connections)
	}
	l.start = time.Now().Add(time.Millisecond)
	for i := range l.clients {
		l.readers.Go(func() { l.read(i) })
	}
	go l.pace(keys, rand.New(rand.NewPCG(seed, 1)))
	return l, nil
}

func (l *loop) intended(k int) time.Time { return l.start.Add(time.Duration(k) * l.interval) }

// pace sends, on a thread of its own: the timers of Go are too coarse for it.
func (l *loop) pace(keys int, dice *rand.Rand) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	sharpenTimer()
	get := newTemplate(1, "GET", keyOf(16))
	var s sending
	for !l.stop.Load() && s.err == nil {
		get.setRandom(dice, keys)
		sleepUntil(l.intended(s.count))
		_, s.err = l.clients[s.count%len(l.clients)].conn.Write(get.bytes)
		s.count++
	}
	l.sent <- s
}

func (l *loop) read(i int) {
	for k := i; ; k += len(l.clients) {
		err := l.clients[i].skip(1)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
		if err != nil {
			l.failed[i] = err
			l.broken.Store(true)
			return
		}
		l.seen[i] = append(l.seen[i], time.Since(l.intended(k)))
		l.received[i].Add(1)
	}
}

// end stops sending, waits for the replies that are owed, and returns all latencies.
func (l *loop) end() ([]time.Duration, error) {
	l.stop.Store(true)
	sent := <-l.sent
	deadline := time.Now().Add(replyMax)
	for l.total() < int64(sent.count) && sent.err == nil && !l.broken.Load() &&
		time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	missing := int64(sent.count) - l.total()
	for _, c := range l.clients {
		_ = c.conn.SetReadDeadline(time.Now()) // frees the readers
	}
	l.readers.Wait()
	l.closeAll()
	var all []time.Duration
	for _, s := range l.seen {
		all = append(all, s...)
	}
	err := errors.Join(append(l.failed, sent.err)...)
	if missing > 0 && err == nil {
		err = fmt.Errorf("%d replies did not come", missing)
	}
	return all, err
}

func (l *loop) total() (n int64) {
	for i := range l.received {
		n += l.received[i].Load()
	}
	return n
}

func (l *loop) closeAll() {
	for _, c := range l.clients {
		_ = c.close()
	}
}
