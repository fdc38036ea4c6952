package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"kiln/actors"
	"kiln/commands"
	"kiln/wire/resp"
)

// patience bounds every wait of these tests: the machine may be busy with others.
const patience = 60 * time.Second

// childEnv makes the test binary a server, for tests that need a process of their own.
const childEnv = "KILN_WIRE_CHILD"

func TestMain(m *testing.M) {
	// As in cmd/kiln: loops keep their processors while they wait a moment.
	runtime.GOMAXPROCS(runtime.NumCPU() + 4)
	if mode := os.Getenv(childEnv); mode != "" {
		child(mode)
		return
	}
	if ln, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
		_ = ln.Close() // Go's own poller is made now, not while a test counts descriptors
	}
	goleak.VerifyTestMain(m)
}

// hostProcess is the test binary as commands.Process.
type hostProcess struct {
	quit     chan struct{}
	once     sync.Once
	shutdown atomic.Pointer[func() error]
}

func (p *hostProcess) Resident() int64 {
	text, _ := os.ReadFile("/proc/self/statm")
	if fields := strings.Fields(string(text)); len(fields) > 1 {
		pages, _ := strconv.ParseInt(fields[1], 10, 64)
		return pages * int64(os.Getpagesize())
	}
	return 0
}

// Heap is what is alive in the Go heap.
func (p *hostProcess) Heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
func (p *hostProcess) CPU() (system, user float64)       { return 1, 1 }
func (p *hostProcess) PID() int                          { return os.Getpid() }
func (p *hostProcess) Arena() (used, lent, mapped int64) { return 0, 0, 0 }
func (p *hostProcess) Host() (string, int64)             { return "test", 8 << 30 }
func (p *hostProcess) Executable() string                { return "" }
func (p *hostProcess) ConfigFile() string                { return "" }
func (p *hostProcess) Shutdown(commands.ShutdownOptions) error {
	shutdown := p.shutdown.Load()
	if shutdown == nil {
		return os.ErrInvalid
	}
	return (*shutdown)()
}

func (p *hostProcess) Sleep(ns int64) {
	t := time.NewTimer(time.Duration(ns))
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.quit:
	}
}

func (p *hostProcess) wake() { p.once.Do(func() { close(p.quit) }) }

// rig is a server in the test's own process.
type rig struct {
	t       testing.TB
	shared  *commands.Server
	process *hostProcess
	router  *actors.Router
	server  *Server
	addr    string
	stopped bool
	changed bool // FuzzConnection: settings are not what they were
}

// newRig makes a server that does not listen yet. Settings are directives and their values.
func newRig(t testing.TB, o Options, settings ...string) *rig {
	t.Helper()
	config := commands.NewConfig()
	config.DebugCommand.Store(commands.PermitYes)
	for i := 0; i < len(settings); i += 2 {
		if err := config.Set(settings[i], []string{settings[i+1]}); err != nil {
			t.Fatal(err)
		}
	}
	r := &rig{t: t, process: &hostProcess{quit: make(chan struct{})}}
	r.shared = &commands.Server{
		Seed: 7, Config: config, Process: r.process, Started: time.Now().UnixNano(),
		OnBug: func(command, what string) { t.Errorf("%s: %s", command, what) },
	}
	r.router = actors.New(r.shared, actors.Options{Partitions: 16})
	if o.Listen == nil {
		o.Listen = []Listen{{Network: "tcp", Address: "127.0.0.1:0"}}
	}
	r.server = New(r.shared, r.router, o)
	return r
}

// start makes a server that listens. When the test ends it must end well and leave no descriptor.
func start(t testing.TB, o Options, settings ...string) *rig {
	t.Helper()
	before := descriptors(t)
	r := newRig(t, o, settings...)
	if err := r.server.Start(); err != nil {
		r.router.Close()
		t.Fatal(err)
	}
	r.addr = r.server.Addrs()[0]
	t.Cleanup(func() {
		r.stop()
		if t.Failed() {
			return
		}
		await(t, "descriptors to be closed", func() bool { return descriptors(t) <= before })
	})
	return r
}

func (r *rig) stop() {
	r.t.Helper()
	if r.stopped {
		return
	}
	r.stopped = true
	r.process.wake()
	if err := r.server.Stop(); err != nil {
		r.t.Errorf("stop: %v", err)
	}
	r.router.Close()
	if n := r.shared.Clients.Count(); n != 0 {
		r.t.Errorf("%d clients are left of a server that has stopped", n)
	}
}

