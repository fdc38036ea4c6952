package conformance

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"
)

// Nothing waits longer than this, unless the Player says otherwise.
const (
	timeoutDefault = 5 * time.Second
	soonMax        = 3 * time.Second // how long ~soon and >> try
	pollInterval   = 2 * time.Millisecond
	failuresMax    = 12  // of one transcript; a desynchronised client fails at every step
	shownLines     = 60  // of a reply in a failure
	shownColumns   = 400 // of one line of it
)

// A Player replays transcripts against one server.
type Player struct {
	Addr string // host:port
	// Reference: the server is a real Redis or Valkey, so versions decide what runs.
	Reference bool
	// Record: keep the replies that differ in Outcome.Recorded.
	Record  bool
	Timeout time.Duration // for one step
}

// An Outcome is what a replay found. No failure and nothing skipped is a pass.
type Outcome struct {
	Failures []Failure
	Skipped  string // why, or empty
	Unmet    string // the Need that it was skipped for, or empty
	Recorded string // the rewritten transcript, or empty if nothing changed
}

// A Failure is one step that went otherwise than the transcript says.
type Failure struct {
	Path      string
	Line      int
	Step      string
	Want, Got string // empty if there was an error instead
	Err       error
}

func (f Failure) String() string {
	head := fmt.Sprintf("%s:%d: %s\n", f.Path, f.Line, clip(f.Step))
	if f.Err != nil {
		return head + "  " + f.Err.Error()
	}
	return head + "  want\n" + clip(f.Want) + "\n  got\n" + clip(f.Got)
}

// clip indents a reply, and keeps it to what a person reads.
func clip(s string) string {
	lines := strings.Split(s, "\n")
	if len(lines) > shownLines {
		more := len(lines) - shownLines
		lines = append(lines[:shownLines:shownLines], fmt.Sprintf("... %d more lines", more))
	}
	for i, l := range lines {
		if len(l) > shownColumns {
			l = fmt.Sprintf("%s... %d more bytes", l[:shownColumns], len(l)-shownColumns)
		}
		if len(lines) > 1 || i > 0 || strings.IndexByte("+-:$*%~>_,#(=!|@", l[0]) >= 0 {
			l = "    " + l
		}
		lines[i] = l
	}
	return strings.Join(lines, "\n")
}

// errStop ends a transcript whose later steps could only fail as well.
var errStop = errors.New("the rest of this transcript was not played")

// Play replays one transcript on a flushed server, and leaves no connection behind.
func (p *Player) Play(ctx context.Context, t *Transcript) (Outcome, error) {
	control, err := p.dial(ctx)
	if err != nil {
		return Outcome{}, err
	}
	defer control.close()
	info, err := control.command("INFO", "SERVER")
	if err != nil {
		return Outcome{}, fmt.Errorf("ask for INFO: %w", err)
	}
	if why := p.skip(t, info.Text); why != "" {
		return Outcome{Skipped: why}, nil
	}
	for _, need := range t.Needs {
		met, err := control.meets(need)
		if err != nil {
			return Outcome{}, fmt.Errorf("find out whether there is %s: %w", need, err)
		}
		if !met {
			return Outcome{Skipped: "needs " + need.String(), Unmet: need.String()}, nil
		}
	}
	if got, err := control.command("FLUSHALL"); err != nil || got.Kind != '+' {
		return Outcome{}, fmt.Errorf("flush the server: %s %w", got, err)
	}
	r := replay{Player: p, ctx: ctx, t: t, control: control,
		clients: map[string]*client{}, saved: map[string]string{}, changed: map[int]Reply{}}
	defer r.close()
	for i := range t.Steps {
		if err := ctx.Err(); err != nil {
			return r.out, err
		}
		if err := r.step(i); err != nil || len(r.out.Failures) >= failuresMax {
			break
		}
	}
	if p.Record && len(r.changed) > 0 {
		r.out.Recorded = t.rewrite(r.changed)
	}
	return r.out, nil
}

// groupCommands names one command of each group of types, for `# needs list`.
var groupCommands = map[string]string{
	"list": "lpush", "set": "sadd", "hash": "hset", "zset": "zadd", "stream": "xadd",
}

// skip says why a transcript is not for this version of a real server, if so.
func (p *Player) skip(t *Transcript, info string) string {
	if p.Reference {
		redis, valkey := infoField(info, "redis_version"), infoField(info, "valkey_version")
		switch {
		case valkey != "" && t.Valkey == "":
			return "not for Valkey"
		case valkey != "" && olderThan(valkey, t.Valkey):
			return "since Valkey " + t.Valkey + ", this is " + valkey
		case valkey == "" && t.Valkey != "" && t.Since == "":
			return "only for Valkey"
		case valkey == "" && t.Since != "" && olderThan(redis, t.Since):
			return "since " + t.Since + ", this is " + redis
		}
	}
	return ""
}

