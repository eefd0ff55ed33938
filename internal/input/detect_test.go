package input

import (
	"bytes"
	"strings"
	"testing"
)

// TestTable tells formats apart by evidence: the list of names, and what came closest, come
// from the table.
func TestTable(t *testing.T) {
	known := func(word string) func(Head) Evidence {
		return func(head Head) (e Evidence) {
			for line := range head.Lines() {
				e.Seen++
				if bytes.HasPrefix(line, []byte(word)) {
					e.Known++
				}
			}
			e.Is, e.Why = e.Known == e.Seen, "others do not start with "+word
			return e
		}
	}
	table := Table[int]{
		{Name: "magic", Recognise: func(h Head) Evidence { return Evidence{Is: bytes.HasPrefix(h, []byte("\x01"))} }, Read: 1},
		{Name: "a's", Text: true, Recognise: known("a"), Read: 2},
		{Name: "b's", Text: true, Recognise: known("b"), Read: 3},
	}
	for _, tt := range []struct {
		text string
		read int
		err  string
	}{
		{"\x01a\n", 1, ""},
		{"a\na\n", 2, ""},
		{"b\n", 3, ""},
		{"a\nb\nb\n", 0, `looks like text of an unknown format, which starts "a", closest to b's (2 of 3 lines, but others do not start with b) and a's (1 of 3 lines, but others do not start with a); profdiff reads magic, a's and b's`},
		{"x\n", 0, `looks like text of an unknown format, which starts "x"; profdiff reads magic, a's and b's`},
		{"a\x00\n", 0, "looks like binary data of an unknown format; profdiff reads magic, a's and b's"},
		{"", 0, "is empty"},
	} {
		f, err := table.Detect(Head(tt.text))
		switch {
		case err != nil && (err.Error() != tt.err || strings.Contains(err.Error(), "\n")):
			t.Errorf("%q: got %v, want %s", tt.text, err, tt.err)
		case err == nil && f.Read != tt.read:
			t.Errorf("%q is read by %d, want %d", tt.text, f.Read, tt.read)
		}
	}
}
