package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"profdiff/internal/fleet"
	"profdiff/internal/fleet/query"
	"profdiff/internal/fleet/store"
	"profdiff/internal/input"
	"profdiff/internal/record/command"
	"profdiff/internal/report/diff"
	"profdiff/internal/report/html"
	"profdiff/internal/run"
	"profdiff/internal/verdict"
)

// fleetQuestion are the flags that say which releases of a store are compared, and how.
type fleetQuestion struct {
	before, after, sampleType, per, sums string
	chosen                               string // why these releases, if the user named none
}

func (f *fleetQuestion) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.before, "before", "", "compare with the release `NAME` (default: the newest but one)")
	fs.StringVar(&f.after, "after", "", "compare the release `NAME` (default: the newest)")
	fs.StringVar(&f.sampleType, "sample-type", "", "compare samples of the `TYPE`, such as cpu/nanoseconds (default: what most profiles of both releases have)")
	fs.StringVar(&f.sums, "sums", "auto", "sum `WHAT`: facts, by device; units, the roll-ups of profdiff fleet compact; or auto, which is units where facts are more than a gigabyte")
	fs.StringVar(&f.per, "per", "share", "divide by `WHAT`: share, the cost of everything; work, units of work; or second, the time that was recorded")
}

// question asks what the flags say of a store.
func (f *fleetQuestion) question(cmd *cobra.Command, s *store.Store) (q query.Question, err error) {
	if q.Per, err = query.ParsePer(f.per); err != nil {
		return q, usagef(cmd, "--per: %v", err)
	}
	if !slices.Contains([]string{"", "auto", "facts", "units"}, f.sums) {
		return q, usagef(cmd, "--sums is auto, facts or units, not %q", f.sums)
	}
	if (f.before == "") != (f.after == "") {
		return q, usagef(cmd, "name both releases, --before and --after, or none")
	}
	releases, types, err := query.Contents(s)
	if err != nil {
		return q, err
	}
	var names []string
	for _, r := range releases {
		names = append(names, r.Name)
	}
	q.Before, q.After, q.SampleType = f.before, f.after, cmp.Or(f.sampleType, types[0])
	if f.before == "" {
		if len(names) < 2 {
			return q, fmt.Errorf("the store has one release, %s: nothing to compare it with", names[0])
		}
		q.Before, q.After = names[1], names[0]
		f.chosen = whyChosen(&releases[1], &releases[0])
	}
	for _, name := range []string{q.Before, q.After} {
		if !slices.Contains(names, name) {
			return q, fmt.Errorf("the store has no release %q; it has %s", name, listOf(names))
		}
	}
	if f.sampleType == "" {
		// What few profiles of one release have cannot be compared, however many the other has.
		typesOf := func(name string) map[string]int64 {
			return releases[slices.IndexFunc(releases, func(r query.Release) bool { return r.Name == name })].Types
		}
		before, after := typesOf(q.Before), typesOf(q.After)
		q.SampleType = slices.MaxFunc(types, func(a, b string) int {
			return cmp.Compare(min(before[a], after[a]), min(before[b], after[b]))
		})
	}
	switch {
	case q.Before == q.After:
		return q, usagef(cmd, "--before and --after are both %s", q.Before)
	case !slices.Contains(types, q.SampleType):
		return q, fmt.Errorf("the store has no samples of %q; it has %s", q.SampleType, listOf(types))
	}
	q.RolledUp, err = f.rolledUp(s, q)
	return q, err
}

// hugeStore is the size of the facts of a store from which roll-ups are compared, if there are any.
const hugeStore = 1 << 30

// rolledUp reports whether units of roll-ups are compared instead of devices.
func (f *fleetQuestion) rolledUp(s *store.Store, q query.Question) (bool, error) {
	fresh, err := s.RolledUp(store.Selection{Releases: []string{q.Before, q.After}})
	switch {
	case err != nil:
		return false, err
	case f.sums == "units":
		if !fresh {
			return false, errors.New("--sums units: profiles came or went since the store was rolled up, if it was: profdiff fleet compact does it again")
		}
		return true, nil
	case f.sums != "auto" || !fresh || q.Per != query.Share:
		return false, nil
	}
	size, err := sizeOfFacts(s)
	return size >= hugeStore, err
}

// whyChosen says why a release is the newest but one, and another the newest.
func whyChosen(before, after *query.Release) string {
	const names = "--before and --after name others"
	if before.First == 0 || after.First == 0 {
		return fmt.Sprintf("Profiles do not tell when all releases were taken: %s is after %s by its name; %s.", after.Name, before.Name, names)
	}
	day := func(ns int64) string { return time.Unix(0, ns).UTC().Format(time.DateOnly) }
	first, last := day(before.First), day(after.First)
	if first == last {
		first, last = first+time.Unix(0, before.First).UTC().Format(" 15:04:05"), last+time.Unix(0, after.First).UTC().Format(" 15:04:05")
	}
	line := fmt.Sprintf("These are the two newest releases, by their first profiles of %s and %s", first, last)
	if after.First < before.Last {
		line += fmt.Sprintf(", though %s goes on until %s", before.Name, day(before.Last))
	}
	return line + "; " + names + "."
}

