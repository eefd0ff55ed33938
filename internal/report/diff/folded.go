package diff

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"

	"profdiff/internal/report/text"
	"profdiff/internal/run"
)

// WriteFolded writes one event of a comparison as FlameGraph's difffolded.pl does:
// a line per distinct stack, sorted, with the stack as run.Folded writes it, a space,
// what base spent in it, a space, and what head spent. Functions have the names of
// head, or of base if head does not have them. Costs come from Document.Stacks:
// whole numbers if nothing was normalized, rounded so that their sums are right, else
// up to three decimals.
func WriteFolded(w io.Writer, c *Document, event int) error {
	stacks := c.Stacks
	names := make([]string, len(stacks.Frames))
	for i := range names {
		names[i] = run.EscapeFrame(stacks.Frames[i].Name)
	}
	sums := make(map[string][2]float64)
	var key []byte
	for s := range stacks.All() {
		key = key[:0]
		for i, frame := range s.Frames {
			if i > 0 {
				key = append(key, ';')
			}
			key = append(key, names[frame]...)
		}
		sum := sums[string(key)]
		sum[0] += s.Base[event]
		sum[1] += s.Head[event]
		sums[string(key)] = sum
	}
	whole := c.Events[event].Normalization.Mode == AsRecorded
	var carry [2]text.Carry
	out := bufio.NewWriter(w)
	var line []byte
	for _, key := range slices.Sorted(maps.Keys(sums)) {
		line = append(line[:0], key...)
		for side, v := range sums[key] {
			if v < 0 {
				return fmt.Errorf("stack %s has the negative weight %v: folded stacks of two sides cannot hold it", text.Printable(text.Shorten(key, text.MaxName)), v)
			}
			line = append(line, ' ')
			if whole {
				line = strconv.AppendInt(line, carry[side].Round(v), 10)
			} else {
				line = strconv.AppendFloat(line, math.Round(v*1000)/1000, 'f', -1, 64)
			}
		}
		line = append(line, '\n')
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}
