package record

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
)

// LooksSchema names the form of the plan of looks.
const LooksSchema = "profdiff.looks/v2"

// A LooksPlan says, before the first run, what is looked at while a recording grows, when, and
// what it takes to decide it. What was planned cannot be changed afterwards without being
// seen: the hashes of the looks begin with that of the plan.
type LooksPlan struct {
	Schema string `yaml:"schema"`
	// Cap is the most pairs that are recorded. Looks are after First pairs, and after Every
	// more.
	Cap   int `yaml:"cap"`
	First int `yaml:"first"`
	Every int `yaml:"every"`
	// Alpha is the one-sided error of all looks together; up to the share t of Cap, alpha
	// times t to the power of Spending is spent.
	Alpha    float64 `yaml:"alpha"`
	Spending float64 `yaml:"spending"`
	// Seed and Order are how the order of the runs was found.
	Seed  uint64 `yaml:"seed,omitempty"`
	Order string `yaml:"order"`
	// Rule names the test of pairs, and Normalize what costs are divided by.
	Rule      string `yaml:"rule"`
	Normalize string `yaml:"normalize"`
	// Margin is the relative change that does not matter, 0 where limits decide.
	Margin float64 `yaml:"margin,omitempty"`
	// Focus is an expression for functions that are targets, one by one, from the first look
	// on. Budget is the text of a budget file, and Today the day on which its waivers hold.
	Focus  string `yaml:"focus,omitempty"`
	Budget string `yaml:"budget,omitempty"`
	Today  string `yaml:"today,omitempty"`
	// Targets are what is decided, empty where Focus finds it at the first look.
	Targets []LookTarget `yaml:"targets"`
	// Programs are hashes of the programs of both sides, where they are files of this machine.
	Programs [2]string `yaml:"programs,omitempty"`
	// SHA256 is the hash of the commands, of the commits they are of, and of all above but Seed and
	// Order: folders with the same one ask the same question.
	SHA256 string `yaml:"targets_sha256"`
}

// A LookTarget is something that is decided: whether it changed, or whether a limit holds.
type LookTarget struct {
	ID string `yaml:"id"`
	// Match says what is counted, "" for everything; Event is "" for the first.
	Match  string `yaml:"match,omitempty"`
	Event  string `yaml:"event,omitempty"`
	Metric string `yaml:"metric,omitempty"`
	// Limit is as the budget file has it, Side which side it is relative to or about.
	Limit string `yaml:"limit,omitempty"`
	Side  string `yaml:"side,omitempty"`
}

// A PlannedLook is a look that a plan asked for.
type PlannedLook struct {
	Pairs     int    `yaml:"pairs"`
	Normalize string `yaml:"normalize"`
	// Level is the level of the first claim of the family that is shown next, after this
	// look, Alone that of a claim that is not of the family.
	Level   float64        `yaml:"level"`
	Alone   float64        `yaml:"level_alone"`
	Targets []LookedTarget `yaml:"targets"`
	// Runs are the hashes of the files since the look before, in the order of recording.
	Runs []string `yaml:"runs"`
	// SHA256 is the hash of the look before, or of the plan, and of all above.
	SHA256 string `yaml:"sha256"`
}

// A LookedTarget is what a look said of a target: one-sided p of what it takes to say that it
// is above what is allowed, or below it; and that it is not above, or not below. Of a limit,
// below it and not above it are one.
type LookedTarget struct {
	ID       string  `yaml:"id"`
	Ratio    float64 `yaml:"ratio,omitempty"`
	Above    float64 `yaml:"p_above"`
	Below    float64 `yaml:"p_below"`
	NotAbove float64 `yaml:"p_not_above,omitempty"`
	NotBelow float64 `yaml:"p_not_below,omitempty"`
	// Decided is the verdict from this look on, "" if there is none.
	Decided string `yaml:"decided,omitempty"`
	// Open says why nothing can be said of the target.
	Open string `yaml:"open,omitempty"`
}

