package otlp

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"profdiff/internal/input"
	schema "profdiff/internal/otlp"
	"profdiff/internal/protobuf"
)

// Field numbers of pprof's proto/profile.proto.
const (
	pprofSampleType  = 1
	pprofSample      = 2
	pprofMapping     = 3
	pprofLocation    = 4
	pprofFunction    = 5
	pprofStringTable = 6
	pprofDropFrames  = 7
	pprofKeepFrames  = 8
	pprofDuration    = 10
	pprofPeriodType  = 11
	pprofPeriod      = 12
	pprofComment     = 13
	pprofDefaultType = 14

	pprofLabelKey  = 1
	pprofLabelStr  = 2
	pprofLabelNum  = 3
	pprofLabelUnit = 4
)

// What is written may have so many times the bytes of the input, and an allowance. A sample that
// refers to a stack takes as many bytes as there are frames; real profiles grow to twice their size.
const (
	maxGrowth       = 64
	growthAllowance = 16 << 20
)

// A writer writes what was read as a profile of pprof.
type writer struct {
	*reader
	out   []byte
	limit int
	// followed counts the references of stacks that were followed, some of which lead to nothing.
	followed int
	// added are the numbers of strings that the dictionary lacks.
	added   map[string]uint64
	strings []string
}

// profile is what was read as a profile of pprof. The input had size bytes.
func (p *reader) profile(size int) ([]byte, error) {
	w := &writer{reader: p, limit: maxGrowth*size + growthAllowance, added: map[string]uint64{"": 0}}
	columns := p.columns()
	for _, c := range columns {
		w.out = protobuf.Message(w.out, pprofSampleType, protobuf.Number(protobuf.Number(nil, 1, w.string(c.name)), 2, w.string(c.unit)))
	}
	if err := w.samples(columns); err != nil {
		return nil, err
	}
	for _, t := range []struct {
		spans *spans
		write func(c *input.Fields, id uint64)
	}{{&p.mappings, w.mapping}, {&p.locations, w.location}, {&p.functions, w.function}} {
		for i := 1; i < len(t.spans.at); i++ {
			m := t.spans.message(uint64(i))
			if t.write(&m, uint64(i)); m.Err != nil {
				return nil, m.Err
			}
		}
	}
	duration := p.duration
	if p.start != 0 {
		duration = max(duration, p.end-p.start)
	}
	w.out = protobuf.Number(w.out, pprofDuration, min(duration, math.MaxInt64))
	if t, period := p.samePeriod(); period > 0 {
		w.out = protobuf.Message(w.out, pprofPeriodType, protobuf.Number(protobuf.Number(nil, 1, w.string(t.name)), 2, w.string(t.unit)))
		w.out = protobuf.Number(w.out, pprofPeriod, uint64(period))
	}
	// Other programs write the types of pprof's profiles in their order, where the last one counts.
	if p.own() && p.types[0].sum > 0 {
		w.out = protobuf.Number(w.out, pprofDefaultType, w.string(p.types[0].name))
	}
	w.out = protobuf.Number(w.out, pprofDropFrames, w.string(p.dropFrames))
	w.out = protobuf.Number(w.out, pprofKeepFrames, w.string(p.keepFrames))
	for _, c := range p.comments {
		w.out = protobuf.Present(w.out, pprofComment, w.string(c))
	}
	w.out = protobuf.Message(w.out, pprofStringTable, nil)
	for _, list := range [][]string{p.tables.strings[min(1, len(p.tables.strings)):], w.strings} {
		for _, s := range list {
			w.out = protobuf.Message(w.out, pprofStringTable, []byte(s))
		}
	}
	return w.out, nil
}

// own reports whether profdiff wrote the profiles.
func (p *reader) own() bool {
	return len(p.comments) > 0 && strings.HasPrefix(p.comments[0], "format: ")
}

// samePeriod is the period of all profiles that have one, 0 if they differ.
func (p *reader) samePeriod() (typ typeName, period int64) {
	for i := range p.types {
		switch t := &p.types[i]; {
		case t.period <= 0:
		case period != 0 && (t.periodType != typ || t.period != period):
			return typeName{}, 0
		default:
			typ, period = t.periodType, t.period
		}
	}
	return typ, period
}

// string returns the number of a string that the dictionary may lack.
func (w *writer) string(s string) uint64 {
	i, ok := w.added[s]
	if !ok {
		i = uint64(max(1, len(w.tables.strings)) + len(w.strings))
		w.strings = append(w.strings, s)
		w.added[s] = i
	}
	return i
}

// A column is a type of values of the profile that is written: the values of a type that was read,
// or the number of samples that they stand for, each times a factor.
type column struct {
	name, unit string
	typ        uint32
	counts     bool
	factor     int64
}

