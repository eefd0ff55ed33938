package diff

import (
	"fmt"
	"math"
	"strings"

	"profdiff/internal/metric"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// A Stall is what a lower throughput costs for each transfer, if it is lower because each transfer
// waits once: the time of a transfer of Size at the slower throughput less that at the faster one.
//
//	t = S/r_slow - S/r_fast
//
// This takes for granted that transfers follow one another without overlap, that each moves Size
// bytes, that each waits once, and that nothing else differs. If transfers move half as much,
// each waits for half as long.
type Stall struct {
	Metric string
	Size   float64 // bytes of a transfer
	Text   string  // as the user wrote it
	// Rates are the throughputs before and after, in bits a second, and Took the time of a transfer
	// at each, in nanoseconds. Slow is the side that waits.
	Rates, Took [2]Value
	Slow        int
	// Cost is the time that each transfer waits, and Share the part of the slower time.
	Cost  Value
	Share float64
	// Most is what Cost would be if a transfer took no time but the wait: it is no more, however
	// fast the other side is.
	Most float64
	Runs [2]int
	// Unknown says why there is no interval, "" if there is one.
	Unknown string
}

// ParseSize reads the size of a transfer: 32KiB, 1500B.
func ParseSize(text string) (bytes float64, err error) {
	a, err := parseAmount(text)
	if err != nil || a.Unit != metric.Bytes || !(a.Value > 0) {
		return 0, fmt.Errorf("want a number of bytes such as 32KiB or 1500B, not %.40q", text)
	}
	return a.Value, nil
}

// ParseDeadline reads a deadline: 16.7ms, or a number without unit.
func ParseDeadline(text string) (*Deadline, error) {
	d, err := parseAmount(text)
	if err != nil {
		return nil, fmt.Errorf("want an amount such as 16.7ms, not %.40q", text)
	}
	return d, nil
}

func parseAmount(text string) (*Deadline, error) {
	var value float64
	text = strings.TrimSpace(text)
	end := strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if end < 0 {
		end = len(text)
	}
	if _, err := fmt.Sscanf(text[:end], "%g", &value); err != nil {
		return nil, err
	}
	d := &Deadline{Value: value, Text: text}
	if written := strings.TrimSpace(text[end:]); written != "" {
		var scale float64
		if d.Unit, scale = metric.ParseUnit(written); string(d.Unit) == written {
			return nil, fmt.Errorf("%q is no unit", written)
		}
		d.Value *= scale
	}
	return d, nil
}

// NewStall says how long transfers of a size wait, by the throughput of two sides, of which each has
// one.
func NewStall(base, head []*metric.Metric, size float64, text string) (*Stall, error) {
	one := func(list []*metric.Metric, side string) (*metric.Metric, error) {
		var found []*metric.Metric
		for _, m := range list {
			if m.Unit == metric.BitsPerSecond || m.Unit == metric.BytesPerSecond {
				found = append(found, m)
			}
		}
		switch len(found) {
		case 1:
			return found[0], nil
		case 0:
			return nil, fmt.Errorf("%s has no throughput: no metric in bit/s or B/s", side)
		}
		return nil, fmt.Errorf("%s has %d throughputs, such as %q and %q: --metric REGEXP chooses one", side, len(found), found[0].Name(), found[1].Name())
	}
	b, err := one(base, "the side before")
	if err != nil {
		return nil, err
	}
	h, err := one(head, "the side after")
	if err != nil {
		return nil, err
	}
	s := &Stall{Metric: b.Name(), Size: size, Text: text}
	tests := stats.New(verdict.Level)
	for side, m := range []*metric.Metric{b, h} {
		values := valuesOf(m)
		d := stats.NewDistribution(values.runs)
		rate := Value{d.Mean(), stats.Interval{Lo: math.NaN(), Hi: math.NaN()}}
		s.Runs[side] = d.Runs()
		if d.Len() == 0 {
			rate.Value = values.mean
		}
		if e := tests.MeanLevel(d); e.Refused == "" {
			rate.CI = e.CI
		} else {
			s.Unknown = "one value a side does not tell how throughput varies: no interval"
		}
		bits := 1.0
		if m.Unit == metric.BytesPerSecond {
			bits = 8
		}
		s.Rates[side] = Value{bits * rate.Value, stats.Interval{Lo: bits * rate.CI.Lo, Hi: bits * rate.CI.Hi}}
		if !(rate.Value > 0) {
			return nil, fmt.Errorf("%s: a throughput of %v has no time of a transfer", m.Name(), rate.Value)
		}
		took := 8e9 * size
		s.Took[side] = Value{took / s.Rates[side].Value, stats.Interval{Lo: took / s.Rates[side].CI.Hi, Hi: took / s.Rates[side].CI.Lo}}
	}
	fast, slow := s.Took[1], s.Took[0]
	if slow.Value < fast.Value {
		fast, slow, s.Slow = slow, fast, 1
	}
	s.Cost = Value{slow.Value - fast.Value, stats.Interval{Lo: math.NaN(), Hi: math.NaN()}}
	if s.Unknown == "" {
		s.Cost.CI = stats.Difference(fast.Value, slow.Value, fast.CI, slow.CI)
	}
	s.Share, s.Most = s.Cost.Value/slow.Value, slow.Value
	return s, nil
}
