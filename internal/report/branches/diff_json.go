package branches

import (
	"fmt"
	"io"

	"profdiff/internal/branch"
	"profdiff/internal/branch/diff"
	"profdiff/internal/report/text"
	"profdiff/internal/verdict"
)

// DiffSchema is the first field of what branches prints of two sides as JSON.
const DiffSchema = "profdiff.branches_diff/v1"

// A DiffDocument is what branches prints of two sides as JSON. null is unknown,
// or infinite; intervals are 95 %, or null for what was counted.
type DiffDocument struct {
	Schema        string         `json:"schema"`
	Tier          string         `json:"tier"` // S, A, B, C or D
	Base          []Input        `json:"base"` // runs
	Head          []Input        `json:"head"`
	Design        DiffDesign     `json:"design"`
	Different     []string       `json:"different"` // why nothing can be compared
	Normalization DiffNormalized `json:"normalization"`
	Counted       bool           `json:"counted"` // nothing was sampled: there are no tests
	Method        string         `json:"method"`  // of the tests
	Margin        float64        `json:"margin"`  // of unchanged
	Total         *DiffChange    `json:"total"`   // null if cores of several kinds had them
	Savings       *DiffSavings   `json:"savings"`
	Branches      []DiffBranch   `json:"branches"` // by how much their misses changed
	Hidden        int            `json:"hidden"`   // branches with too few misses to be listed
	// Functions are what samples say that tell the function and not the branch.
	Functions       []FunctionDiff `json:"functions"`
	HiddenFunctions int            `json:"hidden_functions"`
	Warnings        []string       `json:"warnings"`
}

// DiffDesign says how the comparison was made.
type DiffDesign struct {
	Order verdict.Order `json:"order"` // interleaved, blocked or unknown
}

// DiffNormalized says what misses are per.
type DiffNormalized struct {
	Mode       string   `json:"mode"` // work, instructions, reference, entries or none
	Unit       string   `json:"unit"`
	Factor     *float64 `json:"factor"`     // the work of head by that of base
	Executions *float64 `json:"executions"` // of the branches of both sides, head by base, per unit, in the median
	Branches   int      `json:"branches"`   // so many
}

// A DiffChange says how one quantity changed.
type DiffChange struct {
	Base  float64    `json:"base"`
	Head  float64    `json:"head"`
	Delta float64    `json:"delta"`
	Ratio *float64   `json:"ratio"` // head by base
	CI    []*float64 `json:"ci"`    // of the ratio
	P     *float64   `json:"p"`
	Q     *float64   `json:"q"`
}

// DiffSavings are the cycles that follow from the change of misses, head less
// base, per unit of work: negative is saved.
type DiffSavings struct {
	Misses       DiffEstimate `json:"misses"`
	Instructions *float64     `json:"instructions"`
	IPC          []float64    `json:"ipc"` // of code without misses, lowest and highest
	IPCSource    string       `json:"ipc_source"`
	MissCost     *Cost        `json:"miss_cost"`
	Predicted    DiffEstimate `json:"predicted_cycles"`
	Measured     *float64     `json:"measured_cycles"`
	Finding      string       `json:"finding"`
}

// A DiffEstimate is a value with its interval, of which null is infinite.
type DiffEstimate struct {
	Value float64    `json:"value"`
	CI    []*float64 `json:"ci"`
}

// A DiffBranch is a branch of both sides, or of one.
type DiffBranch struct {
	Base      *DiffSide     `json:"base"`
	Head      *DiffSide     `json:"head"`
	Match     string        `json:"match"`   // address, offset, line, code, order; "" if there is none
	Verdict   string        `json:"verdict"` // improved, regressed, unchanged, inconclusive, removed, new or not comparable
	Misses    DiffChange    `json:"misses"`  // per unit of work
	Rate      *DiffChange   `json:"rate"`    // misses per execution
	RateOfAll bool          `json:"rate_of_all"`
	Function  *DiffFunction `json:"function"`
	// ReplacedBy is what the code has instead of a branch that is removed.
	ReplacedBy *Replacement `json:"replaced_by"`
	Note       string       `json:"note"`
}

// A Replacement is an instruction that decides without a branch.
type Replacement struct {
	By      string `json:"by"`      // conditional move, conditional set, carry or vector select; "" if it is not known which instruction it is
	Text    string `json:"text"`    // in GNU syntax
	Address string `json:"address"` // in the file of head
	File    string `json:"file"`
	Line    int64  `json:"line"`
	// BaseInstructions and HeadInstructions are how many such the function has.
	BaseInstructions int `json:"base_instructions"`
	HeadInstructions int `json:"head_instructions"`
}

// A DiffSide is a branch on one side.
type DiffSide struct {
	DSO      string   `json:"dso"`
	BuildID  string   `json:"build_id"`
	Address  string   `json:"address"` // "" if only the line is known
	Function string   `json:"function"`
	Offset   *uint64  `json:"offset"`
	File     string   `json:"file"`
	Line     int64    `json:"line"`
	Inlined  []Frame  `json:"inlined"`
	Kind     string   `json:"kind"`
	Runs     int      `json:"runs"`   // that have it
	Misses   float64  `json:"misses"` // mean of the runs
	Executed *float64 `json:"executed"`
	N        int64    `json:"n"`
	NMisses  int64    `json:"n_misses"`
}

