package jfr

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"profdiff/internal/run"
)

// A kind says what events of a type are.
type kind struct {
	event, unit string // of the run
	weight      weighing
}

// A weighing is what an event weighs.
type weighing uint8

const (
	byPeriod   weighing = iota // the period of the sampler, for each of its samples
	byInterval                 // the interval of async-profiler's sampler on the wall clock
	byTicks                    // a time that it has
	byBytes                    // bytes that it has
)

// Events of the run whose names depend on what else is there, see [reader.nameEvents].
const (
	cpuEvent       = "cpu"
	executionEvent = "execution"
	wallEvent      = "wall"
	allocEvent     = "alloc"
	tlabEvent      = "alloc-tlab"
	memoryEvent    = "nativemem"
)

// kinds are the types of events that are samples.
//
// An allocation stands for all that were made since the sample before: that which needed a new TLAB for the size of
// the TLAB, ObjectAllocationSample for its weight.
var kinds = map[string]kind{
	"jdk.CPUTimeSample":               {cpuEvent, "nanoseconds", byTicks},
	"jdk.ExecutionSample":             {executionEvent, "nanoseconds", byPeriod},
	"jdk.NativeMethodSample":          {"in-native", "nanoseconds", byPeriod},
	"profiler.WallClockSample":        {wallEvent, "nanoseconds", byInterval},
	"jdk.ObjectAllocationSample":      {allocEvent, "bytes", byBytes},
	"jdk.ObjectAllocationInNewTLAB":   {tlabEvent, "bytes", byBytes},
	"jdk.ObjectAllocationOutsideTLAB": {tlabEvent, "bytes", byBytes},
	"profiler.LiveObject":             {"live", "bytes", byBytes},
	"profiler.Malloc":                 {memoryEvent, "bytes", byBytes},
	"jdk.JavaMonitorEnter":            {"lock", "nanoseconds", byTicks},
	"jdk.ThreadPark":                  {"park", "nanoseconds", byTicks},
	"profiler.NativeLock":             {"native-lock", "nanoseconds", byTicks},
}

// The fields that are read of events.
const (
	startField = iota
	threadField
	stackField
	stateField
	samplesField
	durationField
	bytesField
	addressField
	idField
	nameField
	valueField
	fields
)

var eventFields = map[string]int{
	"startTime": startField, "sampledThread": threadField, "eventThread": threadField, "stackTrace": stackField,
	"state": stateField, "samples": samplesField, "duration": durationField, "samplingPeriod": durationField,
	"tlabSize": bytesField, "weight": bytesField, "size": bytesField, "allocationSize": bytesField, "address": addressField,
	"id": idField, "name": nameField, "value": valueField, "lostSamples": samplesField,
	"pid": idField, "javaArguments": valueField, "cpu": nameField, "description": valueField,
}

// A decoder reads events of one type.
type decoder struct {
	class *class
	plan  plan
	kind  kind
	is    bool // a sample
	stack bool
}

