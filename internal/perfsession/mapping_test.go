package perfsession

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/perffile/perffiletest"
)

func fixture(t testing.TB, text string) []byte {
	t.Helper()
	return perffiletest.Fixture(t, text)
}

func userMap(time int, start, n, off uint64, file string) string {
	return fmt.Sprintf("MMAP2 misc=USER pid=10 tid=10 start=%#x len=%d pgoff=%#x prot=EXEC filename=%q", start, n, off, file) + sampleID(10, 10, time)
}

func kernelMap(time int, start, n uint64, file string) string {
	return fmt.Sprintf("MMAP misc=KERNEL pid=-1 tid=0 start=%#x len=%d filename=%q", start, n, file) + sampleID(-1, 0, time)
}

func userAt(time int, ip uint64) string {
	return fmt.Sprintf("SAMPLE misc=USER ip=%#x pid=10 tid=10 time=%d\n", ip, time)
}

func kernelAt(time int, ip uint64) string {
	return fmt.Sprintf("SAMPLE misc=KERNEL ip=%#x pid=10 tid=10 time=%d\n", ip, time)
}

func ksymbol(time int, addr uint64, n, flags int, name string) string {
	return fmt.Sprintf("KSYMBOL addr=%#x len=%d ksym_type=1 flags=%d name=%q", addr, n, flags, name) + sampleID(-1, 0, time)
}

