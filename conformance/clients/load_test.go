package clients_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"testing"
	"time"
)

// session is one connection of the load. It knows what its own keys hold, so it knows each reply
// before it is sent.
type session struct {
	name    string
	dice    *rand.Rand
	keys    map[string]string
	request []byte
	reply   []byte // what has to come back, byte for byte
}

// TestPipelinedLoad drives many connections at random pipeline depths, requests cut at random
// places, and checks each reply.
func TestPipelinedLoad(t *testing.T) {
	host, port := server(t)
	const connections, rounds = 60, 60
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	failed := make(chan error, connections)
	for i := range connections {
		s := &session{
			name: fmt.Sprintf("c%d:", i), dice: rand.New(rand.NewPCG(seed, uint64(i))),
			keys: make(map[string]string),
		}
		go func() { failed <- s.play(net.JoinHostPort(host, port), rounds) }()
	}
	for range connections {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
}

func (s *session) play(addr string, rounds int) error {
	c, err := net.DialTimeout("tcp", addr, replyMax)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	for round := range rounds {
		depth := 1 + s.dice.IntN(1<<s.dice.IntN(9)) // 1 to 256, mostly low
		s.request, s.reply = s.request[:0], s.reply[:0]
		for range depth {
			s.command()
		}
		_ = c.SetDeadline(time.Now().Add(replyMax))
		sent := make(chan error, 1)
		go func() { sent <- s.send(c) }()
		got := make([]byte, len(s.reply))
		n, err := io.ReadFull(c, got)
		if sendErr := <-sent; err == nil {
			err = sendErr
		}
		if err != nil || !bytes.Equal(got, s.reply) {
			return fmt.Errorf("%sround %d, depth %d: %w", s.name, round, depth,
				difference(s.reply, got[:n], err))
		}
	}
	return nil
}

// send writes the requests in one to four pieces.
func (s *session) send(c net.Conn) error {
	rest := s.request
	for range s.dice.IntN(4) {
		n := s.dice.IntN(len(rest) + 1)
		if _, err := c.Write(rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	_, err := c.Write(rest)
	return err
}

func difference(want, got []byte, err error) error {
	at := 0
	for at < len(got) && got[at] == want[at] {
		at++
	}
	cut := func(b []byte) []byte { return b[max(0, at-40):min(len(b), at+40)] }
	text := fmt.Sprintf("replies differ at byte %d: want %q, got %q", at, cut(want), cut(got))
	return errors.Join(errors.New(text), err)
}

func (s *session) ask(args ...string) { s.request = appendCommand(s.request, args...) }

func (s *session) status(text string) { s.reply = append(s.reply, "+"+text+"\r\n"...) }
func (s *session) number(n int)       { s.reply = fmt.Appendf(s.reply, ":%d\r\n", n) }

func (s *session) bulk(text string, ok bool) {
	if !ok {
		s.reply = append(s.reply, "$-1\r\n"...)
		return
	}
	s.reply = fmt.Appendf(s.reply, "$%d\r\n%s\r\n", len(text), text)
}

// key is one of the session's twenty, so that most are met again.
func (s *session) key() string { return s.name + strconv.Itoa(s.dice.IntN(20)) }

// value has any bytes, and now and then a lot of them.
func (s *session) value() string {
	n := s.dice.IntN(40)
	if s.dice.IntN(50) == 0 {
		n = s.dice.IntN(20000)
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(s.dice.Uint32())
	}
	return string(b)
}

// command adds one command and its reply.
func (s *session) command() {
	k := s.key()
	old, ok := s.keys[k]
	switch s.dice.IntN(14) {
	case 0, 1, 2:
		s.ask("GET", k)
		s.bulk(old, ok)
	case 3, 4:
		v := s.value()
		s.ask("SET", k, v)
		s.status("OK")
		s.keys[k] = v
	case 5:
		v := s.value()
		s.ask("APPEND", k, v)
		s.keys[k] = old + v
		s.number(len(old) + len(v))
	case 6:
		s.ask("incr", s.name+"n")
		n, _ := strconv.Atoi(s.keys[s.name+"n"])
		s.keys[s.name+"n"] = strconv.Itoa(n + 1)
		s.number(n + 1)
	case 7:
		s.ask("DEL", k)
		delete(s.keys, k)
		s.number(map[bool]int{true: 1}[ok])
	case 8:
		s.ask("STRLEN", k)
		s.number(len(old))
	case 9:
		v := s.value()
		s.ask("PING", v)
		s.bulk(v, true)
	case 10:
		s.ask("NOSUCH")
		s.reply = append(s.reply,
			"-ERR unknown command 'NOSUCH', with args beginning with: \r\n"...)
	case 11:
		s.several()
	case 12:
		v := s.value()
		s.ask("GETSET", k, v)
		s.bulk(old, ok)
		s.keys[k] = v
	case 13:
		v := s.value()
		s.ask("SETNX", k, v)
		s.number(map[bool]int{false: 1}[ok])
		if !ok {
			s.keys[k] = v
		}
	}
}

// several adds an MSET and an MGET, whose keys lie in any partition.
func (s *session) several() {
	args := []string{"MSET"}
	for range 1 + s.dice.IntN(8) {
		k, v := s.key(), s.value()
		args = append(args, k, v)
		s.keys[k] = v
	}
	s.ask(args...)
	s.status("OK")
	keys := []string{s.name + "none"}
	for range 1 + s.dice.IntN(8) {
		keys = append(keys, s.key())
	}
	s.ask(slices.Concat([]string{"MGET"}, keys)...)
	s.reply = fmt.Appendf(s.reply, "*%d\r\n", len(keys))
	for _, k := range keys {
		v, ok := s.keys[k]
		s.bulk(v, ok)
	}
}
