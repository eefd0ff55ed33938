package perffile

import "slices"

// pipeHeader and fileHeader are struct perf_file_header, and what a pipe has of it.
var (
	pipeHeader = textSpec{func(x *textPrinter) { x.c.skip(8) }, dec64("size")} // the magic number is the byte order
	fileHeader = append(slices.Clip(pipeHeader), dec64("attr_size"),
		nested("attrs", sectionEntry...), nested("data", sectionEntry...), nested("event_types", sectionEntry...),
		(*textPrinter).featureBits)
)

// featureBits is the bitmap of features. It is an array of unsigned long, so that
// its layout on big-endian machines depends on the size of those.
func (x *textPrinter) featureBits() {
	b := x.c.bytes(numFeatures / 8)
	if x.failed() {
		return
	}
	set := (&File{BigEndian: x.big}).decodeFeatureBits(b)
	x.key("features")
	if len(set) == 0 {
		x.out = append(x.out, "none"...) // 0 is a feature
	}
	for i, feature := range set {
		if i > 0 {
			x.out = append(x.out, '|')
		}
		x.out = featureNames.append(x.out, uint64(feature), 8)
	}
	if x.big && !slices.Equal(encodeFeatureBits(set, 8), b) {
		x.print("word_size", 4, 1, decimal)
	}
}

// encodeFeatureBits is the inverse of decodeFeatureBits for big-endian words of the
// given size.
func encodeFeatureBits(set []Feature, word int) []byte {
	b := make([]byte, numFeatures/8)
	for _, f := range set {
		b[f/8] |= 1 << (f % 8)
	}
	for w := range slices.Chunk(b, word) {
		slices.Reverse(w)
	}
	return b
}
