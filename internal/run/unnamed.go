package run

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Unnamed says why addresses of a mapping have no names, as far as who read the recording
// knows.
type Unnamed struct {
	Why string // "stripped, without a debug file under /usr/lib/debug"
	// Install is the package that has the names, "" if it is not known, and Help what to do
	// else.
	Install, Help string
}

// UnnamedShare is the share of a run's cost that is in code of a file without names.
type UnnamedShare struct {
	// File is that of the mapping, or [unknown] for addresses in none.
	File string
	// Self is the share, 0 to 1, whose innermost frame is there, Total that with any
	// frame there. Callers in no file do not count: call chains of programs without frame
	// pointers end with such.
	Self, Total float64
	Unnamed
}

const (
	// minUnnamed is the share of the cost from which on code without names is worth a line.
	minUnnamed = 0.01
	// minUnnamedCallers is that for code without names that calls other code: call chains
	// of programs without frame pointers often go astray a little.
	minUnnamedCallers = 0.05
	// minUnnamedFile is the share from which on a file is named, if it is not the first.
	minUnnamedFile = 0.005
	// maxUnnamedFiles is how many files that line names.
	maxUnnamedFiles = 3
)

// Unnamed returns the share of the cost that is in code without names, and the files that it is
// in, those with the largest shares first. The cost is that of the first event with samples.
func (r *Run) Unnamed() (all UnnamedShare, files []UnnamedShare) {
	event := slices.IndexFunc(r.Events, func(e Event) bool { return !e.Derived && e.Weight > 0 })
	if event < 0 {
		return all, nil
	}
	// Of each stack: the file of its innermost frame if that has no name, and those of
	// all of its frames without names, 0 if it has none. Parents precede children.
	names := []string{""}
	index := make(map[string]uint32)
	file := make([]uint32, len(r.Locations))
	caller := make([]uint32, len(r.Locations)) // file, 0 for addresses in none
	why := make(map[string]Unnamed)
	for i := range r.Locations {
		lines := r.Locations[i].Lines
		f := &r.Functions[lines[len(lines)-1].Function]
		// What stands for frames that a picture does not show is no code.
		if !f.Unknown || r.Locations[i].Mapping == 0 && strings.Trim(f.Name, "[]") != "unknown" {
			continue
		}
		m := &r.Mappings[r.Locations[i].Mapping]
		name := cmp.Or(m.File, "[unknown]")
		n, ok := index[name]
		if !ok {
			n = uint32(len(names))
			index[name] = n
			names = append(names, name)
		}
		file[i] = n
		if r.Locations[i].Mapping != 0 {
			caller[i] = n
		}
		if m.Unnamed != (Unnamed{}) {
			why[name] = m.Unnamed
		}
	}
	if len(names) == 1 {
		return all, nil
	}
	// Stacks share few sets of files.
	sets := [][]uint32{nil}
	const firstFiles = 256
	first := [][firstFiles / 64]uint64{{}} // of sets: a bit for each of the first files that are in it
	known := make(map[[2]uint32]uint32)    // by set and file
	set := make([]uint32, r.Stacks.Len())
	for id := 1; id < r.Stacks.Len(); id++ {
		n := r.Stacks.node(StackID(id))
		s, f := set[n.parent], caller[n.location]
		word, bit := f%firstFiles/64, uint64(1)<<(f%64)
		if f != 0 && (f < firstFiles && first[s][word]&bit == 0 || f >= firstFiles && !slices.Contains(sets[s], f)) {
			key := [2]uint32{s, f}
			if known[key] == 0 {
				known[key] = uint32(len(sets))
				sets = append(sets, append(slices.Clip(sets[s]), f))
				first = append(first, first[s])
				if f < firstFiles {
					first[len(first)-1][word] |= bit
				}
			}
			s = known[key]
		}
		set[id] = s
	}
	shares := make([]UnnamedShare, len(names)) // by file, all of them first
	for i, name := range names {
		shares[i].File, shares[i].Unnamed = name, why[name]
	}
	for i := range r.Samples {
		s := &r.Samples[i]
		if int(s.Event) != event || s.Stack == 0 {
			continue
		}
		share := float64(s.Weight) / float64(r.Events[event].Weight)
		leaf := file[r.Stacks.Location(s.Stack)]
		files := sets[set[s.Stack]]
		if leaf != 0 {
			shares[leaf].Self += share
			shares[0].Self += share
			if !slices.Contains(files, leaf) {
				shares[leaf].Total += share
			}
		}
		for _, f := range files {
			shares[f].Total += share
		}
		if leaf != 0 || len(files) > 0 {
			shares[0].Total += share
		}
	}
	all, files = shares[0], slices.DeleteFunc(shares[1:], func(s UnnamedShare) bool { return s.Total == 0 })
	slices.SortStableFunc(files, func(a, b UnnamedShare) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Total, a.Total), cmp.Compare(a.File, b.File))
	})
	return all, files
}

// AllWarnings are the warnings of a run, and last that on its code without names, or why it has
// no samples.
func (r *Run) AllWarnings() []string {
	if empty := r.emptyWarning(); empty != "" {
		return append(slices.Clip(r.Warnings), empty)
	}
	if unnamed := UnnamedWarning([]*Run{r}); unnamed != "" {
		return append(slices.Clip(r.Warnings), unnamed)
	}
	return r.Warnings
}

