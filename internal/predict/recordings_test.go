package predict

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"profdiff/internal/branch"
	"profdiff/internal/disasm"
	"profdiff/internal/llvm"
	"profdiff/internal/objects"
	"profdiff/internal/predict/flow"
	"profdiff/internal/predict/hot"
	"profdiff/internal/run"
)

// twoLoops has a function with a loop and one with a short loop within a loop.
const twoLoops = `
	.text
	.globl	hot
	.type	hot, @function
hot:
	xorl	%eax, %eax
.L3:
	movl	(%rdi), %edx
	cmpl	$100, %edx
	jge	.L2
	addl	%edx, %eax
.L2:
	addq	$4, %rdi
	cmpq	%rdi, %rsi
	jne	.L3
	ret
	.size	hot, .-hot
	.globl	nest
	.type	nest, @function
nest:
	xorl	%eax, %eax
.L5:
	xorl	%ecx, %ecx
.L6:
	addl	%ecx, %eax
	incl	%ecx
	cmpl	$4, %ecx
	jne	.L6
	decq	%rdi
	jne	.L5
	ret
	.size	nest, .-nest
	.section	.note.GNU-stack,"",@progbits
`

// noLLVM is a Toolchain for tests of what is done before any simulation. Package disasm
// has the text of its instructions.
type noLLVM struct{ Simulator }

func (noLLVM) Disassemble(context.Context, string, uint64, uint64, llvm.DisassembleOptions) ([]llvm.Instruction, error) {
	return nil, nil
}

