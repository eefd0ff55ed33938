package branches

import (
	"bytes"
	"strings"
	"testing"

	"profdiff/internal/branch"
	"profdiff/internal/branch/annotate"
	"profdiff/internal/report/reporttest"
	"profdiff/internal/symbolizer"
)

func TestBranchesListing(t *testing.T) {
	table := branchTable()
	at := func(line int64) []symbolizer.Frame {
		return []symbolizer.Frame{{Name: "longest_match", File: "/src/deflate.c", Line: line}}
	}
	l := &annotate.Listing{
		Function: "longest_match", DSO: "/usr/bin/app", BuildID: "0123456789abcdef", Start: 0x401680, End: 0x401735,
		Incomplete: "jump table at 0x401690",
		Insts: []annotate.Inst{
			{Addr: 0x401680, Text: "push %rbp", Block: true, Frames: at(430)},
			{Addr: 0x401681, Text: "mov %rsp,%rbp", Frames: at(430)},
			{Addr: 0x401731, Text: "jne 0x401680", Block: true, Loop: 1, Frames: table.Branches[0].Inlined, Branches: []*branch.Branch{&table.Branches[0]}},
			{Addr: 0x401733, Text: "ja 0x401680", Block: true, Loop: 1, Frames: at(440), Branches: []*branch.Branch{&table.Branches[1]}},
			{Addr: 0x401735, Text: "ret", Block: true},
		},
		Elsewhere: []*branch.Branch{{Place: branch.Place{Address: 0x401682}}},
	}
	source := func(file string) []string {
		if file != "/src/inner.h" {
			return nil
		}
		return append(make([]string, 11), "\tif (a <\tb)  ")
	}
	var b bytes.Buffer
	if err := WriteListing(&b, New(table, Parts{All: true, Listing: l, Source: source})); err != nil {
		t.Fatal(err)
	}
	reporttest.Golden(t, "testdata/branches_listing.txt", b.Bytes())
	b.Reset()
	if err := WriteListing(&b, New(table, Parts{All: true, Listing: l})); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); strings.Contains(got, "if (a") || !strings.Contains(got, "; compare inner.h:12 < longest_match deflate.c:439\n") {
		t.Errorf("without sources:\n%s", got)
	}
}

// TestBranchesListingSampled checks a row whose branch is not certain, and one of
// another PMU at the same instruction.
func TestBranchesListingSampled(t *testing.T) {
	row := func(pmu string, misses float64) *branch.Branch {
		return &branch.Branch{
			Place: branch.Place{DSO: "/system/lib64/liba.so", Address: 0x10}, Kind: branch.Conditional, PMU: pmu, Misses: &misses,
			Sampled: &branch.SampledCounts{Confidence: branch.Medium, Exclusive: 3, Shared: 2.5, ExclusiveSamples: 3, SharedSamples: 5, Candidates: []branch.RowCandidate{{Place: branch.Place{Address: 0x20}, Part: 0.31}}},
		}
	}
	table := &branch.Table{
		Name: "perf.data", Tier: branch.TierSampled, Scaled: true, Sampled: &branch.SampledTable{Attribution: branch.Attribution{}},
		Events:   []branch.Event{{Name: "branch-misses", Rates: true}, {Name: "cpu-clock"}},
		Branches: []branch.Branch{*row("armv8_cortex_a55", 1000), *row("armv8_cortex_x1", 500)},
	}
	l := &annotate.Listing{Function: "f", DSO: "/system/lib64/liba.so", Start: 0x10, End: 0x14, Insts: []annotate.Inst{{
		Addr: 0x10, Text: "b.eq 0x18", Block: true,
		Branches: []*branch.Branch{&table.Branches[0], &table.Branches[1]},
		Blocks:   []*branch.Block{{PMU: "armv8_cortex_x1", Start: 0x10, End: 0x14, Misses: branch.Amount{Value: 40, CI: [2]float64{20, 70}}}},
	}}}
	var b bytes.Buffer
	if err := WriteListing(&b, New(table, Parts{All: true, Listing: l})); err != nil {
		t.Fatal(err)
	}
	reporttest.Golden(t, "testdata/branches_listing_sampled.txt", b.Bytes())
}
