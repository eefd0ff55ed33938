package branch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/symbolizer"
)

// adviceBranch is a conditional branch with a rate.
func adviceBranch(kind Kind, rate, taken float64) Branch {
	return Branch{
		DSO: "/app", Address: 0x10, Function: "f", Kind: kind, N: 1000, NMisses: 100, Enough: true,
		Misses: new(1e6), Share: new(0.1), Rate: &Rate{Value: &rate, CI: [2]float64{rate * 0.9, rate * 1.1}, Method: AllSeen},
		PTaken: &Estimate{Value: taken, Lo: taken, Hi: taken},
	}
}

func TestAdvise(t *testing.T) {
	with := func(b Branch, change func(*Branch)) Branch { change(&b); return b }
	for _, test := range []struct {
		name   string
		branch Branch
		want   AdviceID // "" is none
		even   float64
	}{
		{"random", adviceBranch(Conditional, 0.4, 0.5), IfConvert, 0.2},
		{"not sure", adviceBranch(Conditional, 0.21, 0.5), "", 0},
		{"seldom missed", adviceBranch(Conditional, 0.1, 0.5), Leave, 0.2},
		{"its own break-even", with(adviceBranch(Conditional, 0.1, 0.5), func(b *Branch) { b.BreakEven = new(0.05) }), IfConvert, 0.05},
		{"its own break-even, higher", with(adviceBranch(Conditional, 0.4, 0.5), func(b *Branch) { b.BreakEven = new(0.6) }), Leave, 0.6},
		{"rare", adviceBranch(Conditional, 0.04, 0.95), Layout, 0.2},
		{"rare and taken", with(adviceBranch(Conditional, 0.04, 0.05), func(b *Branch) { b.TakenRate = &Estimate{Value: 0.6} }), Layout, 0.2},
		{"rare but learnt", with(adviceBranch(Conditional, 0.001, 0.05), func(b *Branch) { b.TakenRate = &Estimate{Value: 0.02} }), Leave, 0.2},
		{"cheap", with(adviceBranch(Conditional, 0.4, 0.5), func(b *Branch) { b.Share = new(0.009) }), "", 0},
		{"few misses", with(adviceBranch(Conditional, 0.4, 0.5), func(b *Branch) { b.Enough = false }), "", 0},
		{"bounds", with(adviceBranch(Conditional, 0.4, 0.5), func(b *Branch) {
			b.Rate = &Rate{Bounds: [2]float64{0.1, 0.6}, CI: [2]float64{0.09, 0.65}, Method: ByBounds}
		}), "", 0},
		{"a line", with(adviceBranch(Conditional, 0.4, 0.5), func(b *Branch) { b.ByLine = true }), "", 0},
		{"a candidate", with(adviceBranch(Conditional, 0.4, 0.5), func(b *Branch) { b.Confidence = Medium }), IfConvert, 0.2},
		{"one of many", with(adviceBranch(Conditional, 0.4, 0.5), func(b *Branch) { b.Confidence = Low }), Identify, 0.2},
		{"imprecise", with(adviceBranch(Conditional, 0, 0), func(b *Branch) { b.Rate, b.PTaken, b.Sampled, b.Confidence = nil, nil, &SampledCounts{}, High }), IfConvert, 0.2},
		{"imprecise, one of many", with(adviceBranch(Conditional, 0, 0), func(b *Branch) { b.Rate, b.PTaken, b.Sampled, b.Confidence = nil, nil, &SampledCounts{}, Low }), Identify, 0.2},
		{"imprecise, indirect", with(adviceBranch(Indirect, 0, 0), func(b *Branch) { b.Rate, b.PTaken, b.Sampled, b.Confidence = nil, nil, &SampledCounts{}, Medium }), Devirtualize, 0.2},
		{"no rate", with(adviceBranch(Conditional, 0, 0), func(b *Branch) { b.Rate = nil }), "", 0},
		{"usual target", with(adviceBranch(Indirect, 0.3, 1), func(b *Branch) { b.Targets, b.TopTarget = 4, 0.9 }), Devirtualize, 0.1},
		{"usual target, learnt", with(adviceBranch(Indirect, 0.05, 1), func(b *Branch) { b.Targets, b.TopTarget = 4, 0.9 }), Leave, 0.1},
		{"many targets", with(adviceBranch(Indirect, 0.5, 1), func(b *Branch) { b.Targets, b.TopTarget = 40, 0.1 }), SortData, 0.2},
		{"targets unknown", adviceBranch(Indirect, 0.5, 1), Devirtualize, 0.2},
		{"return", adviceBranch(Return, 0.5, 1), PairReturns, 0.2},
		{"call", adviceBranch(Call, 0.5, 1), "", 0},
	} {
		table := &Table{Tier: TierStacks, Scaled: true, Branches: []Branch{test.branch}}
		Advise(table, nil)
		a := table.Branches[0].Advice
		if a == nil {
			a = &Advice{}
		}
		if a.ID != test.want || max(a.BreakEven-test.even, test.even-a.BreakEven) > 1e-9 {
			t.Errorf("%s: %s, break-even %v, want %s, %v", test.name, a.ID, a.BreakEven, test.want, test.even)
		}
		if a.ID != "" && (a.Text == "" || a.Condition == "" || a.CodeSeen) {
			t.Errorf("%s: %+v", test.name, a)
		}
		if b := &test.branch; a.ID != "" && (a.Rate == nil) != (b.Rate == nil || b.Confidence == Low) {
			t.Errorf("%s: compared with the rate %v", test.name, a.Rate)
		}
		if unsure := strings.Contains(strings.Join(a.Against, ""), "may be another branch"); unsure != (test.branch.Confidence == Medium) {
			t.Errorf("%s: against %q", test.name, a.Against)
		}
		own := test.branch.BreakEven != nil || test.branch.TopTarget >= usualTarget
		if a.ID != "" && (a.RuleOfThumb == own) {
			t.Errorf("%s: rule of thumb is %t", test.name, a.RuleOfThumb)
		}
	}
}

