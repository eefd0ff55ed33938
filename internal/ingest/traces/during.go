package traces

import (
	"errors"
	"fmt"
	"time"

	"profdiff/internal/run"
	"profdiff/internal/trace"
)

// chosenTimes finds the times of a trace that were asked for, nil for all. What is nowhere in a trace is
// an error, because it may be a slip of the pen; frames none of which missed its deadline are none.
func chosenTimes(out *run.Run, tl *trace.Timeline, during *trace.During) (*trace.Spans, error) {
	if during == nil {
		return nil, nil
	}
	spans := tl.Find(during)
	switch {
	case spans.Count > 0 && during.OfApps():
		out.Warnings = append(out.Warnings, fmt.Sprintf("only apps that missed the deadline of a frame are here (%d of them)", spans.Count))
	case spans.Count > 0:
		out.Warnings = append(out.Warnings, fmt.Sprintf("of %v only %v is here: what was during %v (%d of them)",
			short(tl.End-tl.Start), short(spans.Time()), during, spans.Count))
	case during.OfFrames() && len(tl.Frames) == 0:
		return nil, errors.New("--during jank: the trace has no frames; they are in traces that the data source android.surfaceflinger.frametimeline is part of")
	case during.OfFrames():
		out.Warnings = append(out.Warnings, fmt.Sprintf("none of %d frames of apps missed its deadline: there is nothing during jank", len(tl.AppFrames())))
	case during.OfStartups():
		return nil, errors.New("--during startup: no app was started in the trace, as far as slices tell")
	default:
		return nil, fmt.Errorf("--during %q: the trace has no slice of that name", during.String())
	}
	return spans, nil
}

// short is a time for people, who need few digits of it.
func short(ns int64) time.Duration {
	d := time.Duration(ns)
	return d.Round(max(1, d/1000))
}
