package run

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"
	"github.com/klauspost/compress/gzip"
	"google.golang.org/protobuf/encoding/protowire"

	"profdiff/internal/slots"
)

// SampleTypeNames chooses how pprof sample types are called.
type SampleTypeNames int

const (
	// AOSPNames is how AOSP's pprof_proto_generator.py names them:
	// <event>_samples/samples and <event>/<unit>.
	AOSPNames SampleTypeNames = iota
	// PerfToProfileNames is how perf_to_profile names them: <event>_sample/count
	// and <event>_event/count.
	PerfToProfileNames
	// GoPGONames is what the Go compiler takes for profile-guided
	// optimization: samples/count and cpu/nanoseconds, primary event only.
	GoPGONames
	// StoreNames is AOSPNames with an underscore for what is no letter and no digit: for stores that
	// name a series by type and unit, colons between, and refuse a hyphen, as Pyroscope does. They
	// want a type of the period too, which is the weight of the first event.
	StoreNames
)

// SampleTypes returns the two sample types of each event: number of samples,
// and weight. No type occurs twice.
func (n SampleTypeNames) SampleTypes(events []Event) []profile.ValueType {
	if n == GoPGONames {
		return []profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}}
	}
	var types []profile.ValueType
	seen := make(map[string]bool)
	add := func(name, unit string) {
		for base, i := name, 2; seen[name]; i++ {
			name = base + "_" + strconv.Itoa(i)
		}
		seen[name] = true
		types = append(types, profile.ValueType{Type: name, Unit: unit})
	}
	for _, e := range events {
		if n == StoreNames {
			e.Name, e.Unit = separators.ReplaceAllString(e.Name, "_"), separators.ReplaceAllString(e.Unit, "_")
		}
		if n == PerfToProfileNames {
			add(e.Name+"_sample", "count")
			add(e.Name+"_event", "count")
		} else {
			add(e.Name+"_samples", "samples")
			add(e.Name, e.Unit)
		}
	}
	return types
}

var separators = regexp.MustCompile(`[^a-zA-Z0-9_]+`)

// ProfileOptions choose among the forms of a pprof profile.
type ProfileOptions struct {
	Names SampleTypeNames
	// Comments are added after those made from the recording.
	Comments []string
}

// Field numbers of pprof's proto/profile.proto.
const (
	profileSampleType        = 1
	profileSample            = 2
	profileMapping           = 3
	profileLocation          = 4
	profileFunction          = 5
	profileStringTable       = 6
	profileTimeNanos         = 9
	profileDurationNanos     = 10
	profilePeriodType        = 11
	profilePeriod            = 12
	profileComment           = 13
	profileDefaultSampleType = 14

	valueTypeType = 1
	valueTypeUnit = 2

	sampleLocationID = 1
	sampleValue      = 2
	sampleLabel      = 3

	labelKey     = 1
	labelStr     = 2
	labelNum     = 3
	labelNumUnit = 4

	mappingID              = 1
	mappingStart           = 2
	mappingLimit           = 3
	mappingOffset          = 4
	mappingFilename        = 5
	mappingBuildID         = 6
	mappingHasFunctions    = 7
	mappingHasFilenames    = 8
	mappingHasLineNumbers  = 9
	mappingHasInlineFrames = 10

	locationID        = 1
	locationMappingID = 2
	locationAddress   = 3
	locationLine      = 4

	lineFunctionID = 1
	lineLine       = 2
	lineColumn     = 3

	functionID         = 1
	functionName       = 2
	functionSystemName = 3
	functionFilename   = 4
	functionStartLine  = 5
)

