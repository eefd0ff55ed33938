package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText is the number of bytes that a text may have, and maxKept the number that are
// kept of a longer one: what is said of the rest has room, so that a text that was
// cleaned stays as it is.
const (
	maxText = 4096
	maxKept = maxText - 64
)

// Clean makes a foreign text one that can be shown anywhere: valid UTF-8 in which
// nothing is invisible, breaks the line or reorders what is around it, and of bounded
// length. What is replaced stays visible as ⟨U+202E⟩, or ⟨0xFF⟩ for a byte that is no
// UTF-8.
func Clean(s string) string { return clean(s, maxText) }

// CleanLine is Clean for a line of source text, in which tabs stay.
func CleanLine(s string) string {
	if !strings.Contains(s, "\t") {
		return Clean(s)
	}
	parts := strings.Split(s, "\t")
	for i, part := range parts {
		parts[i] = Clean(part)
	}
	if line := strings.Join(parts, "\t"); len(line) <= maxText {
		return line
	}
	return Clean(strings.ReplaceAll(s, "\t", " "))
}

// Printable is Clean for texts of any length: for tables, and for messages in a terminal or in
// the log of a build, which might take a line of a name for a command.
func Printable(s string) string { return clean(s, len(s)) }

func clean(s string, limit int) string {
	dirty := len(s) > limit
	if !dirty && plain(s) {
		return s
	}
	for i, r := range s {
		if r == utf8.RuneError || !visible(r) {
			dirty = dirty || r != utf8.RuneError || !strings.HasPrefix(s[i:], "\ufffd")
		}
		if dirty {
			break
		}
	}
	if !dirty {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if limit == maxText && b.Len() >= maxKept {
			fmt.Fprintf(&b, "… (%d bytes in all)", len(s))
			break
		}
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, "⟨0x%02X⟩", s[i])
		case !visible(r):
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// plain reports whether a text is of visible ASCII characters and spaces: most are.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// visible reports whether a character is one that is seen, or a space.
func visible(r rune) bool {
	if r >= ' ' && r < 0x7f {
		return true
	}
	if unicode.Is(unicode.Zs, r) {
		return r == '\u00a0' || r == '\u202f'
	}
	switch r {
	case '\u115f', '\u1160', '\u3164', '\uffa0', '\u2800': // letters that are blank
		return false
	}
	return unicode.IsGraphic(r) && !unicode.Is(unicode.Variation_Selector, r)
}
