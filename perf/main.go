package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// scenario is one question to the servers.
type scenario struct {
	name  string
	flags func(*flag.FlagSet) // declares the flags of its own
	run   func(ctx context.Context, r *report, servers []*server) error
}

func scenarios() []*scenario {
	return []*scenario{
		stallScenario(), memoryScenario(), idleScenario(), connectionsScenario(), commandsScenario(),
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "perf:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	all := scenarios()
	if len(args) == 0 {
		return usage(all)
	}
	i := slices.IndexFunc(all, func(s *scenario) bool { return s.name == args[0] })
	if i < 0 {
		return usage(all)
	}
	fs := flag.NewFlagSet(args[0], flag.ContinueOnError)
	dir := fs.String("out", filepath.Join("perf", "results"), "folder for the results; empty: none")
	name := fs.String("name", args[0], "name of the files of results")
	note := fs.String("note", "", "what else ran on the machine, for the header")
	all[i].flags(fs)
	if err := fs.Parse(args[1:]); err != nil {
		return err
	}
	servers, err := parseServers(fs.Args())
	if err != nil {
		return err
	}
	defer func() {
		for _, s := range servers {
			s.stop()
		}
	}()
	r := newReport(out, args, *note)
	if err := all[i].run(ctx, r, servers); err != nil {
		return err
	}
	if *dir == "" {
		return nil
	}
	return r.save(*dir, *name, servers)
}

func usage(all []*scenario) error {
	var names []string
	for _, s := range all {
		names = append(names, s.name)
	}
	return fmt.Errorf("usage: perf %s [flags] NAME='command with {port}', one or more",
		strings.Join(names, "|"))
}

// parseServers reads NAME=COMMAND; the servers are not started yet.
func parseServers(args []string) ([]*server, error) {
	var servers []*server
	for _, a := range args {
		name, command, ok := strings.Cut(a, "=")
		if !ok || name == "" || strings.HasPrefix(name, "-") {
			return nil, fmt.Errorf("not NAME='command with {port}': %q", a)
		}
		words, err := splitCommand(command)
		if err != nil {
			return nil, fmt.Errorf("command of %s: %w", name, err)
		}
		servers = append(servers, &server{name: name, command: words})
	}
	if len(servers) == 0 {
		return nil, fmt.Errorf("no server: give NAME='command with {port}'")
	}
	return servers, nil
}

// splitCommand splits into words as a shell does, with both kinds of quotes and nothing more.
func splitCommand(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord, quote := false, rune(0)
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '"' || c == '\'':
			quote, inWord = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		default:
			word.WriteRune(c)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("unclosed quote in %q", line)
	}
	if inWord {
		words = append(words, word.String())
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("empty command")
	}
	return words, nil
}

// rounds calls f for each server in turn, each round starting with another one, so that no server
// always runs first.
func rounds(n int, servers []*server, f func(round int, s *server) error) error {
	for r := range n {
		for i := range servers {
			if err := f(r, servers[(i+r)%len(servers)]); err != nil {
				return err
			}
		}
	}
	return nil
}
