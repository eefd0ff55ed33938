package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"profdiff/internal/branch"
	"profdiff/internal/budget"
	"profdiff/internal/exchange"
	"profdiff/internal/input"
	"profdiff/internal/metric"
	"profdiff/internal/predict"
	"profdiff/internal/report/check"
	"profdiff/internal/run"
)

// An outcomeError ends a check that was made with an exit code of its own. It prints
// nothing: the report has.
type outcomeError struct{ code int }

func (e *outcomeError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// defaultBudget is the budget file if none is named.
const defaultBudget = ".profdiff.yaml"

// checkFlags are the flags of commands that check a budget.
type checkFlags struct {
	in         inputFlags
	diff       diffFlags
	budget     string
	proposed   string
	hash       string // of the budget file
	today      string
	values     [2][]string // NAME=PATH
	badRuns    int
	stored     string
	noise      string
	benchmark  string
	cpu        string
	missCost   string
	categories string
	sections   htmlSections
	page       htmlFlags
	tables     [2]*branch.Table // of the sections
	model      *predict.Head
}

func (f *checkFlags) register(cmd *cobra.Command) {
	f.in.register(cmd)
	fs := cmd.Flags()
	f.diff.base.register(cmd, "base", "before")
	f.diff.head.register(cmd, "head", "after")
	fs.StringVar(&f.budget, "budget", defaultBudget, "check against the budget `FILE`")
	fs.Float64SliceVar(&f.diff.ops, "ops", nil, "divide by `N` operations done in each run, or BASE,HEAD")
	fs.StringArrayVar(&f.diff.renames, "rename", nil, "compare the function OLD of base with NEW of head: `OLD=NEW` (repeatable)")
	fs.StringVar(&f.today, "today", "", "let waivers hold as on `DATE`, as 2006-01-02 (default: today, UTC)")
	for side, name := range []string{"base", "head"} {
		fs.StringArrayVar(&f.values[side], name+"-values", nil, "take the measured values of a stream from a file, or a directory with one for each run: `NAME=PATH` (repeatable)")
	}
	fs.StringVar(&f.stored, "stored-baseline", "", "compare with the runs that profdiff budget store wrote to `DIR`, instead of base: limits relative to it can warn, not fail")
	fs.StringVar(&f.noise, "noise", "", "take how much runs differ from those that profdiff budget store wrote to `DIR`, where there is one run a side")
	fs.StringVar(&f.benchmark, "benchmark", "", "take the stored runs of the benchmark `NAME`")
	fs.IntVar(&f.badRuns, "allow-bad-runs", 0, "leave out up to `K` recordings that cannot be read")
	fs.StringVar(&f.cpu, "cpu", "", "take the cost of a mispredicted branch of the core `NAME`, as LLVM calls it, and predict cycles for it")
	fs.StringVar(&f.missCost, "miss-cost", "", "a mispredicted branch costs `CYCLES`, a number or a range LO-HI")
	f.sections.registerInputs(cmd, "for predicted cycles and the report")
	fs.StringVar(&f.categories, "categories", "", "sort into the categories of `FILE` instead of the built-in ones")
}

// read reads the budget file. What is wrong with it is a wrong use.
func (f *checkFlags) read() (*budget.File, error) {
	file, data, err := readBudget(f.budget)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &usageError{nil, fmt.Errorf("%w: profdiff budget init INPUT -o %s writes a first one, and --budget names another", err, f.budget)}
	}
	f.hash = budget.Hash(data)
	return file, err
}

func readBudget(name string) (file *budget.File, data []byte, err error) {
	if data, err = readStart(name, budget.MaxSize+1); err == nil {
		file, err = budget.Parse(name, data)
	}
	if err != nil {
		return nil, nil, &usageError{nil, err}
	}
	return file, data, nil
}

