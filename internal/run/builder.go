package run

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unsafe"

	"profdiff/internal/limit"
	"profdiff/internal/slots"
)

// A Builder collects the samples of a Run. Its methods intern: equal arguments
// give equal indices.
type Builder struct {
	r         *Run
	stacks    stackTable
	rows      rowTable
	events    map[string]uint32
	functions slots.Values[Function]
	locations slots.Table
	plain     []Line // of a location without its address
	labels    labelTable
	overflow  bool
	timeline  bool
	// waits is the number of waits off the CPU, of which mostWaits are kept.
	waits, mostWaits int
}

// NewBuilder starts a Run called name.
func NewBuilder(name string) *Builder {
	b := &Builder{
		r: &Run{
			Name:     name,
			Mappings: []Mapping{{}},
			Stacks:   newStacks(),
		},
		mostWaits: MostWaits,
		events:    make(map[string]uint32),
	}
	b.labels.index(noLabels)
	return b
}

// Run gives access to the run being built, to set facts. Samples must be added
// through the Builder.
func (b *Builder) Run() *Run { return b.r }

// Event returns the index of the event called e.Name, adding it if it is new. Names and units of
// events are words, which all outputs and patterns have: what cannot be seen is replaced.
func (b *Builder) Event(e Event) uint32 {
	e.Name, e.Unit = word(e.Name), word(e.Unit)
	if i, ok := b.events[e.Name]; ok {
		return i
	}
	if e.Unit == "" {
		e.Unit = EventUnit(e.Name)
	}
	i := uint32(len(b.r.Events))
	b.r.Events = append(b.r.Events, e)
	b.events[e.Name] = i
	return i
}

