package main

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/google/pprof/profile"
	"github.com/klauspost/compress/gzip"
)

// period is the time between samples, in nanoseconds.
const period = 1_000_000

// A drawn profile, and what the manifest says of it.
type drawn struct {
	data                       []byte // a gzipped pprof file
	size                       int
	time                       int64 // nanoseconds since 1970
	duration                   int64 // nanoseconds
	work                       int64
	samples, stacks, functions int
}

// A pen draws the profiles of one device.
type pen struct {
	f          *fleet
	d          device
	rng        *rand.Rand
	cumulative []float64 // by function; the last is 1
	path       []int     // by function, the stack by which the device reaches it most
	cost       float64   // of the device, per unit of work
	zip        *gzip.Writer
	seenStacks map[int]bool // of all devices of the pen
	seenFuncs  map[int]bool
}

// take makes the pen one of a device.
func (p *pen) take(d device) {
	p.d = d
	p.rng = rand.New(rand.NewPCG(p.f.seed, 1000+uint64(d.number)))
	factors := p.f.factors(p.rng, d)
	p.cumulative = p.cumulative[:0]
	total := 0.0
	p.path = p.path[:0]
	for i, cost := range p.f.program.costs {
		total += cost * factors[i]
		p.cumulative = append(p.cumulative, total)
		p.path = append(p.path, p.anyPath(i))
	}
	for i := range p.cumulative {
		p.cumulative[i] /= total
	}
	p.cost = total * math.Exp(bySpeed*p.rng.NormFloat64()-bySpeed*bySpeed/2)
}

// The week in which profiles of a release were taken: the second release comes five days later.
const (
	second = int64(1e9)
	day    = 86_400 * second
	start  = 1_788_220_800 * second // 2026-09-01
)

// sample draws the samples of one profile: how many by stack, and what the manifest says of it.
func (p *pen) sample() (*drawn, map[int]int64) {
	rng := p.rng
	scene := rng.IntN(scenes)
	work := max(1, int64(1000*math.Exp(byWork*rng.NormFloat64()-byWork*byWork/2)))
	mean := float64(p.f.samples) * p.cost * float64(work) / 1000 * p.f.kept[scene] / p.f.meanKept()
	n := max(1, poisson(rng, mean))
	at := start + int64(p.d.release)*5*day + rng.Int64N(7*day)/second*second

	out := &drawn{time: at, work: work, samples: n, duration: 30 * second}
	counts := make(map[int]int64, n)
	for n > 0 {
		leaf := search(p.cumulative, rng.Float64())
		if rng.Float64() >= p.f.scenes[scene][p.f.program.functions[leaf].mapping] {
			continue
		}
		n--
		if path := p.path[leaf]; rng.Float64() < beaten {
			counts[path]++
		} else {
			counts[p.anyPath(leaf)]++
		}
	}
	return out, counts
}

// draw makes one profile.
func (p *pen) draw() (*drawn, error) {
	out, counts := p.sample()
	order := make([]int, 0, len(counts))
	for i := range counts {
		order = append(order, i)
	}
	slices.Sort(order)
	e := newEncoder(p.f.program)
	for _, i := range order {
		p.seenStacks[i] = true
		stack := p.f.program.stacks[i]
		if !p.f.fresh {
			e.add(stack, threadNames[stack[len(stack)-1]], counts[i])
			continue
		}
		for range counts[i] {
			e.add(p.shuffled(stack), threadNames[stack[len(stack)-1]], 1)
		}
	}
	for id := range e.locations {
		p.seenFuncs[id] = true
	}
	out.stacks, out.functions = len(e.p.Sample), len(e.locations)
	var err error
	out.data, err = e.encode(p.zip, out)
	return out, err
}

// beaten is the share of samples of a function that a device reaches by the path that it uses most.
const beaten = 0.9

// anyPath is a stack to a function, -1 if there is none.
func (p *pen) anyPath(function int) int {
	paths := p.f.program.paths[function]
	if len(paths) == 0 {
		return -1
	}
	return paths[p.rng.IntN(len(paths))]
}

// shuffled is a stack of some thirty functions that nobody else has.
func (p *pen) shuffled(stack []int) []int {
	stack = slices.Clone(stack)
	for len(stack) < layers {
		stack = append(stack, stack[len(stack)-1])
	}
	for i := 1; i < len(stack)-1; i++ {
		stack[i] = p.rng.IntN(len(p.f.program.functions))
	}
	return stack
}

// meanKept is the share of samples that scenes keep.
func (f *fleet) meanKept() float64 {
	sum := 0.0
	for _, k := range f.kept {
		sum += k
	}
	return sum / scenes
}

// poisson draws a number of events. From 50 on the normal distribution is near enough.
func poisson(rng *rand.Rand, mean float64) int {
	if mean > 50 {
		return max(0, int(math.Round(mean+math.Sqrt(mean)*rng.NormFloat64())))
	}
	limit, product := math.Exp(-mean), 1.0
	for k := 0; ; k++ {
		product *= rng.Float64()
		if product <= limit {
			return k
		}
	}
}

// An encoder collects samples of one profile.
type encoder struct {
	program   *program
	p         *profile.Profile
	mappings  []*profile.Mapping // by module, nil before it is used
	locations map[int]*profile.Location
}

func newEncoder(p *program) *encoder {
	return &encoder{
		program: p, mappings: make([]*profile.Mapping, len(p.modules)), locations: make(map[int]*profile.Location, 1024),
		p: &profile.Profile{
			SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}},
			PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: period,
		},
	}
}

// add adds samples of a stack.
func (e *encoder) add(stack []int, thread string, count int64) {
	s := &profile.Sample{Value: []int64{count * period}, Label: map[string][]string{"thread": {thread}}}
	for _, f := range stack {
		s.Location = append(s.Location, e.location(f))
	}
	e.p.Sample = append(e.p.Sample, s)
}

// location is that of a function, which is made at first use.
func (e *encoder) location(id int) *profile.Location {
	if l := e.locations[id]; l != nil {
		return l
	}
	f := &e.program.functions[id]
	m := e.mappings[f.mapping]
	if m == nil {
		base := uint64(0x7000_0000 + f.mapping*0x100_0000)
		m = &profile.Mapping{
			ID: uint64(len(e.p.Mapping) + 1), Start: base, Limit: base + 0x100_0000, File: "/system/lib64/" + f.module,
			HasFunctions: true, HasFilenames: true, HasLineNumbers: true,
		}
		e.mappings[f.mapping] = m
		e.p.Mapping = append(e.p.Mapping, m)
	}
	fn := &profile.Function{ID: uint64(len(e.p.Function) + 1), Name: f.name, Filename: f.file}
	l := &profile.Location{
		ID: fn.ID, Mapping: m, Address: m.Start + f.address,
		Line: []profile.Line{{Function: fn, Line: int64(10 + id%97)}},
	}
	e.p.Function, e.p.Location = append(e.p.Function, fn), append(e.p.Location, l)
	e.locations[id] = l
	return l
}

// encode is the file.
func (e *encoder) encode(zip *gzip.Writer, out *drawn) ([]byte, error) {
	e.p.TimeNanos, e.p.DurationNanos = out.time, out.duration
	var b bytes.Buffer
	zip.Reset(&b)
	if err := e.p.WriteUncompressed(zip); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
