// Package otlp reads profiles in the format in which OpenTelemetry exchanges them: OTLP profiles,
// v1development (package internal/otlp has its fields).
//
//  1. The format is alpha, and its fields have changed their numbers under one name. So what is
//     not as version 1.10 has it is refused: fields that are not known, samples whose fields have
//     the types of earlier versions, samples without a value.
//  2. Profiles have one type of value each. Samples of all profiles that have the same stack,
//     attributes, link and resource become one sample of a profile of pprof, with a value of each
//     type. A file that has several resources, such as containers, says of each sample which it is from.
//  3. The tables of the dictionary are those of pprof but for their numbers: they are written as
//     such, and package ingest/pprof reads the whole, so that both formats are understood alike.
//  4. Where samples have their times, or a value for each, it is known how many were taken.
//  5. Files of a collector have several messages, each with a dictionary of its own, with lengths in front
//     of them or as JSON. JSON is written as messages first, and each message read as a run; the runs are merged.
//
// What is written for ingest/pprof is bounded by a multiple of the input: a stack in the dictionary
// may be long, and many samples may refer to it.
package otlp

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"profdiff/internal/ingest/pprof"
	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	schema "profdiff/internal/otlp"
	"profdiff/internal/run"
)

// Format is the name of the format.
const Format = "OTLP profiles (experimental)"

// A message is held in memory while it is read, so that it may have at most maxMessage bytes, and
// decompress to at most maxInflation times its size.
const (
	maxMessage   = 1 << 30
	maxInflation = 32
)

// errOlder says that an input has the fields of an earlier version.
var errOlder = errors.New("has the fields of OTLP profiles before version 1.10, which are numbered otherwise: profdiff reads version 1.10 and later; " +
	"a newer collector or exporter writes it, or convert from the source, such as pprof or perf.data")

// Read reads a message ProfilesData or ExportProfilesServiceRequest.
func Read(src *input.Source, opt *reading.Options) (*run.Run, error) {
	src.LimitInflation(maxInflation)
	return read(src.Name, src.Fields(maxMessage), opt)
}

// errNone is of a message without profiles.
var errNone = errors.New("has no profiles")

// read reads a message of an input.
func read(name string, s *input.FieldStream, opt *reading.Options) (*run.Run, error) {
	data, dictionary, err := split(s)
	if err != nil {
		return nil, err
	}
	if dictionary == nil {
		return nil, errOlder
	}
	p := newReader()
	if err := p.tables.decode(dictionary); err != nil {
		return nil, err
	}
	size := len(dictionary.Data())
	for i := range data {
		size += len(data[i].Data())
		if p.resourceProfiles(&data[i]); data[i].Err != nil {
			return nil, data[i].Err
		}
	}
	if len(p.types) == 0 {
		return nil, errNone
	}
	profile, err := p.profile(size)
	if err != nil {
		return nil, err
	}
	converted, err := input.New(name, bytes.NewReader(profile))
	if err != nil {
		return nil, err
	}
	r, err := pprof.Read(converted, opt)
	if err != nil {
		return nil, err
	}
	p.facts(r)
	return r, nil
}

// split takes the message apart. The dictionary may stand before or behind what refers to it.
func split(s *input.FieldStream) (data []input.Fields, dictionary *input.Fields, err error) {
	for s.Next() {
		switch s.Num {
		case schema.DataResourceProfiles:
			data = append(data, s.Message())
		case schema.DataDictionary:
			if dictionary != nil {
				s.Fail(errors.New("a second dictionary: these are several messages, one behind the other"))
			}
			d := s.Message()
			dictionary = &d
		default:
			s.Fail(notKnown("a message of profiles"))
		}
	}
	return data, dictionary, s.Err
}

// notKnown says that a field is of no version that is read.
func notKnown(message string) error {
	return fmt.Errorf("%s has no such field in OTLP profiles v1development as of versions 1.10 and 1.11, which profdiff reads", message)
}

