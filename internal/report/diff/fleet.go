package diff

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"profdiff/internal/align"
	"profdiff/internal/compare"
	"profdiff/internal/fleet/query"
	"profdiff/internal/report/text"
	"profdiff/internal/run"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// A Fleet says that the sides are two releases on many devices, which are what is repeated: a comparison has
// devices where others have runs.
type Fleet struct {
	Before     FleetSide   `json:"before"`
	After      FleetSide   `json:"after"`
	SampleType string      `json:"sample_type"`
	Per        query.Per   `json:"per"`    // share, work or second
	Models     int         `json:"models"` // of devices, each with the same weight on both sides
	Both       int64       `json:"both"`   // devices that are in both releases
	Left       []FleetLeft `json:"left"`   // profiles that are in no comparison
	// Few are functions that were not tested by their self cost, as few devices have them or these do not differ. It
	// is 0 if an engine computed the rows, which does not tell.
	Few    int    `json:"few"`
	Engine string `json:"engine"` // what computed the sums
	// Units says that units of roll-ups are compared in place of devices, into which devices fall: numbers of devices of changes, and of the design, are those of units.
	Units bool `json:"units,omitempty"`
}

// LeastDevices is the number of devices that have to have a function for it to be tested.
const LeastDevices = query.LeastDevices

// Unit is what is repeated on each side: a run, or of a fleet a device.
func (d *Design) Unit() string {
	switch {
	case d.Fleet == nil:
		return "run"
	case d.Fleet.Units:
		return "unit"
	}
	return "device"
}

// A FleetSide is a release.
type FleetSide struct {
	Release  string `json:"release"`
	Profiles int64  `json:"profiles"`
	Devices  int64  `json:"devices"`
	Units    int64  `json:"units,omitempty"` // of roll-ups, if these are compared
}

// FleetLeft are profiles that are in no comparison, for a reason.
type FleetLeft struct {
	Reason string `json:"reason"`
	Before int64  `json:"before"`
	After  int64  `json:"after"`
}

// Ground says what the verdicts rest on.
func (f *Fleet) Ground() string {
	return fmt.Sprintf("%s devices with %s profiles of release %s, and %s devices with %s of %s, of %s", text.Count(f.Before.Devices), text.Count(f.Before.Profiles), f.Before.Release,
		text.Count(f.After.Devices), text.Count(f.After.Profiles), f.After.Release, countOf(f.Models, "model"))
}

func countOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return text.Count(int64(n)) + " " + what + "s"
}

// ByModel is the group of functions on models of devices.
const ByModel run.GroupBy = "model"