// word replaces what is no visible character.
func word(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// Mapping adds a mapping. Mappings are not interned: the caller knows which
// ranges are one file.
func (b *Builder) Mapping(m Mapping) uint32 {
	b.r.Mappings = append(b.r.Mappings, m)
	return uint32(len(b.r.Mappings) - 1)
}

// Function returns the index of f.
func (b *Builder) Function(f Function) uint32 {
	i, known := b.functions.Index(&b.r.Functions, f)
	if !known {
		limit.Functions.Add(1)
	}
	return i
}

// Location returns the index of the location with these properties. lines are
// innermost first and are not kept.
func (b *Builder) Location(mapping uint32, address uint64, lines ...Line) uint32 {
	var buf [64]byte
	enc := binary.LittleEndian.AppendUint64(buf[:0], address)
	enc = binary.LittleEndian.AppendUint32(enc, mapping)
	for _, l := range lines {
		enc = binary.AppendUvarint(enc, uint64(l.Function))
		enc = binary.AppendVarint(enc, l.Line)
		enc = binary.AppendVarint(enc, l.Column)
	}
	hash := slots.HashBytes(enc)
	at, ok := b.locations.Find(hash, func(i uint32) bool {
		l := &b.r.Locations[i]
		return l.Mapping == mapping && l.Address == address && slices.Equal(l.Lines, lines)
	})
	if !ok {
		limit.Locations.Add(1)
		b.r.Locations = append(slots.Room(b.r.Locations), Location{mapping, address, append([]Line(nil), lines...)})
		b.locations.Put(at, hash, len(b.r.Locations)-1)
	}
	return b.locations.Index(at)
}

// PlainLocation is [Builder.Location] where nobody asks for addresses: it is known by its mapping and functions, and
// that of a leaf, in which samples are, also by the innermost source line.
func (b *Builder) PlainLocation(mapping uint32, leaf bool, lines ...Line) uint32 {
	b.plain = append(b.plain[:0], lines...)
	for i := range b.plain {
		if i > 0 || !leaf {
			b.plain[i] = Line{Function: lines[i].Function}
		}
	}
	return b.Location(mapping, 0, b.plain...)
}

// NewLocations adds n locations without interning them and without lines, and
// returns the index of the first; the caller completes them in Run().Locations
// before Finish. Stacks may refer to locations that are yet to be added.
func (b *Builder) NewLocations(n int) (first uint32) {
	limit.Locations.Add(n)
	first = uint32(len(b.r.Locations))
	b.r.Locations = append(b.r.Locations, make([]Location, n)...)
	return first
}

// Labels returns the index of l. Run.Labels is empty until Finish.
func (b *Builder) Labels(l Labels) uint32 { return b.labels.index(l) }

// LabelsAt are the labels of an index.
func (b *Builder) LabelsAt(i uint32) Labels { return *b.labels.at(i) }

// Stack returns the stack in which location is called from caller.
func (b *Builder) Stack(caller StackID, location uint32) StackID {
	return b.stacks.child(&b.r.Stacks, caller, location)
}

// StacksAdded frees what finds stacks that are there already: only [Builder.Rewrite] adds some after it.
func (b *Builder) StacksAdded() { b.stacks = stackTable{} }

// KeepTimeline fills Run.Timeline and Run.Spans from now on.
func (b *Builder) KeepTimeline() { b.timeline = true }

// Add adds one sample of the given weight; if the timeline is kept, samples are added in
// the order of time.
func (b *Builder) Add(event uint32, stack StackID, labels uint32, weight int64) {
	b.AddTimed(TimedSample{Event: event, Stack: stack, Labels: labels, Weight: weight})
}

// AddTimed is [Builder.Add] of a sample whose time is known.
func (b *Builder) AddTimed(s TimedSample) {
	if b.timeline {
		b.r.Timeline = append(b.r.Timeline, s)
	}
	b.AddSum(s.Event, s.Stack, s.Labels, 1, s.Weight, float64(s.Weight)*float64(s.Weight))
}

// NoteSpan says when something was that is added by itself: see [Run.Spans].
func (b *Builder) NoteSpan(s TimedSample) {
	if b.timeline {
		b.r.Spans = append(b.r.Spans, s)
	}
}

// AddSum adds count samples with the sum of weights and of squared weights.
func (b *Builder) AddSum(event uint32, stack StackID, labels uint32, count, weight int64, weightSq float64) {
	s := b.rows.sample(&b.r.Stacks, event, stack, labels)
	s.Count += count
	s.WeightSq += weightSq
	if e := &b.r.Events[event]; count == 1 && weight > e.MaxWeight {
		e.MaxWeight = weight
	}
	var ok bool
	if s.Weight, ok = addInt64(s.Weight, weight); !ok {
		b.overflow = true
	}
}

// addInt64 adds, saturating; ok is false if the sum does not fit.
func addInt64(a, b int64) (sum int64, ok bool) {
	sum = a + b
	if (sum > a) == (b > 0) {
		return sum, true
	}
	if b > 0 {
		return math.MaxInt64, false
	}
	return math.MinInt64, false
}

// Finish completes the Run: totals by event, canonical order of events, counts
// of frames, names of functions that tell them apart. Accounting.Out is the number of samples that were added to events
// that are not derived. The Builder must not be used afterwards.
func (b *Builder) Finish() (*Run, error) {
	r := b.r
	for i := range r.Locations {
		if len(r.Locations[i].Lines) == 0 {
			return nil, fmt.Errorf("location %d at %#x has no function", i, r.Locations[i].Address)
		}
	}
	tables := b.functions.Size() + b.locations.Size() + b.labels.table.Size() + int64(len(b.stacks.slots))*int64(unsafe.Sizeof(stackSlot{}))
	b.stacks, b.functions, b.locations, b.labels.table = stackTable{}, slots.Values[Function]{}, slots.Table{}, slots.Table{}
	limit.Freed(tables)
	r.Labels = b.labels.take()
	TellApart(r)
	r.Samples = b.rows.take()
	r.sortEvents()
	r.total()
	for i := range r.Events {
		if r.Events[i].Weight == math.MaxInt64 {
			b.overflow = true
		}
	}
	if b.overflow {
		r.Warnings = append(r.Warnings, "sum of weights exceeds 2^63: the recording's periods cannot be right")
	}
	r.checkQuality()
	b.r = nil
	return r, nil
}

// maxTrusted is the share above which lost samples, and the weight of a single one,
// are worth a warning.
const maxTrusted = 0.01

// checkQuality warns of what makes the numbers of a run less trustworthy. A single
// sample can only weigh too much if it weighs more than others.
func (r *Run) checkQuality() {
	warn := func(format string, args ...any) { r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...)) }
	if share := r.Accounting.LostShare(); share > maxTrusted {
		warn("%.1f%% of the samples were lost", 100*share)
	}
	for i := range r.Events {
		e := &r.Events[i]
		if e.Derived || e.Weight <= 0 {
			continue
		}
		share := float64(e.MaxWeight) / float64(e.Weight)
		if share > maxTrusted && share*float64(e.Samples) > 2 {
			warn("one sample of %s has %.1f%% of the weight of all %d", e.Name, 100*share, e.Samples)
		}
	}
}

