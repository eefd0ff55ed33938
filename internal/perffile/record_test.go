package perffile_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/perffile"
	"profdiff/internal/perffile/perffiletest"
)

// A record is what the tests compare of a Record: its head, and what its decode
// method returns.
type record struct {
	Type  perffile.RecordType
	Misc  perffile.Misc
	Attr  int
	Time  uint64
	Value any
}

// Results of decode methods that return several values.
type (
	lost struct {
		N    uint64
		Attr int
	}
	auxLoss struct {
		Size      uint64
		Truncated bool
	}
)

// decode calls the method for the record's type.
func decode(r *perffile.Record) (any, error) {
	switch r.Type {
	case perffile.RecordMmap, perffile.RecordMmap2:
		return r.Mmap()
	case perffile.RecordComm:
		return r.Comm()
	case perffile.RecordFork, perffile.RecordExit:
		return r.Task()
	case perffile.RecordLost, perffile.RecordLostSamples:
		n, attr, err := r.Lost()
		return lost{n, attr}, err
	case perffile.RecordSwitch, perffile.RecordSwitchCPUWide:
		return r.Switch()
	case perffile.RecordKsymbol:
		return r.Ksymbol()
	case perffile.RecordAux:
		size, truncated, err := r.AuxLoss()
		return auxLoss{size, truncated}, err
	case perffile.RecordHeaderBuildID:
		return r.BuildID()
	case perffile.RecordKernelSymbol:
		b, err := r.KernelSymbols()
		return string(b), err
	case perffile.RecordCallchain:
		return r.Callchain()
	case perffile.RecordUnwindingResult:
		return r.UnwindingResult()
	case perffile.RecordSample:
		var s perffile.Sample
		err := r.DecodeSample(&s)
		return s, err
	}
	return nil, nil
}

// records reads all records of data; for those without a decode method, Value is nil.
func records(t *testing.T, data []byte) []record {
	t.Helper()
	f := open(t, data, perffile.Options{})
	var list []record
	for r, err := range f.Records() {
		if err != nil {
			t.Fatal(err)
		}
		v, err := decode(r)
		if err != nil {
			t.Fatalf("%v at %#x: %v", r.Type, r.Offset, err)
		}
		// What the methods return is valid until the next step: print it now.
		list = append(list, record{r.Type, r.Misc, r.Attr, r.Time, clone(v)})
	}
	return list
}

// clone copies what shares memory with the record.
func clone(v any) any {
	switch v := v.(type) {
	case perffile.Mmap:
		v.File, v.BuildID = bytesOf(v.File), bytesOf(v.BuildID)
		return v
	case perffile.Comm:
		v.Name = bytesOf(v.Name)
		return v
	case perffile.Ksymbol:
		v.Name = bytesOf(v.Name)
		return v
	case perffile.BuildID:
		v.ID = bytesOf(v.ID)
		return v
	case perffile.Sample:
		v.Raw, v.UserStack, v.Aux = bytesOf(v.Raw), bytesOf(v.UserStack), bytesOf(v.Aux)
		for _, regs := range []*perffile.Regs{&v.UserRegs, &v.IntrRegs} {
			regs.Values = append([]uint64(nil), regs.Values...)
		}
		if len(v.Callchain) == 0 {
			v.Callchain = nil
		}
		if len(v.Branches) == 0 {
			v.Branches = nil
		}
		if len(v.Read.Values) == 0 {
			v.Read.Values = nil
		}
		return v
	}
	return v
}

func bytesOf(b []byte) []byte { return append([]byte(nil), b...) }

func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

