package main

import (
	"cmp"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/spf13/cobra"

	"profdiff/internal/align"
	"profdiff/internal/compare"
	"profdiff/internal/listing"
	"profdiff/internal/metric"
	"profdiff/internal/report/diff"
	"profdiff/internal/report/html"
	"profdiff/internal/run"
)

// sideFlags are the flags of one side: its recordings, and what names are in it alone.
type sideFlags struct {
	paths    []string
	kallsyms string
	mappings []string
}

func (f *sideFlags) register(cmd *cobra.Command, name, when string) {
	fs := cmd.Flags()
	fs.StringArrayVar(&f.paths, name, nil, "a recording, or a directory of them, "+when+" the change: `PATH` (repeatable)")
	fs.StringVar(&f.kallsyms, name+"-kallsyms", "", "as --kallsyms, for "+name+" only: `FILE`")
	fs.StringArrayVar(&f.mappings, name+"-proguard-mapping", nil, "as --proguard-mapping, for "+name+" only: `FILE` (repeatable)")
}

// diffFlags are the flags of commands that compare.
type diffFlags struct {
	base, head sideFlags
	normalize  string
	work       string
	ops        []float64
	reference  []string
	renames    []string
	focus      string
	margin     float64
	unpaired   bool
	blocked    bool
	by         string
	categories string
	regions    string
}

func (f *diffFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	f.base.register(cmd, "base", "before")
	f.head.register(cmd, "head", "after")
	fs.StringVar(&f.normalize, "normalize", "auto", "divide costs by `MODE`: work, none (the cost of a run), total (shares), reference, or auto to choose among the first three")
	fs.StringVar(&f.work, "work", "", "divide by the counter `NAME` of work done in each run")
	fs.Float64SliceVar(&f.ops, "ops", nil, "divide by `N` operations done in each run, or BASE,HEAD")
	fs.StringArrayVar(&f.reference, "reference", nil, "divide by the cost of functions that match `REGEXP` (repeatable)")
	fs.StringArrayVar(&f.renames, "rename", nil, "compare the function OLD of base with NEW of head: `OLD=NEW` (repeatable)")
	fs.Float64Var(&f.margin, "margin", 2, "call a cost the same if a change of more than `PERCENT` is excluded")
	fs.BoolVar(&f.unpaired, "unpaired", false, "compare two groups of runs, not runs that were recorded next to each other")
	fs.BoolVar(&f.blocked, "allow-blocked-order", false, "give verdicts even if all runs of one side were recorded first")
}

