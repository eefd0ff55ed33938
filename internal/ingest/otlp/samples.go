package otlp

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"profdiff/internal/input"
	schema "profdiff/internal/otlp"
)

// A reader collects the samples of all profiles.
type reader struct {
	tables
	types   []valueType
	samples []sample
	// rows are the numbers of samples that are one sample of pprof, by what tells them apart;
	// rowKeys has them by number.
	rows    map[string]uint32
	rowKeys []row
	// resources are numbered, and their attributes listed.
	resources    map[string]uint32
	resourceList [][]attribute
	resource     uint32 // of the profile that is read
	scope        string // name and version of the first scope that has any

	comments             []string
	dropFrames           string
	keepFrames           string
	taken                map[uint64]bool // attributes of profiles that were taken over
	start, end, duration uint64

	key  []byte
	list []uint64
}

func newReader() *reader {
	return &reader{rows: make(map[string]uint32), resources: make(map[string]uint32), taken: make(map[uint64]bool)}
}

// A valueType is what the values of profiles are.
type valueType struct {
	name, unit string
	// periodType and period are how often a sample was taken, 0 if profiles differ.
	periodType typeName
	period     int64
	periods    int
	// counted is set if samples tell how many were taken.
	counted bool
	sum     int64
}

type typeName struct{ name, unit string }

// A sample is a sample of one profile.
type sample struct {
	row, typ     uint32
	value, count int64
}

// A row is what tells samples apart.
type row struct {
	stack, link uint64
	resource    uint32
	attributes  []uint64
}

func (p *reader) resourceProfiles(c *input.Fields) {
	// What a resource is stands before what is of it, or behind.
	first := c.Again()
	var resource []byte
	for first.Next() {
		if first.Num == schema.ResourceProfilesResource {
			resource = first.Bytes()
		} else {
			first.Skip()
		}
	}
	p.setResource(c, resource)
	for c.Next() {
		switch c.Num {
		case schema.ResourceProfilesScope:
			m := c.Message()
			p.scopeProfiles(&m)
			c.Take(m.Err)
		case schema.ResourceProfilesResource, schema.ResourceProfilesSchema:
			c.Bytes()
		default:
			c.Fail(notKnown("profiles of a resource"))
		}
	}
}

// setResource gives a resource its number.
func (p *reader) setResource(c *input.Fields, message []byte) {
	i, ok := p.resources[string(message)]
	if !ok {
		i = uint32(len(p.resourceList))
		p.resources[string(message)] = i
		var list []attribute
		r := input.NewFields(message, c.Base)
		for r.Next() {
			if r.Num != schema.ResourceAttribute {
				r.Skip()
				continue
			}
			m := r.Message()
			list = append(list, p.keyValue(&m))
			r.Take(m.Err)
		}
		c.Take(r.Err)
		p.resourceList = append(p.resourceList, list)
	}
	p.resource = i
}

func (p *reader) scopeProfiles(c *input.Fields) {
	for c.Next() {
		switch c.Num {
		case schema.ScopeProfilesScope:
			m := c.Message()
			p.scopeName(&m)
			c.Take(m.Err)
		case schema.ScopeProfilesProfile:
			m := c.Message()
			p.readProfile(&m)
			c.Take(m.Err)
		case schema.ScopeProfilesSchema:
			c.Bytes()
		default:
			c.Fail(notKnown("profiles of a scope"))
		}
	}
}

func (p *reader) scopeName(c *input.Fields) {
	var name, version string
	for c.Next() {
		switch c.Num {
		case schema.ScopeName:
			name = string(c.Bytes())
		case schema.ScopeVersion:
			version = string(c.Bytes())
		default:
			c.Skip()
		}
	}
	p.scope = cmp.Or(p.scope, strings.TrimSpace(name+" "+version))
}

