package perffiletest

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"profdiff/internal/perffile"
)

// Texts of values as the specs print them.

func textDec[T int | int32 | int64 | uint8 | uint16 | uint32 | uint64](v T) string {
	if v < 0 {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatUint(uint64(v), 10)
}

func textHex[T uint16 | uint32 | uint64](v T) string { return "0x" + strconv.FormatUint(uint64(v), 16) }

// textNames are the names of v, a decimal number if it has none.
func textNames(n *notation, v uint64) string {
	if v < uint64(len(n.values)) && n.values[v] != "" {
		return n.values[v]
	}
	var words []string
	for i, name := range n.bits {
		if name != "" && v>>i&1 != 0 {
			words = append(words, name)
			v &^= 1 << i
		}
	}
	switch {
	case len(words) == 0 && (v == 0 || n.bits == nil):
		return textDec(v)
	case v != 0:
		words = append(words, textHex(v))
	}
	return strings.Join(words, "|")
}

// textList is a list of hexadecimal numbers, of which n names some.
func textList(n *notation, list []uint64) string {
	var words []string
	for _, v := range list {
		word := n.wide[v]
		if word == "" {
			word = textHex(v)
		}
		words = append(words, word)
	}
	return "[" + strings.Join(words, ",") + "]"
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
func handRecord(t *testing.T, f *perffile.File, r *perffile.Record) []handField {
	t.Helper()
	check := func(err error) {
		if err != nil {
			t.Errorf("%v at %#x: %v", r.Type, r.Offset, err)
		}
	}
	switch r.Type {
	case perffile.RecordMmap, perffile.RecordMmap2:
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
		case r.Type == perffile.RecordMmap:
		case r.Misc&perffile.MiscMmapBuildID != 0:
			list = append(list, handField{"build_id_size", textDec(len(m.BuildID))})
		default:
			list = append(list, []handField{
				{"maj", textDec(m.Major)},
				{"min", textDec(m.Minor)},
				{"ino", textDec(m.Inode)},
				{"ino_generation", textDec(m.InodeGen)},
			}...)
		}
		if r.Type == perffile.RecordMmap2 {
			list = append(list, handField{"prot", textNames(protNames, uint64(m.Prot))}, handField{"flags", textHex(m.MmapFlags)})
		}
		return list
	case perffile.RecordComm:
		c, err := r.Comm()
		check(err)
		return []handField{{"pid", textDec(c.PID)}, {"tid", textDec(c.TID)}, {"comm", string(c.Name)}}
	case perffile.RecordFork, perffile.RecordExit:
		k, err := r.Task()
		check(err)
		return []handField{
			{"pid", textDec(k.PID)},
			{"ppid", textDec(k.PPID)},
			{"tid", textDec(k.TID)},
			{"ptid", textDec(k.PTID)},
			{"time", textDec(k.Time)},
		}
	case perffile.RecordLost, perffile.RecordLostSamples:
		n, _, err := r.Lost()
		check(err)
		return []handField{{"lost", textDec(n)}}
	case perffile.RecordKsymbol:
		k, err := r.Ksymbol()
		check(err)
		return []handField{
			{"addr", textHex(k.Addr)},
			{"len", textDec(k.Len)},
			{"ksym_type", textDec(k.KsymType)},
			{"name", string(k.Name)},
		}
	case perffile.RecordAux:
		size, _, err := r.AuxLoss()
		check(err)
		return []handField{{"aux_size", textDec(size)}}
	case perffile.RecordHeaderBuildID:
		b, err := r.BuildID()
		check(err)
		return []handField{{"pid", textDec(b.PID)}, {"filename", b.Path}}
	case perffile.RecordKernelSymbol:
		b, err := r.KernelSymbols()
		check(err)
		return []handField{{"kallsyms", string(bytes.TrimRight(b, "\x00"))}}
	case perffile.RecordCallchain:
		c, err := r.Callchain()
		check(err)
		return []handField{
			{"pid", textDec(c.PID)},
			{"tid", textDec(c.TID)},
			{"chain_type", textNames(chainTypeNames, c.Kind)},
			{"time", textDec(c.Time)},
			{"ips", textList(plain, c.IPs)},
			{"sps", textList(plain, c.SPs)},
		}
	case perffile.RecordUnwindingResult:
		u, err := r.UnwindingResult()
		check(err)
		return []handField{
			{"time", textDec(u.Time)},
			{"used_time", textDec(u.UsedTime)},
			{"error_code", textDec(u.ErrorCode)},
			{"error_addr", textHex(u.ErrorAddr)},
		}
	case perffile.RecordSample:
		var s perffile.Sample
		check(r.DecodeSample(&s))
		if s.Attr < 0 {
			return nil
		}
		return handSample(&f.Attrs[s.Attr], &s, f.BigEndian)
	}
	return nil
}

func handSample(a *perffile.Attr, s *perffile.Sample, big bool) []handField {
	regs := func(r *perffile.Regs) string {
		text := "{abi=" + textDec(r.ABI)
		if r.ABI != 0 {
			text += ",regs=" + textList(plain, r.Values)
		}
		return text + "}"
	}
	var list []handField
	for _, f := range []struct {
		bit         perffile.SampleType
		name, value string
	}{
		{perffile.SampleIdentifier, "identifier", textDec(s.ID)},
		{perffile.SampleIP, "ip", textHex(s.IP)},
		{perffile.SampleTID, "pid", textDec(s.PID)},
		{perffile.SampleTID, "tid", textDec(s.TID)},
		{perffile.SampleTime, "time", textDec(s.Time)},
		{perffile.SampleAddr, "addr", textHex(s.Addr)},
		{perffile.SampleID, "id", textDec(s.ID)},
		{perffile.SampleStreamID, "stream_id", textDec(s.StreamID)},
		{perffile.SampleCPU, "cpu", textDec(int32(s.CPU))},
		{perffile.SamplePeriod, "period", textDec(s.Period)},
		{perffile.SampleRead, "read", handRead(a.ReadFormat, &s.Read)},
		{perffile.SampleCallchain, "ips", textList(contextNames, s.Callchain)},
		{perffile.SampleRaw, "raw_data", hex.EncodeToString(s.Raw)},
		{perffile.SampleBranchStack, "lbr", handBranches(s.Branches)},
		{perffile.SampleRegsUser, "regs_user", regs(&s.UserRegs)},
		{perffile.SampleWeight, "weight", textDec(s.Weight)},
		{perffile.SampleWeightStruct, "var1_dw", textDec(uint32(s.Weight))},
		{perffile.SampleDataSrc, "data_src", textHex(s.DataSrc)},
		{perffile.SampleTransaction, "transaction", textHex(s.Transaction)},
		{perffile.SampleRegsIntr, "regs_intr", regs(&s.IntrRegs)},
		{perffile.SamplePhysAddr, "phys_addr", textHex(s.PhysAddr)},
		{perffile.SampleCgroup, "cgroup", textDec(s.Cgroup)},
		{perffile.SampleDataPageSize, "data_page_size", textDec(s.DataPageSize)},
		{perffile.SampleCodePageSize, "code_page_size", textDec(s.CodePageSize)},
		{perffile.SampleAux, "aux", hex.EncodeToString(s.Aux)},
	} {
		if a.SampleType.Has(f.bit) {
			list = append(list, handField{f.name, f.value})
		}
	}
	if a.SampleType.Has(perffile.SampleBranchStack) && a.BranchSampleType.Has(perffile.BranchHWIndex) {
		list = append(list, handField{"hw_idx", textDec(s.BranchHWIndex)})
	}
	return list
}

func handRead(f perffile.ReadFormat, r *perffile.Read) string {
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
	if !f.Has(perffile.ReadGroup) && len(r.Values) == 1 {
		field(true, "value", r.Values[0].Value)
	}
	field(f.Has(perffile.ReadTotalTimeEnabled), "time_enabled", r.TimeEnabled)
	field(f.Has(perffile.ReadTotalTimeRunning), "time_running", r.TimeRunning)
	if f.Has(perffile.ReadGroup) {
		if !strings.HasSuffix(b.String(), "{") {
			b.WriteByte(',')
		}
		b.WriteString("values=[")
	}
	for i := range r.Values {
		if f.Has(perffile.ReadGroup) {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteByte('{')
			field(true, "value", r.Values[i].Value)
		}
		field(f.Has(perffile.ReadID), "id", r.Values[i].ID)
		field(f.Has(perffile.ReadLost), "lost", r.Values[i].Lost)
		if f.Has(perffile.ReadGroup) {
			b.WriteByte('}')
		}
	}
	if f.Has(perffile.ReadGroup) {
		b.WriteByte(']')
	}
	return b.String() + "}"
}

func handBranches(branches []perffile.Branch) string {
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
			{"cycles", plain, uint64(r.Cycles)},
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
	texts, err := filepath.Glob("../testdata/*.txt")
	if err != nil || len(texts) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, name := range texts {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		inputs[name] = Fixture(t, string(text))
	}
	for _, dir := range []string{"simpleperf", "linux", "lbr"} {
		files, err := filepath.Glob("../../../../shared/perfdata/" + dir + "/*")
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
			if perffile.IsPerfData(data) {
				inputs[name] = data
			}
		}
	}
	return inputs
}