// each runs a test with one event loop and with several.
func each(t *testing.T, f func(t *testing.T, loops int)) {
	for _, loops := range []int{1, 3} {
		t.Run(fmt.Sprintf("loops=%d", loops), func(t *testing.T) { f(t, loops) })
	}
}

// onLoops runs f on each loop's goroutine, one after the other.
func (r *rig) onLoops(f func(*loop)) {
	r.t.Helper()
	for _, l := range r.server.loops {
		done := make(chan struct{})
		l.send(errand{do: func() { f(l); close(done) }})
		select {
		case <-done:
		case <-time.After(patience):
			r.t.Fatal("an event loop does not answer")
		}
	}
}

// find gives a client by its id.
func (r *rig) find(id int64) *client {
	r.server.register.mu.Lock()
	defer r.server.register.mu.Unlock()
	return r.server.register.byID[id]
}

// quiet waits until the server has so many clients and nothing is under way for any.
func (r *rig) quiet(clients int) {
	r.t.Helper()
	await(r.t, fmt.Sprintf("%d clients", clients), func() bool {
		return r.shared.Clients.Count() == clients
	})
	await(r.t, "the loops to have nothing under way", func() bool {
		busy, count := false, 0
		r.onLoops(func(l *loop) {
			busy = busy || l.parked != 0 || l.backlogged != 0 || l.strained != 0
			busy = busy || len(l.pieces)+len(l.leaving) > 0
			count += int(l.count.Load())
			for _, c := range l.clients {
				busy = busy || c != nil && c.closed
			}
		})
		return !busy && count == clients
	})
}

// await polls, since most of what is waited for tells nobody.
func await(t testing.TB, what string, is func() bool) {
	t.Helper()
	end := time.NewTimer(patience)
	defer end.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-end.C:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func descriptors(t testing.TB) int {
	t.Helper()
	dir, err := os.Open("/proc/self/fd")
	if err != nil {
		return 0 // not Linux
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		t.Fatal(err)
	}
	return len(names) - 1 // without the one of dir
}

// peer is a client of the server.
type peer struct {
	t testing.TB
	net.Conn
	r *resp.Reader
}

func (r *rig) dial() *peer { r.t.Helper(); return dial(r.t, r.addr) }

func dial(t testing.TB, addr string) *peer {
	t.Helper()
	network := "tcp"
	if strings.HasPrefix(addr, "/") {
		network = "unix"
	}
	conn, err := net.DialTimeout(network, addr, patience)
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{t: t, Conn: conn, r: resp.NewReader(conn)}
	_ = conn.SetDeadline(time.Now().Add(patience))
	t.Cleanup(func() { _ = conn.Close() })
	return p
}

func line(words ...string) []byte { return resp.AppendCommand(nil, words...) }

func (p *peer) send(data []byte) {
	p.t.Helper()
	if _, err := p.Write(data); err != nil {
		p.t.Fatalf("send: %v", err)
	}
}

// stream sends while the test reads: a server that has many replies to write does not read on.
func (p *peer) stream(data []byte) (sent chan error) {
	sent = make(chan error, 1)
	go func() {
		_, err := p.Write(data)
		sent <- err
	}()
	return sent
}

func (p *peer) read() resp.Value {
	p.t.Helper()
	v, err := p.r.Read()
	if err != nil {
		p.t.Fatalf("read a reply: %v", err)
	}
	return v
}

func (p *peer) do(words ...string) resp.Value {
	p.t.Helper()
	p.send(line(words...))
	return p.read()
}

// want sends a command and compares the reply as resp.Value prints it.
func (p *peer) want(reply string, words ...string) {
	p.t.Helper()
	if got := p.do(words...).String(); got != reply {
		p.t.Fatalf("%.60q: want %s, got %.200s", words, reply, got)
	}
}

// ended wants the end of the stream, and nothing before it.
func (p *peer) ended() {
	p.t.Helper()
	if v, err := p.r.Read(); err == nil {
		p.t.Fatalf("want the end of the connection, got %.200s", v)
	} else if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() {
		p.t.Fatal("want the end of the connection, got nothing")
	}
}

// eof wants an orderly end of the stream.
func (p *peer) eof() {
	p.t.Helper()
	if v, err := p.r.Read(); err != io.EOF {
		p.t.Fatalf("want EOF, got %.200s and %v", v, err)
	}
}

func (p *peer) closeWrite() {
	p.t.Helper()
	if err := p.Conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		p.t.Fatal(err)
	}
}