// A DiffFunction are the misses of all branches of a function, per unit.
type DiffFunction struct {
	Name         string  `json:"name"`
	Base         float64 `json:"base"`
	Head         float64 `json:"head"`
	BaseBranches int     `json:"base_branches"`
	HeadBranches int     `json:"head_branches"`
}

// A FunctionDiff are the misses in a function.
type FunctionDiff struct {
	Name        string     `json:"name"` // in head, "" where it was not seen
	BaseName    string     `json:"base_name"`
	DSO         string     `json:"dso"`
	Core        string     `json:"core"` // PMU, "" if there is one
	Misses      DiffChange `json:"misses"`
	BaseSamples int64      `json:"base_samples"`
	HeadSamples int64      `json:"head_samples"`
	Verdict     string     `json:"verdict"`
}

// WriteDiffJSON writes a DiffDocument.
func WriteDiffJSON(w io.Writer, d *diff.Result) error {
	n := &d.Normalization
	out := DiffDocument{
		Schema: DiffSchema, Tier: string(d.Base[0].Tier), Base: newInputs(d.Base), Head: newInputs(d.Head),
		Design: DiffDesign{d.Order}, Different: append([]string{}, d.Different...), Counted: d.Counted, Method: string(d.Method), Margin: d.Margin,
		Normalization: DiffNormalized{Mode: string(n.Mode), Unit: n.Unit, Factor: text.Finite(n.Factor), Executions: text.Finite(n.Executions), Branches: n.Branches},
		Branches:      []DiffBranch{}, Hidden: d.Hidden, Functions: []FunctionDiff{}, HiddenFunctions: d.HiddenFunctions, Warnings: append([]string{}, d.Warnings...),
	}
	if d.Total != nil {
		total := newDiffChange(d, d.Total)
		out.Total = &total
	}
	if s := d.Savings; s != nil {
		out.Savings = &DiffSavings{
			Misses: newDiffEstimate(s.Misses), Instructions: s.Instructions, IPC: s.IPC[:], IPCSource: s.IPCSource,
			MissCost: newCost(s.Cost), Predicted: newDiffEstimate(s.Predicted), Measured: s.Measured, Finding: s.Finding,
		}
	}
	for i := range d.Branches {
		b := &d.Branches[i]
		row := DiffBranch{
			Base: newDiffSide(b.Base), Head: newDiffSide(b.Head), Match: string(b.Match), Verdict: string(b.Misses.Verdict),
			Misses: newDiffChange(d, &b.Misses), RateOfAll: b.RateOfAll, Note: b.Note,
		}
		if b.Rate != nil {
			rate := newDiffChange(d, b.Rate)
			row.Rate = &rate
		}
		if f := b.Function; f != nil {
			row.Function = &DiffFunction{Name: f.Name, Base: f.Base, Head: f.Head, BaseBranches: f.BaseBranches, HeadBranches: f.HeadBranches}
		}
		if r := b.ReplacedBy; r != nil {
			row.ReplacedBy = &Replacement{By: string(r.By), Text: r.Text, File: r.File, Line: r.Line, BaseInstructions: r.Base, HeadInstructions: r.Head}
			if r.Text != "" {
				row.ReplacedBy.Address = fmt.Sprintf("%#x", r.Address)
			}
		}
		out.Branches = append(out.Branches, row)
	}
	for i := range d.Functions {
		f := &d.Functions[i]
		out.Functions = append(out.Functions, FunctionDiff{
			Name: f.Name, BaseName: f.BaseName, DSO: f.DSO, Core: f.PMU, Misses: newDiffChange(d, &f.Misses),
			BaseSamples: f.BaseSamples, HeadSamples: f.HeadSamples, Verdict: string(f.Misses.Verdict),
		})
	}
	return text.WriteJSON(w, out)
}

func newInputs(runs []*branch.Table) (list []Input) {
	for _, t := range runs {
		list = append(list, Input{Path: t.Name, Format: t.Format, Tool: t.Tool, Arch: t.Arch, CPU: t.CPU})
	}
	return list
}

func newDiffChange(d *diff.Result, c *diff.Change) DiffChange {
	out := DiffChange{Base: c.Base, Head: c.Head, Delta: c.Delta(), Ratio: text.Finite(c.Ratio)}
	if !d.Counted {
		out.CI, out.P = []*float64{text.Finite(c.CI.Lo), text.Finite(c.CI.Hi)}, text.Finite(c.P)
		if c.Tested {
			out.Q = text.Finite(c.Adjusted)
		}
	}
	return out
}

func newDiffEstimate(e branch.Estimate) DiffEstimate {
	return DiffEstimate{Value: e.Value, CI: []*float64{text.Finite(e.Lo), text.Finite(e.Hi)}}
}

func newDiffSide(s *diff.SideBranch) *DiffSide {
	if s == nil {
		return nil
	}
	out := &DiffSide{
		DSO: s.DSO, BuildID: s.BuildID, Address: fmt.Sprintf("%#x", s.Address), Function: s.Function, Offset: s.Offset,
		File: s.File, Line: s.Line, Inlined: []Frame{}, Kind: string(s.Kind), Runs: s.Runs,
		Misses: s.Misses, Executed: s.Executed, N: s.N, NMisses: s.NMisses,
	}
	if s.ByLine {
		out.Address = ""
	}
	for _, f := range s.Inlined {
		out.Inlined = append(out.Inlined, Frame{Function: f.Name, File: f.File, Line: f.Line})
	}
	return out
}