// options checks the flags.
func (f *diffFlags) options(cmd *cobra.Command) (opt compare.Options, err error) {
	opt.AllowBlockedOrder, opt.Unpaired = f.blocked, f.unpaired
	opt.Work = f.work
	if opt.Normalize, err = compare.ParseMode(f.normalize); err != nil {
		return opt, usagef(cmd, "--normalize: %v", err)
	}
	if opt.Normalize != compare.Auto && opt.Normalize != compare.Work && (f.work != "" || len(f.ops) > 0) {
		return opt, usagef(cmd, "--work and --ops need --normalize work, not %s", f.normalize)
	}
	if opt.Normalize != compare.Auto && opt.Normalize != compare.Reference && len(f.reference) > 0 {
		return opt, usagef(cmd, "--reference needs --normalize reference, not %s", f.normalize)
	}
	switch len(f.ops) {
	case 0:
	case 1:
		opt.Ops = &[2]float64{f.ops[0], f.ops[0]}
	case 2:
		opt.Ops = &[2]float64{f.ops[0], f.ops[1]}
	default:
		return opt, usagef(cmd, "--ops takes N or BASE,HEAD, not %d numbers", len(f.ops))
	}
	if opt.Ops != nil {
		for _, n := range opt.Ops {
			if !(n > 0) || math.IsInf(n, 0) {
				return opt, usagef(cmd, "--ops takes positive numbers, not %v", n)
			}
		}
		if f.work != "" {
			return opt, usagef(cmd, "--ops and --work exclude each other")
		}
	}
	if !(f.margin > 0) || f.margin > 1000 {
		return opt, usagef(cmd, "--margin is a percentage above 0 and up to 1000, not %v", f.margin)
	}
	opt.Margin = f.margin / 100
	for _, expr := range f.reference {
		re, err := regexp.Compile(expr)
		if err != nil {
			return opt, usagef(cmd, "--reference: %v", err)
		}
		opt.Reference = append(opt.Reference, re)
	}
	for _, s := range f.renames {
		r, err := align.ParseRename(s)
		if err != nil {
			return opt, usagef(cmd, "--rename: %v", err)
		}
		opt.Renames = append(opt.Renames, r)
	}
	if f.focus != "" {
		re, err := regexp.Compile(f.focus)
		if err != nil {
			return opt, usagef(cmd, "--focus: %v", err)
		}
		opt.Focus = []*regexp.Regexp{re}
	}
	if f.by != "" {
		by, err := run.ParseGroupBy(f.by)
		if err != nil {
			return opt, usagef(cmd, "--by: %v", err)
		}
		if by == run.ByLock {
			return opt, usagef(cmd, "--by lock: profdiff show lists locks; diff compares them as --event contentions and --event delay")
		}
		if by != run.ByFunction {
			opt.GroupBy = []run.GroupBy{by}
		}
	}
	if f.categories != "" {
		if opt.Categories, err = readCategories(f.categories); err != nil {
			return opt, err
		}
	}
	return opt, nil
}

// sides fills in the paths of both sides.
func (f *diffFlags) sides(cmd *cobra.Command, paths []string) error {
	named := len(f.base.paths) + len(f.head.paths)
	switch {
	case len(paths) == 1 && named == 0:
		before, after, ok := bothSides(paths)
		if !ok {
			return usagef(cmd, "%s has no directories before and after; name two sides: BEFORE AFTER, or --base and --head", paths[0])
		}
		f.base.paths, f.head.paths = []string{before}, []string{after}
	case len(paths) == 2 && named == 0:
		f.base.paths, f.head.paths = paths[:1], paths[1:]
	case len(paths) != 0 || len(f.base.paths) == 0 || len(f.head.paths) == 0:
		return usagef(cmd, "name two sides: BEFORE AFTER, or --base and --head")
	}
	return nil
}

