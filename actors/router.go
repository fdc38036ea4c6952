package actors

import (
	"bytes"
	"math/bits"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"kiln/actors/keyspace"
	"kiln/actors/keyspace/arena"
	"kiln/commands"
)

// PartitionsMax is the largest number of partitions: a hash has ten bits for it.
const PartitionsMax = 1024

// Options say how a router is made.
type Options struct {
	Partitions int      // rounded up to a power of two, 1 to PartitionsMax
	Groups     []string // keyspace-group rules, such as "bull:*:"
	Listener   commands.Listener
	Clock      func() int64 // Unix nanoseconds; nil: the system's
}

// Router knows which partition owns a key, and brings requests there.
type Router struct {
	server     *commands.Server
	system     *actor.ActorSystem
	partitions []*partition
	mask       uint64
	groups     []group
	listener   commands.Listener
	depot      *arena.Depot
	empty      *keyspace.Space // what Peek gives for a space that does not exist
	admissions *actor.PID
	gate       sync.RWMutex   // slow commands pass; who needs whole partitions may close it
	workers    sync.WaitGroup // requests under way, and goroutines
	sweeper    *sweeper
	clock      func() int64
}

// group is a keyspace-group rule: keys that start alike up to the end of the first occurrence of
// after behind the prefix are routed by that part.
type group struct{ prefix, after []byte }

// New makes the partitions of a server, their data first, then their actors, so that no actor is
// ever restarted into an empty partition.
func New(server *commands.Server, o Options) *Router {
	n := min(max(o.Partitions, 1), PartitionsMax)
	if n&(n-1) != 0 {
		n = 1 << bits.Len(uint(n))
	}
	depot := arena.NewDepot()
	r := &Router{
		server: server, mask: uint64(n - 1), listener: o.Listener, depot: depot,
		clock: o.Clock,
		empty: keyspace.New(arena.New(depot), server.Seed, 1, server.Config.Keyspace,
			&keyspace.Counters{}),
	}
	for _, rule := range o.Groups {
		if prefix, after, ok := strings.Cut(rule, "*"); ok {
			r.groups = append(r.groups, group{[]byte(prefix), []byte(after)})
		}
	}
	if r.clock == nil {
		r.clock = func() int64 { return time.Now().UnixNano() }
	}
	r.system = newSystem()
	for i := range n {
		p := &partition{
			router: r, id: i, arena: arena.New(depot),
			dice:  server.Seed + uint64(i),
			holds: map[uint64]*hold{},
		}
		p.init()
		p.spaces = makeSpaces(server.Config.Databases)
		p.pid = r.spawn("partition-"+strconv.Itoa(i), p, &p.mailbox)
		r.partitions = append(r.partitions, p)
	}
	r.admissions = r.spawn("admissions", newAdmissions(r), nil)
	r.sweeper = startSweeper(r)
	return r
}

// Close waits for the commands under way, then ends the actors. REQUIRES: no event loop runs
// commands any more.
func (r *Router) Close() {
	r.sweeper.stop()
	r.workers.Wait()
	r.stopActors()
}

// Partitions is the number of partitions.
func (r *Router) Partitions() int { return len(r.partitions) }

// Memory gives the bytes that records and index take, that the partitions have been lent, and
// that are mapped. It waits its turn in each partition.
func (r *Router) Memory() (used, lent, mapped int64) {
	for _, p := range r.partitions {
		p.await()
		used += p.arena.Used()
		p.leave()
	}
	return used, r.depot.Lent(), r.depot.Mapped()
}

// place gives a key's hash and its partition: by the part in braces or the group's, where the key
// has one, else by the key.
func (r *Router) place(key []byte) (h uint64, partition uint64) {
	h = keyspace.HashKey(r.server.Seed, key)
	if part := r.routed(key); part != nil {
		return h, keyspace.HashKey(r.server.Seed, part) & r.mask
	}
	return h, h & r.mask
}

// routed gives the part of a key that decides on its partition, nil if that is the whole key.
func (r *Router) routed(key []byte) []byte {
	if open := bytes.IndexByte(key, '{'); open >= 0 {
		if n := bytes.IndexByte(key[open+1:], '}'); n > 0 {
			return key[open+1 : open+1+n]
		}
	}
	for i := range r.groups {
		g := &r.groups[i]
		if bytes.HasPrefix(key, g.prefix) {
			if n := bytes.Index(key[len(g.prefix):], g.after); n >= 0 {
				return key[:len(g.prefix)+n+len(g.after)]
			}
		}
	}
	return nil
}

func (r *Router) owner(key []byte, h uint64) *partition {
	if part := r.routed(key); part != nil {
		h = keyspace.HashKey(r.server.Seed, part)
	}
	return r.partitions[h&r.mask]
}

// tell posts a message to a partition.
func (r *Router) tell(p *partition, message any) { r.system.Root.Send(p.pid, message) }

// work runs f on a goroutine of its own, which Close waits for.
func (r *Router) work(f func()) {
	r.workers.Add(1)
	go func() {
		defer r.workers.Done()
		f()
	}()
}
