package conformance

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	batchMax   = 40  // lines in one write,
	strangers  = 5   // once a password is set: Redis closes a stranger that has too many replies
	roundLines = 400 // after which both servers are compared as a whole, and flushed
	pairConns  = 3
	lapseEvery = 40 // batches
	lapseWait  = 8 * time.Millisecond
	inlineOne  = 16 // of so many lines is sent as people type them
	relatedMax = 8  // earlier lines in a report
)

// Stand-ins for what is not the same on two servers.
const (
	myID      = "<my id>"
	otherID   = "<other id>"
	otherAddr = "<other address>"
)

// A Pair is two servers side by side: what one is told, the other is told, and the replies have to
// be alike.
type Pair struct {
	Want, Got string // addresses
	Proto     string // "2" or "3"
	Report    func(Difference)

	sides  [2]*side
	r      *rand.Rand
	kept   []string // a line for the next batch
	locked bool     // a password may be set
	lapsed bool     // keys may have expired, and be counted still
	looked bool     // SCAN has looked at types, which counts hits: of how many keys, is its own affair
	played []string // of this round, as they are printed
	Lines  int      // played so far
}

// A Difference is one line that was not replied alike, and what went before it.
type Difference struct {
	Line      string
	Want, Got string
	Before    []string // earlier lines of the round that have a word in common
}

func (d Difference) String() string {
	return "  " + strings.Join(d.Before, "\n  ") + "\n> " + d.Line +
		"\n  want\n" + clip(d.Want) + "\n  got\n" + clip(d.Got)
}

// side is the connections to one server.
type side struct {
	player  Player
	control *client
	conns   [pairConns]*client
	ids     [pairConns]string
}

// Play plays lines of a stream until n are played.
func (p *Pair) Play(ctx context.Context, s *Stream, n int) error {
	p.r = rand.New(rand.NewPCG(s.r.Uint64(), 1))
	p.sides = [2]*side{{player: Player{Addr: p.Want}}, {player: Player{Addr: p.Got}}}
	defer p.close()
	for p.Lines < n {
		if err := p.begin(ctx); err != nil {
			return err
		}
		for played := 0; played < roundLines; {
			if err := ctx.Err(); err != nil {
				return err
			}
			batch := p.batch(s)
			played += len(batch)
			same, err := p.exchange(ctx, p.r.IntN(pairConns), batch)
			if err != nil {
				return err
			}
			if !same {
				break
			}
			if p.r.IntN(lapseEvery) == 0 {
				if same, err = p.lapse(ctx, s); err != nil || !same {
					break
				}
			}
		}
		if err := p.compareAll(ctx); err != nil {
			return err
		}
	}
	return nil
}

// lapse lets a key expire. Commands after it find it gone, but the servers may count it still.
func (p *Pair) lapse(ctx context.Context, s *Stream) (same bool, err error) {
	p.lapsed = true
	line := s.make([]string{
		"SET key val PX 2", "PSETEX key 1 val", "PEXPIRE key 1", "GETEX key PX 2", "SET key val EXAT 1",
	}[p.r.IntN(5)])
	same, err = p.exchange(ctx, p.r.IntN(pairConns), [][]string{line})
	select {
	case <-time.After(lapseWait):
	case <-ctx.Done():
	}
	return same, err
}

func (p *Pair) close() {
	for _, s := range p.sides {
		s.close()
	}
}

func (s *side) close() {
	if s.control != nil {
		s.control.close()
	}
	for i, c := range s.conns {
		if c != nil {
			c.close()
		}
		s.conns[i] = nil
	}
}

