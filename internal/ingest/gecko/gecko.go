// Package gecko reads profiles of the Firefox Profiler, as the profiler, samply and
// simpleperf's gecko_profile_generator.py write them. The formats are described in
// docs-developer/gecko-profile-format.md and processed-profile-format.md of
// firefox-devtools/profiler.
//
//  1. The JSON is read as a stream: of each table only the columns that are needed are kept,
//     as numbers. Rows with a schema (the Gecko format) become columns, which the processed
//     format has already.
//  2. Tables that all threads share, and profiles of other processes inside a profile, are
//     kept until the threads are known.
//  3. Each thread's stacks are built from its tables: a stack is a frame and the stack of its
//     caller, a frame is a function with an address or a line.
//  4. Samples are added with the weight that their column says, or 1; and with the CPU time since the sample before, if the
//     profile tells it, as an event of its own that is looked at first: samples are of threads that wait, too.
//  5. Markers that last become slices, as in a trace: one within another is its callee.
package gecko

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/run"
)

// Read reads profiles of the Firefox Profiler: its Gecko format, whose tables are
// rows with a schema, as simpleperf's gecko_profile_generator.py writes it, and its
// processed format, whose tables are columns, as the profiler and samply write it.
// Both may be in one profile. Tables may be shared by all threads (versions from 56
// on). See docs-developer/gecko-profile-format.md and processed-profile-format.md of
// firefox-devtools/profiler.
//
// Samples weigh what their weight column says. The Gecko format has none, and does
// not tell events apart: every sample weighs 1 there.
func Read(src *input.Source, opt *reading.Options) (*run.Run, error) {
	g := reader{b: run.NewBuilder(src.Name), opt: opt, first: math.Inf(1), last: math.Inf(-1)}
	if opt.Timeline {
		g.b.KeepTimeline()
	}
	g.files = reading.NewFiles(g.b)
	g.in.dec = json.NewDecoder(skipBOM(src.Reader))
	p := g.profile(0)
	if g.in.err == nil {
		if _, err := g.in.dec.Token(); err != io.EOF {
			g.in.fail("text follows the profile")
		}
	}
	if g.in.err != nil {
		return nil, g.in.err
	}
	if err := g.build(p, 0); err != nil {
		return nil, err
	}
	if g.threads == 0 {
		return nil, errors.New("profile has no threads")
	}
	g.describe(&p.meta)
	return g.b.Finish()
}

func skipBOM(r *bufio.Reader) io.Reader {
	if head, err := r.Peek(3); err == nil && string(head) == "\ufeff" {
		_, _ = r.Discard(3)
	}
	return r
}

type reader struct {
	b       *run.Builder
	opt     *reading.Options
	in      jsonReader
	files   reading.Files
	threads int

	cpuUnit    float64 // nanoseconds that a threadCPUDelta of 1 is, 0 for none
	instants   int64   // markers that do not last
	unweighted int64
	fractions  bool
	negative   int64
	first      float64 // milliseconds
	last       float64
}

// profile is a profile, of which the Gecko format has one per process.
type profile struct {
	meta      meta
	libs      []lib
	shared    tables
	threads   []*thread
	processes []*profile
}

type meta struct {
	Product   string
	StartTime float64
	ABI       string
	OSCPU     string
	Platform  string
	Device    string
	CPUName   string
	Arguments string
	// CPUUnit is the unit of the CPU time of samples.
	CPUUnit string
}

type lib struct{ path, buildID string }

type thread struct {
	name, process string
	pid, tid      int64
	libs          []lib // of versions before 41
	samples       table
	markers       table
	weightType    string
	tables        tables
}

// tables are the tables by which stacks are named.
type tables struct {
	strings                                                       []string
	stacks, frames, funcs, resources, sources                     table
	hasStrings, hasStacks, hasFrames, hasFuncs, hasRes, hasSource bool
}

// maxProcesses is how deep profiles of processes may nest: one level is in use.
const maxProcesses = 4

