package otlp

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	pb "go.opentelemetry.io/proto/slim/otlp/profiles/v1development"
	"google.golang.org/protobuf/reflect/protoreflect"

	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/run"
)

// TestShapes holds what is known of JSON to the library of OpenTelemetry: all fields of all messages, by name, number and kind.
func TestShapes(t *testing.T) {
	kinds := map[protoreflect.Kind]kind{
		protoreflect.Int32Kind: numberKind, protoreflect.Int64Kind: numberKind, protoreflect.Uint32Kind: numberKind, protoreflect.Uint64Kind: numberKind,
		protoreflect.Fixed64Kind: fixedKind, protoreflect.DoubleKind: fractionKind, protoreflect.BoolKind: flagKind, protoreflect.StringKind: textKind,
		protoreflect.BytesKind: rawKind, protoreflect.MessageKind: messageKind,
	}
	seen := make(map[protoreflect.FullName]bool)
	var check func(d protoreflect.MessageDescriptor, of shape)
	check = func(d protoreflect.MessageDescriptor, of shape) {
		if seen[d.FullName()] {
			return
		}
		seen[d.FullName()] = true
		if d.Fields().Len() != len(of) {
			t.Errorf("%s has %d fields, and %d are known", d.FullName(), d.Fields().Len(), len(of))
		}
		for i := range d.Fields().Len() {
			f := d.Fields().Get(i)
			got, ok := of[f.JSONName()]
			want := kinds[f.Kind()]
			if want == rawKind && strings.HasSuffix(f.JSONName(), "Id") {
				want = idKind // as the protocol has it, otherwise than protobuf
			}
			if !ok || got.num != f.Number() || got.kind != want {
				t.Errorf("%s.%s is %d, %v; known is %+v", d.FullName(), f.JSONName(), f.Number(), f.Kind(), got)
			}
			if f.Message() != nil {
				check(f.Message(), got.of)
			}
		}
	}
	check((&pb.ProfilesData{}).ProtoReflect().Descriptor(), dataShape)
	if len(seen) < 15 {
		t.Errorf("%d messages were looked at", len(seen))
	}
}

// collected are two messages, of which pdata of OpenTelemetry's collector 0.164 made testdata/collector.json:
// JSONMarshaler of pprofile, one message a line.
func collected(t *testing.T) [][]byte {
	first, second := newMessage(), newMessage()
	p := first.add(3, 4, &pb.Sample{StackIndex: 1, Values: []int64{30, -0}, AttributeIndices: []int32{1, 2}, LinkIndex: 1, TimestampsUnixNano: []uint64{1 << 60, 5}})
	p.PeriodType, p.Period, p.ProfileId = &pb.ValueType{TypeStrindex: 3, UnitStrindex: 4}, 10, bytes.Repeat([]byte{7}, 16)
	a := first.ResourceProfiles[0].Resource
	for _, v := range []*common.AnyValue{
		{Value: &common.AnyValue_BoolValue{BoolValue: true}},
		{Value: &common.AnyValue_IntValue{IntValue: 1 << 60}},
		{Value: &common.AnyValue_DoubleValue{DoubleValue: 0.5}},
		{Value: &common.AnyValue_BytesValue{BytesValue: []byte{0, 255}}},
		{Value: &common.AnyValue_ArrayValue{ArrayValue: &common.ArrayValue{Values: []*common.AnyValue{text("x"), text("")}}}},
		{Value: &common.AnyValue_KvlistValue{KvlistValue: &common.KeyValueList{Values: []*common.KeyValue{{Key: "k", Value: text("v")}}}}},
	} {
		a.Attributes = append(a.Attributes, &common.KeyValue{Key: "kind" + string(rune('a'+len(a.Attributes))), Value: v})
	}
	second.Dictionary.FunctionTable = append(second.Dictionary.FunctionTable, &pb.Function{NameStrindex: 8})
	second.Dictionary.LocationTable[1].Lines[0].FunctionIndex = 3
	second.add(3, 4, &pb.Sample{StackIndex: 1, Values: []int64{7}}).TimeUnixNano += 5e9
	return [][]byte{first.bytes(t), second.bytes(t)}
}

func lengths(messages ...[]byte) (file []byte) {
	for _, m := range messages {
		file = append(binary.BigEndian.AppendUint32(file, uint32(len(m))), m...)
	}
	return file
}

