package perffiletest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/perffile"
)

func writeText(t testing.TB, data []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := perffile.WriteText(&b, bytes.NewReader(data), int64(len(data)), perffile.TextOptions{Memory: true}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestBuild checks what is computed if the text leaves it out.
func TestBuild(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing", "# no item\n\n", ""},
		{
			"layout", `
header
attr type=software ids=[7]
attr type=software config=1 ids=[8,9]
FINISHED_ROUND
feature ARCH raw=0102
feature STAT
`, `
@0x0+104 header byte_order=little size=104 attr_size=144 attrs={offset=0x80,size=288} data={offset=0x1a0,size=8} event_types={offset=0x0,size=0} features=ARCH|STAT
@0x80+144 attr type=software size=128 config=0x0 ids_offset=0x68 ids=[7]
@0x110+144 attr type=software size=128 config=0x1 ids_offset=0x70 ids=[8,9]
@0x1a0+8 FINISHED_ROUND misc=0
@0x1a8+16 section ARCH offset=0x1c8 size=2
@0x1b8+16 section STAT offset=0x1ca size=0
@0x1c8+2 feature ARCH raw=0102
@0x1ca+0 feature STAT
`,
		},
		{
			"features in another order", `
header
attr type=software
feature STAT
feature FILE2
file2 path="a"
symbol2 vaddr=0x1 name="b"
file2 path="c"
feature TOTAL_MEM total_mem=5
`, `
@0x0+104 header byte_order=little size=104 attr_size=144 attrs={offset=0x68,size=144} data={offset=0xf8,size=0} event_types={offset=0x0,size=0} features=TOTAL_MEM|STAT|FILE2
@0x68+144 attr type=software size=128
@0xf8+16 section TOTAL_MEM offset=0x13d size=8
@0x108+16 section STAT offset=0x128 size=0
@0x118+16 section FILE2 offset=0x128 size=21
@0x128+0 feature STAT
@0x128+21 feature FILE2
@0x128+7 file2 size=10 path="a"
@0x12f+7 symbol2 vaddr=0x1 name="b"
@0x136+7 file2 size=3 path="c"
@0x13d+8 feature TOTAL_MEM total_mem=5
`,
		},
		{
			"sizes, counts and ids", `
header
attr type=hardware sample_type=IDENTIFIER|CALLCHAIN flags=sample_id_all ids=[4,5]
attr type=software sample_type=IDENTIFIER|CALLCHAIN flags=sample_id_all ids=[6]
SAMPLE ips=[0x1,PERF_CONTEXT_USER]
SAMPLE identifier=6
SAMPLE event=1
COMM comm="c"
COMM sample_id={identifier=6}
AUXTRACE
hex 00112233
`, `
@0x0+104 header byte_order=little size=104 attr_size=144 attrs={offset=0x80,size=288} data={offset=0x1a0,size=204} event_types={offset=0x0,size=0} features=none
@0x80+144 attr type=hardware size=128 sample_type=CALLCHAIN|IDENTIFIER flags=sample_id_all ids_offset=0x68 ids=[4,5]
@0x110+144 attr type=software size=128 sample_type=CALLCHAIN|IDENTIFIER flags=sample_id_all ids_offset=0x78 ids=[6]
@0x1a0+40 SAMPLE misc=0 event=0 identifier=4 nr=2 ips=[0x1,PERF_CONTEXT_USER]
@0x1c8+24 SAMPLE misc=0 event=1 identifier=6 ips=[]
@0x1e0+24 SAMPLE misc=0 event=1 identifier=6 ips=[]
@0x1f8+32 COMM misc=0 event=0 pid=0 tid=0 comm="c" sample_id={identifier=4}
@0x218+32 COMM misc=0 event=1 pid=0 tid=0 comm="" sample_id={identifier=6}
@0x238+48 AUXTRACE misc=0 size=4 offset=0x0 reference=0x0 idx=0 tid=0 cpu=0
@0x268+4 hex 00112233
`,
		},
		{
			"items out of order", "header pipe\n@0x18 FINISHED_INIT\n@0x10+8 FINISHED_ROUND",
			"@0x0+16 header pipe byte_order=little size=16\n@0x10+8 FINISHED_ROUND misc=0\n@0x18+8 FINISHED_INIT misc=0",
		},
		{
			"another byte order", "header pipe byte_order=big\nSTAT_ROUND type=1 time=2",
			"hex 32454c4946524550" + "0000000000000010" + "0000004d00000018" + "0000000000000001" + "0000000000000002",
		},
		{"comments", "header pipe # a # b\n  \tFINISHED_ROUND   misc=KERNEL #x", "header pipe\nFINISHED_ROUND misc=KERNEL"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, want := Fixture(t, tt.text), Fixture(t, tt.want)
			if bytes.Equal(got, want) {
				return
			}
			if len(got) == 0 || len(want) == 0 {
				t.Fatalf("got %x, want %x", got, want)
			}
			t.Errorf("the text (-want +got):\n%s", cmp.Diff(writeText(t, want), writeText(t, got)))
		})
	}
}

