package batch

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"profdiff/internal/category"
	"profdiff/internal/fleet"
	"profdiff/internal/fleet/store"
	"profdiff/internal/fleet/table"
	"profdiff/internal/retrace"
	"profdiff/internal/run"
)

// Reasons for which a profile is dropped.
const (
	reasonUnread     = "cannot be read"
	reasonLarge      = "larger than bounds allow"
	reasonEmpty      = "has no samples"
	reasonNegative   = "has negative values, as differences have"
	reasonTotal      = "values add up to more than 2^63"
	reasonUnbalanced = "sums do not add up to the total"
	reasonDuplicate  = "same bytes as another profile"
	reasonDisputed   = "same bytes as another profile, of which the list says something else"
	reasonBug        = "a bug of profdiff"
)

// A refusal is why a profile is dropped.
type refusal struct {
	reason string
	err    error
}

func (r *refusal) Error() string { return fmt.Sprintf("%s: %v", r.reason, r.err) }
func (r *refusal) Unwrap() error { return r.err }

func refuse(reason, format string, args ...any) error {
	return &refusal{reason, fmt.Errorf(format, args...)}
}

// A decoder makes rows of profiles, one after the other.
type decoder struct {
	bounds     *bounds
	names      *namer
	categories *category.Grouper
	grouped    int // profiles
	// What is looked at: the functions of a line, a stack as numbers and as ids of functions.
	line   []*namedFunction
	frames []int32
	ids    []int64
}

func newDecoder(b *bounds, mapping *retrace.Mapping) decoder {
	return decoder{bounds: b, names: newNamer(mapping)}
}

// A profileRows has the rows of one profile; those of functions and stacks once each. IDs of batches are missing.
type profileRows struct {
	store.Batch
	frames  int
	samples run.Accounting
	bytes   int64
}

// A sampleKey is what rows of samples are of.
type sampleKey struct {
	sampleType, stack int32
	thread            string
}

type sum struct{ value, count int64 }

// A profileSums adds up one run.
type profileSums struct {
	r         *run.Run
	d         *decoder
	retraced  bool
	functions []*namedFunction
	types     []string
	typeOf    []int32       // by event
	stacks    []store.Stack // without Functions
	stackOf   map[run.StackID]int32
	byID      map[[16]byte]int32
	frames    int
	locations [][]int32 // by location: numbers of functions, innermost first
	threads   []string  // by labels
	samples   map[sampleKey]sum
	order     []sampleKey
}

// rows makes the rows of a run. head has what they have in common.
func (d *decoder) rows(r *run.Run, head *fleet.Profile, retraced bool) (*profileRows, error) {
	s := &profileSums{
		r: r, d: d, retraced: retraced, functions: make([]*namedFunction, 0, len(r.Functions)),
		stackOf: make(map[run.StackID]int32), byID: make(map[[16]byte]int32),
		locations: make([][]int32, len(r.Locations)), threads: make([]string, len(r.Labels)), samples: make(map[sampleKey]sum),
	}
	d.names.next()
	s.numberTypes()
	for i := range r.Samples {
		if err := s.add(&r.Samples[i]); err != nil {
			return nil, err
		}
	}
	out := &profileRows{samples: r.Accounting, frames: s.frames}
	out.Functions = make([]fleet.Function, len(s.functions))
	ids := make([]int64, len(s.functions))
	for i, f := range s.functions {
		out.Functions[i], ids[i] = f.Function, f.FunctionID
	}
	out.Stacks = s.stacks
	for i := range out.Stacks {
		out.Stacks[i].Functions = ids
	}
	out.Samples = make([]fleet.Sample, 0, len(s.order))
	for _, key := range s.order {
		v := s.samples[key]
		out.Samples = append(out.Samples, fleet.Sample{
			SampleType: s.types[key.sampleType], ProfileID: head.ProfileID, StackID: s.stacks[key.stack].ID, Thread: key.thread,
			Value: v.value, SampleCount: v.count,
		})
	}
	for t := range s.types {
		if err := s.addType(out, head, int32(t)); err != nil {
			return nil, err
		}
	}
	if len(out.Profiles) == 0 {
		return nil, refuse(reasonEmpty, "it has no sample of any type")
	}
	return out, d.addCategories(out, s, head)
}