// WriteProfile writes the run as a gzip-compressed pprof profile. Output is a
// function of the run, byte for byte. Samples of several events with the same
// stack and labels become one pprof sample with one value per sample type.
//
// It is encoded here instead of through profile.Profile so that memory stays
// near what the run itself takes.
func (r *Run) WriteProfile(w io.Writer, opt ProfileOptions) error {
	if len(r.Events) == 0 { // which pprof refuses
		return fmt.Errorf("a profile needs an event, %s has %s", r.Name, r.EventNames())
	}
	if err := r.CheckFrames(); err != nil {
		return err
	}
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return err
	}
	e := profileEncoder{r: r}
	e.string("") // has index 0
	e.full, e.free = make(chan []byte, 1), make(chan []byte, 2)
	e.free <- nil
	e.free <- nil
	compressed := make(chan error)
	go func() {
		var err error
		for buf := range e.full {
			if err == nil {
				_, err = z.Write(buf)
			}
			e.free <- buf
		}
		compressed <- err
	}()
	e.encode(opt)
	e.flush(0)
	close(e.full)
	if err := cmp.Or(<-compressed, e.err); err != nil {
		return err
	}
	return z.Close()
}

// A profileEncoder writes profile.proto messages. Message bodies are built in
// buf behind a gap for their length, see message. Buffers that are full go to the
// goroutine that compresses them, and come back.
type profileEncoder struct {
	r          *Run
	full, free chan []byte
	err        error
	buf        []byte
	strings    slots.Values[string]
	table      []string

	fetchedSum StackID // of no use; without it, nothing would be fetched

	locationIDs, functionIDs idTable
	mappingIDs               []uint32 // from 1; 0 is not referenced
}

// An idTable gives what is referenced dense ids from 1, in the order of the first
// references.
type idTable struct {
	ids   []uint32 // by index, 0 is not referenced
	order []uint32 // indices by id - 1
}

func (t *idTable) of(index uint32) uint64 {
	if t.ids[index] == 0 {
		t.order = append(slots.Room(t.order), index)
		t.ids[index] = uint32(len(t.order))
	}
	return uint64(t.ids[index])
}

func (e *profileEncoder) flush(limit int) {
	if len(e.buf) > limit {
		e.full <- e.buf
		e.buf = (<-e.free)[:0]
	}
}

func (e *profileEncoder) uvarint(v uint64) { e.buf = binary.AppendUvarint(e.buf, v) }

// uint writes an integer field; zero is the default and is left out.
func (e *profileEncoder) uint(field int, v uint64) {
	if v != 0 {
		e.uvarint(uint64(field) << 3)
		e.uvarint(v)
	}
}

func (e *profileEncoder) bool(field int, v bool) {
	if v {
		e.uint(field, 1)
	}
}

func (e *profileEncoder) str(field int, s string) { e.uint(field, e.string(s)) }

// string returns the index of s in the string table.
func (e *profileEncoder) string(s string) uint64 {
	if s == "" && len(e.table) > 0 {
		return 0
	}
	i, _ := e.strings.Index(&e.table, s)
	return uint64(i)
}

// tag starts a message of n bytes.
func (e *profileEncoder) tag(field, n int) {
	e.uvarint(uint64(field)<<3 | 2)
	e.uvarint(uint64(n))
}

// lengthGap is room for the length of a message: varints of up to 4 bytes.
// Protobuf allows padded varints, but canonical ones are shorter, so close moves
// the body where the length needs less.
const lengthGap = 4

func (e *profileEncoder) open(field int) (start int) {
	e.uvarint(uint64(field)<<3 | 2)
	e.buf = append(e.buf, 0, 0, 0, 0)
	return len(e.buf)
}

func (e *profileEncoder) close(start int) {
	n := uint64(len(e.buf) - start)
	if protowire.SizeVarint(n) > lengthGap {
		e.err = fmt.Errorf("pprof message of %d bytes", n)
		return
	}
	length := protowire.AppendVarint(e.buf[:start-lengthGap], n)
	e.buf = append(length, e.buf[start:]...)
}

