package symbolizer

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"profdiff/internal/objfile"
)

// jitCode names the code that a process made while it ran.
type jitCode struct {
	searched bool
	perfMap  *objfile.SymbolTable // /tmp/perf-PID.map
	dumpPath string               // of jit-PID.dump, from the recording
	dump     *objfile.JITDump
}

// IsJITDump reports whether a DSO is a jitdump file, by its path: compilers map the file
// so that the recording has its name.
func IsJITDump(path string) bool {
	_, ok := jitDumpPID(path)
	return ok
}

func jitDumpPID(path string) (pid int32, ok bool) {
	base := path[strings.LastIndexByte(path, '/')+1:]
	number, isJIT := strings.CutPrefix(base, "jit-")
	number, isDump := strings.CutSuffix(number, ".dump")
	n, err := strconv.ParseInt(number, 10, 32)
	return int32(n), isJIT && isDump && err == nil
}

// AddJITDump notes the path of a DSO if it is a jitdump file.
func (z *Symbolizer) AddJITDump(path string) {
	if pid, ok := jitDumpPID(path); ok {
		z.jitOf(pid).dumpPath = path
		z.dumps++
	}
}

func (z *Symbolizer) jitOf(pid int32) *jitCode {
	j, ok := z.jit[pid]
	if !ok {
		j = &jitCode{}
		z.jit[pid] = j
	}
	return j
}

// HasJITDumps reports whether the recording names jitdump files that can be looked
// for.
func (z *Symbolizer) HasJITDumps() bool { return z.dumps > 0 && !z.opt.Objects.Empty() }

// JITFunction returns a number for the function that process pid had at an address at
// a time, from its jitdump file; 0 if there is none. Memory is used again, so the
// time matters.
func (z *Symbolizer) JITFunction(pid int32, time, addr uint64) uint32 {
	j := z.jitOf(pid)
	z.loadJIT(pid, j)
	if j.dump == nil {
		return 0
	}
	if !z.Monotonic {
		time = math.MaxInt64 // times of another clock: the last function at the address
	}
	s, ok := j.dump.Lookup(time, addr)
	if !ok {
		return 0
	}
	i, ok := z.jitIDs[s]
	if !ok {
		z.jitSymbols = append(z.jitSymbols, s)
		i = uint32(len(z.jitSymbols))
		z.jitIDs[s] = i
	}
	return i
}

// jitSymbol is the function with a number that JITFunction gave.
func (z *Symbolizer) jitSymbol(id uint32) objfile.Symbol { return z.jitSymbols[id-1] }

// loadJIT reads what the search paths have of a process, once.
func (z *Symbolizer) loadJIT(pid int32, j *jitCode) {
	if j.searched || z.opt.Objects.Empty() {
		return
	}
	j.searched = true
	if f := z.opt.Objects.File(fmt.Sprintf("/tmp/perf-%d.map", pid)); f != nil {
		t, err := objfile.ParsePerfMap(f)
		if err != nil {
			z.warn("%s: %v", f.Name, err)
		}
		j.perfMap = t
		f.Close()
	}
	if j.dumpPath == "" {
		return
	}
	if f := z.opt.Objects.File(j.dumpPath); f != nil {
		d, err := objfile.ParseJITDump(f)
		switch {
		case err != nil:
			z.warn("%s: %v", f.Name, err)
		case !z.Monotonic:
			z.warn("%s: the recording has another clock (perf record -k mono): names of code that replaced other code may be wrong", f.Name)
		}
		j.dump = d
		f.Close()
	}
}

// perfMapSymbol names an address by the perf map file of a process.
func (z *Symbolizer) perfMapSymbol(pid int32, addr uint64) (objfile.Symbol, bool) {
	j := z.jitOf(pid)
	z.loadJIT(pid, j)
	if j.perfMap == nil {
		return objfile.Symbol{}, false
	}
	return j.perfMap.Lookup(addr)
}
