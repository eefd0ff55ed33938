package budget

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"profdiff/internal/run"
	"profdiff/internal/stats"
)

// baselineSchema names the form of a StoredRun.
const baselineSchema = "profdiff.baseline/v1"

// maxStoredSize is the most bytes that a stored run may have.
const maxStoredSize = 64 << 20

// A BaselineKey says what runs can be compared: the runs of one benchmark under the same
// conditions.
type BaselineKey struct {
	Benchmark string `json:"benchmark"`
	Arch      string `json:"arch"`
	CPU       string `json:"cpu"`
	Kernel    string `json:"kernel"`
	Events    string `json:"events"` // all of the recording, with commas between
}

// newBaselineKey is the key of a run.
func newBaselineKey(benchmark string, r *run.Run) BaselineKey {
	rec := &r.Recording
	var events []string
	for i := range r.Events {
		events = append(events, r.Events[i].Name)
	}
	return BaselineKey{benchmark, rec.Arch, cmp.Or(rec.CPUID, rec.CPU), rec.Kernel, strings.Join(events, ",")}
}

// differs says in what two keys differ, "" if they do not.
func (k BaselineKey) differs(o BaselineKey) string {
	for _, f := range []struct{ name, a, b string }{
		{"benchmark", k.Benchmark, o.Benchmark},
		{"architecture", k.Arch, o.Arch},
		{"CPU", k.CPU, o.CPU},
		{"kernel", k.Kernel, o.Kernel},
		{"events", k.Events, o.Events},
	} {
		if f.a != f.b {
			return fmt.Sprintf("%s %s", f.name, cmp.Or(clip(f.a), "unknown"))
		}
	}
	return ""
}

// dir is the name of the directory of a key: for people, and with a hash, because names do
// not tell everything.
func (k BaselineKey) dir() string {
	plain := func(s string, most int) string {
		s = strings.Map(func(r rune) rune {
			switch {
			case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_':
				return r
			}
			return '-'
		}, s)
		return strings.Trim(s[:min(len(s), most)], "-.")
	}
	text, err := json.Marshal(k)
	if err != nil {
		panic(err) // of five strings
	}
	return fmt.Sprintf("%s-%s-%.8s", cmp.Or(plain(k.Benchmark, 40), "benchmark"), cmp.Or(plain(k.Events, 40), "event"), Hash(append(text, baselineSchema...)))
}

// A StoredRun is what is kept of a run for later: the cost of each function itself, how it
// varies within the run, the work done, and how the run was recorded. There are no stacks.
type StoredRun struct {
	Schema string      `json:"schema"`
	Key    BaselineKey `json:"key"`
	Name   string      `json:"name"` // as the recording was called
	// Start is when the recording began, zero if that is not known.
	Start       time.Time         `json:"start,omitzero"`
	DurationNS  int64             `json:"duration_ns"`
	Environment StoredEnvironment `json:"environment"`
	Samples     int64             `json:"samples"` // that were read
	Lost        int64             `json:"lost"`
	Throttled   int64             `json:"throttled"`
	Counters    []StoredCounter   `json:"counters"`
	Events      []StoredEvent     `json:"events"`
}

// A StoredEnvironment is what a key does not have of the machine.
type StoredEnvironment struct {
	Host              string  `json:"host"`
	Tool              string  `json:"tool"`
	Device            string  `json:"device"`
	Build             string  `json:"build"`
	CPUs              int     `json:"cpus"`
	KernelSymbols     string  `json:"kernel_symbols"`
	Governor          string  `json:"governor"`
	FrequencyMHz      float64 `json:"frequency_mhz"`
	FrequencyLimitMHz float64 `json:"frequency_limit_mhz"`
	Throttled         int64   `json:"cpus_throttled"`
	ThermalStatus     int     `json:"thermal_status"`
}

// A StoredCounter is a total of the run, such as the work done.
type StoredCounter struct {
	Name    string  `json:"name"`
	Unit    string  `json:"unit"`
	Value   float64 `json:"value"`
	Running float64 `json:"running"` // part of the time that it was on the hardware, 0 if unknown
}

// A StoredEvent is one event, with what it cost.
type StoredEvent struct {
	Name      string  `json:"name"`
	Unit      string  `json:"unit"`
	Period    uint64  `json:"period"`
	Frequency uint64  `json:"frequency"`
	Simulated bool    `json:"simulated"`
	Derived   bool    `json:"derived,omitempty"` // computed from other events
	Running   float64 `json:"running"`
	StoredSum
	// Functions are the costs of functions themselves, by process and thread.
	Functions []StoredFunction `json:"functions"`
}

