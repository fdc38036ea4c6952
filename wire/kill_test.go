package wire

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"kiln/wire/resp"
)

// TestKilledClientsRunNothingMore: once CLIENT KILL has answered, no command of the killed client
// is begun, though it may have been sent long before.
func TestKilledClientsRunNothingMore(t *testing.T) {
	each(t, func(t *testing.T, loops int) {
		r := start(t, Options{Loops: loops})
		killer := r.dial()
		rounds := 200
		if testing.Short() {
			rounds = 20
		}
		for i := range rounds {
			victim := r.dial()
			id := victim.id()
			switch i % 3 {
			case 0: // in the middle of a pipeline
				victim.stream([]byte(strings.Repeat("INCR n\r\n", 20000)))
			case 1: // parked, with more to do
				victim.stream([]byte("DEBUG SLEEP 0.01\r\n" + strings.Repeat("INCR n\r\n", 2000)))
			case 2: // with a command that comes together with the kill
				go func() { _, _ = victim.Write(line("INCR", "n")) }()
			}
			killer.want(":1", "CLIENT", "KILL", "ID", strconv.FormatInt(id, 10))
			first := killer.do("GET", "n")
			_, _ = victim.Write(line("INCR", "n"))
			if got := r.shared.Clients.Count(); got > 2 {
				t.Fatalf("%d clients", got)
			}
			r.quiet(1)
			last := killer.do("GET", "n")
			// One command may have been under way; none is begun.
			if n, m := number(first), number(last); m > n+1 {
				t.Fatalf("round %d: the killed client went on, from %d to %d", i, n, m)
			}
			_ = victim.Close()
		}
	})
}

func number(v resp.Value) int {
	n, _ := strconv.Atoi(string(v.Text))
	return n
}

// TestKillSparesTheAnswer: a client that kills itself gets its answer, and those before it.
func TestKillSparesTheAnswer(t *testing.T) {
	each(t, func(t *testing.T, loops int) {
		r := start(t, Options{Loops: loops})
		for i := range 100 {
			p := r.dial()
			id := strconv.FormatInt(p.id(), 10)
			var s script
			s.add("+PONG", "PING")
			if i%2 == 0 {
				s.add("+OK", "DEBUG", "SLEEP", "0")
			}
			s.add(":1", "CLIENT", "KILL", "ID", id, "SKIPME", "no")
			p.send(append(s.bytes, "INCR n\r\n"...))
			p.expect(&s)
			p.ended()
		}
		r.quiet(0)
		r.dial().want("$-1", "GET", "n")
	})
}

// TestKillOfOneThatDoesNotRead closes at once, whatever is still to be written.
func TestKillOfOneThatDoesNotRead(t *testing.T) {
	r := start(t, Options{Loops: 1})
	p := r.dial()
	p.want("+OK", "SET", "k", strings.Repeat("v", 8<<20))
	for _, more := range []string{"", "QUIT\r\n", "DEBUG SLEEP 60\r\n"} {
		q := r.dial()
		c := r.find(q.id())
		q.send([]byte("GET k\r\n" + more))
		await(t, "a backlog", func() bool { return c.Pending.Load() > 0 })
		p.want(":1", "CLIENT", "KILL", "ID", strconv.FormatInt(c.ID, 10))
		r.quietButParked(1)
	}
	r.process.wake()
	r.quiet(1)
}

// TestClientListShowsTheLastCommand, and after an unknown one that there is none.
func TestClientListShowsTheLastCommand(t *testing.T) {
	r := start(t, Options{Loops: 1})
	p, q := r.dial(), r.dial()
	id := strconv.FormatInt(p.id(), 10)
	for _, c := range []struct{ command, shown string }{
		{"GET", " cmd=get "}, {"NONSENSE", " cmd=NULL "}, {"GET", " cmd=get "},
	} {
		p.send(line(c.command, "k"))
		p.read()
		q.send(line("CLIENT", "LIST", "ID", id))
		if got := string(q.read().Text); !strings.Contains(got, c.shown) {
			t.Errorf("after %s: want %s in %q", c.command, c.shown, got)
		}
	}
}

// TestClientListWhileAllChanges asks for the list of clients while they come, go, change and are
// killed, by each other and themselves.
func TestClientListWhileAllChanges(t *testing.T) {
	r := start(t, Options{Loops: 3})
	end := time.Now().Add(time.Second)
	var all sync.WaitGroup
	for w := range 6 {
		all.Go(func() {
			dice := rand.New(rand.NewPCG(uint64(w), 2))
			for time.Now().Before(end) {
				p := r.dial()
				for range 20 {
					words := strings.Fields([]string{
						"CLIENT LIST", "CLIENT SETNAME n" + strconv.Itoa(w), "SELECT 3", "HELLO 3", "HELLO 2",
						"CLIENT INFO", "INFO clients", "CLIENT NO-TOUCH on", "RESET", "DEBUG SLEEP 0", "MGET a b c",
						fmt.Sprintf("CLIENT KILL ID %d", 1+dice.Int64N(r.server.register.last.Load()+2)),
						"CLIENT KILL SKIPME no MAXAGE 2",
					}[dice.IntN(13)])
					if _, err := p.Write(line(words...)); err != nil {
						break
					}
					if _, err := p.r.Read(); err != nil {
						break
					}
				}
				_ = p.Close()
			}
		})
	}
	all.Wait()
	r.quiet(0)
}