// NewFleet makes the document of a comparison of two releases. The stacks of both may be nil; they are frames then.
func NewFleet(c *query.Comparison, stacks *query.Stacks) *Document {
	f := &Fleet{SampleType: c.SampleType, Per: c.Per, Models: len(c.Population.Models), Both: c.Both, Left: []FleetLeft{}, Engine: c.Engine, Units: c.RolledUp}
	for i, to := range []*FleetSide{&f.Before, &f.After} {
		s := &c.Sides[i]
		*to = FleetSide{Release: s.Release, Profiles: s.Profiles, Devices: s.Devices}
		if c.RolledUp {
			to.Devices, to.Units = c.InUnits[i], s.Devices
		}
	}
	for _, l := range c.Left {
		f.Left = append(f.Left, FleetLeft{l.Reason, l.Profiles[0], l.Profiles[1]})
	}
	d := &Document{
		Schema: Schema, Base: releaseSide(&c.Sides[0]), Head: releaseSide(&c.Sides[1]),
		Design: Design{
			Turns: (&verdict.Pairing{}).Turns(verdict.UnknownOrder), RunsBase: int(c.Sides[0].Devices), RunsHead: int(c.Sides[1].Devices), Fleet: f,
			Margin: c.Rule.Margin, FalseDiscovery: c.Rule.FalseDiscovery, Warnings: f.warnings(c),
		},
		Shifts: []Shift{}, Explained: []Row{}, Categories: []Row{}, Threads: []Row{}, DSOs: []Row{}, Metrics: []Metrics{},
	}
	d.Design.Turns.Text = fmt.Sprintf("by device, %s with the same weights on both sides", countOf(f.Models, "model"))
	e := fleetEvent(c)
	scale := c.Scale()
	d.Functions = make([]Function, 0, len(c.Functions))
	for i := range c.Functions {
		if s := &c.Functions[i].Self; s.Untested != "" && s.By != "" {
			f.Few++
		}
		d.Functions = append(d.Functions, fleetFunction(&c.Functions[i], e.Name, scale))
	}
	e.Functions = d.Functions
	for i := range c.Categories {
		r := &c.Categories[i]
		d.Categories = append(d.Categories, Row{Name: r.Name, BaseName: r.Name, Event: e.Name, Self: fleetChange(&r.Self, scale)})
	}
	if len(d.Categories) > 0 {
		e.Groups = append(e.Groups, Group{run.ByCategory, d.Categories})
	}
	if len(c.Models) > 0 {
		g := Group{By: ByModel}
		for i := range c.Models {
			m := &c.Models[i]
			name := m.Name + " on " + cmp.Or(m.Model, "(no model)")
			g.Rows = append(g.Rows, Row{Name: name, BaseName: name, Event: e.Name, Self: fleetChange(&m.Self, scale)})
		}
		e.Groups = append(e.Groups, g)
	}
	if stacks != nil {
		e.Frames = fleetFrames(c, stacks, e.Name, &d.Functions)
		e.Functions = d.Functions
	}
	d.Events = []Event{e}
	d.Story = d.tell()
	d.Events[0].Waterfall = waterfall(&d.Events[0])
	return d
}

// untested says why no function of a fleet could be tested and what would allow it, "" if one was.
func (d *Document) untested() string {
	for i := range d.Functions {
		if d.Functions[i].Self.Tested || d.Functions[i].Total.Tested {
			return ""
		}
	}
	f, unit := d.Design.Fleet, d.Design.Unit()
	both := int64(d.Design.RunsBase + d.Design.RunsHead)
	why := fmt.Sprintf("No function can be tested: there are %d %ss of release %s and %d of %s to compare", d.Design.RunsBase, unit, f.Before.Release, d.Design.RunsHead, f.After.Release)
	if missing := LeastDevices - both; missing > 0 {
		return fmt.Sprintf("%s, and a function has to be on %d of both together: at least %d more %ss are needed", why, LeastDevices, missing, unit)
	}
	return fmt.Sprintf("%s, but none is on %d of them and differs between them: more %ss that run the same functions are needed", why, LeastDevices, unit)
}

// releaseSide is a release as a side, with one recording that stands for all.
func releaseSide(s *query.Side) Side {
	r := Run{
		Path: "release " + s.Release, Format: "fleet", DurationNS: s.Durations, SamplesIn: s.Samples, SamplesOut: s.Samples, Warnings: []string{},
		Accounting: run.Accounting{In: s.Samples, Out: s.Samples},
	}
	if s.First != 0 {
		r.RecordedAt = time.Unix(0, s.First).UTC().Format(time.RFC3339Nano)
		r.Recording.Start = time.Unix(0, s.First).UTC()
	}
	r.Recording.Format = r.Format
	return Side{Runs: []Run{r}}
}

// warnings say what is not compared.
func (f *Fleet) warnings(c *query.Comparison) []string {
	list := []string{}
	for _, l := range f.Left {
		list = append(list, fmt.Sprintf("%s profiles of %s and %s of %s are not compared: %s", text.Count(l.Before), f.Before.Release, text.Count(l.After), f.After.Release, l.Reason))
	}
	if f.Units {
		list = append(list, fmt.Sprintf("devices are summed by unit, %s → %s units: intervals are a little other than by device; categories and stacks are not rolled up; --sums facts has all by device", text.Count(f.Before.Units), text.Count(f.After.Units)))
	}
	if c.Same > 0 {
		list = append(list, fmt.Sprintf("%s %s the same bytes in both releases: unless that is meant, these look more alike than they are", text.Count(c.Same), text.Plural(int(c.Same), "profile has", "profiles have")))
	}
	if c.Disputed != nil {
		list = append(list, c.Disputed.String())
	}
	if f.Both > 0 {
		list = append(list, fmt.Sprintf("%s devices are in both releases and count as two each: intervals are too wide rather than too narrow", text.Count(f.Both)))
	}
	if c.Withheld != "" {
		list = append(list, fmt.Sprintf("%s: %s; --per work or --per second divides by what does not add up to 100%%", c.SampleType, c.Withheld))
	}
	return list
}

