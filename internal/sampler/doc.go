// Package sampler records a command, or what runs already, by perf_event_open(2) of Linux, as perf
// record does, into a perf.data file. It needs no other program.
//
//  1. The events are opened on the thread that is going to start the command, one a CPU, to be
//     inherited and enabled at the next exec. The command inherits them disabled, its exec enables
//     them: nothing of this process is sampled, and of the command nothing is missed. The kernel
//     itself notes the program, its libraries, threads and children.
//  2. All events of a CPU share one ring buffer. One goroutine copies what is in the rings to the
//     file as it is, all rings in turn, and marks each round, so that readers need to order no more
//     than two rounds. Nothing is parsed while the command runs.
//  3. The header and the attributes are in the file before the first record, and the size of the
//     records is renewed after each round: a recording that was killed lacks one round.
//  4. When the command has ended, the events are disabled and the rings emptied a last time. Then
//     the file is read once, for what was lost, and for the build IDs of all files that were mapped,
//     which make up a feature of the file.
//  5. What runs already ([Attach]) has an event for each thread and CPU, or the system one a CPU.
//     What the kernel noted before the recording is made up from /proc.
//
// What a kernel is too old for is left out, bit by bit; what it forbids to users is said.
//
// Sources: include/uapi/linux/perf_event.h, perf_event_open(2),
// tools/perf/Documentation/perf.data-file-format.txt and Documentation/admin-guide/perf-security.rst
// of Linux.
package sampler
