package clients_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// story is what a session with go-redis has at hand.
type story struct {
	t     *testing.T
	ctx   context.Context
	c     *redis.Client
	proto int
	addr  string
}

// TestGoRedis does a session with each protocol, in the parts below.
func TestGoRedis(t *testing.T) {
	parts := map[string]func(*story){
		"strings": (*story).strings, "expiry": (*story).expiry, "pipelines": (*story).pipelines,
		"scan": (*story).scan, "keys": (*story).keys, "client": (*story).client,
		"server": (*story).server, "errors": (*story).errors, "pool": (*story).pool,
	}
	for _, proto := range []int{2, 3} {
		t.Run(fmt.Sprintf("resp%d", proto), func(t *testing.T) {
			host, port := server(t)
			addr := net.JoinHostPort(host, port)
			for _, name := range slices.Sorted(maps.Keys(parts)) {
				t.Run(name, func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), toolMax)
					defer cancel()
					s := &story{t: t, ctx: ctx, proto: proto, addr: addr}
					s.c = s.connect(redis.Options{ClientName: "story"})
					s.want("OK")(s.c.FlushAll(ctx).Result())
					parts[name](s)
				})
			}
		})
	}
}

func (s *story) connect(o redis.Options) *redis.Client {
	o.Addr, o.Protocol = s.addr, s.proto
	c := redis.NewClient(&o)
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

// want gives a check for a result: s.want(1)(c.Incr(ctx, "k").Result()).
func (s *story) want(want any) func(got any, err error) {
	s.t.Helper()
	return func(got any, err error) {
		s.t.Helper()
		if n, ok := want.(int); ok {
			if _, is := got.(int64); is {
				want = int64(n)
			}
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			s.t.Errorf("want %#v, got %#v, %v", want, got, err)
		}
	}
}

// none is a check for a null.
func (s *story) none(got any, err error) {
	s.t.Helper()
	if !errors.Is(err, redis.Nil) {
		s.t.Errorf("want nil, got %#v, %v", got, err)
	}
}

func (s *story) strings() {
	c, ctx := s.c, s.ctx
	binary := "a\r\nb\x00c\xff"
	s.want("OK")(c.Set(ctx, "k", binary, 0).Result())
	s.want(binary)(c.Get(ctx, "k").Result())
	s.none(c.Get(ctx, "none").Result())
	s.want(false)(c.SetNX(ctx, "k", "x", 0).Result())
	s.want(true)(c.SetNX(ctx, "nx", "x", time.Minute).Result())
	s.want(true)(c.SetXX(ctx, "nx", "y", 0).Result())
	s.want("y")(c.SetArgs(ctx, "nx", "z", redis.SetArgs{Get: true, KeepTTL: true}).Result())
	s.want("z")(c.Do(ctx, "GETSET", "nx", "w").Result())
	s.want("w")(c.GetDel(ctx, "nx").Result())
	s.want(3)(c.Append(ctx, "app", "abc").Result())
	s.want(6)(c.Append(ctx, "app", "def").Result())
	s.want("bcd")(c.GetRange(ctx, "app", 1, 3).Result())
	s.want(8)(c.SetRange(ctx, "app", 6, "gh").Result())
	s.want(8)(c.StrLen(ctx, "app").Result())
	s.want(1)(c.Incr(ctx, "n").Result())
	s.want(11)(c.IncrBy(ctx, "n", 10).Result())
	s.want(10)(c.Decr(ctx, "n").Result())
	s.want(-5)(c.DecrBy(ctx, "n", 15).Result())
	s.want(0.5)(c.IncrByFloat(ctx, "n", 5.5).Result())
	s.want("OK")(c.MSet(ctx, "a", "1", "b", "2", "c", "3").Result())
	s.want([]any{"1", nil, "3", "2"})(c.MGet(ctx, "a", "none", "c", "b").Result())
	s.want(false)(c.MSetNX(ctx, "fresh", "1", "a", "9").Result())
	s.none(c.Get(ctx, "fresh").Result())
	s.want(true)(c.MSetNX(ctx, "fresh", "1", "fresher", "9").Result())
	large := strings.Repeat("0123456789", 200_000)
	s.want("OK")(c.Set(ctx, "large", large, 0).Result())
	got, err := c.Get(ctx, "large").Result()
	if err != nil || got != large {
		s.t.Errorf("a value of %d bytes came back with %d, %v", len(large), len(got), err)
	}
}

func (s *story) expiry() {
	c, ctx := s.c, s.ctx
	s.want("OK")(c.Set(ctx, "k", "v", time.Hour).Result())
	s.near(time.Hour)(c.TTL(ctx, "k").Result())
	s.near(time.Hour)(c.PTTL(ctx, "k").Result())
	s.want(true)(c.Persist(ctx, "k").Result())
	s.want(time.Duration(-1))(c.TTL(ctx, "k").Result())
	s.want(time.Duration(-2))(c.TTL(ctx, "none").Result())
	s.want(true)(c.Expire(ctx, "k", 2*time.Hour).Result())
	s.want(false)(c.ExpireNX(ctx, "k", time.Hour).Result())
	s.want(false)(c.ExpireGT(ctx, "k", time.Hour).Result())
	s.want(true)(c.ExpireLT(ctx, "k", time.Hour).Result())
	s.near(time.Hour)(c.TTL(ctx, "k").Result())
	at := time.Now().Add(3 * time.Hour).Truncate(time.Second)
	s.want(true)(c.ExpireAt(ctx, "k", at).Result())
	s.want(time.Duration(at.Unix()) * time.Second)(c.ExpireTime(ctx, "k").Result())
	s.want("v")(c.GetEx(ctx, "k", time.Minute).Result())
	s.near(time.Minute)(c.TTL(ctx, "k").Result())
	s.want("OK")(c.Do(ctx, "SETEX", "ex", 60, "v").Result())
	s.near(time.Minute)(c.TTL(ctx, "ex").Result())
	s.want(true)(c.Expire(ctx, "ex", -time.Second).Result())
	s.none(c.Get(ctx, "ex").Result())

	s.want("OK")(c.Set(ctx, "short", "v", 60*time.Millisecond).Result())
	born := time.Now()
	for {
		err := c.Get(ctx, "short").Err()
		if errors.Is(err, redis.Nil) {
			break
		}
		if err != nil || time.Since(born) > replyMax {
			s.t.Fatalf("a key of 60 ms still there after %v, %v", time.Since(born), err)
		}
	}
	if age := time.Since(born); age < 55*time.Millisecond {
		s.t.Errorf("a key of 60 ms was gone after %v", age)
	}
	s.want(0)(c.Exists(ctx, "short").Result())
}

// near is a check for a time to live that was set a moment ago.
func (s *story) near(want time.Duration) func(time.Duration, error) {
	return func(got time.Duration, err error) {
		s.t.Helper()
		if err != nil || got > want || got < want-toolMax/2 {
			s.t.Errorf("want about %v, got %v, %v", want, got, err)
		}
	}
}

func (s *story) pipelines() {
	c, ctx := s.c, s.ctx
	const n = 1000
	answers, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i := range n {
			p.Set(ctx, fmt.Sprint("k", i), i, 0)
			p.Incr(ctx, "sum")
			p.Get(ctx, fmt.Sprint("k", i))
		}
		return nil
	})
	if err != nil || len(answers) != 3*n {
		s.t.Fatalf("got %d answers, %v", len(answers), err)
	}
	for i := range n {
		s.want(i + 1)(answers[3*i+1].(*redis.IntCmd).Result())
		s.want(fmt.Sprint(i))(answers[3*i+2].(*redis.StringCmd).Result())
	}
	// An error inside hits its own command only.
	var wrong, right *redis.IntCmd
	_, err = c.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.Set(ctx, "word", "abc", 0)
		wrong, right = p.Incr(ctx, "word"), p.Incr(ctx, "sum")
		return nil
	})
	if err == nil || wrong.Err() == nil {
		s.t.Error("INCR of a word passed")
	}
	s.want(n + 1)(right.Result())
}

