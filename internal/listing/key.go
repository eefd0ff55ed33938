package listing

import "strings"

// ripRelative is what follows a displacement from the instruction pointer, and
// addressDigits how many digits make a number an address.
const (
	ripRelative   = "(%rip)"
	addressDigits = 5
)

// Key is the text of an instruction without what differs between builds though
// the code is the same: addresses and displacements from the instruction pointer.
func Key(text string) string {
	var out []byte
	done := 0
	for at := 0; ; {
		next := strings.Index(text[at:], "0x")
		if next < 0 {
			break
		}
		start := at + next
		end := start + 2
		for end < len(text) && (text[end] >= '0' && text[end] <= '9' || text[end] >= 'a' && text[end] <= 'f') {
			end++
		}
		at = start + 1
		digits := end - start - 2
		switch {
		case digits > 0 && strings.HasPrefix(text[end:], ripRelative):
			end += len(ripRelative)
			if start > done && text[start-1] == '-' {
				start--
			}
		case digits < addressDigits || start > 0 && isWord(text[start-1]) || end < len(text) && isWord(text[end]):
			continue
		}
		out = append(append(out, text[done:start]...), '@')
		at, done = end, end
	}
	if done == 0 {
		return text // most
	}
	return string(append(out, text[done:]...))
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}
