package run

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// EscapeFrame writes the name of a function as a frame of a folded stack: `;`, `\`, TAB and line
// ends are `\;`, `\\`, `\t`, `\n` and `\r`, other control characters `\x1b`.
func EscapeFrame(name string) string {
	if !strings.ContainsFunc(name, special) {
		return name
	}
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case c == ';' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\t':
			b.WriteString(`\t`)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case special(rune(c)):
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// special reports whether a character is written another way in a frame.
func special(r rune) bool { return r < ' ' || r == 0x7f || r == ';' || r == '\\' }

// Folded sums the samples of one event by the names of their frames: keys are
// frame;frame;…;leaf, root first, inlined functions as frames of their own, with
// `;`, `\` and TAB within a name written `\;`, `\\` and `\t`.
func (r *Run) Folded(event int) map[string]FoldedSum {
	names := make([]string, len(r.Locations))
	for i := range r.Locations {
		var b strings.Builder
		lines := r.Locations[i].Lines
		for j := len(lines) - 1; j >= 0; j-- {
			if b.Len() > 0 {
				b.WriteByte(';')
			}
			b.WriteString(EscapeFrame(r.Functions[lines[j].Function].Name))
		}
		names[i] = b.String()
	}
	sums := make(map[string]FoldedSum)
	var stack []uint32
	var key []byte
	for i := range r.Samples {
		s := &r.Samples[i]
		if int(s.Event) != event {
			continue
		}
		stack = r.Stacks.Append(stack[:0], s.Stack)
		key = key[:0]
		for j := len(stack) - 1; j >= 0; j-- {
			if len(key) > 0 {
				key = append(key, ';')
			}
			key = append(key, names[stack[j]]...)
		}
		sum := sums[string(key)]
		sum.Weight += s.Weight
		sum.Count += s.Count
		sums[string(key)] = sum
	}
	return sums
}

// FoldedSum is the sum of the samples with one folded stack.
type FoldedSum struct{ Weight, Count int64 }

// WriteFolded writes one event as folded stacks, one line per distinct stack:
// the stack, a space, and the weight or, if counts is set, the number of samples.
// Lines are sorted.
func (r *Run) WriteFolded(w io.Writer, event int, counts bool) error {
	sums := r.Folded(event)
	keys := slices.Sorted(maps.Keys(sums))
	out := bufio.NewWriter(w)
	var line []byte
	for _, key := range keys {
		n := sums[key].Weight
		if counts {
			n = sums[key].Count
		}
		line = append(line[:0], key...)
		line = append(line, ' ')
		line = strconv.AppendInt(line, n, 10)
		line = append(line, '\n')
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}
