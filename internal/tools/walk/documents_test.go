package walk

import (
	"net/url"
	"strings"
	"testing"

	"profdiff/internal/compare/comparetest"
	"profdiff/internal/listing"
	"profdiff/internal/report/diff"
	"profdiff/internal/report/html"
	"profdiff/internal/source"
	"profdiff/internal/verdict"
)

// cardOf is the fragment that opens the card of a function.
func cardOf(name, dso string) string {
	escape := func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
	return "#function=" + escape(name) + "&dso=" + escape(dso)
}

// decided reports whether a change was shown.
func decided(c *diff.Change) bool {
	return c.Tested && c.Verdict.Changed()
}

func hostileDocument(t *testing.T) *html.Document {
	t.Helper()
	opt := comparetest.Options{Frames: 300, Depth: 20, Runs: 4, Change: true, Names: comparetest.HostileNames()}
	d := sample(t, opt)
	for i, n := range comparetest.HostileNames() {
		d.Warnings = append(d.Warnings, n)
		d.Budgets = append(d.Budgets, html.Budget{Name: n, Limit: n, Measured: n, Interval: n, Outcome: verdict.Fail, Reason: n})
		d.Events[0].Functions[i].DSO = n
		d.Events[0].Groups[0].Rows = append(d.Events[0].Groups[0].Rows, diff.Row{Name: n})
		d.Runs = append(d.Runs, html.Run{Name: n, Command: n, Tool: n, Warnings: []string{n}})
		d.Facts = append(d.Facts, html.Fact{Name: n, Text: n})
		d.Listings = append(d.Listings, listing.New(d.Events[0].Functions[i].Name, n, "e", []listing.Instruction{{Text: n, Key: n, Place: listing.Place{File: n, Line: 1}, Source: source.Text(n)}}, nil))
	}
	d.Base, d.Head, d.Tool = comparetest.HostileNames()[0], comparetest.HostileNames()[1], comparetest.HostileNames()[2]
	d.Verdict.Sentence += comparetest.HostileNames()[0]
	d.Branches = &html.Branches{Base: &html.BranchSource{Name: "</script>", Tier: "S"}, Code: []html.BranchCode{{Function: "<b>", Rows: []html.CodeRow{{Base: &html.CodeInst{Text: "<img src=x onerror=__canary=9>", Branch: 0}}}}}}
	for _, n := range comparetest.HostileNames() {
		d.Branches.Rows = append(d.Branches.Rows, html.Branch{Function: n, DSO: n, Place: n, File: n, Kind: n, Base: &html.BranchSide{Confidence: n, Class: n}, Change: n})
	}
	d.Sources = &diff.Sources{Base: comparetest.HostileNames()[0], Head: comparetest.HostileNames()[1], Notes: comparetest.HostileNames()}
	for i, n := range comparetest.HostileNames() {
		d.Sources.Functions = append(d.Sources.Functions, diff.SourceFunction{
			Name: d.Events[0].Functions[i].Name, DSO: n, BaseFile: n, HeadFile: n, Withheld: n,
			Rows: []source.Row{{Base: 1, Head: 1, Text: source.Text("\t" + n), Was: source.Text(n)}, {Head: 2, Text: source.Text(n)}},
		})
	}
	d.Pipeline = &html.Pipeline{Model: comparetest.HostileNames()[0], Tool: comparetest.HostileNames()[1], Loops: []html.Loop{{Name: comparetest.HostileNames()[1], Notes: comparetest.HostileNames(), Base: &html.LoopSide{Bottleneck: "<b>", Timeline: []html.Step{{Text: "</script>", Retired: 3}}}}}}
	return d
}

const tabNames = `[...document.querySelectorAll("[role=tab]")].map(t => t.id.slice(4))`

