// Package otlp knows the format in which OpenTelemetry exchanges profiles, and writes it: OTLP
// profiles, v1development, as opentelemetry-proto has them since version 1.10. The format is alpha:
// fields have changed their numbers under one name, so that what is written here is for readers of
// that version, and profdiff reads no other (package ingest/otlp).
//
//  1. All tables (mappings, locations, functions, links, strings, attributes, stacks) stand once
//     in a dictionary. Entry 0 of each is empty and means "none".
//  2. A profile has one type of value. An event becomes two profiles, its weight and its number of
//     samples, whose samples meet by stack, attributes and link. The first profile has all
//     samples, in the order of the run; the others those that are not zero.
//  3. Labels become attributes by the names of the semantic conventions (thread.name, process.pid),
//     all others keep their names. A pair of labels trace_id and span_id becomes a link.
//  4. What pprof has and OTLP has no field for are attributes named pprof.*, by the semantic
//     conventions, so that a profile of pprof comes back the same.
//
// Sources: opentelemetry/proto/profiles/v1development/profiles.proto,
// https://opentelemetry.io/docs/specs/semconv/general/profiles.
package otlp

// Field numbers of profiles.proto. Those of [Sample] are what tells version 1.10 from those before it.
const (
	DataResourceProfiles = 1
	DataDictionary       = 2

	DictionaryMapping   = 1
	DictionaryLocation  = 2
	DictionaryFunction  = 3
	DictionaryLink      = 4
	DictionaryString    = 5
	DictionaryAttribute = 6
	DictionaryStack     = 7

	ResourceProfilesResource = 1
	ResourceProfilesScope    = 2
	ResourceProfilesSchema   = 3

	ScopeProfilesScope   = 1
	ScopeProfilesProfile = 2
	ScopeProfilesSchema  = 3

	ProfileSampleType = 1
	ProfileSample     = 2
	ProfileTime       = 3
	ProfileDuration   = 4
	ProfilePeriodType = 5
	ProfilePeriod     = 6
	ProfileID         = 7
	ProfileDropped    = 8
	ProfileFormat     = 9
	ProfileOriginal   = 10
	ProfileAttribute  = 11

	ValueTypeType = 1
	ValueTypeUnit = 2

	SampleStack     = 1
	SampleAttribute = 2
	SampleLink      = 3
	SampleValue     = 4
	SampleTimestamp = 5

	MappingStart     = 1
	MappingLimit     = 2
	MappingOffset    = 3
	MappingFilename  = 4
	MappingAttribute = 5

	StackLocation = 1

	LocationMapping   = 1
	LocationAddress   = 2
	LocationLine      = 3
	LocationAttribute = 4

	LineFunction = 1
	LineLine     = 2
	LineColumn   = 3

	FunctionName       = 1
	FunctionSystemName = 2
	FunctionFilename   = 3
	FunctionStartLine  = 4

	LinkTrace = 1
	LinkSpan  = 2

	AttributeKey   = 1
	AttributeValue = 2
	AttributeUnit  = 3
)

// Field numbers of common.proto and resource.proto.
const (
	ResourceAttribute = 1

	KeyValueKey      = 1
	KeyValueValue    = 2
	KeyValueKeyIndex = 3

	AnyString      = 1
	AnyBool        = 2
	AnyInt         = 3
	AnyDouble      = 4
	AnyArray       = 5
	AnyKeyValues   = 6
	AnyBytes       = 7
	AnyStringIndex = 8

	ArrayValue = 1

	ScopeName    = 1
	ScopeVersion = 2
)

// Names of attributes.
const (
	BuildIDGNU      = "process.executable.build_id.gnu"
	BuildIDGo       = "process.executable.build_id.go"
	HasFunctions    = "pprof.mapping.has_functions"
	HasFilenames    = "pprof.mapping.has_filenames"
	HasLineNumbers  = "pprof.mapping.has_line_numbers"
	HasInlineFrames = "pprof.mapping.has_inline_frames"
	IsFolded        = "pprof.location.is_folded"
	Comment         = "pprof.profile.comment"
	DropFrames      = "pprof.profile.drop_frames"
	KeepFrames      = "pprof.profile.keep_frames"
	ServiceName     = "service.name"
	TraceID         = "trace_id"
	SpanID          = "span_id"
)

// A Label is a label of pprof's samples for which OpenTelemetry has a name of its own.
type Label struct {
	// Name is what OpenTelemetry calls it, Pprof what profdiff calls it in profiles of pprof.
	Name, Pprof string
	// Unit is the unit there of a label that is a number, "" of one that is a string.
	Unit string
}

// Labels are those that have names of their own.
var Labels = []Label{
	{"cpu.logical_number", "cpu", "cpu"},
	{"cpu.mode", "execution_mode", ""},
	{"process.executable.name", "process", ""},
	{"process.pid", "pid", "pid"},
	{"thread.id", "tid", "tid"},
	{"thread.name", "thread", ""},
}