// TestBuildErrors checks that errors say the line and what is wrong with it.
func TestBuildErrors(t *testing.T) {
	const head = "header\nattr sample_type=IP\n"
	for _, tt := range []struct{ text, want string }{
		{"?", `line 1: "?" is no keyword`},
		{"header\n\n# c\nFOO", "line 4: unknown keyword FOO"},
		{"header\nheader", "line 2: header is not the first item"},
		{"header byte_order=middle", "line 1: byte_order: neither little nor big"},
		{"header tape", `line 1: unexpected "tape"`},
		{"header word_size=3", "line 1: word_size: 3 is neither 4 nor 8"},
		{"header features=FOO", `line 1: features: unknown name "FOO"`},
		{"header features=256", "line 1: features: there is no feature 256"},
		{"header data={offset=x}", `line 1: data: offset: unknown name "x"`},
		{"header data=5", `line 1: data: "5" is not in {}`},
		{head + "COMM pid=x", `line 3: pid: unknown name "x"`},
		{head + "COMM pid=5000000000", `line 3: pid: "5000000000" is no number of 4 bytes`},
		{head + "COMM pid=-2147483649", `line 3: pid: "-2147483649" is no number of 4 bytes`},
		{head + "COMM pid=", `line 3: pid: "" is no number of 4 bytes`},
		{head + "COMM pid=1 pid=2", "line 3: unexpected field pid"},
		{head + "COMM foo=1", "line 3: unexpected field foo"},
		{head + "COMM foo", `line 3: unexpected "foo"`},
		{head + "COMM pid=1 foo", `line 3: "foo" is no name=value`},
		{head + "COMM comm=abc", `line 3: comm: "abc" is not quoted`},
		{head + `COMM comm="abc`, "line 3: string is not closed"},
		{head + `COMM comm="\q"`, "line 3: comm: invalid syntax"},
		{head + "COMM misc=FOO", `line 3: misc: unknown name "FOO"`},
		{head + "COMM misc=0x10000", `line 3: misc: unknown name "0x10000"`},
		{head + "COMM event=1", "line 3: event: there is no event 1"},
		{head + "COMM raw=0", "line 3: raw: encoding/hex: odd length hex string"},
		{head + "COMM raw=zz", "line 3: raw: encoding/hex: invalid byte: U+007A 'z'"},
		{head + "COMM raw=00 pid=1", "line 3: unexpected field pid"},
		{head + "@x COMM", `line 3: "@x" is no @OFFSET+SIZE`},
		{head + "@0x10+y COMM", `line 3: "@0x10+y" is no @OFFSET+SIZE`},
		{head + "+70000 COMM", "line 3: record of 70000 bytes"},
		{head + "@0xffffffffff COMM", "line 3: recording of 1099511627799 bytes is out of proportion to its text"},
		{head + "SAMPLE ip=[0x1]", `line 3: ip: unknown name "[0x1]"`},
		{head + "NAMESPACES link_info={}", `line 3: link_info: "{}" is not in []`},
		{head + "NAMESPACES link_info=[1]", `line 3: link_info: "1" is not in {}`},
		{head + "NAMESPACES link_info=[{foo=1}]", "line 3: link_info: unexpected field foo"},
		{head + "NAMESPACES link_info=[{dev=1,}]", "line 3: link_info: nothing after a comma"},
		{head + "NAMESPACES link_info=[{dev=1]", "line 3: bracket is not closed"},
		{head + "NAMESPACES link_info=]", `line 3: ']' closes nothing`},
		{head + "RECORD type=63", "line 3: record of type 63 has only a field raw"},
		{head + "SIMPLEPERF_DEBUG misc=KERNEL", "line 3: records of simpleperf have no misc"},
		{head + "hex 123", "line 3: hex: encoding/hex: odd length hex string"},
		{head + "+3 hex 1122", "line 3: hex has 2 bytes, not 3"},
		{head + "| COMM", "line 3: no compressed record precedes the line"},
		{head + "COMPRESSED\n| hex 00", "line 4: only records can be compressed"},
		{head + "COMPRESSED data=00\n| COMM", "line 3: unexpected field data"},
		{head + "meta key=\"a\"", "line 3: meta is not in a feature"},
		{head + "feature HOSTNAME\nmeta key=\"a\"", "line 4: meta does not belong into feature HOSTNAME"},
		{head + "feature FOO", `line 3: unknown name "FOO"`},
		{head + "feature HOSTNAME foo=1", "line 3: unexpected field foo"},
		{head + "feature STAT\nfeature STAT", "line 4: feature STAT is there twice"},
		{head + "section HOSTNAME offset=-1 foo=0", "line 3: unexpected field foo"},
		{"header\nattr precise_ip=4", "line 2: precise_ip: 4 has more than two bits"},
		{"header\nattr size=64 config2=1", "line 2: unexpected field config2"},
		{"header attr_size=100000\nattr config=0", "line 2: attribute of 99984 bytes"},
		{"header\nattr sample_type=BRANCH_STACK\nSAMPLE lbr=[{cycles=65536}]", "line 3: lbr: cycles: 0x10000 has more than 16 bits"},
		{"header\nSAMPLE ip=1", "line 2: sample of no event"},
		{"header\nBPF_EVENT tag=000000000000000000", "line 2: tag: 9 bytes do not fit into 8"},
		{"header\nevent_type name=\"" + string(bytes.Repeat([]byte("a"), 65)) + "\"", "line 2: name: 65 bytes do not fit into 64"},
	} {
		_, err := Build([]byte(tt.text))
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s\ngot error  %v\nwant error %s", tt.text, err, tt.want)
		}
	}
}

