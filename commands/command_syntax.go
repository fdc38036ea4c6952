package commands

import (
	"slices"
	"strings"
)

// argument is a node of the tree that COMMAND DOCS gives of a command's arguments. Its kinds are
// Redis's: those of single words, and oneof and block, which have arguments of their own.
type argument struct {
	name, kind, token             string
	optional, multiple, manyToken bool
	spec                          int // which key spec finds it; of keys only
	args                          []argument
}

// Kinds of arguments that matter to the parser; the others only come from argumentKinds.
const (
	kindKey       = "key"
	kindPureToken = "pure-token"
	kindOneOf     = "oneof"
	kindBlock     = "block"
)

// argumentKinds says what the words of Redis's notation stand for; the others are strings.
var argumentKinds = kinds(map[string]string{
	kindKey: "destination destkey dst key key1 key2 newkey source sourcekey src",
	"integer": "bit bits client-id cluster-bus-port config-epoch count cursor db decrement " +
		"destination-db end end-slot entries-added entries-read frequency increment index " +
		"index1 index2 len limit maxage milliseconds min-match-len ms num-matches numfields " +
		"numkeys numlocal numreplicas offset port protover rank seconds slot start start-slot " +
		"stop timeout ttl version weight",
	"double":    "height latitude longitude radius score width",
	"pattern":   "pattern",
	"unix-time": "unix-time-milliseconds unix-time-seconds",
})

// argumentKindsOf are what a word means in one command, or in one group, where that is not what it
// means elsewhere.
var argumentKindsOf = map[string]string{
	"bitmap value":           "integer",
	"hincrbyfloat increment": "double",
	"incrbyfloat increment":  "double",
	"list timeout":           "double",
	"sorted-set timeout":     "double",
	"stream end":             "string",
	"stream start":           "string",
	"xpending min-idle-time": "integer",
	"zcount max":             "double",
	"zcount min":             "double",
	"zrange start":           "string",
	"zrange stop":            "string",
	"zrangebyscore max":      "double",
	"zrangebyscore min":      "double",
	"zremrangebyscore max":   "double",
	"zremrangebyscore min":   "double",
	"zrevrangebyscore max":   "double",
	"zrevrangebyscore min":   "double",
}

func kinds(words map[string]string) map[string]string {
	m := make(map[string]string)
	for kind, list := range words {
		for word := range strings.FieldsSeq(list) {
			m[word] = kind
		}
	}
	return m
}

// arguments parses a row's Syntax: words in capitals are tokens, others stand for values; [ ] is
// what may be left out, < > groups, | separates alternatives, and x [x ...] is x, repeated.
//
//	key <BEFORE | AFTER> pivot [COUNT count] [field value [field value ...]]
func (s *Spec) arguments() []argument {
	p := syntaxParser{words: splitSyntax(s.Syntax)}
	alternatives, _ := p.alternatives("")
	args := absorb(alternatives[0])
	if len(alternatives) > 1 {
		args = []argument{group(alternatives)}
	}
	keys := 0
	s.refine(args, &keys)
	return args
}

// splitSyntax splits a notation into words, with brackets and bars as words of their own.
func splitSyntax(notation string) []string {
	spaced := strings.NewReplacer("[", " [ ", "]", " ] ", "<", " < ", ">", " > ", "|", " | ")
	return strings.Fields(spaced.Replace(notation))
}

type syntaxParser struct {
	words []string
	at    int
}

// item is an argument before it is known whether a token claims it; from is its first word.
type item struct {
	argument
	from int
}

// alternatives parses up to the closing bracket. What it returns repeated is that all of it may
// come again.
func (p *syntaxParser) alternatives(end string) (out [][]item, repeated bool) {
	out = [][]item{nil}
	start := p.at
	for p.at < len(p.words) && p.words[p.at] != end {
		last := &out[len(out)-1]
		from, word := p.at, p.words[p.at]
		p.at++
		switch word {
		case "|":
			out = append(out, nil)
		case "[":
			if n, again := p.repetition(); again {
				if n == 0 || n == from-start {
					repeated = len(out) > 1 || repeated
				}
				if !repeated {
					*last = repeat(*last, from-n)
				}
				continue
			}
			a := p.group("]")
			a.optional = true
			*last = append(*last, item{a, from})
		case "<":
			*last = append(*last, item{p.group(">"), from})
		default:
			*last = append(*last, item{wordArgument(word), from})
		}
	}
	p.at++
	return out, repeated
}

