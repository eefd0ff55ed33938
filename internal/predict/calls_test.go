package predict

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"profdiff/internal/branch"
	"profdiff/internal/disasm"
	"profdiff/internal/llvm"
	"profdiff/internal/objects/objectstest"
	"profdiff/internal/predict/flow"
	"profdiff/internal/predict/hot"
	"profdiff/internal/run"
)

// sorter has a loop that calls what a register says, a comparison without a frame, and who
// calls the loop; and a function with a loop of its own, which is called from the loop too.
const sorter = `
	.text
	.type	compare, @function
compare:
	movl	(%rdi), %eax
	subl	(%rsi), %eax
	ret
	.size	compare, .-compare
	.type	copy, @function
copy:
.L1:
	movb	(%rsi,%rcx), %al
	movb	%al, (%rdi,%rcx)
	decq	%rcx
	jne	.L1
	ret
	.size	copy, .-copy
	.hidden	partition
	.globl	partition
	.type	partition, @function
partition:
	pushq	%rbp
	movq	%rsp, %rbp
.L2:
	call	*%rbx
	testl	%eax, %eax
	jns	.L3
	call	copy
.L3:
	addq	$8, %r12
	cmpq	%r13, %r12
	jne	.L2
	popq	%rbp
	ret
	.size	partition, .-partition
	.globl	sort
	.type	sort, @function
sort:
	pushq	%rbp
	movq	%rsp, %rbp
	call	partition
	popq	%rbp
	ret
	.size	sort, .-sort
	.section	.note.GNU-stack,"",@progbits
`

// A place is an instruction of a function.
type place struct {
	function string
	at       int
}

// stacked is a side with samples that have stacks, leaf first. A place without a function is
// in another binary.
func stacked(t *testing.T, b *hot.Binary, stacks map[int64][]place) *SideInput {
	t.Helper()
	rb := run.NewBuilder("run")
	event := rb.Event(run.Event{Name: "cycles"})
	m := rb.Mapping(run.Mapping{File: "/lib/" + filepath.Base(b.Path), Start: mapped, Limit: mapped + 1<<20, BuildID: b.BuildID})
	other := rb.Mapping(run.Mapping{File: "/lib/libc.so", Start: 1 << 20, Limit: 2 << 20})
	for weight, frames := range stacks {
		var stack run.StackID
		for i := len(frames) - 1; i >= 0; i-- {
			f := frames[i]
			at := m
			addr := uint64(1 << 20)
			name := "memcmp"
			if f.function != "" {
				name, addr = f.function, mapped+address(t, b, f.function, f.at)
			} else {
				at = other
			}
			stack = rb.Stack(stack, rb.Location(at, addr, run.Line{Function: rb.Function(run.Function{Name: name})}))
		}
		rb.Add(event, stack, 0, weight)
	}
	p, err := hot.NewProfile([]*run.Run{finish(t, rb)}, b, "")
	if err != nil {
		t.Fatal(err)
	}
	return &SideInput{Name: "side", Binary: b, Profile: p}
}