// total sums samples into events and the accounting.
func (r *Run) total() {
	unknown := make([]bool, len(r.Locations))
	for i := range r.Locations {
		lines := r.Locations[i].Lines
		f := &r.Functions[lines[len(lines)-1].Function]
		unknown[i] = f.Unknown && !f.IsCut()
	}
	for i := range r.Events {
		e := &r.Events[i]
		e.Samples, e.Weight, e.WeightSq = 0, 0, 0
	}
	a := &r.Accounting
	a.Out, a.Frames, a.UnknownFrames = 0, 0, 0
	for i := range r.Samples {
		s := &r.Samples[i]
		e := &r.Events[s.Event]
		e.Samples += s.Count
		e.Weight, _ = addInt64(e.Weight, s.Weight)
		e.WeightSq += s.WeightSq
		if !e.Derived {
			a.Out += s.Count
		}
	}
	frames := make([]uint32, r.Stacks.Len())
	a.Frames = r.framesThat(frames, func(uint32) bool { return true })
	if slices.Contains(unknown, true) {
		a.UnknownFrames = r.framesThat(frames, func(location uint32) bool { return unknown[location] })
	}
}

// framesThat counts the frames of samples that are at certain locations, but for samples of derived events.
// frames is room for the number of each stack.
func (r *Run) framesThat(frames []uint32, counts func(location uint32) bool) (sum int64) {
	// Parents precede children, so one pass counts those of each stack.
	for id := 1; id < len(frames); id++ {
		n := r.Stacks.node(StackID(id))
		frames[id] = frames[n.parent]
		if counts(n.location) {
			frames[id]++
		}
	}
	for i := range r.Samples {
		if s := &r.Samples[i]; !r.Events[s.Event].Derived {
			sum += s.Count * int64(frames[s.Stack])
		}
	}
	return sum
}

// Rewrite replaces the stacks of all samples by what rewrite makes of their
// locations, leaf first; rewrite may change its argument. It is called once for
// each distinct stack.
func (b *Builder) Rewrite(rewrite func(stack []uint32) []uint32) {
	r := b.r
	old, samples := r.Stacks, b.rows.take()
	r.Stacks = newStacks()
	b.stacks = stackTable{}
	done := make(map[StackID]StackID)
	var buf []uint32
	again := func(id StackID) StackID {
		stack, ok := done[id]
		if !ok {
			buf = old.Append(buf[:0], id)
			for _, location := range slices.Backward(rewrite(buf)) {
				stack = b.Stack(stack, location)
			}
			done[id] = stack
		}
		return stack
	}
	for i := range samples {
		s := &samples[i]
		b.AddSum(s.Event, again(s.Stack), s.Labels, s.Count, s.Weight, s.WeightSq)
	}
	for _, list := range [][]TimedSample{r.Timeline, r.Spans} {
		for i := range list {
			list[i].Stack = again(list[i].Stack)
		}
	}
	for i := range r.Waits {
		w := &r.Waits[i]
		w.Stack, w.OwnerStack, w.WakerStack = again(w.Stack), again(w.OwnerStack), again(w.WakerStack)
	}
	for i := range r.Holds {
		r.Holds[i].Stack = again(r.Holds[i].Stack)
	}
}
