package pprof

import (
	"bytes"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/reading"
	"profdiff/internal/run"
	"profdiff/internal/run/runtest"
)

// packed encodes repeated integers without tags.
func packed(values ...uint64) []byte {
	var b []byte
	for _, v := range values {
		b = protowire.AppendVarint(b, v)
	}
	return b
}

// Strings of smallProfile by index.
var smallStrings = []string{"", "samples", "count", "cpu", "nanoseconds", "main", "work", "main.c", "/bin/app", "build", "format: pprof", "thread", "t1", "latency", "ms", "comment"}

// smallProfile is a profile, one field after the other.
func smallProfile() [][]byte {
	fields := [][]byte{
		ingesttest.Message(profileSampleType, ingesttest.Message(valueTypeType, 1, valueTypeUnit, 2)),
		ingesttest.Message(profileSampleType, ingesttest.Message(valueTypeType, 3, valueTypeUnit, 4)),
		ingesttest.Message(profileSample, ingesttest.Message(sampleLocationID, packed(2, 1), sampleValue, packed(3, 30), sampleLabel, ingesttest.Message(labelKey, 11, labelStr, 12))),
		ingesttest.Message(profileSample, ingesttest.Message(sampleLocationID, 1, sampleValue, 1, sampleValue, 7, sampleLabel, ingesttest.Message(labelKey, 13, labelNum, 5, labelNumUnit, 14))),
		ingesttest.Message(profileMapping, ingesttest.Message(mappingID, 1, mappingStart, 0x1000, mappingLimit, 0x3000, mappingOffset, 0x100,
			mappingFilename, 8, mappingBuildID, 9, mappingHasFunctions, 1, mappingHasLineNumbers, 1)),
		ingesttest.Message(profileLocation, ingesttest.Message(locationID, 1, locationMappingID, 1, locationAddress, 0x1010, locationLine, ingesttest.Message(lineFunctionID, 1, lineLine, 10))),
		ingesttest.Message(profileLocation, ingesttest.Message(locationID, 2, locationMappingID, 1, locationAddress, 0x1020, locationIsFolded, 1,
			locationLine, ingesttest.Message(lineFunctionID, 2, lineLine, 20, lineColumn, 3), locationLine, ingesttest.Message(lineFunctionID, 1, lineLine, 11))),
		ingesttest.Message(profileFunction, ingesttest.Message(functionID, 1, functionName, 5, functionSystemName, 5, functionFilename, 7, functionStartLine, 9)),
		ingesttest.Message(profileFunction, ingesttest.Message(functionID, 2, functionName, 6, functionFilename, 7)),
	}
	for _, s := range smallStrings {
		fields = append(fields, ingesttest.Message(profileStringTable, s))
	}
	return append(fields,
		ingesttest.Message(profileTimeNanos, 1234567890),
		ingesttest.Message(profileDurationNanos, 5),
		ingesttest.Message(profilePeriodType, ingesttest.Message(valueTypeType, 3, valueTypeUnit, 4)),
		ingesttest.Message(profilePeriod, 10),
		ingesttest.Message(profileComment, packed(10, 15)),
		ingesttest.Message(profileComment, 15),
		ingesttest.Message(profileDefaultSampleType, 3),
		ingesttest.Message(profileDocURL, 15),
	)
}

func join(fields ...[]byte) []byte { return bytes.Join(fields, nil) }

// with is smallProfile with more fields.
func with(fields ...[]byte) []byte { return join(append(smallProfile(), fields...)...) }

// backwards is smallProfile from its end, but for the strings and the sample types, whose
// order counts.
func backwards() []byte {
	var ordered, rest [][]byte
	for _, f := range smallProfile() {
		if num := f[0] >> 3; num == profileStringTable || num == profileSampleType {
			ordered = append(ordered, f)
		} else {
			rest = append(rest, f)
		}
	}
	slices.Reverse(rest)
	return join(append(ordered, rest...)...)
}

// longSeed is too long to be mutated.
const longSeed = "long"

