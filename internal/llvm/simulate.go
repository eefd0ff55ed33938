package llvm

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const (
	defaultIterations = 100
	maxIterations     = 1 << 20

	// What llvm-mca prints at most, in bytes of JSON: without any region, for a region, for
	// an instruction, for a row of the timeline and of the resource pressure.
	reportOverhead   = 1 << 20
	regionBytes      = 2 << 10
	instructionBytes = 1 << 10
	rowBytes         = 320
	usageBytes       = 160

	// One process prints no more than batchBytes, if it is not for one region, and
	// simulates no more than batchWork instructions.
	batchBytes  = 48 << 20
	batchWork   = 10_000_000
	regionLimit = 512 << 20
)

// plan is a region on its way to llvm-mca.
type plan struct {
	region     Region
	lines      []string // what is simulated
	source     []int    // for each instruction of lines, the line of the region
	latencies  []Latency
	unmodelled []Unmodelled
	repaired   map[string][]int // lines by class
}

// job is the regions of a call that are not in the cache.
type job struct {
	target target
	model  Model
	opt    Options
	plans  []plan
	result []Simulation // result i is of plan i
}

// Simulate runs all regions in as few processes as possible; result i is of region i.
// An instruction without scheduling information is replaced by its stand-in or left out,
// and the Simulation says so. Text that does not assemble is a *ParseError.
func (t *Toolchain) Simulate(ctx context.Context, opt Options, regions []Region) ([]Simulation, error) {
	if opt.Iterations == 0 {
		opt.Iterations = defaultIterations
	}
	if opt.Iterations < 0 || opt.Iterations > maxIterations {
		return nil, fmt.Errorf("%d iterations: must be 1 to %d", opt.Iterations, maxIterations)
	}
	for _, r := range regions {
		if len(r.Lines) == 0 {
			return nil, fmt.Errorf("region %q has no instructions", r.Name)
		}
	}
	model, err := ModelOf(t.Major, opt.Triple, opt.CPU)
	if err != nil {
		return nil, err
	}
	if opt.Plain {
		model, _ = modelOf(archOf(opt.Triple), t.Major, opt.CPU)
	}
	tg := target{triple: opt.Triple, cpu: model.MCPU, dispatch: model.Dispatch}

	result := make([]Simulation, len(regions))
	keys := make([]string, len(regions))
	var todo []int
	first := make(map[string]int) // the region of a key that is simulated
	for i := range regions {
		keys[i] = regionKey(tg, opt, &regions[i])
		if s, ok := t.cache.simulation(keys[i]); ok {
			result[i] = s
		} else if _, ok := first[keys[i]]; !ok {
			first[keys[i]] = i
			todo = append(todo, i)
		}
	}
	if len(todo) > 0 {
		wanted := make([]Region, len(todo))
		for k, i := range todo {
			wanted[k] = regions[i]
		}
		plans, err := t.plan(ctx, tg, opt.Repairs, wanted)
		if pe, ok := err.(*ParseError); ok {
			pe.Index = todo[pe.Index]
		}
		if err != nil {
			return nil, err
		}
		j := &job{target: tg, model: model, opt: opt, plans: plans, result: make([]Simulation, len(plans))}
		if err := t.runJob(ctx, j); err != nil {
			return nil, err
		}
		for k, i := range todo {
			s := j.result[k]
			s.Warnings = append(plans[k].warnings(model, archOf(tg.triple)), s.Warnings...)
			t.cache.keep(keys[i], s)
			result[i] = s
		}
	}
	for i, r := range regions {
		if k, ok := first[keys[i]]; ok {
			result[i] = result[k]
		}
		result[i].Name = r.Name
	}
	return result, nil
}

// unit is a line, or several that must stay together, with what may be simulated in its
// place.
type unit struct {
	lines   []string
	info    lineInfo
	instead []string // by a repair, or as nothing is known of it; nil for nothing
	classes []string // of the repairs
	known   []lineInfo
}

// plan finds out which lines of the regions are modelled and what to simulate instead.
func (t *Toolchain) plan(ctx context.Context, tg target, repairs []Repair, regions []Region) ([]plan, error) {
	units, err := t.units(ctx, tg, repairs, regions)
	if err != nil {
		return nil, err
	}
	plans := make([]plan, len(regions))
	for at, r := range regions {
		p := plan{region: r, repaired: make(map[string][]int)}
		for i := 0; i < len(r.Lines); {
			u := &units[0]
			units = units[1:]
			if u.info.problem != nil {
				problem := *u.info.problem
				problem.Region, problem.Index, problem.Line = r.Name, at, i+problem.Line
				return nil, &problem
			}
			instead := u.instead != nil && !slices.ContainsFunc(u.known, func(l lineInfo) bool { return l.problem != nil || l.unmodelled })
			switch {
			case instead && u.classes != nil:
				for k := range u.instead {
					p.add(i, u.instead[k:k+1], u.known[k])
				}
				for _, class := range u.classes {
					p.repaired[class] = append(p.repaired[class], i)
				}
			case u.info.unmodelled:
				line := ""
				if instead {
					line = u.instead[0]
					p.add(i, u.instead, u.known[0])
				}
				for j, text := range u.lines {
					p.unmodelled = append(p.unmodelled, Unmodelled{Index: i + j, Text: text, StandIn: line})
				}
			default:
				p.add(i, u.lines, u.info)
			}
			i += len(u.lines)
		}
		plans[at] = p
	}
	return plans, nil
}

