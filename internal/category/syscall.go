package category

import (
	"path"
	"regexp"
	"strings"

	"profdiff/internal/run"
)

var syscallName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// kernelEntry returns the system call that a function of the kernel is the entry of,
// or "": read for sys_read, SyS_read, ksys_read, __x64_sys_read, __se_sys_read,
// __arm64_compat_sys_read, … See include/linux/syscalls.h and
// arch/*/include/asm/syscall_wrapper.h of Linux.
func kernelEntry(function string) string {
	if rest, ok := strings.CutPrefix(function, "__"); ok {
		arch, after, _ := strings.Cut(rest, "_")
		switch arch {
		case "x64", "ia32", "x32", "arm64", "riscv", "s390", "s390x", "powerpc", "se", "do":
			function = after
		}
	}
	function = strings.TrimPrefix(function, "compat_")
	for _, prefix := range []string{"sys_", "ksys_", "SyS_"} {
		if name, ok := strings.CutPrefix(function, prefix); ok {
			return name
		}
	}
	return ""
}

// libraryEntry returns the system call that a function of a C library is, if it is
// one: read for read, __read, __libc_read, __GI___read, __read_nocancel, read@plt.
func libraryEntry(function string) string {
	function, _, _ = strings.Cut(function, "@")
	function = strings.TrimPrefix(function, "__GI_")
	if name, ok := strings.CutPrefix(function, "__libc_"); ok {
		function = name
	} else {
		function = strings.TrimLeft(function, "_")
	}
	return strings.TrimSuffix(strings.TrimSuffix(function, "_nocancel"), "_time64")
}

// maySyscall reports whether a function in a mapping that is called read is the
// system call: in the kernel, in a C library, or in an input that does not name files.
// A program may have a function of that name, too.
func maySyscall(m *run.Mapping) bool {
	switch m.Kind {
	case run.KernelMapping, run.ModuleMapping, run.VDSOMapping:
		return true
	case run.JavaMapping, run.JITMapping:
		return false
	}
	if m.File == "" {
		return true
	}
	base := path.Base(m.File)
	for _, lib := range []string{"libc.", "libc-", "libpthread.", "libpthread-", "ld-linux", "ld-musl", "linker", "liburing."} {
		if strings.HasPrefix(base, lib) {
			return true
		}
	}
	return false
}
