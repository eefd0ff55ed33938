package predict

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"profdiff/internal/asm"
	"profdiff/internal/cputime"
	"profdiff/internal/predict/flow"
)

func TestNoise(t *testing.T) {
	if noisy(0) != 0 {
		t.Error("what is never mispredicted is")
	}
	for p := 0.01; p < 0.5; p += 0.01 {
		if m := noisy(p); m < p || m > 2*p || m > 0.52 {
			t.Errorf("of %.2f random outcomes %.3f are mispredicted", p, m)
		}
	}
}

// TestSimulatedRates checks what is taken of a simulation: no more misses than the rarer
// direction has, and none where a loop of regular trips ends.
func TestSimulatedRates(t *testing.T) {
	g := graphOfText(t, `.L1: movl (%rdi), %eax
testl %eax, %eax
je .L2
addl %eax, %ecx
.L2: movl $8, %edx
.L3: decl %edx
jne .L3
addq $4, %rdi
cmpq %rsi, %rdi
jne .L1
ret
`)
	r := Rates{Source: SourceSimulated, Branch: func(g *flow.Graph, at int) (flow.Branch, bool) {
		switch g.Insts[at].Target {
		case ".L2":
			return flow.Branch{Taken: 0.1, Miss: 0.19}, true
		case ".L3":
			return flow.Branch{Taken: 7.0 / 8, Miss: 1.0 / 8}, true
		}
		return flow.Branch{Taken: 0.999, Miss: 0.001}, true
	}}
	branches := r.branches(0, g)
	at := func(target string) flow.Branch {
		for i := range g.Insts {
			if g.Insts[i].Target == target {
				return branches(flow.Site{Graph: g, At: i})
			}
		}
		t.Fatalf("no branch to %s", target)
		return flow.Branch{}
	}
	if b := at(".L2"); math.Abs(b.Miss-noisy(0.1)) > 1e-9 {
		t.Errorf("random branch: %v", b)
	}
	if b := at(".L3"); b.Miss != 0 {
		t.Errorf("end of the inner loop: %v", b)
	}
	if b := at(".L1"); b.Miss != 0 {
		t.Errorf("end of the loop: %v", b)
	}
	if b := (&Rates{Source: SourceAssumed}).at(g, 2, 0, asKnown); b != (flow.Branch{Taken: 0.5, Miss: 0.5}) {
		t.Errorf("nothing known: %v", b)
	}
}

// TestRegularTrips checks that the end of a loop of data that is always run through as
// often is foreseen, whatever was simulated.
func TestRegularTrips(t *testing.T) {
	g := graphOfText(t, `.L1: movq %rdx, %rax
.L2: movq (%rdi,%rax,8), %rax
cmpq %rax, %rcx
jb .L3
addq $1, %r8
.L3: cmpq $0, %rax
jne .L2
addq $8, %rdx
cmpq %rsi, %rdx
jne .L1
ret
`)
	at := func(iterations, entries float64) flow.Branch {
		r := Rates{Source: SourceSimulated, Branch: func(g *flow.Graph, at int) (flow.Branch, bool) {
			switch g.Insts[at].Target {
			case ".L3":
				return flow.Branch{Taken: 0, Executed: iterations}, true
			case ".L2":
				return flow.Branch{Taken: 1 - entries/iterations, Miss: entries / iterations, Executed: iterations}, true
			}
			return flow.Branch{Taken: 1 - 1/entries, Executed: entries}, true
		}}
		for i := range g.Insts {
			if g.Insts[i].Target == ".L2" {
				return r.at(g, i, 0, asKnown)
			}
		}
		t.Fatal("no branch")
		return flow.Branch{}
	}
	if b := at(5*256, 256); b.Miss != 0 {
		t.Errorf("five trips each time: %v", b)
	}
	if b := at(5*256+1, 256); b.Miss < 0.15 {
		t.Errorf("one trip more: %v", b)
	}
	if b := at(100*256, 256); b.Miss < 0.005 {
		t.Errorf("a hundred trips with two branches each: %v", b)
	}
	if b := at(5*3, 3); b.Miss < 0.15 {
		t.Errorf("too few to tell: %v", b)
	}
}

