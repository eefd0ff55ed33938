package compare

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"time"

	"profdiff/internal/run"
	"profdiff/internal/verdict"
)

// Errors of inputs that cannot be compared.
var (
	// ErrNoCommonEvent is returned if the sides have no event in common.
	ErrNoCommonEvent = errors.New("no common event")
	// errMixedSide is returned if the runs of a side were not recorded alike.
	errMixedSide = errors.New("mixed side")
	// ErrSameRecording is returned if one recording is given twice.
	ErrSameRecording = errors.New("the same recording")
	// ErrNoSamples is returned if for every common event a run has no samples of it.
	ErrNoSamples = errors.New("no samples")
)

// checkSides refuses what cannot be compared at all.
func checkSides(base, head []*run.Run) (warnings []string, err error) {
	for _, side := range []struct {
		name string
		runs []*run.Run
	}{{"base", base}, {"head", head}} {
		if len(side.runs) == 0 {
			return nil, fmt.Errorf("%s has no runs", side.name)
		}
		first := side.runs[0]
		for _, r := range side.runs[1:] {
			for _, f := range facts {
				if a, b := f.of(&first.Recording), f.of(&r.Recording); f.machine && a != "" && b != "" && a != b {
					return nil, fmt.Errorf("%w: %s was recorded on %s %s, %s on %s; compare machines one by one",
						errMixedSide, first.Name, f.name, a, r.Name, b)
				}
			}
		}
	}
	return checkDuplicates(base, head)
}

// checkDuplicates refuses runs that are one recording, and warns of equal ones whose
// format has no time: counts of a simulator may be equal.
func checkDuplicates(base, head []*run.Run) (warnings []string, err error) {
	type place struct {
		side string
		run  *run.Run
	}
	seen := make(map[uint64]place)
	copies := make(map[uint64]int)
	var copied []uint64 // what each warning is about
	for _, side := range []struct {
		name string
		runs []*run.Run
	}{{"base", base}, {"head", head}} {
		for _, r := range side.runs {
			print := fingerprint(r)
			other, ok := seen[print]
			switch {
			case !ok:
				seen[print] = place{side.name, r}
			case r.Recording.LastSample != 0 || !r.Recording.Start.IsZero():
				return nil, fmt.Errorf("%w: %s of %s and %s of %s; a run counts once", ErrSameRecording, other.run.Name, other.side, r.Name, side.name)
			default:
				if copies[print]++; copies[print] == 1 {
					copied = append(copied, print)
					warnings = append(warnings, fmt.Sprintf("%s of %s and %s of %s are equal: is one a copy?", other.run.Name, other.side, r.Name, side.name))
				}
			}
		}
	}
	for i, print := range copied {
		if n := copies[print]; n > 1 {
			warnings[i] = fmt.Sprintf("%d runs are equal to %s of %s: are they copies?", n, seen[print].run.Name, seen[print].side)
		}
	}
	return warnings, nil
}

// fingerprint is equal for runs read from the same samples.
func fingerprint(r *run.Run) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, r.Recording.FirstSample, r.Recording.LastSample, r.Recording.Start.UnixNano(), r.Recording.CommandLine,
		r.Accounting.In, r.Counters)
	for i := range r.Events {
		e := &r.Events[i]
		fmt.Fprint(h, e.Name, e.Samples, e.Weight, e.WeightSq)
	}
	// No two recordings of one command have their first and last sample at the same nanoseconds.
	// A copy elsewhere may have other names, or none.
	if r.Recording.CommandLine != "" && r.Recording.LastSample > r.Recording.FirstSample {
		return h.Sum64()
	}
	fmt.Fprint(h, len(r.Functions), r.Stacks.Len())
	var buf [8 * 4]byte
	for i := range r.Samples {
		s := &r.Samples[i]
		for j, v := range []uint64{uint64(s.Event)<<32 | uint64(s.Stack), uint64(s.Labels), uint64(s.Count), uint64(s.Weight)} {
			for k := range 8 {
				buf[8*j+k] = byte(v >> (8 * k))
			}
		}
		h.Write(buf[:])
	}
	for i := range r.Functions {
		h.Write([]byte(r.Functions[i].Name))
	}
	return h.Sum64()
}

// A fact of a recording that should be the same on both sides.
type fact struct {
	name string
	of   func(*run.Recording) string
	// machine: runs of one side may not differ in it.
	machine bool
}

