package symbolizer

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"profdiff/internal/objects"
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
		{"no end in the recording", perf4, kallsymsText(0x400000, 0), kernelOnly, ""},
		{"mapped from zero", perf3, kallsymsText(0x400000, 0), kernelOnly, ""},
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
			var got []string
			for _, addr := range []uint64{schedule, hook, bpf} {
				sym := z.Symbolize(perfsession.Frame{Addr: addr, Kernel: true, Map: s.Find(-1, addr)}, s.Kernel(), 0)
				name := "-"
				if len(sym.Frames) > 0 {
					name = fmt.Sprintf("%s=%x", sym.Frames[0].Name, sym.Start)
				}
				got = append(got, name)
			}
			if got := strings.Join(got, " "); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			checkWarnings(t, z, test.warning)
		})
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