// units are the units of all regions, with what the model knows of them.
func (t *Toolchain) units(ctx context.Context, tg target, repairs []Repair, regions []Region) ([]unit, error) {
	var units []unit
	var texts [][]string
	for k := range regions {
		r := &regions[k]
		rewriter := newRewriter(archOf(tg.triple), repairs, r)
		for i := 0; i < len(r.Lines); {
			n := itBlock(tg.triple, r.Lines[i:])
			u := unit{lines: r.Lines[i : i+n]}
			if rewriter != nil {
				u.instead, u.classes = rewriter.line(r.Lines[i])
			}
			units = append(units, u)
			texts = append(texts, u.lines)
			i += n
		}
	}
	known, err := t.known(ctx, tg, texts)
	if err != nil {
		return nil, err
	}
	texts = nil
	for i := range units {
		u := &units[i]
		u.info = known[i]
		if line := standIn(tg.triple, u.lines); u.info.unmodelled && line != "" {
			u.instead, u.classes = []string{line}, nil
		} else if u.info.unmodelled && u.classes != nil {
			u.instead, u.classes = nil, nil
		}
		for _, line := range u.instead {
			texts = append(texts, []string{line})
		}
	}
	if known, err = t.known(ctx, tg, texts); err != nil {
		return nil, err
	}
	for i := range units {
		n := len(units[i].instead)
		units[i].known, known = known[:n], known[n:]
	}
	return units, nil
}

// add appends lines to what is simulated.
func (p *plan) add(line int, lines []string, info lineInfo) {
	p.lines = append(p.lines, lines...)
	p.latencies = append(p.latencies, info.latencies...)
	for j := range info.instructions {
		// A line may be several instructions, such as a prefix of its own.
		p.source = append(p.source, line+min(j, len(lines)-1))
	}
}

// known is inspect, asked for each unit once.
func (t *Toolchain) known(ctx context.Context, tg target, units [][]string) ([]lineInfo, error) {
	keys := make([]string, len(units))
	infos := make(map[string]lineInfo)
	var todo [][]string
	var asked []string // keys of todo
	for i, unit := range units {
		key := tg.triple + "\x00" + tg.cpu + "\x00" + strings.Join(unit, "\n")
		keys[i] = key
		if _, ok := infos[key]; ok {
			continue
		}
		info, ok := t.cache.line(key)
		if !ok {
			todo, asked = append(todo, unit), append(asked, key)
		}
		infos[key] = info
	}
	fresh, err := t.inspect(ctx, tg, todo)
	if err != nil {
		return nil, err
	}
	for k, key := range asked {
		infos[key] = fresh[k]
		t.cache.keepLine(key, fresh[k])
	}
	result := make([]lineInfo, len(units))
	for i, key := range keys {
		result[i] = infos[key]
	}
	return result, nil
}

// output is how many bytes llvm-mca prints for the plan at most.
func (p *plan) output(opt Options) int64 {
	n := int64(len(p.source))
	size := int64(regionBytes) + n*instructionBytes
	if opt.Timeline {
		size += n * int64(opt.Iterations) * rowBytes
	}
	if opt.Pressure {
		size += n * 40 * usageBytes
	}
	return size
}

// runJob simulates the plans in as many processes as the limits need.
func (t *Toolchain) runJob(ctx context.Context, j *job) error {
	var batch []int
	var size, work int64
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		err := t.runBatch(ctx, j, batch, size)
		batch, size, work = nil, 0, 0
		return err
	}
	for i := range j.plans {
		p := &j.plans[i]
		j.result[i] = Simulation{Iterations: j.opt.Iterations, Unmodelled: p.unmodelled, Repaired: repairedOf(p.repaired)}
		if len(p.lines) == 0 {
			continue
		}
		bytes, steps := p.output(j.opt), int64(len(p.source))*int64(j.opt.Iterations)
		if bytes > regionLimit {
			return fmt.Errorf("region %q: %d instructions and %d iterations give more output than %d MiB",
				p.region.Name, len(p.source), j.opt.Iterations, regionLimit>>20)
		}
		if size+bytes > batchBytes || work+steps > batchWork {
			if err := flush(); err != nil {
				return err
			}
		}
		batch, size, work = append(batch, i), size+bytes, work+steps
	}
	return flush()
}

