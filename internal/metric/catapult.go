package metric

import (
	"encoding/json"
	"strings"

	"profdiff/internal/input"
)

// catapultHistogram is one of a HistogramSet of Catapult, as telemetry writes histograms.json
// (tracing/value/histogram.html, docs/histogram-set-json-format.md). Without sampleValues there are
// the running statistics alone: count, max, mean of logarithms, mean, min, sum, variance.
type catapultHistogram struct {
	Name    string   `json:"name"`
	Unit    string   `json:"unit"`
	Values  []number `json:"sampleValues"`
	Running []number `json:"running"`

	GUID        string          `json:"guid"`
	Diagnostics json.RawMessage `json:"diagnostics"`
	Set         []any           `json:"values"` // of a GenericSet
}

func recogniseCatapult(head input.Head) input.Evidence {
	text := string(head)
	return input.Evidence{Is: strings.HasPrefix(strings.TrimSpace(text), "[") && strings.Contains(text, `"guid"`) &&
		(strings.Contains(text, `"sampleValues"`) || strings.Contains(text, `"binBoundaries"`) || strings.Contains(text, `"GenericSet"`))}
}

// catapultUnits are units of Catapult that have other names here (tracing/base/unit.html).
var catapultUnits = map[string]string{
	"ms": "ms", "msBestFitFormat": "ms", "tsMs": "", "n%": "ratio", "sizeInBytes": "bytes", "bytesPerSecond": "bytes/s", "J": "J", "W": "W", "Hz": "Hz",
	"count": "count", "unitless": "", "us": "us", "seconds": "s",
}

// readCatapult reads the values, which are of one run. The unit says which are better.
func readCatapult(src *input.Source, s *Set) error {
	var histograms []catapultHistogram
	if err := decodeJSON(src, &histograms); err != nil {
		return err
	}
	s.Facts.Tool = "Catapult"
	sets := make(map[string]string) // by GUID
	for _, h := range histograms {
		if h.Name == "" && len(h.Set) == 1 {
			sets[h.GUID], _ = h.Set[0].(string)
		}
	}
	for _, h := range histograms {
		if h.Name == "" || h.Unit == "" {
			continue // a diagnostic, which others refer to
		}
		unit, direction := h.Unit, Unknown
		if before, ok := strings.CutSuffix(unit, "_smallerIsBetter"); ok {
			unit, direction = before, Lower
		} else if before, ok := strings.CutSuffix(unit, "_biggerIsBetter"); ok {
			unit, direction = before, Higher
		}
		if u, ok := catapultUnits[unit]; ok {
			unit = u
		}
		var refer struct {
			Stories string `json:"stories"`
		}
		_ = json.Unmarshal(h.Diagnostics, &refer) // other kinds of diagnostics are no references
		m := s.Add(input.Text(sets[refer.Stories]), input.Text(h.Name), unit)
		if direction != Unknown {
			m.Direction, m.Why = direction, "as the file says"
		}
		if values := s.finite(h.Values, "a value that is no number"); len(values) > 0 {
			s.put(m, 0, values...)
			if len(h.Running) > 0 && float64(h.Running[0]) > float64(len(h.Values)) {
				s.warn("%s has %d of %g values", m.Name(), len(h.Values), float64(h.Running[0]))
			}
		} else if len(h.Running) == 7 && h.Running[0] > 0 && len(m.Runs) == 0 {
			s.Read++
			sum := m.summarize("a histogram")
			sum.N = int64(h.Running[0])
			sum.Max, sum.Mean, sum.Min = m.scaled(&h.Running[1]), m.scaled(&h.Running[3]), m.scaled(&h.Running[4])
		}
	}
	return nil
}
