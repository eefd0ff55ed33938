package traces

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"profdiff/internal/run"
	"profdiff/internal/trace"
)

// v8Event is the event of V8's samples: Chrome's category of tracing that turns them on, without
// its prefix.
const v8Event = "v8.cpu_profiler"

// v8Events are the names of track events that hold profiles of V8: the first one is written where the
// profiler starts, the others by a thread of V8 that collects what was sampled.
const (
	v8Profile = "Profile"
	v8Chunk   = "ProfileChunk"
)

// v8Profiles joins the parts of profiles that V8 writes as JSON into events of a trace
// (v8/src/profiler/cpu-profile.cc, CpuProfile::StreamPendingTraceEvents).
//
//  1. Parts belong together if process and id are the same: several threads write them, and each
//     process counts its ids from 1.
//  2. Times are differences, in microseconds, some of them negative because the sampler is interrupted: they
//     are summed up first and sorted then.
//  3. A sample stands for the time until the next one; the last one until the end of the profile, or for
//     the median of the others.
//  4. A node is a function and its caller, (idle), (program) and the like are states of V8. While it is idle
//     nothing runs, so those samples are left out and counted.
type v8Profiles struct {
	places *places
	parts  map[v8Part][]v8Data
	number int
	bad    int64 // parts that are no JSON
}

// A v8Part says where a part of a profile comes from.
type v8Part struct {
	thread  trace.ThreadID
	process trace.ProcessID
	id      uint64
}

// v8Data is the JSON of a part.
type v8Data struct {
	StartTime  float64 `json:"startTime"` // µs on the monotonic clock
	EndTime    float64 `json:"endTime"`
	CPUProfile struct {
		Nodes   []v8Node  `json:"nodes"`
		Samples []float64 `json:"samples"` // ids of nodes
		EndTime float64   `json:"endTime"`
	} `json:"cpuProfile"`
	TimeDeltas []float64 `json:"timeDeltas"` // µs since the sample before, the first since StartTime
	Lines      []float64 `json:"lines"`      // of samples, from 1; 0 is not known
	Columns    []float64 `json:"columns"`

	// at is the time of the event, and started StartTime on the clock of the trace, in ns.
	at, started int64
	number      int  // of the event
	first       bool // the event said that the profile starts
}

type v8Node struct {
	ID        float64   `json:"id"`
	Parent    float64   `json:"parent"`
	Children  []float64 `json:"children"` // instead of Parent, as the protocol of the developer tools has it
	CallFrame struct {
		FunctionName string  `json:"functionName"`
		URL          string  `json:"url"`
		LineNumber   float64 `json:"lineNumber"` // from 0
		ColumnNumber float64 `json:"columnNumber"`
	} `json:"callFrame"`
}

// isV8Event reports whether a track event of this name holds a part of a profile.
func isV8Event(name string) bool { return name == v8Profile || name == v8Chunk }

// add adds a part of a profile. clock converts µs of the monotonic clock to the time of the trace.
func (v *v8Profiles) add(part v8Part, first bool, at int64, text []byte, clock func(us int64) int64) {
	data := v8Data{at: at, first: first}
	if json.Unmarshal(text, &data) != nil {
		v.bad++
		return
	}
	if us := data.StartTime; us > 0 && us < 1<<52 {
		data.started = clock(int64(us))
	}
	v.number++
	data.number = v.number
	if v.parts == nil {
		v.parts = make(map[v8Part][]v8Data)
	}
	v.parts[part] = append(v.parts[part], data)
}

// A v8Sample is one sample: microseconds since the profile started, and the stack.
type v8Sample struct {
	at    int64
	stack run.StackID
	idle  bool
}

// v8Session is one profile.
type v8Session struct {
	v      *v8Profiles
	who    uint32 // see samples.who
	nodes  map[int64]*v8Node
	stacks map[int64]run.StackID // of nodes
}

// finish adds all samples.
func (v *v8Profiles) finish(s *samples) {
	type session struct {
		process trace.ProcessID
		thread  trace.ThreadID // only if the process is not known
		id      uint64
	}
	type sourced struct {
		v8Data
		v8Part
	}
	joined := make(map[session][]sourced)
	for part, list := range v.parts {
		key := session{process: part.process, id: part.id}
		if key.process == 0 {
			key.thread = part.thread
		}
		for i := range list {
			joined[key] = append(joined[key], sourced{list[i], part})
		}
	}
	v.parts = nil
	order := slices.SortedFunc(maps.Keys(joined), func(a, b session) int {
		return cmp.Or(cmp.Compare(a.process, b.process), cmp.Compare(a.thread, b.thread), cmp.Compare(a.id, b.id))
	})
	for _, key := range order {
		list := joined[key]
		slices.SortFunc(list, func(a, b sourced) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.number, b.number))
		})
		// An id is used again when a profile is started anew.
		for len(list) > 0 {
			n := 1 + slices.IndexFunc(list[1:], func(d sourced) bool { return d.first })
			if n == 0 {
				n = len(list)
			}
			one := v8Session{
				v: v, who: s.who(list[0].thread, list[0].process, -1, ""),
				nodes: make(map[int64]*v8Node), stacks: make(map[int64]run.StackID),
			}
			parts := make([]*v8Data, n)
			for i := range parts {
				parts[i] = &list[i].v8Data
			}
			one.add(s, parts)
			list = list[n:]
		}
	}
}

