package perffile

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Texts of values as the specs print them.

func textDec[T int | int32 | int64 | uint8 | uint16 | uint32 | uint64](v T) string {
	if v < 0 {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatUint(uint64(v), 10)
}

func textHex[T uint16 | uint32 | uint64](v T) string { return "0x" + strconv.FormatUint(uint64(v), 16) }

func textNames(n *notation, v uint64) string { return string(n.append(nil, v, 8)) }

func textList(n *notation, list []uint64) string {
	b := []byte("[")
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = n.append(b, v, 8)
	}
	return string(append(b, ']'))
}

// unquoteText is a string as the decoders see it: up to a NUL.
func unquoteText(s string) string {
	s, _ = strconv.Unquote(s)
	s, _, _ = strings.Cut(s, "\x00")
	return s
}

// A handField is what a decoder written by hand says of a field of the text.
type handField struct{ name, value string }

// handRecord returns what the decoders of records say, by the names of the specs.
// Strings are not quoted.
func handRecord(t *testing.T, r *Record) []handField {
	t.Helper()
	check := func(err error) {
		if err != nil {
			t.Errorf("%v at %#x: %v", r.Type, r.Offset, err)
		}
	}
	switch r.Type {
	case RecordMmap, RecordMmap2:
		m, err := r.Mmap()
		check(err)
		list := []handField{
			{"pid", textDec(m.PID)},
			{"tid", textDec(m.TID)},
			{"start", textHex(m.Start)},
			{"len", textDec(m.Len)},
			{"pgoff", textHex(m.PgOff)},
			{"filename", string(m.File)},
		}
		switch {
		case r.Type == RecordMmap:
		case r.Misc&MiscMmapBuildID != 0:
			list = append(list, handField{"build_id_size", textDec(len(m.BuildID))})
		default:
			list = append(list, []handField{
				{"maj", textDec(m.Major)},
				{"min", textDec(m.Minor)},
				{"ino", textDec(m.Inode)},
				{"ino_generation", textDec(m.InodeGen)},
			}...)
		}
		if r.Type == RecordMmap2 {
			list = append(list, handField{"prot", textNames(protNames, uint64(m.Prot))}, handField{"flags", textHex(m.MmapFlags)})
		}
		return list
	case RecordComm:
		c, err := r.Comm()
		check(err)
		return []handField{{"pid", textDec(c.PID)}, {"tid", textDec(c.TID)}, {"comm", string(c.Name)}}
	case RecordFork, RecordExit:
		k, err := r.Task()
		check(err)
		return []handField{
			{"pid", textDec(k.PID)},
			{"ppid", textDec(k.PPID)},
			{"tid", textDec(k.TID)},
			{"ptid", textDec(k.PTID)},
			{"time", textDec(k.Time)},
		}
	case RecordLost, RecordLostSamples:
		n, _, err := r.Lost()
		check(err)
		return []handField{{"lost", textDec(n)}}
	case RecordKsymbol:
		k, err := r.Ksymbol()
		check(err)
		return []handField{
			{"addr", textHex(k.Addr)},
			{"len", textDec(k.Len)},
			{"ksym_type", textDec(k.KsymType)},
			{"name", string(k.Name)},
		}
	case RecordAux:
		size, _, err := r.AuxLoss()
		check(err)
		return []handField{{"aux_size", textDec(size)}}
	case RecordHeaderBuildID:
		b, err := r.BuildID()
		check(err)
		return []handField{{"pid", textDec(b.PID)}, {"filename", b.Path}}
	case RecordKernelSymbol:
		b, err := r.KernelSymbols()
		check(err)
		return []handField{{"kallsyms", string(cutNUL(b))}}
	case RecordCallchain:
		c, err := r.Callchain()
		check(err)
		return []handField{
			{"pid", textDec(c.PID)},
			{"tid", textDec(c.TID)},
			{"chain_type", textNames(chainTypeNames, c.Kind)},
			{"time", textDec(c.Time)},
			{"ips", textList(hexadecimal, c.IPs)},
			{"sps", textList(hexadecimal, c.SPs)},
		}
	case RecordUnwindingResult:
		u, err := r.UnwindingResult()
		check(err)
		return []handField{
			{"time", textDec(u.Time)},
			{"used_time", textDec(u.UsedTime)},
			{"error_code", textDec(u.ErrorCode)},
			{"error_addr", textHex(u.ErrorAddr)},
		}
	case RecordSample:
		var s Sample
		check(r.DecodeSample(&s))
		if s.Attr < 0 {
			return nil
		}
		return handSample(&r.file.Attrs[s.Attr], &s, r.file.BigEndian)
	}
	return nil
}

