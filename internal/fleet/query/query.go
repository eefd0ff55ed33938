// Package query compares two releases of a fleet: what one device spends on average in a function, by
// release. It answers from the rows of package fleet alone.
//
//  1. The ledger says which profiles there are of both releases, and what each is divided by: its
//     weight, its work or its duration ([NewPopulation]). Devices are the clusters: samples
//     and profiles of one device are not independent. Models of devices are the strata. A model that has
//     fewer than two devices in a release is left out, and counted.
//  2. Facts are summed by device, as exact integers ([Population.Functions]). Of these follow Σx, Σx² and
//     Σxw by function, release and model, over the devices that have the function: others add 0.
//  3. The share of a function in a model is R = Σx/Σw, with the variance
//     n/(n-1)·(Σx² - 2RΣxw + R²Σw²)/(Σw)² (Cochran, 1977, ratio estimate).
//     Where few devices have the function, the side that happens to have less of it shows less noise, too, and chance
//     looks like proof: most where one release has fewer devices. So there is at least the noise that there would be if devices
//     of both sides were equally noisy for what they cost: with φ = n/(n-2)·(what is in brackets above, of both sides)/Σw
//     over the devices of both, a side has the variance φ/Σw. These are used if they are more than those of the sides together,
//     with the same degrees of freedom: that the side with less shows nothing makes nothing better known.
//  4. Models are weighted by what they cost in both releases together, with the same weights on both sides: a
//     fleet that changes its mix of devices is no change of the program ([Row]).
//  5. Package stats makes an estimate of the ratio of both sides, with degrees of freedom by Satterthwaite
//     (1946), and package verdict decides: what nobody named is one family (Benjamini and Hochberg, 1995).
//
// Steps 2 to 4 are SQL, too ([Query.SQL]), which DuckDB, Spark, Trino, ClickHouse and DataFusion run as it is. Their rows
// ([Population.ReadRows]) take the place of those that are computed here: the last step is always the same.
package query

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"profdiff/internal/fleet"
	"profdiff/internal/stats"
)

// Per says what costs are divided by.
type Per string

// The divisors.
const (
	Share  Per = "share"  // the weight of the profile: a part of everything
	Work   Per = "work"   // its units of work: frames, sessions, requests
	Second Per = "second" // its duration
)

// ParsePer checks a name of a divisor.
func ParsePer(name string) (Per, error) {
	if all := []Per{Share, Work, Second}; !slices.Contains(all, Per(name)) {
		return "", fmt.Errorf("%q is nothing to divide by: share, work or second", name)
	}
	return Per(name), nil
}

// By says of what there is a row.
type By string

// Of what there are rows.
const (
	Function By = "function"
	Model    By = "model" // a function on a model of devices
	Category By = "category"
)

// Value says what of a function is counted.
type Value string

// The values.
const (
	Self  Value = "self"
	Total Value = "total" // with what it calls, recursion counted once
)

// Scale is what means are multiplied with to be in the unit of the sample type: durations are in nanoseconds.
func (q *Question) Scale() float64 {
	if q.Per == Second {
		return 1e9
	}
	return 1
}

// A Question is what is compared.
type Question struct {
	Before, After string // releases
	SampleType    string // as "cpu/nanoseconds"
	Per           Per
	// RolledUp has the units of roll-ups in place of devices, at most 64 a model and release, however many devices and
	// profiles there are. Several devices that fall into one unit count as one: intervals get a little wider.
	RolledUp bool
}

// divisor is what a profile is divided by; 0 if it does not tell.
func (q *Question) divisor(p *fleet.Profile) int64 {
	switch q.Per {
	case Work:
		if p.WorkUnits == nil {
			return 0
		}
		return *p.WorkUnits
	case Second:
		return p.DurationNS
	}
	return p.Weight
}

// A Mean is what one side spends, over what it is divided by, weighted by models.
type Mean struct {
	Mean     float64
	Variance float64
	Freedom  float64 // Σ of squares of the parts of Variance over their degrees of freedom
	Devices  int64   // that have any of it
	// Common is what Variance would be if both sides were equally noisy.
	Common float64
}

