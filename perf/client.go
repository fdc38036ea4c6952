package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// replyMax bounds the wait for any reply: a stall longer than that is a failure, not a figure.
const replyMax = 2 * time.Minute

// client is a connection that is cheap to use: it skips replies without building them. (The
// Reader of wire/resp is exact, and allocates for it.)
type client struct {
	conn net.Conn
	in   *bufio.Reader
}

func dial(addr string) (*client, error) {
	conn, err := net.DialTimeout("tcp", addr, startMax)
	if err != nil {
		return nil, err
	}
	return newClient(conn), nil
}

func newClient(conn net.Conn) *client {
	return &client{conn: conn, in: bufio.NewReaderSize(conn, 64<<10)}
}

func (c *client) close() error { return c.conn.Close() }

// send writes bytes that are commands already.
func (c *client) send(b []byte) error {
	_ = c.conn.SetDeadline(time.Now().Add(replyMax))
	_, err := c.conn.Write(b)
	return err
}

// errorReply is what a server answered with a minus.
type errorReply string

func (e errorReply) Error() string { return string(e) }

// short leaves out the arguments that a server repeats.
func (e errorReply) short() string {
	text, _, _ := strings.Cut(string(e), ",")
	return text
}

// skip reads n replies. It reads on after an error reply, and gives the first one.
func (c *client) skip(n int) error {
	var first error
	for range n {
		err := c.skipOne()
		var wrong errorReply
		if err != nil && !errors.As(err, &wrong) {
			return err
		}
		if first == nil {
			first = err
		}
	}
	return first
}

func (c *client) skipOne() error {
	for left := 1; left > 0; left-- {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return fmt.Errorf("read reply: %w", err)
		}
		line = bytes.TrimSuffix(line[:len(line)-1], []byte("\r"))
		if len(line) == 0 {
			return errors.New("read reply: empty line")
		}
		switch line[0] {
		case '-':
			return errorReply(line[1:])
		case '$', '*', '%', '~', '>':
			n, err := strconv.Atoi(string(line[1:]))
			if err != nil {
				return fmt.Errorf("read reply: %w", err)
			}
			switch {
			case n < 0:
			case line[0] == '$':
				if _, err := c.in.Discard(n + 2); err != nil {
					return fmt.Errorf("read reply: %w", err)
				}
			case line[0] == '%':
				left += 2 * n
			default:
				left += n
			}
		}
	}
	return nil
}

// do sends one command and skips its reply.
func (c *client) do(args ...string) error {
	if err := c.send(appendCommand(nil, args...)); err != nil {
		return err
	}
	return c.skip(1)
}

// text sends one command whose reply is a string of some kind, and returns it.
func (c *client) text(args ...string) (string, error) {
	if err := c.send(appendCommand(nil, args...)); err != nil {
		return "", err
	}
	line, err := c.in.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = line[:len(line)-2]
	if line[0] == '-' {
		return "", errorReply(line[1:])
	}
	if line[0] != '$' {
		return line[1:], nil
	}
	n, err := strconv.Atoi(line[1:])
	if err != nil || n < 0 {
		return "", err
	}
	body := make([]byte, n+2)
	_, err = io.ReadFull(c.in, body)
	return string(body[:n]), err
}

// marker ends a reply that is too large to be parsed beside the server.
const marker = "perf-is-at-the-end-of-it"

// doLarge sends a command and reads its reply without looking at it, up to an ECHO behind it, and
// returns how long the reply took. Parsing a million keys would slow down what is measured.
func (c *client) doLarge(command []byte) (time.Duration, error) {
	echo := appendCommand(nil, "ECHO", marker)
	end := fmt.Appendf(nil, "$%d\r\n%s\r\n", len(marker), marker)
	started := time.Now()
	if err := c.send(append(bytes.Clone(command), echo...)); err != nil {
		return 0, err
	}
	buf := make([]byte, 256<<10)
	kept, begin := 0, true
	for {
		n, err := c.conn.Read(buf[kept:])
		if err != nil {
			return 0, err
		}
		all := buf[:kept+n]
		if begin && all[0] == '-' {
			return 0, errorReply(bytes.TrimSpace(all))
		}
		begin = false
		if bytes.HasSuffix(all, end) {
			return time.Since(started), nil
		}
		kept = copy(buf, all[max(0, len(all)-len(end)):])
	}
}

// appendCommand appends a command as clients send it.
func appendCommand(b []byte, args ...string) []byte {
	b = append(b, '*')
	b = strconv.AppendInt(b, int64(len(args)), 10)
	b = append(b, "\r\n"...)
	for _, a := range args {
		b = append(b, '$')
		b = strconv.AppendInt(b, int64(len(a)), 10)
		b = append(b, "\r\n"...)
		b = append(b, a...)
		b = append(b, "\r\n"...)
	}
	return b
}
