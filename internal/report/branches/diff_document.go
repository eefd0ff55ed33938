package branches

import (
	"fmt"
	"io"
	"strings"

	"profdiff/internal/branch/diff"
	"profdiff/internal/report/story"
	"profdiff/internal/report/text"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// DiffSchema is the first field of what branches prints of two sides as JSON.
const DiffSchema = "profdiff.branches_diff/v1"

// A DiffDocument is what branches says of two sides, and as JSON what it prints. null is
// unknown, or infinite; intervals are 95 %, or null for what was counted. What has no name in
// JSON is for other outputs.
type DiffDocument struct {
	Schema        string         `json:"schema"`
	Story         *story.Story   `json:"story"`
	Tier          Tier           `json:"tier"` // S, A, B, C or D
	Base          []Input        `json:"base"` // runs
	Head          []Input        `json:"head"`
	Design        DiffDesign     `json:"design"`
	Different     []string       `json:"different"` // why nothing can be compared
	Normalization DiffNormalized `json:"normalization"`
	Counted       bool           `json:"counted"` // nothing was sampled: there are no tests
	Method        stats.Method   `json:"method"`  // of the tests
	Margin        float64        `json:"margin"`  // of unchanged
	Total         *DiffChange    `json:"total"`   // null if cores of several kinds had them
	Savings       *DiffSavings   `json:"savings"`
	Branches      []DiffBranch   `json:"branches"` // by how much their misses changed
	Hidden        int            `json:"hidden"`   // branches with too few misses to be listed
	// Functions are what samples say that tell the function and not the branch.
	Functions       []FunctionDiff `json:"functions"`
	HiddenFunctions int            `json:"hidden_functions"`
	Warnings        []string       `json:"warnings"`

	// Runs are the runs of base and of head, without their branches.
	Runs [2][]*Document `json:"-"`
	// Code is that of the functions whose branches changed most, a part.
	Code []Code `json:"-"`
}

// Verdicts counts the verdicts on branches, and on functions if these are wanted too; "" if
// there are none.
func (d *DiffDocument) Verdicts(functions bool) string {
	counts := make(map[verdict.Verdict]int)
	for i := range d.Branches {
		counts[d.Branches[i].Verdict]++
	}
	if functions {
		for i := range d.Functions {
			counts[d.Functions[i].Verdict]++
		}
	}
	var list []string
	for _, v := range verdict.TwoSided {
		if n := counts[v]; n > 0 {
			list = append(list, fmt.Sprintf("%d %s", n, v.Word(verdict.Amount)))
		}
	}
	return strings.Join(list, ", ")
}

// DiffDesign says how the comparison was made.
type DiffDesign struct {
	verdict.Turns
}

// DiffNormalized says what misses are per.
type DiffNormalized struct {
	Mode       Mode        `json:"mode"` // work, instructions, reference, entries or none
	Unit       string      `json:"unit"`
	Factor     text.Number `json:"factor"`     // the work of head by that of base
	Executions text.Number `json:"executions"` // of the branches of both sides, head by base, per unit, in the median
	Branches   int         `json:"branches"`   // so many
}

// A Mode says what misses are divided by.
type Mode = diff.Normalization

// The modes.
const (
	PerWork        = diff.PerWork
	PerInstruction = diff.PerInstruction
	PerReference   = diff.PerReference
	PerEntry       = diff.PerEntry
)

// A DiffChange says how one quantity changed.
type DiffChange struct {
	Base  float64       `json:"base"`
	Head  float64       `json:"head"`
	Delta float64       `json:"delta"`
	Ratio text.Number   `json:"ratio"` // head by base
	CI    []text.Number `json:"ci"`    // of the ratio
	P     text.Number   `json:"p"`
	Q     text.Number   `json:"q"`

	// Finding is what the test found, also of what was counted.
	Finding verdict.Finding `json:"-"`
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
	Value float64       `json:"value"`
	CI    []text.Number `json:"ci"`
}

// A DiffBranch is a branch of both sides, or of one.
type DiffBranch struct {
	Base      *DiffSide     `json:"base"`
	Head      *DiffSide     `json:"head"`
	Match     Match         `json:"match"`   // address, offset, line, code, order; "" if there is none
	Verdict   Verdict       `json:"verdict"` // improved, regressed, unchanged, inconclusive, removed, new or not comparable
	Misses    DiffChange    `json:"misses"`  // per unit of work
	Rate      *DiffChange   `json:"rate"`    // misses per execution
	RateOfAll bool          `json:"rate_of_all"`
	Function  *DiffFunction `json:"function"`
	// ReplacedBy is what the code has instead of a branch that is removed.
	ReplacedBy *Replacement `json:"replaced_by"`
	Note       string       `json:"note"`

	// Code is the code of the document that the branch is in, -1 if it is in none.
	Code int `json:"-"`
}

// Either is the branch on the side of base if that has it, else of head.
func (b *DiffBranch) Either() *DiffSide {
	if b.Base != nil {
		return b.Base
	}
	return b.Head
}

// A Match says by what a branch of one side was found on the other, a Verdict what came of it.
// A DiffFunction has the misses of all branches of a function, per unit.
type (
	DiffFunction = diff.FunctionChange
	Match        = diff.MatchKind
	Verdict      = verdict.Verdict
)

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

	// Now says what the branch is now.
	Now string `json:"-"`
}

// A DiffSide is a branch on one side.
type DiffSide struct {
	Place
	Runs     int      `json:"runs"`   // that have it
	Misses   float64  `json:"misses"` // mean of the runs
	Executed *float64 `json:"executed"`
	N        int64    `json:"n"`
	NMisses  int64    `json:"n_misses"`

	// First is the branch in the first run that has it.
	First *Branch `json:"-"`
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
	Verdict     Verdict    `json:"verdict"`
}

// WriteDiffJSON writes a document as JSON: see branches_diff.schema.json.
func WriteDiffJSON(w io.Writer, d *DiffDocument) error { return text.WriteJSON(w, d) }
