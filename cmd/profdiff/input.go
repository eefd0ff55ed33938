package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"profdiff/internal/ingest"
	"profdiff/internal/input"
	"profdiff/internal/objects"
	"profdiff/internal/remark"
	"profdiff/internal/retrace"
	"profdiff/internal/run"
	"profdiff/internal/trace"
	"profdiff/internal/wait"
)

// inputFlags are the flags of all commands that read profiles.
type inputFlags struct {
	events         []string
	symfs          []string
	noDebuginfod   bool
	kallsyms       string
	mappings       []string
	process        string
	thread         string
	dso            string
	focus          string
	ignore         string
	unknown        string
	labels         []string
	during         string
	showART        bool
	allowTruncated bool
}

func (f *inputFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringArrayVar(&f.events, "event", nil, "read only the event `NAME` (repeatable; default all)")
	f.registerFiles(fs)
	fs.StringVar(&f.kallsyms, "kallsyms", "", "name kernel addresses by `FILE`, a copy of /proc/kallsyms of the recorded kernel")
	fs.StringArrayVar(&f.mappings, "proguard-mapping", nil, "undo the renaming of ProGuard or R8 by `FILE`, a mapping.txt (repeatable)")
	fs.StringVar(&f.process, "process", "", "keep samples of processes whose name matches `REGEXP`")
	fs.StringVar(&f.thread, "thread", "", "keep samples of threads whose name matches `REGEXP`")
	fs.StringVar(&f.dso, "dso", "", "keep samples whose leaf frame is in a file that matches `REGEXP`")
	fs.StringVar(&f.focus, "focus", "", "keep samples with a function on the stack that matches `REGEXP`; a static function is also parse@lexer.c")
	fs.StringVar(&f.ignore, "ignore", "", "drop samples with a function on the stack that matches `REGEXP`")
	fs.StringVar(&f.during, "during", "", "of traces keep what was during `TIMES`: 'slice NAME' (with * and ?), 'process slice NAME' and 'thread slice NAME' "+
		"for those of its process or thread, startup of apps, jank for frames of apps that missed their deadline, janky-apps for all the time of such apps")
	fs.StringVar(&f.unknown, "unknown", "dso", "name addresses without a symbol by `FORM`: dso for [file], offset for file[+hex]")
	fs.StringSliceVar(&f.labels, "label", nil, "add `NAMES` as labels of samples: pid, tid, cpu, mode")
	fs.BoolVar(&f.showART, "show-art-frames", false, "keep frames of the Android runtime, and compiled methods apart from interpreted ones")
	fs.BoolVar(&f.allowTruncated, "allow-truncated", false, "read what there is of a recording that ends too early")
}

// registerFiles adds the flags that say where object files are.
func (f *inputFlags) registerFiles(fs *pflag.FlagSet) {
	fs.StringArrayVar(&f.symfs, "symfs", nil, "look for object files in `DIR` first, by build ID, then by path (repeatable)")
	fs.BoolVar(&f.noDebuginfod, "no-debuginfod", false, "do not ask the servers in DEBUGINFOD_URLS for object files that are not here")
}

// A loader reads inputs as the flags say.
type loader struct {
	io      *stdio
	opt     ingest.Options
	filter  run.Filter
	digests input.Digests // of what is read, if they are asked for
	// waits are reports of who waited for whom, by run, if they are asked for. Runs then have
	// no waits of their own any more, which may be large.
	waits map[*run.Run]*wait.Report
	// regions are the rules of these reports, nil for the built-in ones.
	regions *wait.Rules
}

func (f *inputFlags) loader(cmd *cobra.Command, std *stdio) (*loader, error) {
	l := &loader{io: std}
	l.filter.Events = f.events
	for _, re := range []struct {
		flag, expr string
		to         **regexp.Regexp
	}{
		{"process", f.process, &l.filter.Process},
		{"thread", f.thread, &l.filter.Thread},
		{"dso", f.dso, &l.filter.DSO},
		{"focus", f.focus, &l.filter.Focus},
		{"ignore", f.ignore, &l.filter.Ignore},
	} {
		if re.expr == "" {
			continue
		}
		compiled, err := regexp.Compile(re.expr)
		if err != nil {
			return nil, usagef(cmd, "--%s: %v", re.flag, err)
		}
		*re.to = compiled
	}
	switch f.unknown {
	case "dso":
	case "offset":
		l.opt.UnknownOffset = true
	default:
		return nil, usagef(cmd, "--unknown is dso or offset, not %q", f.unknown)
	}
	for _, label := range f.labels {
		set, ok := map[string]*bool{"pid": &l.opt.PID, "tid": &l.opt.TID, "cpu": &l.opt.CPU, "mode": &l.opt.Mode}[label]
		if !ok {
			return nil, usagef(cmd, "--label takes pid, tid, cpu and mode, not %q", label)
		}
		*set = true
	}
	if f.during != "" {
		during, err := trace.ParseDuring(f.during)
		if err != nil {
			return nil, usagef(cmd, "--during: %v", err)
		}
		l.opt.During = during
	}
	l.opt.ShowARTFrames = f.showART
	l.opt.AllowTruncated = f.allowTruncated
	paths := make([]objects.SearchPath, 0, len(f.symfs))
	for _, dir := range f.symfs {
		info, err := os.Stat(dir)
		if err != nil {
			return nil, fmt.Errorf("--symfs: %w", input.PathError(err))
		}
		if !info.IsDir() {
			return nil, fmt.Errorf("--symfs: %s is not a directory", dir)
		}
		paths = append(paths, objects.SearchPath{Name: dir, FS: os.DirFS(dir)})
	}
	files := objects.Options{Symfs: paths, Machine: objects.ThisMachine(os.Getenv)}
	if !f.noDebuginfod {
		files.Fetcher = std.debuginfod(cmd.Context())
	}
	l.opt.Objects = objects.New(files)
	if err := l.readNames(f.kallsyms, f.mappings); err != nil {
		return nil, err
	}
	return l, nil
}

