package pprof

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/run"
)

// A reader reads a profile in two steps, because the tables may be anywhere in it
// and usually are behind the samples: split takes the profile apart, decode puts the
// messages into the Builder, first the ones that others refer to. It takes the memory of
// the profile's bytes, which are given up while they are decoded, and of the Run.
type reader struct {
	b           *run.Builder
	noAddresses bool

	// What split finds. Strings are indices of the string table.
	mappings, functions, locations, samples, strings messageSpool
	sampleTypes                                      [][2]uint64
	periodType                                       [2]uint64
	period, timeNanos, durationNanos                 int64
	dropFrames, keepFrames, defaultSampleType        uint64
	docURL                                           uint64
	commentStrings                                   []uint64

	// What decode makes of it.
	table       stringTable
	comments    []string
	drop        *frameFilter // nil if all frames stay
	mappingIDs  idTable
	functionIDs idTable
	functionRow []functionRow
	origins     map[defined]string
	locationIDs idTable
	leafIDs     idTable // of locations as leaves, if these are others
	lines       []run.Line
	sampleReader
}

// A functionRow is a function of the profile. Only those that locations refer to
// become part of the Run.
type functionRow struct {
	function run.Function
	index    uint32 // 1 + index in the Run
	drop     bool
}

// defined is where the definition of a function starts.
type defined struct {
	name string
	line int64
}

// maxSampleTypes is far more than any machine has events.
const maxSampleTypes = 1 << 12

// split reads all of the profile.
func (p *reader) split(s *input.FieldStream) error {
	for s.Next() {
		switch s.Num {
		case profileSampleType:
			p.sampleTypes = append(p.sampleTypes, readValueType(s))
			if len(p.sampleTypes) > maxSampleTypes {
				return fmt.Errorf("profile has more than %d sample types", maxSampleTypes)
			}
		case profileSample:
			p.samples.add(s)
		case profileMapping:
			p.mappings.add(s)
		case profileLocation:
			p.locations.add(s)
		case profileFunction:
			p.functions.add(s)
		case profileStringTable:
			p.strings.add(s)
			if p.strings.n == 1 && p.strings.size != 0 {
				s.Fail(errors.New("the first string is not empty"))
			}
		case profileDropFrames:
			p.dropFrames = s.Uint()
		case profileKeepFrames:
			p.keepFrames = s.Uint()
		case profileTimeNanos:
			if p.timeNanos != 0 {
				s.Fail(errors.New("a second time: these are several profiles, one behind the other"))
			}
			p.timeNanos = int64(s.Uint())
		case profileDurationNanos:
			p.durationNanos = int64(s.Uint())
		case profilePeriodType:
			p.periodType = readValueType(s)
		case profilePeriod:
			p.period = int64(s.Uint())
		case profileComment:
			p.commentStrings = s.Uints(p.commentStrings)
		case profileDefaultSampleType:
			p.defaultSampleType = s.Uint()
		case profileDocURL:
			p.docURL = s.Uint()
		default:
			s.Skip()
		}
	}
	return s.Err
}

// readValueType reads the strings of type and unit.
func readValueType(s *input.FieldStream) (t [2]uint64) {
	c := s.Message()
	for c.Next() {
		switch c.Num {
		case valueTypeType:
			t[0] = c.Uint()
		case valueTypeUnit:
			t[1] = c.Uint()
		default:
			c.Skip()
		}
	}
	s.Take(c.Err)
	return t
}

