package html

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"profdiff/internal/report/text"
	"profdiff/internal/run"
	"profdiff/internal/verdict"
)

// A metaWaterfall is a [diff.Waterfall]. What is left between its bars and Head is the rest.
type metaWaterfall struct {
	By   string    `json:"by"`
	Base float64   `json:"base"`
	Head float64   `json:"head"`
	Bars []metaBar `json:"bars"`
	// Decided are further changes that are decided, in the rest.
	Decided int `json:"decided"`
}

type metaBar struct {
	Name  string  `json:"name"`
	Delta float64 `json:"delta"`
}

// maxBars is how many bars a waterfall has at most.
const maxBars = 16

func waterfallOf(e *Event) *metaWaterfall {
	w := e.Waterfall
	if w == nil {
		return nil
	}
	m := &metaWaterfall{By: string(w.By), Base: w.Base, Head: w.Head, Bars: []metaBar{}, Decided: w.Decided}
	for i := range w.Bars {
		b := &w.Bars[i]
		name := b.Name
		if b.Shift != nil {
			name = "moved under " + name
		}
		m.Bars = append(m.Bars, metaBar{name, b.Change.Delta})
	}
	return m
}

// A waterfallView is a waterfall as a picture: names, bars and numbers beside each other, in parts of
// the width.
type waterfallView struct {
	Height               int
	Label, Title, Legend string
	Rows                 []waterfallRow
	// Cut says where the axis starts, "" if at 0, below the bars. The bars from there are broken.
	Cut  string
	CutY int
}

type waterfallRow struct {
	Y, TextY            int
	Name, Short, Narrow string
	Full                string // "" if Narrow is
	Value               string
	Class               string // side, rest, or a verdict
	X, W                string // of the bar, percent
	Break               bool   // at its left, as it does not start at 0
	// Line is where a line leads to the next row, "" after the last.
	Line        string
	LineY, EndY int
}

const (
	waterfallRowHeight = 21
	waterfallBarHeight = 13
	waterfallCutHeight = 15
	// Names have so many columns in a window and on a phone or on paper.
	waterfallName, waterfallNarrow = 30, 16
	// Bars are between these percents of the width.
	waterfallFrom, waterfallTo = 33.0, 77.0
)

// waterfall draws the waterfall of the main event, nil if there is none.
func (m *meta) waterfall() *waterfallView {
	w := m.Waterfall
	if w == nil || len(w.Bars) == 0 {
		return nil
	}
	me := &m.Events[m.Main]
	e := me.event()
	deltas := make([]float64, len(w.Bars))
	for i := range w.Bars {
		deltas[i] = w.Bars[i].Delta
	}
	n := newRungs(e, w.Base, w.Head, deltas)
	v := &waterfallView{Title: "From before to after", Height: (len(w.Bars)+3)*waterfallRowHeight - 2}
	rows := []waterfallRow{{Name: "Before", Class: "side"}}
	// ends are where bars start and end.
	ends := [][2]float64{{0, w.Base}}
	said := []string{}
	at := w.Base
	for i, b := range w.Bars {
		row := waterfallRow{Name: b.Name, Class: string(verdict.Regressed), Value: n.delta(n.deltas[i])}
		if b.Delta < 0 {
			row.Class = string(verdict.Improved)
		}
		rows, ends = append(rows, row), append(ends, [2]float64{at, at + b.Delta})
		at += b.Delta
		said = append(said, b.Name+" "+row.Value)
	}
	rest := waterfallRow{Name: "the rest", Class: "rest", Value: n.delta(n.rest)}
	if w.Decided > 0 {
		rest.Name = fmt.Sprintf("the rest, %d decided", w.Decided)
	}
	rows, ends = append(rows, rest, waterfallRow{Name: "After", Class: "side", Value: n.cost(n.head)}), append(ends, [2]float64{at, w.Head}, [2]float64{0, w.Head})
	rows[0].Value = n.cost(n.base)
	start, end := axis(ends)
	if start > 0 {
		v.Cut, v.CutY = "axis cut at "+e.cost(start), v.Height+waterfallCutHeight-4
		v.Height += waterfallCutHeight
		rows[0].Break, rows[len(rows)-1].Break = true, true
	}
	place := func(x float64) float64 {
		return waterfallFrom + (waterfallTo-waterfallFrom)*(max(x, start)-start)/(end-start)
	}
	percent := func(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }
	for i := range rows {
		r, from, to := &rows[i], place(ends[i][0]), place(ends[i][1])
		r.Y = i * waterfallRowHeight
		r.TextY = r.Y + 11
		r.X, r.W = percent(min(from, to)), percent(max(math.Abs(to-from), 0.15))
		r.Short, r.Narrow = text.Elide(r.Name, waterfallName), text.Elide(r.Name, waterfallNarrow)
		if r.Narrow == r.Short {
			r.Narrow = ""
		} else {
			r.Full = r.Name
		}
		if i+1 < len(rows) {
			r.Line, r.LineY, r.EndY = percent(to), r.Y+waterfallBarHeight, r.Y+waterfallRowHeight
		}
	}
	v.Rows = rows
	v.Label = fmt.Sprintf("%s: %s before; %s; %s %s; %s after", me.costs(), rows[0].Value, strings.Join(said, ", "), rest.Name, rest.Value, n.cost(n.head))
	what := "of self costs of functions"
	if w.By != string(run.ByFunction) {
		what = "by " + w.By
	}
	v.Legend = me.costs() + ": decided changes " + what + ", and the rest."
	if v.Cut != "" {
		v.Label += "; " + v.Cut
	}
	return v
}

