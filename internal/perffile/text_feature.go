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
	FeatureCmdline:   {strs("nr", "args")},
	FeatureEventDesc: {(*textCodec).eventDescs},
	FeatureCPUTopology: {
		strs("nr_cores", "core_siblings"), strs("nr_threads", "thread_siblings"),
		(*textCodec).topologyCPUs,
	},
	FeatureNUMATopology: {structs("nr", 4, "nodes", 24,
		dec32("node"), dec64("mem_total"), dec64("mem_free"), headerString("cpus"))},
	FeatureBranchStack: {},
	FeaturePMUMappings: {structs("nr", 4, "pmus", 8, dec32("type"), headerString("name"))},
	FeatureGroupDesc: {structs("nr", 4, "groups", 12,
		headerString("name"), dec32("leader_idx"), dec32("nr_members"))},
	FeatureAuxtrace: {(*textCodec).auxtraceIndex},
	FeatureStat:     {},
	FeatureCache: {dec32("version"), structs("nr", 4, "caches", 28,
		dec32("level"), dec32("line_size"), dec32("sets"), dec32("ways"),
		headerString("type"), headerString("size"), headerString("map"))},
	FeatureSampleTime: {dec64("first_sample_time"), dec64("last_sample_time")},
	FeatureMemTopology: {dec64("version"), dec64("block_size_bytes"), structs("nr", 8, "nodes", 24,
		dec64("node"), dec64("size"), (*textCodec).bitmap)},
	FeatureClockID:   {dec64("clockid_res_ns")},
	FeatureDirFormat: {dec64("version")},
	FeatureCompressed: {
		dec32("comp_ver"), dec32("comp_type"), dec32("comp_level"), dec32("comp_ratio"), dec32("comp_mmap_len"),
	},
	FeatureCPUPMUCaps: {capsSpec},
	FeatureClockData:  {dec32("version"), dec32("clockid"), dec64("tod_ns"), dec64("clockid_ns")},
	FeatureHybridTopology: {structs("nr", 4, "nodes", 8,
		headerString("pmu_name"), headerString("cpus"))},
	FeaturePMUCaps: {structs("nr_pmu", 4, "pmus", 8, capsSpec, headerString("pmu_name"))},
}

var capsSpec = structs("nr_caps", 4, "caps", 8, headerString("name"), headerString("value"))

// strs is a counted list of perf_header_strings.
func strs(count, name string) textStep {
	return func(x *textCodec) { x.headerStrings(name, x.count(count, 4, name)) }
}

// eventDescs are the events with the names that the recorder was given.
func (x *textCodec) eventDescs() {
	n := x.count("nr", 4, "events")
	size := x.uintOr("attr_size", 4, decimal, defaultAttrSize)
	if size < attrSizeVer0 && n > 0 || size > maxTextAttr {
		if x.decoding() {
			x.c.fail("event attributes of %d bytes", size)
		} else {
			x.fail("attr_size: %d bytes", size)
		}
		return
	}
	x.structs("events", n, 4+4+int(size), textSpec{
		func(x *textCodec) {
			x.nested("attr", textSpec{func(x *textCodec) { x.attrStruct(int(size)) }})
		},
		func(x *textCodec) {
			ids := x.count("nr_ids", 4, "ids")
			x.headerString("name")
			x.numbers("ids", ids, 8, decimal)
		},
	})
}

// auxtraceIndex says where AUXTRACE records are. perf writes a number of entries
// first, simpleperf does not.
func (x *textCodec) auxtraceIndex() {
	entry := textSpec{addr("file_offset"), dec64("sz")}
	bare := x.decoding() && x.c.remaining()%16 == 0 && x.c.remaining() > 0
	if bare || !x.decoding() && x.in.has("bare_entries") {
		n := uint64(0)
		if bare {
			n = uint64(x.c.remaining() / 16)
		}
		x.structs("bare_entries", n, 16, entry)
		return
	}
	x.structs("entries", x.count("nr", 8, "entries"), 16, entry)
}

// topologyCPUs are the cores of the CPUs, and the dies of recorders since Linux 5.3.
// How many CPUs there are only NRCPUS tells.
func (x *textCodec) topologyCPUs() {
	n := uint64(0)
	if x.decoding() {
		if x.c.remaining() == 0 {
			return // before Linux 3.19
		}
		n = uint64(x.state.Info.CPUsAvailable)
		if n == 0 || n > uint64(x.c.remaining()/8) {
			n = uint64(x.c.remaining() / 8)
		}
	}
	x.structs("cpus", n, 8, textSpec{dec32("core_id"), dec32("socket_id")})
	optional("die_siblings", strs("nr_dies", "die_siblings"))(x)
	optional("die_ids", func(x *textCodec) { x.restNumbers("die_ids", 4, decimal) })(x)
}

// bitmap is what do_write_bitmap writes: a number of bits and the words.
func (x *textCodec) bitmap() {
	n := min(x.uint("bits", 8, decimal), 1<<32) // enough to fail
	x.numbers("bitmap", (n+63)/64, 8, hexadecimal)
}

// headerFeature is a feature in a pipe.
func (x *textCodec) headerFeature() {
	id := x.uint("feat_id", 8, featureNames)
	if spec, ok := featureSpecs[Feature(min(id, numFeatures))]; ok {
		x.run(spec)
		return
	}
	x.restBytes("data")
}

// featureNames are those that String knows.
var featureNames = func() *notation {
	n := &notation{values: make([]string, numFeatures)}
	for _, known := range [...][2]Feature{{FeatureTracingData, FeaturePMUCaps}, {FeatureFile, FeatureInitMap}} {
		for f := known[0]; f <= known[1]; f++ {
			n.values[f] = f.String()
		}
	}
	return n
}()
