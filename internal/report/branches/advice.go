package branches

import (
	"fmt"
	"io"

	"profdiff/internal/report/text"
)

// maxAdvice is how many branches text has advice on: those that cost most.
const maxAdvice = 5

// writeBranchAdvice writes what to do about the branches, and when it is worth it.
func writeBranchAdvice(w io.Writer, d *Document) {
	if d.Advice != "" {
		fmt.Fprintf(w, "\nall branches: %s\n", text.Printable(d.Advice))
	}
	n, more := 0, 0
	for i := range d.Branches {
		b := &d.Branches[i]
		a := b.Advice
		switch {
		case a == nil:
			continue
		case n == maxAdvice:
			more++
			continue
		}
		n++
		fmt.Fprintf(w, "\n%s: %s\n", text.Printable(b.where()), text.Printable(string(a.ID)))
		fmt.Fprintf(w, "  do    %s\n", text.Printable(a.Text))
		if a.Condition != "" {
			fmt.Fprintf(w, "  when  %s\n", text.Printable(a.Condition))
		}
		for _, against := range a.Against {
			fmt.Fprintf(w, "  mind  %s\n", text.Printable(against))
		}
		fmt.Fprintf(w, "  cost  %s\n", branchStake(a))
	}
	if more > 0 {
		fmt.Fprintf(w, "\n(advice on %d more in the JSON)\n", more)
	}
}

// branchStake says what the misses cost and of what that is a share.
func branchStake(a *Advice) string {
	switch a.Of {
	case OfCycles:
		return text.Share(a.Share, 1) + " of the cycles"
	case OfInstructions:
		return text.Share(a.Share, 1) + " of as many cycles as there are instructions; how many there are is not known"
	}
	return text.Share(a.Share, 1) + " of the misses; what they cost is not known"
}
