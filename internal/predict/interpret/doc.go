// Package interpret runs a walk through code with random values for what is not known.
//
//  1. Registers and memory start with random numbers. Expressions that are equal for all
//     inputs are equal then, and hardly any others (Gulwani, Necula, "Discovering Affine
//     Equalities Using Random Interpretation", POPL 2003).
//  2. Each instruction has an effect on registers, flags and memory; where it is not
//     known, all that the instruction writes gets new random numbers.
//  3. Where branches go is in the walk. Other instructions that ask for a comparison of
//     loaded data (setcc, conditional moves, masks) get an outcome that is drawn, as often
//     as the branches of the other side make it ([ChancesOf]).
//  4. A load whose bytes an earlier step stored is noted with that step
//     ([Interpreter.Accesses]).
package interpret
