package commands

import (
	"regexp"
	"strings"
	"testing"
)

// wantReplies runs lines on a bench; a line that ends in " ..." wants only the reply's beginning.
func wantReplies(t *testing.T, b *bench, lines [][2]string) {
	t.Helper()
	for _, l := range lines {
		got := strings.TrimSuffix(b.run(unquote(l[0])...), "\r\n")
		want, partly := strings.CutSuffix(l[1], "...")
		if got != want && (!partly || !strings.HasPrefix(got, want)) {
			t.Errorf("%s: want %q, got %q", l[0], l[1], got)
		}
	}
}

func (b *bench) setPassword(p string) { b.server.Config.Password.Store(&p) }

// another adds a client to the bench.
func (b *bench) another() *Session {
	s := &Session{
		ID: int64(len(b.clients) + 1), Created: b.now, LocalAddr: "127.0.0.1:6379",
		Addr: "127.0.0.1:100" + string(rune('1'+len(b.clients))),
	}
	s.Begin(b.server)
	b.clients = append(b.clients, s)
	return s
}

func TestStrangersAreToldOnlyWhatIsNoCommand(t *testing.T) {
	b := newBench(t, 1)
	b.setPassword("secret")
	b.conn.Begin(b.server)
	const noAuth = "-NOAUTH Authentication required."
	wantReplies(t, b, [][2]string{
		{"ping", noAuth},
		{"get", "-ERR wrong number of arguments for 'get' command"},
		{"nosuch", "-ERR unknown command 'nosuch', with args beginning with: "},
		{"client nosuch", "-ERR unknown subcommand 'nosuch'. Try CLIENT HELP."},
		{"client", "-ERR wrong number of arguments for 'client' command"},
		{"command", noAuth},
		{"hello", "-NOAUTH HELLO must be called..."},
		{"hello 4", "-NOPROTO unsupported protocol version"},
		{"auth wrong", string("-" + errWrongPass)},
		{"auth nobody secret", string("-" + errWrongPass)},
		{"reset", "+RESET"},
		{"get a", noAuth},
		{"auth secret", "+OK"},
		{"get a", "$-1"},
		{"auth wrong", string("-" + errWrongPass)},
		{"get a", "$-1"},
		{"reset", "+RESET"},
		{"get a", noAuth},
		{"hello 3 auth default secret setname me", "%7..."},
		{"client getname", "$2\r\nme"},
		{"reset", "+RESET"},
	})
	b.setPassword("")
	wantReplies(t, b, [][2]string{
		{"get a", "$-1"},
		{"auth x", string("-" + errNoPassword)},
		{"auth default x", "+OK"},
	})
}

func TestProtectedCommandsNeedAPermit(t *testing.T) {
	b := newBench(t, 1)
	spec := &Spec{Name: "debug", full: "debug", Arity: -2, Flags: ProtectedFlag}
	argv := [][]byte{[]byte("debug"), []byte("sleep")}
	for _, c := range []struct {
		permit int32
		addr   string
		want   error
	}{
		{PermitNo, "127.0.0.1:1", errProtected("debug")},
		{PermitLocal, "127.0.0.1:1", nil},
		{PermitLocal, "[::1]:1", nil},
		{PermitLocal, "10.0.0.1:1", errProtected("debug")},
		{PermitYes, "10.0.0.1:1", nil},
	} {
		b.server.Config.DebugCommand.Store(c.permit)
		b.conn.Addr = c.addr
		if got := Check(spec, b.conn, argv); got != c.want {
			t.Errorf("permit %d from %s: want %v, got %v", c.permit, c.addr, c.want, got)
		}
	}
}

func TestResetMakesAsGoodAsNew(t *testing.T) {
	b := newBench(t, 1)
	wantReplies(t, b, [][2]string{
		{"select 3", "+OK"},
		{"client setinfo lib-name lib", "+OK"},
		{"client no-evict on", "+OK"},
		{"hello 3 setname me", "%7..."},
		{"reset", "+RESET"},
		{"get a", "$-1"},
		{"client getname", "$-1"},
	})
	s := b.conn.Shown.Load()
	want := Shown{User: "default", Authenticated: true, LibName: "lib"}
	if *s != want {
		t.Errorf("want %+v, got %+v", want, *s)
	}
}

func TestQuitCloses(t *testing.T) {
	b := newBench(t, 1)
	wantReplies(t, b, [][2]string{{"quit x", "+OK"}})
	if !b.conn.Closing {
		t.Error("the client is not closing")
	}
}

// TestClientLine follows https://redis.io/docs/latest/commands/client-list.
func TestClientLine(t *testing.T) {
	b := newBench(t, 1)
	b.now += 5e9
	wantReplies(t, b, [][2]string{
		{"select 2", "+OK"}, {"client setname me", "+OK"}, {"client no-touch on", "+OK"},
		{"client setinfo LIB-VER 1.0", "+OK"},
	})
	want := regexp.MustCompile(`^id=1 addr=127\.0\.0\.1:1001 laddr=127\.0\.0\.1:6379 fd=0 name=me ` +
		`age=5 idle=0 flags=T db=2 sub=0 psub=0 ssub=0 multi=-1 watch=0 qbuf=0 qbuf-free=0 ` +
		`argv-mem=10 multi-mem=0 rbs=0 rbp=0 obl=0 oll=0 omem=0 tot-mem=\d+ events=r ` +
		`cmd=client\|info user=default redir=-1 resp=2 lib-name= lib-ver=1\.0 io-thread=0\n$`)
	if got := b.value("client", "info"); !want.Match(got.Text) {
		t.Errorf("want %s, got %s", want, got)
	}
	other := b.another()
	other.LastSpec.Store(Lookup([]byte("get")))
	other.LastActive.Store(b.now - 2e9)
	list := string(b.value("client", "list").Text)
	if !strings.Contains(list, "\nid=2 ") || !strings.Contains(list, " idle=2 flags=N db=0 ") ||
		!strings.Contains(list, " cmd=get ") {
		t.Errorf("want a line of client 2, got %s", list)
	}
	for _, c := range []struct{ line, want string }{
		{"client list id 2 1 2", "212"}, {"client list id 9 2", "2"}, {"client list", "12"},
		{"client list type normal", "12"}, {"client list type replica", ""},
	} {
		got := ""
		for line := range strings.Lines(string(b.value(strings.Fields(c.line)...).Text)) {
			got += line[3:4]
		}
		if got != c.want {
			t.Errorf("%s: want clients %s, got %s", c.line, c.want, got)
		}
	}
}

