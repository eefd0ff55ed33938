package looks

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/record"
	"profdiff/internal/run"
	"profdiff/internal/run/runtest"
	"profdiff/internal/verdict"
)

// folder is a recording whose files hold nothing but their names: what is compared are the runs
// that are given.
type folder struct {
	dir        string
	rec        *record.Recording
	base, head []*run.Run
}

// taken records the runs one pair after the other and looks at them as is declared.
func taken(t *testing.T, d Declaration, base, head []*run.Run) (*folder, *Course) {
	t.Helper()
	f := &folder{dir: t.TempDir(), rec: &record.Recording{Schema: record.Schema, Order: record.Drawn, Plan: record.Plan{Seed: 7}}, base: base, head: head}
	plan, err := Declare(&d)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.rec.PlanLooks(f.dir, *plan); err != nil {
		t.Fatal(err)
	}
	course, err := Replay(f.rec, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range base {
		f.add(t, i)
		if course.Due() != i+1 {
			continue
		}
		look, err := course.Look(base[:i+1], head[:i+1])
		if err != nil {
			t.Fatal(err)
		}
		if err := f.rec.AddLook(f.dir, *look); err != nil {
			t.Fatal(err)
		}
		if course.Decided() {
			break
		}
	}
	return f, course
}

// add adds a pair, in the order of its times.
func (f *folder) add(t *testing.T, i int) {
	t.Helper()
	sides := []record.Side{record.Before, record.After}
	if f.head[i].Recording.Start.Before(f.base[i].Recording.Start) {
		sides = []record.Side{record.After, record.Before}
	}
	for _, side := range sides {
		file := fmt.Sprintf("%s/%02d.data", side, i+1)
		name := filepath.Join(f.dir, file)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(file), 0o666); err != nil {
			t.Fatal(err)
		}
		f.rec.Runs = append(f.rec.Runs, record.Run{Side: side, Number: i + 1, File: file, Start: time.Unix(int64(i), 0)})
	}
}

// sides are runs of six functions, of which one costs another factor on head; the total
// varies with each of them.
func sides(n int, seed uint64, cv, factor float64) (base, head []*run.Run) {
	m := runtest.NewModel(6, seed, cv)
	return m.Sides(n, false, 0.1, map[int]float64{0: factor})
}

func verdicts(c *Course) (list []string) {
	for _, t := range c.Targets {
		list = append(list, t.ID+": "+string(t.Verdict))
	}
	return list
}

const budgets = `version: 1
budgets:
  - {id: all, limit: {fail: +3%}}
  - {id: first, match: {function: f0}, limit: {warn: +5%, fail: +20%}}
  - {id: second, match: {function: f1}, limit: {fail: +20%}, max: {fail: 90%, of: total}}
  - {id: each, match: {function: "f*"}, each: true, limit: {fail: +20%}}
`

func TestLooks(t *testing.T) {
	for _, test := range []struct {
		name   string
		d      Declaration
		factor float64
		want   []string
		cap    int // of pairs that it takes
	}{
		{"a change", Declaration{}, 1.5, []string{"total: regressed"}, 12},
		{"a gain", Declaration{}, 0.5, []string{"total: improved"}, 12},
		{"no change", Declaration{}, 1, []string{"total: unchanged"}, 30},
		{"functions", Declaration{Focus: "^f0$"}, 1.5, []string{"f0 (program): regressed"}, 6},
		{
			"limits",
			Declaration{Budget: []byte(budgets), Name: "budgets", Today: "2026-01-02"},
			1.5,
			[]string{"all: fail", "first: fail", "second limit: pass", "second max: pass"},
			12,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			base, head := sides(40, 1, 0.01, test.factor)
			f, course := taken(t, test.d, base, head)
			if diff := cmp.Diff(test.want, verdicts(course)); diff != "" {
				t.Errorf("decided: %s", diff)
			}
			if course.Pairs() > test.cap {
				t.Errorf("it took %d pairs", course.Pairs())
			}
			// What was written is what follows.
			rec, err := record.Open(f.dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := rec.CheckLooks(f.dir); err != nil {
				t.Fatal(err)
			}
			again, err := Replay(rec, base, head)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(verdicts(course), verdicts(again)); diff != "" || again.Pairs() != course.Pairs() {
				t.Errorf("again: %s", diff)
			}
			if !rec.LooksOver() || again.Early() != (course.Pairs() < 40) {
				t.Errorf("over %v, early %v", rec.LooksOver(), again.Early())
			}
			for _, target := range again.Targets {
				r := target.Repeated
				if !(r.Lo < target.Estimate.Ratio && target.Estimate.Ratio < r.Hi) {
					t.Errorf("%s: %v is not within %v", target.ID, target.Estimate.Ratio, r)
				}
			}
		})
	}
}