// columns are the types of what was read. If that is one type alone, samples may tell a second one:
//
//   - Profilers that count samples and say of how much time each is (OpenTelemetry's for eBPF)
//     mean the time, as profiles of Go have it: samples, count, and cpu, nanoseconds.
//   - Of other types, the number of samples is known if samples have their times.
func (p *reader) columns() []column {
	var list []column
	for i, t := range p.types {
		list = append(list, column{name: t.name, unit: t.unit, typ: uint32(i), factor: 1})
	}
	// What is named after another type counts its samples, and package ingest/pprof pairs types in
	// their order: an event may itself be called samples. Profdiff writes a weight, then its number.
	if p.own() && len(list)%2 == 0 {
		for i := 0; i < len(list); i += 2 {
			list[i], list[i+1] = list[i+1], list[i]
		}
		return list
	}
	slices.SortStableFunc(list, func(a, b column) int { return cmp.Compare(counting(a.name), counting(b.name)) })
	if len(list) != 1 {
		return list
	}
	t := &p.types[0]
	switch {
	case t.name == "samples" && t.unit == "count" && t.periodType.unit == "nanoseconds" && t.period > 0 && t.sum <= math.MaxInt64/t.period:
		list = append(list, column{name: t.periodType.name, unit: t.periodType.unit, factor: t.period})
	case t.counted && t.unit != "count":
		list = append(list, column{name: t.name + "_samples", unit: "samples", counts: true, factor: 1})
	}
	return list
}

// counting orders types: 0 is one that counts the samples of another, by its name.
func counting(name string) int {
	if strings.HasSuffix(name, "_samples") || strings.HasSuffix(name, "_sample") {
		return 0
	}
	return 1
}

// samples writes a sample for each row, in the order in which they were met.
func (w *writer) samples(columns []column) error {
	slices.SortStableFunc(w.reader.samples, func(a, b sample) int { return cmp.Compare(a.row, b.row) })
	values, counts := make([]int64, len(w.types)), make([]int64, len(w.types))
	var body, packed []byte
	rest := w.reader.samples
	for i := range w.rowKeys {
		clear(values)
		clear(counts)
		for len(rest) > 0 && rest[0].row == uint32(i) {
			values[rest[0].typ] += rest[0].value
			counts[rest[0].typ] += rest[0].count
			rest = rest[1:]
		}
		var err error
		if body, err = w.stack(body[:0], w.rowKeys[i].stack); err != nil {
			return err
		}
		packed = packed[:0]
		for _, c := range columns {
			v := values[c.typ]
			if c.counts {
				v = counts[c.typ]
			}
			packed = protowire.AppendVarint(packed, uint64(v*c.factor))
		}
		body = protobuf.Message(body, 2, packed)
		body = w.labels(body, &w.rowKeys[i])
		w.out = protobuf.Message(w.out, pprofSample, body)
		if len(w.out)+w.followed > w.limit {
			return fmt.Errorf("the stacks and labels of the first %d samples take more than %d bytes, %d times as much as the input: no profiler writes such", i+1, w.limit, maxGrowth)
		}
	}
	return nil
}

// stack appends the locations of a stack, leaf first. Location 0 is none.
func (w *writer) stack(body []byte, index uint64) ([]byte, error) {
	if index == 0 {
		return body, nil
	}
	c := w.stacks.message(index)
	list := w.list[:0]
	for c.Next() {
		if c.Num != schema.StackLocation {
			c.Fail(notKnown("a stack"))
			break
		}
		list = c.Uints(list)
	}
	w.list = list
	w.followed += len(list)
	var packed []byte
	for _, l := range list {
		if l >= max(1, uint64(len(w.locations.at))) {
			c.Take(fmt.Errorf("stack at %#x: refers to location %d, the dictionary has %d", c.Base, l, len(w.locations.at)))
			break
		}
		if l != 0 {
			packed = protowire.AppendVarint(packed, l)
		}
	}
	if len(packed) > 0 {
		body = protobuf.Message(body, 1, packed)
	}
	return body, c.Err
}

// labels appends the labels of a sample: its attributes, its link and, if there are several, its
// resource.
func (w *writer) labels(body []byte, r *row) []byte {
	for _, i := range r.attributes {
		if i != 0 {
			body = w.label(body, &w.attributes[i])
		}
	}
	for _, l := range []struct {
		key string
		id  func(l *link) string
	}{{schema.TraceID, func(l *link) string { return l.trace }}, {schema.SpanID, func(l *link) string { return l.span }}} {
		if r.link == 0 {
			break
		}
		if id := l.id(&w.links[r.link]); id != "" {
			body = w.label(body, &attribute{key: l.key, values: []value{{text: id}}})
		}
	}
	if len(w.resourceList) > 1 {
		list := w.resourceList[r.resource]
		for i := range list {
			body = w.label(body, &list[i])
		}
	}
	return body
}

