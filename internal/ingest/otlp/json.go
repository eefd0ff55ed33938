package otlp

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	schema "profdiff/internal/otlp"
	"profdiff/internal/protobuf"
	"profdiff/internal/run"
)

// FormatJSON is the name of the format whose messages are JSON.
const FormatJSON = "OTLP profiles as JSON (experimental)"

// A kind says how a value is written in JSON and in protobuf.
type kind int

const (
	numberKind   kind = iota // a varint; 64 bits are a string in JSON
	fixedKind                // eight bytes, likewise
	fractionKind             // a double
	flagKind
	textKind
	rawKind // bytes, in base 64
	idKind  // bytes, in hexadecimal
	messageKind
)

// A field is a field of a message; where it is repeated, JSON has an array.
type field struct {
	num  protowire.Number
	kind kind
	of   shape
}

// A shape is the fields of a message by their names in JSON.
type shape map[string]field

// Messages of profiles.proto, common.proto and resource.proto. A value and what it has refer to each other.
var (
	valueShape     = shape{}
	attributeShape = shape{"key": {schema.KeyValueKey, textKind, nil}, "value": {schema.KeyValueValue, messageKind, valueShape}, "keyStrindex": {schema.KeyValueKeyIndex, numberKind, nil}}
	typeShape      = shape{"typeStrindex": {schema.ValueTypeType, numberKind, nil}, "unitStrindex": {schema.ValueTypeUnit, numberKind, nil}}
	lineShape      = shape{"functionIndex": {schema.LineFunction, numberKind, nil}, "line": {schema.LineLine, numberKind, nil}, "column": {schema.LineColumn, numberKind, nil}}
	sampleShape    = shape{
		"stackIndex": {schema.SampleStack, numberKind, nil}, "attributeIndices": {schema.SampleAttribute, numberKind, nil}, "linkIndex": {schema.SampleLink, numberKind, nil},
		"values": {schema.SampleValue, numberKind, nil}, "timestampsUnixNano": {schema.SampleTimestamp, fixedKind, nil},
	}
	profileShape = shape{
		"sampleType": {schema.ProfileSampleType, messageKind, typeShape}, "samples": {schema.ProfileSample, messageKind, sampleShape},
		"timeUnixNano": {schema.ProfileTime, fixedKind, nil}, "durationNano": {schema.ProfileDuration, numberKind, nil},
		"periodType": {schema.ProfilePeriodType, messageKind, typeShape}, "period": {schema.ProfilePeriod, numberKind, nil},
		"profileId": {schema.ProfileID, idKind, nil}, "droppedAttributesCount": {schema.ProfileDropped, numberKind, nil},
		"originalPayloadFormat": {schema.ProfileFormat, textKind, nil}, "originalPayload": {schema.ProfileOriginal, rawKind, nil},
		"attributeIndices": {schema.ProfileAttribute, numberKind, nil},
	}
	dictionaryShape = shape{
		"mappingTable": {schema.DictionaryMapping, messageKind, shape{
			"memoryStart": {schema.MappingStart, numberKind, nil}, "memoryLimit": {schema.MappingLimit, numberKind, nil}, "fileOffset": {schema.MappingOffset, numberKind, nil},
			"filenameStrindex": {schema.MappingFilename, numberKind, nil}, "attributeIndices": {schema.MappingAttribute, numberKind, nil},
		}},
		"locationTable": {schema.DictionaryLocation, messageKind, shape{
			"mappingIndex": {schema.LocationMapping, numberKind, nil}, "address": {schema.LocationAddress, numberKind, nil},
			"lines": {schema.LocationLine, messageKind, lineShape}, "attributeIndices": {schema.LocationAttribute, numberKind, nil},
		}},
		"functionTable": {schema.DictionaryFunction, messageKind, shape{
			"nameStrindex": {schema.FunctionName, numberKind, nil}, "systemNameStrindex": {schema.FunctionSystemName, numberKind, nil},
			"filenameStrindex": {schema.FunctionFilename, numberKind, nil}, "startLine": {schema.FunctionStartLine, numberKind, nil},
		}},
		"linkTable":   {schema.DictionaryLink, messageKind, shape{"traceId": {schema.LinkTrace, idKind, nil}, "spanId": {schema.LinkSpan, idKind, nil}}},
		"stringTable": {schema.DictionaryString, textKind, nil},
		"attributeTable": {schema.DictionaryAttribute, messageKind, shape{
			"keyStrindex": {schema.AttributeKey, numberKind, nil}, "value": {schema.AttributeValue, messageKind, valueShape}, "unitStrindex": {schema.AttributeUnit, numberKind, nil},
		}},
		"stackTable": {schema.DictionaryStack, messageKind, shape{"locationIndices": {schema.StackLocation, numberKind, nil}}},
	}
	dataShape = shape{
		"resourceProfiles": {schema.DataResourceProfiles, messageKind, shape{
			"resource": {schema.ResourceProfilesResource, messageKind, shape{
				"attributes": {schema.ResourceAttribute, messageKind, attributeShape}, "droppedAttributesCount": {2, numberKind, nil},
				"entityRefs": {3, messageKind, shape{"schemaUrl": {1, textKind, nil}, "type": {2, textKind, nil}, "idKeys": {3, textKind, nil}, "descriptionKeys": {4, textKind, nil}}},
			}},
			"scopeProfiles": {schema.ResourceProfilesScope, messageKind, shape{
				"scope": {schema.ScopeProfilesScope, messageKind, shape{
					"name": {schema.ScopeName, textKind, nil}, "version": {schema.ScopeVersion, textKind, nil}, "attributes": {3, messageKind, attributeShape}, "droppedAttributesCount": {4, numberKind, nil},
				}},
				"profiles":  {schema.ScopeProfilesProfile, messageKind, profileShape},
				"schemaUrl": {schema.ScopeProfilesSchema, textKind, nil},
			}},
			"schemaUrl": {schema.ResourceProfilesSchema, textKind, nil},
		}},
		"dictionary": {schema.DataDictionary, messageKind, dictionaryShape},
	}
)

