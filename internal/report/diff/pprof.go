package diff

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
	"github.com/klauspost/compress/gzip"

	"profdiff/internal/report/text"
)

// WritePprof writes a comparison as a gzip-compressed pprof profile, as
// `go tool pprof -diff_base` makes it of two: the samples of base are negative and have
// the label pprof::base, by which pprof knows that percentages are of base, those of
// head are positive. Functions have the names of head, or of base if head does not have
// them, so that both sides of a renamed one cancel out; there are no addresses and
// lines, which differ between builds.
//
// There is one sample type per event, with the costs of [compare.Stacks]: means over
// runs, normalized, on the scale of base's mean run. Numbers of samples are in comments
// only, because pprof would subtract them like costs. Values are whole numbers, rounded
// in the order of the call tree so that what rounding takes from a stack is given to the
// next: a value is off by less than one, and so is the sum of a side over everything in
// and below one call path; the sum over all stacks is the exact one rounded.
func WritePprof(w io.Writer, c *Document) error {
	if err := c.Stacks.CheckFrames(); err != nil {
		return err
	}
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return err
	}
	if err := pprofOf(c).WriteUncompressed(z); err != nil {
		return err
	}
	return z.Close()
}

func pprofOf(c *Document) *profile.Profile {
	p := &profile.Profile{DefaultSampleType: text.Valid(c.Events[0].Name)}
	for i := range c.Events {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: text.Valid(c.Events[i].Name), Unit: text.Valid(c.Events[i].Unit)})
	}
	p.Comments = comments(c)
	stacks := c.Stacks
	locations := make([]*profile.Location, len(stacks.Frames))
	mappings := make(map[string]*profile.Mapping)
	for _, dso := range files(stacks) {
		m := &profile.Mapping{ID: uint64(len(p.Mapping) + 1), File: text.Valid(dso), HasFunctions: true}
		mappings[dso] = m
		p.Mapping = append(p.Mapping, m)
	}
	location := func(frame int) *profile.Location {
		if locations[frame] != nil {
			return locations[frame]
		}
		f := &stacks.Frames[frame]
		id := uint64(len(p.Location) + 1)
		fn := &profile.Function{ID: id, Name: text.Valid(f.Name), SystemName: text.Valid(f.SystemName), Filename: text.Valid(f.File)}
		locations[frame] = &profile.Location{ID: id, Mapping: mappings[f.DSO], Line: []profile.Line{{Function: fn}}}
		p.Function = append(p.Function, fn)
		p.Location = append(p.Location, locations[frame])
		return locations[frame]
	}
	carries := [2][]text.Carry{make([]text.Carry, len(c.Events)), make([]text.Carry, len(c.Events))}
	for s := range stacks.All() {
		for side, costs := range [2][]float64{s.Base, s.Head} {
			values := make([]int64, len(costs))
			empty := true
			for i, v := range costs {
				values[i] = carries[side][i].Round(v)
				empty = empty && values[i] == 0
			}
			if empty {
				continue // pprof drops it
			}
			sample := &profile.Sample{Value: values}
			for i := range s.Frames {
				sample.Location = append(sample.Location, location(s.Frames[len(s.Frames)-1-i]))
			}
			if side == 0 {
				sample.Label = map[string][]string{"pprof::base": {"true"}}
				for i := range values {
					values[i] = -values[i]
				}
			}
			p.Sample = append(p.Sample, sample)
		}
	}
	return p
}

// files are the files that frames are in, the main one first, which pprof takes the profile
// to be of: the one that costs most in the first event and is not the kernel's.
func files(stacks *Stacks) (list []string) {
	costs := make(map[string]float64)
	for s := range stacks.All() {
		for i, frame := range s.Frames {
			dso := stacks.Frames[frame].DSO
			if dso == "" {
				continue
			}
			costs[dso] += 0
			if i == len(s.Frames)-1 {
				costs[dso] += s.Base[0] + s.Head[0]
			}
		}
	}
	anonymous := func(dso string) int {
		if strings.HasPrefix(dso, "[") {
			return 1
		}
		return 0
	}
	return slices.SortedFunc(maps.Keys(costs), func(a, b string) int {
		return cmp.Or(anonymous(a)-anonymous(b), -cmp.Compare(costs[a], costs[b]), strings.Compare(a, b))
	})
}

// comments say what the values of the profile are.
func comments(c *Document) []string {
	list := []string{
		"difference of two sides: base is negative, head is positive",
		"base: " + c.Base.Name(),
		"head: " + c.Head.Name(),
	}
	for i := range c.Events {
		e := &c.Events[i]
		how := "not normalized"
		switch n := e.Normalization; n.Mode {
		case PerWork:
			how = fmt.Sprintf("per operation (%s), on the scale of base's mean run", n.By)
		case PerReference:
			how = fmt.Sprintf("relative to the %s, on the scale of base's mean run", n.By)
		case OfTotal:
			how = "shares of the total, on the scale of base's mean run"
		}
		list = append(list, fmt.Sprintf("%s: means over runs, %s; %d samples of base, %d of head", e.Name, how, e.Raw.BaseSamples, e.Raw.HeadSamples))
	}
	for _, w := range c.Design.Warnings {
		list = append(list, "warning: "+w)
	}
	for i := range list {
		list[i] = text.Valid(list[i])
	}
	return list
}
