// Package budget checks a comparison against a performance budget.
//
// A budget says what a function, a file, a category or everything may cost: relative to
// the base side, or absolutely. The answer has three ways. A budget fails only if it is
// proven that its limit is exceeded, passes only if that is excluded, and else is
// inconclusive, with the runs that would probably settle it. All budgets of a file are one
// family: the chance that any fails wrongly is alpha (Holm, 1979). A pass is a claim of its
// own at that level.
//
// A file may plan two looks: what the first leaves open is decided by a second one at twice
// the runs. Base may also be runs that were stored, which can warn only. Runs whose recording
// shows that their costs are distorted prove nothing.
//
// The file is YAML in the form of [File]; budget.schema.json has that form for editors.
//
//  1. [Parse] reads the file and says what is wrong in it, with the place.
//  2. [File.Check] compares both sides by package compare and finds the functions, files and
//     categories that each budget means.
//  3. Each limit becomes a claim: relative or absolute, of a cost, a rate, a quantile, a mean or a share of
//     measured values, mispredictions or predicted cycles.
//  4. Package verdict decides all claims of the file together.
//  5. The worst claim decides a budget, and the worst budget decides the build. Where cost
//     only moved to other functions, a fail becomes a warning unless the file is strict.
package budget

import (
	"profdiff/internal/stats"
	"profdiff/internal/yaml"
)

// A File is a budget file.
type File struct {
	Version  int       `json:"version" jsonschema:"version of this form: 1"`
	Defaults Defaults  `json:"defaults,omitzero" jsonschema:"what holds for all budgets"`
	Budgets  []Budget  `json:"budgets" jsonschema:"what may cost how much"`
	Discover *Discover `json:"discover,omitempty" jsonschema:"report functions that cost more and have no budget; never fails"`
	Fleet    *Fleet    `json:"fleet,omitempty" jsonschema:"the budgets are of two releases on many devices, of a store of profdiff fleet"`
	Waivers  []Waiver  `json:"waivers,omitempty" jsonschema:"budgets that may be exceeded for a while"`

	name     string
	at       map[string]yaml.Position
	look     stats.Look
	declared *Declared
	level    float64 // of a look at runs that are still recorded, 0 if there is none
}

// Defaults hold for all budgets of a file.
type Defaults struct {
	Event          string     `json:"event,omitempty" jsonschema:"event that is limited, such as cpu-cycles; default: the first of the recordings"`
	Normalize      Normalize  `json:"normalize,omitzero" jsonschema:"what costs are divided by: work:COUNTER, reference, instructions, total, none; default: auto"`
	Reference      *Reference `json:"reference,omitempty" jsonschema:"the functions that normalize: reference divides by"`
	Looks          int        `json:"looks,omitempty" jsonschema:"1 or 2: how often runs are looked at; at the second look, which is for what the first left open, there are twice as many, and both are at levels by O'Brien and Fleming; default 1"`
	Test           TestName   `json:"test,omitempty" jsonschema:"auto, rank or welch; auto goes by the number of runs and compares pairs of them where their order shows pairs, rank and welch compare two groups"`
	Alpha          *Fraction  `json:"alpha,omitempty" jsonschema:"chance of any wrong fail, over all budgets; default 0.05"`
	Require        Require    `json:"require,omitzero" jsonschema:"what recordings must be like for a budget to fail"`
	OnInconclusive OnUnproven `json:"on_inconclusive,omitempty" jsonschema:"outcome if a limit is neither proven to hold nor to be exceeded: pass, warn or fail; default warn"`
	OnMissing      OnMissing  `json:"on_missing,omitempty" jsonschema:"outcome if a function, event or base is absent: fail or warn; default fail"`
	MinEffect      *Share     `json:"min_effect,omitempty" jsonschema:"part of the normalized total; smaller changes never fail"`
	Strict         bool       `json:"strict,omitempty" jsonschema:"fail also if cost only moved within a file or below a caller"`
	Exclude        Exclude    `json:"exclude,omitzero" jsonschema:"samples that end here count in no budget"`
}

// A Reference is what cost is relative to.
type Reference struct {
	MedianOfRatios *MedianOfRatios `json:"median_of_ratios,omitempty" jsonschema:"the median of the ratios of all functions"`
	Functions      []string        `json:"functions,omitempty" jsonschema:"globs of functions"`
	DSO            []string        `json:"dso,omitempty" jsonschema:"globs of files"`
}

// MedianOfRatios says what functions have a ratio.
type MedianOfRatios struct {
	MinSamples int `json:"min_samples,omitempty" jsonschema:"samples that a function needs on both sides; default 25"`
}

// Require says what recordings must be like for a budget to fail.
type Require struct {
	Runs    int       `json:"runs,omitempty" jsonschema:"runs a side from which a budget can fail; default 8, at least 4"`
	Samples int       `json:"samples,omitempty" jsonschema:"samples a side from which a limit relative to base can fail; default 30"`
	Order   OrderName `json:"order,omitempty" jsonschema:"interleaved or any; default interleaved"`
	Same    *[]Fact   `json:"same,omitempty" jsonschema:"what may not differ between the sides"`
	// Throttling is of sampling by the kernel, and of the CPUs by heat.
	Throttling ThrottlingName `json:"throttling,omitempty" jsonschema:"none: no verdict from runs whose sampling or CPUs were throttled; any: warn of it; default none"`
}

// Exclude says what samples count in no budget.
type Exclude struct {
	DSO       []string `json:"dso,omitempty" jsonschema:"globs of files in which samples end"`
	Functions []string `json:"functions,omitempty" jsonschema:"globs of functions in which samples end"`
}

