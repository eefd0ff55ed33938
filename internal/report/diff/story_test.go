package diff

import (
	"fmt"
	"strings"
	"testing"

	"profdiff/internal/compare"
	"profdiff/internal/run"
	"profdiff/internal/run/runtest"
	"profdiff/internal/wait"
)

// TestStoryOfContention tells of traces, which know of waits for locks and not of CPU time, for whom the
// main thread no longer waits.
func TestStoryOfContention(t *testing.T) {
	side := func(name string, waited int) (runs []*run.Run, total int64) {
		for i := range 6 {
			r := runtest.Build(t, fmt.Sprint(name, i), fmt.Sprintf("delay main a!main;a!Cart.get%s\ndelay pool a!run;a!Disk.write%s",
				strings.Repeat(fmt.Sprint(" ", waited+1000*i), 40), strings.Repeat(fmt.Sprint(" ", 20000+300*i), 40)))
			r.Events[0].Unit = "nanoseconds"
			runs, total = append(runs, r), total+40*int64(waited+1000*i)
		}
		return runs, total
	}
	base, before := side("base", 400_000)
	head, after := side("head", 10_000)
	report := func(total int64) *wait.Report {
		return &wait.Report{Runs: 6, All: wait.Sum{Count: 240, TotalNS: total}, Chains: []wait.Chain{{
			Links: []wait.Link{
				{Thread: wait.Thread{Name: "main", Main: true}, Blocked: &wait.Place{Function: "Cart.get"}, Evidence: wait.Woke},
				{Thread: wait.Thread{Name: "worker"}},
			},
			Threads: 2, Sum: wait.Sum{Count: 240, TotalNS: total, LongestNS: 400_000},
		}}}
	}
	d := New(comparison(t, base, head, compare.Options{Normalize: compare.None}), Parts{})
	d.AddWaits(report(before), report(after))
	if got := d.Story.Sentences[0].Text; !strings.HasPrefix(got, "main waits ") || !strings.Contains(got, " shorter for worker: 16.10 ms → 500.0 µs per run") {
		t.Errorf("the story begins with %q", got)
	}
	if d.Story.Word != "faster" {
		t.Errorf("the word is %q", d.Story.Word)
	}
}
