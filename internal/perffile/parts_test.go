package perffile_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/perffile"
)

const partsHeader = `header
attr type=software sample_type=IP|TIME flags=sample_id_all
`

// dataOf returns the data section of a recording.
func dataOf(t testing.TB, text string) []byte {
	t.Helper()
	file := fixtureText(t, partsHeader+text)
	off, size := binary.LittleEndian.Uint64(file[40:]), binary.LittleEndian.Uint64(file[48:])
	return file[off : off+size]
}

// TestParts merges what the threads of perf record wrote.
func TestParts(t *testing.T) {
	sample := func(times ...int) string {
		var b strings.Builder
		for _, time := range times {
			fmt.Fprintf(&b, "SAMPLE ip=%#x time=%d\n", time, time)
		}
		return b.String()
	}
	packed := func(times ...int) string {
		return "COMPRESSED\n" + strings.ReplaceAll("\n"+strings.TrimSpace(sample(times...)), "\n", "\n| ")[1:] + "\n"
	}
	for _, test := range []struct {
		name  string
		data  string
		parts [][]byte
		opt   perffile.Options
		want  string
		err   string
	}{
		{
			name: "by time, after the file with the header", data: sample(50),
			parts: [][]byte{dataOf(t, sample(10, 30, 40)), nil, dataOf(t, sample(20, 21, 60))},
			want:  "50 10 20 21 30 40 60",
		},
		{
			name:  "each compressed for itself",
			parts: [][]byte{dataOf(t, packed(10, 30)+packed(40)), dataOf(t, packed(20)+packed(50, 60))},
			want:  "10 20 30 40 50 60",
		},
		{
			name:  "what is out of order does not get lost",
			parts: [][]byte{dataOf(t, sample(30, 10)), dataOf(t, sample(20, 40))},
			want:  "20 30 10 40",
		},
		{
			name:  "the part that is cut off is named",
			parts: [][]byte{dataOf(t, sample(10)), dataOf(t, sample(20, 30))[:30]},
			want:  "10 20",
			err:   "data.1: record header is cut off at 0x18",
		},
		{
			name: "or read as far as it goes", opt: perffile.Options{AllowTruncated: true},
			parts: [][]byte{dataOf(t, sample(10, 40)), dataOf(t, sample(20, 30))[:30]},
			want:  "10 20 40",
		},
		{
			name:  "so is one with damage",
			parts: [][]byte{dataOf(t, sample(10)), {9, 0, 0, 0, 0, 0, 4, 0}},
			err:   "data.1: SAMPLE record of 4 bytes, at least 8 expected at 0x0",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, part := range test.parts {
				test.opt.Parts = append(test.opt.Parts, io.NewSectionReader(bytes.NewReader(part), 0, int64(len(part))))
			}
			f := open(t, fixtureText(t, partsHeader+test.data), test.opt)
			for _, again := range []bool{false, true} {
				var times []string
				var failed error
				for r, err := range f.Records() {
					if failed = err; err == nil && r.Type == perffile.RecordSample {
						times = append(times, fmt.Sprint(r.Time))
					}
				}
				if diff := cmp.Diff(test.want, strings.Join(times, " ")); diff != "" {
					t.Errorf("again %t: times (-want +got):\n%s", again, diff)
				}
				if got := fmt.Sprint(failed); test.err != "" && got != test.err || test.err == "" && failed != nil {
					t.Errorf("again %t: error %s, want %s", again, got, test.err)
				}
				var err error
				if f, err = f.Again(); err != nil {
					t.Fatal(err)
				}
			}
			// Who has seen enough is left alone.
			for range f.Records() {
				break
			}
		})
	}
}