// A textRecord is a line of a record, or a comment that shows one out of a compressed
// record or out of pieces.
type textRecord struct {
	offset  int64
	keyword string
	fields  textFields
}

// textRecords are the records in the text of a recording.
func textRecords(t *testing.T, text string) (list []textRecord) {
	t.Helper()
	var offset int64
	for s := range strings.Lines(text) {
		s = strings.TrimSuffix(s, "\n")
		comment, inner := strings.CutPrefix(s, "#   ")
		if inner {
			s = comment
		}
		var line textLine
		if ok, err := line.parse(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		} else if !ok || !line.isRecord() {
			continue
		}
		if !inner {
			offset = line.offset
		}
		list = append(list, textRecord{offset, line.keyword, line.fields})
	}
	return list
}

// TestSpecsAgree compares what the text form says of a record with what the decoders
// of records do. They do not share code.
func TestSpecsAgree(t *testing.T) {
	for name, data := range specInputs(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			f, err := perffile.New(bytes.NewReader(data), int64(len(data)), perffile.Options{})
			if err != nil {
				t.Fatal(err)
			}
			specAttrs(t, f)
			lines := textRecords(t, writeText(t, data))
			compared := 0
			for r, err := range f.Records() {
				if err != nil {
					t.Fatal(err)
				}
				want := handRecord(t, f, r)
				if want == nil {
					continue
				}
				for len(lines) > 0 && (lines[0].offset != r.Offset || lines[0].keyword != r.Type.String()) {
					lines = lines[1:]
				}
				if len(lines) == 0 {
					t.Fatalf("%v at %#x is not in the text", r.Type, r.Offset)
				}
				fields := &lines[0].fields
				specTime(t, f, r, fields)
				compareFields(t, r.Type.String()+" at "+textHex(uint64(r.Offset)), fields, want)
				lines = lines[1:]
				if compared++; t.Failed() {
					t.Fatal("and so on")
				}
			}
			if compared == 0 {
				t.Error("nothing compared")
			}
			if f.Pipe {
				specAttrs(t, f)
			}
		})
	}
}

