package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/pprof/profile"

	"profdiff/internal/run"
)

// A profile is held in memory several times over, so that it may have at most
// maxProfile bytes, and decompress to at most maxProfileInflation times its size:
// real ones to less than ten times.
const (
	maxProfile          = 1 << 30
	maxProfileInflation = 32
)

// readPprof reads a profile in pprof's format. Frames that it says to drop
// (drop_frames, keep_frames) are dropped, as pprof does. Of profiles that profdiff
// wrote, the comments tell of the recording.
func readPprof(src *source, _ *Options) (*run.Run, error) {
	if src.inflater != nil {
		src.inflater.limit = maxProfileInflation
	}
	data, err := io.ReadAll(io.LimitReader(src.Reader, maxProfile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxProfile {
		return nil, fmt.Errorf("profile has more than %d bytes", maxProfile)
	}
	p, err := profile.ParseUncompressed(data)
	if err != nil {
		return nil, err
	}
	if len(p.SampleType) == 0 {
		return nil, errors.New("profile has no sample types")
	}
	if err := p.CheckValid(); err != nil {
		return nil, err
	}
	if err := checkValues(p); err != nil {
		return nil, err
	}
	cleanProfile(p)
	if err := p.RemoveUninteresting(); err != nil {
		return nil, fmt.Errorf("frames to drop: %w", err)
	}
	b := run.NewBuilder(src.Name)
	if err := b.AddProfile(p); err != nil {
		return nil, err
	}
	r := b.Run()
	for i := range r.Mappings {
		if m := &r.Mappings[i]; m.File != "" {
			m.Kind = mappingKind(m.File)
		}
	}
	r.Recording.Format = "pprof"
	if p.TimeNanos != 0 {
		r.Recording.Start = time.Unix(0, p.TimeNanos).UTC()
	}
	if p.DurationNanos > 0 {
		r.Recording.Duration = time.Duration(p.DurationNanos)
	}
	readComments(r, p.Comments)
	for i := range r.Events {
		r.Events[i].MaxWeight = 0 // values are sums
	}
	if r, err = b.Finish(); err != nil {
		return nil, err
	}
	r.Warnings = unique(r.Warnings) // the profile may have them from when it was made
	a := &r.Accounting
	a.In = a.Out + a.Filtered + a.TotalDropped()
	return r, nil
}

// checkValues refuses values that are no sums of samples.
func checkValues(p *profile.Profile) error {
	sums := make([]int64, len(p.SampleType))
	for _, s := range p.Sample {
		for i, v := range s.Value {
			if v < 0 {
				return fmt.Errorf("value %d of %s is negative: a difference of profiles is no recording, give the two profiles", v, p.SampleType[i].Type)
			}
			if v > math.MaxInt64-sums[i] {
				return fmt.Errorf("values of %s sum to more than 2^63", p.SampleType[i].Type)
			}
			sums[i] += v
		}
	}
	return nil
}

// cleanProfile makes all strings UTF-8 without NUL, which separates labels, and gives
// a name to functions that have none.
func cleanProfile(p *profile.Profile) {
	clean := func(s *string) { *s = strings.ReplaceAll(strings.ToValidUTF8(*s, "\ufffd"), "\x00", "\ufffd") }
	for _, t := range p.SampleType {
		clean(&t.Type)
		clean(&t.Unit)
	}
	for _, f := range p.Function {
		clean(&f.Name)
		clean(&f.SystemName)
		clean(&f.Filename)
		f.Name = cmp.Or(f.Name, f.SystemName, run.UnknownFunctionName(""))
	}
	for _, m := range p.Mapping {
		clean(&m.File)
		clean(&m.BuildID)
	}
	for i := range p.Comments {
		clean(&p.Comments[i])
	}
	for _, s := range p.Sample {
		cleanLabels(s.Label, clean)
		cleanLabels(s.NumUnit, clean)
		if needsCleaning(s.NumLabel) {
			old := s.NumLabel
			s.NumLabel = make(map[string][]int64)
			for _, key := range slices.Sorted(maps.Keys(old)) {
				name := key
				clean(&name)
				s.NumLabel[name] = append(s.NumLabel[name], old[key]...)
			}
			s.NumUnit = nil
		}
	}
}

func needsCleaning[V any](labels map[string]V) bool {
	for key := range labels {
		if !utf8.ValidString(key) || strings.Contains(key, "\x00") {
			return true
		}
	}
	return false
}

// cleanLabels cleans string labels, or the units of numeric ones.
func cleanLabels(labels map[string][]string, clean func(*string)) {
	for _, values := range labels {
		for i := range values {
			clean(&values[i])
		}
	}
	if !needsCleaning(labels) {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		name := key
		if clean(&name); name != key {
			labels[name] = append(labels[name], labels[key]...)
			delete(labels, key)
		}
	}
}

// readComments takes over what Run.WriteProfile has written of a recording.
func readComments(r *run.Run, comments []string) {
	if len(comments) == 0 || !strings.HasPrefix(comments[0], "format: ") {
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
	if err != nil {
		return
	}
	for j := range r.Events {
		if e := &r.Events[j]; e.Name == value[:i] {
			switch how {
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
