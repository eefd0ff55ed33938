package otlp_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	pb "go.opentelemetry.io/proto/slim/otlp/profiles/v1development"
	"google.golang.org/protobuf/proto"

	"profdiff/internal/ingest"
	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/reading"
	"profdiff/internal/otlp"
	"profdiff/internal/run"
)

// written is a run as OTLP, decoded by the library of OpenTelemetry.
func written(t *testing.T, r *run.Run, opt otlp.Options) *pb.ProfilesData {
	t.Helper()
	var out, again bytes.Buffer
	for _, w := range []*bytes.Buffer{&out, &again} {
		if err := otlp.Write(w, r, opt); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(out.Bytes(), again.Bytes()) {
		t.Error("a second writing gives other bytes")
	}
	data := &pb.ProfilesData{}
	if err := proto.Unmarshal(out.Bytes(), data); err != nil {
		t.Fatal(err)
	}
	if n := len(data.ProtoReflect().GetUnknown()); n > 0 {
		t.Errorf("%d bytes of unknown fields", n)
	}
	checkDictionary(t, data)
	return data
}

// checkDictionary checks what profiles.proto demands: entry 0 is empty, entries are distinct and
// referred to, and references lead somewhere.
func checkDictionary(t *testing.T, data *pb.ProfilesData) {
	t.Helper()
	d := data.Dictionary
	used := make(map[string]map[int32]bool)
	refer := func(table string, n int, list ...int32) {
		for _, i := range list {
			if used[table] == nil {
				used[table] = map[int32]bool{0: true}
			}
			if used[table][i] = true; i < 0 || int(i) >= n {
				t.Errorf("there is no %s %d", table, i)
			}
		}
	}
	strs, attributes := len(d.StringTable), len(d.AttributeTable)
	for _, m := range d.MappingTable {
		refer("string", strs, m.FilenameStrindex)
		refer("attribute", attributes, m.AttributeIndices...)
	}
	for _, l := range d.LocationTable {
		refer("mapping", len(d.MappingTable), l.MappingIndex)
		refer("attribute", attributes, l.AttributeIndices...)
		for _, line := range l.Lines {
			refer("function", len(d.FunctionTable), line.FunctionIndex)
		}
	}
	for _, f := range d.FunctionTable {
		refer("string", strs, f.NameStrindex, f.SystemNameStrindex, f.FilenameStrindex)
	}
	for _, a := range d.AttributeTable {
		refer("string", strs, a.KeyStrindex, a.UnitStrindex)
	}
	for _, s := range d.StackTable {
		refer("location", len(d.LocationTable), s.LocationIndices...)
	}
	for _, rp := range data.ResourceProfiles {
		for _, sp := range rp.ScopeProfiles {
			for _, p := range sp.Profiles {
				refer("string", strs, p.SampleType.TypeStrindex, p.SampleType.UnitStrindex, p.GetPeriodType().GetTypeStrindex(), p.GetPeriodType().GetUnitStrindex())
				refer("attribute", attributes, p.AttributeIndices...)
				for _, s := range p.Samples {
					refer("stack", len(d.StackTable), s.StackIndex)
					refer("link", len(d.LinkTable), s.LinkIndex)
					refer("attribute", attributes, s.AttributeIndices...)
					keys := make(map[int32]bool)
					for _, a := range s.AttributeIndices {
						if keys[d.AttributeTable[a].KeyStrindex] {
							t.Errorf("a sample has %q twice", d.StringTable[d.AttributeTable[a].KeyStrindex])
						}
						keys[d.AttributeTable[a].KeyStrindex] = true
					}
				}
			}
		}
	}
	checkTable(t, "mapping", d.MappingTable, used["mapping"])
	checkTable(t, "location", d.LocationTable, used["location"])
	checkTable(t, "function", d.FunctionTable, used["function"])
	checkTable(t, "link", d.LinkTable, used["link"])
	checkTable(t, "attribute", d.AttributeTable, used["attribute"])
	checkTable(t, "stack", d.StackTable, used["stack"])
	for i, s := range d.StringTable {
		if (i == 0) != (s == "") || slices.Index(d.StringTable, s) != i || i > 0 && !used["string"][int32(i)] {
			t.Errorf("string %d is %q", i, s)
		}
	}
}

// checkTable checks the entries of a table.
func checkTable[M proto.Message](t *testing.T, table string, entries []M, used map[int32]bool) {
	t.Helper()
	seen := make(map[string]bool)
	for i, m := range entries {
		b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case seen[string(b)]:
			t.Errorf("%s %d is there already", table, i)
		case i == 0 && len(b) > 0 && table != "link":
			t.Errorf("%s 0 has %d bytes", table, len(b))
		case i > 0 && used != nil && !used[int32(i)]:
			t.Errorf("nothing refers to %s %d", table, i)
		}
		seen[string(b)] = true
	}
	if len(entries) == 0 {
		t.Errorf("there is no %s 0", table)
	}
}