// seeds are valid profiles of every form.
func seeds(t testing.TB) map[string][]byte {
	unknown := ingesttest.Message(100, "new", 101, 7)
	unknown = protowire.AppendFixed32(protowire.AppendTag(unknown, 102, protowire.Fixed32Type), 9)
	unknown = protowire.AppendFixed64(protowire.AppendTag(unknown, 103, protowire.Fixed64Type), 9)
	sample := func(fields ...any) []byte {
		return ingesttest.Message(profileSample, ingesttest.Message(append([]any{sampleValue, packed(1, 1)}, fields...)...))
	}
	seeds := map[string][]byte{
		"small":          with(),
		"backwards":      backwards(),
		"unknown fields": with(unknown, ingesttest.Message(profileSample, append(ingesttest.Message(sampleValue, packed(1, 1)), unknown...)), ingesttest.Message(profileMapping, append(ingesttest.Message(mappingID, 2), unknown...))),
		"other ids": with(
			ingesttest.Message(profileMapping, ingesttest.Message(mappingID, uint64(math.MaxUint64))), ingesttest.Message(profileFunction, ingesttest.Message(functionID, uint64(1<<40))),
			ingesttest.Message(profileLocation, ingesttest.Message(locationID, uint64(0x7f0000000000), locationMappingID, uint64(math.MaxUint64), locationLine, ingesttest.Message(lineFunctionID, uint64(1<<40)))),
			sample(sampleLocationID, uint64(0x7f0000000000))),
		"no lines":           with(ingesttest.Message(profileLocation, ingesttest.Message(locationID, 3, locationMappingID, 1)), ingesttest.Message(profileLocation, ingesttest.Message(locationID, 4)), sample(sampleLocationID, packed(3, 4))),
		"no such mapping":    with(ingesttest.Message(profileLocation, ingesttest.Message(locationID, 3, locationMappingID, 77)), sample(sampleLocationID, 3)),
		"no locations":       with(sample()),
		"packed in pieces":   with(sample(sampleLocationID, packed(2), sampleLocationID, 2, sampleLocationID, packed(1, 1))),
		"values of zero":     with(ingesttest.Message(profileSample, ingesttest.Message(sampleValue, packed(0, 0), sampleLocationID, 2))),
		"weight, no samples": with(ingesttest.Message(profileSample, ingesttest.Message(sampleValue, packed(0, 5), sampleLocationID, 2))),
		"labels": with(
			sample(sampleLabel, ingesttest.Message(labelKey, 15, labelStr, 12), sampleLabel, ingesttest.Message(labelKey, 13, labelNum, 1),
				sampleLabel, ingesttest.Message(labelKey, 13, labelNum, 2, labelNumUnit, 14), sampleLabel, ingesttest.Message(labelKey, 11, labelStr, 6),
				sampleLabel, ingesttest.Message(labelKey, 11, labelStr, 12), sampleLabel, ingesttest.Message(labelKey, 15), sampleLabel, ingesttest.Message(labelKey, 15, labelStr, 5)),
			sample(sampleLabel, ingesttest.Message(labelStr, 5, labelNum, 5, labelNumUnit, 1000))),
		"equal locations": with(ingesttest.Message(profileLocation, ingesttest.Message(locationID, 9)), ingesttest.Message(profileLocation, ingesttest.Message(locationID, 10)), sample(sampleLocationID, packed(9, 1)), sample(sampleLocationID, packed(10, 1))),
		"last value wins": with(ingesttest.Message(profilePeriod, 99), ingesttest.Message(profileMapping, ingesttest.Message(mappingID, 0, mappingID, 5, mappingFilename, 1000, mappingFilename, 8))),
		longSeed: with(ingesttest.Message(profileStringTable, strings.Repeat("x", 3<<20)), ingesttest.Message(profileFunction, ingesttest.Message(functionID, 3, functionName, len(smallStrings))),
			sample(sampleLocationID, bytes.Repeat([]byte{1, 2}, 1<<19))),
		"library": encode(t, testProfile()),
	}
	p := testProfile()
	for i, name := range []string{"operator()(int)", "(anonymous namespace)::noise(char*)", ".noise", "f(g)(h)"} {
		f := *p.Function[0]
		f.ID, f.Name, f.SystemName = uint64(10+i), name, ""
		l := *p.Location[0]
		l.ID, l.Line = uint64(10+i), slices.Clone(l.Line)
		l.Line[0].Function = &f
		inlined := l
		inlined.ID, inlined.Line = uint64(20+i), append(slices.Clone(l.Line), p.Location[1].Line[0])
		outer := l
		outer.ID, outer.Line = uint64(30+i), append(slices.Clone(p.Location[1].Line), l.Line[0])
		p.Function = append(p.Function, &f)
		p.Location = append(p.Location, &l, &inlined, &outer)
		for _, loc := range []int{len(p.Location) - 3, len(p.Location) - 2, len(p.Location) - 1} {
			s := *p.Sample[1]
			s.Location = append(slices.Clone(s.Location[:1]), p.Location[loc], p.Location[0])
			p.Sample = append(p.Sample, &s)
			s.Location = append(slices.Clone(s.Location), p.Location[loc])
			s.Label = map[string][]string{"k": {name}}
			p.Sample = append(p.Sample, &s)
		}
	}
	for i, drop := range []string{"noise", "main", "f", `operator\(\)`, `\(anonymous namespace\)::noise`, "main|noise", ".*"} {
		p.DropFrames, p.KeepFrames = drop, ""
		seeds[fmt.Sprint("drop", i)] = encode(t, p)
		p.KeepFrames = "n.*"
		seeds[fmt.Sprint("drop and keep", i)] = encode(t, p)
	}
	r := runtest.Build(t, "r", "cpu-clock t-1 main;lib!f 5\ncpu-clock t-2 main;lib!g 7\ninstructions t-1 main 9\n")
	for _, names := range []run.SampleTypeNames{run.AOSPNames, run.PerfToProfileNames, run.GoPGONames} {
		var out bytes.Buffer
		if err := r.WriteProfile(&out, run.ProfileOptions{Names: names}); err != nil {
			t.Fatal(err)
		}
		src := ingesttest.Source(t, out.Bytes())
		seeds[fmt.Sprint("names", names)] = slices.Clone(src.Head)
	}
	return seeds
}

