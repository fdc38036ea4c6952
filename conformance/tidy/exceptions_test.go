package tidy

import (
	"fmt"
	"strings"
	"testing"
)

// exception lets one thing pass one rule, for a reason. For the rules of length, max is how long
// it is today: it may shrink, and then max shrinks with it, but it may not grow.
type exception struct {
	what   string
	max    int
	reason string
}

// exceptions, by rule. The list only shrinks: what is no longer needed fails the test.
var exceptions = map[string][]exception{
	"purity": {
		{
			what:   "actors/keyspace/arena/depot.go sync",
			reason: "the depot hands pages to the arenas of all partitions, so it is shared",
		},
	},
}

// judge takes the excepted out of the findings and adds the faults of the exceptions themselves.
func judge(found []finding, allowed []exception) []string {
	var problems []string
	used := make(map[string]bool)
	for _, f := range found {
		e, ok := lookup(allowed, f.what)
		used[f.what] = true
		switch {
		case !ok:
			problems = append(problems, f.String())
		case f.size > e.max:
			problems = append(problems, fmt.Sprintf("%s; its exception ends at %d", f, e.max))
		case f.size < e.max:
			problems = append(problems, fmt.Sprintf(
				"%s has shrunk to %d: lower its exception from %d", f.what, f.size, e.max))
		}
	}
	for _, e := range allowed {
		if !used[e.what] {
			problems = append(problems, "exception no longer needed, remove it: "+e.what)
		}
		if len(strings.Fields(e.reason)) < 3 {
			problems = append(problems, "exception without a reason: "+e.what)
		}
	}
	return problems
}

func lookup(list []exception, what string) (exception, bool) {
	for _, e := range list {
		if e.what == what {
			return e, true
		}
	}
	return exception{}, false
}

func TestExceptionsOnlyShrink(t *testing.T) {
	why := "a reason that is long enough"
	check := func(found []finding, allowed []exception, want string) {
		t.Helper()
		got := strings.Join(judge(found, allowed), "\n")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("want %q, got %q", want, got)
		}
	}
	long := []finding{{what: "a.go f", size: 90, text: "too long"}}
	check(long, nil, "too long")
	check(long, []exception{{"a.go f", 90, why}}, "")
	check(long, []exception{{"a.go f", 80, why}}, "ends at 80")
	check(long, []exception{{"a.go f", 95, why}}, "lower its exception")
	check(long, []exception{{"a.go f", 90, "because"}}, "without a reason")
	check(nil, []exception{{"a.go f", 90, why}}, "no longer needed")
	check([]finding{{what: "a.go", text: "imports sync"}}, []exception{{"a.go", 0, why}}, "")
}
