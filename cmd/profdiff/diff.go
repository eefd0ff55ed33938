package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"profdiff/internal/align"
	"profdiff/internal/compare"
	"profdiff/internal/input"
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
	blocked    bool
	by         string
	categories string
}

func (f *diffFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	f.base.register(cmd, "base", "before")
	f.head.register(cmd, "head", "after")
	fs.StringVar(&f.normalize, "normalize", "auto", "divide costs by `MODE`: work, reference, total, none, or auto to choose")
	fs.StringVar(&f.work, "work", "", "divide by the counter `NAME` of work done in each run")
	fs.Float64SliceVar(&f.ops, "ops", nil, "divide by `N` operations done in each run, or BASE,HEAD")
	fs.StringArrayVar(&f.reference, "reference", nil, "divide by the cost of functions that match `REGEXP` (repeatable)")
	fs.StringArrayVar(&f.renames, "rename", nil, "compare the function OLD of base with NEW of head: `OLD=NEW` (repeatable)")
	fs.Float64Var(&f.margin, "margin", 2, "call a change unchanged if more than `PERCENT` is excluded")
	fs.BoolVar(&f.blocked, "allow-blocked-order", false, "give verdicts even if all runs of one side were recorded first")
}

// options checks the flags.
func (f *diffFlags) options(cmd *cobra.Command) (opt compare.Options, err error) {
	opt.AllowBlockedOrder = f.blocked
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
		// A directory that has both, as the case studies have.
		dir := paths[0]
		before, after := filepath.Join(dir, "before"), filepath.Join(dir, "after")
		if !isDir(before) || !isDir(after) {
			return usagef(cmd, "%s has no directories before and after; name two sides: BEFORE AFTER, or --base and --head", dir)
		}
		f.base.paths, f.head.paths = []string{before}, []string{after}
	case len(paths) == 2 && named == 0:
		f.base.paths, f.head.paths = paths[:1], paths[1:]
	case len(paths) != 0 || len(f.base.paths) == 0 || len(f.head.paths) == 0:
		return usagef(cmd, "name two sides: BEFORE AFTER, or --base and --head")
	}
	return nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func newDiffCmd(std *stdio) *cobra.Command {
	var (
		in       inputFlags
		flags    diffFlags
		opt      diff.Options
		tree     = diff.TreeOptions{}
		page     htmlFlags
		sections htmlSections
		cpu      string
		format   string
		output   string
		showTree bool
		lines    bool
		callers  bool
		minShare float64
	)
	cmd := &cobra.Command{
		Use:   "diff BEFORE AFTER [flags]",
		Short: "Compare two recordings",
		Long: `Compare the recordings before a change with those after it. Each side is a file,
or a directory whose files are its runs; --base and --head, repeatable, name more.
One argument is a directory with both sides, before and after.`,
		Args: args(cobra.MaximumNArgs(2)),
		RunE: func(cmd *cobra.Command, paths []string) error {
			err := flags.sides(cmd, paths)
			if err == nil {
				format, err = diffFormat(cmd, std, format, output)
			}
			switch {
			case err != nil:
				return err
			case opt.Limit < 0:
				return usagef(cmd, "--limit is 0 or more, not %d", opt.Limit)
			case minShare < 0 || minShare > 100:
				return usagef(cmd, "--min-share is a percentage, not %v", minShare)
			case showTree && lines || showTree && callers || lines && callers:
				return usagef(cmd, "--tree, --lines and --callers exclude each other")
			case callers && in.focus == "":
				return usagef(cmd, "--callers needs --focus REGEXP")
			case flags.categories != "" && format != "json" && page.file == "" && run.GroupBy(flags.by) != run.ByCategory:
				return usagef(cmd, "--categories needs --by category, --format json or --html FILE")
			}
			if err := cmp.Or(page.check(cmd, output), sections.check(cmd, &page)); err != nil {
				return err
			}
			switch {
			case page.file == "" && sections.branches[0] != "":
				return usagef(cmd, "--branches-before and --branches-after need --html FILE")
			case !sections.predict && (cpu != "" || sections.llvm != ""):
				return usagef(cmd, "--cpu and --llvm go with --predict")
			}
			view := showTree || lines || callers
			if err := checkDiffView(cmd, showTree, view); err != nil {
				return err
			}
			// What the user looks at is chosen after the comparison, which needs
			// everything to stand on.
			flags.focus, in.focus = in.focus, ""
			compareOptions, err := flags.options(cmd)
			if err != nil {
				return err
			}
			opt.By = run.GroupBy(flags.by)
			if format == "json" {
				compareOptions.GroupBy = []run.GroupBy{run.ByCategory, run.ByThread, run.ByDSO}
			}
			if page.file != "" {
				compareOptions.GroupBy = htmlGroups(compareOptions.GroupBy)
			}
			l, err := in.loader(cmd, std)
			if err != nil {
				return err
			}
			page.watch(l)
			baseRuns, headRuns, err := l.loadSides(&flags.base, &flags.head)
			if err != nil {
				return err
			}
			c, err := compare.Compare(baseRuns, headRuns, compareOptions)
			if err != nil {
				return err
			}
			parts := diff.Parts{Lines: lines, Neighbors: callers, Stacks: format == "folded" || format == "pprof", Page: page.parts(l)}
			if showTree {
				tree.MinShare = minShare / 100
				parts.Tree = &tree
			}
			document := diff.New(c, parts)
			formatted, err := diffWriter(cmd, std, format, document, opt)
			if err != nil {
				return err
			}
			if view {
				std.warnOf(document)
			}
			if page.file != "" {
				d := html.FromComparison(document, page.options())
				x := &sectionInputs{base: baseRuns, head: headRuns, loader: l, in: &in, cpu: cpu}
				if x.tables, err = sections.tables(std, branchOptions(&in, l)); err != nil {
					return err
				}
				if err := sections.add(cmd, std, &page, d, x); err != nil {
					return err
				}
				if err := page.write(std, d); err != nil {
					return err
				}
			}
			err = std.writeOutput(output, func(w io.Writer) error {
				switch {
				case formatted != nil:
					return formatted(w)
				case showTree:
					return diff.WriteTree(w, document)
				case lines:
					return diff.WriteLines(w, document, opt)
				case callers:
					return diff.WriteNeighbors(w, document, opt)
				}
				return diff.WriteText(w, document, opt)
			})
			if err != nil {
				return err
			}
			l.accountSide("base", baseRuns)
			l.accountSide("head", headRuns)
			return nil
		},
	}
	in.register(cmd)
	flags.register(cmd)
	page.register(cmd)
	sections.register(cmd)
	f := cmd.Flags()
	f.StringVar(&cpu, "cpu", "", "with --predict, predict for the CPU `NAME`, as LLVM calls it (default: that of the recording, else of this machine)")
	f.Lookup("focus").Usage = "show functions that match `REGEXP`, and test them as declared"
	f.IntVar(&opt.Limit, "limit", 40, "show `N` rows of each table, 0 for all")
	f.StringVar(&flags.by, "by", "function", "compare by `GROUP`: function, file, dso, thread, process or category")
	f.StringVar(&flags.categories, "categories", "", "sort into the categories of `FILE` instead of the built-in ones")
	f.BoolVar(&opt.Total, "total", false, "compare what functions and their callees cost, instead of what they cost themselves")
	f.BoolVar(&showTree, "tree", false, "show the call tree with the change of each path")
	f.BoolVar(&tree.Callers, "bottom-up", false, "with --tree, show from the leaves up who called them")
	f.Float64Var(&minShare, "min-share", 1, "leave out parts of the tree below `PERCENT` of the total")
	f.BoolVar(&lines, "lines", false, "show the source lines that changed most")
	f.BoolVar(&callers, "callers", false, "show callers and callees of the functions of --focus")
	f.StringVar(&format, "format", "text", "output `FORMAT`: text, json, markdown for a pull request, folded for flamegraph.pl, or pprof, the default if -o ends in .pb.gz")
	f.StringVarP(&output, "output", "o", "-", "write to `FILE`, - for standard output")
	return cmd
}

