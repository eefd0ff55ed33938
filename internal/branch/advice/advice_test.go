package advice

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/branch"
	"profdiff/internal/branch/branchtest"
	"profdiff/internal/disasm"
	"profdiff/internal/objects/objectstest"
	"profdiff/internal/objfile"
)

// adviceBranch is a conditional branch with a rate.
func adviceBranch(kind branch.Kind, rate, taken float64) branch.Branch {
	return branch.Branch{
		Place: branch.Place{DSO: "/app", Address: 0x10, Function: "f"}, Kind: kind, N: 1000, NMisses: 100, Enough: true,
		Misses: new(1e6), Loss: branch.Loss{Share: new(0.1)}, Rate: &branch.Rate{Value: &rate, CI: [2]float64{rate * 0.9, rate * 1.1}, Method: branch.AllSeen},
		PTaken: &branch.Estimate{Value: taken, Lo: taken, Hi: taken},
	}
}

func TestAdvise(t *testing.T) {
	with := func(b branch.Branch, change func(*branch.Branch)) branch.Branch { change(&b); return b }
	for _, test := range []struct {
		name   string
		branch branch.Branch
		want   branch.AdviceID // "" is none
		even   float64
	}{
		{"random", adviceBranch(branch.Conditional, 0.4, 0.5), branch.IfConvert, 0.2},
		{"not sure", adviceBranch(branch.Conditional, 0.21, 0.5), "", 0},
		{"seldom missed", adviceBranch(branch.Conditional, 0.1, 0.5), branch.Leave, 0.2},
		{"its own break-even", with(adviceBranch(branch.Conditional, 0.1, 0.5), func(b *branch.Branch) { b.BreakEven = new(0.05) }), branch.IfConvert, 0.05},
		{"its own break-even, higher", with(adviceBranch(branch.Conditional, 0.4, 0.5), func(b *branch.Branch) { b.BreakEven = new(0.6) }), branch.Leave, 0.6},
		{"rare", adviceBranch(branch.Conditional, 0.04, 0.95), branch.Layout, 0.2},
		{"rare and taken", with(adviceBranch(branch.Conditional, 0.04, 0.05), func(b *branch.Branch) { b.Stacks = &branch.StackCounts{TakenRate: &branch.Estimate{Value: 0.6}} }), branch.Layout, 0.2},
		{"rare but learnt", with(adviceBranch(branch.Conditional, 0.001, 0.05), func(b *branch.Branch) { b.Stacks = &branch.StackCounts{TakenRate: &branch.Estimate{Value: 0.02}} }), branch.Leave, 0.2},
		{"cheap", with(adviceBranch(branch.Conditional, 0.4, 0.5), func(b *branch.Branch) { b.Share = new(0.009) }), "", 0},
		{"few misses", with(adviceBranch(branch.Conditional, 0.4, 0.5), func(b *branch.Branch) { b.Enough = false }), "", 0},
		{"bounds", with(adviceBranch(branch.Conditional, 0.4, 0.5), func(b *branch.Branch) {
			b.Rate = &branch.Rate{Bounds: [2]float64{0.1, 0.6}, CI: [2]float64{0.09, 0.65}, Method: branch.ByBounds}
		}), "", 0},
		{"a line", with(adviceBranch(branch.Conditional, 0.4, 0.5), func(b *branch.Branch) { b.ByLine = true }), "", 0},
		{"a candidate", with(adviceBranch(branch.Conditional, 0.4, 0.5), func(b *branch.Branch) { b.Sampled = &branch.SampledCounts{Confidence: branch.Medium} }), branch.IfConvert, 0.2},
		{"one of many", with(adviceBranch(branch.Conditional, 0.4, 0.5), func(b *branch.Branch) { b.Sampled = &branch.SampledCounts{Confidence: branch.Low} }), branch.Identify, 0.2},
		{"imprecise", with(adviceBranch(branch.Conditional, 0, 0), func(b *branch.Branch) {
			b.Rate, b.PTaken, b.Sampled = nil, nil, &branch.SampledCounts{Confidence: branch.High}
		}), branch.IfConvert, 0.2},
		{"imprecise, one of many", with(adviceBranch(branch.Conditional, 0, 0), func(b *branch.Branch) {
			b.Rate, b.PTaken, b.Sampled = nil, nil, &branch.SampledCounts{Confidence: branch.Low}
		}), branch.Identify, 0.2},
		{"imprecise, indirect", with(adviceBranch(branch.Indirect, 0, 0), func(b *branch.Branch) {
			b.Rate, b.PTaken, b.Sampled = nil, nil, &branch.SampledCounts{Confidence: branch.Medium}
		}), branch.Devirtualize, 0.2},
		{"no rate", with(adviceBranch(branch.Conditional, 0, 0), func(b *branch.Branch) { b.Rate = nil }), "", 0},
		{"usual target", with(adviceBranch(branch.Indirect, 0.3, 1), func(b *branch.Branch) { b.Stacks = &branch.StackCounts{Targets: 4, TopTarget: 0.9} }), branch.Devirtualize, 0.1},
		{"usual target, learnt", with(adviceBranch(branch.Indirect, 0.05, 1), func(b *branch.Branch) { b.Stacks = &branch.StackCounts{Targets: 4, TopTarget: 0.9} }), branch.Leave, 0.1},
		{"many targets", with(adviceBranch(branch.Indirect, 0.5, 1), func(b *branch.Branch) { b.Stacks = &branch.StackCounts{Targets: 40, TopTarget: 0.1} }), "", 0},
		{"targets unknown", adviceBranch(branch.Indirect, 0.5, 1), branch.Devirtualize, 0.2},
		{"return", adviceBranch(branch.Return, 0.5, 1), branch.PairReturns, 0.2},
		{"call", adviceBranch(branch.Call, 0.5, 1), "", 0},
	} {
		table := &branch.Table{Tier: branch.TierStacks, Scaled: true, Branches: []branch.Branch{test.branch}}
		Add(table, nil)
		a := table.Branches[0].Advice
		if a == nil {
			a = &branch.Advice{}
		}
		if a.ID != test.want || max(a.BreakEven-test.even, test.even-a.BreakEven) > 1e-9 {
			t.Errorf("%s: %s, break-even %v, want %s, %v", test.name, a.ID, a.BreakEven, test.want, test.even)
		}
		if a.ID != "" && (a.Text == "" || a.Condition == "" || a.CodeSeen) {
			t.Errorf("%s: %+v", test.name, a)
		}
		if b := &test.branch; a.ID != "" && (a.Rate == nil) != (b.Rate == nil || b.Known() == branch.Low) {
			t.Errorf("%s: compared with the rate %v", test.name, a.Rate)
		}
		if unsure := strings.Contains(strings.Join(a.Against, ""), "may be another branch"); unsure != (test.branch.Known() == branch.Medium) {
			t.Errorf("%s: against %q", test.name, a.Against)
		}
		_, top := test.branch.Targets()
		own := test.branch.BreakEven != nil || top >= usualTarget
		if a.ID != "" && (a.RuleOfThumb == own) {
			t.Errorf("%s: rule of thumb is %t", test.name, a.RuleOfThumb)
		}
	}
}