func TestClientKill(t *testing.T) {
	for _, c := range []struct{ line, want, closed string }{
		{"client kill id 2", ":1", "2"},
		{"client kill id 1", ":0", ""},
		{"client kill id 1 skipme no", ":1", "1"},
		{"client kill type normal", ":2", "23"},
		{"client kill type pubsub", ":0", ""},
		{"client kill user default skipme no", ":3", "123"},
		{"client kill addr 127.0.0.1:1002 id 2", ":1", "2"},
		{"client kill addr 127.0.0.1:1002 id 3", ":0", ""},
		{"client kill laddr 127.0.0.1:6379", ":2", "23"},
		{"client kill maxage 10", ":1", "2"},
		{"client kill maxage 100", ":0", ""},
		{"client kill 127.0.0.1:1003", "+OK", "3"},
		{"client kill 127.0.0.1:1001", "+OK", "1"},
		{"client kill 127.0.0.1:1", "-ERR No such client", ""},
	} {
		b := newBench(t, 1)
		b.another().Created -= 20e9
		b.another()
		wantReplies(t, b, [][2]string{{c.line, c.want}})
		closed := ""
		for _, s := range b.closed {
			closed += string(rune('0' + s.ID))
		}
		if closed != c.closed {
			t.Errorf("%s: want closed %q, got %q", c.line, c.closed, closed)
		}
		if mine := strings.Contains(closed, "1"); mine != b.conn.Closing {
			t.Errorf("%s: Closing is %v", c.line, b.conn.Closing)
		}
	}
}

// connectionLines have the same replies on any fresh server.
var connectionLines = strings.Split(`ping
ping a
ping a b
echo
echo a
echo a b
select
select 1 2
select x
select 16
select -1
select 01
select 2147483648
select 9223372036854775808
select 3
hello 1
hello 4
hello x
hello 3.0
hello 3 foo
hello 3 auth
hello 3 auth default
hello 3 setname
hello 3 setname "a b"
hello 3 setname "a\nb"
hello 3 Auth nobody x
hello 4 foo
hello 3 auth default wrong Foo
hello 9223372036854775808
auth
auth x
auth default x
auth nobody x
auth a b c
client
client nosuch
client nosuch x
client ""
client "a b"
client "a\0b"
client help x
client id x
client getname
client getname x
client setname
client setname a b
client setname "a b"
client setname "a\nb"
client setname "a\0 b"
client getname
client setname ""
client getname
client setname x
client setinfo
client setinfo lib-name
client setinfo Lib-Name "a b"
client setinfo LIB-VER "a b"
client setinfo lib-foo x
client setinfo "" x
client setinfo lib-name x
client setinfo lib-ver ""
client no-evict
client no-evict x
client no-evict on
client no-touch off
client no-touch ""
client kill
client kill x
client kill id x
client kill id 0
client kill id -1
client kill id 9223372036854775808
client kill id 1 addr
client kill type foo
client kill foo bar
client kill user nobody
client kill skipme maybe
client kill maxage x
client kill maxage 0
client kill maxage -1
client kill id 0 foo bar
client kill foo bar id 0
client kill type pubsub
client kill type SLAVE skipme no
client list foo
client list type
client list type foo
client list type ""
client list type normal id
client list type pubsub
client list id
client list id x
client list id -1
client list id 9223372036854775807
client list id 9223372036854775808
client list id 0 x
command foo
command foo bar
command count x
command help x
command info nosuch
command info get|x
command info client|
command info client|nosuch
command info client|id
command info CLIENT|ID Get "client|id|x"
command docs nosuch
command docs get|x
command list x
command list filterby
command list filterby x y
command list filterby module x
command list filterby aclcat nosuch
command list filterby pattern
command list filterby pattern HELLO
command list filterby pattern hel*
command list filterby Pattern client|getn*
command list filterby pattern a b
command getkeys
command getkeys nosuch
command getkeys nosuch a
command getkeys client
command getkeys client nosuch
command getkeys client list
command getkeys ping
command getkeys get
command getkeys get a b
command getkeys Get a
command getkeys mset a 1 b 2
command getkeys mget a b c
command getkeysandflags
command getkeysandflags get
command getkeysandflags GET a
command getkeysandflags mset a 1 b 2
command getkeysandflags ping
command getkeysandflags set a b
command getkeysandflags set a b nx Get
command getkeys set a
command getkeys object encoding a
command getkeysandflags object encoding a
command getkeys object nosuch a
command getkeysandflags rename a b
command getkeysandflags copy a b replace
command getkeysandflags lcs a b
command getkeysandflags memory usage a
command getkeys config get a
nosuch
nosuch a
nosuch "a\0b" c
"no\0such" x
nosuch aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb cccccccccc
nosuch "a\r\nb"
"" a
"\r\n"
reset x
reset
client getname
quit`, "\n")

func TestConnectionIsAsInRedis(t *testing.T) {
	sameAsReference(t, "2", connectionLines)
	sameAsReference(t, "3", connectionLines)
}
