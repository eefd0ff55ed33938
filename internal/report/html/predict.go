package html

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"profdiff/internal/predict"
)

// FromPrediction is the document of predictions on one machine.
func FromPrediction(m *predict.Machine, results []*predict.Result, opt Options) *Document {
	d := &Document{Title: "Prediction", Tool: opt.Tool, Pipeline: &Pipeline{
		Model: m.Model.Name, Tool: "llvm-mca of LLVM " + m.Version + " for " + m.Model.CPU, StandIn: m.Model.StandIn,
	}}
	for _, r := range results {
		d.Pipeline.Loops = append(d.Pipeline.Loops, loopOf(r))
	}
	d.Verdict.Outcome = Info
	if len(results) > 0 {
		r := results[0]
		d.Base, d.Head = r.Pair.Base.Name, r.Pair.Head.Name
		d.Verdict.Sentence = fmt.Sprintf("%s: a speed-up of %s is predicted", r.Pair.Name, speedup(&r.Speedup))
		if measured := r.Pair.Measured; measured != nil {
			d.Verdict.Sentence += fmt.Sprintf(", %s was measured", speedup(measured))
		}
	}
	d.Verdict.Ground = []string{"A static model, not a measurement: what is not called measured is predicted."}
	return d
}

func speedup(v *predict.Interval) string {
	return fmt.Sprintf("%.2f× [%.2f, %.2f]", v.Value, v.Lo, v.Hi)
}

func estimateOf(v *predict.Interval) *Estimate {
	if v == nil {
		return nil
	}
	return &Estimate{v.Value, v.Lo, v.Hi}
}

func loopOf(r *predict.Result) Loop {
	l := Loop{
		Name: r.Pair.Name, Unit: r.Pair.Unit, Base: loopSide(&r.Base), Head: loopSide(&r.Head),
		Predicted: estimateOf(&r.Speedup), Measured: estimateOf(r.Pair.Measured), RateSource: string(r.Pair.Source),
		Notes: slices.Clone(r.Flags),
	}
	if t := r.Timelines; t != nil {
		l.Base.Timeline, l.Head.Timeline = timelineSteps(t[0].Lines), timelineSteps(t[1].Lines)
	}
	l.breakEven(r)
	return l
}

func loopSide(c *predict.Cycles) *LoopSide {
	s := &LoopSide{Throughput: c.Total, Cycles: []Part{
		{"units and width", c.Issue}, {"dependencies", c.Dependency}, {"taken branches", c.Taken}, {"mispredictions", c.Misses},
	}}
	if c.Total > 0 {
		s.IPC = c.Instructions / c.Total
	}
	s.Bottleneck = slices.MaxFunc(s.Cycles, func(a, b Part) int { return cmp.Compare(a.Cycles, b.Cycles) }).Name
	return s
}

// Points of a break-even plot, up to the rate at which nothing is learnt.
const (
	breakEvenPoints = 26
	worstRate       = 0.5
)

// breakEven is the speed-up by the rate of misses, as the prediction computes it: each
// miss costs the same. The interval is that of the prediction, relative to its value.
func (l *Loop) breakEven(r *predict.Result) {
	b := r.BreakEven
	if b == nil || b.Verdict == predict.NoBranches || b.Misses == 0 {
		return
	}
	branchy, branchless := &r.Base, &r.Head
	if !b.Base {
		branchy, branchless = branchless, branchy
	}
	fixed := branchy.Total - branchy.Misses
	cost := (branchless.Total - fixed) / b.Misses
	for i := range breakEvenPoints {
		rate := worstRate * float64(i) / (breakEvenPoints - 1)
		cycles := fixed + rate*branchy.DataBranches*cost
		if !(cycles > 0) || !(branchless.Total > 0) {
			return
		}
		p := Point{Rate: rate, Speedup: cycles / branchless.Total}
		if !b.Base {
			p.Speedup = 1 / p.Speedup
		}
		if v := r.Speedup.Value; v > 0 {
			p.Lo, p.Hi = p.Speedup*r.Speedup.Lo/v, p.Speedup*r.Speedup.Hi/v
		}
		l.BreakEven = append(l.BreakEven, p)
	}
	if b.Verdict != predict.AlwaysBranchless && b.Verdict != predict.NeverBranchless {
		at := b.Rate
		l.At = &at
	}
	l.Rate = &Estimate{b.MeasuredRate, b.MeasuredRate, b.MeasuredRate}
	l.Notes = append(l.Notes, "The band around the speed-up is the relative interval of the prediction.")
}

// timelineRow is an instruction of llvm-mca -timeline: [iteration,index], a column for
// each cycle from column 10 on, and the instruction.
var timelineRow = regexp.MustCompile(`^\[(\d+),(\d+)\]`)

// timelineSteps reads a timeline that llvm-mca drew. D is dispatched, = waiting, e
// executing, E executed, - waiting to retire, R retired.
func timelineSteps(lines []string) (steps []Step) {
	const start = 10
	for _, line := range lines {
		m := timelineRow.FindStringSubmatch(line)
		if m == nil || len(line) <= start {
			continue
		}
		drawn := line[min(len(line), max(start, len(m[0]))):]
		end := strings.IndexByte(drawn, 'R')
		dispatched := strings.IndexByte(drawn, 'D')
		if dispatched < 0 || end < dispatched {
			continue
		}
		cycles := drawn[:end]
		// What needs no unit, such as the clearing of a register, is done at once.
		s := Step{Dispatched: dispatched, Retired: end, Issued: min(dispatched+1, end), Executed: min(dispatched+1, end)}
		s.Iteration, _ = strconv.Atoi(m[1])
		s.Index, _ = strconv.Atoi(m[2])
		if i := strings.IndexAny(cycles, "eE"); i >= 0 {
			s.Issued = i
			s.Executed = strings.LastIndexAny(cycles, "eE") + 1
		}
		s.Ready = s.Issued
		text := strings.TrimLeft(drawn[end+1:], " .")
		s.Text = strings.Join(strings.Fields(text), " ")
		steps = append(steps, s)
	}
	return steps
}
