package verdict

import (
	"fmt"
	"strings"
)

// A Measure says what kind of number is judged: the words for more and for less of it differ.
type Measure uint8

// The measures.
const (
	// Time is what code or people wait for: cycles, CPU time, time off the CPU, latencies.
	Time Measure = iota
	// Amount is what is counted and is no time: branch misses, faults, bytes, context switches.
	Amount
	// Quality is a value of which the user said, or its unit does, whether more is better:
	// throughput, scores.
	Quality
)

// words are what people read. There is one vocabulary for all that they read: tables, pages,
// Markdown and messages. JSON and CSV keep the Verdict itself, which scripts compare with.
var words = map[Verdict][3]string{
	Improved:      {"faster", "less", "better"},
	Regressed:     {"slower", "more", "worse"},
	Unchanged:     {"same", "same", "same"},
	Inconclusive:  {"can't tell yet", "can't tell yet", "can't tell yet"},
	Removed:       {"gone", "gone", "gone"},
	New:           {"new", "new", "new"},
	NotComparable: {"not comparable", "not comparable", "not comparable"},
	Pass:          {"pass", "pass", "pass"},
	Warn:          {"warn", "warn", "warn"},
	Fail:          {"fail", "fail", "fail"},
}

// Tell counts verdicts on two sides by their words, what was unchanged within a margin, which
// is given as text. Those on changes beyond a name's being there are always told; "?" is how
// tables write what cannot be told.
func Tell(counts map[Verdict]int, of Measure, margin string) string {
	var parts []string
	for _, v := range TwoSided {
		s := fmt.Sprintf("%d %s", counts[v], v.Word(of))
		switch v {
		case Unchanged:
			s += " within " + margin
		case Inconclusive:
			s += " (?)"
		case Improved, Regressed:
		default:
			if counts[v] == 0 {
				continue
			}
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, ", ")
}

// Word is the verdict as people read it, "" if it is none.
func (v Verdict) Word(of Measure) string { return words[v][of] }

// Title is the word at the start of a sentence, or as the head of a table.
func (v Verdict) Title(of Measure) string {
	s := v.Word(of)
	return strings.ToUpper(s[:min(1, len(s))]) + s[min(1, len(s)):]
}
