// Package core is the model of a core of which more is known than LLVM's scheduling model
// says.
//
//  1. llvm-mca says how many micro-operations each instruction has, and its latency
//     ([Core.TimingsOf]); what was measured replaces that.
//  2. The front end delivers aligned regions of code, a few lines of operations and taken
//     branches in a cycle ([Fetch]).
//  3. Operations are dispatched in order while the window, the registers, the schedulers
//     and the store queue have room.
//  4. An operation is issued when its operands are ready and a unit is free. A load of
//     what was stored just before has its value from that store, as the core expects it or
//     not ([Forwarding]).
//  5. After a mispredicted branch the front end starts again, Refill cycles after the
//     branch was executed.
//  6. The cycles are those between retirements once the pipeline is full
//     ([Schedule.Cycles]).
package core
