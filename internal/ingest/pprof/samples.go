package pprof

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"profdiff/internal/input"
	"profdiff/internal/run"
)

// A sampleReader is the part of a reader that samples need.
type sampleReader struct {
	types      []valueType
	pairs      []samplePair
	events     []uint32 // index in the Run by pair
	sums       []int64  // by type
	heapPeriod int64
	grows      bool
	negative   []int64 // samples with a negative value, by pair

	// Of the sample that is read: ids of locations, leaf first, values, and labels as
	// they are in the profile.
	ids, values []uint64
	labelBytes  []byte
	// labels are the indices in the Run by labelBytes.
	labels map[string]uint32
}

// addEvents adds the events of the profile, one for each pair of sample types.
func (p *reader) addEvents(types []valueType, periodType valueType, period int64, byDefault string) {
	p.types, p.pairs = types, pairSampleTypes(types)
	p.sums = make([]int64, len(types))
	p.negative = make([]int64, len(p.pairs))
	p.labels = make(map[string]uint32)
	p.heapPeriod, p.grows = heapPeriod(periodType, period), grows(types)
	leads := leading(p.pairs, types, byDefault, isOwn(p.comments))
	for i, pair := range p.pairs {
		e := run.Event{Name: pair.name, Unit: types[pair.weight].unit, WeightSqLowerBound: true, Leads: i == leads}
		if periodType == types[pair.weight] && period > 0 {
			e.Period = uint64(period)
		}
		p.events = append(p.events, p.b.Event(e))
	}
}

// sample adds a sample to the Run.
func (p *reader) sample(c *input.Fields) {
	ids, values, labels := p.ids[:0], p.values[:0], p.labelBytes[:0]
	for c.Next() {
		switch c.Num {
		case sampleLocationID:
			ids = c.Uints(ids)
		case sampleValue:
			values = c.Uints(values)
		case sampleLabel:
			label := c.Bytes()
			labels = binary.AppendUvarint(labels, uint64(len(label)))
			labels = append(labels, label...)
		default:
			c.Skip()
		}
	}
	p.ids, p.values, p.labelBytes = ids, values, labels
	p.checkValues(c)
	label := p.label(c)
	stack := p.stack(c, ids)
	if c.Err != nil {
		return
	}
	for i := range p.pairs {
		pair := &p.pairs[i]
		weight, count := int64(values[pair.weight]), pair.samples(values, p.heapPeriod)
		if weight < 0 || count < 0 {
			p.negative[i]++
			continue
		}
		if weight == 0 && (pair.count < 0 || count == 0) {
			continue
		}
		// Σw² of count samples that sum to weight is least when all are equal.
		sq := float64(weight) * float64(weight)
		if count > 0 {
			sq /= float64(count)
		}
		p.b.AddSum(p.events[i], stack, label, count, weight, sq)
		p.b.Run().Accounting.In += count
	}
}

// checkValues refuses values that are no sums of samples. Those of a profile of what was allocated in a time, which is the
// difference of two (/debug/pprof/heap?seconds=30), may be negative; those that compare two programs are refused.
func (p *reader) checkValues(c *input.Fields) {
	if len(p.values) != len(p.types) {
		c.Take(fmt.Errorf("sample at %#x: has %d values, the profile has %d sample types", c.Base, len(p.values), len(p.types)))
		return
	}
	for i, value := range p.values {
		v := int64(value)
		if v < 0 {
			if !p.grows || p.isBase(c) {
				c.Take(fmt.Errorf("sample at %#x: value %d of %s is negative: a difference of profiles is no recording, give the two profiles", c.Base, v, p.types[i].name))
				return
			}
			continue
		}
		if v > math.MaxInt64-p.sums[i] {
			c.Take(fmt.Errorf("sample at %#x: values of %s sum to more than 2^63", c.Base, p.types[i].name))
			return
		}
		p.sums[i] += v
	}
}

// isBase reports whether pprof says that a sample is of what others are compared with.
func (p *reader) isBase(c *input.Fields) bool {
	labels := p.decodeLabels(c)
	return strings.Contains(labels.Other, "pprof::base\x00true\x00")
}

