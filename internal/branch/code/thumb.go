package code

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"profdiff/internal/disasm"
	"profdiff/internal/llvm"
	"profdiff/internal/objects"
	"profdiff/internal/objfile"
	"profdiff/internal/scratch"
)

// armTools decode 32-bit Arm code, A32 and Thumb, by llvm-objdump.
type armTools struct {
	looked bool
	tool   *llvm.Toolchain
	err    error    // why it cannot be used
	copies []string // of files that are in archives
	forget []func() // that they are scratch files
}

const (
	// armTimeout is how long one function may take.
	armTimeout = 20 * time.Second
	// maxArmFunctions bounds the functions of a file, each of which is a process.
	maxArmFunctions = 1000
	// maxArmCopy bounds what is copied out of an archive, in bytes.
	maxArmCopy = 1 << 30
)

func (t *armTools) decoder(o *objects.Object) (*armDecoder, error) {
	if !t.looked {
		t.looked = true
		if t.tool, t.err = llvm.Find(context.Background(), ""); t.err == nil {
			t.tool.Timeout = armTimeout
		}
	}
	if t.err != nil {
		return nil, t.err
	}
	d := &armDecoder{tool: t.tool, file: o.File(), states: o.File().CodeStates()}
	var ok bool
	if d.path, ok = o.Path(); !ok {
		var err error
		if d.path, err = t.copy(o); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// copy makes a file of its own of one that is not.
func (t *armTools) copy(o *objects.Object) (name string, err error) {
	f, forget, err := scratch.File("", "profdiff-*.so")
	if err != nil {
		return "", err
	}
	t.copies = append(t.copies, f.Name())
	t.forget = append(t.forget, forget)
	size := uint64(0)
	for _, s := range o.File().Segments() {
		size = max(size, s.Offset+s.FileSize)
	}
	// Sections and symbols follow the segments: all there is is copied.
	_, err = io.Copy(f, io.NewSectionReader(o.File().ReaderAt(), 0, maxArmCopy))
	if err == nil && size > maxArmCopy {
		err = errors.New("larger than 1 GiB")
	}
	return f.Name(), errors.Join(err, f.Close())
}

func (t *armTools) close() {
	for i, name := range t.copies {
		os.Remove(name)
		t.forget[i]()
	}
	t.copies, t.forget = nil, nil
}

// An armDecoder decodes a file. It implements [disasm.Decoder].
type armDecoder struct {
	tool   *llvm.Toolchain
	path   string
	file   *objfile.File
	states *objfile.CodeStates
	runs   int
}

// Decode implements [disasm.Decoder].
func (d *armDecoder) Decode(from, to uint64) ([]disasm.Decoded, error) {
	if d.runs++; d.runs > maxArmFunctions {
		return nil, fmt.Errorf("over %d functions of 32-bit Arm code", maxArmFunctions)
	}
	triple := "armv7-linux-gnueabihf"
	thumb, _ := d.states.Thumb(from)
	if thumb {
		triple = "thumbv7-linux-gnueabihf"
	}
	text, err := d.file.Text(from, to-from)
	if err != nil {
		return nil, err
	}
	insts, err := d.tool.Disassemble(context.Background(), d.path, from, to, llvm.DisassembleOptions{Triple: triple})
	if err != nil {
		return nil, err
	}
	var list []disasm.Decoded
	for i := range insts {
		in := &insts[i]
		if in.Data {
			continue
		}
		out := disasm.Decoded{Text: armText(in.Raw), Padding: in.Padding}
		out.Addr, out.Len, out.Target = in.Addr, armLength(text, in.Addr-from, thumb), in.Target
		out.Kind, out.Cond = armKind(out.Text)
		if out.Len == 0 {
			continue
		}
		list = append(list, out)
	}
	for i := range list {
		if list[i].Kind == disasm.IndirectJump {
			readArmTable(list, i, text, from)
		}
	}
	return list, nil
}

// armLength is how many bytes the instruction at an offset has: of Thumb four if the
// upper five bits are 0b11101 or more (Arm ARM, A6.1), 0 if it is not whole.
func armLength(text []byte, off uint64, thumb bool) int {
	n := 4
	if thumb {
		if off+2 > uint64(len(text)) {
			return 0
		}
		if text[off+1]>>3 < 0x1d {
			n = 2
		}
	}
	if off+uint64(n) > uint64(len(text)) {
		return 0
	}
	return n
}

// armText is an instruction without the comments and names of llvm-objdump.
func armText(raw string) string {
	text, _, _ := strings.Cut(raw, "@")
	text, _, _ = strings.Cut(text, "<")
	return strings.Join(strings.Fields(text), " ")
}

// armConditions are the suffixes of instructions that may not be executed, in an IT
// block of Thumb or as any of A32.
const armConditions = " eq ne cs hs cc lo mi pl vs vc hi ls ge lt gt le "

// armBases are the mnemonics that may change the flow of control.
const armBases = " b bl blx bx bxj mov movs add sub ldr pop ldm ldmib ldmda ldmdb "

// ArmMnemonic splits a mnemonic from its condition.
func ArmMnemonic(name string) (base string, conditional bool) {
	name = strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(name), ".w"), ".n")
	if n := len(name) - 2; n > 0 && strings.Contains(armConditions, " "+name[n:]+" ") && strings.Contains(armBases, " "+name[:n]+" ") {
		return name[:n], true
	}
	return name, false
}

