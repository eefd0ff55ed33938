package pprof

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/pprof/profile"

	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/run"
)

// readLibrary reads a profile through google/pprof's own decoder: what Read
// must come to.
func readLibrary(src *input.Source, _ *reading.Options) (*run.Run, error) {
	data, err := io.ReadAll(src.Reader)
	if err != nil {
		return nil, err
	}
	p, err := profile.ParseUncompressed(data)
	if err != nil {
		return nil, err
	}
	if len(p.SampleType) == 0 {
		return nil, errors.New("no sample types")
	}
	if err := p.CheckValid(); err != nil {
		return nil, err
	}
	if err := checkProfileValues(p); err != nil {
		return nil, err
	}
	cleanProfile(p)
	if err := p.RemoveUninteresting(); err != nil {
		return nil, err
	}
	b := run.NewBuilder(src.Name)
	addProfile(b, p)
	r := b.Run()
	r.Recording.Format = "pprof"
	if p.TimeNanos != 0 {
		r.Recording.Start = time.Unix(0, p.TimeNanos).UTC()
	}
	r.Recording.Duration = time.Duration(max(0, p.DurationNanos))
	readComments(r, p.Comments)
	for i := range r.Events {
		r.Events[i].MaxWeight = 0
	}
	if r, err = b.Finish(); err != nil {
		return nil, err
	}
	r.Warnings = unique(r.Warnings)
	a := &r.Accounting
	a.In = a.Out + a.Filtered + a.TotalDropped()
	return r, nil
}

func checkProfileValues(p *profile.Profile) error {
	sums := make([]int64, len(p.SampleType))
	for _, s := range p.Sample {
		for i, v := range s.Value {
			if v < 0 && grows(valueTypes(p)) && !slices.Contains(s.Label["pprof::base"], "true") {
				continue
			}
			if v < 0 || v > math.MaxInt64-sums[i] {
				return fmt.Errorf("value %d, sum %d", v, sums[i])
			}
			sums[i] += v
		}
	}
	return nil
}

func cleanProfile(p *profile.Profile) {
	for _, t := range append(slices.Clone(p.SampleType), p.PeriodType) {
		t.Type, t.Unit = clean(t.Type), clean(t.Unit)
	}
	for _, f := range p.Function {
		f.Name, f.SystemName, f.Filename = clean(f.Name), clean(f.SystemName), clean(f.Filename)
		for _, name := range []string{f.SystemName, "[unknown]"} {
			if f.Name == "" {
				f.Name = name
			}
		}
	}
	for _, m := range p.Mapping {
		m.File, m.BuildID = clean(m.File), clean(m.BuildID)
	}
	for i := range p.Comments {
		p.Comments[i] = clean(p.Comments[i])
	}
}

func valueTypes(p *profile.Profile) (types []valueType) {
	for _, t := range p.SampleType {
		types = append(types, valueType{t.Type, t.Unit})
	}
	return types
}

