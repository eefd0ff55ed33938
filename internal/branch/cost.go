package branch

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Cost is how many cycles a mispredicted branch costs.
type Cost struct {
	Lo     float64 `json:"lo"`
	Centre float64 `json:"centre"`
	Hi     float64 `json:"hi"`
	// Measured is set for costs from the cycles of the stacks themselves.
	Measured bool `json:"measured"`
	// Source says where the numbers are from.
	Source string `json:"source"`
}

// costTable holds lines of core, cycles, ids and source, separated by TAB.
//
//go:embed costs.tsv
var costTable string

// Measured costs of a miss were 1.5 to 2 times the cycles that a pipeline takes to
// fill: the front end starts cold, and what follows waits.
const (
	costCentre = 1.6
	costHi     = 2.0
)

// A core is a line of the table.
type core struct {
	name, ids, source string
	cycles            float64
}

func cores() []core {
	var list []core
	for line := range strings.Lines(costTable) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 4 || f[0] == "core" {
			continue
		}
		cycles, err := strconv.ParseFloat(f[1], 64)
		if err != nil {
			continue // tests look at every line
		}
		list = append(list, core{name: f[0], cycles: cycles, ids: f[2], source: f[3]})
	}
	return list
}

func (c *core) cost() *Cost {
	return &Cost{
		Lo: c.cycles, Centre: costCentre * c.cycles, Hi: costHi * c.cycles,
		Source: fmt.Sprintf("%s: %g cycles by %s, in practice up to twice that", c.name, c.cycles, c.source),
	}
}

// CostOf returns the cost on a core by its name, as -mcpu of LLVM has it.
func CostOf(name string) (*Cost, error) {
	var names []string
	for _, c := range cores() {
		if c.name == strings.ToLower(name) {
			return c.cost(), nil
		}
		names = append(names, c.name)
	}
	return nil, fmt.Errorf("no core %q in the table of costs; it has %s", name, strings.Join(names, ", "))
}

// CoreName returns the name of the core of a CPU by the feature CPUID of recordings
// (vendor,family,model,stepping on x86, MIDR on Arm), as -mcpu of LLVM has it, "" if it
// is not in the table.
func CoreName(cpuid string) string {
	if c := coreOf(cpuid); c != nil {
		return c.name
	}
	return ""
}

// costOfCPUID returns the cost on the CPU that a recording names, nil if it is not in
// the table.
func costOfCPUID(cpuid string) *Cost {
	if c := coreOf(cpuid); c != nil {
		return c.cost()
	}
	return nil
}

func coreOf(cpuid string) *core {
	vendor, number := splitCPUID(cpuid)
	if vendor == "" {
		return nil
	}
	for _, c := range cores() {
		if ids, ok := strings.CutPrefix(c.ids, vendor+":"); ok && hasModel(ids, number) {
			return &c
		}
	}
	return nil
}

// splitCPUID returns what the table knows of a CPUID: implementer and part, or vendor
// with family and model. Revisions do not count.
func splitCPUID(cpuid string) (vendor, number string) {
	if midr, err := strconv.ParseUint(cpuid, 0, 64); err == nil {
		return fmt.Sprintf("%02x", midr>>24&0xff), fmt.Sprintf("%03x", midr>>4&0xfff)
	}
	if f := strings.Split(cpuid, ","); len(f) >= 3 {
		return f[0] + ":" + f[1], f[2]
	}
	return "", ""
}

// A CalibratedCost is one that was measured on a core.
type CalibratedCost struct {
	CPUID string // as in recordings, "" if unknown
	Name  string // for people
	Cost  Cost
}

// sameCore reports whether the cost is of the core that a recording names.
func (c *CalibratedCost) sameCore(cpuid string) bool {
	vendor, number := splitCPUID(cpuid)
	v, n := splitCPUID(c.CPUID)
	return vendor != "" && vendor == v && number == n
}