// inputs reads all that a budget file is checked against.
func (f *checkFlags) inputs(cmd *cobra.Command, std *stdio, file *budget.File, paths []string) (*budget.Inputs, *loader, error) {
	in := &budget.Inputs{}
	var err error
	if in.Today, err = f.date(cmd); err != nil {
		return nil, nil, err
	}
	if err := file.CheckDates(in.Today); err != nil {
		return nil, nil, &usageError{nil, err}
	}
	if f.proposed != "" {
		if in.Proposed, _, err = readBudget(f.proposed); err != nil {
			return nil, nil, err
		}
	}
	if f.badRuns < 0 {
		return nil, nil, usagef(cmd, "--allow-bad-runs is 0 or more, not %d", f.badRuns)
	}
	f.diff.normalize, f.diff.margin = "auto", 2
	if in.Options, err = f.diff.options(cmd); err != nil {
		return nil, nil, err
	}
	in.Ops, in.Options.Ops = in.Options.Ops, nil
	if in.Ops != nil && !file.TakesOps() {
		return nil, nil, usagef(cmd, "--ops needs defaults.normalize: work:COUNTER or auto in %s", f.budget)
	}
	if f.categories != "" {
		if in.Categories, err = readCategories(f.categories); err != nil {
			return nil, nil, err
		}
	}
	if err := f.sides(cmd, file, paths); err != nil {
		return nil, nil, err
	}
	l, err := f.in.loader(cmd, std)
	if err != nil {
		return nil, nil, err
	}
	f.page.watch(l)
	if f.page.file != "" {
		l.keepWaits(nil)
	}
	files, notes, err := f.files()
	if err != nil {
		return nil, nil, err
	}
	for _, note := range notes {
		std.note(note)
	}
	sides, ofMetrics, err := l.metricSides(files)
	if err != nil {
		return nil, nil, err
	}
	if ofMetrics {
		if file.NeedsProfiles() {
			return nil, nil, fmt.Errorf("%s has metrics, but budgets of %s are of recordings: those of metrics have samples", files[1][0], f.budget)
		}
		files = [2][]string{}
	}
	l.opt.Timeline = l.opt.Timeline || (len(files[0]) == 1 || f.stored != "") && len(files[1]) == 1
	bad := f.badRuns
	for side, flags := range []*sideFlags{&f.diff.base, &f.diff.head} {
		to := []*[]*run.Run{&in.Base, &in.Head}[side]
		if *to, err = f.load(l, flags, files[side], &bad); err != nil {
			return nil, nil, err
		}
	}
	if err := f.baselines(in); err != nil {
		return nil, nil, err
	}
	if err := std.joinMerged(&in.Base, &in.Head); err != nil {
		return nil, nil, err
	}
	in.Code = func(side int) []budget.Code {
		store := l.opt.Objects
		for _, i := range []int{side, 1} { // base may be stored, and head newer
			if len(files[i]) > 0 {
				store = store.Beside(filepath.Dir(files[i][0]))
				break
			}
		}
		return codeOf([][]*run.Run{in.Base, in.Head}[side], store)
	}
	if err := f.stopped(cmd, l, in, file); err != nil {
		return nil, nil, err
	}
	if in.Streams, err = f.streams(cmd, std); err != nil {
		return nil, nil, err
	}
	if !ofMetrics {
		sides = [2][]*metric.Set{metricsOf(in.Base), metricsOf(in.Head)}
	}
	if err := metricStreams(in.Streams, file, sides); err != nil {
		return nil, nil, err
	}
	if file.NeedsBranches() {
		if in.Branches, err = f.branches(cmd, std, l, files); err != nil {
			return nil, nil, err
		}
	}
	if f.tables, err = f.sections.tables(std, branchOptions(&f.in, l)); err != nil {
		return nil, nil, err
	}
	f.model = f.headModel(cmd, std, l.opt.Objects, in.Head, files[1])
	in.Predict = func(req budget.PredictionRequest) (budget.Prediction, error) {
		return predicted(cmd.Context(), f.model, req)
	}
	if f.page.file != "" {
		in.Options.GroupBy = htmlGroups(in.Options.GroupBy)
	}
	return in, l, nil
}

// baselines reads the stored runs.
func (f *checkFlags) baselines(in *budget.Inputs) (err error) {
	if len(in.Head) == 0 || f.stored == "" && f.noise == "" {
		return nil
	}
	if flag := f.in.chosen(); flag != "" {
		return &usageError{nil, fmt.Errorf("%s: stored runs have all samples, head would not: budgets choose", flag)}
	}
	if f.stored != "" {
		if in.Stored, err = budget.ReadBaseline(f.stored, f.benchmark, in.Head[0]); err != nil {
			return err
		}
		in.Base = in.Stored.Runs
	}
	if f.noise != "" {
		in.Noise, err = budget.ReadBaseline(f.noise, f.benchmark, in.Head[0])
	}
	return err
}

