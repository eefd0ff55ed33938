package pprof

import "profdiff/internal/input"

// Field numbers of the messages in pprof's proto/profile.proto.
const (
	profileSampleType        = 1
	profileSample            = 2
	profileMapping           = 3
	profileLocation          = 4
	profileFunction          = 5
	profileStringTable       = 6
	profileDropFrames        = 7
	profileKeepFrames        = 8
	profileTimeNanos         = 9
	profileDurationNanos     = 10
	profilePeriodType        = 11
	profilePeriod            = 12
	profileComment           = 13
	profileDefaultSampleType = 14
	profileDocURL            = 15

	valueTypeType = 1
	valueTypeUnit = 2

	sampleLocationID = 1
	sampleValue      = 2
	sampleLabel      = 3

	labelKey     = 1
	labelStr     = 2
	labelNum     = 3
	labelNumUnit = 4

	mappingID              = 1
	mappingStart           = 2
	mappingLimit           = 3
	mappingOffset          = 4
	mappingFilename        = 5
	mappingBuildID         = 6
	mappingHasFunctions    = 7
	mappingHasFilenames    = 8
	mappingHasLineNumbers  = 9
	mappingHasInlineFrames = 10

	locationID        = 1
	locationMappingID = 2
	locationAddress   = 3
	locationLine      = 4
	locationIsFolded  = 5

	lineFunctionID = 1
	lineLine       = 2
	lineColumn     = 3

	functionID         = 1
	functionName       = 2
	functionSystemName = 3
	functionFilename   = 4
	functionStartLine  = 5
)

// wireTypes are the wire types of the fields of message Profile in pprof's
// profile.proto: v varint, b bytes, p either (packed).
const wireTypes = " bbbbbbvvvvbvpvv"

// Recognise tells a profile by the fields that it starts with.
func Recognise(head input.Head) input.Evidence { return input.Evidence{Is: isProfile(head)} }

// isProfile reports whether head starts with fields of a pprof profile, among them a
// sample type. All that write them put those first.
func isProfile(head input.Head) bool {
	c := input.NewFields(head, 0)
	typed := false
	for c.Next() {
		if int(c.Num) >= len(wireTypes) {
			return false
		}
		const varint, bytesType = 0, 2
		switch want := wireTypes[c.Num]; {
		case want != 'v' && c.Type == bytesType:
		case want != 'b' && c.Type == varint:
		default:
			return false
		}
		if c.Num != 1 { // not sample_type
			c.Skip()
		} else {
			m := c.Message()
			for m.Next() {
				if m.Num > 2 {
					return false
				}
				m.Uint()
			}
			if m.Err != nil && c.Err == nil {
				return false
			}
			typed = typed || c.Err == nil
		}
	}
	// A field that head cuts off is fine.
	return typed && (c.Err == nil || len(head) >= input.HeadSize)
}
