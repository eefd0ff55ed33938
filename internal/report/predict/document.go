// Package predict is a prediction as it is written: one document, made once by [New], and what
// draws it as text and JSON. Loops are written as assembly.
//
//  1. [New] takes from a prediction what all outputs show: cycles of both sides, what they
//     are made of, and the speed-up by the rate of misses.
//  2. Writers draw it; timelines of the pipeline are in the text and on the page.
//  3. [WriteLoops] writes loops with comments that mark regions for llvm-mca (its
//     documentation, "Using Markers to Analyze Specific Code Blocks").
package predict

import (
	"fmt"
	"strings"

	"profdiff/internal/predict"
	"profdiff/internal/report/text"
	"profdiff/internal/verdict"
)

// Schema is the first field of what predict prints as JSON.
const Schema = "profdiff.predict/v1"

// A Document is what predict prints as JSON. All but what is called measured is
// predicted. null is unknown; intervals of what is predicted are 90 %, those of what was measured 95 %.
type Document struct {
	Schema    string    `json:"schema"`
	Toolchain Toolchain `json:"toolchain"`
	Loops     []Loop    `json:"loops"`
}

// A Toolchain is what the prediction was made with.
type Toolchain struct {
	LLVM         string  `json:"llvm"`
	MCPU         string  `json:"mcpu"`
	Model        string  `json:"model"`
	StandIn      string  `json:"stand_in"` // the CPU whose model it is, "" if its own
	Kinship      string  `json:"kinship"`  // of the CPU and that one: own, core, family, generation or vendor
	Core         string  `json:"core"`     // whose measured widths and latencies are used, "" for LLVM's alone
	RefillCycles float64 `json:"refill_cycles"`
	RefillSource string  `json:"refill_source"`
	// Repairs are classes of instructions that the model is wrong about, and that were
	// simulated as others.
	Repairs []Repair `json:"repairs"`
}

// A Repair is how many instructions of a class were simulated as others.
type Repair struct {
	Class        string `json:"class"`
	Instructions int    `json:"instructions"`
	Evidence     string `json:"evidence"`
}

// A Loop is a loop on both sides.
type Loop struct {
	Function            string     `json:"function"`
	Unit                string     `json:"unit"`
	Rates               Source     `json:"rates"` // measured, given, known, simulated or assumed
	Base                Side       `json:"base"`
	Head                Side       `json:"head"`
	NotPredicted        string     `json:"not_predicted"` // why no cycles are predicted, "" if they are
	PredictedSpeedup    *float64   `json:"predicted_speedup"`
	Interval            []float64  `json:"interval"`
	Verdict             Verdict    `json:"verdict"` // faster or slower, as the interval says; undecided while it has 1 in it
	MeasuredSpeedup     *float64   `json:"measured_speedup"`
	MeasuredCI          []float64  `json:"measured_ci"`
	ProgramShare        *float64   `json:"program_share"` // of the loop in the base's run
	ProgramSpeedup      *float64   `json:"program_speedup"`
	ProgramInterval     []float64  `json:"program_interval"`
	ProgramVerdict      Verdict    `json:"program_verdict"` // "" if the program's speed-up is not known
	BreakEvenText       string     `json:"break_even"`
	BreakEvenMissRate   *float64   `json:"break_even_miss_rate"` // per execution of the branches that data decide
	BreakEvenRange      []float64  `json:"break_even_range"`     // the rate below which the side with the branches is faster, and above which the other is
	BreakEvenMisses     *float64   `json:"break_even_misses"`    // per unit
	BreakEvenSide       string     `json:"break_even_side"`      // that has the branches: base or head
	BreakEvenVerdict    string     `json:"break_even_verdict"`   // above, below, always, never, undecided or none
	MeasuredMissRate    *float64   `json:"measured_miss_rate"`   // that the prediction was made with
	MeasuredMissPerUnit *float64   `json:"measured_miss_per_unit"`
	Doubts              []Doubt    `json:"doubts"` // greatest first
	Doubt               string     `json:"doubt"`  // the greatest in words
	Remedy              string     `json:"remedy"` // a command that shrinks the greatest that one can shrink, "" if none does
	Flags               []string   `json:"flags"`
	Timelines           []Timeline `json:"timelines"`

	// Alone is set if head alone was predicted.
	Alone bool `json:"-"`
	// Speedup, Measured and Program are the speed-ups with their intervals, nil if unknown.
	Speedup    Interval   `json:"-"`
	Measured   *Interval  `json:"-"`
	MeasuredBy string     `json:"-"`
	Program    *Interval  `json:"-"`
	BreakEven  *BreakEven `json:"-"`
	// Curve is the speed-up by the rate of misses, nil if that decides nothing.
	Curve []Point `json:"-"`
	// AllPaths is set if no ways were left out but those that the sides count.
	AllPaths bool `json:"-"`
}

// What a prediction is made of.
type (
	// An Interval is a value with its interval.
	Interval = predict.Interval
	// A BreakEven is the rate of misses from which one side is faster.
	BreakEven = predict.BreakEven
	// A BreakEvenVerdict says which side wins at the rate at hand.
	BreakEvenVerdict = predict.BreakEvenVerdict
	// A Source says where rates of branches are from.
	Source = predict.Source
)

