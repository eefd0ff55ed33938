package ingest

import "profdiff/internal/input"

// Field numbers of the messages in pprof's proto/profile.proto.
const (
	pprofSampleType        = 1
	pprofSample            = 2
	pprofMapping           = 3
	pprofLocation          = 4
	pprofFunction          = 5
	pprofStringTable       = 6
	pprofDropFrames        = 7
	pprofKeepFrames        = 8
	pprofTimeNanos         = 9
	pprofDurationNanos     = 10
	pprofPeriodType        = 11
	pprofPeriod            = 12
	pprofComment           = 13
	pprofDefaultSampleType = 14
	pprofDocURL            = 15

	pprofValueTypeType = 1
	pprofValueTypeUnit = 2

	pprofSampleLocationID = 1
	pprofSampleValue      = 2
	pprofSampleLabel      = 3

	pprofLabelKey     = 1
	pprofLabelStr     = 2
	pprofLabelNum     = 3
	pprofLabelNumUnit = 4

	pprofMappingID              = 1
	pprofMappingStart           = 2
	pprofMappingLimit           = 3
	pprofMappingOffset          = 4
	pprofMappingFilename        = 5
	pprofMappingBuildID         = 6
	pprofMappingHasFunctions    = 7
	pprofMappingHasFilenames    = 8
	pprofMappingHasLineNumbers  = 9
	pprofMappingHasInlineFrames = 10

	pprofLocationID        = 1
	pprofLocationMappingID = 2
	pprofLocationAddress   = 3
	pprofLocationLine      = 4
	pprofLocationIsFolded  = 5

	pprofLineFunctionID = 1
	pprofLineLine       = 2
	pprofLineColumn     = 3

	pprofFunctionID         = 1
	pprofFunctionName       = 2
	pprofFunctionSystemName = 3
	pprofFunctionFilename   = 4
	pprofFunctionStartLine  = 5
)

// profileFields are the wire types of the fields of message Profile in pprof's
// profile.proto: v varint, b bytes, p either (packed).
const profileFields = " bbbbbbvvvvbvpvv"

// isPprof reports whether head starts with fields of a pprof profile, among them a
// sample type. All that write them put those first.
func isPprof(head input.Head) bool {
	c := input.NewFields(head, 0)
	typed := false
	for c.Next() {
		if int(c.Num) >= len(profileFields) {
			return false
		}
		const varint, bytesType = 0, 2
		switch want := profileFields[c.Num]; {
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
