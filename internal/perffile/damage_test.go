package perffile_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"

	"profdiff/internal/perffile"
)

// compress makes a zstd frame of data.
func compress(t testing.TB, data []byte) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll(data, nil)
}

// TestErrors checks what the reader says of recordings that contradict the format.
func TestErrors(t *testing.T) {
	const attr = "attr type=software sample_type=IP|TID flags=sample_id_all\n"
	zeros := func(n int) string { return strings.Repeat("00", n) }
	tests := []struct {
		name string
		text string
		cut  int    // bytes to keep, if not 0
		want string // of New, or of Records
		// With AllowTruncated: the error, and how many records there are.
		allowed string
		records int
	}{
		{name: "empty", text: "# nothing", want: "not a perf.data file", allowed: "not a perf.data file"},
		{name: "other magic", text: "hex " + hex.EncodeToString([]byte("\x7fELF plus some bytes")), want: "not a perf.data file", allowed: "not a perf.data file"},
		{
			name: "version 1", text: "hex " + hex.EncodeToString([]byte("PERFFILE")) + zeros(100),
			want:    "header: version 1 of the format, of before Linux 2.6.34, is not supported at 0x0",
			allowed: "header: version 1 of the format, of before Linux 2.6.34, is not supported at 0x0",
		},
		{
			name: "magic only", text: "header\n" + attr, cut: 8,
			want: "header: is cut off, needs 16 bytes at 0x8", allowed: "header: is cut off, needs 16 bytes at 0x8",
		},
		{
			name: "header cut", text: "header\n" + attr, cut: 103,
			want: "header: is cut off, needs 104 bytes at 0x67", allowed: "header: is cut off, needs 104 bytes at 0x67",
		},
		{
			name: "header size", text: "header size=24\n" + attr,
			want: "header: size of 24 bytes at 0x8", allowed: "header: size of 24 bytes at 0x8",
		},
		{
			name: "attribute size", text: "header attr_size=72\nattr raw=" + zeros(72),
			want: "header: event attributes of 72 bytes at 0x10", allowed: "header: event attributes of 72 bytes at 0x10",
		},
		{
			name: "no events", text: "header attrs={size=0}\n" + attr,
			want: "header: attrs section of 0 bytes holds entries of 144 bytes at 0x18", allowed: "header: attrs section of 0 bytes holds entries of 144 bytes at 0x18",
		},
		{
			name: "events of odd size", text: "header attrs={size=150}\n" + attr + "FINISHED_ROUND",
			want: "header: attrs section of 150 bytes holds entries of 144 bytes at 0x18", allowed: "header: attrs section of 150 bytes holds entries of 144 bytes at 0x18",
		},
		{
			name: "events beyond the file", text: "header attrs={offset=0x1000}\n" + attr,
			want:    "header: attrs section of 144 bytes at 0x1000 exceeds the file of 248 bytes at 0x18",
			allowed: "header: attrs section of 144 bytes at 0x1000 exceeds the file of 248 bytes at 0x18",
		},
		{
			name: "unknown sample type", text: "header\nattr sample_type=IP|0x40000000",
			want:    "attrs: entry 0: sample_type 0x40000001 has unknown bits 0x40000000 at 0x68",
			allowed: "attrs: entry 0: sample_type 0x40000001 has unknown bits 0x40000000 at 0x68",
		},
		{
			name: "ids beyond the file", text: "header\nattr sample_type=IP ids_offset=0x68 ids_size=8000",
			want:    "attrs: entry 0: 8000 bytes of ids at 0x68 exceed the file of 248 bytes or are not a multiple of 8 at 0xe8",
			allowed: "attrs: entry 0: 8000 bytes of ids at 0x68 exceed the file of 248 bytes or are not a multiple of 8 at 0xe8",
		},
		{
			name: "ids of odd size", text: "header\nattr sample_type=IP ids_offset=0x68 ids_size=12",
			want:    "attrs: entry 0: 12 bytes of ids at 0x68 exceed the file of 248 bytes or are not a multiple of 8 at 0xe8",
			allowed: "attrs: entry 0: 12 bytes of ids at 0x68 exceed the file of 248 bytes or are not a multiple of 8 at 0xe8",
		},
		{
			name:    "overlapping ids",
			text:    "header\n" + strings.Repeat("attr sample_type=IP ids_offset=0x0 ids_size=400\n", 3),
			want:    "attrs: entry 1: ids overlap those of other entries at 0x178",
			allowed: "attrs: entry 1: ids overlap those of other entries at 0x178",
		},
		{
			name: "data in the header", text: "header data={offset=0x40}\n" + attr + "FINISHED_ROUND",
			want: "header: data section at 0x40 overlaps the header at 0x28", allowed: "header: data section at 0x40 overlaps the header at 0x28",
		},
		{
			name: "data beyond the file", text: "header data={size=1000}\n" + attr + "FINISHED_ROUND\nFINISHED_ROUND",
			want:    "header: data section of 1000 bytes at 0xf8 exceeds the file of 264 bytes at 0x28",
			records: 2,
		},
		{
			name: "data after the file", text: "header data={offset=0x1000}\n" + attr + "FINISHED_ROUND",
			want:    "header: data section of 8 bytes at 0x1000 exceeds the file of 256 bytes at 0x28",
			allowed: "header: data section of 8 bytes at 0x1000 exceeds the file of 256 bytes at 0x28",
		},
		{
			name: "recorder killed", text: "header data={size=0}\n" + attr + "FINISHED_ROUND\nFINISHED_ROUND\nhex 44000000",
			want:    "header: the recording was not ended properly (the recorder failed or was killed): record it again; its data has size 0 at 0x30",
			records: 2,
		},
		{
			name: "recorder killed that had noted features", text: "header data={size=0} features=BUILD_ID|HOSTNAME\n" + attr + "FINISHED_ROUND\nFINISHED_ROUND\nFINISHED_ROUND\nFINISHED_ROUND\nFINISHED_ROUND",
			want:    "header: the recording was not ended properly (the recorder failed or was killed): record it again; its data has size 0 at 0x30",
			records: 5,
		},
		{
			name: "recorder killed at once", text: "header data={size=0} features=BUILD_ID|HOSTNAME\n" + attr,
			want: "header: the recording was not ended properly (the recorder failed or was killed): record it again; its data has size 0 at 0x30",
		},
		{
			name: "record of no bytes", text: "header\n" + attr + "FINISHED_ROUND\n+0 FINISHED_ROUND",
			want:    "data: FINISHED_ROUND record of 0 bytes, at least 8 expected at 0x100",
			allowed: "data: FINISHED_ROUND record of 0 bytes, at least 8 expected at 0x100", records: 1,
		},
		{
			name: "record of seven bytes", text: "header\n" + attr + "+7 HEADER_ATTR raw=00",
			want:    "data: HEADER_ATTR record of 7 bytes, at least 8 expected at 0xf8",
			allowed: "data: HEADER_ATTR record of 7 bytes, at least 8 expected at 0xf8",
		},
		{
			name: "record beyond the data", text: "header\n" + attr + "FINISHED_ROUND\n+100 SWITCH",
			want: "data: SWITCH record of 100 bytes is cut off at 0x100", records: 1,
		},
		{
			name: "rest of a header", text: "header\n" + attr + "FINISHED_ROUND\nhex 440000",
			want: "data: record header is cut off at 0x100", records: 1,
		},
		{
			name: "large record of simpleperf", text: "header\n" + attr + "+4000000000 SIMPLEPERF_KERNEL_SYMBOL",
			want: "data: SIMPLEPERF_KERNEL_SYMBOL record of 4000000000 bytes is cut off at 0xf8",
		},
		{
			name: "trace data beyond the data", text: "header\n" + attr + "AUXTRACE size=100\nhex 0011",
			want: "data: 100 bytes of data after the AUXTRACE record is cut off at 0x128",
		},
		{
			name: "tracing data beyond the data", text: "header\n" + attr + "HEADER_TRACING_DATA size=4294967295",
			want: "data: 4294967296 bytes of data after the HEADER_TRACING_DATA record is cut off at 0x104",
		},
		{
			name: "count of ids that lies", text: "header\n" + attr + "SIMPLEPERF_EVENT_ID count=18446744073709551615 data=[{attr_id=0,event_id=1}]",
			want:    "SIMPLEPERF_EVENT_ID record: needs 18446744073709551600 bytes, has 16 at 0x108",
			allowed: "SIMPLEPERF_EVENT_ID record: needs 18446744073709551600 bytes, has 16 at 0x108",
		},
		{
			name: "pieces without end", text: "header\n" + attr + "SIMPLEPERF_SPLIT data=00112233445566778899",
			want: "data: record in pieces is cut off at 0x10a",
		},
		{
			name: "end without pieces", text: "header\n" + attr + "SIMPLEPERF_SPLIT_END",
			want:    "data: end of a record in pieces without its start at 0xf8",
			allowed: "data: end of a record in pieces without its start at 0xf8",
		},
		{
			name: "pieces of another size", text: "header\n" + attr + "SIMPLEPERF_SPLIT data=018000000000ff0000000000\nSIMPLEPERF_SPLIT_END",
			want:    "data: pieces of 12 bytes make a SIMPLEPERF_KERNEL_SYMBOL record of 255 bytes at 0x10c",
			allowed: "data: pieces of 12 bytes make a SIMPLEPERF_KERNEL_SYMBOL record of 255 bytes at 0x10c",
		},
		{
			name: "pieces of pieces", text: "header\n" + attr + "SIMPLEPERF_SPLIT data=0480000000000800\nSIMPLEPERF_SPLIT_END",
			want:    "data: pieces of 8 bytes make a SIMPLEPERF_SPLIT record of 8 bytes at 0x108",
			allowed: "data: pieces of 8 bytes make a SIMPLEPERF_SPLIT record of 8 bytes at 0x108",
		},
		{
			name: "compressed garbage", text: "header\n" + attr + "COMPRESSED data=00112233445566778899aabb",
			want:    "data: compressed record: invalid input: magic number mismatch at 0xf8",
			allowed: "data: compressed record: invalid input: magic number mismatch at 0xf8", records: 1,
		},
		{
			name: "compressed block damaged", text: "header\n" + attr + "COMPRESSED data=28b52ffd0458070000ffffffff",
			want:    "data: compressed record: invalid input: reserved block type encountered at 0xf8",
			allowed: "data: compressed record: invalid input: reserved block type encountered at 0xf8", records: 1,
		},
		{
			// Frame header that asks for a window of 2 GiB.
			name: "compressed window", text: "header\n" + attr + "COMPRESSED data=28b52ffd00a8010000",
			want:    "data: compressed record: window size exceeded at 0xf8",
			allowed: "data: compressed record: window size exceeded at 0xf8", records: 1,
		},
		{
			name: "compressed record cut",
			text: "header\n" + attr + "COMPRESSED data=" + hex.EncodeToString(compress(t, unhex("0900000000001000"+zeros(4)))),
			want: "data: record within a compressed one is cut off at 0x119", records: 1,
		},
		{
			name:    "compressed in compressed",
			text:    "header\n" + attr + "COMPRESSED\n| COMPRESSED data=0011",
			want:    "data: compressed record within a compressed record at 0xf8",
			allowed: "data: compressed record within a compressed record at 0xf8", records: 2,
		},
		{
			name:    "trace data in compressed",
			text:    "header\n" + attr + "COMPRESSED\n| AUXTRACE size=8",
			want:    "data: AUXTRACE record within a compressed one at 0xf8",
			allowed: "data: AUXTRACE record within a compressed one at 0xf8", records: 1,
		},
		{
			name:    "size of compressed data that lies",
			text:    "header\n" + attr + "COMPRESSED2 data_size=100 data=0011223344556677",
			want:    "COMPRESSED2 record: needs 100 bytes, has 8 at 0x108",
			allowed: "COMPRESSED2 record: needs 100 bytes, has 8 at 0x108",
		},
		{
			name: "table of features beyond the file", text: "header features=HOSTNAME|ARCH\n" + attr + "FINISHED_ROUND\nhex 00",
			want:    "features: table of 32 bytes exceeds the file of 257 bytes at 0x101",
			allowed: "", records: 1, cut: 257,
		},
		{
			name: "feature beyond the file", text: "header features=HOSTNAME\n" + attr + "FINISHED_ROUND\nsection HOSTNAME offset=0x1000 size=4",
			want: "features: HOSTNAME of 4 bytes at 0x1000 exceeds the file of 272 bytes at 0x100", records: 1,
		},
		{
			name: "count of arguments that lies", text: "header\n" + attr + "feature CMDLINE nr=4000000000 args=[\"perf\"]",
			want: "feature CMDLINE: needs 4 bytes, has 0 at 0x150", allowed: "feature CMDLINE: needs 4 bytes, has 0 at 0x150",
		},
		{
			name: "string beyond the feature", text: "header\n" + attr + "feature HOSTNAME raw=ff000000aabb",
			want: "feature HOSTNAME: needs 255 bytes, has 2 at 0x10c", allowed: "feature HOSTNAME: needs 255 bytes, has 2 at 0x10c",
		},
		{
			name: "count of events that lies", text: "header\n" + attr + "feature EVENT_DESC nr=4000000000 events=[]",
			want: "feature EVENT_DESC: needs 128 bytes, has 0 at 0x110", allowed: "feature EVENT_DESC: needs 128 bytes, has 0 at 0x110",
		},
		{
			name: "small events", text: "header\n" + attr + "feature EVENT_DESC raw=0100000008000000",
			want: "feature EVENT_DESC: event attributes of 8 bytes at 0x110", allowed: "feature EVENT_DESC: event attributes of 8 bytes at 0x110",
		},
		{
			name: "build ID entry of no bytes", text: "header\n" + attr + "feature BUILD_ID\nhex " + zeros(40),
			want: "feature BUILD_ID: build ID entry of 0 bytes at 0x110", allowed: "feature BUILD_ID: build ID entry of 0 bytes at 0x110",
		},
		{
			name: "key without value", text: "header\n" + attr + "feature META_INFO\nhex 6b657900",
			want: "feature META_INFO: string is not terminated at 0x10c", allowed: "feature META_INFO: string is not terminated at 0x10c",
		},
		{
			name: "event in a pipe cut", text: "header pipe\nHEADER_ATTR raw=0000000040000000",
			want: "HEADER_ATTR record: needs 64 bytes, has 8 at 0x18", allowed: "HEADER_ATTR record: needs 64 bytes, has 8 at 0x18",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data := fixtureText(t, tt.text)
			if tt.cut > 0 {
				data = data[:tt.cut]
			}
			check := func(opt perffile.Options, want string) int {
				t.Helper()
				n, err := readCounting(t, data, opt)
				switch {
				case err == nil && want != "":
					t.Errorf("no error, want %s", want)
				case err != nil && err.Error() != want:
					t.Errorf("got error  %s\nwant error %s", err, want)
				}
				return n
			}
			check(perffile.Options{}, tt.want)
			if n := check(perffile.Options{AllowTruncated: true}, tt.allowed); n != tt.records {
				t.Errorf("AllowTruncated: %d records, want %d", n, tt.records)
			}
		})
	}
}

