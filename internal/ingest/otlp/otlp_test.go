package otlp

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	pb "go.opentelemetry.io/proto/slim/otlp/profiles/v1development"
	resource "go.opentelemetry.io/proto/slim/otlp/resource/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/pprof"
	"profdiff/internal/ingest/reading"
	schema "profdiff/internal/otlp"
	"profdiff/internal/run"
)

// checkRoundTrip writes a run and reads it back.
func checkRoundTrip(t *testing.T, r *run.Run) {
	t.Helper()
	data := otlpOf(t, r)
	if !Recognise(ingesttest.Source(t, data).Head).Is {
		t.Error("is not recognised")
	}
	back := ingesttest.Read(t, Read, data, &reading.Options{})
	want := ingesttest.Read(t, pprof.Read, ingesttest.Profile(t, r), &reading.Options{})
	for i := range r.Events {
		if d := ingesttest.DiffSums(back.Folded(i), want.Folded(i)); d != "" {
			t.Errorf("event %s:\n%s", r.Events[i].Name, d)
		}
	}
	if twice(r.Mappings) {
		return // they are one in a dictionary
	}
	if got, want := ingesttest.Profile(t, back), ingesttest.Profile(t, want); !bytes.Equal(got, want) {
		t.Errorf("as a profile of pprof it differs (-without the detour +got):\n%s", cmp.Diff(ingesttest.ProfileText(t, want), ingesttest.ProfileText(t, got)))
	}
	if got, want := otlpOf(t, back), otlpOf(t, want); !bytes.Equal(got, want) {
		t.Errorf("written again it differs (-without the detour +got):\n%s", cmp.Diff(decoded(t, want), decoded(t, got), protocmp.Transform()))
	}
}

// twice reports whether two mappings are equal but for what only profdiff knows of them.
func twice(mappings []run.Mapping) bool {
	seen := make(map[run.Mapping]bool)
	for _, m := range mappings[1:] {
		m.Kind, m.Parts, m.Unnamed = 0, 0, run.Unnamed{}
		if seen[m] {
			return true
		}
		seen[m] = true
	}
	return false
}

func decoded(t *testing.T, data []byte) *pb.ProfilesData {
	t.Helper()
	m := &pb.ProfilesData{}
	if err := proto.Unmarshal(data, m); err != nil {
		t.Fatal(err)
	}
	return m
}

