// Package waits draws who waited for whom, as text and as rows for CSV.
//
//  1. Locks are a table: where each was wanted and held, how often and how long, and by whom.
//  2. Chains are a paragraph each: the threads in one line, an arrow to who waits, and below it
//     a line for each thread with what is known, and by which evidence.
package waits

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"profdiff/internal/report/text"
	"profdiff/internal/wait"
)

// Arrow stands between who waits and who is waited for.
const Arrow = " ← "

// How many chains and cycles are drawn with their lines, and how many threads of one.
const (
	shownChains  = 3
	shownThreads = 8
	shownParties = 10
)

func duration(ns int64) string { return text.Weight(float64(ns), "nanoseconds") }

// plural is a number with its noun.
func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return text.Count(n) + " " + many
}

// WriteLocks writes the table of locks, limit rows of it or all if that is 0, and the chains.
func WriteLocks(w io.Writer, r *wait.Report, limit int) error {
	lines := text.Lines{W: w}
	if r.All.Count == 0 {
		if !r.Known() {
			lines.Printf("")
			lines.Printf("no waits for locks are known")
		}
		writeChains(&lines, r, All)
		writeRegions(&lines, r, All)
		writeBlockers(&lines, r)
		writeNotes(&lines, r)
		return lines.Err
	}
	lines.Printf("")
	for _, l := range Summary(r) {
		lines.Printf("%s", l)
	}
	if lines.Err != nil {
		return lines.Err
	}
	shown := r.Locks
	if limit > 0 && len(shown) > limit {
		shown = shown[:limit]
	}
	if err := text.WriteColumns(w, lockColumns(r), shown); err != nil {
		return err
	}
	if rest := r.Locks[len(shown):]; len(rest) > 0 {
		var sum wait.Sum
		for i := range rest {
			sum.Add(&rest[i].Sum)
		}
		lines.Printf("(%s more with %s)", plural(int64(len(rest)), "row", "rows"), sumOf(r, &sum))
	}
	writeWaiters(&lines, r)
	writeBlockers(&lines, r)
	writeChains(&lines, r, Long)
	writeRegions(&lines, r, All)
	writeNotes(&lines, r)
	return lines.Err
}

// Summary says how many waits there are.
func Summary(r *wait.Report) []string {
	if r.All.Count == 0 {
		return nil
	}
	if r.Dumps > 0 {
		line := fmt.Sprintf("waiting: %s in %s", plural(r.All.Count, "thread waits for a lock", "threads wait for locks"), plural(int64(r.Dumps), "dump", "dumps"))
		if r.Main.Count > 0 {
			line += fmt.Sprintf(", %s of them main", text.Count(r.Main.Count))
		}
		return []string{line}
	}
	line := fmt.Sprintf("waiting: %s, %s", plural(r.All.Count, "wait for a lock", "waits for locks"), duration(r.All.TotalNS))
	if r.HeldNS < r.All.TotalNS {
		line += fmt.Sprintf(" (%s if threads that wait for one holder at the same time count once)", duration(r.HeldNS))
	}
	list := []string{line}
	if r.Main.Count > 0 {
		list = append(list, fmt.Sprintf("main threads: %s, %s, longest %s", plural(r.Main.Count, "wait", "waits"), duration(r.Main.TotalNS), duration(r.Main.LongestNS)))
	}
	if r.Behind.Count > 0 {
		list = append(list, fmt.Sprintf("of all, %s while the holder waited for another thread itself", duration(r.Behind.TotalNS)))
	}
	return list
}

// sumOf is a sum in words.
func sumOf(r *wait.Report, s *wait.Sum) string {
	if r.Dumps > 0 {
		return plural(s.Count, "wait", "waits")
	}
	return duration(s.TotalNS) + " in " + plural(s.Count, "wait", "waits")
}

