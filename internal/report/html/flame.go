package html

import (
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"

	"profdiff/internal/report/diff"
	"profdiff/internal/report/text"
)

// A metaFlame is the top of the flame graph, drawn without a script: few levels, in which a frame
// that does nothing but call another one is one with it. Widths are before and after together.
type metaFlame struct {
	Frames []metaFrame `json:"frames"`
}

// A metaFrame is one frame, or what of the frames below a caller is too small to be drawn.
type metaFrame struct {
	Level int    `json:"level"`
	Name  string `json:"name"`
	// Above and Below are frames that are one with it: that call nothing but it, or that nothing but
	// it calls.
	Above int     `json:"above,omitempty"`
	Below int     `json:"below,omitempty"`
	Base  float64 `json:"base"`
	Head  float64 `json:"head"`
	Flags int     `json:"flags,omitempty"` // diff.FrameFlags
}

const (
	flameLevels = 6
	// maxFlame is about the number of bytes of the picture.
	maxFlame = 12_000
	// leastFlame is the share of the width that is drawn, if there is room.
	leastFlame  = 0.004
	flameName   = 120 // columns that names have in titles
	flameDigits = 6   // of costs
)

// flameOf is the top of the tree of an event, nil if it has none.
func flameOf(e *Event) *metaFlame {
	if len(e.Frames.Level) < 2 {
		return nil
	}
	p := pruner{all: &e.Frames}
	p.weigh()
	for least := leastFlame; ; least *= 1.4 {
		d := flameDrawer{e: e, f: &e.Frames, pruner: &p, least: least, whole: p.base[0] + p.head[0]}
		if !(d.whole > 0) {
			return nil
		}
		d.frame(0, 0)
		bytes := 0
		for i := range d.out.Frames {
			bytes += bytesOfFrame + 2*len(html.EscapeString(d.out.Frames[i].Name))
		}
		if bytes < maxFlame || least > 0.5 {
			return &d.out
		}
	}
}

// bytesOfFrame is about what a frame takes beside its name, in a title and as a label.
const bytesOfFrame = 280

type flameDrawer struct {
	*pruner
	e     *Event
	f     *diff.Frames
	least float64
	whole float64
	out   metaFlame
}

func (d *flameDrawer) width(i int32) float64 { return (d.base[i] + d.head[i]) / d.whole }

func (d *flameDrawer) name(i int32) string {
	switch fn := d.f.Function[i]; {
	case fn >= 0:
		return d.e.Functions[fn].Name
	case fn == -1:
		return "total"
	default:
		return smaller(int(-1 - fn))
	}
}

func smaller(n int) string { return "(" + plural(n, "smaller frame") + ")" }

const decidedFrame = diff.Grew | diff.Shrank

// frame draws a frame and what it calls.
func (d *flameDrawer) frame(i int32, level int) {
	m := metaFrame{Level: level, Base: round(d.base[i], flameDigits), Head: round(d.head[i], flameDigits), Flags: int(d.f.Flags[i])}
	names := []string{text.Elide(d.name(i), flameName)}
	var drawn []int32
	for {
		drawn = d.children(i)
		if len(drawn) != 1 || d.width(i)-d.width(drawn[0]) >= d.least || (d.f.Flags[drawn[0]]^d.f.Flags[i])&decidedFrame != 0 {
			break
		}
		i = drawn[0]
		names = append(names, text.Elide(d.name(i), flameName))
	}
	// Where it goes on, what calls what follows is of interest; at the end, what waits or works there.
	if n := len(names) - 1; len(drawn) > 0 {
		m.Name, m.Above = names[n], n
	} else {
		m.Name, m.Below = names[0], n
	}
	d.out.Frames = append(d.out.Frames, m)
	if level+1 == flameLevels {
		return
	}
	rest := metaFrame{Level: level + 1}
	n := 0
	for c := i + 1; c < d.end[i]; c = d.end[c] {
		if slices.Contains(drawn, c) {
			d.frame(c, level+1)
			continue
		}
		// The children are in order of width: these are the last.
		n += int(d.end[c] - c)
		rest.Base, rest.Head = rest.Base+d.base[c], rest.Head+d.head[c]
	}
	if (rest.Base+rest.Head)/d.whole >= d.least {
		rest.Name = smaller(n)
		rest.Base, rest.Head = round(rest.Base, flameDigits), round(rest.Head, flameDigits)
		d.out.Frames = append(d.out.Frames, rest)
	}
}

