package branches

import (
	"fmt"

	"profdiff/internal/branch"
	"profdiff/internal/branch/diff"
	"profdiff/internal/report/text"
)

// NewDiff makes the document of a comparison, with what a page has if
// that is not nil.
func NewDiff(c *diff.Result, page *Page) *DiffDocument {
	n := &c.Normalization
	d := &DiffDocument{
		Schema: DiffSchema, Tier: c.Base[0].Tier, Base: newInputs(c.Base), Head: newInputs(c.Head), Design: DiffDesign{c.Pairing.Turns(c.Order)},
		Different: append([]string{}, c.Different...), Counted: c.Counted, Method: c.Method, Margin: c.Margin,
		Normalization: DiffNormalized{Mode: n.Mode, Unit: n.Unit, Factor: text.Number(n.Factor), Executions: text.Number(n.Executions), Branches: n.Branches},
		Branches:      make([]DiffBranch, 0, len(c.Branches)), Hidden: c.Hidden,
		Functions: make([]FunctionDiff, 0, len(c.Functions)), HiddenFunctions: c.HiddenFunctions,
		Warnings: append([]string{}, c.Warnings...),
	}
	for side, runs := range [][]*branch.Table{c.Base, c.Head} {
		for _, t := range runs {
			d.Runs[side] = append(d.Runs[side], newHead(t))
		}
	}
	if c.Total != nil {
		d.Total = new(newDiffChange(c, c.Total))
	}
	if s := c.Savings; s != nil {
		d.Savings = &DiffSavings{
			Misses: newDiffEstimate(s.Misses), Instructions: s.Instructions, IPC: s.IPC[:], IPCSource: s.IPCSource,
			MissCost: s.Cost, Predicted: newDiffEstimate(s.Predicted), Measured: s.Measured, Finding: s.Finding,
		}
	}
	for i := range c.Branches {
		b := &c.Branches[i]
		row := DiffBranch{
			Base: newDiffSide(b.Base), Head: newDiffSide(b.Head), Match: b.Match, Verdict: b.Misses.Verdict,
			Misses: newDiffChange(c, &b.Misses), RateOfAll: b.RateOfAll, Function: b.Function, Note: b.Note, Code: -1,
		}
		if b.Rate != nil {
			row.Rate = new(newDiffChange(c, b.Rate))
		}
		if r := b.ReplacedBy; r != nil {
			row.ReplacedBy = &Replacement{By: string(r.By), Text: r.Text, File: r.File, Line: r.Line, BaseInstructions: r.Base, HeadInstructions: r.Head, Now: r.String()}
			if r.Text != "" {
				row.ReplacedBy.Address = fmt.Sprintf("%#x", r.Address)
			}
		}
		d.Branches = append(d.Branches, row)
	}
	for i := range c.Functions {
		f := &c.Functions[i]
		d.Functions = append(d.Functions, FunctionDiff{
			Name: f.Name, BaseName: f.BaseName, DSO: f.DSO, Core: f.PMU, Misses: newDiffChange(c, &f.Misses),
			BaseSamples: f.BaseSamples, HeadSamples: f.HeadSamples, Verdict: f.Misses.Verdict,
		})
	}
	d.Story = d.tell()
	if page != nil {
		before, after := make(branchPlaces), make(branchPlaces)
		for i := range d.Branches {
			if b := d.Branches[i].Base; b != nil {
				before.add(b.First, i)
			}
			if b := d.Branches[i].Head; b != nil {
				after.add(b.First, i)
			}
		}
		d.Code = page.code(before, after, func(row, code int) { d.Branches[row].Code = code })
	}
	return d
}

func newInputs(runs []*branch.Table) (list []Input) {
	for _, t := range runs {
		list = append(list, newInput(t))
	}
	return list
}

func newDiffChange(d *diff.Result, c *diff.Change) DiffChange {
	out := DiffChange{Base: c.Base, Head: c.Head, Delta: c.Delta(), Ratio: text.Number(c.Ratio), P: text.Missing, Q: text.Missing, Finding: c.Finding}
	if !d.Counted {
		out.CI, out.P = []text.Number{text.Number(c.CI.Lo), text.Number(c.CI.Hi)}, text.Number(c.P)
		if c.Tested && !c.Declared {
			out.Q = text.Number(c.Adjusted)
		}
	}
	return out
}

func newDiffEstimate(e branch.Estimate) DiffEstimate {
	return DiffEstimate{Value: e.Value, CI: []text.Number{text.Number(e.Lo), text.Number(e.Hi)}}
}

func newDiffSide(s *diff.SideBranch) *DiffSide {
	if s == nil {
		return nil
	}
	first := newBranch(s.Branch, true) // or the sides could not be compared
	return &DiffSide{Place: first.Place, Runs: s.Runs, Misses: s.Misses, Executed: s.Executed, N: s.N, NMisses: s.NMisses, First: &first}
}