// readCounting reads a recording and checks that values and errors exclude each other.
func readCounting(t testing.TB, data []byte, opt perffile.Options) (n int, err error) {
	t.Helper()
	f, err := perffile.New(bytes.NewReader(data), int64(len(data)), opt)
	if (f == nil) != (err != nil) {
		t.Errorf("New gives file %v and error %v", f, err)
	}
	if err != nil {
		return 0, err
	}
	for r, recordErr := range f.Records() {
		if (r == nil) != (recordErr != nil) {
			t.Errorf("record %v and error %v", r, recordErr)
		}
		if err != nil {
			t.Errorf("after the error %v: record %v and error %v", err, r, recordErr)
		}
		if err = recordErr; err == nil {
			n++
		}
	}
	return n, err
}

// TestDecodeErrors checks what the decode methods say of records that are too short
// or whose counts lie.
func TestDecodeErrors(t *testing.T) {
	sample := func(kind, fields string) string {
		return "header\nattr sample_regs_user=0x7 sample_regs_intr=0x7 sample_type=" + kind + "\nSAMPLE " + fields
	}
	const head = "header\nattr sample_type=IP\n"
	for _, tt := range []struct {
		name, text, want string
	}{
		{"MMAP", head + "MMAP raw=00", "MMAP record: needs 4 bytes, has 1 at 0x100"},
		{"MMAP2", head + "MMAP2 raw=" + strings.Repeat("00", 60), "MMAP2 record: needs 4 bytes, has 0 at 0x13c"},
		{"MMAP2 build ID", "header\nattr sample_type=IP flags=build_id\n" + "MMAP2 misc=MMAP_BUILD_ID build_id_size=21 filename=\"x\"", "MMAP2 record: build ID of 21 bytes at 0x138"},
		{"COMM", head + "COMM raw=0000", "COMM record: needs 4 bytes, has 2 at 0x100"},
		{"FORK", head + "FORK raw=" + strings.Repeat("00", 23), "FORK record: needs 8 bytes, has 7 at 0x110"},
		{"LOST", head + "LOST raw=", "LOST record: needs 8 bytes, has 0 at 0x100"},
		{"KSYMBOL", head + "KSYMBOL raw=" + strings.Repeat("00", 14), "KSYMBOL record: needs 2 bytes, has 0 at 0x10e"},
		{"AUX", head + "AUX raw=0000", "AUX record: needs 8 bytes, has 2 at 0x100"},
		{"KERNEL_SYMBOL", head + "SIMPLEPERF_KERNEL_SYMBOL kallsyms_size=4294967295 kallsyms=\"a\"", "SIMPLEPERF_KERNEL_SYMBOL record: needs 4294967295 bytes, has 8 at 0x104"},
		{"CALLCHAIN", head + "SIMPLEPERF_CALLCHAIN ip_nr=2305843009213693952 ips=[0x1] sps=[0x1]", "SIMPLEPERF_CALLCHAIN record: needs 0 bytes, has 16 at 0x120"},
		{"UNWINDING_RESULT", head + "SIMPLEPERF_UNWINDING_RESULT raw=00", "SIMPLEPERF_UNWINDING_RESULT record: needs 8 bytes, has 1 at 0x100"},
		{"sample", sample("IP|TID|TIME", "raw=0000000000000000"), "SAMPLE record: needs 4 bytes, has 0 at 0x108"},
		{"call chain", sample("CALLCHAIN", "nr=100 ips=[0x1]"), "SAMPLE record: needs 800 bytes, has 8 at 0x108"},
		{"call chain of 2^61", sample("CALLCHAIN", "nr=2305843009213693953 ips=[0x1]"), "SAMPLE record: needs 8 bytes, has 8 at 0x108"},
		{"raw", sample("RAW", "raw_size=9 raw_data=0000"), "SAMPLE record: needs 9 bytes, has 2 at 0x104"},
		{"branches", sample("BRANCH_STACK", "bnr=2 lbr=[{}]"), "SAMPLE record: needs 48 bytes, has 24 at 0x108"},
		{"registers", sample("REGS_USER", "regs_user={abi=1,regs=[0x1,0x2]}"), "SAMPLE record: needs 24 bytes, has 16 at 0x108"},
		{"stack", sample("STACK_USER", "stack_user={size=100,data=00}"), "SAMPLE record: needs 100 bytes, has 9 at 0x108"},
		{"interrupt registers", sample("REGS_INTR", "regs_intr={abi=2,regs=[]}"), "SAMPLE record: needs 24 bytes, has 0 at 0x108"},
		{"trace", sample("AUX", "aux_size=18446744073709551615"), "SAMPLE record: needs 18446744073709551615 bytes, has 0 at 0x108"},
		{
			"group", "header\nattr sample_type=READ read_format=GROUP\nSAMPLE read={nr=3,values=[{value=1}]}",
			"SAMPLE record: needs 24 bytes, has 8 at 0x108",
		},
		{
			"group with ids", "header\nattr sample_type=READ read_format=GROUP|ID\nSAMPLE raw=02000000000000000100000000000000" + "0200000000000000",
			"SAMPLE record: needs 8 bytes, has 0 at 0x118",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := open(t, fixtureText(t, tt.text), perffile.Options{})
			for r, err := range f.Records() {
				if err != nil {
					t.Fatal(err)
				}
				if _, err := decode(r); err == nil || err.Error() != tt.want {
					t.Errorf("got error  %v\nwant error %s", err, tt.want)
				}
			}
		})
	}
}

