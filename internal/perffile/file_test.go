package perffile_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"profdiff/internal/perffile"
	"profdiff/internal/perffile/perffiletest"
)

// readToEnd opens a fixture and reads its records, for what pipes say only then.
func readToEnd(t *testing.T, data []byte) *perffile.File {
	t.Helper()
	f := open(t, data, perffile.Options{})
	for _, err := range f.Records() {
		if err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// TestEventTypes reads names of events that perf before 3.11 wrote to pipes: records as long
// as their names, which have no NUL if they fill them.
func TestEventTypes(t *testing.T) {
	f := readToEnd(t, fixtureText(t, `header pipe
HEADER_ATTR attr={type=hardware,config=4,sample_type=IP|TID|ID,flags=exclude_kernel} ids=[1]
HEADER_ATTR attr={type=tracepoint,config=4,sample_type=IP|TID|ID} ids=[2]
HEADER_ATTR attr={type=tracepoint,config=9,sample_type=IP|TID|ID} ids=[3]
HEADER_EVENT_TYPE event_id=4 name="kmem:kmalloc\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
HEADER_EVENT_TYPE event_id=9 name="a:branch"
`))
	var names []string
	for _, a := range f.Attrs {
		names = append(names, a.Name)
	}
	if diff := cmp.Diff([]string{"branches:u", "kmem:kmalloc", "a:branch"}, names); diff != "" {
		t.Errorf("names of events (-want +got):\n%s", diff)
	}
}

func TestAttrs(t *testing.T) {
	const sampleIDAll = perffile.FlagSampleIDAll
	tests := map[string][]perffile.Attr{
		"records": {{
			Size: 128, SamplePeriod: 4000, Name: "cycles:u",
			SampleType: perffile.SampleIP | perffile.SampleTID | perffile.SampleTime | perffile.SampleCallchain | perffile.SampleCPU | perffile.SamplePeriod,
			ReadFormat: perffile.ReadTotalTimeEnabled | perffile.ReadTotalTimeRunning,
			Flags: perffile.FlagDisabled | perffile.FlagInherit | perffile.FlagExcludeKernel | perffile.FlagMmap | perffile.FlagComm |
				perffile.FlagFreq | perffile.FlagEnableOnExec | perffile.FlagTask | 2<<15 | sampleIDAll | perffile.FlagMmap2 | perffile.FlagCommExec,
			WakeupEvents: 1,
		}},
		"events": {
			{
				Size: 144, Config: 1, SamplePeriod: 100000, Name: "instructions", IDs: []uint64{11, 12},
				SampleType: perffile.SampleIP | perffile.SampleTID | perffile.SampleTime | perffile.SampleRead | perffile.SampleIdentifier,
				ReadFormat: perffile.ReadTotalTimeEnabled | perffile.ReadTotalTimeRunning | perffile.ReadID | perffile.ReadGroup | perffile.ReadLost,
				Flags:      perffile.FlagInherit | sampleIDAll,
			},
			{
				Type: 10, Size: 144, Config: 0x1b7, Config1: 3, SamplePeriod: 5000, Name: "offcore_response", IDs: []uint64{21, 22, 23},
				SampleType: perffile.SampleIP | perffile.SampleTID | perffile.SampleTime | perffile.SampleRead | perffile.SampleIdentifier |
					perffile.SampleID | perffile.SampleStreamID,
				ReadFormat: perffile.ReadID | perffile.ReadLost,
				Flags:      sampleIDAll | 1<<40,
				Config2:    4, Config3: 5, WakeupEvents: 6, BPType: 7, ClockID: -8, AuxWatermark: 9, SampleMaxStack: 10,
				AuxSampleSize: 11, SigData: 12, SampleRegsUser: 13, SampleStackUser: 14, SampleRegsIntr: 15,
			},
		},
		"old": {
			{
				Size: 64, SamplePeriod: 1000, Name: "cycles", SampleType: perffile.SampleIP | perffile.SampleTID | perffile.SampleTime,
				Flags: perffile.FlagMmap | perffile.FlagComm | perffile.FlagFreq,
			},
			{Size: 64, Config: 3, SamplePeriod: 1000, Name: "cache-misses", SampleType: perffile.SampleIP | perffile.SampleTID | perffile.SampleTime},
		},
		"big_endian": {{
			Size: 128, SamplePeriod: 4000, Name: "cycles", IDs: []uint64{0x0123456789abcdef},
			SampleType: perffile.SampleIP | perffile.SampleTID | perffile.SampleTime | perffile.SampleCallchain | perffile.SampleCPU |
				perffile.SamplePeriod | perffile.SampleRaw | perffile.SampleBranchStack,
			ReadFormat: perffile.ReadID,
			Flags: perffile.FlagDisabled | perffile.FlagMmap | perffile.FlagComm | perffile.FlagFreq | perffile.FlagTask | 1<<15 |
				sampleIDAll | perffile.FlagExcludeGuest | perffile.FlagMmap2 | perffile.FlagBuildID,
			BranchSampleType: 9, ClockID: -2, SampleMaxStack: 127,
		}},
		"big_endian_32": {{
			Type: perffile.TypeSoftware, Size: 96, SamplePeriod: 1000000, Name: "cpu-clock", Flags: perffile.FlagComm,
			SampleType: perffile.SampleIP | perffile.SampleTID | perffile.SampleTime,
		}},
		"pipe": {
			{
				Size: 128, SamplePeriod: 4000, Name: "cycles:P", IDs: []uint64{31, 32}, ReadFormat: perffile.ReadID,
				SampleType: perffile.SampleIP | perffile.SampleTID | perffile.SampleTime | perffile.SampleIdentifier,
				Flags:      perffile.FlagFreq | sampleIDAll,
			},
			{
				Type: perffile.TypeTracepoint, Size: 128, Config: 316, SamplePeriod: 1, Name: "sched:sched_switch", IDs: []uint64{41},
				SampleType: perffile.SampleIP | perffile.SampleTID | perffile.SampleTime | perffile.SampleRaw | perffile.SampleIdentifier,
				ReadFormat: perffile.ReadID, Flags: sampleIDAll,
			},
		},
		"simpleperf": {
			{
				Type: perffile.TypeSoftware, Size: 128, SamplePeriod: 4000, Name: "cpu-clock", IDs: []uint64{50, 51}, SampleRegsUser: 7, SampleStackUser: 1024,
				SampleType: perffile.SampleIP | perffile.SampleTID | perffile.SampleTime | perffile.SampleCallchain | perffile.SampleID | perffile.SampleCPU |
					perffile.SamplePeriod | perffile.SampleRegsUser | perffile.SampleStackUser,
				Flags: perffile.FlagFreq | sampleIDAll,
			},
			{
				Type: perffile.TypeSoftware, Size: 128, Config: 9, Name: "dummy", IDs: []uint64{60, 61},
				SampleType: perffile.SampleIP | perffile.SampleTID | perffile.SampleTime | perffile.SampleID | perffile.SampleCPU | perffile.SamplePeriod,
				Flags:      sampleIDAll,
			},
		},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			got := readToEnd(t, fixture(t, name)).Attrs
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(perffile.Attr{})); diff != "" {
				t.Errorf("events of %s.txt (-want +got):\n%s", name, diff)
			}
		})
	}
}

