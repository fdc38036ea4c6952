package commands

import (
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"kiln/wire/resp"
)

// parser is the kind of a directive.
type parser = func(old setting, words []string, start bool) (setting, error)

func numberSetting(n int64) setting { return setting{text: strconv.FormatInt(n, 10), n: n} }

// anyText takes anything.
func anyText(_ setting, words []string, _ bool) (setting, error) {
	return setting{text: words[0]}, nil
}

// intBetween takes a canonical number.
func intBetween(least, most int64) parser {
	return func(_ setting, words []string, _ bool) (setting, error) {
		n, ok := resp.ParseInt([]byte(words[0]))
		if !ok {
			return setting{}, errConfigInt
		}
		if n < least || n > most {
			return setting{}, errConfigRange(strconv.FormatInt(least, 10),
				strconv.FormatInt(most, 10))
		}
		return numberSetting(n), nil
	}
}

// octalBetween takes file permissions.
func octalBetween(least, most int64) parser {
	return func(_ setting, words []string, _ bool) (setting, error) {
		n, err := strconv.ParseInt(words[0], 8, 64)
		if err != nil {
			return setting{}, errConfigOctal
		}
		if n < least || n > most {
			return setting{}, errConfigRange(strconv.FormatInt(least, 8),
				strconv.FormatInt(most, 8))
		}
		return setting{text: strconv.FormatInt(n, 8), n: n}, nil
	}
}

// memoryBetween takes a size with a unit.
func memoryBetween(least, most uint64) parser {
	return func(_ setting, words []string, _ bool) (setting, error) {
		u, ok := parseMemory(words[0])
		if !ok {
			return setting{}, errConfigMemory
		}
		if u < least || u > most {
			return setting{}, errConfigRange(strconv.FormatUint(least, 10),
				strconv.FormatUint(most, 10))
		}
		return setting{text: strconv.FormatUint(u, 10), n: int64(min(u, math.MaxInt64))}, nil
	}
}

var memoryUnits = map[string]uint64{
	"": 1, "b": 1, "k": 1000, "kb": 1 << 10, "m": 1e6, "mb": 1 << 20, "g": 1e9, "gb": 1 << 30,
}

// parseMemory is Redis's memtoull: no digits are 0, too many the largest number, and the unit
// overflows silently: conformance server/config_set_memory.
func parseMemory(word string) (u uint64, ok bool) {
	end := strings.IndexFunc(word, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(word)
	}
	unit, ok := memoryUnits[strings.ToLower(word[end:])]
	if !ok {
		return 0, false
	}
	if u, err := strconv.ParseUint(word[:end], 10, 64); err == nil {
		return u * unit, true
	}
	if end > 0 {
		return math.MaxUint64 * unit, true
	}
	return 0, true
}

// yesOrNo takes yes or no.
func yesOrNo(_ setting, words []string, _ bool) (setting, error) {
	switch {
	case strings.EqualFold(words[0], "yes"):
		return setting{text: "yes", n: 1}, nil
	case strings.EqualFold(words[0], "no"):
		return setting{text: "no"}, nil
	}
	return setting{}, errConfigBool
}

// enumOf takes one of several names, in any case; the number is its place.
func enumOf(names ...string) parser {
	return func(_ setting, words []string, _ bool) (setting, error) {
		i := slices.IndexFunc(names, func(s string) bool { return strings.EqualFold(s, words[0]) })
		if i < 0 {
			return setting{}, errConfigEnum(names)
		}
		return setting{text: names[i], n: int64(i)}, nil
	}
}

// never refuses a value that stands for something not there yet: better than a server that does
// not do what its configuration says.
func never(refused string, parse parser) parser {
	return func(old setting, words []string, start bool) (setting, error) {
		v, err := parse(old, words, start)
		if err == nil && v.text == refused {
			return setting{}, errConfigNever(refused)
		}
		return v, err
	}
}

// parseHz brings numbers that are out of range into it, as Redis does.
func parseHz(old setting, words []string, start bool) (setting, error) {
	const least, most = 1, 500
	v, err := intBetween(0, intMax)(old, words, start)
	if err != nil {
		return v, err
	}
	return numberSetting(min(max(v.n, least), most)), nil
}