func TestRecords(t *testing.T) {
	const (
		user   = perffile.CPUModeUser
		kernel = perffile.CPUModeKernel
	)
	id20 := unhex("00112233445566778899aabbccddeeff01234567")
	app := unhex("0102030405060708090a0b0c0d0e0f1011121314")
	tests := map[string][]record{
		"records": {
			{Type: perffile.RecordMmap, Misc: kernel, Value: perffile.Mmap{
				PID: -1, Start: 0xffffffff81000000, Len: 16 << 20, PgOff: 0xffffffff81000000, File: []byte("[kernel.kallsyms]_text"),
			}},
			{Type: perffile.RecordMmap2, Misc: user, Time: 10, Value: perffile.Mmap{
				PID: 100, TID: 101, Start: 0x400000, Len: 8192, PgOff: 0x1000, Major: 8, Minor: 1, Inode: 4711, InodeGen: 7,
				Prot: 5, MmapFlags: 2, File: []byte("/usr/bin/app"),
			}},
			{Type: perffile.RecordMmap2, Misc: user | perffile.MiscMmapBuildID, Time: 20, Value: perffile.Mmap{
				PID: 100, TID: 100, Start: 0x7f0000000000, Len: 4096, BuildID: id20, Prot: 4, MmapFlags: 2, File: []byte("/lib/libc.so.6"),
			}},
			{Type: perffile.RecordMmap2, Misc: user | perffile.MiscMmapBuildID, Value: perffile.Mmap{
				PID: 100, TID: 100, Start: 0x7f0000010000, Len: 4096, BuildID: id20[:16], Prot: 4, File: []byte("md5"),
			}},
			{Type: perffile.RecordComm, Misc: perffile.MiscCommExec, Time: 30, Value: perffile.Comm{PID: 100, TID: 100, Name: []byte("app"), Exec: true}},
			{Type: perffile.RecordComm, Time: 31, Value: perffile.Comm{PID: 100, TID: 101, Name: []byte("worker")}},
			{Type: perffile.RecordFork, Misc: perffile.MiscForkExec, Time: 41, Value: perffile.Task{PID: 102, PPID: 100, TID: 103, PTID: 101, Time: 40}},
			{Type: perffile.RecordExit, Time: 51, Value: perffile.Task{PID: 102, PPID: 100, TID: 103, PTID: 101, Time: 50}},
			{Type: perffile.RecordLost, Time: 60, Value: lost{N: 12}},
			{Type: perffile.RecordLostSamples, Misc: 1 << 15, Time: 70, Value: lost{N: 5}},
			{Type: perffile.RecordThrottle, Time: 80},
			{Type: perffile.RecordUnthrottle, Time: 90},
			{Type: perffile.RecordRead, Time: 100},
			{Type: perffile.RecordAux, Time: 110, Value: auxLoss{256, true}},
			{Type: perffile.RecordItraceStart, Time: 120},
			{Type: perffile.RecordSwitch, Misc: 3 << 13, Time: 130, Value: perffile.Switch{PID: 100, TID: 101, Out: true, Preempted: true}},
			{Type: perffile.RecordSwitchCPUWide, Time: 140, Value: perffile.Switch{PID: 100, TID: 101}},
			{Type: perffile.RecordNamespaces, Time: 150},
			{Type: perffile.RecordKsymbol, Time: 160, Value: perffile.Ksymbol{
				Addr: 0xffffffffc0000000, Len: 200, KsymType: 1, Name: []byte("bpf_prog_6deef7357e7b4530"),
			}},
			{Type: perffile.RecordKsymbol, Time: 161, Value: perffile.Ksymbol{
				Addr: 0xffffffffc0000000, Len: 200, KsymType: 2, Unregister: true, Name: []byte("ftrace_trampoline"),
			}},
			{Type: perffile.RecordBPFEvent, Time: 170},
			{Type: perffile.RecordCgroup, Time: 180},
			{Type: perffile.RecordTextPoke, Time: 190},
			{Type: perffile.RecordAuxOutputHWID, Time: 200},
			{Type: perffile.RecordSample, Misc: user | perffile.MiscExactIP, Time: 210, Value: perffile.Sample{
				Misc: user | perffile.MiscExactIP, IP: 0x400123, PID: 100, TID: 101, Time: 210, CPU: 3, Period: 4001, HasPeriod: true,
				Callchain:    []uint64{perffile.ContextKernel, 0xffffffff81000020, perffile.ContextUser, 0x400123, 0x400456},
				HasCallchain: true, BranchHWIndex: -1,
			}},
			{Type: perffile.RecordSample, Misc: kernel, Time: 220, Value: perffile.Sample{
				Misc: kernel, IP: 0xffffffff81000020, PID: 100, TID: 100, Time: 220, Period: 1, HasPeriod: true, HasCallchain: true, BranchHWIndex: -1,
			}},
			{Type: perffile.RecordFinishedRound, Attr: -1},
		},
		"events": {
			{Type: perffile.RecordSample, Misc: user, Time: 100, Value: perffile.Sample{
				Misc: user, ID: 12, IP: 0x1000, PID: 5, TID: 6, Time: 100, BranchHWIndex: -1,
				Read: perffile.Read{TimeEnabled: 7, TimeRunning: 6, Values: []perffile.ReadValue{
					{Value: 100, ID: 12, Lost: 1}, {Value: 50, ID: 22, Lost: 2},
				}},
			}},
			{Type: perffile.RecordSample, Misc: kernel, Attr: 1, Time: 200, Value: perffile.Sample{
				Attr: 1, Misc: kernel, ID: 22, IP: 0x2000, PID: 5, TID: 6, Time: 200, StreamID: 23, BranchHWIndex: -1,
				Read: perffile.Read{Values: []perffile.ReadValue{{Value: 9, ID: 22, Lost: 3}}},
			}},
			{Type: perffile.RecordSample, Attr: 1, Time: 300, Value: perffile.Sample{
				Attr: 1, ID: 21, IP: 0x3000, Time: 300, BranchHWIndex: -1, Read: perffile.Read{Values: []perffile.ReadValue{{Value: 1}}},
			}},
			{Type: perffile.RecordLost, Time: 250, Value: lost{4, 1}},
			{Type: perffile.RecordLostSamples, Attr: 1, Time: 260, Value: lost{6, 1}},
			{Type: perffile.RecordRead},
			{Type: perffile.RecordSample, Attr: -1, Value: perffile.Sample{Attr: -1, BranchHWIndex: -1}},
			{Type: perffile.RecordComm, Attr: 1, Time: 400, Value: perffile.Comm{PID: 5, TID: 6, Name: []byte("two")}},
		},
		"old": {
			{Type: perffile.RecordMmap, Misc: user, Value: perffile.Mmap{PID: 1, TID: 1, Start: 0x8048000, Len: 4096, File: []byte("/bin/sh")}},
			{Type: perffile.RecordComm, Value: perffile.Comm{PID: 1, TID: 1, Name: []byte("sh")}},
			{Type: perffile.RecordSample, Misc: user, Time: 5, Value: perffile.Sample{
				Misc: user, IP: 0x8048010, PID: 1, TID: 1, Time: 5, BranchHWIndex: -1,
			}},
		},
		"sample": {
			{Type: perffile.RecordSample, Misc: user, Time: 3, Value: perffile.Sample{
				Misc: user, IP: 0x10, PID: 1, TID: 2, Time: 3, Addr: 0xbeef, ID: 3, StreamID: 4, CPU: 5, Period: 6, HasPeriod: true,
				Read:      perffile.Read{Values: []perffile.ReadValue{{Value: 7}}},
				Callchain: []uint64{perffile.ContextUser, 0x10, perffile.ContextUserDeferred, 0x99}, HasCallchain: true,
				Raw: unhex("0102030405060708aabbccdd"),
				Branches: []perffile.Branch{
					{From: 0x100, To: 0x200, Mispredicted: true, InTransaction: true, Cycles: 65535, Type: 10, Spec: 1, NewType: 2, Priv: 1},
					{From: 0x300, To: 0x400, Predicted: true, Abort: true, Cycles: 1, Type: 15, Spec: 3, Priv: 2},
				},
				BranchHWIndex: -1,
				UserRegs:      perffile.Regs{ABI: 2, Mask: 0x3, Values: []uint64{0x11, 0x22}},
				UserStack:     unhex("0011223344556677"),
				Weight:        33, DataSrc: 0x68100142, Transaction: 3,
				IntrRegs: perffile.Regs{ABI: 1, Mask: 0x104, Values: []uint64{0x33, 0x44}},
				PhysAddr: 0x1234000, Cgroup: 9, DataPageSize: 4096, CodePageSize: 2 << 20, Aux: unhex("cafe0000"),
			}},
			{Type: perffile.RecordSample, Misc: user, Value: perffile.Sample{
				Misc: user, IP: 0x20, ID: 3, HasPeriod: true, HasCallchain: true, Read: perffile.Read{Values: []perffile.ReadValue{{}}},
			}},
		},
		"weight_struct": {
			{Type: perffile.RecordSample, Value: perffile.Sample{IP: 1, BranchHWIndex: -1, Weight: 100 | 200<<32 | 300<<48}},
		},
		"lbr": {
			{Type: perffile.RecordSample, Misc: user, Value: perffile.Sample{
				Misc: user, IP: 0x401000, BranchHWIndex: -1, Branches: []perffile.Branch{
					{From: 0x401010, To: 0x400ff0, Predicted: true, Cycles: 12},
					{From: 0x400ff8, To: 0x401000, Mispredicted: true, Cycles: 3},
					{From: 1, To: 2},
				},
			}},
			{Type: perffile.RecordSample, Misc: user, Value: perffile.Sample{Misc: user, IP: 0x401000, BranchHWIndex: -1}},
		},
		"hw_index": {
			{Type: perffile.RecordSample, Misc: user, Value: perffile.Sample{
				Misc: user, IP: 0x401000, BranchHWIndex: 31, Branches: []perffile.Branch{{From: 0x401010, To: 0x400ff0, Predicted: true}},
			}},
		},
		"big_endian": {
			{Type: perffile.RecordMmap, Misc: kernel, Value: perffile.Mmap{
				PID: -1, Start: 0xc000000000000000, Len: 16 << 20, PgOff: 0xc000000000000000, File: []byte("[kernel.kallsyms]_text"),
			}},
			{Type: perffile.RecordMmap2, Misc: user, Time: 0x0102030405060708, Value: perffile.Mmap{
				PID: 258, TID: 259, Start: 0x10000000, Len: 65536, PgOff: 0x10000, Major: 8, Minor: 2, Inode: 0x12345678, InodeGen: 1,
				Prot: 5, MmapFlags: 2, File: []byte("/usr/bin/be"),
			}},
			{Type: perffile.RecordComm, Time: 0x0102030405060709, Value: perffile.Comm{PID: 258, TID: 258, Name: []byte("be")}},
			{Type: perffile.RecordSample, Misc: user, Time: 0x010203040506070a, Value: perffile.Sample{
				Misc: user, IP: 0x10000400, PID: 258, TID: 259, Time: 0x010203040506070a, CPU: 3, Period: 0x1234, HasPeriod: true,
				Callchain: []uint64{perffile.ContextUser, 0x10000400, 0x10000500}, HasCallchain: true, Raw: unhex("01020304"), BranchHWIndex: -1,
				Branches: []perffile.Branch{
					{From: 0x10000404, To: 0x10000408, Mispredicted: true, Cycles: 0x1234, Type: 1, Spec: 3, NewType: 4, Priv: 3},
					{From: 0x10000410, To: 0x10000420, Predicted: true, Abort: true, Cycles: 1},
				},
			}},
			{Type: perffile.RecordExit, Time: 0x010203040506070c, Value: perffile.Task{PID: 258, PPID: 1, TID: 258, PTID: 1, Time: 0x010203040506070b}},
		},
		"big_endian_32": {
			{Type: perffile.RecordComm, Value: perffile.Comm{PID: 1, TID: 1, Name: []byte("mips")}},
			{Type: perffile.RecordSample, Misc: user, Time: 9, Value: perffile.Sample{
				Misc: user, IP: 0x400000, PID: 1, TID: 1, Time: 9, BranchHWIndex: -1,
			}},
		},
		"compressed": {
			{Type: perffile.RecordComm, Time: 1, Value: perffile.Comm{PID: 3, TID: 3, Name: []byte("plain")}},
			{Type: perffile.RecordCompressed, Attr: -1},
			packed(user, 0x1000, 10),
			packed(user, 0x1008, 20),
			{Type: perffile.RecordFinishedRound, Attr: -1},
			{Type: perffile.RecordCompressed, Attr: -1},
			{Type: perffile.RecordComm, Time: 30, Value: perffile.Comm{PID: 3, TID: 3, Name: []byte("packed")}},
			packed(kernel, 0xffffffff81000000, 40),
		},
		"compressed2": {
			{Type: perffile.RecordHeaderAttr, Attr: -1},
			{Type: perffile.RecordCompressed2, Attr: -1},
			packed(user, 0x1000, 10),
			packed(user, 0x1008, 20),
			{Type: perffile.RecordCompressed2, Attr: -1},
			packed(user, 0x1010, 30),
			{Type: perffile.RecordFinishedRound, Attr: -1},
			{Type: perffile.RecordFinishedInit, Attr: -1},
		},
		"auxtrace": {
			{Type: perffile.RecordAuxtraceInfo, Attr: -1},
			{Type: perffile.RecordAux, Time: 5, Value: auxLoss{Size: 24}},
			{Type: perffile.RecordAuxtrace, Attr: -1},
			{Type: perffile.RecordAuxtraceError, Attr: -1},
			{Type: perffile.RecordAuxtrace, Attr: -1},
			{Type: perffile.RecordFinishedRound, Attr: -1},
		},
		"simpleperf": {
			{Type: perffile.RecordKernelSymbol, Attr: -1, Value: "ffffffff81000000 T _text\n"},
			{Type: perffile.RecordEventID, Attr: -1},
			{Type: perffile.RecordDSO, Attr: -1},
			{Type: perffile.RecordSymbol, Attr: -1},
			{Type: perffile.RecordMmap2, Misc: user, Time: 1, Value: perffile.Mmap{
				PID: 1, TID: 1, Start: 0x7000000000, Len: 4096, Prot: 5, File: []byte("/system/lib64/libc.so"),
			}},
			{Type: perffile.RecordSample, Misc: user, Time: 10, Value: perffile.Sample{
				Misc: user, IP: 0x7000000010, PID: 1, TID: 2, Time: 10, ID: 51, CPU: 1, Period: 250000, HasPeriod: true,
				Callchain: []uint64{perffile.ContextUser, 0x7000000010}, HasCallchain: true, BranchHWIndex: -1,
				UserRegs:  perffile.Regs{ABI: 2, Mask: 0x7, Values: []uint64{1, 2, 3}},
				UserStack: unhex("0011223344556677"), UserStackFull: true,
			}},
			{Type: perffile.RecordCallchain, Attr: -1, Value: perffile.Callchain{
				PID: 1, TID: 2, Kind: 2, Time: 10, IPs: []uint64{0x7000000010, 0x7000000020}, SPs: []uint64{0x10, 0x20},
			}},
			{Type: perffile.RecordUnwindingResult, Attr: -1, Value: perffile.UnwindingResult{Time: 10, UsedTime: 1234, ErrorCode: 3, ErrorAddr: 0xdead}},
			{Type: perffile.RecordUnwindingResult, Attr: -1, Value: perffile.UnwindingResult{
				Time: 11, UsedTime: 1, StackStart: 0x7ff0, StackEnd: 0x8000,
				UserRegs:  perffile.Regs{ABI: 2, Mask: 0x5, Values: []uint64{1, 2}},
				UserStack: unhex("0011"), UserStackFull: true, IPs: []uint64{1}, SPs: []uint64{2},
			}},
			{Type: perffile.RecordKernelSymbol, Attr: -1, Value: "ffff T xy\n"}, // was in pieces
			{Type: perffile.RecordTracingData, Attr: -1},
			{Type: perffile.RecordDebug, Attr: -1},
			{Type: perffile.RecordSample, Misc: user, Attr: 1, Time: 12, Value: perffile.Sample{
				Attr: 1, Misc: user, IP: 0x7000000010, PID: 1, TID: 2, Time: 12, ID: 61, CPU: 1, Period: 1, HasPeriod: true, BranchHWIndex: -1,
			}},
		},
		"simpleperf_file": {
			{Type: perffile.RecordSample, Misc: user, Time: 1, Value: perffile.Sample{
				Misc: user, IP: 0x1000, PID: 1, TID: 1, Time: 1, BranchHWIndex: -1,
			}},
		},
		"pipe": append(append(repeat(6, perffile.RecordHeaderFeature), append(repeat(2, perffile.RecordHeaderAttr),
			append(repeat(5, perffile.RecordEventUpdate), []record{
				{Type: perffile.RecordHeaderTracingData, Attr: -1},
				{Type: perffile.RecordHeaderBuildID, Misc: user, Attr: -1, Value: perffile.BuildID{PID: -1, Misc: user, ID: app, Path: "/usr/bin/app"}},
				{Type: perffile.RecordHeaderEventType, Attr: -1},
				{Type: perffile.RecordHeaderEventType, Attr: -1},
				{Type: perffile.RecordHeaderEventType, Attr: -1},
				{Type: perffile.RecordIDIndex, Attr: -1},
				{Type: perffile.RecordTimeConv, Attr: -1},
				{Type: perffile.RecordTimeConv, Attr: -1},
				{Type: perffile.RecordThreadMap, Attr: -1},
			}...)...)...), append(repeat(4, perffile.RecordCPUMap), []record{
			{Type: perffile.RecordStatConfig, Attr: -1},
			{Type: perffile.RecordStat, Attr: -1},
			{Type: perffile.RecordStatRound, Attr: -1},
			{Type: perffile.RecordBPFMetadata, Attr: -1},
			{Type: perffile.RecordSample, Misc: user, Time: 1000, Value: perffile.Sample{
				Misc: user, ID: 31, IP: 0x1000, PID: 9, TID: 9, Time: 1000, BranchHWIndex: -1,
			}},
			{Type: perffile.RecordSample, Misc: kernel, Attr: 1, Time: 1001, Value: perffile.Sample{
				Attr: 1, Misc: kernel, ID: 41, IP: 0xffffffff81000000, PID: 9, TID: 9, Time: 1001, Raw: unhex("3c01000009000000"), BranchHWIndex: -1,
			}},
			{Type: perffile.RecordComm, Attr: 1, Time: 1002, Value: perffile.Comm{PID: 9, TID: 9, Name: []byte("app")}},
			{Type: perffile.RecordFinishedRound, Attr: -1},
			{Type: perffile.RecordFinishedInit, Attr: -1},
			{Type: 22, Misc: user},
			{Type: 90, Attr: -1},
		}...)...),
	}
	for _, name := range fixtures(t) {
		want, ok := tests[name]
		if !ok {
			t.Errorf("no test for fixture %s", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			got := records(t, fixture(t, name))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("records of %s.txt (-want +got):\n%s", name, diff)
			}
		})
	}
}

