package actors

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"kiln/commands"
	"kiln/wire/resp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must come.
const patience = 60 * time.Second

// long says that tests may take minutes: KILN_LONG=1.
var long = os.Getenv("KILN_LONG") != ""

// span is how long a test that runs for a time runs.
func span(short, longer time.Duration) time.Duration {
	if s := os.Getenv("KILN_SPAN"); s != "" {
		if d, err := time.ParseDuration(s); err == nil {
			return d
		}
	}
	if long {
		return longer
	}
	return short
}

// seedOf gives KILN_SEED, or a new seed; a test that fails prints it.
func seedOf(t testing.TB) uint64 {
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("KILN_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("again with KILN_SEED=%d", seed)
		}
	})
	return seed
}

func newDice(seed uint64, stream int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(stream)))
}

// rig is a router without sockets. Loops are the tests' goroutines.
type rig struct {
	*Router
	t      testing.TB
	server *commands.Server
	bugs   atomic.Int64
	once   sync.Once
}

// quietProcess is a process of which nothing is known.
type quietProcess struct{}

func (quietProcess) Resident() int64                         { return 1 << 20 }
func (quietProcess) CPU() (system, user float64)             { return 0, 0 }
func (quietProcess) PID() int                                { return 1 }
func (quietProcess) Arena() (used, lent, mapped int64)       { return 0, 0, 0 }
func (quietProcess) Heap() int64                             { return 0 }
func (quietProcess) Host() (system string, memory int64)     { return "", 0 }
func (quietProcess) Sleep(ns int64)                          { time.Sleep(time.Duration(ns)) }
func (quietProcess) Shutdown(commands.ShutdownOptions) error { return nil }
func (quietProcess) Executable() string                      { return "" }
func (quietProcess) ConfigFile() string                      { return "" }

// nobody is the list of clients.
type nobody struct{}

func (nobody) Each(func(*commands.Session) bool) {}
func (nobody) Close(*commands.Session)           {}
func (nobody) Count() int                        { return 0 }
func (nobody) Blocked() int                      { return 0 }

func newRig(t testing.TB, o Options) *rig {
	r := &rig{t: t}
	r.server = &commands.Server{
		Seed: 7, Config: commands.NewConfig(), Clients: nobody{}, Process: quietProcess{},
		Started: time.Now().UnixNano(), RunID: strings.Repeat("0", 40), Loops: 1,
	}
	r.server.Config.DebugCommand.Store(commands.PermitYes)
	r.server.OnBug = func(command, what string) {
		if r.bugs.Add(-1) < 0 { // a test may expect some
			t.Errorf("%s: %s", command, what)
		}
	}
	r.Router = New(r.server, o)
	t.Cleanup(r.close)
	return r
}

func (r *rig) close() { r.once.Do(r.Router.Close) }

// client is a connection with a loop of its own, for one goroutine.
type client struct {
	rig    *rig
	loop   *Loop
	conn   *commands.Session
	now    func() int64 // the loop's clock
	forced bool         // never at once: all through requests
	parked int          // requests there were
	out    resp.Writer
}

func (r *rig) client() *client {
	c := &client{
		rig: r, loop: r.NewLoop(), conn: &commands.Session{Addr: "127.0.0.1:1"},
		now: func() int64 { return time.Now().UnixNano() },
	}
	c.conn.Begin(r.server)
	return c
}

func argvOf(words []string) [][]byte {
	argv := make([][]byte, len(words))
	for i, w := range words {
		argv[i] = []byte(w)
	}
	return argv
}

// do runs a command line, waits for its reply and gives that as it goes over the wire.
func (c *client) do(words ...string) string {
	done := c.start(words...)
	select {
	case <-done:
	case <-time.After(patience):
		c.rig.hang("%.200q is not answered", words)
	}
	return string(slices.Concat(c.out.Chunks()...))
}

// line is do for words without blanks.
func (c *client) line(line string) string { return c.do(strings.Fields(line)...) }