// chunk adds the events of a chunk.
func (r *reader) chunk(k *chunk) error {
	r.read++
	decoders := make(map[int64]*decoder)
	for id, t := range k.types {
		d := &decoder{class: t, plan: t.plan(eventFields)}
		d.kind, d.is = kinds[t.name]
		has := func(name string) int {
			return slices.IndexFunc(t.fields, func(f field) bool { return f.name == name })
		}
		d.stack = has("stackTrace") >= 0
		// What an allocation stands for is more than its own size.
		if size := has("allocationSize"); size >= 0 && max(has("tlabSize"), has("weight")) >= 0 {
			d.plan[size] = -1
		}
		decoders[id] = d
	}
	n := chunkReader{reader: r, k: k, stacks: make(map[int64]run.StackID), named: make(map[frame]named)}
	var v [fields]value
	// The settings say what samples stand for, and are not always the first events.
	if err := k.events(func(typ int64, c *cursor) {
		d := decoders[typ]
		if d == nil || typ == metadataEvent || typ == constantsEvent {
			return
		}
		switch d.class.name {
		case "jdk.ActiveSetting":
			k.read(c, d.class, d.plan, v[:])
			r.settings.note(k.types[v[idField].number], v[nameField].text, v[valueField].text)
		case "jdk.JVMInformation", "jdk.CPUInformation":
			k.read(c, d.class, d.plan, v[:])
			r.describe(d.class.name, v[:])
		}
	}); err != nil {
		return err
	}
	return k.events(func(typ int64, c *cursor) {
		d := decoders[typ]
		switch {
		case d == nil || typ == metadataEvent || typ == constantsEvent:
		case d.is:
			k.read(c, d.class, d.plan, v[:])
			n.sample(d, v[:])
		case d.class.name == "profiler.Free":
			k.read(c, d.class, d.plan, v[:])
			r.memory = append(r.memory, allocation{time: k.time(v[startField].number), address: v[addressField].number})
		case d.class.name == "jdk.CPUTimeSamplesLost":
			k.read(c, d.class, d.plan, v[:])
			r.b.Run().Accounting.Lost += max(0, v[samplesField].number)
		case d.stack:
			if k.read(c, d.class, d.plan, v[:]); v[stackField].number != 0 {
				r.others[d.class.name]++
			}
		}
	})
}

// sample adds an event that is a sample.
func (n *chunkReader) sample(d *decoder, v []value) {
	r := n.reader
	count, weight, lasts := int64(1), int64(0), false
	event := run.Event{Name: d.kind.event, Unit: d.kind.unit}
	at := n.k.time(v[startField].number)
	switch d.kind.weight {
	case byPeriod:
		event, weight = r.settings.sampled(event, d.class.name, n.k.states[v[stateField].number])
	case byInterval:
		count = v[samplesField].number
		weight = r.settings.interval()
		event.Period = uint64(weight)
	case byTicks:
		weight = n.k.nanoseconds(v[durationField].number)
		lasts = d.class.name != "jdk.CPUTimeSample"
		if lasts {
			at += max(weight, 0)
		}
	case byBytes:
		weight = v[bytesField].number
	}
	account := &r.b.Run().Accounting
	if weight < 0 || count < 0 || weight > math.MaxInt64/max(1, count) || count > math.MaxInt64-account.In {
		account.In++
		account.Drop("negative or too large weight", 1)
		return
	}
	if count == 0 {
		return
	}
	index := r.b.Event(event)
	labels := n.labels(v[threadField].number)
	stack := n.stack(v[stackField].number)
	r.add(timed{
		run.TimedSample{Event: index, Stack: stack, Labels: labels, Weight: weight * count, Time: at, Lasts: lasts},
		count, lasts || d.kind.weight == byInterval,
	})
	if d.kind.event == memoryEvent {
		r.memory = append(r.memory, allocation{at, v[addressField].number, weight, stack, labels})
	}
}

// An allocation is of native memory. One of no bytes gives it back.
type allocation struct {
	time, address, bytes int64
	stack                run.StackID
	labels               uint32
}

// keepLive adds the native memory that nobody gave back as an event of its own, which is a part of what was allocated.
func (r *reader) keepLive() {
	slices.SortStableFunc(r.memory, func(a, b allocation) int { return cmp.Compare(a.time, b.time) })
	live := make(map[int64]int) // by address
	for i, m := range r.memory {
		if m.bytes == 0 {
			delete(live, m.address)
		} else {
			live[m.address] = i
		}
	}
	for i, m := range r.memory {
		if at, ok := live[m.address]; ok && at == i {
			event := r.b.Event(run.Event{Name: memoryEvent + "-live", Unit: "bytes", Derived: true})
			r.b.AddSum(event, m.stack, m.labels, 1, m.bytes, float64(m.bytes)*float64(m.bytes))
		}
	}
	r.memory = nil
}