// lockColumns are the columns of the table of locks.
func lockColumns(r *wait.Report) []text.Column[wait.Lock] {
	time := func(get func(*wait.Lock) int64) func(wait.Lock) string {
		return func(l wait.Lock) string {
			if ns := get(&l); r.Dumps == 0 && ns > 0 {
				return duration(ns)
			}
			return "-"
		}
	}
	return []text.Column[wait.Lock]{
		text.Right("sum", time(func(l *wait.Lock) int64 { return l.TotalNS })),
		text.Right("waits", func(l wait.Lock) string { return text.Count(l.Count) }),
		text.Right("longest", time(func(l *wait.Lock) int64 { return l.LongestNS })),
		text.Right("main threads", func(l wait.Lock) string {
			switch {
			case l.Main.Count == 0:
				return "-"
			case r.Dumps > 0:
				return text.Count(l.Main.Count)
			}
			return duration(l.Main.TotalNS) + " in " + text.Count(l.Main.Count)
		}),
		text.Names("waits in", func(l wait.Lock) string { return text.Dash(Place(&l.Blocked)) }),
		text.Names("for", func(l wait.Lock) string { return text.Dash(l.Lock) }),
		text.Names("held in", func(l wait.Lock) string { return text.Dash(Place(&l.Held)) }),
		text.Names("who"+Arrow+"holder", func(l wait.Lock) string {
			return some(l.Waiters, l.WaiterCount) + Arrow + some(l.Holders, l.HolderCount)
		}),
	}
}

// some names the first threads of a list.
func some(list []wait.Party, all int) string {
	if all == 0 {
		return "?"
	}
	var names []string
	for i := range list[:min(len(list), 2)] {
		names = append(names, Thread(&list[i].Thread))
	}
	if more := all - len(names); more > 0 {
		return fmt.Sprintf("%s + %d", strings.Join(names, ", "), more)
	}
	return strings.Join(names, ", ")
}

// Thread names a thread. Main threads of apps have the name of their process.
func Thread(t *wait.Thread) string {
	if t.Main && t.Name != "main" {
		return t.Name + " (main)"
	}
	return t.Name
}

// Place names a place, by the function and the line.
func Place(p *wait.Place) string {
	switch {
	case p == nil:
		return ""
	case p.Line > 0 && p.File != "":
		return fmt.Sprintf("%s (%s:%d)", p.Function, text.BaseName(p.File), p.Line)
	}
	return p.Function
}

// WriteSection writes what stands before tables of something else: cycles, and the chains that cost most.
// It writes nothing if no chain is known, nor waits that matter.
func WriteSection(w io.Writer, r *wait.Report) error {
	lines := text.Lines{W: w}
	if len(r.Chains)+len(r.Cycles)+len(r.Regions) == 0 {
		if slices.ContainsFunc(r.Wanted, func(x wait.Wanted) bool { return r.Matters(&x.Unknown) }) {
			writeWanted(&lines, r)
		}
		return lines.Err
	}
	for i, l := range Summary(r) {
		if i == 0 {
			lines.Printf("")
		}
		lines.Printf("%s", l)
	}
	writeChains(&lines, r, Section)
	if r.Dumps == 0 {
		writeRegions(&lines, r, Section) // else the chains tell as much
	}
	return lines.Err
}

// writeChains writes deadlocks, and the chains that cost most.
func writeChains(lines *text.Lines, r *wait.Report, what Choice) {
	drawings, more := Draw(r, what)
	for i := range drawings {
		d := &drawings[i]
		lines.Printf("")
		names := strings.Join(d.Names(), Arrow)
		switch {
		case d.Ended:
			lines.Printf("no deadlock, as it ended: %s; %s", names, d.Sum)
		case d.Deadlock && d.Sum != "":
			lines.Printf("deadlock: %s; %s", names, d.Sum)
		case d.Deadlock:
			lines.Printf("deadlock: %s", names)
		case d.Sum != "":
			lines.Printf("%s: %s", names, d.Sum)
		default:
			lines.Printf("%s", names)
		}
		t := text.Table{Names: []int{0}, Prose: true}
		for _, x := range d.Threads {
			if x.Says != "" {
				t.Add("  "+x.Name, x.Says)
			}
		}
		if lines.Err == nil {
			lines.Err = t.Write(lines.W)
		}
	}
	if more > 0 {
		lines.Printf("(%s more)", plural(int64(more), "circle", "circles"))
	}
}

