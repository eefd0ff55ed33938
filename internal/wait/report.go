package wait

// A Report is who waited for whom in one recording, as a document. Times are in nanoseconds; of
// dumps none are known, and only counts are set.
type Report struct {
	// All are the waits for locks, and Main those of main threads.
	All  Sum `json:"all"`
	Main Sum `json:"main"`
	// Unknown are those of All of which the input does not tell who had the lock.
	Unknown Sum `json:"unknown"`
	// Unnamed are waits in system calls for locks, outside of All, of which neither a rule nor the stack
	// tells for what; none if what is told is more.
	Unnamed Sum `json:"unnamed"`
	// HeldNS is the time in which at least one thread waited for a holder of a lock, summed over holders: it
	// counts once what several threads waited at the same time.
	HeldNS int64 `json:"held_ns"`
	// Waited is the sum of all chains, Behind of those in which the second thread waits for a third.
	Waited Sum `json:"waited"`
	Behind Sum `json:"behind"`
	// DurationNS is how long was recorded, 0 if that is not known.
	DurationNS int64 `json:"duration_ns"`
	// Runs is the number of recordings that are summed up, 0 for one.
	Runs int `json:"runs,omitempty"`
	// Dumps is the number of dumps, each of which is an instant, 0 for a recording in time.
	Dumps int `json:"dumps,omitempty"`
	// Locks are the waits for locks by site, the longest first.
	Locks []Lock `json:"locks"`
	// Waiters are the threads that waited for locks, main threads first, then the longest. Of many the first
	// are there.
	Waiters     []Party `json:"waiters"`
	WaiterCount int     `json:"waiter_count"`
	// Chains are who waited for whom, the longest first. The sum of their times is the time
	// that threads waited for others.
	Chains []Chain `json:"chains"`
	// ChainsLeftOut is how many more there are.
	ChainsLeftOut int `json:"chains_left_out,omitempty"`
	// Cycles are deadlocks, or look like them.
	Cycles []Cycle `json:"cycles"`
	// Blockers are threads for which others waited, the one that cost most first.
	Blockers []Blocker `json:"blockers"`
	// Regions are what threads held while they waited, by the rules.
	Regions []Region `json:"regions"`
	// Wanted are the waits for regions by rule, with those of which no holder is known.
	Wanted []Wanted `json:"wanted"`
	// Notes are what the recording does not tell, and what would tell it, each one line.
	Notes []string `json:"notes"`
}

// A Sum adds up waits.
type Sum struct {
	Count int64 `json:"count"`
	// TotalNS is the sum over waiters.
	TotalNS int64 `json:"total_ns"`
	// LongestNS is the longest single wait.
	LongestNS int64 `json:"longest_ns"`
	// Clipped is how many are cut by an end of the recording, and were longer.
	Clipped int64 `json:"clipped"`
}

// A Thread is a thread of the recording.
type Thread struct {
	Name    string `json:"name"`
	Process string `json:"process"`
	PID     int64  `json:"pid"` // -1 if unknown
	TID     int64  `json:"tid"`
	Main    bool   `json:"main"`
}

// A Place is a place in code.
type Place struct {
	Function string `json:"function"`
	File     string `json:"file,omitempty"`
	Line     int64  `json:"line,omitempty"`
}

// A Lock is a pair of sites that contended: where the lock was held and where it was wanted.
type Lock struct {
	// Lock is its name, where it has one.
	Lock    string `json:"lock,omitempty"`
	Held    Place  `json:"held"`
	Blocked Place  `json:"blocked"`
	Sum
	// Main are the waits of main threads.
	Main Sum `json:"main"`
	// HeldNS is the time in which at least one thread waited for a holder, summed over holders: waits at the same
	// time count once.
	HeldNS int64 `json:"held_ns"`
	// Waiters and Holders are who waited and who had it, main threads first, then the longest. Of
	// many the first are there; the numbers are of all.
	Waiters     []Party `json:"waiters"`
	Holders     []Party `json:"holders"`
	WaiterCount int     `json:"waiter_count"`
	HolderCount int     `json:"holder_count"`
}

// A Party is a thread and the waits that it has a part in.
type Party struct {
	Thread
	Sum
}