func handSample(a *Attr, s *Sample, big bool) []handField {
	regs := func(r *Regs) string {
		text := "{abi=" + textDec(r.ABI)
		if r.ABI != 0 {
			c := cursor{data: r.Values, big: big}
			text += ",regs=" + textList(hexadecimal, c.u64s(nil, uint64(len(r.Values)/8)))
		}
		return text + "}"
	}
	var list []handField
	for _, f := range []struct {
		bit         SampleType
		name, value string
	}{
		{SampleIdentifier, "identifier", textDec(s.ID)},
		{SampleIP, "ip", textHex(s.IP)},
		{SampleTID, "pid", textDec(s.PID)},
		{SampleTID, "tid", textDec(s.TID)},
		{SampleTime, "time", textDec(s.Time)},
		{SampleAddr, "addr", textHex(s.Addr)},
		{SampleID, "id", textDec(s.ID)},
		{SampleStreamID, "stream_id", textDec(s.StreamID)},
		{SampleCPU, "cpu", textDec(int32(s.CPU))},
		{SamplePeriod, "period", textDec(s.Period)},
		{SampleRead, "read", handRead(a.ReadFormat, &s.Read)},
		{SampleCallchain, "ips", textList(contextNames, s.Callchain)},
		{SampleRaw, "raw_data", hex.EncodeToString(s.Raw)},
		{SampleBranchStack, "lbr", handBranches(s.Branches)},
		{SampleRegsUser, "regs_user", regs(&s.UserRegs)},
		{SampleWeight, "weight", textDec(s.Weight)},
		{SampleWeightStruct, "var1_dw", textDec(uint32(s.Weight))},
		{SampleDataSrc, "data_src", textHex(s.DataSrc)},
		{SampleTransaction, "transaction", textHex(s.Transaction)},
		{SampleRegsIntr, "regs_intr", regs(&s.IntrRegs)},
		{SamplePhysAddr, "phys_addr", textHex(s.PhysAddr)},
		{SampleCgroup, "cgroup", textDec(s.Cgroup)},
		{SampleDataPageSize, "data_page_size", textDec(s.DataPageSize)},
		{SampleCodePageSize, "code_page_size", textDec(s.CodePageSize)},
		{SampleAux, "aux", hex.EncodeToString(s.Aux)},
	} {
		if a.SampleType.Has(f.bit) {
			list = append(list, handField{f.name, f.value})
		}
	}
	if a.SampleType.Has(SampleBranchStack) && a.BranchSampleType.Has(BranchHWIndex) {
		list = append(list, handField{"hw_idx", textDec(s.BranchHWIndex)})
	}
	return list
}

