package llvm

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// perIteration is what an iteration of a loop takes in the long run.
func perIteration(t *testing.T, tc *Toolchain, opt Options, regions []Region) []float64 {
	t.Helper()
	var cycles [2][]Simulation
	for i, n := range []int{100, 400} {
		opt.Iterations = n
		s, err := tc.Simulate(t.Context(), opt, regions)
		if err != nil {
			t.Fatal(err)
		}
		cycles[i] = s
	}
	out := make([]float64, len(regions))
	for i := range out {
		out[i] = (cycles[1][i].TotalCycles - cycles[0][i].TotalCycles) / 300
	}
	return out
}

// TestRepairs feeds both sides of each row of repairs.tsv through every llvm-mca that is
// installed. A row that changes nothing, or without which the model is right, is an error: the
// model was mended.
func TestRepairs(t *testing.T) {
	triples := map[arch]string{archX86: "x86_64", archARM64: "aarch64"}
	eachVersion(t, func(t *testing.T, tc *Toolchain) {
		seen := make(map[string]bool)
		for _, row := range models() {
			m := row.model
			if tc.Major < row.from || row.to < tc.Major || m.StandIn != "" || seen[m.Name] {
				continue
			}
			seen[m.Name] = true
			opt := Options{Triple: triples[row.arch], CPU: m.CPU, Plain: true}
			for _, r := range repairsOf(row.arch, tc.Major, m.Name) {
				w := newRewriter(row.arch, []Repair{r}, &Region{Lines: r.Code})
				var made []string
				for _, line := range r.Code {
					lines, _ := w.line(line)
					if lines == nil {
						lines = []string{line}
					}
					made = append(made, lines...)
				}
				if diff := cmp.Diff(r.StandIn, made); diff != "" {
					t.Errorf("%s: %s: %s", m.Name, r.Class, diff)
				}
				cycles := perIteration(t, tc, opt, []Region{{Lines: r.Code}, {Lines: r.StandIn}})
				before, after := cycles[0], cycles[1]
				t.Logf("%-15s %-18s %6.2f %6.2f, measured %.2f", m.Name, r.Class, before, after, r.Cycles)
				if math.Abs(math.Log(before/after)) < 0.1 {
					t.Errorf("%s: %s: %.2f cycles instead of %.2f: nothing changes", m.Name, r.Class, after, before)
				}
				if e := math.Abs(math.Log(before / r.Cycles)); r.Cycles > 0 && (e < 0.1 || math.Abs(math.Log(after/r.Cycles)) > e/2) {
					t.Errorf("%s: %s: %.2f cycles instead of %.2f are not nearer to %.2f", m.Name, r.Class, after, before, r.Cycles)
				}
				repaired := opt
				repaired.Repairs = []Repair{r}
				if again := perIteration(t, tc, repaired, []Region{{Lines: r.Code}}); again[0] != after {
					t.Errorf("%s: %s: %.2f cycles, not %.2f", m.Name, r.Class, again[0], after)
				}
			}
		}
	})
}

