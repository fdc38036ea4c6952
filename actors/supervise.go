package actors

import (
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"

	"kiln/actors/keyspace"
)

// newSystem makes the actor system. protoactor's own log is of no use to an operator.
func newSystem() *actor.ActorSystem {
	quiet := slog.New(slog.DiscardHandler)
	return actor.NewActorSystem(actor.WithLoggerFactory(
		func(*actor.ActorSystem) *slog.Logger { return quiet }))
}

// crash is the supervision of all our actors: a panic that a request's execution did not turn
// into an error is a fault that may have left data half changed, so the process ends. protoactor
// would restart the actor, in an empty state, and carry on. NB: it is the actors' guardian, since
// WithSupervisor is about an actor's children, and actors without a parent are protoactor's own.
// (A partition's mailbox has no recover at all.)
type crash struct{}

func (crash) HandleFailure(_ *actor.ActorSystem, _ actor.Supervisor, child *actor.PID,
	_ *actor.RestartStatistics, reason, message any,
) {
	panic(fmt.Sprintf("actor %s: %v, at %T", child.Id, reason, message))
}

// spawn starts an actor whose state exists already. Without a mailbox it gets protoactor's.
func (r *Router) spawn(name string, a actor.Actor, m *mailbox) *actor.PID {
	options := []actor.PropsOption{actor.WithGuardian(crash{})}
	if m != nil {
		options = append(options, actor.WithMailbox(func() actor.Mailbox { return m }))
	}
	pid, err := r.system.Root.SpawnNamed(
		actor.PropsFromProducer(func() actor.Actor { return a }, options...), name)
	if err != nil {
		panic("actors: " + err.Error()) // only a name used twice
	}
	return pid
}

func (r *Router) stopActors() {
	pids := []*actor.PID{r.admissions}
	for _, p := range r.partitions {
		pids = append(pids, p.pid)
	}
	for _, pid := range pids {
		_ = r.system.Root.PoisonFuture(pid).Wait() // a time-out here delays the end, no more
	}
	r.system.Shutdown()
}

func makeSpaces(databases int) []atomic.Pointer[keyspace.Space] {
	return make([]atomic.Pointer[keyspace.Space], databases)
}