func handRead(f ReadFormat, r *Read) string {
	var b strings.Builder
	field := func(want bool, name string, v uint64) {
		if want {
			if s := b.String(); s != "" && !strings.HasSuffix(s, "{") {
				b.WriteByte(',')
			}
			b.WriteString(name + "=" + textDec(v))
		}
	}
	b.WriteByte('{')
	if !f.Has(ReadGroup) && len(r.Values) == 1 {
		field(true, "value", r.Values[0].Value)
	}
	field(f.Has(ReadTotalTimeEnabled), "time_enabled", r.TimeEnabled)
	field(f.Has(ReadTotalTimeRunning), "time_running", r.TimeRunning)
	if f.Has(ReadGroup) {
		if !strings.HasSuffix(b.String(), "{") {
			b.WriteByte(',')
		}
		b.WriteString("values=[")
	}
	for i := range r.Values {
		if f.Has(ReadGroup) {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteByte('{')
			field(true, "value", r.Values[i].Value)
		}
		field(f.Has(ReadID), "id", r.Values[i].ID)
		field(f.Has(ReadLost), "lost", r.Values[i].Lost)
		if f.Has(ReadGroup) {
			b.WriteByte('}')
		}
	}
	if f.Has(ReadGroup) {
		b.WriteByte(']')
	}
	return b.String() + "}"
}

func handBranches(branches []Branch) string {
	b := []byte("[")
	for i := range branches {
		r := &branches[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, "{from="+textHex(r.From)+",to="+textHex(r.To)+",flags="...)
		var flags uint64
		for i, set := range []bool{r.Mispredicted, r.Predicted, r.InTransaction, r.Abort} {
			if set {
				flags |= 1 << i
			}
		}
		b = append(b, textNames(branchFlagNames, flags)...)
		for _, f := range []struct {
			name string
			n    *notation
			v    uint64
		}{
			{"cycles", hiddenZeroDecimal, uint64(r.Cycles)},
			{"type", branchTypeNames, uint64(r.Type)},
			{"spec", branchSpecNames, uint64(r.Spec)},
			{"new_type", branchNewTypeNames, uint64(r.NewType)},
			{"priv", branchPrivNames, uint64(r.Priv)},
		} {
			if f.v != 0 {
				b = append(b, ","+f.name+"="+textNames(f.n, f.v)...)
			}
		}
		b = append(b, '}')
	}
	return string(append(b, ']'))
}

// textsWithQuotes are fields that are strings.
var textsWithQuotes = map[string]bool{"filename": true, "comm": true, "name": true, "kallsyms": true}

// compareFields reports where the line in f differs from want.
func compareFields(t *testing.T, what string, f *textFields, want []handField) {
	t.Helper()
	for _, w := range want {
		got := f.peek(w.name)
		if textsWithQuotes[w.name] {
			got = unquoteText(got)
		}
		if w.name == "lbr" { // reserved bits are not decoded
			for i := strings.Index(got, ",reserved="); i >= 0; i = strings.Index(got, ",reserved=") {
				got = got[:i] + got[i+strings.IndexByte(got[i:], '}'):]
			}
		}
		if got != w.value {
			t.Errorf("%s: %s: the spec says %q, the decoder %q", what, w.name, shorten(got), shorten(w.value))
		}
	}
}

// specInputs are the recordings and the fixtures.
func specInputs(t *testing.T) map[string][]byte {
	inputs := make(map[string][]byte)
	texts, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range texts {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		data, err := ParseText(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		inputs[name] = data
	}
	for _, dir := range []string{"simpleperf", "linux", "lbr"} {
		files, err := filepath.Glob("../../../shared/perfdata/" + dir + "/*")
		if err != nil {
			t.Fatal(err)
		}
		if len(files) == 0 {
			t.Logf("no recordings in shared/perfdata/%s: the fixtures must do", dir)
		}
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if IsPerfData(data) {
				inputs[name] = data
			}
		}
	}
	return inputs
}

