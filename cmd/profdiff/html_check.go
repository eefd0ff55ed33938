package main

import (
	"fmt"

	"github.com/spf13/cobra"

	branchdiff "profdiff/internal/branch/diff"
	"profdiff/internal/budget"
	"profdiff/internal/predict"
	"profdiff/internal/report/diff"
	"profdiff/internal/report/html"
	"profdiff/internal/run"
)

// writePage writes the report of a check: the comparison by which limits were checked, what
// the budgets say first.
func (f *checkFlags) writePage(cmd *cobra.Command, std *stdio, o *budget.Outcome, in *budget.Inputs, l *loader) error {
	opt := f.page.options()
	page := f.page.parts(l)
	d := &html.Document{Tool: opt.Tool}
	if o.Comparison != nil {
		d = html.FromComparison(diff.New(o.Comparison, diff.Parts{Page: page}), opt)
	}
	d.AddOutcome(o, diff.NewPageSide(o.Design.Base, page), diff.NewPageSide(o.Design.Head, page), opt)
	x := &sectionInputs{base: in.Base, head: in.Head, loader: l, in: &f.in, tables: f.tables, cpu: f.cpu, missCost: f.missCost}
	if err := f.sections.add(cmd, std, &f.page, d, x); err != nil {
		return err
	}
	if d.Branches == nil && len(in.Branches[0]) > 0 && len(in.Branches[1]) > 0 {
		if c, err := branchdiff.Compare(in.Branches[0], in.Branches[1], branchdiff.Options{Margin: defaultMargin, Symfs: l.opt.Symfs}); err != nil {
			d.Warnings = append(d.Warnings, fmt.Sprintf("branches are not compared: %v", err))
		} else {
			d.Add(f.page.branchDiff(c, l.opt.Symfs))
		}
	}
	f.model.addTo(d, opt)
	return f.page.write(std, d)
}

// headModel is what predicts cycles of head.
func (f *checkFlags) headModel(cmd *cobra.Command, std *stdio, runs []*run.Run, files []string) *headModel {
	flags := &predictFlags{cpu: f.cpu, missCost: f.missCost, llvm: f.sections.llvm, timeout: defaultTimeout}
	if f.page.file != "" {
		flags.drawn = 1
	}
	m := &headModel{
		cmd: cmd, std: std, flags: flags, symfs: f.in.symfs, runs: runs, table: f.tables[1], stacks: files,
		known: make(map[string]*headPrediction),
	}
	if len(f.in.events) > 0 {
		m.event = f.in.events[0]
	}
	return m
}

// addTo adds the loops that were predicted for budgets. Those of other CPUs than the first
// are left out: a section is of one.
func (m *headModel) addTo(d *html.Document, opt html.Options) {
	var results []*predict.Result
	var machine *predict.Machine
	for _, p := range m.inOrder {
		if p.err != nil || machine != nil && p.report.Machine.Model != machine.Model {
			continue
		}
		machine = p.report.Machine
		for _, r := range p.report.Results {
			// Head alone was predicted.
			alone := *r
			pair := *r.Pair
			pair.Base = nil
			alone.Pair = &pair
			results = append(results, &alone)
		}
	}
	if len(results) > 0 && d.Pipeline == nil {
		d.Add(html.FromPrediction(machine, results, opt))
	}
}