// numberTypes gives events of one meaning one sample type: "cpu/nanoseconds".
func (s *profileSums) numberTypes() {
	for i := range s.r.Events {
		e := &s.r.Events[i]
		unit := e.Unit
		if unit == "" {
			unit = "count"
		}
		name := valid(run.CanonicalEvent(e.Name) + "/" + unit)
		t := slices.Index(s.types, name)
		if t < 0 {
			t = len(s.types)
			s.types = append(s.types, name)
		}
		s.typeOf = append(s.typeOf, int32(t))
	}
}

// add adds the samples of a stack.
func (s *profileSums) add(x *run.Sample) error {
	if x.Weight < 0 {
		return refuse(reasonNegative, "a sample of %s weighs %d", s.r.Events[x.Event].Name, x.Weight)
	}
	stack, ok := s.stackOf[x.Stack]
	if !ok {
		var err error
		if stack, err = s.stack(x.Stack); err != nil {
			return err
		}
		s.stackOf[x.Stack] = stack
	}
	key := sampleKey{s.typeOf[x.Event], stack, s.thread(x.Labels)}
	v, ok := s.samples[key]
	if !ok {
		s.order = append(s.order, key)
	}
	if v.value > math.MaxInt64-x.Weight {
		return refuse(reasonTotal, "of one stack")
	}
	s.samples[key] = sum{v.value + x.Weight, v.count + x.Count}
	return nil
}

// thread is the thread of labels: threads of a pool are one.
func (s *profileSums) thread(labels uint32) string {
	if name := s.r.Labels[labels].Thread; name != "" && s.threads[labels] == "" {
		s.threads[labels] = valid(run.ThreadPool(name))
	}
	return s.threads[labels]
}

// stack numbers a stack by its functions.
func (s *profileSums) stack(id run.StackID) (int32, error) {
	frames, ids := s.d.frames[:0], s.d.ids[:0]
	if id == 0 {
		frames = append(frames, s.function(s.d.names.named(nameKey{name: noStack, unknown: true})))
	}
	for ; id != 0; id = s.r.Stacks.Parent(id) {
		frames = append(frames, s.location(s.r.Stacks.Location(id))...)
	}
	for _, f := range frames {
		ids = append(ids, s.functions[f].FunctionID)
	}
	s.d.frames, s.d.ids = frames, ids
	key := fleet.StackID(ids)
	if i, ok := s.byID[key]; ok {
		return i, nil
	}
	if s.frames += len(frames); s.frames > s.d.bounds.frames || len(s.stacks) == s.d.bounds.stacks {
		return 0, refuse(reasonLarge, "it has more than %d distinct stacks, or they have more than %d frames", s.d.bounds.stacks, s.d.bounds.frames)
	}
	i := int32(len(s.stacks))
	s.byID[key] = i
	s.stacks = append(s.stacks, store.Stack{ID: key, Frames: slices.Clone(frames)})
	return i, nil
}

// location has the functions of a location.
func (s *profileSums) location(i uint32) []int32 {
	if s.locations[i] != nil {
		return s.locations[i]
	}
	l := &s.r.Locations[i]
	module := s.d.names.module(&s.r.Mappings[l.Mapping])
	numbers := make([]int32, 0, len(l.Lines))
	for _, line := range l.Lines {
		s.d.line = s.d.names.frames(s.d.line[:0], module, &s.r.Functions[line.Function], line.Line, s.retraced)
		for _, f := range s.d.line {
			numbers = append(numbers, s.function(f))
		}
	}
	s.locations[i] = numbers
	return numbers
}

// function numbers a function.
func (s *profileSums) function(f *namedFunction) int32 {
	if f.profile != s.d.names.profile {
		f.profile, f.number = s.d.names.profile, int32(len(s.functions))
		s.functions = append(s.functions, f)
	}
	return f.number
}

