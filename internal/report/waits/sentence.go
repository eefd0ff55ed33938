package waits

import (
	"fmt"
	"strings"

	"profdiff/internal/report/text"
	"profdiff/internal/wait"
)

// Sentence says what of the waits matters most, "" if nothing does: a deadlock, else for whom a main thread
// waited longest, or any thread if no main thread did.
func Sentence(r *wait.Report) string {
	for i := range r.Cycles {
		if c := &r.Cycles[i]; !ended(r, c) && r.Matters(&c.Sum) {
			s := "Deadlock: "
			if r.Dumps == 0 {
				s = fmt.Sprintf("Deadlock, of %s when the recording ended: ", duration(c.LongestNS))
			}
			s += waitsFor(append(c.Links[:len(c.Links):len(c.Links)], c.Links[0]), c.Threads+1, "waits")
			if c.Behind > 0 {
				s += "; " + plural(int64(c.Behind), "more thread waits", "more threads wait") + " behind it"
			}
			return s
		}
	}
	var best *wait.Chain
	for i := range r.Chains {
		c := &r.Chains[i]
		if !c.Cycle && len(c.Links) > 1 && r.Matters(&c.Sum) && (best == nil || c.Links[0].Thread.Main && !best.Links[0].Thread.Main) {
			best = c // the longest come first
		}
	}
	switch {
	case best == nil:
		return ""
	case r.Dumps == 0:
		why := ""
		if rule := best.Links[0].Rule; rule != "" && rule != "lock" {
			why = " (" + rule + ")"
		}
		return fmt.Sprintf("%s%s: %s", waitsFor(best.Links, best.Threads, "waited"), why, longest(r, &best.Sum))
	}
	s := waitsFor(best.Links, best.Threads, "waits")
	if in := best.Links[len(best.Links)-2].HolderIn; in != nil && best.Threads == len(best.Links) {
		s += ", which is in " + Place(in)
	}
	if r.Dumps > 1 {
		s += fmt.Sprintf(", in %s of %s dumps", text.Count(best.Count), text.Count(int64(r.Dumps)))
	}
	return s
}

// waitsFor is a chain as a clause: main waits for a, which waits for b.
func waitsFor(links []wait.Link, all int, waits string) string {
	var names []string
	for i := range links[:min(len(links), saidThreads)] {
		names = append(names, Thread(&links[i].Thread))
	}
	s := names[0] + " " + waits + " for " + strings.Join(names[1:], ", which "+waits+" for ")
	if more := all - len(names); more > 0 {
		s += fmt.Sprintf(", and so on through %s", plural(int64(more), "more thread", "more threads"))
	}
	return s
}

// saidThreads is how many threads of a chain are named in a sentence.
const saidThreads = 4

// ended reports whether what looks like a deadlock went on.
func ended(r *wait.Report, c *wait.Cycle) bool { return r.Dumps == 0 && c.Clipped == 0 }
