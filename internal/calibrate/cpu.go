package calibrate

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// A CPU is one that the system can run programs on.
type CPU struct {
	Index     int
	ID        string // see [Core], "" if unknown
	ModelName string // "" if unknown
	PMU       string // see [Core]
}

// CPUs returns those that the system names in /proc and /sys, by their index. root is
// the root directory.
func CPUs(root fs.FS) ([]CPU, error) {
	text, err := fs.ReadFile(root, "proc/cpuinfo")
	if err != nil {
		return nil, err
	}
	list := parseCPUInfo(string(text))
	if len(list) == 0 {
		return nil, errors.New("proc/cpuinfo lists no processors")
	}
	for i := range list {
		c := &list[i]
		name := fmt.Sprintf("sys/devices/system/cpu/cpu%d/regs/identification/midr_el1", c.Index)
		if midr, err := fs.ReadFile(root, name); err == nil {
			if n, err := strconv.ParseUint(strings.TrimSpace(string(midr)), 0, 64); err == nil {
				c.ID = midrID(n)
			}
		}
	}
	for _, pmu := range []string{"cpu_core", "cpu_atom"} {
		text, err := fs.ReadFile(root, "sys/devices/"+pmu+"/cpus")
		if err != nil {
			continue
		}
		for i := range list {
			if inList(strings.TrimSpace(string(text)), list[i].Index) {
				list[i].PMU = pmu
			}
		}
	}
	slices.SortFunc(list, func(a, b CPU) int { return a.Index - b.Index })
	return list, nil
}

func midrID(midr uint64) string { return fmt.Sprintf("0x%016x", midr) }

// parseCPUInfo reads /proc/cpuinfo of x86 and Arm, in which the line of each processor
// precedes its fields. On Arm the machine may follow.
func parseCPUInfo(text string) (list []CPU) {
	var fields map[string]string
	end := func() {
		if index, err := strconv.ParseUint(fields["processor"], 10, 31); err == nil {
			list = append(list, CPU{Index: int(index), ID: cpuID(fields), ModelName: fields["model name"]})
		}
	}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		if key = strings.TrimSpace(key); key == "processor" || key == "" {
			end()
			fields = make(map[string]string)
		}
		if key != "" && fields != nil {
			fields[key] = strings.TrimSpace(value)
		}
	}
	end()
	return list
}

// cpuID makes the feature CPUID of perf.data from the fields of /proc/cpuinfo: see
// get_cpuid in tools/perf/arch/x86/util/header.c, and for the fields of MIDR_EL1 the
// Arm Architecture Reference Manual for A-profile, DDI 0487.
func cpuID(fields map[string]string) string {
	if vendor := fields["vendor_id"]; vendor != "" {
		return strings.Join([]string{vendor, fields["cpu family"], fields["model"], fields["stepping"]}, ",")
	}
	number := func(key string) (uint64, bool) {
		n, err := strconv.ParseUint(fields[key], 0, 16)
		return n, err == nil
	}
	implementer, ok := number("CPU implementer")
	part, okPart := number("CPU part")
	if !ok || !okPart {
		return ""
	}
	variant, _ := number("CPU variant")
	revision, _ := number("CPU revision")
	const byCPUID = 0xf // the architecture is in other registers
	return midrID(implementer<<24 | variant<<20 | byCPUID<<16 | part<<4 | revision)
}

// inList reports whether n is in a list as 0-3,8.
func inList(list string, n int) bool {
	for part := range strings.SplitSeq(list, ",") {
		first, last, ok := strings.Cut(part, "-")
		if !ok {
			last = first
		}
		a, errA := strconv.Atoi(first)
		b, errB := strconv.Atoi(last)
		if errA == nil && errB == nil && a <= n && n <= b {
			return true
		}
	}
	return false
}

// kinds groups CPUs of one kind: that have the same ID and PMU.
func kinds(list []CPU) (kinds [][]CPU) {
	for _, c := range list {
		i := slices.IndexFunc(kinds, func(k []CPU) bool { return k[0].ID == c.ID && k[0].PMU == c.PMU })
		if i < 0 {
			kinds = append(kinds, nil)
			i = len(kinds) - 1
		}
		kinds[i] = append(kinds[i], c)
	}
	return kinds
}
