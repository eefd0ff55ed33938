package perffile_test

import (
	"encoding/binary"
	"testing"

	"profdiff/internal/perffile"
	"profdiff/internal/perffile/perffiletest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const switchFormat = `name: sched_switch
ID: 372
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:char prev_comm[16];	offset:8;	size:16;	signed:0;
	field:long prev_state;	offset:24;	size:8;	signed:1;
	field:void * lock;	offset:32;	size:8;	signed:0;

print fmt: "prev_comm=%s", REC->prev_comm
`

func TestTracepoint(t *testing.T) {
	for header, order := range map[string]binary.AppendByteOrder{"header": binary.LittleEndian, "header byte_order=big": binary.BigEndian} {
		f := open(t, fixtureText(t, header+`
attr type=tracepoint config=372 sample_type=IP|RAW
attr type=tracepoint config=1 sample_type=IP|RAW
attr type=tracepoint config=373 sample_type=IP|RAW
attr type=hardware config=372 sample_type=IP|RAW
`+perffiletest.TracingData(order.String() == "BigEndian", map[string][]string{
			"irq": {"name: a\nID: x\n"}, "sched": {"name: other\nID: 371\n", switchFormat},
		})), perffile.Options{})
		got := f.Tracepoint(&f.Attrs[0])
		want := &perffile.Tracepoint{System: "sched", Name: "sched_switch", Fields: []perffile.TracepointField{
			{Name: "common_type", Size: 2},
			{Name: "common_pid", Offset: 4, Size: 4, Signed: true},
			{Name: "prev_comm", Offset: 8, Size: 16},
			{Name: "prev_state", Offset: 24, Size: 8, Signed: true},
			{Name: "lock", Offset: 32, Size: 8},
		}}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(perffile.TracepointField{})); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", header, diff)
		}
		raw := order.AppendUint32(order.AppendUint16(order.AppendUint16(nil, 0xfffe), 0), 0xfffffffd)
		for _, test := range []struct {
			field string
			want  int64
			ok    bool
		}{{"common_type", 0xfffe, true}, {"common_pid", -3, true}, {"prev_comm", 0, false}, {"prev_state", 0, false}} {
			field, found := got.Field(test.field)
			if v, ok := field.Int(raw); !found || v != test.want || ok != test.ok {
				t.Errorf("%s: %s is %d, %v, want %d, %v", header, test.field, v, ok, test.want, test.ok)
			}
		}
		for i := range f.Attrs[1:] {
			if got := f.Tracepoint(&f.Attrs[1+i]); got != nil {
				t.Errorf("%s: attr %d is %v, want none", header, 1+i, got)
			}
		}
	}
}