// TestMappings: which file, and where in it, an address is.
func TestMappings(t *testing.T) {
	const top = 0xffffffffffff0000
	runReplayTests(t, []replayTest{
		{
			"bounds",
			clockAttr + userMap(1, 0x1000, 0x1000, 0x3000, "/a") + userAt(2, 0xfff) + userAt(3, 0x1000) + userAt(4, 0x1fff) + userAt(5, 0x2000),
			[]string{"2 ?/? ?fff", "3 ?/? a+3000", "4 ?/? a+3fff", "5 ?/? ?2000"},
		},
		{
			"a later mapping cuts an earlier one",
			clockAttr + userMap(1, 0x1000, 0x3000, 0x10000, "/a") + userAt(2, 0x2010) + userMap(3, 0x2000, 0x1000, 0, "/b") +
				userAt(4, 0x1010) + userAt(5, 0x2010) + userAt(6, 0x3010),
			[]string{"2 ?/? a+11010", "4 ?/? a+10010", "5 ?/? b+10", "6 ?/? a+12010"},
		},
		{
			"MMAP records are of code as well",
			clockAttr + "MMAP misc=USER pid=10 tid=10 start=0x1000 len=4096 pgoff=0x5000 filename=\"/a\"" + sampleID(10, 10, 1) + userAt(2, 0x1010),
			[]string{"2 ?/? a+5010"},
		},
		{
			"mappings to the end of memory",
			clockAttr + userMap(1, top, 0x10000, 0, "/a") + userAt(2, top+0xfffe) + userMap(3, top, 1<<63, 0, "/b") + userAt(4, top+0xfffe),
			[]string{"2 ?/? a+fffe", "4 ?/? b+fffe"},
		},
		{
			"mappings of no size",
			clockAttr + userMap(1, 0x1000, 0x1000, 0, "/a") + userMap(2, 0x1000, 0, 0, "/b") + userAt(3, 0x1000),
			[]string{"3 ?/? a+0"},
		},
		{
			"memory that is no file",
			clockAttr + userMap(1, 0x1000, 0x1000, 0, "") + userMap(1, 0x2000, 0x1000, 0, "//anon") + userMap(1, 0x3000, 0x1000, 0, "[vdso]") +
				userAt(2, 0x1010) + userAt(3, 0x2010) + userAt(4, 0x3010),
			[]string{"2 ?/? anon+10", "3 ?/? anon+10", "4 ?/? [vdso]+10"},
		},
		{
			"other processes",
			clockAttr + userMap(1, 0x1000, 0x1000, 0, "/a") + "SAMPLE misc=USER ip=0x1010 pid=20 tid=20 time=2\n",
			[]string{"2 ?/? ?1010"},
		},
		{
			"all processes have the kernel, and in the kernel only",
			clockAttr + kernelMap(1, 0xffffffff81000000, 0x1000, "[kernel.kallsyms]_stext") + kernelAt(2, 0xffffffff81000010) +
				"SAMPLE misc=KERNEL ip=0xffffffff81000010 pid=20 tid=20 time=3\n" + userAt(4, 0xffffffff81000010),
			[]string{"2 ?/? K:[kernel.kallsyms]+10", "3 ?/? K:[kernel.kallsyms]+10", "4 ?/? ?ffffffff81000010"},
		},
		{
			"user mappings do not reach into the kernel",
			clockAttr + userMap(1, 0xffffffff81000000, 0x1000, 0, "/a") + kernelAt(2, 0xffffffff81000010),
			[]string{"2 ?/? K:?ffffffff81000010"},
		},
		{
			// The kernel's mapping may reach over them.
			"modules cut the kernel",
			clockAttr + kernelMap(1, 0xffffffff81000000, 1<<63, "[kernel.kallsyms]_text") + kernelMap(1, 0xffffffffc0000000, 0x1000, "/lib/modules/nf.ko") +
				kernelAt(2, 0xffffffff81000010) + kernelAt(3, 0xffffffffc0000010) + kernelAt(4, 0xffffffffc0001010),
			[]string{"2 ?/? K:[kernel.kallsyms]+10", "3 ?/? K:nf.ko+10", "4 ?/? K:[kernel.kallsyms]+3f001010"},
		},
		{
			"code that the kernel announces",
			clockAttr + kernelMap(1, 0xffffffff81000000, 1<<63, "[kernel.kallsyms]_text") + kernelAt(2, 0xffffffffc0000010) +
				ksymbol(3, 0xffffffffc0000000, 0x100, 0, "bpf_prog_1") + kernelAt(4, 0xffffffffc0000010) + kernelAt(5, 0xffffffffc0000100) +
				ksymbol(6, 0xffffffffc0000000, 0x20, 0, "bpf_prog_2") + kernelAt(7, 0xffffffffc0000010) + kernelAt(8, 0xffffffffc0000020) +
				ksymbol(9, 0xffffffffc0000000, 0, 0, "empty") + kernelAt(10, 0xffffffffc0000000),
			[]string{
				"2 ?/? K:[kernel.kallsyms]+3f000010", "4 ?/? K:bpf_prog_1+10", "5 ?/? K:[kernel.kallsyms]+3f000100",
				"7 ?/? K:bpf_prog_2+10", "8 ?/? K:bpf_prog_1+20", "10 ?/? K:bpf_prog_2+0",
			},
		},
		{
			"keeps its name while it may still run",
			clockAttr + ksymbol(1, 0xffffffffc0000000, 0x100, 0, "bpf_prog_1") + ksymbol(2, 0xffffffffc0000000, 0x100, 1, "bpf_prog_1") +
				kernelAt(3, 0xffffffffc0000010) + ksymbol(4, 0xffffffffc0000000, 0x100, 0, "bpf_prog_2") +
				ksymbol(4, 0xffffffffc0000000, 0x100, 1, "bpf_prog_1") + kernelAt(5, 0xffffffffc0000010),
			[]string{"3 ?/? K:bpf_prog_1+10", "5 ?/? K:bpf_prog_2+10"},
		},
		{
			"even at the end of memory",
			clockAttr + ksymbol(1, 0xfffffffffffff000, 0x2000, 0, "bpf_prog_1") + ksymbol(1, 0xffffffffffff8000, 0x1000, 0, "bpf_prog_2") +
				ksymbol(1, 0xffffffffffff0000, 0x1000, 0, "bpf_prog_3") +
				kernelAt(2, 0xffffffffffff0010) + kernelAt(3, 0xffffffffffff8010) + kernelAt(4, 0xfffffffffffff010),
			[]string{"2 ?/? K:bpf_prog_3+10", "3 ?/? K:bpf_prog_2+10", "4 ?/? K:bpf_prog_1+10"},
		},
		{
			"a guest's kernel is not the host's",
			clockAttr + kernelMap(1, 0xffffffff81000000, 0x1000, "[kernel.kallsyms]_text") +
				"MMAP misc=GUEST_KERNEL pid=-1 tid=0 start=0xffffffff81000000 len=0x1000 pgoff=0x20000 filename=\"[guest.kernel.kallsyms]_text\"" + sampleID(-1, 0, 1) +
				kernelAt(2, 0xffffffff81000010) +
				"SAMPLE misc=GUEST_KERNEL ip=0xffffffff81000010 pid=10 tid=10 time=3\n" +
				userMap(4, 0x1000, 0x1000, 0, "/a") +
				"SAMPLE misc=GUEST_USER ip=0x1010 pid=10 tid=10 time=5\n",
			[]string{"2 ?/? K:[kernel.kallsyms]+10", "3 ?/? G:K:[guest.kernel.kallsyms]+20010", "5 ?/? G:?1010"},
		},
	})
}

// dsoStrings are the DSOs of a session: PATH BUILD-ID, and what else there is.
func dsoStrings(s *Session) []string {
	var out []string
	for _, d := range s.DSOs {
		text := d.Path + " " + d.BuildID
		if d.Kernel {
			text += " kernel"
		}
		if d.Text != 0 {
			text += fmt.Sprintf(" text=%x", d.Text)
		}
		if d.Symbol != "" {
			text += " symbol=" + d.Symbol
		}
		out = append(out, text)
	}
	return out
}