func TestStats(t *testing.T) {
	f := readToEnd(t, fixture(t, "compressed"))
	var want perffile.Stats
	want.Records[perffile.RecordComm] = 2
	want.Records[perffile.RecordSample] = 3
	want.Records[perffile.RecordCompressed] = 2
	want.Records[perffile.RecordFinishedRound] = 1
	want.DecompressedBytes = 3*32 + 40
	got := f.Stats
	if got.CompressedBytes == 0 {
		t.Error("no compressed bytes")
	}
	got.CompressedBytes = 0 // depends on the compressor
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if n := readToEnd(t, fixture(t, "simpleperf")).Stats.Records[127]; n != 13 {
		t.Errorf("%d records of types from 127 on, want 13", n)
	}
}

func TestEventByID(t *testing.T) {
	f := open(t, fixture(t, "events"), perffile.Options{})
	for id, want := range map[uint64]int{11: 0, 12: 0, 21: 1, 22: 1, 23: 1} {
		if got, ok := f.EventByID(id); got != want || !ok {
			t.Errorf("EventByID(%d) = %d, %t, want %d", id, got, ok, want)
		}
	}
	if got, ok := f.EventByID(99); ok {
		t.Errorf("EventByID(99) = %d", got)
	}
}

// TestAttrFlagBits checks the order of the bitfields of struct perf_event_attr. perf
// turns the bits of every byte around if the byte orders differ (swap_bitfield in
// tools/perf/util/session.c), which gives the same for fields of one bit. For
// precise_ip, which has two, it gives the bits in the wrong order.
func TestAttrFlagBits(t *testing.T) {
	read := func(order string, word uint64) perffile.AttrFlags {
		text := fmt.Sprintf("header byte_order=%s attr_size=80\nattr raw=%s%016x%s\n", order, strings.Repeat("00", 40), word, strings.Repeat("00", 32))
		return open(t, fixtureText(t, text), perffile.Options{}).Attrs[0].Flags
	}
	for bit := range 64 {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], 1<<bit)
		if got, want := read("little", binary.BigEndian.Uint64(b[:])), perffile.AttrFlags(1)<<bit; got != want {
			t.Errorf("little-endian: bit %d is read as %#x", bit, uint64(got))
		}
		if bit == 15 || bit == 16 {
			continue
		}
		if got, want := read("big", 1<<(63-bit)), perffile.AttrFlags(1)<<bit; got != want {
			t.Errorf("big-endian: bit %d is read as %#x", bit, uint64(got))
		}
	}
	for precise := range 4 {
		if got := read("big", uint64(precise)<<(64-17)).PreciseIP(); got != precise {
			t.Errorf("big-endian: precise_ip %d is read as %d", precise, got)
		}
	}
}

