package otlp

import (
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"profdiff/internal/protobuf"
	"profdiff/internal/run"
)

// Options choose among the forms of what is written.
type Options struct {
	// Names is what sample types are called.
	Names run.SampleTypeNames
	// Resource says what was profiled: attributes such as service.name.
	Resource []Attribute
}

// An Attribute is a fact of a resource.
type Attribute struct{ Key, Value string }

// Write writes a run as a message ProfilesData, which is also what a request to export profiles
// is. It is a function of the run and the options, byte for byte.
func Write(w io.Writer, r *run.Run, opt Options) error {
	if len(r.Events) == 0 {
		return fmt.Errorf("a profile needs an event, %s has %s", r.Name, r.EventNames())
	}
	if err := r.CheckFrames(); err != nil {
		return err
	}
	e := newEncoder(r)
	scope := protobuf.String(nil, ScopeName, "profdiff")
	profiles := protobuf.Message(nil, ScopeProfilesScope, scope)
	for _, p := range e.profiles(opt.Names) {
		profiles = protobuf.Message(profiles, ScopeProfilesProfile, p)
	}
	var resource []byte
	for _, a := range opt.Resource {
		resource = protobuf.Message(resource, ResourceAttribute, protobuf.Message(protobuf.String(nil, KeyValueKey, a.Key), KeyValueValue, protobuf.String(nil, AnyString, a.Value)))
	}
	var data []byte
	if len(resource) > 0 {
		data = protobuf.Message(data, ResourceProfilesResource, resource)
	}
	data = protobuf.Message(data, ResourceProfilesScope, profiles)
	dictionary := e.dictionary()
	if size := len(data) + len(dictionary); size > math.MaxInt32 {
		return fmt.Errorf("is %d bytes as an OTLP profile, and messages have at most %d", size, math.MaxInt32)
	}
	if _, err := w.Write(protobuf.Message(nil, DataResourceProfiles, data)); err != nil {
		return err
	}
	_, err := w.Write(protobuf.Message(nil, DataDictionary, dictionary))
	return err
}

// A table is one of the dictionary: equal entries are one, entry 0 is empty.
type table struct {
	index map[string]uint64
	rows  [][]byte
}

func newTable() table { return table{index: map[string]uint64{"": 0}, rows: [][]byte{nil}} }

// of returns the index of an entry.
func (t *table) of(entry []byte) uint64 {
	i, ok := t.index[string(entry)]
	if !ok {
		i = uint64(len(t.rows))
		t.rows = append(t.rows, slices.Clone(entry))
		t.index[string(entry)] = i
	}
	return i
}

// appendTo appends the table to a dictionary.
func (t *table) appendTo(to []byte, field protowire.Number) []byte {
	for _, row := range t.rows {
		to = protobuf.Message(to, field, row)
	}
	return to
}

// An encoder makes the dictionary while samples refer to it.
type encoder struct {
	r                          *run.Run
	strings, attributes, links table
	mappings, functions        table
	// Locations and stacks are numbered when they are first referred to.
	locations, stacks       table
	locationIDs, mappingIDs []uint64 // by index in the run
	stackIDs                map[run.StackID]uint64
	samples                 []labelled // by index of labels in the run
}

// labelled is what labels add to a sample.
type labelled struct {
	done       bool
	attributes []uint64
	link       uint64
}

func newEncoder(r *run.Run) *encoder {
	e := &encoder{
		r: r, strings: newTable(), attributes: newTable(), links: newTable(), mappings: newTable(), functions: newTable(), locations: newTable(), stacks: newTable(),
		locationIDs: make([]uint64, len(r.Locations)), mappingIDs: make([]uint64, len(r.Mappings)), stackIDs: make(map[run.StackID]uint64), samples: make([]labelled, len(r.Labels)),
	}
	// The specification asks for identifiers of full length in the link that is none.
	e.links.rows[0] = protobuf.Message(protobuf.Message(nil, LinkTrace, make([]byte, traceSize)), LinkSpan, make([]byte, spanSize))
	// Mappings keep their order: the first is the main binary.
	used, known := make([]bool, len(r.Mappings)), make([]bool, r.Stacks.Len())
	for i := range r.Samples {
		for id := r.Samples[i].Stack; id != 0 && !known[id]; id = r.Stacks.Parent(id) {
			known[id] = true
			used[r.Locations[r.Stacks.Location(id)].Mapping] = true
		}
	}
	for i := 1; i < len(r.Mappings); i++ {
		if used[i] {
			e.mappingIDs[i] = e.mapping(&r.Mappings[i])
		}
	}
	return e
}

// string returns the index of a string.
func (e *encoder) string(s string) uint64 {
	return e.strings.of([]byte(strings.ToValidUTF8(s, "\ufffd")))
}

