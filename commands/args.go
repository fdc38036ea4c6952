package commands

import (
	"kiln/wire/resp"
)

// Args are a command's words. Reads latch the first failure: later ones return zero values, and
// Err is asked once.
type Args struct {
	argv [][]byte
	at   int
	err  error
}

// NewArgs starts reading after the command's name.
func NewArgs(argv [][]byte) Args { return Args{argv: argv, at: 1} }

// Len is the number of words, the command's name included.
func (a *Args) Len() int { return len(a.argv) }

// At gives a word by its place; 0 is the command's name.
func (a *Args) At(i int) []byte { return a.argv[i] }

// All gives all words.
func (a *Args) All() [][]byte { return a.argv }

// More reports whether there are words left and nothing failed.
func (a *Args) More() bool { return a.err == nil && a.at < len(a.argv) }

// Left is the number of words not read yet.
func (a *Args) Left() int { return len(a.argv) - a.at }

// Next gives the next word; a missing one is a syntax error.
func (a *Args) Next() []byte {
	if a.err != nil {
		return nil
	}
	if a.at >= len(a.argv) {
		a.err = errSyntax
		return nil
	}
	w := a.argv[a.at]
	a.at++
	return w
}

// Take gives the next n words. REQUIRES: there are so many left.
func (a *Args) Take(n int) [][]byte {
	if a.err != nil {
		return nil
	}
	words := a.argv[a.at : a.at+n]
	a.at += n
	return words
}

// Rest gives all words that are left.
func (a *Args) Rest() [][]byte {
	if a.err != nil {
		return nil
	}
	rest := a.argv[a.at:]
	a.at = len(a.argv)
	return rest
}

// Is reads the next word if it is the keyword, in any case. The keyword is in upper case.
func (a *Args) Is(keyword string) bool {
	if a.err != nil || a.at >= len(a.argv) || !equalFold(a.argv[a.at], keyword) {
		return false
	}
	a.at++
	return true
}

// Int reads an integer in canonical form; anything else fails with bad, or with the usual text
// if that is empty.
func (a *Args) Int(bad ...resp.Error) int64 {
	w := a.Next()
	if a.err != nil {
		return 0
	}
	n, ok := resp.ParseInt(w)
	if !ok {
		a.err = errNotInt
		if len(bad) > 0 {
			a.err = bad[0]
		}
	}
	return n
}

// Fail latches an error.
func (a *Args) Fail(err error) {
	if a.err == nil {
		a.err = err
	}
}

// Err gives the first failure.
func (a *Args) Err() error { return a.err }

// equalFold compares a word with a keyword in upper case.
func equalFold(w []byte, keyword string) bool {
	if len(w) != len(keyword) {
		return false
	}
	for i, c := range w {
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		if c != keyword[i] {
			return false
		}
	}
	return true
}

// IsWord compares a word with a keyword in upper case, in any case.
func IsWord(w []byte, keyword string) bool { return equalFold(w, keyword) }
