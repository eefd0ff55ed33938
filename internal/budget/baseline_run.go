package budget

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"profdiff/internal/compare"
	"profdiff/internal/run"
	"profdiff/internal/stats"
)

// A Stored is a side of stored runs.
type Stored struct {
	Runs []*run.Run
	// whole and parts are by run the sums of events, and of the samples of Runs.
	whole [][]StoredSum
	parts [][]StoredSum
}

// newStored makes a side of stored runs, in the order of their recording.
func newStored(list []*StoredRun) (*Stored, error) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *StoredRun) int { return a.Start.Compare(b.Start) })
	s := &Stored{}
	for _, x := range list {
		if err := s.add(x); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// add makes a run whose stacks are of one function each.
func (s *Stored) add(x *StoredRun) error {
	b := run.NewBuilder(x.Name)
	r := b.Run()
	r.Recording = run.Recording{
		Format: "stored baseline", Tool: x.Environment.Tool, Arch: x.Key.Arch, Kernel: x.Key.Kernel, Host: x.Environment.Host,
		CPU: x.Key.CPU, CPUID: x.Key.CPU, CPUs: x.Environment.CPUs, Device: x.Environment.Device, Build: x.Environment.Build,
		Start: x.Start, Duration: time.Duration(x.DurationNS), KernelSymbols: x.Environment.KernelSymbols,
		Conditions: run.Conditions{
			Governor: x.Environment.Governor, FrequencyMHz: x.Environment.FrequencyMHz, FrequencyLimitMHz: x.Environment.FrequencyLimitMHz,
			Throttled: x.Environment.Throttled, ThermalStatus: x.Environment.ThermalStatus,
		},
	}
	r.Accounting.In, r.Accounting.Lost, r.Accounting.Throttled = x.Samples, x.Lost, x.Throttled
	for _, c := range x.Counters {
		r.Counters = append(r.Counters, run.Counter{Name: c.Name, Unit: c.Unit, Value: c.Value, Running: c.Running})
	}
	type row struct {
		event  string
		labels run.Labels
		name   string
		dso    string
	}
	sums := make(map[row]StoredSum)
	whole := make(map[string]StoredSum)
	mappings := make(map[string]uint32)
	for i := range x.Events {
		e := &x.Events[i]
		event := b.Event(run.Event{Name: e.Name, Unit: e.Unit, Period: e.Period, Frequency: e.Frequency, Simulated: e.Simulated, Derived: e.Derived, Running: e.Running})
		whole[e.Name] = e.StoredSum
		rest := e.StoredSum
		for j := range e.Functions {
			f := &e.Functions[j]
			m, ok := mappings[f.DSO]
			if !ok {
				m = b.Mapping(run.Mapping{File: f.DSO, Limit: 1, HasFunctions: true})
				mappings[f.DSO] = m
			}
			labels := run.Labels{Process: f.Process, Thread: f.Thread, PID: -1, TID: -1, CPU: -1}
			function := run.Function{Name: f.Name, SystemName: f.SystemName, File: f.File, StartLine: f.Line, Unknown: f.Unknown}
			if function.Recognize(); function.Apart == 0 {
				function.Origin = "" // File may be that of a line
			}
			stack := b.Stack(0, b.Location(m, 0, run.Line{Function: b.Function(function)}))
			b.AddSum(event, stack, b.Labels(labels), f.Samples, f.Weight, f.WeightSq)
			rest.Samples -= f.Samples
			rest.Weight -= f.Weight
			rest.WeightSq -= f.WeightSq
			key := row{e.Name, labels, f.Name, f.DSO}
			sums[key] = merged(sums[key], f.StoredSum)
		}
		if rest.Samples > 0 {
			b.AddSum(event, 0, b.Labels(run.Labels{PID: -1, TID: -1, CPU: -1}), rest.Samples, rest.Weight, max(0, rest.WeightSq))
		}
	}
	r, err := b.Finish()
	if err != nil {
		return err
	}
	r.Accounting.In = max(r.Accounting.In, r.Accounting.Out)
	all, parts := make([]StoredSum, len(r.Events)), make([]StoredSum, len(r.Samples))
	for i := range r.Events {
		all[i] = whole[r.Events[i].Name]
	}
	for i := range r.Samples {
		if s := &r.Samples[i]; s.Stack != 0 {
			l := &r.Locations[r.Stacks.Location(s.Stack)]
			parts[i] = sums[row{r.Events[s.Event].Name, r.Labels[s.Labels], r.Functions[l.Lines[0].Function].Name, r.Mappings[l.Mapping].File}]
		}
	}
	s.Runs, s.whole, s.parts = append(s.Runs, r), append(s.whole, all), append(s.parts, parts)
	return nil
}

// lacks refuses runs that were stored: compared with itself, nothing changes.
func (s *Stored) lacks(runs []*run.Run) error {
	for _, r := range runs {
		for _, stored := range s.Runs {
			if sameRecording(r, stored) {
				return fmt.Errorf("%w: %s was stored as %s", compare.ErrSameRecording, r.Name, stored.Name)
			}
		}
	}
	return nil
}

// sameRecording reports whether two runs are of one recording, by what does not depend on how
// its functions were named: when and how long it was, and what was sampled. Counts of a
// simulator may be equal.
func sameRecording(a, b *run.Run) bool {
	x, y := &a.Recording, &b.Recording
	if len(a.Events) != len(b.Events) || !x.Start.Equal(y.Start) || x.Duration != y.Duration || x.Start.IsZero() && x.Duration == 0 {
		return false
	}
	for i := range a.Events {
		e, f := &a.Events[i], &b.Events[i]
		if e.Name != f.Name || e.Simulated || e.Samples != f.Samples || e.Weight != f.Weight {
			return false
		}
	}
	return true
}

// machineLacks names what a recording does not say of its machine, "" if it says enough.
func machineLacks(r *run.Run) string {
	var list []string
	key := newBaselineKey("", r)
	for _, f := range []struct{ name, value string }{{"architecture", key.Arch}, {"CPU", key.CPU}, {"kernel", key.Kernel}} {
		if f.value == "" {
			list = append(list, f.name)
		}
	}
	return strings.Join(list, ", ")
}

// merged is the sum of two, of which the parts are in order.
func merged(a, b StoredSum) StoredSum {
	if a.Samples == 0 {
		return b
	}
	sum := StoredSum{Samples: a.Samples + b.Samples, Weight: a.Weight + b.Weight, WeightSq: a.WeightSq + b.WeightSq}
	for part := range int64(stats.PhiBlocks) {
		for _, list := range [][][2]int64{a.Blocks, b.Blocks} {
			if i := slices.IndexFunc(list, func(p [2]int64) bool { return p[0] == part }); i >= 0 {
				sum.add(part, list[i][1])
			}
		}
	}
	return sum
}

// storedReason says why a target cannot be counted in stored runs, "" if it can.
func storedReason(x *target) string {
	var lacks []string
	if x.framed() && !x.self {
		lacks = append(lacks, "metric: total")
	}
	if x.matcher.under != nil {
		lacks = append(lacks, "under")
	}
	if x.category != "" {
		lacks = append(lacks, "category")
	}
	if len(lacks) == 0 {
		return ""
	}
	return "a stored baseline has no stacks, which " + strings.Join(lacks, ", ") + " needs: compare with recordings"
}

// phi is how much more the samples of a target in the only run vary than independent ones,
// as [tally.addBursts] finds it; 1 if that is not known. counts says which samples of the run
// the target counts.
func (s *Stored) phi(event int, counts func(sample int) bool) float64 {
	all := &s.whole[0][event]
	if all.Samples < 2*stats.PhiBlocks || len(all.Blocks) == 0 {
		return 1
	}
	var part StoredSum
	var blocks, wholeBlocks [stats.PhiBlocks]float64
	for _, b := range all.Blocks {
		wholeBlocks[b[0]] = float64(b[1])
	}
	for i := range s.parts[0] {
		if x := &s.Runs[0].Samples[i]; int(x.Event) == event && counts(i) {
			part.Weight += x.Weight
			part.WeightSq += x.WeightSq
			for _, b := range s.parts[0][i].Blocks {
				blocks[b[0]] += float64(b[1])
			}
		}
	}
	return residualPhi(&blocks, &wholeBlocks, float64(part.Weight), part.WeightSq, float64(all.Weight), all.WeightSq)
}

// residualPhi is [stats.BlockSumsPhi] of a part of a whole. A sample of the part is its
// weight above the part's share of all weight, any other below.
func residualPhi(part, whole *[stats.PhiBlocks]float64, weight, square, all, allSquare float64) float64 {
	if !(weight > 0 && weight < all) {
		return 1
	}
	share := weight / all
	var residuals [stats.PhiBlocks]float64
	for j := range residuals {
		residuals[j] = part[j] - share*whole[j]
	}
	return stats.BlockSumsPhi(&residuals, (1-share)*(1-share)*square+share*share*(allSquare-square))
}

// noiseRuns is how many stored runs it takes to tell how runs differ.
const noiseRuns = 8

// addNoise adds the noise between stored runs to what one run a side shows.
func (k *check) addNoise() error {
	in := k.in
	if in.Noise == nil || len(in.Base) != 1 || len(in.Head) != 1 {
		return nil
	}
	n := len(in.Noise.Runs)
	if n < noiseRuns {
		k.notes = append(k.notes, fmt.Sprintf("%d stored %s are too few to tell how runs differ: %d are needed", n, plural(n, "run", "runs"), noiseRuns))
		return nil
	}
	others, err := k.file.measure(&Inputs{Base: in.Noise.Runs, Head: in.Head, Stored: in.Noise, Today: in.Today, Ops: in.Ops, Categories: in.Categories, Options: in.Options})
	if err != nil {
		return fmt.Errorf("noise of stored runs: %w", err)
	}
	targets := make(map[string]*target)
	for i, r := range others.results {
		targets[r.ID] = others.targets[i]
	}
	for _, r := range k.results {
		x := targets[r.ID]
		if x == nil || storedReason(x) != "" {
			continue
		}
		for _, c := range r.Claims {
			if c.Given != "" || !c.Relative() || c.Estimate.Method != stats.Sampling {
				continue
			}
			noise, sampling := others.noise(x)
			between := math.Sqrt(max(0, noise*noise-sampling*sampling))
			if math.IsNaN(between) {
				continue
			}
			est := k.tests.WithNoise(*c.Estimate, between, n)
			c.Estimate = &est
			c.Notes = append(c.Notes, fmt.Sprintf("%d stored runs differ by %.2g%% beyond sampling, which counts for both runs here", n, 100*between))
		}
	}
	return nil
}
