package otlp

// CheckRoundTrip is for the test of recordings, which all readers read.
var CheckRoundTrip = checkRoundTrip