// SpanCalibrated holds the costs of all cores of a list, which is not empty.
func SpanCalibrated(list []CalibratedCost) *Cost {
	c := list[0].Cost
	var names []string
	sum := 0.0
	for _, o := range list {
		c.Lo, c.Hi = min(c.Lo, o.Cost.Lo), max(c.Hi, o.Cost.Hi)
		sum += o.Cost.Centre
		if !slices.Contains(names, o.Name) {
			names = append(names, o.Name)
		}
	}
	c.Centre = sum / float64(len(list))
	c.Source = "calibrated on " + strings.Join(names, ", ")
	return &c
}

// CostOn is what a miss costs if the recording itself does not tell: what the user says, what
// was calibrated on the core that the recording names, or what the table has. Nothing
// is taken from another core in silence: the warning is "" if there is none.
func (o *Options) CostOn(cpuid string) (c *Cost, warning string) {
	switch {
	case o.Cost != nil:
		return o.Cost, ""
	case len(o.Calibrated) == 0:
		return costOfCPUID(cpuid), ""
	case cpuid == "":
		c := SpanCalibrated(o.Calibrated)
		return c, fmt.Sprintf("does not name its CPU: the cost of a miss is that %s", c.Source)
	}
	var same []CalibratedCost
	for _, known := range o.Calibrated {
		if known.sameCore(cpuid) {
			same = append(same, known)
		}
	}
	if len(same) == 0 {
		return costOfCPUID(cpuid), fmt.Sprintf("is of the CPU %s, but the cost of a miss was %s, and is not used", cpuid, SpanCalibrated(o.Calibrated).Source)
	}
	return SpanCalibrated(same), ""
}

// CostOfPMU is the cost on the core that the PMU of Arm is named after, armv8_cortex_a55,
// nil if it is unknown.
func (o *Options) CostOfPMU(pmu string) *Cost {
	_, name, ok := strings.Cut(pmu, "_")
	if !ok {
		return nil
	}
	name = strings.ReplaceAll(name, "_", "-")
	var same []CalibratedCost
	for _, c := range o.Calibrated {
		if CoreName(c.CPUID) == name {
			same = append(same, c)
		}
	}
	if len(same) > 0 {
		return SpanCalibrated(same)
	}
	c, err := CostOf(name)
	if err != nil {
		return nil
	}
	return c
}

// hasModel reports whether a number is in a list such as 0-15,33.
func hasModel(ids, number string) bool {
	list := strings.Split(ids, ",")
	if slices.Contains(list, number) {
		return true
	}
	n, err := strconv.Atoi(number)
	for _, id := range list {
		lo, hi, ok := strings.Cut(id, "-")
		a, errA := strconv.Atoi(lo)
		b, errB := strconv.Atoi(hi)
		if ok && err == nil && errA == nil && errB == nil && a <= n && n <= b {
			return true
		}
	}
	return false
}

// CalibratedFor is the cost on the core that is called cpu, whatever a recording says.
func CalibratedFor(list []CalibratedCost, cpu string) (*Cost, error) {
	var found []CalibratedCost
	var names []string
	for _, c := range list {
		name, _, _ := strings.Cut(c.Name, " (")
		if strings.EqualFold(name, cpu) || strings.EqualFold(c.Name, cpu) || c.CPUID != "" && c.CPUID == cpu {
			found = append(found, c)
		}
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("the calibration has no core %q, it has %s", cpu, strings.Join(names, ", "))
	}
	return SpanCalibrated(found), nil
}

// ParseCost reads the cycles of a miss, N or LO-HI.
func ParseCost(text string) (*Cost, error) {
	low, high, ok := strings.Cut(text, "-")
	if !ok {
		high = low
	}
	lo, err := strconv.ParseFloat(low, 64)
	hi, errHi := strconv.ParseFloat(high, 64)
	if err != nil || errHi != nil || !(lo > 0 && lo <= hi && hi <= 10000) {
		return nil, fmt.Errorf("%q is no number of cycles from 0 to 10000, nor a range of such", text)
	}
	return &Cost{Lo: lo, Centre: (lo + hi) / 2, Hi: hi, Source: "--miss-cost"}, nil
}
