package metric

import (
	"fmt"
	"strings"
	"time"

	"profdiff/internal/input"
)

// iperf is what iperf3 -J writes.
type iperf struct {
	Start struct {
		Version   string `json:"version"`
		System    string `json:"system_info"`
		Timestamp struct {
			Seconds int64 `json:"timesecs"`
		} `json:"timestamp"`
		Test struct {
			Protocol string `json:"protocol"`
		} `json:"test_start"`
	} `json:"start"`
	Intervals []struct {
		Sum iperfSum `json:"sum"`
		// With --bidir, the other direction.
		Reverse *iperfSum `json:"sum_bidir_reverse"`
	} `json:"intervals"`
	Error string `json:"error"`
}

// iperfSum is the sum of all streams in an interval.
type iperfSum struct {
	Rate        *number `json:"bits_per_second"`
	Retransmits *number `json:"retransmits"`
	Omitted     bool    `json:"omitted"`
	Sender      bool    `json:"sender"`
}

func recogniseIperf(head input.Head) input.Evidence {
	keys := head.Keys()
	return input.Evidence{Is: keys["start"] && strings.Contains(string(head), "iperf ") && strings.Contains(string(head), `"connected"`)}
}

// readIperf reads the throughput of intervals, which are values of one run.
func readIperf(src *input.Source, s *Set) error {
	var p iperf
	if err := decodeJSON(src, &p); err != nil {
		return err
	}
	s.Facts.Tool, s.Facts.System = input.Text(p.Start.Version), input.Text(p.Start.System)
	if at := p.Start.Timestamp.Seconds; at > 0 {
		s.Facts.Time = time.Unix(at, 0).UTC()
	}
	if p.Error != "" {
		s.warn("the test failed: %s", input.Text(p.Error))
	}
	for i, interval := range p.Intervals {
		sums := []iperfSum{interval.Sum}
		if interval.Reverse != nil {
			sums = append(sums, *interval.Reverse)
		}
		for _, sum := range sums {
			direction := "received"
			if sum.Sender {
				direction = "sent"
			}
			s.Read++
			switch {
			case sum.Rate == nil || !isFinite(float64(*sum.Rate)):
				s.lose("an interval without a throughput", fmt.Sprintf("interval %d", i+1))
				continue
			case sum.Omitted:
				s.lose("an interval that the test leaves out", fmt.Sprintf("interval %d", i+1))
				continue
			}
			m := s.Add(direction, "throughput", "bit/s")
			m.Each = "the mean of one interval"
			s.put(m, 0, float64(*sum.Rate))
			if sum.Retransmits != nil && isFinite(float64(*sum.Retransmits)) {
				m := s.Add(direction, "retransmits", "count")
				m.Each = "the sum of one interval"
				s.put(m, 0, float64(*sum.Retransmits))
			}
		}
	}
	return nil
}
