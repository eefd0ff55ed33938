package story

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/report/text"
	"profdiff/internal/verdict"
)

// changed is a change of time that is decided.
func changed(kind Kind, name string, base, head, lo, hi float64) Change {
	v := verdict.Regressed
	if head < base {
		v = verdict.Improved
	}
	return Change{
		About: About{Kind: kind, Event: "cpu-clock", Name: name}, Measure: verdict.Time, Unit: "nanoseconds", Label: name,
		Base: base, Head: head, Ratio: head / base, CI: text.Interval{Lo: lo, Hi: hi}, Verdict: v, Samples: 1000,
	}
}

// open is a change of time that is not decided.
func open(kind Kind, name string, base, head, lo, hi float64) Change {
	c := changed(kind, name, base, head, lo, hi)
	c.Verdict, c.RunsNeeded = verdict.Inconclusive, 22
	return c
}

func event(total Change, parts ...Change) Event {
	return Event{Label: "CPU time", Per: "per run", Time: true, CPU: true, Total: total, Parts: parts}
}

func TestTell(t *testing.T) {
	total := changed(Total, "", 100e6, 90e6, 0.88, 0.92)
	undecided := open(Total, "", 100e6, 101e6, 0.98, 1.03)
	few := changed(Function, "tiny", 100e3, 900e3, 4, 20)
	few.Samples = 5
	wait := Waiting{
		Change: changed(Wait, "IncrementDisableThreadFlip", 3e6, 1e3, 0, 0.02), Thread: "main", Main: true,
		For: []string{"the collector"}, Why: "flip",
	}
	delay := changed(Total, "", 9e6, 4e6, 0.3, 0.5)
	delay.About.Event = "delay"
	locks := Event{Label: "time waiting for locks", Per: "per run", Time: true, Total: delay}
	behind, other := wait, wait
	behind.For, behind.Why = []string{"worker"}, ""
	other.Main, other.Thread, other.Change = false, "pool-1", changed(Wait, "put", 2e6, 1e6, 0.4, 0.6)
	single := undecided
	single.Single = true
	window := event(single)
	lead := func(event, name string, base, head, distance float64, few bool) Change {
		c := open(Function, name, base, head, 0.9*head/base, 1.1*head/base)
		c.About.Event, c.Strength = event, verdict.Strength{Lead: verdict.More, Few: few, Distance: distance}
		return c
	}
	misses := Event{Label: "branch misses", Plural: true, Per: "per run", Total: single, Parts: []Change{lead("misses", "a", 50e6, 70e6, 9, false), lead("misses", "b", 50e6, 70e6, 4, false)}}
	for i := range misses.Parts {
		misses.Parts[i].Measure, misses.Parts[i].Unit = verdict.Amount, "count"
	}
	window.NoTotal, window.Advice = "windows of time (the command is sleep) cost as much as they are long", "--work gives the work done"
	for name, test := range map[string]struct {
		facts Facts
		word  string
		want  []string
	}{
		"one run a side": {
			Facts{Events: []Event{event(single)}},
			"can't tell yet",
			[]string{
				"With one run a side CPU time per run differs by +1.0% [-2.0% to +3.0%], 100.0 ms → 101.0 ms, which is beyond sampling noise.",
				"No function differs beyond sampling noise.",
			},
		},
		"leads of several events": {
			Facts{Events: []Event{event(single, lead("cpu-clock", "a", 20e6, 30e6, 8, false), lead("cpu-clock", "c", 1e6, 20e6, 12, true)), misses}},
			"can't tell yet",
			[]string{
				"With one run a side CPU time per run differs by +1.0% [-2.0% to +3.0%], 100.0 ms → 101.0 ms, which is beyond sampling noise.",
				"The strongest leads: a has 40.0% [26.0% to 54.0%] more branch misses: 50.00 M → 70.00 M, 9.0σ from noise; b has 40.0% [26.0% to 54.0%] more branch misses: 50.00 M → 70.00 M, 4.0σ from noise.",
			},
		},
		"a lead of few samples": {
			Facts{Events: []Event{event(single, lead("cpu-clock", "c", 1e6, 20e6, 12, true), lead("cpu-clock", "a", 20e6, 30e6, 8, false))}},
			"can't tell yet",
			[]string{
				"With one run a side CPU time per run differs by +1.0% [-2.0% to +3.0%], 100.0 ms → 101.0 ms, which is beyond sampling noise.",
				"The strongest leads: a costs 50.0% [35.0% to 65.0%] more: 20.00 ms → 30.00 ms, 8.0σ from noise; c costs 20.0 times [18.0 to 22.0] as much: 1.000 ms → 20.00 ms, 12.0σ from noise, of few samples.",
			},
		},
		"one window of time a side": {
			Facts{Events: []Event{window}, HowToDecide: "10 runs a side would decide"},
			"can't tell yet",
			[]string{
				"CPU time per run has no verdict: windows of time (the command is sleep) cost as much as they are long.",
				"No function differs beyond sampling noise.",
				"10 runs a side would decide; --work gives the work done.",
			},
		},
		"total, explained and contradicted": {
			Facts{Events: []Event{event(total, changed(Function, "a", 50e6, 38e6, 0.7, 0.8), changed(Function, "b", 1e6, 3e6, 2, 4), few)}},
			"faster",
			[]string{
				"CPU time per run fell by 10.0% [8.0% to 12.0%]: 100.0 ms → 90.00 ms.",
				"Most of it is a (50.00 ms → 38.00 ms): -12.00 ms, all others +2.000 ms.",
				"Against it, b costs 3 times [2 to 4] as much: 1.000 ms → 3.000 ms.",
			},
		},
		"a wait that is larger than what CPU time does": {
			Facts{Events: []Event{event(undecided)}, Waits: []Waiting{wait}},
			"faster",
			[]string{
				"main no longer waits for the collector (flip): 3.000 ms → 1.000 µs per run; at most 2.0% of before remains.",
				"CPU time per run can't be told apart yet: +1.0% [-2.0% to +3.0%], 100.0 ms → 101.0 ms; about 22 runs a side would decide.",
			},
		},
		"a wait for a lock of a main thread": {
			Facts{Events: []Event{locks}, Waits: []Waiting{behind}},
			"faster",
			[]string{
				"main no longer waits for worker: 3.000 ms → 1.000 µs per run; at most 2.0% of before remains.",
				"Time waiting for locks per run fell by 55.6% [50.0% to 70.0%]: 9.000 ms → 4.000 ms.",
			},
		},
		"a wait for a lock among many": {
			Facts{Events: []Event{locks}, Waits: []Waiting{other}},
			"faster",
			[]string{
				"Time waiting for locks per run fell by 55.6% [50.0% to 70.0%]: 9.000 ms → 4.000 ms.",
			},
		},
		"nothing but a part": {
			Facts{Events: []Event{event(undecided, changed(Function, "a", 20e6, 22e6, 1.05, 1.15))}},
			"slower",
			[]string{
				"a costs 10.0% [5.0% to 15.0%] more: 20.00 ms → 22.00 ms.",
				"CPU time per run can't be told apart yet: +1.0% [-2.0% to +3.0%], 100.0 ms → 101.0 ms; about 22 runs a side would decide.",
			},
		},
		"what is decided goes the other way": {
			Facts{Events: []Event{event(total, changed(Function, "b", 1e6, 3e6, 2, 4), open(Function, "c", 30e6, 24e6, 0.6, 1.1))}},
			"faster",
			[]string{
				"CPU time per run fell by 10.0% [8.0% to 12.0%]: 100.0 ms → 90.00 ms.",
				"No decrease of a function is decided; the largest is c (30.00 ms → 24.00 ms).",
				"Against it, b costs 3 times [2 to 4] as much: 1.000 ms → 3.000 ms.",
			},
		},
		"tiny counts are no news": {
			Facts{Events: []Event{event(undecided, few)}},
			"can't tell yet",
			[]string{"CPU time per run can't be told apart yet: +1.0% [-2.0% to +3.0%], 100.0 ms → 101.0 ms; about 22 runs a side would decide."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			check(t, Tell(&test.facts), test.word, test.want)
		})
	}
}

