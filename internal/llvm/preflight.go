package llvm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// lineInfo is what a model knows of a line: exactly one of problem, unmodelled and
// instructions is set.
type lineInfo struct {
	problem      *ParseError // Line is in the unit, the region is not set
	unmodelled   bool
	instructions []string
	latencies    []Latency
}

// target is what instructions are assembled for and simulated on.
type target struct {
	triple   string
	cpu      string
	dispatch int
}

// arguments of llvm-mca that are the same for all uses.
func (t *Toolchain) arguments(tg target) []string {
	args := []string{"-json", "-mtriple=" + tg.triple, "-mcpu=" + tg.cpu}
	if attr := t.attributes(tg.triple); attr != "" {
		args = append(args, "-mattr="+attr)
	}
	if tg.dispatch > 0 {
		args = append(args, "-dispatch="+strconv.Itoa(tg.dispatch))
	}
	return args
}

// attributes are the features that instructions of the triple may need. Without them both
// tools know only the instructions that the CPU has.
func (t *Toolchain) attributes(triple string) string {
	switch {
	case archOf(triple) != archARM64:
		return ""
	case t.Major >= majorAttrAll:
		return "+all"
	default:
		return attributes14
	}
}

// attributes14 stands for +all, which LLVM 14 does not know for AArch64.
const attributes14 = "+v9.3a,+lse,+pauth,+mte,+bti,+aes,+sha2,+sha3,+sm4,+crc,+dotprod,+fullfp16,+fp16fml," +
	"+sve2,+sve2-aes,+sve2-bitperm,+sve2-sha3,+sve2-sm4,+bf16,+i8mm,+f32mm,+f64mm,+rand,+rcpc-immo,+flagm,+altnzcv," +
	"+fptoint,+ssbs,+sb,+predres,+ls64,+mops,+hbc,+wfxt,+tme,+sme,+sme-f64,+sme-i64,+spe,+brbe,+ecv"

// Instructions beyond this many are looked at by another process.
const preflightBatch = 2000

// inspect finds out what the model knows of each of the units, which are lines or, for
// IT blocks of Thumb, several lines. Each is simulated once, in a region of its own.
func (t *Toolchain) inspect(ctx context.Context, tg target, units [][]string) ([]lineInfo, error) {
	result := make([]lineInfo, 0, len(units))
	for len(units) > 0 {
		n := min(len(units), preflightBatch)
		infos, err := t.inspectBatch(ctx, tg, units[:n])
		if err != nil {
			return nil, err
		}
		result = append(result, infos...)
		units = units[n:]
	}
	return result, nil
}

func (t *Toolchain) inspectBatch(ctx context.Context, tg target, units [][]string) ([]lineInfo, error) {
	infos := make([]lineInfo, len(units))
	var todo []int // units not known to be hopeless
	for i, unit := range units {
		for k, line := range unit {
			if column, message := checkLine(line); message != "" {
				infos[i].problem = &ParseError{Line: k, Column: column, Text: line, Message: message}
				break
			}
		}
		if infos[i].problem == nil {
			todo = append(todo, i)
		}
	}
	for tries := 0; len(todo) > 0; tries++ {
		r, m, err := t.simulateOnce(ctx, tg, units, todo)
		if err != nil {
			return nil, err
		}
		before := len(todo)
		todo = m.markProblems(infos, units)
		if r == nil {
			if len(m.unsupported) > 0 {
				// Before LLVM 19 one such instruction ends the run.
				found, err := t.findUnmodelled(ctx, tg, units, todo)
				if err != nil {
					return nil, err
				}
				for _, i := range found {
					infos[i].unmodelled = true
				}
				todo = remove(todo, found)
			}
			if len(todo) == before || tries > 2 {
				return nil, m.failure()
			}
			continue
		}
		return infos, collect(r, infos, units, todo, m)
	}
	return infos, nil
}

// simulateOnce runs one iteration of each of the units in todo. The report is nil if
// llvm-mca printed none, and the messages say why.
func (t *Toolchain) simulateOnce(ctx context.Context, tg target, units [][]string, todo []int) (*mcaReport, located, error) {
	var a assembly
	lines := 0
	for _, i := range todo {
		a.add(units[i])
		lines += len(units[i])
	}
	args := append(t.arguments(tg), "-iterations=1", "-resource-pressure=false", "-instruction-info=true")
	if t.Major >= majorSkip {
		args = append(args, "-skip-unsupported-instructions=any")
	}
	out, err := run(ctx, process{
		path:    t.MCA,
		args:    append(args, "-"),
		stdin:   a.text.Bytes(),
		stdout:  reportOverhead + len(todo)*regionBytes + lines*2*instructionBytes,
		timeout: t.Timeout,
	})
	if err != nil {
		return nil, located{}, err
	}
	m := located{messages: parseStderr(out.stderr), assembly: &a, todo: todo, stderr: out.stderr}
	if len(bytes.TrimSpace(out.stdout)) == 0 {
		return nil, m, nil
	}
	if out.code != 0 {
		return nil, located{}, m.failure()
	}
	r, err := parseReport(out.stdout)
	return r, m, err
}

