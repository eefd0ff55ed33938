package perffile

import (
	"fmt"
	"slices"
	"strings"
)

// headerFields are struct perf_file_header, or what a pipe has of it.
func (x *textCodec) headerFields(pipe bool) {
	if x.decoding() {
		x.c.skip(8)
	} else if x.big {
		x.buf = append(x.buf, magicV2Swapped[:]...)
	} else {
		x.buf = append(x.buf, magicV2[:]...)
	}
	if pipe {
		x.uintOr("size", 8, decimal, pipeHeaderSize)
		return
	}
	x.uintOr("size", 8, decimal, fileHeaderSize)
	x.uintOr("attr_size", 8, decimal, uint64(x.attrSize+16))
	x.headerSection("attrs")
	x.headerSection("data")
	x.headerSection("event_types")
	x.featureBits()
}

func (x *textCodec) headerSection(name string) {
	outer := x.defaults
	s := x.sections[name]
	x.defaults = map[string]uint64{"offset": uint64(s.off), "size": uint64(s.size)}
	x.nested(name, sectionEntry)
	x.defaults = outer
}

// noFeatures stands for an empty bitmap: 0 is a feature.
const noFeatures = "none"

// featureBits is the bitmap of features. It is an array of unsigned long, so that
// its layout on big-endian machines depends on the size of those.
func (x *textCodec) featureBits() {
	const bytes = numFeatures / 8
	if x.decoding() {
		b := x.c.bytes(bytes)
		if x.failed() {
			return
		}
		f := File{BigEndian: x.big}
		set := f.decodeFeatureBits(b)
		x.key("features")
		at := len(x.out)
		for _, feature := range set {
			if len(x.out) > at {
				x.out = append(x.out, '|')
			}
			x.out = featureNames.append(x.out, uint64(feature), 8)
		}
		if len(x.out) == at {
			x.out = append(x.out, noFeatures...)
		}
		if x.big && !slices.Equal(encodeFeatureBits(set, 8), b) {
			x.print("word_size", 4, 1, decimal)
		}
		return
	}
	set := x.features
	if s, ok := x.in.take("features"); ok {
		set = nil
		for name := range strings.SplitSeq(s, "|") {
			if name == noFeatures {
				continue
			}
			f, err := parseFeature(name)
			if err != nil {
				x.fail("features: %w", err)
				return
			}
			set = append(set, f)
		}
	}
	word := x.number("word_size", 1, decimal, 8)
	if word != 4 && word != 8 {
		x.fail("word_size: %d is neither 4 nor 8", word)
		return
	}
	if !x.big {
		word = 1
	}
	x.buf = append(x.buf, encodeFeatureBits(set, int(word))...)
}

// encodeFeatureBits is the inverse of decodeFeatureBits for big-endian words of the
// given size.
func encodeFeatureBits(set []Feature, word int) []byte {
	b := make([]byte, numFeatures/8)
	for _, f := range set {
		b[f/8] |= 1 << (f % 8)
	}
	for i := 0; i < len(b); i += word {
		slices.Reverse(b[i : i+word])
	}
	return b
}

func parseFeature(name string) (Feature, error) {
	v, err := featureNames.parse(name, 8)
	if err == nil && v >= numFeatures {
		err = fmt.Errorf("there is no feature %d", v)
	}
	return Feature(v), err
}