// decode fills the Builder.
func (p *reader) decode() error {
	if len(p.sampleTypes) == 0 {
		return errors.New("profile has no sample types")
	}
	if p.strings.n == 0 {
		return errors.New("profile has no string table")
	}
	p.table = newStringTable(&p.strings)
	if err := p.decodeHead(); err != nil {
		return err
	}
	p.mappingIDs = newIDTable(p.mappings.n)
	if err := p.mappings.each(p.mapping); err != nil {
		return err
	}
	p.functionIDs = newIDTable(p.functions.n)
	p.functionRow = make([]functionRow, 0, p.functions.n)
	p.origins = make(map[defined]string)
	if err := p.functions.each(p.function); err != nil {
		return err
	}
	p.locationIDs = newIDTable(p.locations.n)
	if p.noAddresses {
		p.leafIDs = newIDTable(p.locations.n)
	}
	if err := p.locations.each(p.location); err != nil {
		return err
	}
	p.functionIDs, p.functionRow, p.origins = idTable{}, nil, nil
	return p.samples.each(p.sample)
}

// decodeHead decodes what the profile has once.
func (p *reader) decodeHead() error {
	var missing error // the first reference to a string that is not there
	str := func(what string, i uint64) string {
		s, ok := p.table.at(i)
		if !ok && missing == nil {
			missing = fmt.Errorf("%s is string %d, the profile has %d", what, i, len(p.table.ends))
		}
		return s
	}
	types := make([]valueType, len(p.sampleTypes))
	for i, t := range p.sampleTypes {
		types[i] = valueType{clean(str("a sample type", t[0])), clean(str("the unit of a sample type", t[1]))}
	}
	period := valueType{clean(str("the period type", p.periodType[0])), clean(str("the unit of the period", p.periodType[1]))}
	p.comments = make([]string, 0, len(p.commentStrings))
	for _, i := range p.commentStrings {
		p.comments = append(p.comments, clean(str("a comment", i)))
	}
	drop, keep := str("drop_frames", p.dropFrames), str("keep_frames", p.keepFrames)
	byDefault := clean(str("the default sample type", p.defaultSampleType))
	// Nothing uses it, but a profile in which it is wrong is damaged.
	str("the URL of the documentation", p.docURL)
	if missing != nil {
		return missing
	}
	p.addEvents(types, period, p.period, byDefault)
	var err error
	if p.drop, err = newFrameFilter(drop, keep); err != nil {
		return fmt.Errorf("frames to drop: %w", err)
	}
	return nil
}

// clean makes a string UTF-8 without NUL, which separates labels.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\ufffd")
}

// str returns a string that a message refers to.
func (p *reader) str(c *input.Fields, message string, i uint64) string {
	s, ok := p.table.at(i)
	if !ok {
		c.Take(fmt.Errorf("%s at %#x: refers to string %d, the profile has %d", message, c.Base, i, len(p.table.ends)))
	}
	return clean(s)
}

// define makes the id of a message stand for index.
func (t *idTable) define(c *input.Fields, message string, id uint64, index uint32) {
	switch {
	case c.Err != nil:
	case id == 0:
		c.Take(fmt.Errorf("%s at %#x: has no id", message, c.Base))
	case !t.add(id, index):
		c.Take(fmt.Errorf("%s at %#x: a %s with id %d is there already", message, c.Base, message, id))
	}
}

func (p *reader) mapping(c *input.Fields) {
	var id, file, buildID uint64
	var m run.Mapping
	for c.Next() {
		switch c.Num {
		case mappingID:
			id = c.Uint()
		case mappingStart:
			m.Start = c.Uint()
		case mappingLimit:
			m.Limit = c.Uint()
		case mappingOffset:
			m.Offset = c.Uint()
		case mappingFilename:
			file = c.Uint()
		case mappingBuildID:
			buildID = c.Uint()
		case mappingHasFunctions:
			m.HasFunctions = c.Uint() != 0
		case mappingHasFilenames:
			m.HasFilenames = c.Uint() != 0
		case mappingHasLineNumbers:
			m.HasLineNumbers = c.Uint() != 0
		case mappingHasInlineFrames:
			m.HasInlineFrames = c.Uint() != 0
		default:
			c.Skip()
		}
	}
	m.File, m.BuildID = p.str(c, "mapping", file), p.str(c, "mapping", buildID)
	if m.File != "" {
		m.Kind = reading.MappingKind(m.File)
	}
	p.mappingIDs.define(c, "mapping", id, p.b.Mapping(m))
}

