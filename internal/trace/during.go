package trace

import (
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"

	"profdiff/internal/interval"
)

// A During chooses times of a trace.
type During struct {
	what  string // "slice", "startup", "jank", jankyApps
	scope string // "", "process", "thread": whose events are meant
	name  string // of slices, with * and ?
}

const jankyApps = "janky-apps"

// ParseDuring parses what users ask for:
//
//	slice NAME            the time of slices with that name, in which * and ? stand for others
//	process slice NAME    only of the process of each slice
//	thread slice NAME     only of its thread
//	startup               from the start of an app to its first frame, of that app
//	jank                  frames of an app whose deadline it missed, of that app
//	janky-apps            all the time of apps that missed the deadline of a frame
func ParseDuring(text string) (*During, error) {
	d := &During{what: text}
	if text == "startup" || text == "jank" || text == jankyApps {
		d.scope = "process"
		return d, nil
	}
	before, name, ok := strings.Cut(" "+text, " slice ")
	d.what, d.scope, d.name = "slice", strings.TrimSpace(before), strings.TrimSpace(name)
	if !ok || d.name == "" || d.scope != "" && d.scope != "process" && d.scope != "thread" {
		return nil, fmt.Errorf("%q is none of: slice NAME, process slice NAME, thread slice NAME, startup, jank, janky-apps", text)
	}
	if _, err := path.Match(pattern(d.name), ""); err != nil {
		return nil, fmt.Errorf("%q is no pattern: %v", d.name, err)
	}
	return d, nil
}

// pattern is a name for package path, where * and ? alone have a meaning, and * stands for
// slashes too.
func pattern(name string) string {
	return strings.NewReplacer("/", "\x00", "[", `\[`, "\\", `\\`).Replace(name)
}

// String is what the user asked for.
func (d *During) String() string {
	if d.what != "slice" {
		return d.what
	}
	return strings.TrimSpace(d.scope + " slice " + d.name)
}

// OfFrames reports whether times of frames are chosen.
func (d *During) OfFrames() bool { return d.what == "jank" || d.what == jankyApps }

// OfApps reports whether all the time of some apps is chosen.
func (d *During) OfApps() bool { return d.what == jankyApps }

// OfStartups reports whether times of startups are chosen.
func (d *During) OfStartups() bool { return d.what == "startup" }

// A Span is a time, of one process or thread if they are not 0.
type Span struct {
	Start, End int64
	Process    ProcessID
	Thread     ThreadID
}

// Spans has the times that were chosen.
type Spans struct {
	// Count is how many slices, startups or frames there are.
	Count int64

	all       []interval.Interval // that are of no process
	processes map[ProcessID][]interval.Interval
	threads   map[ThreadID][]interval.Interval
}

// Find finds the times that d chooses in a timeline. Slices without an end last until the end of the trace.
func (t *Timeline) Find(d *During) *Spans {
	var list []Span
	switch d.what {
	case "startup":
		for _, s := range t.Startups() {
			list = append(list, Span{Start: s.Start, End: s.End, Process: s.Process})
		}
	case "jank":
		for _, f := range t.AppFrames() {
			if f.Jank.App() && f.End != Unended {
				list = append(list, Span{Start: f.Start, End: f.End, Process: f.Process})
			}
		}
	case jankyApps:
		late := make(map[ProcessID]bool)
		for _, f := range t.AppFrames() {
			if f.Jank.App() && !late[f.Process] {
				late[f.Process] = true
				list = append(list, Span{Start: t.Start, End: t.End, Process: f.Process})
			}
		}
	default:
		list = t.namedSlices(d)
	}
	s := &Spans{Count: int64(len(list)), processes: make(map[ProcessID][]interval.Interval), threads: make(map[ThreadID][]interval.Interval)}
	for _, span := range list {
		when := interval.Interval{Start: span.Start, End: span.End}
		switch {
		case d.scope == "thread":
			s.threads[span.Thread] = append(s.threads[span.Thread], when)
		case d.scope == "process":
			s.processes[span.Process] = append(s.processes[span.Process], when)
		default:
			s.all = append(s.all, when)
		}
	}
	s.all = interval.Union(s.all)
	for id, list := range s.processes {
		s.processes[id] = interval.Union(list)
	}
	for id, list := range s.threads {
		s.threads[id] = interval.Union(list)
	}
	return s
}

// namedSlices are the slices with a name.
func (t *Timeline) namedSlices(d *During) (list []Span) {
	glob := pattern(d.name)
	match := make([]bool, len(t.names))
	some := false
	for i, name := range t.names {
		match[i], _ = path.Match(glob, strings.ReplaceAll(name, "/", "\x00"))
		some = some || match[i]
	}
	if !some {
		return nil
	}
	for i := range t.Tracks {
		track := &t.Tracks[i]
		for _, s := range t.Slices(TrackID(i), nil) {
			if !match[s.Name] || s.End == s.Start {
				continue
			}
			if s.Unfinished() {
				s.End = t.End
			}
			list = append(list, Span{Start: s.Start, End: s.End, Process: track.Process, Thread: track.Thread})
		}
	}
	return list
}

// Time is how much is chosen, of whichever processes.
func (s *Spans) Time() int64 {
	all := slices.Clone(s.all)
	for _, list := range s.processes {
		all = append(all, list...)
	}
	for _, list := range s.threads {
		all = append(all, list...)
	}
	return interval.Length(interval.Union(all))
}

// Overlap is how much of a time of a thread is chosen: all of it if s is nil.
func (s *Spans) Overlap(thread ThreadID, process ProcessID, start, end int64) int64 {
	if s == nil {
		return end - start
	}
	return overlap(s.all, start, end) + overlap(s.processes[process], start, end) + overlap(s.threads[thread], start, end)
}

// Cut takes a time of a thread apart into what is chosen and what is not, in order: all of it is if s
// is nil.
func (s *Spans) Cut(thread ThreadID, process ProcessID, start, end int64, piece func(start, end int64, chosen bool)) {
	if s == nil {
		piece(start, end, true)
		return
	}
	for _, list := range [][]interval.Interval{s.all, s.processes[process], s.threads[thread]} { // one of them has some
		i := sort.Search(len(list), func(i int) bool { return list[i].End > start })
		for ; i < len(list) && list[i].Start < end && start < end; i++ {
			if list[i].Start > start {
				piece(start, list[i].Start, false)
				start = list[i].Start
			}
			piece(start, min(end, list[i].End), true)
			start = min(end, list[i].End)
		}
	}
	if start < end {
		piece(start, end, false)
	}
}

// Has reports whether a moment of a thread is chosen: it is if s is nil.
func (s *Spans) Has(thread ThreadID, process ProcessID, at int64) bool {
	return s.Overlap(thread, process, at, at+1) > 0
}

// overlap is how much of a time is in times that are sorted and do not overlap.
func overlap(list []interval.Interval, start, end int64) (sum int64) {
	i := sort.Search(len(list), func(i int) bool { return list[i].End > start })
	for ; i < len(list) && list[i].Start < end; i++ {
		sum += min(end, list[i].End) - max(start, list[i].Start)
	}
	return sum
}