func (e *encoder) dictionary() []byte {
	var d []byte
	d = e.mappings.appendTo(d, DictionaryMapping)
	d = e.locations.appendTo(d, DictionaryLocation)
	d = e.functions.appendTo(d, DictionaryFunction)
	d = e.links.appendTo(d, DictionaryLink)
	d = e.strings.appendTo(d, DictionaryString)
	d = e.attributes.appendTo(d, DictionaryAttribute)
	return e.stacks.appendTo(d, DictionaryStack)
}

// profiles are one for each type of value.
func (e *encoder) profiles(names run.SampleTypeNames) [][]byte {
	r := e.r
	types := names.SampleTypes(r.Events)
	n := len(types) / 2
	// Weights come first: viewers show the first profile.
	var order []int
	for i := range n {
		order = append(order, 2*i+1, 2*i)
	}
	samples := make([][]byte, len(types)) // by type
	next, heads := r.GroupSamples(n)
	values := make([]int64, len(types))
	for _, head := range heads {
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
		stack, l := e.stack(s.Stack), e.labels(s.Labels)
		for _, t := range order {
			if values[t] == 0 && t != order[0] {
				continue
			}
			m := protobuf.Number(nil, SampleStack, stack)
			m = protobuf.Packed(m, SampleAttribute, l.attributes)
			m = protobuf.Number(m, SampleLink, l.link)
			m = protobuf.Packed(m, SampleValue, []uint64{uint64(values[t])})
			samples[t] = protobuf.Message(samples[t], ProfileSample, m)
		}
	}
	shared := e.profileAttributes()
	list := make([][]byte, 0, len(types))
	for _, t := range order {
		typ := protobuf.Number(protobuf.Number(nil, ValueTypeType, e.string(types[t].Type)), ValueTypeUnit, e.string(types[t].Unit))
		m := protobuf.Message(nil, ProfileSampleType, typ)
		m = append(m, samples[t]...)
		if !r.Recording.Start.IsZero() {
			m = protowire.AppendFixed64(protowire.AppendTag(m, ProfileTime, protowire.Fixed64Type), uint64(r.Recording.Start.UnixNano()))
		}
		m = protobuf.Number(m, ProfileDuration, uint64(max(0, r.Recording.Duration)))
		if period := r.Events[t/2].Period; t%2 == 1 && period != 0 {
			m = protobuf.Number(protobuf.Message(m, ProfilePeriodType, typ), ProfilePeriod, period)
		}
		list = append(list, protobuf.Packed(m, ProfileAttribute, shared))
	}
	return list
}

// profileAttributes are what a profile of pprof has in comments.
func (e *encoder) profileAttributes() []uint64 {
	var values []value
	for _, c := range e.r.Comments() {
		values = append(values, value{text: c})
	}
	if len(values) == 0 {
		return nil
	}
	// An array, even of one.
	return []uint64{e.attribute(Comment, array(values), "")}
}

// stack returns the index of a stack, leaf first.
func (e *encoder) stack(id run.StackID) uint64 {
	if id == 0 {
		return 0
	}
	i, ok := e.stackIDs[id]
	if !ok {
		var locations []uint64
		for _, l := range e.r.Stacks.Append(nil, id) {
			locations = append(locations, e.location(l))
		}
		i = e.stacks.of(protobuf.Packed(nil, StackLocation, locations))
		e.stackIDs[id] = i
	}
	return i
}

func (e *encoder) location(index uint32) uint64 {
	if e.locationIDs[index] == 0 {
		l := &e.r.Locations[index]
		m := protobuf.Number(nil, LocationMapping, e.mappingIDs[l.Mapping])
		m = protobuf.Number(m, LocationAddress, l.Address)
		for _, line := range l.Lines {
			lm := protobuf.Number(nil, LineFunction, e.function(&e.r.Functions[line.Function]))
			m = protobuf.Message(m, LocationLine, protobuf.Number(protobuf.Number(lm, LineLine, uint64(line.Line)), LineColumn, uint64(line.Column)))
		}
		e.locationIDs[index] = e.locations.of(m)
	}
	return e.locationIDs[index]
}

func (e *encoder) function(f *run.Function) uint64 {
	m := protobuf.Number(nil, FunctionName, e.string(f.Name))
	m = protobuf.Number(m, FunctionSystemName, e.string(f.SystemName))
	m = protobuf.Number(m, FunctionFilename, e.string(f.File))
	return e.functions.of(protobuf.Number(m, FunctionStartLine, uint64(f.StartLine)))
}

