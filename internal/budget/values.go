package budget

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"profdiff/internal/metric"
	"profdiff/internal/verdict"
)

// A scalar is a value that is written as one word of YAML. parse gets the word as the file
// has it, without quotes.
type scalar interface{ parse(text string) error }

// A Relative is a change, 0.05 for +5%.
type Relative float64

// maxRelative is the most that a limit may allow: more is no limit.
const maxRelative = 1000

var signless = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?|\.[0-9]+)( *%)?$`)

func (v *Relative) parse(text string) error {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	number = strings.TrimSpace(number)
	f, err := strconv.ParseFloat(number, 64)
	switch {
	case err != nil || math.IsNaN(f) || math.IsInf(f, 0):
		return fmt.Errorf("want a finite percentage > -100%%, not %s", clip(text))
	case signless.MatchString(text):
		// No silent guess whether 0.05 and 5 are parts or percent.
		if !percent && f < 1 {
			f *= 100
		}
		return &signlessError{text: clip(text), percent: strconv.FormatFloat(f, 'g', 6, 64)}
	case !percent:
		return fmt.Errorf("%s is no percentage: write %s%%", clip(text), clip(text))
	case f <= -100 || f > 100*maxRelative:
		return fmt.Errorf("want a finite percentage > -100%% and up to +%d%%, not %s", 100*maxRelative, clip(text))
	}
	*v = Relative(f / 100)
	return nil
}

// A signlessError is of a change without a sign. What it is of says which sign was meant.
type signlessError struct {
	text, percent string
	// of is the budget, nil if the change is of none.
	of *Budget
}

func (e *signlessError) Error() string {
	what := fmt.Sprintf("%s has no sign: write +%s%%", e.text, e.percent)
	switch {
	case e.of == nil || e.of.Samples == "" || e.of.Better == lower || e.of.Over != nil:
		return what
	case e.of.Better == higher:
		return fmt.Sprintf("%s has no sign: write -%s%%, as better is higher", e.text, e.percent)
	}
	return fmt.Sprintf("%s if lower values of %s are better, -%s%% if higher ones are", what, clip(e.of.Samples), e.percent)
}

func (v Relative) String() string { return fmt.Sprintf("%+.6g%%", 100*float64(v)) }

// A Share is a part of a whole, 0.002 for 0.2%.
type Share float64

func (v *Share) parse(text string) error {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	f, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !percent || !(f >= 0 && f <= 100) || strings.HasPrefix(number, "+") {
		return fmt.Errorf("want a percentage from 0%% to 100%%, not %s", clip(text))
	}
	*v = Share(f / 100)
	return nil
}

func (v Share) String() string { return fmt.Sprintf("%.6g%%", 100*float64(v)) }

// A Fraction is between 0 and 1.
type Fraction float64

func (v *Fraction) parse(text string) error {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f > 0 && f < 1) {
		return fmt.Errorf("want a number between 0 and 1, not %s", clip(text))
	}
	*v = Fraction(f)
	return nil
}

// An Amount is an absolute limit.
type Amount struct {
	Value float64 // in Unit
	Unit  Unit
	text  string
}

// A Unit is the unit of an Amount.
type Unit string

// The units.
const (
	Plain       Unit = ""            // a count, or a rate
	Percent     Unit = "percent"     // Value is a part, 0.08 for 8%
	Nanoseconds Unit = "nanoseconds" // written as ns, us, µs, ms, s
	Samples     Unit = "samples"
)

// ofMetrics are units that only measured values have.
var ofMetrics = []metric.Unit{metric.Bytes, metric.BytesPerSecond, metric.BitsPerSecond, metric.PerSecond, metric.Joules, metric.Watts, metric.Celsius}

// measured reports whether only measured values have the unit.
func (u Unit) measured() bool { return slices.Contains(ofMetrics, metric.Unit(u)) }

var amountForm = regexp.MustCompile(`^([0-9][0-9_,]*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?) *([a-zA-Zµ%/]*)$`)

var amountUnits = map[string]struct {
	unit  Unit
	scale float64
}{
	"": {Plain, 1}, "k": {Plain, 1e3}, "K": {Plain, 1e3}, "M": {Plain, 1e6}, "G": {Plain, 1e9}, "T": {Plain, 1e12},
	"%":  {Percent, 0.01},
	"ns": {Nanoseconds, 1}, "us": {Nanoseconds, 1e3}, "µs": {Nanoseconds, 1e3}, "ms": {Nanoseconds, 1e6}, "s": {Nanoseconds, 1e9},
	"samples": {Samples, 1},
}

func (v *Amount) parse(text string) error {
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, "+") || strings.HasPrefix(trimmed, "-") {
		return fmt.Errorf("%s is relative, max and min are absolute: use limit, or leave the sign out", clip(text))
	}
	m := amountForm.FindStringSubmatch(trimmed)
	if m == nil {
		return fmt.Errorf("want a finite amount such as 8%%, 1.2ms, 14.5, 3G or 0 samples, not %s", clip(text))
	}
	unit, ok := amountUnits[m[2]]
	if !ok {
		of, scale := metric.ParseUnit(m[2])
		unit.unit, unit.scale, ok = Unit(of), scale, Unit(of).measured()
	}
	f, err := strconv.ParseFloat(strings.NewReplacer("_", "", ",", "").Replace(m[1]), 64)
	f *= unit.scale
	switch {
	case !ok:
		return fmt.Errorf("unknown unit %q of %s: known are %%, ns, us, ms, s, k, M, G, T and samples, and of measured values B, MB, MiB/s, Mbit/s and the like", m[2], clip(text))
	case err != nil || f > 1e24:
		return fmt.Errorf("want a finite amount, not %s", clip(text))
	case unit.unit == Samples && f != 0:
		return fmt.Errorf("%s: the only limit in samples is 0 samples, since recordings differ in length: use a share or a cost", clip(text))
	case unit.unit != Samples && f == 0:
		return fmt.Errorf("%s is never proven: write 0 samples", clip(text))
	case unit.unit == Percent && f > 10:
		return fmt.Errorf("%s is no limit", clip(text))
	}
	*v = Amount{f, unit.unit, trimmed}
	return nil
}

func (v Amount) String() string { return v.text }

// A Ceiling is a Relative or an Amount.
type Ceiling struct {
	Relative *Relative
	Amount   *Amount
	text     string
}

func (v *Ceiling) parse(text string) error {
	v.text = text
	if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "+") || strings.HasPrefix(trimmed, "-") {
		v.Relative = new(Relative)
		return v.Relative.parse(text)
	}
	v.Amount = new(Amount)
	return v.Amount.parse(text)
}

func (v Ceiling) String() string { return v.text }

// A Date is a day.
type Date struct{ time.Time }

// ParseDate reads YYYY-MM-DD.
func ParseDate(text string) (Date, error) {
	var d Date
	err := d.parse(text)
	return d, err
}

func (v *Date) parse(text string) error {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return fmt.Errorf("want a date as 2006-01-02, not %s", clip(text))
	}
	v.Time = t
	return nil
}

func (v Date) String() string { return v.Format(time.DateOnly) }

// Normalize says what costs are divided by.
type Normalize struct {
	Mode string // work, reference, instructions, total, none, auto; "" is auto
	Work string // the counter of work
}

func (v *Normalize) parse(text string) error {
	mode, counter, work := strings.Cut(text, ":")
	switch {
	case mode == "work" && counter != "":
	case work || !slices.Contains([]string{"reference", "instructions", "total", "none", "auto"}, mode):
		return fmt.Errorf("want work:COUNTER, reference, instructions, total, none or auto, not %s", clip(text))
	}
	*v = Normalize{mode, counter}
	return nil
}

// ParseNormalize reads the words of defaults.normalize.
func ParseNormalize(text string) (Normalize, error) {
	var n Normalize
	err := n.parse(text)
	return n, err
}

// A RatePair is one event per another.
type RatePair struct{ Of, Per string }

func (v *RatePair) parse(text string) error {
	// Names of events of PMU drivers have slashes, but not between spaces.
	of, per, ok := strings.Cut(text, " / ")
	of, per = strings.TrimSpace(of), strings.TrimSpace(per)
	if !ok || of == "" || per == "" || of == per {
		return fmt.Errorf("want two events as branch-misses / branches, with spaces, not %s", clip(text))
	}
	*v = RatePair{of, per}
	return nil
}

func (v RatePair) String() string {
	if v.Of == "" {
		return ""
	}
	return v.Of + " / " + v.Per
}

// words are values that are one of a few.
type words interface {
	~string
	words() []string
}

func parseWord[T words](v *T, text string) error {
	if list := T("").words(); !slices.Contains(list, text) {
		return fmt.Errorf("want %s or %s, not %s", strings.Join(list[:len(list)-1], ", "), list[len(list)-1], clip(text))
	}
	*v = T(text)
	return nil
}

// TestName is auto, rank or welch.
type TestName string

// OnUnproven is what follows from inconclusive budgets: pass, warn or fail.
type OnUnproven string

// OnMissing is what follows from budgets that match nothing: fail or warn.
type OnMissing string

// OrderName is interleaved or any.
type OrderName string

// ThrottlingName is none or any.
type ThrottlingName string

// A Fact of recordings that may not differ between the sides.
type Fact string

// Metric is self or total.
type Metric string

// Better is lower or higher.
type Better string

// BranchOf is misses or cycles.
type BranchOf string

// Of is total, work or run.
type Of string

// Level is note or off.
type Level string

func (TestName) words() []string { return []string{"auto", "rank", "welch"} }
func (OnUnproven) words() []string {
	return []string{string(verdict.Pass), string(verdict.Warn), string(verdict.Fail)}
}
func (OnMissing) words() []string { return []string{string(verdict.Fail), string(verdict.Warn)} }
func (OrderName) words() []string { return []string{"interleaved", "any"} }
func (ThrottlingName) words() []string {
	return []string{"none", "any"}
}
func (Metric) words() []string   { return []string{"self", "total"} }
func (Better) words() []string   { return []string{metric.Lower.String(), metric.Higher.String()} }
func (BranchOf) words() []string { return []string{"misses", "cycles"} }
func (Of) words() []string       { return []string{"total", "work", "run"} }
func (Level) words() []string    { return []string{"note", "off"} }
func (Fact) words() []string {
	return []string{"arch", "cpu_model", "cpus", "device", "build", "kernel", "governor", "recorder", "event", "period_mode", "symbols"}
}

func (v *TestName) parse(text string) error       { return parseWord(v, text) }
func (v *OnUnproven) parse(text string) error     { return parseWord(v, text) }
func (v *OnMissing) parse(text string) error      { return parseWord(v, text) }
func (v *OrderName) parse(text string) error      { return parseWord(v, text) }
func (v *ThrottlingName) parse(text string) error { return parseWord(v, text) }
func (v *Metric) parse(text string) error         { return parseWord(v, text) }
func (v *Better) parse(text string) error         { return parseWord(v, text) }
func (v *BranchOf) parse(text string) error       { return parseWord(v, text) }
func (v *Of) parse(text string) error             { return parseWord(v, text) }
func (v *Level) parse(text string) error          { return parseWord(v, text) }
func (v *Fact) parse(text string) error           { return parseWord(v, text) }

// clip shortens text of the file for a message.
func clip(s string) string {
	if r := []rune(s); len(r) > 60 {
		s = string(r[:60]) + "…"
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 }) {
		return strconv.Quote(s)
	}
	return s
}