// function reads a function. Those without a name get one.
func (p *reader) function(c *input.Fields) {
	var id, name, systemName, file uint64
	var f run.Function
	for c.Next() {
		switch c.Num {
		case functionID:
			id = c.Uint()
		case functionName:
			name = c.Uint()
		case functionSystemName:
			systemName = c.Uint()
		case functionFilename:
			file = c.Uint()
		case functionStartLine:
			f.StartLine = int64(c.Uint())
		default:
			c.Skip()
		}
	}
	f.Name, f.SystemName, f.File = p.str(c, "function", name), p.str(c, "function", systemName), p.str(c, "function", file)
	f.Name = cmp.Or(f.Name, f.SystemName, run.UnknownFunctionName(""))
	f.Unknown = f.Name == "unknown" || strings.HasPrefix(f.Name, "[") && strings.HasSuffix(f.Name, "]")
	if f.Recognize(); f.Origin != "" && f.Apart == 0 && f.StartLine > 0 {
		// The lines of one function may be of several files.
		key := defined{f.Name, f.StartLine}
		if origin, ok := p.origins[key]; ok {
			f.Origin = origin
		} else {
			p.origins[key] = f.Origin
		}
	}
	p.functionIDs.define(c, "function", id, uint32(len(p.functionRow)))
	p.functionRow = append(p.functionRow, functionRow{function: f, drop: p.drop.drops(f.Name)})
}

// location reads a location. One without lines is kept under the name of its mapping,
// and one with a mapping that is not there as one without.
func (p *reader) location(c *input.Fields) {
	var id, mappingID, address uint64
	lines := p.lines[:0] // with the row of the function
	for c.Next() {
		switch c.Num {
		case locationID:
			id = c.Uint()
		case locationMappingID:
			mappingID = c.Uint()
		case locationAddress:
			address = c.Uint()
		case locationLine:
			lines = append(lines, p.line(c))
		case locationIsFolded: // says what pprof did with the samples
			c.Uint()
		default:
			c.Skip()
		}
	}
	p.lines = lines
	if c.Err != nil {
		return
	}
	mapping := uint32(0)
	if i, ok := p.mappingIDs.get(mappingID); ok {
		mapping = i
	}
	if p.drop != nil {
		lines = p.drop.location(id, lines, p.functionRow)
	}
	if len(lines) == 0 {
		name := "[unknown]"
		if file := p.b.Run().Mappings[mapping].File; file != "" {
			name = run.UnknownFunctionName(file)
		}
		lines = append(lines, run.Line{Function: p.b.Function(run.Function{Name: name, SystemName: name, Unknown: true})})
	} else {
		for i := range lines {
			row := &p.functionRow[lines[i].Function]
			if row.index == 0 {
				row.index = p.b.Function(row.function) + 1
			}
			lines[i].Function = row.index - 1
		}
	}
	if !p.noAddresses {
		p.locationIDs.define(c, "location", id, p.b.Location(mapping, address, lines...))
		return
	}
	p.locationIDs.define(c, "location", id, p.b.PlainLocation(mapping, false, lines...))
	p.leafIDs.define(c, "location", id, p.b.PlainLocation(mapping, true, lines...))
}

func (p *reader) line(location *input.Fields) run.Line {
	var id uint64
	var l run.Line
	c := location.Message()
	for c.Next() {
		switch c.Num {
		case lineFunctionID:
			id = c.Uint()
		case lineLine:
			l.Line = int64(c.Uint())
		case lineColumn:
			l.Column = int64(c.Uint())
		default:
			c.Skip()
		}
	}
	row, ok := p.functionIDs.get(id)
	if !ok {
		c.Take(fmt.Errorf("line at %#x: refers to function %d, which the profile does not have", c.Base, id))
	}
	l.Function = row
	location.Take(c.Err)
	return l
}
