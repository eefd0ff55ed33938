package asm

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/disasm"
)

const listings = "../../mca-cases"

func TestParseAsm(t *testing.T) {
	text := `	.file	"a.c"
	.text
	.globl	sum
	.type	sum, @function
sum:
.LFB0:
	.cfi_startproc
	testq	%rsi, %rsi	# a comment; with a semicolon
	je	.L4
	xorl	%eax, %eax
.L3:	lock; addl	$1, (%rdi)
	movl	"a;b"(%rip), %edx /* over
	two lines */
	call	helper@PLT
	decq	%rsi; jne	.L3
	ret
.L4:
	jmp	*%rax
	.size	sum, .-sum
	.section	.rodata
.LC0:
	.string	"not ; code"
	.section	.text.unlikely,"ax",@progbits
	.type	cold, @function
cold:
	ud2
	.size	cold, .-cold
`
	l, err := Parse(text, "")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range l.Insts {
		in := &l.Insts[i]
		got = append(got, fmt.Sprintf("%d:%d %s %s %s %d", in.Line, in.Column, in.Text, in.Kind, in.Target, in.To))
	}
	want := []string{
		"8:2 testq %rsi, %rsi other  -1",
		"9:2 je .L4 conditional .L4 10",
		"10:2 xorl %eax, %eax other  -1",
		"11:6 lock other  -1",
		"11:12 addl $1, (%rdi) other  -1",
		`12:2 movl "a;b"(%rip), %edx other  -1`,
		"14:2 call helper@PLT call helper -1",
		"15:2 decq %rsi other  -1",
		"15:13 jne .L3 conditional .L3 3",
		"16:2 ret return  -1",
		"18:2 jmp *%rax indirect  -1",
		"26:2 ud2 trap  -1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	functions := []Function{{"sum", 0, 11}, {"cold", 11, 12}}
	if diff := cmp.Diff(functions, l.Functions); diff != "" {
		t.Error(diff)
	}
	if l.Arch != X8664 {
		t.Errorf("arch %s", l.Arch)
	}
}

func TestParseAsmARM64(t *testing.T) {
	text := "// a comment\n# another\nsub x0, x2, #3 // #3 is no comment\n1: cbnz w0, 1b\nb.le #8\nmov w1, #1\nbl f\nb 2f\n2: ret\n"
	l, err := Parse(text, "")
	if err != nil {
		t.Fatal(err)
	}
	var to []int
	var kinds []disasm.Kind
	for i := range l.Insts {
		to = append(to, l.Insts[i].To)
		kinds = append(kinds, l.Insts[i].Kind)
	}
	if diff := cmp.Diff([]int{-1, 1, 4, -1, -1, 6, -1}, to); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]disasm.Kind{disasm.Other, disasm.Conditional, disasm.Conditional, disasm.Other, disasm.Call, disasm.Jump, disasm.Return}, kinds); diff != "" {
		t.Error(diff)
	}
	if l.Arch != AArch64 || l.Insts[0].Text != "sub x0, x2, #3" {
		t.Errorf("%s %q", l.Arch, l.Insts[0].Text)
	}
}

func TestParseAsmRegions(t *testing.T) {
	l, err := Parse("nop\n# LLVM-MCA-BEGIN first one\naddl $1, %eax\n# LLVM-MCA-END\nnop\n# LLVM-MCA-BEGIN\nsubl $1, %eax\n", "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Region{{"first one", 1, 2}, {"", 3, 4}}, l.Regions); diff != "" {
		t.Error(diff)
	}
}

func TestParseAsmErrors(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", "line 1, column 1: no instructions"},
		{"directives", ".text\n# nothing\n", "line 2, column 1: no instructions"},
		{"bracket", "nop\n\tmovl (%rax, %ebx\n", `line 2, column 7: "(" without its other half`},
		{"closing", "\tmovl %eax), %ebx\n", `line 1, column 11: ")" without its other half`},
		{"quote", "\tmovl \"a, %ebx\n", `line 1, column 7: "\"" without its other half`},
		{"comment", "nop\n/* open\n", "line 2, column 1: comment without end"},
		{"symbol", "nop\n  $1, %rax\n", `line 2, column 3: no instruction starts with "$"`},
		{"digit", "  12 %rax\n", `line 1, column 3: no instruction starts with "12"`},
		{"intel", ".intel_syntax noprefix\nmov eax, 1\n", "line 1, column 1: Intel syntax is not read, only that of AT&T"},
		{"macro", "nop\n.rept 3\nnop\n.endr\n", "line 2, column 1: .rept is not read: give what the assembler or the compiler makes of it"},
		{"twice", "a: nop\na: nop\n", "line 2, column 4: label a a second time"},
		{"end", "nop # LLVM-MCA-END\n", "line 1, column 7: LLVM-MCA-END without LLVM-MCA-BEGIN"},
		{"binary", "\x7fELF\x00\n", "line 1, column 5: a zero byte: is this assembly?"},
	} {
		_, err := Parse(test.text, X8664)
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: error %v, want %s", test.name, err, test.want)
		}
	}
}

// TestCaseListings reads all listings of mca-cases.
func TestCaseListings(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(listings, "*", "*.s"))
	if err != nil || len(files) < 40 {
		t.Fatalf("%d listings, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		l, err := Parse(string(text), "")
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		want := X8664
		if strings.Contains(file, "aarch64") {
			want = AArch64
		}
		if l.Arch != want {
			t.Errorf("%s: arch %s, want %s", file, l.Arch, want)
		}
		for i := range l.Insts {
			in := &l.Insts[i]
			if _, ok := OperationOf(l.Arch, in.Text); !ok {
				t.Errorf("%s:%d: operands of %s are not known", file, in.Line, in.Text)
			}
			path := strings.Contains(file, "-path") // is what was executed of another listing
			if (in.Kind == disasm.Conditional || in.Kind == disasm.Jump) && in.To < 0 && !path {
				t.Errorf("%s:%d: where does %s go?", file, in.Line, in.Text)
			}
		}
	}
}
