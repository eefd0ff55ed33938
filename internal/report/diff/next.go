package diff

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"profdiff/internal/report/story"
	"profdiff/internal/report/text"
	"profdiff/internal/run"
	"profdiff/internal/verdict"
)

// A Session is what a reader sees a comparison in.
type Session struct {
	// Inputs are the words of the command line that name and filter what is compared.
	Inputs []string
	// Lines reports whether source lines of a function are known.
	Lines func(function string) bool
}

// Next is the command that helps most after a comparison was read, "" if none does:
//
//  1. with one run a side, the one that records as many as decide;
//  2. where nothing is decided, one that records until it is;
//  3. of branch misses, the one that lists them by branch;
//  4. else the one that shows more of where threads wait, if the story is about that, else of the
//     largest change for the worse, or of the largest if nothing became worse: its source lines, or
//     who calls it.
func (d *Document) Next(s Session) string {
	switch {
	case d.Leads != nil:
		return d.Leads.again
	case len(d.Events) == 0 || len(d.Story.Sentences) == 0:
		return ""
	}
	main, name := d.mainEvent(), ""
	if about := d.Story.Sentences[0].About; about.Kind == story.Wait {
		name = about.Name
	} else if f := d.worst(main); f != nil {
		name = f.Name
	}
	switch {
	case name == "" && d.Story.Outcome == verdict.Inconclusive && main.Withheld == "" && main.Total.RunsNeeded > 0:
		return d.Until
	case name == "":
		return ""
	}
	if event, _ := run.SplitEvent(run.CanonicalEvent(main.Name)); event == "branch-misses" {
		return run.JoinWords(append([]string{"profdiff", "branches"}, s.Inputs...))
	}
	words := append([]string{"profdiff", "diff"}, s.Inputs...)
	if len(d.Events) > 1 && !slices.Contains(words, "--event") {
		words = append(words, "--event", main.Name)
	}
	words = append(words, "--focus", pattern(name))
	if run.IsTime(main.Name, main.Unit) && !run.IsWait(main.Name) && s.Lines(name) {
		return run.JoinWords(append(words, "--lines"))
	}
	return run.JoinWords(append(words, "--callers"))
}

// mainEvent is the event that the story is about, the first if it is about none.
func (d *Document) mainEvent() *Event {
	for i := range d.Events {
		if d.Events[i].Name == d.Story.Sentences[0].About.Event {
			return &d.Events[i]
		}
	}
	return &d.Events[0]
}

// worst is the function of an event with the largest change for the worse, or the largest decrease
// if there is none; nil if none is decided.
func (d *Document) worst(e *Event) (worst *Function) {
	more := func(c *Change) bool { return c.Verdict == verdict.Regressed || c.Verdict == verdict.New }
	for i := range e.Functions {
		f := &e.Functions[i]
		switch c := &f.Self; {
		case f.Shift >= 0 || !c.Verdict.Changed() || f.Name == run.UnknownFunctionName(f.DSO): // of code without names there is no more to see
		case worst == nil, more(c) && !more(&worst.Self),
			more(c) == more(&worst.Self) && math.Abs(c.Delta) > math.Abs(worst.Self.Delta):
			worst = f
		}
	}
	return worst
}

// patternWidth is the width up to which a pattern is a whole name.
const patternWidth = 40

// pattern is a regular expression that matches a name, short enough to be read.
func pattern(name string) string {
	parts := strings.Split(text.Elide(name, patternWidth), "…")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	short := strings.Trim(strings.Join(parts, ".*"), ".*")
	if re, err := regexp.Compile(short); err == nil && len(parts) > 1 && re.MatchString(name) {
		return short
	}
	return "^" + regexp.QuoteMeta(name) + "$"
}
