package query

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"profdiff/internal/align"
	"profdiff/internal/fleet"
	"profdiff/internal/fleet/store"
	"profdiff/internal/run"
)

// Origins of renames.
const (
	declared = "declared"
	aligned  = "aligned"
)

// A FoundRename is a rename, and if package align found it how sure it is, 0 to 1, and why.
type FoundRename struct {
	fleet.Rename
	Confidence float64
	Reason     string
}

// FindRenames says which functions of two releases are the same under other names: those that the user declares, and if
// similar is set those that package align finds by what they call and what calls them, in the heaviest stacks of both
// releases. Functions that became several, or one of several, are all replaced by one: the heaviest of the later release. A
// rename holds in both releases, so that one to a name that is renamed itself is an error if it was declared, and is left if it was found.
func FindRenames(s *store.Store, q Question, list []align.Rename, similar bool) ([]FoundRename, error) {
	a, err := prepare(s, q)
	if err != nil {
		return nil, err
	}
	stacks, err := askStacks(s, a.Population, nil)
	if err != nil {
		return nil, err
	}
	var sides [2]alignedSide
	for i := range sides {
		sides[i] = alignedSide{index: make(map[int64]int), namesakes: make(map[[2]string]int)}
		for k := range stacks.List {
			of := &stacks.List[k]
			sides[i].add(a, of.Frames, []float64{of.Before, of.After}[i])
		}
		sides[i].finish(a.Sides[i].Samples)
	}
	matches, err := align.Functions(sides[0].functions, sides[1].functions, align.Options{Renames: list})
	if err != nil {
		return nil, err
	}
	stands := make(map[int]int) // by group, the function of the later release that all of it is replaced by
	for _, m := range matches {
		if at, ok := stands[m.Group]; m.Head >= 0 && (!ok || sides[1].functions[m.Head].Weight > sides[1].functions[at].Weight) {
			stands[m.Group] = m.Head
		}
	}
	found := make(map[int64]FoundRename)
	for _, m := range matches {
		at, ok := stands[m.Group]
		if !ok || m.Base < 0 || m.Head < 0 {
			continue
		}
		to := sides[1].ids[at]
		origin := aligned
		if m.Kind == align.Renamed && m.Confidence == 1 {
			origin = declared
		}
		if origin == aligned && !similar {
			continue
		}
		for _, from := range []int64{sides[0].ids[m.Base], sides[1].ids[m.Head]} {
			if from != to && found[from].Origin != declared {
				found[from] = FoundRename{fleet.Rename{FromID: from, ToID: to, Origin: origin}, m.Confidence, m.Reason}
			}
		}
	}
	renames := make([]FoundRename, 0, len(found))
	for _, r := range found {
		next, again := found[r.ToID]
		switch {
		case !again:
			renames = append(renames, r)
		case r.Origin == declared:
			return nil, fmt.Errorf("%s is to be %s, which is to be %s: a rename holds in both releases, and one name cannot be two functions", a.Name(r.FromID).Name, a.Name(r.ToID).Name, a.Name(next.ToID).Name)
		}
	}
	slices.SortFunc(renames, func(a, b FoundRename) int { return cmp.Compare(a.FromID, b.FromID) })
	return renames, nil
}

// noStack is the function of samples without a stack.
const noStack = "[no stack]"

// An alignedSide is one release as package align wants it.
type alignedSide struct {
	functions []align.Function
	ids       []int64
	index     map[int64]int
	namesakes map[[2]string]int // functions by name and module
	calls     map[[2]int]float64
}

// add adds a stack, leaf to root.
func (s *alignedSide) add(a *Answer, frames []int64, weight float64) {
	if !(weight > 0) {
		return
	}
	if s.calls == nil {
		s.calls = make(map[[2]int]float64)
	}
	seen := make(map[int]bool, len(frames))
	callee := -1
	for _, id := range frames {
		i, ok := s.index[id]
		if !ok {
			i = len(s.ids)
			s.index[id] = i
			f := a.Name(id)
			s.ids = append(s.ids, id)
			s.namesakes[[2]string{f.Name, f.Module}]++
			s.functions = append(s.functions, align.Function{
				Name: f.Name, SystemName: f.Name, DSO: f.Module, File: f.File, Unknown: f.Name == run.UnknownFunctionName(f.Module) || f.Name == noStack,
			})
		}
		if !seen[i] {
			seen[i] = true
			s.functions[i].Weight += weight
		}
		if callee >= 0 {
			s.calls[[2]int{i, callee}] += weight
		}
		callee = i
	}
}

// finish adds the edges, in the order of functions, and how many samples functions have.
func (s *alignedSide) finish(samples int64) {
	order := make([][2]int, 0, len(s.calls))
	for c := range s.calls {
		order = append(order, c)
	}
	slices.SortFunc(order, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	for _, c := range order {
		w := s.calls[c]
		s.functions[c[0]].Callees = append(s.functions[c[0]].Callees, align.Edge{Function: c[1], Weight: w})
		s.functions[c[1]].Callers = append(s.functions[c[1]].Callers, align.Edge{Function: c[0], Weight: w})
	}
	for i := range s.functions {
		f := &s.functions[i]
		// What has a file is local to it, and there may be others of the name.
		if f.File != "" && s.namesakes[[2]string{f.Name, f.DSO}] > 1 {
			f.Name, f.Apart = f.Name+"@"+f.File, f.File
		}
		f.Weight = min(f.Weight, 1)
		f.Samples = int64(math.Round(f.Weight * float64(samples)))
	}
}
