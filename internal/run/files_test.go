package run_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	. "profdiff/internal/run"
)

// TestTellApartFiles checks the labels of files of one base name.
func TestTellApartFiles(t *testing.T) {
	for _, test := range []struct {
		name string
		runs []string // "path[@build ID] samples" each
		want []string
	}{
		{"of one run", []string{"/lib/x/_speedups.so 5, /lib/y/_speedups.so 5, /bin/python 9"}, []string{"x/_speedups.so y/_speedups.so python"}},
		{
			"in other directories of other runs",
			[]string{"/old/x/s.so 5, /old/y/s.so 5", "/new/x/s.so 5", "/new/y/s.so 9"},
			[]string{"x/s.so y/s.so", "x/s.so", "y/s.so"},
		},
		{"of one run each", []string{"/old/app 5", "/new/app 5"}, []string{"app", "app"}},
		{"one file under two names", []string{"/lib/libc.so@aa 5, /usr/lib/libc.so@aa 5"}, []string{"libc.so libc.so"}},
		{"a rebuilt file beside the first", []string{"/a/app@aa 5, /b/app@bb 5"}, []string{"a/app b/app"}},
		{"that differ far above", []string{"/a/v/lib/s.so 5, /b/v/lib/s.so 5"}, []string{"a/v/lib/s.so b/v/lib/s.so"}},
		{"one with next to nothing", []string{"/a/s.so 1000, /b/s.so 9"}, []string{"s.so s.so"}},
		{"without directories", []string{"[vdso] 5, [heap] 5"}, []string{"[vdso] [heap]"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var runs []*Run
			for _, spec := range test.runs {
				b := NewBuilder("r")
				e := b.Event(Event{Name: "cpu-clock"})
				for i, f := range strings.Split(spec, ", ") {
					path, count, _ := strings.Cut(f, " ")
					path, id, _ := strings.Cut(path, "@")
					m := b.Mapping(Mapping{File: path, BuildID: id, HasFunctions: true, Kind: NativeMapping})
					stack := b.Stack(0, b.Location(m, uint64(i+1), Line{Function: b.Function(Function{Name: "f"})}))
					n := int64(0)
					for _, c := range count {
						n = 10*n + int64(c-'0')
					}
					for range n {
						b.Add(e, stack, 0, 1)
					}
				}
				r, err := b.Finish()
				if err != nil {
					t.Fatal(err)
				}
				runs = append(runs, r)
			}
			TellApart(runs...)
			var got []string
			for _, r := range runs {
				var labels []string
				for i := range r.Mappings {
					if r.Mappings[i].File != "" {
						labels = append(labels, r.Mappings[i].Label())
					}
				}
				got = append(got, strings.Join(labels, " "))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
