package objects

import (
	"fmt"
	"io"
	"io/fs"
	"strings"

	"profdiff/internal/objfile"
)

// Kallsyms is a list of the kernel's symbols, a copy of /proc/kallsyms.
type Kallsyms struct {
	*objfile.Kallsyms
	Name string // for messages
}

// ParseKallsyms reads a copy of /proc/kallsyms. name is for messages.
func ParseKallsyms(name string, r io.Reader) (*Kallsyms, error) {
	list, err := objfile.ParseKallsyms(r)
	if err != nil {
		return nil, err
	}
	return &Kallsyms{list, name}, nil
}

// Kernels are the lists of symbols that a machine has of kernels: of the one that runs, and of
// those in perf's cache. Each is read once. Nil has none.
type Kernels struct {
	root    fs.FS // files of the machine
	cache   fs.FS // perf's, nil if there is none
	running *RunningKernel
	cached  map[string]*Kallsyms // by build ID, nil where there is none
}

// NewKernels returns those of the machine whose files are below root. cache is that of perf,
// nil if there is none.
func NewKernels(root, cache fs.FS) *Kernels {
	return &Kernels{root: root, cache: cache, cached: make(map[string]*Kallsyms)}
}

// A RunningKernel is the kernel that runs on a machine, as far as it is known.
type RunningKernel struct {
	BuildID       string // lower-case hexadecimal
	Release, Host string // as uname -r and uname -n print them

	root fs.FS
	list *Kallsyms
	err  error
}

// Running returns the kernel that runs on the machine.
func (k *Kernels) Running() *RunningKernel {
	if k == nil {
		return &RunningKernel{err: fs.ErrNotExist}
	}
	if k.running == nil {
		k.running = &RunningKernel{
			BuildID: objfile.BuildIDOfNotes(readText(k.root, "sys/kernel/notes")),
			Release: strings.TrimSpace(string(readText(k.root, "proc/sys/kernel/osrelease"))),
			Host:    strings.TrimSpace(string(readText(k.root, "proc/sys/kernel/hostname"))),
			root:    k.root,
		}
	}
	return k.running
}

// Kallsyms returns the symbols of the running kernel and of its modules. The error wraps
// [objfile.ErrRestricted] if the kernel hides their addresses from this user.
func (r *RunningKernel) Kallsyms() (*Kallsyms, error) {
	if r.list == nil && r.err == nil {
		if r.list, r.err = readKallsyms(r.root, "proc/kallsyms"); r.err != nil {
			return nil, r.err
		}
		if modules, err := openRegular(r.root, "proc/modules"); err == nil {
			defer modules.Close()
			if err := r.list.ReadModules(modules); err != nil {
				r.list, r.err = nil, fmt.Errorf("/proc/modules: %w", err)
			}
		}
	}
	return r.list, r.err
}

// Cached returns the symbols that perf's cache has of a kernel, nil if it has none. They were
// read when a recording was made, maybe under another boot.
func (k *Kernels) Cached(buildID string) *Kallsyms {
	if k == nil || k.cache == nil || buildID == "" {
		return nil
	}
	list, ok := k.cached[buildID]
	if !ok {
		list, _ = readKallsyms(k.cache, "[kernel.kallsyms]/"+buildID+"/kallsyms")
		k.cached[buildID] = list
	}
	return list
}

// readKallsyms reads a list of symbols.
func readKallsyms(fsys fs.FS, name string) (*Kallsyms, error) {
	f, err := openRegular(fsys, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ParseKallsyms(name, f)
}

// readText reads a small file, nil if there is none.
func readText(fsys fs.FS, name string) []byte {
	f, err := openRegular(fsys, name)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 64<<10))
	if err != nil {
		return nil
	}
	return data
}

// openRegular opens a file if it is a regular one: others may not even be opened.
func openRegular(fsys fs.FS, name string) (fs.File, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fs.ErrNotExist
	}
	return fsys.Open(name)
}

// VmlinuxPaths are where distributions and builders of kernels put the kernel with its symbols.
func VmlinuxPaths(release string) []string {
	if release == "" || strings.Contains(release, "/") {
		return nil
	}
	return []string{
		"/usr/lib/debug/boot/vmlinux-" + release, "/usr/lib/debug/lib/modules/" + release + "/vmlinux",
		"/boot/vmlinux-" + release, "/lib/modules/" + release + "/build/vmlinux",
	}
}
