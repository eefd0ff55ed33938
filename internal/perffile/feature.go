package perffile

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// A Feature is an optional part of the header, must match enum HEADER_* in
// tools/perf/util/header.h and, from 128, FEAT_* in
// simpleperf/record_file_format.h.
type Feature int

const (
	FeatureTracingData     Feature = 1   // TRACING_DATA
	FeatureBuildID         Feature = 2   // BUILD_ID
	FeatureHostname        Feature = 3   // HOSTNAME
	FeatureOSRelease       Feature = 4   // OSRELEASE
	FeatureVersion         Feature = 5   // VERSION
	FeatureArch            Feature = 6   // ARCH
	FeatureNrCPUs          Feature = 7   // NRCPUS
	FeatureCPUDesc         Feature = 8   // CPUDESC
	FeatureCPUID           Feature = 9   // CPUID
	FeatureTotalMem        Feature = 10  // TOTAL_MEM
	FeatureCmdline         Feature = 11  // CMDLINE
	FeatureEventDesc       Feature = 12  // EVENT_DESC
	FeatureCPUTopology     Feature = 13  // CPU_TOPOLOGY
	FeatureNUMATopology    Feature = 14  // NUMA_TOPOLOGY
	FeatureBranchStack     Feature = 15  // BRANCH_STACK
	FeaturePMUMappings     Feature = 16  // PMU_MAPPINGS
	FeatureGroupDesc       Feature = 17  // GROUP_DESC
	FeatureAuxtrace        Feature = 18  // AUXTRACE
	FeatureStat            Feature = 19  // STAT
	FeatureCache           Feature = 20  // CACHE
	FeatureSampleTime      Feature = 21  // SAMPLE_TIME
	FeatureMemTopology     Feature = 22  // MEM_TOPOLOGY
	FeatureClockID         Feature = 23  // CLOCKID
	FeatureDirFormat       Feature = 24  // DIR_FORMAT
	FeatureBPFProgInfo     Feature = 25  // BPF_PROG_INFO
	FeatureBPFBTF          Feature = 26  // BPF_BTF
	FeatureCompressed      Feature = 27  // COMPRESSED
	FeatureCPUPMUCaps      Feature = 28  // CPU_PMU_CAPS
	FeatureClockData       Feature = 29  // CLOCK_DATA
	FeatureHybridTopology  Feature = 30  // HYBRID_TOPOLOGY
	FeaturePMUCaps         Feature = 31  // PMU_CAPS
	FeatureFile            Feature = 128 // FILE
	FeatureMetaInfo        Feature = 129 // META_INFO
	FeatureDebugUnwind     Feature = 130 // DEBUG_UNWIND
	FeatureDebugUnwindFile Feature = 131 // DEBUG_UNWIND_FILE
	FeatureFile2           Feature = 132 // FILE2
	FeatureETMBranchList   Feature = 133 // ETM_BRANCH_LIST
	FeatureInitMap         Feature = 134 // INIT_MAP

	numFeatures = 256
)

// Info is what the header says about the recording. Absent facts are zero.
type Info struct {
	Hostname  string
	OSRelease string // kernel, as uname -r prints it
	Version   string // of perf
	Arch      string // as uname -m prints it
	CPUDesc   string // model name
	CPUID     string // vendor,family,model,stepping on x86, MIDR on Arm
	// CPUsOnline and CPUsAvailable count CPUs.
	CPUsOnline, CPUsAvailable uint32
	TotalMem                  uint64 // KiB
	Cmdline                   []string
	BuildIDs                  []BuildID
	EventDescs                []EventDesc
	PMUs                      []PMU
	Groups                    []Group
	// FirstSample and LastSample are times on the recording's clock.
	FirstSample, LastSample uint64
	// Clock relates the recording's clock to the wall clock.
	Clock Clock
	// MetaInfo is what simpleperf notes: simpleperf_version, timestamp,
	// product_props, trace_offcpu, …
	MetaInfo map[string]string
	// Features lists the features that the header has, in order.
	Features []Feature
}

