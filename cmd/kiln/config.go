package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"kiln/commands"
	"kiln/wire/resp"
)

// Bounds of configuration files: a file that includes itself has to end somewhere.
const (
	includeDepthMax = 16
	includeFilesMax = 1000
	configBytesMax  = 16 << 20
)

// setup is what the configuration file and the command line ask for.
type setup struct {
	config *commands.Config
	file   string // the configuration file's absolute path; empty if there is none
	listen []listenAddr
	show   string // --help or --version: to be printed, instead of a start
}

// listenAddr is an address to listen on.
type listenAddr struct {
	network  string // tcp, tcp4, tcp6, unix
	address  string
	optional bool // may fail: "-::1" on a machine without IPv6
}

// url is the address in one word.
func (a listenAddr) url() string { return a.network + "://" + a.address }

// configure reads `kiln [redis.conf] [--directive value ...] [-]`, in Redis's ways: the command
// line counts as lines after the file's, and - stands for standard input in between. Like Redis it
// changes the working directory at once where it is told to, so later relative paths are from
// there. An error is to be printed as it is.
func configure(args []string, stdin io.Reader) (*setup, error) {
	if len(args) > 0 {
		switch args[0] {
		case "-v", "--version":
			return &setup{show: version()}, nil
		case "-h", "--help":
			return &setup{show: help()}, nil
		}
	}
	s := &setup{config: commands.NewConfig()}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		path, err := filepath.Abs(args[0])
		if err != nil {
			return nil, fmt.Errorf("find the working directory: %w", err)
		}
		s.file, args = path, args[1:]
	}
	l := loader{config: s.config}
	if s.file != "" {
		if err := l.file(s.file, 0); err != nil {
			return nil, err
		}
	}
	options, fromStdin := commandLine(args)
	if fromStdin {
		if err := l.read(stdin, "standard input", 0); err != nil {
			return nil, err
		}
	}
	if err := l.text(options, "", 0); err != nil {
		return nil, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the working directory: %w", err)
	}
	if err := s.config.Set("dir", []string{dir}); err != nil {
		return nil, err
	}
	if s.listen = addresses(s.config); len(s.listen) == 0 {
		return nil, refusal("Configured to not listen anywhere, exiting.")
	}
	return s, nil
}

// commandLine makes lines of a configuration file from arguments: each --name begins one, and its
// values are quoted, so that they stay whole. An option that has had no value yet takes the next
// argument for one, even if it looks like an option: --requirepass --secret. Only --save may stand
// alone, since scripts that have nothing to save write that.
func commandLine(args []string) (lines string, fromStdin bool) {
	var b strings.Builder
	hasValue := true
	for i, arg := range args {
		switch {
		case arg == "-" && (i == 0 || i == len(args)-1):
			fromStdin = true
		case hasValue && strings.HasPrefix(arg, "--"):
			b.WriteString("\n" + arg[2:] + " ")
			words, _ := splitWords(arg)
			hasValue = len(words) != 1 // "--port 7000" in one argument
			last := i == len(args)-1
			if !hasValue && strings.EqualFold(arg, "--save") &&
				(last || strings.HasPrefix(args[i+1], "--")) {
				b.WriteString(`""`)
				hasValue = true
			}
		default:
			b.WriteString(quote(arg) + " ")
			hasValue = true
		}
	}
	return strings.TrimPrefix(b.String(), "\n"), fromStdin
}

// quote writes a word so that splitWords gives it back, as sdscatrepr does.
func quote(word string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(word) {
		switch c := word[i]; c {
		case '\\', '"':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		case '\a':
			b.WriteString(`\a`)
		case '\b':
			b.WriteString(`\b`)
		default:
			if c < ' ' || c > '~' {
				fmt.Fprintf(&b, `\x%02x`, c)
			} else {
				b.WriteByte(c)
			}
		}
	}
	b.WriteByte('"')
	return b.String()
}

// splitWords cuts a line at spaces, but for those between quotes. An inline command has the same
// rules, so its decoder does it. ok is false where quotes do not pair.
func splitWords(line string) (words []string, ok bool) {
	if strings.HasPrefix(line, "*") {
		return strings.Fields(line), true // not the head of a multibulk command
	}
	var d resp.Decoder
	limits := resp.Limits{BulkMax: math.MaxInt64, ArgsMax: math.MaxInt32, InlineMax: math.MaxInt32}
	argv, _, err := d.Next([]byte(line+"\n"), nil, &limits)
	if err != nil {
		return nil, false
	}
	for _, w := range argv {
		words = append(words, string(w))
	}
	return words, true
}

// loader reads configuration files into a configuration.
type loader struct {
	config *commands.Config
	files  int
}

// fault is what is wrong with a line. It reads as Redis's does, and has the file in addition.
type fault struct {
	source string // a path, or what there is instead; empty for the command line
	number int
	line   string
	why    string
}

