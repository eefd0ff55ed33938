package shape

import (
	"slices"
	"strings"
	"testing"

	"profdiff/internal/asm"
)

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
		{"movsd  0x20(%rip),%xmm1", false, "", "xmm1", "lk"},
		{"ldr x0, [x1,#8]", true, "x1", "x0", "l"},
		{"ldp x29, x30, [sp],#16", true, "sp", "x29 x30 sp", "lkn"},
		{"str w2, [x3,x4,lsl #2]", true, "x2 x3 x4", "", "s"},
		{"cmp w0, #0x7", true, "x0", "", "cn"},
		{"sdiv x1, x2, x3", true, "x2 x3", "x1", "d"},
		{"cbz w4, 0x1000", true, "x4", "", ""},
		{"add x0, x0, x1", true, "x0 x1", "x0", ""},
		{"fadd d0, d1, d2", true, "v1 v2", "v0", ""},
	} {
		op := operationOf(test.text)
		registers := func(names string) (list []asm.Register) {
			for name := range strings.FieldsSeq(names) {
				r, _ := asm.RegisterX86("%" + name)
				if test.arm {
					r = asm.RegisterA64(name)
				}
				list = append(list, r)
			}
			slices.Sort(list)
			return list
		}
		slices.Sort(op.defs)
		var flags []string
		for _, f := range []struct {
			set  bool
			name string
		}{{op.loads, "l"}, {op.stores, "s"}, {op.divides, "d"}, {op.compares, "c"}, {op.onStack, "k"}, {op.constant, "n"}} {
			if f.set {
				flags = append(flags, f.name)
			}
		}
		if !slices.Equal(op.uses, registers(test.uses)) || !slices.Equal(op.defs, registers(test.defs)) || strings.Join(flags, "") != test.flags {
			t.Errorf("%s: uses %v, defines %v, %q; want %q, %q, %q", test.text, op.uses, op.defs, flags, test.uses, test.defs, test.flags)
		}
	}
}
