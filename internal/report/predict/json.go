// Package predict writes predictions of loops as text and JSON, and loops as assembly.
package predict

import (
	"io"
	"math"

	"profdiff/internal/predict"
	"profdiff/internal/report/text"
)

// Schema is the first field of what predict prints as JSON.
const Schema = "profdiff.predict/v1"

// A Document is what predict prints as JSON. All but what is called measured is
// predicted. null is unknown; intervals are 95 %.
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
	Core         string  `json:"core"`     // whose measured widths and latencies are used, "" for LLVM's alone
	RefillCycles float64 `json:"refill_cycles"`
	RefillSource string  `json:"refill_source"`
}

// A Loop is a loop on both sides.
type Loop struct {
	Function            string     `json:"function"`
	Unit                string     `json:"unit"`
	Rates               string     `json:"rates"` // measured, given, known, simulated or assumed
	Base                Side       `json:"base"`
	Head                Side       `json:"head"`
	PredictedSpeedup    float64    `json:"predicted_speedup"`
	Interval            []float64  `json:"interval"`
	MeasuredSpeedup     *float64   `json:"measured_speedup"`
	MeasuredCI          []float64  `json:"measured_ci"`
	ProgramShare        *float64   `json:"program_share"` // of the loop in the base's run
	ProgramSpeedup      *float64   `json:"program_speedup"`
	ProgramInterval     []float64  `json:"program_interval"`
	BreakEvenMissRate   *float64   `json:"break_even_miss_rate"` // per execution of the branches that data decide
	BreakEvenMisses     *float64   `json:"break_even_misses"`    // per unit
	BreakEvenSide       string     `json:"break_even_side"`      // that has the branches: base or head
	BreakEvenVerdict    string     `json:"break_even_verdict"`   // above, below, always, never, undecided or none
	MeasuredMissRate    *float64   `json:"measured_miss_rate"`   // that the prediction was made with
	MeasuredMissPerUnit *float64   `json:"measured_miss_per_unit"`
	Flags               []string   `json:"flags"`
	Timelines           []Timeline `json:"timelines"`
}

// A Side is where the cycles of a unit go on one side.
type Side struct {
	CyclesPerUnit       float64   `json:"cycles_per_unit"`
	CyclesRange         []float64 `json:"cycles_range"` // over the walks
	Issue               float64   `json:"issue"`
	Dependency          float64   `json:"dependency"`
	TakenBranches       float64   `json:"taken_branches"`
	Mispredictions      float64   `json:"mispredictions"`
	MissesPerUnit       float64   `json:"misses_per_unit"`
	MissCost            float64   `json:"miss_cost"`
	InstructionsPerUnit float64   `json:"instructions_per_unit"`
	TakenPerUnit        float64   `json:"taken_per_unit"`
	DataBranchesPerUnit float64   `json:"data_branches_per_unit"`
	Trace               float64   `json:"trace"` // llvm-mca's cycles of the trace
	Throughput          float64   `json:"throughput"`
	UnmodelledShare     float64   `json:"unmodelled_share"`
	Paths               []Path    `json:"paths"`
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
	Side  string   `json:"side"`
	Note  string   `json:"note"`
	Lines []string `json:"lines"`
	Marks []string `json:"marks"` // by line
}

// WriteJSON writes a Document.
func WriteJSON(w io.Writer, p *predict.Prediction) error {
	m := p.Machine
	d := Document{
		Schema: Schema, Loops: []Loop{},
		Toolchain: Toolchain{
			LLVM: m.Version, MCPU: m.Model.CPU, Model: m.Model.Name, StandIn: m.Model.StandIn,
			RefillCycles: m.Refill, RefillSource: m.RefillSource,
		},
	}
	if m.Core != nil {
		d.Toolchain.Core = m.Core.Name
	}
	for _, r := range p.Results {
		d.Loops = append(d.Loops, newLoop(r))
	}
	return text.WriteJSON(w, d)
}

func newLoop(r *predict.Result) Loop {
	l := Loop{
		Function: r.Pair.Name, Unit: r.Pair.Unit, Rates: string(r.Pair.Source),
		Base: newSide(&r.Base, r.Paths[0]), Head: newSide(&r.Head, r.Paths[1]),
		PredictedSpeedup: r.Speedup.Value, Interval: []float64{r.Speedup.Lo, r.Speedup.Hi},
		ProgramShare: r.Pair.ProgramShare, Flags: append([]string{}, r.Flags...), Timelines: []Timeline{},
	}
	if i := r.Pair.Measured; i != nil {
		l.MeasuredSpeedup = &i.Value
		if !math.IsInf(i.Hi, 1) { // a side without enough samples has no upper end
			l.MeasuredCI = []float64{i.Lo, i.Hi}
		}
	}
	if i := r.Program; i != nil {
		l.ProgramSpeedup, l.ProgramInterval = &i.Value, []float64{i.Lo, i.Hi}
	}
	if b := r.BreakEven; b != nil {
		l.BreakEvenVerdict = string(b.Verdict)
		if b.Verdict != predict.NoBranches {
			l.BreakEvenMissRate, l.BreakEvenMisses = &b.Rate, &b.Misses
			l.MeasuredMissRate, l.MeasuredMissPerUnit = &b.MeasuredRate, &b.MeasuredMisses
			l.BreakEvenSide = "head"
			if b.Base {
				l.BreakEvenSide = "base"
			}
		}
	}
	if r.Timelines != nil {
		for i, side := range []string{"base", "head"} {
			t := &r.Timelines[i]
			l.Timelines = append(l.Timelines, Timeline{Side: side, Note: t.Note, Lines: t.Lines, Marks: t.Marks})
		}
	}
	return l
}

func newSide(c *predict.Cycles, paths []*predict.Path) Side {
	s := Side{
		CyclesPerUnit: c.Total, CyclesRange: []float64{c.Lo, c.Hi},
		Issue: c.Issue, Dependency: c.Dependency, TakenBranches: c.Taken, Mispredictions: c.Misses,
		MissesPerUnit: c.Mispredicted, MissCost: c.MissCost,
		InstructionsPerUnit: c.Instructions, TakenPerUnit: c.TakenBranches, DataBranchesPerUnit: c.DataBranches,
		Trace: c.MCA, Throughput: c.Throughput, UnmodelledShare: c.Unmodelled, Paths: []Path{},
	}
	for _, p := range paths {
		s.Paths = append(s.Paths, Path{Name: p.Name, Executable: !p.Listing, Instructions: p.Instructions, CyclesOnce: p.Once, CyclesSteady: p.Steady})
	}
	return s
}
