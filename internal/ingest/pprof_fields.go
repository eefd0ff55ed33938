package ingest

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