// located is messages with the assembly they are about.
type located struct {
	messages
	assembly *assembly
	todo     []int // the unit of each of its regions
	stderr   []byte
}

// markProblems notes the errors at lines of the assembly and returns the units without.
func (m located) markProblems(infos []lineInfo, units [][]string) []int {
	var bad []int
	for _, d := range m.diagnostics {
		region, index, ok := m.assembly.locate(d.line)
		if !ok {
			continue
		}
		i := m.todo[region]
		if infos[i].problem == nil {
			infos[i].problem = &ParseError{Line: index, Column: max(d.column-1, 0), Text: units[i][index], Message: d.message}
			bad = append(bad, i)
		}
	}
	return remove(m.todo, bad)
}

// failure is the error of a run whose messages explain it.
func (m located) failure() error {
	if len(m.errors) > 0 {
		return fmt.Errorf("llvm-mca: %s", m.errors[0])
	}
	if text := excerpt(m.stderr); text != "" {
		return fmt.Errorf("llvm-mca%s", text)
	}
	return errors.New("llvm-mca prints nothing")
}

func remove(from, what []int) []int {
	drop := make(map[int]bool, len(what))
	for _, i := range what {
		drop[i] = true
	}
	var rest []int
	for _, i := range from {
		if !drop[i] {
			rest = append(rest, i)
		}
	}
	return rest
}

// collect fills in what the report says of the units in todo. A unit that lacks
// instructions in it is not modelled.
func collect(r *mcaReport, infos []lineInfo, units [][]string, todo []int, m located) error {
	missing := len(todo)
	next := 0
	for k := range r.CodeRegions {
		region := &r.CodeRegions[k]
		at, err := strconv.Atoi(region.Name)
		if err != nil || at < next || at >= len(m.todo) {
			return fmt.Errorf("llvm-mca: region %q in its output is none of the input", region.Name)
		}
		next = at + 1
		i := m.todo[at]
		info := &infos[i]
		if info.problem != nil {
			continue
		}
		missing--
		if region.InstructionInfoView == nil {
			return fmt.Errorf("llvm-mca: region %q has no InstructionInfoView", region.Name)
		}
		if len(units[i]) > 1 && len(region.Instructions) < len(units[i]) {
			info.unmodelled = true
			continue
		}
		info.instructions = region.Instructions
		info.latencies = region.latencies()
	}
	if missing > 0 && len(m.unsupported) == 0 {
		for _, i := range todo {
			if infos[i].instructions == nil && !infos[i].unmodelled {
				infos[i].problem = &ParseError{Text: units[i][0], Message: "not an instruction"}
			}
		}
		return nil
	}
	for _, i := range todo {
		if infos[i].instructions == nil {
			infos[i].unmodelled = true
		}
	}
	return nil
}

var textRegion = regexp.MustCompile(`(?m)^\[\d+\] Code Region - (\d{1,9})$`)

// findUnmodelled finds the units without scheduling information with a version that
// stops at the first of them: as text it prints the regions before.
func (t *Toolchain) findUnmodelled(ctx context.Context, tg target, units [][]string, todo []int) ([]int, error) {
	var found []int
	for len(todo) > 0 {
		var a assembly
		for _, i := range todo {
			a.add(units[i])
		}
		args := t.arguments(tg)[1:] // without -json
		args = append(args, "-iterations=1", "-resource-pressure=false", "-instruction-info=false", "-")
		out, err := run(ctx, process{
			path: t.MCA, args: args, stdin: a.text.Bytes(),
			stdout: reportOverhead + len(todo)*regionBytes, timeout: t.Timeout,
		})
		if err != nil {
			return nil, err
		}
		m := located{messages: parseStderr(out.stderr), stderr: out.stderr}
		if out.code == 0 {
			return found, nil
		}
		if len(m.unsupported) == 0 {
			return nil, m.failure()
		}
		stop := 0
		if printed := textRegion.FindAllSubmatch(out.stdout, -1); len(printed) > 0 {
			last, err := strconv.Atoi(string(printed[len(printed)-1][1]))
			if err != nil || last >= len(todo)-1 {
				return nil, fmt.Errorf("llvm-mca: region %s is followed by none without scheduling information", printed[len(printed)-1][1])
			}
			stop = last + 1
		}
		found = append(found, todo[stop])
		todo = todo[stop+1:]
	}
	return found, nil
}

// itBlock is how many lines from lines[0] on must stay together: an IT instruction of
// Thumb and those it makes conditional cannot be parsed alone.
func itBlock(triple string, lines []string) int {
	if archOf(triple) != archARM {
		return 1
	}
	name := mnemonic(lines[0])
	if len(name) < 2 || len(name) > 5 || !strings.HasPrefix(name, "it") || strings.Trim(name[2:], "te") != "" {
		return 1
	}
	return min(len(lines), len(name))
}