// addType adds the row of the ledger for a sample type, and its facts.
func (s *profileSums) addType(out *profileRows, head *fleet.Profile, t int32) error {
	row := *head
	row.SampleType = s.types[t]
	self, total := make([]int64, len(s.functions)), make([]int64, len(s.functions))
	seen := make([]int32, len(s.functions)) // the sample that a function was seen in last
	for i, key := range s.order {
		if key.sampleType != t {
			continue
		}
		v := s.samples[key]
		if row.Weight > math.MaxInt64-v.value {
			return refuse(reasonTotal, "of %s", row.SampleType)
		}
		row.Weight += v.value
		row.SampleCount += v.count
		frames := s.stacks[key.stack].Frames
		self[frames[0]] += v.value
		for _, f := range frames {
			if seen[f] != int32(i)+1 {
				seen[f] = int32(i) + 1
				total[f] += v.value
			}
		}
	}
	if row.SampleCount == 0 && row.Weight == 0 {
		return nil
	}
	out.Profiles = append(out.Profiles, row)
	out.Facts = slices.Grow(out.Facts, len(s.functions))
	var spent int64
	for f, v := range total {
		if v > 0 {
			spent += self[f]
			out.Facts = append(out.Facts, fleet.ProfileFunction{
				SampleType: row.SampleType, FunctionID: s.functions[f].FunctionID, ProfileID: head.ProfileID, SelfValue: self[f], TotalValue: v,
			})
		}
	}
	if spent != row.Weight {
		return refuse(reasonUnbalanced, "functions add up to %d of %d", spent, row.Weight)
	}
	return nil
}

// manyGrouped is the number of profiles after which what is known of names is forgotten.
const manyGrouped = 2000

// addCategories adds what categories spent.
func (d *decoder) addCategories(out *profileRows, s *profileSums, head *fleet.Profile) error {
	if d.grouped++; d.categories == nil || d.grouped%manyGrouped == 0 {
		d.categories = category.Builtin().Grouper()
	}
	spent := make([]int64, len(s.types))
	for _, row := range d.categories.Group(s.r) {
		values := make([]int64, len(s.types))
		for event, sum := range row.Self {
			values[s.typeOf[event]] += sum.Weight
		}
		for t, v := range values {
			if v > 0 {
				spent[t] += v
				out.Categories = append(out.Categories, fleet.ProfileCategory{SampleType: s.types[t], Category: row.Name, ProfileID: head.ProfileID, SelfValue: v})
			}
		}
	}
	for i := range out.Profiles {
		if p := &out.Profiles[i]; spent[slices.Index(s.types, p.SampleType)] != p.Weight {
			return refuse(reasonUnbalanced, "categories do not add up to %d", p.Weight)
		}
	}
	return nil
}

// headOf is what the rows of the ledger of a profile have in common. Where the spec does not tell, the profile does.
func headOf(id, release string, p *Profile, r *run.Run) *fleet.Profile {
	head := &fleet.Profile{
		ProfileID: id, ReleaseID: release, DeviceModel: p.Model, DeviceID: p.Device,
		TimeNS: p.TimeNS, DurationNS: p.DurationNS, WorkUnits: p.WorkUnits,
		DecoderVersion: table.Decoder, SchemaVersion: fleet.Schema, SourceURI: valid(p.source()),
	}
	if head.DeviceID == "" {
		head.DeviceID = unknownDevice(id)
	}
	head.UnitID = fleet.UnitID(head.DeviceID)
	if head.DeviceModel == "" {
		head.DeviceModel = modelOf(r.Recording.Device)
	}
	head.DeviceModel = valid(head.DeviceModel)
	if start := r.Recording.Start; head.TimeNS == 0 && start.Year() >= 1970 && start.Year() < 2262 {
		head.TimeNS = start.UnixNano()
	}
	if head.DurationNS == 0 {
		head.DurationNS = int64(r.Recording.Duration)
	}
	known := func(said, recorded string) *string {
		if said == "" {
			said = recorded
		}
		if said == "" {
			return nil
		}
		return new(valid(said))
	}
	head.ABI, head.OSBuild = known(p.ABI, r.Recording.Arch), known(p.OSBuild, r.Recording.Build)
	return head
}

// unknownDevice is the device of a profile of which nobody says from which one it is: one of its own.
func unknownDevice(profile string) string { return "profile-" + profile[:16] }

// modelOf is the model in what recordings say of a device: manufacturer:model:name.
func modelOf(device string) string {
	if parts := strings.Split(device, ":"); len(parts) == 3 {
		return parts[1]
	}
	return device
}
