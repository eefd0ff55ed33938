package perfsession

import (
	"fmt"
	"testing"
	"time"

	"profdiff/internal/perffile"
)

// TestDoubts has what is said of records that are not read or not believed.
func TestDoubts(t *testing.T) {
	many := Unread{}
	for i := range 100 {
		many.add(&perffile.Record{Type: perffile.RecordType(100 + i), Offset: int64(i)})
	}
	for _, test := range []struct {
		doubt fmt.Stringer
		want  string
	}{
		{&Unread{}, ""},
		{
			&Unread{Count: 1, Types: map[perffile.RecordType]UnreadType{99: {1, 416}}},
			"1 record is of an unknown type and not read (1 of type 0x63 at offset 0x1a0): samples may be missing that no count tells of",
		},
		{
			&Unread{Count: 3, Types: map[perffile.RecordType]UnreadType{99: {2, 416}, 120: {1, 16}}},
			"3 records are of an unknown type and not read (1 of type 0x78 at offset 0x10, 2 of type 0x63 from offset 0x1a0 on): samples may be missing that no count tells of",
		},
		{
			&many,
			"100 records are of an unknown type and not read (1 of type 0x64 at offset 0x0, 1 of type 0x65 at offset 0x1, 1 of type 0x66 at offset 0x2, 97 of others): samples may be missing that no count tells of",
		},
		{&Doubted{}, ""},
		{
			&Doubted{Count: 1, Samples: 478582460288, First: 512, CPUs: 4, Span: 3200 * time.Millisecond},
			"1 record says that 478582460288 samples were lost (offset 0x200), more than 4 CPUs can take in 3.2s: not counted",
		},
	} {
		if got := test.doubt.String(); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}
