package branch

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"profdiff/internal/objfile"
	"profdiff/internal/perffile"
	"profdiff/internal/perfsession"
	"profdiff/internal/symbolizer"
)

// ReadPerfData reads the branch stacks of a perf.data file of size bytes. name is what
// the user called it.
func ReadPerfData(name string, r io.ReaderAt, size int64, opt *Options) (*Table, error) {
	file, err := perffile.New(r, size, perffile.Options{AllowTruncated: opt.AllowTruncated})
	if err != nil {
		return nil, err
	}
	least, err := settledWeights(file, r, size, opt)
	if err != nil {
		return nil, err
	}
	session := perfsession.New(file)
	p := &perfData{file: file, opt: opt, names: opt.names(), least: least, sampler: newSampler()}
	p.c = newCollector(&session.Spaces, newBinaries(p.names.Files))
	defer p.c.binaries.close()
	if err := session.Replay(p); err != nil {
		return nil, err
	}
	p.addEvents()
	p.account(&session.Stats)
	for i, c := range p.sampler.counters.totals() {
		p.c.events[p.events[i]].counted = c
	}
	for k, g := range file.Info.Groups {
		for i := uint64(g.Leader); i < min(uint64(g.Leader)+uint64(g.N), uint64(len(p.events))); i++ {
			p.c.events[p.events[i]].group = k + 1
		}
	}
	var names []string
	for i := range file.Attrs {
		names = append(names, file.Attrs[i].Name)
	}
	tier, sampled := p.sampler.tierOf(file, opt)
	sampled = sampled && p.c.entries.In == 0
	err = opt.missing(names)
	if err == nil && !sampled {
		err = p.c.check(opt, names, howToRecord(&file.Info))
	}
	if err != nil {
		return nil, err
	}
	z, err := p.symbolizer(session)
	if err != nil {
		return nil, err
	}
	info := &file.Info
	t := &Table{Name: name, Format: "perf.data", Arch: info.Arch, CPU: info.CPUDesc}
	if info.Version != "" {
		t.Tool = "perf " + info.Version
	}
	if info.Simpleperf() {
		t.Tool = strings.TrimSpace("simpleperf " + info.MetaInfo["simpleperf_version"])
	}
	if session.Stats.Late > 0 {
		t.Warnings = append(t.Warnings, fmt.Sprintf("%d records were out of order by more than a round", session.Stats.Late))
	}
	if e := file.Stats.Truncated; e != nil {
		t.Warnings = append(t.Warnings, "recording is incomplete: "+e.Error())
	}
	if sampled {
		err = p.sampler.finish(t, tier, &sampledRecording{
			file: file, opt: opt, names: p.names, z: z, kernel: session.Kernel(), stats: &session.Stats, unwanted: p.unwanted,
		})
	} else {
		p.c.unknown = synthesized(file)
		p.c.finish(t, opt, z, info.CPUID)
	}
	if err != nil {
		return nil, err
	}
	t.Warnings = append(t.Warnings, z.Warnings()...)
	return t, nil
}

// howToRecord says what to record on the machine of a recording.
func howToRecord(info *perffile.Info) string {
	const stacks = "record them with perf record -b or simpleperf record -b"
	switch {
	case info.Simpleperf() && isArm(info.Arch):
		return stacks + " if the CPU has them, or samples of branch misses with simpleperf record -e r22:u,r21:u,instructions:u,cpu-cycles:u -c 100003"
	case info.Simpleperf():
		return stacks + ", or samples of branch misses with simpleperf record -e branch-misses:u,branch-instructions:u,instructions:u,cpu-cycles:u -c 100003"
	case isArm(info.Arch):
		return stacks + " if the CPU has them, or samples of branch misses with perf record -e '{r22:u,r21:u,instructions:u,cycles:u}' -c 100003"
	}
	return stacks + ", or samples of branch misses with perf record -e '{branch-misses:u,branches:u,instructions:u,cycles:u}' -c 100003"
}

// A perfData hands the stacks of a recording to a collector.
type perfData struct {
	file   *perffile.File
	opt    *Options
	names  symbolizer.Options
	c      *collector
	events []int
	stack  stack
	// sampler has the addresses of samples while there are no stacks; nil to have none.
	sampler  *sampler
	unwanted int64    // samples of events that are not to be read
	least    []uint64 // by index in File.Attrs, see settledWeights
}

// settledWeights returns for each event the weight below which the period of samples
// with stacks had not settled. If the recorder varied it, which weights
// are usual is known only when all have been read.
func settledWeights(file *perffile.File, r io.ReaderAt, size int64, opt *Options) ([]uint64, error) {
	varies := func(a *perffile.Attr) bool {
		return a.FixedPeriod() == 0 && a.SampleType.Has(perffile.SamplePeriod|perffile.SampleBranchStack)
	}
	// Recordings of pipes have their events among the records.
	if len(file.Attrs) > 0 && !slices.ContainsFunc(file.Attrs, func(a perffile.Attr) bool { return varies(&a) }) {
		return nil, nil
	}
	first, err := perffile.New(r, size, perffile.Options{AllowTruncated: opt.AllowTruncated})
	if err != nil {
		return nil, err
	}
	var weights [][]uint64
	var sample perffile.Sample
	for record, err := range first.Records() {
		if err != nil {
			return nil, err
		}
		if record.Type != perffile.RecordSample {
			continue
		}
		if err := record.DecodeSample(&sample); err != nil {
			return nil, err
		}
		if sample.Attr < 0 || !varies(&first.Attrs[sample.Attr]) {
			continue
		}
		for len(weights) <= sample.Attr {
			weights = append(weights, nil)
		}
		weights[sample.Attr] = append(weights[sample.Attr], sample.Period)
	}
	least := make([]uint64, len(weights))
	for i := range weights {
		least[i] = settled(weights[i])
	}
	return least, nil
}

