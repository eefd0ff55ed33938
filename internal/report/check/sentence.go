package check

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"profdiff/internal/report/text"
	"profdiff/internal/verdict"
)

// Lengths of what is named in the sentence, in columns.
const (
	maxDecidingName   = 80
	maxDecidingReason = 240
)

// Sentence is the outcome in one: its word, and what decides it.
func (d *Document) Sentence() string { return d.Outcome.Title(verdict.Amount) + ": " + d.Decides }

// also is what the story says beside the sentence.
func (d *Document) also() []string { return d.Story.Texts()[1:] }

// decides says what decides the outcome: the first budget that has it, in the order of the file,
// or where all pass the one that is nearest to its limit; then how many come to what.
func decides(d *Document) string {
	if len(d.Budgets) == 0 {
		return "no budget applies"
	}
	var parts []string
	for _, v := range verdict.Limits {
		if n := d.Count(v); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v.Word(verdict.Amount)))
		}
	}
	counts := ""
	if len(d.Budgets) > 1 {
		counts = fmt.Sprintf("; of %d budgets %s", len(d.Budgets), strings.Join(parts, ", "))
		if len(parts) == 1 {
			counts = ""
		}
	}
	if d.Outcome != verdict.Pass {
		blocks := ""
		if d.Blocks {
			blocks = ", which blocks"
		}
		for i := range d.Budgets {
			if r := &d.Budgets[i]; r.Verdict == d.Outcome {
				return decidingText(r) + blocks + counts
			}
		}
	}
	nearest := nearestToLimit(d)
	switch {
	case nearest == nil:
		return fmt.Sprintf("of %d %s %s", len(d.Budgets), text.Plural(len(d.Budgets), "budget", "budgets"), strings.Join(parts, ", "))
	case len(d.Budgets) == 1:
		return decidingText(nearest)
	case counts == "":
		return fmt.Sprintf("all %d budgets hold; nearest to its limit is %s", len(d.Budgets), decidingText(nearest))
	}
	return "nearest to its limit is " + decidingText(nearest) + counts
}

// decidingText says what one budget says: what was measured, its limit and, unless the limit
// tells, why.
func decidingText(r *Budget) string {
	c := row(r)
	s := text.Elide(text.Printable(r.ID), maxDecidingName)
	if m := measured(&c); m != "" {
		s += ": " + m
	}
	if c.limit != "-" {
		s += " (limit " + text.Printable(c.limit) + ")"
	}
	if list := reasons(r); len(list) > 0 && (r.Verdict != verdict.Fail || c.estimate == "-") {
		s += ": " + text.Cut(text.Printable(strings.Join(list, "; ")), maxDecidingReason)
	}
	return s
}

// nearestToLimit is the budget that passes with the least room, nil if none tells.
func nearestToLimit(d *Document) (nearest *Budget) {
	least := math.Inf(1)
	for i := range d.Budgets {
		r := &d.Budgets[i]
		if r.Verdict != verdict.Pass || r.Deciding == nil {
			continue
		}
		if room := r.Deciding.room(); nearest == nil || room < least {
			nearest, least = r, room
		}
	}
	return nearest
}

// room is how many times as much would reach the limit, in logarithms; +Inf if that is not known.
func (c *Numbers) room() float64 {
	limit := cmp.Or(c.Limit, c.Warn)
	if limit == nil {
		return math.Inf(1)
	}
	room := math.Log(*limit / c.Range.Hi)
	if c.Least {
		room = math.Log(c.Range.Lo / *limit)
	}
	if math.IsNaN(room) {
		return math.Inf(1)
	}
	return room
}
