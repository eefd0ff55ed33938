package source

import (
	"regexp"
	"strings"

	"profdiff/internal/align"
)

// A Row is a line of one side, or of both.
type Row struct {
	// Base and Head are the numbers of the line, 0 if the side does not have it.
	Base, Head int
	// Text is head's, or base's if head does not have the line. Was is base's where both have
	// the line and differ, else "".
	Text Text
	Was  Text `json:",omitempty"`
}

// Changed reports whether the sides differ.
func (r *Row) Changed() bool { return r.Base == 0 || r.Head == 0 || r.Was != "" }

// Beside aligns two files. Of nil there are no lines.
func Beside(base, head *File) (rows []Row) {
	before, after := lines(base), lines(head)
	at, of := 0, 0
	pairs := append(align.Sequences(before, after), [2]int{len(before), len(after)})
	for _, p := range pairs {
		for at < p[0] || of < p[1] {
			switch {
			case at < p[0] && of < p[1] && before[at] != "" && after[of] != "":
				rows = append(rows, Row{at + 1, of + 1, Text(after[of]), Text(before[at])})
				at, of = at+1, of+1
			case at < p[0] && (of == p[1] || before[at] == ""):
				rows = append(rows, Row{Base: at + 1, Text: Text(before[at])})
				at++
			default:
				rows = append(rows, Row{Head: of + 1, Text: Text(after[of])})
				of++
			}
		}
		if at < len(before) {
			rows = append(rows, Row{at + 1, of + 1, Text(after[of]), ""})
			at, of = at+1, of+1
		}
	}
	return rows
}

func lines(f *File) []string {
	if f == nil {
		return nil
	}
	list := make([]string, len(f.Lines))
	for i, l := range f.Lines {
		list[i] = string(l)
	}
	return list
}

// word is a name as texts have it.
var word = regexp.MustCompile(`^~?[\pL_$][\pL\pN_$]*$`)

// closure is what closures of Go are called, but for a number.
const closure = "func"

// Names reports whether a file has the name of a function in the line where the function starts.
// ok is false if that says nothing: the line is not known, 0, or no text has the name, as those of
// closures.
func (f *File) Names(function string, line int64) (named, ok bool) {
	name, _, _ := strings.Cut(align.Bare(function), "@") // what tells namesakes apart
	name = name[strings.LastIndexAny(name, ":. ")+1:]
	if line == 0 || !word.MatchString(name) || name == closure {
		return false, false
	}
	return line <= int64(len(f.Lines)) && strings.Contains(string(f.Lines[line-1]), name), true
}