// TestCharge checks that calls that are not followed are charged by their samples.
func TestCharge(t *testing.T) {
	b := binaryOf(t, "sorter.so", sorter)
	own := []place{{"partition", 3}, {"sort", 2}}
	for _, test := range []struct {
		name   string
		stacks map[int64][]place
		ratio  float64
		calls  string
		share  float64 // of the program
	}{
		{"none", map[int64][]place{1000: own}, 0, "", 1},
		{"a call by a register", map[int64][]place{1000: own, 3000: {{"compare", 0}, {"partition", 2}, {"sort", 2}}}, 3, "compare", 1},
		{"a caller that the stack skips", map[int64][]place{1000: own, 3000: {{"compare", 0}, {"sort", 2}}}, 3, "compare", 1},
		{"a function with a loop", map[int64][]place{1000: own, 500: {{"copy", 1}, {"partition", 5}, {"sort", 2}}}, 0.5, "copy", 1},
		{"another binary", map[int64][]place{1000: own, 250: {{"", 0}, {"partition", 2}, {"sort", 2}}}, 0.25, "memcmp", 1},
		{"two", map[int64][]place{1000: own, 3000: {{"compare", 0}, {"partition", 2}}, 500: {{"copy", 1}, {"partition", 5}}}, 3.5, "compare copy", 1},
		{"nearly all in calls", map[int64][]place{10: own, 3000: {{"compare", 0}, {"partition", 2}}}, -1, "compare", 1},
		{"not under the loop", map[int64][]place{1000: own, 3000: {{"compare", 0}}}, 0, "", 0.25},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := stacked(t, b, test.stacks)
			pairs, err := PairsOf(t.Context(), noLLVM{}, in, in, PairOptions{Functions: [2]string{"partition", "partition"}})
			if err != nil {
				t.Fatal(err)
			}
			s := pairs[0].Base
			if test.ratio < 0 {
				flag := s.callsFlag(1)
				if less, more := s.callsDoubt(true); s.charge != nil || less <= doubtCalls || more <= doubtCalls || !strings.Contains(flag, "are in calls that are not predicted and count as nothing: compare") {
					t.Errorf("charged %+v, flag %q", s.charge, flag)
				}
				return
			}
			if s.charge == nil || math.Abs(s.charge.ratio-test.ratio) > 1e-9 {
				t.Fatalf("charged %+v, want %g", s.charge, test.ratio)
			}
			var names []string
			for _, c := range s.Calls {
				names = append(names, c.Name)
			}
			if got := strings.Join(names, " "); got != test.calls {
				t.Errorf("calls %q, want %q", got, test.calls)
			}
			if got := *pairs[0].ProgramShare; math.Abs(got-test.share) > 1e-9 {
				t.Errorf("%g of the program, want %g", got, test.share)
			}
			c := Cycles{Total: 10, Lo: 8, Hi: 12}
			other := c
			pairs[0].charged(&c, &other)
			if want := 10 * (1 + test.ratio); math.Abs(c.Total-want) > 1e-9 || math.Abs(c.Lo-0.8*want) > 1e-9 || math.Abs(c.Called-10*test.ratio) > 1e-9 {
				t.Errorf("cycles %+v, want %g", c, want)
			}
			if flag := s.callsFlag(1); test.ratio > 0 && !strings.Contains(flag, "charged by its samples, which are in calls: "+strings.Fields(test.calls)[0]) {
				t.Errorf("flag %q", flag)
			}
		})
	}
}

// lostStacks has a leaf that two loops call, one that a function calls which one of them calls,
// and what calls by a register.
const lostStacks = `
	.text
	.type	leaf, @function
leaf:
	movl	(%rdi), %eax
	ret
	.size	leaf, .-leaf
	.type	below, @function
below:
	subl	(%rsi), %eax
	ret
	.size	below, .-below
	.type	wrapper, @function
wrapper:
	pushq	%rbx
	call	below
	popq	%rbx
	ret
	.size	wrapper, .-wrapper
	.type	pointed, @function
pointed:
	xorl	%eax, %eax
	ret
	.size	pointed, .-pointed
	.type	loop, @function
loop:
.L1:
	call	leaf
	testl	%eax, %eax
	call	wrapper
	addq	$8, %r12
	cmpq	%r13, %r12
	jne	.L1
	ret
	.size	loop, .-loop
	.type	other, @function
other:
.L2:
	call	leaf
	addq	$8, %r12
	cmpq	%r13, %r12
	jne	.L2
	ret
	.size	other, .-other
	.type	table, @function
table:
	pushq	$1
	jmp	*(%rax)
	pushq	$2
	jmp	*8(%rax)
	pushq	$3
	jmp	*16(%rax)
	.size	table, .-table
	.type	linked, @function
linked:
.L4:
	call	table+4
	addq	$8, %r12
	cmpq	%r13, %r12
	jne	.L4
	ret
	.size	linked, .-linked
	.type	indirect, @function
indirect:
.L3:
	call	*%rbx
	addq	$8, %r12
	cmpq	%r13, %r12
	jne	.L3
	ret
	.size	indirect, .-indirect
	.section	.note.GNU-stack,"",@progbits
`

