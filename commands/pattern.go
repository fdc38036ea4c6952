package commands

import "bytes"

// globMatch reports whether a pattern matches the whole of s, with fold in any case of ASCII
// letters. Redis's globs: * is any bytes, ? any one byte, [abc] [a-z] [^a] one byte of a class or
// not of it, a backslash takes the next byte as it is.
//
// Each part of a pattern but * takes exactly one byte. So the first place where the part between
// two stars fits is as good as any later one, and only the last star is ever gone back to: time
// is at most the product of the lengths, and there is no recursion. Redis gives up at 1000 stars
// (CVE-2022-36021, CVE-2024-31228); there is no need to here.
//
// NB: of what Redis does at the margins all is kept, since ACL rules and subscriptions may depend
// on it: the empty string is matched by the empty pattern alone, a class that is not closed ends
// with the pattern, and bytes of a range are signed.
func globMatch(pattern, s []byte, fold bool) bool {
	if len(s) == 0 {
		return len(pattern) == 0
	}
	star, from := -1, 0 // what follows the last star, and where in s it was tried last
	for p, i := 0, 0; ; {
		if i == len(s) {
			return len(trimStars(pattern[p:])) == 0
		}
		if p < len(pattern) && pattern[p] == '*' {
			rest := trimStars(pattern[p:])
			if len(rest) == 0 {
				return true
			}
			p = len(pattern) - len(rest)
			star, from = p, i
		} else {
			if p < len(pattern) {
				if n, ok := matchByte(pattern[p:], s[i], fold); ok {
					p, i = p+n, i+1
					continue
				}
			}
			if star < 0 {
				return false
			}
			from++
		}
		skip := seek(pattern[star], s[from:], fold)
		if skip < 0 {
			return false
		}
		from += skip
		p, i = star, from
	}
}

func trimStars(pattern []byte) []byte {
	for len(pattern) > 0 && pattern[0] == '*' {
		pattern = pattern[1:]
	}
	return pattern
}

// seek tells how many bytes of s can be passed over before a part that begins with c, -1 for all.
// It makes *word* as fast as a search for a byte.
func seek(c byte, s []byte, fold bool) int {
	if fold || c == '?' || c == '[' || c == '\\' {
		return 0
	}
	return bytes.IndexByte(s, c)
}

// matchByte matches the first part of a pattern, which is no star, against one byte, and tells
// how long that part is.
func matchByte(pattern []byte, c byte, fold bool) (n int, ok bool) {
	switch pattern[0] {
	case '?':
		return 1, true
	case '[':
		return matchClass(pattern, c, fold)
	case '\\':
		if len(pattern) > 1 {
			return 2, sameByte(pattern[1], c, fold)
		}
	}
	return 1, sameByte(pattern[0], c, fold)
}

func matchClass(pattern []byte, c byte, fold bool) (n int, ok bool) {
	i := 1
	not := i < len(pattern) && pattern[i] == '^'
	if not {
		i++
	}
	for ; i < len(pattern) && pattern[i] != ']'; i++ {
		switch left := len(pattern) - i; {
		case left >= 2 && pattern[i] == '\\':
			i++
			ok = ok || pattern[i] == c // Redis does not fold here.
		case left >= 3 && pattern[i+1] == '-':
			ok = ok || inRange(pattern[i], pattern[i+2], c, fold)
			i += 2
		default:
			ok = ok || sameByte(pattern[i], c, fold)
		}
	}
	return min(i+1, len(pattern)), ok != not
}

// inRange compares as C does where its char is signed, and folds after the bounds were ordered.
func inRange(from, to, c byte, fold bool) bool {
	a, b := int8(from), int8(to)
	if a > b {
		a, b = b, a
	}
	if fold {
		return int8(lower(byte(a))) <= int8(lower(c)) && int8(lower(c)) <= int8(lower(byte(b)))
	}
	return a <= int8(c) && int8(c) <= b
}

func sameByte(a, b byte, fold bool) bool { return a == b || fold && lower(a) == lower(b) }

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
