package reading

import (
	"testing"

	"profdiff/internal/run"
)

func TestMappingKind(t *testing.T) {
	for path, want := range map[string]run.MappingKind{
		"[kernel.kallsyms]": run.KernelMapping, "[kernel.kallsyms]_stext": run.KernelMapping, "[guest.kernel.kallsyms]": run.KernelMapping,
		"/boot/vmlinux-6.1": run.KernelMapping, "bpf_prog_6deef7357e7b4530": run.KernelMapping,
		"[nf_conntrack]": run.ModuleMapping, "/lib/modules/6.1/kernel/fs/ext4.ko.xz": run.ModuleMapping, "/vendor/lib/modules/wlan.ko": run.ModuleMapping,
		"[vdso]": run.VDSOMapping, "[vsyscall]": run.VDSOMapping, "[vectors]": run.VDSOMapping,
		"[JIT app cache]": run.JITMapping, "/tmp/perf-123.map": run.JITMapping, "/home/a/jitted-1-2.so": run.JITMapping, "/memfd:jit-cache (deleted)": run.JITMapping,
		"/data/app/base.odex": run.JavaMapping, "/system/framework/boot.oat": run.JavaMapping, "/system/framework/framework.jar": run.JavaMapping,
		"/data/app/base.apk": run.JavaMapping, "/data/app/base.apk!/lib/arm64/libx.so": run.NativeMapping,
		"/usr/lib/libc.so.6": run.NativeMapping, "a.out": run.NativeMapping,
		"[heap]": run.UnknownMapping, "[stack]": run.UnknownMapping, "[anon:scudo:primary]": run.UnknownMapping, "//anon": run.UnknownMapping, "[]": run.UnknownMapping,
	} {
		if got := MappingKind(path); got != want {
			t.Errorf("mappingKind(%q) = %v, want %v", path, got, want)
		}
	}
}

func TestUnknownSymbol(t *testing.T) {
	for _, tt := range []struct {
		symbol, file string
		addr         uint64
		ok           bool
	}{
		{"", "", 0, true},
		{"unknown", "", 0, true},
		{"[unknown]", "", 0, true},
		{"0x7f2c", "", 0x7f2c, true},
		{"libx.so[+1f]", "libx.so", 0x1f, true},
		{"*[kernel.kallsyms][+ffffffff81]", "[kernel.kallsyms]", 0xffffffff81, true},
		{"perf.data_jit_app_cache:80104-83800[+40]", "[JIT app cache]", 0x40, true},
		{"perf.data_jit_zygote_cache:80104-83800[+40]", "[JIT zygote cache]", 0x40, true},
		{"main", "", 0, false},
		{"operator[]", "", 0, false},
		{"a[+zz]", "", 0, false},
		{"[+12]", "", 0, false},
		{"0xyz", "", 0, false},
	} {
		file, addr, ok := UnknownSymbol(tt.symbol)
		if file != tt.file || addr != tt.addr || ok != tt.ok {
			t.Errorf("unknownSymbol(%q) = %q, %#x, %v, want %q, %#x, %v", tt.symbol, file, addr, ok, tt.file, tt.addr, tt.ok)
		}
	}
}