// TestPprofOrder checks that the order of fields does not matter.
func TestPprofOrder(t *testing.T) {
	want := map[string]run.FoldedSum{"main;main;work": {Weight: 30, Count: 3}, "main": {Weight: 7, Count: 1}}
	for name, data := range map[string][]byte{"forwards": with(), "backwards": backwards()} {
		r := ingesttest.Read(t, Read, data, &reading.Options{})
		if d := cmp.Diff(want, ingesttest.Sums(t, r, "cpu")); d != "" {
			t.Errorf("%s: stacks (-want +got):\n%s", name, d)
		}
		if e := r.Events[0]; len(r.Events) != 1 || e.Period != 10 || e.Samples != 4 || e.Unit != "nanoseconds" {
			t.Errorf("%s: events %+v", name, r.Events)
		}
		if d := cmp.Diff(run.Mapping{
			File: "/bin/app", BuildID: "build", Start: 0x1000, Limit: 0x3000, Offset: 0x100,
			Kind: run.NativeMapping, HasFunctions: true, HasLineNumbers: true,
		}, r.Mappings[1]); d != "" {
			t.Errorf("%s: mapping (-want +got):\n%s", name, d)
		}
		if !slices.ContainsFunc(r.Labels, func(l run.Labels) bool { return l.OtherNum == "latency\x005\x00ms\x00" }) ||
			!slices.ContainsFunc(r.Labels, func(l run.Labels) bool { return l.Thread == "t1" }) {
			t.Errorf("%s: labels %+v", name, r.Labels)
		}
	}
}