// readProfile reads a profile. Fields are in any order, so that the type of its values is looked for
// first.
func (p *reader) readProfile(c *input.Fields) {
	var typ, periodType typeName
	var start, duration uint64
	var period int64
	var attributes []uint64
	samples := 0
	for c.Next() {
		switch c.Num {
		case schema.ProfileSampleType:
			typ = p.typeName(c)
		case schema.ProfileSample:
			samples++
			if c.Bytes(); c.Err != nil {
				return
			}
		case schema.ProfileTime:
			if c.Type != fixed64Type {
				c.Fail(errOlder)
				return
			}
			start = c.Fixed64()
		case schema.ProfileDuration:
			duration = c.Uint()
		case schema.ProfilePeriodType:
			if c.Type != bytesType {
				c.Fail(errOlder)
				return
			}
			periodType = p.typeName(c)
		case schema.ProfilePeriod:
			if c.Type == bytesType {
				c.Fail(errOlder)
				return
			}
			period = int64(c.Uint())
		case schema.ProfileID, schema.ProfileDropped, schema.ProfileFormat, schema.ProfileOriginal:
			c.Skip()
		case schema.ProfileAttribute:
			attributes = c.Uints(attributes)
		default:
			c.Fail(notKnown("a profile"))
		}
	}
	if typ.name == "" {
		if samples > 0 {
			c.Take(fmt.Errorf("profile at %#x: does not say what its %d samples are of", c.Base, samples))
		}
		return
	}
	p.profileAttributes(c, attributes)
	if start != 0 && (p.start == 0 || start < p.start) {
		p.start = start
	}
	p.end, p.duration = max(p.end, start+duration), max(p.duration, duration)
	t := p.typeIndex(typ)
	if len(p.types) > maxTypes {
		c.Take(fmt.Errorf("has more than %d types of values", maxTypes))
	}
	pt := &p.types[t]
	if pt.periods++; pt.periods == 1 {
		pt.periodType, pt.period = periodType, period
	} else if pt.periodType != periodType || pt.period != period {
		pt.period = 0
	}
	again := c.Again()
	for c.Err == nil && again.Next() {
		if again.Num != schema.ProfileSample {
			again.Skip()
			continue
		}
		m := again.Message()
		p.sample(&m, t)
		c.Take(m.Err)
	}
}

const (
	varintType  = 0
	fixed64Type = 1
)

// typeName reads a type of values.
func (p *reader) typeName(of *input.Fields) (t typeName) {
	c := of.Message()
	for c.Next() {
		switch c.Num {
		case schema.ValueTypeType:
			t.name = p.str(&c, c.Uint())
		case schema.ValueTypeUnit:
			t.unit = p.str(&c, c.Uint())
		case schema.ValueTypeUnit + 1: // the temporality, up to version 1.8
			c.Fail(errOlder)
		default:
			c.Fail(notKnown("a type of values"))
		}
	}
	of.Take(c.Err)
	return t
}

// maxTypes is far more than any machine has events.
const maxTypes = 1 << 12

// typeIndex returns the index of a type.
func (p *reader) typeIndex(t typeName) uint32 {
	i := slices.IndexFunc(p.types, func(v valueType) bool { return v.name == t.name && v.unit == t.unit })
	if i < 0 {
		i = len(p.types)
		p.types = append(p.types, valueType{name: t.name, unit: t.unit})
	}
	return uint32(i)
}

// profileAttributes takes over what profiles of pprof have. Comments are an array, or numbered.
func (p *reader) profileAttributes(c *input.Fields, list []uint64) {
	for _, i := range list {
		a := p.at(c, i)
		if a == nil || len(a.values) == 0 || p.taken[i] {
			continue
		}
		p.taken[i] = true // profiles of one recording share them
		switch text := a.values[0].String(); {
		case a.key == schema.DropFrames:
			p.dropFrames = cmp.Or(p.dropFrames, text)
		case a.key == schema.KeepFrames:
			p.keepFrames = cmp.Or(p.keepFrames, text)
		case a.key == schema.Comment || strings.HasPrefix(a.key, schema.Comment+"."):
			for j := range a.values {
				p.comments = append(p.comments, a.values[j].String())
			}
		}
	}
}

// at returns an attribute, nil if the index is of none.
func (p *reader) at(c *input.Fields, i uint64) *attribute {
	switch {
	case i == 0:
		return nil
	case i >= uint64(len(p.attributes)):
		c.Fail(fmt.Errorf("refers to attribute %d, the dictionary has %d; if that is a value, this is of a version before 1.10", i, len(p.attributes)))
		return nil
	}
	return &p.attributes[i]
}

