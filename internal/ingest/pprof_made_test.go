package ingest

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

	"profdiff/internal/run"
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
		msg(pprofSampleType, msg(pprofValueTypeType, 1, pprofValueTypeUnit, 2)),
		msg(pprofSampleType, msg(pprofValueTypeType, 3, pprofValueTypeUnit, 4)),
		msg(pprofSample, msg(pprofSampleLocationID, packed(2, 1), pprofSampleValue, packed(3, 30), pprofSampleLabel, msg(pprofLabelKey, 11, pprofLabelStr, 12))),
		msg(pprofSample, msg(pprofSampleLocationID, 1, pprofSampleValue, 1, pprofSampleValue, 7, pprofSampleLabel, msg(pprofLabelKey, 13, pprofLabelNum, 5, pprofLabelNumUnit, 14))),
		msg(pprofMapping, msg(pprofMappingID, 1, pprofMappingStart, 0x1000, pprofMappingLimit, 0x3000, pprofMappingOffset, 0x100,
			pprofMappingFilename, 8, pprofMappingBuildID, 9, pprofMappingHasFunctions, 1, pprofMappingHasLineNumbers, 1)),
		msg(pprofLocation, msg(pprofLocationID, 1, pprofLocationMappingID, 1, pprofLocationAddress, 0x1010, pprofLocationLine, msg(pprofLineFunctionID, 1, pprofLineLine, 10))),
		msg(pprofLocation, msg(pprofLocationID, 2, pprofLocationMappingID, 1, pprofLocationAddress, 0x1020, pprofLocationIsFolded, 1,
			pprofLocationLine, msg(pprofLineFunctionID, 2, pprofLineLine, 20, pprofLineColumn, 3), pprofLocationLine, msg(pprofLineFunctionID, 1, pprofLineLine, 11))),
		msg(pprofFunction, msg(pprofFunctionID, 1, pprofFunctionName, 5, pprofFunctionSystemName, 5, pprofFunctionFilename, 7, pprofFunctionStartLine, 9)),
		msg(pprofFunction, msg(pprofFunctionID, 2, pprofFunctionName, 6, pprofFunctionFilename, 7)),
	}
	for _, s := range smallStrings {
		fields = append(fields, msg(pprofStringTable, s))
	}
	return append(fields,
		msg(pprofTimeNanos, 1234567890),
		msg(pprofDurationNanos, 5),
		msg(pprofPeriodType, msg(pprofValueTypeType, 3, pprofValueTypeUnit, 4)),
		msg(pprofPeriod, 10),
		msg(pprofComment, packed(10, 15)),
		msg(pprofComment, 15),
		msg(pprofDefaultSampleType, 3),
		msg(pprofDocURL, 15),
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
		if num := f[0] >> 3; num == pprofStringTable || num == pprofSampleType {
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

// pprofSeeds are valid profiles of every form.
func pprofSeeds(t testing.TB) map[string][]byte {
	unknown := msg(100, "new", 101, 7)
	unknown = protowire.AppendFixed32(protowire.AppendTag(unknown, 102, protowire.Fixed32Type), 9)
	unknown = protowire.AppendFixed64(protowire.AppendTag(unknown, 103, protowire.Fixed64Type), 9)
	sample := func(fields ...any) []byte {
		return msg(pprofSample, msg(append([]any{pprofSampleValue, packed(1, 1)}, fields...)...))
	}
	seeds := map[string][]byte{
		"small":          with(),
		"backwards":      backwards(),
		"unknown fields": with(unknown, msg(pprofSample, append(msg(pprofSampleValue, packed(1, 1)), unknown...)), msg(pprofMapping, append(msg(pprofMappingID, 2), unknown...))),
		"other ids": with(
			msg(pprofMapping, msg(pprofMappingID, uint64(math.MaxUint64))), msg(pprofFunction, msg(pprofFunctionID, uint64(1<<40))),
			msg(pprofLocation, msg(pprofLocationID, uint64(0x7f0000000000), pprofLocationMappingID, uint64(math.MaxUint64), pprofLocationLine, msg(pprofLineFunctionID, uint64(1<<40)))),
			sample(pprofSampleLocationID, uint64(0x7f0000000000))),
		"no lines":           with(msg(pprofLocation, msg(pprofLocationID, 3, pprofLocationMappingID, 1)), msg(pprofLocation, msg(pprofLocationID, 4)), sample(pprofSampleLocationID, packed(3, 4))),
		"no such mapping":    with(msg(pprofLocation, msg(pprofLocationID, 3, pprofLocationMappingID, 77)), sample(pprofSampleLocationID, 3)),
		"no locations":       with(sample()),
		"packed in pieces":   with(sample(pprofSampleLocationID, packed(2), pprofSampleLocationID, 2, pprofSampleLocationID, packed(1, 1))),
		"values of zero":     with(msg(pprofSample, msg(pprofSampleValue, packed(0, 0), pprofSampleLocationID, 2))),
		"weight, no samples": with(msg(pprofSample, msg(pprofSampleValue, packed(0, 5), pprofSampleLocationID, 2))),
		"labels": with(
			sample(pprofSampleLabel, msg(pprofLabelKey, 15, pprofLabelStr, 12), pprofSampleLabel, msg(pprofLabelKey, 13, pprofLabelNum, 1),
				pprofSampleLabel, msg(pprofLabelKey, 13, pprofLabelNum, 2, pprofLabelNumUnit, 14), pprofSampleLabel, msg(pprofLabelKey, 11, pprofLabelStr, 6),
				pprofSampleLabel, msg(pprofLabelKey, 11, pprofLabelStr, 12), pprofSampleLabel, msg(pprofLabelKey, 15), pprofSampleLabel, msg(pprofLabelKey, 15, pprofLabelStr, 5)),
			sample(pprofSampleLabel, msg(pprofLabelStr, 5, pprofLabelNum, 5, pprofLabelNumUnit, 1000))),
		"equal locations": with(msg(pprofLocation, msg(pprofLocationID, 9)), msg(pprofLocation, msg(pprofLocationID, 10)), sample(pprofSampleLocationID, packed(9, 1)), sample(pprofSampleLocationID, packed(10, 1))),
		"last value wins": with(msg(pprofPeriod, 99), msg(pprofMapping, msg(pprofMappingID, 0, pprofMappingID, 5, pprofMappingFilename, 1000, pprofMappingFilename, 8))),
		longSeed: with(msg(pprofStringTable, strings.Repeat("x", 3<<20)), msg(pprofFunction, msg(pprofFunctionID, 3, pprofFunctionName, len(smallStrings))),
			sample(pprofSampleLocationID, bytes.Repeat([]byte{1, 2}, 1<<19))),
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
	r := mustRead(t, readGecko, []byte(processed), &Options{TID: true})
	for _, names := range []run.SampleTypeNames{run.AOSPNames, run.PerfToProfileNames, run.GoPGONames} {
		var out bytes.Buffer
		if err := r.WriteProfile(&out, run.ProfileOptions{Names: names}); err != nil {
			t.Fatal(err)
		}
		src := sourceOf(t, out.Bytes())
		seeds[fmt.Sprint("names", names)] = slices.Clone(src.Head)
	}
	return seeds
}

// TestPprofOrder checks that the order of fields does not matter.
func TestPprofOrder(t *testing.T) {
	want := map[string]run.FoldedSum{"main;main;work": {Weight: 30, Count: 3}, "main": {Weight: 7, Count: 1}}
	for name, data := range map[string][]byte{"forwards": with(), "backwards": backwards()} {
		r := mustRead(t, readPprof, data, &Options{})
		if d := cmp.Diff(want, sums(t, r, "cpu")); d != "" {
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
	sample := func(fields ...any) []byte { return msg(pprofSample, msg(fields...)) }
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"few values", with(sample(pprofSampleValue, 1)), fmt.Sprintf("sample at %#x: has 1 values, the profile has 2 sample types", at+2)},
		{"many values", with(sample(pprofSampleValue, packed(1, 2, 3))), "has 3 values"},
		{"no such location", with(sample(pprofSampleValue, packed(1, 2), pprofSampleLocationID, 3)), fmt.Sprintf("sample at %#x: refers to location 3, which the profile does not have", at+2)},
		{"location 0", with(sample(pprofSampleValue, packed(1, 2), pprofSampleLocationID, 0)), "refers to location 0"},
		{"no such location among those dropped", with(msg(pprofStringTable, "work"), msg(pprofDropFrames, len(smallStrings)), sample(pprofSampleValue, packed(1, 2), pprofSampleLocationID, packed(9, 2, 1))), "refers to location 9"},
		{"no such function", with(msg(pprofLocation, msg(pprofLocationID, 3, pprofLocationLine, msg(pprofLineFunctionID, 8)))), fmt.Sprintf("line at %#x: refers to function 8", at+6)},
		{"function 0", with(msg(pprofLocation, msg(pprofLocationID, 3, pprofLocationLine, msg(pprofLineLine, 8)))), "refers to function 0"},
		{"location without id", with(msg(pprofLocation, msg(pprofLocationAddress, 3))), fmt.Sprintf("location at %#x: has no id", at+2)},
		{"function without id", with(msg(pprofFunction, "")), "function at "},
		{"mapping without id", with(msg(pprofMapping, "")), "mapping at "},
		{"location twice", with(msg(pprofLocation, msg(pprofLocationID, 2))), "a location with id 2 is there already"},
		{"function twice", with(msg(pprofFunction, msg(pprofFunctionID, 2))), "a function with id 2 is there already"},
		{"mapping twice", with(msg(pprofMapping, msg(pprofMappingID, 1))), "a mapping with id 1 is there already"},
		{"large id twice", with(msg(pprofMapping, msg(pprofMappingID, uint64(1<<40))), msg(pprofMapping, msg(pprofMappingID, uint64(1<<40)))), "is there already"},
		{"string of a function", with(msg(pprofFunction, msg(pprofFunctionID, 3, pprofFunctionName, 16))), fmt.Sprintf("function at %#x: refers to string 16, the profile has 16", at+2)},
		{"string of a label", with(sample(pprofSampleValue, packed(1, 2), pprofSampleLabel, msg(pprofLabelKey, 16))), "label at "},
		{"negative string", with(msg(pprofMapping, msg(pprofMappingID, 3, pprofMappingBuildID, uint64(math.MaxUint64)))), "mapping at "},
		{"string of a type", with(msg(pprofPeriodType, msg(pprofValueTypeType, 99))), "the period type is string 99, the profile has 16"},
		{"default sample type", with(msg(pprofDefaultSampleType, 99)), "the default sample type is string 99"},
		{"URL", with(msg(pprofDocURL, 99)), "the URL of the documentation is string 99"},
		{"comment", with(msg(pprofComment, 99)), "a comment is string 99"},
		{"first string", join(msg(pprofStringTable, "x"), with()), "field 6 at 0x3: the first string is not empty"},
		{"no strings", join(smallProfile()[0]), "profile has no string table"},
		{"two profiles", with(with()), "a second time"},
		{"wrong type", with(msg(pprofPeriod, "x")), fmt.Sprintf("field 12 at %#x: wrong wire type 2", at+1)},
		{"wrong type in a sample", with(sample(pprofSampleLabel, 1)), fmt.Sprintf("field 3 at %#x: wrong wire type 0", at+3)},
		{"group", with([]byte{100<<3&0x7f | 3}), "wrong wire type 3"},
		{"field 0", with([]byte{0, 1}), "no field has number 0"},
		{"cut off", with([]byte{pprofSample<<3 | 2, 200, 1, 1}), fmt.Sprintf("field 2 at %#x: unexpected EOF", at+4)},
		{"cut off in a number", with([]byte{pprofPeriod << 3, 0xff}), "field 12 at "},
		{"length lies", with([]byte{pprofSample<<3 | 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}), "bytes, the input may have 1073741824"},
		{"length lies in an unknown field", with([]byte{15<<3 | 2, 0xff, 0xff, 0x7f}), "field 15 at "},
		{"packed", with(msg(pprofSample, msg(pprofSampleLocationID, []byte{0x80}))), "field 1 at "},
		{"types", bytes.Repeat(msg(pprofSampleType, ""), maxSampleTypes+1), "more than 4096 sample types"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := readPprof(sourceOf(t, tt.data), &Options{})
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
		functions = append(functions, msg(pprofFunction, msg(pprofFunctionID, 1000+i*5003, pprofFunctionStartLine, i))...)
		locations = append(locations, msg(pprofLocation, msg(pprofLocationID, 1000+i*5003, pprofLocationAddress, i))...)
	}
	for name, data := range map[string][]byte{
		"strings":       with(bytes.Repeat(msg(pprofStringTable, ""), n)),
		"types":         with(bytes.Repeat(msg(pprofSampleType, ""), n)),
		"samples":       with(bytes.Repeat(msg(pprofSample, ""), n)),
		"comments":      with(msg(pprofComment, make([]byte, n))),
		"a deep sample": with(msg(pprofSample, msg(pprofSampleValue, packed(1, 1), pprofSampleLocationID, bytes.Repeat([]byte{1}, n)))),
		"labels":        with(msg(pprofSample, append(msg(pprofSampleValue, packed(1, 1)), bytes.Repeat(msg(pprofSampleLabel, msg(pprofLabelKey, 15, pprofLabelStr, 15)), n/4)...))),
		"mappings":      with(bytes.Repeat(msg(pprofMapping, msg(pprofMappingID, 7)), n)),
		"functions":     with(functions),
		"locations":     with(locations),
		"length":        with([]byte{pprofStringTable<<3 | 2, 0xff, 0xff, 0xff, 0x7f}),
	} {
		var before, after runtime.MemStats
		src := sourceOf(t, data)
		runtime.ReadMemStats(&before)
		_, err := readPprof(src, &Options{})
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
	b = append(b, msg(pprofSampleType, msg(pprofValueTypeType, 1, pprofValueTypeUnit, 2), pprofSampleType, msg(pprofValueTypeType, 3, pprofValueTypeUnit, 4))...)
	var labels [][]byte
	for i := range 8 {
		labels = append(labels, msg(pprofLabelKey, 5, pprofLabelStr, str(fmt.Sprint("worker-", i))))
	}
	stacks := benchmarkStacks()
	var ids []uint64
	for i := range n {
		ids = ids[:0]
		for _, f := range stacks[i%len(stacks)] {
			ids = append(ids, uint64(1+f))
		}
		b = append(b, msg(pprofSample, msg(pprofSampleLocationID, packed(ids...), pprofSampleValue, packed(1, 250000), pprofSampleLabel, labels[i%len(labels)]))...)
	}
	b = append(b, msg(pprofMapping, msg(pprofMappingID, 1, pprofMappingLimit, 1<<30, pprofMappingFilename, str("/system/lib64/libx.so")))...)
	for i := range 1000 {
		b = append(b, msg(pprofLocation, msg(pprofLocationID, 1+i, pprofLocationMappingID, 1, pprofLocationAddress, 16*i, pprofLocationLine, msg(pprofLineFunctionID, 1+i, pprofLineLine, i)))...)
	}
	for i := range 1000 {
		name := str(fmt.Sprintf("std::pair<int, symbol_%d>::method(int)", i))
		b = append(b, msg(pprofFunction, msg(pprofFunctionID, 1+i, pprofFunctionName, name, pprofFunctionSystemName, name))...)
	}
	for _, s := range table {
		b = append(b, msg(pprofStringTable, s)...)
	}
	return b
}

// TestPprofAllocations checks that samples with stacks and labels that are known cost no
// allocation of their own, only room for their bytes.
func TestPprofAllocations(t *testing.T) {
	small, large := generatedProfile(40000), generatedProfile(160000)
	read := func(data []byte) float64 {
		return testing.AllocsPerRun(1, func() {
			if _, err := readPprof(sourceOf(t, data), &Options{}); err != nil {
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
		if _, err := readPprof(sourceOf(b, data), &Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