func otlpOf(t testing.TB, r *run.Run) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := schema.Write(&out, r, schema.Options{}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestRoundTripMade does so with several events, labels and links, which recordings seldom have.
func TestRoundTripMade(t *testing.T) {
	b := run.NewBuilder("made")
	b.Run().Recording.Format = "made"
	var events []uint32
	for _, name := range []string{"cpu-cycles", "instructions", "cache-misses"} {
		events = append(events, b.Event(run.Event{Name: name}))
	}
	var labels []uint32
	for _, l := range []run.Labels{
		{PID: 0, TID: 7, CPU: 0, Process: "x", Thread: "worker-1", Mode: "user", State: "on-cpu", Other: "key\x00a\x00key\x00b\x00", OtherNum: "size\x00128\x00bytes\x00size\x00256\x00bytes\x00"},
		{PID: -1, TID: -1, CPU: -1, Other: "span_id\x000001020304050607\x00trace_id\x00000102030405060708090a0b0c0d0e0f\x00"},
		{PID: -1, TID: -1, CPU: -1},
	} {
		labels = append(labels, b.Labels(l))
	}
	inlined := []run.Line{{Function: b.Function(run.Function{Name: "g", SystemName: "_Zg", File: "g.h"}), Line: 7, Column: 3}, {Function: b.Function(run.Function{Name: "f", File: "f.c", StartLine: 2}), Line: 9}}
	mapping := b.Mapping(run.Mapping{File: "/bin/x", BuildID: "ab12", Start: 4096, Limit: 1 << 40, Offset: 512, HasFunctions: true, HasFilenames: true, HasInlineFrames: true})
	stack := run.StackID(0)
	for i := range 20 {
		stack = b.Stack(stack, b.Location(mapping, uint64(5000+i), inlined...))
		b.AddSum(events[(i+i/3)%3], stack, labels[i%3], int64(i+1), int64(1000*i), 0)
		b.Run().Accounting.In += int64(i + 1)
	}
	b.AddSum(events[0], 0, labels[0], 4, 40, 0)
	b.Run().Accounting.In += 4
	b.Run().Recording.Start = time.Unix(1700000000, 123).UTC()
	b.Run().Recording.Duration = 3 * time.Second
	r, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	checkRoundTrip(t, r)
}

// A made message is made by the library of OpenTelemetry.
type made struct {
	*pb.ProfilesData
}

// newMessage has a function f in a program, called by main, as stack 1.
func newMessage() made {
	return made{&pb.ProfilesData{
		ResourceProfiles: []*pb.ResourceProfiles{{
			Resource:      &resource.Resource{Attributes: []*common.KeyValue{{Key: "service.name", Value: text("shop")}}},
			ScopeProfiles: []*pb.ScopeProfiles{{Scope: &common.InstrumentationScope{Name: "profiler", Version: "1.2"}}},
			SchemaUrl:     "https://opentelemetry.io/schemas/1.38.0",
		}},
		Dictionary: &pb.ProfilesDictionary{
			StringTable:   []string{"", "samples", "count", "cpu", "nanoseconds", "main", "f", "f.c", "/bin/shop", "thread.name", "worker", "thread.id", "bytes", "alloc_space", "frames"},
			MappingTable:  []*pb.Mapping{{}, {MemoryStart: 16, MemoryLimit: 999, FilenameStrindex: 8, AttributeIndices: []int32{3}}},
			FunctionTable: []*pb.Function{{}, {NameStrindex: 5}, {NameStrindex: 6, FilenameStrindex: 7, StartLine: 3}},
			LocationTable: []*pb.Location{{}, {MappingIndex: 1, Address: 20, Lines: []*pb.Line{{FunctionIndex: 1, Line: 4}}}, {MappingIndex: 1, Address: 40, Lines: []*pb.Line{{FunctionIndex: 2}}}, {MappingIndex: 1, Address: 60}},
			StackTable:    []*pb.Stack{{}, {LocationIndices: []int32{2, 1}}, {LocationIndices: []int32{3, 1}}},
			LinkTable:     []*pb.Link{{}, {TraceId: bytes.Repeat([]byte{1}, 16), SpanId: bytes.Repeat([]byte{2}, 8)}},
			AttributeTable: []*pb.KeyValueAndUnit{
				{},
				{KeyStrindex: 9, Value: text("worker")},
				{KeyStrindex: 11, Value: &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: 7}}},
				{KeyStrindex: 14, Value: text("process.executable.build_id.gnu")},
			},
		},
	}}
}

func text(s string) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: s}}
}

// add adds a profile to the last resource.
func (m made) add(typ, unit int32, samples ...*pb.Sample) *pb.Profile {
	p := &pb.Profile{SampleType: &pb.ValueType{TypeStrindex: typ, UnitStrindex: unit}, Samples: samples, TimeUnixNano: 1_700_000_000_000_000_000, DurationNano: 5e9}
	s := m.ResourceProfiles[len(m.ResourceProfiles)-1].ScopeProfiles[0]
	s.Profiles = append(s.Profiles, p)
	return p
}

