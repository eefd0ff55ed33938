package budget

import (
	"strings"
	"testing"

	"profdiff/internal/fleet"
	"profdiff/internal/fleet/fleettest"
	"profdiff/internal/fleet/query"
	"profdiff/internal/fleet/store"
	"profdiff/internal/verdict"
)

// TestCheckFleet checks budgets of a fleet with known effects.
func TestCheckFleet(t *testing.T) {
	dir := fleettest.Fleet{
		Seed: 5, Profiles: 800, Devices: 250, Models: 3, Functions: 30, Batch: 400, Effects: map[int]float64{3: 1.8, 8: 0.5, 12: 0}, Fresh: 4,
	}.Write(t, t.TempDir())
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var functions []fleet.Function
	for f, err := range s.Functions() {
		if err != nil {
			t.Fatal(err)
		}
		functions = append(functions, f)
	}
	const text = `version: 1
fleet: {release: ["1.0", "1.1"], per: PER}
budgets:
- {id: grew, match: {function: leaf003}, limit: {fail: +10%}}
- {id: several, match: {function: "leaf00[12]", regexp: true}, limit: {fail: +25%}}
- {id: each, match: {function: "leaf02*"}, each: true, limit: {fail: +60%}}
- {id: gone, match: {function: leaf012}, limit: {fail: +10%}}
- {id: new, match: {function: leaf004}, limit: {fail: +10%}}
- {id: layout, match: {function: layout, dso: libapp.so}, metric: total, limit: {fail: +60%}}
- {id: locks, match: {category: locks}, limit: {fail: +40%}}
- {id: everything, limit: {fail: +30%}}
MAX- {id: nothing, match: {function: nosuch}, limit: {fail: +30%}}
`
	want := map[string]verdict.Verdict{
		"grew": verdict.Fail, "several": verdict.Pass, "gone": verdict.Pass, "new": verdict.Fail, "layout": verdict.Pass,
		"over": verdict.Fail, "under": verdict.Pass, "absent": verdict.Pass, "locks": verdict.Pass, "everything": verdict.Pass, "nothing": verdict.Fail,
	}
	for _, per := range []query.Per{query.Share, query.Work, query.Second} {
		// leaf003 costs a fifth of everything, leaf000 a quarter and more.
		ceilings := map[query.Per]string{
			query.Share: "- {id: over, match: {function: leaf003}, max: {fail: 5%, of: total}}\n- {id: under, match: {function: leaf003}, max: {fail: 60%, of: total}, limit: {fail: +400%}}\n- {id: absent, match: {function: leaf012}, max: {fail: 5%, of: total}}\n",
			query.Work:  "- {id: over, match: {function: leaf003}, max: {fail: 1us, of: work}}\n- {id: under, match: {category: locks}, max: {fail: 1s, of: work}}\n",
		}[per]
		f, err := Parse("budget.yaml", []byte(strings.NewReplacer("PER", string(per), "MAX", ceilings).Replace(text)))
		if err != nil {
			t.Fatal(err)
		}
		o, err := f.CheckFleet(&FleetInputs{Functions: functions, Ask: func(sets []map[int64]bool) (*query.Answer, error) {
			return query.Ask(s, query.Question{Before: f.Fleet.Release[0], After: f.Fleet.Release[1], SampleType: fleettest.SampleType, Per: query.Per(f.Fleet.Per)}, query.Scan{Sets: sets})
		}})
		if err != nil {
			t.Fatal(err)
		}
		each := 0
		for _, r := range o.Results {
			v := want[r.ID]
			if r.ID == "everything" && per == query.Share {
				v = verdict.Inconclusive
			}
			if strings.HasPrefix(r.ID, "each/leaf02") {
				v = verdict.Pass
				each++
			}
			if r.Verdict != v {
				t.Errorf("%s: %s is %s, want %s: %q, ratio %v", per, r.ID, r.Verdict, v, r.Reasons, r.Deciding.Value)
			}
			if d := r.Deciding; v == verdict.Pass && d.RunsBase != 250 {
				t.Errorf("%s: %s is of %d devices", per, r.ID, d.RunsBase)
			}
		}
		if each != 10 || o.Verdict != verdict.Fail {
			t.Errorf("%s: %d of 10 functions by themselves, and the outcome is %s", per, each, o.Verdict)
		}
	}
}

// TestFleetRefused refuses what no fleet has, with the place.
func TestFleetRefused(t *testing.T) {
	const one = "budgets:\n- {id: a, limit: {fail: +5%}}\n"
	for text, says := range map[string]string{
		"fleet: {release: [a]}\n" + one:     "b.yaml:2:18: fleet.release: want two releases, [BEFORE, AFTER], or none",
		"fleet: {release: [a, a]}\n" + one:  "want two releases",
		"fleet: {per: profile}\n" + one:     "fleet.per: \"profile\" is nothing to divide by: share, work or second",
		"fleet: {releases: [a, b]}\n" + one: "unknown key \"releases\"",
		"fleet: {per: work}\nbudgets:\n- {id: a, match: {function: f}, max: {fail: 5%, of: total}}\n":      "max.of: of a fleet per work, a ceiling is of: work, not total",
		"fleet: {per: second}\nbudgets:\n- {id: a, match: {function: f}, max: {fail: 5%, of: total}}\n":    "has nothing to be of per second",
		"fleet: {}\nbudgets:\n- {id: a, match: {function: f}}\n":                                           "has no limit",
		"fleet: {per: work}\nbudgets:\n- {id: a, match: {function: f, under: main}, limit: {fail: +5%}}\n": "match.under: is for recordings",
		"fleet: {per: work}\ndefaults: {looks: 2}\n" + one:                                                 "a fleet is looked at once",
		"fleet: {per: work}\nbudgets:\n- {id: a, event: cpu-cycles, limit: {fail: +5%}}\n":                 "event: is for recordings",
	} {
		if _, err := Parse("b.yaml", []byte("version: 1\n"+text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
}
