// Package hot finds the loops of a binary in which the samples of recordings fell.
//
//  1. [Open] reads an ELF file; [Binary.Graph] joins the control flow that package disasm
//     finds in a function with the text that llvm-mca reads.
//  2. [NewProfile] looks each sample's addresses up in the binary: by the mapping with its
//     build ID, else with its name.
//  3. Stacks of frame pointers skip the callers of functions without a frame, which are put
//     back where the code tells them.
//  4. [Profile.Loops] gives each sample to the loops around its address. A sample in a
//     function without loops, or in another binary, belongs to the loop that called it, as far
//     as the stack tells.
//  5. Of loops within each other, the innermost is taken that has at least three quarters of
//     the samples of the one around it.
//  6. [Profile.Inside] sums the samples under a loop, by what is followed from it and what is
//     not.
package hot
