package pprof

// CheckAgainstLibrary is for the test of recordings, which all readers read.
var CheckAgainstLibrary = checkAgainstLibrary