// TestStake shows of what the cost is a share, where less and less is known.
func TestStake(t *testing.T) {
	b := adviceBranch(Conditional, 0.4, 0.5)
	b.Misses, b.MissShare = new(1e6), new(0.4)
	instructions := &Table{Scaled: true, Instructions: new(1e9)}
	type stake struct {
		share float64
		of    Stake
		ok    bool
	}
	get := func(table *Table, b Branch) (s stake) {
		s.share, s.of, s.ok = stakeOf(table, &b)
		return s
	}
	bare := b
	bare.Share = nil
	costly := bare
	costly.Cost = &Cost{Lo: 10, Centre: 40, Hi: 50}
	none := bare
	none.MissShare = nil
	for i, test := range []struct{ got, want stake }{
		{get(instructions, b), stake{0.1, OfCycles, true}},
		{get(instructions, bare), stake{0.02, OfInstructions, true}},
		{get(instructions, costly), stake{0.04, OfInstructions, true}},
		{get(&Table{Scaled: true}, bare), stake{0.4, OfMisses, true}},
		{get(&Table{}, none), stake{}},
	} {
		if test.got != test.want {
			t.Errorf("%d: got %+v, want %+v", i, test.got, test.want)
		}
	}
}

func TestSpread(t *testing.T) {
	table := func(n int, misses float64) *Table {
		t := &Table{}
		for range n {
			t.Branches = append(t.Branches, Branch{Misses: new(misses)})
		}
		return t
	}
	few, many := table(200, 10), table(400, 10)
	Advise(few, nil)
	Advise(many, nil)
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
	want := map[string]AdviceID{
		"cheap": IfConvert, "stores": SortData, "divides": SortData, "loads": SortData, "calls": SortData,
		"search": Leave, "ends": Unroll, "chain": LookupTable,
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
			runTool(t, compiler[0], append(compiler[1:], "-g", "-fno-unroll-loops", "-o", program, source)...)
			lineOf := make(map[string]int64)
			for i, line := range strings.Split(adviceProgram, "\n") {
				if _, name, ok := strings.Cut(line, "// "); ok {
					lineOf[name] = int64(i + 1)
				}
			}
			got := make(map[string]AdviceID)
			for name := range want {
				list, lines := branchesOf(t, program, "/app", name)
				table := &Table{Tier: TierStacks, Scaled: true}
				for _, b := range list {
					if lines[b.Address] != lineOf[name] {
						continue
					}
					a := adviceBranch(Conditional, 0.4, 0.5)
					a.Address = b.Address
					table.Branches = append(table.Branches, a)
				}
				Advise(table, []symbolizer.SearchPath{{Name: dir, FS: os.DirFS(dir)}})
				for _, b := range table.Branches {
					// A line may have branches of the loop too.
					a := b.Advice
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

func TestOperations(t *testing.T) {
	for _, test := range []struct {
		text       string
		arm        bool
		uses, defs string
		flags      string // l loads, s stores, d divides, c compares, k stack, n constant
	}{
		{"mov    %rax,0x8(%rdi,%rcx,4)", false, "rax rcx rdi", "", "s"},
		{"mov    0x8(%rdi),%eax", false, "rdi", "rax", "l"},
		{"add    %r8d,%r9d", false, "r8 r9", "r9", ""},
		{"addl   $0x1,(%rax)", false, "rax", "", "lsn"},
		{"cmp    $0x7f,%al", false, "rax", "", "cn"},
		{"cmpl   $0x7f,-0x8(%rbp)", false, "rbp", "", "lcn"},
		{"lea    0x8(%rdi,%rcx,4),%rdx", false, "rcx rdi", "rdx", ""},
		{"idiv   %rcx", false, "rax rcx rdx", "rax rdx", "d"},
		{"push   %rbx", false, "rbx", "", "s"},
		{"mov    %rax,0x10(%rsp)", false, "rax rsp", "", "sk"},
		{"call   401020", false, "", "", ""},
		{"movsd  0x20(%rip),%xmm1", false, "rip", "xmm1", "lk"},
		{"ldr x0, [x1,#8]", true, "x1", "x0", "l"},
		{"ldp x29, x30, [sp],#16", true, "sp", "x29 x30 sp", "lkn"},
		{"str w2, [x3,x4,lsl #2]", true, "x2 x3 x4", "", "s"},
		{"cmp w0, #0x7", true, "x0", "", "cn"},
		{"sdiv x1, x2, x3", true, "x2 x3", "x1", "d"},
		{"cbz w4, 0x1000", true, "x4", "", ""},
		{"add x0, x0, x1", true, "x0 x1", "x0", ""},
		{"fadd d0, d1, d2", true, "v1 v2", "v0", ""},
	} {
		op := parseX86(test.text)
		if test.arm {
			op = parseArm64(test.text)
		}
		var flags []string
		for _, f := range []struct {
			set  bool
			name string
		}{{op.loads, "l"}, {op.stores, "s"}, {op.divides, "d"}, {op.compares, "c"}, {op.onStack, "k"}, {op.constant, "n"}} {
			if f.set {
				flags = append(flags, f.name)
			}
		}
		if uses, defs := strings.Join(op.uses, " "), strings.Join(op.defs, " "); uses != test.uses || defs != test.defs || strings.Join(flags, "") != test.flags {
			t.Errorf("%s: uses %q, defines %q, %q; want %q, %q, %q", test.text, uses, defs, flags, test.uses, test.defs, test.flags)
		}
	}
}
