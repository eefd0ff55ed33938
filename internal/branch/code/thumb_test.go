package code

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/branch"
	"profdiff/internal/branch/branchtest"
	"profdiff/internal/branch/skid"
	"profdiff/internal/disasm"
	"profdiff/internal/objects"
	"profdiff/internal/objects/objectstest"
	"profdiff/internal/objfile"
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

// TestArmITBlocks decodes branches of Thumb that an IT block makes conditional.
func TestArmITBlocks(t *testing.T) {
	branchtest.MustLLVM(t)
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
	branchtest.RunIn(t, dir, "clang", "--target=armv7-linux-gnueabihf", "-c", "-o", object, source)
	branchtest.RunIn(t, dir, "ld.lld", "-o", program, object)
	_, code, file := openArm(t, program)
	symbols, err := file.File().Symbols()
	if err != nil {
		t.Fatal(err)
	}
	f, err := code.FunctionAt(branchtest.AddressOf(symbols, "_start"))
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
	list, err := skid.NewWalker(code).Walk(f.Insts[len(f.Insts)-1].Addr)
	if err != nil {
		t.Fatal(err)
	}
	conditional := 0
	for _, c := range list {
		if c.Kind == branch.Conditional {
			conditional++
		}
	}
	if conditional != 3 {
		t.Errorf("candidates %+v", list)
	}
}

// openArm opens a program below a search path.
func openArm(t *testing.T, path string) (*Files, *disasm.Code, *objects.Object) {
	t.Helper()
	b := New(objectstest.Dir(filepath.Dir(path)))
	t.Cleanup(b.Close)
	found, why := b.At("/"+filepath.Base(path), "", 0)
	if found == nil {
		t.Fatal(why)
	}
	return b, found.Code, found.Object
}

// TestArmWithoutTools says what is missing if nothing decodes the code.
func TestArmWithoutTools(t *testing.T) {
	for _, program := range branchtest.ArmPrograms(t) {
		b := New(objectstest.Dir(filepath.Dir(program)))
		defer b.Close()
		b.arm.looked, b.arm.err = true, errors.New("llvm-mca and llvm-objdump are not installed")
		if found, why := b.At("/"+filepath.Base(program), "", 0); found != nil || why != "32-bit Arm code, which llvm-objdump decodes (llvm-mca and llvm-objdump are not installed)" {
			t.Errorf("without llvm-objdump: %q", why)
		}
	}
}

func TestArmCode(t *testing.T) {
	for name, program := range branchtest.ArmPrograms(t) {
		t.Run(name, func(t *testing.T) {
			_, code, object := openArm(t, program)
			symbols, err := object.File().Symbols()
			if err != nil {
				t.Fatal(err)
			}
			thumb := strings.Contains(name, "thumb")
			if got, known := object.File().CodeStates().Thumb(branchtest.AddressOf(symbols, "pick")); got != thumb || !known {
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
				f, err := code.FunctionAt(branchtest.AddressOf(symbols, test.name))
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

// TestArmErrors decodes what is no code.
func TestArmErrors(t *testing.T) {
	programs := branchtest.ArmPrograms(t)
	for _, program := range programs {
		_, code, object := openArm(t, program)
		d := &armDecoder{tool: branchtest.MustLLVM(t), path: "/nothing", file: object.File(), states: object.File().CodeStates()}
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

// TestArmArchive decodes a library in an APK, of which llvm-objdump needs a copy.
func TestArmArchive(t *testing.T) {
	for _, program := range branchtest.ArmPrograms(t) {
		data, err := os.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		fs := fstest.MapFS{"base.apk": &fstest.MapFile{Data: branchtest.Stored(t, "lib/armeabi-v7a/libx.so", data)}}
		b := New(objectstest.Stored(fs))
		found, why := b.At("/data/base.apk!/lib/armeabi-v7a/libx.so", "", 0)
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
		if i, ok := found.Decode(branchtest.AddressOf(symbols, "pick")); !ok || i.Len == 0 {
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