// Tool is the recorder with its version: perf writes its version alone, others their name.
func (i *Info) Tool() string {
	if i.Version == "" || strings.HasPrefix(i.Version, "profdiff") {
		return i.Version
	}
	return "perf " + i.Version
}

// Simpleperf reports whether simpleperf made the recording.
func (i *Info) Simpleperf() bool {
	for _, f := range i.Features {
		if f >= FeatureFile {
			return true
		}
	}
	return len(i.Cmdline) > 0 && strings.HasSuffix(i.Cmdline[0], "simpleperf")
}

// An EventDesc is an event with the name that the recorder was given.
type EventDesc struct {
	Attr Attr
	Name string
	IDs  []uint64
}

// A PMU is a performance monitoring unit and the number of its events' type.
type PMU struct {
	Type EventType
	Name string
}

// A Group is a set of events that were scheduled together.
type Group struct {
	Name   string
	Leader uint32 // index in File.Attrs
	N      uint32 // members, the leader included
}

// A Clock gives one instant on the recording's clock and on the wall clock.
type Clock struct {
	ID        uint32 // CLOCK_*
	WallNanos uint64 // since 1970
	Nanos     uint64 // on the recording's clock at that instant
	Valid     bool
}

// readFeatures reads the table of features at off, which follows the data section,
// and what is small among them.
func (f *File) readFeatures(off int64, features []Feature) error {
	f.Info.Features = features
	n := int64(16 * len(features))
	if n > f.size-off {
		return &FormatError{Section: "features", Offset: off, Truncated: true, Msg: fmt.Sprintf("table of %d bytes exceeds the file of %d bytes", n, f.size)}
	}
	table, err := f.readAt("features", section{off, n})
	if err != nil {
		return err
	}
	for _, feature := range features {
		at := off + int64(table.off)
		start, size := table.u64(), table.u64()
		if start > uint64(f.size) || size > uint64(f.size)-start {
			return &FormatError{Section: "features", Offset: at, Truncated: true, Msg: fmt.Sprintf("%v of %d bytes at %#x exceeds the file of %d bytes", feature, size, start, f.size)}
		}
		f.features[feature] = section{int64(start), int64(size)}
	}
	for _, feature := range features {
		s := f.features[feature]
		if !decodedFeatures[feature] || s.size == 0 {
			continue
		}
		c, err := f.readAt("feature "+feature.String(), s)
		if err != nil {
			return err
		}
		f.decodeFeature(feature, &c)
		if c.err != nil {
			return c.err
		}
	}
	return nil
}

// decodedFeatures are the features that decodeFeature knows.
var decodedFeatures = map[Feature]bool{
	FeatureBuildID: true, FeatureHostname: true, FeatureOSRelease: true, FeatureVersion: true,
	FeatureArch: true, FeatureNrCPUs: true, FeatureCPUDesc: true, FeatureCPUID: true,
	FeatureTotalMem: true, FeatureCmdline: true, FeatureEventDesc: true, FeaturePMUMappings: true,
	FeatureGroupDesc: true, FeatureSampleTime: true, FeatureClockID: true, FeatureClockData: true,
	FeatureMetaInfo: true,
}

