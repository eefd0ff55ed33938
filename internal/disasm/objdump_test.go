package disasm

import (
	"bufio"
	"bytes"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// llvmInst is what llvm-objdump says about an instruction.
type llvmInst struct {
	addr uint64
	len  int
	text string
	raw  string // bytes in hexadecimal, of x86
}

// tool returns the path of a program and skips the test if there is none.
func tool(t testing.TB, name string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	return path
}

var llvmLine = regexp.MustCompile(`^\s*([0-9a-f]+):\s+((?:[0-9a-f]{2} )*[0-9a-f]{2}|[0-9a-f]{8}) *\t(.*)$`)

// llvmObjdump yields the instructions of all code in the file.
func llvmObjdump(t testing.TB, file string, yield func(llvmInst)) {
	objdump := tool(t, "llvm-objdump")
	args := []string{"-d"}
	if help, _ := exec.Command(objdump, "--help").Output(); bytes.Contains(help, []byte("--debug-file-directory")) {
		// Or it disassembles the debug file of a stripped one, which has no code.
		args = append(args, "--debug-file-directory="+t.TempDir())
	}
	cmd := exec.Command(objdump, append(args, file)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	var prefix llvmInst // some prefixes have lines of their own
	for lines.Scan() {
		i, ok := parseLLVM(lines.Text())
		if !ok {
			continue
		}
		if prefix.len > 0 && prefix.addr+uint64(prefix.len) == i.addr {
			i.addr, i.len = prefix.addr, prefix.len+i.len
			i.text, i.raw = prefix.text+" "+i.text, prefix.raw+" "+i.raw
		}
		prefix = llvmInst{}
		if llvmPrefix.MatchString(i.text) {
			prefix = i
			continue
		}
		yield(i)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("llvm-objdump %s: %v", file, err)
	}
}

func parseLLVM(line string) (llvmInst, bool) {
	m := llvmLine.FindStringSubmatch(line)
	if m == nil {
		return llvmInst{}, false
	}
	addr, _ := strconv.ParseUint(m[1], 16, 64)
	i := llvmInst{addr: addr, text: m[3], raw: m[2]}
	i.len = len(strings.ReplaceAll(m[2], " ", "")) / 2
	i.text, _, _ = strings.Cut(i.text, " <")
	i.text = strings.Join(strings.Fields(i.text), " ")
	return i, true
}

var (
	llvmPrefix    = regexp.MustCompile(`^(?:(?:lock|rep|repne|data16|rex64|notrack|bnd|addr32|xacquire|xrelease|[cdefgs]s)(?: |$))+$`)
	llvmX86Branch = regexp.MustCompile(`^(?:(?:notrack|bnd|lock|rep|repne|data16|rex64|cs|ds|es|ss|fs|gs|addr32|xacquire|xrelease) )*(j[a-z]+|call[lqw]?|ljmp[lqw]?|lcall[lqw]?|loop[a-z]*|xbegin|ret[lqw]?|lret[lqw]?|iret[lqw]?|sysret[lqw]?|sysexit[lqw]?|ud[012][lqw]?|int3)(?:,p[nt])?(?: (.*))?$`)
	llvmARMBranch = regexp.MustCompile(`^(b|bl|b\.[a-z]+|bc\.[a-z]+|cbz|cbnz|tbz|tbnz|br|blr|ret|braa|braaz|brab|brabz|blraa|blraaz|blrab|blrabz|retaa|retab|eret|eretaa|eretab|drps|brk|hlt|udf)(?: (.*))?$`)
	hexTarget     = regexp.MustCompile(`^(?:.*, )?#?(-?(?:0x)?[0-9a-f]+)$`)
)

// kind returns the kind and target of what llvm-objdump printed.
func (i *llvmInst) kind(arm bool) (Kind, uint64) {
	re := llvmX86Branch
	if arm {
		re = llvmARMBranch
	}
	m := re.FindStringSubmatch(i.text)
	if m == nil {
		return Other, 0
	}
	name, operand := m[1], m[2]
	target := uint64(0)
	if t := hexTarget.FindStringSubmatch(operand); t != nil && !strings.HasPrefix(operand, "*") && !strings.Contains(operand, "$") {
		n, err := strconv.ParseInt(t[1], 0, 64)
		if err != nil {
			u, _ := strconv.ParseUint(t[1], 0, 64)
			n = int64(u)
		}
		target = uint64(n)
	}
	has := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	if arm {
		switch {
		case name == "b":
			return Jump, target
		case name == "bl":
			return Call, target
		case has("b."), has("bc."), has("cb"), has("tb"):
			return Conditional, target
		case has("br") && name != "brk":
			return IndirectJump, 0
		case has("blr"):
			return IndirectCall, 0
		case has("ret"), has("eret"), name == "drps":
			return Return, 0
		}
		return Trap, 0
	}
	switch {
	case strings.HasPrefix(operand, "*") && has("j"), has("ljmp"):
		return IndirectJump, 0
	case strings.HasPrefix(operand, "*"), has("lcall"):
		return IndirectCall, 0
	case has("jmp"):
		return Jump, target
	case has("call"):
		return Call, target
	case has("j"), has("loop"):
		return Conditional, target
	case has("xbegin"):
		return Other, target
	case has("ret"), has("lret"), has("iret"), has("sysret"), has("sysexit"):
		return Return, 0
	}
	return Trap, 0
}
