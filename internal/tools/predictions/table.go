package main

import (
	"fmt"
	"io"
	"strings"
)

// table writes what was predicted beside what was measured.
func (s *settings) table(w io.Writer) error {
	fmt.Fprintln(w, "| Pair | | From | Cycles | Predicted | Measured | Inside | Winner | Seconds (of CPUs) |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- | --- | --- | ---: |")
	for i := range s.pairs {
		p := &s.pairs[i]
		m, err := s.measured(p)
		if err != nil {
			return err
		}
		for _, asked := range []bool{false, true} {
			if asked && p.asked == nil {
				continue
			}
			if err := s.row(w, p, m, asked); err != nil {
				return err
			}
		}
	}
	return nil
}

// row writes the row of a pair.
func (s *settings) row(w io.Writer, p *pair, m *measurement, asked bool) error {
	speed, seconds, ok, err := s.predicted(p, asked)
	if err != nil {
		return err
	}
	predicted, inside, winner := "none", "–", "–"
	if ok {
		predicted, inside, winner = speed.String(), "**no**", "none named"
		if speed.lo <= m.speed.centre && m.speed.centre <= speed.hi {
			inside = "yes"
		}
		switch speed.winner() * m.speed.winner() {
		case 1:
			winner = "right"
		case -1:
			winner = "**wrong**"
		default:
			if speed.winner() != 0 {
				winner = "measured: none"
			}
		}
	}
	from, title := p.library, p.title
	if from == "" {
		from = "own"
	}
	if asked {
		title = "with `" + strings.Join(p.asked, " ") + "`"
	}
	fmt.Fprintf(w, "| `%s`: %s | %s | %s | %.2f → %.2f a %s | %s | %s | %s | %s | %s |\n", p.name, title, p.language, from,
		m.cycles[0], m.cycles[1], p.unit, predicted, m.speed, inside, winner, seconds)
	return nil
}
