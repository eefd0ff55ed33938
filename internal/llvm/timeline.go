package llvm

import (
	"fmt"
	"strings"
)

// timelineColumn is where the cycles begin in llvm-mca's drawing.
const timelineColumn = 10

// TimelineText draws the timeline as llvm-mca -timeline does: a line for each
// instruction and iteration, a column for each cycle. Its size grows with the square of
// the number of iterations.
//
//	D  dispatched
//	=  waiting for operands or a free unit
//	e  executing
//	E  executed
//	-  waiting to retire
//	R  retired
func (s *Simulation) TimelineText() string {
	n := len(s.Instructions)
	if n == 0 || len(s.Timeline) == 0 {
		return ""
	}
	last := 0
	for _, row := range s.Timeline {
		last = max(last, int(row.Retired))
	}
	var b strings.Builder
	if last >= 10 {
		b.WriteString(strings.Repeat(" ", timelineColumn))
		for cycle := range last + 1 {
			b.WriteByte(digit(cycle, 1))
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%-*s", timelineColumn, "Index")
	for cycle := range last + 1 {
		b.WriteByte(digit(cycle, 0))
	}
	b.WriteString("\n\n")
	for i, row := range s.Timeline {
		index := fmt.Sprintf("[%d,%d]", i/n, i%n)
		fmt.Fprintf(&b, "%-*s", max(timelineColumn, len(index)+1), index)
		row.draw(&b, last)
		b.WriteString("   ")
		b.WriteString(s.Instructions[i%n])
		b.WriteByte('\n')
	}
	return b.String()
}

// digit is what the ruler shows of a cycle: the tens alternate between its lower line
// (0) and its upper line (1).
func digit(cycle, line int) byte {
	if cycle/10%2 != line {
		return ' '
	}
	return '0' + byte(cycle%10)
}

// draw draws a row up to the last cycle of the timeline.
func (r Row) draw(b *strings.Builder, last int) {
	cycle := 0
	fill := func(to int32, c byte) {
		for ; cycle < int(to); cycle++ {
			b.WriteByte(c)
		}
	}
	for ; cycle < int(r.Dispatched); cycle++ {
		b.WriteByte(ruler(cycle))
	}
	b.WriteByte('D')
	cycle++
	// An instruction without latency is done in the cycle in which it is dispatched.
	if r.Executed > r.Dispatched {
		fill(r.Issued, '=')
		fill(r.Executed, 'e')
		b.WriteByte('E')
		cycle++
	}
	fill(r.Retired, '-')
	if r.Retired > r.Executed {
		b.WriteByte('R')
		cycle++
	}
	for ; cycle <= last; cycle++ {
		if cycle == last {
			b.WriteByte('.')
		} else {
			b.WriteByte(ruler(cycle))
		}
	}
}

// ruler marks every fifth cycle.
func ruler(cycle int) byte {
	if cycle%5 == 0 {
		return '.'
	}
	return ' '
}
