package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"profdiff/internal/input"
	"profdiff/internal/run"
)

// A pprofReader reads a profile in two steps, because the tables may be anywhere in it
// and usually are behind the samples: split takes the profile apart, decode puts the
// messages into the Builder, first the ones that others refer to. It takes the memory of
// the profile's bytes, which are given up while they are decoded, and of the Run.
type pprofReader struct {
	b *run.Builder

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
	locationIDs idTable
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

// maxSampleTypes is far more than any machine has events.
const maxSampleTypes = 1 << 12

// split reads all of the profile.
func (p *pprofReader) split(s *input.FieldStream) error {
	for s.Next() {
		switch s.Num {
		case pprofSampleType:
			p.sampleTypes = append(p.sampleTypes, readValueType(s))
			if len(p.sampleTypes) > maxSampleTypes {
				return fmt.Errorf("profile has more than %d sample types", maxSampleTypes)
			}
		case pprofSample:
			p.samples.add(s)
		case pprofMapping:
			p.mappings.add(s)
		case pprofLocation:
			p.locations.add(s)
		case pprofFunction:
			p.functions.add(s)
		case pprofStringTable:
			p.strings.add(s)
			if p.strings.n == 1 && p.strings.size != 0 {
				s.Fail(errors.New("the first string is not empty"))
			}
		case pprofDropFrames:
			p.dropFrames = s.Uint()
		case pprofKeepFrames:
			p.keepFrames = s.Uint()
		case pprofTimeNanos:
			if p.timeNanos != 0 {
				s.Fail(errors.New("a second time: these are several profiles, one behind the other"))
			}
			p.timeNanos = int64(s.Uint())
		case pprofDurationNanos:
			p.durationNanos = int64(s.Uint())
		case pprofPeriodType:
			p.periodType = readValueType(s)
		case pprofPeriod:
			p.period = int64(s.Uint())
		case pprofComment:
			p.commentStrings = s.Uints(p.commentStrings)
		case pprofDefaultSampleType:
			p.defaultSampleType = s.Uint()
		case pprofDocURL:
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
		case pprofValueTypeType:
			t[0] = c.Uint()
		case pprofValueTypeUnit:
			t[1] = c.Uint()
		default:
			c.Skip()
		}
	}
	s.Take(c.Err)
	return t
}

// decode fills the Builder.
func (p *pprofReader) decode() error {
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
	if err := p.functions.each(p.function); err != nil {
		return err
	}
	p.locationIDs = newIDTable(p.locations.n)
	if err := p.locations.each(p.location); err != nil {
		return err
	}
	p.functionIDs, p.functionRow = idTable{}, nil
	return p.samples.each(p.sample)
}

// decodeHead decodes what the profile has once.
func (p *pprofReader) decodeHead() error {
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
	// Nothing uses these, but a profile in which they are wrong is damaged.
	str("the default sample type", p.defaultSampleType)
	str("the URL of the documentation", p.docURL)
	if missing != nil {
		return missing
	}
	p.addEvents(types, period, p.period)
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
func (p *pprofReader) str(c *input.Fields, message string, i uint64) string {
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

func (p *pprofReader) mapping(c *input.Fields) {
	var id, file, buildID uint64
	var m run.Mapping
	for c.Next() {
		switch c.Num {
		case pprofMappingID:
			id = c.Uint()
		case pprofMappingStart:
			m.Start = c.Uint()
		case pprofMappingLimit:
			m.Limit = c.Uint()
		case pprofMappingOffset:
			m.Offset = c.Uint()
		case pprofMappingFilename:
			file = c.Uint()
		case pprofMappingBuildID:
			buildID = c.Uint()
		case pprofMappingHasFunctions:
			m.HasFunctions = c.Uint() != 0
		case pprofMappingHasFilenames:
			m.HasFilenames = c.Uint() != 0
		case pprofMappingHasLineNumbers:
			m.HasLineNumbers = c.Uint() != 0
		case pprofMappingHasInlineFrames:
			m.HasInlineFrames = c.Uint() != 0
		default:
			c.Skip()
		}
	}
	m.File, m.BuildID = p.str(c, "mapping", file), p.str(c, "mapping", buildID)
	if m.File != "" {
		m.Kind = mappingKind(m.File)
	}
	p.mappingIDs.define(c, "mapping", id, p.b.Mapping(m))
}

// function reads a function. Those without a name get one.
func (p *pprofReader) function(c *input.Fields) {
	var id, name, systemName, file uint64
	var f run.Function
	for c.Next() {
		switch c.Num {
		case pprofFunctionID:
			id = c.Uint()
		case pprofFunctionName:
			name = c.Uint()
		case pprofFunctionSystemName:
			systemName = c.Uint()
		case pprofFunctionFilename:
			file = c.Uint()
		case pprofFunctionStartLine:
			f.StartLine = int64(c.Uint())
		default:
			c.Skip()
		}
	}
	f.Name, f.SystemName, f.File = p.str(c, "function", name), p.str(c, "function", systemName), p.str(c, "function", file)
	f.Name = cmp.Or(f.Name, f.SystemName, run.UnknownFunctionName(""))
	f.Unknown = f.Name == "unknown" || strings.HasPrefix(f.Name, "[") && strings.HasSuffix(f.Name, "]")
	p.functionIDs.define(c, "function", id, uint32(len(p.functionRow)))
	p.functionRow = append(p.functionRow, functionRow{function: f, drop: p.drop.drops(f.Name)})
}

// location reads a location. One without lines is kept under the name of its mapping,
// and one with a mapping that is not there as one without.
func (p *pprofReader) location(c *input.Fields) {
	var id, mappingID, address uint64
	lines := p.lines[:0] // with the row of the function
	for c.Next() {
		switch c.Num {
		case pprofLocationID:
			id = c.Uint()
		case pprofLocationMappingID:
			mappingID = c.Uint()
		case pprofLocationAddress:
			address = c.Uint()
		case pprofLocationLine:
			lines = append(lines, p.line(c))
		case pprofLocationIsFolded: // says what pprof did with the samples
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
	p.locationIDs.define(c, "location", id, p.b.Location(mapping, address, lines...))
}

func (p *pprofReader) line(location *input.Fields) run.Line {
	var id uint64
	var l run.Line
	c := location.Message()
	for c.Next() {
		switch c.Num {
		case pprofLineFunctionID:
			id = c.Uint()
		case pprofLineLine:
			l.Line = int64(c.Uint())
		case pprofLineColumn:
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