// specTime compares Record.Time with the time in the sample_id.
func specTime(t *testing.T, file *perffile.File, r *perffile.Record, f *textFields) {
	t.Helper()
	id := f.peek(textSampleID)
	if id == "" || r.Attr < 0 || !file.Attrs[r.Attr].SampleType.Has(perffile.SampleTime) {
		return
	}
	var inner textFields
	if err := inner.parse(strings.Trim(id, "{}"), ','); err != nil {
		t.Fatal(err)
	}
	if got := inner.peek("time"); got != textDec(r.Time) {
		t.Errorf("%v at %#x: the text says time %s, the record %d", r.Type, r.Offset, got, r.Time)
	}
}

// specAttrs encodes what the decoder says of events, and decodes it again.
func specAttrs(t *testing.T, f *perffile.File) {
	t.Helper()
	for i := range f.Attrs {
		a := &f.Attrs[i]
		order := "little"
		if f.BigEndian {
			order = "big"
		}
		text := strings.Join([]string{
			"header byte_order=" + order + " attr_size=152\nattr",
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
		data := Fixture(t, text)
		encoded, err := perffile.New(bytes.NewReader(data), int64(len(data)), perffile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ignored := []cmp.Option{
			cmpopts.IgnoreFields(perffile.Attr{}, "IDs", "Name"), cmpopts.IgnoreUnexported(perffile.Attr{}),
		}
		if diff := cmp.Diff(*a, encoded.Attrs[0], ignored...); diff != "" {
			t.Errorf("attr %d differs after the spec has encoded it (-decoded +encoded):\n%s", i, diff)
		}
	}
}