// start runs a command line; the channel says when the reply is in c.out.
func (c *client) start(words ...string) (done chan struct{}) {
	var p Prepared
	c.loop.Begin()
	c.loop.Prepare(&p, argvOf(words))
	return c.run(&p)
}

// with is start for a row that is no command's, or that a test has changed.
func (c *client) with(spec *commands.Spec, words ...string) (done chan struct{}) {
	var p Prepared
	c.loop.Begin()
	c.loop.Prepare(&p, argvOf(words))
	p.Spec, p.Err = spec, nil
	return c.run(&p)
}

func (c *client) run(p *Prepared) (done chan struct{}) {
	done = make(chan struct{})
	c.out.Reset()
	c.out.Resp3 = c.conn.Resp3
	var q *Request
	if c.forced && p.Err == nil {
		p.Err = commands.Check(p.Spec, c.conn, p.Argv)
	}
	if c.forced && p.Err == nil {
		q = c.rig.newRequest(p, c.conn, c.now())
	} else {
		q = c.loop.Run(p, c.conn, c.now(), &c.out)
	}
	if q == nil {
		close(done)
		return done
	}
	c.parked++
	if c.out.Len() != 0 {
		c.rig.t.Errorf("%.200q is parked after it wrote %q", p.Argv, c.out.Bytes())
	}
	var calls atomic.Int64
	q.Done = func(q *Request) {
		if calls.Add(1) > 1 {
			panic("Done twice")
		}
		c.out.RawN(slices.Concat(q.Reply.Chunks()...), 0)
		close(done)
	}
	q.Start()
	return done
}

// hang ends the test with all stacks, since something waits for ever.
func (r *rig) hang(format string, args ...any) {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	panic(fmt.Sprintf(format, args...) + "\n" + string(stacks))
}

func wait[T any](r *rig, c <-chan T, what string) T {
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		r.hang("%s does not come", what)
	}
	panic("unreachable")
}

// until waits for what nobody tells.
func until(t testing.TB, ready func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ready(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatal("it does not come")
		}
	}
}

// changed gives a command's row with another handler.
func changed(name string, run func(*commands.Call, commands.Handler) error) *commands.Spec {
	spec := *commands.Lookup([]byte(name))
	handler := spec.Run
	spec.Run = func(c *commands.Call) error { return run(c, handler) }
	return &spec
}

// latched gives a command's row whose handler always runs as a slow command, and, once it has its
// keys, tells so and waits.
type latched struct {
	spec    *commands.Spec
	begun   chan struct{}
	proceed chan struct{}
}

func latch(name string) *latched {
	l := &latched{begun: make(chan struct{}, 16), proceed: make(chan struct{})}
	l.spec = changed(name, func(c *commands.Call, handler commands.Handler) error {
		if !c.Held {
			return commands.ErrElsewhere
		}
		l.begun <- struct{}{}
		<-l.proceed
		return handler(c)
	})
	return l
}

// together runs n goroutines and waits for them.
func together(n int, f func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Add(1)
		go func() {
			defer all.Done()
			f(i)
		}()
	}
	all.Wait()
}

// meddle enters partitions at random and stays for a moment, until it is stopped: so loops find
// them busy.
func (r *rig) meddle(dice *rand.Rand, longest time.Duration) (stop func()) {
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for {
			select {
			case <-quit:
				return
			default:
			}
			p := r.partitions[dice.IntN(len(r.partitions))]
			switch {
			case dice.IntN(4) == 0:
				p.await()
			case !p.enter():
				runtime.Gosched()
				continue
			}
			stay := time.Duration(dice.Int64N(int64(longest)))
			for until := time.Now().Add(stay); time.Now().Before(until); {
				runtime.Gosched()
			}
			p.leave()
			runtime.Gosched()
		}
	}()
	return func() {
		close(quit)
		<-gone
	}
}

func array(replies ...string) string {
	return "*" + strconv.Itoa(len(replies)) + "\r\n" + strings.Join(replies, "")
}

func bulk(s string) string { return "$" + strconv.Itoa(len(s)) + "\r\n" + s + "\r\n" }