// A Budget limits one cost.
type Budget struct {
	ID     string   `json:"id" jsonschema:"stable name; waivers, fingerprints and test names refer to it"`
	Match  *Match   `json:"match,omitempty" jsonschema:"what is counted; default: everything"`
	Event  string   `json:"event,omitempty" jsonschema:"event instead of the default, such as off-cpu"`
	Metric Metric   `json:"metric,omitempty" jsonschema:"self: samples that end in the functions; total: also in what they call; default self"`
	Limit  *Limit   `json:"limit,omitempty" jsonschema:"limits relative to base"`
	Max    *Max     `json:"max,omitempty" jsonschema:"absolute limits, which need no base"`
	Rate   RatePair `json:"rate,omitzero" jsonschema:"limit one event per another: branch-misses / branches"`
	// Samples names a stream of measured values, of which Quantile, Mean or the share Over a
	// deadline is limited. Where higher values are better a limit is how far they may fall.
	Samples    string    `json:"samples,omitempty" jsonschema:"limit a quantile, the mean or a share of these measured values: the name of a metric, or that of --head-values"`
	Quantile   *Fraction `json:"quantile,omitempty" jsonschema:"the quantile of samples, between 0 and 1"`
	Mean       bool      `json:"mean,omitempty" jsonschema:"limit the mean of samples"`
	Over       *Amount   `json:"over,omitempty" jsonschema:"limit the share of samples that are more than this deadline, such as 16.7ms"`
	Better     Better    `json:"better,omitempty" jsonschema:"lower or higher: which values of samples are better; default: what their unit and name tell"`
	Min        *Min      `json:"min,omitempty" jsonschema:"the least that samples may be, which needs no base"`
	BranchCost BranchOf  `json:"branch_cost,omitempty" jsonschema:"limit the mispredicted branches of the functions: misses, or the cycles they cost"`
	MCA        *MCA      `json:"mca,omitempty" jsonschema:"limit predicted cycles"`
	Each       bool      `json:"each,omitempty" jsonschema:"limit each function by itself and not their sum"`
	Strict     bool      `json:"strict,omitempty" jsonschema:"fail also if cost only moved within a file or below a caller"`
	Owner      string    `json:"owner,omitempty" jsonschema:"who is asked"`

	Position yaml.Position `json:"-"`
}

// A Match chooses samples. All that is given must hold.
type Match struct {
	Function string   `json:"function,omitempty" jsonschema:"glob of the function's name, in which * is any text, of a static function also with its file, parse@lexer.c; or with regexp a regular expression"`
	Regexp   bool     `json:"regexp,omitempty" jsonschema:"function, aliases and under are regular expressions"`
	Aliases  []string `json:"aliases,omitempty" jsonschema:"further names of the function, as former ones"`
	DSO      string   `json:"dso,omitempty" jsonschema:"glob of the file that has the function: of its base name, or of the path if there is a slash in it"`
	File     string   `json:"file,omitempty" jsonschema:"glob of the source file, from any directory on; ** is any directories"`
	Under    string   `json:"under,omitempty" jsonschema:"a function that has called it, directly or not"`
	Thread   string   `json:"thread,omitempty" jsonschema:"glob of the name of the thread"`
	Process  string   `json:"process,omitempty" jsonschema:"glob of the name of the process"`
	Category string   `json:"category,omitempty" jsonschema:"category of the stack, see show --by category"`
}

// A Limit is relative to base.
type Limit struct {
	Warn *Relative `json:"warn,omitempty" jsonschema:"more is a warning; of samples where higher is better, as -2%, less is"`
	Fail *Relative `json:"fail,omitempty" jsonschema:"more is a failure; of samples where higher is better, as -5%, less is"`
}

// A Max is absolute.
type Max struct {
	Warn *Amount `json:"warn,omitempty" jsonschema:"more is a warning"`
	Fail *Amount `json:"fail,omitempty" jsonschema:"more is a failure"`
	Of   Of      `json:"of,omitempty" jsonschema:"total: share of the event; work: cost per unit of work; run: cost of a run"`
}

// A Min is the least that measured values may be.
type Min struct {
	Warn *Amount `json:"warn,omitempty" jsonschema:"less is a warning"`
	Fail *Amount `json:"fail,omitempty" jsonschema:"less is a failure, such as 190Mbit/s"`
}

// MCA limits what a model of the CPU predicts.
type MCA struct {
	CyclesPerIteration *Max   `json:"cycles_per_iteration,omitempty" jsonschema:"cycles of one iteration of the hottest loop"`
	Target             string `json:"target,omitempty" jsonschema:"CPU as LLVM calls it"`
}

// Discover reports functions that cost more and have no budget.
type Discover struct {
	Q        *Fraction `json:"q,omitempty" jsonschema:"part of the reported functions that may be false; default 0.10"`
	MinShare *Share    `json:"min_share,omitempty" jsonschema:"part of the total from which functions are tested; default 0.2%"`
	Level    Level     `json:"level,omitempty" jsonschema:"note or off; default note"`
}

// A Waiver raises the limit of one budget for a while.
type Waiver struct {
	Budget  string  `json:"budget" jsonschema:"id of the budget"`
	Ceiling Ceiling `json:"ceiling" jsonschema:"limit instead: relative as +12%, or in the unit of max"`
	Until   Date    `json:"until" jsonschema:"last day, UTC; at most 180 days from now"`
	Issue   string  `json:"issue,omitempty" jsonschema:"where it is discussed"`
	Reason  string  `json:"reason" jsonschema:"why"`
	By      string  `json:"by,omitempty" jsonschema:"who allowed it"`

	Position yaml.Position `json:"-"`
}