// hash is the hash of texts, each told apart from the next.
func hash(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		fmt.Fprintf(h, "%d:%s\n", len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// HashFile is the SHA-256 of a file.
func HashFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// question is the hash of what a plan asks of the commands of a recording. It is of the JSON
// of the plan, whose field names are those of Go.
func (p *LooksPlan) question(commands *Plan) (string, error) {
	own := *p
	own.SHA256, own.Seed, own.Order = "", 0, ""
	text, err := json.Marshal(&own)
	a, b := &commands.Before, &commands.After
	return hash(string(text), a.Run, a.Commit.state(), b.Run, b.Commit.state()), err
}

// next is the hash of a look after what precedes it.
func (l *PlannedLook) next(before string) (string, error) {
	own := *l
	own.SHA256 = ""
	text, err := json.Marshal(&own)
	return hash(before, string(text)), err
}

// begin is the hash that the first look continues.
func (p *LooksPlan) begin() string { return hash(p.SHA256, fmt.Sprint(p.Seed), p.Order) }

// ErrTampered is wrapped by errors of notes of looks that do not follow from each other.
var ErrTampered = errors.New("the looks do not follow from the plan")

// PlanLooks writes the plan of looks of a recording, before its first run.
func (r *Recording) PlanLooks(dir string, p LooksPlan) error {
	if len(r.Runs) > 0 {
		return fmt.Errorf("%s: has %d runs that were recorded without a plan of looks: give another folder", dir, len(r.Runs))
	}
	p.Schema, p.Seed, p.Order = LooksSchema, r.Plan.Seed, r.Order
	var err error
	if p.SHA256, err = p.question(&r.Plan); err != nil {
		return err
	}
	r.LooksPlan = &p
	return r.writeThrough(dir)
}

// SamePlan reports whether a plan asks what the plan of the recording does.
func (r *Recording) SamePlan(p *LooksPlan) (bool, error) {
	own := *p
	own.Schema = LooksSchema
	question, err := own.question(&r.Plan)
	return r.LooksPlan != nil && question == r.LooksPlan.SHA256, err
}

// AddLook notes a look, with the hashes of the files of the first so many pairs that no look
// before has.
func (r *Recording) AddLook(dir string, l PlannedLook) error {
	before := r.LooksPlan.begin()
	if n := len(r.Planned); n > 0 {
		before = r.Planned[n-1].SHA256
	}
	var err error
	if l.Runs, err = r.hashes(dir, l.Pairs, r.lookedAt()); err != nil {
		return err
	}
	if l.SHA256, err = l.next(before); err != nil {
		return err
	}
	r.Planned = append(r.Planned, l)
	return r.writeThrough(dir)
}

// lookedAt is the number of pairs at the last look.
func (r *Recording) lookedAt() int {
	if len(r.Planned) == 0 {
		return 0
	}
	return r.Planned[len(r.Planned)-1].Pairs
}

// LooksOver reports whether there is no other look to take: all targets are decided, or as much
// is recorded as was planned.
func (r *Recording) LooksOver() bool {
	if len(r.Planned) == 0 {
		return false
	}
	last := &r.Planned[len(r.Planned)-1]
	return last.Pairs >= r.LooksPlan.Cap || !slices.ContainsFunc(last.Targets, func(t LookedTarget) bool { return t.Decided == "" })
}

// hashes are those of the files of some of the pairs, in the order of recording.
func (r *Recording) hashes(dir string, pairs, after int) (list []string, err error) {
	all := r.Pairs()
	if pairs > len(all) {
		return nil, fmt.Errorf("%w: a look is at %d pairs, of which %d are there", ErrTampered, pairs, len(all))
	}
	for _, p := range all[min(after, pairs):pairs] {
		runs := []*Run{p.Before, p.After}
		if p.First == After {
			slices.Reverse(runs)
		}
		for _, run := range runs {
			sum, err := HashFile(filepath.Join(dir, filepath.FromSlash(run.File)))
			if err != nil {
				return nil, err
			}
			list = append(list, sum)
		}
	}
	return list, nil
}

// CheckLooks says whether the notes of looks are those that were written, and the runs those
// that were looked at, in that order. It does not say whether the looks are right.
func (r *Recording) CheckLooks(dir string) error {
	p := r.LooksPlan
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%s: %w: "+format, append([]any{filepath.Join(dir, FileName), ErrTampered}, args...)...)
	}
	question, err := p.question(&r.Plan)
	switch {
	case err != nil:
		return err
	case p.Schema != LooksSchema:
		return fmt.Errorf("%s: looks_plan has the schema %q, want %q", filepath.Join(dir, FileName), p.Schema, LooksSchema)
	case question != p.SHA256:
		return wrong("the plan was changed")
	case p.Order != r.Order || p.Seed != r.Plan.Seed:
		return wrong("the order of the runs was changed")
	}
	before, pairs := p.begin(), 0
	for i := range r.Planned {
		l := &r.Planned[i]
		if l.Pairs <= pairs {
			return wrong("look %d is at %d pairs, after one at %d", i+1, l.Pairs, pairs)
		}
		sum, err := l.next(before)
		if err != nil || sum != l.SHA256 {
			return wrong("look %d was changed", i+1)
		}
		files, err := r.hashes(dir, l.Pairs, pairs)
		if err != nil {
			return err
		}
		if !slices.Equal(files, l.Runs) {
			return wrong("the runs of look %d are other ones, or in another order", i+1)
		}
		before, pairs = sum, l.Pairs
	}
	return nil
}

// same allows for what processors differ in by rounding.
func same(a, b float64) bool {
	const rounding = 1e-6
	return a == b || math.Abs(a-b) <= rounding*max(math.Abs(a), math.Abs(b))
}

// Differs says in what a look that was taken again differs from the one that is noted, "" if
// it does not.
func (l *PlannedLook) Differs(again *PlannedLook) string {
	switch {
	case l.Pairs != again.Pairs:
		return fmt.Sprintf("it was at %d pairs, is due at %d", l.Pairs, again.Pairs)
	case l.Normalize != again.Normalize:
		return fmt.Sprintf("costs were divided by %s, are by %s", l.Normalize, again.Normalize)
	case !same(l.Level, again.Level) || !same(l.Alone, again.Alone):
		return fmt.Sprintf("its level was %.4g, is %.4g", l.Level, again.Level)
	case len(l.Targets) != len(again.Targets):
		return fmt.Sprintf("it had %d targets, has %d", len(l.Targets), len(again.Targets))
	}
	for i := range l.Targets {
		a, b := &l.Targets[i], &again.Targets[i]
		switch {
		case a.ID != b.ID:
			return fmt.Sprintf("it was at %s, is at %s", a.ID, b.ID)
		case !same(a.Above, b.Above) || !same(a.Below, b.Below) || !same(a.NotAbove, b.NotAbove) || !same(a.NotBelow, b.NotBelow):
			return fmt.Sprintf("p of %s were %.4g and %.4g, are %.4g and %.4g", a.ID, a.Above, a.Below, b.Above, b.Below)
		case a.Decided != b.Decided:
			return fmt.Sprintf("%s was %q, is %q", a.ID, a.Decided, b.Decided)
		}
	}
	return ""
}

// writeThrough writes the notes, and returns once they are on the disk: what was planned and
// what was seen is known before the next run, whatever happens then.
func (r *Recording) writeThrough(dir string) error {
	if err := r.write(dir); err != nil {
		return err
	}
	for _, name := range []string{filepath.Join(dir, FileName), dir} {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	return nil
}