// begin makes both servers as they were at the start.
func (p *Pair) begin(ctx context.Context) error {
	p.close()
	p.played, p.locked, p.lapsed, p.looked = nil, false, false, false
	for _, s := range p.sides {
		var err error
		if s.control, err = s.player.dial(ctx); err != nil {
			return err
		}
		for _, line := range []string{
			"AUTH pw", "CONFIG SET requirepass", "CONFIG SET maxmemory 0", "CONFIG SET save",
			"CONFIG SET maxmemory-policy noeviction", "DEBUG SET-ACTIVE-EXPIRE 1", "FLUSHALL",
			"CONFIG RESETSTAT",
		} {
			words := strings.Fields(line)
			if len(words) == 3 && words[1] == "SET" {
				words = append(words, "")
			}
			v, err := s.control.exchange(Call, words)
			if err != nil || v.Kind == '-' && words[0] != "AUTH" {
				return fmt.Errorf("%s: %s %w", line, v, err)
			}
		}
	}
	for i := range pairConns {
		if err := p.dial(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// dial opens a connection to each server.
func (p *Pair) dial(ctx context.Context, i int) error {
	for _, s := range p.sides {
		c, err := s.player.dial(ctx)
		if err != nil {
			return err
		}
		s.conns[i] = c
		id, err := c.exchange(Call, []string{"CLIENT", "ID"})
		if err == nil && p.Proto == "3" {
			_, err = c.exchange(Call, []string{"HELLO", "3"})
		}
		if err != nil {
			return err
		}
		s.ids[i] = id.Text
	}
	return nil
}

// batch is lines for one write. SCAN ends one, since it may have to go on. AUTH and HELLO have one
// to themselves: Redis does not reply to a wrong password while older replies wait to be sent.
func (p *Pair) batch(s *Stream) [][]string {
	if line := p.kept; line != nil {
		p.kept = nil
		return [][]string{line}
	}
	var lines [][]string
	most := batchMax
	if p.locked {
		most = strangers
	}
	for n := 1 + p.r.IntN(most); n > 0; n-- {
		line := s.Next()
		if strings.EqualFold(line[0], "config") && slices.Contains(line, "requirepass") {
			p.locked = true
			n = 1
		}
		switch strings.ToLower(line[0]) {
		case "auth", "hello":
			if len(lines) > 0 {
				p.kept = line
				return lines
			}
			return append(lines, line)
		case "scan":
			return append(lines, line)
		}
		lines = append(lines, line)
	}
	return lines
}

// exchange sends a batch to both, and compares the replies.
func (p *Pair) exchange(ctx context.Context, conn int, lines [][]string) (same bool, err error) {
	var replies [2][]Reply
	inline := make([]bool, len(lines))
	for i := range inline {
		inline[i] = p.r.IntN(inlineOne) == 0
	}
	for k, s := range p.sides {
		if replies[k], err = s.exchange(conn, lines, inline); err != nil {
			return false, err
		}
	}
	p.Lines += len(lines)
	for i, line := range lines {
		want, got := replies[0][i], replies[1][i]
		if strings.EqualFold(line[0], "scan") {
			p.looked = p.looked || len(line) > 3
			want, got = p.sides[0].scanOn(conn, line, want), p.sides[1].scanOn(conn, line, got)
		}
		p.played = append(p.played, fmt.Sprintf("%d> %s", conn, printLine(line)))
		w := canonical(line, p.sides[0].neutral(conn, line, want))
		g := canonical(line, p.sides[1].neutral(conn, line, got))
		if !nearBoth(line, w, g) && !(p.lapsed && peeks(line)) && w.String() != g.String() {
			p.report(line, w, g)
			return false, nil
		}
		if want.Kind == kindClosed {
			for _, s := range p.sides {
				s.conns[conn].close()
			}
			return true, p.dial(ctx, conn)
		}
	}
	return true, nil
}

func (p *Pair) report(line []string, want, got Reply) {
	d := Difference{Line: p.played[len(p.played)-1], Want: want.String(), Got: got.String()}
	for i := len(p.played) - 2; i >= 0 && len(d.Before) < relatedMax; i-- {
		for _, w := range line[min(1, len(line)-1):] {
			if w := printLine([]string{w}); strings.Contains(p.played[i]+" ", " "+w+" ") {
				d.Before = append(d.Before, p.played[i])
				break
			}
		}
	}
	slices.Reverse(d.Before)
	p.Report(d)
}

// printLine prints words as transcripts have them.
func printLine(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w
		if w == "" || !plain(w) || strings.ContainsAny(w, " \"") {
			out[i] = quote(w)
		}
	}
	return strings.Join(out, " ")
}

// exchange sends lines and reads their replies. A server that has hung up replies so to all.
func (s *side) exchange(conn int, lines [][]string, inline []bool) ([]Reply, error) {
	var data []byte
	for k, line := range lines {
		words := slices.Clone(line)
		for i, w := range words {
			words[i] = s.own(conn, w)
		}
		if inline[k] {
			data = encodeInline(data, words)
		} else {
			data = encodeCommand(data, words)
		}
	}
	c := s.conns[conn]
	replies := make([]Reply, len(lines))
	// What a server does not read, since it has hung up, is not our affair.
	_ = c.send(data)
	for i := range replies {
		v, err := c.exchange(Read, nil)
		if err != nil {
			var batch []string
			for _, line := range lines {
				batch = append(batch, printLine(line))
			}
			return nil, fmt.Errorf("%s: reply %d to\n  %s\n%w", s.player.Addr, i+1,
				strings.Join(batch, "\n  "), err)
		}
		replies[i] = v
	}
	return replies, nil
}

// encodeInline is a command as people type it.
func encodeInline(dst []byte, words []string) []byte {
	for i, w := range words {
		if i > 0 {
			dst = append(dst, ' ')
		}
		if plain(w) && !strings.ContainsAny(w, "*\"'\\ ") {
			dst = append(dst, w...)
		} else {
			dst = append(dst, quotePlain(w)...)
		}
	}
	return append(dst, '\n')
}

// own puts in what a stand-in stands for on this server.
func (s *side) own(conn int, w string) string {
	other := (conn + 1) % pairConns
	switch w {
	case myID:
		return s.ids[conn]
	case otherID:
		return s.ids[other]
	case otherAddr:
		return s.conns[other].conn.LocalAddr().String()
	}
	return w
}

// neutral puts the stand-ins back, where an error has repeated its arguments.
func (s *side) neutral(conn int, line []string, v Reply) Reply {
	for _, w := range line {
		own := s.own(conn, w)
		switch {
		case own == w:
		case v.Kind == '-':
			v.Text = strings.ReplaceAll(v.Text, own, w)
		case v.Text == own:
			v.Text = w
		}
	}
	return v
}

// scanOn follows the cursor, which has a format of its own on each server, to its end.
func (s *side) scanOn(conn int, line []string, first Reply) Reply {
	if len(first.Elems) != 2 || line[1] != "0" {
		return first
	}
	all := first
	for v := first; len(v.Elems) == 2 && v.Elems[0].Text != "0"; {
		next := slices.Clone(line)
		next[1] = v.Elems[0].Text
		var err error
		if v, err = s.conns[conn].exchange(Call, next); err != nil || len(v.Elems) != 2 {
			return first
		}
		all.Elems[1].Elems = append(all.Elems[1].Elems, v.Elems[1].Elems...)
	}
	all.Elems[0].Text = "0"
	return all
}

// lapsing are the counters that depend on who finds an expired key first.
var lapsing = []string{"expired_keys", "keyspace_misses", "keyspace_hits", "total_error_replies"}

// peeks tells of commands that count keys, or look at them as they are: an expired key may be
// there, or not.
func peeks(line []string) bool {
	name := strings.ToLower(line[0])
	return slices.Contains([]string{"dbsize", "info", "debug", "memory"}, name)
}

// compareAll compares the data, and the counters that follow from what was done.
func (p *Pair) compareAll(ctx context.Context) error {
	var texts [2][]string
	for k, s := range p.sides {
		var err error
		if texts[k], err = s.all(ctx); err != nil {
			return err
		}
	}
	for i := range max(len(texts[0]), len(texts[1])) {
		var want, got string
		if i < len(texts[0]) {
			want = texts[0][i]
		}
		if i < len(texts[1]) {
			got = texts[1][i]
		}
		name, _, _ := strings.Cut(want, " ")
		unsure := p.looked && name == "keyspace_hits" || p.lapsed && slices.Contains(lapsing, name)
		if want != got && !unsure {
			p.played = append(p.played, "the data and counters after the round")
			p.report(strings.Fields(want+" "+got), Reply{Kind: '+', Text: want}, Reply{Kind: '+', Text: got})
			return nil
		}
	}
	return nil
}

var databaseLine = regexp.MustCompile(`(?m)^db(\d+):`)

// all is everything that a server holds, in lines.
func (s *side) all(ctx context.Context) ([]string, error) {
	c, err := s.player.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer c.close()
	if _, err := c.exchange(Call, []string{"AUTH", "pw"}); err != nil {
		return nil, err
	}
	stats, err := c.command("INFO", "stats")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, f := range []string{
		"keyspace_hits", "keyspace_misses", "expired_keys", "total_error_replies",
	} {
		out = append(out, f+" "+infoField(stats.Text, f))
	}
	space, err := c.command("INFO", "keyspace")
	if err != nil {
		return nil, err
	}
	for _, m := range databaseLine.FindAllStringSubmatch(space.Text, -1) {
		db := m[1]
		if _, err := c.command("SELECT", db); err != nil {
			return nil, err
		}
		keys, err := c.command("KEYS", "*")
		if err != nil {
			return nil, err
		}
		lines, err := c.describe(sorted(keys, 1).Elems)
		if err != nil {
			return nil, err
		}
		for _, line := range lines {
			out = append(out, db+" "+line)
		}
	}
	return out, nil
}

// describe is keys with all that can be known of them.
func (c *client) describe(keys []Reply) ([]string, error) {
	lines := make([]string, len(keys))
	for _, words := range []string{"TYPE", "OBJECT ENCODING", "GET", "EXPIRETIME"} {
		var data []byte
		for _, k := range keys {
			data = encodeCommand(data, append(strings.Fields(words), k.Text))
		}
		if err := c.send(data); err != nil {
			return nil, err
		}
		for i := range keys {
			v, err := c.exchange(Read, nil)
			if err != nil {
				return nil, err
			}
			if words == "EXPIRETIME" && len(v.Text) > 2 {
				v.Text = v.Text[:len(v.Text)-2] + "xx"
			}
			lines[i] += v.String() + " "
		}
	}
	for i, k := range keys {
		lines[i] += printLine([]string{k.Text})
	}
	return lines, nil
}
