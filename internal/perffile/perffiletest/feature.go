package perffiletest

import "profdiff/internal/perffile"

// featureSpecs are the features that fit on one line, must match the write_*
// functions in tools/perf/util/header.c.
var featureSpecs = map[perffile.Feature]spec{
	perffile.FeatureHostname:  {headerString("hostname")},
	perffile.FeatureOSRelease: {headerString("osrelease")},
	perffile.FeatureVersion:   {headerString("version")},
	perffile.FeatureArch:      {headerString("arch")},
	perffile.FeatureNrCPUs:    {u32("nr_cpus_available"), u32("nr_cpus_online")},
	perffile.FeatureCPUDesc:   {headerString("cpudesc")},
	perffile.FeatureCPUID:     {headerString("cpuid")},
	perffile.FeatureTotalMem:  {u64("total_mem")},
	perffile.FeatureCmdline:   {headerStrings("nr", "args")},
	perffile.FeatureEventDesc: {(*encoder).eventDescs},
	perffile.FeatureCPUTopology: {
		headerStrings("nr_cores", "core_siblings"), headerStrings("nr_threads", "thread_siblings"),
		(*encoder).topologyCPUs,
	},
	perffile.FeatureNUMATopology: {structs("nr", 4, "nodes",
		u32("node"), u64("mem_total"), u64("mem_free"), headerString("cpus"))},
	perffile.FeatureBranchStack: {},
	perffile.FeaturePMUMappings: {structs("nr", 4, "pmus", u32("type"), headerString("name"))},
	perffile.FeatureGroupDesc: {structs("nr", 4, "groups",
		headerString("name"), u32("leader_idx"), u32("nr_members"))},
	perffile.FeatureAuxtrace: {(*encoder).auxtraceIndex},
	perffile.FeatureStat:     {},
	perffile.FeatureCache: {u32("version"), structs("nr", 4, "caches",
		u32("level"), u32("line_size"), u32("sets"), u32("ways"),
		headerString("type"), headerString("size"), headerString("map"))},
	perffile.FeatureSampleTime: {u64("first_sample_time"), u64("last_sample_time")},
	perffile.FeatureMemTopology: {u64("version"), u64("block_size_bytes"), structs("nr", 8, "nodes",
		u64("node"), u64("size"), (*encoder).bitmap)},
	perffile.FeatureClockID:   {u64("clockid_res_ns")},
	perffile.FeatureDirFormat: {u64("version")},
	perffile.FeatureCompressed: {
		u32("comp_ver"), u32("comp_type"), u32("comp_level"), u32("comp_ratio"), u32("comp_mmap_len"),
	},
	perffile.FeatureCPUPMUCaps: {capsSpec},
	perffile.FeatureClockData:  {u32("version"), u32("clockid"), u64("tod_ns"), u64("clockid_ns")},
	perffile.FeatureHybridTopology: {structs("nr", 4, "nodes",
		headerString("pmu_name"), headerString("cpus"))},
	perffile.FeaturePMUCaps: {structs("nr_pmu", 4, "pmus", capsSpec, headerString("pmu_name"))},
}

var capsSpec = structs("nr_caps", 4, "caps", headerString("name"), headerString("value"))

// eventDescs are the events with the names that the recorder was given.
func (x *encoder) eventDescs() {
	x.count("nr", 4, "events")
	size := x.uintOr("attr_size", 4, plain, defaultAttrSize)
	if n, _ := textListLen(x.in.peek("events")); size < attrSizeVer0 && n > 0 || size > maxAttrSize {
		x.fail("attr_size: %d bytes", size)
		return
	}
	x.structs("events", spec{
		nested("attr", func(x *encoder) { x.attrStruct(int(size)) }),
		func(x *encoder) { x.count("nr_ids", 4, "ids") },
		headerString("name"), u64s("ids"),
	})
}

// auxtraceIndex says where AUXTRACE records are. perf writes a number of entries
// first, simpleperf does not.
func (x *encoder) auxtraceIndex() {
	entry := spec{u64("file_offset"), u64("sz")}
	if x.in.has("bare_entries") {
		x.structs("bare_entries", entry)
		return
	}
	structs("nr", 8, "entries", entry...)(x)
}

// topologyCPUs are the cores of the CPUs, and the dies of recorders since Linux 5.3.
func (x *encoder) topologyCPUs() {
	x.structs("cpus", spec{u32("core_id"), u32("socket_id")})
	optional("die_siblings", headerStrings("nr_dies", "die_siblings"))(x)
	x.numbers("die_ids", 4, plain)
}

// bitmap is what do_write_bitmap writes: a number of bits and the words.
func (x *encoder) bitmap() {
	x.uint("bits", 8, plain)
	x.numbers("bitmap", 8, plain)
}

// headerFeature is a feature in a pipe.
func (x *encoder) headerFeature() {
	id := x.uint("feat_id", 8, featureNames)
	if s, ok := featureSpecs[perffile.Feature(min(id, numFeatures))]; ok {
		x.run(s)
		return
	}
	x.bytes("data")
}