// facts adds to a run what its profiles and resources tell.
func (p *reader) facts(r *run.Run) {
	rec := &r.Recording
	if !p.own() {
		rec.Format = Format
		rec.Tool = p.scope
	}
	if len(p.resources) == 1 {
		for _, a := range p.resourceList[0] {
			if a.key == schema.ServiceName && rec.App == "" && len(a.values) == 1 {
				rec.App = a.values[0].text
			}
		}
	}
	if p.start != 0 {
		rec.Start = time.Unix(0, int64(p.start)).UTC()
	}
	for i := range r.Events {
		e := &r.Events[i]
		for j := range p.types {
			if t := &p.types[j]; t.period > 0 && e.Name == t.periodType.name && e.Unit == t.periodType.unit {
				e.Period = uint64(t.period)
			}
		}
	}
}

// Recognise tells profiles by the messages that stand in each other: resources, scopes, profiles;
// or by the tables of a dictionary. What is of an earlier version is recognised too, to be refused.
func Recognise(head input.Head) input.Evidence {
	return input.Evidence{Is: isProfiles(head, head.IsCut())}
}

// isProfiles looks at the start of a message, which may be cut off.
func isProfiles(head []byte, isCut bool) bool {
	c := input.NewFields(head, 0)
	found := false
	for c.Next() {
		if c.Num > schema.DataDictionary || c.Type != bytesType {
			return false
		}
		m, cut := nested(&c)
		switch {
		case cut && !isCut:
			return false
		case c.Num == schema.DataDictionary:
			if found = found || isDictionary(&m); !found {
				return false
			}
		default:
			is, empty := isResourceProfiles(&m)
			if !is {
				return false
			}
			found = found || !empty
		}
		if cut {
			return found
		}
	}
	return found && c.Err == nil
}

const bytesType = 2

// nested is the message in a field, or as much as there is of it if the input is cut off.
func nested(c *input.Fields) (m input.Fields, cut bool) {
	before := *c
	if m = c.Message(); c.Err == nil {
		return m, false
	}
	n := before.Varint()
	rest := before.Data()[min(before.Offset(), len(before.Data())):]
	return input.NewFields(rest[:min(uint64(len(rest)), n)], 0), true
}

// isResourceProfiles looks for a profile with a type of value. What has none may be all there is
// of an input without profiles, so that it is not evidence.
func isResourceProfiles(c *input.Fields) (is, empty bool) {
	empty = true
	for depth := schema.ResourceProfilesScope; c.Next(); {
		if c.Num > schema.ResourceProfilesSchema || c.Type != bytesType {
			return false, false
		}
		if int(c.Num) != depth {
			if _, cut := nested(c); cut {
				return true, empty
			}
			continue
		}
		scope, cut := nested(c)
		for scope.Next() {
			if scope.Num > schema.ScopeProfilesSchema || scope.Type != bytesType {
				return false, false
			}
			m, end := nested(&scope)
			if scope.Num == schema.ScopeProfilesProfile {
				if !isProfile(&m) {
					return false, false
				}
				empty = false
			}
			if end {
				break
			}
		}
		if cut {
			break
		}
	}
	return true, empty
}

// isProfile reports whether a message starts with a type of value.
func isProfile(c *input.Fields) bool {
	if !c.Next() || c.Num != schema.ProfileSampleType || c.Type != bytesType {
		return false
	}
	t, _ := nested(c)
	const fields = 3 // before version 1.9
	for t.Next() {
		if t.Num > fields || t.Type == bytesType {
			return false
		}
		t.Skip()
	}
	return true
}

// isDictionary reports whether a message has tables, the first entry of each being none.
func isDictionary(c *input.Fields) bool {
	for n := 0; c.Next(); n++ {
		if c.Num > schema.DictionaryStack || c.Type != bytesType {
			return false
		}
		m, cut := nested(c)
		if n == 0 && (cut || len(m.Data()) != 0 && c.Num != schema.DictionaryLink) {
			return false
		}
		if cut {
			return true
		}
	}
	return c.Err == nil && c.Offset() > 0
}
