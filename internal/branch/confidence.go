package branch

// The confidences.
const (
	Exact  Confidence = "exact"  // the recording or a simulation names it
	OfLine Confidence = "line"   // only the line is named, with all branches there
	High   Confidence = "high"   // the only candidate, at most 4 instructions before
	Medium Confidence = "medium" // the likeliest of at most 3, and the nearest
	Low    Confidence = "low"    // the likeliest of several
)

// Known says how well it is known which branch the row is of.
func (b *Branch) Known() Confidence {
	switch {
	case b.Sampled != nil:
		return b.Sampled.Confidence
	case b.ByLine:
		return OfLine
	}
	return Exact
}