// packed is a sample of the fixtures with compressed records.
func packed(misc perffile.Misc, ip, time uint64) record {
	return record{Type: perffile.RecordSample, Misc: misc, Time: time, Value: perffile.Sample{
		Misc: misc, IP: ip, PID: 3, TID: 3, Time: time, BranchHWIndex: -1,
	}}
}

// repeat is n records of perf that have no decode method.
func repeat(n int, t perffile.RecordType) []record {
	list := make([]record, n)
	for i := range list {
		list[i] = record{Type: t, Attr: -1}
	}
	return list
}

// TestBranchFlagBits checks the order of the bits in the flags of a branch as
// perf has it, in tools/perf/util/evsel.c: the fields of little-endian machines
// start with the least significant bit, those of big-endian ones with the most
// significant one.
func TestBranchFlagBits(t *testing.T) {
	for _, tt := range []struct {
		order, word string
		want        perffile.Branch
	}{
		{"little", "0100000000000000", perffile.Branch{Mispredicted: true}},
		{"little", "0200000000000000", perffile.Branch{Predicted: true}},
		{"little", "1000000000000000", perffile.Branch{Cycles: 1}},
		{"little", "0000100000000000", perffile.Branch{Type: 1}},
		{"little", "0000000100000000", perffile.Branch{Spec: 1}},
		{"little", "0000000400000000", perffile.Branch{NewType: 1}},
		{"little", "0000004000000000", perffile.Branch{Priv: 1}},
		{"big", "8000000000000000", perffile.Branch{Mispredicted: true}},
		{"big", "4000000000000000", perffile.Branch{Predicted: true}},
		{"big", "2000000000000000", perffile.Branch{InTransaction: true}},
		{"big", "1000000000000000", perffile.Branch{Abort: true}},
		{"big", "0000100000000000", perffile.Branch{Cycles: 1}},
		{"big", "0000010000000000", perffile.Branch{Type: 1}},
		{"big", "0000004000000000", perffile.Branch{Spec: 1}},
		{"big", "0000000400000000", perffile.Branch{NewType: 1}},
		{"big", "0000000080000000", perffile.Branch{Priv: 1}},
	} {
		t.Run(fmt.Sprintf("%s %s", tt.order, tt.word), func(t *testing.T) {
			n := "0100000000000000"
			if tt.order == "big" {
				n = "0000000000000001"
			}
			text := "header byte_order=" + tt.order + "\nattr sample_type=BRANCH_STACK\n" +
				"SAMPLE raw=" + n + "00000000000000000000000000000000" + tt.word
			got := records(t, fixtureText(t, text))[0].Value.(perffile.Sample).Branches
			if diff := cmp.Diff([]perffile.Branch{tt.want}, got); diff != "" {
				t.Errorf("branch (-want +got):\n%s", diff)
			}
		})
	}
}

