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
// A [File] is read in one pass: [File.Records] yields the records as they stand
// in the file, not ordered by time.
package perffile
