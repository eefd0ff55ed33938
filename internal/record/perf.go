package record

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"profdiff/internal/record/command"
)

// Perf records with perf of Linux.
type Perf struct {
	host
	keeper
	// Program is perf if it is "".
	Program string
	// bpfEvents says that perf collects BPF programs in a thread that polls once a
	// second. perf waits for it at the end of each recording.
	bpfEvents bool
	// mmapBuildIDs says that perf can note build IDs with mappings.
	mmapBuildIDs bool
	// allBuildIDs says that perf can note build IDs of files that no sample ends in.
	allBuildIDs bool
}

// Name implements [Backend].
func (*Perf) Name() string { return "perf" }

// Suffix implements [Backend].
func (*Perf) Suffix() string { return ".data" }

func (b *Perf) program() string {
	if b.Program != "" {
		return b.Program
	}
	return "perf"
}

// Probe implements [Backend]. Without counters in hardware it records time.
func (b *Perf) Probe(ctx context.Context, p *Plan) (*Machine, []string, error) {
	m := b.machine()
	version, err := command.Run(ctx, []string{b.program(), "--version"}, nil)
	if errors.Is(err, command.ErrNotFound) {
		return nil, nil, fmt.Errorf("%s is not installed: install the package linux-perf (linux-tools-generic on Ubuntu), or record --with callgrind", b.program())
	}
	if err != nil {
		return nil, nil, err
	}
	m.Tools = []string{strings.TrimSpace(string(version.Output))}
	b.bpfEvents = atLeast(m.Tools[0], 5, 1)     // --no-bpf-event
	b.allBuildIDs = atLeast(m.Tools[0], 4, 5)   // --buildid-all
	b.mmapBuildIDs = atLeast(m.Tools[0], 5, 12) // --buildid-mmap
	var notes []string
	if compresses(p.Arguments) && !b.mmapBuildIDs {
		notes = append(notes, "perf before 5.12 notes no build IDs in compressed recordings: binaries are not kept; leave -z out")
	}
	more, err := ChooseEvents(ctx, p, "this machine has no hardware counters: recording cpu-clock, which is time; --with callgrind counts instructions and simulates branch misses", func(c *Command) (*Counts, error) {
		return b.count(ctx, p.Events, c)
	})
	return m, append(notes, more...), err
}

var perfVersion = regexp.MustCompile(`([0-9]+)\.([0-9]+)`)

// atLeast reports whether a version of perf is that one or a later one.
func atLeast(version string, major, minor float64) bool {
	m := perfVersion.FindStringSubmatch(version)
	if m == nil {
		return false
	}
	return Number(m[1]) > major || Number(m[1]) == major && Number(m[2]) >= minor
}

var compression = regexp.MustCompile(`^(-z[0-9]*|--compression-level(=.*)?)$`)

// compresses reports whether arguments of perf record have it compress, which leaves out
// the build IDs that it else collects at the end.
func compresses(args []string) bool {
	return slices.ContainsFunc(args, compression.MatchString)
}

// count counts events while a command runs, or none.
func (b *Perf) count(ctx context.Context, events []Event, c *Command) (*Counts, error) {
	args := []string{b.program(), "stat", "-x", "\t"}
	for _, e := range events {
		args = append(args, "-e", e.Name)
	}
	if c == nil {
		c = &Command{Run: "true"}
	}
	stderr := &command.Tail{Max: 256 << 10}
	result, err := c.under(append(args, "--"), stderr).Run(ctx)
	if err != nil {
		return nil, b.explain(err, stderr.Bytes())
	}
	counted := &Counts{Events: make(map[string]float64), Seconds: result.Duration.Seconds()}
	n := 0
	for line := range strings.Lines(string(stderr.Bytes())) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) < 3 || n == len(events) {
			continue
		}
		name := events[n].Name
		if counted.Events[name], err = strconv.ParseFloat(f[0], 64); err != nil { // <not supported>, <not counted>
			return nil, fmt.Errorf("%s %w here: -e cpu-clock records time, and --with callgrind simulates branch misses", name, ErrUnsupported)
		}
		n++
	}
	if n != len(events) {
		return nil, fmt.Errorf("perf stat counted %d of %d events: %s", n, len(events), command.LastLine(stderr.Bytes()))
	}
	return counted, nil
}

