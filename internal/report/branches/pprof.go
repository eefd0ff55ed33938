package branches

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/google/pprof/profile"

	"profdiff/internal/report/text"
	"profdiff/internal/symbolizer"
)

// WritePprof writes the branches of a document, made of all of them, as a gzip-compressed pprof profile,
// a sample each, at the branch and not where a sample landed. Its types add up: there are
// no rates. branch-misses and branches are as in the table; mispredict_cycles are the
// misses times what one costs, mispredict_cycles_hi times the most that it may cost. These
// two are left out if the cost is not known or counts are not of the whole recording,
// and branch-misses too if it is not known what was mispredicted.
//
// Values are whole numbers. What rounding takes from a branch is given to the next, so
// that the sums are the exact ones rounded. Branches whose counts are all zero have no
// sample.
func WritePprof(w io.Writer, d *Document) error {
	p, err := pprofOf(d)
	if err != nil {
		return err
	}
	return p.Write(w)
}

// A branchValue is a sample type.
type branchValue struct {
	name, unit string
	of         func(*Branch) float64
}

func branchValues(d *Document) []branchValue {
	known := func(v *float64) float64 {
		if v == nil {
			return 0
		}
		return *v
	}
	misses := func(b *Branch) float64 { return known(b.Misses) }
	var list []branchValue
	if d.Prediction.Known {
		list = append(list, branchValue{"branch-misses", "count", misses})
	}
	list = append(list, branchValue{"branches", "count", func(b *Branch) float64 {
		if b.Executed == nil {
			return known(b.Taken)
		}
		return *b.Executed
	}})
	costed := func(b *Branch) bool { return b.Misses == nil || b.MissCost != nil }
	if d.Prediction.Known && d.Scaled() && !slices.ContainsFunc(d.Branches, func(b Branch) bool { return !costed(&b) }) {
		cost := func(b *Branch, of func(*Cost) float64) float64 {
			if b.MissCost == nil {
				return 0
			}
			return misses(b) * of(b.MissCost)
		}
		list = append(
			list,
			branchValue{"mispredict_cycles", "cycles", func(b *Branch) float64 {
				return cost(b, func(c *Cost) float64 { return c.Centre })
			}},
			branchValue{"mispredict_cycles_hi", "cycles", func(b *Branch) float64 {
				return cost(b, func(c *Cost) float64 { return c.Hi })
			}},
		)
	}
	return list
}

func pprofOf(d *Document) (*profile.Profile, error) {
	if len(d.Branches) == 0 {
		return nil, errors.New("no branch is named: there is nothing for a profile")
	}
	values := branchValues(d)
	p := &profile.Profile{DefaultSampleType: values[0].name, Comments: comments(d, values)}
	for _, v := range values {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: v.name, Unit: v.unit})
	}
	build := branchLocations{p: p, mappings: make(map[[2]string]*profile.Mapping), functions: make(map[symbolizer.Frame]*profile.Function), locations: make(map[branchSite]*profile.Location)}
	carries := make([]text.Carry, len(values))
	for i := range d.Branches {
		b := &d.Branches[i]
		s := &profile.Sample{Label: branchLabels(d, b)}
		some := false
		for j, v := range values {
			x := v.of(b)
			if !(x >= 0) || x > math.MaxInt64/2 {
				return nil, fmt.Errorf("%s of a branch are %g, more than a profile can hold", v.name, x)
			}
			n := carries[j].Round(x)
			s.Value = append(s.Value, n)
			some = some || n != 0
		}
		if !some {
			continue
		}
		s.Location = []*profile.Location{build.location(b)}
		p.Sample = append(p.Sample, s)
	}
	return p, p.CheckValid()
}

// branchLabels are the labels of the sample of a branch.
func branchLabels(d *Document, b *Branch) map[string][]string {
	labels := map[string][]string{"tier": {string(d.Tier)}, "confidence": {string(b.Confidence)}}
	if b.Kind != "" {
		labels["branch_kind"] = []string{string(b.Kind)}
	}
	if core := cmp.Or(b.PMU, d.Input.CPU); core != "" {
		labels["core"] = []string{text.Valid(core)}
	}
	return labels
}

