package perffile_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/perffile"
	"profdiff/internal/perffile/perffiletest"
)

// TestStretch reads the records of parts of a file again, and gets what it got at first.
func TestStretch(t *testing.T) {
	data := generated(t, perffiletest.Spec{Samples: 5000, CPUs: 2, Churn: 100})
	open := func(data []byte) *perffile.File {
		f, err := perffile.New(bytes.NewReader(data), int64(len(data)), perffile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	type record struct {
		Offset, End int64
		Type        perffile.RecordType
		Misc        perffile.Misc
		Attr        int
		Time        uint64
		Body        string
	}
	of := func(r *perffile.Record) record {
		return record{r.Offset, r.End, r.Type, r.Misc, r.Attr, r.Time, string(r.Body)}
	}
	f := open(data)
	var all []record
	for r, err := range f.Records() {
		if err != nil {
			t.Fatal(err)
		}
		if r.End < r.Offset+8+int64(len(r.Body)) {
			t.Fatalf("record at %d of %d bytes ends at %d", r.Offset, len(r.Body), r.End)
		}
		all = append(all, of(r))
	}
	const perfs = 64 // records of perf, not of the kernel
	stretches := 0
	var s *perffile.Stretch
	for i := 0; i < len(all); {
		n := i
		for n < len(all) && all[n].Type < perfs {
			n++
		}
		if n == i {
			i++
			continue
		}
		stretches++
		s = f.Stretch(all[i].Offset, all[n-1].End, s)
		var again []record
		for {
			r, err := s.Next()
			if err != nil {
				t.Fatal(err)
			}
			if r == nil {
				break
			}
			again = append(again, of(r))
		}
		if diff := cmp.Diff(all[i:n], again); diff != "" {
			t.Fatalf("-first +again\n%s", diff)
		}
		i = n
	}
	if stretches < 2 {
		t.Errorf("%d stretches", stretches)
	}
	// What was cut off meanwhile is an error, not less.
	last := all[len(all)-1]
	for last.Type >= perfs {
		all = all[:len(all)-1]
		last = all[len(all)-1]
	}
	shorter := append([]byte(nil), data...)
	shorter[last.Offset+6] += 8 // the size in its header
	_, err := open(shorter).Stretch(last.Offset, last.End, nil).Next()
	if _, ok := errors.AsType[*perffile.FormatError](err); !ok {
		t.Errorf("a record that exceeds its stretch: error %v", err)
	}
}
