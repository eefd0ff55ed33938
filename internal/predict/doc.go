// Package predict predicts the cycles gained by changing a hot loop.
//
//  1. The unit of work is a loop of a listing, or the hottest one of a recording.
//  2. Package asm reads its instructions, package flow their control flow.
//  3. Rates say how often each branch is taken and mispredicted, as far as that is known.
//  4. llvm-mca simulates straight-line code that is in the L1 cache and predicts every
//     branch right. What it is given is therefore a trace: a walk through the loop by the
//     rates, several units of work long.
//  5. The walk is cut wherever a branch is mispredicted; what follows starts when the
//     branch has been executed and the front end has been refilled (Eyerman, Smith,
//     Eeckhout, "Characterizing the branch misprediction penalty", ISPASS 2006).
//  6. Which loads get what was stored just before is found by package interpret, which
//     runs the walk with random values for what is not known. There, comparisons of data
//     come out as often as the branches of the other side do.
//  7. Of some cores ([core.Core]) more is known than LLVM's model says, or other things.
//     For them package core schedules the walk, mispredictions included, with the
//     latencies and micro-operations that llvm-mca gives for each instruction, except for
//     what was measured.
//  8. The cycles of both sides make the speed-up. Code of both sides goes through the same
//     model, so that much of its error cancels in the ratio. The 90 % interval follows from
//     the evidence: how well the model of the core is known, how well the rates, and what the
//     code does that is not modelled. No side wins while 1 is in it.
//
// How good either model is stands in mca-cases/README.md, see TestAccuracy.
package predict