func TestInfo(t *testing.T) {
	id := unhex("0102030405060708090a0b0c0d0e0f1011121314")
	tests := map[string]perffile.Info{
		"records": {
			Hostname: "box", OSRelease: "6.12.1", Version: "6.12", Arch: "x86_64", CPUDesc: "A CPU @ 3 GHz", CPUID: "GenuineIntel,6,78,3",
			CPUsAvailable: 8, CPUsOnline: 4, TotalMem: 16299868,
			Cmdline: []string{"/usr/bin/perf", "record", "--", "app", `an "argument"`},
			BuildIDs: []perffile.BuildID{
				{PID: -1, Misc: perffile.CPUModeKernel, ID: id, Path: "[kernel.kallsyms]", Kernel: true},
				{PID: -1, Misc: perffile.CPUModeUser | perffile.MiscBuildIDSize, ID: id[:8], Path: "/usr/bin/app"},
			},
			EventDescs: []perffile.EventDesc{{
				Name: "cycles:u", Attr: perffile.Attr{Size: 128, SamplePeriod: 4000, SampleType: perffile.SampleIP, Flags: perffile.FlagFreq},
			}},
			PMUs:        []perffile.PMU{{Type: 4, Name: "cpu"}, {Type: 10, Name: "msr"}},
			Groups:      []perffile.Group{{Name: "{anon_group}", N: 2}},
			FirstSample: 210, LastSample: 220,
			Clock: perffile.Clock{ID: 1, WallNanos: 1700000000000000000, Nanos: 5000, Valid: true},
			Features: []perffile.Feature{
				2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 19, 20, 21, 22, 23, 24, 26, 27, 28, 29, 30, 31, 40,
			},
		},
		"big_endian": {
			Hostname: "power", Arch: "ppc64", CPUsAvailable: 16, CPUsOnline: 8, Cmdline: []string{"perf", "record"},
			EventDescs: []perffile.EventDesc{{
				Name: "cycles", IDs: []uint64{0x0123456789abcdef},
				Attr: perffile.Attr{Size: 128, Flags: perffile.FlagFreq | perffile.FlagBuildID | 2<<15},
			}},
			Features: []perffile.Feature{perffile.FeatureHostname, perffile.FeatureArch, perffile.FeatureNrCPUs, perffile.FeatureCmdline, perffile.FeatureEventDesc},
		},
		"big_endian_32": {
			Hostname: "router", OSRelease: "4.4.0", Arch: "mips", Cmdline: []string{"perf"},
			Features: []perffile.Feature{perffile.FeatureHostname, perffile.FeatureOSRelease, perffile.FeatureArch, perffile.FeatureCmdline},
		},
		"pipe": {
			Hostname: "box", OSRelease: "6.12.1", CPUsAvailable: 4, CPUsOnline: 4, Cmdline: []string{"perf", "record", "-o", "-"},
			BuildIDs: []perffile.BuildID{{PID: -1, Misc: perffile.CPUModeUser, ID: id, Path: "/usr/bin/app"}},
			Features: []perffile.Feature{
				perffile.FeatureHostname, perffile.FeatureOSRelease, perffile.FeatureNrCPUs, perffile.FeatureCmdline,
				perffile.FeatureCPUTopology, perffile.FeatureBPFBTF,
			},
		},
		"simpleperf": {
			Cmdline: []string{"/system/bin/simpleperf", "record"},
			MetaInfo: map[string]string{
				"simpleperf_version": "1.build.7848450", "event_type_info": "cpu-clock,1,0\ndummy,1,9", "empty": "",
			},
			Features: []perffile.Feature{
				perffile.FeatureCmdline, perffile.FeatureAuxtrace, perffile.FeatureMetaInfo, perffile.FeatureDebugUnwind,
				perffile.FeatureFile2, perffile.FeatureInitMap,
			},
		},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			f := readToEnd(t, fixture(t, name))
			if diff := cmp.Diff(want, f.Info, cmpopts.IgnoreUnexported(perffile.Attr{})); diff != "" {
				t.Errorf("header of %s.txt (-want +got):\n%s", name, diff)
			}
			if got, want := f.BigEndian, strings.HasPrefix(name, "big"); got != want {
				t.Errorf("big-endian = %t, want %t", got, want)
			}
			if got, want := f.Info.Simpleperf(), name == "simpleperf"; got != want {
				t.Errorf("Simpleperf() = %t, want %t", got, want)
			}
		})
	}
}

