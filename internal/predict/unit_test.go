package predict

import (
	"fmt"
	"strings"
	"testing"

	"profdiff/internal/branch"
	"profdiff/internal/predict/hot"
)

// TestWork checks how much an iteration of each side does, by how often the loop ran.
func TestWork(t *testing.T) {
	b := binaryOf(t, "two.so", twoLoops)
	side := func(executed float64) *SideInput {
		table := &branch.Table{Tier: branch.TierStacks, Scaled: true, Branches: []branch.Branch{
			branchAt(t, b, "hot", 3, executed, 0.5, 0.1),
			branchAt(t, b, "hot", 7, executed, 0.9999, 0),
		}}
		return sideOf(t, b, table, sampled{"hot", 1, 1})
	}
	for _, test := range []struct {
		name       string
		base, head float64
		given      *[2]float64
		want       [2]float64
		flags      int // with that of the same code
	}{
		{"alike", 1000, 1000, nil, [2]float64{1, 1}, 1},
		{"nearly alike", 1000, 1100, nil, [2]float64{1, 1}, 1},
		{"half as often", 2000, 1000, nil, [2]float64{1, 2}, 3},
		{"four times as often", 1000, 4000, nil, [2]float64{1, 0.25}, 3},
		{"no multiple", 1000, 1400, nil, [2]float64{1, 1000.0 / 1400}, 3},
		{"given", 2000, 1000, &[2]float64{3, 4}, [2]float64{3, 4}, 1},
	} {
		pairs, err := PairsOf(t.Context(), noLLVM{}, side(test.base), side(test.head), PairOptions{Work: test.given})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if got := [2]float64{pairs[0].Base.Work, pairs[0].Head.Work}; got != test.want {
			t.Errorf("%s: work %g, want %g", test.name, got, test.want)
		}
		if len(pairs[0].Flags) != test.flags {
			t.Errorf("%s: flags %q", test.name, pairs[0].Flags)
		}
	}
}

// TestWorkOfAnyRate checks that the unit of an unrolled loop is the same however often its
// branches are taken, where what is executed most is no end of an iteration.
func TestWorkOfAnyRate(t *testing.T) {
	one, four := binaryOf(t, "one.so", filterLoop(1)), binaryOf(t, "four.so", filterLoop(4))
	const n = 40000
	for _, p := range []float64{0.01, 0.1, 0.3, 0.5, 0.9} {
		side := func(b *hot.Binary, unrolled int) *SideInput {
			table := &branch.Table{Tier: branch.TierSimulated, Scaled: true}
			f := 1
			for range unrolled {
				table.Branches = append(table.Branches, branchAt(t, b, "filter", f+1, float64(n/unrolled), p, 0.01))
				f += 4
			}
			table.Branches = append(table.Branches, branchAt(t, b, "filter", f+2, float64(n/unrolled), 0.9999, 0))
			return sideOf(t, b, table, sampled{"filter", 2, 1})
		}
		pairs, err := PairsOf(t.Context(), noLLVM{}, side(one, 1), side(four, 4), PairOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := pairs[0].Head.Work; got != 4 {
			t.Errorf("p = %g: an iteration after does %g, want 4", p, got)
		}
	}
}

// filterLoop keeps what is negative, so many in an iteration.
func filterLoop(unrolled int) string {
	var s strings.Builder
	s.WriteString("\t.text\n\t.globl\tfilter\n\t.type\tfilter, @function\nfilter:\n\txorl\t%eax, %eax\n.L0:\n")
	for i := range unrolled {
		fmt.Fprintf(&s, "\ttestl\t$-1, %d(%%rdi)\n\tjns\t.L%d\n\tmovl\t%d(%%rdi), %%ecx\n\tmovl\t%%ecx, (%%rdx,%%rax,4)\n.L%d:\n", 4*i, i+1, 4*i, i+1)
	}
	fmt.Fprintf(&s, "\taddq\t$%d, %%rdi\n\tcmpq\t%%rdi, %%rsi\n\tjne\t.L0\n\tret\n\t.size\tfilter, .-filter\n\t.section\t.note.GNU-stack,\"\",@progbits\n", 4*unrolled)
	return s.String()
}

// TestWorkOfSamples checks the unit of loops without a stride, of which nothing was counted:
// the samples tell.
func TestWorkOfSamples(t *testing.T) {
	chase := func(name string, unrolled int) *hot.Binary {
		return binaryOf(t, name, "\t.text\n\t.globl\tchase\n\t.type\tchase, @function\nchase:\n.L0:\n"+
			strings.Repeat("\tmovq\t(%rdi), %rdi\n\taddq\t8(%rdi), %rax\n", unrolled)+
			"\tcmpq\t%rdi, %rsi\n\tjne\t.L0\n\tret\n\t.size\tchase, .-chase\n\t.section\t.note.GNU-stack,\"\",@progbits\n")
	}
	one, four := chase("one.so", 1), chase("four.so", 4)
	for _, test := range []struct {
		name       string
		base, head int64
		work       float64
		flagged    bool
	}{
		{"the same work", 1000, 950, 4, true},
		{"four times the work", 1000, 3900, 1, false},
		{"neither", 1000, 1250, 1, true},
	} {
		pairs, err := PairsOf(t.Context(), noLLVM{}, sideOf(t, one, nil, sampled{"chase", 1, test.base}), sideOf(t, four, nil, sampled{"chase", 1, test.head}), PairOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := pairs[0].Head.Work; got != test.work {
			t.Errorf("%s: an iteration after does %g, want %g", test.name, got, test.work)
		}
		if flagged := len(pairs[0].Flags) > 0; flagged != test.flagged {
			t.Errorf("%s: flags %q", test.name, pairs[0].Flags)
		}
	}
}
