package main

func class(c byte) int {
	switch {
	case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_':
		return letter
	case c >= '0' && c <= '9':
		return digit
	case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		return space
	}
	return sign
}

// tokens asks of each byte what it is.
func tokens(text []byte) int {
	n, before := 0, space
	for _, c := range text {
		now := class(c)
		if now == digit && before == letter {
			now = letter
		}
		if now != space && (now != before || now == sign) {
			n++
		}
		before = now
	}
	return n
}