// TestSymbolFileErrors checks the same for the files of simpleperf.
func TestSymbolFileErrors(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"size cut", "feature FILE2\nhex 0000", "feature FILE2: size of an entry is cut off at 0x108"},
		{"entry beyond the feature", "feature FILE2\nfile2 size=4294967295 path=\"a\"", "feature FILE2: entry of 4294967295 bytes exceeds the section at 0x108"},
		{"tag", "feature FILE2\nhex 01000000ff", "feature FILE2: protobuf tag: unexpected EOF at 0x10d"},
		{"path beyond the entry", "feature FILE2\nhex 030000000affff", "feature FILE2: protobuf field 1: unexpected EOF at 0x10f"},
		{"offsets of DEX files", "feature FILE2\nhex 050000002a030a01ff", "feature FILE2: list of DEX file offsets: unexpected EOF at 0x111"},
		{"path without end", "feature FILE\nhex 02000000" + "6161", "feature FILE: string is not terminated at 0x10c"},
		{"symbols", "feature FILE\nfile path=\"a\" symbol_count=4000000000", "feature FILE: needs 8 bytes, has 0 at 0x11e"},
		{"offsets", "feature FILE\nfile path=\"a\" type=DEX\ndex_file dex_file_offset_count=4294967295 dex_file_offsets=[0x1]", "feature FILE: needs 34359738360 bytes, has 8 at 0x122"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := open(t, fixtureText(t, "header\nattr sample_type=IP\n"+tt.text), perffile.Options{})
			var got error
			for file, err := range f.SymbolFiles() {
				if (file == nil) != (err != nil) {
					t.Errorf("file %v and error %v", file, err)
				}
				got = err
			}
			if got == nil || got.Error() != tt.want {
				t.Errorf("got error  %v\nwant error %s", got, tt.want)
			}
		})
	}
}

