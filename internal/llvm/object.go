package llvm

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// A Function is one of an object file that was not linked: addresses are those in its
// section, which may be the same in other functions.
type Function struct {
	Name         string // demangled
	Instructions []Instruction
	// Calls are the symbols that jumps and calls go to by relocations, by their index.
	Calls map[int]string
}

// objectLimit is what llvm-objdump may print of an object file.
const objectLimit = 256 << 20

var (
	objectFunction   = regexp.MustCompile(`^[0-9a-f]{8,16} <(.+)>:$`)
	objectRelocation = regexp.MustCompile(`^\s+([0-9a-f]{8,16}):\s+R_\S+\s+(\S.*)$`)
	addend           = regexp.MustCompile(`[-+]0x[0-9a-f]+$`)
)

// Functions disassembles an object file that was not linked (ELF, e_type ET_REL), which
// compilers write with -c.
func (t *Toolchain) Functions(ctx context.Context, file string) ([]Function, string, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, "", err
	}
	triple, err := tripleOf(path)
	if err != nil {
		return nil, "", err
	}
	args := []string{"-d", "-r", "--demangle", "--no-show-raw-insn", "--disassemble-zeroes"}
	if t.Major >= majorDebugFileDir {
		args = append(args, "--debug-file-directory="+os.DevNull)
	}
	if attr := t.attributes(triple); attr != "" {
		args = append(args, "--mattr="+attr)
	}
	out, err := run(ctx, process{path: t.Objdump, args: append(args, path), stdout: objectLimit, timeout: t.Timeout})
	if err != nil {
		return nil, "", err
	}
	if out.code != 0 {
		return nil, "", fmt.Errorf("%s: llvm-objdump: exit status %d%s", file, out.code, excerpt(out.stderr))
	}
	list, err := parseFunctions(out.stdout, archOf(triple))
	if err != nil {
		return nil, "", fmt.Errorf("%s: llvm-objdump: %w", file, err)
	}
	return list, triple, nil
}

// parseFunctions reads what llvm-objdump -d -r prints.
func parseFunctions(data []byte, a arch) (list []Function, err error) {
	var body []byte
	relocations := make(map[uint64]string)
	finish := func() error {
		if len(list) == 0 {
			return nil
		}
		f := &list[len(list)-1]
		if f.Instructions, err = parseListing(body, a, 0, 1<<62); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		for addr, symbol := range relocations {
			at := -1
			for i := range f.Instructions {
				if f.Instructions[i].Addr <= addr {
					at = i
				}
			}
			if at >= 0 && isBranch(a, strings.ToLower(operation(a, f.Instructions[at].Text))) {
				f.Calls[at] = symbol
			}
		}
		return nil
	}
	for line := range bytes.Lines(data) {
		text := strings.TrimRight(string(line), "\r\n")
		if m := objectFunction.FindStringSubmatch(text); m != nil {
			if err := finish(); err != nil {
				return nil, err
			}
			list = append(list, Function{Name: m[1], Calls: make(map[int]string)})
			body = body[:0]
			clear(relocations)
			continue
		}
		if m := objectRelocation.FindStringSubmatch(text); m != nil {
			if addr, err := strconv.ParseUint(m[1], 16, 64); err == nil {
				relocations[addr] = addend.ReplaceAllString(m[2], "")
			}
			continue
		}
		body = append(body, line...)
	}
	return list, finish()
}