// comments say what the values are.
func comments(d *Document, values []branchValue) []string {
	list := []string{
		fmt.Sprintf("branches of %s, tier %s (%s)", d.Input.Path, d.Tier, d.Tier.Describe()),
		"counts: " + d.counts(),
	}
	partly := 0
	for i := range d.Branches {
		if d.Branches[i].Executed == nil && d.Branches[i].Taken != nil {
			partly++
		}
	}
	if partly > 0 {
		list = append(list, fmt.Sprintf("branches: of %d of %d it is not known how often they were not taken, which is not counted", partly, len(d.Branches)))
	}
	if slices.ContainsFunc(d.Branches, func(b Branch) bool { return b.RateMethod == ByBounds }) {
		list = append(list, "branch-misses: those that ended not taken are not seen")
	}
	switch c := d.Cost; {
	case !d.Prediction.Known:
		list = append(list, "branch-misses are unknown: "+d.Prediction.Reason)
	case len(values) < 4 && !d.Scaled():
		list = append(list, "mispredict_cycles are unknown: counts are not of the whole recording")
	case len(values) < 4:
		list = append(list, "mispredict_cycles are unknown: so is what a miss costs")
	case c != nil:
		list = append(list, fmt.Sprintf("mispredict_cycles: %s cycles a miss, mispredict_cycles_hi: %s (%s)", text.Cycles(c.Centre), text.Cycles(c.Hi), c.Source))
	}
	for _, w := range d.Warnings {
		list = append(list, "warning: "+w)
	}
	for i := range list {
		list[i] = text.Valid(list[i])
	}
	return list
}

// branchSite is a place that is one location: an address, or a line if there is none.
type branchSite struct {
	dso, buildID   string
	address        uint64
	function, file string
	line           int64
}

// branchLocations makes the parts of a profile.
type branchLocations struct {
	p         *profile.Profile
	mappings  map[[2]string]*profile.Mapping
	functions map[symbolizer.Frame]*profile.Function
	locations map[branchSite]*profile.Location
}

func (m *branchLocations) location(b *Branch) *profile.Location {
	site := branchSite{dso: b.DSO, buildID: b.BuildID, address: b.Addr}
	if b.ByLine() {
		site.function, site.file, site.line = b.Function, b.File, b.Line
	}
	if l := m.locations[site]; l != nil {
		return l
	}
	l := &profile.Location{ID: uint64(len(m.p.Location) + 1), Mapping: m.mapping(b), Address: b.Addr}
	frames := b.Stack
	if len(frames) == 0 && b.Function != "" {
		frames = []symbolizer.Frame{{Name: b.Function, File: b.File, Line: b.Line}}
	}
	for _, f := range frames {
		l.Line = append(l.Line, profile.Line{Function: m.function(f), Line: f.Line, Column: f.Column})
	}
	m.locations[site] = l
	m.p.Location = append(m.p.Location, l)
	return l
}

// mapping is the mapping of a file. Addresses are as in its symbol table already, which pprof
// takes a mapping of everything to say.
func (m *branchLocations) mapping(b *Branch) *profile.Mapping {
	if b.DSO == "" {
		return nil
	}
	key := [2]string{b.DSO, b.BuildID}
	if found := m.mappings[key]; found != nil {
		return found
	}
	found := &profile.Mapping{
		ID: uint64(len(m.p.Mapping) + 1), Limit: math.MaxUint64, File: text.Valid(b.DSO), BuildID: text.Valid(b.BuildID),
		// Names are there, or are not to be had: pprof need not look.
		HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true,
	}
	m.mappings[key] = found
	m.p.Mapping = append(m.p.Mapping, found)
	return found
}

func (m *branchLocations) function(f symbolizer.Frame) *profile.Function {
	f.Line, f.Column = 0, 0
	if found := m.functions[f]; found != nil {
		return found
	}
	found := &profile.Function{
		ID: uint64(len(m.p.Function) + 1), Name: text.Valid(f.Name), SystemName: text.Valid(cmp.Or(f.SystemName, f.Name)),
		Filename: text.Valid(f.File), StartLine: f.StartLine,
	}
	m.functions[f] = found
	m.p.Function = append(m.p.Function, found)
	return found
}
