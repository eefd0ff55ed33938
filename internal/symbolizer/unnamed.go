package symbolizer

import (
	"fmt"
	"strings"

	"profdiff/internal/objects"
	"profdiff/internal/perffile"
	"profdiff/internal/perfsession"
)

// Unnamed says why addresses of a DSO have no names, and what would help. It is asked when
// the others were named; nil stands for addresses in no DSO.
func (z *Symbolizer) Unnamed(d *perfsession.DSO) (why, install, help string) {
	if d == nil {
		return "addresses in no file", "", ""
	}
	n := z.dso(d)
	switch {
	case n.kind == perffile.DSOKernel && d.Path != perfsession.KernelPath:
		return "the kernel of a guest", "", ""
	case n.kind == perffile.DSOKernel, n.kind == perffile.DSOKernelModule:
		why, help = z.unnamedKernel()
		return why, "", help
	case n.exec == JIT, isMade(d.Path):
		return z.unnamedCode(), "", "JIT compilers tell names if asked (node --perf-basic-prof, python -X perf, perf inject -j after perf record -k mono)"
	case n.kind == perffile.DSODex, strings.HasPrefix(d.Path, "["):
		return "", "", ""
	}
	return z.opt.Objects.Missing(objects.FileOf(d))
}

// unnamedCode says why code that processes made has no names.
func (z *Symbolizer) unnamedCode() string {
	why := "code that was made while it ran"
	switch n := len(z.refused); {
	case n == 1:
		why += "; " + z.refused[0]
	case n > 1:
		why += fmt.Sprintf("; %s, as are %d more", z.refused[0], n-1)
	}
	return why
}

// isMade reports whether a path stands for memory that no file was mapped into.
func isMade(path string) bool {
	for _, prefix := range []string{perfsession.AnonPath, "[memory]", "[anon:", "[heap]", "[stack", "/memfd:", "/dev/zero", "/dev/shm/"} {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}

func (z *Symbolizer) unnamedKernel() (why, help string) {
	const list = "--kallsyms FILE names a copy of /proc/kallsyms that root made in the boot of the recording"
	switch {
	case z.opt.Simpleperf:
		return "its symbols were hidden when it was recorded", "record as root, or with /proc/sys/kernel/kptr_restrict at 0"
	case z.kernel.advice != "":
		return z.kernel.advice, ""
	case z.kernel.names != nil:
		return "the symbols that are of its boot lack these addresses", ""
	case z.kernel.given != nil:
		return z.kernel.given.Name + " does not fit it", list
	}
	return "neither the recording nor this machine has symbols of its boot", list
}
