package run

// Measured has the values of one quantity that a recording tells one by one, beside what it counts: how long
// the frames and the starts of an app took.
type Measured struct {
	// Process is the app, as the recording names it, and Quantity what was measured of it.
	Process, Quantity string
	// Unit is "ns" or "%". Less is better of both.
	Unit   string
	Values []float64
	// Unended is how many more there were whose end is not known.
	Unended int64
}