// TestLostStacks checks what calls are charged with where samples have no stacks, or only
// some have.
func TestLostStacks(t *testing.T) {
	b := binaryOf(t, "lost.so", lostStacks)
	for _, test := range []struct {
		name              string
		samples           map[int64][]place
		function          string
		least, most, want float64 // times what is in the loop
		flag              string
	}{
		{"called from one place", map[int64][]place{1000: {{"loop", 3}}, 300: {{"leaf", 0}}}, "loop", 0.3, 0.3, 0.3, "by the samples of what it calls, whose stacks do not tell the caller: leaf 23%"},
		{"and what that calls", map[int64][]place{1000: {{"loop", 3}}, 250: {{"below", 0}}}, "loop", 0.25, 0.25, 0.25, "do not tell the caller: below 20%"},
		{"called from two places", map[int64][]place{1000: {{"loop", 3}}, 3000: {{"other", 1}}, 800: {{"leaf", 0}}}, "loop", 0, 0.8, 0.2, "as much as 50% more may be in calls"},
		{"beside samples with stacks", map[int64][]place{1000: {{"loop", 3}}, 3000: {{"wrapper", 0}, {"loop", 2}}, 800: {{"leaf", 0}}}, "loop", 3.8, 3.8, 3.8, "charged by its samples, which are in calls: wrapper 62%, leaf 17%"},
		{"called by a register", map[int64][]place{1000: {{"indirect", 1}}, 4000: {{"pointed", 0}}}, "indirect", 0, 4, 0, "tell what they take"},
		{"called by a table of the linker", map[int64][]place{1000: {{"linked", 1}}, 4000: {{"pointed", 0}}}, "linked", 0, 4, 0, "tell what they take"},
		{"beside samples with stacks, by a table", map[int64][]place{1000: {{"linked", 1}}, 100: {{"pointed", 0}}, 50: {{"below", 0}, {"wrapper", 1}}}, "linked", 0, 0.1, 0, "all samples that may be in them are 10%"},
		{"what others call, and what may be called", map[int64][]place{1000: {{"indirect", 1}}, 500: {{"loop", 3}}, 400: {{"leaf", 0}}, 5: {{"pointed", 0}, {"indirect", 0}}}, "indirect", 0.005, 0.505, 0.005, "tell what they take"},
	} {
		in := stacked(t, b, test.samples)
		s := &Side{Code: &flow.Code{Root: graphOf(t, in, test.function)}, Loop: 0, Rates: Rates{Source: SourceAssumed}}
		in.charge(s, functionOf(t, b, test.function))
		c := s.charge
		if c == nil || math.Abs(c.ratio-test.want) > 1e-6 || math.Abs(c.least-test.least) > 1e-6 || math.Abs(c.most-test.most) > 1e-6 {
			t.Errorf("%s: charged %+v, want %g, from %g to %g", test.name, c, test.want, test.least, test.most)
			continue
		}
		if flag := s.callsFlag(1); !strings.Contains(flag, test.flag) {
			t.Errorf("%s: flag %q, want %q", test.name, flag, test.flag)
		}
		less, more := s.callsDoubt(true)
		if (less > 0) != (test.least < test.want) || (more > 0) != (test.most > test.want) || less > doubtCalls || more > doubtCalls {
			t.Errorf("%s: doubt %g and %g", test.name, less, more)
		}
	}
}