// bothSides are the sides of a directory that has both, as what record made and the case
// studies have.
func bothSides(paths []string) (before, after string, ok bool) {
	if len(paths) != 1 {
		return "", "", false
	}
	before, after = filepath.Join(paths[0], "before"), filepath.Join(paths[0], "after")
	return before, after, isDir(before) && isDir(after)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// diffCommand is the command diff.
type diffCommand struct {
	in             inputFlags
	flags          diffFlags
	opt            diff.Options
	tree           diff.TreeOptions
	page           htmlFlags
	sections       htmlSections
	metrics        comparedMetrics
	cpu            string
	format, output string
	out            *diffOutput // of format
	// What is shown instead of functions.
	showTree, lines, callers bool
	minShare                 float64
	// full has all tables instead of the summary, quiet its first sentences only.
	full, quiet bool
}

func newDiffCmd(std *stdio) *cobra.Command {
	var c diffCommand
	cmd := &cobra.Command{
		Use:   "diff BEFORE AFTER [flags]",
		Short: "Compare two recordings, or two sides of metrics",
		Example: `  profdiff diff before after --html report.html
  profdiff diff before after --by category --ops 12000000`,
		Long: `Compare the recordings before a change with those after it. Each side is a file,
or a directory whose files are its runs; --base and --head, repeatable, name more.
One argument is a directory with both sides, before and after, or a file of metrics with
two commands or benchmarks.

First it says what happened, in one to three sentences; then what is slower and what is
faster, at most eight of each, who waits for whom, what cannot be told yet and what would
decide it, and what to know of the runs. --full shows all tables instead, and so do --focus,
--by, --total and --limit, which say what of them is shown. On a terminal all is fitted to
its width, which COLUMNS overrides: names are made shorter in their middle, numbers never.
Words have colours there, unless NO_COLOR or --color says otherwise, and the last line is
the command that helps most next.

What is compared is the cost of an operation if the runs have a counter of work, else the
cost of a run, which assumes that all runs did the same work. Windows of time (perf record
-a or -p, a duration, sleep, what a clock stops) are compared as shares: how long they are
says nothing of the program, so that the total gets no verdict without --work or --ops.

Of recordings with more than 65,536 functions, those that cost least on both sides are
compared as one, [other functions], which a warning says. What --focus and --reference name
is none of these.

Sides may also be files of metrics, such as benchmarks write: their content tells. Mean,
median, p90, p95, p99 and the share over a --deadline are compared, each with an interval
over runs; faster and slower, better and worse go by which values are better. Metrics meet by name, and
where each side has one command (hyperfine) or benchmark, these are compared, whatever their
names. Where several quantiles are known, a sentence says where in the distribution the
change sits, and the runs with the slowest values are named, with the recordings that were
made together with them. One run a side has leads and no verdicts: ▽ less and △ more, with
the distance from the noise within a run. So has one file a side, whose executions are one
block in time: several files a side, recorded in turns, decide.

As CSV, each function has a row for each event, with the names that fields have in JSON.
Texts that begin with = + - or @ get a ' in front, so that no spreadsheet takes the name of
a function for a formula.`,
		Args: args(cobra.MaximumNArgs(2)),
		RunE: func(cmd *cobra.Command, paths []string) error {
			if err := c.check(cmd, std, paths); err != nil {
				return err
			}
			return c.run(cmd, std, paths)
		},
	}
	c.in.register(cmd)
	c.flags.register(cmd)
	c.page.register(cmd)
	c.sections.register(cmd)
	f := cmd.Flags()
	c.metrics.register(f)
	f.StringVar(&c.cpu, "cpu", "", "with --predict, predict for the CPU `NAME`, as LLVM calls it (default: that of the recording, else of this machine)")
	f.Lookup("focus").Usage = "show functions that match `REGEXP`, and test them as declared; a static function is also parse@lexer.c"
	f.IntVar(&c.opt.Limit, "limit", 40, "show `N` rows of each table, 0 for all")
	f.StringVar(&c.flags.by, "by", "function", "compare by `GROUP`: function, file, dso, thread, process, state or category")
	registerRegions(f, &c.flags.regions)
	f.StringVar(&c.flags.categories, "categories", "", "sort into the categories of `FILE` instead of the built-in ones")
	f.BoolVar(&c.opt.Total, "total", false, "compare what functions and their callees cost, instead of what they cost themselves")
	f.BoolVar(&c.showTree, "tree", false, "show the call tree with the change of each path")
	f.BoolVar(&c.tree.Callers, "bottom-up", false, "with --tree, show from the leaves up who called them")
	f.Float64Var(&c.minShare, "min-share", 1, "leave out parts of the tree below `PERCENT` of the total")
	f.BoolVar(&c.lines, "lines", false, "show the source lines that changed most, with --focus those of its functions")
	f.BoolVar(&c.callers, "callers", false, "show callers and callees of the functions of --focus")
	f.BoolVar(&c.full, "full", false, "show all tables in full; --focus, --by, --total and --limit do so, too")
	f.BoolVarP(&c.quiet, "quiet", "q", false, "show only the sentences that say what happened")
	f.StringVar(&c.format, "format", "text", "output `FORMAT`: "+diffFormats(true))
	f.StringVarP(&c.output, "output", "o", "-", "write to `FILE`, - for standard output")
	return cmd
}

// check refuses flags that do not go together.
func (c *diffCommand) check(cmd *cobra.Command, std *stdio, paths []string) error {
	err := c.sides(cmd, paths)
	if err == nil {
		c.out, err = diffFormat(cmd, std, c.format, c.output)
	}
	switch {
	case err != nil:
		return err
	case c.opt.Limit < 0:
		return usagef(cmd, "--limit is 0 or more, not %d", c.opt.Limit)
	case c.minShare < 0 || c.minShare > 100:
		return usagef(cmd, "--min-share is a percentage, not %v", c.minShare)
	case c.quiet && (c.view() || c.inFull(cmd)):
		return usagef(cmd, "--quiet does not go with what shows tables: --full, --focus, --by, --total, --limit, --tree, --lines and --callers")
	case c.showTree && c.lines || c.showTree && c.callers || c.lines && c.callers:
		return usagef(cmd, "--tree, --lines and --callers exclude each other")
	case c.callers && c.in.focus == "":
		return usagef(cmd, "--callers needs --focus REGEXP")
	case c.flags.categories != "" && !c.out.groups && c.page.file == "" && run.GroupBy(c.flags.by) != run.ByCategory:
		return usagef(cmd, "--categories needs --by category, --format json or --html FILE")
	}
	if err := cmp.Or(c.page.check(cmd, c.output), c.sections.check(cmd, &c.page)); err != nil {
		return err
	}
	switch {
	case c.page.file == "" && c.sections.branches[0] != "":
		return usagef(cmd, "--branches-before and --branches-after need --html FILE")
	case !c.sections.predict && (c.cpu != "" || c.sections.llvm != ""):
		return usagef(cmd, "--cpu and --llvm go with --predict")
	}
	return checkDiffView(cmd, c.showTree, c.view())
}

// sides fills in the paths of both sides. One file of metrics may have both, and is base then.
func (c *diffCommand) sides(cmd *cobra.Command, paths []string) error {
	if len(paths) == 1 && len(c.flags.base.paths)+len(c.flags.head.paths) == 0 {
		if _, _, both := bothSides(paths); !both && holdsMetrics(paths[0]) {
			c.flags.base.paths = paths
			return nil
		}
	}
	return c.flags.sides(cmd, paths)
}

// view reports whether something is shown instead of functions.
func (c *diffCommand) view() bool { return c.showTree || c.lines || c.callers }

// options say how to compare. What the user looks at is chosen after it, which
// needs everything to stand on.
func (c *diffCommand) options(cmd *cobra.Command) (compare.Options, error) {
	c.flags.focus, c.in.focus = c.in.focus, ""
	opt, err := c.flags.options(cmd)
	if err != nil {
		return opt, err
	}
	opt.Most = compare.MostFunctions
	c.opt.By = run.GroupBy(c.flags.by)
	// All outputs tell one story, in which threads and categories have their place.
	opt.GroupBy = htmlGroups(opt.GroupBy)
	return opt, nil
}

// inFull reports whether all tables are shown instead of the summary: also if a flag says what of
// them is shown.
func (c *diffCommand) inFull(cmd *cobra.Command) bool {
	return c.full || changedAny(cmd, []string{"focus", "by", "total", "limit"})
}

func (c *diffCommand) run(cmd *cobra.Command, std *stdio, paths []string) error {
	opt, err := c.options(cmd)
	if err != nil {
		return err
	}
	regions, err := readRegions(c.flags.regions)
	if err != nil {
		return err
	}
	l, err := c.in.loader(cmd, std)
	if err != nil {
		return err
	}
	c.page.watch(l)
	files, err := l.filesOf(&c.flags.base, &c.flags.head)
	if err != nil {
		return err
	}
	if sides, ok, err := l.metricSides(files); err != nil || ok {
		if err != nil {
			return err
		}
		if err := onlyForProfiles(cmd, sides[0][0]); err != nil {
			return err
		}
		return c.runMetrics(cmd, std, sides)
	}
	l.keepWaits(regions)
	l.opt.NoAddresses = c.page.file == "" // which lists code
	base, head, err := l.loadSides(&c.flags.base, &c.flags.head)
	if err != nil {
		return err
	}
	traced := [2][]*metric.Set{metricsOf(base), metricsOf(head)}
	if traced[0] != nil && traced[1] != nil && asksForMetrics(cmd) {
		return c.runMetrics(cmd, std, traced)
	}
	if err := onlyForMetrics(cmd, base[0]); err != nil {
		return err
	}
	ended, err := l.stopped(base, head, !changedAny(cmd, readingFlags))
	if err != nil {
		return err
	}
	opt.Stopped = ended.comparison(!changedAny(cmd, readingFlags) && !changedAny(cmd, questionFlags))
	comparison, err := compare.Compare(base, head, opt)
	if err != nil {
		return err
	}
	if err := c.page.findSource(cmd.Context(), base, head); err != nil {
		return err
	}
	document := diff.New(comparison, c.parts(cmd, l))
	document.AddWaits(l.waitsOf(base), l.waitsOf(head))
	if traced[0] != nil && traced[1] != nil && c.format == "text" && !c.quiet {
		std.note("frames and starts of apps: --metric . compares how long they took")
	}
	if err := c.out.check(cmd, std, document); err != nil {
		return err
	}
	if c.view() {
		std.warnOf(document)
	}
	if c.page.file != "" {
		d := html.FromComparison(document, c.page.options())
		x := &sectionInputs{base: base, head: head, loader: l, in: &c.in, cpu: c.cpu}
		if x.tables, err = c.sections.tables(std, branchOptions(&c.in, l)); err != nil {
			return err
		}
		if err := c.sections.add(cmd, std, &c.page, d, x); err != nil {
			return err
		}
		if err := c.page.write(std, d); err != nil {
			return err
		}
	}
	if c.out.write != nil {
		write := func(w io.Writer) error { return c.out.write(w, document, c.opt) }
		err = std.writeOutput(c.output, func(w io.Writer) error {
			if c.out.stacks {
				return write(w) // of names alone, and in part no text
			}
			return c.page.reviewed(w, slices.Concat(files[0], files[1]), write)
		})
	} else {
		err = std.writeScreen(c.output, func(w io.Writer) error { return c.write(cmd, std, w, document, paths, head) })
	}
	if err != nil || c.quiet || c.summary(cmd) && isTerminal(std.out) && c.output == "-" {
		return err // a summary says what became of samples
	}
	l.accountSide("base", base)
	l.accountSide("head", head)
	return nil
}

// summary reports whether a summary is shown.
func (c *diffCommand) summary(cmd *cobra.Command) bool {
	return c.out.write == nil && !c.quiet && !c.view() && !c.inFull(cmd)
}

// write writes a comparison for people.
func (c *diffCommand) write(cmd *cobra.Command, std *stdio, w io.Writer, d *diff.Document, paths []string, head []*run.Run) error {
	switch {
	case c.showTree:
		return noteAbsent(w, diff.WriteTree(w, d))
	case c.lines:
		return noteAbsent(w, diff.WriteLines(w, d, c.opt))
	case c.callers:
		return noteAbsent(w, diff.WriteNeighbors(w, d, c.opt))
	case c.quiet:
		return d.Story.Write(w)
	case c.inFull(cmd):
		return noteAbsent(w, diff.WriteText(w, d, c.opt))
	}
	next := isTerminal(std.out) && c.output == "-"
	if err := diff.WriteSummary(w, d, next); err != nil || !next {
		return err
	}
	return writeNext(w, d.Next(diff.Session{Inputs: inputWords(cmd, paths), Lines: linesOf(head)}))
}

// parts are what the outputs need.
func (c *diffCommand) parts(cmd *cobra.Command, l *loader) diff.Parts {
	parts := diff.Parts{Lines: c.lines, Neighbors: c.callers, Stacks: c.out.stacks, Page: c.page.parts(l), Commands: c.page.commands}
	if c.summary(cmd) {
		parts.Code = &listing.Options{Objects: l.opt.Objects, CodeOnly: true}
	}
	if c.showTree {
		c.tree.MinShare = c.minShare / 100
		parts.Tree = &c.tree
	}
	return parts
}