func (m made) bytes(t testing.TB) []byte {
	t.Helper()
	data, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// folded lists what the events of a run have.
func folded(r *run.Run) (list []string) {
	for i, e := range r.Events {
		head := fmt.Sprintf("%s/%s period %d: ", e.Name, e.Unit, e.Period)
		for s := range r.Samples {
			s := &r.Samples[s]
			if int(s.Event) != i {
				continue
			}
			var frames []string
			for _, l := range slices.Backward(r.Stacks.Append(nil, s.Stack)) {
				frames = append(frames, r.Functions[r.Locations[l].Lines[0].Function].Name)
			}
			l := r.Labels[s.Labels]
			labels := strings.NewReplacer("\x00", " ").Replace(l.Other + l.OtherNum)
			if l.Thread != "" || l.TID >= 0 {
				labels = fmt.Sprintf("%s%s#%d", labels, l.Thread, l.TID)
			}
			list = append(list, strings.TrimSpace(fmt.Sprintf("%s%s %d/%d %s", head, strings.Join(frames, ";"), s.Weight, s.Count, labels)))
		}
	}
	return list
}

// TestReadMade reads what other programs write.
func TestReadMade(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(m made)
		want []string
	}{
		{
			"times alone, as the profiler for eBPF writes", func(m made) {
				p := m.add(1, 2, &pb.Sample{StackIndex: 1, TimestampsUnixNano: []uint64{1, 2, 3}, AttributeIndices: []int32{1, 2}}, &pb.Sample{StackIndex: 2, TimestampsUnixNano: []uint64{4}})
				p.PeriodType, p.Period = &pb.ValueType{TypeStrindex: 3, UnitStrindex: 4}, 50_000_000
			},
			[]string{"cpu/nanoseconds period 50000000: main;f 150000000/3 worker#7", "cpu/nanoseconds period 50000000: main;[shop] 50000000/1"},
		},
		{
			"a value for each time", func(m made) {
				m.add(13, 12, &pb.Sample{StackIndex: 1, TimestampsUnixNano: []uint64{1, 2}, Values: []int64{100, 28}})
			},
			[]string{"alloc_space/bytes period 0: main;f 128/2"},
		},
		{
			"sums", func(m made) { m.add(3, 4, &pb.Sample{StackIndex: 1, Values: []int64{10}}) },
			[]string{"cpu/nanoseconds period 0: main;f 10/1"},
		},
		{
			"a sample of several profiles", func(m made) {
				m.add(1, 2, &pb.Sample{StackIndex: 1, Values: []int64{3}, AttributeIndices: []int32{2, 1}}, &pb.Sample{StackIndex: 2, Values: []int64{1}, LinkIndex: 1})
				m.add(3, 4, &pb.Sample{StackIndex: 2, Values: []int64{10}, LinkIndex: 1}, &pb.Sample{StackIndex: 1, Values: []int64{30}, AttributeIndices: []int32{1, 2}})
			},
			[]string{"cpu/nanoseconds period 0: main;f 30/3 worker#7", "cpu/nanoseconds period 0: main;[shop] 10/1 span_id 0202020202020202 trace_id 01010101010101010101010101010101"},
		},
		{
			"several resources", func(m made) {
				m.add(3, 4, &pb.Sample{StackIndex: 1, Values: []int64{10}})
				m.ResourceProfiles = append(m.ResourceProfiles, &pb.ResourceProfiles{
					Resource:      &resource.Resource{Attributes: []*common.KeyValue{{Key: "service.name", Value: text("mail")}}},
					ScopeProfiles: []*pb.ScopeProfiles{{}},
				})
				m.add(3, 4, &pb.Sample{StackIndex: 1, Values: []int64{20}})
			},
			[]string{"cpu/nanoseconds period 0: main;f 10/1 service.name shop", "cpu/nanoseconds period 0: main;f 20/1 service.name mail"},
		},
		{
			"the same resource again", func(m made) {
				m.add(3, 4, &pb.Sample{StackIndex: 1, Values: []int64{10}})
				m.ResourceProfiles = append(m.ResourceProfiles, &pb.ResourceProfiles{Resource: m.ResourceProfiles[0].Resource, ScopeProfiles: []*pb.ScopeProfiles{{}}})
				m.add(3, 4, &pb.Sample{StackIndex: 1, Values: []int64{20}})
			},
			[]string{"cpu/nanoseconds period 0: main;f 30/1"},
		},
		{
			"values of all kinds", func(m made) {
				m.Dictionary.AttributeTable[1].Value = &common.AnyValue{Value: &common.AnyValue_ArrayValue{ArrayValue: &common.ArrayValue{Values: []*common.AnyValue{
					text("a"),
					{Value: &common.AnyValue_BoolValue{BoolValue: true}},
					{Value: &common.AnyValue_DoubleValue{DoubleValue: 2.5}},
					{Value: &common.AnyValue_BytesValue{BytesValue: []byte{1, 255}}},
					{Value: &common.AnyValue_KvlistValue{KvlistValue: &common.KeyValueList{Values: []*common.KeyValue{{Key: "k", Value: text("v")}}}}},
					{Value: &common.AnyValue_StringValueStrindex{StringValueStrindex: 8}},
					{Value: &common.AnyValue_IntValue{IntValue: 0}},
				}}}}
				m.Dictionary.AttributeTable[1].KeyStrindex = 14
				m.add(3, 4, &pb.Sample{StackIndex: 1, Values: []int64{10}, AttributeIndices: []int32{1}})
			},
			[]string{"cpu/nanoseconds period 0: main;f 10/1 frames a frames true frames 2.5 frames 01ff frames k=v frames /bin/shop frames 0"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMessage()
			tt.make(m)
			data := m.bytes(t)
			if !Recognise(ingesttest.Source(t, data).Head).Is {
				t.Error("is not recognised")
			}
			r := ingesttest.Read(t, Read, data, &reading.Options{})
			if d := cmp.Diff(tt.want, folded(r)); d != "" {
				t.Errorf("samples (-want +got):\n%s", d)
			}
			if rec := r.Recording; rec.Format != Format || rec.Tool != "profiler 1.2" || rec.Start.Unix() != 1_700_000_000 || rec.Duration != 5*time.Second {
				t.Errorf("recording %+v", rec)
			}
			if len(m.ResourceProfiles) == 1 && r.Recording.App != "shop" {
				t.Errorf("app %q", r.Recording.App)
			}
		})
	}
}