// runBatch simulates some of the plans, which print up to size bytes, in one process.
func (t *Toolchain) runBatch(ctx context.Context, j *job, batch []int, size int64) error {
	var a assembly
	for _, i := range batch {
		a.add(j.plans[i].lines)
	}
	n := strconv.Itoa(j.opt.Iterations)
	args := append(t.arguments(j.target), "-iterations="+n, "-instruction-info=false",
		"-resource-pressure="+strconv.FormatBool(j.opt.Pressure))
	if j.opt.Timeline {
		// By default the timeline ends after 10 iterations and 80 cycles.
		args = append(args, "-timeline", "-timeline-max-cycles=0", "-timeline-max-iterations="+n)
	}
	if j.opt.Bottleneck {
		args = append(args, "-bottleneck-analysis")
	}
	out, err := run(ctx, process{
		path: t.MCA, args: append(args, "-"), stdin: a.text.Bytes(),
		stdout: int(reportOverhead + size), timeout: t.Timeout,
	})
	if err != nil {
		return err
	}
	m := located{messages: parseStderr(out.stderr), assembly: &a, stderr: out.stderr}
	if out.code != 0 || len(m.unsupported) > 0 || len(m.diagnostics) > 0 || len(bytes.TrimSpace(out.stdout)) == 0 {
		return m.failure()
	}
	r, err := parseReport(out.stdout)
	if err != nil {
		return err
	}
	if len(r.CodeRegions) != len(batch) {
		return fmt.Errorf("llvm-mca: %d regions in its output, not %d", len(r.CodeRegions), len(batch))
	}
	for k, i := range batch {
		s, p := &j.result[i], &j.plans[i]
		if err := s.fill(&r.CodeRegions[k], strconv.Itoa(k), p, j.opt, r.TargetInfo.Resources); err != nil {
			return fmt.Errorf("llvm-mca: region %q: %w", p.region.Name, err)
		}
		s.Warnings = slices.Clone(m.warnings)
		if warning := j.model.differs(r.TargetInfo.Resources, s.DispatchWidth); warning != "" {
			s.Warnings = append(s.Warnings, warning)
		}
	}
	return nil
}

// fill completes a Simulation with what llvm-mca says of a region.
func (s *Simulation) fill(r *mcaRegion, name string, p *plan, opt Options, resources []string) error {
	if r.Name != name {
		return fmt.Errorf("name %q in the output, not %q", r.Name, name)
	}
	if len(r.Instructions) != len(p.source) {
		return fmt.Errorf("%d instructions in the output, not %d", len(r.Instructions), len(p.source))
	}
	v := r.SummaryView
	if int(v.Iterations) != opt.Iterations {
		return fmt.Errorf("%v iterations in the output, not %d", v.Iterations, opt.Iterations)
	}
	s.Instructions, s.Source, s.Latencies = r.Instructions, p.source, p.latencies
	s.TotalCycles, s.RThroughput, s.IPC = v.TotalCycles, v.BlockRThroughput, v.IPC
	s.Uops, s.DispatchWidth = int(v.TotaluOps), int(v.DispatchWidth)
	s.Bottleneck = r.BottleneckAnalysis.bottleneck()
	if opt.Timeline {
		rows, err := r.timeline(opt.Iterations)
		if err != nil {
			return err
		}
		s.Timeline = rows
	}
	if opt.Pressure {
		if r.ResourcePressureView == nil {
			return fmt.Errorf("has no ResourcePressureView")
		}
		s.Pressure = r.pressure(resources)
	}
	return nil
}

// warnings say what of the region the simulation does not show.
func (p *plan) warnings(model Model, a arch) []string {
	var warnings []string
	calls, locked := 0, 0
	for _, line := range p.lines {
		switch name := mnemonic(line); {
		case a == archX86 && isLocked(name, line):
			locked++
		case isCall(a, name):
			calls++
		}
	}
	if n := len(p.unmodelled); n > 0 {
		left := 0
		for _, u := range p.unmodelled {
			if u.StandIn == "" {
				left++
			}
		}
		warnings = append(warnings, fmt.Sprintf("%d of %d instructions are not modelled for %s: %d left out, %d stood in for",
			n, len(p.region.Lines), model.MCPU, left, n-left))
	}
	if len(p.lines) == 0 {
		warnings = append(warnings, "nothing of the region is modelled")
	}
	if calls > 0 {
		warnings = append(warnings, fmt.Sprintf("%d calls: what is called is not simulated, a call is taken to have a latency of 100 cycles", calls))
	}
	if locked > 0 {
		warnings = append(warnings, fmt.Sprintf("%d locked instructions are simulated without the cost of the lock", locked))
	}
	return warnings
}
