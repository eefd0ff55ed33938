package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"profdiff/internal/category"
	"profdiff/internal/ingest"
	"profdiff/internal/metric"
	"profdiff/internal/report/html"
	"profdiff/internal/report/show"
	"profdiff/internal/report/text"
	"profdiff/internal/report/waits"
	"profdiff/internal/run"
	"profdiff/internal/wait"
	"profdiff/internal/yaml"
)

func newShowCmd(std *stdio) *cobra.Command {
	var (
		in       inputFlags
		metrics  comparedMetrics
		opt      show.Options
		parts    show.Parts
		by       string
		sets     string
		regions  string
		format   string
		output   string
		page     string
		top      bool
		tree     bool
		minShare float64
	)
	cmd := &cobra.Command{
		Use:   "show INPUT... [flags]",
		Short: "Show what costs most in one profile",
		Example: `  profdiff show perf.data
  profdiff show perf.data --by thread --limit 10`,
		Long: `Show what costs most in a recording of any format. Several inputs are added up.

` + listed("Formats of recordings", ingest.Names()) + `

` + listed("Formats of metrics", metric.Names()) + `

Stacks that were recorded as memory (perf record --call-graph dwarf) are unwound by the
object files of the recording. What the recording has too little memory of begins with
[cut], here and in all other outputs, so that no function passes for the start of a
thread; --ignore '^\[cut\]$' leaves such samples out, --focus main may.

Of a file of metrics, such as benchmarks write, all metrics are listed, with number, mean
and quantiles of their values, unit, and which values are better. Runs of several files
are put together. The formats are those of diff and check. Of a table, CSV or JSON lines,
names of columns say what they are for: they end in a unit (frame_ms, rx_Mbps), tell runs
apart (run, trial, iteration) or say what was measured (benchmark, name, command); or
there is a column value, with its unit in a column unit.

Recordings of time off the CPU, traces and dumps of stacks also tell who waited for whom:
the table of functions is followed by chains of threads and by what threads had while
they waited themselves, so that others waited for it; --by lock tells all of it. A region
is what a thread can have like that: a lock, or an array that no collector may move. Who
had it is told by who ended the wait for it (perf record -e sched:sched_waking), else by
stacks, else by times: of how many waits the end follows the end of a wait of one thread,
and of how many it does when they are shifted in time, by chance. Where several threads
fit as well, all are named and none is blamed. Built in are critical sections of JNI, flips
of the collector, Java's monitors and locks, locks of Python, of SQLite, of PostgreSQL and of
C libraries, and of Linux mmap_lock, read-write semaphores, mutexes, journals and locked
files. --regions FILE names others, in YAML; the first that fits a wait decides:

    regions:
      - name: cache
        region: the table of the cache  # what is held, for readers
        wants: ['^Cache::lock$']        # who waits below this function waits for it
        from: ['^handle_request$']      # if this one called that (optional)
        except: ['^Cache::try_lock$']   # and none of these is on the stack (optional)
        leaves: ['^Cache::unlock$']     # who ends the wait from below this one had it
        scope: process                  # whose threads wait for each other; or program, machine
      - name: network under a lock
        holds: ['^with_lock']           # who is below this one has it, when it waits
        blocked: ['^send$', '^recv$']   # further in, in one of these (optional)
        kind: [native]                  # of the code of wants, holds and leaves (optional)
      - include: builtin                # the built-in regions, which else are left out

Patterns are regular expressions on names of functions. A region needs wants or holds.

Contention for locks is told by slices of Android's runtime in traces (the atrace category
dalvik), by dumps and by lock:contention_begin of perf. --by lock lists it by where each
lock was wanted and held, who waited, main threads first, and for whom, and what that thread
did meanwhile. --focus and --thread choose waits by where and in which thread they are,
--during by when: two questions that Android's lock-free MessageQueue was judged by are

    profdiff show TRACE --by lock --focus MessageQueue --during janky-apps
    profdiff show TRACE --by lock --focus MessageQueue --during startup

of all the time of apps that missed the deadline of a frame (of those frames alone with
jank), and of what lies within the start of an app. Chains behind a wait that was chosen are
told in full. As events of the trace, contentions and delay can be compared, budgeted and
converted: profdiff convert TRACE --event contentions --event delay -o locks.pb.gz is for
go tool pprof, with -contentions, -total_delay and -mean_delay. The stack is where the lock was
held and, called by it, where it was wanted. Sums are of waiters; in brackets stands what is left if
those who wait for one holder at the same time count once.

As CSV, each function has a row for each event, with the names that fields have in JSON, or
with --by lock each pair of places. Texts that begin with = + - or @ get a ' in front, so that no spreadsheet takes the name of
a function for a formula.`,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, inputs []string) error {
			group, err := run.ParseGroupBy(by)
			switch {
			case err != nil:
				return usagef(cmd, "--by: %v", err)
			case format != "text" && format != "json" && format != "csv":
				return usagef(cmd, "--format is text, json or csv, not %q", format)
			case opt.Limit < 0:
				return usagef(cmd, "--limit is 0 or more, not %d", opt.Limit)
			case !(minShare >= 0 && minShare <= 100):
				return usagef(cmd, "--min-share is a percentage, not %v", minShare)
			case top && tree:
				return usagef(cmd, "--top and --tree exclude each other")
			case regions != "" && (tree || format == "csv" && group != run.ByLock):
				return usagef(cmd, "--regions goes with what tells of waits: neither with --tree nor with functions as CSV")
			case sets != "" && format == "text" && (tree || group != run.ByCategory):
				return usagef(cmd, "--categories needs --by category or --format json")
			case page != "" && page == output:
				return usagef(cmd, "--html and -o both write to %s", output)
			case page != "" && tree:
				return usagef(cmd, "--html and --tree exclude each other")
			case group == run.ByLock && tree:
				return usagef(cmd, "--by lock and --tree exclude each other")
			case parts.EachThread && format == "text" && (tree || group != run.ByThread):
				return usagef(cmd, "--each-thread needs --by thread or --format json")
			}
			if format == "csv" {
				lacks := []string{"tree", "by", "categories", "each-thread", "exact", "limit", "min-share"}
				if group == run.ByLock {
					lacks = slices.DeleteFunc(lacks, func(flag string) bool { return flag == "by" })
				}
				if err := formatLacks(cmd, format, lacks...); err != nil {
					return err
				}
			}
			if parts.Regions, err = readRegions(regions); err != nil {
				return err
			}
			if sets != "" {
				if parts.Categories, err = readCategories(sets); err != nil {
					return err
				}
			}
			opt.MinShare = minShare / 100
			locks := group == run.ByLock
			switch {
			case locks:
				parts.Lists, parts.By = format == "json", group
			case format != "text":
				parts.Lists = true
			case tree:
				parts.Trees = true
			default:
				parts.By = group
			}
			choice, err := metrics.choice(cmd)
			if err != nil {
				return err
			}
			l, err := in.loader(cmd, std)
			if err != nil {
				return err
			}
			parts.Waits = locks || page != "" || !tree && format != "csv"
			l.opt.Waits = parts.Waits
			runs, values, err := l.loadEither(inputs)
			if err != nil {
				return err
			}
			if asksForMetrics(cmd) && len(values) == 0 {
				values = metricsOf(runs)
			}
			if len(values) > 0 {
				if err := onlyForProfiles(cmd, values[0]); len(runs) == 0 && err != nil {
					return err
				}
				if metrics.stall != "" {
					return std.writeOutput(output, func(w io.Writer) error { return metrics.showStall(cmd, w, values, format) })
				}
				return std.writeOutput(output, func(w io.Writer) error { return choice.show(w, values, format, opt.Limit) })
			}
			if err := onlyForMetrics(cmd, runs[0]); err != nil {
				return err
			}
			r, err := mergeAll(runs)
			if err != nil {
				return err
			}
			d := show.New(r, parts)
			if err := writeWaits(std, page, d); err != nil {
				return err
			}
			to := std.writeOutput
			if format == "text" {
				to = std.writeScreen
			}
			err = to(output, func(w io.Writer) error {
				switch {
				case format == "json":
					return show.WriteJSON(w, d)
				case format == "csv" && locks:
					return waits.WriteCSV(w, d.Waits)
				case format == "csv":
					return show.WriteCSV(w, d)
				case tree:
					return noteAbsent(w, show.WriteTree(w, d, opt))
				case locks:
					return noteAbsent(w, show.WriteLocks(w, d, opt))
				}
				return noteAbsent(w, show.WriteText(w, d, opt))
			})
			if err != nil {
				return err
			}
			if format == "text" && !tree && output == "-" {
				l.accountSamples(r) // the table begins with the warnings
			} else {
				l.account(r)
			}
			return nil
		},
	}
	in.register(cmd)
	f := cmd.Flags()
	metrics.metricFlags.register(f)
	metrics.registerStall(f)
	f.BoolVar(&top, "top", false, "list what costs most (default)")
	f.BoolVar(&tree, "tree", false, "show the call tree")
	f.StringVar(&by, "by", "function", "list by `GROUP`: function, file, dso, thread, process, state, category or lock")
	registerRegions(f, &regions)
	f.StringVar(&sets, "categories", "", "sort into the categories of `FILE` instead of the built-in ones")
	f.BoolVar(&parts.EachThread, "each-thread", false, "tell the threads of a pool apart, whose names differ in numbers only")
	f.BoolVar(&opt.Exact, "exact", false, "print weights in full, and shares below 10% with three decimals")
	f.IntVar(&opt.Limit, "limit", 40, "show `N` rows of each event, 0 for all")
	f.Float64Var(&minShare, "min-share", 0.5, "leave out parts of a tree below `PERCENT` of the total")
	f.StringVar(&format, "format", "text", "output `FORMAT`: text, json, or csv")
	f.StringVar(&page, "html", "", "write who waited for whom as one HTML file, too: `FILE`")
	f.StringVarP(&output, "output", "o", "-", "write to `FILE`, - for standard output")
	return cmd
}

