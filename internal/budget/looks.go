package budget

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// ErrNoSecondLook is returned if a second look is asked for that was not planned.
var ErrNoSecondLook = errors.New("no second look is planned: defaults.looks is 1")

// Looks are notes of the looks at the runs of one change. They are a file, so that a look
// cannot be taken twice, or a second one without a first, whatever happens between.
type Looks struct {
	Schema string `json:"schema"`
	// Budget is the SHA-256 of the budget file: a plan that is changed after a look is
	// another plan.
	Budget string     `json:"budget_sha256"`
	Looks  []LookNote `json:"looks"`
}

// looksSchema names the form of Looks.
const looksSchema = "profdiff.looks/v1"

// MaxLooksSize is the most bytes that notes of looks may have.
const MaxLooksSize = 4 << 20

// A LookNote is one look.
type LookNote struct {
	Outcome verdict.Verdict `json:"outcome"`
	// Open is set if more runs may settle what the look left open.
	Open bool `json:"open"`
	// Level is how small a one-sided p had to be with one budget.
	Level float64 `json:"level"`
	// Inputs are the recordings and measured values that were looked at.
	Inputs []LookInput `json:"inputs"`
}

// A LookInput is one file that was looked at.
type LookInput struct {
	Side   string `json:"side"`             // base or head
	Stream string `json:"stream,omitempty"` // of measured values, "" for recordings
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// Hash is the SHA-256 of a file, as notes of looks have it.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// ParseLooks reads notes of looks.
func ParseLooks(data []byte) (*Looks, error) {
	l := new(Looks)
	if len(data) > MaxLooksSize {
		return nil, fmt.Errorf("has more than %d bytes", MaxLooksSize)
	}
	if err := json.Unmarshal(data, l); err != nil {
		return nil, fmt.Errorf("is no %s: %w", looksSchema, err)
	}
	if l.Schema != looksSchema || len(l.Looks) == 0 || len(l.Looks) > 2 {
		return nil, fmt.Errorf("is no %s with one look or two", looksSchema)
	}
	return l, nil
}

// Admit says whether a look at inputs may be taken. l is nil if none was taken yet. A look
// that was taken may be repeated with the same inputs, as after an interruption.
func (l *Looks) Admit(look stats.Look, budget string, inputs []LookInput) error {
	if l == nil {
		if look == stats.SecondLook {
			return errors.New("a second look without a first: check with the first half of the runs, without --look 2")
		}
		return nil
	}
	if l.Budget != budget {
		return errors.New("the budget file was changed after the first look: two looks are planned together")
	}
	taken := int(look) <= len(l.Looks)
	if taken {
		if same(l.Looks[look-1].Inputs, inputs) {
			return nil
		}
		if look == stats.SecondLook {
			return errors.New("both looks were taken: a third one would not be worth its level")
		}
		if !l.Looks[0].Open || len(l.Looks) > 1 {
			return errors.New("the looks of this file are over, and were at other runs: another change has notes of its own")
		}
		return fmt.Errorf("the first look was taken at %d other files; the next is --look 2, with those and as many again", len(l.Looks[0].Inputs))
	}
	first := &l.Looks[0]
	if !first.Open {
		return fmt.Errorf("the first look left nothing open that more runs settle: its outcome is %s", first.Outcome)
	}
	return first.doubled(inputs)
}

func same(a, b []LookInput) bool {
	key := func(i LookInput) string { return i.Side + "\x00" + i.Stream + "\x00" + i.SHA256 }
	x, y := make([]string, len(a)), make([]string, len(b))
	for i := range a {
		x[i] = key(a[i])
	}
	for i := range b {
		y[i] = key(b[i])
	}
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// doubled returns an error unless inputs are all inputs of the first look and as many new
// ones.
func (n *LookNote) doubled(inputs []LookInput) error {
	type group struct{ side, stream string }
	known := make(map[LookInput]bool)
	had, have := make(map[group]int), make(map[group]int)
	for _, i := range inputs {
		have[group{i.Side, i.Stream}]++
		i.Name = ""
		known[i] = true
	}
	for _, i := range n.Inputs {
		had[group{i.Side, i.Stream}]++
		name := i.Name
		i.Name = ""
		if !known[i] {
			return fmt.Errorf("the second look is at all runs, those of the first included: %s of %s is not there", name, i.Side)
		}
	}
	for _, i := range inputs {
		// In the order of the inputs, so that the message is always the same.
		g := group{i.Side, i.Stream}
		if have[g] != 2*had[g] {
			return fmt.Errorf("the second look is planned with twice the runs: %d of %s, not %d", 2*had[g], g.side, have[g])
		}
	}
	return nil
}

// Add notes a look that was admitted, unless it repeats one that is noted already.
func (l *Looks) Add(o *Outcome, budget string, inputs []LookInput) *Looks {
	if l == nil {
		l = &Looks{Schema: looksSchema, Budget: budget}
	}
	if int(o.Look) <= len(l.Looks) {
		return l
	}
	return &Looks{l.Schema, l.Budget, append(slices.Clip(l.Looks), LookNote{o.Verdict, o.Open(), o.Look.Level(o.Alpha), inputs})}
}

// Open reports whether more runs may settle what an outcome leaves open: no budget fails, and
// some are inconclusive by chance, and not because their runs are not fit for it.
func (o *Outcome) Open() bool {
	return o.Verdict != verdict.Fail && slices.ContainsFunc(o.Results, func(r Result) bool {
		c := r.Deciding
		return r.Verdict == verdict.Inconclusive && c != nil && c.Given == "" && c.blocked == "" && c.Estimate != nil && c.Estimate.Refused == ""
	})
}

// lookNotes say which look it is, and what follows.
func (o *Outcome) lookNotes() []string {
	if o.Look == stats.OnlyLook {
		return nil
	}
	notes := []string{fmt.Sprintf("look %d of 2, at the one-sided level %.2g for all budgets together", o.Look, o.Look.Level(o.Alpha))}
	switch more := o.Design.RunsHead; {
	case !o.Open():
	case o.Look == stats.SecondLook:
		notes = append(notes, "both looks were taken: what is still open needs a new plan, with more runs")
	case more > 0 && o.Design.RunsBase == more:
		notes = append(notes, fmt.Sprintf("record %d more %s a side, then check all of them with --look 2", more, plural(more, "run", "runs")))
	default:
		notes = append(notes, "record as many runs again, then check all of them with --look 2")
	}
	return notes
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// TakeLook makes a check one of two planned looks, the first or the second.
func (in *Inputs) TakeLook(look int) { in.Look = stats.Look(look) }

// Planned reports whether the check was one of two planned looks.
func (o *Outcome) Planned() bool { return o.Look != stats.OnlyLook }
