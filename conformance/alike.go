package conformance

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// canonical takes out of a reply what Redis leaves open: order, addresses, and what depends on the
// process.
func canonical(line []string, v Reply) Reply {
	name, sub := strings.ToLower(line[0]), ""
	if len(line) > 1 {
		sub = strings.ToLower(line[1])
	}
	if v.Kind == '-' || v.Kind == kindClosed {
		return v
	}
	switch name + " " + sub {
	case "client info", "client list":
		v.Text = clientFields(v.Text, sub == "info")
	case "client id":
		v.Text = ""
	case "config get":
		return sorted(v, 2)
	case "command info":
		return withoutSubs(v)
	case "command list":
		return sorted(v, 1)
	case "memory usage":
		if v.Kind == ':' {
			v.Text = ""
		}
	case "info keyspace":
		v.Text = averageTTL.ReplaceAllString(v.Text, "")
	case "debug object":
		v.Text = ofProcess.ReplaceAllString(v.Text, "$1")
	case "object idletime", "object freq":
		if v.Kind == ':' { // What is left of the clock by another policy, Redis takes for this one's.
			v.Text = ""
		}
	}
	switch name {
	case "info":
		if sub != "keyspace" && sub != "errorstats" || len(line) != 2 {
			v.Text = ""
		}
	case "keys":
		return sorted(v, 1)
	case "scan":
		if len(v.Elems) == 2 && v.Elems[0].Text == "0" && sub == "0" {
			v.Elems[1] = sorted(v.Elems[1], 1)
			v.Elems[1].Elems = slices.CompactFunc(v.Elems[1].Elems, func(a, b Reply) bool {
				return a.Text == b.Text
			})
			return v
		}
		return Reply{Kind: v.Kind}
	case "randomkey":
		v.Text = ""
	case "time":
		return Reply{Kind: v.Kind, Elems: make([]Reply, len(v.Elems))}
	case "hello":
		for i := 0; i+1 < len(v.Elems); i += 2 {
			switch v.Elems[i].Text {
			case "id":
				v.Elems[i+1].Text = ""
			case "modules":
				v.Elems[i+1].Elems = nil
			}
		}
	}
	return v
}

var (
	averageTTL = regexp.MustCompile(`avg_ttl=\d+`)
	ofProcess  = regexp.MustCompile(`(at:0x|lru:|idle:|refcount:)[0-9a-f]+`)
	longValue  = regexp.MustCompile(`serializedlength:([2-9]\d|\d{3,})`)
	length     = regexp.MustCompile(`serializedlength:\d+`)
)

func sorted(v Reply, per int) Reply {
	groups := make([][]Reply, 0, len(v.Elems)/per)
	for i := 0; i+per <= len(v.Elems); i += per {
		groups = append(groups, v.Elems[i:i+per])
	}
	slices.SortFunc(groups, func(a, b []Reply) int { return strings.Compare(a[0].Text, b[0].Text) })
	v.Elems = slices.Concat(groups...)
	return v
}

// withoutSubs leaves the subcommands of COMMAND INFO out: they may be asked for by name.
func withoutSubs(v Reply) Reply {
	v.Elems = slices.Clone(v.Elems)
	for i, e := range v.Elems {
		if len(e.Elems) >= 10 {
			e.Elems = slices.Clone(e.Elems)
			e.Elems[9] = Reply{}
			v.Elems[i] = e
		}
	}
	return v
}

// comparedFields of CLIENT LIST keep their values; of the others, the names have to be there.
var comparedFields = []string{
	"name", "flags", "db", "sub", "psub", "ssub", "multi", "watch", "cmd", "user", "redir", "resp",
	"lib-name", "lib-ver",
}

// clientFields leaves out what the last command of other clients was: a server may remember that it
// was unknown, or the one before.
func clientFields(text string, own bool) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		fields := strings.Split(line, " ")
		for k, f := range fields {
			name, _, ok := strings.Cut(f, "=")
			if ok && (!slices.Contains(comparedFields, name) || name == "cmd" && !own) {
				fields[k] = name + "="
			}
		}
		lines[i] = strings.Join(fields, " ")
	}
	return strings.Join(lines, "\n")
}

// nearBy says how far the numbers of two servers may be apart, which do not look at their clocks
// at the same time.
var nearBy = map[string]int64{
	"ttl": 3, "pttl": 3000, "expiretime": 3, "pexpiretime": 3000,
}

func nearBoth(line []string, want, got Reply) bool {
	name := strings.ToLower(line[0])
	if name == "object" && len(line) > 1 {
		name += " " + strings.ToLower(line[1])
	}
	if name == "debug" && longValue.MatchString(got.Text) { // compressed in RDB, if that is shorter
		return length.ReplaceAllString(want.Text, "") == length.ReplaceAllString(got.Text, "")
	}
	w, errW := strconv.ParseInt(want.Text, 10, 64)
	g, errG := strconv.ParseInt(got.Text, 10, 64)
	return nearBy[name] > 0 && want.Kind == ':' && got.Kind == ':' && errW == nil && errG == nil &&
		w >= 0 && g >= 0 && max(w, g)-min(w, g) <= nearBy[name]
}