func functionOf(t *testing.T, b *hot.Binary, name string) *disasm.Function {
	t.Helper()
	f, err := b.Function(address(t, b, name, 0))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func graphOf(t *testing.T, in *SideInput, name string) *flow.Graph {
	t.Helper()
	g, err := in.Binary.Graph(t.Context(), noLLVM{}, address(t, in.Binary, name, 0), true)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestAnchor checks that calls take as long by the samples of both sides where iterations were
// counted, and that a prediction rests on less the more of it is charged.
func TestAnchor(t *testing.T) {
	side := func(own, ratio float64) *Side { return &Side{charge: &charge{own: own, ratio: ratio}} }
	doubts := func(c *Cycles) (e float64) {
		for _, d := range c.doubts {
			e = math.Hypot(e, d.more)
		}
		return e
	}
	for _, test := range []struct {
		name       string
		base, head *Side
		sameWork   bool
		cycles     [2]float64
		called     float64    // of base
		doubt      [2]float64 // of base, at least and at most
	}{
		{"both sides predicted alike", side(400, 1.5), side(200, 0), true, [2]float64{800, 400}, 1200, [2]float64{0.15, 0.3}},
		{"one side takes longer than its samples say", side(400, 1.5), side(400, 0), true, [2]float64{800, 500}, 858, [2]float64{0.2, 0.4}},
		{"not the same work", side(400, 1.5), side(400, 0), false, [2]float64{800, 400}, 1200, [2]float64{0.15, 0.3}},
		{"samples that do not fit", side(400, 1.5), side(900, 0), true, [2]float64{800, 400}, 1200, [2]float64{0.15, 0.3}},
		{"few calls", side(400, 0.1), side(200, 0), true, [2]float64{800, 400}, 80, [2]float64{0.01, 0.05}},
		{"no samples of head", side(400, 1.5), &Side{}, true, [2]float64{800, 400}, 1200, [2]float64{0.15, 0.3}},
	} {
		p := &Pair{Base: test.base, Head: test.head, sameWork: test.sameWork}
		base, head := Cycles{Total: test.cycles[0], Lo: test.cycles[0], Hi: test.cycles[0]}, Cycles{Total: test.cycles[1]}
		p.charged(&base, &head)
		if math.Abs(base.Called/test.called-1) > 0.02 || math.Abs(base.Total-base.Called-test.cycles[0]) > 1e-9 || head.Called != 0 || math.Abs(base.Hi-base.Total) > 1e-9 {
			t.Errorf("%s: %g cycles of %g are calls, want %g", test.name, base.Called, base.Total, test.called)
		}
		if e := doubts(&base); e < test.doubt[0] || e > test.doubt[1] || doubts(&head) != 0 {
			t.Errorf("%s: doubt %g and %g, want %g of base", test.name, e, doubts(&head), test.doubt)
		}
	}
}

// TestRestOfProgram checks that the interval of a program holds what its rest may take, which
// may be what it took before or what it took after.
func TestRestOfProgram(t *testing.T) {
	for _, test := range []struct {
		name      string
		share     float64
		err, rest float64
		want      Interval
		flag      bool
	}{
		{"as before", 0.5, 0, 1, Interval{4.0 / 3, 1.25, 1.4}, false},
		{"faster", 0.5, 0, 0.25, Interval{2, 1.25, 1 / (0.125 + 0.5/2.5)}, true},
		{"slower", 0.5, 0, 4, Interval{0.8, 1 / (2 + 0.3), 1.43}, true},
		{"not known", 0.5, 0, 0, Interval{4.0 / 3, 1.25, 1.43}, false},
		{"a share by few samples", 0.5, 0.1, 1, Interval{4.0 / 3, 1.15, 1.69}, false},
	} {
		r := resultOf(Cycles{Total: 2}, Cycles{Total: 1}, math.Log(1.25)/z)
		r.Pair.ProgramShare, r.Pair.ShareErr, r.Pair.Rest = &test.share, test.err, test.rest
		r.settle()
		got := r.Program
		if math.Abs(got.Value/test.want.Value-1) > 0.03 || math.Abs(got.Lo/test.want.Lo-1) > 0.03 || math.Abs(got.Hi/test.want.Hi-1) > 0.03 {
			t.Errorf("%s: %+v, want %+v", test.name, *got, test.want)
		}
		flags := (&Predictor{Machine: &Machine{Model: llvm.Model{}}}).flags(r.Pair, r)
		if (len(flags) > 0) != test.flag {
			t.Errorf("%s: flags %q", test.name, flags)
		}
	}
}

// TestInlined checks that a function is found on the side where it is inlined.
func TestInlined(t *testing.T) {
	b := binaryOf(t, "two.so", twoLoops)
	side := func(function string, inlined ...string) *SideInput {
		rb := run.NewBuilder("run")
		event := rb.Event(run.Event{Name: "cycles"})
		m := rb.Mapping(run.Mapping{File: "/lib/" + filepath.Base(b.Path), Start: mapped, Limit: mapped + 1<<20, BuildID: b.BuildID})
		var lines []run.Line
		for _, name := range append(inlined, function) {
			lines = append(lines, run.Line{Function: rb.Function(run.Function{Name: name})})
		}
		rb.Add(event, rb.Stack(0, rb.Location(m, mapped+address(t, b, function, 2), lines...)), 0, 100)
		p, err := hot.NewProfile([]*run.Run{finish(t, rb)}, b, "")
		if err != nil {
			t.Fatal(err)
		}
		return &SideInput{Name: "side", Binary: b, Profile: p}
	}
	for _, test := range []struct {
		name       string
		base, head *SideInput
		functions  string
		err        string
	}{
		{"inlined before", side("hot", "nest"), side("nest"), "", ""},
		{"inlined after", side("nest"), side("hot", "nest"), "", ""},
		{"inlined in both", side("hot", "tally"), side("nest", "sum", "tally"), "", ""},
		{"named", side("hot", "tally"), side("nest", "tally"), "tally", ""},
	} {
		pairs, err := PairsOf(t.Context(), noLLVM{}, test.base, test.head, PairOptions{Functions: [2]string{test.functions, test.functions}})
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: error %v, want %q", test.name, err, test.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if p := pairs[0]; p.Base.Code.Root.Name == p.Head.Code.Root.Name {
			t.Errorf("%s: %s on both sides", test.name, p.Base.Code.Root.Name)
		}
	}
}

// TestMeasuredExtent checks that what is measured has all samples of the unit that is predicted,
// and that it is said of which function the calls are missing, as stacks lost their callers.
func TestMeasuredExtent(t *testing.T) {
	two := binaryOf(t, "two.so", twoLoops)
	table := &branch.Table{Tier: branch.TierStacks, Scaled: true, Branches: []branch.Branch{
		branchAt(t, two, "nest", 5, 4000, 0.75, 0),
		branchAt(t, two, "nest", 7, 1000, 0.999, 0),
	}}
	around := sideOf(t, two, table, sampled{"nest", 1, 1}, sampled{"nest", 2, 3})
	b := binaryOf(t, "sorter.so", sorter)
	own := []place{{"partition", 3}, {"sort", 2}}
	for _, test := range []struct {
		name    string
		in      *SideInput
		share   float64
		partial string
	}{
		{"loop around a short one", around, 1, ""},
		{"calls with their callers", stacked(t, b, map[int64][]place{1000: own, 500: {{"copy", 1}, {"partition", 5}, {"sort", 2}}}), 1, ""},
		{"calls without", stacked(t, b, map[int64][]place{1000: own, 300: {{"compare", 1}}}), 1000. / 1300, "partition"},
		{"few without", stacked(t, b, map[int64][]place{1000: own, 100: {{"compare", 1}}}), 1000. / 1100, ""},
		{"calls that the code tells", stacked(t, b, map[int64][]place{1000: own, 300: {{"copy", 1}}}), 1, ""},
	} {
		pairs, err := PairsOf(t.Context(), noLLVM{}, test.in, test.in, PairOptions{})
		if err != nil {
			t.Fatal(err)
		}
		p := pairs[0]
		if p.ProgramShare == nil || math.Abs(*p.ProgramShare-test.share) > 1e-9 || p.Partial != test.partial {
			t.Errorf("%s: %v of the program, calls missing of %q", test.name, p.ProgramShare, p.Partial)
		}
		for _, perUnit := range []float64{0, 3} {
			if flag := p.Base.callsFlag(perUnit); test.partial != "" && strings.Contains(flag, "no sample is in them") {
				t.Errorf("%s: %s", test.name, flag)
			}
		}
		if said := strings.Contains(p.MeasuredBy, "without calls of "+test.partial+" whose callers"); p.Measured != nil && said != (test.partial != "") {
			t.Errorf("%s: %s", test.name, p.MeasuredBy)
		}
	}
}

// TestNamelessFunctions checks that functions without names are the same only in one build.
func TestNamelessFunctions(t *testing.T) {
	loops := func(starts ...uint64) (list []*hot.Loop) {
		for _, start := range starts {
			list = append(list, &hot.Loop{Function: &disasm.Function{Start: start}, Loop: -1, Share: 0.5})
		}
		return list
	}
	before, after := loops(0x1000, 0x2000), loops(0x2000, 0x1000)
	for i, got := range matchLoops(before, after, false, true) {
		if got.Loop == nil || got.Function.Start != before[i].Function.Start {
			t.Errorf("one build: loop %d is %+v", i, got)
		}
	}
	for i, got := range matchLoops(before, after, false, false) {
		if got.Loop != nil {
			t.Errorf("two builds: loop %d is taken for that at %#x", i, got.Function.Start)
		}
	}
}

// TestPassesOver checks that a library without loops does not stand for the program.
func TestPassesOver(t *testing.T) {
	program := binaryOf(t, "two.so", twoLoops)
	library := binaryOf(t, "straight.so", "\t.text\n\t.globl\tstraight\n\t.type\tstraight, @function\nstraight:\n\txorl\t%eax, %eax\n\tret\n\t.size\tstraight, .-straight\n\t.section\t.note.GNU-stack,\"\",@progbits\n")
	rb := run.NewBuilder("run")
	event := rb.Event(run.Event{Name: "cycles"})
	add := func(b *hot.Binary, function string, start uint64, weight int64) {
		m := rb.Mapping(run.Mapping{File: b.Path, Start: start, Limit: start + 1<<20, BuildID: b.BuildID})
		line := run.Line{Function: rb.Function(run.Function{Name: function})}
		rb.Add(event, rb.Stack(0, rb.Location(m, start+address(t, b, function, 1), line)), 0, weight)
	}
	add(library, "straight", mapped, 10)
	add(program, "hot", mapped+1<<30, 5)
	var warned []string
	f := Finder{Objects: objectstest.Dir("/"), Warn: func(format string, args ...any) { warned = append(warned, fmt.Sprintf(format, args...)) }}
	side, err := f.Side("side", []*run.Run{finish(t, rb)}, "")
	if err != nil {
		t.Fatal(err)
	}
	if side.Binary.Path != program.Path || len(warned) != 1 || !strings.Contains(warned[0], "no samples in a loop") {
		t.Errorf("%s is predicted, warnings %q", side.Binary.Path, warned)
	}
}

// TestSamplesOfUnit checks that without stacks, too, the samples are those of the loop that is
// the unit, not of the loop in it that is hottest.
func TestSamplesOfUnit(t *testing.T) {
	b := binaryOf(t, "two.so", twoLoops)
	table := &branch.Table{Tier: branch.TierStacks, Scaled: true, Branches: []branch.Branch{
		branchAt(t, b, "nest", 5, 400, 0.75, 0), branchAt(t, b, "nest", 7, 100, 0.99, 0),
	}}
	in := sideOf(t, b, table, sampled{"nest", 1, 10}, sampled{"nest", 3, 30})
	pairs, err := PairsOf(t.Context(), noLLVM{}, in, in, PairOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if p := pairs[0]; math.Abs(*p.ProgramShare-1) > 1e-9 {
		t.Errorf("%g of the program are in the unit, %s, want 1", *p.ProgramShare, p.Unit)
	}
}