// TestSpecsAgree compares what the specs of the text form make of a record with what
// the decoders of the package do. They do not share code.
func TestSpecsAgree(t *testing.T) {
	for name, data := range specInputs(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			f, err := New(bytes.NewReader(data), int64(len(data)), Options{})
			if err != nil {
				t.Fatal(err)
			}
			specAttrs(t, f, f.Attrs)
			var w textWriter
			w.start(f, f.BigEndian)
			compared := 0
			var line textLine
			for r, err := range f.Records() {
				if err != nil {
					t.Fatal(err)
				}
				want := handRecord(t, r)
				if want == nil {
					continue
				}
				w.x.out = w.x.out[:0]
				if err := w.recordFields(r.Offset, r.Type, r.Misc, r.Body); err != nil {
					t.Errorf("%v at %#x: %v", r.Type, r.Offset, err)
				}
				if _, err := line.parse(string(w.x.out)); err != nil {
					t.Fatalf("%v at %#x: %v", r.Type, r.Offset, err)
				}
				specTime(t, r, &line.fields)
				compareFields(t, r.Type.String()+" at "+textHex(uint64(r.Offset)), &line.fields, want)
				if compared++; t.Failed() {
					t.Fatal("and so on")
				}
			}
			if compared == 0 {
				t.Error("nothing compared")
			}
			if f.Pipe {
				specAttrs(t, f, f.Attrs)
			}
		})
	}
}

// specTime compares Record.Time with the time in the sample_id.
func specTime(t *testing.T, r *Record, f *textFields) {
	t.Helper()
	id := f.peek(textSampleID)
	if id == "" || r.Attr < 0 || !r.file.Attrs[r.Attr].SampleType.Has(SampleTime) {
		return
	}
	var inner textFields
	if err := inner.parse(strings.Trim(id, "{}"), ','); err != nil {
		t.Fatal(err)
	}
	if got := inner.peek("time"); got != textDec(r.Time) {
		t.Errorf("%v at %#x: the spec says time %s, the record %d", r.Type, r.Offset, got, r.Time)
	}
}

func specAttrs(t *testing.T, f *File, attrs []Attr) {
	t.Helper()
	for i := range attrs {
		a := &attrs[i]
		// Encode what was decoded, with the spec.
		text := strings.Join([]string{
			"attr",
			"type=" + textNames(eventTypeNames, uint64(a.Type)), "size=" + textDec(a.Size),
			"config=" + textHex(a.Config), "sample_period=" + textDec(a.SamplePeriod),
			"sample_type=" + textNames(sampleTypeNames, uint64(a.SampleType)),
			"read_format=" + textNames(readFormatNames, uint64(a.ReadFormat)),
			"flags=" + textNames(attrFlagNames, uint64(a.Flags&^(3<<15))), "precise_ip=" + textDec(a.Flags.PreciseIP()),
			"wakeup_events=" + textDec(a.WakeupEvents), "bp_type=" + textHex(a.BPType),
			"config1=" + textHex(a.Config1), "config2=" + textHex(a.Config2),
			"branch_sample_type=" + textNames(branchSampleTypeNames, uint64(a.BranchSampleType)),
			"sample_regs_user=" + textHex(a.SampleRegsUser), "sample_stack_user=" + textDec(a.SampleStackUser),
			"clockid=" + textDec(a.ClockID), "sample_regs_intr=" + textHex(a.SampleRegsIntr),
			"aux_watermark=" + textDec(a.AuxWatermark), "sample_max_stack=" + textDec(a.SampleMaxStack),
			"aux_sample_size=" + textDec(a.AuxSampleSize), "sig_data=" + textHex(a.SigData), "config3=" + textHex(a.Config3),
		}, " ")
		e := newTextEncoder(f.BigEndian)
		e.attrSize = 136
		if _, err := e.line.parse(text); err != nil {
			t.Fatal(err)
		}
		data, err := e.encode()
		if err != nil {
			t.Fatal(err)
		}
		c := cursor{data: data[:136], big: f.BigEndian}
		got := decodeAttr(&c)
		want := *a
		want.IDs, want.Name, want.layout = nil, "", sampleLayout{}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(Attr{}, sampleLayout{})); diff != "" {
			t.Errorf("attr %d differs after the spec has encoded it (-decoded +encoded):\n%s", i, diff)
		}
	}
}