// nameEvents calls what tells of CPU time and of allocations as simply as it can be called: what the JDK has two
// events for keeps apart only where a recording has both.
func (r *reader) nameEvents() {
	events := r.b.Run().Events
	has := func(name string) int {
		return slices.IndexFunc(events, func(e run.Event) bool { return e.Name == name })
	}
	for _, names := range [][2]string{{executionEvent, cpuEvent}, {tlabEvent, allocEvent}} {
		if i := has(names[0]); i >= 0 && has(names[1]) < 0 {
			events[i].Name = names[1]
		}
	}
}

// settings are those of the recording that say what its samples stand for.
type settings struct {
	periods map[string]time.Duration // of the JDK's events, by type
	async   map[string]string        // of async-profiler
	guessed bool                     // a period was needed that is not there
}

// note takes a setting of a type of events.
func (s *settings) note(of *class, name, text string) {
	if s.periods == nil {
		s.periods, s.async = make(map[string]time.Duration), make(map[string]string)
	}
	switch name {
	case "period":
		var d float64
		var unit string
		if _, err := fmt.Sscanf(text, "%g %s", &d, &unit); err != nil || of == nil {
			return // beginChunk
		}
		if period, err := time.ParseDuration(strconv.FormatFloat(d, 'f', -1, 64) + unit); err == nil && period > 0 && period < time.Hour {
			s.periods[of.name] = period
		}
	case "event", "interval", "wall", "version":
		s.async[name] = text
	}
}

// Periods of samplers whose settings do not tell.
const (
	asyncPeriod = 10 * time.Millisecond
	wallPeriod  = 50 * time.Millisecond
	jdkPeriod   = 20 * time.Millisecond
)

// sampled returns what a sample of the event is of, and the period that it stands for. async-profiler tells samples on the CPU
// from others by the state of the thread where it takes both; what else it samples its settings name.
func (s *settings) sampled(e run.Event, typ, state string) (run.Event, int64) {
	if s.async["version"] == "" && s.async["event"] == "" && s.async["interval"] == "" {
		period, ok := s.periods[typ]
		if !ok {
			s.guessed, period = true, jdkPeriod
		}
		e.Period = uint64(period)
		return e, int64(period)
	}
	name := s.async["event"]
	if (name == "wall" || s.async["wall"] != "") && state != "STATE_DEFAULT" {
		e.Name = wallEvent
		e.Period = uint64(s.interval())
		return e, s.interval()
	}
	interval, err := strconv.ParseInt(s.async["interval"], 10, 64)
	told := err == nil && interval > 0
	switch name {
	case "", cpuEvent, wallEvent, "itimer", "ctimer", "cpu-clock", "task-clock", "alloc", "lock":
		if !told {
			interval = int64(asyncPeriod)
		}
	default:
		e.Name, e.Unit = name, ""
		if !told {
			interval = 1 // its own default differs by event
		}
	}
	e.Period = uint64(interval)
	return e, interval
}

// interval is that of async-profiler's sampler on the wall clock.
func (s *settings) interval() int64 {
	for _, key := range []string{"wall", "interval"} {
		if v, err := strconv.ParseInt(s.async[key], 10, 64); err == nil && v > 0 && (key == "wall" || s.async["event"] == "wall") {
			return v
		}
	}
	return int64(wallPeriod)
}

// describe takes over what an event says of the program and the machine.
func (r *reader) describe(typ string, v []value) {
	rec := &r.b.Run().Recording
	if typ == "jdk.CPUInformation" {
		rec.CPU = v[nameField].text // an architecture, and what it has
		if brand, ok := strings.CutPrefix(v[valueField].text, "Brand: "); ok {
			rec.CPU, _, _ = strings.Cut(brand, ",")
		}
		return
	}
	r.pid, rec.Command = v[idField].number, v[valueField].text
}