// TestStake shows of what the cost is a share, where less and less is known.
func TestStake(t *testing.T) {
	b := adviceBranch(branch.Conditional, 0.4, 0.5)
	b.Misses, b.MissShare = new(1e6), new(0.4)
	instructions := &branch.Table{Scaled: true, Instructions: new(1e9)}
	type stake struct {
		share float64
		of    branch.Stake
		ok    bool
	}
	get := func(table *branch.Table, b branch.Branch) (s stake) {
		s.share, s.of, s.ok = stakeOf(table, &b)
		return s
	}
	bare := b
	bare.Share = nil
	costly := bare
	costly.Cost = &branch.Cost{Lo: 10, Centre: 40, Hi: 50}
	none := bare
	none.MissShare = nil
	for i, test := range []struct{ got, want stake }{
		{get(instructions, b), stake{0.1, branch.OfCycles, true}},
		{get(instructions, bare), stake{0.02, branch.OfInstructions, true}},
		{get(instructions, costly), stake{0.04, branch.OfInstructions, true}},
		{get(&branch.Table{Scaled: true}, bare), stake{0.4, branch.OfMisses, true}},
		{get(&branch.Table{}, none), stake{}},
	} {
		if test.got != test.want {
			t.Errorf("%d: got %+v, want %+v", i, test.got, test.want)
		}
	}
}