// allocated is how many bytes f allocates in all.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestDecompressionBomb checks that little data that expands to much is refused before
// it takes much memory or time.
func TestDecompressionBomb(t *testing.T) {
	small := append(unhex("0e00000000000010"), make([]byte, 4096-8)...) // SWITCH
	large := append(unhex("028000000080ffff"), 0, 0, 0)                 // of simpleperf, of 2 GiB
	bomb := func(head, unit []byte) (payload []byte, expanded int) {
		frame := compress(t, append(head, bytes.Repeat(unit, 32<<20/len(unit))...))
		for len(payload)+len(frame) < 1<<16-9 {
			payload = append(payload, frame...)
			expanded += 32 << 20
		}
		return payload, expanded
	}
	for _, tt := range []struct {
		name       string
		head, unit []byte
		want       string
	}{
		{"small records", nil, small, "data: compressed record: expands to more than 2048 times its size at 0xf8"},
		{"large record", large, make([]byte, 8), "data: SIMPLEPERF_DSO record of 2147549183 bytes within a compressed one at 0xf8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			payload, expanded := bomb(tt.head, tt.unit)
			if expanded < 256<<20 {
				t.Fatalf("%d bytes expand to %d only", len(payload), expanded)
			}
			data := fixtureText(t, fmt.Sprintf("header\nattr sample_type=IP\nCOMPRESSED data=%x", payload))
			var err error
			size := allocated(func() { _, err = readCounting(t, data, perffile.Options{}) })
			if err == nil || err.Error() != tt.want {
				t.Errorf("got error  %v\nwant error %s", err, tt.want)
			}
			if size > 32<<20 {
				t.Errorf("allocates %d MiB for %d KiB that expand to %d MiB", size>>20, len(payload)>>10, expanded>>20)
			}
			var text []byte
			size = allocated(func() { text, err = writeText(data, perffile.TextOptions{Memory: true}) })
			if err == nil || err.Error() != tt.want {
				t.Errorf("got error  %v\nwant error %s", err, tt.want)
			}
			// The text has a comment for every record.
			if size > 64<<20+8*uint64(len(text)) {
				t.Errorf("the writer allocates %d MiB for %d MiB of text", size>>20, len(text)>>20)
			}
		})
	}
}