func symbolFiles(t *testing.T, f *perffile.File) (files []perffile.SymbolFile) {
	t.Helper()
	for file, err := range f.SymbolFiles() {
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, *file)
	}
	return files
}

func TestSymbolFiles(t *testing.T) {
	tests := map[string][]perffile.SymbolFile{
		"records": nil,
		"pipe":    nil,
		"simpleperf": {
			{Path: "[kernel.kallsyms]", MinVaddr: 0xffffffff81000000, Symbols: []perffile.Symbol{{Addr: 0xffffffff81000000, Len: 4096, Name: "_text"}}},
			{
				Path: "/system/lib64/libc.so", Type: perffile.DSOELF, MinVaddr: 0x1000, OffsetOfMinVaddr: 0x800, HasOffset: true,
				Symbols: []perffile.Symbol{{Addr: 0x1000, Len: 16, Name: "memcpy"}, {Addr: 0x1010, Name: "no length"}},
			},
			{Path: "app.vdex", Type: perffile.DSODex, DexFileOffsets: []uint64{0x28, 0x123456}},
			{Path: "wlan.ko", Type: perffile.DSOKernelModule, OffsetOfMinVaddr: 0x4000, HasOffset: true},
		},
		"simpleperf_file": {
			{
				Path: "/system/lib64/libc.so", Type: perffile.DSOELF, MinVaddr: 0x1000, OffsetOfMinVaddr: 0x800, HasOffset: true,
				Symbols: []perffile.Symbol{{Addr: 0x1000, Len: 16, Name: "memcpy"}, {Addr: 0x1010, Len: 32, Name: "strlen"}},
			},
			{Path: "base.vdex", Type: perffile.DSODex, MinVaddr: 1<<64 - 1, DexFileOffsets: []uint64{0x28, 0x100}},
			{
				Path: "wlan.ko", Type: perffile.DSOKernelModule, OffsetOfMinVaddr: 0x4000, HasOffset: true,
				Symbols: []perffile.Symbol{{Len: 4, Name: "init_module"}},
			},
			{Path: "old.so", Type: perffile.DSOELF},
			{Path: "[jit]", Type: perffile.DSOSymbolMap, Symbols: []perffile.Symbol{{Addr: 0x10, Len: 4, Name: "trampoline"}}},
		},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			got := symbolFiles(t, open(t, fixture(t, name), perffile.Options{}))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("files of %s.txt (-want +got):\n%s", name, diff)
			}
		})
	}
}

