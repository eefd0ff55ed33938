package branch

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/disasm"
	"profdiff/internal/llvm"
	"profdiff/internal/objfile"
	"profdiff/internal/perffile/perffiletest"
	"profdiff/internal/symbolizer"
)

func TestArmKind(t *testing.T) {
	for text, want := range map[string]string{
		"b 0x100":                      "direct",
		"b.w 0x100":                    "direct",
		"beq 0x100":                    "conditional",
		"bls 0x100":                    "conditional", // not bl
		"bhs.w 0x100":                  "conditional",
		"cbz r0, 0x100":                "conditional",
		"cbnz r3, 0x100":               "conditional",
		"bl 0x100":                     "call",
		"blls 0x100":                   "conditional",
		"blx 0x100":                    "call",
		"blx r3":                       "indirect",
		"blxne r3":                     "conditional",
		"bx lr":                        "return",
		"bxeq lr":                      "conditional",
		"bx r3":                        "indirect",
		"pop {r4, pc}":                 "return",
		"popne {r4, r5, pc}":           "conditional",
		"pop.w {r4, lr}":               "other",
		"ldm sp!, {r4, pc}":            "return",
		"ldmdbne r11, {r4, r11, pc}":   "conditional",
		"ldm r0, {r1, r2}":             "other",
		"ldr pc, [sp], #4":             "return",
		"ldr.w pc, [r3, r2, lsl #2]":   "indirect",
		"ldrls pc, [pc, r0, lsl #2]":   "conditional",
		"add pc, r2, r1":               "indirect",
		"addls pc, pc, r3, lsl #2":     "conditional",
		"mov pc, lr":                   "return",
		"mov pc, r3":                   "indirect",
		"movne pc, lr":                 "conditional",
		"subs pc, lr, #4":              "return",
		"tbb [pc, r0]":                 "indirect",
		"tbh [pc, r0, lsl #1]":         "indirect",
		"udf #0":                       "trap",
		"bkpt #0":                      "trap",
		"cmp pc, r0":                   "other",
		"str pc, [r0]":                 "other",
		"ldr r0, [pc, #4]":             "other",
		"it eq":                        "other",
		"moveq r0, #1":                 "other",
		"bic r0, r1":                   "other",
		"bfi r0, r1, #2, #3":           "other",
		"vldmia r0, {d0, d1}":          "other",
		"svc #0":                       "other",
		"subs r0, r1, r2":              "other",
		"pop {r0, r1, r2, r3, r4, r5}": "other",
	} {
		kind, conditional := armKind(text)
		if kind.String() != want || conditional != (want == "conditional") {
			t.Errorf("%s is %v (%v), want %s", text, kind, conditional, want)
		}
	}
}

// armSource has a branch on data, a table of jumps, and what compilers put into IT
// blocks.
const armSource = pickSource + `
__attribute__((noinline)) int kinds(unsigned k, int *p) {
	switch (k) {
	case 0: return p[1];
	case 1: return p[0] * 3;
	case 2: p[3]++; return 7;
	case 3: return pick(p, 4);
	case 4: p[2] = pick(p, 3); return 1;
	case 5: return p[8] + p[9];
	case 6: return 99;
	case 7: p[0] = 0; return 12;
	}
	return 0;
}
__attribute__((noinline)) int early(int *p) {
	if (!p) return 1;
	if (p[0] == 3) return 2;
	sink = p[1];
	return p[2];
}
int _start(void) {
	static int values[64];
	int n = 0;
	for (int i = 0; i < 100; i++) { n += pick(values, i & 63); n += kinds(i & 7, values); n += early(values + i % 3); }
	return n;
}
`

