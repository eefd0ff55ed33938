// Package predict predicts the cycles gained by changing a hot loop.
//
// llvm-mca simulates straight-line code that is in the L1 cache and predicts every
// branch right. What it is given here is therefore a trace: a walk through the loop by
// how often each branch is taken, several units of work long. The walk is cut wherever
// a branch is mispredicted; what follows starts when the branch has been executed and
// the front end has been refilled (Eyerman, Smith, Eeckhout, "Characterizing the branch
// misprediction penalty", ISPASS 2006). Code of both sides goes through the same model,
// so that much of its error cancels in the ratio.
//
// Which loads get what was stored just before is found by interpreting the walk with
// random values for what is not known, where comparisons of data come out as often as the
// branches of the other side do.
//
// Of some cores ([Core]) more is known than LLVM's model says, or other things. There the
// walk is scheduled here, mispredictions included, with the latencies and
// micro-operations that llvm-mca gives for each instruction, except for what was
// measured. How good either is stands in mca-cases/README.md, see TestAccuracy.
package predict