// listOf names some.
func listOf(names []string) string {
	const most = 8
	if n := len(names) - most; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n)
	}
	return strings.Join(names, ", ")
}

// fleetCompare is the command fleet compare.
type fleetCompare struct {
	fleetQuestion
	by, engine, rows string
	margin           float64
	full, quiet      bool
	opt              diff.Options
	page             htmlFlags
	format, output   string
	out              *diffOutput
}

func newFleetCompareCmd(std *stdio) *cobra.Command {
	var c fleetCompare
	cmd := &cobra.Command{
		Use:         "compare STORE [flags]",
		Short:       "Compare two releases over all devices",
		Annotations: map[string]string{needsLess: "--sums units, once profdiff fleet compact has summed the store, and a comparison without --html need less"},
		Example: `  profdiff fleet compare store
  profdiff fleet compare store --per work --html report.html`,
		Long: `Compare two releases over all devices of a store, by default the two newest: those of which the
first profile was taken last, or if profiles do not tell when, the last by name. The first
line says which is before and which after, and of how many devices.

Devices are what is repeated, as runs are for profdiff diff: profiles of one device are
alike. Models of devices are strata with the same weights on both sides, so that another
mix of devices is no change of the program. Models with fewer than 2 devices in a release
are left out, and said so. Functions that fewer than 10 devices have are not tested.

Costs are shares of everything (--per share), of a unit of work (--per work: frames,
sessions, requests, where profiles tell them) or of a second that was recorded. Where the
share of one function grows, all others fall: what says no more than that is not called.
With --per work or --per second everything has a verdict, too.

The sums are made by profdiff itself, or with --engine duckdb by DuckDB, if the program
profdiff-duckdb is beside profdiff or in PATH. --rows FILE takes the sums of another
engine, such as Spark: profdiff fleet sql prints what to ask it.

Of a store with more than a gigabyte of facts, the roll-ups of profdiff fleet compact are
compared: units in place of devices, at most 64 a model and release. The first lines say so,
and --sums facts has it by device. Categories and stacks are not rolled up: --by category
and --html read facts.`,
		Args: args(oneStore),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.check(cmd, std); err != nil {
				return err
			}
			return c.run(cmd, std, args[0])
		},
	}
	c.fleetQuestion.register(cmd)
	fs := cmd.Flags()
	fs.StringVar(&c.by, "by", "function", "compare by `GROUP`: function, model (functions on each model of devices) or category")
	fs.BoolVar(&c.opt.Total, "total", false, "compare what functions and their callees cost, instead of what they cost themselves")
	fs.IntVar(&c.opt.Limit, "limit", 40, "show `N` rows of each table, 0 for all")
	fs.BoolVar(&c.full, "full", false, "show all tables in full; --by, --total and --limit do so, too")
	fs.BoolVarP(&c.quiet, "quiet", "q", false, "show only the sentences that say what happened")
	fs.Float64Var(&c.margin, "margin", 100*verdict.Margin, "a change of less than `PERCENT` does not matter")
	fs.StringVar(&c.engine, "engine", itself, "have sums made by `ENGINE`: profdiff or duckdb")
	fs.StringVar(&c.rows, "rows", "", "take the rows that another engine computed from `FILE`")
	fs.StringVar(&c.page.file, "html", "", "write a report as one HTML file, too: `FILE`")
	fs.BoolVar(&c.page.private, "html-private", false, "name files in the report without any directory")
	fs.StringVar(&c.format, "format", "text", "output `FORMAT`: text, json, csv or markdown for a pull request")
	fs.StringVarP(&c.output, "output", "o", "-", "write to `FILE`, - for standard output")
	return cmd
}

// check refuses flags that do not go together.
func (c *fleetCompare) check(cmd *cobra.Command, std *stdio) (err error) {
	if c.out, err = diffFormat(cmd, std, c.format, c.output); err != nil {
		return err
	}
	switch {
	case c.out.stacks:
		return usagef(cmd, "--format is text, json, csv or markdown, not %s", c.format)
	case !slices.Contains([]string{"function", "model", "category"}, c.by):
		return usagef(cmd, "--by is function, model or category, not %q", c.by)
	case c.opt.Total && c.by != "function":
		return usagef(cmd, "--total is of functions: it does not go with --by %s", c.by)
	case c.opt.Limit < 0:
		return usagef(cmd, "--limit is 0 or more, not %d", c.opt.Limit)
	case !(c.margin > 0) || c.margin > 1000:
		return usagef(cmd, "--margin is a percentage above 0 and up to 1000, not %v", c.margin)
	case !slices.Contains([]string{itself, "duckdb"}, c.engine):
		return usagef(cmd, "--engine is profdiff or duckdb, not %q", c.engine)
	case c.rows != "" && cmd.Flags().Changed("engine"):
		return usagef(cmd, "--rows are what an engine computed: --engine does not go with it")
	case c.sums == "units" && (c.by == "category" || c.page.file != ""):
		return usagef(cmd, "--sums units: categories and stacks, of which --html has a flame graph, are not rolled up")
	case c.quiet && (c.full || changedAny(cmd, []string{"by", "total", "limit"})):
		return usagef(cmd, "--quiet does not go with what shows tables: --full, --by, --total and --limit")
	}
	c.opt.By = run.GroupBy(c.by)
	return c.page.check(cmd, c.output)
}

