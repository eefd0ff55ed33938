// Package cputime tells tests for how long this process was on a CPU. A test that bounds
// how long something takes asks it rather than the clock: what else the machine does, and
// how long the process waits for a CPU, is not in it.
//
//  1. The kernel counts user and system time of all threads of the process (getrusage(2));
//     tests that run in parallel, and the garbage collector, count too.
//  2. A test takes the difference of two readings.
package cputime