// A Row is one function, or one function on one model, or one category, on both sides.
type Row struct {
	By            By
	Value         Value
	FunctionID    int64
	Model         string // of By Model
	Category      string // of By Category
	Before, After Mean
}

// noise is what tests go by: both sides with their variance and the freedom of it, or if these are more with those that they would
// have if they were equally noisy.
func (r *Row) noise() (before, after Mean) {
	before, after = r.Before, r.After
	if more := (before.Common + after.Common) / (before.Variance + after.Variance); more > 1 {
		before.Variance, before.Freedom = before.Common, more*more*before.Freedom
		after.Variance, after.Freedom = after.Common, more*more*after.Freedom
	}
	return before, after
}

// Z is by how many standard errors the sides differ.
func (r *Row) Z() float64 {
	before, after := r.noise()
	return math.Abs(after.Mean-before.Mean) / math.Sqrt(before.Variance+after.Variance)
}

// DF are the degrees of freedom of Z.
func (r *Row) DF() float64 {
	v := r.Before.Variance + r.After.Variance
	return v * v / (r.Before.Freedom + r.After.Freedom)
}

// LeastDevices is the number of devices of both releases together that have a function from which
// it is tested.
const LeastDevices = 10

// tells reports whether a row can be tested: engines leave out the others.
func (r *Row) tells() bool {
	return r.Before.Variance+r.After.Variance > 0 && r.Before.Devices+r.After.Devices >= LeastDevices
}

// untested says why a row cannot be tested.
func (p *Population) untested(r *Row) string {
	unit := "device"
	if p.RolledUp {
		unit = "unit"
	}
	switch n := r.Before.Devices + r.After.Devices; {
	case n == 0:
		return "nothing was spent in it"
	case n == 1:
		return fmt.Sprintf("1 %s has it, of at least %d", unit, LeastDevices)
	case n < LeastDevices:
		return fmt.Sprintf("%d %ss have it, of at least %d", n, unit, LeastDevices)
	}
	return unit + "s do not differ in it, and show no noise"
}

// Estimate is what the row says of the ratio of both sides.
func (p *Population) Estimate(t *stats.Tests, r *Row) stats.Estimate {
	devices := p.devices()
	if r.By == Model {
		i := slices.IndexFunc(p.Models, func(m Stratum) bool { return m.Name == r.Model })
		if i < 0 {
			return stats.Estimate{Ratio: math.NaN(), CI: stats.Interval{Lo: 0, Hi: math.Inf(1)}, P: 1, Refused: "no such model"}
		}
		devices = p.Models[i].Devices
	}
	side := func(i int, m *Mean) stats.Clustered {
		return stats.Clustered{Mean: m.Mean, Variance: m.Variance, Freedom: m.Freedom, Clusters: int(devices[i]), Half: p.half(i)}
	}
	before, after := r.noise()
	return t.Clusters(side(0, &before), side(1, &after))
}

// Level is what the row says of the release after the change by itself, as an estimate of a level.
func (p *Population) Level(t *stats.Tests, r *Row) stats.Estimate {
	n := int(p.devices()[1])
	// A side without variance makes the ratio a level.
	return t.Clusters(stats.Clustered{Mean: 1, Clusters: n}, stats.Clustered{Mean: r.After.Mean, Variance: r.After.Variance, Freedom: r.After.Freedom, Clusters: n, Half: p.half(1)})
}

// compareRows is the order in which engines are asked for rows.
func compareRows(a, b *Row) int {
	if c := strings.Compare(string(a.By)+"\x00"+string(a.Value), string(b.By)+"\x00"+string(b.Value)); c != 0 {
		return c
	}
	if a.FunctionID != b.FunctionID {
		if a.FunctionID < b.FunctionID {
			return -1
		}
		return 1
	}
	if c := strings.Compare(a.Model, b.Model); c != 0 {
		return c
	}
	return strings.Compare(a.Category, b.Category)
}
