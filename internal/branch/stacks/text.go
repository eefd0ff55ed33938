package stacks

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"profdiff/internal/branch"
)

// firstEntry is where the first entry of a stack starts in a line, its length if there
// is none.
func firstEntry(line string) int {
	for at := 0; ; {
		i := strings.Index(line[at:], "0x")
		if i < 0 {
			return len(line)
		}
		at += i
		if (at == 0 || line[at-1] == ' ' || line[at-1] == '\t') && isEntry(line[at:]) {
			return at
		}
		at += 2
	}
}

// isEntry reports whether text starts with FROM/0x.
func isEntry(text string) bool {
	_, rest, err := parseAddress(text)
	return err == nil && strings.HasPrefix(rest, "/0x")
}

// parseAddress reads 0xHEX or 0xHEX(FILE).
func parseAddress(text string) (addr uint64, rest string, err error) {
	digits, ok := strings.CutPrefix(text, "0x")
	n := len(digits) - len(strings.TrimLeft(digits, "0123456789abcdef"))
	if !ok || n == 0 {
		return 0, "", fmt.Errorf("no address in %q", branch.Clip(text))
	}
	if addr, err = strconv.ParseUint(digits[:n], 16, 64); err != nil {
		return 0, "", fmt.Errorf("no address in %q", branch.Clip(text))
	}
	rest = digits[n:]
	if strings.HasPrefix(rest, "(") {
		i := strings.Index(rest, ")/")
		if i < 0 {
			return 0, "", fmt.Errorf("no end of the file name in %q", branch.Clip(text))
		}
		rest = rest[i+1:]
	}
	return addr, rest, nil
}

// parseEntry reads one entry and returns its length.
func parseEntry(text string) (e entry, n int, err error) {
	rest := text
	if e.from, rest, err = parseAddress(rest); err != nil {
		return e, 0, err
	}
	rest, ok := strings.CutPrefix(rest, "/")
	if !ok {
		return e, 0, fmt.Errorf("no target in %q", branch.Clip(text))
	}
	if e.to, rest, err = parseAddress(rest); err != nil {
		return e, 0, err
	}
	rest, ok = strings.CutPrefix(rest, "/")
	if !ok {
		return e, 0, fmt.Errorf("no flags in %q", branch.Clip(text))
	}
	end := strings.IndexAny(rest, " \t")
	if end < 0 {
		end = len(rest)
	}
	if err := e.parseFlags(strings.Split(rest[:end], "/")); err != nil {
		return e, 0, fmt.Errorf("%w in %q", err, branch.Clip(text))
	}
	return e, len(text) - len(rest) + end, nil
}

// parseFlags reads what follows the addresses: prediction, transaction, abort, cycles,
// type, speculation. Older versions of perf have fewer.
func (e *entry) parseFlags(f []string) error {
	prediction, notTaken := strings.CutSuffix(f[0], "N")
	e.notTaken = notTaken
	switch prediction {
	case "M":
		e.mispredicted = true
	case "P":
		e.predicted = true
	case "-", "":
		if f[0] == "" {
			return errors.New("no prediction")
		}
	default:
		return fmt.Errorf("prediction %q is none of M, P and -", branch.Clip(f[0]))
	}
	if len(f) > 3 && f[3] != "" && f[3] != "-" {
		n, err := strconv.ParseUint(f[3], 10, 16)
		if err != nil {
			return fmt.Errorf("%q cycles", branch.Clip(f[3]))
		}
		e.cycles = uint16(n)
	}
	if len(f) > 4 {
		e.kind = scriptKind(f[4])
	}
	e.wrongPath = slices.Contains(f[min(4, len(f)):], "SPEC_WRONG_PATH")
	return nil
}

// scriptKind turns the name of a type into a kind, see branch_type_name in
// tools/perf/util/branch.c.
func scriptKind(name string) branch.Kind {
	switch name {
	case "COND", "COND_CALL", "COND_RET":
		return branch.Conditional
	case "UNCOND":
		return branch.Direct
	case "IND", "IND_CALL":
		return branch.Indirect
	case "CALL":
		return branch.Call
	case "RET":
		return branch.Return
	case "SYSCALL", "SYSRET", "ERET", "IRQ", "SERROR", "NO_TX":
		return branch.Transfer
	}
	return branch.UnknownKind
}

// hasNotTaken reports whether a line has an entry of a branch that was not taken.
func hasNotTaken(line string) bool {
	if !strings.Contains(line, "N/") {
		return false
	}
	for rest := line[firstEntry(line):]; strings.HasPrefix(rest, "0x"); {
		e, n, err := parseEntry(rest)
		if err != nil {
			return false
		}
		if e.notTaken {
			return true
		}
		rest = strings.TrimLeft(rest[n:], " \t")
	}
	return false
}
