package llvm

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// mcaReport is the JSON output of llvm-mca. The keys are the same in LLVM 14 to 22;
// numbers may be written as integers or as floats, so all are float64.
type mcaReport struct {
	CodeRegions []mcaRegion
	TargetInfo  struct {
		CPUName   string
		Resources []string
	}
}

type mcaRegion struct {
	Name         string
	Instructions []string
	SummaryView  *struct {
		BlockRThroughput float64
		DispatchWidth    float64
		IPC              float64
		Instructions     float64 // of all iterations
		Iterations       float64
		TotalCycles      float64
		TotaluOps        float64
	}
	InstructionInfoView *struct {
		InstructionList []mcaInstruction
	}
	ResourcePressureView *struct {
		ResourcePressureInfo []mcaUsage
	}
	TimelineView *struct {
		TimelineInfo []mcaRow
	}
	BottleneckAnalysis *mcaBottleneck
}

// mcaBottleneck is in the JSON of LLVM 22 only. Without a rise of pressure there is
// nothing but PressureIncreaseCycles.
type mcaBottleneck struct {
	PressureIncreaseCycles   float64
	ResourcePressureCycles   float64
	RegisterDependencyCycles float64
	MemoryDependencyCycles   float64
	ResourcePressure         []map[string]float64
}

type mcaInstruction struct {
	Instruction            float64
	Latency                float64
	NumMicroOpcodes        float64
	RThroughput            float64
	HasUnmodeledSideEffect bool `json:"hasUnmodeledSideEffects"`
	MayLoad                bool `json:"mayLoad"`
	MayStore               bool `json:"mayStore"`
}

type mcaUsage struct {
	InstructionIndex float64 // the number of instructions: the row of the totals
	ResourceIndex    float64
	ResourceUsage    float64
}

type mcaRow struct {
	CycleDispatched float64
	CycleReady      float64
	CycleIssued     float64
	CycleExecuted   float64
	CycleRetired    float64
}

// parseReport reads llvm-mca's JSON and checks what must hold of every report.
func parseReport(data []byte) (*mcaReport, error) {
	var r mcaReport
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("llvm-mca: json: %w", err)
	}
	for i, name := range r.TargetInfo.Resources {
		r.TargetInfo.Resources[i] = resourceName(name)
	}
	for i := range r.CodeRegions {
		if err := r.CodeRegions[i].check(len(r.TargetInfo.Resources)); err != nil {
			return nil, fmt.Errorf("llvm-mca: json: region %q: %w", r.CodeRegions[i].Name, err)
		}
	}
	return &r, nil
}

// resourceName makes the name of one unit of several readable: llvm-mca ends it in a
// byte that is the unit's number, as in "A57UnitI.\x00".
func resourceName(name string) string {
	if n := len(name); n > 0 && name[n-1] < ' ' {
		return name[:n-1] + strconv.Itoa(int(name[n-1]))
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return '?'
		}
		return r
	}, name)
}

// whole is a float64 of the JSON as an int, if it is one in [0, limit].
func whole(what string, v float64, limit int) (int, error) {
	if !(v >= 0 && v <= float64(limit)) || v != math.Trunc(v) {
		return 0, fmt.Errorf("%s is %v", what, v)
	}
	return int(v), nil
}

const maxCount = math.MaxInt32

func (r *mcaRegion) check(resources int) error {
	n := len(r.Instructions)
	s := r.SummaryView
	if s == nil {
		return fmt.Errorf("has no SummaryView")
	}
	iterations, err := whole("Iterations", s.Iterations, maxCount)
	if err != nil {
		return err
	}
	if float64(iterations)*float64(n) != s.Instructions {
		return fmt.Errorf("%d instructions, %d iterations and %v instructions in total", n, iterations, s.Instructions)
	}
	for _, v := range []struct {
		name  string
		value float64
	}{{"TotalCycles", s.TotalCycles}, {"TotaluOps", s.TotaluOps}, {"DispatchWidth", s.DispatchWidth}} {
		if _, err := whole(v.name, v.value, maxCount); err != nil {
			return err
		}
	}
	if s.BlockRThroughput < 0 || s.IPC < 0 {
		return fmt.Errorf("BlockRThroughput is %v, IPC is %v", s.BlockRThroughput, s.IPC)
	}
	if v := r.InstructionInfoView; v != nil {
		if len(v.InstructionList) != n {
			return fmt.Errorf("%d instructions and %d rows of InstructionInfoView", n, len(v.InstructionList))
		}
		for i, info := range v.InstructionList {
			if info.Instruction != float64(i) {
				return fmt.Errorf("row %d of InstructionInfoView is of instruction %v", i, info.Instruction)
			}
			if _, err := whole("NumMicroOpcodes", info.NumMicroOpcodes, maxCount); err != nil {
				return err
			}
			if info.Latency < 0 || info.RThroughput < 0 {
				return fmt.Errorf("instruction %d: Latency is %v, RThroughput is %v", i, info.Latency, info.RThroughput)
			}
		}
	}
	if v := r.ResourcePressureView; v != nil {
		for _, u := range v.ResourcePressureInfo {
			if _, err := whole("InstructionIndex", u.InstructionIndex, n); err != nil {
				return err
			}
			if _, err := whole("ResourceIndex", u.ResourceIndex, resources-1); err != nil {
				return err
			}
			if u.ResourceUsage < 0 {
				return fmt.Errorf("ResourceUsage is %v", u.ResourceUsage)
			}
		}
	}
	if v := r.TimelineView; v != nil {
		for i, row := range v.TimelineInfo {
			if err := row.check(); err != nil {
				return fmt.Errorf("row %d of TimelineView: %w", i, err)
			}
		}
	}
	return nil
}