// TestDSOs: what is one file, and which build it is of.
func TestDSOs(t *testing.T) {
	const (
		a = "0102030405060708090a0b0c0d0e0f1011121314"
		b = "ffeeddccbbaa99887766554433221100ffeeddcc"
	)
	withID := func(id, file string) string {
		return fmt.Sprintf("MMAP2 misc=USER|MMAP_BUILD_ID pid=10 tid=10 start=0x1000 len=4096 build_id=%s prot=EXEC filename=%q\n", id, file)
	}
	header := func(misc, id, file string) string {
		return fmt.Sprintf("build_id misc=%s pid=-1 build_id=%s filename=%q\n", misc, id, file)
	}
	const feature = "feature BUILD_ID\n"
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"mapped twice", clockAttr + userMap(1, 0x1000, 0x1000, 0, "/a") + userMap(1, 0x2000, 0x1000, 0x1000, "/a") + userMap(1, 0x3000, 0x1000, 0, "/b"), []string{"/a ", "/b "}},
		{"build IDs of the header", clockAttr + userMap(1, 0x1000, 0x1000, 0, "/a") + userMap(1, 0x2000, 0x1000, 0, "/b") + feature + header("USER", a, "/a") + header("USER", b, "/c"), []string{"/a " + a, "/b "}},
		{"the first of several counts", clockAttr + userMap(1, 0x1000, 0x1000, 0, "/a") + feature + header("USER", a, "/a") + header("USER", b, "/a"), []string{"/a " + a}},
		{"build IDs of mappings come before that of the header", clockAttr + withID(b, "/a") + userMap(1, 0x2000, 0x1000, 0, "/a") + feature + header("USER", a, "/a"), []string{"/a " + b, "/a " + a}},
		{"a file that was replaced", clockAttr + withID(a, "/a") + withID(b, "/a") + withID(a, "/a"), []string{"/a " + a, "/a " + b}},
		{"a short build ID", clockAttr + withID("00112233445566778899aabbccddeeff", "/a"), []string{"/a 00112233445566778899aabbccddeeff"}},
		{
			"the kernel by any name", clockAttr + kernelMap(1, 0xffffffff81000000, 0x1000, "[kernel.kallsyms]_text") + kernelMap(1, 0xffffffff82000000, 0x1000, "[kernel.kallsyms]_stext") +
				kernelMap(1, 0xffffffff83000000, 0x1000, "[kernel.kallsyms]") + feature + header("KERNEL", a, "[kernel.kallsyms]"),
			[]string{"[kernel.kallsyms] " + a + " kernel text=ffffffff81000000"},
		},
		{
			"the kernel mapped from zero, as before Linux 4", clockAttr + "MMAP misc=KERNEL pid=-1 tid=0 start=0x0 len=0xffffffffa0000000 pgoff=0xffffffff81000000 filename=\"[kernel.kallsyms]_text\"\n",
			[]string{"[kernel.kallsyms]  kernel text=ffffffff81000000"},
		},
		{
			"by simpleperf, no one knows where", clockAttr + kernelMap(1, 0, 1<<64-1, "[kernel.kallsyms]") + kernelMap(2, 0xffffff8000000000, 0x1000, "/nf.ko") + bySimpleperf,
			[]string{"[kernel.kallsyms]  kernel", "/nf.ko  kernel"},
		},
		{
			"a user file that is called so", clockAttr + userMap(1, 0x1000, 0x1000, 0, "[kernel.kallsyms]_text"),
			[]string{"[kernel.kallsyms]_text "},
		},
		{
			"modules and code that the kernel announces", clockAttr + kernelMap(1, 0xffffffffc0000000, 0x1000, "/nf.ko") + ksymbol(2, 0xffffffffc0001000, 16, 0, "bpf_prog"),
			[]string{"/nf.ko  kernel", "bpf_prog  kernel symbol=bpf_prog"},
		},
		{
			"a module is no user file of the same path", clockAttr + userMap(1, 0x1000, 0x1000, 0, "/nf.ko") + kernelMap(2, 0xffffffffc0000000, 0x1000, "/nf.ko"),
			[]string{"/nf.ko ", "/nf.ko  kernel"},
		},
		{
			"a guest's kernel by any name",
			clockAttr + "MMAP misc=GUEST_KERNEL pid=-1 tid=0 start=0x1000 len=4096 filename=\"[guest.kernel.kallsyms]_text\"\n" + feature + header("GUEST_KERNEL", a, "[guest.kernel.kallsyms.7]"),
			[]string{"[guest.kernel.kallsyms] " + a + " kernel text=1000"},
		},
		{
			"nothing is mapped where the size is zero", clockAttr + userMap(1, 0x1000, 0, 0, "/a") + ksymbol(2, 0xffffffffc0000000, 0, 0, "bpf_prog"),
			nil,
		},
		{
			"pipe: build IDs come on the way",
			"header pipe\nHEADER_ATTR attr={type=software,sample_period=1,sample_type=IP|TID|TIME,flags=sample_id_all} ids=[7]\n" +
				"HEADER_BUILD_ID misc=USER pid=-1 build_id=" + a + " filename=\"/a\"\n" + userMap(0, 0x1000, 0x1000, 0, "/a") + userMap(0, 0x2000, 0x1000, 0, "/b") +
				"HEADER_BUILD_ID misc=USER pid=-1 build_id=" + b + " filename=\"/c\"\n" + userMap(0, 0x3000, 0x1000, 0, "/c"),
			[]string{"/a " + a, "/b ", "/c " + b},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, _ := replayText(t, test.text)
			if diff := cmp.Diff(test.want, dsoStrings(s)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			for i, d := range s.DSOs {
				if d.ID != i {
					t.Errorf("DSO %d has number %d", i, d.ID)
				}
			}
		})
	}
}