// While any recording of the machine asks for build IDs, the MMAP2 records of all have
// the flag, also those with inodes.
func TestMmapBuildIDFlag(t *testing.T) {
	const (
		inode   = `MMAP2 pid=1 tid=1 start=0x1000 len=4096 maj=254 min=1 ino=77 ino_generation=5 filename="/bin/x"`
		buildID = `MMAP2 pid=1 tid=1 start=0x1000 len=4096 misc=MMAP_BUILD_ID build_id=0123456789abcdef0123456789abcdef01234567 filename="/bin/x"`
	)
	for _, test := range []struct {
		name, flags, record string
		leaked              bool // set the flag afterwards
		inode               uint64
		buildID             int
	}{
		{name: "inode", flags: "mmap2", record: inode, inode: 77},
		{name: "inode with the flag of others", flags: "mmap2", record: inode, leaked: true, inode: 77},
		{name: "build ID", flags: "mmap2|build_id", record: buildID, buildID: 20},
		{name: "build ID of a tool", flags: "mmap2", record: buildID, buildID: 20},
	} {
		t.Run(test.name, func(t *testing.T) {
			data := perffiletest.Fixture(t, "header\nattr sample_type=IP flags="+test.flags+"\n"+test.record+"\n")
			if test.leaked {
				const mmap2 = 10
				at := bytes.Index(data, []byte{mmap2, 0, 0, 0, 0, 0})
				if at < 0 {
					t.Fatal("no MMAP2 record")
				}
				data[at+5] |= byte(perffile.MiscMmapBuildID >> 8)
			}
			file, err := perffile.New(bytes.NewReader(data), int64(len(data)), perffile.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for r, err := range file.Records() {
				if err != nil {
					t.Fatal(err)
				}
				m, err := r.Mmap()
				if err != nil || m.Inode != test.inode || len(m.BuildID) != test.buildID || string(m.File) != "/bin/x" {
					t.Errorf("%+v, error %v", m, err)
				}
			}
		})
	}
}

// TestUnwindingResultWithoutFrames has what simpleperf of 2021 kept of a stack, which ends before the frames.
func TestUnwindingResultWithoutFrames(t *testing.T) {
	got := records(t, perffiletest.Fixture(t, "header\nattr type=software sample_type=IP|TID\n"+
		"SIMPLEPERF_UNWINDING_RESULT time=11 used_time=1 error_code=4 error_addr=0 stack_start=0x7ff0 stack_end=0x8000"+
		" regs_user={abi=2,reg_mask=0x5,regs=[0x1,0x2]} stack_user={data=0011,dyn_size=2}\n"))
	want := []record{{Type: perffile.RecordUnwindingResult, Attr: -1, Value: perffile.UnwindingResult{
		Time: 11, UsedTime: 1, ErrorCode: 4, StackStart: 0x7ff0, StackEnd: 0x8000,
		UserRegs:  perffile.Regs{ABI: 2, Mask: 0x5, Values: []uint64{1, 2}},
		UserStack: unhex("0011"), UserStackFull: true,
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
