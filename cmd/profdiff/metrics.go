package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"profdiff/internal/exchange"
	"profdiff/internal/ingest"
	"profdiff/internal/input"
	"profdiff/internal/metric"
	"profdiff/internal/report/metrics"
	"profdiff/internal/run"
	"profdiff/internal/wait"
)

// metricFlags are the flags of all commands that read files of metrics.
type metricFlags struct {
	better []string
	metric string
}

func (f *metricFlags) register(fs *pflag.FlagSet) {
	fs.StringArrayVar(&f.better, "better", nil, "of metrics, `lower` or higher values are better; NAME=higher says so of one (repeatable)")
	fs.StringVar(&f.metric, "metric", "", "of metrics, take those whose name matches `REGEXP`")
}

// A metricChoice is what the flags say.
type metricChoice struct {
	better metric.Better
	name   *regexp.Regexp
}

func (f *metricFlags) choice(cmd *cobra.Command) (c metricChoice, err error) {
	if c.better, err = metric.ParseBetter(f.better); err != nil {
		return c, usagef(cmd, "--better: %v", err)
	}
	if c.name, err = regexp.Compile(f.metric); err != nil {
		return c, usagef(cmd, "--metric: %v", err)
	}
	return c, nil
}

// apply keeps the metrics that are asked for, and sets their directions.
func (c *metricChoice) apply(metrics []*metric.Metric) ([]*metric.Metric, error) {
	if unused := c.better.Apply(metrics); len(unused) > 0 {
		return nil, fmt.Errorf("--better %s names no metric; the first is %q", unused[0], metrics[0].Name())
	}
	kept := slices.DeleteFunc(slices.Clone(metrics), func(m *metric.Metric) bool { return !c.name.MatchString(m.Name()) })
	if len(kept) == 0 {
		return nil, fmt.Errorf("--metric %s matches none of %d metrics; the first is %q", c.name, len(metrics), metrics[0].Name())
	}
	return kept, nil
}

// loadEither reads inputs, which are all profiles or all files of metrics, told by content.
func (l *loader) loadEither(names []string) (runs []*run.Run, sets []*metric.Set, err error) {
	asMetrics := !slices.ContainsFunc(names, holdsSamples)
	for _, name := range names {
		r, s, err := l.loadOne(name, asMetrics)
		if err != nil {
			return nil, nil, err
		}
		if r != nil {
			runs = append(runs, r)
		} else {
			sets = append(sets, s)
		}
		if len(runs) > 0 && len(sets) > 0 {
			return nil, nil, fmt.Errorf("%s is a profile, but %s has metrics (%s): name inputs of one kind", runs[0].Name, sets[0].Name, sets[0].Format)
		}
	}
	return runs, sets, nil
}

// loadOne reads a profile or a file of metrics; one of both is nil. Totals are what asMetrics says.
func (l *loader) loadOne(name string, asMetrics bool) (r *run.Run, s *metric.Set, err error) {
	err = l.digests.Read(name, l.io.in, func(src *input.Source) (err error) {
		f, err := ingest.Detect(src)
		if err == nil && asMetrics && isTotals(f, src) {
			s, err = metric.Read(src)
			return err
		}
		if none, ok := errors.AsType[*input.UnknownError](err); ok {
			if _, err := metric.Detect(src.Head); err != nil {
				if other, ok := errors.AsType[*input.UnknownError](err); ok {
					return none.Join(other)
				}
				return err
			}
			s, err = metric.Read(src)
			return err
		}
		if err != nil {
			return err
		}
		r, err = ingest.ReadAs(f, src, &l.opt)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if r != nil {
		if err := l.filter.Apply(r); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", r.Name, err)
		}
		if l.waits != nil && len(r.Waits) > 0 {
			l.waits[r] = wait.New(r, l.regions)
			r.Waits, r.Holds, r.Threads = nil, nil, nil
		}
	}
	return r, s, nil
}

// isTotals reports whether an input of a format has totals of a whole run, as perf stat prints them: it has no samples, so
// that beside recordings it tells what work was done, and alone it is a file of metrics. Formats of both kinds are of such.
func isTotals(f *ingest.Format, src *input.Source) bool {
	m, err := metric.Detect(src.Head)
	return err == nil && m.Name == f.Name
}

// readTwice reports whether an input can be read more than once: a pipe, such as <(ssh HOST cat recording) of a shell, cannot.
func readTwice(name string) bool {
	if name == "-" || exchange.Is(name) {
		return false
	}
	info, err := os.Stat(name)
	return err == nil && (info.Mode().IsRegular() || info.IsDir())
}

// holdsSamples reports whether an input is a recording that has more than totals. It is not opened if it can be read
// only once.
func holdsSamples(name string) (is bool) {
	if !readTwice(name) {
		return false
	}
	_ = input.Read(name, nil, func(src *input.Source) error {
		f, err := ingest.Detect(src)
		is = err == nil && !isTotals(f, src)
		return nil
	})
	return is
}

// show writes what files of metrics have.
func (c *metricChoice) show(w io.Writer, sets []*metric.Set, format string, limit int) error {
	joined, err := metric.Join(sets)
	if err != nil {
		return err
	}
	if joined, err = c.apply(joined); err != nil {
		return err
	}
	switch d := metrics.New(sets, joined); format {
	case "json":
		return metrics.WriteJSON(w, d)
	case "csv":
		return metrics.WriteCSV(w, d)
	default:
		return metrics.WriteText(w, d, limit)
	}
}

// metricsOf are the metrics that traces tell, such as how long frames took, a set for each run; nil if one tells none.
func metricsOf(runs []*run.Run) (sets []*metric.Set) {
	for _, r := range runs {
		s := &metric.Set{Name: r.Name, Format: r.Recording.Format, Facts: metric.Facts{
			Tool: r.Recording.Tool, System: r.Recording.Device, Time: r.Recording.Start,
		}}
		for i := range r.Measured {
			m := &r.Measured[i]
			if len(m.Values) > 0 {
				s.AddRun(m.Process, "app", m.Quantity, m.Unit, m.Values)
			}
			if m.Unended > 0 {
				s.Read += int(m.Unended)
				s.Lost = append(s.Lost, metric.Loss{Reason: m.Process + " " + m.Quantity + " without an end", Count: int(m.Unended)})
			}
		}
		if len(s.Metrics) == 0 {
			return nil
		}
		sets = append(sets, s)
	}
	return sets
}

// asksForMetrics reports whether flags say that of traces metrics are wanted.
func asksForMetrics(cmd *cobra.Command) bool {
	return changedAny(cmd, []string{"metric", "better", "deadline"})
}

// onlyForProfiles refuses flags that mean nothing for metrics.
func onlyForProfiles(cmd *cobra.Command, s *metric.Set) (err error) {
	both := []string{"format", "output", "limit", "better", "metric", "base", "head", "margin", "deadline", "stall", "full", "quiet", "color", "max-memory", "html", "html-private", "show-command"}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && !slices.Contains(both, f.Name) {
			err = usagef(cmd, "--%s is for profiles, but %s has metrics (%s)", f.Name, s.Name, s.Format)
		}
	})
	return err
}

// onlyForMetrics refuses flags that mean nothing for profiles.
func onlyForMetrics(cmd *cobra.Command, r *run.Run) error {
	for _, name := range []string{"better", "metric", "deadline", "stall"} {
		if cmd.Flags().Changed(name) {
			return usagef(cmd, "--%s is for metrics, but %s is a profile", name, r.Name)
		}
	}
	return nil
}