func TestOfLimits(t *testing.T) {
	open := Budgeted{Name: "total", Decides: true, Ratio: 1.02, CI: text.Interval{Lo: 0.9, Hi: 1.2}}
	gain := Budgeted{Name: "p99", Ratio: 0.218, CI: text.Interval{Hi: 0.39}}
	for name, test := range map[string]struct {
		limits []Budgeted
		want   []string
	}{
		"what is not decided does not hide what is": {
			[]Budgeted{open, gain},
			[]string{"total: +2.0%, limit +1%.", "p99 fell by 78.2% [61.0% to 100.0%]."},
		},
		"said once":       {[]Budgeted{{Name: "total", Decides: true, Ratio: 1.5, CI: text.Interval{Lo: 1.4, Hi: 1.6}}}, []string{"total: +2.0%, limit +1%."}},
		"not a ratio":     {[]Budgeted{open, {Name: "most"}}, []string{"total: +2.0%, limit +1%."}},
		"not much":        {[]Budgeted{open, {Name: "few", Ratio: 1.05, CI: text.Interval{Lo: 1.04, Hi: 1.06}}}, []string{"total: +2.0%, limit +1%."}},
		"no limit at all": {nil, []string{"total: +2.0%, limit +1%."}},
	} {
		t.Run(name, func(t *testing.T) {
			check(t, OfLimits(verdict.Inconclusive, "total: +2.0%, limit +1%", test.limits), "can't tell yet", test.want)
		})
	}
}

