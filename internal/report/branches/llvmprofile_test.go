package branches

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/branch"
	"profdiff/internal/branch/annotate"
	"profdiff/internal/symbolizer"
)

// llvmTable has two copies of an inlined branch, one with a discriminator, and branches
// that are left out.
func llvmTable() (*branch.Table, [][]annotate.Frame) {
	row := func(kind branch.Kind, executed, misses float64) branch.Branch {
		return branch.Branch{Place: branch.Place{Function: "work", Address: 0x10}, Kind: kind, Executed: &executed, Misses: &misses}
	}
	work := func(line int64) symbolizer.Frame {
		return symbolizer.Frame{Name: "work(int)", SystemName: "_Z4worki.llvm.123", File: "a.cc", StartLine: 20, Line: line}
	}
	inner := symbolizer.Frame{Name: "less(int)", SystemName: "_Z4lessi", File: "a.h", StartLine: 5, Line: 7}
	before := inner
	before.Line = 3 // by #line or a macro
	t := &branch.Table{Name: "app.data", Tier: branch.TierStacks, Branches: []branch.Branch{
		row(branch.Conditional, 100, 30),
		row(branch.Conditional, 50.4, 20.3),
		row(branch.Conditional, 10, 0),
		row(branch.Indirect, 40, 5),
		row(branch.Conditional, 7, 7),
		row(branch.Return, 1000, 1),
		row(branch.Conditional, 8, 4),
		row(branch.Conditional, 0, 4),
		row(branch.Conditional, 9, 9),
	}}
	t.Branches[6].Sampled = &branch.SampledCounts{Confidence: branch.Low}
	t.Branches[7].Executed = nil
	discriminated := func(f symbolizer.Frame, d uint32) symbolizer.Frame {
		f.Discriminator = d
		return f
	}
	return t, [][]annotate.Frame{
		{inner, work(24)},
		{discriminated(inner, 514), work(24)}, // a copy
		{discriminated(work(24), 2)},
		{work(31)},
		{before, work(24)},
		{work(32)},
		{work(33)},
		{work(34)},
		{{Name: "asm_memcpy"}},
	}
}

// llvmDocument has the functions at each branch of a table.
func llvmDocument(table *branch.Table, frames [][]annotate.Frame) *Document {
	return New(table, Parts{All: true, Frames: frames})
}

func writeLLVMProfiles(t *testing.T, p *LLVMProfiles) (freq, misp string) {
	t.Helper()
	var f, m bytes.Buffer
	if err := p.WriteFrequencies(&f); err != nil {
		t.Fatal(err)
	}
	if err := p.WriteMisses(&m); err != nil {
		t.Fatal(err)
	}
	return f.String(), m.String()
}

func TestLLVMProfiles(t *testing.T) {
	p, err := NewLLVMProfiles(llvmDocument(llvmTable()))
	if err != nil {
		t.Fatal(err)
	}
	freq, misp := writeLLVMProfiles(t, p)
	const wantFreq = `_Z4worki:207:0
 4.1: 10
 11: 40
 4: _Z4lessi:157
  2: 100
  2.1: 50
  65534: 7
`
	const wantMisp = `_Z4worki:62:0
 11: 5
 4: _Z4lessi:57
  2: 30
  2.1: 20
  65534: 7
`
	if diff := cmp.Diff(wantFreq, freq); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(wantMisp, misp); diff != "" {
		t.Error(diff)
	}
	const want = "5 branches with 62.30 misses are in the profiles; " +
		"1 with 4 are not: it is not known how often they were executed; " +
		"1 with 4 are not: it is not sure which branch it is; " +
		"1 with 1 are not: neither conditional nor a switch; " +
		"1 with 9 are not: without a line of the source, or the line where the function starts"
	if diff := cmp.Diff(want, p.Accounting()); diff != "" {
		t.Error(diff)
	}
}