// TestRewriteX86 has instructions in all forms.
func TestRewriteX86(t *testing.T) {
	on := make(map[string]bool)
	for _, row := range repairs() {
		if row.arch == archX86 {
			on[row.repair.Class] = true
		}
	}
	tests := []struct {
		before, line string // before is an instruction that comes first
		want         []string
	}{
		{"", "xor %r8d, %r8d", []string{"movl $0, %r8d"}},
		{"", "subq %rbx, %rbx", []string{"movl $0, %ebx"}},
		{"", "xorl %eax, %ebx", []string{"addl %eax, %ebx"}},
		{"", "xorb %al, %al", []string{"addb %al, %al"}},
		{"", "vpxor %xmm1, %xmm1, %xmm2", []string{"vmovaps %xmm15, %xmm2"}},
		{"", "vxorps %ymm1, %ymm1, %ymm1", []string{"vmovaps %ymm15, %ymm1"}},
		{"", "pxor %xmm1, %xmm2", nil},
		{"", "vpcmpeqb %ymm1, %ymm1, %ymm1", []string{"vpcmpeqb %ymm15, %ymm15, %ymm1"}},
		{"", "testq %rax, %rax", nil},
		{"", "lea (%rbx,%rcx), %rdx", []string{"movl %ebx, %edx", "addq %rcx, %rdx"}},
		{"", "leal -1(%rdi), %edi", []string{"addl $8, %edi"}},
		{"", "leaq 4(%rcx,%rdx,1), %rdx", []string{"addq %rcx, %rdx"}},
		{"", "leaq (%rcx,%rdx,8), %rcx", []string{"andq %rdx, %rcx"}},
		{"", "leaq sym(%rip), %rcx", nil},
		{"", "leaq 0(,%rdx,8), %rcx", nil},
		{"", "setb %dl", []string{"cmovb %edx, %edx"}},
		{"", "setbe %dl", []string{"cmove %edx, %r15d", "cmovbe %edx, %edx"}},
		{"", "movzbl %dl, %edx", []string{"movsbl %dl, %edx"}},
		{"", "movzbl %dl, %ecx", nil},
		{"", "movl %r8d, %r8d", []string{"movslq %r8d, %r8"}},
		{"", "setb (%rdi)", nil},
		{"", "cmova %rax, %rdx", []string{"cmove %rax, %r15", "cmova %rax, %rdx"}},
		{"", "divl (%rdi)", nil},
		{"", "orl $8, 4(%rdi)", []string{"addl $8, 4(%rdi)"}},
		{"", "movq %r12, %rsi", []string{"movl %r12d, %esi"}},
		{"", "mov %eax, %esi", nil},
		{"", "movq %xmm0, %rax", nil},
		{"", "movq (%rax), %rax", nil},
		{"", "sarq %cl, %rdx", []string{"btsl %ecx, %edx"}},
		{"", "shl %cl, %r9d", []string{"btsl %ecx, %r9d"}},
		{"", "shlq $3, %rdx", nil},
		{"", "shlxl %ecx, %edx, %eax", []string{"movl %edx, %eax", "addl %ecx, %eax"}},
		{"", "sarx %rax, %rdx, %rax", []string{"addq %rdx, %rax"}},
		{"", "andn %rax, %rdx, %rcx", []string{"movl %edx, %ecx", "addq %rax, %rcx"}},
		{"", "blsr %rax, %rax", []string{"addq %rax, %rax"}},
		{"", "bextr %ecx, %eax, %eax", []string{"addl %ecx, %eax", "addl %ecx, %eax"}},
		{"", "movb %dl, %al", []string{"addb %dl, %al"}},
		{"", "movb %dl, (%rax)", nil},
		{"", "lock addl %eax, (%rdi)", nil},
		{"", "vaddpd (%rdi), %zmm1, %zmm2 {%k1}", nil},
		// A load is taken apart where another operand is late.
		{"", "addl (%rdi), %eax", nil},
		{"movl (%rsi), %eax", "addl (%rdi), %eax", nil},
		{"addl %edx, %eax", "addl (%rdi), %eax", []string{"movl (%rdi), %r15d", "addl %r15d, %eax"}},
		{"addl %edx, %eax", "cmp sym(%rip), %rax", []string{"movq sym(%rip), %r15", "cmp %r15, %rax"}},
		{"addl %edx, %eax", "cmpb %al, 4(%rdi,%rcx,4)", []string{"movzbl 4(%rdi,%rcx,4), %r15d", "cmpb %al, %r15b"}},
		{"addl %edx, %eax", "and %fs:40, %rax", []string{"movq %fs:40, %r15", "add %r15, %rax"}},
		{"addl %edx, %eax", "addl %eax, (%rdi)", nil},
		{"addl %edx, %eax", "imull $8, (%rdi), %eax", nil},
		{"", "cmovl (%rdi), %eax", []string{"movl (%rdi), %r15d", "cmovl %r15d, %eax"}},
		{"", "adcq %rax, (%rdi)", nil},
		{"cltd", "addl (%rdi), %edx", []string{"movl (%rdi), %r15d", "addl %r15d, %edx"}},
		{"addl %edx, %eax", "shlx %eax, (%rdi), %eax", []string{"movl (%rdi), %r15d", "addl %r15d, %eax"}},
		{"mulsd %xmm1, %xmm0", "addsd (%rdi), %xmm0", []string{"movsd (%rdi), %xmm15", "addsd %xmm15, %xmm0"}},
		{"mulsd %xmm1, %xmm0", "comiss (%rdi), %xmm0", []string{"movss (%rdi), %xmm15", "comiss %xmm15, %xmm0"}},
		{"paddd %xmm1, %xmm0", "pand (%rdi), %xmm0", []string{"movups (%rdi), %xmm15", "pand %xmm15, %xmm0"}},
		{"vpaddd %ymm1, %ymm0, %ymm2", "vpaddd (%rdi), %ymm2, %ymm3", []string{"vmovups (%rdi), %ymm15", "vpaddd %ymm15, %ymm2, %ymm3"}},
		{"vpaddd %ymm1, %ymm0, %ymm2", "vpaddd (%rdi), %ymm3, %ymm2", nil},
		{"vmulss %xmm1, %xmm0, %xmm2", "vfmadd231ss (%rdi), %xmm3, %xmm2", []string{"vmovss (%rdi), %xmm15", "vfmadd231ss %xmm15, %xmm3, %xmm2"}},
	}
	for _, tt := range tests {
		lines := []string{tt.line}
		if tt.before != "" {
			lines = []string{tt.before, tt.line}
		}
		w := newRewriterX86(on, &Region{Lines: lines})
		if tt.before != "" {
			w.line(tt.before)
		}
		if got, _ := w.line(tt.line); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.line, got, tt.want)
		}
	}
	// What needs flags from before an lea keeps it.
	select3 := &Region{Lines: []string{"cmpl %ecx, %eax", "leaq 8(%rdx), %rdx", "cmovl %ecx, %eax"}}
	w := newRewriterX86(on, select3)
	w.line(select3.Lines[0])
	if got, _ := w.line(select3.Lines[1]); got != nil {
		t.Errorf("lea between a comparison and what needs it: %q", got)
	}
	// Where the region mentions all registers, or each line stands alone, loads stay.
	all := &Region{Lines: []string{"addl %ecx, %eax", "addl (%rdi), %eax"}, Separate: true}
	w = newRewriterX86(on, all)
	w.line(all.Lines[0])
	if got, _ := w.line(all.Lines[1]); got != nil {
		t.Errorf("lines that stand alone: %q", got)
	}
}
