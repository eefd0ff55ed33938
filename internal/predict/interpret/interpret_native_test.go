package interpret

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"profdiff/internal/asm"
	"profdiff/internal/predict/flow"
)

// A nativeCase is straight-line code and the registers that it starts with.
type nativeCase struct {
	code      []string
	registers [asm.Registers]uint64
}

// A nativeMachine runs code that is assembled.
type nativeMachine struct {
	arch          asm.Arch
	as, ld, run   []string
	names         []string // registers that are compared, by number
	start, finish string   // of the program
	before, after string   // each case
	fixed         map[asm.Register]uint64
	generate      func(*codeMaker) []string
}

// Where the data of the programs are.
const (
	nativeBuffer = 0x10000000
	nativeStack  = nativeBuffer + 0x2000
	nativeIndex  = 5
)

var nativeX86 = nativeMachine{
	arch:  asm.X8664,
	as:    []string{"as", "--64"},
	ld:    []string{"ld", "-m", "elf_x86_64"},
	names: []string{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"},
	start: "mov $table,%rax\nmov %rax,in\nmov $results,%rax\nmov %rax,out\n",
	before: "mov in,%rsp\naddq $128,in\npop %rax\npop %rcx\npop %rdx\npop %rbx\npop %rbp\npop %rbp\npop %rsi\npop %rdi\n" +
		"pop %r8\npop %r9\npop %r10\npop %r11\npop %r12\npop %r13\npop %r14\npop %r15\nmov $stack,%esp\ncmp %rax,%rax\n",
	after: "mov %rsp,scratch\nmov out,%rsp\naddq $128,out\nlea 128(%rsp),%rsp\npush %r15\npush %r14\npush %r13\npush %r12\npush %r11\npush %r10\npush %r9\npush %r8\n" +
		"push %rdi\npush %rsi\npush %rbp\npushq scratch\npush %rbx\npush %rdx\npush %rcx\npush %rax\n",
	finish:   "mov $1,%eax\nmov $1,%edi\nmov $results,%rsi\nmov $length,%rdx\nsyscall\nmov $60,%eax\nxor %edi,%edi\nsyscall\n",
	fixed:    map[asm.Register]uint64{4: nativeStack, 7: nativeBuffer, 14: nativeIndex},
	generate: (*codeMaker).x86,
}

var nativeA64 = nativeMachine{
	arch:  asm.AArch64,
	as:    []string{"aarch64-linux-gnu-as"},
	ld:    []string{"aarch64-linux-gnu-ld"},
	run:   []string{"qemu-aarch64"},
	names: strings.Fields("x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 x12 x13 x14 x15"),
	start: "ldr x27,=table\nldr x28,=results\nldr x19,=stack\nb 1f\n.ltorg\n1:\n",
	before: "ldp x0,x1,[x27],#16\nldp x2,x3,[x27],#16\nldp x4,x5,[x27],#16\nldp x6,x7,[x27],#16\nldp x8,x9,[x27],#16\n" +
		"ldp x10,x11,[x27],#16\nldp x12,x13,[x27],#16\nldp x14,x15,[x27],#16\nmov sp,x19\ncmp xzr,xzr\n",
	after: "stp x0,x1,[x28],#16\nstp x2,x3,[x28],#16\nstp x4,x5,[x28],#16\nstp x6,x7,[x28],#16\nstp x8,x9,[x28],#16\n" +
		"stp x10,x11,[x28],#16\nstp x12,x13,[x28],#16\nstp x14,x15,[x28],#16\n",
	finish:   "mov x0,#1\nldr x1,=results\nldr x2,=length\nmov x8,#64\nsvc #0\nmov x0,#0\nmov x8,#93\nsvc #0\n.ltorg\n",
	fixed:    map[asm.Register]uint64{14: nativeBuffer, 15: nativeIndex, 31: nativeStack},
	generate: (*codeMaker).a64,
}

// TestInterpreterNative runs random code on the machine, or what emulates it, and asks
// what the interpreter knows of the registers afterwards.
func TestInterpreterNative(t *testing.T) {
	for _, m := range []*nativeMachine{&nativeX86, &nativeA64} {
		t.Run(string(m.arch), func(t *testing.T) {
			if m.run == nil && (runtime.GOARCH != "amd64" || runtime.GOOS != "linux") {
				t.Skip("this machine does not run programs of Linux for x86-64")
			}
			for _, command := range [][]string{m.as, m.ld, m.run} {
				if len(command) == 0 {
					continue
				}
				if _, err := exec.LookPath(command[0]); err != nil {
					t.Skipf("%s is not installed", command[0])
				}
			}
			cases := m.cases(4000)
			results := m.results(t, cases)
			known, failed := 0, 0
			for i := range cases {
				got := m.interpreted(&cases[i])
				for r := range m.names {
					if got[r] == nil {
						continue
					}
					known++
					if want := results[i][r]; *got[r] != want {
						if failed++; failed <= 60 {
							t.Errorf("%s: %s is %#x, want %#x", strings.Join(cases[i].code, "; "), m.names[r], *got[r], want)
						}
						break
					}
				}
			}
			t.Logf("%d failed, %d known of %d", failed, known, len(cases)*len(m.names))
			if 2*known < len(cases)*len(m.names) {
				t.Errorf("of %d registers only %d are known", len(cases)*len(m.names), known)
			}
		})
	}
}

// cases are random code.
func (m *nativeMachine) cases(n int) []nativeCase {
	random := rand.New(rand.NewPCG(1, uint64(len(m.names))))
	cases := make([]nativeCase, n)
	for i := range cases {
		for r := range m.names {
			v := random.Uint64()
			switch random.IntN(6) {
			case 0:
				v = uint64(int64(random.IntN(9) - 4))
			case 1:
				v = 1<<(8<<random.IntN(4)-1) - uint64(random.IntN(2))
			case 2:
				v = uint64(int32(v))
			}
			cases[i].registers[r] = v
		}
		for r, v := range m.fixed {
			cases[i].registers[r] = v
		}
		maker := codeMaker{Rand: random}
		for range 1 + random.IntN(6) {
			cases[i].code = append(cases[i].code, m.generate(&maker)...)
		}
	}
	return cases
}

// results are what is in the registers after each case.
func (m *nativeMachine) results(t *testing.T, cases []nativeCase) [][]uint64 {
	t.Helper()
	var s strings.Builder
	s.WriteString(".text\n.globl _start\n_start:\n" + m.start)
	for i := range cases {
		s.WriteString(m.before + strings.Join(cases[i].code, "\n") + "\n" + m.after)
	}
	s.WriteString(m.finish + ".data\nbuffer: .zero 0x1000\n.zero 0x1000\nstack: .zero 0x1000\nin: .quad 0\nout: .quad 0\nscratch: .quad 0\ntable:\n")
	for i := range cases {
		for r := range m.names {
			fmt.Fprintf(&s, ".quad %#x\n", cases[i].registers[r])
		}
	}
	n := len(cases) * len(m.names)
	fmt.Fprintf(&s, "results: .zero %d\n.set length, %d\n", 8*n, 8*n)
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(file("code.s"), []byte(s.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(command []string, args ...string) []byte {
		args = append(command[1:len(command):len(command)], args...)
		cmd := exec.CommandContext(t.Context(), command[0], args...)
		var errors bytes.Buffer
		cmd.Stderr = &errors
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%.2000s", command[0], err, errors.String())
		}
		return out
	}
	run(m.as, "-o", file("code.o"), file("code.s"))
	run(m.ld, fmt.Sprintf("--section-start=.data=%#x", nativeBuffer), "-o", file("code"), file("code.o"))
	out := run(append(m.run[:len(m.run):len(m.run)], file("code")))
	if len(out) != 8*n {
		t.Fatalf("%d bytes of results", len(out))
	}
	results := make([][]uint64, len(cases))
	for i := range results {
		for range m.names {
			results[i] = append(results[i], binary.LittleEndian.Uint64(out))
			out = out[8:]
		}
	}
	return results
}

// interpreted are the registers that the interpreter knows after a case: whatever random
// numbers stand for what is not known, they have the same value.
func (m *nativeMachine) interpreted(c *nativeCase) [16]*uint64 {
	var known [16]*uint64
	effects := make([]effect, len(c.code))
	for i, text := range c.code {
		effects[i] = effectOf(m.arch, &asm.Inst{Text: text})
	}
	const runs = 25 // one bit is the same by chance in one of 2^24
	for seed := range uint64(runs) {
		x := New(seed, nil)
		for r := range m.names {
			x.registers[r].bits = c.registers[r]
		}
		for r, v := range m.fixed {
			x.registers[r].bits = v
		}
		for i, do := range effects {
			x.at, x.step, x.access = flow.Site{Graph: nil, At: i}, int32(i), Access{}
			do(x)
		}
		for r := range known {
			switch v := x.registers[r].bits; {
			case seed == 0:
				known[r] = &v
			case known[r] != nil && *known[r] != v:
				known[r] = nil
			}
		}
	}
	return known
}

// A codeMaker makes instructions.
type codeMaker struct {
	*rand.Rand
	flags []string // conditions that are defined
}

func (k *codeMaker) one(list ...string) string { return list[k.IntN(len(list))] }

var (
	x86Registers = [4][]string{
		strings.Fields("al cl dl bl bpl sil r8b r9b r10b r15b"),
		strings.Fields("ax cx dx bx bp si r8w r9w r10w r15w"),
		strings.Fields("eax ecx edx ebx ebp esi r8d r9d r10d r15d"),
		strings.Fields("rax rcx rdx rbx rbp rsi r8 r9 r10 r15"),
	}
	x86Equal  = strings.Fields("e ne z nz")
	x86Result = append(strings.Fields("s ns"), x86Equal...)
	x86All    = append(strings.Fields("b c nae ae nb nc be na a nbe l nge ge nl le ng g nle o no"), x86Result...)
)

// x86 makes an instruction, or two.
func (k *codeMaker) x86() []string {
	size := k.IntN(4)
	suffix := "bwlq"[size : size+1]
	reg := func(size int) string { return "%" + k.one(x86Registers[size]...) }
	mem := func() string {
		return k.one(k.one("", "8", "4", "16", "1")+k.one("(%rdi)", "(%rdi)", "(%rdi,%r14)", "(%rdi,%r14,4)"), "0x10000000(,%r14,2)")
	}
	imm := func() string {
		return "$" + k.one("0", "1", "-1", "4", "63", "100", "-128", "0x40", fmt.Sprint(k.IntN(256)-128))
	}
	operand := func() string {
		if k.IntN(4) == 0 {
			return mem()
		}
		return reg(size)
	}
	defined := func(list []string, text string) []string {
		k.flags = list
		return []string{text}
	}
	switch k.IntN(22) {
	case 0, 1, 2, 3, 4:
		op := k.one("add", "sub", "and", "or", "xor", "cmp", "test", "sub", "cmp")
		source := k.one(reg(size), reg(size), imm(), mem())
		target := reg(size)
		if !strings.Contains(source, "(") && k.IntN(5) == 0 {
			target = mem()
		}
		if op == "test" && strings.Contains(source, "(") {
			source, target = target, source
		}
		if k.IntN(8) == 0 {
			source = reg(size)
			target = source
		}
		return defined(x86All, op+suffix+" "+source+","+target)
	case 5:
		if k.flags == nil {
			return nil
		}
		return defined(x86All, k.one("adc", "sbb")+suffix+" "+k.one(reg(size), imm())+","+reg(size))
	case 6:
		source := k.one(reg(size), imm(), mem())
		if strings.Contains(source, "(") {
			return []string{"mov" + suffix + " " + source + "," + reg(size)}
		}
		return []string{"mov" + suffix + " " + source + "," + operand()}
	case 7:
		return []string{"mov" + suffix + " " + mem() + "," + reg(size)}
	case 8:
		if size == 0 {
			size, suffix = 2, "l"
		}
		return []string{"lea" + suffix + " " + k.one("8(%rax)", "(%rcx,%rdx)", "-1(%rbx,%rsi,8)", "(,%r9,4)", "5(%r10,%r10,2)") + "," + reg(size)}
	case 9:
		from := k.IntN(3)
		to := from + 1 + k.IntN(3-from)
		if from == 2 {
			return []string{"movslq " + reg(2) + "," + reg(3)}
		}
		source := k.one(reg(from), mem())
		if from == 0 && k.IntN(4) == 0 && to != 3 {
			return []string{k.one("movz", "movs") + "b" + "bwlq"[to:to+1] + " " + k.one("%ah", "%bh") + ",%" + k.one(x86Registers[to][:5]...)}
		}
		return []string{k.one("movz", "movs") + "bw"[from:from+1] + "bwlq"[to:to+1] + " " + source + "," + reg(to)}
	case 10, 11:
		if k.flags == nil {
			return nil
		}
		if size == 0 {
			size, suffix = 3, "q"
		}
		return []string{"cmov" + k.one(k.flags...) + k.one("", suffix) + " " + reg(size) + "," + reg(size)}
	case 12, 13:
		if k.flags == nil {
			return nil
		}
		return []string{"set" + k.one(k.flags...) + " " + reg(0)}
	case 14:
		op := k.one("inc", "dec", "neg", "not")
		text := op + suffix + " " + operand()
		switch op {
		case "not":
			return []string{text}
		case "neg":
			return defined(x86All, text)
		}
		if k.flags != nil && len(k.flags) == len(x86All) {
			return []string{text}
		}
		return defined(x86Result, text)
	case 15, 16:
		op := k.one("shl", "sal", "shr", "sar", "rol", "ror")
		target := " " + operand()
		var text string
		switch k.IntN(4) {
		case 0:
			text = op + suffix + target
		case 1:
			k.flags = nil
			return []string{op + suffix + " %cl," + strings.TrimSpace(target)}
		default:
			text = op + suffix + fmt.Sprintf(" $%d,", 1+k.IntN(min(8<<size-1, 63))) + strings.TrimSpace(target)
		}
		if op[0] == 'r' {
			k.flags = nil
			return []string{text}
		}
		return defined(x86Result, text)
	case 17:
		if size == 0 {
			size, suffix = 2, "l"
		}
		k.flags = nil
		switch k.IntN(6) {
		case 0:
			return []string{"imul" + suffix + " " + reg(size)}
		case 1:
			return []string{"imul" + suffix + " " + imm() + "," + reg(size) + "," + reg(size)}
		case 2:
			return []string{"mul" + suffix + " " + reg(size)}
		case 3:
			return []string{k.one("shld", "shrd") + suffix + " $5," + reg(size) + "," + reg(size)}
		case 4:
			return []string{"imul" + suffix + " " + imm() + "," + reg(size)}
		}
		return []string{"imul" + suffix + " " + reg(size) + "," + reg(size)}
	case 18:
		if size == 0 {
			size, suffix = 2, "l"
		}
		return defined([]string{"b", "c", "nae", "ae", "nb", "nc"}, k.one("bt", "bts", "btr", "btc")+suffix+" "+k.one(reg(size), fmt.Sprintf("$%d", k.IntN(8<<size)))+","+reg(size))
	case 19:
		switch k.IntN(4) {
		case 0:
			return []string{"xchg" + suffix + " " + reg(size) + "," + operand()}
		case 1:
			return defined(x86All, "xadd"+suffix+" "+reg(size)+","+operand())
		case 2:
			k.flags = nil // those of what is not known are never equal
			return []string{"cmpxchg" + suffix + " " + reg(size) + "," + operand()}
		}
		k.flags = nil
		return []string{k.one("bswapl %eax", "bswapq %rdx", "movb %ah,%bl", "movb %al,%bh", "addb %ch,%al", "xorb %ah,%dh", "subb %cl,%ah")}
	case 20:
		return []string{k.one("cltq", "cltd", "cqto", "cwtl", "cbtw", "cwtd", "nop")}
	}
	switch k.IntN(4) {
	case 0:
		return []string{"pushw %ax", "popw %cx"}
	case 1:
		return []string{"push " + imm(), "pop " + reg(3)}
	case 2:
		return []string{"pushq " + reg(3), "movl (%rsp)," + reg(2), "popq " + reg(3)}
	}
	return []string{"pushq " + reg(3), "push" + k.one("q", "") + " " + reg(3), "popq " + reg(3), "pop " + reg(3)}
}

var (
	a64Zero   = strings.Fields("eq ne")
	a64Result = append(strings.Fields("mi pl"), a64Zero...)
	a64All    = append(strings.Fields("lo cc hs cs ls hi lt ge le gt vs vc"), a64Result...)
)

// a64 makes an instruction, or two.
func (k *codeMaker) a64() []string {
	wide := k.IntN(2)
	w := "wx"[wide : wide+1]
	width := 32 << wide
	reg := func(w string) string { return fmt.Sprintf("%s%d", w, k.IntN(12)) }
	source := func(w string) string {
		if k.IntN(8) == 0 {
			return w + "zr"
		}
		return reg(w)
	}
	imm := func() string { return k.one("#0", "#1", "4", "#100", "#63", "#4095", "#1, lsl #12") }
	shifted := func() string {
		s := source(w)
		if k.IntN(3) == 0 {
			s += ", " + k.one("lsl", "lsr", "asr") + fmt.Sprintf(" #%d", k.IntN(width))
		}
		return s
	}
	extended := func() string {
		return reg("w") + ", " + k.one("uxtb", "uxth", "uxtw", "sxtb", "sxth", "sxtw") + k.one("", " #1", " #3")
	}
	mask := func() string { return k.one("#1", "#0xff", "#0x80", "#0xfffffffe", "#4", "#0x7fffffff") }
	defined := func(list []string, text string) []string {
		k.flags = list
		return []string{text}
	}
	condition := func() string { return k.one(k.flags...) }
	if k.flags == nil {
		k.flags = a64All
	}
	mem := func() string {
		return k.one("[x14]", "[x14, #8]", "[x14, #16]", "[x14, x15, lsl #SS]", "[x14, w15, uxtw #SS]", "[x14, w15, sxtw]", "[x14, x15]")
	}
	scaled := func(s string, bytes int) string {
		return strings.Replace(s, "#SS", fmt.Sprintf("#%d", map[int]int{1: 0, 2: 1, 4: 2, 8: 3}[bytes]), 1)
	}
	switch k.IntN(18) {
	case 0, 1:
		return []string{k.one("add", "sub") + " " + reg(w) + ", " + reg(w) + ", " + k.one(shifted(), imm())}
	case 2:
		return defined(a64All, k.one("adds", "subs")+" "+reg(w)+", "+reg(w)+", "+k.one(shifted(), imm()))
	case 3, 4:
		return defined(a64All, k.one("cmp", "cmp", "cmn")+" "+reg(w)+", "+k.one(shifted(), imm()))
	case 5:
		if wide == 1 && k.IntN(2) == 0 {
			op := k.one("add", "sub", "cmp", "adds")
			if op == "cmp" {
				return defined(a64All, "cmp "+reg("x")+", "+extended())
			} else if op == "adds" {
				return defined(a64All, "adds "+reg("x")+", "+reg("x")+", "+extended())
			}
			return []string{op + " " + reg("x") + ", " + reg("x") + ", " + extended()}
		}
		return defined(a64All, "tst "+reg(w)+", "+k.one(shifted(), mask()))
	case 6:
		return defined(a64All, "ands "+reg(w)+", "+reg(w)+", "+k.one(shifted(), mask()))
	case 7:
		op := k.one("and", "orr", "eor", "bic", "orn", "eon")
		if op == "and" || op == "orr" || op == "eor" {
			return []string{op + " " + reg(w) + ", " + source(w) + ", " + k.one(shifted(), mask())}
		}
		return []string{op + " " + reg(w) + ", " + reg(w) + ", " + shifted()}
	case 8:
		return []string{k.one("lsl", "lsr", "asr", "ror") + " " + reg(w) + ", " + reg(w) + ", " + k.one(reg(w), fmt.Sprintf("#%d", k.IntN(width)))}
	case 9:
		op := k.one("ubfx", "sbfx", "ubfiz", "sbfiz", "bfi", "bfxil", "bfc")
		low := k.IntN(width)
		n := 1 + k.IntN(width-low)
		if op == "bfc" {
			return []string{fmt.Sprintf("bfi %s, %szr, #%d, #%d", reg(w), w, low, n)}
		}
		return []string{fmt.Sprintf("%s %s, %s, #%d, #%d", op, reg(w), reg(w), low, n)}
	case 10, 11:
		switch op := k.one("csel", "csinc", "csinv", "csneg", "cset", "csetm", "cinc", "cinv", "cneg"); {
		case strings.HasPrefix(op, "cs") && op != "cset" && op != "csetm":
			return []string{op + " " + reg(w) + ", " + source(w) + ", " + source(w) + ", " + condition()}
		case strings.HasPrefix(op, "cset"):
			return []string{op + " " + reg(w) + ", " + condition()}
		default:
			return []string{op + " " + reg(w) + ", " + reg(w) + ", " + condition()}
		}
	case 12:
		switch k.IntN(6) {
		case 0:
			return []string{"mov " + reg(w) + ", " + k.one("#0", "#-1", "#0x10000", "#42", "-7")}
		case 1:
			return []string{k.one("movz", "movn", "movk") + " " + reg(w) + ", #" + k.one("0", "1", "0xffff", "0x8000") + k.one("", ", lsl #16")}
		case 2:
			return []string{k.one("neg", "mvn") + " " + reg(w) + ", " + shifted()}
		case 3:
			return []string{"sxtw " + reg("x") + ", " + reg("w")}
		case 4:
			return []string{k.one("sxth", "sxtb") + " " + reg(w) + ", " + reg("w")}
		}
		return []string{k.one("uxth", "uxtb", "mov") + " " + reg("w") + ", " + reg("w")}
	case 13:
		switch k.IntN(5) {
		case 0:
			return []string{"mul " + reg(w) + ", " + source(w) + ", " + reg(w)}
		case 1:
			return []string{k.one("smull", "umull") + " " + reg("x") + ", " + reg("w") + ", " + reg("w")}
		case 2:
			return []string{k.one("smaddl", "umaddl") + " " + reg("x") + ", " + reg("w") + ", " + reg("w") + ", " + reg("x")}
		case 3:
			return []string{k.one("rev", "rbit", "clz") + " " + reg(w) + ", " + reg(w)}
		}
		return []string{k.one("madd", "msub") + " " + reg(w) + ", " + reg(w) + ", " + reg(w) + ", " + source(w)}
	case 14:
		switch k.IntN(4) {
		case 0:
			return []string{k.one("adc", "sbc") + " " + reg(w) + ", " + source(w) + ", " + source(w)}
		case 1:
			return defined(a64All, k.one("adcs", "sbcs")+" "+reg(w)+", "+reg(w)+", "+reg(w))
		case 2:
			return defined(a64All, k.one("bics "+reg(w)+", "+reg(w), "negs "+reg(w))+", "+shifted())
		}
		return defined(a64All, k.one("ccmp", "ccmn")+" "+reg(w)+", "+k.one(reg(w), "#5")+", #"+k.one("0", "4", "8", "15")+", "+condition())
	case 15:
		bytes := width / 8
		return []string{k.one("str", "ldr", "ldr") + " " + source(w) + ", " + scaled(mem(), bytes)}
	case 16:
		switch op := k.one("strb", "ldrb", "ldrsb", "strh", "ldrh", "ldrsh", "ldrsw"); {
		case op == "ldrsw":
			return []string{op + " " + reg("x") + ", " + scaled(mem(), 4)}
		case strings.HasPrefix(op, "ldrs"):
			return []string{op + " " + reg(w) + ", " + scaled(mem(), map[byte]int{'b': 1, 'h': 2}[op[len(op)-1]])}
		default:
			return []string{op + " " + source("w") + ", " + scaled(mem(), map[byte]int{'b': 1, 'h': 2}[op[len(op)-1]])}
		}
	}
	switch k.IntN(5) {
	case 0:
		return []string{"stp " + source(w) + ", " + reg(w) + ", [sp, #-16]!", "ldp x0, x1, [sp], #16"}
	case 1:
		return []string{"stp x2, x3, [x14, #16]", "ldr " + reg(w) + ", [x14, #24]", "ldp w4, w5, [x14, #16]"}
	case 2:
		return []string{"add x12, x14, #32", "str " + source(w) + ", [x12], #8", "str x3, [x12, #-8]!", "ldr x5, [x14, #32]"}
	case 3:
		return []string{"mov x13, sp", "str x7, [sp, #-16]!", "ldr x8, [x13, #-16]", "add sp, sp, #16", "sub x13, sp, #32"}
	}
	return []string{"add x12, x14, #64", "str " + reg("x") + ", [x12]", "ldpsw x2, x3, [x12]", "ldrsw x4, [x12], #4", "ldur w5, [x12, #-4]"}
}