// date is the day on which waivers hold.
func (f *checkFlags) date(cmd *cobra.Command) (budget.Date, error) {
	text := f.today
	if text == "" {
		text = time.Now().UTC().Format(time.DateOnly)
	}
	d, err := budget.ParseDate(text)
	if err != nil {
		return d, usagef(cmd, "--today: %v", err)
	}
	return d, nil
}

// sides fills in the paths of both sides. Without base, limits relative to it are missing.
func (f *checkFlags) sides(cmd *cobra.Command, file *budget.File, paths []string) error {
	named := len(f.diff.base.paths) + len(f.diff.head.paths)
	if f.stored != "" {
		switch {
		case len(f.diff.base.paths) > 0 || len(paths) > 1:
			return usagef(cmd, "--stored-baseline is base: name head only")
		case len(paths) == 1 && len(f.diff.head.paths) == 0:
			f.diff.head.paths = paths
			return nil
		}
	}
	if len(paths) == 0 && len(f.diff.base.paths) == 0 && (len(f.diff.head.paths) > 0 || len(f.values[1]) > 0) {
		return nil
	}
	if len(paths) == 0 && named == 0 {
		return usagef(cmd, "name two sides: BEFORE AFTER, or --base and --head")
	}
	return f.diff.sides(cmd, paths)
}

// files are the recordings of both sides: paths may be globs, which CI systems quote.
// Notes say what is no recording, "" of a side where all are.
func (f *checkFlags) files() (files [2][]string, notes []string, err error) {
	for side, flags := range []*sideFlags{&f.diff.base, &f.diff.head} {
		name := []string{"base", "head"}[side]
		var paths []string
		for _, path := range flags.paths {
			if _, err := os.Stat(path); err == nil || path == "-" || exchange.Is(path) || !strings.ContainsAny(path, "*?[") {
				paths = append(paths, path)
				continue
			}
			found, err := filepath.Glob(path)
			if err != nil {
				return files, nil, fmt.Errorf("%s: %q: %w", name, path, err)
			}
			if !input.IsBackup(path) {
				found = slices.DeleteFunc(found, input.IsBackup)
			}
			if len(found) == 0 {
				return files, nil, fmt.Errorf("%s: 0 profiles match %q", name, path)
			}
			paths = append(paths, found...)
		}
		note := ""
		if files[side], note, err = input.Files(paths); err != nil {
			return files, nil, fmt.Errorf("%s: %w", name, err)
		}
		notes = append(notes, note)
	}
	return files, notes, checkDistinct(slices.Concat(files[0], files[1]))
}

// load reads the runs of a side. bad is how many may still be left out.
func (f *checkFlags) load(l *loader, side *sideFlags, files []string, bad *int) (runs []*run.Run, err error) {
	if len(files) == 0 {
		return nil, nil
	}
	if *bad == 0 {
		return l.loadSide(side, files)
	}
	for _, name := range files {
		one, err := l.loadSide(side, []string{name})
		if err != nil {
			if *bad == 0 {
				return nil, err
			}
			*bad--
			l.io.warn("left out: %v", err)
			continue
		}
		runs = append(runs, one...)
	}
	return runs, nil
}

// branches reads the branch tables of the recordings.
func (f *checkFlags) branches(cmd *cobra.Command, std *stdio, l *loader, files [2][]string) (tables [2][]*branch.Table, err error) {
	opt := branch.Options{AllowTruncated: f.in.allowTruncated}
	opt.Names.Objects, opt.Names.Kallsyms = l.opt.Objects, l.opt.Kallsyms
	switch {
	case f.cpu != "" && f.missCost != "":
		return tables, usagef(cmd, "--cpu and --miss-cost exclude each other")
	case f.cpu != "":
		if opt.Cost, err = branch.CostOf(f.cpu); err != nil {
			return tables, usagef(cmd, "--cpu: %v", err)
		}
	case f.missCost != "":
		if opt.Cost, err = branch.ParseCost(f.missCost); err != nil {
			return tables, usagef(cmd, "--miss-cost: %v", err)
		}
	}
	for side := range files {
		for _, name := range files[side] {
			t, err := std.readBranches(name, &opt)
			if err != nil {
				return tables, err
			}
			tables[side] = append(tables[side], t)
		}
	}
	return tables, nil
}

