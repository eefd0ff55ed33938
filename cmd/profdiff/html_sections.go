package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"profdiff/internal/branch"
	"profdiff/internal/branch/diff"
	"profdiff/internal/predict"
	"profdiff/internal/report/html"
	report "profdiff/internal/report/predict"
	"profdiff/internal/run"
)

// htmlSections are what a report of a comparison may have beside it.
type htmlSections struct {
	branches [2]string
	predict  bool
	llvm     string
}

// register adds all flags.
func (s *htmlSections) register(cmd *cobra.Command) {
	s.registerInputs(cmd, "for the report")
	cmd.Flags().BoolVar(&s.predict, "predict", false, "show in the report what llvm-mca predicts of the hottest loop")
}

// registerInputs adds the flags of what else is read, and what for.
func (s *htmlSections) registerInputs(cmd *cobra.Command, purpose string) {
	fs := cmd.Flags()
	fs.StringVar(&s.branches[0], "branches-before", "", purpose+", take the branches of BEFORE from `FILE`, of callgrind or with branch stacks")
	fs.StringVar(&s.branches[1], "branches-after", "", purpose+", take the branches of AFTER from `FILE`")
	fs.StringVar(&s.llvm, "llvm", "", "take llvm-mca and llvm-objdump from `DIR` (default: from PATH and /usr/lib/llvm-*)")
}

// check refuses sections without a report.
func (s *htmlSections) check(cmd *cobra.Command, page *htmlFlags) error {
	switch {
	case (s.branches[0] == "") != (s.branches[1] == ""):
		return usagef(cmd, "--branches-before and --branches-after go together")
	case s.predict && page.file == "":
		return usagef(cmd, "--predict needs --html FILE")
	}
	return nil
}

// tables reads the branches of both sides, nil if they are not named.
func (s *htmlSections) tables(std *stdio, opt *branch.Options) (tables [2]*branch.Table, err error) {
	for i, name := range s.branches {
		if name == "" {
			continue
		}
		if tables[i], err = std.readBranches(name, opt); err != nil {
			return tables, err
		}
	}
	return tables, nil
}

// branchOptions say how branches are read for a comparison.
func branchOptions(in *inputFlags, l *loader) *branch.Options {
	opt := &branch.Options{AllowTruncated: in.allowTruncated}
	opt.Names.Objects, opt.Names.Kallsyms = l.opt.Objects, l.opt.Kallsyms
	return opt
}

// defaultMargin is what --margin says unless it is given.
const defaultMargin = 0.02

// sectionInputs are what sections are made from.
type sectionInputs struct {
	base, head []*run.Run
	loader     *loader
	in         *inputFlags
	tables     [2]*branch.Table // nil if there are none
	cpu        string
	missCost   string
}

// add adds to a document what was asked for.
func (s *htmlSections) add(cmd *cobra.Command, std *stdio, page *htmlFlags, d *html.Document, x *sectionInputs) error {
	if x.tables[0] != nil && x.tables[1] != nil {
		c, err := diff.Compare([]*branch.Table{x.tables[0]}, []*branch.Table{x.tables[1]}, diff.Options{Margin: defaultMargin, Objects: x.loader.opt.Objects})
		if err != nil {
			return err
		}
		d.Add(html.FromBranchDiff(page.branches(c, x.loader.opt.Objects), page.options()))
	}
	if !s.predict {
		return nil
	}
	f := s.predictFlags(x)
	finder := std.finder(x.loader.opt.Objects, x.in)
	var sides [2]*predict.SideInput
	for i, runs := range [][]*run.Run{x.base, x.head} {
		side, err := finder.Side([]string{"before", "after"}[i], runs, "")
		if t := x.tables[i]; err == nil && t != nil {
			if err = side.AddBranches(x.loader.opt.Objects, t); err != nil {
				err = fmt.Errorf("%s: %w", t.Name, err)
			}
		}
		if err != nil {
			return fmt.Errorf("--predict: %w", err)
		}
		sides[i] = side
	}
	p, err := std.predictSides(cmd, f, sides, append(predict.CPUNames(x.base), predict.CPUNames(x.head)...), predict.PairOptions{})
	if err != nil {
		return fmt.Errorf("--predict: %w", err)
	}
	d.Add(html.FromPrediction(report.New(p), page.options()))
	return nil
}

// predictFlags are the flags of predict that sections have, too.
func (s *htmlSections) predictFlags(x *sectionInputs) *predictFlags {
	return &predictFlags{cpu: x.cpu, llvm: s.llvm, missCost: x.missCost, timeout: defaultTimeout, drawn: maxDrawn}
}
