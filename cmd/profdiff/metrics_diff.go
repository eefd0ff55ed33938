package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"profdiff/internal/ingest"
	"profdiff/internal/input"
	"profdiff/internal/metric"
	"profdiff/internal/metric/diff"
	"profdiff/internal/report/html"
	"profdiff/internal/report/metrics"
)

// comparedMetrics are the flags of commands that compare metrics.
type comparedMetrics struct {
	metricFlags
	deadline, stall string
}

func (f *comparedMetrics) register(fs *pflag.FlagSet) {
	f.metricFlags.register(fs)
	fs.StringVar(&f.deadline, "deadline", "", "of metrics, compare the share of values over `AMOUNT`, such as 16.7ms")
	f.registerStall(fs)
}

// registerStall adds the flag that show has, too.
func (f *comparedMetrics) registerStall(fs *pflag.FlagSet) {
	fs.StringVar(&f.stall, "stall", "", "of a throughput, say what a transfer of `SIZE` bytes, such as 32KiB, waits if the slower side waits once in each")
}

// options check the flags.
func (f *comparedMetrics) options(cmd *cobra.Command) (opt diff.Options, err error) {
	if f.deadline != "" {
		if opt.Deadline, err = diff.ParseDeadline(f.deadline); err != nil {
			return opt, usagef(cmd, "--deadline: %v", err)
		}
	}
	if f.stall != "" {
		if _, err := diff.ParseSize(f.stall); err != nil {
			return opt, usagef(cmd, "--stall: %v", err)
		}
	}
	opt.Declared = f.metric != ""
	return opt, nil
}

// holdsMetrics reports whether an input is a file of metrics. What cannot be opened or is of no
// format is none: reading it says why.
func holdsMetrics(name string) (is bool) {
	if !readTwice(name) {
		return false
	}
	_ = input.Read(name, nil, func(src *input.Source) error {
		if f, err := ingest.Detect(src); err == nil {
			is = isTotals(f, src)
			return nil
		}
		_, err := metric.Detect(src.Head)
		is = err == nil
		return nil
	})
	return is
}

// metricSides reads both sides if they are files of metrics, which their content tells. ok is false
// if they are not.
func (l *loader) metricSides(files [2][]string) (sides [2][]*metric.Set, ok bool, err error) {
	is := make([]bool, 2)
	for side, names := range files {
		is[side] = len(names) > 0 && holdsMetrics(names[0])
	}
	switch {
	case !is[0] && !is[1]:
		return sides, false, nil
	case is[0] != is[1] && len(files[0]) > 0 && len(files[1]) > 0:
		i := slices.Index(is, true)
		return sides, false, fmt.Errorf("%s has metrics, but %s is none of their formats: name sides of one kind", files[i][0], files[1-i][0])
	}
	if err := checkDistinct(slices.Concat(files[0], files[1])); err != nil {
		return sides, false, err
	}
	for side, names := range files {
		if len(names) == 0 {
			continue
		}
		runs, sets, err := l.loadEither(names)
		if err != nil {
			return sides, false, err
		}
		if len(runs) > 0 {
			return sides, false, fmt.Errorf("%s is a profile, and other files have metrics: name inputs of one kind", runs[0].Name)
		}
		sides[side] = sets
	}
	oneMetric(&sides)
	return sides, true, nil
}

// oneMetric makes one metric of plain numbers in files that are numbered, as of runs: its name is
// that of the innermost folder that holds both sides.
func oneMetric(sides *[2][]*metric.Set) {
	var all []*metric.Metric
	names := make(map[string]int)
	var paths []string
	for _, sets := range sides {
		for _, s := range sets {
			if len(s.Metrics) != 1 || s.Format != metric.Numbers {
				return
			}
			all = append(all, s.Metrics[0])
			names[s.Metrics[0].Quantity]++
			paths = append(paths, s.Name)
		}
	}
	if len(names) < 2 {
		return
	}
	name := commonFolder(paths)
	for _, m := range all {
		var s metric.Set
		named := s.Add("", name, "")
		for _, r := range m.Runs {
			for i := range r.Values {
				r.Values[i] *= named.Scale
			}
			named.Runs = append(named.Runs, r)
		}
		*m = *named
	}
}

