package actors

import (
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"
)

// foreignMax is how many messages of others a runner handles before it hands the partition to a
// worker goroutine: an event loop must not be captured (64 commands are about 20 us).
const foreignMax = 64

const (
	idle     uint32 = iota
	running         // entered by an event loop, which leaves soon
	occupied        // entered by who may stay a while, or there are messages to handle
)

// spinMax is how often an event loop looks whether another one leaves a partition: about 1 us, in
// which that does ten commands. To queue a request and park its client costs several times that.
const spinMax = 1000

// mailbox is a protoactor mailbox that is caller-runs: who posts to an idle actor becomes its
// runner and handles the message on the spot; who posts to a busy one queues the message, and the
// runner of the moment handles it.
//
// enter and leave are the same thing without a message: an event loop enters an idle partition,
// does its work and leaves. Being the runner is a matter of the state word, not of a goroutine:
// a runner may hand it to another goroutine (see transfer).
//
// The queue is Vyukov's: producers exchange the head, the runner alone moves the tail. The head has
// a cache line of its own. The state word begins one; what follows, up to what the actor keeps
// behind its mailbox, is the runner's, who has just fetched that line.
type mailbox struct {
	head    atomic.Pointer[node]
	_       [56]byte
	state   atomic.Uint32
	tail    *node  // the last one handled
	next    *grant // who is the runner after this message, if not the same
	invoker actor.MessageInvoker
}

type node struct {
	next    atomic.Pointer[node]
	message any
	system  bool
}

// init readies a mailbox for its first message.
func (m *mailbox) init() {
	first := &node{}
	m.head.Store(first)
	m.tail = first
}

// enter makes the caller the runner if there is none, for a short time. leave must follow. It does
// not look before it swaps: mostly nobody is there, and to look would fetch the line twice.
func (m *mailbox) enter() bool { return m.state.CompareAndSwap(idle, running) }

// enterSoon is enter that waits a moment for another loop.
func (m *mailbox) enterSoon() bool {
	if m.enter() {
		return true
	}
	for range spinMax {
		switch m.state.Load() {
		case idle:
			if m.enter() {
				return true
			}
		case occupied:
			return false
		}
	}
	return false
}

// occupy is enter for who may stay a while.
func (m *mailbox) occupy() bool { return m.state.CompareAndSwap(idle, occupied) }

// leave handles what was queued meanwhile, then makes the partition idle.
func (m *mailbox) leave() {
	if m.tail.next.Load() == nil && m.rest() {
		return
	}
	m.run(foreignMax)
}

// rest makes the partition idle, unless a message has come meanwhile: then the caller is still the
// runner. A producer that has exchanged the head but not linked its message yet is not waited for:
// it tries to enter when it has. NB: once the state is idle, tail is the next runner's.
func (m *mailbox) rest() bool {
	tail := m.tail
	m.state.Store(idle)
	return tail.next.Load() == nil || !m.occupy()
}

// run handles queued messages, then makes the partition idle. REQUIRES: the caller is the runner.
func (m *mailbox) run(limit int) {
	m.state.Store(occupied)
	for {
		for n := m.pop(); n != nil; n = m.pop() {
			m.invoke(n)
			if g := m.next; g != nil {
				m.next = nil
				g.given <- struct{}{} // the last thing that this runner does here
				return
			}
			if limit--; limit == 0 {
				go m.run(-1)
				return
			}
		}
		if m.rest() {
			return
		}
	}
}

func (m *mailbox) invoke(n *node) {
	message := n.message
	n.message = nil // the node stays as the queue's tail; its message must not
	if n.system {
		m.invoker.InvokeSystemMessage(message)
		return
	}
	m.invoker.InvokeUserMessage(message)
}

// transfer makes the runner let go of the partition after this message without making it idle: who
// asked for the grant is the runner from then on.
func (m *mailbox) transfer(to *grant) { m.next = to }

func (m *mailbox) push(message any, system bool) {
	n := &node{message: message, system: system}
	m.head.Swap(n).next.Store(n)
}

func (m *mailbox) pop() *node {
	n := m.tail.next.Load()
	if n != nil {
		m.tail = n
	}
	return n
}

// PostUserMessage queues a message, and handles it at once if the actor is idle.
func (m *mailbox) PostUserMessage(message any) {
	m.push(message, false)
	if m.occupy() {
		m.run(foreignMax)
	}
}

// PostSystemMessage is the same for protoactor's own messages.
func (m *mailbox) PostSystemMessage(message any) {
	m.push(message, true)
	if m.occupy() {
		m.run(foreignMax)
	}
}

// RegisterHandlers is protoactor's: the dispatcher is not used, callers run.
func (m *mailbox) RegisterHandlers(invoker actor.MessageInvoker, _ actor.Dispatcher) {
	m.invoker = invoker
}

// Start is protoactor's.
func (m *mailbox) Start() {}

// UserMessageCount is protoactor's, for its metrics, which are off.
func (m *mailbox) UserMessageCount() int { return 0 }
