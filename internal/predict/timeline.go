package predict

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"profdiff/internal/asm"
	"profdiff/internal/llvm"
	"profdiff/internal/predict/flow"
)

// A Timeline is what llvm-mca draws of one way through a unit.
type Timeline struct {
	Title string
	// Note says what the way is.
	Note string
	// Lines are llvm-mca's, unchanged. Marks say of the instructions in them, by index
	// in Lines, how hot they are; "" if they are not.
	Lines, Marks []string
}

// timelineSteps is how many instructions of a unit are drawn.
const timelineSteps = 200

// hotMark is the share of samples or mispredictions from which a row is marked.
const hotMark = 0.05

// Heat is how much of a side's samples fell on an instruction, 0 to 1; nil if unknown.
type Heat func(g *flow.Graph, at int) float64

// timelines draws the most frequent way through a unit of both sides.
func (p *Predictor) timelines(ctx context.Context, r *Result, heat [2]Heat) ([2]Timeline, error) {
	var out [2]Timeline
	var regions []llvm.Region
	var ways [2][]flow.Step
	var sources [2][]int
	for i, side := range []*Side{r.Pair.Base, r.Pair.Head} {
		way, note := side.frequentWay()
		out[i] = Timeline{Title: side.Name, Note: note}
		region := llvm.Region{Name: side.Name}
		for k := range way {
			if line := asm.TimelineText(p.Machine.Arch, way[k].Inst()); line != "" {
				region.Lines = append(region.Lines, line)
				sources[i] = append(sources[i], k)
			}
		}
		if len(region.Lines) == 0 {
			return out, fmt.Errorf("%s: nothing to draw", side.Name)
		}
		ways[i] = way
		regions = append(regions, region)
	}
	simulations, err := p.Tool.Simulate(ctx, p.Machine.drawing(), regions)
	if err != nil {
		var parse *llvm.ParseError
		if errors.As(err, &parse) && parse.Index < 2 && parse.Line < len(sources[parse.Index]) {
			s := ways[parse.Index][sources[parse.Index][parse.Line]]
			return out, instError(s.Inst(), parse)
		}
		return out, err
	}
	for i, c := range []*Cycles{&r.Base, &r.Head} {
		s := &simulations[i]
		out[i].draw(s.TimelineText(), func(index int) string {
			if index >= len(s.Source) {
				return ""
			}
			at := ways[i][sources[i][s.Source[index]]].Site
			return c.mark(at, heat[i])
		})
	}
	return out, nil
}

// mark says how hot an instruction is.
func (c *Cycles) mark(s flow.Site, heat Heat) string {
	var parts []string
	if heat != nil {
		if h := heat(s.Graph, s.At); h >= hotMark {
			parts = append(parts, fmt.Sprintf("%.0f%% of samples", 100*h))
		}
	}
	if m := c.missed[s]; c.Mispredicted > 0 && m/c.Mispredicted >= hotMark {
		parts = append(parts, fmt.Sprintf("%.2g misses a unit", m))
	}
	return strings.Join(parts, ", ")
}

// draw splits llvm-mca's drawing into lines with marks.
func (t *Timeline) draw(text string, mark func(int) string) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		note := ""
		var iteration, index int
		if n, _ := fmt.Sscanf(line, "[%d,%d]", &iteration, &index); n == 2 {
			note = mark(index)
		}
		t.Lines = append(t.Lines, line)
		t.Marks = append(t.Marks, note)
	}
}

// timelineOf is a path's drawing.
func timelineOf(title string, p *Path) Timeline {
	t := Timeline{Title: title, Note: p.Name}
	if p.Listing {
		t.Note = "the listing as it stands: nothing runs straight through its branches"
	}
	t.draw(p.Timeline, func(int) string { return "" })
	return t
}

// frequentWay is the way that most units of a walk take, and how frequent it is.
func (s *Side) frequentWay() (way []flow.Step, note string) {
	t := flow.Walk(s.Code, s.Rates.branches(s.Loop, s.Code.Root), 1, s.Loop, flow.Limits{Steps: mcaSteps, Units: mcaUnits})
	frequent := t.Ways()[0]
	way = frequent.Steps
	note = fmt.Sprintf("the most frequent way, of %.0f%% of the units", 100*frequent.Share)
	if n := len(way); n > timelineSteps {
		note += fmt.Sprintf(", its first %d of %d instructions", timelineSteps, n)
		way = way[:timelineSteps]
	}
	return way, note
}
