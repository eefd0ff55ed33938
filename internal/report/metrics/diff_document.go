package metrics

import (
	"profdiff/internal/report/story"
	"profdiff/internal/report/text"
	"profdiff/internal/verdict"
)

// DiffSchema is the first field of what diff prints of metrics as JSON.
const DiffSchema = "profdiff.metrics-diff/v1"

// A Diff is what diff prints of metrics as JSON.
type Diff struct {
	Schema string  `json:"schema"`
	Base   []Input `json:"base"`
	Head   []Input `json:"head"`
	// Story is what happened, in one to three sentences.
	Story *story.Story `json:"story"`
	// Margin is the relative change that does not matter, and Tested the number of rows with a
	// verdict, which are one family.
	Margin   float64      `json:"margin"`
	Tested   int          `json:"tested"`
	Declared bool         `json:"declared"` // the user chose the metrics
	Metrics  []DiffMetric `json:"metrics"`
	// Leads is why there are no verdicts and what would decide, "" if there are verdicts.
	Leads    string   `json:"leads"`
	OnlyBase []string `json:"only_base"`
	OnlyHead []string `json:"only_head"`
	Names    string   `json:"names"` // of commands that the sides call differently: what was done, or what to do
	Warnings []string `json:"warnings"`
	Stall    *Stall   `json:"stall"` // null unless a size was given
}

// A DiffMetric is one metric of both sides.
type DiffMetric struct {
	Name       string `json:"name"`
	Unit       string `json:"unit"`      // "" if unknown
	Direction  string `json:"direction"` // lower, higher or unknown
	Why        string `json:"why"`       // what decided the direction
	Each       string `json:"each"`      // what one value is, "" for one event
	RunsBase   int    `json:"runs_base"`
	RunsHead   int    `json:"runs_head"`
	ValuesBase int    `json:"values_base"`
	ValuesHead int    `json:"values_head"`
	Assumed    string `json:"assumed"` // what the intervals assume beside runs that are independent
	Lacks      string `json:"lacks"`   // why nothing was compared
	Where      string `json:"where"`   // where in the distribution the change sits
	Rows       []Row  `json:"rows"`
	Tails      []Tail `json:"tails"`
	single     bool   // a side has one run
	quantity   string // the part of Name that is no command or benchmark
}

// A Row is one statistic. Shares over a deadline are parts of 1, other values in the unit of the
// metric. What is not known is null.
type Row struct {
	Statistic string        `json:"statistic"` // mean, p50, p90, p95, p99, over 16ms
	Base      text.Number   `json:"base"`
	BaseCI    text.Interval `json:"base_ci"`
	Head      text.Number   `json:"head"`
	HeadCI    text.Interval `json:"head_ci"`
	Ratio     text.Number   `json:"ratio"`
	CI        text.Interval `json:"ci"`
	Verdict   string        `json:"verdict"` // improved, regressed, unchanged, inconclusive; fell or rose where the direction is not known
	// Adjusted is the p-value in the family: q of Benjamini and Hochberg, of Holm if declared.
	P          text.Number `json:"p"`
	Adjusted   text.Number `json:"adjusted"`
	Method     string      `json:"method"`
	Lead       string      `json:"lead"`        // less or more, where one run a side has no verdict; "" if within noise
	Distance   text.Number `json:"distance"`    // of a lead from the noise within runs, in standard deviations
	RunsNeeded int         `json:"runs_needed"` // a side, that would probably decide; 0 if unknown
	Smallest   text.Number `json:"smallest_detectable"`
	// Needs is the number of values of a side that the statistic takes, 0 if they are there.
	Needs int `json:"needs"`
	Has   int `json:"has"` // values of the side with fewer

	share   bool // parts of 1
	measure verdict.Measure
	said    verdict.Verdict // less is improved where it is not known what is better
	mark    string          // the verdict in a table
}

// A Tail is where the worst values of a side are.
type Tail struct {
	Side   string      `json:"side"` // base or head
	Part   float64     `json:"part"` // 0.95 of the worst twentieth
	Bound  text.Number `json:"bound"`
	Values int         `json:"values"`
	Runs   int         `json:"runs"` // that have any of them
	Of     int         `json:"of"`
	Worst  []TailRun   `json:"worst"` // the runs with most of them
}

// A TailRun is a run with some of the worst values.
type TailRun struct {
	Run       string      `json:"run"`
	Values    int         `json:"values"`
	Worst     text.Number `json:"worst"`
	Recording string      `json:"recording"` // "" if there is none
}

// A Stall is what a lower throughput costs for each transfer. Rates are in bits a second, times in
// nanoseconds.
type Stall struct {
	Metric   string        `json:"metric"`
	Bytes    float64       `json:"bytes"` // of a transfer
	Before   text.Number   `json:"before"`
	BeforeCI text.Interval `json:"before_ci"`
	After    text.Number   `json:"after"`
	AfterCI  text.Interval `json:"after_ci"`
	// TookBefore and TookAfter are the times of a transfer.
	TookBefore text.Number   `json:"took_before"`
	TookAfter  text.Number   `json:"took_after"`
	Slow       string        `json:"slow"` // before or after: the side that waits
	Cost       text.Number   `json:"cost"`
	CostCI     text.Interval `json:"cost_ci"`
	Share      float64       `json:"share"` // of the slower time
	Most       text.Number   `json:"most"`
	Unknown    string        `json:"unknown"` // why there is no interval
	RunsBefore int           `json:"runs_before"`
	RunsAfter  int           `json:"runs_after"`

	size string
}