func (c *fleetCompare) run(cmd *cobra.Command, std *stdio, dir string) error {
	s, err := store.Open(dir)
	if err != nil {
		return err
	}
	if c.by == "category" || c.page.file != "" {
		c.sums = "facts"
	}
	q, err := c.question(cmd, s)
	if err != nil {
		return err
	}
	a, err := c.ask(cmd.Context(), std, s, dir, q)
	if err != nil {
		return err
	}
	recordingsRead()
	if c.by == "category" && len(a.Categories) == 0 {
		return fmt.Errorf("%s has no categories that can be compared", dir)
	}
	comparison := a.Judge(verdict.Rule{Margin: c.margin / 100, FalseDiscovery: verdict.FalseDiscovery})
	var stacks *query.Stacks
	if c.page.file != "" {
		if stacks, err = query.AskStacks(s, a.Population); err != nil {
			return err
		}
	}
	d := diff.NewFleet(comparison, stacks)
	if err := c.out.check(cmd, std, d); err != nil {
		return err
	}
	if c.page.file != "" {
		if err := c.page.write(std, html.FromComparison(d, c.page.options())); err != nil {
			return err
		}
	}
	if c.out.write != nil {
		return std.writeOutput(c.output, func(w io.Writer) error {
			return c.page.reviewed(w, nil, func(w io.Writer) error { return c.out.write(w, d, c.opt) })
		})
	}
	return std.writeScreen(c.output, func(w io.Writer) error { return c.write(cmd, w, d) })
}

// write writes a comparison for people.
func (c *fleetCompare) write(cmd *cobra.Command, w io.Writer, d *diff.Document) error {
	if err := diff.WriteReleases(w, d, c.chosen); err != nil {
		return err
	}
	switch {
	case c.quiet:
		return d.Story.Write(w)
	case c.full || changedAny(cmd, []string{"by", "total", "limit"}):
		return noteAbsent(w, diff.WriteText(w, d, c.opt))
	}
	return diff.WriteSummary(w, d, false)
}

// itself is the engine that is this program.
const itself = "profdiff"

// ask has the sums made.
func (c *fleetCompare) ask(ctx context.Context, std *stdio, s *store.Store, dir string, q query.Question) (*query.Answer, error) {
	if c.rows != "" {
		var a *query.Answer
		err := input.Read(c.rows, std.in, func(src *input.Source) (err error) {
			if a, err = query.Take(s, q, src.Reader, filepath.Base(c.rows)); err != nil {
				err = fmt.Errorf("%s: %w", c.rows, err)
			}
			return err
		})
		return a, err
	}
	if c.engine == itself {
		return query.Ask(s, q, query.Scan{ByModel: c.by == "model"})
	}
	program := duckdbProgram()
	if program == "" {
		return nil, fmt.Errorf("--engine duckdb: %s is neither beside profdiff nor in PATH; go -C internal/fleet/duckdb build makes it", duckdb)
	}
	base, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	request, err := query.NewRequest(s, base, q, c.by == "model")
	if err != nil {
		return nil, err
	}
	request.Memory = "1GB"
	text, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	const most = 1 << 30
	p, err := command.Program{Argv: []string{program}, Input: bytes.NewReader(text), MaxOutput: most}.Run(ctx)
	if err != nil {
		return nil, err
	}
	return query.Take(s, q, bytes.NewReader(p.Output), "DuckDB")
}

// sizeOfFacts is the size of the facts of a store, in bytes.
func sizeOfFacts(s *store.Store) (size int64, err error) {
	files, err := s.Files(fleet.TableProfileFunctions)
	for _, name := range files {
		if info, err := os.Stat(name); err == nil {
			size += info.Size()
		}
	}
	return size, err
}

// duckdb is the program that runs DuckDB.
const duckdb = "profdiff-duckdb"

// duckdbProgram is where it is, beside this program or in PATH, "" if it is nowhere.
func duckdbProgram() string {
	if self, err := os.Executable(); err == nil {
		if name := command.File(filepath.Dir(self), "./"+duckdb); name != "" {
			return name
		}
	}
	return command.File("", duckdb)
}
