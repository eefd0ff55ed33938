package budget

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"profdiff/internal/run"
	"profdiff/internal/verdict"
)

// HistorySchema names the form of a HistoryLine.
const HistorySchema = "profdiff.history/v1"

// A HistoryLine is one check in a file of checks, to which lines are added only.
type HistoryLine struct {
	Schema string `json:"schema"`
	// Recorded is when the first run of head was, zero if unknown, and Machine on what.
	Recorded time.Time       `json:"recorded,omitzero"`
	Machine  string          `json:"machine,omitempty"`
	Budgets  []HistoryBudget `json:"budgets"`
}

// A HistoryBudget is what one check said of a budget.
type HistoryBudget struct {
	ID      string          `json:"id"`
	Verdict verdict.Verdict `json:"verdict"`
	// Headroom is what is left of the limit, 0 to 1.
	Headroom float64 `json:"headroom"`
	// What was limited, and what head cost in it; 0 if it is not known.
	What string  `json:"what,omitempty"`
	Head float64 `json:"head,omitempty"`
}

// What makes a budget stale: in so many checks it passed with so much of its limit left.
const (
	staleChecks   = 10
	staleHeadroom = 0.5
)

// What makes a step: each of the last checks cost more than each of those before, or less. If
// nothing changed, one of 3,003 checks looks so. Of many budgets and machines that change
// some will: it is for people to look at, and no verdict.
const (
	stepAfter  = 5
	stepBefore = 10
)

// Remember is the outcome as a line of history. Budgets that were stale for long, and those
// whose cost made a step, are noted. past are the lines before, the oldest first.
func (o *Outcome) Remember(past []HistoryLine) HistoryLine {
	line := HistoryLine{Schema: HistorySchema}
	if len(o.Design.Head) > 0 {
		rec := &o.Design.Head[0].Recording
		line.Recorded, line.Machine = rec.Start.UTC(), machineOf(rec)
	}
	for i := range o.Results {
		r := &o.Results[i]
		b := HistoryBudget{ID: r.ID, Verdict: r.Verdict, Headroom: r.headroom()}
		if c := r.Deciding; c != nil && c.Head > 0 && !math.IsInf(c.Head, 0) {
			b.What, b.Head = c.What, c.Head
		}
		line.Budgets = append(line.Budgets, b)
	}
	past = append(slices.Clip(past), line)
	for i := range o.Results {
		o.Results[i].noteStale(past)
		o.Results[i].noteStep(past)
	}
	return line
}

func machineOf(r *run.Recording) string {
	return strings.TrimSpace(strings.Join([]string{r.Arch, cmp.Or(r.CPUID, r.CPU), r.Kernel}, " "))
}

func (l *HistoryLine) budget(id string) *HistoryBudget {
	for i := range l.Budgets {
		if l.Budgets[i].ID == id {
			return &l.Budgets[i]
		}
	}
	return nil
}

// noteStale marks a budget that passed with much headroom in all of the last checks.
func (r *Result) noteStale(past []HistoryLine) {
	if len(past) < staleChecks {
		return
	}
	for i := range past[len(past)-staleChecks:] {
		b := past[len(past)-staleChecks+i].budget(r.ID)
		if b == nil || b.Verdict != verdict.Pass || !(b.Headroom > staleHeadroom) {
			return
		}
	}
	r.setStale(staleChecks)
}

// noteStep notes that cost made a step, among the checks of the same on this machine.
func (r *Result) noteStep(past []HistoryLine) {
	last := &past[len(past)-1]
	now := last.budget(r.ID)
	if now == nil || !(now.Head > 0) {
		return
	}
	var costs []float64
	for i := range past {
		if b := past[i].budget(r.ID); past[i].Machine == last.Machine && b != nil && b.What == now.What && b.Head > 0 {
			costs = append(costs, b.Head)
		}
	}
	n := len(costs)
	if n < stepBefore+stepAfter {
		return
	}
	before, after := slices.Clone(costs[n-stepAfter-stepBefore:n-stepAfter]), slices.Clone(costs[n-stepAfter:])
	slices.Sort(before)
	slices.Sort(after)
	word := ""
	switch {
	case after[0] > before[stepBefore-1]:
		word = "more"
	case after[stepAfter-1] < before[0]:
		word = "less"
	default:
		return
	}
	ratio := after[stepAfter/2] / ((before[stepBefore/2-1] + before[stepBefore/2]) / 2)
	r.Notes = append(r.Notes, fmt.Sprintf("each of the last %d checks cost %s than each of the %d before, %+.1f%% in the middle: a step, or another machine?", stepAfter, word, stepBefore, 100*(ratio-1)))
}
