package conformance

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"
)

// uncovered are commands that no transcript plays, each with the reason. It only shrinks.
var uncovered = map[string]string{}

// TestCoverage demands a transcript for every command that Kiln says it has.
func TestCoverage(t *testing.T) {
	if *record {
		t.Skip("recording is from the reference")
	}
	servers := newServers(t, kiln(t))
	server, err := servers.get(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	have, err := commandNames(ctx, server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	played := playedCommands(transcripts(t))
	for _, name := range have {
		reason, excused := uncovered[name]
		switch {
		case played[name] && excused:
			t.Errorf("%s is played; take it off the list (%s)", name, reason)
		case !played[name] && !excused:
			t.Errorf("%s is in no transcript, and not in the list of reasons", name)
		}
	}
	for name := range uncovered {
		if !slices.Contains(have, name) {
			t.Errorf("%s is in the list of reasons, but no command of Kiln's", name)
		}
	}
}

// commandNames asks for all commands and subcommands ("config|get"), in lower case. The three
// sources differ only where the server is wrong; then the union shows it.
func commandNames(ctx context.Context, addr string) ([]string, error) {
	p := Player{Addr: addr}
	c, err := p.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer c.close()
	names := map[string]bool{}
	list, err := c.command("COMMAND", "LIST")
	if err != nil {
		return nil, err
	}
	for _, v := range list.Elems {
		names[strings.ToLower(v.Text)] = true
	}
	info, err := c.command("COMMAND", "INFO")
	if err != nil {
		return nil, err
	}
	for _, v := range info.Elems {
		addInfoNames(names, v)
	}
	docs, err := c.command("COMMAND", "DOCS")
	if err != nil {
		return nil, err
	}
	addDocsNames(names, docs)
	all := make([]string, 0, len(names))
	for name := range names {
		all = append(all, name)
	}
	slices.Sort(all)
	return all, nil
}

// addInfoNames takes the name, and the subcommands, which are the tenth element.
func addInfoNames(names map[string]bool, v Reply) {
	if len(v.Elems) == 0 {
		return
	}
	names[strings.ToLower(v.Elems[0].Text)] = true
	if len(v.Elems) >= 10 {
		for _, sub := range v.Elems[9].Elems {
			addInfoNames(names, sub)
		}
	}
}

func addDocsNames(names map[string]bool, docs Reply) {
	for i := 0; i+1 < len(docs.Elems); i += 2 {
		names[strings.ToLower(docs.Elems[i].Text)] = true
		fields := docs.Elems[i+1].Elems
		for k := 0; k+1 < len(fields); k += 2 {
			if fields[k].Text == "subcommands" {
				addDocsNames(names, fields[k+1])
			}
		}
	}
}

// playedCommands has each name that a step calls, and "name|sub" for each first argument.
func playedCommands(all []*Transcript) map[string]bool {
	played := map[string]bool{}
	for _, script := range all {
		for i := range script.Steps {
			name, sub := script.Steps[i].Command()
			played[name] = true
			played[name+"|"+sub] = true
		}
	}
	return played
}