func (e *profileEncoder) encode(opt ProfileOptions) {
	r := e.r
	events := r.Events
	if opt.Names == GoPGONames && len(events) > 1 {
		events = events[:1]
	}
	types := opt.Names.SampleTypes(events)
	for _, t := range types {
		m := e.open(profileSampleType)
		e.str(valueTypeType, t.Type)
		e.str(valueTypeUnit, t.Unit)
		e.close(m)
	}
	e.locationIDs.ids = make([]uint32, len(r.Locations))
	e.samples(len(events))
	e.locations()
	e.functions()
	e.mappings()
	if !r.Recording.Start.IsZero() {
		e.uint(profileTimeNanos, uint64(r.Recording.Start.UnixNano()))
	}
	e.uint(profileDurationNanos, uint64(r.Recording.Duration))
	if len(events) > 0 && (opt.Names == StoreNames || len(events) == 1 && events[0].Period != 0) {
		m := e.open(profilePeriodType)
		e.str(valueTypeType, types[1].Type)
		e.str(valueTypeUnit, types[1].Unit)
		e.close(m)
		e.uint(profilePeriod, events[0].Period)
	}
	for _, c := range append(r.Comments(), opt.Comments...) {
		e.str(profileComment, c)
	}
	if len(events) > 0 {
		// The first event with samples: viewers open on it.
		primary := max(0, slices.IndexFunc(events, func(ev Event) bool { return ev.Weight != 0 }))
		e.str(profileDefaultSampleType, types[2*primary+1].Type)
	}
	for _, s := range e.table {
		s = strings.ToValidUTF8(s, "\ufffd") // protobuf allows nothing else
		e.uvarint(profileStringTable<<3 | 2)
		e.uvarint(uint64(len(s)))
		e.buf = append(e.buf, s...)
		e.flush(1 << 16)
	}
}

// samples writes the samples of the first n events.
func (e *profileEncoder) samples(n int) {
	r := e.r
	labels := make([][]byte, len(r.Labels))
	for i := range r.Labels {
		start := len(e.buf)
		e.labels(&r.Labels[i])
		labels[i] = slices.Clone(e.buf[start:])
		e.buf = e.buf[:start]
	}
	next, heads := r.GroupSamples(n)
	values := make([]int64, 2*n)
	var recent [16]encodedStack
	var valueBytes []byte
	for i, head := range heads {
		if i%fetched == 0 {
			e.fetch(heads[i:min(i+fetched, len(heads))])
		}
		clear(values)
		for i := int(head); i >= 0; i = int(next[i]) {
			s := &r.Samples[i]
			values[2*s.Event] += s.Count
			values[2*s.Event+1] += s.Weight
			if next == nil {
				break
			}
		}
		s := &r.Samples[head]
		valueBytes = valueBytes[:0]
		for _, value := range values {
			valueBytes = binary.AppendUvarint(valueBytes, uint64(value))
		}
		// Samples of one thread, or one program, mostly have their outer frames in common.
		stack := recent[s.Labels%uint32(len(recent))].encode(&r.Stacks, s.Stack, &e.locationIDs)
		size := protowire.SizeTag(sampleValue) + protowire.SizeBytes(len(valueBytes)) + len(labels[s.Labels])
		if s.Stack != 0 {
			size += protowire.SizeTag(sampleLocationID) + protowire.SizeBytes(len(stack))
		}
		if protowire.SizeVarint(uint64(size)) > lengthGap {
			e.err = fmt.Errorf("pprof message of %d bytes", size)
			return
		}
		e.tag(profileSample, size)
		if s.Stack != 0 {
			e.tag(sampleLocationID, len(stack))
			e.buf = append(e.buf, stack...)
		}
		e.tag(sampleValue, len(valueBytes))
		e.buf = append(e.buf, valueBytes...)
		e.buf = append(e.buf, labels[s.Labels]...)
		e.flush(1 << 16)
	}
}

// fetched is how many samples are fetched at a time.
const fetched = 32

// fetch has the processor wait for the stacks of several samples at once: one after the other, they are far
// away in memory.
func (e *profileEncoder) fetch(heads []int32) {
	s := &e.r.Stacks
	var callers [fetched]StackID
	for i, head := range heads {
		callers[i] = s.node(e.r.Samples[head].Stack).parent
	}
	for _, caller := range callers {
		e.fetchedSum += s.node(caller).parent
	}
}

// An encodedStack is a stack as samples have it: the IDs of its locations, leaf first. The next stack keeps
// of it what both have in common.
type encodedStack struct {
	path  []StackID // from the outermost frame to the leaf
	sizes []int     // of the IDs from the outermost frame to each of path, in bytes
	bytes []byte    // ends with the IDs
	head  []byte    // scratch
	nodes []StackID // scratch
	at    []int     // scratch
}