// children are the callees of a frame that are wide enough.
func (d *flameDrawer) children(i int32) (list []int32) {
	for c := i + 1; c < d.end[i]; c = d.end[c] {
		if d.width(c) >= d.least {
			list = append(list, c)
		}
	}
	return list
}

// A flameView is a flame graph as a picture.
type flameView struct {
	Height      int
	Label, Link string
	Decided     bool // something is filled
	Frames      []flameFrame
}

type flameFrame struct {
	X, W, Title, Label, Narrow string
	Y                          int
	Alt                        bool
	Class                      string // new or gone
	// Grew and Shrank are how much of the width is filled, percent, "" for nothing.
	Grew, GrewX, Shrank string
}

const (
	flameRow = 19
	// Widths for which labels are elided, and of a character.
	flameWide, flameNarrow, flameChar = 620, 320, 6.4
)

// flame draws the top of the flame graph of the main event, nil if there is none.
func (m *meta) flame() *flameView {
	if m.Flame == nil || len(m.Flame.Frames) == 0 {
		return nil
	}
	me := &m.Events[m.Main]
	e, frames := me.event(), m.Flame.Frames
	root := &frames[0]
	v := &flameView{Link: "#view=flame" + ofEvent(m.Main), Label: "The top of the flame graph of " + me.costs() + ", widths are before and after together"}
	percent := func(share float64) string { return strconv.FormatFloat(100*share, 'f', 2, 64) }
	var decided []string
	var next [flameLevels + 1]float64 // by level: where the next frame starts, as a share of the root
	for i := range frames {
		f := &frames[i]
		flags, width := diff.FrameFlags(f.Flags), part(f.Base+f.Head, root.Base+root.Head)
		d := flameFrame{Y: f.Level * flameRow, X: percent(next[f.Level]), W: percent(max(width, 0.0005)), Alt: f.Level%2 == 0}
		next[f.Level+1] = next[f.Level]
		next[f.Level] += width
		v.Height = max(v.Height, d.Y+flameRow)
		change := e.delta(f.Head - f.Base)
		d.Title = fmt.Sprintf("%s: %s → %s of each side, %s", f.full(), share(part(f.Base, root.Base)), share(part(f.Head, root.Head)), change)
		net := percent(part(abs(f.Head-f.Base), f.Base+f.Head))
		said := ""
		switch {
		case flags&diff.Grew != 0 && f.Head > f.Base:
			said, d.Grew, d.GrewX = "grew", net, percent(1-part(f.Head-f.Base, f.Base+f.Head))
		case flags&diff.Shrank != 0 && f.Head < f.Base:
			said, d.Shrank = "shrank", net
		}
		if said != "" {
			d.Title += ", decided"
			if len(decided) < 5 {
				decided = append(decided, f.Name+" "+said+" by "+strings.TrimLeft(change, "+−"))
			}
		}
		switch {
		case flags&diff.OnlyHead != 0:
			d.Class = "new"
		case flags&diff.OnlyBase != 0:
			d.Class = "gone"
		}
		d.Label = f.label(width * flameWide)
		if d.Narrow = f.label(width * flameNarrow); d.Narrow == d.Label {
			d.Narrow = ""
		}
		v.Frames = append(v.Frames, d)
	}
	if v.Decided = len(decided) > 0; v.Decided {
		v.Label += "; decided: " + strings.Join(decided, ", ")
	}
	return v
}

// full says what a frame stands for.
func (f *metaFrame) full() string {
	switch {
	case f.Above > 0:
		return f.Name + ", called by " + plural(f.Above, "frame")
	case f.Below > 0:
		return f.Name + ", with " + plural(f.Below, "frame") + " below"
	}
	return f.Name
}

// label is the name as far as it fits into a picture of a width, "" if it does not.
func (f *metaFrame) label(width float64) string {
	const least, joint = 3, 4
	room := int((width - 6) / flameChar)
	switch {
	case room < least:
		return ""
	case f.Above > 0 && room >= 3*joint:
		return "… › " + text.Elide(f.Name, room-joint)
	case f.Below > 0 && room >= 3*joint:
		return text.Elide(f.Name, room-joint) + " › …"
	}
	return text.Elide(f.Name, room)
}