// label appends an attribute as labels, by the names that they have in profiles of pprof.
func (w *writer) label(body []byte, a *attribute) []byte {
	known := slices.IndexFunc(schema.Labels, func(l schema.Label) bool { return l.Name == a.key })
	for _, v := range a.values {
		name, unit := a.key, a.unit
		if known >= 0 && v.numeric == (schema.Labels[known].Unit != "") {
			name, unit = schema.Labels[known].Pprof, schema.Labels[known].Unit
		}
		m := protobuf.Number(nil, pprofLabelKey, w.string(name))
		switch {
		case !v.numeric:
			m = protobuf.Number(m, pprofLabelStr, w.string(v.text))
		case v.number == 0 && unit == "": // for pprof that is a label without a value
			m = protobuf.Number(m, pprofLabelStr, w.string("0"))
		default:
			m = protobuf.Number(protobuf.Number(m, pprofLabelNum, uint64(v.number)), pprofLabelUnit, w.string(unit))
		}
		body = protobuf.Message(body, 3, m)
	}
	return body
}

// reference checks a reference to a table of n entries.
func reference(c *input.Fields, table string, n int) uint64 {
	i := c.Uint()
	if i != 0 && i >= uint64(n) {
		c.Fail(fmt.Errorf("refers to %s %d, the dictionary has %d", table, i, n))
		return 0
	}
	return i
}

func (w *writer) text(c *input.Fields) uint64 { return reference(c, "string", len(w.tables.strings)) }

func (w *writer) mapping(c *input.Fields, id uint64) {
	m := protobuf.Number(nil, 1, id)
	var ids [2]string // of GNU and of Go
	for c.Next() {
		switch c.Num {
		case schema.MappingStart, schema.MappingLimit, schema.MappingOffset:
			m = protobuf.Number(m, c.Num+1, c.Uint())
		case schema.MappingFilename:
			m = protobuf.Number(m, 5, w.text(c))
		case schema.MappingAttribute:
			w.list = c.Uints(w.list[:0])
			for _, i := range w.list {
				a := w.at(c, i)
				if a == nil || len(a.values) == 0 {
					continue
				}
				text := a.values[0].String()
				switch has := slices.Index([]string{schema.HasFunctions, schema.HasFilenames, schema.HasLineNumbers, schema.HasInlineFrames}, a.key); {
				case has >= 0 && text == "true":
					m = protobuf.Number(m, protowire.Number(7+has), 1)
				case a.key == schema.BuildIDGNU:
					ids[0] = text
				case a.key == schema.BuildIDGo:
					ids[1] = text
				}
			}
		default:
			c.Fail(notKnown("a mapping"))
		}
	}
	w.out = protobuf.Message(w.out, pprofMapping, protobuf.Number(m, 6, w.string(cmp.Or(ids[0], ids[1]))))
}

func (w *writer) location(c *input.Fields, id uint64) {
	m := protobuf.Number(nil, 1, id)
	for c.Next() {
		switch c.Num {
		case schema.LocationMapping:
			m = protobuf.Number(m, 2, reference(c, "mapping", len(w.mappings.at)))
		case schema.LocationAddress:
			m = protobuf.Number(m, 3, c.Uint())
		case schema.LocationLine:
			line := c.Message()
			if l := w.line(&line); len(l) > 0 {
				m = protobuf.Message(m, 4, l)
			}
			c.Take(line.Err)
		case schema.LocationAttribute:
			if c.Type != bytesType { // where is_folded was up to version 1.7
				c.Fail(errOlder)
				return
			}
			w.list = c.Uints(w.list[:0])
			for _, i := range w.list {
				if a := w.at(c, i); a != nil && a.key == schema.IsFolded && len(a.values) == 1 && a.values[0].text == "true" {
					m = protobuf.Number(m, 5, 1)
				}
			}
		default:
			c.Fail(notKnown("a location"))
		}
	}
	w.out = protobuf.Message(w.out, pprofLocation, m)
}

// line is a line of a location, nothing if its function is not known.
func (w *writer) line(c *input.Fields) []byte {
	var function, line, column uint64
	for c.Next() {
		switch c.Num {
		case schema.LineFunction:
			function = reference(c, "function", len(w.functions.at))
		case schema.LineLine:
			line = c.Uint()
		case schema.LineColumn:
			column = c.Uint()
		default:
			c.Fail(notKnown("a line"))
		}
	}
	if function == 0 {
		return nil
	}
	return protobuf.Number(protobuf.Number(protobuf.Number(nil, 1, function), 2, line), 3, column)
}

func (w *writer) function(c *input.Fields, id uint64) {
	m := protobuf.Number(nil, 1, id)
	for c.Next() {
		switch c.Num {
		case schema.FunctionName, schema.FunctionSystemName, schema.FunctionFilename:
			m = protobuf.Number(m, c.Num+1, w.text(c))
		case schema.FunctionStartLine:
			m = protobuf.Number(m, 5, c.Uint())
		default:
			c.Fail(notKnown("a function"))
		}
	}
	w.out = protobuf.Message(w.out, pprofFunction, m)
}
