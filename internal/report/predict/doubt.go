package predict

import (
	"fmt"

	"profdiff/internal/predict"
)

// A Doubt is one reason why a prediction may be wrong.
type Doubt struct {
	Cause string  `json:"cause"`
	Side  string  `json:"side"`  // base or head, "" for both
	Share float64 `json:"share"` // of the variance
}

// doubtsOf are all doubts, and in words the greatest and the command that would shrink the
// greatest that one can, "" if there is none.
func doubtsOf(r *predict.Result) (list []Doubt, says, remedy string) {
	list = []Doubt{}
	e := &r.Evidence
	for i := range e.Doubts {
		d := &e.Doubts[i]
		side := ""
		if d.Side >= 0 {
			side = []string{"base", "head"}[d.Side]
		}
		list = append(list, Doubt{string(d.Cause), side, d.Share})
	}
	if len(e.Doubts) == 0 {
		return list, "", ""
	}
	first := &e.Doubts[0]
	says = fmt.Sprintf("%.0f%% of it is %s", 100*first.Share, causeText(first, e.Tier, r.Pair.Source))
	d := e.Dominant()
	if d == nil {
		return list, says, ""
	}
	if d != first && d.Cause != first.Cause {
		says += fmt.Sprintf("; what can be shrunk is %s, %.0f%%", causeText(d, e.Tier, r.Pair.Source), 100*d.Share)
	}
	return list, says, remedyText(d, r.Pair)
}

// causeText says what a doubt is about.
func causeText(d *predict.Doubt, tier predict.Tier, source Source) string {
	side := ""
	if d.Side >= 0 {
		side = []string{" before", " after"}[d.Side]
	}
	switch d.Cause {
	case predict.CauseModel:
		return "the model: " + map[predict.Tier]string{
			predict.TierFitted:     "this core was measured, and fitted to kernels",
			predict.TierProbed:     "this core was measured with probes, not with loops",
			predict.TierCalibrated: "this core was measured with probes that were made for others",
			predict.TierRepaired:   "LLVM's own of this CPU, whose known errors are repaired, not measured here",
			predict.TierGeneration: "LLVM's of another generation of this vendor",
			predict.TierVendor:     "LLVM's of another core, or one with known errors",
		}[tier]
	case predict.CauseRates:
		return "the rates of branches" + side + ", which are " + string(source)
	}
	said := map[predict.Cause]string{
		predict.CauseCalls:        "calls of code that is not known",
		predict.CauseIndirect:     "where indirect jumps go",
		predict.CauseInstructions: "instructions that LLVM's model does not know",
		predict.CauseControlFlow:  "control flow that is not known in full",
		predict.CauseDivisions:    "divisions, which take longer for greater quotients",
		predict.CauseForwarding:   "loads of what was just stored, in places that data decide",
		predict.CauseTaken:        "whether taken branches are foreseen in pairs",
		predict.CauseWalks:        "the order of outcomes, by which walks through the code differ",
		predict.CauseMeasured:     "what was measured, which the code does not explain",
	}[d.Cause]
	if said == "" {
		said = string(d.Cause)
	}
	return said + side
}

// remedyText is a command that makes a doubt less.
func remedyText(d *predict.Doubt, pair *predict.Pair) string {
	switch d.Remedy {
	case predict.RemedyCalibrate:
		return "profdiff calibrate -o FILE on that CPU, and --calibration FILE here"
	case predict.RemedyCallgrind, predict.RemedyStacks:
		switch {
		case pair.Unrecorded:
			return "--taken LABEL=P and --miss LABEL=P say how branches behave"
		case d.Remedy == predict.RemedyStacks:
			return "perf record -b of both sides, and --branches-before and --branches-after name the recordings"
		}
		return "valgrind --tool=callgrind --branch-sim=yes --dump-instr=yes --collect-jumps=yes PROGRAM of both sides, and --branches-before and --branches-after name what it wrote"
	case predict.RemedyMeasure:
		return "profdiff record --before BEFORE --after AFTER measures both sides"
	}
	return string(d.Remedy)
}
