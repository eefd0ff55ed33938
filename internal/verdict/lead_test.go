package verdict

import (
	"math"
	"testing"

	"profdiff/internal/stats"
)

// leadsOf are the leads of one event.
func leadsOf(family []*Finding) []*Finding {
	return Leads(family, (*Finding).Strength, func(f *Finding) (*Finding, string) { return f, "cycles" })
}

// TestLeadsRanked puts leads of few samples behind those of many, whatever their distance from noise,
// and names what several events tell where it is strongest.
func TestLeadsRanked(t *testing.T) {
	one := func(base, head float64) *Finding {
		e := stats.New(Level).Ratio([]stats.WeightedCount{{Weight: base, WeightSq: base}}, []stats.WeightedCount{{Weight: head, WeightSq: head}})
		f := Of(&e)
		return &f
	}
	few, many, more := one(1, 47), one(1000, 1200), one(1000, 1400)
	family := []*Finding{few, many, more, one(2000, 2000), one(0, 200)}
	rule.Discovered(family)
	if !few.Few || many.Few || family[4].Few {
		t.Error("few samples are those of both sides, fewer than a hundred")
	}
	if few.Distance < many.Distance {
		t.Fatalf("%.1fσ and %.1fσ: this tests nothing", few.Distance, many.Distance)
	}
	if leads := leadsOf(family); len(leads) != 4 || leads[0] != family[4] || leads[1] != more || leads[2] != many || leads[3] != few {
		t.Errorf("%d leads, %v", len(leads), leads)
	}
	type told struct {
		*Finding
		of, event string
	}
	list := []told{{many, "a", "cycles"}, {few, "b", "cycles"}, {more, "a", "misses"}, {many, "a", "misses"}}
	leads := Leads(list, func(x told) Strength { return x.Strength() }, func(x told) (string, string) { return x.of, x.event })
	if len(leads) != 3 || leads[0] != list[2] || leads[1] != list[3] || leads[2] != list[1] {
		t.Errorf("of several events: %v", leads)
	}
}

// TestLeads gives one run a side leads by their distance from sampling noise, and no verdict.
func TestLeads(t *testing.T) {
	one := func(base, head, bursts float64) *Finding {
		side := func(samples float64) []stats.WeightedCount {
			return []stats.WeightedCount{{Weight: samples, WeightSq: samples * bursts}}
		}
		e := stats.New(Level).Ratio(side(base), side(head))
		f := Of(&e)
		return &f
	}
	family := []*Finding{one(10000, 8000, 1), one(1000, 1150, 1), one(400, 900, 1), one(5000, 5010, 1), one(300, 0, 1), one(400, 900, 30)}
	for range 30 {
		family = append(family, one(2000, 2000, 1))
	}
	rule.Discovered(family)
	for i, want := range []Lead{Less, More, More, NoLead, Less, NoLead} {
		f := family[i]
		if f.Lead != want || f.Verdict != Inconclusive {
			t.Errorf("%d: %q and %s at %.1fσ, want %q", i, f.Lead, f.Verdict, f.Distance, want)
		}
		if text := f.Text(Time); want == NoLead && text != "~" || want == Less && text[:3] != "▽" {
			t.Errorf("%d: %q", i, text)
		}
	}
	// A change of 15 % stands out of few functions, not of two thousand.
	crowd := []*Finding{one(1000, 1150, 1)}
	for range 2000 {
		crowd = append(crowd, one(2000, 2000, 1))
	}
	if rule.Discovered(crowd); crowd[0].Lead != NoLead {
		t.Errorf("of two thousand: %q at %.1fσ", crowd[0].Lead, crowd[0].Distance)
	}
	leads := leadsOf(family)
	if len(leads) != 4 || leads[0] != family[4] || leads[1] != family[0] || leads[2] != family[2] || leads[3] != family[1] {
		t.Errorf("%d leads, %v", len(leads), leads)
	}
	// A change of 15 % that sampling tells is decided by the usual runs, one of 3 % takes more.
	total := one(1e6, 1e6, 1)
	small := one(1e6, 1.03e6, 1)
	rule.Discovered([]*Finding{small})
	for _, test := range []struct {
		leads []*Finding
		want  int
	}{{leads, usualRuns}, {[]*Finding{small}, 12}, {nil, 25}} {
		if got := rule.RunsFor(total, test.leads); math.Abs(float64(got-test.want)) > 3 {
			t.Errorf("%d leads: %d runs, want %d", len(test.leads), got, test.want)
		}
	}
	family[0].Withhold()
	if family[0].Lead != NoLead {
		t.Error("a lead stays where the ground does not bear it")
	}
}