// TestLyingSizes checks that sizes that a small file claims are not allocated.
func TestLyingSizes(t *testing.T) {
	const attr = "attr sample_type=IP|CALLCHAIN|RAW|BRANCH_STACK|AUX branch_sample_type=ANY\n"
	for _, text := range []string{
		"header\n" + attr + "+4294967295 SIMPLEPERF_KERNEL_SYMBOL",
		"header\n" + attr + "SAMPLE ip=0x1 nr=1000000000 ips=[]",
		"header\n" + attr + "SAMPLE ip=0x1 raw_size=4294967295",
		"header\n" + attr + "SAMPLE ip=0x1 bnr=1000000000",
		"header\n" + attr + "SAMPLE ip=0x1 aux_size=1000000000000",
		"header\n" + attr + "SIMPLEPERF_TRACING_DATA data_size=4294967295",
		"header\n" + attr + "SIMPLEPERF_CALLCHAIN ip_nr=1000000000",
		"header\n" + attr + "HEADER_TRACING_DATA size=4294967295",
		"header\n" + attr + "feature FILE2\nfile2 size=4294967295",
		"header\n" + attr + "feature CMDLINE nr=4294967295",
		"header\n" + attr + "feature PMU_MAPPINGS nr=4294967295",
		"header\n" + attr + "feature GROUP_DESC nr=4294967295",
		"header\n" + attr + "feature EVENT_DESC nr=4294967295",
		"header\n" + attr + "feature HOSTNAME raw=ffffffff",
		"header\n" + attr + "feature MEM_TOPOLOGY nr=1 nodes=[{bits=18446744073709551615}]",
		"header data={size=9223372036854775807}\n" + attr,
		"header attrs={size=9223372036854775807}\n" + attr,
	} {
		data := fixtureText(t, text)
		size := allocated(func() {
			f, err := perffile.New(bytes.NewReader(data), int64(len(data)), perffile.Options{AllowTruncated: true})
			if err == nil {
				walk(t, f)
			}
		})
		if size > 2<<20 {
			t.Errorf("allocates %d KiB for\n%s", size>>10, text)
		}
		size = allocated(func() { _, _ = writeText(data, perffile.TextOptions{AllowTruncated: true, Memory: true}) })
		if size > 4<<20 {
			t.Errorf("the writer allocates %d KiB for\n%s", size>>10, text)
		}
	}
}

