package perfscript

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"profdiff/internal/input"
)

// A Branch is one entry of a branch stack.
type Branch struct {
	From, To uint64
	// Mispredicted and Predicted are both false if the CPU does not say.
	Mispredicted, Predicted bool
	NotTaken                bool
	WrongPath               bool   // it was on a path that was speculated wrongly
	Cycles                  uint16 // since the branch before, 0 is unknown
	Type                    string // as branch_type_name in tools/perf/util/branch.c has it, "" if unknown
}

// FirstBranch is where the first entry of a branch stack starts in a line, its length if
// there is none.
func FirstBranch(line []byte) int {
	for at := 0; ; {
		i := bytes.Index(line[at:], []byte("0x"))
		if i < 0 {
			return len(line)
		}
		at += i
		if (at == 0 || line[at-1] == ' ' || line[at-1] == '\t') && startsBranch(line[at:]) {
			return at
		}
		at += 2
	}
}

// startsBranch reports whether text starts with FROM/0x.
func startsBranch(text []byte) bool {
	_, rest, err := parseAddress(text)
	return err == nil && bytes.HasPrefix(rest, []byte("/0x"))
}

// parseAddress reads 0xHEX or 0xHEX(FILE).
func parseAddress(text []byte) (addr uint64, rest []byte, err error) {
	digits, ok := bytes.CutPrefix(text, []byte("0x"))
	n := 0
	for ; n < len(digits) && input.IsHex(digits[n:n+1]); n++ {
		addr = addr<<4 | uint64(hexDigit(digits[n]))
	}
	if !ok || n == 0 || n > frameWidth {
		return 0, nil, fmt.Errorf("no address in %q", input.Clip(text))
	}
	rest = digits[n:]
	if bytes.HasPrefix(rest, []byte("(")) {
		i := bytes.Index(rest, []byte(")/"))
		if i < 0 {
			return 0, nil, fmt.Errorf("no end of the file name in %q", input.Clip(text))
		}
		rest = rest[i+1:]
	}
	return addr, rest, nil
}

// ParseBranch reads the entry of a branch stack that text starts with,
//
//	FROM/TO/M/-/-/cycles/type/spec
//
// and returns its length. Behind FROM and TO may stand the file in brackets (-F +dso).
// The third field is M if the branch was mispredicted, P if it was predicted, - if that
// is not known, each with N behind it if the branch was not taken. Older versions of perf
// have fewer fields. Must match perf_sample__fprintf_brstack in
// tools/perf/builtin-script.c.
func ParseBranch(text []byte) (b Branch, n int, err error) {
	rest := text
	if b.From, rest, err = parseAddress(rest); err != nil {
		return b, 0, err
	}
	rest, ok := bytes.CutPrefix(rest, []byte("/"))
	if !ok {
		return b, 0, fmt.Errorf("no target in %q", input.Clip(text))
	}
	if b.To, rest, err = parseAddress(rest); err != nil {
		return b, 0, err
	}
	rest, ok = bytes.CutPrefix(rest, []byte("/"))
	if !ok {
		return b, 0, fmt.Errorf("no flags in %q", input.Clip(text))
	}
	end := wordEnd(rest, 0)
	if err := b.parseFlags(rest[:end]); err != nil {
		return b, 0, fmt.Errorf("%w in %q", err, input.Clip(text))
	}
	return b, len(text) - len(rest) + end, nil
}

// parseFlags reads what follows the addresses: prediction, transaction, abort, cycles,
// type, speculation.
func (b *Branch) parseFlags(flags []byte) error {
	first, rest, _ := bytes.Cut(flags, []byte("/"))
	prediction, notTaken := bytes.CutSuffix(first, []byte("N"))
	b.NotTaken = notTaken
	switch string(prediction) {
	case "M":
		b.Mispredicted = true
	case "P":
		b.Predicted = true
	case "-", "":
		if len(first) == 0 {
			return errors.New("no prediction")
		}
	default:
		return fmt.Errorf("prediction %q is none of M, P and -", input.Clip(first))
	}
	for i := 1; len(rest) > 0; i++ {
		var f []byte
		f, rest, _ = bytes.Cut(rest, []byte("/"))
		switch {
		case i == 3 && len(f) > 0 && string(f) != "-":
			n, err := strconv.ParseUint(string(f), 10, 16)
			if err != nil {
				return fmt.Errorf("%q cycles", input.Clip(f))
			}
			b.Cycles = uint16(n)
		case i == 4:
			b.Type = typeName(f)
		}
		b.WrongPath = b.WrongPath || i >= 4 && string(f) == "SPEC_WRONG_PATH"
	}
	return nil
}

// typeNames are the types of branches, see branch_type_name in tools/perf/util/branch.c.
var typeNames = func() map[string]string {
	names := make(map[string]string)
	for _, name := range []string{
		"COND", "UNCOND", "IND", "CALL", "IND_CALL", "RET", "SYSCALL", "SYSRET", "COND_CALL", "COND_RET", "ERET", "IRQ", "SERROR", "NO_TX",
	} {
		names[name] = name
	}
	return names
}()

// typeName is the type that text names, "" if that is unknown. It does not allocate.
func typeName(text []byte) string { return typeNames[string(text)] }

// HasNotTaken reports whether a line has an entry of a branch that was not taken.
func HasNotTaken(line []byte) bool {
	if !bytes.Contains(line, []byte("N/")) {
		return false
	}
	for rest := line[FirstBranch(line):]; bytes.HasPrefix(rest, []byte("0x")); {
		b, n, err := ParseBranch(rest)
		if err != nil {
			return false
		}
		if b.NotTaken {
			return true
		}
		rest = bytes.TrimLeft(rest[n:], " \t")
	}
	return false
}
