package llvm

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// DisassembleOptions says what a file does not.
type DisassembleOptions struct {
	// Triple overrides the one of the file. It is needed for Thumb code of a stripped
	// file ("thumbv7-linux-gnueabihf"), which looks like A32.
	Triple string
}

// Instruction is a line of llvm-objdump.
type Instruction struct {
	Addr   uint64
	Text   string // for llvm-mca; "" if Data
	Raw    string // as llvm-objdump prints it
	Target uint64 // of direct branches and calls, else 0
	// Padding is a no-operation or a trap that control does not fall into, between
	// functions or before the head of a loop.
	Padding bool
	// Data is what is no instruction: a constant, or bytes that cannot be decoded.
	Data bool
}

const (
	disassembleLimit = 16 << 20 // bytes of code
	// What llvm-objdump prints at most for a byte of code: a line for an instruction of
	// one byte, with the name of a symbol.
	listingBytes = 320
)

// Disassemble returns the instructions in [from, to) of an ELF file; the addresses are
// virtual addresses of the file. A range without any is an error.
func (t *Toolchain) Disassemble(ctx context.Context, file string, from, to uint64, opt DisassembleOptions) ([]Instruction, error) {
	if from >= to {
		return nil, fmt.Errorf("%s: disassemble %#x to %#x: empty range", file, from, to)
	}
	if to-from > disassembleLimit {
		return nil, fmt.Errorf("%s: disassemble %#x to %#x: over %d MiB", file, from, to, disassembleLimit>>20)
	}
	path, err := filepath.Abs(file) // a name cannot be an option, nor "-" standard input
	if err != nil {
		return nil, err
	}
	triple := opt.Triple
	if triple == "" {
		if triple, err = tripleOf(path); err != nil {
			return nil, err
		}
	}
	args := []string{
		"-d", "--no-show-raw-insn", "--disassemble-zeroes",
		fmt.Sprintf("--start-address=%#x", from),
		fmt.Sprintf("--stop-address=%#x", to),
	}
	if opt.Triple != "" {
		args = append(args, "--triple="+opt.Triple)
	}
	if t.Major >= majorDebugFileDir {
		// Else it disassembles the debug file of the build ID if that is installed, which has
		// no code, and prints nothing. Nothing is found below a file that is no directory.
		args = append(args, "--debug-file-directory="+os.DevNull)
	}
	if attr := t.attributes(triple); attr != "" {
		args = append(args, "--mattr="+attr)
	}
	out, err := run(ctx, process{
		path: t.Objdump, args: append(args, path),
		stdout: reportOverhead + int(min((to-from)*listingBytes, regionLimit)), timeout: t.Timeout,
	})
	if err != nil {
		return nil, err
	}
	if out.code != 0 {
		return nil, fmt.Errorf("llvm-objdump: exit status %d%s", out.code, excerpt(out.stderr))
	}
	list, err := parseListing(out.stdout, archOf(triple), from, to)
	if err != nil {
		return nil, fmt.Errorf("%s: llvm-objdump: %w", file, err)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: llvm-objdump prints no instruction of %#x to %#x%s", file, from, to, excerpt(out.stderr))
	}
	return list, nil
}

// tripleOf is the architecture of an ELF file as the beginning of a triple, from e_machine.
func tripleOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var header [20]byte // of Elf64_Ehdr in elf.h, to the end of e_machine
	if _, err := io.ReadFull(f, header[:]); err != nil || string(header[:4]) != "\x7fELF" {
		return "", fmt.Errorf("%s is not an ELF file", path)
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if header[5] == 2 { // ELFDATA2MSB
		order = binary.BigEndian
	}
	switch machine := order.Uint16(header[18:]); machine {
	case 3:
		return "i386", nil
	case 62:
		return "x86_64", nil
	case 40:
		return "arm", nil
	case 183:
		return "aarch64", nil
	default:
		return "", fmt.Errorf("%s: machine %d is none of x86, x86-64, arm, aarch64", path, machine)
	}
}

// parseListing reads the lines of llvm-objdump -d --no-show-raw-insn that are
// instructions in [from, to). Addresses that do not ascend are an error.
func parseListing(data []byte, a arch, from, to uint64) ([]Instruction, error) {
	var list []Instruction
	number := 0
	prefix := -1 // the instruction that so far is only a prefix
	for line := range bytes.Lines(data) {
		number++
		addr, raw, ok := cutAddress(strings.ToValidUTF8(string(line), "?"))
		if !ok || addr < from || addr >= to {
			continue
		}
		if n := len(list); n > 0 && addr <= list[n-1].Addr {
			return nil, fmt.Errorf("line %d: address %#x after %#x", number, addr, list[n-1].Addr)
		}
		in := rewrite(a, raw)
		if prefix >= 0 {
			// llvm-objdump prints "lock" as an instruction before the one it belongs to, and
			// alone llvm-mca takes it for 100 micro-operations.
			if p := &list[prefix]; !in.Data {
				p.Raw += " " + in.Raw
				p.Text += " " + in.Text
				p.Target = in.Target
				if !isPrefix(a, in.Text) {
					prefix = -1
				}
				continue
			}
			list[prefix].Data, list[prefix].Text = true, ""
			prefix = -1
		}
		in.Addr = addr
		list = append(list, in)
		if !in.Data && isPrefix(a, in.Text) {
			prefix = len(list) - 1
		}
	}
	if prefix >= 0 {
		// The range ends behind a prefix.
		list[prefix].Data, list[prefix].Text = true, ""
	}
	markPadding(a, list)
	return list, nil
}

// cutAddress splits "  11a0:      \tsubq\t$8, %rsp" into address and instruction.
func cutAddress(line string) (addr uint64, text string, ok bool) {
	head, rest, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
	if !ok || strings.TrimLeft(rest, " ") == "" || strings.TrimLeft(rest, " ")[0] != '\t' {
		return 0, "", false
	}
	addr, err := strconv.ParseUint(strings.TrimLeft(head, " "), 16, 64)
	if err != nil {
		return 0, "", false
	}
	text = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f { // in the name of a symbol
			return '?'
		}
		return r
	}, strings.TrimSpace(rest))
	return addr, text, text != ""
}