// add adds the samples of the session.
func (o *v8Session) add(s *samples, parts []*v8Data) {
	for _, p := range parts {
		for i := range p.CPUProfile.Nodes {
			n := &p.CPUProfile.Nodes[i]
			if _, ok := o.nodes[int64(n.ID)]; !ok {
				o.nodes[int64(n.ID)] = n
			}
		}
	}
	for _, n := range o.nodes {
		for _, c := range n.Children {
			if child := o.nodes[int64(c)]; child != nil && child.Parent == 0 && child != n {
				child.Parent = n.ID
			}
		}
	}
	b := o.v.places.b
	account := &b.Run().Accounting
	drop := func(reason string, n int64) {
		account.In += n
		account.Drop(reason, n)
	}
	var list []v8Sample
	var start, now, end float64 // µs
	started := int64(0)
	for _, p := range parts {
		start, started = cmp.Or(start, p.StartTime), cmp.Or(started, p.started)
		end = max(end, p.EndTime, p.CPUProfile.EndTime)
		for i, id := range p.CPUProfile.Samples {
			if i >= len(p.TimeDeltas) {
				drop("without a time", 1)
				continue
			}
			now += p.TimeDeltas[i]
			node := o.nodes[int64(id)]
			if node == nil || math.Abs(now) > 1<<52 {
				drop("of no function", 1)
				continue
			}
			sample := v8Sample{at: int64(now), idle: node.state() == "idle"}
			if !sample.idle {
				sample.stack = o.leaf(node, at(p.Lines, i), at(p.Columns, i))
			}
			list = append(list, sample)
		}
	}
	if len(list) == 0 {
		return
	}
	slices.SortStableFunc(list, func(a, b v8Sample) int { return cmp.Compare(a.at, b.at) })
	event := b.Event(run.Event{Name: v8Event, Unit: "nanoseconds"})
	idle := int64(0)
	for i := range list {
		d := list[i]
		if d.idle {
			idle++
			continue
		}
		s.add(event, o.who, d.stack, started+d.at*1000, 1000*lasts(list, i, int64(end-start)))
	}
	drop("V8 was idle", idle)
}

// lasts is how many microseconds sample i stands for.
func lasts(list []v8Sample, i int, end int64) int64 {
	if i+1 < len(list) {
		return list[i+1].at - list[i].at
	}
	if end > list[i].at {
		return end - list[i].at
	}
	if len(list) == 1 {
		return 0
	}
	steps := make([]int64, len(list)-1)
	for k := range steps {
		steps[k] = list[k+1].at - list[k].at
	}
	slices.Sort(steps)
	return steps[len(steps)/2]
}

// at is a positive number of a column, 0 if there is none.
func at(column []float64, i int) int64 {
	if i < len(column) && column[i] > 0 && column[i] < 1<<52 {
		return int64(column[i])
	}
	return 0
}

// state is what V8 does if the node is no function: "idle" for (idle); else "".
func (n *v8Node) state() string {
	name := n.CallFrame.FunctionName
	if n.CallFrame.URL == "" && strings.HasPrefix(name, "(") && strings.HasSuffix(name, ")") && name != anonymous {
		return name[1 : len(name)-1]
	}
	return ""
}

const anonymous = "(anonymous)"

// leaf is the stack of a sample at a line of the node's function.
func (o *v8Session) leaf(n *v8Node, line, column int64) run.StackID {
	return o.v.places.b.Stack(o.callers(n), o.location(n, line, column))
}

// callers is the stack of the functions that called the node's.
func (o *v8Session) callers(n *v8Node) run.StackID {
	var path []*v8Node
	var stack run.StackID
	for p := o.nodes[int64(n.Parent)]; p != nil; p = o.nodes[int64(p.Parent)] {
		if known, ok := o.stacks[int64(p.ID)]; ok {
			stack = known
			break
		}
		if path = append(path, p); len(path) > maxDepth { // or in a circle
			stack = o.v.places.cut()
			break
		}
	}
	for _, p := range slices.Backward(path) {
		if p.state() != "root" {
			stack = o.v.places.b.Stack(stack, o.location(p, 0, 0))
		}
		o.stacks[int64(p.ID)] = stack
	}
	return stack
}

// location is the place of a node's function, at a line of it or anywhere.
func (o *v8Session) location(n *v8Node, line, column int64) uint32 {
	b := o.v.places.b
	if state := n.state(); state != "" {
		name := "[" + state + "]"
		return b.Location(0, 0, run.Line{Function: b.Function(run.Function{Name: name, SystemName: name, Unknown: true})})
	}
	c := &n.CallFrame
	f := run.Function{Name: cmp.Or(c.FunctionName, anonymous), File: c.URL}
	f.SystemName = f.Name
	file := v8Builtins
	if c.URL != "" {
		file = c.URL
		f.StartLine = int64(c.LineNumber) + 1
		// A script may have many functions of one name.
		f.Origin = fmt.Sprintf("%s:%d:%d", c.URL, f.StartLine, int64(c.ColumnNumber)+1)
	}
	m := o.v.places.script(file)
	mapping := &b.Run().Mappings[m]
	mapping.HasFunctions = true
	mapping.HasFilenames = mapping.HasFilenames || c.URL != ""
	mapping.HasLineNumbers = mapping.HasLineNumbers || line > 0
	return b.Location(m, 0, run.Line{Function: b.Function(f), Line: line, Column: column})
}

// v8Builtins has the functions that belong to V8, not to a script.
const v8Builtins = "[V8]"