// addEvents adds the events that have become known.
func (p *perfData) addEvents() {
	for i := len(p.events); i < len(p.file.Attrs); i++ {
		a := &p.file.Attrs[i]
		e := Event{Name: a.Name, Period: a.FixedPeriod(), Precise: a.Flags.PreciseIP() > 0, Counts: attrCounts(a, &p.file.Info)}
		const anyBranch = 1 << 3 // PERF_SAMPLE_BRANCH_ANY
		n := p.c.event(e, a.BranchSampleType.Has(anyBranch))
		if i < len(p.least) {
			p.c.events[n].least = float64(p.least[i])
		}
		p.events = append(p.events, n)
	}
}

// Sample implements [perfsession.Handler].
func (p *perfData) Sample(s *perfsession.Sample) error {
	if len(p.events) < len(p.file.Attrs) {
		p.addEvents()
	}
	attr := &p.file.Attrs[s.Event]
	if !p.opt.wanted(attr.Name) {
		p.c.samples.In++
		p.c.samples.drop(dropEvent, 1)
		p.unwanted++
		return nil
	}
	switch {
	case p.sampler == nil:
	case p.c.entries.In == 0:
		p.sampler.add(p.file, s)
	case len(s.Raw.Read.Values) > 0:
		p.sampler.counters.note(p.file, s)
	}
	st := &p.stack
	st.event, st.pid, st.weight = p.events[s.Event], s.Raw.PID, float64(s.Weight)
	if !s.Raw.HasPeriod && attr.FixedPeriod() == 0 {
		p.c.events[st.event].weightless = true
	}
	st.entries = st.entries[:0]
	if attr.BranchSampleType.Has(perffile.BranchCallStack) && len(s.Raw.Branches) > 0 {
		p.c.samples.In++
		p.c.samples.drop(dropCallStack, 1)
		return nil
	}
	for i := range s.Raw.Branches {
		b := &s.Raw.Branches[i]
		const wrongPath = 1 // PERF_BR_SPEC_WRONG_PATH
		st.entries = append(st.entries, entry{
			from: b.From, to: b.To, mispredicted: b.Mispredicted, predicted: b.Predicted,
			wrongPath: b.Spec == wrongPath, cycles: b.Cycles, kind: kernelKind(b.Type),
		})
	}
	p.c.add(st)
	return nil
}

// Switch implements [perfsession.Handler].
func (p *perfData) Switch(perfsession.Switch) error { return nil }

func (p *perfData) account(s *perfsession.Stats) {
	a := &p.c.samples
	a.In += s.UnknownEvent + s.BadPeriod
	a.drop(dropUnknownEvent, s.UnknownEvent)
	a.drop(dropBadPeriod, s.BadPeriod)
	a.Lost = s.LostSamples()
	for i, n := range s.Lost {
		if i >= 0 && i < len(p.events) {
			p.c.events[p.events[i]].lost = n
		}
	}
}

// symbolizer names addresses by the symbols of the recording and those that the
// options have.
func (p *perfData) symbolizer(session *perfsession.Session) (*symbolizer.Symbolizer, error) {
	names := p.names
	names.Simpleperf = p.file.Info.Simpleperf()
	z := symbolizer.New(names)
	for f, err := range p.file.SymbolFiles() {
		if err != nil {
			return nil, err
		}
		z.AddRecorded(recordedFile(f))
	}
	if k := session.Kallsyms; k != nil {
		if t, err := objfile.ParseKallsyms(bytes.NewReader(k)); err == nil {
			z.SetKallsyms(t)
		}
	}
	return z, nil
}

func recordedFile(f *perffile.SymbolFile) *symbolizer.RecordedFile {
	r := &symbolizer.RecordedFile{Path: f.Path, Kind: symbolizer.UnknownFile, MinVaddr: f.MinVaddr, Offset: f.OffsetOfMinVaddr, HasOffset: f.HasOffset, DexOffsets: f.DexFileOffsets}
	switch f.Type {
	case perffile.DSOKernel:
		r.Kind = symbolizer.KernelImage
	case perffile.DSOKernelModule:
		r.Kind = symbolizer.KernelModule
	case perffile.DSOELF:
		r.Kind = symbolizer.ELFFile
	case perffile.DSODex:
		r.Kind = symbolizer.DEXFile
	case perffile.DSOSymbolMap:
		r.Kind = symbolizer.SymbolMapFile
	}
	for _, s := range f.Symbols {
		r.Symbols = append(r.Symbols, symbolizer.RecordedSymbol{Addr: s.Addr, Len: uint64(s.Len), Name: s.Name})
	}
	return r
}
