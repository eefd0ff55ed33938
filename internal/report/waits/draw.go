package waits

import (
	"fmt"
	"slices"
	"strings"

	"profdiff/internal/report/text"
	"profdiff/internal/wait"
)

// A Drawing is a chain or a deadlock in words.
type Drawing struct {
	// Deadlock is set if the last thread waits for the first, Ended if it did not do so for ever.
	Deadlock bool `json:"deadlock,omitempty"`
	Ended    bool `json:"ended,omitempty"`
	// Threads are the first ones, each of which waits for the next; More is how many follow.
	Threads []DrawnThread `json:"threads"`
	More    int           `json:"more,omitempty"`
	// Sum is how long and how often, or in how many dumps.
	Sum string `json:"sum,omitempty"`
}

// A DrawnThread is a thread and what it does.
type DrawnThread struct {
	Name string `json:"name"`
	Says string `json:"says,omitempty"`
}

// Names lists the threads, and that of a deadlock with which it began again.
func (d *Drawing) Names() []string {
	var names []string
	for i := range d.Threads {
		names = append(names, d.Threads[i].Name)
	}
	if d.More > 0 {
		names = append(names, fmt.Sprintf("… %d more", d.More))
	}
	if d.Deadlock {
		names = append(names, names[0])
	}
	return names
}

// A Choice says which chains are drawn.
type Choice uint8

// Choices of chains.
const (
	// All has the longest of three threads and more, and of two.
	All Choice = iota
	// Long has those of three threads and more.
	Long
	// Section has those of All that matter where nobody asked for them.
	Section
)

// Draw draws deadlocks, of which there may be more, then the chains that cost most, and last the circles that ended, in which
// nothing got stuck. Chains of three threads and more come first, which tell more than a list of locks; those of two are drawn
// if what is All or Section, or if there are no times.
func Draw(r *wait.Report, what Choice) (list []Drawing, more int) {
	var stuck, passed []*wait.Cycle
	for i := range r.Cycles {
		switch c := &r.Cycles[i]; {
		case !ended(r, c):
			stuck = append(stuck, c)
		case what != Section || r.Matters(&c.Sum):
			passed = append(passed, c)
		}
	}
	drawn := stuck[:min(len(stuck), shownChains)]
	for _, c := range drawn {
		list = append(list, drawCycle(r, c))
	}
	for _, c := range worth(r, what) {
		d := Drawing{Sum: longest(r, &c.Sum)}
		switch {
		case r.Dumps == 1:
			d.Sum = ""
		case r.Dumps > 1:
			d.Sum = fmt.Sprintf("in %s of %s dumps", text.Count(c.Count), text.Count(int64(r.Dumps)))
		}
		d.Threads, d.More = drawLinks(c.Links, c.Threads, c.Last, c.TotalNS)
		list = append(list, d)
	}
	drawn = passed[:min(len(passed), shownChains-len(drawn))]
	for _, c := range drawn {
		list = append(list, drawCycle(r, c))
	}
	return list, max(0, len(stuck)-shownChains) + len(passed) - len(drawn)
}

func drawCycle(r *wait.Report, c *wait.Cycle) Drawing {
	var sum []string
	switch {
	case r.Dumps > 1:
		sum = append(sum, fmt.Sprintf("in %s of %s dumps", text.Count(c.Count), text.Count(int64(r.Dumps))))
	case ended(r, c):
		sum = append(sum, "for "+duration(c.LongestNS))
	case r.Dumps == 0:
		sum = append(sum, "for "+duration(c.LongestNS)+", when the recording ended")
	}
	if c.Behind > 0 {
		sum = append(sum, plural(int64(c.Behind), "thread waits", "threads wait")+" behind it")
	}
	d := Drawing{Deadlock: true, Ended: ended(r, c), Sum: strings.Join(sum, "; ")}
	d.Threads, d.More = drawLinks(c.Links, c.Threads, nil, 0)
	return d
}

// worth lists the chains worth a drawing, the longest of three threads and more first, then the
// longest of two. Those that end in a cycle are told by it.
func worth(r *wait.Report, what Choice) (list []*wait.Chain) {
	short := what != Long || r.Dumps > 0
	for _, long := range []bool{true, false} {
		n := 0
		for i := range r.Chains {
			c := &r.Chains[i]
			if c.Cycle || (c.Threads > 2) != long || n == shownChains || !long && !short || what == Section && !r.Matters(&c.Sum) {
				continue
			}
			// The end of a chain that is drawn tells nothing new.
			if slices.ContainsFunc(list, func(o *wait.Chain) bool { return o.Ends(c) }) {
				continue
			}
			list = append(list, c)
			n++
		}
	}
	return list
}

// drawLinks says of each thread how it waits for the next, and of the last what it did in a time.
func drawLinks(links []wait.Link, all int, last []wait.State, total int64) (list []DrawnThread, more int) {
	for i := range links[:min(len(links), shownThreads)] {
		l := &links[i]
		next := &links[(i+1)%len(links)]
		what := says(l, next)
		if l.Evidence == wait.NoEvidence {
			what = doing(last, total)
			if i > 0 && links[i-1].HolderIn != nil {
				what = "is in " + Place(links[i-1].HolderIn)
			}
		}
		list = append(list, DrawnThread{Thread(&l.Thread), what})
	}
	return list, all - len(list)
}