// A Verdict is the word for a speed-up.
type Verdict string

// The verdicts. No side wins while 1 is in the interval.
const (
	Faster     Verdict = "faster"
	Slower     Verdict = "slower"
	NotDecided Verdict = "undecided"
	Refused    Verdict = "not predicted"
)

// Word is the verdict as people read it.
func (v Verdict) Word() string {
	if v == NotDecided {
		return verdict.Inconclusive.Word(verdict.Time)
	}
	return string(v)
}

// style is how the verdict looks.
func (v Verdict) style() text.Style {
	switch v {
	case Faster:
		return text.Green
	case Slower:
		return text.Red
	}
	return text.Plain
}

// The sources of rates.
const (
	Measured  = predict.SourceMeasured
	Given     = predict.SourceGiven
	Known     = predict.SourceKnown
	Simulated = predict.SourceSimulated
	Assumed   = predict.SourceAssumed
)

// The verdicts of a break-even.
const (
	AlwaysBranchless = predict.AlwaysBranchless
	NeverBranchless  = predict.NeverBranchless
	AboveRate        = predict.AboveRate
	BelowRate        = predict.BelowRate
	Undecided        = predict.Undecided
	NoBranches       = predict.NoBranches
)

// A Point is a speed-up at a rate of misses from 0 to 1.
type Point struct{ Rate, Speedup, Lo, Hi float64 }

// A Side is where the cycles of a unit go on one side.
type Side struct {
	CyclesPerUnit       text.Number `json:"cycles_per_unit"`
	CyclesRange         []float64   `json:"cycles_range"` // over the walks
	Issue               text.Number `json:"issue"`
	Dependency          text.Number `json:"dependency"`
	TakenBranches       text.Number `json:"taken_branches"`
	Mispredictions      text.Number `json:"mispredictions"`
	Called              text.Number `json:"called"` // by samples, what calls take that were not followed
	MissesPerUnit       text.Number `json:"misses_per_unit"`
	MissCost            text.Number `json:"miss_cost"`
	InstructionsPerUnit float64     `json:"instructions_per_unit"`
	TakenPerUnit        float64     `json:"taken_per_unit"`
	DataBranchesPerUnit float64     `json:"data_branches_per_unit"`
	Trace               text.Number `json:"trace"` // llvm-mca's cycles of the trace
	Throughput          text.Number `json:"throughput"`
	UnmodelledShare     text.Number `json:"unmodelled_share"`
	Paths               []Path      `json:"paths"`
	PathsLeftOut        int         `json:"paths_left_out"`
	// Contention is what other cores decide, null if that is nothing.
	Contention *Contention `json:"contention"`

	Name string `json:"-"` // of the side
}

// A Contention is what of a side other cores decide: operations per unit of work, if no other
// core gets in between.
type Contention struct {
	Atomics float64  `json:"atomics"`
	Fences  float64  `json:"fences"`
	Waits   float64  `json:"waits"`   // for another core
	Retries []string `json:"retries"` // branches that try again
	// Alone is what they take if no other core gets in between, in cycles a unit: centre, least
	// and most; null if it was not measured.
	Alone []float64 `json:"alone"`
}

// A Path is a way through the code, as llvm-mca simulates it.
type Path struct {
	Name         string  `json:"name"`
	Executable   bool    `json:"executable"` // false: the listing as it stands
	Instructions int     `json:"instructions"`
	CyclesOnce   float64 `json:"cycles_once"`
	CyclesSteady float64 `json:"cycles_steady"`
}

// A Timeline is a drawing of llvm-mca's.
type Timeline struct {
	Title string   `json:"-"`
	Side  string   `json:"side"`
	Note  string   `json:"note"`
	Lines []string `json:"lines"`
	Marks []string `json:"marks"` // by line
}

// Way names the path.
func (p *Path) Way() string {
	if !p.Executable {
		return "listing, which is no way"
	}
	return p.Name
}

// Executed says what is executed in a unit, and what of it other cores decide.
func (s *Side) Executed() string {
	says := text.Cycles(s.InstructionsPerUnit) + " instructions a unit"
	c := s.Contention
	if c == nil {
		return says + ", none of which other cores decide"
	}
	for _, of := range []struct {
		n            float64
		one, several string
	}{{c.Atomics, "atomic operation", "atomic operations"}, {c.Fences, "fence", "fences"}, {c.Waits, "instruction that waits for another core", "instructions that wait for another core"}} {
		switch {
		case of.n == 1:
			says += ", 1 " + of.one
		case of.n > 0:
			says += ", " + text.Cycles(of.n) + " " + of.several
		}
	}
	if a := c.Alone; a != nil {
		says += fmt.Sprintf(", %s cycles [%s, %s] of a core alone", text.Cycles(a[0]), text.Cycles(a[1]), text.Cycles(a[2]))
	}
	if len(c.Retries) > 0 {
		says += "; tried again by " + strings.Join(c.Retries, ", ")
	}
	return says
}
