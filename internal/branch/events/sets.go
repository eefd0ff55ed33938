package events

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"profdiff/internal/branch"
	"profdiff/internal/perffile"
)

// A Role is what an event is used for.
type Role int

// The roles, and how many there are.
const (
	Misses Role = iota
	Branches
	Instructions
	Cycles
	Roles
)

// Counts is what an event of a role counts.
func (r Role) Counts() branch.Counts {
	return [Roles]branch.Counts{branch.CountsMisses, branch.CountsBranches, branch.CountsInstructions, branch.CountsCycles}[r]
}

// A Set is the events events of one PMU that count in the same modes: user, kernel or both.
type Set struct {
	PMU string
	// Attrs are indices in File.Attrs, -1 if there is none.
	Attrs [Roles]int
}

// Modes are the bits of what an event does not count. Whether hypervisors are counted
// differs by tool and matters on few machines.
const Modes = perffile.FlagExcludeUser | perffile.FlagExcludeKernel

// Sets picks the events that rates are made from. has says whether there are
// numbers of an event.
func Sets(file *perffile.File, has func(attr int) bool) (sets []Set, warnings []string) {
	warn := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	pmus := corePMUs(file)
	misses := make(map[string][]int)
	var names []string
	for i := range file.Attrs {
		if has(i) && CountsOf(&file.Attrs[i], &file.Info) == branch.CountsMisses {
			pmu := pmus[i]
			if misses[pmu] == nil {
				names = append(names, pmu)
			}
			misses[pmu] = append(misses[pmu], i)
		}
	}
	slices.Sort(names)
	for _, pmu := range names {
		s := Set{PMU: pmu}
		s.Attrs[Misses] = best(file, misses[pmu], Misses)
		miss := &file.Attrs[s.Attrs[Misses]]
		for _, i := range misses[pmu] {
			if i != s.Attrs[Misses] {
				warn("%s counts misses too and is not used beside %s", file.Attrs[i].Name, miss.Name)
			}
		}
		for r := Branches; r < Roles; r++ {
			var same, other []int
			for i := range file.Attrs {
				a := &file.Attrs[i]
				if !has(i) || pmus[i] != pmu || CountsOf(a, &file.Info) != r.Counts() {
					continue
				}
				if a.Flags&Modes == miss.Flags&Modes {
					same = append(same, i)
				} else {
					other = append(other, i)
				}
			}
			s.Attrs[r] = best(file, same, r)
			if len(same) == 0 && len(other) > 0 {
				warn("%s and %s do not count in the same modes (user, kernel): no ratio of them is made", miss.Name, file.Attrs[other[0]].Name)
			}
		}
		for i := range file.Attrs {
			if s.Attrs[Branches] < 0 && has(i) && pmus[i] == pmu && CountsOf(&file.Attrs[i], &file.Info) == branch.CountsTaken {
				warn("%s counts branches that were taken only: no rate is made with it", file.Attrs[i].Name)
			}
		}
		if b := s.Attrs[Branches]; b >= 0 && IsArm(file.Info.Arch) {
			if a := &file.Attrs[b]; a.Type == perffile.TypeHardware {
				warn("%s is not one metric on Arm: some cores count all branches with it, others those that were taken; raw events r22 and r21 are misses and branches of all (ARMv8)", a.Name)
			}
		}
		sets = append(sets, s)
	}
	if len(sets) > 1 {
		var list []string
		for _, s := range sets {
			list = append(list, cmp.Or(s.PMU, "others"))
		}
		warn("cores of different kinds (%s) have misses: their numbers are not comparable and are never added up", strings.Join(list, ", "))
	}
	return sets, warnings
}

// best picks one of several events that count the same: retired instructions are what
// the program did, others count what was speculated too.
func best(file *perffile.File, list []int, r Role) int {
	if len(list) == 0 {
		return -1
	}
	retired := func(i int) int {
		a := &file.Attrs[i]
		name := strings.ToLower(a.Name)
		if strings.Contains(name, "retired") || IsArm(file.Info.Arch) && a.Type != perffile.TypeHardware && (a.Config&0xffff == 0x22 && r == Misses || a.Config&0xffff == 0x21 && r == Branches) {
			return 0
		}
		return 1
	}
	return slices.MinFunc(list, func(a, b int) int { return cmp.Or(cmp.Compare(retired(a), retired(b)), cmp.Compare(a, b)) })
}

// IsArm reports whether the machine is an Arm, 32 or 64 bits.
func IsArm(arch string) bool {
	return strings.HasPrefix(arch, "arm") || strings.HasPrefix(arch, "aarch64")
}

// isArm32 reports whether the machine runs 32-bit code of Arm only.
func isArm32(arch string) bool {
	return strings.HasPrefix(arch, "arm") && !strings.HasPrefix(arch, "arm64")
}

// corePMUs returns the PMU of each event, "" for all of them if there is one kind of
// core.
func corePMUs(file *perffile.File) []string {
	names := make(map[perffile.EventType]string)
	kinds := make(map[string]bool)
	for _, p := range file.Info.PMUs {
		names[p.Type] = p.Name
		if IsCorePMU(p.Name) {
			kinds[p.Name] = true
		}
	}
	out := make([]string, len(file.Attrs))
	for i := range file.Attrs {
		a := &file.Attrs[i]
		name, _ := SplitPMU(a.Name)
		switch {
		case name != "":
		case a.Type > perffile.TypeBreakpoint:
			name = names[a.Type]
		case a.Type == perffile.TypeHardware || a.Type == perffile.TypeHWCache:
			// The upper half is the PMU of hybrid CPUs.
			name = names[perffile.EventType(a.Config>>32)]
			if a.Config>>32 == 0 {
				name = ""
			}
		}
		if IsCorePMU(name) {
			out[i] = name
			kinds[name] = true
		}
	}
	if len(kinds) <= 1 {
		clear(out)
	}
	return out
}

// IsCorePMU reports whether a PMU counts what cores do.
func IsCorePMU(name string) bool {
	for _, prefix := range []string{"cpu_core", "cpu_atom", "cpu_lowpower", "armv7", "armv8", "armv9", "arm_cortex", "apple_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// SplitPMU splits cpu_core/branch-misses/u into cpu_core and branch-misses:u. pmu is ""
// if the name has none.
func SplitPMU(name string) (pmu, event string) {
	pmu, rest, ok := strings.Cut(name, "/")
	if !ok {
		return "", name
	}
	i := strings.LastIndexByte(rest, '/')
	if i < 0 || strings.ContainsAny(pmu, ":= ") {
		return "", name
	}
	if modifiers := strings.TrimPrefix(rest[i+1:], ":"); modifiers != "" {
		return pmu, rest[:i] + ":" + modifiers
	}
	return pmu, rest[:i]
}
