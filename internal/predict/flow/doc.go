// Package flow is the control flow of functions, and walks through it.
//
//  1. [New] cuts instructions into basic blocks and finds the loops: strongly connected
//     components, and those within them (Tarjan, "Depth-first search and linear graph
//     algorithms", SIAM Journal on Computing 1972; Steensgaard, "Sequentializing Program
//     Dependence Graphs for Irreducible Programs", 1993).
//  2. [Walk] runs through a loop again and again. Where a branch goes is dealt like cards:
//     as often as its rate says, in random order, and as regularly as can be at the ends
//     of loops. Calls of known code are followed.
//  3. [Graph.Paths] lists the ways through a loop where no rates are known.
//  4. [Graph.DependsOnData] and [Graph.StoresByData] follow registers through a loop, to
//     tell counters from data.
package flow
