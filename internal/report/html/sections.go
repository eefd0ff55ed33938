package html

import (
	"profdiff/internal/report/branches"
	"profdiff/internal/verdict"
)

// Branches are branches and how they were predicted, on one side or both.
type Branches struct {
	// Base and Head say what each side was made from. Head is nil if there is one side.
	Base, Head *BranchSource
	Rows       []Branch
	// Hidden are branches that were left out.
	Hidden int
	// Functions are what samples say that tell the function and not the branch.
	Functions []BranchFunction
	// Code is that around branches, by Branch.Code.
	Code []BranchCode
}

// A BranchSource says what a table of branches was made from.
type BranchSource struct {
	Name, Tool, CPU string
	// Tier is a letter, and Means what it stands for.
	Tier, Means string
	Events      []string
	// Unknown says why it is not known which branches were mispredicted, "" if it is.
	Unknown string
	// Counts says what executed, taken and misses count.
	Counts string
	Facts  []Fact
}

// A Branch is a branch on both sides.
type Branch struct {
	Function, DSO string
	// Place is the offset in the function, or an address, or a line.
	Place string
	File  string
	Line  int64
	// BaseLine is base's, where that is another.
	BaseLine int64 `json:",omitempty"`
	Kind     string
	// Base and Head are nil if the side does not have the branch.
	Base, Head *BranchSide
	// Verdict is set if the sides were compared: Improved is a lower rate.
	Verdict  verdict.Verdict
	Adjusted float64
	Change   string // of what was tested, in words
	// Code is an index in Branches.Code, or -1.
	Code int
}

// A BranchSide is what one side says of a branch. What is not known is nil.
type BranchSide struct {
	Executed, Misses *float64
	// N executions are what the rates are made from, in so many Samples.
	N, Samples int64
	// Rate is the rate of misses, and CI its interval. Where Rate is nil it is known to be
	// between Bounds, and CI is the interval of these bounds.
	Rate   *float64
	Bounds *[2]float64
	CI     *[2]float64
	// OfTaken is the rate of misses among the executions that were taken.
	OfTaken   *float64
	OfTakenCI *[2]float64
	// Bounded is set if the rate is known by bounds only.
	Bounded bool
	Taken   *float64 // share
	TakenCI *[2]float64
	MPKI    *float64
	Lost    *[2]float64 // cycles
	// Confidence says how the rate was found and how well the branch is placed.
	Confidence string
	Class      string
	Enough     bool
}

// A BranchFunction is a function with its misses, on both sides.
type BranchFunction struct {
	Name, DSO, PMU string
	Base, Head     *FunctionMisses // nil if the side does not have it
	Verdict        verdict.Verdict
	Change         string // of what was tested, in words
}

// FunctionMisses are the misses that samples show in a function.
type FunctionMisses struct {
	Misses  float64
	CI      *[2]float64
	Samples int64
	// Rate is misses per branch and MPKI misses per 1,000 instructions, in words.
	Rate, MPKI string
}

// A BranchCode is the code of a function with its branches, on both sides.
type (
	BranchCode = branches.Code
	CodeRow    = branches.CodeRow
	CodeInst   = branches.CodeInst
)

// A Pipeline is what llvm-mca predicts of loops: a static model, not a measurement.
type Pipeline struct {
	// Model is the CPU that was modelled, and Tool the program.
	Model, Tool string
	// StandIn says that the model stands for another CPU, "" if it does not.
	StandIn string
	// Core is the core whose widths and latencies were measured, "" if they are LLVM's.
	Core string
	// Refill is what follows a misprediction, with where that is from.
	Refill string
	Loops  []Loop
}

// A Loop is a loop before and after.
type Loop struct {
	Name string
	// Unit is what cycles are of: an iteration, …
	Unit       string
	Base, Head *LoopSide // nil if the side does not have it
	// Predicted is the speed-up with its interval, and Measured what was seen.
	Predicted, Measured *Estimate
	// Verdict is the speed-up in a word: can't tell yet while 1 is in its interval. Doubt is what
	// makes the interval wide, and Remedy what would shrink it. Reports of earlier versions
	// have none of them.
	Verdict string `json:",omitempty"`
	Doubt   string `json:",omitempty"`
	Remedy  string `json:",omitempty"`
	// NotPredicted says why no cycles are predicted; then there are no sides.
	NotPredicted string `json:",omitempty"`
	// BreakEven are speed-ups by the rate of misses of the branch in question; At is
	// the rate at which there is none, and Rate the one that was measured.
	BreakEven []Point
	At        *float64
	Rate      *Estimate
	// Never is set if the side without branches wins at no rate, and Says is the
	// break-even in words.
	Never bool
	Says  string
	// RateSource says where Rate is from: measured, given, simulated, …
	RateSource string
	// Program is the speed-up of the program with so much of it in the loop, nil if that
	// is not known.
	Program *Estimate
	Share   *float64
	// MeasuredBy says how Measured was.
	MeasuredBy string
	// MoreWays says which ways are not here.
	MoreWays string `json:",omitempty"`
	Notes    []string
}

// An Estimate is a value with its interval.
type Estimate struct{ Value, Lo, Hi float64 }

// A Point is a speed-up at a rate of misses from 0 to 1.
type Point struct{ Rate, Speedup, Lo, Hi float64 }

// A LoopSide is one side of a loop.
type LoopSide struct {
	// Throughput is in cycles of a unit.
	Throughput float64
	IPC        float64
	Bottleneck string
	// Lo and Hi are the lowest and highest Throughput of several walks.
	Lo, Hi float64
	// Cycles are parts of the predicted cycles of a unit.
	Cycles []Part
	// Instructions, Mispredicted branches and what each costs, in cycles, are of a unit.
	Instructions, Mispredicted, MissCost float64
	// Ways go through the loop, where it is not known how often each is gone.
	Ways     []Way
	AllWays  bool
	Timeline []Step
	// Drawn says which way the timeline is of.
	Drawn string
}

// A Way is one through a loop, in cycles of one run and of each of many.
type Way struct {
	Name         string
	Instructions int
	Once, Steady float64
}

// A Part is a number of cycles that are spent for something.
type Part struct {
	Name   string
	Cycles float64
}

// A Step is an instruction on its way through the pipeline, in cycles from the start.
type Step struct {
	Iteration, Index                             int
	Text                                         string
	Mark                                         string // how hot it is
	Dispatched, Ready, Issued, Executed, Retired int
}