// Record implements [Backend]. The file is in the folder of the recording.
//
// perf takes some 0.1 s before and after the command: perf 6.1 reads /proc/kallsyms three
// times, whatever it is asked to record. One perf for several runs would do so
// once (--switch-output), but what it compresses cannot be read from the second file on,
// and whatever starts the commands one after the other would be in the recordings.
func (b *Perf) Record(ctx context.Context, p *Plan, side Side, file string) (*Result, error) {
	args := []string{b.program(), "record", "-q", "-N", "-o", file}
	events := p.Events
	if p.OffCPU {
		// Not the tracepoint sched:sched_switch, whose samples name the threads that run
		// instead, whoever's they are.
		events = append(slices.Clip(events), Event{Name: "context-switches", Period: 1})
		args = append(args, "--switch-events")
	}
	args = append(args, perfEvents(events)...)
	if p.CallGraph != "none" {
		args = append(args, "--call-graph", p.CallGraph)
	}
	if p.SystemWide {
		args = append(args, "-a")
	}
	if b.bpfEvents {
		args = append(args, "--no-bpf-event")
	}
	if b.mmapBuildIDs && compresses(p.Arguments) && !slices.Contains(p.Arguments, "--buildid-mmap") {
		args = append(args, "--buildid-mmap")
	} else if b.allBuildIDs {
		// By itself, perf notes those of files that samples end in, not of their callers.
		args = append(args, "--buildid-all")
	}
	args = append(append(args, p.Arguments...), "--")
	stderr := &command.Tail{Max: 64 << 10}
	began := time.Now()
	done, err := p.Side(side).under(args, stderr).Run(ctx)
	if err != nil && ctx.Err() == nil && full(filepath.Dir(file)) {
		return nil, errFull // of which perf record -q says nothing
	}
	if err != nil {
		return nil, b.explain(err, stderr.Bytes())
	}
	result := &Result{Process: *done, After: b.moment()} // reading the recording takes CPU time, too
	s, err := Summarize(file)
	if err != nil {
		return nil, err
	}
	result.Samples, result.Lost = s.Samples, s.Lost
	if !p.SystemWide { // where it may be the first that starts, or any other
		result.Command = s.Command
	}
	result.Notes, err = b.keep(file, s.Objects, began, p.Alone)
	return result, err
}

// perfEvents are the flags for events. One period for all is a flag of its own, which
// leaves the events their names.
func perfEvents(events []Event) (args []string) {
	same := true
	for _, e := range events {
		same = same && e.Period == events[0].Period && e.Frequency == events[0].Frequency
	}
	if same && len(events) > 0 {
		switch e := events[0]; {
		case e.Period > 0:
			args = append(args, "-c", strconv.FormatUint(e.Period, 10))
		case e.Frequency > 0:
			args = append(args, "-F", strconv.Itoa(e.Frequency))
		}
	}
	for _, e := range events {
		name := e.Name
		if !same {
			term := "period=" + strconv.FormatUint(e.Period, 10)
			if e.Frequency > 0 {
				term = "freq=" + strconv.Itoa(e.Frequency)
			}
			name = withTerm(name, term)
		}
		args = append(args, "-e", name)
	}
	return args
}

// withTerm adds a term to an event, as perf-list(1) has them: cpu-clock:u is
// cpu-clock/period=1,name=cpu-clock/u, cpu/event=0xc4/ is cpu/event=0xc4,period=1/.
func withTerm(event, term string) string {
	if open := strings.IndexByte(event, '/'); open >= 0 {
		end := strings.LastIndexByte(event, '/')
		if end == open+1 {
			return event[:end] + term + event[end:]
		}
		return event[:end] + "," + term + event[end:]
	}
	name, modifiers, _ := strings.Cut(event, ":")
	if name == "cycles" {
		name = "cpu-cycles" // cycles/…/ is an event of a PMU
	}
	if rawEvent.MatchString(name) { // would not be read as a name
		return name + "/" + term + "/" + modifiers
	}
	return name + "/" + term + ",name=" + name + "/" + modifiers
}

var rawEvent = regexp.MustCompile("^r[0-9a-fA-F]+$")

// explain says what to do about an error of perf, in one line.
func (b *Perf) explain(err error, stderr []byte) error {
	text := string(stderr)
	switch {
	case strings.Contains(text, "perf_event_paranoid"), strings.Contains(text, "Access to performance monitoring"), strings.Contains(text, "No permission to enable"), strings.Contains(text, "Permission denied") && strings.Contains(text, "perf_event_open"):
		return errors.New(denied(readText("/proc/sys/kernel/perf_event_paranoid")))
	case strings.Contains(text, "No space left on device"):
		return errFull
	case strings.Contains(text, "event syntax error"), strings.Contains(text, "Cannot find PMU"):
		return fmt.Errorf("perf does not know the event: %s", firstError(text))
	case strings.Contains(text, "Workload failed: "):
		return errors.New("the command cannot be run: " + command.After(text, "Workload failed: "))
	}
	return err
}

// denied says why perf may not record with a value of perf_event_paranoid, and what helps.
func denied(paranoid string) string {
	if level, err := strconv.Atoi(paranoid); err == nil && level < 1 {
		return "perf may not record, though perf_event_paranoid is " + paranoid + ": containers and security policies forbid perf_event_open, too (docker run --cap-add PERFMON --security-opt seccomp=unconfined)"
	}
	return "perf may not record: perf_event_paranoid is " + paranoid + "; as root: sysctl kernel.perf_event_paranoid=1 (-1 for --system-wide)"
}

// firstError is the line that says what is wrong in several lines of perf.
func firstError(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.Contains(line, "error") {
			return line
		}
	}
	return command.LastLine([]byte(text))
}
