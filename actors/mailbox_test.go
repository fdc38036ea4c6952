package actors

import (
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/asynkron/protoactor-go/actor"

	"kiln/actors/keyspace"
)

// probe is an actor's inside: it sees what its mailbox hands over.
type probe struct {
	t        *testing.T
	mailbox  *mailbox
	inside   atomic.Int32
	last     map[int]int // of each producer, the last message
	handled  int
	system   int
	goneover int
}

type numbered struct{ producer, number int }

func newProbe(t *testing.T) *probe {
	p := &probe{t: t, mailbox: &mailbox{}, last: map[int]int{}}
	p.mailbox.init()
	p.mailbox.RegisterHandlers(p, actor.NewDefaultDispatcher(1))
	p.mailbox.Start()
	return p
}

// alone checks that nobody else is inside. What follows it changes plain fields, so the race
// detector sees a second runner too.
func (p *probe) alone() func() {
	if p.inside.Add(1) != 1 {
		p.t.Error("two runners at once")
	}
	return func() { p.inside.Add(-1) }
}

func (p *probe) InvokeUserMessage(message any) {
	defer p.alone()()
	switch m := message.(type) {
	case numbered:
		if m.number != p.last[m.producer]+1 {
			p.t.Errorf("producer %d: want message %d, got %d", m.producer, p.last[m.producer]+1,
				m.number)
		}
		p.last[m.producer] = m.number
		p.handled++
	case *grant:
		p.mailbox.transfer(m)
	}
}

func (p *probe) InvokeSystemMessage(any) {
	defer p.alone()()
	p.system++
}

func (p *probe) EscalateFailure(reason, _ any) { panic(reason) }

func TestMessagesAreHandledOnceInOrderByOneRunner(t *testing.T) {
	const producers, each = 16, 2000
	p := newProbe(t)
	m := p.mailbox
	together(producers, func(i int) {
		dice := newDice(1, i)
		for n := 1; n <= each; {
			switch dice.IntN(10) {
			case 0:
				if m.enter() {
					leave := p.alone()
					p.goneover++
					leave()
					m.leave()
				}
			case 1:
				m.PostSystemMessage("x")
			case 2:
				runtime.Gosched()
			default:
				m.PostUserMessage(numbered{i, n})
				n++
			}
		}
	})
	for !m.enter() { // a worker may have been handed the rest
		runtime.Gosched()
	}
	if want := producers * each; p.handled != want {
		t.Errorf("want %d messages, got %d", want, p.handled)
	}
	m.leave()
}

// TestGrantsComeInOrderAmongMessages posts, from one producer each, a message, a grant, a message:
// whoever has the grant must find all that was posted before it handled, and nothing after it.
func TestGrantsComeInOrderAmongMessages(t *testing.T) {
	const producers, each = 12, 500
	p := newProbe(t)
	m := p.mailbox
	together(producers, func(i int) {
		n := 0
		for range each {
			n++
			m.PostUserMessage(numbered{i, n})
			g := &grant{given: make(chan struct{}, 1)}
			m.PostUserMessage(g)
			n++
			m.PostUserMessage(numbered{i, n})
			<-g.given
			leave := p.alone()
			if p.last[i] != n-1 {
				t.Errorf("granted after message %d of %d", p.last[i], n-1)
			}
			p.goneover++
			runtime.Gosched()
			leave()
			m.leave()
		}
	})
	for !m.enter() {
		runtime.Gosched()
	}
	if want := 2 * producers * each; p.handled != want {
		t.Errorf("want %d messages, got %d", want, p.handled)
	}
	if want := producers * each; p.goneover != want {
		t.Errorf("want %d grants, got %d", want, p.goneover)
	}
	m.leave()
}

// TestRunnerIsNotCaptured: who enters handles a bounded number of the messages that came meanwhile
// itself, and gets away while the rest are handled.
func TestRunnerIsNotCaptured(t *testing.T) {
	p := newProbe(t)
	m := p.mailbox
	if !m.enter() {
		t.Fatal("a new mailbox is busy")
	}
	const behind = 10 * foreignMax
	for n := 1; n <= behind; n++ {
		m.PostUserMessage(numbered{0, n})
	}
	if p.handled != 0 {
		t.Fatalf("%d messages handled while the partition is entered", p.handled)
	}
	var others sync.WaitGroup
	others.Add(1)
	go func() {
		defer others.Done()
		for !m.enter() {
			runtime.Gosched()
		}
		if p.handled != behind {
			t.Errorf("want %d messages, got %d", behind, p.handled)
		}
		m.leave()
	}()
	m.leave()
	others.Wait()
}

// TestLeaveDoesNotWaitForAProducer: a producer that was stopped between its two steps keeps nobody,
// and its message is handled when it goes on.
func TestLeaveDoesNotWaitForAProducer(t *testing.T) {
	p := newProbe(t)
	m := p.mailbox
	if !m.enter() {
		t.Fatal("a new mailbox is busy")
	}
	n := &node{message: numbered{1, 1}}
	before := m.head.Swap(n)
	m.leave() // must come back
	if !m.enter() {
		t.Fatal("want the partition to be idle")
	}
	m.leave()
	m.PostUserMessage(numbered{2, 1}) // it lies behind the one not there yet
	if p.handled != 0 {
		t.Errorf("%d messages handled too early", p.handled)
	}
	before.next.Store(n)
	if m.enter() { // what PostUserMessage does last
		m.run(foreignMax)
	}
	if want := 2; p.handled != want {
		t.Errorf("want %d messages, got %d", want, p.handled)
	}
}

// TestOneLineOfAPartitionIsWritten when a loop enters, reads and leaves.
func TestOneLineOfAPartitionIsWritten(t *testing.T) {
	const line = 64
	at := func(typ reflect.Type, name string) uintptr {
		f, _ := typ.FieldByName(name)
		return f.Offset
	}
	typ := reflect.TypeFor[partition]()
	state := at(reflect.TypeFor[mailbox](), "state")
	last := at(typ, "counters") + reflect.TypeFor[keyspace.Counters]().Size() - 1
	if state/line != last/line || state%line != 0 {
		t.Errorf("state at %d and the counters' end at %d are not in one line", state, last)
	}
	r := newRig(t, Options{Partitions: 64})
	for _, p := range r.partitions {
		if reflect.ValueOf(p).Pointer()%line != 0 || typ.Size()%line != 0 {
			t.Fatalf("a partition of %d bytes at %#x shares lines with its neighbours", typ.Size(),
				reflect.ValueOf(p).Pointer())
		}
	}
}