// TestRefuse refuses what is damaged, and what is of another version of the format.
func TestRefuse(t *testing.T) {
	sample := func(fields ...any) []byte { return ingesttest.Message(fields...) }
	// profile is a message with one profile, of which fields are those of the profile.
	profile := func(fields ...any) []byte {
		p := ingesttest.Message(append([]any{1, ingesttest.Message(1, 3, 2, 4)}, fields...)...)
		dictionary := ingesttest.Message(5, "", 5, "samples", 5, "count", 5, "cpu", 5, "nanoseconds", 6, "", 6, ingesttest.Message(1, 1, 2, ingesttest.Message(1, "x")))
		return ingesttest.Message(1, ingesttest.Message(2, ingesttest.Message(2, p)), 2, dictionary)
	}
	const older = "has the fields of OTLP profiles before version 1.10"
	changed := func(change func(m made)) []byte {
		m := newMessage()
		m.add(3, 4, &pb.Sample{StackIndex: 1, Values: []int64{10}})
		change(m)
		return m.bytes(t)
	}
	first := func(m made) *pb.Sample { return m.ResourceProfiles[0].ScopeProfiles[0].Profiles[0].Samples[0] }
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"no dictionary (1.6)", ingesttest.Message(1, ingesttest.Message(2, ingesttest.Message(2, ingesttest.Message(1, ingesttest.Message(1, 1))))), older},
		{"values in field 3 (1.7)", profile(2, sample(1, 1, 2, 1, 3, []byte{10})), older},
		{"time as a varint (1.7)", profile(4, 5, 3, []byte{1, 2}), older},
		{"period behind its type (1.7)", profile(5, 7), older},
		{"values in field 2 (1.8, 1.9)", profile(2, sample(1, 0, 2, []byte{10})), older},
		{"values in field 2, attributes in field 3 (1.9)", profile(2, sample(2, []byte{10}, 3, []byte{1})), older},
		{"a link in field 4 (1.9)", profile(2, sample(2, []byte{1}, 4, 1)), older},
		{"values in field 2, times (1.9)", profile(2, sample(2, []byte{77}, 5, make([]byte, 8))), "refers to attribute 77, the dictionary has 2; if that is a value, this is of a version before 1.10"},
		{"equal values in field 2, times (1.9)", profile(2, sample(2, []byte{1, 1}, 5, make([]byte, 16))), "has attribute 1 twice; if these are values"},
		{"temporality (1.8)", bytes.Replace(profile(2, sample(4, []byte{10})), ingesttest.Message(1, 3, 2, 4), ingesttest.Message(1, 3, 3, 1), 1), older},
		{"a field of tomorrow in a sample", profile(2, sample(4, []byte{10}, 7, 1)), "a sample has no such field in OTLP profiles v1development as of versions 1.10 and 1.11"},
		{"a field of tomorrow in a profile", profile(12, 1), "a profile has no such field"},
		{"a field of tomorrow in the dictionary", append(profile(), ingesttest.Message(2, ingesttest.Message(9, ""))...), "a second dictionary"},
		{"a field of tomorrow", append(profile(), ingesttest.Message(3, "")...), "a message of profiles has no such field"},
		{"two messages", append(changed(func(made) {}), changed(func(made) {})...), "a second dictionary: these are several messages"},
		{"no profiles", changed(func(m made) { m.ResourceProfiles = nil }), "has no profiles"},
		{"negative", changed(func(m made) { first(m).Values[0] = -4 }), "value -4 of cpu is negative: a difference of profiles"},
		{"too much", changed(func(m made) { first(m).Values = []int64{1 << 62, 1 << 62} }), "values of cpu sum to more than 2^63"},
		{"values and times", changed(func(m made) { first(m).Values = []int64{1, 2}; first(m).TimestampsUnixNano = []uint64{1} }), "has 2 values and 1 times"},
		{"no such stack", changed(func(m made) { first(m).StackIndex = 9 }), "refers to stack 9, the dictionary has 3"},
		{"negative stack", changed(func(m made) { first(m).StackIndex = -1 }), "refers to stack 18446744073709551615"},
		{"no such link", changed(func(m made) { first(m).LinkIndex = 2 }), "refers to link 2, the dictionary has 2"},
		{"no such location", changed(func(m made) { m.Dictionary.StackTable[1].LocationIndices[0] = 4 }), "refers to location 4, the dictionary has 4"},
		{"no such mapping", changed(func(m made) { m.Dictionary.LocationTable[1].MappingIndex = 2 }), "refers to mapping 2, the dictionary has 2"},
		{"no such function", changed(func(m made) { m.Dictionary.LocationTable[1].Lines[0].FunctionIndex = 3 }), "refers to function 3, the dictionary has 3"},
		{"no such string", changed(func(m made) { m.Dictionary.FunctionTable[1].NameStrindex = 99 }), "refers to string 99, the dictionary has 15"},
		{"no such type", changed(func(m made) { m.ResourceProfiles[0].ScopeProfiles[0].Profiles[0].SampleType.UnitStrindex = 99 }), "refers to string 99"},
		{"no type", changed(func(m made) { m.ResourceProfiles[0].ScopeProfiles[0].Profiles[0].SampleType = nil }), "does not say what its 1 samples are of"},
		{"no such key", changed(func(m made) { m.Dictionary.AttributeTable[1].KeyStrindex = 99 }), "refers to string 99"},
		{"first string", changed(func(m made) { m.Dictionary.StringTable[0] = "x" }), "the first string of the dictionary is not empty"},
		{"cut off", changed(func(made) {})[:50], "unexpected EOF"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Read(ingesttest.Source(t, tt.data), &reading.Options{})
			if err == nil || r != nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestRecogniseOthers takes no other format for this one.
func TestRecogniseOthers(t *testing.T) {
	m := newMessage()
	m.add(3, 4, &pb.Sample{StackIndex: 1, Values: []int64{10}})
	for name, data := range map[string][]byte{
		"nothing":             {},
		"a profile of pprof":  ingesttest.Message(1, ingesttest.Message(1, 1, 2, 2), 2, ingesttest.Message(1, 1), 6, ""),
		"a trace of Perfetto": ingesttest.Message(1, ingesttest.Message(8, 12345, 10, 1), 1, ingesttest.Message(8, 12346)),
		"two strings":         ingesttest.Message(1, "hello", 2, "world"),
		"empty messages":      ingesttest.Message(1, "", 1, ""),
		"text":                []byte("\n\nall the world\n"),
	} {
		if Recognise(ingesttest.Source(t, data).Head).Is {
			t.Errorf("%s is taken for profiles", name)
		}
	}
	if pprof.Recognise(ingesttest.Source(t, m.bytes(t)).Head).Is {
		t.Error("is taken for a profile of pprof")
	}
}

// TestMemory checks that hostile messages cost memory and time in proportion to their size.
func TestMemory(t *testing.T) {
	const n = 1 << 18
	long := make([]int32, n)
	for i := range long {
		long[i] = 2
	}
	for name, change := range map[string]func(m made){
		"long stack": func(m made) {
			m.Dictionary.StackTable[1].LocationIndices = long
			s := m.ResourceProfiles[0].ScopeProfiles[0].Profiles[0]
			for i := range 2000 {
				s.Samples = append(s.Samples, &pb.Sample{StackIndex: 1, Values: []int64{1}, AttributeIndices: []int32{int32(len(m.Dictionary.AttributeTable))}})
				m.Dictionary.AttributeTable = append(m.Dictionary.AttributeTable, &pb.KeyValueAndUnit{KeyStrindex: 9, Value: text(fmt.Sprint(i))})
			}
		},
		"long stack of nothing": func(m made) {
			m.Dictionary.StackTable[1].LocationIndices = make([]int32, n)
			s := m.ResourceProfiles[0].ScopeProfiles[0].Profiles[0]
			for i := range 2000 {
				s.Samples = append(s.Samples, &pb.Sample{StackIndex: 1, Values: []int64{1}, AttributeIndices: []int32{int32(len(m.Dictionary.AttributeTable))}})
				m.Dictionary.AttributeTable = append(m.Dictionary.AttributeTable, &pb.KeyValueAndUnit{KeyStrindex: 9, Value: text(fmt.Sprint(i))})
			}
		},
		"strings": func(m made) { m.Dictionary.StringTable = append(m.Dictionary.StringTable, make([]string, n)...) },
		"profiles": func(m made) {
			s := m.ResourceProfiles[0].ScopeProfiles[0]
			for range n / 4 {
				s.Profiles = append(s.Profiles, s.Profiles[0])
			}
		},
		"types": func(m made) {
			for i := range n / 4 {
				m.Dictionary.StringTable = append(m.Dictionary.StringTable, fmt.Sprint(i))
				m.add(int32(len(m.Dictionary.StringTable)-1), 2)
			}
		},
		"many types of many samples": func(m made) {
			p := m.ResourceProfiles[0].ScopeProfiles[0].Profiles[0]
			for i := range 20000 {
				m.Dictionary.StackTable = append(m.Dictionary.StackTable, &pb.Stack{LocationIndices: []int32{1, 2}})
				p.Samples = append(p.Samples, &pb.Sample{StackIndex: int32(i + 3), Values: []int64{1}})
			}
			for i := range 4000 {
				m.Dictionary.StringTable = append(m.Dictionary.StringTable, fmt.Sprint(i))
				m.add(int32(len(m.Dictionary.StringTable)-1), 2, &pb.Sample{StackIndex: 20002, Values: []int64{1}})
			}
		},
		"nested values": func(m made) {
			v := text("x")
			for range 1000 {
				v = &common.AnyValue{Value: &common.AnyValue_ArrayValue{ArrayValue: &common.ArrayValue{Values: []*common.AnyValue{v}}}}
			}
			m.Dictionary.AttributeTable[1].Value = v
		},
	} {
		m := newMessage()
		m.add(3, 4, &pb.Sample{StackIndex: 1, Values: []int64{10}})
		change(m)
		data := m.bytes(t)
		src := ingesttest.Source(t, data)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Read(src, &reading.Options{})
		runtime.ReadMemStats(&after)
		// All that was ever allocated, more than was in use at any time.
		used := after.TotalAlloc - before.TotalAlloc
		t.Logf("%s: %d bytes for %d: %.1f (%v)", name, used, len(data), float64(used)/float64(len(data)), err)
		if limit := uint64(128<<20 + 400*len(data)); used > limit {
			t.Errorf("%s: allocated %d bytes for %d", name, used, len(data))
		}
	}
}

// sums are what the events of a run add up to.
func sums(r *run.Run) (list []string) {
	for _, e := range r.Events {
		list = append(list, fmt.Sprintf("%q/%q %d/%d", e.Name, e.Unit, e.Weight, e.Samples))
	}
	return list
}

// FuzzOTLP reads messages that may be damaged, and writes what is sound again.
func FuzzOTLP(f *testing.F) {
	m := newMessage()
	m.add(1, 2, &pb.Sample{StackIndex: 1, TimestampsUnixNano: []uint64{1, 2}, AttributeIndices: []int32{1, 2}, LinkIndex: 1})
	m.add(3, 4, &pb.Sample{StackIndex: 2, Values: []int64{10}})
	f.Add(m.bytes(f))
	one := newMessage()
	one.add(1, 2, &pb.Sample{StackIndex: 1, Values: []int64{1}}).PeriodType = &pb.ValueType{TypeStrindex: 3, UnitStrindex: 4}
	f.Add(one.bytes(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		ingesttest.Fuzz(t, Read, data, &reading.Options{})
		src := ingesttest.Source(t, data)
		Recognise(src.Head)
		if r, err := Read(src, &reading.Options{}); err == nil {
			back := ingesttest.Read(t, Read, otlpOf(t, r), &reading.Options{})
			want := ingesttest.Read(t, pprof.Read, ingesttest.Profile(t, r), &reading.Options{})
			if d := cmp.Diff(sums(want), sums(back)); d != "" {
				t.Errorf("events (-of the profile of pprof +of OTLP):\n%s", d)
			}
		}
	})
}