// TestBuildRecordings checks Build against recordings that others made.
func TestBuildRecordings(t *testing.T) {
	found := false
	for _, dir := range []string{"simpleperf", "linux", "lbr"} {
		files, err := filepath.Glob("../../../../shared/perfdata/" + dir + "/*")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if !perffile.IsPerfData(data) {
				continue
			}
			found = true
			if got := Fixture(t, writeText(t, data)); !bytes.Equal(got, data) {
				t.Errorf("%s: Build(WriteText(x)) is not x", name)
			}
		}
	}
	if !found {
		t.Skip("the recordings in ../shared/perfdata are not here")
	}
}

// FuzzBuild checks that no text makes Build panic or allocate without bound, and that
// what it builds can be written again.
func FuzzBuild(f *testing.F) {
	files, err := filepath.Glob("../testdata/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatalf("no fixtures: %v", err)
	}
	dumps, err := filepath.Glob("../testdata/*.dump")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range append(files, dumps...) {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		data, err := Build(text)
		if data != nil && err != nil {
			t.Fatalf("%d bytes and error %v", len(data), err)
		}
		if err != nil || !perffile.IsPerfData(data) {
			return
		}
		var b bytes.Buffer
		_ = perffile.WriteText(&b, bytes.NewReader(data), int64(len(data)), perffile.TextOptions{AllowTruncated: true, Memory: true})
		if got := Fixture(t, b.String()); !bytes.Equal(got, data) {
			t.Fatal("Build(WriteText(x)) is not x")
		}
	})
}
