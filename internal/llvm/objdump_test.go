package llvm

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseListing(t *testing.T) {
	tests := []struct {
		name string
		arch arch
		text string
		want []Instruction
	}{
		{
			"x86", archX86, `
a.out:	file format elf64-x86-64

Disassembly of section .text:

0000000000001160 <f>:
    1160:      	leaq	3756(%rip), %rdi        # 0x2014 <_IO_stdin_used+0x14>
    1167:      	jle	0x1198 <f+0x38>
    118d:      	lock
    118e:      	addl	%ecx, (%rdx)
    1190:      	callq	0x1030 <operator<<(std::ostream&)@plt>
    1195:      	jmpq	*%rax
    1197:      	nopw	%cs:(%rax,%rax)
    11a0:      	rep		movsb	(%rsi), %es:(%rdi)
    11a2:      	repne		jmp	0x11a0 <f+0x40>
    11a9:      	int3
    11aa:      	nop
    11ab:      	endbr64
    11af:      	nop
    11b0:      	<unknown>
    11b1:      	...
`,
			[]Instruction{
				{Addr: 0x1160, Text: "leaq 3756(%rip), %rdi", Raw: "leaq\t3756(%rip), %rdi        # 0x2014 <_IO_stdin_used+0x14>"},
				{Addr: 0x1167, Text: "jle .Lx0x1198", Raw: "jle\t0x1198 <f+0x38>", Target: 0x1198},
				{Addr: 0x118d, Text: "lock addl %ecx, (%rdx)", Raw: "lock addl\t%ecx, (%rdx)"},
				{Addr: 0x1190, Text: "callq .Lx0x1030", Raw: "callq\t0x1030 <operator<<(std::ostream&)@plt>", Target: 0x1030},
				{Addr: 0x1195, Text: "jmpq *%rax", Raw: "jmpq\t*%rax"},
				{Addr: 0x1197, Text: "nopw %cs:(%rax,%rax)", Raw: "nopw\t%cs:(%rax,%rax)", Padding: true},
				{Addr: 0x11a0, Text: "rep movsb (%rsi), %es:(%rdi)", Raw: "rep\t\tmovsb\t(%rsi), %es:(%rdi)"},
				{Addr: 0x11a2, Text: "repne jmp .Lx0x11a0", Raw: "repne\t\tjmp\t0x11a0 <f+0x40>", Target: 0x11a0},
				{Addr: 0x11a9, Text: "int3", Raw: "int3", Padding: true},
				{Addr: 0x11aa, Text: "nop", Raw: "nop", Padding: true},
				{Addr: 0x11ab, Text: "endbr64", Raw: "endbr64"},
				{Addr: 0x11af, Text: "nop", Raw: "nop"},
				{Addr: 0x11b0, Raw: "<unknown>", Data: true},
				{Addr: 0x11b1, Raw: "...", Data: true},
			},
		},
		{
			"aarch64", archARM64, `
0000000000001360 <f>:
    1360:      	mov	w0, #0x0                // =0
    1364:      	tbz	w0, #31, 0x1370 <f+0x10>
    1368:      	b.ne	0x1390 <f+0x30>
    136c:      	ldr	x0, 0x1400 <f+0xa0>
    1370:      	adrp	x16, 0x11000 <g>
    1374:      	ldr	w1, [x0, #0x10]
    1378:      	bl	0x1300 <.text>
    137a:      	ldr	q4, [x2], #0x10
    137c:      	ret
    1380:      	nop
    1384:      	udf	#0
    1388:      	.word	0x12345678
    138c:      	<unknown>
    1390:      	cbnz	x1, 0x1360
    1394:      	nop
`,
			[]Instruction{
				{Addr: 0x1360, Text: "mov w0, #0x0", Raw: "mov\tw0, #0x0                // =0"},
				{Addr: 0x1364, Text: "tbz w0, #31, .Lx0x1370", Raw: "tbz\tw0, #31, 0x1370 <f+0x10>", Target: 0x1370},
				{Addr: 0x1368, Text: "b.ne .Lx0x1390", Raw: "b.ne\t0x1390 <f+0x30>", Target: 0x1390},
				{Addr: 0x136c, Text: "ldr x0, .Lx0x1400", Raw: "ldr\tx0, 0x1400 <f+0xa0>"},
				{Addr: 0x1370, Text: "adrp x16, .Lx0x11000", Raw: "adrp\tx16, 0x11000 <g>"},
				{Addr: 0x1374, Text: "ldr w1, [x0, #0x10]", Raw: "ldr\tw1, [x0, #0x10]"},
				{Addr: 0x1378, Text: "bl .Lx0x1300", Raw: "bl\t0x1300 <.text>", Target: 0x1300},
				{Addr: 0x137a, Text: "ldr q4, [x2], #0x10", Raw: "ldr\tq4, [x2], #0x10"},
				{Addr: 0x137c, Text: "ret", Raw: "ret"},
				{Addr: 0x1380, Text: "nop", Raw: "nop", Padding: true},
				{Addr: 0x1384, Text: "udf #0", Raw: "udf\t#0", Padding: true},
				{Addr: 0x1388, Raw: ".word\t0x12345678", Data: true},
				{Addr: 0x138c, Raw: "<unknown>", Data: true},
				{Addr: 0x1390, Text: "cbnz x1, .Lx0x1360", Raw: "cbnz\tx1, 0x1360", Target: 0x1360},
				{Addr: 0x1394, Text: "nop", Raw: "nop"},
			},
		},
		{
			"thumb", archARM, `
00000000 <f>:
    1000:      	ldr	r0, [pc, #0x10]         @ 0x1014 <f+0x14>
    1002:      	bne	0x1000 <f>              @ imm = #-0x6
    1004:      	bl	0x2000 <g>              @ imm = #0xff8
    1008:      	bx	lr
    100a:      	nop
    100c:      	cbz	r0, 0x1010 <f+0x10>     @ imm = #0x0
    100e:      	08 03 0a 13	.word	0x130a0308
`,
			[]Instruction{
				{Addr: 0x1000, Text: "ldr r0, [pc, #0x10]", Raw: "ldr\tr0, [pc, #0x10]         @ 0x1014 <f+0x14>"},
				{Addr: 0x1002, Text: "bne .Lx0x1000", Raw: "bne\t0x1000 <f>              @ imm = #-0x6", Target: 0x1000},
				{Addr: 0x1004, Text: "bl .Lx0x2000", Raw: "bl\t0x2000 <g>              @ imm = #0xff8", Target: 0x2000},
				{Addr: 0x1008, Text: "bx lr", Raw: "bx\tlr"},
				{Addr: 0x100a, Text: "nop", Raw: "nop", Padding: true},
				{Addr: 0x100c, Text: "cbz r0, .Lx0x1010", Raw: "cbz\tr0, 0x1010 <f+0x10>     @ imm = #0x0", Target: 0x1010},
				{Addr: 0x100e, Raw: "08 03 0a 13\t.word\t0x130a0308", Data: true},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseListing([]byte(tt.text), tt.arch, 0x1000, 0x2000)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := parseListing([]byte("  20: \tnop\n  10: \tnop\n"), archX86, 0, 0x100); err == nil ||
		!strings.Contains(err.Error(), "line 2: address 0x10 after 0x20") {
		t.Errorf("addresses that descend: error %v", err)
	}
	got, err := parseListing([]byte("  10: \tlock\n  11: \tincl (%rax)\n"), archX86, 0x10, 0x11)
	if want := []Instruction{{Addr: 0x10, Raw: "lock", Data: true}}; err != nil || !cmp.Equal(got, want) {
		t.Errorf("a range that ends behind a prefix: %+v, %v", got, err)
	}
}

// build compiles a C source.
func build(t *testing.T, source string, command ...string) string {
	t.Helper()
	compiler, err := exec.LookPath(command[0])
	if err != nil {
		t.Skipf("%s is not installed", command[0])
	}
	dir := t.TempDir()
	input, output := filepath.Join(dir, "in.c"), filepath.Join(dir, "out")
	if err := os.WriteFile(input, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(compiler, append(command[1:], "-o", output, input)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return output
}

// code is a program of several kinds of instructions that needs no library.
const code = `
typedef unsigned long ulong;
static const double weights[] = {1.5, 2.5, 3.5, 4.5};
int reduce(const int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i] > 3 ? a[i] : i; return s; }
double dot(const double *a, const double *b, int n) { double s = 0; for (int i = 0; i < n; i++) s += a[i] * b[i] * weights[i & 3]; return s; }
ulong hash(const char *p) { ulong h = 5381; while (*p) h = h * 33 ^ (unsigned char)*p++; return h; }
int search(const int *a, int n, int x) { int lo = 0, hi = n; while (lo < hi) { int m = (lo + hi) / 2; if (a[m] < x) lo = m + 1; else hi = m; } return lo; }
int choose(int x, int y) { switch (x) { case 0: return y; case 1: return y * 7; case 2: return y / 3; case 3: return y % 5; case 4: return ~y; case 5: return y << 4; } return -1; }
long count(long *p) { return __atomic_fetch_add(p, 1, __ATOMIC_SEQ_CST); }
void each(int *a, int n, int (*f)(int)) { for (int i = 0; i < n; i++) a[i] = f(a[i]); }
void transpose(float *d, const float *s, int n) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) d[j * n + i] = s[i * n + j]; }
ulong divide(ulong a, ulong b) { return b ? a / b + a % b : 0; }
`

// textSection is where the code of an ELF file is.
func textSection(t testing.TB, path string) (from, to uint64) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := f.Section(".text")
	if s == nil {
		t.Fatalf("%s has no .text", path)
	}
	return s.Addr, s.Addr + s.Size
}

// basicBlocks are runs of two instructions or more that end with a branch.
func basicBlocks(a arch, list []Instruction, limit int) [][]string {
	var blocks [][]string
	var block []string
	flush := func() {
		if len(block) > 1 {
			blocks = append(blocks, block)
		}
		block = nil
	}
	it := 0
	for _, in := range list {
		if in.Padding || in.Data {
			flush()
			continue
		}
		block = append(block, in.Text)
		it--
		if n := itBlock("thumbv7", []string{in.Text, "", "", "", ""}); a == archARM && n > 1 {
			it = n - 1
		}
		name := operation(a, in.Text)
		if it <= 0 && (isBranch(a, name) || isEnd(a, name, in.Text)) {
			flush()
		}
	}
	flush()
	if step := len(blocks) / limit; step > 1 { // spread over the file
		var some [][]string
		for i := 0; i < len(blocks) && len(some) < limit; i += step {
			some = append(some, blocks[i])
		}
		return some
	}
	return blocks
}

// TestAcceptance feeds llvm-mca what llvm-objdump prints of whole programs.
func TestAcceptance(t *testing.T) {
	blocks := 400
	if testing.Short() {
		blocks = 40
	}
	thumb := []string{"clang", "--target=armv7-linux-gnueabihf", "-mthumb", "-ffreestanding", "-O2", "-c"}
	tests := []struct {
		name        string
		file        func(t *testing.T) string
		triple, cpu string
		objdump     DisassembleOptions
		least       int // blocks
	}{
		{"ls", func(t *testing.T) string {
			if _, err := os.Stat("/bin/ls"); err != nil {
				t.Skip("/bin/ls is not installed")
			}
			return "/bin/ls"
		}, "", "", DisassembleOptions{}, blocks},
		{"Go", func(t *testing.T) string {
			path, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			return path
		}, "", "", DisassembleOptions{}, blocks},
		{"aarch64", func(t *testing.T) string {
			return build(t, code, "aarch64-linux-gnu-gcc", "-O3", "-march=armv8.2-a+lse", "-mno-outline-atomics", "-nostdlib", "-shared", "-fPIC")
		}, "aarch64", "cortex-a78", DisassembleOptions{}, 30},
		{"libc of aarch64", func(t *testing.T) string {
			const libc = "/usr/aarch64-linux-gnu/lib/libc.so.6"
			if _, err := os.Stat(libc); err != nil {
				t.Skip("libc6-arm64-cross is not installed")
			}
			return libc
		}, "aarch64", "neoverse-n1", DisassembleOptions{}, blocks},
		{"thumb", func(t *testing.T) string { return build(t, code, thumb...) }, "thumbv7", "cortex-a57", DisassembleOptions{}, 20},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := tt.file(t)
			triple, cpu := tt.triple, tt.cpu
			if triple == "" {
				var err error
				if triple, err = tripleOf(file); err != nil {
					t.Skip(err)
				}
				if cpu = "cortex-a76"; archOf(triple) == archX86 {
					cpu = "znver3"
				}
			}
			eachVersion(t, func(t *testing.T, tc *Toolchain) {
				from, to := textSection(t, file)
				// The executable of this test is large.
				if to-from > 400<<10 {
					from = from + (to-from)/2&^0xfff
					to = from + 400<<10
				}
				list, err := tc.Disassemble(t.Context(), file, from, to, tt.objdump)
				if err != nil {
					t.Fatal(err)
				}
				chosen := basicBlocks(archOf(triple), list, blocks)
				if len(chosen) < tt.least {
					t.Fatalf("%d blocks, want %d", len(chosen), tt.least)
				}
				model, err := ModelOf(tc.Major, triple, cpu)
				if err != nil {
					t.Fatal(err)
				}
				tg := target{triple: triple, cpu: model.MCPU, dispatch: model.Dispatch}
				var units [][]string
				var blockOf []int
				for n, block := range chosen {
					for i := 0; i < len(block); {
						k := itBlock(triple, block[i:])
						units = append(units, block[i:i+k])
						blockOf = append(blockOf, n)
						i += k
					}
				}
				infos, err := tc.known(t.Context(), tg, units)
				if err != nil {
					t.Fatal(err)
				}
				instructions, accepted := 0, 0
				bad := make(map[int]bool)
				for i, info := range infos {
					instructions += len(units[i])
					if info.problem != nil {
						bad[blockOf[i]] = true
						t.Logf("%q: %v", units[i], info.problem.Message)
						continue
					}
					if len(info.instructions) > len(units[i]) {
						t.Errorf("%q is %d instructions: %q", units[i], len(info.instructions), info.instructions)
					}
					accepted += len(units[i])
				}
				var good []Region
				for n, block := range chosen {
					if !bad[n] {
						good = append(good, Region{Name: fmt.Sprint(n), Lines: block})
					}
				}
				whole := len(good)
				share := float64(accepted) / float64(instructions)
				t.Logf("%d of %d instructions (%.2f %%), %d of %d blocks", accepted, instructions, 100*share, whole, len(chosen))
				if share < 0.995 || float64(whole) < 0.995*float64(len(chosen)) {
					t.Errorf("less than 99.5 %% is accepted")
				}
				got, err := tc.Simulate(t.Context(), Options{Triple: triple, CPU: cpu, Iterations: 1}, good)
				if err != nil {
					t.Fatal(err)
				}
				for i, s := range got {
					left := 0
					for _, u := range s.Unmodelled {
						if u.StandIn == "" {
							left++
						}
					}
					if len(s.Instructions)+left != len(good[i].Lines) {
						t.Errorf("block %d: %d instructions, %d left out of %d", i, len(s.Instructions), left, len(good[i].Lines))
					}
				}
			})
		})
	}
}

func TestDisassemble(t *testing.T) {
	file := build(t, code, "aarch64-linux-gnu-gcc", "-O2", "-march=armv8.2-a+lse", "-mno-outline-atomics", "-nostdlib", "-shared", "-fPIC")
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	eachVersion(t, func(t *testing.T, tc *Toolchain) {
		for _, s := range symbols {
			if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Size == 0 {
				continue
			}
			list, err := tc.Disassemble(t.Context(), file, s.Value, s.Value+s.Size, DisassembleOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if uint64(len(list)) != s.Size/4 || list[0].Addr != s.Value {
				t.Errorf("%s: %d instructions from %#x, want %d from %#x", s.Name, len(list), list[0].Addr, s.Size/4, s.Value)
			}
			if s.Name == "count" {
				found := false
				for _, in := range list {
					found = found || strings.HasPrefix(in.Text, "ldaddal ")
				}
				if !found {
					t.Errorf("count has no ldaddal: %+v", list)
				}
			}
		}
		for _, bad := range []struct {
			file     string
			from, to uint64
			want     string
		}{
			{file, 0x7f0000000000, 0x7f0000001000, "prints no instruction of 0x7f0000000000 to 0x7f0000001000"},
			{file, 16, 16, "empty range"},
			{file, 32, 16, "empty range"},
			{file, 0, 1 << 40, "over 16 MiB"},
			{filepath.Join(t.TempDir(), "none"), 0, 16, "no such file"},
			{"objdump_test.go", 0, 16, "is not an ELF file"},
		} {
			if _, err := tc.Disassemble(t.Context(), bad.file, bad.from, bad.to, DisassembleOptions{}); err == nil || !strings.Contains(err.Error(), bad.want) {
				t.Errorf("%s %#x: error %v, want %q", bad.file, bad.from, err, bad.want)
			}
		}
	})
}

// TestStripped disassembles a library whose debug file may be installed: llvm-objdump
// must not look there.
func TestStripped(t *testing.T) {
	const libc = "/lib/x86_64-linux-gnu/libc.so.6"
	if _, err := os.Stat(libc); err != nil {
		t.Skip("libc6 of x86-64 is not installed")
	}
	from, _ := textSection(t, libc)
	eachVersion(t, func(t *testing.T, tc *Toolchain) {
		list, err := tc.Disassemble(t.Context(), libc, from, from+0x1000, DisassembleOptions{})
		if err != nil || len(list) < 500 {
			t.Errorf("%d instructions, %v", len(list), err)
		}
	})
}

// TestThumb disassembles Thumb code of which a file does not say so.
func TestThumb(t *testing.T) {
	clang := []string{"clang", "--target=armv7-linux-gnueabihf", "-mthumb", "-ffreestanding", "-O2", "-c"}
	file := build(t, code, clang...)
	objcopy, err := exec.LookPath("llvm-objcopy-14")
	if err != nil {
		if objcopy, err = exec.LookPath("llvm-objcopy"); err != nil {
			t.Skip("llvm-objcopy is not installed")
		}
	}
	stripped := file + ".stripped"
	if out, err := exec.Command(objcopy, "--strip-all", file, stripped).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	eachVersion(t, func(t *testing.T, tc *Toolchain) {
		from, to := textSection(t, file)
		want, err := tc.Disassemble(t.Context(), file, from, to, DisassembleOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := tc.Disassemble(t.Context(), stripped, from, to, DisassembleOptions{Triple: "thumbv7-linux-gnueabihf"})
		if err != nil {
			t.Fatal(err)
		}
		at := make(map[uint64]string)
		for _, in := range got {
			at[in.Addr] = in.Text
		}
		same := 0
		for _, in := range want {
			if !in.Data && at[in.Addr] == in.Text {
				same++
			}
		}
		// Tables in the code are data in the one, plausible instructions in the other.
		if same < len(want)*9/10 {
			t.Errorf("%d of %d instructions are what they are with symbols", same, len(want))
		}
	})
}

func TestTripleOf(t *testing.T) {
	header := func(class, data, machine byte) []byte {
		b := bytes.Repeat([]byte{0}, 64)
		copy(b, "\x7fELF")
		b[4], b[5] = class, data
		b[18] = machine
		if data == 2 {
			b[18], b[19] = 0, machine
		}
		return b
	}
	for _, tt := range []struct {
		data []byte
		want string
	}{
		{header(2, 1, 62), "x86_64"},
		{header(1, 1, 3), "i386"},
		{header(2, 1, 183), "aarch64"},
		{header(1, 2, 40), "arm"},
		{header(2, 1, 243), ""},
		{header(2, 1, 62)[:19], ""},
		{[]byte("#!/bin/sh\n exec something"), ""},
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, tt.data, 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := tripleOf(path)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("tripleOf(% x) = %q, %v, want %q", tt.data, got, err, tt.want)
		}
	}
}
