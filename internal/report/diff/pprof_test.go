package diff

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"

	"profdiff/internal/align"
	"profdiff/internal/compare"
)

// diffProfileOf writes a comparison as pprof and reads it back.
func diffProfileOf(t *testing.T, c *compare.Comparison) *profile.Profile {
	t.Helper()
	var b, again bytes.Buffer
	if err := WritePprof(&b, New(c, Parts{Stacks: true})); err != nil {
		t.Fatal(err)
	}
	if err := WritePprof(&again, New(c, Parts{Stacks: true})); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Error("two profiles of one comparison differ")
	}
	p, err := profile.ParseData(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckValid(); err != nil {
		t.Fatal(err)
	}
	return p
}

// sampleLines writes the samples of a profile as text.
func sampleLines(p *profile.Profile) (lines []string) {
	for _, s := range p.Sample {
		var line strings.Builder
		for i := len(s.Location) - 1; i >= 0; i-- {
			l := s.Location[i]
			file := ""
			if l.Mapping != nil {
				file = l.Mapping.File
			}
			line.WriteString(file + "!" + l.Line[0].Function.Name + ";")
		}
		lines = append(lines, fmt.Sprint(line.String(), " ", s.Value, " base=", s.DiffBaseSample()))
	}
	return lines
}

func TestDiffProfile(t *testing.T) {
	base := sideOf(t, `
cpu-cycles main app!main;app!old;libc!memcpy 100 300
cpu-cycles pool app!main;[kernel.kallsyms]!sys_read 5000
branch-misses main app!main 1
branch-misses main app!main;app!old 3
`)
	head := sideOf(t, `
cpu-cycles main app!main;app!fresh;libc!memcpy 200
cpu-cycles pool app!main 70
branch-misses main app!main 1
branch-misses main app!main;app!fresh 9
`)
	p := diffProfileOf(t, comparison(t, base, head, compare.Options{Ops: &[2]float64{5, 10}, Renames: []align.Rename{{Old: "old", New: "fresh"}}}))
	want := []string{
		"app!main; [0 -1] base=true",
		"app!main; [35 1] base=false", // 0.5 rounds up, so that the next rounds down
		"app!main;app!fresh; [0 -3] base=true",
		"app!main;app!fresh; [0 4] base=false",
		"app!main;app!fresh;libc!memcpy; [-400 0] base=true",
		"app!main;app!fresh;libc!memcpy; [100 0] base=false",
		"app!main;[kernel.kallsyms]!sys_read; [-5000 0] base=true",
	}
	if diff := cmp.Diff(want, sampleLines(p)); diff != "" {
		t.Error(diff)
	}
	if p.SampleType[0].Type != "cpu-cycles" || p.SampleType[0].Unit != "cpu-cycles" || p.SampleType[1].Type != "branch-misses" || p.SampleType[1].Unit != "count" || p.DefaultSampleType != "cpu-cycles" {
		t.Errorf("sample types %v %v, default %s", p.SampleType[0], p.SampleType[1], p.DefaultSampleType)
	}
	// The libc has more self cost than app, the kernel most of all.
	if p.Mapping[0].File != "libc" || len(p.Mapping) != 3 {
		t.Errorf("main file is %v of %d", p.Mapping[0], len(p.Mapping))
	}
	wantComments := []string{
		"difference of two sides: base is negative, head is positive",
		"base: 1.data", "head: 1.data",
		"cpu-cycles: means over runs, per operation (operations given), on the scale of base's mean run; 3 samples of base, 2 of head",
		"branch-misses: means over runs, per operation (operations given), on the scale of base's mean run; 2 samples of base, 2 of head",
		"warning: 1.data: one sample of cpu-cycles has 92.6% of the weight of all 3",
	}
	if diff := cmp.Diff(wantComments, p.Comments); diff != "" {
		t.Error(diff)
	}
}

// TestDiffProfileTotals checks that sums are exact although every stack has a fraction:
// 1,000 stacks of a third.
func TestDiffProfileTotals(t *testing.T) {
	var few, many string
	for i := range 1000 {
		few += fmt.Sprintf("e m a!main;a!group%d;a!f%d 1\n", i%10, i)
	}
	many = "e m a!main 2\n"
	c := comparison(t, sideOf(t, few, many, "e m a!main 1"), sideOf(t, many, few), compare.Options{Normalize: compare.None})
	var sums [2]int64
	groups := make(map[string]int64)
	for _, s := range diffProfileOf(t, c).Sample {
		side := 1
		if s.DiffBaseSample() {
			side = 0
			if len(s.Location) > 1 {
				groups[s.Location[1].Line[0].Function.Name] -= s.Value[0]
			}
		}
		sums[side] += s.Value[0]
	}
	raw := &c.Events[0].Raw
	if want := [2]int64{-int64(math.Round(raw.Base)), int64(math.Round(raw.Head))}; sums != want || want != [2]int64{-334, 501} {
		t.Errorf("sums are %v, want %v", sums, want)
	}
	for name, sum := range groups {
		if sum != 33 && sum != 34 {
			t.Errorf("%s has %d, want 100 thirds", name, sum)
		}
	}
	if len(groups) != 10 {
		t.Errorf("%d groups", len(groups))
	}
}
