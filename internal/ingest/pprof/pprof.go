// Package pprof reads profiles in the format of pprof (proto/profile.proto of
// github.com/google/pprof), as Go, gperftools, perf_to_profile, simpleperf's scripts and
// profdiff write them.
//
//  1. The messages of a profile are in any order, and samples refer to what usually comes
//     behind them. So the profile is taken apart first: messages of each kind are kept as
//     bytes.
//  2. They are decoded in the order in which they refer to each other: strings, mappings,
//     functions, locations, samples. Bytes that are decoded are given up, so that memory
//     stays near that of the profile and the Run.
//  3. Sample types that belong together, a number and a weight, become one event.
//  4. Frames that the profile says to drop are dropped as pprof drops them.
//  5. Comments that profdiff wrote tell of the recording, its events and its losses.
//
// Ids, references, sums and sizes are checked: a damaged profile is an error that says where.
package pprof

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/run"
)

// A profile is held in memory while it is read, so that it may have at most maxProfile
// bytes, and decompress to at most maxProfileInflation times its size: real ones to less
// than ten times.
const (
	maxProfile          = 1 << 30
	maxProfileInflation = 32
)

// Read reads a profile in pprof's format. Frames that it says to drop
// (drop_frames, keep_frames) are dropped, as pprof does. Of profiles that profdiff
// wrote, the comments tell of the recording.
//
// It is decoded here instead of through profile.Profile so that memory stays near that
// of the Run itself.
func Read(src *input.Source, opt *reading.Options) (*run.Run, error) {
	src.LimitInflation(maxProfileInflation)
	b := run.NewBuilder(src.Name)
	p := reader{b: b, noAddresses: opt.NoAddresses}
	if err := p.split(src.Fields(maxProfile)); err != nil {
		return nil, err
	}
	if err := p.decode(); err != nil {
		return nil, err
	}
	r := b.Run()
	r.Recording.Format = "pprof"
	if p.timeNanos != 0 {
		r.Recording.Start = time.Unix(0, p.timeNanos).UTC()
	}
	if p.durationNanos > 0 {
		r.Recording.Duration = time.Duration(p.durationNanos)
	}
	readComments(r, p.comments)
	for i, n := range p.negative {
		if n > 0 {
			r.Accounting.Drop("negative "+p.pairs[i].name+" of a difference", n)
		}
	}
	for i := range r.Events {
		r.Events[i].MaxWeight = 0 // values are sums
	}
	r, err := b.Finish()
	if err != nil {
		return nil, err
	}
	r.Warnings = unique(r.Warnings) // the profile may have them from when it was made
	a := &r.Accounting
	a.In = a.Out + a.Filtered + a.TotalDropped()
	return r, nil
}

// isOwn reports whether comments are of a profile that profdiff wrote.
func isOwn(comments []string) bool {
	return len(comments) > 0 && strings.HasPrefix(comments[0], "format: ")
}

// readComments takes over what Run.WriteProfile has written of a recording.
func readComments(r *run.Run, comments []string) {
	if !isOwn(comments) {
		return
	}
	rec := &r.Recording
	for _, c := range comments {
		key, value, ok := strings.Cut(c, ": ")
		if !ok {
			continue
		}
		switch key {
		case "format":
			rec.Format = value
		case "tool":
			rec.Tool = value
		case "command":
			rec.CommandLine = value
		case "arch":
			rec.Arch = value
		case "kernel":
			rec.Kernel = value
		case "cpu":
			rec.CPU = value
		case "device":
			rec.Device = value
		case "build":
			rec.Build = value
		case "app":
			rec.App = value
		case "merged":
			rec.Merged = value
		case "event":
			eventComment(r, value)
		case "accounting":
			accountingComment(&r.Accounting, value)
		case "warning":
			r.Warnings = append(r.Warnings, value)
		}
	}
	// Events that were computed from others are not accounted for.
	if len(r.Events) > 1 {
		for i := range r.Events {
			if e := &r.Events[i]; e.Name == "on-cpu" || e.Name == "off-cpu" || strings.HasPrefix(e.Name, "counted:") {
				e.Derived = true
			}
		}
	}
}

// unique removes strings that occur before.
func unique(list []string) []string {
	seen := make(map[string]bool)
	return slices.DeleteFunc(list, func(s string) bool {
		before := seen[s]
		seen[s] = true
		return before
	})
}

// eventComment reads "cycles period=100000" or "cycles frequency=4000".
func eventComment(r *run.Run, value string) {
	i := strings.LastIndexByte(value, ' ')
	if i < 0 {
		return
	}
	how, number, _ := strings.Cut(value[i+1:], "=")
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil && how != "simulated" {
		return
	}
	for j := range r.Events {
		if e := &r.Events[j]; e.Name == value[:i] {
			switch how {
			case "simulated":
				e.Simulated, e.WeightSqLowerBound, e.WeightSq = true, false, 0
				for k := range r.Samples {
					if s := &r.Samples[k]; int(s.Event) == j {
						s.WeightSq = 0
					}
				}
			case "period":
				e.Period = n
			case "frequency":
				e.Frequency = n
			}
		}
	}
}

// accountingComment reads what Accounting.String makes.
func accountingComment(a *run.Accounting, value string) {
	in, rest, ok := strings.Cut(strings.TrimPrefix(value, "samples: "), " in = ")
	if !ok {
		return
	}
	if _, rest, ok = strings.Cut(rest, " out + "); !ok {
		return
	}
	number := func(s string) int64 {
		n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64>>8 {
			return 0
		}
		return n
	}
	filtered, rest, _ := strings.Cut(rest, " filtered + ")
	dropped, rest, _ := strings.Cut(rest, " dropped")
	i := strings.LastIndex(rest, "; ")
	if i < 0 {
		return
	}
	rest = rest[:i] // "; 0.0% of frames unknown"
	i = strings.LastIndex(rest, "; ")
	if i < 0 {
		return
	}
	a.In = number(in)
	a.Filtered = number(filtered)
	a.Lost = number(strings.TrimSuffix(rest[i+len("; "):], " lost"))
	reasons, ok := strings.CutPrefix(rest[:i], " (")
	if !ok {
		return
	}
	left := number(dropped)
	for reason := range strings.SplitSeq(strings.TrimSuffix(reasons, ")"), ", ") {
		if j := strings.LastIndex(reason, ": "); j >= 0 {
			if n := number(reason[j+2:]); n <= left {
				a.Drop(reason[:j], n)
				left -= n
			}
		}
	}
}