// TestLooksTampered changes one thing of a folder at a time.
func TestLooksTampered(t *testing.T) {
	base, head := sides(40, 3, 0.03, 1.04)
	d := Declaration{Budget: []byte("version: 1\nbudgets: [{id: first, match: {function: f0}, limit: {fail: +2%}}]\n"), Name: "budgets", Today: "2026-01-02"}
	f, course := taken(t, d, base, head)
	if course.Pairs() < 6 {
		t.Fatalf("%d pairs are too few to change something", course.Pairs())
	}
	text, err := os.ReadFile(filepath.Join(f.dir, record.FileName))
	if err != nil {
		t.Fatal(err)
	}
	open := func(t *testing.T) *record.Recording {
		t.Helper()
		rec, err := record.Open(f.dir)
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	check := func(t *testing.T, rec *record.Recording) error {
		t.Helper()
		if err := rec.CheckLooks(f.dir); err != nil {
			return err
		}
		_, err := Replay(rec, base, head)
		return err
	}
	if err := check(t, open(t)); err != nil {
		t.Fatal(err)
	}
	flip := func(text string) string { // one bit of the last digit
		b := []byte(text)
		b[len(b)-1] ^= 1
		return string(b)
	}
	for name, change := range map[string]func(rec *record.Recording){
		"a bit of a p": func(rec *record.Recording) {
			p := &rec.Planned[1].Targets[0].Above
			*p = math.Float64frombits(math.Float64bits(*p) ^ 1)
		},
		"a bit of a level": func(rec *record.Recording) {
			l := &rec.Planned[0].Level
			*l = math.Float64frombits(math.Float64bits(*l) ^ 1)
		},
		"a decision": func(rec *record.Recording) { rec.Planned[0].Targets[0].Decided = "pass" },
		"a limit":    func(rec *record.Recording) { rec.LooksPlan.Targets[0].Limit = "+3%" },
		"the budget": func(rec *record.Recording) {
			rec.LooksPlan.Budget = strings.Replace(rec.LooksPlan.Budget, "+2%", "+3%", 1)
		},
		"the cap":              func(rec *record.Recording) { rec.LooksPlan.Cap++ },
		"alpha":                func(rec *record.Recording) { rec.LooksPlan.Alpha *= 2 },
		"the day":              func(rec *record.Recording) { rec.LooksPlan.Today = "2026-01-03" },
		"the commands":         func(rec *record.Recording) { rec.Plan.After.Run = "other" },
		"the hash of the plan": func(rec *record.Recording) { rec.LooksPlan.SHA256 = flip(rec.LooksPlan.SHA256) },
		"the hash of a look":   func(rec *record.Recording) { rec.Planned[0].SHA256 = flip(rec.Planned[0].SHA256) },
		"the hash of a run":    func(rec *record.Recording) { rec.Planned[1].Runs[0] = flip(rec.Planned[1].Runs[0]) },
		"the seed":             func(rec *record.Recording) { rec.Plan.Seed++ },
		"the order":            func(rec *record.Recording) { rec.LooksPlan.Order = record.ABBA },
		"the order of runs":    func(rec *record.Recording) { rec.Runs[0], rec.Runs[1] = rec.Runs[1], rec.Runs[0] },
		"the order of pairs": func(rec *record.Recording) {
			for i := range 2 {
				rec.Runs[i], rec.Runs[i+2] = rec.Runs[i+2], rec.Runs[i]
			}
		},
		"the number of pairs": func(rec *record.Recording) { rec.Planned[1].Pairs += 2 },
		"a run less":          func(rec *record.Recording) { rec.Runs = rec.Runs[1:] },
		"a look less":         func(rec *record.Recording) { rec.Planned = rec.Planned[1:] },
		"a look twice":        func(rec *record.Recording) { rec.Planned = append(rec.Planned, rec.Planned[len(rec.Planned)-1]) },
	} {
		rec := open(t)
		change(rec)
		if err := check(t, rec); !errors.Is(err, record.ErrTampered) && !errors.Is(err, ErrDiffers) {
			t.Errorf("%s was changed: %v", name, err)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s was changed: more than a line: %v", name, err)
		}
	}
	// A file that is another one.
	name := filepath.Join(f.dir, f.rec.Runs[2].File)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(flip(string(data))), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := check(t, open(t)); !errors.Is(err, record.ErrTampered) {
		t.Errorf("a file was changed: %v", err)
	}
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
	// Notes whose hashes were made to fit do not follow from the runs.
	for name, change := range map[string]func(l *record.PlannedLook){
		"p":        func(l *record.PlannedLook) { l.Targets[0].Above *= 0.99 },
		"level":    func(l *record.PlannedLook) { l.Level *= 1.01 },
		"decision": func(l *record.PlannedLook) { l.Targets[0].Decided = string(verdict.Pass) },
		"target":   func(l *record.PlannedLook) { l.Targets[0].ID = "second" },
	} {
		rec := open(t)
		first := rec.Planned[0]
		first.Targets = append([]record.LookedTarget(nil), first.Targets...)
		change(&first)
		rec.Planned = nil
		if err := rec.AddLook(f.dir, first); err != nil {
			t.Fatal(err)
		}
		if err := rec.CheckLooks(f.dir); err != nil {
			t.Errorf("%s: its hashes do not fit: %v", name, err)
		}
		if _, err := Replay(rec, base, head); !errors.Is(err, ErrDiffers) {
			t.Errorf("another %s with hashes that fit: %v", name, err)
		}
	}
	if err := os.WriteFile(filepath.Join(f.dir, record.FileName), text, 0o666); err != nil {
		t.Fatal(err)
	}
	// Other runs than those that were looked at.
	other, _ := sides(40, 4, 0.03, 1.04)
	if _, err := Replay(open(t), other, head); !errors.Is(err, ErrDiffers) {
		t.Errorf("other runs: %v", err)
	}
}

// What was planned is written before the first run, and only then.
func TestPlanFirst(t *testing.T) {
	base, head := sides(4, 1, 0.01, 1)
	f, _ := taken(t, Declaration{}, base, head)
	plan, err := Declare(&Declaration{})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.rec.PlanLooks(f.dir, *plan); err == nil {
		t.Error("runs got a plan afterwards")
	}
	if same, err := f.rec.SamePlan(plan); err != nil || !same {
		t.Errorf("the same plan is another one: %v", err)
	}
	// Another rule of tests is that of another version.
	f.rec.LooksPlan.Rule = "pairs-v0"
	if _, err := Replay(f.rec, base, head); !errors.Is(err, ErrDiffers) || !strings.Contains(err.Error(), "pairs-v0") {
		t.Errorf("another rule: %v", err)
	}
	f.rec.LooksPlan.Rule = Rule
	plan.Cap = 20
	if same, err := f.rec.SamePlan(plan); err != nil || same {
		t.Errorf("another plan is the same: %v", err)
	}
}

func TestDeclareRefused(t *testing.T) {
	for _, d := range []Declaration{
		{Cap: 3},
		{Cap: 5000},
		{Focus: "("},
		{Budget: []byte("version: 2"), Name: "b", Today: "2026-01-02"},
		{Budget: []byte("version: 1\ndefaults: {looks: 2}\nbudgets: [{id: a, limit: {fail: +2%}}]"), Name: "b", Today: "2026-01-02"},
		{Budget: []byte("version: 1\nbudgets: [{id: a, each: true, limit: {fail: +2%}}]"), Name: "b", Today: "2026-01-02"},
	} {
		if _, err := Declare(&d); err == nil {
			t.Errorf("%+v is declared", d)
		}
	}
}