func addProfile(b *run.Builder, p *profile.Profile) {
	types := valueTypes(p)
	pairs := pairSampleTypes(types)
	leads := leading(pairs, types, clean(p.DefaultSampleType), isOwn(p.Comments))
	period := heapPeriod(valueType{p.PeriodType.Type, p.PeriodType.Unit}, p.Period)
	var events []uint32
	for i, pair := range pairs {
		e := run.Event{Name: pair.name, Unit: types[pair.weight].unit, WeightSqLowerBound: true, Leads: i == leads}
		if *p.PeriodType == *p.SampleType[pair.weight] && p.Period > 0 {
			e.Period = uint64(p.Period)
		}
		events = append(events, b.Event(e))
	}
	mappings := make(map[*profile.Mapping]uint32)
	for _, m := range p.Mapping {
		kind := run.UnknownMapping
		if m.File != "" {
			kind = reading.MappingKind(m.File)
		}
		mappings[m] = b.Mapping(run.Mapping{
			File: m.File, BuildID: m.BuildID, Start: m.Start, Limit: m.Limit, Offset: m.Offset, Kind: kind,
			HasFunctions: m.HasFunctions, HasFilenames: m.HasFilenames, HasLineNumbers: m.HasLineNumbers, HasInlineFrames: m.HasInlineFrames,
		})
	}
	locations := make(map[*profile.Location]uint32)
	for _, l := range p.Location {
		locations[l] = addLocation(b, mappings[l.Mapping], l)
	}
	for _, s := range p.Sample {
		labels := b.Labels(sampleLabels(s))
		var stack run.StackID
		for _, l := range slices.Backward(s.Location) {
			stack = b.Stack(stack, locations[l])
		}
		values := make([]uint64, len(s.Value))
		for i, v := range s.Value {
			values[i] = uint64(v)
		}
		for i, pair := range pairs {
			weight, count := s.Value[pair.weight], pair.samples(values, period)
			if weight < 0 || count < 0 {
				b.Run().Accounting.Drop("negative "+pair.name+" of a difference", 1)
				continue
			}
			if weight == 0 && (pair.count < 0 || count == 0) {
				continue
			}
			sq := float64(weight) * float64(weight)
			if count > 0 {
				sq /= float64(count)
			}
			b.AddSum(events[i], stack, labels, count, weight, sq)
			b.Run().Accounting.In += count
		}
	}
}

func addLocation(b *run.Builder, mapping uint32, l *profile.Location) uint32 {
	if len(l.Line) == 0 {
		name := "[unknown]"
		if l.Mapping != nil && l.Mapping.File != "" {
			name = run.UnknownFunctionName(l.Mapping.File)
		}
		return b.Location(mapping, l.Address, run.Line{Function: b.Function(run.Function{Name: name, SystemName: name, Unknown: true})})
	}
	var lines []run.Line
	for _, line := range l.Line {
		f := line.Function
		fn := run.Function{
			Name: f.Name, SystemName: f.SystemName, File: f.Filename, StartLine: f.StartLine,
			Unknown: f.Name == "unknown" || strings.HasPrefix(f.Name, "[") && strings.HasSuffix(f.Name, "]"),
		}
		fn.Recognize()
		lines = append(lines, run.Line{Line: line.Line, Column: line.Column, Function: b.Function(fn)})
	}
	return b.Location(mapping, l.Address, lines...)
}