// reset closes the connection with RST.
func (p *peer) reset() {
	if c, ok := p.Conn.(*net.TCPConn); ok {
		_ = c.SetLinger(0)
	}
	_ = p.Close()
}

func (p *peer) id() int64 {
	p.t.Helper()
	return p.do("CLIENT", "ID").Int()
}

// script is a pipeline with the replies it should have.
type script struct {
	bytes   []byte
	replies []string // as resp.Value prints them; one that ends in * is a beginning
}

func (s *script) add(reply string, words ...string) {
	s.bytes = resp.AppendCommand(s.bytes, words...)
	s.replies = append(s.replies, reply)
}

func (s *script) raw(reply, text string) {
	s.bytes = append(s.bytes, text...)
	if reply != "" {
		s.replies = append(s.replies, reply)
	}
}

// expect reads all replies of a script.
func (p *peer) expect(s *script) {
	p.t.Helper()
	for i, want := range s.replies {
		v, err := p.r.Read()
		if err != nil {
			p.t.Fatalf("reply %d of %d, %.60q: %v", i, len(s.replies), want, err)
		}
		if !fits(want, v) {
			p.t.Fatalf("reply %d of %d: want %.200s, got %.200s", i, len(s.replies), want, v)
		}
	}
}

func fits(want string, v resp.Value) bool {
	if text, ok := strings.CutPrefix(want, asItIs); ok {
		return v.Kind == '$' && string(v.Text) == text
	}
	got := v.String()
	if head, ok := strings.CutSuffix(want, "*"); ok && head != "" {
		return strings.HasPrefix(got, head)
	}
	return got == want
}

// asItIs begins a wanted string of many bytes, which would take long to quote.
const asItIs = "\x00"

func bulk(s string) string { return "$" + strconv.QuoteToASCII(s) }

// child is the test binary as a server: it prints its address and ends when its input does.
func child(mode string) {
	t := &childTB{}
	var o Options
	if loops, err := strconv.Atoi(mode); err == nil {
		o.Loops = loops
	}
	var settings []string
	if s := os.Getenv(childEnv + "_SET"); s != "" {
		settings = strings.Fields(s)
	}
	r := newRig(t, o, settings...)
	if err := r.server.Start(); err != nil {
		t.Fatal(err)
	}
	if n, err := strconv.ParseUint(os.Getenv(childEnv+"_FILES"), 10, 64); err == nil {
		limit := syscall.Rlimit{Cur: n, Max: n}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Println(r.server.Addrs()[0])
	_, _ = io.Copy(io.Discard, os.Stdin)
	r.stop()
}

// childTB is as much of a test as a rig needs.
type childTB struct{ testing.TB }

func (*childTB) Helper()                     {}
func (*childTB) Cleanup(func())              {}
func (*childTB) Log(a ...any)                { fmt.Fprintln(os.Stderr, a...) }
func (c *childTB) Fatal(a ...any)            { c.Log(a...); os.Exit(1) }
func (c *childTB) Errorf(f string, a ...any) { c.Fatal(fmt.Sprintf(f, a...)) }

// process is a server in a process of its own.
type process struct {
	cmd  *exec.Cmd
	addr string
}

// spawn starts a child. When the test ends it must have ended well.
func spawn(t testing.TB, loops int, env ...string) *process {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, _ = filepath.Abs(program)
	p := &process{cmd: exec.Command(program)}
	p.cmd.Env = append(append(os.Environ(), childEnv+"="+strconv.Itoa(loops)), env...)
	var errs bytes.Buffer
	p.cmd.Stderr = &errs
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		kill := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() })
		defer kill.Stop()
		if err := p.cmd.Wait(); err != nil {
			t.Errorf("the server's process: %v\n%s", err, errs.String())
		}
	})
	text, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the server's process does not start: %v\n%s", err, errs.String())
	}
	p.addr = strings.TrimSpace(text)
	return p
}

// cpu is the time that the process has used so far.
func (p *process) cpu(t testing.TB) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		t.Skip("there is no /proc here")
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	const ticks = 100 // a second: USER_HZ
	return time.Duration(user+system) * time.Second / ticks
}