var facts = []fact{
	{"architecture", func(r *run.Recording) string { return r.Arch }, true},
	{"CPU", func(r *run.Recording) string { return cmp.Or(r.CPUID, r.CPU) }, true},
	{"device", func(r *run.Recording) string { return r.Device }, true},
	{"kernel", func(r *run.Recording) string { return r.Kernel }, false},
	{"build", func(r *run.Recording) string { return r.Build }, false},
	{"recorder", func(r *run.Recording) string { return r.Tool }, false},
	{"app", func(r *run.Recording) string { return r.App }, false},
	{"kernel symbols", func(r *run.Recording) string { return r.KernelSymbols }, false},
	{"number of CPUs", func(r *run.Recording) string {
		if r.CPUs == 0 {
			return ""
		}
		return fmt.Sprint(r.CPUs)
	}, false},
	{"frequency governor", func(r *run.Recording) string { return r.Conditions.Governor }, false},
}

// durationsDiffer is the ratio of durations from which it is said that they differ.
const durationsDiffer = 1.5

// Durations are how long a run of each side took, in the median, and whether that differs: as a result
// of the change, if commands that ran to their end cost less where they took less time; else a
// condition differs, and costs are not of the same work.
func Durations(base, head []*run.Run) (a, b time.Duration, differ, result bool) {
	took := func(runs []*run.Run) float64 {
		var list []float64
		for _, r := range runs {
			list = append(list, float64(r.Recording.Took()))
		}
		return medianOf(list)
	}
	x, y := took(base), took(head)
	a, b = time.Duration(x), time.Duration(y)
	if !(x > 0 && y > 0 && max(x/y, y/x) > durationsDiffer) {
		return a, b, false, false
	}
	name := base[0].Events[0].Name
	if slices.ContainsFunc(slices.Concat(base, head), func(r *run.Run) bool {
		return r.Recording.ProgramLine() == "" || r.Window() != "" || r.Events[0].Name != name
	}) {
		return a, b, true, false
	}
	// Where a program waits less, it takes less time for the same cost, or nearly that.
	const nearly = 0.1
	cost := func(r *run.Run) float64 { return float64(r.Events[0].Weight) }
	c, d := meanOf(base, cost), meanOf(head, cost)
	if x > y {
		c, d = d, c
	}
	return a, b, true, c > 0 && d > 0 && c <= (1+nearly)*d
}

// sumsOnly says of which sides samples are not told apart.
func sumsOnly(base, head []*run.Run) string {
	if len(base) != 1 || len(head) != 1 {
		return ""
	}
	sums := func(r *run.Run) bool {
		return slices.ContainsFunc(r.Events, func(e run.Event) bool { return e.WeightSqLowerBound })
	}
	switch a, b := sums(base[0]), sums(head[0]); {
	case a && b:
		return "both recordings hold sums of samples, so that intervals are the narrowest possible"
	case a:
		return "base holds sums of samples, so that intervals are the narrowest possible"
	case b:
		return "head holds sums of samples, so that intervals are the narrowest possible"
	}
	return ""
}

// differing are the facts of recordings that both sides have and that are not the same.
func differing(base, head []*run.Run) (warnings []string) {
	for _, f := range facts {
		a, b := values(base, f.of), values(head, f.of)
		if len(a) > 0 && len(b) > 0 && !slices.Equal(a, b) {
			warnings = append(warnings, fmt.Sprintf("different %s: base %s, head %s", f.name, strings.Join(a, ", "), strings.Join(b, ", ")))
		}
	}
	return warnings
}