func parseLoops(old setting, words []string, start bool) (setting, error) {
	if strings.EqualFold(words[0], "auto") {
		return numberSetting(0), nil
	}
	return intBetween(0, 128)(old, words, start)
}

func parsePartitions(old setting, words []string, start bool) (setting, error) {
	v, err := intBetween(1, 1<<10)(old, words, start)
	if err == nil && bits.OnesCount64(uint64(v.n)) != 1 {
		err = errConfigPower
	}
	return v, err
}

func parseBind(_ setting, words []string, _ bool) (setting, error) {
	const most = 16
	if len(words) > most {
		return setting{}, errConfigBind
	}
	// Addresses hold no spaces, so a word of several is as good as several words.
	return setting{text: strings.Join(strings.Fields(strings.Join(words, " ")), " ")}, nil
}

// parseGroups takes patterns "prefix*end". The first directive replaces the default, others add
// to it.
func parseGroups(old setting, words []string, _ bool) (setting, error) {
	for _, w := range words {
		prefix, end, ok := strings.Cut(w, "*")
		if !ok || prefix == "" || end == "" || strings.Contains(end, "*") {
			return setting{}, errConfigGroup
		}
	}
	return setting{text: strings.Join(repeated(old, words), " ")}, nil
}

// repeated adds the words of a directive to those that it was given before; none undo those.
func repeated(old setting, words []string) []string {
	if !old.set || len(words) == 0 {
		return words
	}
	return append(strings.Fields(old.text), words...)
}

// parseSave takes pairs of seconds and changes. CONFIG SET replaces them all.
func parseSave(old setting, words []string, start bool) (setting, error) {
	if len(words)%2 != 0 {
		return setting{}, errConfigSave
	}
	var pairs []string
	for i, w := range words {
		n, err := strconv.ParseInt(w, 10, 64)
		if err != nil || n < 0 || i%2 == 0 && n < 1 {
			return setting{}, errConfigSave
		}
		pairs = append(pairs, strconv.FormatInt(n, 10))
	}
	if start {
		pairs = repeated(old, pairs)
	}
	return setting{text: strings.Join(pairs, " ")}, nil
}

// outputClasses are the classes of clients in the order in which they are shown.
var outputClasses = []string{"normal", "slave", "pubsub"}

// parseOutputLimits takes quadruples of class, hard limit, soft limit and seconds; classes that
// are not named stay as they are.
func parseOutputLimits(old setting, words []string, _ bool) (setting, error) {
	if len(words)%4 != 0 {
		return setting{}, errConfigLimitWords
	}
	shown := strings.Fields(old.text)
	if len(shown) == 0 {
		shown = make([]string, 4*len(outputClasses))
	}
	for q := range slices.Chunk(words, 4) {
		class := strings.ToLower(q[0])
		if class == "replica" {
			class = "slave"
		}
		at := slices.Index(outputClasses, class)
		if at < 0 {
			return setting{}, errConfigLimitClass
		}
		hard, ok1 := parseMemory(q[1])
		soft, ok2 := parseMemory(q[2])
		seconds, err := strconv.ParseInt(q[3], 10, 64)
		if !ok1 || !ok2 || err != nil || seconds < 0 {
			return setting{}, errConfigLimit
		}
		copy(shown[4*at:], []string{class, strconv.FormatUint(hard, 10),
			strconv.FormatUint(soft, 10), strconv.FormatInt(seconds, 10)})
	}
	return setting{text: strings.Join(shown, " ")}, nil
}

// applyOutputLimits is for class normal, whose limits are shown first.
func applyOutputLimits(c *Config, v setting) {
	for i, field := range []*atomic.Int64{&c.NormalHard, &c.NormalSoft, &c.SoftSeconds} {
		u, _ := strconv.ParseUint(strings.Fields(v.text)[1+i], 10, 64)
		field.Store(int64(min(u, math.MaxInt64)))
	}
}