func (g *reader) profile(depth int) *profile {
	p := &profile{}
	in := &g.in
	in.object(func(key string) {
		switch key {
		case "meta":
			g.meta(&p.meta)
		case "libs":
			p.libs = g.libs()
		case "shared":
			in.object(func(key string) {
				if !g.tables(&p.shared, key) {
					in.skip()
				}
			})
		case "threads":
			in.array(func() { p.threads = append(p.threads, g.thread()) })
		case "processes":
			in.array(func() {
				if depth+1 >= maxProcesses {
					in.fail("processes nest deeper than %d", maxProcesses)
					return
				}
				p.processes = append(p.processes, g.profile(depth+1))
			})
		default:
			in.skip()
		}
	})
	return p
}

func (g *reader) meta(m *meta) {
	in := &g.in
	in.object(func(key string) {
		switch key {
		case "product":
			m.Product = in.text()
		case "startTime":
			m.StartTime = in.number()
		case "abi":
			m.ABI = in.text()
		case "oscpu":
			m.OSCPU = in.text()
		case "platform":
			m.Platform = in.text()
		case "device":
			m.Device = in.text()
		case "CPUName":
			m.CPUName = in.text()
		case "arguments":
			m.Arguments = in.text()
		case "sampleUnits":
			in.object(func(key string) {
				if key == "threadCPUDelta" {
					m.CPUUnit = in.text()
				} else {
					in.skip()
				}
			})
		default:
			in.skip()
		}
	})
}

func (g *reader) libs() (libs []lib) {
	in := &g.in
	in.array(func() {
		var l lib
		var name string
		in.object(func(key string) {
			switch key {
			case "path":
				l.path = in.text()
			case "name":
				name = in.text()
			case "codeId":
				if id := strings.ToLower(in.text()); input.IsHex([]byte(id)) {
					l.buildID = id
				}
			default:
				in.skip()
			}
		})
		if l.path == "" {
			l.path = name
		}
		libs = append(libs, l)
	})
	return libs
}

func (g *reader) thread() *thread {
	t := &thread{pid: -1, tid: -1, weightType: "samples"}
	in := &g.in
	in.object(func(key string) {
		switch key {
		case "name":
			t.name = in.text()
		case "processName":
			t.process = in.text()
		case "pid":
			t.pid = in.id()
		case "tid":
			t.tid = in.id()
		case "libs":
			t.libs = g.libs()
		case "samples":
			t.samples = in.table(func(key string) bool {
				if key == "weightType" {
					if w := in.text(); w != "" {
						t.weightType = w
					}
					return true
				}
				return false
			})
		case "markers":
			t.markers = in.table(nil)
		default:
			if !g.tables(&t.tables, key) {
				in.skip()
			}
		}
	})
	return t
}

// tables reads the table called key. It returns false if there is no such table.
func (g *reader) tables(t *tables, key string) bool {
	in := &g.in
	read := func(to *table, has *bool) { *to, *has = in.table(nil), true }
	switch key {
	case "stringTable", "stringArray":
		t.hasStrings = true
		in.array(func() { t.strings = append(t.strings, in.text()) })
	case "stackTable":
		read(&t.stacks, &t.hasStacks)
	case "frameTable":
		read(&t.frames, &t.hasFrames)
	case "funcTable":
		read(&t.funcs, &t.hasFuncs)
	case "resourceTable":
		read(&t.resources, &t.hasRes)
	case "sources":
		read(&t.sources, &t.hasSource)
	default:
		return false
	}
	return true
}

// build adds the samples of all threads.
func (g *reader) build(p *profile, depth int) error {
	g.cpuUnit = cpuUnits[p.meta.CPUUnit]
	for i, t := range p.threads {
		g.threads++
		n := names{g: g, libs: p.libs, tables: t.tables.or(&p.shared)}
		if t.libs != nil {
			n.libs = t.libs
		}
		if err := g.addThread(t, &n); err != nil {
			return fmt.Errorf("thread %d (%s): %w", i, t.name, err)
		}
	}
	for i, c := range p.processes {
		if err := g.build(c, depth+1); err != nil {
			return fmt.Errorf("process %d: %w", i, err)
		}
	}
	return nil
}

