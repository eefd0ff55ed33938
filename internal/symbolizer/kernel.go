package symbolizer

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"profdiff/internal/objects"
	"profdiff/internal/objfile"
	"profdiff/internal/perffile"
	"profdiff/internal/perfsession"
)

// A kernel is what names the code of the kernel and of its modules.
//
// A list of its symbols is right for the boot that it was read in: each boot may load the
// kernel elsewhere (KASLR), and its modules, each for itself. A list is therefore taken only
// if it fits what the recording says:
//
//  1. Both have the address of _text or _stext, which perf notes with the mapping of the
//     kernel. The difference is how far the kernel was moved: a number of pages, or they are
//     of different kernels.
//  2. perf maps the kernel up to the end of its code, which the list has, too. A list of another
//     boot is taken only if that shows that it is of the same kernel, or its build ID does.
//  3. Functions of a module are named only if its code starts where the recording has the
//     module. They do not move with the kernel.
//
// Lists are asked in this order: that of the recording, which simpleperf makes; that of the
// user, or beside the recording; that of the kernel which runs here, and that which perf
// cached, if they are of the recorded build, and then only for modules that are known to be
// at their places.
type kernel struct {
	recorded *perffile.SymbolFile // simpleperf's symbols at addresses of samples
	given    *objects.Kallsyms    // nil if there is none
	machine  *objects.Kernels     // likewise
	session  *perfsession.Session // nil if there is no recording of addresses

	chosen bool
	names  *kernelNames // nil if there are none
	advice string       // what would help then, "" if nothing is known to
}

// lookup names an address of the recorded kernel.
func (k *kernel) lookup(addr uint64, warn func(string, ...any)) (objfile.Symbol, bool) {
	if k.recorded != nil {
		if s, ok := lookup(k.recorded, addr); ok {
			return objfile.Symbol{Addr: s.Addr, Len: uint64(s.Len), Name: s.Name}, true
		}
	}
	if !k.chosen {
		k.chosen = true
		k.names = k.choose(warn)
	}
	if k.names == nil {
		return objfile.Symbol{}, false
	}
	return k.names.lookup(addr)
}

// choose takes the first list that fits the recording.
func (k *kernel) choose(warn func(string, ...any)) *kernelNames {
	if k.session == nil {
		if k.given == nil {
			return nil
		}
		return &kernelNames{list: k.given.Kallsyms, others: true}
	}
	if text := k.session.Kallsyms; text != nil {
		list, err := objfile.ParseKallsyms(bytes.NewReader(text))
		if err == nil {
			return &kernelNames{list: list, others: true}
		}
		warn("kernel symbols of the recording: %v", err)
	}
	recorded := recordedKernelOf(k.session)
	if k.given != nil {
		names, err := recorded.fit(k.given.Kallsyms)
		switch running := k.machine.Running(); {
		case err != nil:
		case k.given.Name == "/proc/kallsyms" && running.BuildID != "" && recorded.buildID != "" && !recorded.has(running.BuildID):
			err = errOtherKernel
		case names.shift != 0 && !names.sameLength:
			err = errMoved
		default:
			return names
		}
		warn("%s is not used: %v", k.given.Name, err)
	}
	if names := k.running(recorded); names != nil {
		return names
	}
	if list := k.machine.Cached(recorded.buildID); list != nil {
		if names, err := recorded.fit(list.Kallsyms); err == nil && names.sure {
			names.others = false
			return names
		}
	}
	return nil
}

// running fits the list of the kernel that runs here, if that is the recorded one.
func (k *kernel) running(recorded *recordedKernel) *kernelNames {
	running := k.machine.Running()
	same := recorded.has(running.BuildID)
	// Recordings without build IDs (perf record -B, or to a pipe) have what else tells.
	info := &k.session.File.Info
	vague := recorded.buildID == "" && running.Release != "" && info.OSRelease == running.Release && info.Hostname == running.Host
	if !same && !vague {
		return nil
	}
	list, err := running.Kallsyms()
	if errors.Is(err, objfile.ErrRestricted) {
		k.advice = "it hides them: as root, sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1, or run profdiff as root"
	}
	if err != nil {
		return nil
	}
	names, err := recorded.fit(list.Kallsyms)
	switch {
	case err != nil:
		return nil
	case !names.sure:
		k.advice = "it did not tell perf where it was: record as root, or after sysctl kernel.kptr_restrict=0"
		return nil
	case vague && (names.shift != 0 || !names.sameLength):
		return nil
	}
	names.others = false
	return names
}

// kernelNames is a list of symbols and how it fits a recording.
type kernelNames struct {
	list *objfile.Kallsyms
	// shift is what an address of the recording is more than that of the list.
	shift uint64
	// modules says whether a module is where the list has it, others whether those are of
	// which the recording says nothing.
	modules map[string]bool
	others  bool
	// sure is set if something in the recording tells where the kernel or a module was,
	// sameLength if the kernel's code is known to be as long.
	sure, sameLength bool
}

// lookup names an address of the recording.
func (n *kernelNames) lookup(addr uint64) (objfile.Symbol, bool) {
	s, ok := n.list.Lookup(addr - n.shift)
	if ok && objfile.ModuleOf(s) == "" {
		s.Addr += n.shift
		return s, true
	}
	if n.shift != 0 {
		s, ok = n.list.Lookup(addr)
	}
	module := objfile.ModuleOf(s)
	if !ok || module == "" {
		return s, false
	}
	if right, known := n.modules[module]; known {
		return s, right
	}
	return s, n.others
}

