// Package wait says who waited for whom in a recording: locks that threads contended for, chains
// of threads that wait for one another, and what a thread held while it waited itself.
//
//  1. Each wait of the run for which the input tells another thread is an [Edge], with the
//     [Evidence] for it. Rules add edges where a stack tells what a thread holds.
//  2. At an instant a thread waits for at most one other, by the strongest evidence there is.
//  3. Begins and ends are swept in the order of time. Between two of them each waiting thread
//     has one chain, which ends in a thread that does not wait or in a cycle, a deadlock. The
//     time goes to the chain, so that times of chains add up to the time waited.
//  4. In a dump, which is one instant, threads are counted instead of time.
//
// A Report claims no more than its evidence: who owned a lock when a wait began need not have
// had it until the end.
package wait

import (
	"slices"

	"profdiff/internal/run"
)

// An Evidence says in words why a thread is taken to wait for another.
type Evidence string

// Kinds of evidence, from the weakest to the strongest.
const (
	// NoEvidence is for threads that wait for nobody known.
	NoEvidence Evidence = ""
	// Woke is of a thread that ended the wait, which an interrupt did not. It need not have held anything.
	Woke Evidence = "ended the wait"
	// EndedTogether is of a thread whose own wait ended right before, more often than by chance.
	EndedTogether Evidence = "its own wait ended right before"
	// EndedWait is of a thread that ended a wait for a region that a rule names.
	EndedWait Evidence = "ended the wait for it"
	// InRegion is of a thread whose stack is in a region that a rule names.
	InRegion Evidence = "was in the region"
	// Released is of a thread that ended a wait for a region as it left that.
	Released Evidence = "released it"
	// Owned is of a thread that had the lock when the wait began.
	Owned Evidence = "owned it when the wait began"
	// HeldAtDump is of a thread that had the lock at the moment of a dump.
	HeldAtDump Evidence = "held it at the moment of the dump"
)

// strength orders evidence.
func (e Evidence) strength() int {
	return slices.Index([]Evidence{NoEvidence, Woke, EndedTogether, EndedWait, InRegion, Released, Owned, HeldAtDump}, e)
}

// An Edge is a time in which a thread waited for another.
type Edge struct {
	Waiter, Holder run.ThreadID
	// Start and End are as in run.Wait.
	Start, End int64
	// Wait is the index in run.Run.Waits.
	Wait     int
	Evidence Evidence
	// HolderStack is where the holder took what the waiter wants, as far as it is known.
	HolderStack run.StackID
	// Rule is the name of the rule that found the edge, "" if the input tells it.
	Rule string
}