func TestSpread(t *testing.T) {
	table := func(n int, misses float64) *branch.Table {
		t := &branch.Table{}
		for range n {
			t.Branches = append(t.Branches, branch.Branch{Misses: new(misses)})
		}
		return t
	}
	few, many := table(200, 10), table(400, 10)
	Add(few, nil)
	Add(many, nil)
	if few.Advice != "" || !strings.HasPrefix(many.Advice, "it takes 320 branches to have 80 % of the misses") {
		t.Errorf("few: %q, many: %q", few.Advice, many.Advice)
	}
}

// Functions whose advice follows from their code. BARRIER keeps the compiler from
// replacing branches itself.
const adviceProgram = `
#define BARRIER __asm__ volatile("")
typedef struct { long when, seq; } message;
__attribute__((noinline)) long cheap(const message *m, int n, long limit) {
	long count = 0;
	for (int i = 0; i < n; i++)
		if (m[i].when < limit) { count++; BARRIER; } // cheap
	return count;
}
__attribute__((noinline)) long stores(message *m, int n, long limit) {
	for (int i = 0; i < n; i++)
		if (m[i].when < limit) { m[i].seq = 0; BARRIER; } // stores
	return n;
}
__attribute__((noinline)) long divides(const message *m, int n, long limit) {
	long sum = 0;
	for (int i = 0; i < n; i++)
		if (m[i].when < limit) { sum += m[i].seq / limit; BARRIER; } // divides
	return sum;
}
__attribute__((noinline)) long loads(const message **m, int n, long limit) {
	long sum = 0;
	for (int i = 0; i < n; i++)
		if ((long)m[i] < limit) { sum += m[i]->seq; BARRIER; } // loads
	return sum;
}
__attribute__((noinline)) long calls(const message *m, int n, long limit) {
	long sum = 0;
	for (int i = 0; i < n; i++)
		if (m[i].when < limit) { sum += cheap(m, i, limit); } // calls
	return sum;
}
__attribute__((noinline)) long search(const long *v, long n, long key) {
	long low = 0;
	while (n > 1) {
		long half = n / 2;
		if (v[low + half] <= key) { low += half; BARRIER; } // search
		n -= half;
	}
	return low;
}
__attribute__((noinline)) long ends(const char **s, int n) {
	long sum = 0;
	for (int i = 0; i < n; i++)
		for (const char *p = s[i]; *p; p++) { sum += *p; BARRIER; } // ends
	return sum;
}
__attribute__((noinline)) long chain(const int *v, int n) {
	long sum = 0;
	for (int i = 0; i < n; i++) {
		int x = v[i];
		if (x == 3) { sum += 7; BARRIER; } // chain
		else if (x == 17) { sum ^= 9; BARRIER; }
		else if (x == 40) { sum -= 2; BARRIER; }
		else if (x == 66) { sum *= 3; BARRIER; }
		else if (x == 99) { sum += 1; BARRIER; }
	}
	return sum;
}
int main(int argc, char **argv) {
	message m[2] = {{argc, 2}, {3, 4}};
	const message *p[2] = {m, m + 1};
	long v[2] = {1, argc};
	int w[2] = {3, argc};
	return cheap(m, 2, argc) + stores(m, 2, argc) + divides(m, 2, argc) + loads(p, 2, argc) + calls(m, 2, argc) + search(v, 2, argc) + ends((const char **)argv, argc) + chain(w, 2);
}
`

