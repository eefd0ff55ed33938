package perffile

// featureSpecs are the features that fit on one line, must match the write_*
// functions in tools/perf/util/header.c.
var featureSpecs = map[Feature]textSpec{
	FeatureHostname:  {headerString("hostname")},
	FeatureOSRelease: {headerString("osrelease")},
	FeatureVersion:   {headerString("version")},
	FeatureArch:      {headerString("arch")},
	FeatureNrCPUs:    {dec32("nr_cpus_available"), dec32("nr_cpus_online")},
	FeatureCPUDesc:   {headerString("cpudesc")},
	FeatureCPUID:     {headerString("cpuid")},
	FeatureTotalMem:  {dec64("total_mem")},
	FeatureCmdline:   {headerStrings("args")},
	FeatureEventDesc: {(*textPrinter).eventDescs},
	FeatureCPUTopology: {
		headerStrings("core_siblings"), headerStrings("thread_siblings"),
		(*textPrinter).topologyCPUs,
	},
	FeatureNUMATopology: {structs(4, "nodes", 24,
		dec32("node"), dec64("mem_total"), dec64("mem_free"), headerString("cpus"))},
	FeatureBranchStack: {},
	FeaturePMUMappings: {structs(4, "pmus", 8, dec32("type"), headerString("name"))},
	FeatureGroupDesc: {structs(4, "groups", 12,
		headerString("name"), dec32("leader_idx"), dec32("nr_members"))},
	FeatureAuxtrace: {(*textPrinter).auxtraceIndex},
	FeatureStat:     {},
	FeatureCache: {dec32("version"), structs(4, "caches", 28,
		dec32("level"), dec32("line_size"), dec32("sets"), dec32("ways"),
		headerString("type"), headerString("size"), headerString("map"))},
	FeatureSampleTime: {dec64("first_sample_time"), dec64("last_sample_time")},
	FeatureMemTopology: {dec64("version"), dec64("block_size_bytes"), structs(8, "nodes", 24,
		dec64("node"), dec64("size"), (*textPrinter).bitmap)},
	FeatureClockID:   {dec64("clockid_res_ns")},
	FeatureDirFormat: {dec64("version")},
	FeatureCompressed: {
		dec32("comp_ver"), dec32("comp_type"), dec32("comp_level"), dec32("comp_ratio"), dec32("comp_mmap_len"),
	},
	FeatureCPUPMUCaps: {capsSpec},
	FeatureClockData:  {dec32("version"), dec32("clockid"), dec64("tod_ns"), dec64("clockid_ns")},
	FeatureHybridTopology: {structs(4, "nodes", 8,
		headerString("pmu_name"), headerString("cpus"))},
	FeaturePMUCaps: {structs(4, "pmus", 8, capsSpec, headerString("pmu_name"))},
}

var capsSpec = structs(4, "caps", 8, headerString("name"), headerString("value"))

// eventDescs are the events with the names that the recorder was given.
func (x *textPrinter) eventDescs() {
	n := uint64(x.c.u32())
	size := x.uint("attr_size", 4, decimal)
	if size < attrSizeVer0 && n > 0 || size > maxTextAttr {
		x.c.fail("event attributes of %d bytes", size)
		return
	}
	x.structs("events", n, 4+4+int(size), textSpec{
		nested("attr", func(x *textPrinter) { x.attrStruct(int(size)) }),
		func(x *textPrinter) {
			ids := uint64(x.c.u32())
			headerString("name")(x)
			x.numbers("ids", ids, 8, decimal)
		},
	})
}

// auxtraceIndex says where AUXTRACE records are. perf writes a number of entries
// first, simpleperf does not.
func (x *textPrinter) auxtraceIndex() {
	entry := textSpec{addr("file_offset"), dec64("sz")}
	if n := x.c.remaining(); n%16 == 0 && n > 0 {
		x.structs("bare_entries", uint64(n/16), 16, entry)
		return
	}
	x.structs("entries", x.c.u64(), 16, entry)
}

// topologyCPUs are the cores of the CPUs, and the dies of recorders since Linux 5.3.
// How many CPUs there are only NRCPUS tells.
func (x *textPrinter) topologyCPUs() {
	if x.c.remaining() == 0 {
		return // before Linux 3.19
	}
	n := uint64(x.c.remaining() / 8)
	if known := uint64(x.file.Info.CPUsAvailable); known > 0 {
		n = min(n, known)
	}
	x.structs("cpus", n, 8, textSpec{dec32("core_id"), dec32("socket_id")})
	optional(headerStrings("die_siblings"), restNumbers("die_ids", 4, decimal))(x)
}

// bitmap is what do_write_bitmap writes: a number of bits and the words.
func (x *textPrinter) bitmap() {
	n := min(x.uint("bits", 8, decimal), 1<<32) // enough to fail
	x.numbers("bitmap", (n+63)/64, 8, hexadecimal)
}

// headerFeature is a feature in a pipe.
func (x *textPrinter) headerFeature() {
	id := x.uint("feat_id", 8, featureNames)
	if spec, ok := featureSpecs[Feature(min(id, numFeatures))]; ok {
		x.run(spec)
		return
	}
	x.restBytes("data")
}

// featureNames has the features that String knows.
var featureNames = func() *notation {
	n := &notation{values: make([]string, numFeatures)}
	for _, known := range [...][2]Feature{{FeatureTracingData, FeaturePMUCaps}, {FeatureFile, FeatureInitMap}} {
		for f := known[0]; f <= known[1]; f++ {
			n.values[f] = f.String()
		}
	}
	return n
}()