// armKind says what an instruction does. What may not be executed is conditional, also
// calls and returns.
func armKind(text string) (kind disasm.Kind, conditional bool) {
	name, operands, _ := strings.Cut(text, " ")
	name, conditional = ArmMnemonic(name)
	kind = armFlow(name, operands)
	switch {
	case kind == disasm.Conditional:
		return kind, true
	case kind == disasm.Other, kind == disasm.Trap:
		return kind, false
	case conditional:
		return disasm.Conditional, true
	}
	return kind, false
}

// armFlow is the kind of an instruction that is executed.
func armFlow(name, operands string) disasm.Kind {
	first, rest, _ := strings.Cut(operands, ",")
	switch name {
	case "b":
		return disasm.Jump
	case "cbz", "cbnz":
		return disasm.Conditional
	case "bl":
		return disasm.Call
	case "blx":
		if strings.HasPrefix(operands, "0x") || strings.HasPrefix(operands, "#") {
			return disasm.Call
		}
		return disasm.IndirectCall
	case "bx", "bxj":
		if first == "lr" {
			return disasm.Return
		}
		return disasm.IndirectJump
	case "tbb", "tbh":
		return disasm.IndirectJump
	case "pop", "ldm", "ldmib", "ldmda", "ldmdb":
		if listsPC.MatchString(operands) {
			return disasm.Return
		}
		return disasm.Other
	case "udf", "bkpt", "hlt":
		return disasm.Trap
	case "rfe", "rfeia", "rfedb", "eret":
		return disasm.Return
	}
	if first != "pc" || strings.HasPrefix(name, "cmp") || strings.HasPrefix(name, "str") {
		return disasm.Other
	}
	switch rest = strings.TrimSpace(rest); {
	case strings.HasPrefix(name, "mov") && rest == "lr", strings.HasPrefix(name, "ldr") && strings.HasPrefix(rest, "[sp]"), strings.HasPrefix(name, "subs") && strings.HasPrefix(rest, "lr"):
		return disasm.Return
	}
	return disasm.IndirectJump
}

var (
	listsPC = regexp.MustCompile(`\{[^}]*\bpc\}`)
	// armCompare is the check of bounds before a jump through a table.
	armCompare = regexp.MustCompile(`^cmp(?:\.w)? r[0-9]+, #((?:0x)?[0-9a-f]+)$`)
)

// armTableCheck is how many instructions before a jump through a table its bounds are
// checked.
const armTableCheck = 12

// readArmTable reads the table behind tbb or tbh: half the distances from there. Its
// length is what the index is compared with before.
func readArmTable(list []disasm.Decoded, i int, text []byte, start uint64) {
	jump := &list[i]
	width := uint64(1)
	switch {
	case strings.HasPrefix(jump.Text, "tbb [pc,"):
	case strings.HasPrefix(jump.Text, "tbh [pc,"):
		width = 2
	default:
		return
	}
	n := uint64(0)
	for k := i - 1; k >= max(0, i-armTableCheck); k-- {
		if m := armCompare.FindStringSubmatch(list[k].Text); m != nil {
			last, err := strconv.ParseUint(m[1], 0, 16)
			if err != nil {
				return
			}
			n = last + 1
			break
		}
	}
	table := jump.Next()
	end := table + n*width
	if n == 0 || end-start > uint64(len(text)) {
		return
	}
	targets := make([]uint64, n)
	for k := range targets {
		at := table - start + uint64(k)*width
		v := uint64(text[at])
		if width == 2 {
			v |= uint64(text[at+1]) << 8
		}
		targets[k] = table + 2*v
		if targets[k] < end || targets[k]-start >= uint64(len(text)) {
			return
		}
	}
	jump.Targets, jump.Table = targets, int(n*width)
}