// meets asks the server whether it has what a transcript needs.
func (c *client) meets(n Need) (bool, error) {
	switch n.Kind {
	case "directive":
		v, err := c.command("CONFIG", "GET", n.Name)
		return len(v.Elems) > 0, err
	case "info":
		v, err := c.command("INFO", n.Name)
		return strings.HasPrefix(strings.ToLower(v.Text), "# "+n.Name+"\r\n"), err
	case "enforced":
		return c.enforcesMaxMemory()
	}
	v, err := c.command("COMMAND", "INFO", n.Name)
	return len(v.Elems) == 1 && !v.Elems[0].Null, err
}

// enforcesMaxMemory tries: only a server that enforces maxmemory refuses to grow beyond a byte.
func (c *client) enforcesMaxMemory() (bool, error) {
	if _, err := c.command("CONFIG", "SET", "maxmemory", "1"); err != nil {
		return false, err
	}
	got, err := c.exchange(Call, []string{"SET", "conformance:maxmemory", "x"})
	if _, undo := c.command("CONFIG", "SET", "maxmemory", "0"); err == nil {
		err = undo
	}
	return got.Kind == '-' && strings.HasPrefix(got.Text, "OOM "), err
}

func infoField(info, name string) string {
	m := regexp.MustCompile(`(?m)^` + name + `:([^\r\n]*)`).FindStringSubmatch(info)
	if m == nil {
		return ""
	}
	return m[1]
}

// A replay is one transcript under way.
type replay struct {
	*Player
	ctx     context.Context
	t       *Transcript
	control *client
	clients map[string]*client
	saved   map[string]string
	changed map[int]Reply // replies to record, by step
	out     Outcome
}

func (r *replay) close() {
	for _, c := range r.clients {
		c.close()
	}
}

// step plays one step. An error means that playing on has no sense; it is in Failures.
func (r *replay) step(i int) error {
	s := &r.t.Steps[i]
	err := r.do(i, s)
	if err == nil {
		return nil
	}
	r.out.Failures = append(r.out.Failures, Failure{Path: r.t.Path, Line: s.Line, Step: s.Text,
		Err: fmt.Errorf("%w\n  %w", err, errStop)})
	return errStop
}

func (r *replay) do(i int, s *Step) error {
	args := make([]string, len(s.Args))
	for k, a := range s.Args {
		args[k] = a.text
		if a.expand {
			var err error
			if args[k], err = variables(r.variable).expand(a.text, asIs); err != nil {
				return err
			}
		}
	}
	if s.Verb == Wait {
		ms, _ := strconv.Atoi(args[0])
		select {
		case <-time.After(time.Duration(ms) * time.Millisecond):
		case <-r.ctx.Done():
		}
		return nil
	}
	c, err := r.client(s.Conn)
	if err != nil {
		return err
	}
	switch s.Verb {
	case Close:
		c.close()
		delete(r.clients, s.Conn)
		return nil
	case Pipe:
		c.kept = encodeCommand(c.kept, args)
		return nil
	case Send:
		return c.send([]byte(args[0]))
	case SendBlocked:
		return r.sendBlocked(c, args)
	}
	return r.expect(i, s, c, args)
}

// expect sends what the step sends, reads its reply and compares.
func (r *replay) expect(i int, s *Step, c *client, args []string) error {
	got, err := c.exchange(s.Verb, args)
	if err != nil {
		return err
	}
	if s.want == nil {
		if !r.Record {
			r.fail(s, "(nothing recorded)", got)
		}
		return r.recorded(i, got, &Reply{relax: s.relax})
	}
	ok, err := s.want.matches(got, r.variable, r.saved)
	for start := time.Now(); err == nil && !ok && s.Verb == Call && s.want.relaxed("soon"); {
		if time.Since(start) > soonMax {
			break
		}
		time.Sleep(pollInterval)
		if got, err = c.exchange(s.Verb, args); err == nil {
			ok, err = s.want.matches(got, r.variable, r.saved)
		}
	}
	switch {
	case err != nil:
		return err
	case ok:
		return nil
	case r.Record:
		return r.recorded(i, got, s.want)
	default:
		r.fail(s, s.want.String(), got)
	}
	return nil
}

// recorded keeps a reply for the transcript, with the relaxations that were there. They have to
// fit, or the next replay would fail.
func (r *replay) recorded(i int, got Reply, old *Reply) error {
	text := got.String()
	fits := got
	fits.Elems = copyElems(got.Elems)
	fits.keepRelaxations(old)
	r.changed[i] = fits
	ok, err := fits.matches(got, r.variable, r.saved)
	if err == nil && !ok {
		err = fmt.Errorf("the relaxations do not fit the reply\n%s", clip(text))
	}
	return err
}

func copyElems(elems []Reply) []Reply {
	elems = append([]Reply(nil), elems...)
	for i := range elems {
		elems[i].Elems = copyElems(elems[i].Elems)
	}
	return elems
}

