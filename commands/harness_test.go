package commands

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"kiln/actors/keyspace"
	"kiln/actors/keyspace/arena"
	"kiln/wire/resp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a server without actors or sockets: the partitions are there, one goroutine uses them.
type bench struct {
	t      testing.TB
	server *Server
	call   Call
	conn   *Session
	spaces [][]*keyspace.Space // by database, then partition
	now    int64
	log    recorder
	reply  resp.Writer
	new    func() *keyspace.Space

	clients []*Session
	closed  []*Session // in the order of Clients.Close
	process *fakeProcess
}

// fakeClients are the bench's: what is closed is only noted.
type fakeClients struct{ b *bench }

func (f fakeClients) Each(yield func(*Session) bool) {
	for _, s := range f.b.clients {
		if !yield(s) {
			return
		}
	}
}
func (f fakeClients) Close(s *Session) { f.b.closed = append(f.b.closed, s) }
func (f fakeClients) Count() int       { return len(f.b.clients) }
func (f fakeClients) Blocked() int     { return 0 }

// fakeProcess is the bench's: its numbers are any, but always the same.
type fakeProcess struct {
	slept     int64
	shutdowns []ShutdownOptions
	refuse    error
}

func (p *fakeProcess) Resident() int64                   { return 30 << 20 }
func (p *fakeProcess) CPU() (system, user float64)       { return 1.5, 2.25 }
func (p *fakeProcess) PID() int                          { return 4711 }
func (p *fakeProcess) Arena() (used, lent, mapped int64) { return 8 << 20, 9 << 20, 16 << 20 }
func (p *fakeProcess) Heap() int64                       { return 2 << 20 }
func (p *fakeProcess) Host() (system string, memory int64) {
	return "Linux 6.1.0 x86_64", 8 << 30
}
func (p *fakeProcess) Sleep(ns int64)     { p.slept += ns }
func (p *fakeProcess) Executable() string { return "/usr/bin/kiln" }
func (p *fakeProcess) ConfigFile() string { return "" }
func (p *fakeProcess) Shutdown(o ShutdownOptions) error {
	if p.refuse == nil {
		p.shutdowns = append(p.shutdowns, o)
	}
	return p.refuse
}

// recorder is a listener that keeps all it is told, as text.
type recorder struct {
	journal, events, changed []string
}

func (r *recorder) Journal(effects []Effect) {
	for _, e := range effects {
		r.journal = append(r.journal, string(bytes.Join(e.Args, []byte(" "))))
	}
}
func (r *recorder) Changed(_ int, key []byte) { r.changed = append(r.changed, string(key)) }
func (r *recorder) Event(_ Class, event string, _ int, key []byte) {
	r.events = append(r.events, event+" "+string(key))
}
func (r *recorder) Ready(int, []byte) {}
func (r *recorder) Flushed(int)       {}

func newBench(t testing.TB, partitions int) *bench {
	b := &bench{t: t, now: 1_700_000_000_000_000_000}
	b.server = &Server{Config: NewConfig(), Seed: 7, Started: b.now}
	b.server.OnBug = func(command, what string) { b.t.Fatalf("%s: %s", command, what) }
	b.server.Config.DebugCommand.Store(PermitYes)
	b.server.Clients = fakeClients{b}
	b.process = &fakeProcess{}
	b.server.Process = b.process
	b.conn = &Session{ID: 1, Created: b.now, Addr: "127.0.0.1:1001", LocalAddr: "127.0.0.1:6379"}
	b.conn.Begin(b.server)
	b.clients = []*Session{b.conn}
	depot := arena.NewDepot()
	b.new = func() *keyspace.Space {
		return keyspace.New(arena.New(depot), b.server.Seed, 1, b.server.Config.Keyspace,
			&keyspace.Counters{})
	}
	for range b.server.Config.Databases {
		var db []*keyspace.Space
		for range partitions {
			db = append(db, b.new())
		}
		b.spaces = append(b.spaces, db)
	}
	b.call = Call{
		Conn: b.conn, Server: b.server, Shards: b, Reply: &b.reply,
		Effects: &Effects{Listener: &b.log},
	}
	return b
}

// do runs a command line, split at spaces, and gives the reply as it goes over the wire.
func (b *bench) do(line string) string { return b.run(strings.Fields(line)...) }

func (b *bench) run(words ...string) string {
	argv := make([][]byte, len(words))
	for i, w := range words {
		argv[i] = []byte(w)
	}
	b.reply.Reset()
	b.reply.Resp3 = b.conn.Resp3
	spec, err := Resolve(argv)
	if err == nil {
		err = Check(spec, b.conn, argv)
	}
	if err != nil {
		b.reply.Begin()
		b.reply.Error(err.(resp.Error))
		return string(b.reply.Bytes())
	}
	b.call.Now, b.call.DB = b.now, b.conn.DB
	b.call.Reset(spec, argv)
	b.call.Keys, _ = spec.FindKeys(argv, b.call.Keys[:0])
	b.call.Hashes = b.call.Hashes[:0]
	for _, k := range b.call.Keys {
		b.call.Hashes = append(b.call.Hashes, keyspace.HashKey(b.server.Seed, k))
	}
	b.call.Space = nil
	if len(b.spaces[0]) == 1 && spec.Where == ByKey { // as the router does for one partition
		b.call.Space = b.spaces[b.conn.DB][0]
	}
	if err := Exec(&b.call); err != nil {
		b.t.Fatalf("%v: %v", words, err)
	}
	return string(slices.Concat(b.reply.Chunks()...))
}

func (b *bench) SpaceOf(db int, _ []byte, h uint64) (*keyspace.Space, error) {
	return b.spaces[db][h%uint64(len(b.spaces[db]))], nil
}
func (b *bench) Leave()     {}
func (b *bench) Count() int { return len(b.spaces[0]) }
func (b *bench) Enter(p, db int) (*keyspace.Space, error) {
	return b.spaces[db][p], nil
}
func (b *bench) Peek(p, db int) *keyspace.Space { return b.spaces[db][p] }
func (b *bench) Swap(x, y int)                  { b.spaces[x], b.spaces[y] = b.spaces[y], b.spaces[x] }
func (b *bench) Flush(db int) {
	for i := range b.spaces {
		for p := range b.spaces[i] {
			if db < 0 || i == db {
				for b.spaces[i][p].Drop(64) {
				}
				b.spaces[i][p] = b.new()
			}
		}
	}
}

func TestBench(t *testing.T) {
	for _, partitions := range []int{1, 7} {
		b := newBench(t, partitions)
		for _, c := range []struct{ line, want string }{
			{"PING", "+PONG\r\n"},
			{"set a 1", "+OK\r\n"},
			{"INCR a", ":2\r\n"},
			{"mset b hello c world", "+OK\r\n"},
			{"mget a b c d", "*4\r\n$1\r\n2\r\n$5\r\nhello\r\n$5\r\nworld\r\n$-1\r\n"},
			{"get", "-ERR wrong number of arguments for 'get' command\r\n"},
			{"nosuch a b", "-ERR unknown command 'nosuch', with args beginning with: 'a' 'b' \r\n"},
			{"dbsize", ":3\r\n"},
		} {
			if got := b.do(c.line); got != c.want {
				t.Errorf("%s: want %q, got %q", c.line, c.want, got)
			}
		}
		if want := 3; len(b.log.journal) != want {
			t.Errorf("want %d effects, got %q", want, b.log.journal)
		}
	}
}
