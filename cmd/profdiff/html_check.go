package main

import (
	"fmt"

	"github.com/spf13/cobra"

	branchdiff "profdiff/internal/branch/diff"
	"profdiff/internal/budget"
	"profdiff/internal/report/check"
	"profdiff/internal/report/diff"
	"profdiff/internal/report/html"
	report "profdiff/internal/report/predict"
)

// writePage writes the report of a check: the comparison by which limits were checked, what
// the budgets say first.
func (f *checkFlags) writePage(cmd *cobra.Command, std *stdio, o *budget.Outcome, document *check.Document, in *budget.Inputs, l *loader) error {
	opt := f.page.options()
	if err := f.page.findSource(cmd.Context(), in.Base, in.Head); err != nil {
		return err
	}
	page := f.page.parts(l)
	d := &html.Document{Tool: opt.Tool}
	if o.Comparison != nil {
		compared := diff.New(o.Comparison, diff.Parts{Page: page})
		compared.AddWaits(l.waitsOf(in.Base), l.waitsOf(in.Head))
		d = html.FromComparison(compared, opt)
	}
	d.AddOutcome(document, diff.NewPageSide(o.Design.Base, page), diff.NewPageSide(o.Design.Head, page), opt)
	x := &sectionInputs{base: in.Base, head: in.Head, loader: l, in: &f.in, tables: f.tables, cpu: f.cpu, missCost: f.missCost}
	if err := f.sections.add(cmd, std, &f.page, d, x); err != nil {
		return err
	}
	if d.Branches == nil && len(in.Branches[0]) > 0 && len(in.Branches[1]) > 0 {
		with := branchdiff.Options{Margin: defaultMargin, Ops: in.Ops, Objects: l.opt.Objects}
		if o.Comparison != nil {
			with.Unpaired, with.AllowBlockedOrder = o.Comparison.Options.Unpaired, o.Comparison.Options.AllowBlockedOrder
		}
		if c, err := branchdiff.Compare(in.Branches[0], in.Branches[1], with); err != nil {
			d.Warnings = append(d.Warnings, fmt.Sprintf("branches are not compared: %v", err))
		} else {
			d.Add(html.FromBranchDiff(f.page.branches(c, l.opt.Objects), f.page.options()))
		}
	}
	if p := f.model.Prediction(); p != nil && d.Pipeline == nil {
		d.Add(html.FromPrediction(report.New(p), opt))
	}
	return f.page.write(std, d)
}
