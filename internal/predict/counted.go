package predict

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"profdiff/internal/branch"
	"profdiff/internal/disasm"
	"profdiff/internal/objects"
	"profdiff/internal/predict/flow"
	"profdiff/internal/predict/hot"
)

// ErrOtherBinary is returned for tables of branches that have none of a binary.
var ErrOtherBinary = errors.New("has no branches of")

// AddBranches gives the side what a table of branches says of its binary. A table that has
// nothing of it is an error that says what it has; files find what it names.
func (in *SideInput) AddBranches(files *objects.Store, t *branch.Table) error {
	own := *t
	var err error
	if own.Branches, err = branchesOf(in.Binary, files, t); err != nil {
		return err
	}
	if !slices.ContainsFunc(own.Branches, func(b branch.Branch) bool { return !b.ByLine }) {
		return fmt.Errorf("has branches of %s by line only: --dump-instr=yes of callgrind tells them apart", in.Binary.Path)
	}
	in.Branches = append(in.Branches, &own)
	if b, dso := in.Binary, own.Branches[0].DSO; own.Branches[0].BuildID == "" && b.Recorded != "" && path.IsAbs(dso) && dso != b.Recorded {
		in.note = fmt.Sprintf("rates: they are those of %s, whose branches are at the same addresses as those of %s", dso, b.Recorded)
	}
	return nil
}

// branchesOf are the branches of a table that are of the binary: those with its build ID;
// of files without one, as Callgrind names them, those of the file at the same path if that
// has its build ID, else those of its name, or of any name, whose code fits.
func branchesOf(b *hot.Binary, files *objects.Store, t *branch.Table) ([]branch.Branch, error) {
	byFile := make(map[binaryName][]branch.Branch)
	for i := range t.Branches {
		name := binaryName{t.Branches[i].DSO, t.Branches[i].BuildID}
		byFile[name] = append(byFile[name], t.Branches[i])
	}
	names := make([]binaryName, 0, len(byFile))
	for name := range byFile {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b binaryName) int {
		return cmp.Or(strings.Compare(a.File, b.File), strings.Compare(a.BuildID, b.BuildID))
	})
	var own, others []branch.Branch // certain, and those whose code fits
	var fit []string
	for _, name := range names {
		rows := byFile[name]
		if name.BuildID != "" && b.BuildID != "" {
			if b.Is(name.File, name.BuildID) {
				own = append(own, rows...)
			}
			continue
		}
		id := ""
		if o, err := files.Open(name.File); name.File != "" && err == nil {
			id = o.File().BuildID()
		}
		same := id != "" && objects.TrimBuildID(id) == objects.TrimBuildID(b.BuildID)
		checked, wrong := misfits(b, rows)
		switch {
		case same && wrong*maxWrong > checked:
			return nil, fmt.Errorf("%s was built again since its branches were recorded: %d of %d are no branches there: record them again", name.File, wrong, checked)
		case same:
			own = append(own, rows...)
		case wrong*maxWrong > checked || checked < minChecked && !b.Named(name.File):
			// The code is of another build.
		default:
			others = append(others, rows...)
			fit = append(fit, name.File)
		}
	}
	switch {
	case len(own) > 0:
		return own, nil
	case len(fit) == 1:
		return others, nil
	case len(fit) > 1:
		return nil, fmt.Errorf("%w %s for sure: its code is that of %s", ErrOtherBinary, describe(b), strings.Join(fit, " and of "))
	}
	return nil, unmatched(b, names)
}

// Limits of what code has to fit.
const (
	checkedBranches = 256 // at most so many branches are looked at
	minChecked      = 16  // so many make it certain without a name
	maxWrong        = 50  // of so many branches one need not fit
)

// repeating are instructions that Valgrind runs as loops, whose ends are branches to it.
var repeating = regexp.MustCompile(`^(rep|lock|xchg|loop|j[er]?cxz|cas|swp|ld(add|clr|eor|set|[su](max|min))|st(l?xr|l?xp))`)

// misfits says how many of the branches that ran most are at no conditional jump of the
// binary.
func misfits(b *hot.Binary, rows []branch.Branch) (checked, wrong int) {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r branch.Branch) bool { return r.ByLine || r.Kind != branch.Conditional })
	slices.SortStableFunc(rows, func(x, y branch.Branch) int { return -cmp.Compare(x.N, y.N) })
	for i := range rows[:min(len(rows), checkedBranches)] {
		f, err := b.Function(rows[i].Address)
		if err != nil {
			continue // a stub of the linker
		}
		checked++
		at := f.Inst(rows[i].Address)
		if at < 0 || f.Insts[at].Addr != rows[i].Address {
			wrong++
		} else if f.Insts[at].Kind != disasm.Conditional && !repeating.MatchString(f.Text(at)) {
			wrong++
		}
	}
	return checked, wrong
}

// unmatched says what a table has instead of the binary.
func unmatched(b *hot.Binary, names []binaryName) error {
	var list []string
	rebuilt := ""
	for _, name := range names {
		switch base := path.Base(name.File); {
		case b.Named(name.File) && name.BuildID != "":
			rebuilt = fmt.Sprintf("those of %s are of the build %s", name.File, name.BuildID)
		case b.Named(name.File):
			rebuilt = fmt.Sprintf("those of %s do not fit its code, they are of another build", name.File)
		case name.File != "" && !slices.Contains(list, base):
			list = append(list, base)
		}
	}
	switch {
	case rebuilt != "":
	case len(list) == 0:
		rebuilt = "it has none"
	default:
		if len(list) > 4 {
			list = append(list[:4], "…")
		}
		rebuilt = "it has those of " + strings.Join(list, ", ")
	}
	return fmt.Errorf("%w %s: %s; give those of the build that was recorded", ErrOtherBinary, describe(b), rebuilt)
}