// sampleLabels expects that no two keys are equal once they are clean.
func sampleLabels(s *profile.Sample) run.Labels {
	l := run.Labels{PID: -1, TID: -1, CPU: -1}
	for _, key := range slices.Sorted(maps.Keys(s.Label)) {
		for _, value := range s.Label[key] {
			value = clean(value)
			switch key {
			case "process":
				l.Process = value
			case "thread":
				l.Thread = value
			case "threadpool":
			case "state":
				l.State = value
			case "execution_mode":
				l.Mode = value
			default:
				l.Other += clean(key) + "\x00" + value + "\x00"
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.NumLabel)) {
		for i, value := range s.NumLabel[key] {
			switch key {
			case "pid":
				l.PID = value
			case "tid":
				l.TID = value
			case "cpu":
				l.CPU = value
			default:
				unit := ""
				if units := s.NumUnit[key]; i < len(units) {
					unit = clean(units[i])
				}
				l.OtherNum += clean(key) + "\x00" + strconv.FormatInt(value, 10) + "\x00" + unit + "\x00"
			}
		}
	}
	return l
}

// checkAgainstLibrary reads a profile in both ways. The runs must be equal, down to the
// order of their tables.
func checkAgainstLibrary(t *testing.T, data []byte) {
	t.Helper()
	want := ingesttest.Read(t, readLibrary, data, &reading.Options{})
	got := ingesttest.Read(t, Read, data, &reading.Options{})
	if d := diffRuns(want, got); d != "" {
		t.Errorf("run (-library +got):\n%s", d)
	}
}

// diffRuns compares all tables of runs.
func diffRuns(want, got *run.Run) string {
	a, b := stackNodes(want), stackNodes(got)
	if reflect.DeepEqual(want, got) && slices.Equal(a, b) {
		return ""
	}
	return cmp.Diff(want, got, cmpopts.IgnoreTypes(run.Stacks{})) + cmp.Diff(a, b)
}

type stackNode struct {
	Parent   run.StackID
	Location uint32
}

// stackNodes is the tree of stacks.
func stackNodes(r *run.Run) []stackNode {
	stacks := make([]stackNode, r.Stacks.Len())
	for i := 1; i < len(stacks); i++ {
		stacks[i] = stackNode{r.Stacks.Parent(run.StackID(i)), r.Stacks.Location(run.StackID(i))}
	}
	return stacks
}

// TestPprofLibraryMade compares with google/pprof's decoder on made profiles.
func TestPprofLibraryMade(t *testing.T) {
	for name, data := range seeds(t) {
		t.Run(name, func(t *testing.T) { checkAgainstLibrary(t, data) })
	}
}

// Messages that only one of the decoders takes: the library skips fields whose number
// cannot be and cuts numbers to 64 bits; here groups of unknown fields are skipped.
var (
	onlyLibraryTakes = []string{"no field has number", "invalid field number", "variable length integer overflow", "sample types"}
	onlyReaderTakes  = []string{"unknown wire type"}
)

// FuzzPprofLibrary checks that both decoders take the same profiles, and find the same
// in them.
func FuzzPprofLibrary(f *testing.F) {
	for name, data := range seeds(f) {
		if name == longSeed {
			continue
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { compareDecoders(t, data) })
}

// TestPprofLibraryRandom checks the same with profiles that are valid but for a field or
// byte, which random bytes seldom are.
func TestPprofLibraryRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	read, damaged := 0, 0
	profiles := 3000
	if testing.Short() {
		profiles = 400
	}
	for i := range profiles {
		data := randomProfile(rng)
		if i%4 == 0 {
			data[rng.IntN(len(data))] = byte(rng.Uint32())
		}
		if compareDecoders(t, data) {
			read++
		} else {
			damaged++
		}
		if t.Failed() {
			t.Fatalf("profile %d: %q", i, data)
		}
	}
	if read < profiles/3 || damaged < profiles/10 {
		t.Errorf("%d profiles are read, %d are not", read, damaged)
	}
	t.Logf("%d profiles are read, %d are not", read, damaged)
}

// randomProfile has tables and samples in any order, of which few are wrong.
func randomProfile(rng *rand.Rand) []byte {
	below := func(n int) int {
		if rng.IntN(300) == 0 {
			return n + rng.IntN(3)
		}
		return rng.IntN(n)
	}
	numbers := func(n, limit int) (list []uint64) {
		for range n {
			list = append(list, uint64(1+below(limit)))
		}
		return list
	}
	repeated := func(field int, values []uint64) (b []byte) {
		if rng.IntN(2) == 0 {
			return ingesttest.Message(field, packed(values...))
		}
		for _, v := range values {
			b = append(b, ingesttest.Message(field, v)...)
		}
		return b
	}
	str := func() int { return below(len(smallStrings)) }
	var ordered, rest [][]byte
	for _, f := range smallProfile() {
		if num := f[0] >> 3; num == profileStringTable || num == profileSampleType {
			ordered = append(ordered, f)
		} else {
			rest = append(rest, f)
		}
	}
	id := func(i int) uint64 {
		if rng.IntN(300) == 0 {
			return uint64(rng.IntN(4))
		}
		return uint64(3 + i + i*i*i*1000)
	}
	for i := range rng.IntN(4) {
		rest = append(rest, ingesttest.Message(profileMapping, ingesttest.Message(mappingID, id(i), mappingFilename, str(), mappingBuildID, str(), mappingStart, rng.IntN(9))))
	}
	functions, locations := []uint64{1, 2}, []uint64{1, 2}
	for i := range rng.IntN(5) {
		f := id(i)
		functions = append(functions, f)
		rest = append(rest, ingesttest.Message(profileFunction, ingesttest.Message(functionID, f, functionName, str(), functionSystemName, str(), functionStartLine, rng.IntN(3))))
	}
	for i := range rng.IntN(6) {
		l := id(i)
		locations = append(locations, l)
		m := ingesttest.Message(locationID, l, locationMappingID, id(rng.IntN(3)), locationAddress, rng.IntN(3))
		for range rng.IntN(4) {
			m = append(m, ingesttest.Message(locationLine, ingesttest.Message(lineFunctionID, functions[rng.IntN(len(functions))], lineLine, rng.IntN(3)))...)
		}
		rest = append(rest, ingesttest.Message(profileLocation, m))
	}
	for range rng.IntN(10) {
		var ids []uint64
		for range rng.IntN(6) {
			ids = append(ids, locations[below(len(locations))%len(locations)])
		}
		values := 2
		if rng.IntN(300) == 0 {
			values = rng.IntN(4)
		}
		m := append(repeated(sampleLocationID, ids), repeated(sampleValue, numbers(values, 5))...)
		for range rng.IntN(4) {
			m = append(m, ingesttest.Message(sampleLabel, ingesttest.Message(labelKey, str(), []int{labelStr, labelNum}[rng.IntN(2)], str()))...)
			if rng.IntN(4) == 0 {
				m = append(m, ingesttest.Message(sampleLabel, ingesttest.Message(labelKey, str(), labelNum, rng.IntN(3), labelNumUnit, str()))...)
			}
		}
		rest = append(rest, ingesttest.Message(profileSample, m))
	}
	switch rng.IntN(4) {
	case 0:
		rest = append(rest, ingesttest.Message(profileDropFrames, str()), ingesttest.Message(profileKeepFrames, str()))
	case 1:
		rest = append(rest, ingesttest.Message(profileDropFrames, 5+rng.IntN(2)))
	}
	rng.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	// Merge the two at random.
	var all []byte
	for len(ordered)+len(rest) > 0 {
		from := &ordered
		if rng.IntN(len(ordered)+len(rest)) >= len(ordered) {
			from = &rest
		}
		all = append(all, (*from)[0]...)
		*from = (*from)[1:]
	}
	return all
}

// compareDecoders reads data with both. It reports whether it is a profile.
func compareDecoders(t *testing.T, data []byte) bool {
	t.Helper()
	if len(data) >= 2 && data[0] == 0x1f && data[1] == 0x8b {
		return false // compressed: the bytes of gzip are not what this is about
	}
	want, wantErr := readLibrary(ingesttest.Source(t, data), &reading.Options{})
	got, err := Read(ingesttest.Source(t, data), &reading.Options{})
	expected := func(err error, reasons []string) bool {
		return slices.ContainsFunc(reasons, func(s string) bool { return strings.Contains(err.Error(), s) })
	}
	switch {
	case err != nil && wantErr == nil && !expected(err, onlyLibraryTakes):
		t.Fatalf("error %v, the library reads it", err)
	case err == nil && wantErr != nil && !expected(wantErr, onlyReaderTakes):
		t.Fatalf("is read, the library says %v", wantErr)
	case err != nil || wantErr != nil:
		return false
	}
	if d := cmp.Diff(want.Events, got.Events); d != "" {
		t.Errorf("events (-library +got):\n%s", d)
	}
	if d := cmp.Diff(want.Accounting, got.Accounting); d != "" {
		t.Errorf("accounting (-library +got):\n%s", d)
	}
	for i := range want.Events {
		if d := ingesttest.DiffSums(got.Folded(i), want.Folded(i)); d != "" {
			t.Errorf("stacks of %s:\n%s", want.Events[i].Name, d)
		}
	}
	// The library keeps labels by key, so that it is lost in which order those came whose
	// keys are equal once they are clean.
	if slices.ContainsFunc(got.Labels, func(l run.Labels) bool { return strings.Contains(l.Other+l.OtherNum, "\ufffd") }) {
		return true
	}
	if d := diffRuns(want, got); d != "" {
		t.Errorf("run (-library +got):\n%s", d)
	}
	return true
}
