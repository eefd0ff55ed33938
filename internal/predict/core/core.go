package core

import (
	"fmt"
	"slices"
	"strings"

	"profdiff/internal/asm"
	"profdiff/internal/disasm"
	"profdiff/internal/predict/flow"
	"profdiff/internal/probe"
)

// A Core is the model of a core: what was measured of it, and for the rest what LLVM's
// model says or what such cores have. Numbers that are 0 are not known, and limit nothing.
type Core struct {
	Name string `json:"name"`
	// ID is the CPUs that the core is in: vendor, family and model of a CPUID of x86, or
	// implementer and part of a MIDR.
	ID     string `json:"cpuid"`
	Source string `json:"source"`
	// Fitted says of parameters that no probe tells what they were fitted to.
	Fitted map[string]string `json:"fitted,omitempty"`
	// Unprobed says how parameters were measured that no probe tells.
	Unprobed map[string]string `json:"unprobed,omitempty"`
	// Missing are parameters that were not measured, with what was taken instead.
	Missing []string `json:"missing,omitempty"`

	// Dispatch is micro-operations per cycle, Window those between dispatch and
	// retirement.
	Dispatch int `json:"dispatch"`
	Window   int `json:"window"`
	// Registers are those for the results of instructions in flight.
	Registers int `json:"registers,omitempty"`
	// Pipes are the classes of operations that each of the pipes executes, by name.
	// Units are how many operations of the classes that have no pipe start in a cycle.
	Pipes []string       `json:"pipes"`
	Units map[string]int `json:"units"`
	// Choices is from how many pipes, taken at random, the best one is taken for an
	// operation that all execute; 0 if operations are bound to the pipe that has the fewest.
	Choices int `json:"choices,omitempty"`
	// Loads, VectorLoads and Stores are per cycle.
	Loads       int `json:"loads"`
	VectorLoads int `json:"vector_loads"`
	Stores      int `json:"stores"`
	// Schedulers are how many operations wait for operands or a unit: of general
	// registers, of addresses, of vectors. Vectors wait with general registers if they
	// share their pipes.
	Schedulers [3]int `json:"schedulers"`
	// StoreQueue is the stores that wait for the cache, which takes one a cycle, or two
	// with the same registers in their addresses.
	StoreQueue int `json:"store_queue,omitempty"`
	// Load is the cycles from an address to its value in a register, LoadVector those to
	// a vector register.
	Load       float64 `json:"load"`
	LoadVector float64 `json:"load_vector"`
	// Forward is the cycles from a store to a load of the same operand, or to one that is
	// expected to get what was stored; Forwarding is about other loads of what was stored
	// just before.
	Forward    float64    `json:"forward"`
	Forwarding Forwarding `json:"forwarding"`
	// TakenPerCycle is the taken branches that the front end follows in a cycle: in a loop
	// without loops within, of those between two backward ones, and in other loops on
	// average.
	TakenPerCycle float64 `json:"taken_per_cycle"`
	TakenNested   float64 `json:"taken_per_cycle_nested"`
	Fetch         Fetch   `json:"fetch"`
	// Refill is the cycles from the execution of a mispredicted branch until what
	// follows is dispatched.
	Refill float64 `json:"refill"`
	// OverflowApart is set if the overflow flag is renamed apart from those of zero and
	// sign, which conditions of signed comparisons then need two of; else only those of
	// unsigned ones that ask for both carry and zero do. FlagWait is what a conditional
	// move waits more for two groups of flags.
	OverflowApart bool    `json:"overflow_apart"`
	FlagWait      float64 `json:"flag_wait"`
	// Renamed are what renaming does: copies of general registers of 64 and of 32 bits
	// and of vectors, extensions of a byte, additions of constants.
	Renamed []Renaming `json:"renamed"`
	// StoreALU is set if what a store takes of a general register takes a turn of the ALUs.
	StoreALU bool `json:"store_alu,omitempty"`
	// MoveFusion is set if a copy and the operation on it are one.
	MoveFusion bool `json:"move_fusion,omitempty"`
	// Probes are what calibrate measured. What they tell is left out of stored cores.
	Probes probe.Values `json:"probes,omitempty"`
	// Instructions are what was measured of instructions, by mnemonic and form, see
	// formOf. LLVM's model says the rest.
	Instructions map[string]Measured `json:"instructions"`

	pipes [asm.Classes]uint32 // that execute a class
	order []int               // pipes, first those that execute few classes
	units [asm.Classes]int
}

// A Renaming is what is done by renaming and needs no unit.
type Renaming string

