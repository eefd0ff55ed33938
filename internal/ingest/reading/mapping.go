package reading

import (
	"math"
	"strconv"
	"strings"

	"profdiff/internal/run"
)

// Files gives each file that an input names one mapping. Addresses are taken as the text
// prints them, so a mapping covers all of them; pprof takes a mapping from 0 to the end
// for one whose addresses need no adjustment.
type Files struct {
	b     *run.Builder
	index map[string]uint32
}

// NewFiles keeps the files of the Run that b builds.
func NewFiles(b *run.Builder) Files {
	return Files{b: b, index: make(map[string]uint32)}
}

// Mapping returns the mapping of a file, or 0 if path stands for no file.
func (t *Files) Mapping(path string) uint32 {
	if !IsFile(path) {
		return 0
	}
	if isJITFile(path) {
		path = JITFile("")
	}
	i, ok := t.index[path]
	if !ok {
		i = t.b.Mapping(run.Mapping{File: path, Limit: math.MaxUint64, Kind: MappingKind(path)})
		t.index[path] = i
	}
	return i
}

// Named marks what is known of the places in a mapping.
func (t *Files) Named(mapping uint32, functions, lines, inline bool) {
	if mapping == 0 {
		return
	}
	m := &t.b.Run().Mappings[mapping]
	m.HasFunctions = m.HasFunctions || functions
	m.HasFilenames = m.HasFilenames || lines
	m.HasLineNumbers = m.HasLineNumbers || lines
	m.HasInlineFrames = m.HasInlineFrames || inline
}

// IsFile reports whether path names a file, and does not stand for one that is unknown.
func IsFile(path string) bool {
	return path != "" && path != "unknown" && path != "[unknown]" && path != "inlined"
}

// MappingKind tells from its path what a file holds.
func MappingKind(path string) run.MappingKind {
	base := path[strings.LastIndexByte(path, '/')+1:]
	switch {
	case strings.HasPrefix(path, "[kernel") || strings.HasPrefix(path, "[guest.kernel") ||
		strings.HasPrefix(base, "vmlinux") || strings.HasPrefix(base, "bpf_prog_"):
		return run.KernelMapping
	case strings.HasPrefix(path, "[vdso") || strings.HasPrefix(path, "[vsyscall") ||
		strings.HasPrefix(path, "[vectors") || strings.HasPrefix(path, "[sigpage"):
		return run.VDSOMapping
	case strings.HasPrefix(path, "[JIT") || isJITFile(path) || strings.Contains(path, "jit-cache") || strings.Contains(path, "jit-code-cache"):
		return run.JITMapping
	case strings.HasPrefix(path, "["):
		switch name := strings.Trim(path, "[]"); {
		case name == "heap" || name == "stack" || name == "uprobes" || strings.HasPrefix(name, "anon") || strings.HasPrefix(name, "stack:"):
			return run.UnknownMapping
		case name == "" || strings.ContainsAny(name, "[]:/ "):
			return run.UnknownMapping
		}
		return run.ModuleMapping
	case strings.HasPrefix(path, "//anon"):
		return run.UnknownMapping
	}
	for _, suffix := range []string{".ko", ".ko.xz", ".ko.gz", ".ko.zst"} {
		if strings.HasSuffix(base, suffix) {
			return run.ModuleMapping
		}
	}
	for _, suffix := range []string{".odex", ".oat", ".dex", ".vdex", ".jar", ".apk"} {
		if strings.HasSuffix(base, suffix) {
			return run.JavaMapping
		}
	}
	return run.NativeMapping
}

// UnknownSymbol takes apart what tools print where they have no symbol: unknown,
// [unknown], 0x7f2c, and libfoo.so[+1f2c] or *libfoo.so[+1f2c], which name the file
// and the address in it. addr is 0 if there is none.
func UnknownSymbol(symbol string) (file string, addr uint64, ok bool) {
	switch symbol {
	case "", "unknown", "[unknown]", "??":
		return "", 0, true
	}
	if rest, ok := strings.CutSuffix(symbol, "]"); ok {
		if i := strings.LastIndex(rest, "[+"); i > 0 {
			if addr, err := strconv.ParseUint(rest[i+2:], 16, 64); err == nil {
				return JITCache(strings.TrimPrefix(rest[:i], "*")), addr, true
			}
		}
	}
	if hex, ok := strings.CutPrefix(symbol, "0x"); ok {
		if addr, err := strconv.ParseUint(hex, 16, 64); err == nil {
			return "", addr, true
		}
	}
	return "", 0, false
}

// JITFile stands for all code that processes of a name made while they ran. The names of the
// files that tell of it have the process's number in them, which differs from run to run.
func JITFile(process string) string {
	if process == "" {
		return "[JIT]"
	}
	// simpleperf calls a program by its path at first.
	return "[JIT " + process[strings.LastIndexByte(process, '/')+1:] + "]"
}

// isJITFile reports whether perf calls code by this name that a process made while it ran:
// /tmp/perf-PID.map, and jitted-PID-NUMBER.so after perf inject.
func isJITFile(path string) bool {
	base := path[strings.LastIndexByte(path, '/')+1:]
	return strings.HasPrefix(path, "/tmp/perf-") && strings.HasSuffix(path, ".map") || strings.HasPrefix(base, "jitted-")
}

// JITCache replaces the names of the files in which simpleperf keeps compiled Java
// methods, which differ from run to run, as ElfDso::GetReportPath in
// simpleperf/dso.cpp does.
func JITCache(file string) string {
	switch {
	case strings.Contains(file, "_jit_app_cache:"):
		return "[JIT app cache]"
	case strings.Contains(file, "_jit_zygote_cache:"):
		return "[JIT zygote cache]"
	}
	return file
}

// UnknownFunction is the function of an address in file that has no symbol.
func UnknownFunction(file string, addr uint64, opt *Options) run.Function {
	name := run.UnknownFunctionName(file)
	if opt.UnknownOffset && IsFile(file) {
		name = file[strings.LastIndexByte(file, '/')+1:] + "[+" + strconv.FormatUint(addr, 16) + "]"
	}
	return run.Function{Name: name, SystemName: name, Unknown: true}
}

// NoLocation stands for a frame that is none: below what can be an address, without
// symbol and file, where unwinding went wrong.
const NoLocation = math.MaxUint32
