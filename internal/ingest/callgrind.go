package ingest

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"profdiff/internal/callgrind"
	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/run"
)

// readCallgrind reads callgrind.out and cachegrind.out. Several dumps in a file
// come from one run and sum up.
//
// The format has costs of places and of calls, but no stacks: each place becomes a stack
// of one frame with its costs; the costs of calls and jumps are left out, and calls counted. Recursion
// levels (f'2) of a function are joined. What is counted is no sample and has no noise of
// sampling: samples and Σw² are zero.
func readCallgrind(src *input.Source, opt *reading.Options) (*run.Run, error) {
	b := run.NewBuilder(src.Name)
	c := callgrindReader{
		b: b, opt: opt, files: reading.NewFiles(b), mappings: make(map[string]uint32),
		functions: make(map[callgrindPlace]uint32),
	}
	calls := make(map[*callgrind.Function]int64)
	file, err := callgrind.Read(src.Reader, callgrind.Visitor{
		Cost: c.cost,
		Call: func(x *callgrind.Call) error { calls[x.Callee.Function] += x.Count; return nil },
	})
	if err != nil {
		return nil, err
	}
	if c.part == nil { // nothing was counted
		c.begin(file.Parts[0])
	}
	r := b.Run()
	if file.Truncated {
		err := fmt.Errorf("line %d: ends without the sum of costs, which %v writes last", file.Lines, file.Format)
		if !opt.AllowTruncated {
			return nil, err
		}
		r.Warnings = append(r.Warnings, err.Error())
	}
	if err := refuseCallgrindDifference(file); err != nil {
		return nil, err
	}
	r.Warnings = append(r.Warnings, file.Warnings...)
	callgrindFacts(r, file, len(calls) > 0)
	c.setCalls(calls)
	return b.Finish()
}

// setCalls sets how often functions were called, those with costs of their own.
func (c *callgrindReader) setCalls(calls map[*callgrind.Function]int64) {
	// What was inlined is a function of another file: the one of its own file stands for all.
	of := make(map[*callgrind.Function]uint32)
	for place, f := range c.functions {
		if _, ok := c.functions[callgrindPlace{place.function, place.function.File}]; !ok || place.file == place.function.File {
			if first, ok := of[place.function]; !ok || f < first {
				of[place.function] = f
			}
		}
	}
	sums := make(map[uint32]int64)
	for function, n := range calls {
		if f, ok := of[function]; ok && n <= math.MaxInt64-sums[f] {
			sums[f] += n
		}
	}
	c.b.Run().Calls = sums
}

// A callgrindReader adds costs to a Run.
type callgrindReader struct {
	b         *run.Builder
	opt       *reading.Options
	files     reading.Files
	mappings  map[string]uint32
	functions map[callgrindPlace]uint32

	// Of the part that is read: its labels, and for each event its index and what one
	// unit of it weighs.
	part   *callgrind.Part
	labels uint32
	events []uint32
	units  []int64
	// recent has the stacks of lines and instructions by function and mapping, line and address.
	recent reading.Recent
	// Of the last place.
	last     callgrindPlace
	function uint32
	mapping  uint32
}

// A callgrindPlace is a function, or what of another file was inlined into it.
type callgrindPlace struct {
	function *callgrind.Function
	file     string
}

func (c *callgrindReader) cost(cost *callgrind.Cost) error {
	if cost.Part != c.part {
		c.begin(cost.Part)
	}
	if place := (callgrindPlace{cost.Function, cost.File}); place != c.last {
		c.enter(place)
	}
	function := c.function
	if c.opt.UnknownOffset && cost.Address != 0 && isCallgrindUnknown(cost.Function.Name) {
		function = c.b.Function(reading.UnknownFunction(knownName(cost.Function.Object), cost.Address, c.opt))
	}
	stack := run.StackID(0)
	for i, v := range cost.Costs {
		switch {
		case v == 0:
			continue
		case v < 0:
			return fmt.Errorf("%d %s is negative: a difference is no recording, give the two recordings", v, c.part.Events[i])
		case c.units[i] > 1 && v > math.MaxInt64/c.units[i]: // nearly all units are 1, and dividing takes long
			return fmt.Errorf("%d %s exceeds 2^63 nanoseconds", v, c.part.Events[i])
		}
		if stack == 0 {
			stack = c.stack(function, cost.Line, cost.Address)
		}
		c.b.AddSum(c.events[i], stack, c.labels, 0, v*c.units[i], 0)
	}
	return nil
}

// stack is the stack of one frame that a place becomes.
func (c *callgrindReader) stack(function uint32, line int64, address uint64) run.StackID {
	key := uint64(c.mapping)<<32 | uint64(function)
	if stack, ok := c.recent.Get(key, uint64(line), address); ok {
		return run.StackID(stack)
	}
	c.files.Named(c.mapping, true, line != 0, false)
	stack := c.b.Stack(0, c.b.Location(c.mapping, address, run.Line{Function: function, Line: line}))
	c.recent.Set(key, uint64(line), address, uint32(stack))
	return stack
}