// or completes tables by those that all threads share.
func (t tables) or(shared *tables) tables {
	if !t.hasStrings {
		t.strings = shared.strings
	}
	for _, f := range []struct {
		has      bool
		to, from *table
	}{
		{t.hasStacks, &t.stacks, &shared.stacks},
		{t.hasFrames, &t.frames, &shared.frames},
		{t.hasFuncs, &t.funcs, &shared.funcs},
		{t.hasRes, &t.resources, &shared.resources},
		{t.hasSource, &t.sources, &shared.sources},
	} {
		if !f.has {
			*f.to = *f.from
		}
	}
	return t
}

// cpuUnits are the units of CPU time, in nanoseconds. Cycles at a rate that varies are none.
var cpuUnits = map[string]float64{"ns": 1, "µs": 1e3, "μs": 1e3, "us": 1e3, "ms": 1e6}

// weightUnits are the kinds of weight: the event, its unit, and how much 1 is of it.
var weightUnits = map[string]struct {
	event, unit string
	factor      float64
}{
	"samples":    {"samples", "count", 1},
	"tracing-ms": {"tracing-ms", "nanoseconds", 1e6},
	"bytes":      {"bytes", "bytes", 1},
}

func (g *reader) addThread(t *thread, n *names) error {
	unit, ok := weightUnits[t.weightType]
	if !ok {
		return fmt.Errorf("samples: unknown weight type %q", t.weightType)
	}
	stackColumn, ok := t.samples.column("stack")
	if !ok && t.samples.rows > 0 {
		return errors.New("samples: there is no column stack")
	}
	stackColumn = pad(stackColumn, t.samples.rows)
	weights, weighted := t.samples.column("weight")
	ids, err := n.stacks(stackColumn)
	if err != nil {
		return err
	}
	times := g.times(&t.samples)
	event := g.b.Event(run.Event{Name: unit.event, Unit: unit.unit})
	l := run.Labels{Process: t.process, Thread: t.name, PID: -1, TID: -1, CPU: -1}
	if g.opt.PID {
		l.PID = t.pid
	}
	if g.opt.TID {
		l.TID = t.tid
	}
	labels := g.b.Labels(l)
	g.addCPU(&t.samples, ids, labels, times)
	if err := g.addMarkers(t, n, labels); err != nil {
		return err
	}
	in := &g.b.Run().Accounting.In
	for i, id := range ids {
		weight, count := int64(1), int64(1)
		if weighted {
			w := unit.factor
			if i < len(weights) && !math.IsNaN(weights[i]) {
				w *= weights[i]
			}
			if w < 0 {
				g.negative++
				*in++
				continue
			}
			if w != math.Trunc(w) {
				g.fractions = true
			}
			weight = int64(math.RoundToEven(min(w, 1<<62)))
			if t.weightType == "samples" {
				count = weight // equal samples in a row are one row
			}
		} else {
			g.unweighted++
		}
		if count > math.MaxInt64-*in {
			return errors.New("samples: weights sum to more than 2^63")
		}
		*in += count
		if count == 0 {
			continue
		}
		sq := float64(weight) / float64(count) * float64(weight)
		g.b.AddSum(event, id, labels, count, weight, sq)
		if i < len(times) && math.Abs(times[i]) < mostMilliseconds {
			g.b.NoteSpan(run.TimedSample{Event: event, Stack: id, Labels: labels, Weight: weight, Time: int64(times[i] * 1e6)})
		}
	}
	return nil
}

