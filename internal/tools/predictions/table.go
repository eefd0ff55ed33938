package main

import (
	"fmt"
	"io"
	"math"
)

// A summary is what all rows come to.
type summary struct {
	pairs, refused int
	predicted      int
	alone, inside  int // whose interval holds what was measured: of the code alone, and as printed
	right, wrong   int // winners
	undecided      int
	errors, worst  float64 // logarithms: their sum, and the largest
	worstName      string
}

// table writes what was predicted beside what was measured. Where profdiff predicted nothing
// but asked for flags, the row is that of the prediction with them.
func (s *settings) table(w io.Writer) error {
	fmt.Fprintln(w, "| Pair | | From | Cycles | Predicted | Measured | Inside | Winner | Seconds (of CPUs) |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- | --- | --- | ---: |")
	var sum summary
	for i := range s.pairs {
		p := &s.pairs[i]
		m, err := s.measured(p)
		if err != nil {
			return err
		}
		f, err := s.forecast(p, false)
		if err != nil {
			return err
		}
		sum.pairs++
		mark := ""
		if !f.ok && p.asked != nil {
			if f, err = s.forecast(p, true); err != nil {
				return err
			}
			mark = " *"
			sum.refused++
		}
		from := p.library
		if from == "" {
			from = "own"
		}
		predicted, inside, winner := "none", "–", "–"
		if f.ok {
			predicted, inside, winner = sum.add(p, &f, m)
		}
		fmt.Fprintf(w, "| `%s`: %s%s | %s | %s | %.2f → %.2f per %s | %s | %s | %s | %s | %s |\n", p.name, p.title, mark, p.language, from,
			m.cycles[0], m.cycles[1], p.unit, predicted, m.speed, inside, winner, f.seconds)
	}
	fmt.Fprintf(w, "\nOf %d pairs, %d without a flag and %d with those that profdiff asked for (*): error of the speed-up ×%.2f, worst ×%.2f (%s); "+
		"inside %d of %d by the code alone, %d as printed; winners %d right, %d wrong, %d not named.\n",
		sum.pairs, sum.pairs-sum.refused, sum.refused, math.Exp(sum.errors/float64(sum.predicted)), math.Exp(sum.worst), sum.worstName,
		sum.alone, sum.predicted, sum.inside, sum.right, sum.wrong, sum.undecided)
	return nil
}

// add adds a prediction, and returns what the table says of it.
func (sum *summary) add(p *pair, f *forecast, m *measurement) (predicted, inside, winner string) {
	sum.predicted++
	x := math.Abs(math.Log(f.speed.centre / m.speed.centre))
	sum.errors += x
	if x > sum.worst {
		sum.worst, sum.worstName = x, p.name
	}
	words := map[bool]string{true: "yes", false: "**no**"}
	alone, printed := f.alone.holds(m.speed.centre), f.speed.holds(m.speed.centre)
	if alone {
		sum.alone++
	}
	if printed {
		sum.inside++
	}
	predicted, inside = f.speed.String(), words[printed]
	if f.alone != f.speed {
		predicted += fmt.Sprintf(", of the code alone [%.2f, %.2f]", f.alone.lo, f.alone.hi)
		inside += ", of the code alone " + words[alone]
	}
	switch named := f.speed.winner(); {
	case named == 0:
		sum.undecided++
		return predicted, inside, "none named"
	case named == m.speed.winner():
		sum.right++
		return predicted, inside, "right"
	case m.speed.winner() == 0:
		return predicted, inside, "measured: none"
	}
	sum.wrong++
	return predicted, inside, "**wrong**"
}