// encode encodes a stack.
func (k *encodedStack) encode(s *Stacks, stack StackID, ids *idTable) []byte {
	k.head, k.nodes, k.at = k.head[:0], k.nodes[:0], k.at[:0]
	common := len(k.path)
	for id := stack; id != 0; {
		// Callers have lower numbers.
		for common > 0 && k.path[common-1] > id {
			common--
		}
		if common > 0 && k.path[common-1] == id {
			break
		}
		node := s.node(id)
		k.nodes, k.at = append(k.nodes, id), append(k.at, len(k.head))
		k.head = binary.AppendUvarint(k.head, ids.of(node.location))
		if id = node.parent; id == 0 {
			common = 0
		}
	}
	if stack == 0 {
		common = 0
	}
	kept := 0
	if common > 0 {
		kept = k.sizes[common-1]
	}
	size := kept + len(k.head)
	if size > len(k.bytes) {
		grown := make([]byte, 2*size)
		copy(grown[len(grown)-kept:], k.bytes[len(k.bytes)-kept:])
		k.bytes = grown
	}
	encoded := k.bytes[len(k.bytes)-size:]
	copy(encoded, k.head)
	k.path, k.sizes = k.path[:common], k.sizes[:common]
	for i, id := range slices.Backward(k.nodes) {
		k.path, k.sizes = append(k.path, id), append(k.sizes, size-k.at[i])
	}
	return encoded
}

// GroupSamples chains the rows of the first n events that share stack and
// labels: heads holds the first row of each group, next[i] the row after i or -1.
// With one event every row is its own group and next is nil.
func (r *Run) GroupSamples(n int) (next, heads []int32) {
	heads = make([]int32, 0, len(r.Samples))
	if len(r.Events) == 1 {
		for i := range r.Samples {
			heads = append(heads, int32(i))
		}
		return nil, heads
	}
	next = make([]int32, len(r.Samples))
	type key struct {
		stack  StackID
		labels uint32
	}
	tails := make(map[key]int32)
	for i := range r.Samples {
		next[i] = -1
		s := &r.Samples[i]
		if int(s.Event) >= n {
			continue
		}
		k := key{s.Stack, s.Labels}
		if tail, ok := tails[k]; ok {
			next[tail] = int32(i)
		} else {
			heads = append(heads, int32(i))
		}
		tails[k] = int32(i)
	}
	return next, heads
}

var digits = regexp.MustCompile(`[0-9]+`)

// ThreadPool is the name of a thread with numbers replaced, so that the threads
// of a pool (Binder:812_3, kworker/0:1, iou-wrk-4711) have one name.
func ThreadPool(thread string) string { return digits.ReplaceAllString(thread, "%d") }

func (e *profileEncoder) labels(l *Labels) {
	str := func(key, value string) {
		m := e.open(sampleLabel)
		e.str(labelKey, key)
		e.str(labelStr, value)
		e.close(m)
	}
	num := func(key string, value int64, unit string) {
		m := e.open(sampleLabel)
		e.str(labelKey, key)
		e.uint(labelNum, uint64(value))
		e.str(labelNumUnit, unit)
		e.close(m)
	}
	if l.CPU >= 0 {
		num("cpu", l.CPU, "cpu")
	}
	if l.Mode != "" {
		str("execution_mode", l.Mode)
	}
	if l.PID >= 0 {
		num("pid", l.PID, "pid")
	}
	if l.Process != "" {
		str("process", l.Process)
	}
	if l.State != "" {
		str("state", l.State)
	}
	if l.Thread != "" {
		str("thread", l.Thread)
		str("threadpool", ThreadPool(l.Thread))
	}
	if l.TID >= 0 {
		num("tid", l.TID, "tid")
	}
	for rest := l.Other; rest != ""; {
		var key, value string
		key, rest, _ = strings.Cut(rest, "\x00")
		value, rest, _ = strings.Cut(rest, "\x00")
		str(key, value)
	}
	for rest := l.OtherNum; rest != ""; {
		var key, value, unit string
		key, rest, _ = strings.Cut(rest, "\x00")
		value, rest, _ = strings.Cut(rest, "\x00")
		unit, rest, _ = strings.Cut(rest, "\x00")
		v, _ := strconv.ParseInt(value, 10, 64)
		num(key, v, unit)
	}
}