// commonFolder is the name of the innermost folder that holds all paths, "values" if they have
// none in common.
func commonFolder(paths []string) string {
	common := strings.Split(filepath.ToSlash(filepath.Dir(paths[0])), "/")
	for _, path := range paths[1:] {
		parts := strings.Split(filepath.ToSlash(filepath.Dir(path)), "/")
		n := 0
		for n < len(common) && n < len(parts) && common[n] == parts[n] {
			n++
		}
		common = common[:n]
	}
	if n := len(common); n > 1 && slices.Contains([]string{"before", "after", "base", "head"}, common[n-1]) {
		common = common[:n-1] // of one side alone
	}
	if len(common) == 0 || common[len(common)-1] == "" || common[len(common)-1] == "." {
		return "values"
	}
	return common[len(common)-1]
}

// halves takes the two commands or benchmarks of one file for the sides: the first is base.
func (f *comparedMetrics) halves(cmd *cobra.Command, s *metric.Set) (sides [2][]*metric.Set, err error) {
	choice, err := f.choice(cmd)
	if err != nil {
		return sides, err
	}
	kept, err := choice.apply(s.Metrics)
	if err != nil {
		return sides, err
	}
	var subjects []string
	for _, m := range kept {
		if m.Kind != "" && !slices.Contains(subjects, m.Subject) {
			subjects = append(subjects, m.Subject)
		}
	}
	switch n := len(subjects); {
	case n == 0:
		return sides, usagef(cmd, "%s has one side; name two: BEFORE AFTER, or --base and --head", s.Name)
	case n == 1:
		return sides, usagef(cmd, "%s has one %s, %s; name two sides: BEFORE AFTER, or --base and --head", s.Name, kept[0].Kind, subjects[0])
	case n > 2:
		return sides, usagef(cmd, "%s has %d %ss, the first is %s: --metric REGEXP that leaves two compares these; or name two sides: BEFORE AFTER", s.Name, n, kept[0].Kind, subjects[0])
	}
	for i, subject := range subjects {
		half := *s
		half.Metrics = slices.DeleteFunc(slices.Clone(kept), func(m *metric.Metric) bool { return m.Subject != subject })
		sides[i] = []*metric.Set{&half}
	}
	sides[1][0].Lost = nil // base says what was not read of the file
	return sides, nil
}

// recordingOf names the recording of the run whose values a file has, "" if there is none: of the
// same name beside it, or, as record and the case studies have them, in the same place outside of
// the folder values.
func recordingOf(values string) string {
	dir, file := filepath.Split(values)
	stem := strings.TrimSuffix(file, filepath.Ext(file))
	dirs := []string{dir}
	parts := strings.Split(filepath.ToSlash(filepath.Clean(dir)), "/")
	if i := slices.Index(parts, "values"); i >= 0 {
		outside := filepath.Join(slices.Delete(slices.Clone(parts), i, i+1)...)
		if filepath.IsAbs(dir) {
			outside = string(filepath.Separator) + outside
		}
		dirs = append(dirs, outside)
	}
	for _, d := range dirs {
		for _, ext := range []string{".data", ".perf", ".pb.gz", ".pftrace", ".perfetto-trace"} {
			path := filepath.Join(d, stem+ext)
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && path != filepath.Clean(values) {
				return path
			}
		}
	}
	return ""
}

// recordingsOf names the recording of a run of a side: that which its file names, or which was
// recorded with it.
func recordingsOf(sides [2][]*metric.Set) func(side int, m *metric.Metric, run int) string {
	return func(side int, m *metric.Metric, run int) string {
		at := run
		for _, s := range sides[side] {
			of := s.Metric(m.Subject, m.Quantity)
			if of == nil && len(s.Metrics) == 1 {
				of = s.Metrics[0]
			}
			if of == nil {
				continue
			}
			n := len(of.Runs)
			if of.Summary != nil {
				n = 1
			}
			if at >= n {
				at -= n
				continue
			}
			for _, link := range s.Links {
				if link.Subject == m.Subject && link.Run == at {
					return link.File
				}
			}
			if n == 1 {
				return recordingOf(s.Name)
			}
			return ""
		}
		return ""
	}
}