// begin begins a part.
func (c *callgrindReader) begin(part *callgrind.Part) {
	c.part, c.events, c.units = part, c.events[:0], c.units[:0]
	for _, name := range part.Events {
		unit, factor := callgrindUnit(part, name)
		c.events = append(c.events, c.b.Event(run.Event{Name: input.Text([]byte(name)), Unit: unit, Simulated: true}))
		c.units = append(c.units, factor)
	}
	l := run.Labels{PID: -1, TID: -1, CPU: -1}
	if part.Thread > 0 {
		l.Thread = fmt.Sprintf("thread %d", part.Thread)
	}
	if c.opt.PID && part.PID > 0 {
		l.PID = part.PID
	}
	c.labels = c.b.Labels(l)
}

// callgrindUnit is the unit of an event and how many of it a count stands for: times of
// system calls (--collect-systime) are milliseconds, microseconds or nanoseconds.
func callgrindUnit(part *callgrind.Part, event string) (unit string, factor int64) {
	for _, d := range part.Definitions {
		if d.Name != event || event != "sysTime" && event != "sysCpuTime" {
			continue
		}
		switch long := strings.TrimSuffix(d.Long, ")"); long[strings.LastIndexByte(long, ' ')+1:] {
		case "ns":
			return "nanoseconds", 1
		case "us":
			return "nanoseconds", 1e3
		case "ms":
			return "nanoseconds", 1e6
		}
	}
	return "count", 1
}

// enter finds the function of a place and what it is in.
func (c *callgrindReader) enter(place callgrindPlace) {
	c.last = place
	object := place.function.Object
	m, ok := c.mappings[object]
	if !ok {
		m = c.files.Mapping(input.Text([]byte(knownName(object))))
		c.mappings[object] = m
	}
	c.mapping = m
	f, ok := c.functions[place]
	if !ok {
		fn := callgrindFunction(place)
		// Others have a function under the file of each line.
		if strings.HasPrefix(c.part.Creator, "callgrind-") {
			fn.Origin = knownName(place.function.File)
		}
		f = c.b.Function(fn)
		c.functions[place] = f
	}
	c.function = f
}

// callgrindFunction is the function of a place without its recursion level.
func callgrindFunction(place callgrindPlace) run.Function {
	name := input.Text([]byte(place.function.Name))
	if isCallgrindUnknown(name) {
		f := reading.UnknownFunction(input.Text([]byte(knownName(place.function.Object))), 0, &reading.Options{})
		f.File = input.Text([]byte(knownName(place.file)))
		return f
	}
	base := name
	if i := strings.LastIndexByte(name, '\''); i > 0 && input.IsDigits([]byte(name[i+1:])) {
		base = name[:i]
	}
	return run.Function{Name: base, SystemName: base, File: input.Text([]byte(knownName(place.file)))}
}

// isCallgrindUnknown reports whether a function has no name, only perhaps the address
// where it is entered.
func isCallgrindUnknown(name string) bool {
	_, addr, ok := reading.UnknownSymbol(name)
	return name == "" || name == "???" || ok && addr != 0 && strings.HasPrefix(name, "0x")
}

// knownName is the name of a file, or "".
func knownName(name string) string {
	if name == "???" {
		return ""
	}
	return name
}

// refuseCallgrindDifference recognizes the output of cg_diff.
func refuseCallgrindDifference(file *callgrind.File) error {
	for _, d := range file.Parts[0].Desc {
		if d.Type == "Files compared" {
			return errors.New("is a difference that cg_diff made: give the two recordings that it was made of")
		}
	}
	return nil
}

// callgrindFacts sets the facts of the recording, which has calls or not.
func callgrindFacts(r *run.Run, file *callgrind.File, calls bool) {
	rec := &r.Recording
	rec.Format = file.Format.String()
	part := file.Parts[0]
	rec.CommandLine = input.Text([]byte(part.Command))
	for _, other := range file.Parts {
		if other.Command != part.Command {
			rec.CommandLine = ""
		}
	}
	version, isCallgrind := strings.CutPrefix(part.Creator, "callgrind-")
	switch {
	case isCallgrind:
		rec.Tool = input.Text([]byte("callgrind (valgrind " + version + ")"))
	case file.Format == callgrind.Cachegrind:
		rec.Tool = "cachegrind (valgrind)"
	default:
		rec.Tool = input.Text([]byte(part.Creator))
		r.Warnings = append(r.Warnings, "is not of callgrind or cachegrind: values are taken as exact counts, noise of sampling is not known")
		return
	}
	// The machine is the model of Valgrind.
	machine := []string{"simulated by valgrind", "counts are exact"}
	if calls {
		machine = append(machine, "totals are self costs: there are no stacks")
	}
	for _, d := range part.Desc {
		if strings.HasSuffix(d.Type, " cache") && d.Value != "" {
			machine = append(machine, strings.TrimSuffix(d.Type, " cache")+" "+input.Text([]byte(d.Value)))
		}
	}
	rec.CPU = strings.Join(machine, "; ")
}
