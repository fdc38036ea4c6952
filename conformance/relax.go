package conformance

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// A relaxation is a `~word argument` line. Each is a small defeat: use the narrowest.
type relaxation struct {
	word string
	arg  string
}

func (r relaxation) String() string {
	if r.arg == "" {
		return "~" + r.word
	}
	return "~" + r.word + " " + r.arg
}

func parseRelaxation(line string) (relaxation, error) {
	word, arg, _ := strings.Cut(line[1:], " ")
	r := relaxation{word, arg}
	switch word {
	case "unordered", "pairs", "contains", "any", "soon":
		if arg != "" {
			return r, fmt.Errorf("~%s takes no argument", word)
		}
	case "near":
		if _, err := strconv.ParseFloat(arg, 64); err != nil {
			return r, fmt.Errorf("~near takes a number: %s", line)
		}
	case "match", "find":
		if _, err := regexp.Compile(arg); err != nil {
			return r, err
		}
	case "save":
		if arg == "" {
			return r, fmt.Errorf("~save takes a name")
		}
	default:
		return r, fmt.Errorf("no such relaxation: %s", line)
	}
	return r, nil
}

func (v *Reply) relaxed(word string) bool {
	for _, r := range v.relax {
		if r.word == word {
			return true
		}
	}
	return false
}

// variables gives the values of $(name).
type variables func(name string) (string, error)

var variable = regexp.MustCompile(`\$\([A-Za-z][A-Za-z0-9_.]*([+-][0-9]+)?\)`)

func (vars variables) expand(s string, quoted func(string) string) (string, error) {
	var failed error
	s = variable.ReplaceAllStringFunc(s, func(m string) string {
		text, err := vars(m[2 : len(m)-1])
		if err != nil {
			failed = err
		}
		return quoted(text)
	})
	return s, failed
}

// matches says whether got is what the transcript wants, and keeps what ~save asks for.
func (v *Reply) matches(got Reply, vars variables, save map[string]string) (bool, error) {
	if v.Kind != got.Kind {
		return false, nil
	}
	ok, err := v.matchesValue(got, vars, save)
	if !ok || err != nil {
		return false, err
	}
	for _, r := range v.relax {
		if r.word == "save" {
			save[r.arg] = got.Text
		}
	}
	return true, nil
}

func (v *Reply) matchesValue(got Reply, vars variables, save map[string]string) (bool, error) {
	if v.relaxed("any") {
		return true, nil
	}
	if v.relaxed("match") || v.relaxed("find") {
		return v.matchesText(got, vars)
	}
	more := v.relaxed("contains")
	if v.Null != got.Null || len(v.Elems) != len(got.Elems) && !more {
		return false, nil
	}
	if _, aggr := aggregate(v.Kind); aggr {
		switch {
		case v.relaxed("pairs") || (v.relaxed("unordered") || more) && v.Kind == '%':
			return matchesAnyOrder(v.Elems, got.Elems, 2, vars, save)
		case v.relaxed("unordered") || more:
			return matchesAnyOrder(v.Elems, got.Elems, 1, vars, save)
		}
		for i := range v.Elems {
			if ok, err := v.Elems[i].matches(got.Elems[i], vars, save); !ok || err != nil {
				return false, err
			}
		}
		return true, nil
	}
	want := v.Text
	if v.expand {
		var err error
		if want, err = vars.expand(want, asIs); err != nil {
			return false, err
		}
	}
	for _, r := range v.relax {
		if r.word == "near" {
			return near(want, got.Text, r.arg), nil
		}
	}
	return want == got.Text, nil
}

func asIs(s string) string { return s }

func (v *Reply) matchesText(got Reply, vars variables) (bool, error) {
	if got.Null || got.Elems != nil {
		return false, nil
	}
	for _, r := range v.relax {
		if r.word != "match" && r.word != "find" {
			continue
		}
		expr, err := vars.expand(r.arg, regexp.QuoteMeta)
		if err != nil {
			return false, err
		}
		text := got.Text
		if r.word == "match" {
			expr = "(?s)^(?:" + expr + ")$"
		} else {
			// $ has to be the end of a line that ends with CRLF, too.
			expr, text = "(?m)"+expr, strings.ReplaceAll(text, "\r\n", "\n")
		}
		re, err := regexp.Compile(expr)
		if err != nil {
			return false, err
		}
		if !re.MatchString(text) {
			return false, nil
		}
	}
	return true, nil
}

// near compares integers exactly where both are, for 2^63 is no float.
func near(want, got, tolerance string) bool {
	w, errW := strconv.ParseInt(want, 10, 64)
	g, errG := strconv.ParseInt(got, 10, 64)
	n, errN := strconv.ParseUint(tolerance, 10, 64)
	if errW == nil && errG == nil && errN == nil {
		return uint64(max(w, g))-uint64(min(w, g)) <= n
	}
	fw, errW := strconv.ParseFloat(want, 64)
	fg, errG := strconv.ParseFloat(got, 64)
	fn, errN := strconv.ParseFloat(tolerance, 64)
	return errW == nil && errG == nil && errN == nil && math.Abs(fw-fg) <= fn
}

// matchesAnyOrder pairs groups of `per` wanted elements with groups of got ones, each used at
// most once; the caller compares the numbers. Augmenting paths, because a relaxed element may
// fit several.
func matchesAnyOrder(
	want, got []Reply, per int, vars variables, save map[string]string,
) (bool, error) {
	if len(want)%per != 0 || len(got)%per != 0 {
		return false, nil
	}
	var failed error
	fits := func(w, g int) bool {
		for k := range per {
			ok, err := want[w*per+k].matches(got[g*per+k], vars, save)
			if err != nil {
				failed = err
			}
			if !ok {
				return false
			}
		}
		return true
	}
	owner := make([]int, len(got)/per) // of each got group; -1 is free
	for i := range owner {
		owner[i] = -1
	}
	var seen []bool
	var place func(w int) bool
	place = func(w int) bool {
		for g := range owner {
			if seen[g] || !fits(w, g) {
				continue
			}
			seen[g] = true
			if owner[g] < 0 || place(owner[g]) {
				owner[g] = w
				return true
			}
		}
		return false
	}
	for w := range len(want) / per {
		seen = make([]bool, len(owner))
		if !place(w) {
			return false, failed
		}
	}
	return true, failed
}

// keepRelaxations copies the relaxations of an old reply onto a new one, as far as they have
// the same shape. What a relaxation makes meaningless is left out.
func (v *Reply) keepRelaxations(old *Reply) {
	v.relax = old.relax
	switch {
	case v.relaxed("any") && len(v.Elems) > 0:
		v.Elems = nil
		return
	case v.relaxed("any") || v.relaxed("match") || v.relaxed("find"):
		if v.Kind == '$' || v.Kind == '=' {
			v.Text = ""
		}
	}
	for i := range v.Elems {
		if i < len(old.Elems) {
			v.Elems[i].keepRelaxations(&old.Elems[i])
		}
	}
}