// compared compares both sides.
func (f *comparedMetrics) compared(cmd *cobra.Command, sides [2][]*metric.Set, opt diff.Options) (*metrics.Diff, error) {
	choice, err := f.choice(cmd)
	if err != nil {
		return nil, err
	}
	var joined [2][]*metric.Metric
	for side := range sides {
		sides[side] = metric.Blocks(sides[side])
		if joined[side], err = metric.Join(sides[side]); err != nil {
			return nil, err
		}
		if joined[side], err = choice.apply(joined[side]); err != nil {
			return nil, err
		}
	}
	opt.Recording, opt.Blocks = recordingsOf(sides), [2]bool{len(sides[0]) == 1, len(sides[1]) == 1}
	d := metrics.NewDiff(diff.Compare(joined[0], joined[1], opt), sides[0], sides[1], opt.Declared)
	if f.stall != "" {
		stall, err := f.stalled(joined)
		if err != nil {
			return nil, err
		}
		d.Stall = metrics.NewStall(stall)
	}
	if len(d.Metrics) == 0 {
		err := fmt.Errorf("the sides have no metric in common: base has %s, head has %s", joined[0][0].Name(), joined[1][0].Name())
		if d.Names != "" {
			err = fmt.Errorf("%w; %s", err, d.Names)
		}
		return nil, err
	}
	return d, nil
}

func (f *comparedMetrics) stalled(sides [2][]*metric.Metric) (*diff.Stall, error) {
	size, err := diff.ParseSize(f.stall)
	if err != nil {
		return nil, err
	}
	return diff.NewStall(sides[0], sides[1], size, f.stall)
}

// runMetrics compares two sides of metrics.
func (c *diffCommand) runMetrics(cmd *cobra.Command, std *stdio, sides [2][]*metric.Set) error {
	opt, err := c.metrics.options(cmd)
	if err != nil {
		return err
	}
	opt.Margin = c.flags.margin / 100
	if len(sides[1]) == 0 {
		if sides, err = c.metrics.halves(cmd, sides[0][0]); err != nil {
			return err
		}
	}
	d, err := c.metrics.compared(cmd, sides, opt)
	if err != nil {
		return err
	}
	if c.page.file != "" {
		if err := c.page.write(std, html.FromMetrics(d, c.page.options())); err != nil {
			return err
		}
	}
	if c.format == "text" {
		return std.writeScreen(c.output, func(w io.Writer) error {
			if c.quiet {
				return d.Story.Write(w)
			}
			return noteAbsent(w, metrics.WriteDiff(w, d, c.opt.Limit))
		})
	}
	return std.writeOutput(c.output, func(w io.Writer) error {
		switch c.format {
		case "json":
			return metrics.WriteDiffJSON(w, d)
		case "markdown":
			return metrics.WriteDiffMarkdown(w, d)
		}
		return usagef(cmd, "--format %s is for profiles: metrics are compared as text, json or markdown", c.format)
	})
}

// showStall shows what transfers wait, by the throughputs of two inputs, before and after, or by both
// of one.
func (f *comparedMetrics) showStall(cmd *cobra.Command, w io.Writer, sets []*metric.Set, format string) error {
	if _, err := f.options(cmd); err != nil {
		return err
	}
	choice, err := f.choice(cmd)
	if err != nil {
		return err
	}
	var sides [2][]*metric.Metric
	switch len(sets) {
	case 1:
		all, err := choice.apply(sets[0].Metrics)
		if err != nil {
			return err
		}
		rates := slices.DeleteFunc(all, func(m *metric.Metric) bool { return m.Unit != metric.BitsPerSecond && m.Unit != metric.BytesPerSecond })
		if len(rates) != 2 {
			return fmt.Errorf("%s has %d throughputs: --stall takes two, before and after, or two files with one each", sets[0].Name, len(rates))
		}
		sides = [2][]*metric.Metric{rates[:1], rates[1:]}
	case 2:
		for i, s := range sets {
			if sides[i], err = choice.apply(s.Metrics); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("--stall takes two inputs, before and after, or one with both throughputs, not %d; profdiff diff takes two folders", len(sets))
	}
	stall, err := f.stalled(sides)
	if err != nil {
		return err
	}
	return metrics.WriteStall(w, metrics.NewStall(stall), format == "json")
}