func (p *syntaxParser) group(end string) argument {
	alternatives, repeated := p.alternatives(end)
	a := group(alternatives)
	a.multiple = a.multiple || repeated
	return a
}

// repetition skips a bracket that ends in "...", and tells how many words it repeats.
func (p *syntaxParser) repetition() (n int, ok bool) {
	depth := 1
	for i := p.at; i < len(p.words); i++ {
		switch p.words[i] {
		case "[", "<":
			depth++
		case "]", ">":
			depth--
		}
		if depth > 0 {
			continue
		}
		if p.words[i-1] != "..." {
			return 0, false
		}
		n = i - 1 - p.at
		if n > 0 && !slices.Equal(p.words[p.at:i-1], p.words[max(0, p.at-1-n):p.at-1]) {
			return 0, false
		}
		p.at = i + 1
		return n, true
	}
	return 0, false
}

// repeat marks the items from a word on as repeated; several become a block.
func repeat(items []item, from int) []item {
	i := slices.IndexFunc(items, func(it item) bool { return it.from >= from })
	if i < 0 {
		return items
	}
	manyToken := items[i].kind == kindPureToken
	args := absorb(items[i:])
	a := args[0]
	if len(args) > 1 {
		a = argument{name: "data", kind: kindBlock, args: args}
		manyToken = false
	}
	a.multiple, a.manyToken = true, manyToken && a.kind != kindPureToken
	return append(items[:i:i], item{a, from})
}

func wordArgument(word string) argument {
	if word == strings.ToUpper(word) {
		return argument{name: strings.ToLower(word), kind: kindPureToken, token: word}
	}
	a := argument{name: word, kind: "string"}
	if kind := argumentKinds[word]; kind != "" {
		a.kind = kind
	}
	return a
}

// absorb gives each token the values that follow it, up to the next token or to what may be left
// out: a token with one value is that value, with several a block.
func absorb(items []item) (args []argument) {
	for i := 0; i < len(items); {
		a := items[i].argument
		i++
		if a.kind != kindPureToken || a.optional {
			args = append(args, a)
			continue
		}
		var values []argument
		for i < len(items) && !items[i].optional && items[i].kind != kindPureToken {
			values = append(values, items[i].argument)
			i++
		}
		switch {
		case len(values) == 0:
		case len(values) == 1 && values[0].token == "":
			values[0].token = a.token
			a = values[0]
		default:
			a = argument{name: a.name, kind: kindBlock, token: a.token, args: values}
		}
		args = append(args, a)
	}
	return args
}

// group makes one argument of what stands in brackets.
func group(alternatives [][]item) argument {
	var choices []argument
	for _, items := range alternatives {
		switch args := absorb(items); len(args) {
		case 0:
		case 1:
			choices = append(choices, args[0])
		default:
			choices = append(choices, argument{
				name: args[0].name + "-block", kind: kindBlock, args: args,
			})
		}
	}
	if len(choices) == 1 {
		return choices[0]
	}
	return argument{name: "option", kind: kindOneOf, args: choices}
}

// refine says what depends on the command: what its words mean, and which key spec finds each key;
// they come in the same order. Without keys, a word that often names one is just a word.
func (s *Spec) refine(args []argument, keys *int) {
	for i := range args {
		a := &args[i]
		s.refine(a.args, keys)
		if kind := argumentKindsOf[s.full+" "+a.name]; kind != "" {
			a.kind = kind
		} else if kind := argumentKindsOf[string(s.Group)+" "+a.name]; kind != "" {
			a.kind = kind
		}
		switch {
		case a.kind != kindKey:
		case len(s.Keys) == 0:
			a.kind = "string"
		default:
			a.spec = min(*keys, len(s.Keys)-1)
			*keys++
		}
	}
}
