// Package core is the model of a core of which more is known than LLVM's scheduling model
// says. One model runs all cores; what differs is data ([Core]).
//
//  1. llvm-mca says how many micro-operations each instruction has, and its latency
//     ([Core.TimingsOf]); what was measured replaces that.
//  2. The front end delivers aligned regions of code, a few lines of operations and taken
//     branches in a cycle ([Fetch]).
//  3. Operations are dispatched in order while the window, the registers, the schedulers
//     and the store queue have room.
//  4. An operation is issued when its operands are ready and its pipe is free. A load of
//     what was stored just before has its value from that store, as the core expects it or
//     not ([Forwarding]).
//  5. After a mispredicted branch the front end starts again, Refill cycles after the
//     branch was executed.
//  6. The cycles are those between retirements once the pipeline is full
//     ([Schedule.Cycles]).
//
// # Where the numbers come from
//
// [FromProbes] makes a core of what calibrate measured. If a probe was refused, what is in
// brackets is taken, and [Core.Missing] says so:
//
//   - Dispatch: nop, mix, move64.throughput (LLVM's width)
//   - Window: window.64 to .832 tell it to 64 operations, LLVM's is taken if it is among
//     these (LLVM's)
//   - Pipes: add, lea.two, shift, select, set, multiply, vector.add, float.add and
//     branch.nottaken.throughput; which pipes they share is assumed (2 of each, 1 that multiplies)
//   - Registers: registers.96 to .352 tell them to 32 operations (as many as the window needs)
//   - Schedulers: queue.add, queue.load, queue.select, by running the model on the same chains (a fifth of the window)
//   - Loads, Stores, Load: load.throughput, load.vector.throughput, store.four and
//     store.eight.throughput, load.latency (2, as loads, 1; without load.latency there is no core)
//   - StoreALU: store.add.throughput (false)
//   - Forwarding: forward.same, forward.index, forward.address, forward.wide, forward.same.index and
//     add.memory.latency (as loads)
//   - TakenPerCycle, Fetch: taken.four, loop.eight, loop.nine, loop.eleven, loop.thirteen,
//     loop.twenty, loop.across, loop.trips, call.return (LLVM's, no lines, a cycle, 1.5 cycles)
//   - Refill: miss.load, miss.twoloads, miss.register without what is executed before (LLVM's
//     penalty and two cycles)
//   - OverflowApart: cmp.select (false)
//   - Renamed: move64, move32, move.vector, move.zero.extend and add.immediate.latency,
//     xor.zero (copies and zeros are renamed)
//   - Instructions: forms.tsv (LLVM's)
//   - No probe tells the store queue, how loads come to be expected to get what
//     was stored, and whether a copy is fused with what follows.
//
// # What was chosen by what
//
// How the model computes was first made for Zen 5, with the sets tune, report and blind of
// mca-cases in view. What is new for other cores was found by probes on an Emerald Rapids with
// the errors of the set tune in view alone: that operations are bound to the pipe for which the
// fewest wait, lines and regions of the front end, turns, unified schedulers, additions of
// constants. The sets report, blind and fresh were evaluated there twice, and nothing was changed
// for what they showed.
//
// A calibration of Zen 5 was evaluated when all this was finished: the error of the speed-up was ×1.21, and
// its 90 % intervals held 70 % of blind and fresh. What was missing was then measured by probes of its own
// there: registers, stores that take turns of the ALUs, the pause behind two lines, comparisons that wait. So
// a core of another design is taken to be known as badly as that first time ([Tried]).
package core