// TestMessages reads files of several messages, with lengths and as JSON, and both as each message alone.
func TestMessages(t *testing.T) {
	messages := collected(t)
	lines, err := os.ReadFile(filepath.Join("testdata", "collector.json"))
	if err != nil {
		t.Fatal(err)
	}
	want := ingesttest.Read(t, Read, messages[0], &reading.Options{})
	alone := ingesttest.Read(t, Read, messages[1], &reading.Options{})
	if want, err = run.Merge(want.Name, []*run.Run{want, alone}); err != nil {
		t.Fatal(err)
	}
	if got := folded(want); len(got) != 2 || want.Accounting.In != 3 {
		t.Fatalf("%d samples in: %q", want.Accounting.In, got)
	}
	for _, tt := range []struct {
		name      string
		data      []byte
		recognise func(input.Head) input.Evidence
		read      reading.Reader
	}{
		{"lengths", lengths(messages[0], nil, messages[1]), RecogniseLengths, ReadLengths},
		{"JSON", lines, RecogniseJSON, ReadJSON},
		{"JSON without lines", bytes.ReplaceAll(lines, []byte("}\n{"), []byte("} {")), RecogniseJSON, ReadJSON},
	} {
		if !tt.recognise(ingesttest.Source(t, tt.data).Head).Is {
			t.Errorf("%s: is not recognised", tt.name)
		}
		got := ingesttest.Read(t, tt.read, tt.data, &reading.Options{})
		if d := cmp.Diff(ingesttest.ProfileText(t, ingesttest.Profile(t, want)), ingesttest.ProfileText(t, ingesttest.Profile(t, got))); d != "" {
			t.Errorf("%s (-messages +file):\n%s", tt.name, d)
		}
	}
	many := slices.Repeat([][]byte{messages[1]}, 3*mostApart)
	if r := ingesttest.Read(t, ReadLengths, lengths(many...), &reading.Options{}); r.Accounting.In != int64(len(many)) || len(r.Samples) != 1 {
		t.Errorf("%d messages have %d samples in %d", len(many), r.Accounting.In, len(r.Samples))
	}
}

// TestMessagesRefused has damaged files, each with the reason.
func TestMessagesRefused(t *testing.T) {
	m := collected(t)[1]
	for _, tt := range []struct {
		name, data, want string
		read             reading.Reader
	}{
		{"cut in a message", string(lengths(m, m)[:len(m)+20]), "of which 12 are there: unexpected EOF", ReadLengths},
		{"cut in a length", string(lengths(m)) + "\x00", "the length at", ReadLengths},
		{"a length beyond all", "\xff\xff\xff\xff", "more than the 1073741824 that are read", ReadLengths},
		{"nothing", "", "has no profiles", ReadLengths},
		{"not a message", string(lengths(m, []byte("x"))), "message 2: ", ReadLengths},
		{"cut JSON", `{"resourceProfiles":[{"resource"`, "resourceProfiles: resource: unexpected EOF", ReadJSON},
		{"no object", `{"resourceProfiles":[1]}`, "resourceProfiles: has 1, not an object", ReadJSON},
		{"another field", `{"resourceProfiles":[{"x":1}]}`, `resourceProfiles: "x": the message has no such field`, ReadJSON},
		{"text for a number", `{"dictionary":{"stackTable":[{"locationIndices":["x"]}]}}`, "locationIndices: has x, not a whole number", ReadJSON},
		{"a number for text", `{"dictionary":{"stringTable":[1]}}`, "stringTable: has 1, not text", ReadJSON},
		{"no hexadecimal", `{"dictionary":{"linkTable":[{"traceId":"xy"}]}}`, `has "xy", no bytes`, ReadJSON},
		{"depth", `{"dictionary":{"attributeTable":[{"value":` + strings.Repeat(`{"arrayValue":{"values":[`, 1000), "nested too deeply", ReadJSON},
		{"no dictionary", `{"resourceProfiles":[{"scopeProfiles":[]}]}`, "has the fields of OTLP profiles before version 1.10", ReadJSON},
	} {
		if _, err := tt.read(ingesttest.Source(t, []byte(tt.data)), &reading.Options{}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
}

// FuzzMessages reads files of several messages that may be damaged.
func FuzzMessages(f *testing.F) {
	f.Add([]byte(`{"resourceProfiles":[{"scopeProfiles":[{"profiles":[{"samples":[{"values":["1"]}]}]}]}],"dictionary":{"stringTable":["","a"]}}`))
	f.Add(lengths([]byte{0x12, 0}))
	f.Fuzz(func(t *testing.T, data []byte) {
		ingesttest.Fuzz(t, ReadJSON, data, &reading.Options{})
		ingesttest.Fuzz(t, ReadLengths, data, &reading.Options{})
		RecogniseLengths(ingesttest.Source(t, data).Head)
	})
}