func (e *encoder) mapping(p *run.Mapping) uint64 {
	var attributes []uint64
	if p.BuildID != "" {
		attributes = append(attributes, e.attribute(BuildIDGNU, protobuf.String(nil, AnyString, p.BuildID), ""))
	}
	for _, has := range []struct {
		name string
		set  bool
	}{{HasFunctions, p.HasFunctions}, {HasFilenames, p.HasFilenames}, {HasLineNumbers, p.HasLineNumbers}, {HasInlineFrames, p.HasInlineFrames}} {
		if has.set {
			attributes = append(attributes, e.attribute(has.name, protobuf.Number(nil, AnyBool, 1), ""))
		}
	}
	m := protobuf.Number(nil, MappingStart, p.Start)
	m = protobuf.Number(m, MappingLimit, p.Limit)
	m = protobuf.Number(m, MappingOffset, p.Offset)
	m = protobuf.Number(m, MappingFilename, e.string(p.File))
	return e.mappings.of(protobuf.Packed(m, MappingAttribute, attributes))
}

// attribute returns the index of an attribute, of which value is a message AnyValue.
func (e *encoder) attribute(key string, value []byte, unit string) uint64 {
	m := protobuf.Number(nil, AttributeKey, e.string(key))
	m = protobuf.Message(m, AttributeValue, value)
	return e.attributes.of(protobuf.Number(m, AttributeUnit, e.string(unit)))
}

// A value is one of a label: text, or a number with a unit.
type value struct {
	text, unit string
	number     int64
	numeric    bool
}

// encode is the value as a message AnyValue. A number that is zero is written all the same: it is
// the value that says which kind it is.
func (v *value) encode() []byte {
	if v.numeric {
		return protobuf.Present(nil, AnyInt, uint64(v.number))
	}
	return protobuf.String(nil, AnyString, v.text)
}

// array is several values as a message AnyValue.
func array(values []value) []byte {
	var list []byte
	for i := range values {
		list = protobuf.Message(list, ArrayValue, values[i].encode())
	}
	return protobuf.Message(nil, AnyArray, list)
}

// labels returns what the labels of the run with this index add to a sample. A key occurs once, so
// that several values of a key are an array.
func (e *encoder) labels(index uint32) *labelled {
	l := &e.samples[index]
	if l.done {
		return l
	}
	l.done = true
	keys, values := labelValues(&e.r.Labels[index])
	if link := linkOf(values); link != nil {
		l.link = e.links.of(link)
		keys = slices.DeleteFunc(keys, func(key string) bool { return key == TraceID || key == SpanID })
	}
	for _, key := range keys {
		list := values[key]
		encoded := list[0].encode()
		if len(list) > 1 {
			encoded = array(list)
		}
		l.attributes = append(l.attributes, e.attribute(key, encoded, list[0].unit))
	}
	return l
}

// labelValues lists the keys of labels by the names that OpenTelemetry has, and their values.
func labelValues(l *run.Labels) (keys []string, values map[string][]value) {
	values = make(map[string][]value)
	add := func(key string, v value) {
		if _, ok := values[key]; !ok {
			keys = append(keys, key)
		}
		values[key] = append(values[key], v)
	}
	for _, known := range Labels {
		text, num := "", int64(-1)
		switch known.Pprof {
		case "cpu":
			num = l.CPU
		case "execution_mode":
			text = l.Mode
		case "pid":
			num = l.PID
		case "process":
			text = l.Process
		case "thread":
			text = l.Thread
		case "tid":
			num = l.TID
		}
		switch {
		case text != "":
			add(known.Name, value{text: text})
		case num >= 0:
			add(known.Name, value{number: num, numeric: true})
		}
	}
	if l.State != "" {
		add("state", value{text: l.State})
	}
	for rest := l.Other; rest != ""; {
		var key, text string
		key, rest, _ = strings.Cut(rest, "\x00")
		text, rest, _ = strings.Cut(rest, "\x00")
		add(key, value{text: text})
	}
	for rest := l.OtherNum; rest != ""; {
		var key, num, unit string
		key, rest, _ = strings.Cut(rest, "\x00")
		num, rest, _ = strings.Cut(rest, "\x00")
		unit, rest, _ = strings.Cut(rest, "\x00")
		n, _ := strconv.ParseInt(num, 10, 64) // a reader wrote it
		add(key, value{number: n, numeric: true, unit: unit})
	}
	return keys, values
}

// Sizes of identifiers, in bytes.
const (
	traceSize = 16
	spanSize  = 8
)

// linkOf is the link that labels name, nil if they name none.
func linkOf(values map[string][]value) []byte {
	identifier := func(key string, size int) []byte {
		if len(values[key]) != 1 {
			return nil
		}
		id, err := hex.DecodeString(values[key][0].text)
		if err != nil || len(id) != size || hex.EncodeToString(id) != values[key][0].text {
			return nil
		}
		return id
	}
	trace, span := identifier(TraceID, traceSize), identifier(SpanID, spanSize)
	if trace == nil || span == nil {
		return nil
	}
	return protobuf.Message(protobuf.Message(nil, LinkTrace, trace), LinkSpan, span)
}
