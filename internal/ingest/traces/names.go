package traces

import (
	"strings"

	"profdiff/internal/trace"
)

// sliceName is what a slice is called as a function: without numbers that differ each time, so that
// slices of one kind are one function. Of contention for a monitor there is only that; contention profiles
// have the rest.
//
// A number that is left out has four digits or more, or begins with 0x, and nothing but space or punctuation
// on both sides: "Choreographer#doFrame 128931", "animator:0x7f3a", "query 12345 rows".
func sliceName(name string) string {
	if c, ok := trace.ParseContention(name); ok {
		if c.Lock != "" {
			return "Lock contention on " + c.Lock
		}
		return "monitor contention"
	}
	if name == "" {
		return "[slice without a name]"
	}
	var b strings.Builder
	for i := 0; i < len(name); {
		n := numberAt(name, i)
		if n == 0 {
			b.WriteByte(name[i])
			i++
			continue
		}
		b.WriteByte('N')
		i += n
	}
	return b.String()
}

// numberAt is the length of a number that is left out at a place, 0 if there is none.
func numberAt(s string, at int) int {
	if at > 0 && isWord(s[at-1]) {
		return 0
	}
	n, least := at, 4
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	if strings.HasPrefix(s[at:], "0x") {
		n, least = at+2, 3
		digit = func(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }
	}
	for n < len(s) && digit(s[n]) {
		n++
	}
	if n-at < least || n < len(s) && isWord(s[n]) {
		return 0
	}
	return n - at
}

// isWord reports whether a byte may be part of a word or a number.
func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '.' || c >= 0x80
}