// emptyWarning says why a run has no samples and what gives some, "" if it has any.
func (r *Run) emptyWarning() string {
	a := &r.Accounting
	switch {
	case a.Out > 0 || len(r.Samples) > 0 || a.In > a.Filtered: // what was dropped is accounted for
		return ""
	case a.In > 0:
		return fmt.Sprintf("no samples are left: all %d were filtered out", a.In)
	case len(r.Events) == 0 && len(r.Counters) > 0:
		return "these are totals of a whole run, without samples"
	case r.Recording.Holds != "":
		return "the trace has neither samples, slices nor switches of threads: nothing of it is a profile"
	case a.Lost > 0:
		return fmt.Sprintf("no samples: all %d were lost while it was recorded; a lower frequency or a larger buffer (perf record -m) loses fewer", a.Lost)
	}
	return "no samples were recorded: the command ran for less than a sampling period, or the event does not count on that machine; a longer run, a higher frequency (-F) or -e cpu-clock gives some"
}

// UnnamedWarning is one line on the code without names of runs: how much of their cost is in
// it, which files have most of it and why, and what would help. It is "" if that is less than
// 1 %. With two sides it says how much it is on each.
func UnnamedWarning(sides ...[]*Run) string {
	sides = slices.DeleteFunc(slices.Clone(sides), func(runs []*Run) bool { return len(runs) == 0 })
	all := make([]UnnamedShare, len(sides))
	files := make(map[string][]UnnamedShare)
	for i, runs := range sides {
		for _, r := range runs {
			sum, list := r.Unnamed()
			all[i].add(sum, len(runs))
			for _, s := range list {
				if files[s.File] == nil {
					files[s.File] = make([]UnnamedShare, len(sides))
				}
				files[s.File][i].add(s, len(runs))
			}
		}
	}
	// Callers without names are worth the line too, but what is in them says less of them.
	share := func(s UnnamedShare) float64 { return s.Self }
	is := "is in"
	if !slices.ContainsFunc(all, func(s UnnamedShare) bool { return s.Self >= minUnnamed }) {
		share = func(s UnnamedShare) float64 { return s.Total }
		is = "has callers in"
		if !slices.ContainsFunc(all, func(s UnnamedShare) bool { return s.Total >= minUnnamedCallers }) {
			return ""
		}
	}
	most := func(list []UnnamedShare) float64 {
		m := 0.0
		for _, s := range list {
			m = max(m, share(s))
		}
		return m
	}
	order := slices.SortedFunc(maps.Keys(files), func(a, b string) int {
		return cmp.Or(cmp.Compare(most(files[b]), most(files[a])), cmp.Compare(a, b))
	})
	first := order[0]
	order = slices.DeleteFunc(order, func(name string) bool { return name != first && most(files[name]) < minUnnamedFile })
	var parts []string
	var reasons []Unnamed
	for i, name := range order[:min(len(order), maxUnnamedFiles)] {
		var reason Unnamed
		for _, s := range files[name] {
			reason = cmp.Or(reason, s.Unnamed)
		}
		reasons = append(reasons, reason)
		part := name + " " + percents(files[name], share)
		switch {
		case reason.Why == "":
		case i > 0 && reason.Why == reasons[i-1].Why:
			part += " (likewise)"
		default:
			part += " (" + reason.Why + ")"
		}
		parts = append(parts, part)
	}
	if n := len(order) - len(parts); n > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", n))
	}
	cost := fmt.Sprintf("%s of the cost", percent(share(all[0])))
	if len(all) == 2 && percent(share(all[0])) != percent(share(all[1])) {
		cost = fmt.Sprintf("%s of the cost of base and %s of that of head", percent(share(all[0])), percent(share(all[1])))
	}
	line := fmt.Sprintf("%s %s code without names: %s", cost, is, strings.Join(parts, ", "))
	if help := helpUnnamed(reasons); help != "" {
		line += ": " + help
	}
	return line
}

// helpUnnamed is what would help, each thing once.
func helpUnnamed(reasons []Unnamed) string {
	var order []string
	install := make(map[string][]string) // by what helps else
	for _, r := range reasons {
		if !slices.Contains(order, r.Help) {
			order = append(order, r.Help)
		}
		if r.Install != "" && !slices.Contains(install[r.Help], r.Install) {
			install[r.Help] = append(install[r.Help], r.Install)
		}
	}
	var list []string
	for _, help := range order {
		saidWithMore := func(other string) bool { return strings.HasPrefix(other, help+", or ") }
		if install[help] == nil && slices.ContainsFunc(order, saidWithMore) {
			continue
		}
		if packages := install[help]; packages != nil {
			help = strings.TrimSuffix("install "+strings.Join(packages, " and ")+", or "+help, ", or ")
		}
		if help != "" {
			list = append(list, help)
		}
	}
	return strings.Join(list, "; ")
}

// add adds the shares of one of n runs.
func (s *UnnamedShare) add(of UnnamedShare, n int) {
	s.Self += of.Self / float64(n)
	s.Total += of.Total / float64(n)
	s.Unnamed = cmp.Or(s.Unnamed, of.Unnamed)
}

// percents are the shares of sides, one number if they look the same.
func percents(sides []UnnamedShare, share func(UnnamedShare) float64) string {
	var list []string
	for _, s := range sides {
		list = append(list, percent(share(s)))
	}
	return strings.Join(slices.Compact(list), " and ")
}

func percent(share float64) string {
	if share != 0 && share < 0.00995 {
		return fmt.Sprintf("%.1f%%", 100*share)
	}
	return fmt.Sprintf("%.0f%%", 100*share)
}
