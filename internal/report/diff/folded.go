package diff

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"

	"profdiff/internal/report/text"
)

// WriteFolded writes one event of a comparison as FlameGraph's difffolded.pl does:
// a line per distinct stack, sorted, with the stack as run.Folded writes it, a space,
// what base spent in it, a space, and what head spent. Functions have the names of
// head, or of base if head does not have them. Costs come from Document.Stacks:
// whole numbers if nothing was normalized, rounded so that their sums are right, else
// up to three decimals. Lines of more than 4 GiB together are an error, and nothing is written.
func WriteFolded(w io.Writer, c *Document, event int) error {
	f := c.Stacks.Fold(event)
	if err := f.Check(); err != nil {
		return err
	}
	whole := c.Events[event].Normalization.Mode == AsRecorded
	var carry [2]text.Carry
	out := bufio.NewWriter(w)
	var err error
	f.Each(func(line []byte, sum *[2]float64) bool {
		stack := len(line)
		for side, v := range sum {
			if v < 0 {
				err = fmt.Errorf("stack %s has the negative weight %v: folded stacks of two sides cannot hold it", text.Printable(text.Shorten(string(line[:stack]), text.MaxName)), v)
				return false
			}
			line = append(line, ' ')
			if whole {
				line = strconv.AppendInt(line, carry[side].Round(v), 10)
			} else {
				line = strconv.AppendFloat(line, math.Round(v*1000)/1000, 'f', -1, 64)
			}
		}
		_, err = out.Write(append(line, '\n'))
		return err == nil
	})
	if err != nil {
		return err
	}
	return out.Flush()
}