// audit says what makes the sides hard to compare, beside facts that differ.
func audit(base, head []*run.Run, names naming) (warnings []string) {
	warn := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	for _, s := range []struct {
		what string
		of   func(*run.Run) float64
		more float64 // difference in share points that matters
	}{
		{"incomplete call chains", func(r *run.Run) float64 {
			if r.Accounting.Out == 0 {
				return 0
			}
			return float64(r.Accounting.TruncatedStacks) / float64(r.Accounting.Out)
		}, 0.05},
		{"lost samples", func(r *run.Run) float64 { return r.Accounting.LostShare() }, 0.01},
	} {
		a, b := meanOf(base, s.of), meanOf(head, s.of)
		if math.Abs(a-b) > s.more {
			warn("%s differ: base %.1f%%, head %.1f%%", s.what, 100*a, 100*b)
		}
	}
	if s := sumsOnly(base, head); s != "" {
		warn("%s", s)
	}
	if a, b, differ, result := Durations(base, head); differ && !result {
		warn("duration differs: base %v a run, head %v", a.Round(time.Millisecond), b.Round(time.Millisecond))
	}
	for side, runs := range [][]*run.Run{base, head} {
		took := make([]float64, len(runs))
		for i, r := range runs {
			took[i] = math.Log(float64(r.Recording.Took()))
		}
		for i, times := range standOut(took, make([]float64, len(runs)), outlierTook) {
			warn("%s took %v, %.2g times the median of the %d runs of %s: something else may have happened in it",
				runs[i].Name, runs[i].Recording.Took().Round(time.Millisecond), times, len(runs), [2]string{"base", "head"}[side])
		}
	}
	threadsOfBase := func(share float64) map[string]string { return threads(base, share, names, false) }
	threadsOfHead := func(share float64) map[string]string { return threads(head, share, names, true) }
	if a, b := missing(threadsOfBase(0.01), threadsOfHead(0)), missing(threadsOfHead(0.01), threadsOfBase(0)); len(a)+len(b) > 0 {
		side := func(name string, list []string) string {
			if len(list) == 0 {
				return ""
			}
			if len(list) > 3 {
				list = append(list[:3:3], "…")
			}
			return fmt.Sprintf("; only in %s: %s", name, strings.Join(list, ", "))
		}
		warn("threads differ%s%s", side("base", a), side("head", b))
	}
	return append(warnings, RunWarnings(base, head)...)
}

// values are the distinct values of a fact, sorted, without unknown ones.
func values(runs []*run.Run, of func(*run.Recording) string) []string {
	var list []string
	for _, r := range runs {
		if v := of(&r.Recording); v != "" {
			list = append(list, v)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func meanOf(runs []*run.Run, of func(*run.Run) float64) float64 {
	sum := 0.0
	for _, r := range runs {
		sum += of(r)
	}
	return sum / float64(len(runs))
}

// threads are the thread pools with at least a share of the weight of any event in any
// run, by the name under which they are compared.
func threads(runs []*run.Run, share float64, names naming, head bool) map[string]string {
	pools := make(map[string]string)
	for _, r := range runs {
		for _, row := range r.GroupSelf(run.ByThread) {
			for i := range row.Self {
				if w := row.Self[i].Weight; row.Name != run.NoLabel && float64(w) >= share*float64(r.Events[i].Weight) {
					pools[names.of(run.ByThread, head, row.Name)] = row.Name
				}
			}
		}
	}
	return pools
}

func missing(from, in map[string]string) (list []string) {
	for key, name := range from {
		if _, ok := in[key]; !ok {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// auditEvent says what makes one event hard to compare.
func auditEvent(p *eventPair, base, head []*run.Run) (warnings []string) {
	warn := func(format string, args ...any) {
		warnings = append(warnings, p.name+": "+fmt.Sprintf(format, args...))
	}
	modes := func(runs []*run.Run, at []int) (list []string) {
		for i, r := range runs {
			e := &r.Events[at[i]]
			switch {
			case e.Period != 0:
				list = append(list, fmt.Sprintf("every %d", e.Period))
			case e.Frequency != 0:
				list = append(list, fmt.Sprintf("%d a second", e.Frequency))
			}
		}
		slices.Sort(list)
		return slices.Compact(list)
	}
	if a, b := modes(base, p.base), modes(head, p.head); len(a) > 0 && len(b) > 0 && !slices.Equal(a, b) {
		warn("sampled differently: base %s, head %s", strings.Join(a, ", "), strings.Join(b, ", "))
	}
	// Samples a second show what the recorder really did. Samples of a derived event show
	// what the program did, such as to leave the CPU.
	rate := func(runs []*run.Run, at []int) float64 {
		samples, seconds := 0.0, 0.0
		for i, r := range runs {
			if e := &r.Events[at[i]]; !e.Derived {
				samples += float64(e.Samples)
			}
			seconds += r.Recording.Duration.Seconds()
		}
		if seconds == 0 {
			return 0
		}
		return samples / seconds
	}
	if a, b := rate(base, p.base), rate(head, p.head); a > 0 && b > 0 && max(a/b, b/a) > 2 {
		warn("base has %.0f samples a second, head %.0f", a, b)
	}
	return append(warnings, outliers(p, base, head)...)
}

// Moments say when runs were recorded.
func Moments(runs []*run.Run) (list []verdict.Moment) {
	for _, r := range runs {
		rec := &r.Recording
		list = append(list, verdict.Moment{Start: rec.Start, Clock: rec.FirstSample, Host: rec.Host})
	}
	return list
}