func (row mcaRow) check() error {
	for _, v := range [...]float64{row.CycleDispatched, row.CycleReady, row.CycleIssued, row.CycleExecuted, row.CycleRetired} {
		if _, err := whole("a cycle", v, maxCount); err != nil {
			return err
		}
	}
	switch {
	case row.CycleExecuted > row.CycleRetired:
		return fmt.Errorf("retired in cycle %v, before it is executed in %v: the timeline is cut", row.CycleRetired, row.CycleExecuted)
	case row.CycleIssued > row.CycleExecuted:
		return fmt.Errorf("executed in cycle %v, before it is issued in %v", row.CycleExecuted, row.CycleIssued)
	case row.CycleDispatched > row.CycleIssued:
		return fmt.Errorf("issued in cycle %v, before it is dispatched in %v", row.CycleIssued, row.CycleDispatched)
	}
	return nil
}

// timeline is the rows of a region; there must be one of each instruction in each
// iteration.
func (r *mcaRegion) timeline(iterations int) ([]Row, error) {
	if r.TimelineView == nil {
		return nil, fmt.Errorf("has no TimelineView")
	}
	rows := r.TimelineView.TimelineInfo
	if want := int64(len(r.Instructions)) * int64(iterations); int64(len(rows)) != want {
		return nil, fmt.Errorf("%d rows of TimelineView, not %d", len(rows), want)
	}
	result := make([]Row, len(rows))
	for i, row := range rows {
		result[i] = Row{
			Dispatched: int32(row.CycleDispatched),
			Ready:      int32(row.CycleReady),
			Issued:     int32(row.CycleIssued),
			Executed:   int32(row.CycleExecuted),
			Retired:    int32(row.CycleRetired),
		}
	}
	return result, nil
}

func (r *mcaRegion) latencies() []Latency {
	result := make([]Latency, len(r.InstructionInfoView.InstructionList))
	for i, info := range r.InstructionInfoView.InstructionList {
		result[i] = Latency{
			Latency:     info.Latency,
			Uops:        int(info.NumMicroOpcodes),
			RThroughput: info.RThroughput,
			Loads:       info.MayLoad,
			Stores:      info.MayStore,
			SideEffects: info.HasUnmodeledSideEffect,
		}
	}
	return result
}

// pressure is the use of resources by each instruction, sorted by instruction and
// resource. The row of the totals is left out: it is the sum of the others.
func (r *mcaRegion) pressure(resources []string) []Usage {
	result := []Usage{}
	for _, u := range r.ResourcePressureView.ResourcePressureInfo {
		if int(u.InstructionIndex) == len(r.Instructions) {
			continue
		}
		result = append(result, Usage{
			Instruction: int(u.InstructionIndex),
			Resource:    resources[int(u.ResourceIndex)],
			Cycles:      u.ResourceUsage,
		})
	}
	slices.SortStableFunc(result, func(a, b Usage) int { return a.Instruction - b.Instruction })
	return result
}

func (b *mcaBottleneck) bottleneck() *Bottleneck {
	if b == nil {
		return nil
	}
	result := &Bottleneck{
		PressureCycles: b.PressureIncreaseCycles,
		ResourceCycles: b.ResourcePressureCycles,
		RegisterCycles: b.RegisterDependencyCycles,
		MemoryCycles:   b.MemoryDependencyCycles,
	}
	for _, pressure := range b.ResourcePressure {
		for _, name := range slices.Sorted(maps.Keys(pressure)) {
			result.Resources = append(result.Resources, Usage{
				Instruction: -1, Resource: resourceName(name), Cycles: pressure[name],
			})
		}
	}
	return result
}