// TestAdviseCode compiles functions and looks at what is said of the branch of a line.
func TestAdviseCode(t *testing.T) {
	want := map[string]branch.AdviceID{
		"cheap": branch.IfConvert, "stores": branch.SortData, "divides": branch.SortData, "loads": branch.SortData, "calls": "",
		"search": branch.Measure, "ends": branch.Unroll, "chain": branch.LookupTable,
	}
	against := map[string]string{
		"stores": "a store", "divides": "a division", "loads": "a load that may fault", "search": "what it decides is ",
	}
	for _, compiler := range [][]string{
		{"gcc", "-O1"},
		{"gcc", "-O2"},
		{"clang", "--target=aarch64-linux-gnu", "-O1", "-ffreestanding", "-nostdlib", "-fuse-ld=lld", "-Wl,-e,main"},
	} {
		t.Run(strings.Join(compiler[:2], " "), func(t *testing.T) {
			dir := t.TempDir()
			source, program := filepath.Join(dir, "app.c"), filepath.Join(dir, "app")
			if err := os.WriteFile(source, []byte(adviceProgram), 0o666); err != nil {
				t.Fatal(err)
			}
			branchtest.RunTool(t, compiler[0], append(compiler[1:], "-g", "-fno-unroll-loops", "-o", program, source)...)
			lineOf := make(map[string]int64)
			for i, line := range strings.Split(adviceProgram, "\n") {
				if _, name, ok := strings.Cut(line, "// "); ok {
					lineOf[name] = int64(i + 1)
				}
			}
			got := make(map[string]branch.AdviceID)
			for name := range want {
				list, lines := branchesOf(t, program, "/app", name)
				table := &branch.Table{Tier: branch.TierStacks, Scaled: true}
				for _, b := range list {
					if lines[b.Address] != lineOf[name] {
						continue
					}
					a := adviceBranch(branch.Conditional, 0.4, 0.5)
					a.Address = b.Address
					table.Branches = append(table.Branches, a)
				}
				Add(table, objectstest.Dir(dir))
				for _, b := range table.Branches {
					// A line may have branches of the loop too.
					a := b.Advice
					if a == nil {
						a = &branch.Advice{CodeSeen: true}
					}
					if !a.CodeSeen {
						t.Errorf("%s: the code was not looked at: %+v", name, a)
					}
					if got[name] == "" || a.ID == want[name] {
						got[name] = a.ID
					}
					if a.ID == want[name] && !strings.Contains(strings.Join(a.Against, "; "), against[name]) {
						t.Errorf("%s: %q does not have %q", name, a.Against, against[name])
					}
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// branchesOf lists the conditional branches of a function, with their lines.
func branchesOf(t *testing.T, file, dso, function string) (list []branch.Branch, lines map[uint64]int64) {
	t.Helper()
	f, err := objfile.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	table, err := f.Lines()
	if err != nil {
		t.Fatal(err)
	}
	code, err := disasm.New(f)
	if err != nil {
		t.Fatal(err)
	}
	fn, err := code.FunctionAt(branchtest.AddressOf(symbols, function))
	if err != nil {
		t.Fatal(err)
	}
	lines = make(map[uint64]int64)
	for _, in := range fn.Insts {
		if in.Kind != disasm.Conditional {
			continue
		}
		b := branchAt(function, in.Addr, 0)
		b.DSO, b.File = dso, ""
		list = append(list, b)
		if frames := table.Frames(in.Addr); len(frames) > 0 {
			lines[in.Addr] = int64(frames[0].Line)
		}
	}
	return list, lines
}

// branchAt makes a branch for tests.
func branchAt(function string, address uint64, line int64) branch.Branch {
	return branch.Branch{
		Place: branch.Place{DSO: "/bin/app", Function: function, Address: address, File: "/src/app.c", Line: line}, Kind: branch.Conditional,
		N: 1000, NMisses: 100, Executed: new(1000.0), Misses: new(100.0), Enough: true,
	}
}
