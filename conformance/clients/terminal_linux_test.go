package clients_test

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is a program that believes to talk to a person.
type terminal struct {
	t    *testing.T
	pty  *os.File
	seen strings.Builder // all it has printed, without the control sequences
	from int             // what of seen is not yet waited for
}

// control matches the sequences that move the cursor and colour the text.
var control = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]|\r|\a")

// openTerminal starts a program with a pseudo-terminal of 120 columns as its terminal.
func openTerminal(t *testing.T, program string, args ...string) *terminal {
	t.Helper()
	pty, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		lack(t, "no pseudo-terminal: %v", err)
	}
	t.Cleanup(func() { _ = pty.Close() })
	var number uint32
	raw, err := pty.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		if failed = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); failed == nil {
			number, failed = unix.IoctlGetUint32(int(fd), unix.TIOCGPTN)
		}
		if failed == nil {
			size := &unix.Winsize{Row: 40, Col: 120}
			failed = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, size)
		}
	})
	if err != nil || failed != nil {
		t.Fatalf("pseudo-terminal: %v, %v", err, failed)
	}
	end, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = end.Close() }()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = end, end, end
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "TERM=xterm")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return &terminal{t: t, pty: pty}
}

// types sends keys; enter is \r.
func (c *terminal) types(keys string) {
	c.t.Helper()
	if _, err := c.pty.WriteString(keys); err != nil {
		c.t.Fatal(err)
	}
}

// awaits reads until text has come, after what was awaited before.
func (c *terminal) awaits(text string) {
	c.t.Helper()
	buf := make([]byte, 4096)
	_ = c.pty.SetReadDeadline(time.Now().Add(replyMax))
	for {
		if i := strings.Index(c.seen.String()[c.from:], text); i >= 0 {
			c.from += i + len(text)
			return
		}
		n, err := c.pty.Read(buf)
		c.seen.WriteString(control.ReplaceAllString(string(buf[:n]), ""))
		if err != nil && n == 0 {
			c.t.Fatalf("want %q, got %q, %v", text, c.seen.String()[c.from:], err)
		}
	}
}

// asks types a line and awaits its answers, the last of which is the next prompt: what is typed
// before the prompt is not yet edited by the program.
func (c *terminal) asks(line string, answers ...string) {
	c.t.Helper()
	c.types(line + "\r")
	c.awaits("\n")
	for _, a := range answers {
		c.awaits(a)
	}
}

// ends reads until the program has closed its terminal.
func (c *terminal) ends() {
	c.t.Helper()
	buf := make([]byte, 4096)
	_ = c.pty.SetReadDeadline(time.Now().Add(replyMax))
	for {
		if _, err := c.pty.Read(buf); err != nil {
			if os.IsTimeout(err) {
				c.t.Error("did not end")
			}
			return // EIO: nobody has the other end
		}
	}
}

// At its start redis-cli asks for COMMAND DOCS, and makes hints and help of the answer.
func TestRedisCliInteractive(t *testing.T) {
	for _, protocol := range []string{"-2", "-3"} {
		t.Run("resp"+protocol[1:], func(t *testing.T) {
			bin := tool(t, "redis-cli")
			host, port := server(t)
			prompt := host + ":" + port + "> "
			c := openTerminal(t, bin, "-h", host, "-p", port, protocol)
			c.awaits(prompt)
			c.types("GET ")
			c.awaits("GET key") // the hint behind the cursor
			c.asks("nothing", "(nil)", prompt)
			c.asks("SET k 1", "OK", prompt)
			c.asks("INCR k", "(integer) 2", prompt)
			c.asks("help incr", "INCR key", "summary: ", "group: string", prompt)
			c.asks("nosuch", "(error) ERR unknown command 'nosuch'", prompt)
			prompt = host + ":" + port + "[5]> "
			c.asks("select 5", "OK", prompt)
			c.asks("mget a b", "1) (nil)", "2) (nil)", prompt)
			c.types("quit\r")
			c.ends()
		})
	}
}
