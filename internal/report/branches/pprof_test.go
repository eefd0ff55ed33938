package branches

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"

	"profdiff/internal/branch"
)

func readBranchesProfile(t *testing.T, table *branch.Table) *profile.Profile {
	t.Helper()
	var b bytes.Buffer
	if err := WritePprof(&b, New(table, Parts{All: true})); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func sampleTypes(p *profile.Profile) (names []string) {
	for _, v := range p.SampleType {
		names = append(names, v.Type+"/"+v.Unit)
	}
	return names
}

func TestBranchesProfile(t *testing.T) {
	table := branchTable()
	// Thirds do not round to what they add up to.
	for range 9 {
		b := table.Branches[1]
		b.Misses, b.Executed, b.Address = new(1.0/3), new(10.0/3), b.Address+4
		table.Branches = append(table.Branches, b)
	}
	p := readBranchesProfile(t, table)
	if diff := cmp.Diff([]string{"branch-misses/count", "branches/count", "mispredict_cycles/cycles", "mispredict_cycles_hi/cycles"}, sampleTypes(p)); diff != "" {
		t.Fatal(diff)
	}
	got, want := make([]float64, 4), make([]float64, 4)
	for _, s := range p.Sample {
		for i, v := range s.Value {
			got[i] += float64(v)
		}
	}
	for i := range table.Branches {
		b := &table.Branches[i]
		if b.Misses != nil {
			want[0] += *b.Misses
			want[2] += *b.Misses * b.Cost.Centre
			want[3] += *b.Misses * b.Cost.Hi
		}
		switch {
		case b.Executed != nil:
			want[1] += *b.Executed
		case b.Taken != nil:
			want[1] += *b.Taken
		}
	}
	for i := range got {
		if math.Abs(got[i]-want[i]) > 0.5 {
			t.Errorf("%s sum to %v, want %v", p.SampleType[i].Type, got[i], want[i])
		}
	}
	first := p.Sample[0]
	if diff := cmp.Diff(map[string][]string{"branch_kind": {"conditional"}, "confidence": {"exact"}, "core": {"Some CPU"}, "tier": {"B"}}, first.Label); diff != "" {
		t.Error(diff)
	}
	l := first.Location[0]
	if l.Address != 0x401731 || l.Mapping.BuildID != "0123456789abcdef" || l.Mapping.File != "/usr/bin/app" ||
		len(l.Line) != 2 || l.Line[0].Function.Name != "compare" || l.Line[0].Line != 12 || l.Line[1].Function.Name != "longest_match" || l.Line[1].Line != 439 {
		t.Errorf("location %+v of %+v", l, l.Mapping)
	}
	comments := strings.Join(p.Comments, "\n")
	for _, want := range []string{"it is not known how often they were not taken", "those that ended not taken are not seen", "mispredict_cycles: 22.4 cycles a miss, mispredict_cycles_hi: 28 "} {
		if !strings.Contains(comments, want) {
			t.Errorf("no %q in the comments:\n%s", want, comments)
		}
	}
}

// TestBranchesProfileUnknown checks that what is not known is left out.
func TestBranchesProfileUnknown(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*branch.Table)
		want   []string
	}{
		"prediction": {func(t *branch.Table) { t.Unknown = "no entry says" }, []string{"branches/count"}},
		"scale":      {func(t *branch.Table) { t.Scaled = false }, []string{"branch-misses/count", "branches/count"}},
		"cost":       {func(t *branch.Table) { t.Branches[1].Cost = nil }, []string{"branch-misses/count", "branches/count"}},
	} {
		t.Run(name, func(t *testing.T) {
			table := branchTable()
			test.change(table)
			p := readBranchesProfile(t, table)
			if diff := cmp.Diff(test.want, sampleTypes(p)); diff != "" {
				t.Error(diff)
			}
			if !strings.Contains(strings.Join(p.Comments, "\n"), " unknown: ") {
				t.Errorf("comments %q do not say what is unknown", p.Comments)
			}
		})
	}
	for name, table := range map[string]*branch.Table{
		"no branch is named":       {},
		"more than a profile can ": {Branches: []branch.Branch{{Misses: new(math.Inf(1))}}},
	} {
		if err := WritePprof(new(bytes.Buffer), New(table, Parts{All: true})); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want %q", err, name)
		}
	}
}

// TestBranchesProfileTop reads each sample type with go tool pprof.
func TestBranchesProfileTop(t *testing.T) {
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("go tool pprof is not installed")
	}
	var b bytes.Buffer
	if err := WritePprof(&b, New(branchTable(), Parts{All: true})); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "branches.pb.gz")
	if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	for index, want := range map[string]string{
		"branch-misses":        "12000000 94.34% 94.34%   12000000 94.34%  compare",
		"branches":             "40000000 79.05% 79.05%   40000000 79.05%  compare",
		"mispredict_cycles":    "252000000cycles 93.98% 93.98% 252000000cycles 93.98%  compare",
		"mispredict_cycles_hi": "276000000cycles 93.19% 93.19% 276000000cycles 93.19%  compare",
	} {
		out, err := exec.Command(tool, "tool", "pprof", "-top", "-symbolize=none", "-sample_index="+index, file).CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) || strings.Contains(string(out), "longest_match_") {
			t.Errorf("%s: %v: no %q in\n%s", index, err, want, out)
		}
	}
}