// The renamings.
const (
	Move64      Renaming = "move64"
	Move32      Renaming = "move32"
	MoveVector  Renaming = "move vector"
	ZeroExtend  Renaming = "zero extension of a byte"
	Zero        Renaming = "zero"
	AddConstant Renaming = "addition of a constant to 64 bits"
)

// A Measured is what was measured of an instruction. 0 is not known.
type Measured struct {
	Latency float64 `json:"latency,omitempty"`
	Slots   float64 `json:"slots,omitempty"` // cycles of one unit
	Uops    int     `json:"uops,omitempty"`
}

var classNames = [asm.Classes]string{
	asm.ClassALU: "alu", asm.ClassShift: "shift", asm.ClassMultiply: "multiply", asm.ClassDivide: "divide", asm.ClassSelect: "select", asm.ClassSet: "set",
	asm.ClassBranch: "branch", asm.ClassLea: "lea", asm.ClassVector: "vector", asm.ClassFloat: "float", asm.ClassNone: "none",
}

// prepare makes what a run needs of the data.
func (c *Core) prepare() error {
	c.pipes, c.units = [asm.Classes]uint32{}, [asm.Classes]int{}
	known := func(name string) (asm.Class, error) {
		i := slices.Index(classNames[:], name)
		if i < 0 {
			return 0, fmt.Errorf("core %s: there is no class %q", c.Name, name)
		}
		return asm.Class(i), nil
	}
	for i, names := range c.Pipes {
		for name := range strings.FieldsSeq(names) {
			class, err := known(name)
			if err != nil {
				return err
			}
			c.pipes[class] |= 1 << i
		}
	}
	c.order = make([]int, len(c.Pipes))
	for i := range c.order {
		c.order[i] = i
	}
	classes := func(i int) int { return len(strings.Fields(c.Pipes[i])) }
	slices.SortStableFunc(c.order, func(a, b int) int { return classes(a) - classes(b) })
	for name, n := range c.Units {
		class, err := known(name)
		if err != nil {
			return err
		}
		c.units[class] = n
	}
	if n := len(c.Pipes); n == 0 || n > 32 || c.Dispatch < 1 || c.Window < 1 || c.Loads < 1 || c.Stores < 1 || c.Load < 1 || c.TakenPerCycle <= 0 || c.pipes[asm.ClassALU] == 0 {
		return fmt.Errorf("core %s: the width, the window, a unit or the latency of loads is missing", c.Name)
	}
	return nil
}

// renames reports whether renaming does something.
func (c *Core) renames(r Renaming) bool { return slices.Contains(c.Renamed, r) }

// A timing is how long the operation of one instruction takes.
type timing struct {
	op     asm.Operation
	memory int // number of the operand in memory, 0 for none
	uops   int
	cycle  float64 // latency from its operands in registers
	load   float64 // latency of its load, 0 if it has none
	slots  int     // of its unit
	groups int     // of flags that its condition needs
	fused  bool    // one operation with the instruction before it
}

// renames is how many general registers an operation needs for its results.
func (t *timing) renames() (n int) {
	if t.op.Free {
		return 0
	}
	for _, r := range t.op.Writes {
		if r < 16 {
			n++
		}
	}
	return n
}

// queues are the schedulers that an operation waits in.
func (c *Core) queues(t *timing) (q [3]bool) {
	q[1] = t.op.Load || t.op.Store
	if !t.op.Free && t.op.Class != asm.ClassNone && !t.fused {
		apart := c.waitsApart(t.op.Class)
		q[0], q[2] = !apart, apart
	}
	return q
}

// waitsApart reports whether operations of a class have a scheduler of their own.
func (c *Core) waitsApart(class asm.Class) bool { return class.Vector() && c.pipes[class] == 0 }

// Costs say what costs time.
type Costs struct {
	Independent bool // no instruction waits for another
	Straight    bool // the front end follows any number of branches
	Misses      bool // mispredictions cost something
	Single      bool // the front end follows one taken branch in a cycle
}

// runOptions are how a trace is run.
type runOptions struct {
	Costs
	nested  bool     // there are loops within the loop
	variant int      // of where the code is
	sources []source // of loads, nil if none has its value from a store of late
}

// memoryKey is where a store went: the operand and the values of the registers in it.
type memoryKey struct {
	memory    int
	registers [2]asm.Register
	versions  [2]int
}

