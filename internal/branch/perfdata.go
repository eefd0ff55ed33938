package branch

import (
	"bytes"
	"fmt"
	"io"
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
	p := &perfData{file: file, opt: opt, names: opt.names(), sampler: newSampler()}
	code := newBinaries(p.names.Files)
	defer code.Close()
	p.c = newCollector(&session.Spaces, code)
	p.c.least = least
	if err := session.Replay(p); err != nil {
		return nil, err
	}
	p.c.account(file, &session.Stats, p.sampler.counters.totals())
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
		code.recorded = z.RecordedFunctions
		err = p.sampler.finish(t, tier, &sampledRecording{
			file: file, opt: opt, binaries: code, z: z, kernel: session.Kernel(), stats: &session.Stats, unwanted: p.unwanted,
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

// A perfData hands the samples of a recording to those who collect them.
type perfData struct {
	file     *perffile.File
	opt      *Options
	names    symbolizer.Options
	c        *collector
	sampler  *sampler // has the addresses of samples while there are no stacks
	unwanted int64    // samples of events that are not to be read
}

// Sample implements [perfsession.Handler].
func (p *perfData) Sample(s *perfsession.Sample) error {
	if !p.opt.wanted(p.file.Attrs[s.Event].Name) {
		p.c.leaveOut(dropEvent)
		p.unwanted++
		return nil
	}
	switch {
	case p.c.entries.In == 0:
		p.sampler.add(p.file, s)
	case len(s.Raw.Read.Values) > 0:
		p.sampler.counters.note(p.file, s)
	}
	p.c.addSample(p.file, s)
	return nil
}

// Switch implements [perfsession.Handler].
func (p *perfData) Switch(perfsession.Switch) error { return nil }

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
