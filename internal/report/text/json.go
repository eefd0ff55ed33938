package text

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// WriteJSON writes a document as indented JSON. In its texts what is not seen is escaped: whoever looks at
// the file does not see another order than a program reads.
func WriteJSON(w io.Writer, v any) error { return writeJSON(w, v, "  ") }

// WriteJSONLine is [WriteJSON] without indents, as a line.
func WriteJSONLine(w io.Writer, v any) error { return writeJSON(w, v, "") }

func writeJSON(w io.Writer, v any, indent string) error {
	e := json.NewEncoder(visibleJSON{w})
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	return e.Encode(v)
}

// visibleJSON passes JSON on, in which a character that is not ASCII can only be in a text, and there means the
// same as its escape. Each call of Write is for whole characters.
type visibleJSON struct{ w io.Writer }

func (j visibleJSON) Write(p []byte) (int, error) {
	var out []byte
	done := 0
	for i := 0; i < len(p); {
		if p[i] < 0x7f {
			i++
			continue
		}
		r, n := utf8.DecodeRune(p[i:])
		if !visible(r) && r != utf8.RuneError {
			out = append(out, p[done:i]...)
			if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
				out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
			} else {
				out = fmt.Appendf(out, `\u%04x`, r)
			}
			done = i + n
		}
		i += n
	}
	if done == 0 {
		return j.w.Write(p)
	}
	if _, err := j.w.Write(append(out, p[done:]...)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Significant rounds to eight digits: more of a p-value are not computed alike on all
// machines.
func Significant(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 8, 64), 64)
	if err != nil {
		return v
	}
	return r
}

// A Number is one that JSON has no form for if it is not finite: null stands for it.
type Number float64

// Missing is a number that is not known.
var Missing = Number(math.NaN())

// Known reports whether a number is finite.
func (n Number) Known() bool { return !math.IsNaN(float64(n)) && !math.IsInf(float64(n), 0) }

// MarshalJSON writes a number, or null.
func (n Number) MarshalJSON() ([]byte, error) {
	if !n.Known() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// UnmarshalJSON reads what MarshalJSON writes; of null it makes [Missing].
func (n *Number) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*n = Missing
		return nil
	}
	return json.Unmarshal(data, (*float64)(n))
}

// An Interval is the 95 % interval of a ratio: in JSON a list of both bounds, null where
// there is none.
type Interval struct{ Lo, Hi float64 }

// Unknown reports whether the interval of a ratio excludes nothing.
func (i Interval) Unknown() bool { return i.Lo == 0 && math.IsInf(i.Hi, 1) }

// String is the interval of a ratio in brackets.
func (i Interval) String() string {
	if i.Unknown() {
		return "[unknown]"
	}
	return "[" + Bound(i.Lo) + ", " + Bound(i.Hi) + "]"
}

// MarshalJSON writes both bounds.
func (i Interval) MarshalJSON() ([]byte, error) {
	return json.Marshal([2]Number{Number(i.Lo), Number(i.Hi)})
}

// UnmarshalJSON reads both bounds.
func (i *Interval) UnmarshalJSON(data []byte) error {
	var bounds [2]Number
	if err := json.Unmarshal(data, &bounds); err != nil {
		return err
	}
	*i = Interval{float64(bounds[0]), float64(bounds[1])}
	return nil
}