// streams reads measured values.
func (f *checkFlags) streams(cmd *cobra.Command, std *stdio) (map[string]budget.Stream, error) {
	streams := make(map[string]budget.Stream)
	for side := range f.values {
		flag := []string{"--base-values", "--head-values"}[side]
		for _, text := range f.values[side] {
			name, path, ok := strings.Cut(text, "=")
			if !ok || name == "" || path == "" {
				return nil, usagef(cmd, "%s wants NAME=PATH, not %q", flag, text)
			}
			files, err := std.files([]string{path})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			s, err := readStream(name, files)
			if err != nil {
				return nil, err
			}
			if err := addStream(streams, name, side, s); err != nil {
				return nil, err
			}
		}
	}
	return streams, nil
}

// fileError makes a wrong use of what is wrong with the budget file.
func fileError(err error) error {
	if fe, ok := errors.AsType[*budget.FileError](err); ok {
		return &usageError{nil, fe}
	}
	return err
}

// checkCommand is the command check.
type checkCommand struct {
	checkFlags
	looks               lookFlags
	bisect              bisectFlags
	outs                []string
	format              string
	history, sourceRoot string

	reportOnly, strictWarn, strict, prove bool
}

func newCheckCmd(std *stdio) *cobra.Command {
	var c checkCommand
	cmd := &cobra.Command{
		Use:   "check ([BEFORE AFTER] | --bisect BASE --limit PERCENT --build CMD) [flags] [-- COMMAND]",
		Short: "Check two recordings against a performance budget",
		Example: `  profdiff check before after
  profdiff check before after --out junit=budgets.xml --html report.html`,
		Long: `Check recordings before and after a change against the budgets of a file: what
functions, files, categories or everything may cost. A budget fails only if it is
proven that its limit is exceeded, passes only if that is excluded, and else cannot be
told yet. Each side is named as for profdiff diff, and may be a glob; without
base, absolute limits are checked.

The first line says the outcome and what decides it.

Costs are those of an operation if the runs have a counter of work, else of a run. Where
the recordings bear no verdict, as windows of time bear none on everything, it cannot be
told yet: defaults.normalize or --ops says what the work is. So it is of measured
values with one run a side, or with one file a side if base and head are compared.

The exit code is 0 if all budgets pass or warn, 1 if one fails, 4 if of one it cannot be
told yet and the file says that this blocks. It is 2 if the budget file is wrong
and 3 if a recording is: then nothing was checked. With --prove it is 1 if a budget
cannot fail, or fails with the runs of one side split in two.

If the file plans two looks (defaults.looks: 2), the first check is one of half of
the runs. What it leaves open is checked again with --look 2 when as many runs again
were recorded, and then it is over. Both together fail wrongly no more often than a
single check. --look-file has the notes that say so.

With --bisect BASE it is a step of git bisect run: the commit BASE and the one that is
checked out are built, COMMAND is recorded in both, as by profdiff record --git, and
the exit code is 0 if the budgets pass, 1 if one fails, 125 if it cannot be told or
the commit cannot be built, run or read, and 128, which ends the search, if nothing
could be said of any other commit either. The budgets are those of --budget or
--limit, else of the file that BASE has, so that each commit is measured alike.

A file with fleet: {release: [A, B]} is about two releases on many devices: the argument
is a store of profdiff fleet then, and the budgets limit what functions and categories
cost in the second release against the first. Without release it is the two newest.

Outputs for CI systems are written by --out, as in --out junit=report.xml:
` + outFormatsHelp,
		Args: args(c.bisect.arguments),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("bisect") {
				return c.runBisect(cmd, std, args)
			}
			return c.run(cmd, std, args)
		},
	}
	c.register(cmd)
	c.page.register(cmd)
	c.looks.register(cmd)
	c.bisect.register(cmd)
	fs := cmd.Flags()
	fs.BoolVar(&c.sections.predict, "predict", false, "show in the report what llvm-mca predicts of the hottest loop on both sides")
	fs.StringVar(&c.format, "format", "text", "write to standard output in `FORMAT`, one of those of --out, or none")
	fs.StringArrayVar(&c.outs, "out", nil, "write to a file, too: `FORMAT=FILE` (repeatable): text, json, markdown, github, github-summary, sarif, junit, codequality or openmetrics")
	fs.StringVar(&c.history, "history", "", "add the verdicts and costs to `FILE`, and note budgets that passed far below their limits in the last ten checks, or whose cost made a step")
	fs.StringVar(&c.proposed, "proposed-budget", "", "warn of what `FILE`, the budget file as the change has it, would allow more than --budget")
	fs.StringVar(&c.sourceRoot, "source-root", "", "source files are named relative to `DIR` (default: where record --git built head, else the working directory)")
	fs.BoolVar(&c.reportOnly, "report-only", false, "exit with 0 whatever the budgets say")
	fs.BoolVar(&c.strictWarn, "strict-warn", false, "exit with 1 if a budget warns")
	fs.BoolVar(&c.strict, "strict", false, "fail also if cost only moved within a file or below a caller")
	fs.BoolVar(&c.prove, "prove", false, "show that the budgets can fail: inject regressions of twice their limits")
	return cmd
}