// recordedKernel is what a recording says of the kernel that it was made under.
type recordedKernel struct {
	*perfsession.DSO
	buildID string                 // "" if it is not known
	modules map[string][]codeRange // where modules were
}

// buildIDOfKernel is the build ID that a recording has of the kernel, "" if none. In a stream it
// may come behind the mapping.
func buildIDOfKernel(s *perfsession.Session) (id string) {
	for _, d := range s.DSOs {
		if d.Path == perfsession.KernelPath && d.Kernel {
			id = cmp.Or(id, d.BuildID)
		}
	}
	for _, b := range s.File.Info.BuildIDs {
		if strings.HasPrefix(b.Path, perfsession.KernelPath) {
			id = cmp.Or(id, hex.EncodeToString(b.ID))
		}
	}
	return id
}

// has reports whether the kernel is known to have the build ID.
func (r *recordedKernel) has(buildID string) bool {
	return r.buildID != "" && objects.TrimBuildID(r.buildID) == objects.TrimBuildID(buildID)
}

// A codeRange is the addresses from start up to, not including, end.
type codeRange struct{ start, end uint64 }

// recordedKernelOf gathers what a session says when it has been replayed.
func recordedKernelOf(s *perfsession.Session) *recordedKernel {
	r := &recordedKernel{DSO: s.Kernel(), modules: make(map[string][]codeRange)}
	for m := range s.KernelModules() {
		name := moduleName(m.DSO.Path)
		r.modules[name] = append(r.modules[name], codeRange{m.Start, m.End})
	}
	r.buildID = buildIDOfKernel(s)
	return r
}

// moduleName is the name that kallsyms has for the module in a file: with underscores, and
// without .ko or .ko.xz. perf writes [NAME] for a module whose file it does not find.
func moduleName(file string) string {
	name, _, _ := strings.Cut(path.Base(file), ".ko")
	return strings.ReplaceAll(strings.Trim(name, "[]"), "-", "_")
}

var (
	errOtherKernel = errors.New("it is of another kernel than the recording")
	errMoved       = errors.New("it is of another boot than the recording, and nothing tells whether it is of the same kernel")
	errOtherBoot   = errors.New("it is of another boot than the recording: its modules are elsewhere")
)

// fit says how a list names the addresses of the recording, or why it cannot.
func (r *recordedKernel) fit(k *objfile.Kallsyms) (*kernelNames, error) {
	n := &kernelNames{list: k}
	placed := r.Text != 0 && r.Reference != ""
	if placed {
		at, ok := k.Mark(r.Reference)
		if !ok {
			return nil, fmt.Errorf("it lacks %s, which tells whether it is of the recorded boot", r.Reference)
		}
		n.shift = r.Text - at
		same, known := r.sameLength(k, at)
		if n.shift%pageSize != 0 || known && !same {
			return nil, errOtherKernel
		}
		n.sameLength = same
	}
	agreed, contradicted := 0, 0
	n.modules, agreed, contradicted = r.compareModules(k)
	if !placed && agreed == 0 && contradicted > 0 {
		return nil, errOtherBoot
	}
	n.others = n.shift == 0 && contradicted == 0
	n.sure = placed || agreed > 0
	return n, nil
}

// pageSize is the smallest size of pages: the kernel and its modules are loaded at pages.
const pageSize = 4096

// sameLength compares the lengths of the kernel's code. text is where it starts in the list.
// The recording does not know the length if it ends with a page: recorders that do not find
// the end map up to the first module, or all memory.
func (r *recordedKernel) sameLength(k *objfile.Kallsyms, text uint64) (same, known bool) {
	if r.TextEnd == 0 || r.TextEnd%pageSize == 0 || r.TextEnd == 1<<64-1 {
		return false, false
	}
	for _, mark := range []string{"_etext", "_edata"} { // perf before 6.3 takes the first
		if end, ok := k.Mark(mark); ok {
			known = true
			same = same || end-text == r.TextEnd-r.Text
		}
	}
	return same, known
}

// compareModules says which of the modules that the recording and the list have are at one
// place, and counts them. It says nothing of one whose first function is behind the first
// page of its code (on Arm, where stubs come first, and in lists of some functions), unless
// no module is at its place.
func (r *recordedKernel) compareModules(k *objfile.Kallsyms) (at map[string]bool, agreed, contradicted int) {
	at = make(map[string]bool)
	var within []string
	for name, start := range k.Modules {
		places, ok := r.modules[name]
		switch {
		case !ok:
		case slices.ContainsFunc(places, func(p codeRange) bool { return p.start == start }):
			at[name] = true
			agreed++
		case slices.ContainsFunc(places, func(p codeRange) bool { return start-p.start < p.end-p.start }):
			within = append(within, name)
		default:
			at[name] = false
			contradicted++
		}
	}
	_, text := k.Mark("_etext")
	_, data := k.Mark("_edata")
	if whole := text || data; whole && agreed == 0 {
		for _, name := range within {
			at[name] = false
			contradicted++
		}
	}
	return at, agreed, contradicted
}