func init() {
	maps.Copy(valueShape, shape{
		"stringValue": {schema.AnyString, textKind, nil}, "boolValue": {schema.AnyBool, flagKind, nil}, "intValue": {schema.AnyInt, numberKind, nil}, "doubleValue": {schema.AnyDouble, fractionKind, nil},
		"arrayValue":  {schema.AnyArray, messageKind, shape{"values": {schema.ArrayValue, messageKind, valueShape}}},
		"kvlistValue": {schema.AnyKeyValues, messageKind, shape{"values": {schema.ArrayValue, messageKind, attributeShape}}},
		"bytesValue":  {schema.AnyBytes, rawKind, nil}, "stringValueStrindex": {schema.AnyStringIndex, numberKind, nil},
	})
}

// ReadJSON reads messages as JSON, one behind the other, as the collector's exporter to files writes them, one a line.
func ReadJSON(src *input.Source, opt *reading.Options) (*run.Run, error) {
	src.LimitInflation(maxInflation)
	in := &io.LimitedReader{R: src.Reader, N: maxMessage}
	d := jsonReader{json.NewDecoder(in)}
	d.UseNumber()
	j := joiner{name: src.Name, opt: opt}
	for {
		data, err := d.message(nil, dataShape, 0)
		switch {
		case err == io.EOF && in.N > 0:
			return j.run()
		case in.N <= 0:
			return nil, fmt.Errorf("has more than %d bytes of JSON", maxMessage)
		case err != nil:
			return nil, fmt.Errorf("JSON at %#x: %w", d.InputOffset(), err)
		}
		if err := j.add(data); err != nil {
			return nil, err
		}
	}
}

// RecogniseJSON tells JSON by the name of the list of resources.
func RecogniseJSON(head input.Head) input.Evidence {
	return input.Evidence{Is: head.Keys()["resourceProfiles"]}
}

// A jsonReader makes messages of protobuf of JSON.
type jsonReader struct{ *json.Decoder }

// deepest bounds how far messages stand in each other.
const deepest = 32

// message appends the fields of an object. At the end of the input, the error is io.EOF.
func (d jsonReader) message(to []byte, of shape, depth int) ([]byte, error) {
	t, err := d.Token()
	if err != nil {
		return to, err
	}
	if t != json.Delim('{') {
		return to, fmt.Errorf("has %v, not an object", t)
	}
	return d.fields(to, of, depth)
}