// TestVariedTrips checks that nothing is left out of what was simulated at the end of a loop
// whose trips vary, although nothing that the loop loads decides how many there are: it runs
// once for each bit of a word.
func TestVariedTrips(t *testing.T) {
	g := graphOfText(t, `.L1: movq (%rdi), %rdx
addq $8, %rdi
testq %rdx, %rdx
je .L3
.L2: tzcntq %rdx, %rax
movl %eax, (%rcx)
addq $4, %rcx
leaq -1(%rdx), %rax
andq %rax, %rdx
jne .L2
.L3: cmpq %rsi, %rdi
jne .L1
ret
`)
	side := func(iterations, entries, missed float64) (*Side, flow.Site) {
		s := &Side{Code: &flow.Code{Root: g}, Work: 1, Rates: Rates{Source: SourceSimulated, Branch: func(g *flow.Graph, at int) (flow.Branch, bool) {
			switch g.Insts[at].Target {
			case ".L3":
				return flow.Branch{Executed: entries}, true
			case ".L2":
				return flow.Branch{Taken: 1 - entries/iterations, Miss: missed / iterations, Executed: iterations}, true
			}
			return flow.Branch{Taken: 1 - 1/entries, Executed: entries}, true
		}}}
		s.Loop = g.LoopOf[0]
		for i := range g.Insts {
			if g.Insts[i].Target == ".L2" {
				return s, flow.Site{Graph: g, At: i}
			}
		}
		t.Fatal("no branch")
		return nil, flow.Site{}
	}
	for _, test := range []struct {
		name                        string
		iterations, entries, missed float64
		want                        float64 // mispredictions
		flag                        string
	}{
		{"trips that vary", 5210, 1000, 1040, 1000, "are not always run through as often"},
		{"always five", 5000, 1000, 1000, 0, "are always run through as often"},
		{"always five, foreseen by the simulation too", 5000, 1000, 0, 0, ""},
		{"too many to be foreseen", 300000, 1000, 1000, 1000, "or too often to be foreseen"},
	} {
		s, end := side(test.iterations, test.entries, test.missed)
		w := &work{side: s, branches: s.Rates.branches(s.Loop, g)}
		b := w.branches(end)
		if got := b.Miss * test.iterations; math.Abs(got-test.want) > 1e-6*test.iterations {
			t.Errorf("%s: %.0f mispredictions, want %.0f", test.name, got, test.want)
		}
		if is := test.want > 0; is && b.Foreseen < 0.5 {
			t.Errorf("%s: %.2f of them may be foreseen", test.name, b.Foreseen)
		}
		w.walks = []*flow.Trace{flow.Walk(s.Code, w.branches, 1, s.Loop, flow.Limits{Steps: coreSteps, Units: coreSteps})}
		flags := strings.Join(w.ratesFlags(), "\n")
		if !strings.Contains(flags, test.flag) || test.flag == "" && flags != "" {
			t.Errorf("%s: flags %q", test.name, flags)
		}
	}
}

// TestRegularNest checks that the end of a loop is foreseen that begins with another loop, so
// that no branch of it is the first, if both make as many trips each time.
func TestRegularNest(t *testing.T) {
	g := graphOfText(t, `.L1: movl $7, %edx
.L2: movl $4, %ecx
.L3: addl (%rdi), %eax
decl %ecx
jne .L3
decl %edx
jne .L2
addq $4, %rdi
cmpq %rsi, %rdi
jne .L1
ret
`)
	for extra, want := range map[float64]float64{0: 0, 10: 1000} {
		r := Rates{Source: SourceSimulated, Branch: func(g *flow.Graph, at int) (flow.Branch, bool) {
			trips := 7000 + extra
			switch g.Insts[at].Target {
			case ".L3":
				return flow.Branch{Taken: 0.75, Miss: 0.25, Executed: 4 * trips}, true
			case ".L2":
				return flow.Branch{Taken: 1 - 1000/trips, Miss: 1000 / trips, Executed: trips}, true
			}
			return flow.Branch{Taken: 0.999, Executed: 1000}, true
		}}
		for i := range g.Insts {
			if g.Insts[i].Target == ".L2" {
				if got := r.at(g, i, g.LoopOf[0], asKnown).Miss * (7000 + extra); math.Abs(got-want) > 1e-6 {
					t.Errorf("%g trips more: %.1f mispredictions, want %.0f", extra, got, want)
				}
			}
		}
	}
}

// TestForeseen checks which mispredictions of counters may be foreseen: the misses of a
// pattern may be, misses of random outcomes stay.
func TestForeseen(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	misses := func(outcome func(i int) bool) (taken, missed float64) {
		const n = 100000
		counter := 0
		for i := range n {
			is := outcome(i)
			if is != (counter >= 2) {
				missed++
			}
			if is {
				taken++
				counter = min(counter+1, 3)
			} else {
				counter = max(counter-1, 0)
			}
		}
		return taken / n, missed / n
	}
	for _, p := range []float64{0.02, 0.1, 0.3, 0.5, 0.8} {
		taken, missed := misses(func(int) bool { return random.Float64() < p })
		if math.Abs(missed-counterMiss(p)) > 0.01 {
			t.Errorf("p %g: %.3f mispredicted, computed %.3f", p, missed, counterMiss(p))
		}
		if f := foreseen(taken, missed); f != 0 {
			t.Errorf("p %g: %.2f may be foreseen", p, f)
		}
	}
	if f := foreseen(0.5, 1); f != 1 {
		t.Errorf("of alternating outcomes %.2f may be foreseen", f)
	}
	if f := foreseen(misses(func(i int) bool { return i/50%2 == 0 })); f < 0.4 {
		t.Errorf("of runs %.2f may be foreseen", f)
	}
	if f := foreseen(1, 0); f != 0 {
		t.Errorf("of no misses %.2f", f)
	}
}

// TestLongLoop checks that what a branch depends on is found out in time in a long loop, and
// that it is found.
func TestLongLoop(t *testing.T) {
	mixed := strings.Repeat("addq %rax,%rbx\naddq %rbx,%rax\nxorq %rbx,%rdx\n", 400)
	for text, want := range map[string]bool{
		"1:\n" + mixed + "cmpq %rbx,%rcx\njne 1b\n":                   false,
		"1:\nmovq (%rdi),%rax\n" + mixed + "cmpq %rdx,%rcx\njne 1b\n": true,
	} {
		l, err := asm.Parse(text, asm.X8664)
		if err != nil {
			t.Fatal(err)
		}
		g := flow.CodeOf(l, l.Functions[0]).Root
		start := cputime.Now()
		if got := g.DependsOnData(len(g.Insts) - 1); got != want {
			t.Errorf("depends on data: %v", got)
		}
		if d := cputime.Now() - start; d > 5*time.Second {
			t.Errorf("takes %v", d)
		}
	}
}

func graphOfText(t testing.TB, text string) *flow.Graph {
	t.Helper()
	l, err := asm.Parse(text, "")
	if err != nil {
		t.Fatal(err)
	}
	return flow.Of(l, l.Functions[0])
}