func TestOfMetrics(t *testing.T) {
	of := func(statistic string, v verdict.Verdict, base, head, lo, hi float64) Change {
		return Change{
			About: About{Kind: Metric, Name: "frame"}, Label: statistic + " of frame", Mean: statistic == "mean", Measure: verdict.Time, Values: true, Unit: "nanoseconds",
			Base: base, Head: head, Ratio: head / base, CI: text.Interval{Lo: lo, Hi: hi}, Verdict: v,
		}
	}
	mean, p99 := of("mean", verdict.Unchanged, 10e6, 10e6, 0.99, 1.01), of("p99", verdict.Improved, 27e6, 5.9e6, 0.2, 0.4)
	open := of("mean", verdict.Inconclusive, 10e6, 11e6, 0.9, 1.3)
	open.RunsNeeded = 12
	lead := of("mean", verdict.Inconclusive, 10e6, 12e6, 1.1, 1.3)
	lead.Strength = verdict.Strength{Lead: verdict.More, Distance: 4.2}
	for name, test := range map[string]struct {
		list  []Measured
		leads string
		word  string
		want  []string
	}{
		"the tail": {
			[]Measured{{Rows: []Change{mean, p99}, Where: "the change is in the tail"}},
			"", "faster",
			[]string{"p99 of frame fell by 78.1% [60.0% to 80.0%]: 27.00 ms → 5.900 ms.", "The change is in the tail."},
		},
		"the same": {[]Measured{{Rows: []Change{mean}}}, "", "same", []string{"mean of frame is the same within 2.0%: +0.0% [-1.0% to +1.0%], 10.00 ms → 10.00 ms."}},
		"not decided": {
			[]Measured{{Rows: []Change{open}}},
			"", "can't tell yet",
			[]string{"mean of frame can't be told apart yet: +10.0% [-10.0% to +30.0%], 10.00 ms → 11.00 ms; about 12 runs a side would decide."},
		},
		"leads": {
			[]Measured{{Rows: []Change{lead}}},
			"several files would decide", "can't tell yet",
			[]string{"The strongest lead: mean of frame rose by 20.0% [10.0% to 30.0%]: 10.00 ms → 12.00 ms, 4.2σ from noise.", "Several files would decide."},
		},
	} {
		t.Run(name, func(t *testing.T) { check(t, OfMetrics(test.list, 0.02, test.leads), test.word, test.want) })
	}
}

// check compares a story with its word and sentences.
func check(t *testing.T, got *Story, word string, want []string) {
	t.Helper()
	var list []string
	for _, s := range got.Sentences {
		list = append(list, s.Text)
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
	if got.Word != word {
		t.Errorf("word %q, want %q", got.Word, word)
	}
}
