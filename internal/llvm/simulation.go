package llvm

import "slices"

// Options says what to simulate and on what.
type Options struct {
	Triple     string // "x86_64", "aarch64", "thumbv7"
	CPU        string // LLVM's name of the CPU whose scheduling model is wanted
	Iterations int    // of each region; 0 is 100
	Timeline   bool   // all iterations, never cut
	Pressure   bool   // resources used by each instruction
	Bottleneck bool   // in LLVM 22; older versions do not say it in JSON
	// Plain is set if the CPU's model is that of LLVM's choice, not the one that ModelOf
	// chooses.
	Plain bool
	// Repairs are those that are made, of [Model.Repairs].
	Repairs []Repair
}

// Simulation is what llvm-mca says of a region. It is shared between callers and must
// not be changed.
type Simulation struct {
	Name         string
	Instructions []string // as llvm-mca prints them; none if nothing of the region is modelled
	Source       []int    // for each instruction, its index in Region.Lines
	Iterations   int

	TotalCycles   float64 // of all iterations, from the first dispatch to the last retirement
	RThroughput   float64 // cycles per iteration as bounded by resources, without dependencies
	IPC           float64 // instructions per cycle
	Uops          int     // of all iterations
	DispatchWidth int     // micro-operations per cycle

	Latencies  []Latency // of each instruction
	Pressure   []Usage   // if asked for
	Timeline   []Row     // if asked for: all instructions of iteration 0, then of 1, ...
	Bottleneck *Bottleneck

	// Instructions of the region that the model has no information on. Those without a
	// stand-in were left out.
	Unmodelled []Unmodelled
	// Repaired is what was rewritten, by class.
	Repaired []Repaired
	Warnings []string
}

// OfLine is what the model says of a line: of several instructions for it the sum, as they wait
// for each other.
func (s *Simulation) OfLine(line int) (l Latency, ok bool) {
	at, ok := slices.BinarySearch(s.Source, line)
	for ; at < len(s.Source) && s.Source[at] == line && at < len(s.Latencies); at++ {
		more := &s.Latencies[at]
		l.Latency += more.Latency
		l.Uops += more.Uops
		l.RThroughput = max(l.RThroughput, more.RThroughput)
		l.Loads, l.Stores, l.SideEffects = l.Loads || more.Loads, l.Stores || more.Stores, l.SideEffects || more.SideEffects
	}
	return l, ok
}

// Latency is what a scheduling model says of one instruction.
type Latency struct {
	Latency     float64 // cycles
	Uops        int
	RThroughput float64 // cycles
	Loads       bool
	Stores      bool
	SideEffects bool // that the model does not know
}

// Usage is how long an instruction uses a resource.
type Usage struct {
	Instruction int // index in Simulation.Instructions
	Resource    string
	Cycles      float64 // per iteration
}

// Row is the life of one instruction in one iteration, in cycles from 0. In-order models
// have no retirement: there Retired is Executed.
type Row struct {
	Dispatched, Ready, Issued, Executed, Retired int32
}

// Unmodelled is an instruction without scheduling information.
type Unmodelled struct {
	Index   int // in Region.Lines
	Text    string
	StandIn string // what was simulated in its place, "" if it was left out
}

// Bottleneck says what kept instructions waiting: cycles of the simulation in which the
// pressure on the back end rose, and why.
type Bottleneck struct {
	PressureCycles float64 // for any reason
	ResourceCycles float64 // for want of a free resource
	RegisterCycles float64 // for a register that was not ready
	MemoryCycles   float64 // for an earlier load or store
	Resources      []Usage // cycles by resource; Instruction is -1
}