func (r *replay) fail(s *Step, want string, got Reply) {
	r.out.Failures = append(r.out.Failures,
		Failure{Path: r.t.Path, Line: s.Line, Step: s.Text, Want: want, Got: got.String()})
}

// sendBlocked sends, and waits until the server has one blocked client more.
func (r *replay) sendBlocked(c *client, args []string) error {
	before, err := r.blocked()
	if err != nil {
		return err
	}
	if err := c.send(encodeCommand(nil, args)); err != nil {
		return err
	}
	for start := time.Now(); time.Since(start) < soonMax; time.Sleep(pollInterval) {
		n, err := r.blocked()
		if err != nil {
			return err
		}
		if n > before {
			return nil
		}
	}
	return fmt.Errorf("INFO's blocked_clients did not rise above %d within %v", before, soonMax)
}

func (r *replay) blocked() (int, error) {
	info, err := r.control.command("INFO", "CLIENTS")
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(infoField(info.Text, "blocked_clients"))
	if err != nil {
		return 0, fmt.Errorf("INFO has no blocked_clients: %w", err)
	}
	return n, nil
}

func (r *replay) client(name string) (*client, error) {
	if c := r.clients[name]; c != nil {
		return c, nil
	}
	c, err := r.dial(r.ctx)
	if err == nil {
		r.clients[name] = c
	}
	return c, err
}

// variable is the value of $(name).
func (r *replay) variable(name string) (string, error) {
	if text, ok := r.saved[name]; ok {
		return text, nil
	}
	base, delta := name, int64(0)
	if i := strings.IndexAny(name, "+-"); i > 0 {
		base = name[:i]
		delta, _ = strconv.ParseInt(name[i:], 10, 64)
	}
	switch base {
	case "now":
		return strconv.FormatInt(time.Now().Unix()+delta, 10), nil
	case "nowms":
		return strconv.FormatInt(time.Now().UnixMilli()+delta, 10), nil
	case "port":
		_, port, err := net.SplitHostPort(r.Addr)
		return port, err
	}
	if conn, what, ok := strings.Cut(name, "."); ok {
		c, err := r.client(conn)
		if err != nil {
			return "", err
		}
		switch what {
		case "addr":
			return c.conn.LocalAddr().String(), nil
		case "id":
			v, err := c.command("CLIENT", "ID")
			return v.Text, err
		}
	}
	names := make([]string, 0, len(r.saved))
	for n := range r.saved {
		names = append(names, n)
	}
	sort.Strings(names)
	return "", fmt.Errorf("no variable $(%s); saved are %v", name, names)
}

// A client is one connection.
type client struct {
	conn    net.Conn
	r       *bufio.Reader
	kept    []byte // @pipe
	timeout time.Duration
}

func (p *Player) dial(ctx context.Context) (*client, error) {
	c := &client{timeout: p.Timeout}
	if c.timeout == 0 {
		c.timeout = timeoutDefault
	}
	d := net.Dialer{Timeout: c.timeout}
	conn, err := d.DialContext(ctx, "tcp", p.Addr)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	c.conn, c.r = conn, bufio.NewReader(conn)
	return c, nil
}

func (c *client) close() { _ = c.conn.Close() }

func (c *client) send(data []byte) error {
	data = append(c.kept, data...)
	c.kept = nil
	if len(data) == 0 {
		return nil
	}
	if err := c.conn.SetDeadline(time.Now().Add(c.timeout)); err != nil {
		return err
	}
	if _, err := c.conn.Write(data); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	return nil
}

// exchange sends what the verb sends, and reads one reply. A server that hangs up has replied,
// too: it may do so before all is sent.
func (c *client) exchange(verb Verb, args []string) (Reply, error) {
	var data []byte
	switch verb {
	case Call:
		data = encodeCommand(nil, args)
	case Raw:
		data = []byte(args[0])
	}
	sendErr := c.send(data)
	if err := c.conn.SetDeadline(time.Now().Add(c.timeout)); err != nil {
		return Reply{}, err
	}
	v, err := readReply(c.r, 0)
	var timeout net.Error
	switch {
	case err == nil:
		return v, nil
	case errors.As(err, &timeout) && timeout.Timeout():
		return Reply{}, fmt.Errorf("no reply within %v", c.timeout)
	case errors.Is(err, io.EOF) || sendErr != nil || strings.Contains(err.Error(), "reset by peer"):
		return Reply{Kind: kindClosed}, nil
	}
	return Reply{}, fmt.Errorf("read the reply: %w", err)
}

// command is the player's own question, on the control connection or for a variable.
func (c *client) command(args ...string) (Reply, error) {
	v, err := c.exchange(Call, args)
	switch {
	case err != nil:
		return v, err
	case v.Kind == kindClosed:
		return v, errors.New("the server closed the connection")
	case v.Kind == '-':
		return v, errors.New(v.Text)
	}
	return v, nil
}