// loadSides reads the runs of both sides.
func (l *loader) loadSides(base, head *sideFlags) (baseRuns, headRuns []*run.Run, err error) {
	baseFiles, err := input.Files(base.paths)
	if err != nil {
		return nil, nil, err
	}
	headFiles, err := input.Files(head.paths)
	if err != nil {
		return nil, nil, err
	}
	if err := checkDistinct(slices.Concat(baseFiles, headFiles)); err != nil {
		return nil, nil, err
	}
	// Of a single run, the order of samples tells how they cluster.
	l.opt.Timeline = len(baseFiles) == 1 && len(headFiles) == 1
	if baseRuns, err = l.loadSide(base, baseFiles); err != nil {
		return nil, nil, err
	}
	headRuns, err = l.loadSide(head, headFiles)
	return baseRuns, headRuns, err
}

// loadSide reads the runs of one side with the names that are its own.
func (l *loader) loadSide(side *sideFlags, files []string) ([]*run.Run, error) {
	own := *l
	if err := own.readNames(side.kallsyms, side.mappings); err != nil {
		return nil, err
	}
	recorded, err := folderOf(files)
	if err != nil {
		return nil, err
	}
	if recorded == nil {
		return own.loadEach(files)
	}
	if err := recorded.names(&own); err != nil {
		return nil, err
	}
	runs, err := own.loadEach(files)
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		if err := recorded.addWork(r); err != nil {
			return nil, err
		}
		recorded.addConditions(r)
	}
	return runs, nil
}

