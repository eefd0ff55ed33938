package html

import (
	"strings"

	"profdiff/internal/report/diff"
	"profdiff/internal/report/waits"
	"profdiff/internal/wait"
)

// Waiting is who waited for whom.
type Waiting struct {
	// Per says what numbers of Changes are of.
	Per     string       `json:"per"`
	Changes []WaitChange `json:"changes"`
	// Regions are how long was waited for what, whoever had it, and Note what "not known" says.
	Regions []WaitChange `json:"regions,omitempty"`
	Note    string       `json:"note,omitempty"`
	// Sides are base, then head, as far as they tell; or the only one.
	Sides []WaitSide `json:"sides"`
}

// A WaitChange is how long threads waited for others before and after.
type WaitChange struct {
	Threads string `json:"threads"`
	Base    string `json:"base"`
	Head    string `json:"head"`
	Longest string `json:"longest"`
	// Unknown is how much of it is of holders that are not known, only in Waiting.Regions.
	Unknown string `json:"unknown,omitempty"`
}

// A WaitSide is who waited for whom on one side.
type WaitSide struct {
	Name    string   `json:"name"` // "before", "after", or "" if there is one
	Summary []string `json:"summary"`
	// Chains are the deadlocks and the longest chains, Held what threads held while they waited.
	Chains []waits.Drawing `json:"chains"`
	Held   []string        `json:"held"`
}

// maxWaits is how many chains are compared, and how many regions are told.
const maxWaits = 6

// waitingOf is the section of both sides, nil if there is nothing to tell.
func waitingOf(w *diff.Waits) *Waiting {
	if w == nil || len(w.Chains)+len(w.Regions) == 0 {
		return nil
	}
	s := &Waiting{Per: waits.Per(w.Base, w.Head), Changes: []WaitChange{}, Sides: []WaitSide{}}
	for i := range w.Chains[:min(len(w.Chains), maxWaits)] {
		c := &w.Chains[i]
		s.Changes = append(s.Changes, WaitChange{Threads: c.Of, Base: c.Base.String(), Head: c.Head.String(), Longest: c.Longest()})
		if !c.Base.Known || !c.Head.Known {
			s.Note = waits.NotKnown
		}
	}
	for i := range w.Regions[:min(len(w.Regions), maxWaits)] {
		c := &w.Regions[i]
		s.Regions = append(s.Regions, WaitChange{c.Of, c.Base.String(), c.Head.String(), c.Longest(), c.Unknown()})
	}
	for i, r := range []*wait.Report{w.Base, w.Head} {
		if r != nil && r.Known() {
			s.Sides = append(s.Sides, waitSide([]string{"before", "after"}[i], r))
		}
	}
	return s
}

func waitSide(name string, r *wait.Report) WaitSide {
	chains, _ := waits.Draw(r, waits.All)
	side := WaitSide{Name: name, Summary: list(waits.Summary(r)), Chains: list(chains), Held: []string{}}
	for i := range r.Regions[:min(len(r.Regions), maxWaits)] {
		side.Held = append(side.Held, strings.Join(waits.Held(r, &r.Regions[i]), "; "))
	}
	return side
}

// FromWaits is the page of who waited for whom in one recording.
func FromWaits(name string, r *wait.Report, opt Options) *Document {
	return &Document{
		options: opt, files: []string{name},
		Title: "Who waits for whom", Tool: opt.Tool, Base: opt.name(name),
		Waiting: &Waiting{Changes: []WaitChange{}, Sides: []WaitSide{waitSide("", r)}},
	}
}
