package html

import (
	"fmt"
	"path"
	"reflect"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"profdiff/internal/listing"
	"profdiff/internal/report/diff"
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
func Clean(s string) string {
	dirty := len(s) > maxText
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
		if b.Len() >= maxKept {
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

// cleanAll cleans all strings that are reachable from a pointer. Strings in the document of
// a comparison are left out, as other outputs have them too: they are cleaned where they are
// encoded. Going by type, it cannot miss a field that is added later.
func cleanAll(p any) { make(cleaner).value(reflect.ValueOf(p)) }

// A cleaner knows by type of a structure the fields that may hold strings.
type cleaner map[reflect.Type][]int

func (c cleaner) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if s := v.String(); s != "" {
			if c := Clean(s); c != s {
				v.SetString(c)
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			c.value(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		if !hasText(v.Type().Elem()) {
			return
		}
		for i := range v.Len() {
			c.value(v.Index(i))
		}
	case reflect.Struct:
		for _, i := range c.fields(v.Type()) {
			c.value(v.Field(i))
		}
	}
}

func (c cleaner) fields(t reflect.Type) []int {
	fields, ok := c[t]
	if !ok {
		for i := range t.NumField() {
			if hasText(t.Field(i).Type) {
				fields = append(fields, i)
			}
		}
		c[t] = fields
	}
	return fields
}

// hasText reports whether values of a type may hold strings.
func hasText(t reflect.Type) bool {
	if t == reflect.TypeFor[diff.Event]() || t == reflect.TypeFor[listing.Listing]() {
		return false
	}
	switch t.Kind() {
	case reflect.String, reflect.Struct:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return hasText(t.Elem())
	}
	return false
}

var absolutePath = regexp.MustCompile(`(^|[\s=:,'"])(/[^\s:,'"]*/)`)

// trimPaths takes the directories from absolute paths in a text: they tell of the
// machine of whoever recorded.
func trimPaths(s string) string { return absolutePath.ReplaceAllString(s, "$1…/") }

// trimName takes all but the last directory from the name of a file.
func trimName(name string) string {
	name = path.Clean(strings.ReplaceAll(name, `\`, "/"))
	dir, file := path.Split(name)
	if last := path.Base(dir); dir != "" && last != "/" && last != "." {
		return last + "/" + file
	}
	return file
}
