// Package verdict decides what estimates show, and names it. Everything that is compared
// asks this package: costs of functions, mispredictions of branches, budgets, and the
// runs of one program against each other. So the same estimate has the same name wherever
// it is printed.
//
// A comparison of two sides goes like this:
//
//  1. Each ratio of head by base is estimated with package stats: a [Finding]. Findings
//     that are tested together are a family.
//  2. The p-values of a family are corrected for their number. What the user named is
//     [Rule.Declared]: any false alarm among it is one too many (Holm, 1979, "A simple
//     sequentially rejective multiple test procedure"). What was only found is
//     [Rule.Discovered]: of those called changed, a share may be false (Benjamini and
//     Hochberg, 1995, "Controlling the false discovery rate").
//  3. One run a side gives no verdict but a [Lead]: how runs differ is not known. Counts of a
//     simulator do not vary, so that one run of these is enough. With fewer than 4 runs
//     a side a finding is capped: it is reason to look, not to fail a build.
//  4. A change beyond the margin is excluded by two one-sided tests (Schuirmann, 1987,
//     "A comparison of the two one-sided tests procedure"): [Unchanged].
//  5. Else a change is shown if the corrected p-value is small enough and the interval
//     does not contain 1: [Improved] or [Regressed], or [Removed] or [New] where a side
//     has nothing.
//  6. Else the finding is [Inconclusive], and the number of runs is computed that would
//     probably settle it.
//  7. Verdicts are withheld where the ground under all of them does not bear them: runs
//     of one side recorded before those of the other, a divisor that was estimated from
//     functions most of which moved, or shares that mirror each other; and that on the
//     total, where the divisor moves with it or what was recorded is time: [Ground].
//
// A limit is decided by a [LimitRule]:
//
//  1. The limits of a file that fail are one family of one-sided hypotheses "no more than
//     the limit" (Holm, 1979), those that warn another, at the level of the look that was
//     planned (O'Brien and Fleming, 1979, see [stats.Look]).
//  2. More than the limit is proven: [Fail]. Where the design is capped it is [Warn], and
//     with too few samples [Inconclusive].
//  3. More than the limit is excluded, by a test that is not corrected: [Pass], or [Warn]
//     if more than the warning limit is proven. One run excludes nothing.
//  4. Neither: [Inconclusive], with the number of runs that would probably settle it.
package verdict

// A Verdict names what was shown.
type Verdict string

// The verdicts on two sides.
const (
	Improved  Verdict = "improved"
	Regressed Verdict = "regressed"
	// Unchanged: a change beyond the margin is excluded.
	Unchanged Verdict = "unchanged"
	// Inconclusive: neither is shown. Limits have it too.
	Inconclusive Verdict = "inconclusive"
	// Removed: head has nothing of it. New: base has nothing of it.
	Removed Verdict = "removed"
	New     Verdict = "new"
	// NotComparable: the sides were recorded in different ways.
	NotComparable Verdict = "not comparable"
)

// The verdicts on a limit.
const (
	// Pass: more than the limit is excluded.
	Pass Verdict = "pass"
	// Warn: more than the warning limit is proven, or what would fail cannot by design.
	Warn Verdict = "warn"
	// Fail: more than the limit is proven.
	Fail Verdict = "fail"
)

// TwoSided are the verdicts on two sides, in the order in which they are counted.
var TwoSided = []Verdict{Improved, Regressed, Removed, New, Unchanged, Inconclusive, NotComparable}

// Limits are the verdicts on limits, what asks for most first.
var Limits = []Verdict{Fail, Inconclusive, Warn, Pass}

// Changed reports whether a change was shown.
func (v Verdict) Changed() bool {
	switch v {
	case Improved, Regressed, Removed, New:
		return true
	}
	return false
}

// Better reports whether less was shown to be there than before, and Worse whether more.
func (v Verdict) Better() bool { return v == Improved || v == Removed }

// Worse is the opposite of Better.
func (v Verdict) Worse() bool { return v == Regressed || v == New }

// signs are verdicts in one column, and in Markdown, where a color is seen before a word.
var signs = map[Verdict]struct{ plain, color string }{
	Improved:      {"▼", ""},
	Removed:       {"▼", ""},
	Regressed:     {"▲", ""},
	New:           {"▲", ""},
	Unchanged:     {"=", ""},
	NotComparable: {"?", ""},
	Inconclusive:  {"?", "❔"},
	Pass:          {"✓", "✅"},
	Warn:          {"!", "⚠️"},
	Fail:          {"✗", "❌"},
}

// Sign is the verdict without words and without color, "" if it has none.
func (v Verdict) Sign() string { return signs[v].plain }

// ColorSign is the verdict on a limit as a sign that is seen before a table is read.
func (v Verdict) ColorSign() string { return signs[v].color }

// rank orders the verdicts on limits by what they ask for.
func (v Verdict) rank() int {
	switch v {
	case Fail:
		return 3
	case Inconclusive:
		return 2
	case Warn:
		return 1
	}
	return 0
}

// Outranks reports whether a verdict on a limit asks for more than another.
func (v Verdict) Outranks(other Verdict) bool { return v.rank() > other.rank() }