// A pipeline is the state of a core that runs a trace.
type pipeline struct {
	*Core
	opt     runOptions
	ready   [asm.Registers]float64
	version [asm.Registers]int
	stores  map[memoryKey]float64
	values  []float64 // when what a step stores can be had, with sources
	alu     pipes
	wide    ports // for loads to vector registers
	units   [asm.Classes]ports
	loads   ports
	storing ports
	waiting [3]times

	cycle      float64            // of dispatch
	dispatched int                // in it
	front      float64            // when the front end delivers
	went       map[flow.Site]bool // which way a branch went last
	fetching
}

// run runs steps and returns when each is retired.
func (c *Core) run(steps []flow.Step, timings []*timing, opt runOptions) (retired []float64) {
	f := &pipeline{Core: c, opt: opt, stores: make(map[memoryKey]float64), went: make(map[flow.Site]bool), alu: newPipes(c), loads: newPorts(c.Loads), storing: newPorts(c.Stores), wide: newPorts(max(1, c.VectorLoads))}
	for i := range f.units {
		f.units[i] = newPorts(max(1, c.units[i]))
	}
	f.fetching = fetching{Fetch: &c.Fetch, takenPerCycle: c.TakenPerCycle}
	if opt.nested {
		f.takenPerCycle, f.parts = c.TakenNested, true
	}
	if opt.Single {
		f.takenPerCycle = 1
	}
	if opt.sources != nil {
		f.values = make([]float64, len(steps))
	}
	ends := make(map[*flow.Graph][]uint64)
	retired = make([]float64, len(steps))
	var head, inFlight, renames, inCycle int
	var last float64
	var committed []float64
	var lastStore memoryKey
	paired := false
	for i := range steps {
		t := timings[i]
		uops := max(1, t.uops)
		if t.fused {
			uops = 0
		}
		if f.front > f.cycle {
			f.cycle, f.dispatched = f.front, 0
		}
		renamed := t.renames()
		for (inFlight+uops > c.Window || c.Registers > 0 && renames+renamed > c.Registers) && head < i {
			before := timings[head]
			if !before.fused {
				inFlight -= max(1, before.uops)
			}
			renames -= before.renames()
			f.until(retired[head])
			head++
		}
		if n := len(committed) - c.StoreQueue; t.op.Store && n >= 0 {
			f.until(committed[n])
		}
		f.dispatch(uops)
		inFlight += uops
		renames += renamed
		f.wait(t)
		end := f.execute(t, i)
		// Retirement, in order.
		if r := max(end, f.cycle+1); r > last {
			last, inCycle = r, 0
		}
		if inCycle += uops; inCycle > c.Dispatch {
			last, inCycle = last+1, uops
		}
		retired[i] = last
		if t.op.Store {
			at := last
			if n := len(committed); n > 0 {
				at = max(at, committed[n-1]+1)
				if key := f.base(t); key == lastStore && !paired {
					at, paired = max(last, committed[n-1]), true
				} else {
					lastStore, paired = key, false
				}
			}
			committed = append(committed, at)
		}
		if !opt.Straight {
			f.deliver(&steps[i], i+1 < len(steps) && timings[i+1].fused && steps[i+1].Inst().Kind == disasm.Conditional, ends)
		}
		if opt.sources != nil && opt.sources[i].replay {
			f.front = max(f.front, last+c.Forwarding.Replay)
			f.restart(f.front)
		}
		if steps[i].Miss && opt.Misses {
			f.front = end + c.Refill
			f.restart(f.front)
		}
	}
	return retired
}

// deliver lets the front end go on by a step. What is fused with the branch after it
// counts as a part of that.
func (f *pipeline) deliver(s *flow.Step, fused bool, ends map[*flow.Graph][]uint64) {
	at, ok := ends[s.Graph]
	if !ok {
		_, at = placesOf(s.Graph, f.opt.variant)
		ends[s.Graph] = at
	}
	if !fused {
		f.fetch(at[s.At])
	}
	in := s.Inst()
	if in.Kind == disasm.Conditional && f.Turn > 0 {
		if last, ok := f.went[s.Site]; ok && last != s.Taken && !(s.Miss && f.opt.Misses) {
			f.start += f.Turn
		}
		f.went[s.Site] = s.Taken
	}
	if s.Taken {
		f.front = max(f.front, f.fetching.taken(in.Kind, in.To >= 0 && in.To <= s.At))
	}
}

// until lets time go on.
func (f *pipeline) until(cycle float64) {
	if cycle > f.cycle {
		f.cycle, f.dispatched = cycle, 0
	}
}

func (f *pipeline) dispatch(uops int) {
	if f.dispatched+uops > f.Dispatch && f.dispatched > 0 {
		f.cycle, f.dispatched = f.cycle+1, 0
	}
	f.dispatched += uops
	for f.dispatched > f.Dispatch {
		f.dispatched -= f.Dispatch
		f.cycle++
	}
}

