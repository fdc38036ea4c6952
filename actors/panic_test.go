package actors

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"kiln/commands"
)

// faulty gives SET's or MSET's row with a fault before or after it writes. It runs off the event
// loop if asked to.
func faulty(name string, after, slow bool) *commands.Spec {
	return changed(name, func(c *commands.Call, handler commands.Handler) error {
		if slow && !c.Held {
			return commands.ErrElsewhere
		}
		if after {
			_ = handler(c)
		}
		panic("a fault of the test")
	})
}

// TestAPanicBeforeAWriteCostsOneRequest, wherever the request runs.
func TestAPanicBeforeAWriteCostsOneRequest(t *testing.T) {
	r := newRig(t, Options{Partitions: 4})
	defer r.unheld()
	c, other := r.client(), r.client()
	r.bugs.Store(100)
	for _, where := range []string{"at once", "queued", "gathered", "slow"} {
		name, words := "set", []string{"SET", "k", "v"}
		if where == "gathered" {
			name, words = "mset", []string{"MSET", "k", "1", "m", "2", "n", "3", "o", "4", "p", "5"}
		}
		spec := faulty(name, false, where == "slow")
		c.forced = where != "at once"
		wait(r, c.with(spec, words...), "the reply")
		c.wantOut("-ERR internal error\r\n")
		other.want("$-1\r\n", "GET", "k")
		other.want("+OK\r\n", "MSET", "k2", "v", "m", "v", "n", "v", "o", "v", "p", "v")
		other.want("+OK\r\n", "FLUSHALL")
	}
	if got := r.server.Stats.Panics.Load(); got != 4 {
		t.Errorf("want 4 panics to be counted, got %d", got)
	}
}

// TestAPanicAfterAWriteEndsTheProcess, wherever the request runs: each case is a process.
func TestAPanicAfterAWriteEndsTheProcess(t *testing.T) {
	where := os.Getenv("KILN_PANIC")
	if where == "" {
		for _, where := range []string{"at once", "queued", "gathered", "slow", "admissions"} {
			t.Run(where, func(t *testing.T) {
				name, _, _ := strings.Cut(t.Name(), "/")
				command := exec.Command(os.Args[0], "-test.run", "^"+name+"$")
				command.Env = append(os.Environ(), "KILN_PANIC="+where)
				out, err := command.CombinedOutput()
				if err == nil || !strings.Contains(string(out), "panic: ") ||
					!strings.Contains(string(out), "a fault of the test") {
					t.Errorf("want the process to end with a panic, got %v:\n%s", err, out)
				}
			})
		}
		return
	}
	r := newRig(t, Options{Partitions: 4})
	c := r.client()
	c.forced = where != "at once"
	ended := make(chan struct{})
	go func() { // a panic in the test's own goroutine would be held up
		defer close(ended)
		switch where {
		case "gathered":
			<-c.with(faulty("mset", true, false), "MSET", "k", "1", "m", "2", "n", "3", "o", "4")
		case "admissions":
			// An actor with protoactor's mailbox, which recovers: its guardian decides.
			r.system.Root.Send(r.spawn("faulty", faultyActor{}, nil), "a fault of the test")
			time.Sleep(patience / 10)
		default:
			<-c.with(faulty("set", true, where == "slow"), "SET", "k", "v")
		}
	}()
	<-ended
	t.Logf("the process goes on")
}

type faultyActor struct{}

func (faultyActor) Receive(ctx actor.Context) {
	if m, ok := ctx.Message().(string); ok {
		panic(m)
	}
}
