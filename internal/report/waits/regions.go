package waits

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"profdiff/internal/report/text"
	"profdiff/internal/wait"
)

// shownRegions is how many regions are told in text.
const shownRegions = 4

// writeRegions writes what threads held while they waited: a paragraph for each region for which most was
// waited. A Section has those that matter where nobody asked for them.
func writeRegions(lines *text.Lines, r *wait.Report, what Choice) {
	defer writeWanted(lines, r)
	shown := WorthRegions(r)
	if what == Section {
		shown = slices.DeleteFunc(shown, func(x *wait.Region) bool {
			waited := x.Waited()
			return !r.Matters(&waited)
		})
	}
	if len(shown) == 0 {
		return
	}
	lines.Printf("")
	lines.Printf("held across a wait:")
	for _, x := range shown {
		for j, line := range Held(r, x) {
			indent := "  "
			if j > 0 {
				indent = "    "
			}
			lines.Printf("%s%s", indent, line)
		}
	}
	if more := len(r.Regions) - len(shown); more > 0 {
		lines.Printf("  (%s more)", plural(int64(more), "region", "regions"))
	}
}

// writeWanted writes which waits for regions nobody is known to have caused.
func writeWanted(lines *text.Lines, r *wait.Report) {
	for i := range r.Wanted {
		x := &r.Wanted[i]
		if x.Unknown.Count == 0 || float64(x.Unknown.TotalNS) < little*float64(r.Wanted[0].TotalNS) {
			continue
		}
		lines.Printf("")
		lines.Printf("waits for %s: %s; who had it is not known for %s", named(x.Region, x.Rule), longest(r, &x.Sum), sumOf(r, &x.Unknown))
	}
}

// little is the share of the largest below which nothing is told.
const little = 0.02

// WorthRegions lists the regions worth a paragraph: a few, and none for which little was waited
// compared to the first.
func WorthRegions(r *wait.Report) (list []*wait.Region) {
	for i := range r.Regions {
		x := &r.Regions[i]
		if len(list) == shownRegions || i > 0 && float64(x.Waited().TotalNS) < little*float64(r.Regions[0].Waited().TotalNS) {
			break
		}
		list = append(list, x)
	}
	return list
}

// Held says in a few lines what a thread held while it waited, and who waited for that.
func Held(r *wait.Report, x *wait.Region) []string {
	name := holder(r, x)
	region, place := named(x.Region, x.Rule), text.Dash(Place(&x.Place))
	had := fmt.Sprintf("%s %s while it held %s: %s", name, waited(place), region, longest(r, &x.Sum))
	if r.Dumps > 0 {
		had = fmt.Sprintf("%s was in %s while it held %s", name, place, region)
		if r.Dumps > 1 {
			had += fmt.Sprintf(", in %s of %s dumps", text.Count(x.Count), text.Count(int64(r.Dumps)))
		}
	}
	list := []string{had}
	if len(x.Waiters) > 0 {
		line := "waiting for that meanwhile: " + parties(r, x.Waiters)
		if len(x.Behind) > 0 {
			line += "; behind these: " + parties(r, x.Behind)
		}
		list = append(list, line)
	}
	if t := x.Timing; t != nil {
		parts := []string{fmt.Sprintf("concluded from times: %s of %s that were looked at ended within %s of a wait of %s; by chance it would be %s (p %s)",
			text.Count(t.Matched), plural(t.Waits, "wait", "waits"), duration(t.WithinNS), name, strconv.FormatFloat(t.ByChance, 'f', 2, 64), text.P(t.P))}
		for i := range t.Others {
			o := &t.Others[i]
			if 10*o.Matched < t.Matched {
				break
			}
			parts = append(parts, fmt.Sprintf("for %s it is %s", Thread(&o.Thread), text.Count(o.Matched)))
		}
		list = append(list, strings.Join(parts, "; "))
	}
	return list
}

// waited says how a thread waited: where, or in which state, if a trace tells no more.
func waited(place string) string {
	switch place {
	case "[sleeping]":
		return "slept"
	case "[sleeping, I/O]", "[uninterruptible, I/O]":
		return "waited for I/O"
	case "[uninterruptible]":
		return "waited in the kernel"
	}
	return "waited in " + place
}

// named is a region with the name of its rule.
func named(region, rule string) string {
	if rule == region || rule == "lock" {
		return region
	}
	return fmt.Sprintf("%s (%s)", region, rule)
}

// holder names the thread that had a region: with its number, if others have its name.
func holder(r *wait.Report, x *wait.Region) string {
	name := Thread(&x.Thread)
	same := func(t *wait.Thread) bool {
		return t.TID != x.Thread.TID && Thread(t) == name && t.Process == x.Thread.Process
	}
	if x.Thread.TID >= 0 && (slices.ContainsFunc(slices.Concat(x.Waiters, x.Behind), func(p wait.Party) bool { return same(&p.Thread) }) ||
		slices.ContainsFunc(r.Regions, func(o wait.Region) bool { return same(&o.Thread) })) {
		name += fmt.Sprintf(" (thread %d)", x.Thread.TID)
	}
	return name
}

// longest is a sum in words, with the longest wait.
func longest(r *wait.Report, s *wait.Sum) string {
	if r.Dumps > 0 && s.Count == 1 {
		return ""
	}
	if r.Dumps > 0 || s.Count < 2 {
		return sumOf(r, s)
	}
	return sumOf(r, s) + ", longest " + duration(s.LongestNS)
}

// parties names threads, and how long they waited.
func parties(r *wait.Report, list []wait.Party) string {
	var names []string
	for i := range list {
		if i == 3 && len(list) > 4 {
			names = append(names, fmt.Sprintf("%d more threads", len(list)-i))
			break
		}
		names = append(names, strings.TrimSpace(Thread(&list[i].Thread)+" "+longest(r, &list[i].Sum)))
	}
	return strings.Join(names, ", ")
}