// decodeFeature decodes one feature into f.Info, must match the write_* functions
// in tools/perf/util/header.c.
func (f *File) decodeFeature(feature Feature, c *fieldReader) {
	i := &f.Info
	if f.Pipe && !slices.Contains(i.Features, feature) {
		i.Features = append(i.Features, feature)
	}
	switch feature {
	case FeatureBuildID:
		for c.remaining() >= recordHeaderSize && c.err == nil {
			i.BuildIDs = append(i.BuildIDs, decodeBuildIDEntry(c))
		}
	case FeatureHostname:
		i.Hostname = c.headerString()
	case FeatureOSRelease:
		i.OSRelease = c.headerString()
	case FeatureVersion:
		i.Version = c.headerString()
	case FeatureArch:
		i.Arch = c.headerString()
	case FeatureNrCPUs:
		i.CPUsAvailable, i.CPUsOnline = c.u32(), c.u32()
	case FeatureCPUDesc:
		i.CPUDesc = c.headerString()
	case FeatureCPUID:
		i.CPUID = c.headerString()
	case FeatureTotalMem:
		i.TotalMem = c.u64()
	case FeatureCmdline:
		i.Cmdline = nil
		for n := c.u32(); n > 0 && c.err == nil; n-- {
			i.Cmdline = append(i.Cmdline, c.headerString())
		}
	case FeatureEventDesc:
		i.EventDescs = decodeEventDescs(c)
	case FeaturePMUMappings:
		i.PMUs = nil
		for n := c.u32(); n > 0 && c.err == nil; n-- {
			i.PMUs = append(i.PMUs, PMU{EventType(c.u32()), c.headerString()})
		}
	case FeatureGroupDesc:
		i.Groups = nil
		for n := c.u32(); n > 0 && c.err == nil; n-- {
			i.Groups = append(i.Groups, Group{c.headerString(), c.u32(), c.u32()})
		}
	case FeatureSampleTime:
		i.FirstSample, i.LastSample = c.u64(), c.u64()
	case FeatureClockData:
		c.u32() // version
		i.Clock = Clock{ID: c.u32(), WallNanos: c.u64(), Nanos: c.u64(), Valid: c.err == nil}
	case FeatureMetaInfo:
		// Values may be empty: simpleperf writes them so on Linux hosts, and then
		// refuses its own file.
		i.MetaInfo = make(map[string]string)
		for c.remaining() > 0 && c.err == nil {
			key := string(c.cstring())
			i.MetaInfo[key] = string(c.cstring())
		}
	}
}

// decodeBuildIDEntry decodes one entry of the build ID feature: a record whose
// type perf leaves zero.
func decodeBuildIDEntry(c *fieldReader) BuildID {
	c.u32()
	misc := Misc(c.u16())
	size := c.u16()
	if size < recordHeaderSize {
		c.fail("build ID entry of %d bytes", size)
		return BuildID{}
	}
	ec := fieldReader{base: c.base + int64(c.off), section: c.section, big: c.big}
	ec.data = c.bytes(uint64(size - recordHeaderSize))
	b := decodeBuildID(&ec, misc)
	if c.err == nil {
		c.err = ec.err
	}
	return b
}

func decodeEventDescs(c *fieldReader) []EventDesc {
	n, size := c.u32(), c.u32()
	if size < attrSizeVer0 && n > 0 {
		c.fail("event attributes of %d bytes", size)
	}
	var descs []EventDesc
	for ; n > 0 && c.err == nil; n-- {
		ac := fieldReader{base: c.base + int64(c.off), section: c.section, big: c.big}
		ac.data = c.bytes(uint64(size))
		d := EventDesc{Attr: decodeAttr(&ac)}
		ids := c.u32()
		d.Name = c.headerString()
		d.IDs = c.u64s(nil, uint64(ids))
		if c.err == nil {
			c.err = ac.err
		}
		descs = append(descs, d)
	}
	return descs
}

// readEventTypes reads the table of names that perf wrote before 3.11, must match
// struct perf_trace_event_type.
func (f *File) readEventTypes(s section) error {
	const entry = 8 + 64
	if s.size < entry {
		return nil
	}
	c, err := f.readAt("event_types", s)
	if err != nil {
		return err
	}
	for c.remaining() >= entry {
		config, name := c.u64(), c.fixedString(64)
		f.nameByConfig(config, string(name))
	}
	return nil
}

func (f *File) nameByConfig(config uint64, name string) {
	for i := range f.Attrs {
		if a := &f.Attrs[i]; a.Config == config && a.Name == "" && name != "" {
			a.Name = name
		}
	}
}