// TestArmITBlocks decodes branches of Thumb that an IT block makes conditional.
func TestArmITBlocks(t *testing.T) {
	mustLLVM(t)
	dir := t.TempDir()
	source, object, program := filepath.Join(dir, "it.s"), filepath.Join(dir, "it.o"), filepath.Join(dir, "it")
	const text = `
	.syntax unified
	.thumb
	.globl _start, g
	.type _start, %function
	.type g, %function
	.thumb_func
_start:
	push {r4, lr}
1:	cmp r0, #3
	it eq
	bleq g
	it lt
	poplt {r4, pc}
	ite gt
	subgt r0, #1
	bxle lr
	b 1b
	.size _start, . - _start
	.thumb_func
g:
	bx lr
	.size g, . - g
`
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	runIn(t, dir, "clang", "--target=armv7-linux-gnueabihf", "-c", "-o", object, source)
	runIn(t, dir, "ld.lld", "-o", program, object)
	_, code, file := openArm(t, program)
	symbols, err := file.File().Symbols()
	if err != nil {
		t.Fatal(err)
	}
	f, err := code.FunctionAt(addressOf(symbols, "_start"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range f.Insts {
		if in := &f.Insts[i]; in.Kind != disasm.Other {
			mnemonic, _, _ := strings.Cut(f.Text(i), " ")
			got = append(got, fmt.Sprintf("%s %v, %d ways", mnemonic, in.Kind, len(f.Blocks[f.Block(in.Addr)].Succs)))
		}
	}
	// Calls and returns leave the function: there is one way on in it.
	want := []string{"bleq conditional, 1 ways", "poplt conditional, 1 ways", "bxle conditional, 1 ways", "b direct, 1 ways"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(f.Loops) != 1 || f.Incomplete != "" {
		t.Errorf("%d loops, %q", len(f.Loops), f.Incomplete)
	}
	// All three may be behind a sample at the end of the loop.
	list, err := NewWalker(code).Walk(f.Insts[len(f.Insts)-1].Addr)
	if err != nil {
		t.Fatal(err)
	}
	conditional := 0
	for _, c := range list {
		if c.Kind == Conditional {
			conditional++
		}
	}
	if conditional != 3 {
		t.Errorf("candidates %+v", list)
	}
}

// armPrograms builds armSource as Thumb and as A32 code, with the compilers there are.
func armPrograms(t *testing.T) map[string]string {
	t.Helper()
	if _, err := llvm.Find(context.Background(), ""); err != nil {
		t.Skipf("llvm-objdump is not installed: %v", err)
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "a.c")
	if err := os.WriteFile(source, []byte(armSource), 0o666); err != nil {
		t.Fatal(err)
	}
	programs := make(map[string]string)
	for _, mode := range []string{"-mthumb", "-marm"} {
		if cc, err := exec.LookPath("arm-linux-gnueabihf-gcc"); err == nil {
			out := filepath.Join(dir, "gcc"+mode)
			runIn(t, dir, cc, "-O2", "-g", mode, "-nostdlib", "-static", "-Wl,--build-id=sha1", "-o", out, source)
			programs["gcc "+mode] = out
		}
		_, errLD := exec.LookPath("ld.lld")
		if cc, err := exec.LookPath("clang"); err == nil && errLD == nil {
			object, out := filepath.Join(dir, "clang"+mode+".o"), filepath.Join(dir, "clang"+mode)
			runIn(t, dir, cc, "--target=armv7-linux-gnueabihf", "-O2", "-g", mode, "-c", "-o", object, source)
			runIn(t, dir, "ld.lld", "--build-id=sha1", "-o", out, object)
			programs["clang "+mode] = out
		}
	}
	if len(programs) == 0 {
		t.Skip("arm-linux-gnueabihf-gcc is not installed, nor clang with ld.lld")
	}
	return programs
}

// openArm opens a program below a search path.
func openArm(t *testing.T, path string) (*Binaries, *disasm.Code, *symbolizer.Object) {
	t.Helper()
	b := newBinaries(symbolizer.NewFiles(searchPath(filepath.Dir(path))))
	t.Cleanup(b.Close)
	found, why := b.at("/"+filepath.Base(path), "", 0)
	if found == nil {
		t.Fatal(why)
	}
	return b, found.code, found.object
}

func TestArmCode(t *testing.T) {
	for name, program := range armPrograms(t) {
		t.Run(name, func(t *testing.T) {
			_, code, object := openArm(t, program)
			symbols, err := object.File().Symbols()
			if err != nil {
				t.Fatal(err)
			}
			thumb := strings.Contains(name, "thumb")
			if got, known := object.File().CodeStates().Thumb(addressOf(symbols, "pick")); got != thumb || !known {
				t.Errorf("pick is Thumb: %v (%v)", got, known)
			}
			for _, test := range []struct {
				name         string
				loops        int
				conditionals int // at least
				complete     bool
			}{
				{"pick", 1, 3, true},
				{"kinds", 0, 1, thumb}, // tables of A32 are not read
				{"early", 0, 1, true},
				{"_start", 1, 1, true},
			} {
				f, err := code.FunctionAt(addressOf(symbols, test.name))
				if err != nil {
					t.Fatalf("%s: %v", test.name, err)
				}
				count := make(map[disasm.Kind]int)
				for i := range f.Insts {
					in := &f.Insts[i]
					count[in.Kind]++
					if in.Kind == disasm.Conditional && in.Target != 0 && (in.Target < f.Start || in.Target >= f.End) {
						t.Errorf("%s: %s at %#x leads out", test.name, f.Text(i), in.Addr)
					}
					if thumb && in.Len != 2 && in.Len != 4 || !thumb && in.Len != 4 {
						t.Errorf("%s: %s at %#x has %d bytes", test.name, f.Text(i), in.Addr, in.Len)
					}
				}
				reached := 0
				for i := range f.Blocks {
					if f.Blocks[i].Reachable {
						reached++
					}
				}
				if len(f.Loops) != test.loops || count[disasm.Conditional] < test.conditionals || test.complete && (f.Incomplete != "" || reached != len(f.Blocks)) {
					t.Errorf("%s: %d loops, %v, %q, %d of %d blocks reached", test.name, len(f.Loops), count, f.Incomplete, reached, len(f.Blocks))
				}
				if test.name == "early" && count[disasm.Return]+count[disasm.Conditional] < 3 {
					t.Errorf("early has %v", count)
				}
			}
		})
	}
}

// TestSampledThumb names the branch on data behind imprecise samples of Thumb code, and
// says what is missing if nothing decodes it.
func TestSampledThumb(t *testing.T) {
	for name, program := range armPrograms(t) {
		data := readTestFile(t, program)
		_, code, object := openArm(t, program)
		symbols, err := object.File().Symbols()
		if err != nil {
			t.Fatal(err)
		}
		f, err := code.FunctionAt(addressOf(symbols, "pick"))
		if err != nil {
			t.Fatal(err)
		}
		w := NewWalker(code)
		// The last instruction of the loop: behind the branch on data and before the end.
		var at *disasm.Inst
		for i := range f.Insts {
			if in := &f.Insts[i]; f.LoopOf(f.Block(in.Addr)) >= 0 && in.Kind == disasm.Other {
				at = in
			}
		}
		want, err := w.Walk(at.Addr)
		if err != nil || len(want) == 0 {
			t.Fatalf("%s: %v: %v", name, want, err)
		}
		var offset uint64
		for _, s := range object.File().Segments() {
			if s.Executable {
				offset = s.Vaddr - s.Offset
			}
		}
		attrs := strings.Replace(missAttr, "type=hardware config=5", "type=raw config=0x10", 1)
		text := "header\n" + attrs + branchAttr + fmt.Sprintf("MMAP2 misc=USER pid=10 tid=10 start=%#x len=0x100000 pgoff=0 prot=READ|EXEC filename=\"/app\" sample_id={pid=10,tid=10,time=1,id=1,cpu=0}\n", offset) +
			smSamples(20, 1, 10, at.Addr, "") + smSamples(40, 2, 100, want[0].Address, "") + "feature ARCH arch=\"armv7l\"\n"
		recording := perffiletest.Fixture(t, text)
		table, err := Read("app.data", bytes.NewReader(recording), int64(len(recording)), withApp(data))
		if err != nil {
			t.Fatal(err)
		}
		checkTable(t, table)
		if len(table.Branches) == 0 || table.Branches[0].Function != "pick" {
			t.Fatalf("%s: %+v", name, table.Attribution)
		}
		got := map[uint64]bool{table.Branches[0].Address: true}
		for _, c := range table.Branches[0].Candidates {
			got[c.Address] = true
		}
		if !got[want[0].Address] {
			t.Errorf("%s: %#x is not among %v", name, want[0].Address, got)
		}
		// Without the tools the functions are all that is named.
		t.Setenv("PATH", t.TempDir())
		b := newBinaries(symbolizer.NewFiles(withApp(data).Names.Symfs))
		b.arm.looked, b.arm.err = true, fmt.Errorf("llvm-mca and llvm-objdump are not installed")
		if found, why := b.at("/app", "", 0); found != nil || why != "32-bit Arm code, which llvm-objdump decodes (llvm-mca and llvm-objdump are not installed)" {
			t.Errorf("without llvm-objdump: %q", why)
		}
		break
	}
}

// TestArmErrors decodes what is no code.
func TestArmErrors(t *testing.T) {
	programs := armPrograms(t)
	for _, program := range programs {
		_, code, object := openArm(t, program)
		d := &armDecoder{tool: mustLLVM(t), path: "/nothing", file: object.File(), states: object.File().CodeStates()}
		text, _ := object.File().Section(".text")
		if _, err := d.Decode(text.Vaddr, text.Vaddr+8); err == nil {
			t.Error("a file that is not there was decoded")
		}
		if _, err := d.Decode(1, 9); err == nil {
			t.Error("an address without code was decoded")
		}
		d.runs = maxArmFunctions
		if _, err := d.Decode(text.Vaddr, text.Vaddr+8); err == nil || err.Error() != "over 1000 functions of 32-bit Arm code" {
			t.Errorf("got %v", err)
		}
		if _, err := code.Decode(text.Vaddr + 1); err == nil {
			t.Error("half an instruction was decoded")
		}
		break
	}
	list := []disasm.Decoded{{Inst: disasm.Inst{Addr: 0x100, Len: 2}, Text: "cmp r0, #200"}, {Inst: disasm.Inst{Addr: 0x102, Len: 4}, Text: "tbb [pc, r0]"}}
	readArmTable(list, 1, make([]byte, 16), 0x100)
	if diff := cmp.Diff([]uint64(nil), list[1].Targets); diff != "" {
		t.Errorf("a table that is cut off: %s", diff)
	}
}

func mustLLVM(t *testing.T) *llvm.Toolchain {
	t.Helper()
	tools, err := llvm.Find(context.Background(), "")
	if err != nil {
		t.Skip(err)
	}
	return tools
}

// TestArmArchive decodes a library in an APK, of which llvm-objdump needs a copy.
func TestArmArchive(t *testing.T) {
	for _, program := range armPrograms(t) {
		data := readTestFile(t, program)
		fs := fstest.MapFS{"base.apk": &fstest.MapFile{Data: stored(t, "lib/armeabi-v7a/libx.so", data)}}
		b := newBinaries(symbolizer.NewFiles([]symbolizer.SearchPath{{Name: "symbols", FS: fs}}))
		found, why := b.at("/data/base.apk!/lib/armeabi-v7a/libx.so", "", 0)
		if found == nil {
			t.Fatal(why)
		}
		f, err := objfile.New(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		symbols, err := f.Symbols()
		if err != nil {
			t.Fatal(err)
		}
		if i, ok := found.decode(addressOf(symbols, "pick")); !ok || i.len == 0 {
			t.Errorf("%+v", i)
		}
		copies := b.arm.copies
		b.Close()
		for _, name := range copies {
			if _, err := os.Stat(name); err == nil {
				t.Errorf("%s is left", name)
			}
		}
		if len(copies) != 1 {
			t.Errorf("%d copies", len(copies))
		}
		break
	}
}