// fleetEvent is the event of a comparison, without what is in it.
func fleetEvent(c *query.Comparison) Event {
	name, unit := c.SampleType, ""
	if at := strings.LastIndexByte(name, '/'); at >= 0 {
		name, unit = name[:at], name[at+1:]
	}
	n := Normalization{Mode: PerWork, By: "units of work", Factor: 1, CI: text.Interval{Lo: 1, Hi: 1}, Per: "unit of work"}
	switch c.Per {
	case query.Share:
		n.Mode, n.By, n.Per = OfTotal, "everything", "profile"
		n.Assumes = "that most functions did not change"
	case query.Second:
		n.By, n.Per = "the time that was recorded", "second"
	}
	total := fleetChange(&c.Whole, 1)
	if c.Per != query.Share {
		total = fleetChange(&c.Whole, c.Scale())
	}
	raw := Change{Base: c.Sides[0].Weight / float64(c.Sides[0].Profiles), Head: c.Sides[1].Weight / float64(c.Sides[1].Profiles), Method: stats.Clusters}
	raw.Delta, raw.Ratio = raw.Head-raw.Base, text.Number(raw.Head/raw.Base)
	raw.Q, raw.PHolm, raw.Smallest, raw.Distance, raw.CI = text.Missing, text.Missing, text.Missing, text.Missing, text.Interval{Hi: math.Inf(1)}
	raw.P, raw.Verdict = 1, verdict.Inconclusive
	raw.BaseSamples, raw.HeadSamples = c.Sides[0].Samples, c.Sides[1].Samples
	raw.BaseNEff, raw.HeadNEff = float64(raw.BaseSamples), float64(raw.HeadSamples)
	return Event{Name: name, Unit: unit, Normalization: n, Raw: raw, Withheld: c.Withheld, NoTotal: c.NoTotal, Total: total}
}

// fleetChange is a change of a fleet, times a scale.
func fleetChange(c *query.Change, scale float64) Change {
	d := newChange(&compare.Change{Base: scale * c.Before.Mean, Head: scale * c.After.Mean, Finding: c.Finding})
	d.BaseDevices, d.HeadDevices, d.Untested = c.Before.Devices, c.After.Devices, c.Untested
	return d
}

// fleetFunction is a function, whose names are the same on both sides: those that were renamed are one already.
func fleetFunction(f *query.FunctionChange, event string, scale float64) Function {
	row := Function{
		Name: f.Name, BaseName: f.Name, DSO: f.Module, BaseDSO: f.Module, Match: string(align.Exact), Confidence: 1, Event: event, Shift: -1, Parts: []Part{},
		Self: fleetChange(&f.Self, scale), Total: fleetChange(&f.Total, scale),
	}
	devices := [2]int64{max(f.Self.Before.Devices, f.Total.Before.Devices), max(f.Self.After.Devices, f.Total.After.Devices)}
	switch {
	case devices[0] == 0:
		row.BaseName, row.BaseDSO, row.Match = "", "", string(align.Added)
	case devices[1] == 0:
		row.Match = string(align.Removed)
	}
	return row
}