func (f *fault) Error() string {
	where := "Reading the command line"
	if f.source != "" {
		where = fmt.Sprintf("Reading the configuration file %s, at line %d", f.source, f.number)
	}
	return fmt.Sprintf("\n*** FATAL CONFIG FILE ERROR (Kiln %s) ***\n%s\n>>> '%s'\n%s",
		commands.KilnVersion, where, f.line, f.why)
}

// refusal is why the server does not start, in Redis's words.
type refusal string

func (r refusal) Error() string { return string(r) }

func (l *loader) file(path string, depth int) error {
	f, err := os.Open(path)
	if err != nil {
		return refusal("Fatal error, can't open config file '" + path + "': " + reason(err))
	}
	defer func() { _ = f.Close() }()
	return l.read(f, path, depth)
}

func (l *loader) read(r io.Reader, source string, depth int) error {
	if l.files++; l.files > includeFilesMax || depth > includeDepthMax {
		return &fault{source: source, number: 1, why: "Too many nested or included files"}
	}
	text, err := io.ReadAll(io.LimitReader(r, configBytesMax+1))
	if err != nil {
		return refusal("Fatal error, can't read config file '" + source + "': " + reason(err))
	}
	if len(text) > configBytesMax {
		return &fault{source: source, number: 1, why: "The file is too large"}
	}
	return l.text(string(text), source, depth)
}

// reason is what the operating system says, as C spells it.
func reason(err error) string {
	var number syscall.Errno
	if !errors.As(err, &number) {
		return err.Error()
	}
	text := number.Error()
	return strings.ToUpper(text[:1]) + text[1:]
}

func (l *loader) text(text, source string, depth int) error {
	number := 0
	for line := range strings.SplitSeq(text, "\n") {
		number++
		line = strings.Trim(line, " \t\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		words, ok := splitWords(line)
		if !ok {
			return &fault{source, number, line, "Unbalanced quotes in configuration line"}
		}
		if len(words) == 0 {
			continue
		}
		name := strings.ToLower(words[0])
		if name == "include" && len(words) == 2 {
			if err := l.include(words[1], depth); err != nil {
				return err
			}
			continue
		}
		err := l.config.Set(name, words[1:])
		if err == nil && name == "dir" {
			err = os.Chdir(words[1])
		}
		if err != nil {
			return &fault{source, number, line, reason(err)}
		}
	}
	return nil
}

// include reads the files that a pattern matches, in order. A name without wildcards has to be
// there; a pattern may match none.
func (l *loader) include(pattern string, depth int) error {
	if !strings.ContainsAny(pattern, "*?[") {
		return l.file(pattern, depth+1)
	}
	paths, err := filepath.Glob(pattern)
	if err != nil {
		return refusal("Fatal error, can't read include pattern '" + pattern + "': " + err.Error())
	}
	for _, path := range paths {
		if err := l.file(path, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// addresses are where a configuration says to listen.
func addresses(c *commands.Config) (out []listenAddr) {
	port := strconv.Itoa(c.Port)
	for _, host := range c.Bind {
		if c.Port == 0 {
			break
		}
		host, optional := strings.CutPrefix(host, "-")
		a := listenAddr{network: "tcp", optional: optional}
		switch ip := net.ParseIP(host); {
		case host == "*":
			a.network, host = "tcp4", "0.0.0.0"
		case host == "::*":
			a.network, host = "tcp6", "::"
		case ip != nil && ip.To4() != nil:
			a.network = "tcp4"
		case ip != nil || strings.Contains(host, ":"):
			a.network = "tcp6" // also with a zone: fe80::1%eth0
		}
		a.address = net.JoinHostPort(host, port)
		out = append(out, a)
	}
	if c.UnixSocket != "" {
		out = append(out, listenAddr{network: "unix", address: c.UnixSocket})
	}
	return out
}

func version() string {
	return fmt.Sprintf("Kiln %s (Redis %s compatible) %s %s/%s\n", commands.KilnVersion,
		commands.RedisVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func help() string {
	var b strings.Builder
	b.WriteString(`Usage: kiln [/path/to/redis.conf] [--directive value ...] [-]
       kiln - (read the configuration from standard input)
       kiln -v or --version
       kiln -h or --help

Examples:
       kiln (with the defaults)
       echo 'maxclients 100' | kiln -
       kiln /etc/kiln/6379.conf
       kiln --port 7777 --bind 127.0.0.1 -::1
       kiln /etc/kiln/6379.conf --loglevel verbose

Directives, in a file without the dashes (* may be changed by CONFIG SET):
`)
	for _, d := range commands.Directives() {
		mark := " "
		if d.Live {
			mark = "*"
		}
		fmt.Fprintf(&b, "%s --%s %s\n      %s\n", mark, d.Name, shown(d.Default), d.Note)
	}
	return b.String()
}

// shown is a default as one would write it.
func shown(value string) string {
	if value == "" {
		return `""`
	}
	return value
}
