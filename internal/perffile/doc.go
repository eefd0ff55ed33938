// Package perffile decodes the perf.data format of Linux perf and Android
// simpleperf: files and pipes, of either byte order, with all records and
// header features, compressed or not.
//
// The format is described in the kernel tree, tools/perf/Documentation/
// perf.data-file-format.txt and include/uapi/linux/perf_event.h (Linux v6.12),
// https://git.kernel.org/pub/scm/linux/kernel/git/torvalds/linux.git/tree/include/uapi/linux/perf_event.h?h=v6.12,
// and for simpleperf in system/extras/simpleperf/record_file_format.h and
// record.h of AOSP. Comments on types name the struct they mirror.
//
//  1. [New] reads the header: byte order, the events with their attributes, and the features.
//     In a pipe the same comes as records.
//  2. [File.Records] yields the records in one pass as they stand in the file, not ordered by
//     time; what COMPRESSED records hold comes in their place.
//  3. Fields of a sample, and of the sample_id behind other records, are decoded by the
//     attributes of their event.
package perffile