func (c *checkCommand) run(cmd *cobra.Command, std *stdio, paths []string) error {
	o, err := c.outcome(cmd, std, paths)
	if err != nil || o == nil {
		return err
	}
	return checkCode(o, c.reportOnly, c.strictWarn)
}

// outcome checks and writes what was found. It is nil if only a proof was asked for.
func (c *checkCommand) outcome(cmd *cobra.Command, std *stdio, paths []string) (*budget.Outcome, error) {
	targets, err := parseOuts(cmd, c.format, c.outs)
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(c.page.check(cmd, ""), c.sections.check(cmd, &c.page)); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(targets, func(t outTarget) bool { return t.file == c.page.file }) {
		return nil, usagef(cmd, "--html and --out both write to %s", c.page.file)
	}
	file, err := c.read()
	if err != nil {
		return nil, err
	}
	if file.Fleet != nil {
		return c.fleetOutcome(cmd, std, file, paths, targets)
	}
	in, l, err := c.inputs(cmd, std, file, paths)
	if err != nil {
		return nil, err
	}
	in.Strict = c.strict
	if err := c.looks.begin(cmd, file, &c.checkFlags, in, c.prove); err != nil {
		return nil, err
	}
	if c.prove {
		in.Declared, in.Options.Stopped, in.Proposed = nil, nil, nil // what was decided is not what is injected
		return nil, std.prove(file, in)
	}
	o, err := file.Check(in)
	if err != nil {
		return nil, fileError(err)
	}
	if len(in.Base) > 0 && len(in.Head) > 0 && in.Base[0].Recording.Commit != "" {
		o.Notes = append(o.Notes, fmt.Sprintf("base is %s, head is %s", in.Base[0].Recording.Commit, in.Head[0].Recording.Commit))
	}
	if err := c.looks.note(std, o, &c.checkFlags); err != nil {
		return nil, err
	}
	if c.history != "" {
		if err := std.updateHistory(c.history, o); err != nil {
			return nil, err
		}
	}
	document := check.New(o, reportTool())
	if c.page.file != "" {
		if err := c.writePage(cmd, std, o, document, in, l); err != nil {
			return nil, err
		}
	}
	root, err := c.root(in.Head)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, r := range slices.Concat(in.Base, in.Head) {
		names = append(names, r.Name)
	}
	for _, t := range targets {
		if err := std.writeCheck(t, document, root, func(w io.Writer, write func(io.Writer) error) error { return c.page.reviewed(w, names, write) }); err != nil {
			return nil, err
		}
	}
	if !slices.ContainsFunc(targets, func(t outTarget) bool { return slices.Contains(outWarns, t.format) }) {
		std.warnAll(o.Design.Warnings)
	}
	if len(in.Base) > 0 {
		l.accountSide("base", in.Base)
	}
	if len(in.Head) > 0 {
		l.accountSide("head", in.Head)
	}
	return o, nil
}

// checkCode is the exit code of an outcome, as an error.
func checkCode(o *budget.Outcome, reportOnly, strictWarn bool) error {
	code := exitOK
	switch {
	case o.Fails(strictWarn):
		code = exitBudget
	case o.Blocks:
		code = exitInconclusive
	}
	if code == exitOK || reportOnly {
		return nil
	}
	return &outcomeError{code}
}

// root is the directory that source files are relative to.
func (c *checkCommand) root(head []*run.Run) (string, error) {
	if c.sourceRoot != "" || len(head) == 0 {
		return c.sourceRoot, nil
	}
	recorded, err := folderOf([]string{head[0].Name})
	if recorded == nil {
		return "", err
	}
	return recorded.Plan.After.Dir, nil
}

// checkRoot is that directory with its full name.
func checkRoot(dir string) string {
	if dir == "" {
		dir, _ = os.Getwd()
	}
	abs, err := filepath.Abs(cmp.Or(dir, "."))
	if err != nil {
		return dir
	}
	return abs
}
