package metric

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strconv"

	"profdiff/internal/input"
)

// The lines of chrome://histograms, and of what Chrome logs at its end with -v=1
// (base/metrics/histogram.cc, sample_vector.cc, sparse_histogram.cc):
//
//   - Histogram: NAME recorded 26 samples, mean = 864.4 (flags = 0x41) [#]
//
//     0    ...
//     505  ----O      (1 = 5.9%) {94.1%}
//     572  ...
//
// A line of a bucket has its lower bound; the next line has the upper one. What follows ...
// are empty buckets.
var (
	chromeHead   = regexp.MustCompile(`^(?:.*\s)?Histogram: (\S+) recorded (\d+) samples(?:, (?:mean|average) = (-?[0-9.]+))?(?: \(flags = 0x([0-9a-fA-F]+)\))?`)
	chromeBucket = regexp.MustCompile(`^\s*(-?\d+)\s+(?:\.\.\.\s*$|[-O ]*O?\s*\((\d+) = [0-9.]+%\))`)
)

func recogniseChrome(head input.Head) (e input.Evidence) {
	for line := range head.Lines() {
		e.Seen++
		if chromeHead.Match(line) {
			e.Known++
		}
	}
	e.Is = e.Known > 0
	return e
}

// readChrome reads histograms: values are known to a bucket only, but for their mean.
func readChrome(src *input.Source, s *Set) error {
	s.Facts.Tool = "Chrome"
	lines := src.Lines()
	var h *chromeHistogram
	for {
		line, ok := lines.Next()
		if !ok {
			break
		}
		if m := chromeHead.FindSubmatch(line); m != nil {
			s.Read++
			h.finish(s)
			h = newChromeHistogram(m, lines.Number())
			continue
		}
		switch m := chromeBucket.FindSubmatch(line); {
		case h == nil:
		case m != nil:
			h.bucket(m)
		case len(bytes.TrimSpace(line)) > 0:
			h.finish(s)
			h = nil
		}
	}
	h.finish(s)
	return lines.Err()
}

// A chromeHistogram is one that is being read.
type chromeHistogram struct {
	name    string
	at      int // its line
	n       int64
	mean    float64
	buckets []Bucket
}

// newChromeHistogram takes the first line. Sparse histograms, of hashes and bits, say no mean:
// their values are names.
func newChromeHistogram(m [][]byte, at int) *chromeHistogram {
	h := &chromeHistogram{name: input.Text(m[1]), at: at, mean: math.NaN()}
	h.n, _ = strconv.ParseInt(string(m[2]), 10, 64) // more than there can be saturates
	if v, err := strconv.ParseFloat(string(m[3]), 64); err == nil {
		h.mean = v
	}
	return h
}

// bucket takes the line of a bucket.
func (h *chromeHistogram) bucket(m [][]byte) {
	low, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil || len(h.buckets) > 1<<16 {
		return
	}
	count, _ := strconv.ParseInt(string(m[2]), 10, 64) // 0 of empty ones
	if n := len(h.buckets); n > 0 {
		h.buckets[n-1].High = low
	}
	h.buckets = append(h.buckets, Bucket{Low: low, High: math.Inf(1), Count: count})
}

// finish adds the histogram, if the counts of its buckets are those of its first line.
func (h *chromeHistogram) finish(s *Set) {
	if h == nil {
		return
	}
	where := fmt.Sprintf("line %d", h.at)
	var samples int64
	kept := h.buckets[:0]
	for _, b := range h.buckets {
		if samples += b.Count; b.Count > 0 {
			kept = append(kept, b)
		}
	}
	switch {
	case h.n == 0:
		s.lose("a histogram without samples", where)
		return
	case math.IsNaN(h.mean):
		s.lose("a histogram without a mean: its values are names, not amounts", where)
		return
	case len(kept) > 0 && samples != h.n:
		s.lose("a histogram whose buckets do not add up to its samples", where)
		return
	}
	m := s.Add("", h.name, "")
	if len(m.Runs) > 0 {
		s.lose("a histogram that comes again", where)
		return
	}
	sum := m.summarize("a histogram")
	sum.N, sum.Mean = h.n, h.mean*m.Scale
	for _, b := range kept {
		sum.Buckets = append(sum.Buckets, Bucket{b.Low * m.Scale, b.High * m.Scale, b.Count})
	}
}