// brokenReader fails from an offset on.
type brokenReader struct {
	data []byte
	from int64
}

var errBroken = errors.New("input/output error")

func (r brokenReader) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > r.from {
		n := 0
		if off < r.from {
			n = copy(p, r.data[off:r.from])
		}
		return n, errBroken
	}
	return copy(p, r.data[off:]), nil
}

// TestReadErrors checks that errors of the input come out as they are, and not as
// damage.
func TestReadErrors(t *testing.T) {
	for _, name := range []string{"records", "simpleperf", "pipe", "old"} {
		t.Run(name, func(t *testing.T) {
			data := fixture(t, name)
			for from := range data {
				src := brokenReader{data, int64(from)}
				opt := perffile.Options{AllowTruncated: true}
				f, err := perffile.New(src, int64(len(data)), opt)
				if err == nil {
					for _, recordErr := range f.Records() {
						err = recordErr
					}
				}
				// What comes after the data is not read by Records.
				if err != nil && !errors.Is(err, errBroken) {
					t.Fatalf("broken at %#x: got error %v", from, err)
				}
				if err := perffile.WriteText(io.Discard, src, int64(len(data)), perffile.TextOptions{AllowTruncated: true, Memory: true}); !errors.Is(err, errBroken) {
					t.Fatalf("broken at %#x: the writer gives error %v", from, err)
				}
				r := io.MultiReader(bytes.NewReader(data[:from]), iotest.ErrReader(errBroken))
				if f, err = perffile.NewPipe(r, opt); err == nil {
					for _, recordErr := range f.Records() {
						err = recordErr
					}
				}
				if name == "pipe" && !errors.Is(err, errBroken) {
					t.Fatalf("pipe broken at %#x: got error %v", from, err)
				}
			}
		})
	}
}