// A StoredFunction is what a function cost itself in a thread.
type StoredFunction struct {
	Name       string `json:"name"`
	SystemName string `json:"system_name,omitempty"`
	DSO        string `json:"dso"` // its path
	File       string `json:"file,omitempty"`
	Line       int64  `json:"line,omitempty"`
	Unknown    bool   `json:"unknown,omitempty"`
	Process    string `json:"process,omitempty"`
	Thread     string `json:"thread,omitempty"`
	StoredSum
}

// A StoredSum is a sum over samples.
type StoredSum struct {
	Samples  int64   `json:"samples"`
	Weight   int64   `json:"weight"`
	WeightSq float64 `json:"weight_sq"` // Σw²
	// Blocks are the weights in each of 30 parts of the run with equal numbers of samples,
	// as pairs of the part and the weight, without empty ones. From these it follows how
	// much more samples that come in bursts vary than independent ones. There are none if
	// the order of the samples is not known.
	Blocks [][2]int64 `json:"blocks,omitempty"`
}

// add adds a weight to a part.
func (s *StoredSum) add(block int64, weight int64) {
	if n := len(s.Blocks); n > 0 && s.Blocks[n-1][0] == block {
		s.Blocks[n-1][1] += weight
		return
	}
	s.Blocks = append(s.Blocks, [2]int64{block, weight})
}

// storedKey tells rows of functions apart.
type storedKey struct {
	event, function, mapping uint32
	process, thread          string
}

// newStoredRun is what is kept of a run.
func newStoredRun(benchmark string, r *run.Run) *StoredRun {
	rec := &r.Recording
	c := &rec.Conditions
	s := &StoredRun{
		Schema: baselineSchema, Key: newBaselineKey(benchmark, r), Name: r.Name, Start: rec.Start.UTC(), DurationNS: int64(rec.Duration),
		Environment: StoredEnvironment{
			Host: rec.Host, Tool: rec.Tool, Device: rec.Device, Build: rec.Build, CPUs: rec.CPUs, KernelSymbols: rec.KernelSymbols,
			Governor: c.Governor, FrequencyMHz: c.FrequencyMHz, FrequencyLimitMHz: c.FrequencyLimitMHz, Throttled: c.Throttled, ThermalStatus: c.ThermalStatus,
		},
		Samples: r.Accounting.In, Lost: r.Accounting.Lost, Throttled: r.Accounting.Throttled,
		Counters: []StoredCounter{}, Events: []StoredEvent{},
	}
	for _, c := range r.Counters {
		s.Counters = append(s.Counters, StoredCounter{c.Name, c.Unit, c.Value, c.Running})
	}
	for i := range r.Events {
		e := &r.Events[i]
		s.Events = append(s.Events, StoredEvent{
			Name: e.Name, Unit: e.Unit, Period: e.Period, Frequency: e.Frequency, Simulated: e.Simulated, Derived: e.Derived, Running: e.Running,
			StoredSum: StoredSum{Samples: e.Samples, Weight: e.Weight, WeightSq: e.WeightSq}, Functions: []StoredFunction{},
		})
	}
	rows := make(map[storedKey]int)
	row := func(event uint32, stack run.StackID, labels uint32) *StoredFunction {
		location := &r.Locations[r.Stacks.Location(stack)]
		l := &r.Labels[labels]
		key := storedKey{event, location.Lines[0].Function, location.Mapping, l.Process, l.Thread}
		list := &s.Events[event].Functions
		at, ok := rows[key]
		if !ok {
			at = len(*list)
			rows[key] = at
			f := &r.Functions[key.function]
			*list = append(*list, StoredFunction{
				Name: f.Name, SystemName: f.SystemName, DSO: r.Mappings[key.mapping].File, File: f.File, Line: f.StartLine, Unknown: f.Unknown,
				Process: l.Process, Thread: l.Thread,
			})
		}
		return &(*list)[at]
	}
	for i := range r.Samples {
		if x := &r.Samples[i]; x.Stack != 0 {
			f := row(x.Event, x.Stack, x.Labels)
			f.Samples += x.Count
			f.Weight += x.Weight
			f.WeightSq += x.WeightSq
		}
	}
	samples, n := make([]int64, len(r.Events)), make([]int64, len(r.Events))
	for i := range r.Timeline {
		samples[r.Timeline[i].Event]++
	}
	for i := range r.Timeline {
		x := &r.Timeline[i]
		block := n[x.Event] * stats.PhiBlocks / samples[x.Event]
		n[x.Event]++
		s.Events[x.Event].add(block, x.Weight)
		if x.Stack != 0 {
			row(x.Event, x.Stack, x.Labels).add(block, x.Weight)
		}
	}
	for i := range s.Events {
		slices.SortStableFunc(s.Events[i].Functions, func(a, b StoredFunction) int {
			return cmp.Or(-cmp.Compare(a.Weight, b.Weight), strings.Compare(a.Name, b.Name), strings.Compare(a.DSO, b.DSO),
				strings.Compare(a.Process, b.Process), strings.Compare(a.Thread, b.Thread))
		})
	}
	return s
}

