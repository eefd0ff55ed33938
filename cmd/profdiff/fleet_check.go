package main

import (
	"io"
	"slices"

	"github.com/spf13/cobra"

	"profdiff/internal/budget"
	"profdiff/internal/fleet/query"
	"profdiff/internal/fleet/store"
	"profdiff/internal/limit"
	"profdiff/internal/report/check"
	"profdiff/internal/report/diff"
	"profdiff/internal/report/html"
	"profdiff/internal/verdict"
)

// fleetOutcome checks a file that is about a fleet against a store, and writes what was found.
func (c *checkCommand) fleetOutcome(cmd *cobra.Command, std *stdio, file *budget.File, paths []string, targets []outTarget) (*budget.Outcome, error) {
	if len(paths) != 1 {
		return nil, usagef(cmd, "%s is about a fleet: name its store, profdiff check --budget %s STORE", c.budget, c.budget)
	}
	for _, flag := range []string{"base", "head", "ops", "rename", "base-values", "head-values", "stored-baseline", "noise", "benchmark", "predict", "prove", "look", "look-file", "history"} {
		if cmd.Flags().Changed(flag) {
			return nil, usagef(cmd, "--%s is for recordings, and %s is about a fleet", flag, c.budget)
		}
	}
	today, err := c.date(cmd)
	if err != nil {
		return nil, err
	}
	limit.Advise(smallerStore)
	s, err := store.Open(paths[0])
	if err != nil {
		return nil, err
	}
	of := fleetQuestion{sampleType: file.Fleet.SampleType, per: file.Fleet.Per}
	if of.per == "" {
		of.per = string(query.Share)
	}
	if len(file.Fleet.Release) == 2 {
		of.before, of.after = file.Fleet.Release[0], file.Fleet.Release[1]
	}
	q, err := of.question(cmd, s)
	if err != nil {
		return nil, err
	}
	in := &budget.FleetInputs{Today: today, Strict: c.strict}
	if c.proposed != "" {
		if in.Proposed, _, err = readBudget(c.proposed); err != nil {
			return nil, err
		}
	}
	for f, err := range s.Functions() {
		if err != nil {
			return nil, err
		}
		in.Functions = append(in.Functions, f)
	}
	var answer *query.Answer
	in.Ask = func(sets []map[int64]bool) (*query.Answer, error) {
		var err error
		answer, err = query.Ask(s, q, query.Scan{Sets: sets})
		return answer, err
	}
	o, err := file.CheckFleet(in)
	if err != nil {
		return nil, fileError(err)
	}
	document := check.New(o, reportTool())
	if c.page.file != "" {
		stacks, err := query.AskStacks(s, answer.Population)
		if err != nil {
			return nil, err
		}
		d := diff.NewFleet(answer.Judge(verdict.Rule{Margin: verdict.Margin, FalseDiscovery: verdict.FalseDiscovery}), stacks)
		page := html.FromComparison(d, c.page.options())
		page.AddOutcome(document, d.Base, d.Head, c.page.options())
		if err := c.page.write(std, page); err != nil {
			return nil, err
		}
	}
	for _, t := range targets {
		if err := std.writeCheck(t, document, c.sourceRoot, func(w io.Writer, write func(io.Writer) error) error { return c.page.reviewed(w, nil, write) }); err != nil {
			return nil, err
		}
	}
	if !slices.ContainsFunc(targets, func(t outTarget) bool { return slices.Contains(outWarns, t.format) }) {
		std.warnAll(o.Design.Warnings)
	}
	return o, nil
}