// TestPprofDamaged checks that errors say what is wrong, and where.
func TestPprofDamaged(t *testing.T) {
	at := len(with()) // of the first field that is added
	sample := func(fields ...any) []byte { return ingesttest.Message(profileSample, ingesttest.Message(fields...)) }
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"few values", with(sample(sampleValue, 1)), fmt.Sprintf("sample at %#x: has 1 values, the profile has 2 sample types", at+2)},
		{"many values", with(sample(sampleValue, packed(1, 2, 3))), "has 3 values"},
		{"no such location", with(sample(sampleValue, packed(1, 2), sampleLocationID, 3)), fmt.Sprintf("sample at %#x: refers to location 3, which the profile does not have", at+2)},
		{"location 0", with(sample(sampleValue, packed(1, 2), sampleLocationID, 0)), "refers to location 0"},
		{"no such location among those dropped", with(ingesttest.Message(profileStringTable, "work"), ingesttest.Message(profileDropFrames, len(smallStrings)), sample(sampleValue, packed(1, 2), sampleLocationID, packed(9, 2, 1))), "refers to location 9"},
		{"no such function", with(ingesttest.Message(profileLocation, ingesttest.Message(locationID, 3, locationLine, ingesttest.Message(lineFunctionID, 8)))), fmt.Sprintf("line at %#x: refers to function 8", at+6)},
		{"function 0", with(ingesttest.Message(profileLocation, ingesttest.Message(locationID, 3, locationLine, ingesttest.Message(lineLine, 8)))), "refers to function 0"},
		{"location without id", with(ingesttest.Message(profileLocation, ingesttest.Message(locationAddress, 3))), fmt.Sprintf("location at %#x: has no id", at+2)},
		{"function without id", with(ingesttest.Message(profileFunction, "")), "function at "},
		{"mapping without id", with(ingesttest.Message(profileMapping, "")), "mapping at "},
		{"location twice", with(ingesttest.Message(profileLocation, ingesttest.Message(locationID, 2))), "a location with id 2 is there already"},
		{"function twice", with(ingesttest.Message(profileFunction, ingesttest.Message(functionID, 2))), "a function with id 2 is there already"},
		{"mapping twice", with(ingesttest.Message(profileMapping, ingesttest.Message(mappingID, 1))), "a mapping with id 1 is there already"},
		{"large id twice", with(ingesttest.Message(profileMapping, ingesttest.Message(mappingID, uint64(1<<40))), ingesttest.Message(profileMapping, ingesttest.Message(mappingID, uint64(1<<40)))), "is there already"},
		{"string of a function", with(ingesttest.Message(profileFunction, ingesttest.Message(functionID, 3, functionName, 16))), fmt.Sprintf("function at %#x: refers to string 16, the profile has 16", at+2)},
		{"string of a label", with(sample(sampleValue, packed(1, 2), sampleLabel, ingesttest.Message(labelKey, 16))), "label at "},
		{"negative string", with(ingesttest.Message(profileMapping, ingesttest.Message(mappingID, 3, mappingBuildID, uint64(math.MaxUint64)))), "mapping at "},
		{"string of a type", with(ingesttest.Message(profilePeriodType, ingesttest.Message(valueTypeType, 99))), "the period type is string 99, the profile has 16"},
		{"default sample type", with(ingesttest.Message(profileDefaultSampleType, 99)), "the default sample type is string 99"},
		{"URL", with(ingesttest.Message(profileDocURL, 99)), "the URL of the documentation is string 99"},
		{"comment", with(ingesttest.Message(profileComment, 99)), "a comment is string 99"},
		{"first string", join(ingesttest.Message(profileStringTable, "x"), with()), "field 6 at 0x3: the first string is not empty"},
		{"no strings", join(smallProfile()[0]), "profile has no string table"},
		{"two profiles", with(with()), "a second time"},
		{"wrong type", with(ingesttest.Message(profilePeriod, "x")), fmt.Sprintf("field 12 at %#x: wrong wire type 2", at+1)},
		{"wrong type in a sample", with(sample(sampleLabel, 1)), fmt.Sprintf("field 3 at %#x: wrong wire type 0", at+3)},
		{"group", with([]byte{100<<3&0x7f | 3}), "wrong wire type 3"},
		{"field 0", with([]byte{0, 1}), "no field has number 0"},
		{"cut off", with([]byte{profileSample<<3 | 2, 200, 1, 1}), fmt.Sprintf("field 2 at %#x: unexpected EOF", at+4)},
		{"cut off in a number", with([]byte{profilePeriod << 3, 0xff}), "field 12 at "},
		{"length lies", with([]byte{profileSample<<3 | 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}), "bytes, the input may have 1073741824"},
		{"length lies in an unknown field", with([]byte{15<<3 | 2, 0xff, 0xff, 0x7f}), "field 15 at "},
		{"packed", with(ingesttest.Message(profileSample, ingesttest.Message(sampleLocationID, []byte{0x80}))), "field 1 at "},
		{"types", bytes.Repeat(ingesttest.Message(profileSampleType, ""), maxSampleTypes+1), "more than 4096 sample types"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Read(ingesttest.Source(t, tt.data), &reading.Options{})
			if err == nil || r != nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestPprofMemory checks that hostile profiles cost memory in proportion to their size.
func TestPprofMemory(t *testing.T) {
	const n = 1 << 20
	var functions, locations []byte
	for i := range 100000 {
		functions = append(functions, ingesttest.Message(profileFunction, ingesttest.Message(functionID, 1000+i*5003, functionStartLine, i))...)
		locations = append(locations, ingesttest.Message(profileLocation, ingesttest.Message(locationID, 1000+i*5003, locationAddress, i))...)
	}
	for name, data := range map[string][]byte{
		"strings":       with(bytes.Repeat(ingesttest.Message(profileStringTable, ""), n)),
		"types":         with(bytes.Repeat(ingesttest.Message(profileSampleType, ""), n)),
		"samples":       with(bytes.Repeat(ingesttest.Message(profileSample, ""), n)),
		"comments":      with(ingesttest.Message(profileComment, make([]byte, n))),
		"a deep sample": with(ingesttest.Message(profileSample, ingesttest.Message(sampleValue, packed(1, 1), sampleLocationID, bytes.Repeat([]byte{1}, n)))),
		"labels":        with(ingesttest.Message(profileSample, append(ingesttest.Message(sampleValue, packed(1, 1)), bytes.Repeat(ingesttest.Message(sampleLabel, ingesttest.Message(labelKey, 15, labelStr, 15)), n/4)...))),
		"mappings":      with(bytes.Repeat(ingesttest.Message(profileMapping, ingesttest.Message(mappingID, 7)), n)),
		"functions":     with(functions),
		"locations":     with(locations),
		"length":        with([]byte{profileStringTable<<3 | 2, 0xff, 0xff, 0xff, 0x7f}),
	} {
		var before, after runtime.MemStats
		src := ingesttest.Source(t, data)
		runtime.ReadMemStats(&before)
		_, err := Read(src, &reading.Options{})
		runtime.ReadMemStats(&after)
		// All that was ever allocated, more than was in use at any time.
		used := after.TotalAlloc - before.TotalAlloc
		t.Logf("%s: %d bytes for %d: %.1f (%v)", name, used, len(data), float64(used)/float64(len(data)), err)
		if limit := uint64(8<<20 + 100*len(data)); used > limit {
			t.Errorf("%s: allocated %d bytes for %d", name, used, len(data))
		}
	}
}

// generatedProfile is a profile of n samples with stacks of 5 to 40 frames, uncompressed.
func generatedProfile(n int) []byte {
	var b []byte
	table := []string{"", "samples", "count", "cpu", "nanoseconds", "thread"}
	str := func(s string) int {
		table = append(table, s)
		return len(table) - 1
	}
	b = append(b, ingesttest.Message(profileSampleType, ingesttest.Message(valueTypeType, 1, valueTypeUnit, 2), profileSampleType, ingesttest.Message(valueTypeType, 3, valueTypeUnit, 4))...)
	var labels [][]byte
	for i := range 8 {
		labels = append(labels, ingesttest.Message(labelKey, 5, labelStr, str(fmt.Sprint("worker-", i))))
	}
	stacks := ingesttest.Stacks()
	var ids []uint64
	for i := range n {
		ids = ids[:0]
		for _, f := range stacks[i%len(stacks)] {
			ids = append(ids, uint64(1+f))
		}
		b = append(b, ingesttest.Message(profileSample, ingesttest.Message(sampleLocationID, packed(ids...), sampleValue, packed(1, 250000), sampleLabel, labels[i%len(labels)]))...)
	}
	b = append(b, ingesttest.Message(profileMapping, ingesttest.Message(mappingID, 1, mappingLimit, 1<<30, mappingFilename, str("/system/lib64/libx.so")))...)
	for i := range 1000 {
		b = append(b, ingesttest.Message(profileLocation, ingesttest.Message(locationID, 1+i, locationMappingID, 1, locationAddress, 16*i, locationLine, ingesttest.Message(lineFunctionID, 1+i, lineLine, i)))...)
	}
	for i := range 1000 {
		name := str(fmt.Sprintf("std::pair<int, symbol_%d>::method(int)", i))
		b = append(b, ingesttest.Message(profileFunction, ingesttest.Message(functionID, 1+i, functionName, name, functionSystemName, name))...)
	}
	for _, s := range table {
		b = append(b, ingesttest.Message(profileStringTable, s)...)
	}
	return b
}

// TestPprofAllocations checks that samples with stacks and labels that are known cost no
// allocation of their own, only room for their bytes.
func TestPprofAllocations(t *testing.T) {
	small, large := generatedProfile(40000), generatedProfile(160000)
	read := func(data []byte) float64 {
		return testing.AllocsPerRun(1, func() {
			if _, err := Read(ingesttest.Source(t, data), &reading.Options{}); err != nil {
				t.Error(err)
			}
		})
	}
	few, many := read(small), read(large)
	blocks := float64(2*(len(large)-len(small))/maxSpoolBlock + 32)
	if many-few > blocks {
		t.Errorf("%v allocations for 40000 samples, %v for 160000", few, many)
	}
}

// BenchmarkPprof reads a profile of 200,000 samples, 20,000 distinct stacks in 8 threads.
func BenchmarkPprof(b *testing.B) {
	data := generatedProfile(200000)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(ingesttest.Source(b, data), &reading.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