// parseStoredRun reads a stored run. What contradicts itself is an error.
func parseStoredRun(data []byte) (*StoredRun, error) {
	if len(data) > maxStoredSize {
		return nil, fmt.Errorf("has more than %d bytes", maxStoredSize)
	}
	if n := objects(data); (n-fewObjects)*leastObject > len(data) {
		return nil, fmt.Errorf("has %d objects in %d bytes, more than a stored run can have", n, len(data))
	}
	s := new(StoredRun)
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("is no %s: %w", baselineSchema, err)
	}
	if s.Schema != baselineSchema {
		return nil, fmt.Errorf("has the schema %s, want %s", clip(s.Schema), baselineSchema)
	}
	if s.Samples < 0 || s.Lost < 0 || s.Throttled < 0 || s.DurationNS < 0 {
		return nil, errors.New("a number is negative")
	}
	seen := make(map[string]bool)
	for i := range s.Events {
		e := &s.Events[i]
		if seen[e.Name] {
			return nil, fmt.Errorf("event %s is there twice", clip(e.Name))
		}
		seen[e.Name] = true
		if err := e.check(); err != nil {
			return nil, fmt.Errorf("event %s: %w", clip(e.Name), err)
		}
	}
	return s, nil
}

// What bounds the memory that a stored run takes: a row of it has at least so many bytes,
// except for few.
const (
	leastObject = 48
	fewObjects  = 100
)

// objects is the number of objects in JSON.
func objects(data []byte) (n int) {
	quoted := false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case !quoted && c == '{':
			n++
		}
	}
	return n
}

func (e *StoredEvent) check() error {
	if err := e.valid(); err != nil {
		return err
	}
	var sum StoredSum
	for i := range e.Functions {
		f := &e.Functions[i]
		if err := f.valid(); err != nil {
			return fmt.Errorf("function %s: %w", clip(f.Name), err)
		}
		if e.lessThanLeast(&f.StoredSum) {
			return fmt.Errorf("function %s: %w", clip(f.Name), errTooEven)
		}
		if f.Samples > e.Samples-sum.Samples || f.Weight > e.Weight-sum.Weight {
			return errors.New("its functions have more than it has")
		}
		sum.Samples += f.Samples
		sum.Weight += f.Weight
	}
	if e.lessThanLeast(&e.StoredSum) {
		return errTooEven
	}
	return nil
}

var errTooEven = errors.New("weight_sq is less than that of samples with equal weights")

// lessThanLeast reports whether a sum of squares is less than (Σw)²/n, which makes a run
// look less noisy than it can be. What was simulated has none.
func (e *StoredEvent) lessThanLeast(s *StoredSum) bool {
	if e.Simulated || s.Samples == 0 {
		return false
	}
	w := float64(s.Weight)
	return s.WeightSq < w*w/float64(s.Samples)*(1-1e-6)
}

func (s *StoredSum) valid() error {
	switch {
	case s.Samples < 0 || s.Weight < 0 || !(s.WeightSq >= 0) || math.IsInf(s.WeightSq, 0):
		return errors.New("a sum is negative")
	case len(s.Blocks) > stats.PhiBlocks:
		return fmt.Errorf("%d parts of %d", len(s.Blocks), stats.PhiBlocks)
	}
	left := s.Weight
	for i, b := range s.Blocks {
		if b[0] < 0 || b[0] >= stats.PhiBlocks || b[1] < 0 || b[1] > left || i > 0 && b[0] <= s.Blocks[i-1][0] {
			return errors.New("parts have more than all of them, or are not in order")
		}
		left -= b[1]
	}
	return nil
}