// binaryOf assembles a listing.
func binaryOf(t testing.TB, name, text string) *hot.Binary {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("gcc is not installed")
	}
	machine, err := exec.CommandContext(t.Context(), "gcc", "-dumpmachine").Output()
	if err != nil || !strings.HasPrefix(string(machine), "x86_64-linux") {
		t.Skipf("gcc makes code for %s, not x86_64-linux", strings.TrimSpace(string(machine)))
	}
	dir := t.TempDir()
	source, file := filepath.Join(dir, "code.s"), filepath.Join(dir, name)
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "gcc", "-shared", "-nostdlib", "-o", file, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b, err := open(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// open is the binary in a file.
func open(file string) (*hot.Binary, error) {
	o, err := objects.New(objects.Options{}).Open(file)
	if err != nil {
		return nil, err
	}
	return hot.New(o, "")
}

// address is where an instruction of a function stands.
func address(t testing.TB, b *hot.Binary, function string, at int) uint64 {
	t.Helper()
	start, _, err := b.FunctionNamed(func(name string) bool { return name == function })
	if err != nil {
		t.Fatal(err)
	}
	f, err := b.Function(start)
	if err != nil {
		t.Fatal(err)
	}
	return f.Insts[at].Addr
}

// A sampled is weight at an instruction of a function.
type sampled struct {
	function string
	at       int
	weight   int64
}

// mapped is where recordings have a binary. Offsets in the file are addresses there, as
// the linker makes them of so small a file.
const mapped = 0x7f0000000000

// recording is a run with samples in a binary.
func recording(t testing.TB, name string, b *hot.Binary, samples ...sampled) *run.Run {
	t.Helper()
	rb := run.NewBuilder(name)
	event := rb.Event(run.Event{Name: "cycles"})
	m := rb.Mapping(run.Mapping{File: "/lib/" + filepath.Base(b.Path), Start: mapped, Limit: mapped + 1<<20, BuildID: b.BuildID})
	for _, s := range samples {
		addr := address(t, b, s.function, s.at)
		if v, ok := b.Vaddr(addr); !ok || v != addr {
			t.Fatalf("offset %#x is address %#x", addr, v)
		}
		f := rb.Function(run.Function{Name: s.function})
		rb.Add(event, rb.Stack(0, rb.Location(m, mapped+addr, run.Line{Function: f})), 0, s.weight)
	}
	return finish(t, rb)
}

func finish(t testing.TB, rb *run.Builder) *run.Run {
	t.Helper()
	r, err := rb.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// tablesOf is a table, if it is one.
func tablesOf(t *branch.Table) []*branch.Table {
	if t == nil {
		return nil
	}
	return []*branch.Table{t}
}

// sideOf is a side with the samples of one run.
func sideOf(t *testing.T, b *hot.Binary, table *branch.Table, samples ...sampled) *SideInput {
	t.Helper()
	p, err := hot.NewProfile([]*run.Run{recording(t, "run", b, samples...)}, b, "")
	if err != nil {
		t.Fatal(err)
	}
	return &SideInput{Name: "side", Binary: b, Profile: p, Branches: tablesOf(table)}
}

// branchAt is a conditional branch that was executed, jumped and was mispredicted so often.
func branchAt(t *testing.T, b *hot.Binary, function string, at int, executed, taken, miss float64) branch.Branch {
	return branch.Branch{
		Place: branch.Place{DSO: "/lib/" + filepath.Base(b.Path), Address: address(t, b, function, at)}, Kind: branch.Conditional,
		Executed: new(executed), PTaken: &branch.Estimate{Value: taken, Lo: taken, Hi: taken}, Rate: &branch.Rate{Value: new(miss), CI: [2]float64{miss, miss}},
	}
}

func TestLoops(t *testing.T) {
	b := binaryOf(t, "two.so", twoLoops)
	for _, test := range []struct {
		name    string
		samples []sampled
		want    []string
	}{
		{"one", []sampled{{"hot", 1, 10}}, []string{"hot depth 1: 1.00"}},
		{"hottest first", []sampled{{"hot", 1, 3}, {"nest", 2, 5}}, []string{"nest depth 2: 0.62", "hot depth 1: 0.38"}},
		{"outside of loops", []sampled{{"hot", 0, 5}, {"hot", 4, 5}}, []string{"hot depth 1: 0.50"}},
		{"inner loop with less than three quarters", []sampled{{"nest", 1, 6}, {"nest", 2, 4}}, []string{"nest depth 1: 1.00"}},
		{"inner loop with three quarters", []sampled{{"nest", 1, 1}, {"nest", 2, 3}}, []string{"nest depth 2: 0.75"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			list, err := sideOf(t, b, nil, test.samples...).Profile.Loops(b)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, h := range list {
				got = append(got, fmt.Sprintf("%s depth %d: %.2f", h.Function.Name, h.Function.Loops[h.Loop].Depth, h.Share))
			}
			if diff := gocmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := sideOf(t, b, nil, sampled{"hot", 0, 1}).Profile.Loops(b); err == nil || !strings.Contains(err.Error(), "no samples in a loop") {
		t.Errorf("samples outside of loops: %v", err)
	}
}

func TestPairsOf(t *testing.T) {
	b := binaryOf(t, "two.so", twoLoops)
	both := []sampled{{"hot", 1, 6}, {"nest", 2, 4}}
	for _, test := range []struct {
		name       string
		base, head []sampled
		opt        PairOptions
		want       []string // function, unit
		err        string
	}{
		{"hottest", both, both, PairOptions{}, []string{"hot 1"}, ""},
		{"two", both, both, PairOptions{Limit: 2}, []string{"hot 1", "nest 2"}, ""},
		{"named", both, both, PairOptions{Functions: [2]string{"nest", "nest"}}, []string{"nest 2"}, ""},
		{"loop by its number", both, both, PairOptions{Functions: [2]string{"nest", "nest"}, Loops: [2]int{1, 1}}, []string{"nest 1"}, ""},
		{"other function", both, []sampled{{"nest", 2, 1}}, PairOptions{}, nil, "no function like it has any in a loop after"},
		{"no samples in it", both, []sampled{{"nest", 2, 1}}, PairOptions{Functions: [2]string{"hot", "hot"}}, nil, "no samples in a loop of hot"},
		{"loop that is not there", both, both, PairOptions{Functions: [2]string{"hot", "hot"}, Loops: [2]int{2, 0}}, nil, "hot has no loop 2, only 1"},
		{"none in common", []sampled{{"hot", 0, 5}, {"hot", 1, 4}}, both[1:], PairOptions{Limit: 3}, nil, "no loop is on both sides"},
	} {
		t.Run(test.name, func(t *testing.T) {
			pairs, err := PairsOf(t.Context(), noLLVM{}, sideOf(t, b, nil, test.base...), sideOf(t, b, nil, test.head...), test.opt)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("error %v, want %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range pairs {
				got = append(got, fmt.Sprintf("%s %d", p.Base.Code.Root.Name, p.Base.Code.Root.Loops[p.Base.Loop].Depth))
				if p.Source != SourceAssumed {
					t.Errorf("%s: source %s without branches", p.Name, p.Source)
				}
			}
			if diff := gocmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// checked is a loop with a check whose failure ends the program, and the growing of a
// goroutine's stack at the end, as Go's compiler writes them.
const checked = `
	.text
	.type	runtime.panicIndex, @function
runtime.panicIndex:
	ud2
	.size	runtime.panicIndex, .-runtime.panicIndex
	.type	runtime.morestack_noctxt, @function
runtime.morestack_noctxt:
	ret
	.size	runtime.morestack_noctxt, .-runtime.morestack_noctxt
	.globl	sum
	.type	sum, @function
sum:
	cmpq	%r14, %rsp
	jbe	.L4
	xorl	%eax, %eax
.L2:
	cmpq	%rcx, %rbx
	jae	.L3
	addl	(%rdi,%rbx), %eax
	addq	$4, %rbx
	decq	%rdx
	jne	.L2
	ret
.L3:
	call	runtime.panicIndex
.L4:
	call	runtime.morestack_noctxt
	jmp	sum
	.size	sum, .-sum
	.section	.note.GNU-stack,"",@progbits
`

// TestLoopsAreThoseOfSamples checks that the loops in which samples fell are those that are
// predicted, where a call that does not return stands before other code.
func TestLoopsAreThoseOfSamples(t *testing.T) {
	in := sideOf(t, binaryOf(t, "checked.so", checked), nil, sampled{"sum", 5, 1})
	pairs, err := PairsOf(t.Context(), noLLVM{}, in, in, PairOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := pairs[0].Base
	g := s.Code.Root
	if len(g.Loops) != 1 || g.Loops[s.Loop].Irreducible {
		t.Fatalf("loops %+v", g.Loops)
	}
	if in, want := g.Insts[g.Blocks[g.Loops[s.Loop].Header].First], address(t, in.Binary, "sum", 3); in.Addr != want {
		t.Errorf("the loop starts at %#x, want %#x", in.Addr, want)
	}
	if walk := flow.Walk(s.Code, s.Rates.branches(s.Loop, g), 1, s.Loop, flow.Limits{Steps: 100, Units: 100}); walk.Calls > 0 {
		t.Errorf("the walk came to %d calls", walk.Calls)
	}
}

// manyWays is a loop with 16 ways.
const manyWays = `
	.text
	.globl	many
	.type	many, @function
many:
	testl	$1, (%rdi)
	je	.L1
	addl	$1, %eax
.L1:
	testl	$2, (%rdi)
	je	.L2
	addl	$2, %eax
.L2:
	testl	$4, (%rdi)
	je	.L3
	addl	$4, %eax
.L3:
	testl	$8, (%rdi)
	je	.L4
	addl	$8, %eax
.L4:
	addq	$4, %rdi
	cmpq	%rdi, %rsi
	jne	many
	ret
	.size	many, .-many
	.section	.note.GNU-stack,"",@progbits
`

// TestPathsAreFew checks that of many ways those are taken that samples are in.
func TestPathsAreFew(t *testing.T) {
	b := binaryOf(t, "many.so", manyWays)
	// Samples are where all bits are set.
	var samples []sampled
	for at := range 15 {
		samples = append(samples, sampled{"many", at, 10})
	}
	in := sideOf(t, b, nil, samples...)
	pairs, err := PairsOf(t.Context(), noLLVM{}, in, in, PairOptions{})
	if err != nil {
		t.Fatal(err)
	}
	paths, more, all, err := pathsOf(pairs[0].Base, ShownPaths)
	if err != nil || len(paths) != ShownPaths || more != 16-ShownPaths || !all {
		t.Fatalf("%d paths, %d more, all %v: %v", len(paths), more, all, err)
	}
	share := 0.0
	for i, p := range paths {
		share += p.Share
		if i > 0 && p.Share > paths[i-1].Share {
			t.Errorf("path %d has %.3f of the units, that before it %.3f", i, p.Share, paths[i-1].Share)
		}
	}
	if share >= 1 {
		t.Errorf("the ways have %.3f of the units", share)
	}
	// Without samples in the last addition, fewer units go there.
	in = sideOf(t, b, nil, append(samples[:11:11], samples[12:]...)...)
	if pairs, err = PairsOf(t.Context(), noLLVM{}, in, in, PairOptions{}); err != nil {
		t.Fatal(err)
	}
	if paths, _, _, err = pathsOf(pairs[0].Base, ShownPaths); err != nil {
		t.Fatal(err)
	}
	for _, s := range paths[0].steps {
		if s.At == 11 {
			t.Error("the most frequent way leads through what has no samples")
		}
	}
}

// TestShortLoopUnit checks that a loop of four trips is a part of the one around it.
func TestShortLoopUnit(t *testing.T) {
	b := binaryOf(t, "two.so", twoLoops)
	table := &branch.Table{Tier: branch.TierStacks, Scaled: true, Branches: []branch.Branch{
		branchAt(t, b, "nest", 5, 4000, 0.75, 0),
		branchAt(t, b, "nest", 7, 1000, 0.999, 0),
	}}
	in := sideOf(t, b, table, sampled{"nest", 2, 1})
	pairs, err := PairsOf(t.Context(), noLLVM{}, in, in, PairOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p := pairs[0]
	if depth := p.Base.Code.Root.Loops[p.Base.Loop].Depth; depth != 1 || p.Source != SourceMeasured {
		t.Errorf("unit %s of depth %d, rates %s", p.Unit, depth, p.Source)
	}
	if p.ProgramShare == nil || *p.ProgramShare != 1 {
		t.Errorf("share %v", p.ProgramShare)
	}
}

// TestTableRates checks what becomes of the branches of a table.
func TestTableRates(t *testing.T) {
	b := binaryOf(t, "two.so", twoLoops)
	g, err := b.Graph(t.Context(), noLLVM{}, address(t, b, "hot", 0), true)
	if err != nil {
		t.Fatal(err)
	}
	with := func(change func(*branch.Branch)) *branch.Table {
		one := branchAt(t, b, "hot", 3, 1000, 0.3, 0.2)
		change(&one)
		return &branch.Table{Tier: branch.TierStacks, Branches: []branch.Branch{one}}
	}
	simulated := with(func(*branch.Branch) {})
	simulated.Tier = branch.TierSimulated
	bounds := func(takenLo, takenHi, missLo, missHi float64) *flow.Bounds {
		return &flow.Bounds{Taken: [2]float64{takenLo, takenHi}, Miss: [2]float64{missLo, missHi}}
	}
	twice := with(func(*branch.Branch) {})
	twice.Branches = append(twice.Branches, branchAt(t, b, "hot", 3, 3000, 0.7, 0.4))
	for _, test := range []struct {
		name   string
		table  *branch.Table
		source Source
		want   flow.Branch
		ok     bool
	}{
		{"none", nil, SourceAssumed, flow.Branch{}, false},
		{"measured", with(func(*branch.Branch) {}), SourceMeasured, flow.Branch{Taken: 0.3, Miss: 0.2, Executed: 1000}, true},
		{
			"misses within bounds", with(func(o *branch.Branch) { o.Rate = &branch.Rate{Bounds: [2]float64{0.1, 0.2}, CI: [2]float64{0.1, 0.2}} }), SourceMeasured,
			flow.Branch{Taken: 0.3, Miss: 0.15, Bounds: bounds(0.3, 0.3, 0.1, 0.2), Executed: 1000},
			true,
		},
		{
			"misses that did not jump unseen", with(func(o *branch.Branch) {
				o.PTaken = &branch.Estimate{Value: 0.05, Lo: 0.05, Hi: 0.05}
				o.Rate = &branch.Rate{Bounds: [2]float64{0.04, 0.99}, CI: [2]float64{0.04, 0.99}}
			}), SourceMeasured,
			flow.Branch{Taken: 0.05, Miss: (0.04 + noisy(0.05)) / 2, Bounds: bounds(0.05, 0.05, 0.04, noisy(0.05)), Executed: 1000},
			true,
		},
		{
			"misses unknown", with(func(o *branch.Branch) { o.Rate = nil }), SourceMeasured,
			flow.Branch{Taken: 0.3, Miss: 0.3, Bounds: bounds(0.3, 0.3, 0, 0.3), Executed: 1000},
			true,
		},
		{
			"jumps unknown", with(func(o *branch.Branch) { o.PTaken = nil }), SourceMeasured,
			flow.Branch{Taken: 0.5, Miss: 0.2, Bounds: bounds(0.1, 0.9, 0.2, 0.2), Executed: 1000},
			true,
		},
		{
			"jumps within bounds", with(func(o *branch.Branch) { o.PTaken = &branch.Estimate{Value: 0.4, Lo: 0.2, Hi: 0.6} }), SourceMeasured,
			flow.Branch{Taken: 0.4, Miss: 0.2, Bounds: bounds(0.2, 0.6, 0.2, 0.2), Executed: 1000},
			true,
		},
		{"nothing", with(func(o *branch.Branch) { o.PTaken, o.Rate = nil, nil }), SourceMeasured, flow.Branch{}, false},
		{"two recordings", twice, SourceMeasured, flow.Branch{Taken: 0.6, Miss: 0.35, Executed: 4000}, true},
		{"by line", with(func(o *branch.Branch) { o.ByLine = true }), SourceMeasured, flow.Branch{}, false},
		{"call", with(func(o *branch.Branch) { o.Kind = branch.Call }), SourceMeasured, flow.Branch{}, false},
		{"simulated", simulated, SourceSimulated, flow.Branch{Taken: 0.3, Miss: 0.2, Executed: 1000}, true},
	} {
		in := &SideInput{Name: "side", Binary: b, Branches: tablesOf(test.table)}
		rates := in.rates()
		if rates.Source != test.source {
			t.Errorf("%s: source %s", test.name, rates.Source)
		}
		if rates.Branch == nil {
			if test.ok {
				t.Errorf("%s: nothing known", test.name)
			}
			continue
		}
		got, ok := rates.Branch(g, 3)
		if !ok && !test.ok {
			continue
		}
		if diff := gocmp.Diff(test.want, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" || ok != test.ok {
			t.Errorf("%s: %v, -want +got:\n%s", test.name, ok, diff)
		}
	}
}

// TestMeasuredSpeedup checks the speed-up that the samples of several runs give.
func TestMeasuredSpeedup(t *testing.T) {
	b := binaryOf(t, "two.so", twoLoops)
	side := func(weights ...int64) *SideInput {
		var runs []*run.Run
		for i, w := range weights {
			runs = append(runs, recording(t, fmt.Sprint("run ", i), b, sampled{"hot", 1, w}, sampled{"nest", 2, 500}))
		}
		p, err := hot.NewProfile(runs, b, "cycles")
		if err != nil {
			t.Fatal(err)
		}
		return &SideInput{Name: "side", Binary: b, Profile: p}
	}
	pairs, err := PairsOf(t.Context(), noLLVM{}, side(2000, 2100, 1900), side(1000, 1050, 950), PairOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m := pairs[0].Measured
	if m == nil || m.Value < 1.99 || m.Value > 2.01 || m.Lo >= m.Value || m.Hi <= m.Value {
		t.Fatalf("measured %+v", m)
	}
	if share := pairs[0].ProgramShare; share == nil || *share < 0.79 || *share > 0.81 {
		t.Errorf("share %v", share)
	}
}

// TestWithoutAddresses is a recording that names functions only.
func TestWithoutAddresses(t *testing.T) {
	b := binaryOf(t, "two.so", twoLoops)
	rb := run.NewBuilder("folded")
	event := rb.Event(run.Event{Name: "samples"})
	for name, weight := range map[string]int64{"hot": 30, "main": 70} {
		f := rb.Function(run.Function{Name: name})
		rb.Add(event, rb.Stack(0, rb.Location(0, 0, run.Line{Function: f})), 0, weight)
	}
	p, err := hot.NewProfile([]*run.Run{finish(t, rb)}, b, "")
	if err != nil {
		t.Fatal(err)
	}
	in := &SideInput{Name: "side", Binary: b, Profile: p}
	if in.Heat() != nil {
		t.Error("there is heat without addresses")
	}
	pairs, err := PairsOf(t.Context(), noLLVM{}, in, in, PairOptions{Functions: [2]string{"hot", "hot"}})
	if err != nil {
		t.Fatal(err)
	}
	if share := pairs[0].ProgramShare; share == nil || *share != 0.3 || pairs[0].Base.Loop != 0 {
		t.Errorf("share %v, loop %d", share, pairs[0].Base.Loop)
	}
	for function, want := range map[string]string{"": "names the function", "main": "no function main"} {
		if _, err := PairsOf(t.Context(), noLLVM{}, in, in, PairOptions{Functions: [2]string{function, function}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("function %q: %v", function, err)
		}
	}
}

func TestProfileErrors(t *testing.T) {
	b := binaryOf(t, "two.so", twoLoops)
	good := recording(t, "good", b, sampled{"hot", 1, 1})
	other := *good
	other.Mappings = append([]run.Mapping(nil), good.Mappings...)
	other.Mappings[1].File, other.Mappings[1].BuildID = "/lib/other.so", "00"
	rebuilt := *good
	rebuilt.Mappings = append([]run.Mapping(nil), good.Mappings...)
	rebuilt.Mappings[1].BuildID = "00112233445566778899aabbccddeeff00112233"
	for _, test := range []struct {
		name, event, want string
		run               *run.Run
	}{
		{"event", "branch-misses", `no event "branch-misses", there are cycles`, good},
		{"no samples", "", "no samples", finish(t, run.NewBuilder("empty"))},
		{"elsewhere", "", "only in other.so", &other},
	} {
		if _, err := hot.NewProfile([]*run.Run{test.run}, b, test.event); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	_, err := hot.NewProfile([]*run.Run{&rebuilt}, b, "")
	if b.BuildID == "" {
		t.Skip("the linker writes no build ID")
	}
	if err == nil || !strings.Contains(err.Error(), "give the binary that ran") {
		t.Errorf("other build ID: %v", err)
	}
}

func TestHeat(t *testing.T) {
	b := binaryOf(t, "two.so", twoLoops)
	in := sideOf(t, b, nil, sampled{"hot", 1, 3}, sampled{"hot", 2, 1})
	g, err := b.Graph(t.Context(), noLLVM{}, address(t, b, "hot", 0), true)
	if err != nil {
		t.Fatal(err)
	}
	heat := in.Heat()
	if heat(g, 1) != 0.75 || heat(g, 2) != 0.25 || heat(g, 3) != 0 {
		t.Errorf("heat %g, %g, %g", heat(g, 1), heat(g, 2), heat(g, 3))
	}
}

// TestStride checks by how many bytes loops go on, which tells sides apart that do not
// do the same work.
func TestStride(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       int
	}{
		{"pointer", ".L1: movl (%rdi), %eax\naddq $4, %rdi\ncmpq %rdi, %rsi\njne .L1\n", 4},
		{"scaled index", ".L1: addl (%rdi,%rax,8), %ecx\nincq %rax\ncmpq %rax, %rsi\njne .L1\n", 8},
		{"unrolled", ".L1: addl (%rdi), %ecx\naddl 4(%rdi), %ecx\naddq $8, %rdi\ncmpq %rdi, %rsi\njne .L1\n", 8},
		{"two pointers", ".L1: movl (%rdi), %eax\nmovl %eax, (%rsi)\naddq $4, %rdi\naddq $4, %rsi\ncmpq %rdi, %rdx\njne .L1\n", 4},
		{"two widths", ".L1: movzbl (%rdi), %eax\nmovl %eax, (%rsi)\naddq $1, %rdi\naddq $4, %rsi\ncmpq %rdi, %rdx\njne .L1\n", 0},
		{"counter only", ".L1: addl %ecx, %eax\naddq $1, %rcx\ncmpq %rcx, %rsi\njne .L1\n", 0},
		{"aarch64", ".L1:\nldr w1, [x0], #4\nadd w2, w2, w1\ncmp x0, x3\nb.ne .L1\n", 4},
	} {
		g := graphOfText(t, test.text)
		loop, err := g.MainLoop()
		if err != nil {
			t.Fatal(err)
		}
		s := &Side{Code: &flow.Code{Root: g}, Loop: loop, Work: 1}
		if got := s.stride(); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
	side := func(text string) *Side {
		return &Side{Code: &flow.Code{Root: graphOfText(t, text)}, Loop: 0, Work: 1}
	}
	one, four := side(".L1: movl (%rdi), %eax\naddq $4, %rdi\njne .L1\n"), side(".L1: movl (%rdi), %eax\naddq $16, %rdi\njne .L1\n")
	for _, test := range []struct {
		base, head *Side
		want       float64
	}{{one, four, 4}, {four, one, 0.25}, {one, one, 1}} {
		p := &Pair{Base: test.base, Head: test.head}
		if p.StrideWork(); p.Head.Work != test.want || p.Base.Work != 1 || (len(p.Flags) > 0) != (test.want != 1) {
			t.Errorf("work %g and %g, want 1 and %g; flags %q", p.Base.Work, p.Head.Work, test.want, p.Flags)
		}
	}
}

func TestIs(t *testing.T) {
	const id = "00112233445566778899aabbccddeeff"
	cached := hot.Binary{Path: "/cache/.build-id/00/1122/elf", Recorded: "/usr/bin/a", BuildID: id}
	for _, test := range []struct {
		binary   hot.Binary
		file, id string
		want     bool
	}{
		{cached, "/usr/bin/a", id, true},
		{cached, "/elsewhere/b", id + "00000000", true}, // recorders fill up with zeros
		{cached, "/usr/bin/a", "0011", false},
		{cached, "/bin/a", "", true},
		{cached, "/bin/a (deleted)", "", true},
		{cached, "/bin/elf", "", false},
		{hot.Binary{Path: "/usr/bin/a"}, "/bin/a", id, true},
		{hot.Binary{Path: "/usr/bin/a"}, "/bin/b", id, false},
	} {
		if got := test.binary.Is(test.file, test.id); got != test.want {
			t.Errorf("%+v is %s, %q: %t", test.binary, test.file, test.id, got)
		}
	}
}

// TestOutsideOfMapping is a sample beside the mapping, and an address beside all code.
func TestOutsideOfMapping(t *testing.T) {
	b := binaryOf(t, "two.so", twoLoops)
	rb := run.NewBuilder("outside")
	event := rb.Event(run.Event{Name: "cycles"})
	m := rb.Mapping(run.Mapping{File: b.Path, Start: mapped, Limit: mapped + 16})
	f := rb.Function(run.Function{Name: "hot"})
	rb.Add(event, rb.Stack(0, rb.Location(m, mapped+0x1000, run.Line{Function: f})), 0, 1)
	p, err := hot.NewProfile([]*run.Run{finish(t, rb)}, b, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Weights) != 0 {
		t.Errorf("weights %v", p.Weights)
	}
	if p.Runs[0].Total.Weight != 1 {
		t.Errorf("total %v", p.Runs[0].Total)
	}
	if _, err := b.Function(1 << 40); err == nil || errors.Is(err, disasm.ErrNoFunction) {
		t.Errorf("no function: %v", err)
	}
}

// TestFunctionOnce checks that a function is decoded once for all its addresses.
func TestFunctionOnce(t *testing.T) {
	b := binaryOf(t, "two.so", twoLoops)
	first, err := b.Function(address(t, b, "nest", 0))
	if err != nil {
		t.Fatal(err)
	}
	for at := range first.Insts {
		if f, err := b.Function(first.Insts[at].Addr); err != nil || f != first {
			t.Errorf("instruction %d: another function, %v", at, err)
		}
	}
	if f, err := b.Function(address(t, b, "hot", 2)); err != nil || f.Name != "hot" {
		t.Errorf("%+v, %v", f, err)
	}
}