// registerRegions adds the flag that names rules for regions.
func registerRegions(f *pflag.FlagSet, file *string) {
	f.StringVar(file, "regions", "", "find what threads held while they waited by the rules of `FILE` instead of the built-in ones")
}

// readRegions reads a file of rules for regions, nil if none is named.
func readRegions(name string) (rules *wait.Rules, err error) {
	if name == "" {
		return nil, nil
	}
	data, err := readStart(name, yaml.MaxSize+1)
	if err != nil {
		return nil, err
	}
	return wait.ParseRules(name, data)
}

// writeWaits writes who waited for whom as a page, if that was asked for.
func writeWaits(std *stdio, page string, d *show.Document) error {
	switch {
	case page == "":
		return nil
	case d.Waits == nil || !d.Waits.Known():
		return fmt.Errorf("--html: %s does not tell who waited for whom, which is what the page is of", d.Inputs[0].Path)
	}
	doc := html.FromWaits(d.Inputs[0].Path, d.Waits, html.Options{Tool: reportTool()})
	return std.writeOutput(page, func(w io.Writer) error { return html.Write(w, doc) })
}

// readCategories reads a file of categories.
func readCategories(name string) (set *category.Set, err error) {
	data, err := readStart(name, category.MaxSize+1)
	if err != nil {
		return nil, err
	}
	return category.Parse(name, data)
}

// listed is a paragraph of a help text that lists names, as wide as the others.
func listed(what string, names []string) string {
	const width = 88
	return strings.Join(text.Wrap(what+" are "+strings.Join(names, ", ")+".", width, width), "\n")
}