// nameAttrs gives names to the events: the recorder's own name, else the name in
// simpleperf's table or in the PMU's, else a default one.
func (f *File) nameAttrs() {
	meta := metaEventNames(f.Info.MetaInfo["event_type_info"])
	simpleperf := f.Info.Simpleperf()
	for i := range f.Attrs {
		a := &f.Attrs[i]
		if name := f.descName(i); name != "" {
			a.Name = name
			continue
		}
		name, ok := meta[metaEvent{a.Type, a.Config}]
		if !ok && a.Type > TypeBreakpoint {
			// The config of cs-etm holds options, the table has zero.
			name, ok = meta[metaEvent{a.Type, 0}]
		}
		if ok {
			a.Name = name + a.modifiers()
			continue
		}
		if a.Name != "" {
			continue
		}
		a.Name = a.defaultName(simpleperf)
		if a.Type > TypeBreakpoint {
			for _, p := range f.Info.PMUs {
				if p.Type == a.Type {
					a.Name = fmt.Sprintf("%s/config=%#x/", p.Name, a.Config) + a.modifiers()
				}
			}
		}
	}
}

// TracePMU returns the name of the PMU whose hardware trace event i switches on, "" if
// the event is of another kind. Such an event has no samples of its own.
func (f *File) TracePMU(i int) string {
	a := &f.Attrs[i]
	for _, p := range f.Info.PMUs {
		if p.Type == a.Type && a.Type > TypeBreakpoint {
			if pmu := TracePMU(p.Name); pmu != "" {
				return pmu
			}
		}
	}
	return TracePMU(a.Name)
}

// TracePMU returns the name of the PMU of hardware traces that the name of an event or of
// a PMU starts with, "" if there is none.
func TracePMU(name string) string {
	name = strings.Replace(name, "cs-etm", "cs_etm", 1) // as simpleperf has it
	for _, pmu := range []string{"arm_spe", "cs_etm", "hisi_ptt", "intel_bts", "intel_pt"} {
		if strings.HasPrefix(name, pmu) {
			return pmu
		}
	}
	return ""
}

// descName finds the name of event i in the EVENT_DESC feature: by the ids, or,
// where no side has any, by position.
func (f *File) descName(i int) string {
	a := &f.Attrs[i]
	for j := range f.Info.EventDescs {
		d := &f.Info.EventDescs[j]
		if len(d.IDs) > 0 && len(a.IDs) > 0 {
			if slices.Contains(a.IDs, d.IDs[0]) {
				return d.Name
			}
			continue
		}
		if j == i && d.Attr.Type == a.Type && d.Attr.Config == a.Config {
			return d.Name
		}
	}
	return ""
}

type metaEvent struct {
	t      EventType
	config uint64
}

// metaEventNames parses simpleperf's table of events that are not generic: lines
// of name,type,config.
func metaEventNames(table string) map[metaEvent]string {
	names := make(map[metaEvent]string)
	for line := range strings.Lines(table) {
		// The name may hold commas (PMU events do), the numbers do not.
		line = strings.TrimSuffix(line, "\n")
		rest, config, ok1 := cutLast(line, ",")
		name, kind, ok2 := cutLast(rest, ",")
		if !ok1 || !ok2 {
			continue
		}
		t, err1 := strconv.ParseUint(kind, 0, 32)
		c, err2 := strconv.ParseUint(config, 0, 64)
		if err1 == nil && err2 == nil {
			names[metaEvent{EventType(t), c}] = name
		}
	}
	return names
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

var errNoFeature = errors.New("no such feature")

// Feature returns the raw contents of a feature of a file.
func (f *File) Feature(feature Feature) (io.Reader, error) {
	if feature < 0 || feature >= numFeatures || f.features[feature].size < 0 {
		return nil, errNoFeature
	}
	s := f.features[feature]
	return io.NewSectionReader(f.src, s.off, s.size), nil
}