// readNames reads the files that name addresses and functions, if there are any.
func (l *loader) readNames(kallsyms string, mappings []string) error {
	if kallsyms != "" {
		if err := withFile(kallsyms, func(r io.Reader) (err error) {
			l.opt.Kallsyms, err = objects.ParseKallsyms(kallsyms, r)
			return err
		}); err != nil {
			return err
		}
	}
	var all *retrace.Mapping
	for _, name := range mappings {
		if err := withFile(name, func(r io.Reader) (err error) {
			if all == nil {
				all, err = retrace.Parse(r)
				return err
			}
			return all.Add(r)
		}); err != nil {
			return err
		}
	}
	if all != nil {
		l.opt.Retrace = all
	}
	return nil
}

// readStart reads a file that goes with the inputs, no more than limit bytes of it.
func readStart(name string, limit int64) (data []byte, err error) {
	err = withFile(name, func(r io.Reader) error {
		data, err = io.ReadAll(io.LimitReader(r, limit))
		return err
	})
	return data, err
}

// withFile reads a file that goes with the inputs.
func withFile(name string, read func(io.Reader) error) error {
	return input.Read(name, nil, func(src *input.Source) error { return read(src.Reader) })
}

// load reads one profile; "-" is standard input.
func (l *loader) load(name string) (*run.Run, error) {
	r, s, err := l.loadOne(name, false)
	if s != nil {
		err = fmt.Errorf("%s: has metrics and no profile (%s): show, diff and check take them", s.Name, s.Format)
	}
	return r, err
}

// loadAll reads several inputs that make one profile.
func (l *loader) loadAll(names []string) (*run.Run, error) {
	runs, err := l.loadEach(names)
	if err != nil {
		return nil, err
	}
	return mergeAll(runs)
}

// mergeAll makes one profile of several. What is wrong with many of them is said once.
func mergeAll(runs []*run.Run) (*run.Run, error) {
	var read []string
	var remarks []remark.Remark
	for _, r := range runs {
		read = append(read, r.Name)
		for _, w := range r.Warnings {
			remarks = append(remarks, remark.Remark{Run: r.Name, Text: w})
		}
	}
	const most = 3 // names
	if n := len(read) - most; n > 0 {
		read = append(read[:most], fmt.Sprintf("and %d more", n))
	}
	merged, err := run.Merge(strings.Join(read, " "), runs)
	if err == nil && len(runs) > 1 {
		merged.Warnings = remark.Lines(remarks, map[string]int{"": len(runs)})
	}
	return merged, err
}

// loadEach reads inputs as runs of their own.
func (l *loader) loadEach(names []string) ([]*run.Run, error) {
	jobs := make([]job, len(names))
	for i, name := range names {
		jobs[i] = job{l, name}
	}
	return loadJobs(jobs)
}

// keepWaits makes reports of who waited for whom of what is read from now on.
func (l *loader) keepWaits(regions *wait.Rules) {
	l.opt.Waits, l.waits, l.regions = true, make(map[*run.Run]*wait.Report), regions
}

// waitsOf is the report of the runs of a side, nil if they tell nothing.
func (l *loader) waitsOf(side []*run.Run) *wait.Report {
	var reports []*wait.Report
	for _, r := range side {
		reports = append(reports, l.waits[r])
	}
	return wait.Join(reports)
}

// accountSamples prints what became of the samples of a run.
func (l *loader) accountSamples(r *run.Run) {
	l.io.noteMerged(r)
	l.io.say("%s: %s", r.Name, run.Account(r))
}

// account prints what became of the samples of a run, and its warnings.
func (l *loader) account(r *run.Run) {
	l.accountSamples(r)
	for _, w := range r.AllWarnings() {
		l.io.warn("%s: %s", r.Name, w)
	}
}