// stack returns the stack of locations, given by id, leaf first.
func (p *reader) stack(c *input.Fields, ids []uint64) run.StackID {
	if p.drop != nil {
		for _, id := range ids {
			p.locationIndex(c, id)
		}
		ids = p.drop.stack(ids)
	}
	// Stacks of samples that follow each other often begin alike, but to remember the
	// stack before gains nothing over looking it up.
	var stack run.StackID
	for i, id := range slices.Backward(ids) {
		location := p.locationIndex(c, id)
		if i == 0 && p.noAddresses {
			location, _ = p.leafIDs.get(id)
		}
		stack = p.b.Stack(stack, location)
	}
	return stack
}

func (p *reader) locationIndex(c *input.Fields, id uint64) uint32 {
	i, ok := p.locationIDs.get(id)
	if !ok {
		c.Take(fmt.Errorf("sample at %#x: refers to location %d, which the profile does not have", c.Base, id))
	}
	return i
}

// label returns the index of the labels of a sample. Most samples have labels that
// another one has.
func (p *reader) label(c *input.Fields) uint32 {
	if len(p.labelBytes) == 0 || c.Err != nil {
		return 0
	}
	i, ok := p.labels[string(p.labelBytes)]
	if !ok {
		i = p.b.Labels(p.decodeLabels(c))
		p.labels[string(p.labelBytes)] = i
	}
	return i
}

// A label is a string, or a number with a unit.
type label struct {
	key, value string
	numeric    bool
	number     int64
	unit       string
}

// decodeLabels decodes the labels of a sample.
func (p *reader) decodeLabels(sample *input.Fields) run.Labels {
	var labels []label
	c := sample.Again()
	for c.Next() {
		if c.Num != sampleLabel {
			c.Skip()
			continue
		}
		m := c.Message()
		if l, ok := p.decodeLabel(&m); ok {
			labels = append(labels, l)
		}
		c.Take(m.Err)
	}
	sample.Take(c.Err)
	slices.SortStableFunc(labels, func(a, b label) int { return cmp.Compare(a.key, b.key) })
	return joinLabels(labels)
}

// decodeLabel decodes one label. It returns false if that has no value.
func (p *reader) decodeLabel(c *input.Fields) (l label, ok bool) {
	var key, str, unit uint64
	for c.Next() {
		switch c.Num {
		case labelKey:
			key = c.Uint()
		case labelStr:
			str = c.Uint()
		case labelNum:
			l.number = int64(c.Uint())
		case labelNumUnit:
			unit = c.Uint()
		default:
			c.Skip()
		}
	}
	l.key = p.str(c, "label", key)
	switch {
	case str != 0:
		l.value = p.str(c, "label", str)
	case l.number != 0 || unit != 0:
		l.numeric = true
		l.unit = p.str(c, "label", unit)
	default:
		return label{}, false
	}
	return l, true
}

// joinLabels takes labels that are sorted by key.
func joinLabels(labels []label) run.Labels {
	l := run.Labels{PID: -1, TID: -1, CPU: -1}
	var other, otherNum strings.Builder
	for i := range labels {
		switch b := &labels[i]; {
		case b.numeric && b.key == "pid":
			l.PID = b.number
		case b.numeric && b.key == "tid":
			l.TID = b.number
		case b.numeric && b.key == "cpu":
			l.CPU = b.number
		case b.numeric:
			otherNum.WriteString(b.key + "\x00" + strconv.FormatInt(b.number, 10) + "\x00" + b.unit + "\x00")
		case b.key == "process":
			l.Process = b.value
		case b.key == "thread":
			l.Thread = b.value
		case b.key == "threadpool": // follows from thread
		case b.key == "state":
			l.State = b.value
		case b.key == "execution_mode":
			l.Mode = b.value
		default:
			other.WriteString(b.key + "\x00" + b.value + "\x00")
		}
	}
	l.Other, l.OtherNum = other.String(), otherNum.String()
	return l
}