// loadPaths reads the runs of one side, files or directories, where there is no other.
func (l *loader) loadPaths(paths []string) ([]*run.Run, error) {
	files, err := input.Files(paths)
	if err != nil {
		return nil, err
	}
	if err := checkDistinct(files); err != nil {
		return nil, err
	}
	return l.loadSide(&sideFlags{}, files)
}

// checkDistinct refuses a file that is named twice.
func checkDistinct(files []string) error {
	var infos []os.FileInfo
	for i, name := range files {
		if name == "-" && slices.Contains(files[:i], name) {
			return fmt.Errorf("%w: standard input is named twice", compare.ErrSameRecording)
		}
		info, err := os.Stat(name)
		if err != nil {
			info = nil // reading it tells why
		}
		for j, other := range infos {
			if info != nil && other != nil && info.Mode().IsRegular() && os.SameFile(info, other) {
				return fmt.Errorf("%w: %s and %s are one file; a run counts once", compare.ErrSameRecording, files[j], files[i])
			}
		}
		infos = append(infos, info)
	}
	return nil
}

// accountSide prints what became of the samples of a side's runs.
func (l *loader) accountSide(name string, runs []*run.Run) {
	if len(runs) == 1 {
		l.account(runs[0])
		return
	}
	fmt.Fprintf(l.io.err, "profdiff: %s, %d runs: %s\n", name, len(runs), accounting(runs...))
	for _, r := range runs {
		for _, w := range r.Warnings {
			l.io.warn("%s: %s", r.Name, w)
		}
	}
}

// accounting is what became of the samples of runs, in one line. What was derived from
// them is no part of the balance: an event like off-cpu may be all that is left of a
// recording of which no sample is.
func accounting(runs ...*run.Run) string {
	var sum run.Accounting
	derived := make(map[string]int64)
	for _, r := range runs {
		sum.Add(r.Accounting)
		for i := range r.Events {
			if e := &r.Events[i]; e.Derived && e.Samples > 0 {
				derived[e.Name] += e.Samples
			}
		}
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(derived)) {
		list = append(list, fmt.Sprintf("%d %s", derived[name], name))
	}
	if len(list) == 0 {
		return sum.String()
	}
	return sum.String() + "; derived from what came in: " + strings.Join(list, ", ")
}