// describe names a binary.
func describe(b *hot.Binary) string {
	if b.BuildID == "" {
		return b.Path
	}
	return fmt.Sprintf("%s (build ID %s)", b.Path, b.BuildID)
}

// rates are what tables say of the branches of the binary.
func (in *SideInput) rates() Rates {
	if len(in.Branches) == 0 {
		return Rates{Source: SourceAssumed}
	}
	source := SourceSimulated
	sums := make(map[uint64]*branchSum)
	for _, t := range in.Branches {
		if !t.Counted() {
			source = SourceMeasured
		}
		for i := range t.Branches {
			if b := &t.Branches[i]; b.Kind == branch.Conditional && !b.ByLine {
				s := sums[b.Address]
				if s == nil {
					s = &branchSum{}
					sums[b.Address] = s
				}
				s.add(b)
			}
		}
	}
	known := make(map[uint64]flow.Branch)
	for addr, s := range sums {
		if b, ok := s.branch(); ok {
			known[addr] = b
		}
	}
	return Rates{Source: source, Note: in.note, Branch: func(g *flow.Graph, at int) (flow.Branch, bool) {
		b, ok := known[g.Insts[at].Addr]
		return b, ok
	}}
}

// noneKnown says why nothing is known of the branches of a function.
func (in *SideInput) noneKnown(function string) string {
	if in.Branches[0].Counted() {
		return "rates: nothing is known of the branches of " + function + ", which did not run where branches were counted"
	}
	return "rates: nothing is known of the branches of " + function + ": the recording has too few of them, or not the code that they are in"
}

// A branchSum is what tables say of one branch together. Each counts for as many executions
// as it has.
type branchSum struct {
	executed      float64
	n, taken      float64 // executions with known directions, and what of them was taken
	takenIn       [2]float64
	missN, missed float64 // likewise
	missedIn      [2]float64
	unseen        bool // misses that did not jump were not seen
}

func (s *branchSum) add(b *branch.Branch) {
	n := float64(max(b.N, 1))
	if b.Executed != nil {
		n = *b.Executed
		s.executed += n
	}
	if p := b.PTaken; p != nil {
		s.n += n
		s.taken += n * p.Value
		s.takenIn[0] += n * p.Lo
		s.takenIn[1] += n * p.Hi
	}
	if r := b.Rate; r != nil {
		v := (r.Bounds[0] + r.Bounds[1]) / 2
		if r.Value != nil {
			v = *r.Value
		}
		s.unseen = s.unseen || r.Value == nil
		s.missN += n
		s.missed += n * v
		s.missedIn[0] += n * min(r.CI[0], v)
		s.missedIn[1] += n * max(r.CI[1], v)
	}
}

// branch is what is known of the branch, ok is false if that is nothing. Of a branch whose
// misses alone are known it follows that neither direction is rarer than half of them: a
// counter of two bits misses no more than twice as often as it is turned.
func (s *branchSum) branch() (b flow.Branch, ok bool) {
	bounds := flow.Bounds{Taken: [2]float64{0, 1}, Miss: [2]float64{0, 0.5}}
	b = flow.Branch{Taken: 0.5, Executed: s.executed}
	if s.missN > 0 {
		b.Miss = s.missed / s.missN
		bounds.Miss = [2]float64{s.missedIn[0] / s.missN, s.missedIn[1] / s.missN}
		turned := min(bounds.Miss[0]/2, 0.5)
		bounds.Taken = [2]float64{turned, 1 - turned}
	}
	if s.n > 0 {
		b.Taken = s.taken / s.n
		bounds.Taken = [2]float64{s.takenIn[0] / s.n, s.takenIn[1] / s.n}
		if s.missN == 0 {
			b.Miss = min(b.Taken, 1-b.Taken)
			bounds.Miss[1] = b.Miss
		}
	}
	if s.unseen {
		b.Miss, bounds.Miss[1] = unseenMisses(bounds)
	}
	if bounds.Taken[0] < bounds.Taken[1] || bounds.Miss[0] < bounds.Miss[1] {
		b.Bounds = &bounds
	}
	return b, s.n > 0 || s.missN > 0
}

// unseenMisses are the rate of misses, and the most it is, of a branch whose misses were seen
// if it jumped: as many again did not jump, and both are no more than the rarer direction
// has, as somebody who always says the other would miss those.
func unseenMisses(bounds flow.Bounds) (rate, most float64) {
	rarer := min(bounds.Taken[1], 1-bounds.Taken[0], 0.5)
	seen := bounds.Miss[0]
	most = min(bounds.Miss[1], max(seen, noisy(rarer)))
	return min(2*seen, (seen+most)/2), most
}

// executions are how often the conditional branches of a function ran, by address.
func (in *SideInput) executions() map[uint64]float64 {
	out := make(map[uint64]float64)
	for _, t := range in.Branches {
		if !t.Scaled {
			continue
		}
		for i := range t.Branches {
			if b := &t.Branches[i]; !b.ByLine && b.Executed != nil {
				out[b.Address] += *b.Executed
			}
		}
	}
	return out
}