// sample reads a sample of a profile. Versions before 1.10 had values in field 2 or 3, and numbers
// in field 4, 5 or 6.
func (p *reader) sample(c *input.Fields, typ uint32) {
	var r row
	var value, values, times int64
	attributes := p.list[:0]
	for c.Next() {
		switch {
		case c.Num == schema.SampleStack:
			r.stack = c.Uint()
		case c.Num == schema.SampleAttribute && c.Type == bytesType:
			attributes = c.Uints(attributes)
		case c.Num == schema.SampleLink && c.Type == varintType:
			r.link = c.Uint()
		case c.Num == schema.SampleValue && c.Type == bytesType:
			m := c.Message()
			for m.Offset() < len(m.Data()) && m.Err == nil {
				v := int64(m.Varint())
				if v < 0 {
					m.Take(fmt.Errorf("sample at %#x: value %d of %s is negative: a difference of profiles is no recording, give the two profiles", c.Base, v, p.types[typ].name))
				}
				if v > math.MaxInt64-p.types[typ].sum {
					m.Take(fmt.Errorf("sample at %#x: values of %s sum to more than 2^63", c.Base, p.types[typ].name))
					break
				}
				p.types[typ].sum += v
				value += v
				values++
			}
			c.Take(m.Err)
		case c.Num == schema.SampleTimestamp && c.Type == bytesType:
			times += int64(len(c.Bytes()) / 8)
		case c.Num == schema.SampleTimestamp && c.Type == fixed64Type:
			c.Fixed64()
			times++
		case c.Num <= schema.SampleTimestamp+1:
			c.Fail(errOlder)
		default:
			c.Fail(notKnown("a sample"))
		}
	}
	p.list = attributes
	switch {
	case c.Err != nil:
		return
	case values == 0 && times == 0:
		c.Take(fmt.Errorf("sample at %#x: %w", c.Base, errOlder))
		return
	case values > 1 && times > 0 && values != times:
		c.Take(fmt.Errorf("sample at %#x: has %d values and %d times", c.Base, values, times))
		return
	case values == 0: // each time stands for one
		value = times
		if value > math.MaxInt64-p.types[typ].sum {
			c.Take(errors.New("values sum to more than 2^63"))
			return
		}
		p.types[typ].sum += value
	}
	p.check(c, &r, attributes)
	if c.Err != nil {
		return
	}
	if max(values, times) > 1 || times > 0 {
		p.types[typ].counted = true
	}
	r.attributes = attributes
	p.samples = append(p.samples, sample{row: p.row(&r), typ: typ, value: value, count: max(values, times)})
}

// check refuses references that lead nowhere.
func (p *reader) check(c *input.Fields, r *row, attributes []uint64) {
	if r.stack != 0 && r.stack >= uint64(len(p.stacks.at)) {
		c.Take(fmt.Errorf("sample at %#x: refers to stack %d, the dictionary has %d", c.Base, r.stack, len(p.stacks.at)))
	}
	if r.link != 0 && r.link >= uint64(len(p.links)) {
		c.Take(fmt.Errorf("sample at %#x: refers to link %d, the dictionary has %d", c.Base, r.link, len(p.links)))
	}
	slices.Sort(attributes)
	for i, a := range attributes {
		if p.at(c, a); i > 0 && a == attributes[i-1] {
			c.Take(fmt.Errorf("sample at %#x: has attribute %d twice; if these are values, this is of a version before 1.10", c.Base, a))
		}
	}
}

// row returns the number of what tells samples apart. r.attributes, which are sorted, are not kept.
func (p *reader) row(r *row) uint32 {
	r.resource = p.resource
	key := binary.AppendUvarint(p.key[:0], r.stack)
	key = binary.AppendUvarint(key, r.link)
	key = binary.AppendUvarint(key, uint64(r.resource))
	for _, a := range r.attributes {
		key = binary.AppendUvarint(key, a)
	}
	p.key = key
	i, ok := p.rows[string(key)]
	if !ok {
		i = uint32(len(p.rowKeys))
		p.rows[string(key)] = i
		r.attributes = slices.Clone(r.attributes)
		p.rowKeys = append(p.rowKeys, *r)
	}
	return i
}