// everything is a document with all sections.
func everything(t *testing.T) *html.Document {
	t.Helper()
	d := sample(t, comparetest.Options{Frames: 400, Depth: 12, Runs: 20, Change: true, Times: true, Events: []string{"cpu-clock", "off-cpu"}})
	d.Budgets = []html.Budget{{Name: "total", Limit: "+1 %", Measured: "+2 %", Outcome: verdict.Fail}, {Name: "other", Outcome: verdict.Inconclusive}}
	d.Warnings = []string{"a warning"}
	rate, number, pair := 0.2, 1200.0, [2]float64{0.1, 0.3}
	side := &html.BranchSide{Rate: &rate, CI: &pair, N: 100, Misses: &number, Taken: &rate, MPKI: &rate, Lost: &pair, Confidence: "place exact", Class: "random"}
	bounded := &html.BranchSide{Bounds: &pair, CI: &pair, OfTaken: &rate, OfTakenCI: &pair, N: 100}
	inst := func(text string, branch int) *html.CodeInst { return &html.CodeInst{Text: text, Branch: branch} }
	d.Branches = &html.Branches{
		Base: &html.BranchSource{Name: "x", Tier: "B", Means: "stacks"}, Head: &html.BranchSource{Name: "y", Tier: "B", Means: "stacks", Unknown: "not recorded"},
		Rows: []html.Branch{
			{Function: "f", Place: "+a", File: "f.c", Line: 7, Kind: "conditional", Base: side, Head: bounded, Verdict: verdict.Regressed, Change: "misses +3 %", Code: 0},
			{Function: "f", Place: "+c", Base: side, Change: "removed", Code: -1},
			{Function: "g", Place: "+0", Head: &html.BranchSide{N: 2}, Verdict: verdict.Unchanged, Change: "unchanged", Code: -1},
		},
		Functions: []html.BranchFunction{{Name: "f", DSO: "program", PMU: "cpu_atom", Base: &html.FunctionMisses{Misses: 10, CI: &pair, Samples: 9}, Head: &html.FunctionMisses{Misses: 5, Samples: 4}, Verdict: verdict.Improved, Change: "misses −50 %"}},
		Code:      []html.BranchCode{{Function: "f", Rows: []html.CodeRow{{Base: inst("jl", 0), Head: inst("jl", 0), File: "f.c", Line: 7}, {Base: inst("jg", 1)}, {Head: inst("ret", -1)}}}},
	}
	d.Pipeline = &html.Pipeline{Model: "m", Tool: "llvm-mca", Loops: []html.Loop{{
		Name: "loop", Unit: "a call of heap_sift_down_of_a_long_name", Base: &html.LoopSide{Bottleneck: "mispredicted branches of the loop", Ways: []html.Way{{Name: "through the loop, with a long name", Instructions: 12}}, Throughput: 2, Cycles: []html.Part{{Name: "a", Cycles: 0.5}, {Name: "b", Cycles: 1.5}}, Timeline: []html.Step{{Text: "add", Issued: 2, Executed: 3, Retired: 5}}},
		BreakEven: []html.Point{{Rate: 0, Speedup: 1, Lo: 0.9, Hi: 1.1}, {Rate: 0.5, Speedup: 2, Lo: 1.5, Hi: 2.5}}, Rate: &html.Estimate{Value: 0.1, Lo: 0.05, Hi: 0.2},
	}}}
	addSource(d)
	return d
}

// addSource adds the text of the hottest function, with one line that changed, one that is new,
// and one that is gone, and instructions; and of another function. It returns their names, and
// the line of the first that costs something.
func addSource(d *html.Document) (names []string, line int) {
	e := &d.Events[0]
	hot := &e.HotLines[0]
	f, g := &e.Functions[hot.Function], &e.Functions[e.HotLines[1].Function]
	line = int(hot.HeadLine)
	row := func(n int, text source.Text) source.Row { return source.Row{Base: n, Head: n, Text: text} }
	rows := []source.Row{
		row(line-3, "void first(int *list)"), row(line-2, "{"),
		{Base: line - 1, Head: line - 1, Text: "\tint n = count(list);", Was: "\tint n = length(list);"},
		row(line, "\tfor (int i = 0; i < n; i++)"),
		{Base: line + 1, Text: "\t\tgone(i);"},
		{Head: line + 1, Text: "\t\tadded(i);"},
		row(line+2, "}"),
		row(line+30, "// far away"),
	}
	inst := func(text string, samples int64, line int, inlined ...listing.Caller) listing.Instruction {
		return listing.Instruction{Text: text, Key: text, Samples: samples, Place: listing.Place{File: "program.cc", Line: int64(line)}, Inlined: inlined}
	}
	within := listing.Caller{Callee: "tiny", Place: listing.Place{File: "program.cc", Line: int64(line - 1)}}
	code := []listing.Instruction{inst("push %rbp", 0, line-2), inst("mov %rdi,%rax", 3, 7, within), inst("inc %rcx", 90, line), inst("jl +8", 10, line)}
	d.Listings = []listing.Listing{listing.New(f.Name, f.DSO, e.Name, code, code)}
	d.Sources = &diff.Sources{
		Base: "old", Head: "new", Notes: []string{"Before: not checked."},
		Functions: []diff.SourceFunction{
			{Name: f.Name, DSO: f.DSO, BaseFile: "src/program.cc", HeadFile: "src/program.cc", Rows: rows},
			{Name: g.Name, DSO: g.DSO, HeadFile: "src/program.cc", Rows: []source.Row{{Head: int(e.HotLines[1].HeadLine), Text: "\tother();"}}, Withheld: "before: program.cc: this is another text"},
		},
	}
	return []string{f.Name, g.Name}, line
}