// fleetFrames are the frames of the stacks of both releases. Functions that only call others, or that few devices
// have, are added to the list.
func fleetFrames(c *query.Comparison, stacks *query.Stacks, event string, functions *[]Function) Frames {
	of := make(map[int64]int32)
	for i := range c.Functions {
		of[c.Functions[i].FunctionID] = int32(i)
	}
	scale := c.Scale()
	number := func(id int64) int32 {
		n, ok := of[id]
		if !ok {
			n = int32(len(*functions))
			of[id] = n
			f := c.Name(id)
			row := query.FunctionChange{Function: f}
			row.Self.Finding, row.Total.Finding = verdict.Unknown(math.NaN()), verdict.Unknown(math.NaN())
			*functions = append(*functions, fleetFunction(&row, event, scale))
			(*functions)[n].Match, (*functions)[n].BaseName, (*functions)[n].BaseDSO = string(align.Exact), f.Name, f.Module
		}
		return n
	}
	root := &frame{function: -1}
	for i := range stacks.List {
		s := &stacks.List[i]
		at := root
		for _, id := range slices.Backward(s.Frames) {
			at = at.child(number(id))
		}
		at.base += scale * s.Before
		at.head += scale * s.After
	}
	root.base, root.head = root.base+scale*stacks.Rest[0], root.head+scale*stacks.Rest[1]
	n := root.sum()
	f := newFrames(n)
	f.All = n
	at := 0
	root.write(&f, &at, 0, *functions)
	return f
}

// mostOfFunction is the part of what a function costs with what it calls that a frame has to have for the verdict on
// the function to be one on the frame.
const mostOfFunction = 0.9

// flags say what is known of a frame of a function, by what it costs with what it calls.
func flags(f *Function, base, head float64) (flags FrameFlags) {
	switch {
	case base == 0 && head > 0:
		flags = OnlyHead
	case head == 0 && base > 0:
		flags = OnlyBase
	}
	if f == nil || base < mostOfFunction*f.Total.Base || head < mostOfFunction*f.Total.Head {
		return flags
	}
	switch {
	case f.Total.Verdict.Worse():
		flags |= Grew
	case f.Total.Verdict.Better():
		flags |= Shrank
	}
	return flags
}

// A frame is a node of the tree of stacks.
type frame struct {
	function   int32
	base, head float64 // self costs
	all        float64 // of both sides, with what it calls
	children   []*frame
	index      map[int32]*frame
}

func (f *frame) child(function int32) *frame {
	c, ok := f.index[function]
	if !ok {
		if f.index == nil {
			f.index = make(map[int32]*frame)
		}
		c = &frame{function: function}
		f.index[function] = c
		f.children = append(f.children, c)
	}
	return c
}

// sum fills in the costs with callees, sorts what is called, the widest first, and counts frames.
func (f *frame) sum() (n int) {
	f.all = f.base + f.head
	for _, c := range f.children {
		n += c.sum()
		f.all += c.all
	}
	slices.SortFunc(f.children, func(a, b *frame) int {
		return cmp.Or(-cmp.Compare(a.all, b.all), cmp.Compare(a.function, b.function))
	})
	return n + 1
}

func (f *frame) write(to *Frames, at *int, level int32, functions []Function) (base, head float64) {
	k := *at
	*at++
	to.Level[k], to.Function[k], to.Base[k], to.Head[k] = level, f.function, f.base, f.head
	base, head = f.base, f.head
	for _, c := range f.children {
		b, h := c.write(to, at, level+1, functions)
		base, head = base+b, head+h
	}
	var of *Function
	if f.function >= 0 {
		of = &functions[f.function]
	}
	to.Flags[k] = flags(of, base, head)
	return base, head
}

// WriteReleases writes in a line which releases are compared, and in another one why these and in this order, if the user did not say so.
func WriteReleases(w io.Writer, d *Document, chosen string) error {
	f := d.Design.Fleet
	engine := f.Engine
	if f.Units {
		engine += ", of roll-ups"
	}
	line := fmt.Sprintf("%s (before) → %s (after)", f.Before.Release, f.After.Release)
	if chosen != "" {
		chosen = text.Printable(chosen) + "\n"
	}
	_, err := fmt.Fprintf(w, "%s: %s → %s devices of %s, %s → %s profiles; sums by %s\n%s", text.Printable(line), text.Count(f.Before.Devices), text.Count(f.After.Devices),
		countOf(f.Models, "model"), text.Count(f.Before.Profiles), text.Count(f.After.Profiles), text.Printable(engine), chosen)
	return err
}
