package recording

import (
	"fmt"
	"strings"

	"profdiff/internal/branch"
	"profdiff/internal/branch/code"
	"profdiff/internal/branch/events"
	"profdiff/internal/branch/samples"
	"profdiff/internal/branch/stacks"
	"profdiff/internal/input"
	"profdiff/internal/objects"
	"profdiff/internal/perffile"
	"profdiff/internal/perfsession"
	"profdiff/internal/symbolizer"
	"profdiff/internal/verdict"
)

// readPerfData reads the branches of a perf.data file.
func readPerfData(src *input.Source, opt *branch.Options) (*branch.Table, error) {
	r, size, err := src.Random()
	if err != nil {
		return nil, err
	}
	file, err := perffile.New(r, size, perffile.Options{AllowTruncated: opt.AllowTruncated, Parts: src.Parts, Kallsyms: src.Kallsyms})
	if err != nil {
		return nil, err
	}
	least, err := stacks.SettledWeights(file)
	if err != nil {
		return nil, err
	}
	session := perfsession.New(file)
	session.Written = perfsession.Written{Created: src.Created, Modified: src.Modified}
	made := objects.Recording{Dir: src.Dir, Host: file.Info.Hostname, Ended: perfsession.Ended(&file.Info, src.Modified)}
	p := &perfData{file: file, opt: opt, names: opt.Symbols(made), sampler: samples.New()}
	code := code.New(p.names.Objects)
	defer code.Close()
	p.c = stacks.New(&session.Spaces, code)
	p.c.Least = least
	if err := session.Replay(p); err != nil {
		return nil, err
	}
	p.c.Account(file, &session.Stats, p.sampler.Counters.Totals())
	var names []string
	for i := range file.Attrs {
		names = append(names, file.Attrs[i].Name)
	}
	tier, sampled := p.sampler.Tier(file, opt)
	sampled = sampled && p.c.Entries.In == 0
	err = opt.Missing(names)
	if err == nil && !sampled {
		err = p.c.Check(opt, names, howToRecord(&file.Info))
	}
	if err != nil {
		return nil, err
	}
	z, err := p.symbolizer(session)
	if err != nil {
		return nil, err
	}
	info := &file.Info
	t := &branch.Table{Name: src.Name, Format: "perf.data", Arch: info.Arch, CPU: info.CPUDesc}
	t.Recorded = verdict.Moment{Start: session.Stats.Start(info), Clock: session.Stats.First, Host: info.Hostname}
	t.Tool = info.Tool()
	if info.Simpleperf() {
		t.Tool = strings.TrimSpace("simpleperf " + info.MetaInfo["simpleperf_version"])
	}
	if session.Stats.Late > 0 {
		t.Warnings = append(t.Warnings, fmt.Sprintf("%d records were out of order by more than a round", session.Stats.Late))
	}
	for _, doubt := range []fmt.Stringer{&session.Stats.Unread, &session.Stats.Doubted} {
		if line := doubt.String(); line != "" {
			t.Warnings = append(t.Warnings, line)
		}
	}
	if e := file.Stats.Truncated; e != nil {
		t.Warnings = append(t.Warnings, "recording is incomplete: "+e.Error())
	}
	if sampled {
		code.Recorded = z.RecordedFunctions
		err = p.sampler.Finish(t, tier, &samples.Recording{
			File: file, Options: opt, Code: code, Symbolizer: z, Kernel: session.Kernel(), Stats: &session.Stats, Unwanted: p.unwanted,
		})
	} else {
		p.c.Unknown = stacks.Synthesized(file)
		p.c.Finish(t, opt, z, info.CPUID)
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
	case info.Simpleperf() && events.IsArm(info.Arch):
		return stacks + " if the CPU has them, or samples of branch misses with simpleperf record -e r22:u,r21:u,instructions:u,cpu-cycles:u -c 100003"
	case info.Simpleperf():
		return stacks + ", or samples of branch misses with simpleperf record -e branch-misses:u,branch-instructions:u,instructions:u,cpu-cycles:u -c 100003"
	case events.IsArm(info.Arch):
		return stacks + " if the CPU has them, or samples of branch misses with perf record -e '{r22:u,r21:u,instructions:u,cycles:u}' -c 100003"
	}
	return stacks + ", or samples of branch misses with perf record -e '{branch-misses:u,branches:u,instructions:u,cycles:u}' -c 100003"
}

// A perfData hands the samples of a recording to those who collect them.
type perfData struct {
	file     *perffile.File
	opt      *branch.Options
	names    symbolizer.Options
	c        *stacks.Collector
	sampler  *samples.Sampler // has the addresses of samples while there are no stacks
	unwanted int64            // samples of events that are not to be read
}

// Sample implements [perfsession.Handler].
func (p *perfData) Sample(s *perfsession.Sample) error {
	if !p.opt.Wanted(p.file.Attrs[s.Event].Name) {
		p.c.LeaveOut(branch.DropEvent)
		p.unwanted++
		return nil
	}
	switch {
	case p.c.Entries.In == 0:
		p.sampler.Add(p.file, s)
	case len(s.Raw.Read.Values) > 0:
		p.sampler.Counters.Note(p.file, s)
	}
	p.c.AddSample(p.file, s)
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
	return z, z.AddRecording(session)
}