func TestTracingData(t *testing.T) {
	for name, want := range map[string][]byte{
		"pipe":       unhex("17084474726163696e67302e360000080010000000000000"),
		"simpleperf": unhex("1708084474"),
		"records":    nil,
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readToEnd(t, fixture(t, name)).TracingData()
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.HasPrefix(got, want) || want == nil && got != nil {
				t.Errorf("tracing data %x, want %x", got, want)
			}
		})
	}
}

// TestPipe checks that a pipe gives the same records whether it is read as a file or
// arrives byte by byte.
func TestPipe(t *testing.T) {
	for _, name := range []string{"pipe", "compressed2"} {
		t.Run(name, func(t *testing.T) {
			data := fixture(t, name)
			want := records(t, data)
			f, err := perffile.NewPipe(iotest.OneByteReader(bytes.NewReader(data)), perffile.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []record
			for r, err := range f.Records() {
				if err != nil {
					t.Fatal(err)
				}
				v, err := decode(r)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, record{r.Type, r.Misc, r.Attr, r.Time, clone(v)})
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("records (-file +pipe):\n%s", diff)
			}
		})
	}
}

// TestRecordsCutAnywhere checks that a compressed stream may be cut into records
// anywhere, within a record and within a block.
func TestRecordsCutAnywhere(t *testing.T) {
	var b bytes.Buffer
	if err := perffiletest.Generate(&b, perffiletest.Spec{Pipe: true, Samples: 300, Processes: 1}); err != nil {
		t.Fatal(err)
	}
	const head = 16 + 8 + 136 + 8
	plain := b.Bytes()
	want := records(t, plain)
	packed := compress(t, plain[head:])
	for _, size := range []int{1, 7, 100, 4096, 65000} {
		data := bytes.Clone(plain[:head])
		for rest := packed; len(rest) > 0; {
			n := min(size, len(rest))
			data = binary.LittleEndian.AppendUint32(data, uint32(perffile.RecordCompressed))
			data = binary.LittleEndian.AppendUint16(data, 0)
			data = binary.LittleEndian.AppendUint16(data, uint16(8+n))
			data = append(data, rest[:n]...)
			rest = rest[n:]
		}
		var got []record
		for _, r := range records(t, data) {
			if r.Type != perffile.RecordCompressed {
				got = append(got, r)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("pieces of %d bytes (-plain +compressed):\n%s", size, diff)
		}
	}
}
