package branch

import "profdiff/internal/stats"

// A StackTable is what branch stacks tell of a recording.
type StackTable struct {
	Entries Account // of the stacks of the used samples
	// Ranges counts what lies between two entries of a stack.
	Ranges Ranges
	// FirstIndex is the newest entry of a stack that rates are made from.
	FirstIndex int
	// Rated is what the branches with rates sum to: executions if Table.Scaled, else the
	// weights of stacks, of which each entry has its part. 0 is unknown.
	Rated float64
}

// Ranges counts the code between the target of one branch and the next branch.
type Ranges struct {
	Decoded int64 `json:"decoded"` // runs from one to the other without a jump
	Broken  int64 `json:"broken"`  // does not: an entry is missing in between
	NoCode  int64 `json:"no_code"` // the binary is not there
}

// StackCounts are what branch stacks tell of a branch.
type StackCounts struct {
	// Taken, Mispredicted and Predicted are entries, at any index.
	Taken, Mispredicted, Predicted int64
	// NotTaken is nil if it is not known, for want of code or of the kind.
	NotTaken *int64
	// TakenRate is the rate of misses among the executions that were taken.
	TakenRate *Estimate
	// Targets is how many targets were seen, TopTarget the share of the most frequent.
	Targets   int
	TopTarget float64
	Noise     Noise
	// Runtime is the address of the first entry as it was recorded. Rel is its offset in
	// the file, in the kernel image its address.
	Runtime, Rel uint64
}

// Targets is how many targets stacks show, 0 if they are not known, and the share of the
// most frequent.
func (b *Branch) Targets() (n int, top float64) {
	if b.Stacks == nil {
		return 0, 0
	}
	return b.Stacks.Targets, b.Stacks.TopTarget
}

// TakenRate is the rate of misses among the executions that were taken, nil if it is not
// known.
func (b *Branch) TakenRate() *Estimate {
	if b.Stacks == nil {
		return nil
	}
	return b.Stacks.TakenRate
}

// Noise is how sampling varies what stacks tell.
func (b *Branch) Noise() Noise {
	if b.Stacks == nil {
		return Noise{}
	}
	return b.Stacks.Noise
}

// Noise is how sampling varies what is known of a branch. It is all 0 where that is
// not known.
type Noise struct {
	// Seen is the weight of the misses that are seen, Misses the weight of all in
	// Branch.Misses, inferred ones too, both in units of StackTable.Rated.
	Seen, Misses stats.WeightedCount
	// Rate and TakenRate are variances of the values of those names.
	Rate, TakenRate float64
}