// wait waits for room in the schedulers.
func (f *pipeline) wait(t *timing) {
	for q, wanted := range f.queues(t) {
		if !wanted || f.Schedulers[q] == 0 {
			continue
		}
		queue := &f.waiting[q]
		for len(*queue) > 0 && (*queue)[0] <= f.cycle {
			queue.pop()
		}
		if len(*queue) >= f.Schedulers[q] {
			f.until(queue.pop())
		}
	}
}

// execute returns when the result of step i is there.
func (f *pipeline) execute(t *timing, i int) float64 {
	op := &t.op
	at := f.cycle + 1
	for _, r := range op.Reads {
		ready := f.ready[r]
		if t.groups > 1 && r >= asm.CF && op.Class == asm.ClassSelect {
			ready += f.FlagWait
		}
		at = max(at, ready)
	}
	address := f.cycle + 1
	for _, r := range op.Address {
		address = max(address, f.ready[r])
	}
	if op.Load {
		if op.Vector {
			address = f.wide.issue(address)
		}
		from := f.loads.issue(address)
		f.waiting[1].push(from)
		value := from + t.load
		if stored, ok := f.stores[f.key(t)]; ok && (f.values == nil || !f.opt.sources[i].narrow) {
			wait := f.Forward
			switch {
			case op.Store:
				wait = f.Forwarding.Modify
			case f.Forwarding.Indexed && len(op.Address) > 1:
				wait = f.Forwarding.Cycles
			}
			value = max(from+min(t.load, wait), stored+wait)
		} else if f.values != nil {
			value = f.forwarded(i, from, value)
		}
		at = max(at, value)
	}
	end := at
	data := at // when what is stored can be had
	if op.Store && op.Class == asm.ClassNone && !op.Vector && f.StoreALU {
		data = f.alu.issue(f.pipes[asm.ClassALU], f.cycle, at, 1) + 1
		f.waiting[0].push(data - 1)
	}
	if !op.Free && op.Class != asm.ClassNone && !t.fused {
		queue := &f.waiting[0]
		if f.waitsApart(op.Class) {
			queue = &f.waiting[2]
		}
		if pipes := f.pipes[op.Class]; pipes != 0 {
			at = f.alu.issue(pipes, f.cycle, at, t.slots)
		} else {
			at = f.units[op.Class].issue(at)
			for range t.slots - 1 {
				f.units[op.Class].issue(at)
			}
		}
		queue.push(at)
		end = at + t.cycle
	}
	if op.Store {
		f.waiting[1].push(f.storing.issue(max(address, end, data)))
		if t.memory > 0 && !f.opt.Independent {
			f.stores[f.key(t)] = end
		}
		if f.values != nil {
			f.values[i] = max(end, data)
		}
	}
	for _, r := range op.Writes {
		if !f.opt.Independent {
			f.ready[r] = end
		}
		f.version[r] = i + 1
	}
	if op.Free && len(op.Reads) == 1 {
		from := op.Reads[0]
		for _, to := range op.Writes {
			if len(op.Writes) == 1 {
				f.version[to] = f.version[from]
			}
			if !f.opt.Independent {
				f.ready[to] = f.ready[from]
			}
		}
	}
	return end
}

// forwarded returns when the load of step i has its value, from which it would have it
// of the cache.
func (f *pipeline) forwarded(i int, issued, cached float64) float64 {
	s := &f.opt.sources[i]
	if s.store < 0 || f.opt.Independent {
		return cached
	}
	at := f.values[s.store]
	switch {
	case s.renamed:
		return max(f.cycle+1, at+f.Forward)
	case s.blocked:
		return max(cached, at+f.Forwarding.Blocked)
	}
	return max(cached, at+f.Forwarding.Cycles)
}

func (f *pipeline) key(t *timing) memoryKey {
	k := memoryKey{memory: t.memory}
	for i, r := range t.op.Address {
		if i < len(k.versions) {
			k.versions[i] = f.version[r]
		}
	}
	return k
}

// base is the registers in the address of an operation.
func (f *pipeline) base(t *timing) memoryKey {
	k := f.key(t)
	k.memory = 0
	for i, r := range t.op.Address {
		if i < len(k.registers) {
			k.registers[i] = r
		}
	}
	return k
}

// steadyCycles is the cycles per step of a run once the pipeline is full.
func steadyCycles(retired []float64) float64 {
	n := len(retired)
	if n < 64 {
		return retired[n-1] / float64(n)
	}
	from := n / 8
	return (retired[n-1] - retired[from]) / float64(n-1-from)
}