// says tells in words how a thread waits for the next one.
func says(l, next *wait.Link) string {
	var s strings.Builder
	s.WriteString("waits")
	if p := Place(l.Blocked); p != "" {
		s.WriteString(" in " + p)
	}
	if l.Lock != "" {
		s.WriteString(" for " + l.Lock)
	}
	name, held := Thread(&next.Thread), Place(l.Held)
	switch l.Evidence {
	case wait.Woke:
		s.WriteString(", until " + name + " ended that")
		if held != "" {
			s.WriteString(", in " + held)
		}
	case wait.EndedTogether:
		s.WriteString(", which ended right after a wait of " + name)
	case wait.EndedWait:
		s.WriteString(", until " + name + " woke it")
	case wait.Released:
		s.WriteString(", until " + name + " left it")
	case wait.InRegion:
		s.WriteString(", while " + name + " was in it")
	case wait.Owned:
		s.WriteString("; " + name + " had it when that began")
		if held != "" {
			s.WriteString(", from " + held)
		}
	case wait.HeldAtDump:
		s.WriteString("; " + name + " has it")
		if held != "" {
			s.WriteString(", from " + held)
		}
	}
	if l.Rule != "" {
		s.WriteString(" (" + l.Rule + ")")
	}
	return s.String()
}

// doing says in words what the last thread of a chain did in a time, "" if that is not known.
func doing(last []wait.State, total int64) string {
	var parts []string
	for i := range last {
		s := &last[i]
		if s.State == "unknown" && len(last) == 1 {
			return ""
		}
		part := s.State
		if p := Place(s.Place); p != "" {
			part += " in " + p
		}
		if i == 3 && len(last) > 4 {
			parts = append(parts, fmt.Sprintf("… %d more", len(last)-i))
			break
		}
		parts = append(parts, text.Share(float64(s.TimeNS), float64(total))+" "+part)
	}
	return strings.Join(parts, ", ")
}

// writeWaiters says who waited, main threads first.
func writeWaiters(lines *text.Lines, r *wait.Report) {
	if r.Dumps > 0 || lines.Err != nil {
		return
	}
	lines.Printf("")
	lines.Err = text.WriteColumns(lines.W, []text.Column[wait.Party]{
		text.Right("waited", func(p wait.Party) string { return duration(p.TotalNS) }),
		text.Right("waits", func(p wait.Party) string { return text.Count(p.Count) }),
		text.Right("longest", func(p wait.Party) string { return duration(p.LongestNS) }),
		text.Names("process", func(p wait.Party) string { return text.Dash(p.Process) }),
		text.Names("thread that waited", func(p wait.Party) string { return Thread(&p.Thread) }),
	}, r.Waiters[:min(len(r.Waiters), shownParties)])
	writeMore(lines, r.WaiterCount-min(len(r.Waiters), shownParties))
}

func writeMore(lines *text.Lines, more int) {
	if more > 0 {
		lines.Printf("(%s more)", plural(int64(more), "thread", "threads"))
	}
}

// writeBlockers says what those did for whom most was waited.
func writeBlockers(lines *text.Lines, r *wait.Report) {
	if r.Dumps > 0 || len(r.Blockers) == 0 || lines.Err != nil {
		return
	}
	lines.Printf("")
	lines.Err = text.WriteColumns(lines.W, []text.Column[wait.Blocker]{
		text.Right("others waited", func(b wait.Blocker) string { return duration(b.HeldNS) }),
		text.Right("waits", func(b wait.Blocker) string { return text.Count(b.Count) }),
		text.Right("longest", func(b wait.Blocker) string { return duration(b.LongestNS) }),
		text.Names("for the thread", func(b wait.Blocker) string { return Thread(&b.Thread) }),
		text.Prose("which meanwhile was", func(b wait.Blocker) string { return text.Dash(doing(b.States, b.HeldNS)) }),
	}, r.Blockers[:min(len(r.Blockers), shownParties)])
	writeMore(lines, len(r.Blockers)-shownParties)
}

func writeNotes(lines *text.Lines, r *wait.Report) {
	for i, n := range r.Notes {
		if i == 0 {
			lines.Printf("")
		}
		lines.Printf("note: %s", n)
	}
}
