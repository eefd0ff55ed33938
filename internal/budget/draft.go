package budget

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"

	"profdiff/internal/run"
	"profdiff/internal/stats"
)

// A Draft is a first budget file.
type Draft struct {
	Event   string
	Runs    int
	Entries []DraftEntry
	// Covered is the share of all cost that the functions have.
	Covered float64
}

// A DraftEntry is a function worth a budget.
type DraftEntry struct {
	ID, Function, DSO string
	Share             float64 // of the event, mean over runs
	Noise             float64 // standard deviation of one run, relative; NaN with one run
	Limit             Relative
	// RunsNeeded is the number of runs a side with which twice the limit fails with a
	// chance of 90 %.
	RunsNeeded int
}

// What makes a function worth a budget.
const (
	draftShare  = 0.02
	draftMost   = 12
	draftLeast  = 0.05 // limits below are not affordable on shared machines
	draftSmooth = 3    // times Poisson's variance up to which a function is a subject
)

// NewDraft finds functions of recordings that are worth a budget: that have at least 2 % of
// the cost, are code of the program and not of the kernel, and vary little. Limits are
// twice what 10 runs a side can show, and at least 5 %.
func NewDraft(runs []*run.Run, event string) (*Draft, error) {
	if len(runs) == 0 {
		return nil, fmt.Errorf("there are no runs")
	}
	if event == "" {
		event = runs[0].Events[0].Name
	}
	d := &Draft{Event: event, Runs: len(runs)}
	t := newTally(nil, runs, nil, nil, &Exclude{})
	b := &Budget{Match: &Match{Function: "*"}, Metric: "self"}
	x := &target{budget: b, matcher: newMatcher(b.Match), self: true, events: []string{event}}
	t.count([]*target{x})
	var targets []*target
	rows := make(map[int]*target)
	for _, id := range x.matched[1] {
		s := &t.symbols[1].list[id]
		if s.unknown || strings.HasPrefix(s.dso, "[") {
			continue
		}
		if rows[s.row] == nil {
			rows[s.row] = &target{budget: b, matcher: x.matcher, self: true, events: x.events, only: [2]map[int32]bool{{}, {}}}
			targets = append(targets, rows[s.row])
		}
		rows[s.row].only[1][id] = true
	}
	t.count(targets)
	const planned = 10
	for _, x := range targets {
		counts := shareCounts(x.sums[1][0], runs, event)
		entry := DraftEntry{Noise: math.NaN()}
		poisson := 0.0
		for _, c := range counts {
			entry.Share += c.Weight / float64(len(counts))
			if c.Weight > 0 {
				poisson += c.WeightSq / c.Weight / c.Weight / float64(len(counts))
			}
		}
		if entry.Share < draftShare {
			continue
		}
		if len(counts) > 1 {
			entry.Noise = spreadOf(counts)
			if v := entry.Noise * entry.Noise; len(counts) >= 5 && v > draftSmooth*draftSmooth*poisson {
				continue // what varies so much more than its samples depends on its surroundings
			}
		}
		for id := range x.only[1] {
			s := &t.symbols[1].list[id]
			if entry.Function == "" || s.name < entry.Function {
				entry.Function, entry.DSO = s.name, s.dso
			}
		}
		if t.symbols[1].needless(&entry, runs[0].Recording.ProgramName()) {
			entry.DSO = ""
		}
		sd := math.Max(math.Sqrt(poisson), entry.Noise)
		if math.IsNaN(sd) {
			sd = math.Sqrt(poisson)
		}
		entry.Limit = Relative(math.Max(draftLeast, roundUp(2*smallestChange(sd, planned))))
		entry.RunsNeeded = runsFor(sd, math.Log((1+2*float64(entry.Limit))/(1+float64(entry.Limit))))
		d.Entries = append(d.Entries, entry)
	}
	slices.SortFunc(d.Entries, func(a, b DraftEntry) int {
		return cmp.Or(-cmp.Compare(a.Share, b.Share), strings.Compare(a.Function, b.Function))
	})
	d.Entries = d.Entries[:min(len(d.Entries), draftMost)]
	used := make(map[string]bool)
	for i := range d.Entries {
		e := &d.Entries[i]
		d.Covered += e.Share
		e.ID = slug(e.Function)
		for n := 2; used[e.ID]; n++ {
			e.ID = fmt.Sprintf("%s-%d", slug(e.Function), n)
		}
		used[e.ID] = true
	}
	if len(d.Entries) == 0 {
		return nil, fmt.Errorf("no function of a program has %.0f%% of %s: name what matters yourself", 100*draftShare, event)
	}
	return d, nil
}

// needless reports whether the file of an entry says nothing: it is the program itself, which may have another name
// after the next build, and no other file has a function of that name.
func (s *symbols) needless(e *DraftEntry, program string) bool {
	return path.Base(e.DSO) == program && !slices.ContainsFunc(s.list, func(x symbolFacts) bool { return x.name == e.Function && x.dso != e.DSO })
}

// spreadOf is the standard deviation of the logarithms of counts; zeros count as nothing.
func spreadOf(counts []stats.WeightedCount) float64 {
	var x []float64
	mean := 0.0
	for _, c := range counts {
		if c.Weight > 0 {
			x = append(x, math.Log(c.Weight))
			mean += math.Log(c.Weight)
		}
	}
	if len(x) < 2 {
		return math.NaN()
	}
	mean /= float64(len(x))
	squares := 0.0
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	return math.Sqrt(squares / float64(len(x)-1))
}

// smallestChange is what n runs a side with a standard deviation show with a chance of
// 90 % at 0.05/12, and runsFor the number of runs a side for a distance. Both take
// costs to be distributed normally, which is near enough for a first file.
func smallestChange(sd float64, n int) float64 {
	return math.Expm1((draftZ + powerZ) * sd * math.Sqrt(2/float64(n)))
}

func runsFor(sd, distance float64) int {
	z := (draftZ + powerZ) * sd / distance
	return max(defaultRuns, int(math.Ceil(2*z*z)))
}

// Quantiles of the normal distribution: of 1-0.05/12 and of 0.9.
const (
	draftZ = 2.6383
	powerZ = 1.2816
)

var notSlug = regexp.MustCompile(`[^A-Za-z0-9]+`)

// slug makes an id of a name.
func slug(name string) string {
	s := strings.Trim(notSlug.ReplaceAllString(withoutParameters(name), "-"), "-")
	if len(s) > 60 {
		s = strings.Trim(s[:60], "-")
	}
	return cmp.Or(strings.ToLower(s), "function")
}