func TestLLVMProfilesErrors(t *testing.T) {
	table, places := llvmTable()
	table.Unknown = "no entry says"
	if _, err := NewLLVMProfiles(llvmDocument(table, places)); err == nil || err.Error() != "prediction is unknown: no entry says" {
		t.Errorf("unknown prediction: %v", err)
	}
	table.Unknown = ""
	if _, err := NewLLVMProfiles(llvmDocument(table, make([][]annotate.Frame, len(table.Branches)))); err == nil || !strings.Contains(err.Error(), "no branch can be in the profile: 1 it is not known") {
		t.Errorf("no lines: %v", err)
	}
	table, places = llvmTable()
	places[0][1].SystemName = "a b"
	if p, err := NewLLVMProfiles(llvmDocument(table, places)); err != nil || p.Dropped[llvmName].Branches != 1 {
		t.Errorf("name with a space: %+v, %v", p, err)
	}
}

// TestBaseDiscriminator has values that LLVM encodes: a base below 32 in 6 bits, one
// above in 13, none in 1, followed by the number of copies.
func TestBaseDiscriminator(t *testing.T) {
	for encoded, want := range map[uint32]uint32{
		0: 0, 1: 0, 2: 1, 8: 4, 62: 31, 514: 1, 0x41: 0,
		// 33 is 1 in the low 5 bits, a flag, then 1.
		(1<<6 | 0x20 | 1) << 1: 33,
	} {
		if got := baseDiscriminator(encoded); got != want {
			t.Errorf("base of discriminator %d is %d, want %d", encoded, got, want)
		}
	}
}

// TestLLVMProfdata reads the profiles with llvm-profdata.
func TestLLVMProfdata(t *testing.T) {
	tools, _ := filepath.Glob("/usr/lib/llvm-*/bin/llvm-profdata")
	if tool, err := exec.LookPath("llvm-profdata"); err == nil {
		tools = append(tools, tool)
	}
	if len(tools) == 0 {
		t.Skip("llvm-profdata is not installed")
	}
	p, err := NewLLVMProfiles(llvmDocument(llvmTable()))
	if err != nil {
		t.Fatal(err)
	}
	freq, misp := writeLLVMProfiles(t, p)
	dir := t.TempDir()
	for name, text := range map[string]string{"freq": freq, "misp": misp} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, tool := range tools {
			out, err := exec.Command(tool, "merge", "--sample", "--text", "-o", "-", file).CombinedOutput()
			if err != nil {
				t.Errorf("%s merge: %v\n%s", tool, err, out)
				continue
			}
			if diff := cmp.Diff(text, string(out)); diff != "" {
				t.Errorf("%s merge changes %s: %s", tool, name, diff)
			}
		}
	}
}

// TestClangReadsProfiles compiles a program with each of the profiles: clang applies the
// counts to the lines that they are of, in inlined functions too.
func TestClangReadsProfiles(t *testing.T) {
	clang, err := exec.LookPath("clang")
	if err != nil {
		found, _ := filepath.Glob("/usr/lib/llvm-*/bin/clang")
		if len(found) == 0 {
			t.Skip("clang is not installed")
		}
		clang = found[0]
	}
	const text = `static int keep(const int *a, int *out, int n) {
  int k = 0;
  for (int i = 0; i < n; i++)
    if (a[i] < 9)
      out[k++] = a[i];
  return k;
}
int work(const int *a, int *out, int n) {
  return n + keep(a, out, n);
}
`
	dir := t.TempDir()
	source := filepath.Join(dir, "a.c")
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	table := &branch.Table{Branches: []branch.Branch{{Kind: branch.Conditional, Executed: new(1000.0), Misses: new(480.0)}}}
	p, err := NewLLVMProfiles(llvmDocument(table, [][]annotate.Frame{{
		{Name: "keep", File: source, StartLine: 1, Line: 4}, {Name: "work", File: source, StartLine: 8, Line: 9},
	}}))
	if err != nil {
		t.Fatal(err)
	}
	freq, misp := writeLLVMProfiles(t, p)
	for name, test := range map[string]struct{ text, want string }{
		"freq": {freq, ": remark: Applied 1000 samples from profile (offset: 3)"},
		"misp": {misp, ": remark: Applied 480 samples from profile (offset: 3)"},
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(test.text), 0o666); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(clang, "-O2", "-g", "-c", "-o", os.DevNull, "-fprofile-sample-use="+file, "-Rpass-analysis=sample-profile", source).CombinedOutput()
		if err != nil || !strings.Contains(string(out), test.want) || !strings.Contains(string(out), "a.c:4:") {
			t.Errorf("%s: %v: no %q in\n%s", name, err, test.want, out)
		}
	}
}