// fields appends the fields of an object that was begun.
func (d jsonReader) fields(to []byte, of shape, depth int) ([]byte, error) {
	if depth > deepest {
		return to, errors.New("values are nested too deeply")
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return to, unended(err)
		}
		name, _ := t.(string)
		f, ok := of[name]
		if !ok {
			return to, fmt.Errorf("%q: %w", name, notKnown("the message"))
		}
		if t, err = d.Token(); err == nil {
			if t == json.Delim('[') {
				to, err = d.list(to, f, depth)
			} else {
				to, err = d.value(to, f, t, depth)
			}
		}
		if err != nil {
			return to, fmt.Errorf("%s: %w", name, unended(err))
		}
	}
	_, err := d.Token()
	return to, unended(err)
}

// unended makes the end of the input an error.
func unended(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// list appends the values of an array that was begun.
func (d jsonReader) list(to []byte, f field, depth int) ([]byte, error) {
	var packed []byte
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return to, err
		}
		if f.kind == numberKind || f.kind == fixedKind {
			v, err := integer(t)
			if err != nil {
				return to, err
			}
			if f.kind == numberKind {
				packed = protowire.AppendVarint(packed, v)
			} else {
				packed = protowire.AppendFixed64(packed, v)
			}
		} else if to, err = d.value(to, f, t, depth); err != nil {
			return to, err
		}
	}
	if len(packed) > 0 {
		to = protobuf.Message(to, f.num, packed)
	}
	_, err := d.Token()
	return to, err
}

// value appends a value that starts with a token.
func (d jsonReader) value(to []byte, f field, t json.Token, depth int) ([]byte, error) {
	if t == nil {
		return to, nil // null is what is not given
	}
	if f.kind == messageKind {
		if t != json.Delim('{') {
			return to, fmt.Errorf("has %v, not an object", t)
		}
		body, err := d.fields(nil, f.of, depth+1)
		return protobuf.Message(to, f.num, body), err
	}
	s, isText := t.(string)
	switch f.kind {
	case flagKind:
		v, ok := t.(bool)
		if !ok {
			return to, fmt.Errorf("has %v, not true or false", t)
		}
		return protowire.AppendVarint(protowire.AppendTag(to, f.num, protowire.VarintType), protowire.EncodeBool(v)), nil
	case numberKind, fixedKind:
		v, err := integer(t)
		if f.kind == fixedKind {
			return protowire.AppendFixed64(protowire.AppendTag(to, f.num, protowire.Fixed64Type), v), err
		}
		return protobuf.Present(to, f.num, v), err
	case fractionKind:
		v, err := strconv.ParseFloat(fmt.Sprint(t), 64)
		if err != nil {
			err = fmt.Errorf("has %v, not a number", t)
		}
		return protowire.AppendFixed64(protowire.AppendTag(to, f.num, protowire.Fixed64Type), math.Float64bits(v)), err
	}
	if !isText {
		return to, fmt.Errorf("has %v, not text", t)
	}
	b, err := []byte(s), error(nil)
	switch f.kind {
	case rawKind:
		b, err = base64.StdEncoding.DecodeString(s)
	case idKind:
		b, err = hex.DecodeString(s)
	}
	if err != nil {
		err = fmt.Errorf("has %q, no bytes: %w", s, err)
	}
	return protobuf.Message(to, f.num, b), err
}

// integer is a whole number of 64 bits, which JSON may have as a string.
func integer(t json.Token) (uint64, error) {
	s := fmt.Sprint(t)
	if v, err := strconv.ParseInt(s, 10, 64); err == nil {
		return uint64(v), nil
	}
	v, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		err = fmt.Errorf("has %v, not a whole number of 64 bits", t)
	}
	return v, err
}

// A joiner makes one run of several messages, each of which has a dictionary of its own.
type joiner struct {
	name string
	opt  *reading.Options
	n    int // messages
	runs []*run.Run
}

// mostApart bounds how many runs are held.
const mostApart = 64

func (j *joiner) add(data []byte) error {
	if j.n++; len(data) == 0 {
		return nil
	}
	r, err := read(j.name, input.NewFieldStream(bytes.NewReader(data), maxMessage), j.opt)
	if errors.Is(err, errNone) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("message %d: %w", j.n, err)
	}
	if j.runs = append(j.runs, r); len(j.runs) < mostApart {
		return nil
	}
	r, err = run.Merge(j.name, j.runs)
	j.runs = append(j.runs[:0], r)
	return err
}

func (j *joiner) run() (*run.Run, error) {
	if len(j.runs) == 0 {
		return nil, errNone
	}
	return run.Merge(j.name, j.runs)
}
