package symbolizer

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"profdiff/internal/objfile"
	"profdiff/internal/perffile"
	"profdiff/internal/perfsession"
)

// jitCode names the code that a process made while it ran.
type jitCode struct {
	perfMap  *objfile.SymbolTable // in the recording, or /tmp/perf-PID.map
	mapRead  bool
	written  time.Time // when the perf map was, zero if that tells nothing more
	dumpPath string    // of jit-PID.dump, from the recording; "" when it has been read
	dump     *objfile.JITDump
}

// IsJITDump reports whether a DSO is a jitdump file, by its path: compilers map the file
// so that the recording has its name.
func IsJITDump(path string) bool {
	_, ok := jitPID(path, "jit-", ".dump")
	return ok
}

// jitPID returns the number of the process in the name of a file.
func jitPID(path, prefix, suffix string) (pid int32, ok bool) {
	number, before := strings.CutPrefix(path[strings.LastIndexByte(path, '/')+1:], prefix)
	number, after := strings.CutSuffix(number, suffix)
	n, err := strconv.ParseInt(number, 10, 32)
	return int32(n), before && after && err == nil
}

// Injected reports whether a file is one that perf inject -j made of a function in a jitdump
// file, and of which process: jitted-PID-NUMBER.so (jit_emit_elf in tools/perf/util/jitdump.c).
func Injected(path string) (pid int32, ok bool) {
	name, of := strings.CutPrefix(path[strings.LastIndexByte(path, '/')+1:], "jitted-")
	number, rest, _ := strings.Cut(name, "-")
	_, numbered := jitPID(rest, "", ".so")
	n, err := strconv.ParseInt(number, 10, 32)
	return int32(n), of && numbered && err == nil
}

// AddJITDump notes the path of a DSO if it is a jitdump file.
func (z *Symbolizer) AddJITDump(path string) {
	if pid, ok := jitPID(path, "jit-", ".dump"); ok {
		z.jitOf(pid).dumpPath = path
		z.dumps++
	}
}

// addRecordedMap adds the perf map that simpleperf put into the recording, as
// perf-PID.map (GetSymbolMapDsoName in simpleperf/thread_tree.cpp), if f is one.
func (z *Symbolizer) addRecordedMap(f *perffile.SymbolFile) {
	if pid, ok := jitPID(f.Path, "perf-", ".map"); ok && f.Type == perffile.DSOSymbolMap {
		*z.jitOf(pid) = jitCode{perfMap: objfile.NewSymbolTable(symbolsOf(f)), mapRead: true}
	}
}

func (z *Symbolizer) jitOf(pid int32) *jitCode {
	j := z.jit[pid]
	if j == nil || j == noCode {
		j = &jitCode{mapRead: j == noCode}
		z.jit[pid] = j
	}
	return j
}

// noCode is of processes of which there is no perf map, as of nearly all.
var noCode = &jitCode{mapRead: true}

// withMap is jitOf with the perf map of the process, if there is one.
func (z *Symbolizer) withMap(pid int32) *jitCode {
	if j := z.jit[pid]; j != nil && j.mapRead {
		return j
	}
	j := z.jitOf(pid)
	z.readMap(pid, j)
	if *j == *noCode {
		z.jit[pid] = noCode
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
	j := z.jit[pid]
	if j == nil {
		return 0
	}
	z.readDump(pid, j)
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

// readDump reads the jitdump file of a process, if the search paths have it.
func (z *Symbolizer) readDump(pid int32, j *jitCode) {
	if j.dumpPath == "" {
		return
	}
	f := z.opt.Objects.File(j.dumpPath)
	j.dumpPath = ""
	if f == nil {
		return
	}
	defer f.Close()
	d, err := objfile.ParseJITDump(f)
	switch {
	case err != nil:
		z.warn("%s: %v", f.Name, err)
	case z.refuse(f.Name, z.notOf(pid, d, f.Written())):
		return
	case !z.Monotonic:
		z.warn("%s: the recording has another clock (perf record -k mono): names of code that replaced other code may be wrong", f.Name)
	}
	j.dump = d
}

// notOf says of which process a jitdump file is if it is not of the recorded one. When it was
// made, its header tells, by whatever clock: CPython writes the microseconds of the day's
// time there. The first function has the clock by which all are found.
func (z *Symbolizer) notOf(pid int32, d *objfile.JITDump, written time.Time) string {
	var first uint64 // 0 if it is not known, or by another clock than the recording's
	if len(d.Loads) > 0 && z.Monotonic && !d.ArchTime {
		first = d.Loads[0].Time
	}
	switch {
	case d.PID != uint32(pid):
		return fmt.Sprintf("process %d", d.PID)
	case z.session == nil:
	case first > 0 && first < z.session.StartedAt(pid), z.isEarlier(pid, written):
		return earlier
	case z.session.File.Info.LastSample > 0 && first > z.session.File.Info.LastSample:
		return "a later process"
	}
	return ""
}

// earlier is whose file it is that was written before the recorded process began.
const earlier = "an earlier process"

// isEarlier reports whether what was written at a time of day cannot be of a process, for it
// began later.
func (z *Symbolizer) isEarlier(pid int32, written time.Time) bool {
	const inexact = 2 * time.Second // of clocks, and of when recorders end
	return z.session != nil && !written.IsZero() && written.Add(inexact).Before(z.session.Started(pid))
}

// refuse notes that a file is of another process, if it is, and reports that.
func (z *Symbolizer) refuse(file, process string) bool {
	if process != "" {
		z.refused = append(z.refused, file+" is of "+process)
	}
	return process != ""
}

// readMap reads the perf map of a process, if the search paths have it.
func (z *Symbolizer) readMap(pid int32, j *jitCode) {
	if j.mapRead {
		return
	}
	j.mapRead = true
	f := z.opt.Objects.File(perfMapPath(pid))
	if f == nil {
		return
	}
	defer f.Close()
	t, err := objfile.ParsePerfMap(f)
	if err != nil {
		z.warn("%s: %v", f.Name, err)
	}
	j.perfMap, j.written = t, f.Written()
}

func perfMapPath(pid int32) string { return fmt.Sprintf("/tmp/perf-%d.map", pid) }

// JITNamed reports whether a perf map has a name for an address of a process. Compilers make
// memory executable that no record shows as such. While the replay goes on, a map of another
// process may seem to.
func (z *Symbolizer) JITNamed(pid int32, addr uint64) bool {
	j := z.withMap(pid)
	if j.perfMap == nil {
		return false
	}
	_, ok := j.perfMap.Lookup(addr)
	return ok
}

// perfMapSymbol names an address by the perf map of a process, after the replay.
func (z *Symbolizer) perfMapSymbol(pid int32, addr uint64) (objfile.Symbol, bool) {
	j := z.withMap(pid)
	if j.perfMap == nil {
		return objfile.Symbol{}, false
	}
	if z.isEarlier(pid, j.written) {
		z.refuse(perfMapPath(pid), earlier)
		j.perfMap = nil
		return objfile.Symbol{}, false
	}
	j.written = time.Time{}
	return j.perfMap.Lookup(addr)
}

// generated is the Symbol for an address in code that a process made while it ran.
func (z *Symbolizer) generated(d *perfsession.DSO, addr uint64, s objfile.Symbol) Symbol {
	return Symbol{
		DSO: d, Vaddr: addr, Start: s.Addr, Generated: true,
		Frames: []Frame{{Name: z.demangle(s.Name), SystemName: s.Name}},
	}
}