func (e *profileEncoder) locations() {
	r := e.r
	e.functionIDs.ids = make([]uint32, len(r.Functions))
	e.mappingIDs = make([]uint32, len(r.Mappings))
	// Mappings keep their order: the first is the main binary.
	for _, i := range e.locationIDs.order {
		e.mappingIDs[r.Locations[i].Mapping] = 1
	}
	e.mappingIDs[0] = 0
	next := uint32(0)
	for i, used := range e.mappingIDs {
		next += used
		e.mappingIDs[i] = next * used
	}
	for n, i := range e.locationIDs.order {
		l := &r.Locations[i]
		m := e.open(profileLocation)
		e.uint(locationID, uint64(n+1))
		e.uint(locationMappingID, uint64(e.mappingIDs[l.Mapping]))
		e.uint(locationAddress, l.Address)
		for _, line := range l.Lines {
			lm := e.open(locationLine)
			e.uint(lineFunctionID, e.functionIDs.of(line.Function))
			e.uint(lineLine, uint64(line.Line))
			e.uint(lineColumn, uint64(line.Column))
			e.close(lm)
		}
		e.close(m)
		e.flush(1 << 16)
	}
}

func (e *profileEncoder) functions() {
	e.locationIDs, e.functionIDs.ids = idTable{}, nil // of no use any more
	e.table = slices.Grow(e.table, len(e.functionIDs.order))
	for n, i := range e.functionIDs.order {
		f := &e.r.Functions[i]
		m := e.open(profileFunction)
		e.uint(functionID, uint64(n+1))
		e.str(functionName, f.Name)
		e.str(functionSystemName, f.SystemName)
		e.str(functionFilename, f.File)
		e.uint(functionStartLine, uint64(f.StartLine))
		e.close(m)
		e.flush(1 << 16)
	}
}

func (e *profileEncoder) mappings() {
	for i, id := range e.mappingIDs {
		if id == 0 {
			continue
		}
		p := &e.r.Mappings[i]
		m := e.open(profileMapping)
		e.uint(mappingID, uint64(id))
		e.uint(mappingStart, p.Start)
		e.uint(mappingLimit, p.Limit)
		e.uint(mappingOffset, p.Offset)
		e.str(mappingFilename, p.File)
		e.str(mappingBuildID, p.BuildID)
		e.bool(mappingHasFunctions, p.HasFunctions)
		e.bool(mappingHasFilenames, p.HasFilenames)
		e.bool(mappingHasLineNumbers, p.HasLineNumbers)
		e.bool(mappingHasInlineFrames, p.HasInlineFrames)
		e.close(m)
	}
}

// Comments are the facts of the recording that pprof has no field for.
func (r *Run) Comments() []string {
	var c []string
	add := func(key, value string) {
		if value != "" {
			c = append(c, key+": "+value)
		}
	}
	rec := &r.Recording
	add("format", rec.Format)
	add("tool", rec.Tool)
	add("command", rec.CommandLine)
	add("arch", rec.Arch)
	add("kernel", rec.Kernel)
	add("cpu", rec.CPU)
	add("device", rec.Device)
	add("build", rec.Build)
	add("app", rec.App)
	add("merged", rec.Merged)
	for i := range r.Events {
		e := &r.Events[i]
		switch {
		case e.Simulated:
			add("event", e.Name+" simulated")
		case e.Period != 0:
			add("event", fmt.Sprintf("%s period=%d", e.Name, e.Period))
		case e.Frequency != 0:
			add("event", fmt.Sprintf("%s frequency=%d", e.Name, e.Frequency))
		}
	}
	if r.Accounting.In > 0 {
		add("accounting", r.Accounting.String())
	}
	for _, w := range r.Warnings {
		add("warning", w)
	}
	return c
}