// axis is where the axis starts and ends. It starts at 0, unless bars were then too short to see.
func axis(ends [][2]float64) (start, end float64) {
	low := math.Inf(1)
	for i, e := range ends {
		end = max(end, e[0], e[1])
		low = min(low, e[1])
		if i > 0 && i+1 < len(ends) {
			low = min(low, e[0])
		}
	}
	if low > end/2 {
		start = low - (end-low)/2
	}
	if !(start > 0) {
		start = min(low, 0)
	}
	if !(end > start) {
		end = start + 1
	}
	return start, end
}

// rungs are the numbers of a waterfall in one unit, with so many decimals that what is read adds up,
// too: what rounding leaves is in the rest.
type rungs struct {
	base, head, rest int64 // in units of the last decimal
	deltas           []int64
	decimals         int
	suffix, points   string // behind costs, and behind differences
}

func newRungs(e *Event, base, head float64, deltas []float64) *rungs {
	by, suffix := text.Scale(max(base, head), e.Unit)
	n := &rungs{suffix: typeset(suffix), points: typeset(suffix)}
	if e.Share {
		by, n.suffix, n.points = 0.01, thin+"%", thin+"pp"
	}
	largest := 0.0
	for _, d := range deltas {
		largest = max(largest, math.Abs(d)/by)
	}
	// Four digits of the largest difference, but not more than seven of the sides.
	n.decimals = 3 - magnitude(largest)
	n.decimals = max(0, min(n.decimals, 6-magnitude(max(base, head)/by)))
	whole := func(v float64) int64 { return int64(math.Round(v / by * math.Pow10(n.decimals))) }
	n.base, n.head = whole(base), whole(head)
	n.rest = n.head - n.base
	for _, d := range deltas {
		w := whole(d)
		n.deltas = append(n.deltas, w)
		n.rest -= w
	}
	return n
}

// magnitude is the power of ten of the first digit.
func magnitude(v float64) int {
	if !(v > 0) || math.IsInf(v, 1) {
		return 0
	}
	return int(math.Floor(math.Log10(v)))
}

func (n *rungs) write(v int64) string {
	return minus(strconv.FormatFloat(float64(v)/math.Pow10(n.decimals), 'f', n.decimals, 64))
}

func (n *rungs) cost(v int64) string { return n.write(v) + n.suffix }

func (n *rungs) delta(v int64) string {
	if v > 0 {
		return "+" + n.write(v) + n.points
	}
	return n.write(v) + n.points
}