// addCPU adds the CPU time that passed from sample to sample. It is no sample of its own.
func (g *reader) addCPU(samples *table, stacks []run.StackID, labels uint32, times []float64) {
	deltas, ok := samples.column("threadCPUDelta")
	if !ok || g.cpuUnit == 0 {
		return
	}
	for i := range min(len(deltas), len(stacks)) {
		d := math.RoundToEven(deltas[i] * g.cpuUnit)
		if !(d > 0 && d < mostMilliseconds*1e6) {
			continue
		}
		event := g.b.Event(run.Event{Name: "cpu", Unit: "nanoseconds", Derived: true, Leads: true})
		g.b.AddSum(event, stacks[i], labels, 1, int64(d), d*d)
		if i < len(times) && math.Abs(times[i]) < mostMilliseconds {
			g.b.NoteSpan(run.TimedSample{Event: event, Stack: stacks[i], Labels: labels, Weight: int64(d), Time: int64(times[i] * 1e6)})
		}
	}
}

// mostMilliseconds is more than fits into a time.Duration.
const mostMilliseconds = 1 << 43

// times are when samples were taken, in milliseconds, nil if that is not known. The first and the last are noted.
func (g *reader) times(samples *table) []float64 {
	note := func(ms float64) {
		if !math.IsNaN(ms) {
			g.first, g.last = min(g.first, ms), max(g.last, ms)
		}
	}
	if times, ok := samples.column("time"); ok {
		for _, ms := range times {
			note(ms)
		}
		return times
	}
	deltas, _ := samples.column("timeDeltas")
	times, sum := make([]float64, len(deltas)), 0.0
	for i, d := range deltas {
		sum += d
		note(sum)
		times[i] = sum
	}
	return times
}

// describe takes over the facts of the recording.
func (g *reader) describe(m *meta) {
	r := g.b.Run()
	rec := &r.Recording
	rec.Format, rec.Arch, rec.CPU = "gecko", m.ABI, m.CPUName
	started := m.StartTime > 0 && m.StartTime < mostMilliseconds
	ms := func(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }
	if span := g.last - g.first; span >= 0 && span < mostMilliseconds {
		rec.Duration = ms(span)
	}
	if strings.Contains(m.Product, "simpleperf") {
		// gecko_profile_generator.py has the command for a product, and the end for
		// a start.
		rec.Tool, rec.CommandLine = "simpleperf", m.Product
		rec.Device, rec.Build = strings.Trim(m.Device, ":"), m.Platform
		if started {
			rec.Start = time.UnixMilli(int64(m.StartTime)).Add(-rec.Duration).UTC()
		}
	} else {
		rec.Tool, rec.Device, rec.CommandLine = m.Product, m.Device, m.Arguments
		if started && g.first >= 0 && g.first < mostMilliseconds {
			rec.Start = time.UnixMilli(int64(m.StartTime)).Add(ms(g.first)).UTC()
		}
	}
	warn := func(format string, args ...any) { r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...)) }
	if g.unweighted > 0 {
		warn("%d samples have no weight, each weighs 1 whatever its event and period", g.unweighted)
	}
	if g.fractions {
		warn("weights with a fraction were rounded to integers")
	}
	r.Accounting.Drop("negative weight", g.negative)
	if g.instants > 0 {
		rec.Holds = fmt.Sprintf("markers that do not last: %d", g.instants)
	}
}

// Recognise tells a profile by the keys of its outermost object.
func Recognise(head input.Head) input.Evidence { return input.Evidence{Is: isProfile(head)} }

// isProfile reports whether head starts a profile of the Firefox Profiler, by the keys of
// the outermost object, raw or processed.
func isProfile(head input.Head) bool {
	keys := head.Keys()
	switch {
	case keys["traceEvents"] || keys["nodes"] || keys["$schema"]:
		return false
	case keys["threads"] || keys["libs"] || keys["counters"] || keys["profilerOverhead"] || keys["pausedRanges"]:
		return true
	}
	return keys["meta"] && !keys["profile"]
}