// A Chain is a thread that waits for another, which waits for another …
type Chain struct {
	// Links are the threads: the first waits for the second. The last waits for nobody known, or in a Cycle for one before it.
	// Of long chains the first are there; Threads is how many there are.
	Links   []Link `json:"links"`
	Threads int    `json:"threads"`
	Cycle   bool   `json:"cycle,omitempty"`
	// Sum is the time in which this was the whole chain; LongestNS is within one wait.
	Sum
	// Last is what the last thread did in that time, the longest first.
	Last []State `json:"last"`
}

// A Link is a thread in a chain, and how it waits for the next one.
type Link struct {
	Thread Thread `json:"thread"`
	// Blocked is where it waits, Lock for what, and Held where the next thread took that.
	Blocked *Place `json:"blocked,omitempty"`
	Lock    string `json:"lock,omitempty"`
	Held    *Place `json:"held,omitempty"`
	// HolderIn is where the next thread is in a dump.
	HolderIn *Place `json:"holder_in,omitempty"`
	// Evidence says why the next thread is taken for the one that is waited for, Rule by which rule.
	Evidence Evidence `json:"evidence,omitempty"`
	Rule     string   `json:"rule,omitempty"`
}

// A State is what a thread did while others waited for it.
type State struct {
	// State is "running", "runnable", "preempted", "blocked", or "unknown".
	State string `json:"state"`
	// Place is where it was blocked.
	Place  *Place `json:"place,omitempty"`
	TimeNS int64  `json:"time_ns"`
}

// A Cycle is a deadlock: the last thread waits for the first. In a recording of times it is one
// only if it is Clipped. One that ended was none: who had a lock is told for the moment when a wait began, and the
// holder may have released it before it waited itself.
type Cycle struct {
	// Of long cycles, Links are the first; Threads is how many there are.
	Links   []Link `json:"links"`
	Threads int    `json:"threads"`
	Sum
	// Behind is how many other threads waited for one of them.
	Behind int `json:"behind"`
}

// A Blocker is a thread for which others waited, by themselves or behind others.
type Blocker struct {
	Thread
	// Sum are the waits of all that waited, HeldNS the time in which at least one did.
	Sum
	HeldNS int64 `json:"held_ns"`
	// States is what it did in HeldNS.
	States []State `json:"states"`
}

// A Region is what threads held while they waited: code that a rule names.
type Region struct {
	// Rule is the name of the rule, and Region what it calls the region.
	Rule   string `json:"rule"`
	Region string `json:"region"`
	// Thread waited within the region, at Place. Of a lock that the input tells, Sum is the part of its waits in
	// which others waited for it.
	Thread Thread `json:"thread"`
	Place  Place  `json:"place"`
	// Evidence says why it is taken to have been in the region; Timing, if that are times.
	Evidence Evidence `json:"evidence"`
	Timing   *Timing  `json:"timing,omitempty"`
	Sum
	// While are those of its waits in which others waited for the region.
	While Sum `json:"while"`
	// Waiters are the threads that meanwhile waited for it, and Behind those that waited for
	// these. Times are those of both waits together.
	Waiters []Party `json:"waiters"`
	Behind  []Party `json:"behind"`
}

// Wanted are the waits for the regions of a rule.
type Wanted struct {
	Rule   string `json:"rule"`
	Region string `json:"region"`
	Sum
	// Unknown are those of which no rule tells who had it.
	Unknown Sum `json:"unknown"`
}

// A Timing is how well the ends of a thread's waits go with the ends of Waits for a region. Others
// fit as well, to fewer waits.
type Timing struct {
	Fit
	Waits  int64 `json:"waits"`
	Others []Fit `json:"others"`
}

// A Fit says that of the waits for a region, Matched ended at most WithinNS after a wait of a
// thread. ByChance is how many do on average if they are shifted in time, and P the share of
// shifts at which some thread fits as well.
type Fit struct {
	Thread   Thread  `json:"thread"`
	Matched  int64   `json:"matched"`
	WithinNS int64   `json:"within_ns"`
	ByChance float64 `json:"by_chance"`
	P        float64 `json:"p"`
}
