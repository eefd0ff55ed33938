package symbolizer

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"profdiff/internal/objects"
	"profdiff/internal/objects/objectstest"
	"profdiff/internal/perffile"
	"profdiff/internal/perffile/perffiletest"
	"profdiff/internal/perfsession"
)

// replayed is the session of a recording that is written as text.
func replayed(t *testing.T, text string) *perfsession.Session {
	t.Helper()
	data := perffiletest.Fixture(t, text)
	file, err := perffile.New(bytes.NewReader(data), int64(len(data)), perffile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := perfsession.New(file)
	if err := s.Replay(nothing{}); err != nil {
		t.Fatal(err)
	}
	return s
}

type nothing struct{}

func (nothing) Sample(*perfsession.Sample) error { return nil }
func (nothing) Switch(perfsession.Switch) error  { return nil }

// kallsymsText is a list whose kernel was moved by shift, and its module nf by module.
func kallsymsText(shift, module uint64) string {
	const text = 0xffffffff81000000
	var b strings.Builder
	for _, s := range []struct {
		offset uint64
		name   string
	}{
		{0, "_text"},
		{0x190, "_stext"},
		{0x400, "schedule"},
		{0x500, "finish_task_switch"},
		{0x600, "_etext"},
		// Where addresses of schedule are in a kernel that is 4 MB further on.
		{0x400400, "ext4_get_es_cache"},
		{0x400700, "_edata"},
	} {
		fmt.Fprintf(&b, "%x T %s\n", text+shift+s.offset, s.name)
	}
	fmt.Fprintf(&b, "%x t nf_hook\t[nf]\n%x t nf_last\t[nf]\n", 0xffffffffc0000010+module, 0xffffffffc0000800+module)
	fmt.Fprintf(&b, "ffffffffc0800000 t bpf_prog_1\t[bpf]\n")
	return b.String()
}

// TestKallsymsFit: a list names the kernel only as far as it is of the recorded boot.
func TestKallsymsFit(t *testing.T) {
	const (
		head = "header\nattr type=software config=0 sample_period=1 sample_type=IP|TID|TIME flags=sample_id_all\n"

		schedule, bpf = 0xffffffff81000410, 0xffffffffc0800004
		hook          = 0xffffffffc0000014
	)
	kernel := func(name string, start, size, pgoff uint64) string {
		return fmt.Sprintf("MMAP misc=KERNEL pid=-1 tid=0 start=%#x len=%#x pgoff=%#x filename=%q\n", start, size, pgoff, name)
	}
	const text = 0xffffffff81000000
	perf6 := head + kernel("[kernel.kallsyms]_text", text, 0x600, text)
	perf4 := head + kernel("[kernel.kallsyms]_text", text, 0x3f000000, text)
	perf3 := head + kernel("[kernel.kallsyms]_stext", 0, 0xffffffffa0000000, text+0x190)
	simpleperf := head + kernel("[kernel.kallsyms]", 0, 1<<64-1, 0) + "\nfeature META_INFO\nmeta key=\"simpleperf_version\" value=\"1\"\n"
	nf := kernel("/lib/modules/6.1/nf.ko.xz", 0xffffffffc0000000, 0x4000, 0)
	with := func(recording, mapping string) string {
		return strings.Replace(recording, "\nfeature", mapping+"\nfeature", 1)
	}
	same := kallsymsText(0, 0)
	const all = "schedule=ffffffff81000400 nf_hook [nf]=ffffffffc0000010 bpf_prog_1 [bpf]=ffffffffc0800000"
	const kernelOnly = "schedule=ffffffff81000400 - -"
	for _, test := range []struct {
		name, recording, list string
		want                  string // the names of schedule, nf_hook and bpf_prog_1
		warning               string
	}{
		{"the list of the boot", perf6 + nf, same, all, ""},
		{"without modules in the recording", perf6, same, all, ""},
		{"moved by 4 MB", perf6, kallsymsText(0x400000, 0), kernelOnly, ""},
		{"moved downwards", perf6, kallsymsText(1<<64-0x600000, 0), kernelOnly, ""},
		{"moved with a module that stayed", perf6 + nf, kallsymsText(0x400000, 0), "schedule=ffffffff81000400 nf_hook [nf]=ffffffffc0000010 -", ""},
		{"a module that moved", perf6 + nf, kallsymsText(0, 0x1000), kernelOnly, ""},
		{"a module that moved within its old place, with the kernel", perf6 + nf, kallsymsText(0x200000, 0x1000), kernelOnly, ""},
		{"a list of some functions", perf6 + nf, "ffffffff81000000 T _text\nffffffff81000400 T schedule\nffffffff81000500 t next\nffffffffc0000010 t nf_hook [nf]\nffffffffc0800000 t bpf_prog_1 [bpf]\n", all, ""},
		{"which lacks the module's first", perf6 + kernel("/nf.ko", 0xffffffffbffff000, 0x5000, 0), "ffffffff81000000 T _text\nffffffff81000400 T schedule\nffffffff81000500 t next\nffffffffc0000010 t nf_hook [nf]\nffffffffc0800000 t bpf_prog_1 [bpf]\n", all, ""},
		{"stubs before the module's first", perf6 + kernel("/nf.ko", 0xffffffffbffff000, 0x5000, 0) + kernel("/other.ko", 0xffffffffc1000000, 0x1000, 0), same + "ffffffffc1000000 t other_init [other]\n", all, ""},
		{"the recorder did not find the module's file", perf6 + kernel("[nf]", 0xffffffffc0000000, 0x4000, 0), same, all, ""},
		{"by less than a page: another kernel", perf6, kallsymsText(0x400040, 0), "- - -", "list is not used: it is of another kernel than the recording"},
		{"whose code is longer", perf6, strings.Replace(same, "ffffffff81000600 T _etext", "ffffffff81000680 T _etext", 1), "- - -", "list is not used: it is of another kernel"},
		{"up to _edata, as perf 6.3 maps it", head + kernel("[kernel.kallsyms]_text", text, 0x400700, text), kallsymsText(0x400000, 0), kernelOnly, ""},
		{"no end in the list", perf6, strings.NewReplacer("_etext", "a", "_edata", "b").Replace(same), all, ""},
		{"no end in the recording", perf4, same, all, ""},
		{"mapped from zero", perf3, same, all, ""},
		{"no end in the recording, another boot or kernel", perf4, kallsymsText(0x400000, 0), "- - -", "list is not used: it is of another boot than the recording, and nothing tells whether it is of the same kernel"},
		{"mapped from zero, another boot or kernel", perf3, kallsymsText(0x400000, 0), "- - -", "list is not used: it is of another boot than the recording"},
		{"without _text", perf6, strings.Replace(same, "_text\n", "_head\n", 1), "- - -", "list is not used: it lacks _text, which tells whether it is of the recorded boot"},
		{"of simpleperf, which notes no place", simpleperf, same, all, ""},
		{"of simpleperf, by modules", with(simpleperf, nf), same, all, ""},
		{"of simpleperf, another boot by modules", with(simpleperf, nf), kallsymsText(0, 0x10000), "- - -", "list is not used: it is of another boot than the recording: its modules are elsewhere"},
	} {
		t.Run(test.name, func(t *testing.T) {
			list, err := objects.ParseKallsyms("list", strings.NewReader(test.list))
			if err != nil {
				t.Fatal(err)
			}
			z := New(Options{Kallsyms: list})
			s := replayed(t, test.recording)
			if err := z.AddRecording(s); err != nil {
				t.Fatal(err)
			}
			if got := kernelNamesAt(z, s, schedule, hook, bpf); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			checkWarnings(t, z, test.warning)
		})
	}
}

// kernelNamesAt are the names of addresses.
func kernelNamesAt(z *Symbolizer, s *perfsession.Session, addresses ...uint64) string {
	var names []string
	for _, addr := range addresses {
		sym := z.Symbolize(perfsession.Frame{Addr: addr, Kernel: true, Map: s.Find(-1, addr)}, s.Kernel(), 0)
		name := "-"
		if len(sym.Frames) > 0 {
			name = fmt.Sprintf("%s=%x", sym.Frames[0].Name, sym.Start)
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

// notes is what /sys/kernel/notes has of a kernel with a build ID, after another note.
func notes(t *testing.T, id string) *fstest.MapFile {
	t.Helper()
	desc, err := hex.DecodeString(id)
	if err != nil {
		t.Fatal(err)
	}
	var b []byte
	for _, n := range []struct {
		kind uint32
		name string
		desc []byte
	}{{6, "Xen", []byte{1, 2, 3}}, {3, "GNU", desc}} {
		for _, v := range []uint32{4, uint32(len(n.desc)), n.kind} {
			b = binary.NativeEndian.AppendUint32(b, v)
		}
		b = append(append(b, n.name...), 0)
		b = append(b, n.desc...)
		b = append(b, make([]byte, -len(b)&3)...)
	}
	return &fstest.MapFile{Data: b}
}

// TestKernelOfMachine: which lists of this machine name a recording without being asked.
func TestKernelOfMachine(t *testing.T) {
	const (
		text     = 0xffffffff81000000
		schedule = 0xffffffff81000410
		hook     = 0xffffffffc0000014
		bpf      = 0xffffffffc0800004
		late     = 0xffffffffc0001014
		head     = "header\nattr type=software config=0 sample_period=1 sample_type=IP|TID|TIME flags=sample_id_all\n"
		placed   = head + "MMAP misc=KERNEL pid=-1 tid=0 start=0xffffffff81000000 len=0x600 pgoff=0xffffffff81000000 filename=\"[kernel.kallsyms]_text\"\n" +
			"MMAP misc=KERNEL pid=-1 tid=0 start=0xffffffffc0000000 len=0x4000 filename=\"/lib/modules/6.1/nf.ko.xz\"\n"
		// As perf without the right to see addresses.
		hidden = head + "MMAP misc=KERNEL pid=-1 tid=0 start=0 len=0 filename=\"[kernel.kallsyms]_text\"\n"
		host   = "feature HOSTNAME hostname=\"here\"\nfeature OSRELEASE osrelease=\"6.1\"\n"
	)
	recordedAs := func(id string) string {
		return "feature BUILD_ID\nbuild_id misc=KERNEL pid=-1 build_id=" + id + " filename=\"[kernel.kallsyms]\"\n"
	}
	zeros := regexp.MustCompile("(?m)^[0-9a-f]+").ReplaceAllString(kallsymsText(0, 0), "0000000000000000")
	longer := strings.Replace(kallsymsText(0, 0), "ffffffff81000600 T _etext", "ffffffff81000680 T _etext", 1)
	const (
		all  = "schedule=ffffffff81000400 nf_hook [nf]=ffffffffc0000010 - nf_last [nf]=ffffffffc0000800" // what the recording does not show is not known to be there
		some = "schedule=ffffffff81000400 - - -"
		none = "- - - -"
	)
	for _, test := range []struct {
		name, recording, kallsyms, modules, cached string
		want, warning                              string
	}{
		{"this boot", placed + recordedAs(idA), kallsymsText(0, 0), "", "", all, ""},
		{"another boot", placed + recordedAs(idA), kallsymsText(0x400000, 0x8000), "", "", some, ""},
		{"where a module's code starts", placed + recordedAs(idA), kallsymsText(0, 0x1000), "nf 16384 0 - Live 0xffffffffc0000000\n", "", "schedule=ffffffff81000400 - - nf_hook [nf]=ffffffffc0001010", ""},
		{"another kernel", placed + recordedAs(idB), kallsymsText(0, 0), "", "", none, ""},
		{"another kernel, whose symbols perf kept", placed + recordedAs(idB), kallsymsText(0, 0), "", kallsymsText(0x200000, 0x8000), some, ""},
		{"no build ID, all else agrees", placed + host, kallsymsText(0, 0), "", "", all, ""},
		{"no build ID, another length", placed + host, longer, "", "", none, ""},
		{"no build ID, another boot", placed + host, kallsymsText(0x400000, 0x8000), "", "", none, ""},
		{"no build ID, another host", placed + strings.Replace(host, "here", "there", 1), kallsymsText(0, 0), "", "", none, ""},
		{"no build ID, nothing known", placed, kallsymsText(0, 0), "", "", none, ""},
		{"the kernel hides its symbols", placed + recordedAs(idA), zeros, "", "", none, "unnamed: it hides them: as root, sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1, or run profdiff as root"},
		{"but perf kept them", placed + recordedAs(idA), zeros, "", kallsymsText(0, 0), all, ""},
		{"it hid them from perf", hidden + recordedAs(idA), kallsymsText(0, 0), "", "", none, "unnamed: it did not tell perf where it was: record as root, or after sysctl kernel.kptr_restrict=0"},
		{"no file", placed + recordedAs(idA), "", "", "", none, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := fstest.MapFS{
				"sys/kernel/notes": notes(t, idA), "proc/sys/kernel/osrelease": {Data: []byte("6.1\n")}, "proc/sys/kernel/hostname": {Data: []byte("here\n")},
				"proc/modules": {Data: []byte(test.modules)}, "proc/kallsyms": {Data: []byte(test.kallsyms)},
			}
			if test.kallsyms == "" {
				root["proc/kallsyms"] = &fstest.MapFile{Mode: fs.ModeNamedPipe}
			}
			cache := fstest.MapFS{}
			if test.cached != "" {
				for _, id := range []string{idA, idB} {
					cache["[kernel.kallsyms]/"+id+"/kallsyms"] = &fstest.MapFile{Data: []byte(test.cached)}
				}
			}
			z := New(Options{})
			z.kernel.machine = objects.NewKernels(root, cache)
			s := replayed(t, test.recording)
			if err := z.AddRecording(s); err != nil {
				t.Fatal(err)
			}
			if w := z.Warnings(); len(w) > 0 {
				t.Errorf("warnings before an address is asked for: %q", w)
			}
			if got := kernelNamesAt(z, s, schedule, hook, bpf, late); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if reason, ok := strings.CutPrefix(test.warning, "unnamed: "); ok {
				if why, _, _ := z.Unnamed(s.Kernel()); why != reason {
					t.Errorf("unnamed: %q, want %q", why, reason)
				}
				test.warning = ""
			}
			checkWarnings(t, z, test.warning)
		})
	}
}

// TestKernelGivenByName: /proc/kallsyms that is named is still that of the kernel which runs.
func TestKernelGivenByName(t *testing.T) {
	const recording = `header
attr type=software config=0 sample_period=1 sample_type=IP|TID|TIME flags=sample_id_all
MMAP misc=KERNEL pid=-1 tid=0 start=0xffffffff81000000 len=0x3f000000 pgoff=0xffffffff81000000 filename="[kernel.kallsyms]_text"
feature BUILD_ID
build_id misc=KERNEL pid=-1 build_id=%s filename="[kernel.kallsyms]"
`
	list, err := objects.ParseKallsyms("/proc/kallsyms", strings.NewReader(kallsymsText(0, 0)))
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{idA: "schedule=ffffffff81000400", idB: "-"} {
		z := New(Options{Kallsyms: list})
		z.kernel.machine = objects.NewKernels(fstest.MapFS{"sys/kernel/notes": notes(t, idA)}, nil)
		s := replayed(t, fmt.Sprintf(recording, id))
		if err := z.AddRecording(s); err != nil {
			t.Fatal(err)
		}
		if got := kernelNamesAt(z, s, 0xffffffff81000410); got != want {
			t.Errorf("%s: got %s, want %s", id, got, want)
		}
	}
}

// TestVmlinuxOfMachine: the kernel with its symbols is where distributions and builders put it.
func TestVmlinuxOfMachine(t *testing.T) {
	const recording = `header
attr type=software config=0 sample_period=1 sample_type=IP|TID|TIME flags=sample_id_all
MMAP misc=KERNEL pid=-1 tid=0 start=0xffffffffa1000000 len=0x600 pgoff=0xffffffffa1000000 filename="[kernel.kallsyms]_text"
feature OSRELEASE osrelease="6.1-x"
feature BUILD_ID
build_id misc=KERNEL pid=-1 build_id=` + idA + ` filename="[kernel.kallsyms]"
`
	const text = 0xffffffff81000000
	vmlinux := func(id string) []byte {
		symbols := []objectstest.Symbol{{Name: "_text", Addr: text}, {Name: "linked", Addr: text + 0x400, Size: 0x40}}
		return objectstest.ELF{BuildID: id, Type: elf.ET_EXEC, Vaddr: text, Symbols: symbols}.File(t).Data
	}
	for _, test := range []struct{ path, id, want string }{
		{"usr/lib/debug/boot/vmlinux-6.1-x", idA, "linked=ffffffffa1000400"},
		{"usr/lib/debug/lib/modules/6.1-x/vmlinux", idA, "linked=ffffffffa1000400"},
		{"boot/vmlinux-6.1-x", idA, "linked=ffffffffa1000400"},
		{"lib/modules/6.1-x/build/vmlinux", idA, "linked=ffffffffa1000400"},
		{"boot/vmlinux-6.1-x", idB, "-"},
		{"boot/vmlinux-6.1-y", idA, "-"},
	} {
		dir := t.TempDir()
		name := filepath.Join(dir, test.path)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, vmlinux(test.id), 0o666); err != nil {
			t.Fatal(err)
		}
		env := map[string]string{"PROFDIFF_SYSROOT": dir}
		z := New(Options{Objects: objects.New(objects.Options{Machine: objects.ThisMachine(func(name string) string { return env[name] })})})
		s := replayed(t, recording)
		if err := z.AddRecording(s); err != nil {
			t.Fatal(err)
		}
		if got := kernelNamesAt(z, s, 0xffffffffa1000410); got != test.want {
			t.Errorf("%s of %.4s: got %s, want %s", test.path, test.id, got, test.want)
		}
	}
}

// TestKernelOrder: symbols that the recording has come before those that the user has, and
// those of the host are not those of a guest.
func TestKernelOrder(t *testing.T) {
	const at = 0xffffffff81000410
	list, err := objects.ParseKallsyms("list", strings.NewReader(kallsymsText(0, 0)))
	if err != nil {
		t.Fatal(err)
	}
	recorded := &perffile.SymbolFile{Path: "[kernel.kallsyms]", Type: perffile.DSOKernel, Symbols: []perffile.Symbol{{Addr: at, Len: 0x20, Name: "recorded"}}}
	s := replayed(t, `header
attr type=software config=0 sample_period=1 sample_type=IP|TID|TIME flags=sample_id_all
MMAP misc=KERNEL pid=-1 tid=0 start=0 len=0xffffffffffffffff filename="[kernel.kallsyms]"
MMAP misc=GUEST_KERNEL pid=-1 tid=0 start=0xffffffff81000000 len=0x1000000 pgoff=0xffffffff81000000 filename="[guest.kernel.kallsyms]_text"
SIMPLEPERF_KERNEL_SYMBOL kallsyms="ffffffff81000400 T in_record\n"
`)
	name := func(z *Symbolizer, f perfsession.Frame) string {
		if sym := z.Symbolize(f, s.Kernel(), 0); len(sym.Frames) > 0 {
			return sym.Frames[0].Name
		}
		return "-"
	}
	z := New(Options{Kallsyms: list})
	if err := z.AddRecording(s); err != nil {
		t.Fatal(err)
	}
	frame := perfsession.Frame{Addr: at, Kernel: true}
	if got := name(z, frame); got != "in_record" {
		t.Errorf("got %s, want the name of the record", got)
	}
	z.addRecorded(recorded)
	if got := name(z, frame); got != "recorded" {
		t.Errorf("got %s, want the name in the FILE feature", got)
	}
	for _, d := range s.DSOs {
		if d.IsKernelImage() && d.Path != perfsession.KernelPath {
			frame.Map = &perfsession.Mapping{DSO: d, Start: 0xffffffff81000000, End: 0xffffffff82000000}
		}
	}
	if frame.Map == nil {
		t.Fatal("no kernel of a guest")
	}
	frame.Guest = true
	if got := name(z, frame); got != "-" {
		t.Errorf("an address of a guest's kernel is named %s, by the kernel of the host", got)
	}
}