// TestWriteRecordings compares sums with those of the runs they were written of.
func TestWriteRecordings(t *testing.T) {
	files, err := filepath.Glob("../../profiles/*/before/01.data")
	if err != nil {
		t.Fatal(err)
	}
	published, err := filepath.Glob("../../profiles/*/*/*.pb.gz")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, published...) {
		t.Run(strings.ReplaceAll(strings.TrimLeft(file, "./"), "/", "_"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			r, err := ingest.Read(ingesttest.Source(t, data), &reading.Options{TID: true, Mode: true})
			if err != nil {
				t.Fatal(err)
			}
			d := written(t, r, otlp.Options{})
			sums := make(map[string]int64)
			for _, p := range d.ResourceProfiles[0].ScopeProfiles[0].Profiles {
				for _, s := range p.Samples {
					sums[d.Dictionary.StringTable[p.SampleType.TypeStrindex]] += s.Values[0]
				}
			}
			want := make(map[string]int64)
			for _, e := range r.Events {
				want[e.Name] = e.Weight
				if e.Samples > 0 {
					want[e.Name+"_samples"] = e.Samples
				}
			}
			if diff := cmp.Diff(want, sums); diff != "" {
				t.Errorf("sums (-run +written):\n%s", diff)
			}
		})
	}
}

// TestWriteLabels checks what labels, facts and resources become.
func TestWriteLabels(t *testing.T) {
	b := run.NewBuilder("made")
	b.Run().Recording.Format = "pprof"
	event := b.Event(run.Event{Name: "cpu", Unit: "nanoseconds", Period: 10})
	mapping := b.Mapping(run.Mapping{File: "/bin/x", BuildID: "0a1b", Start: 16, Limit: 64, Offset: 8, HasFunctions: true, HasLineNumbers: true})
	f := b.Function(run.Function{Name: "f", SystemName: "_f", File: "f.c", StartLine: 3})
	stack := b.Stack(0, b.Location(mapping, 20, run.Line{Function: f, Line: 5, Column: 2}))
	const trace, span = "000102030405060708090a0b0c0d0e0f", "0001020304050607"
	for i, l := range []run.Labels{
		{PID: 0, TID: 7, CPU: -1, Process: "x", Thread: "worker", Other: "key\x00a\x00key\x00b\x00", OtherNum: "size\x00128\x00bytes\x00"},
		{PID: -1, TID: -1, CPU: -1, Other: "span_id\x00" + span + "\x00trace_id\x00" + trace + "\x00"},
		{PID: -1, TID: -1, CPU: -1, Other: "trace_id\x00" + trace + "\x00"},
		{PID: -1, TID: -1, CPU: -1, Other: "span_id\x00none\x00trace_id\x00" + trace + "\x00"},
	} {
		b.AddSum(event, stack, b.Labels(l), 1, int64(10*(i+1)), 0)
	}
	r, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	d := written(t, r, otlp.Options{Resource: []otlp.Attribute{{Key: otlp.ServiceName, Value: "shop"}}})
	table := d.Dictionary
	var got []string
	attribute := func(i int32) string {
		a := table.AttributeTable[i]
		// Between the fields of a message is one space, or two.
		return table.StringTable[a.KeyStrindex] + " " + strings.Join(strings.Fields(a.Value.String()), " ") + table.StringTable[a.UnitStrindex]
	}
	for _, s := range d.ResourceProfiles[0].ScopeProfiles[0].Profiles[0].Samples {
		var list []string
		for _, a := range s.AttributeIndices {
			list = append(list, attribute(a))
		}
		if s.LinkIndex != 0 {
			l := table.LinkTable[s.LinkIndex]
			list = append(list, "link", string(l.TraceId[15]+'a'), string(l.SpanId[7]+'a'))
		}
		got = append(got, strings.Join(list, ", "))
	}
	if diff := cmp.Diff([]string{
		`process.executable.name string_value:"x", process.pid int_value:0, thread.id int_value:7, thread.name string_value:"worker", ` +
			`key array_value:{values:{string_value:"a"} values:{string_value:"b"}}, size int_value:128bytes`,
		`link, p, h`,
		`trace_id string_value:"000102030405060708090a0b0c0d0e0f"`,
		`span_id string_value:"none", trace_id string_value:"000102030405060708090a0b0c0d0e0f"`,
	}, got); diff != "" {
		t.Errorf("attributes (-want +got):\n%s", diff)
	}
	m := table.MappingTable[1]
	got = nil
	for _, a := range m.AttributeIndices {
		got = append(got, attribute(a))
	}
	if want := []string{`process.executable.build_id.gnu string_value:"0a1b"`, "pprof.mapping.has_functions bool_value:true", "pprof.mapping.has_line_numbers bool_value:true"}; !slices.Equal(got, want) {
		t.Errorf("mapping has %q, want %q", got, want)
	}
	if kv := d.ResourceProfiles[0].Resource.Attributes[0]; kv.Key != "service.name" || kv.Value.GetStringValue() != "shop" {
		t.Errorf("resource %v", kv)
	}
}

// TestWriteNothing refuses a run without events.
func TestWriteNothing(t *testing.T) {
	if err := otlp.Write(&bytes.Buffer{}, &run.Run{Name: "x"}, otlp.Options{}); err == nil || !strings.Contains(err.Error(), "a profile needs an event") {
		t.Errorf("got %v", err)
	}
}
