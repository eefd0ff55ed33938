package branches

import (
	"fmt"
	"io"
	"strings"

	"profdiff/internal/branch"
	"profdiff/internal/report/text"
)

// maxAdvice is how many branches text has advice on: those that cost most.
const maxAdvice = 5

// writeBranchAdvice writes what to do about the branches, and when it is worth it.
func writeBranchAdvice(w io.Writer, t *branch.Table, rows []*branch.Branch) error {
	out := &strings.Builder{}
	if t.Advice != "" {
		fmt.Fprintf(out, "\nall branches: %s\n", text.Printable(t.Advice))
	}
	n, more := 0, 0
	for _, b := range rows {
		a := b.Advice
		switch {
		case a == nil:
			continue
		case n == maxAdvice:
			more++
			continue
		}
		n++
		fmt.Fprintf(out, "\n%s: %s\n", text.Printable(branchPlace(b)), text.Printable(string(a.ID)))
		fmt.Fprintf(out, "  do    %s\n", text.Printable(a.Text))
		if a.Condition != "" {
			fmt.Fprintf(out, "  when  %s\n", text.Printable(a.Condition))
		}
		for _, against := range a.Against {
			fmt.Fprintf(out, "  mind  %s\n", text.Printable(against))
		}
		fmt.Fprintf(out, "  cost  %s\n", branchStake(a))
	}
	if more > 0 {
		fmt.Fprintf(out, "\n(advice on %d more in the JSON)\n", more)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// branchStake says what the misses cost and of what that is a share.
func branchStake(a *branch.Advice) string {
	switch a.Of {
	case branch.OfCycles:
		return text.Share(a.Share, 1) + " of the cycles"
	case branch.OfInstructions:
		return text.Share(a.Share, 1) + " of as many cycles as there are instructions; how many there are is not known"
	}
	return text.Share(a.Share, 1) + " of the misses; what they cost is not known"
}

// A Advice is what to do about a branch.
type Advice struct {
	ID          string   `json:"id"` // if-convert, table, sort, devirtualize, dispatch, layout, unroll, returns, leave or identify
	Text        string   `json:"text"`
	Condition   string   `json:"condition"` // when it is worth it
	Against     []string `json:"against"`   // what to mind
	Rate        *float64 `json:"rate"`      // the end of the interval that was compared with, null if unknown
	BreakEven   float64  `json:"break_even"`
	RuleOfThumb bool     `json:"rule_of_thumb"` // break_even is a rule of thumb for any branch
	Share       float64  `json:"share"`         // what the misses cost
	Of          string   `json:"of"`            // as a part of the cycles, the instructions or the misses
	CodeSeen    bool     `json:"code_seen"`
}

func newAdvice(a *branch.Advice) *Advice {
	if a == nil {
		return nil
	}
	return &Advice{
		ID: string(a.ID), Text: a.Text, Condition: a.Condition, Against: append([]string{}, a.Against...), Rate: a.Rate,
		BreakEven: a.BreakEven, RuleOfThumb: a.RuleOfThumb, Share: a.Share, Of: string(a.Of), CodeSeen: a.CodeSeen,
	}
}
