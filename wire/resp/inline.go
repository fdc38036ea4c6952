package resp

// inline decodes a command typed by hand: words on a line, as in telnet.
func (d *Decoder) inline(buf []byte, argv [][]byte, lim *Limits) ([][]byte, int, error) {
	i, found := d.find(buf, '\n', lim.InlineMax)
	if !found {
		if len(buf) > lim.InlineMax {
			return argv, 0, errInlineLine
		}
		return argv, 0, nil
	}
	line := buf[:i]
	if i > 0 && line[i-1] == '\r' {
		line = line[:i-1]
	}
	args, ok := splitWords(line, argv)
	if !ok {
		return argv, 0, errQuotes
	}
	d.Reset()
	return args, i + 1, nil
}

// splitWords cuts a line into words, where "…" knows escapes and '…' knows only \'. A quote may
// open inside a word but must close at its end.
func splitWords(line []byte, argv [][]byte) ([][]byte, bool) {
	for i := 0; ; {
		for i < len(line) && isSpace(line[i]) {
			i++
		}
		if i == len(line) {
			return argv, true
		}
		start := i
		for i < len(line) && !endsWord(line[i]) && line[i] != '"' && line[i] != '\'' {
			i++
		}
		word := line[start:i:i]
		if i < len(line) && !endsWord(line[i]) {
			unquote := unquoteSingle
			if line[i] == '"' {
				unquote = unquoteDouble
			}
			n := 0
			if word, n = unquote(word, line[i+1:]); n < 0 {
				return argv, false
			}
			i += 1 + n
			if i < len(line) && !isSpace(line[i]) {
				return argv, false
			}
		}
		argv = append(argv, word)
	}
}

// unquoteDouble appends what stands before the closing quote to word, which has no spare
// capacity and so moves. n counts the bytes up to and with the quote; -1 if there is none.
func unquoteDouble(word, rest []byte) (quoted []byte, n int) {
	for i := 0; i < len(rest); i++ {
		c := rest[i]
		if c == '"' {
			return word, i + 1
		}
		if c == '\\' && i+1 < len(rest) {
			if i+3 < len(rest) && rest[i+1] == 'x' && hex(rest[i+2]) < 16 && hex(rest[i+3]) < 16 {
				c = hex(rest[i+2])<<4 | hex(rest[i+3])
				i += 3
			} else {
				i++
				c = unescape(rest[i])
			}
		}
		word = append(word, c)
	}
	return nil, -1
}

// unquoteSingle is unquoteDouble for '…'.
func unquoteSingle(word, rest []byte) (quoted []byte, n int) {
	for i := 0; i < len(rest); i++ {
		if rest[i] == '\'' {
			return word, i + 1
		}
		if rest[i] == '\\' && i+1 < len(rest) && rest[i+1] == '\'' {
			i++
		}
		word = append(word, rest[i])
	}
	return nil, -1
}

func unescape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	case 'a':
		return '\a'
	}
	return c
}

// hex is the value of a hexadecimal digit, 16 for what is none.
func hex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 16
}

// isSpace is C's isspace. Between words Redis skips all six, but only three of them end a word.
func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

func endsWord(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