func (s *story) scan() {
	c, ctx := s.c, s.ctx
	const n = 2500
	_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i := range n {
			p.Set(ctx, fmt.Sprint("user:", i), "x", 0)
			p.Set(ctx, fmt.Sprint("noise:", i), "x", 0)
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	seen := make(map[string]bool)
	it := c.Scan(ctx, 0, "user:*", 100).Iterator()
	for it.Next(ctx) {
		seen[it.Val()] = true
	}
	if it.Err() != nil || len(seen) != n {
		s.t.Errorf("SCAN: want %d keys, got %d, %v", n, len(seen), it.Err())
	}
	it = c.ScanType(ctx, 0, "user:12*", 1000, "string").Iterator()
	matched := 0
	for it.Next(ctx) {
		if matched++; !strings.HasPrefix(it.Val(), "user:12") {
			s.t.Errorf("SCAN MATCH user:12* gave %q", it.Val())
		}
	}
	if it.Err() != nil || matched < 111 {
		s.t.Errorf("SCAN MATCH TYPE: want 111 keys, got %d, %v", matched, it.Err())
	}
	names, err := c.Keys(ctx, "user:1?").Result()
	if err != nil || len(names) != 10 {
		s.t.Errorf("KEYS: want 10, got %q, %v", names, err)
	}
	s.want(2 * n)(c.DBSize(ctx).Result())
}

func (s *story) keys() {
	c, ctx := s.c, s.ctx
	s.want("OK")(c.MSet(ctx, "a", "1", "b", "2", "c", "3").Result())
	s.want(3)(c.Exists(ctx, "a", "b", "none", "a").Result())
	s.want("string")(c.Type(ctx, "a").Result())
	s.want("none")(c.Type(ctx, "none").Result())
	s.want(2)(c.Touch(ctx, "a", "b", "none").Result())
	s.want("OK")(c.Rename(ctx, "a", "z").Result())
	s.want(false)(c.RenameNX(ctx, "z", "b").Result())
	s.want(1)(c.Copy(ctx, "z", "y", 0, false).Result())
	s.want([]any{nil, "1", "1"})(c.MGet(ctx, "a", "z", "y").Result())
	s.want(2)(c.Del(ctx, "z", "y", "none").Result())
	s.want(1)(c.Unlink(ctx, "b").Result())
	s.want("c")(c.RandomKey(ctx).Result())

	other := s.connect(redis.Options{DB: 4})
	s.want(0)(other.DBSize(ctx).Result())
	s.want("OK")(other.Set(ctx, "c", "other", 0).Result())
	s.want("3")(c.Get(ctx, "c").Result())
	s.want("OK")(other.FlushDB(ctx).Result())
	s.want(1)(c.DBSize(ctx).Result())
}

func (s *story) client() {
	c, ctx := s.c, s.ctx
	s.want("PONG")(c.Ping(ctx).Result())
	s.want("hi")(c.Echo(ctx, "hi").Result())
	s.want("story")(c.ClientGetName(ctx).Result())
	id, err := c.ClientID(ctx).Result()
	if err != nil || id <= 0 {
		s.t.Errorf("CLIENT ID: %d, %v", id, err)
	}
	info, err := c.ClientInfo(ctx).Result()
	if err != nil || info.Name != "story" || info.Resp != s.proto || info.LibName == "" {
		s.t.Errorf("CLIENT INFO: %+v, %v", info, err)
	}
	list, err := c.ClientList(ctx).Result()
	if err != nil || !strings.Contains(list, "name=story") {
		s.t.Errorf("CLIENT LIST: %q, %v", list, err)
	}
	hello, err := c.Do(ctx, "HELLO", s.proto).Result()
	if text := fmt.Sprint(hello); err != nil || !strings.Contains(text, "proto") ||
		!strings.Contains(text, "standalone") {
		s.t.Errorf("HELLO: %v, %v", hello, err)
	}
}

func (s *story) server() {
	c, ctx := s.c, s.ctx
	s.want("OK")(c.Set(ctx, "k", "v", 0).Result())
	info, err := c.Info(ctx).Result()
	for _, line := range []string{
		"# Server", "redis_version:", "redis_mode:standalone", "# Clients", "connected_clients:",
		"# Memory", "used_memory:", "maxmemory_policy:noeviction", "# Stats", "# Replication",
		"role:master", "# CPU", "# Keyspace", "db0:keys=1,expires=0",
	} {
		if !strings.Contains(info, line) {
			s.t.Errorf("INFO has no %q (%v):\n%s", line, err, info)
		}
	}
	section, err := c.Info(ctx, "server").Result()
	if err != nil || !strings.Contains(section, "tcp_port:") || strings.Contains(section, "# Mem") {
		s.t.Errorf("INFO server: %q, %v", section, err)
	}
	s.want(map[string]string{"maxmemory": "0"})(c.ConfigGet(ctx, "maxmemory").Result())
	many, err := c.ConfigGet(ctx, "maxmemory*").Result()
	if err != nil || many["maxmemory-policy"] != "noeviction" {
		s.t.Errorf("CONFIG GET maxmemory*: %v, %v", many, err)
	}
	s.want("OK")(c.ConfigSet(ctx, "timeout", "700").Result())
	s.want(map[string]string{"timeout": "700"})(c.ConfigGet(ctx, "timeout").Result())
	s.want("OK")(c.ConfigSet(ctx, "timeout", "0").Result())
	table, err := c.Command(ctx).Result()
	if get := table["get"]; err != nil || get == nil || get.Arity != 2 || !get.ReadOnly ||
		get.FirstKeyPos != 1 {
		s.t.Errorf("COMMAND: get is %+v, %v", get, err)
	}
	now, err := c.Time(ctx).Result()
	if err != nil || time.Since(now).Abs() > time.Minute {
		s.t.Errorf("TIME: %v, %v", now, err)
	}
	s.want("OK")(c.FlushDBAsync(ctx).Result())
	s.want(0)(c.DBSize(ctx).Result())
}

func (s *story) errors() {
	c, ctx := s.c, s.ctx
	fails := func(want string, args ...any) {
		s.t.Helper()
		got, err := c.Do(ctx, args...).Result()
		if err == nil || err.Error() != want {
			s.t.Errorf("%v: want %q, got %v, %v", args, want, got, err)
		}
	}
	s.want("OK")(c.Set(ctx, "word", "abc", 0).Result())
	fails("ERR unknown command 'nosuch', with args beginning with: 'a' 'b' ", "nosuch", "a", "b")
	fails("ERR wrong number of arguments for 'get' command", "get")
	fails("ERR value is not an integer or out of range", "incr", "word")
	fails("ERR value is not a valid float", "incrbyfloat", "word", "1")
	fails("ERR syntax error", "set", "k", "v", "nx", "xx")
	fails("ERR invalid expire time in 'set' command", "set", "k", "v", "ex", "0")
	fails("ERR DB index is out of range", "select", "99999")
	fails("ERR no such key", "rename", "none", "other")
	fails("ERR unknown subcommand 'nosuch'. Try CLIENT HELP.", "client", "nosuch")
	fails("NOPROTO unsupported protocol version", "hello", "9")
	s.want("PONG")(c.Ping(ctx).Result())
}

func (s *story) pool() {
	const workers, each = 20, 200
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for i := range each {
				key := fmt.Sprint("own:", w)
				if err := s.c.Incr(s.ctx, "shared").Err(); err != nil {
					s.t.Error(err)
				}
				if n, err := s.c.Incr(s.ctx, key).Result(); err != nil || n != int64(i+1) {
					s.t.Errorf("INCR %s: want %d, got %d, %v", key, i+1, n, err)
				}
			}
		})
	}
	wait.Wait()
	s.want(fmt.Sprint(workers * each))(s.c.Get(s.ctx, "shared").Result())
}
