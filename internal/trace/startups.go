package trace

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// A Startup is the start of an app, from the intent to the first frame.
type Startup struct {
	Start, End int64
	// Package is the app's, and Process the one in which its activity started, 0 if that is not known.
	Package string
	Process ProcessID
	// Type is "cold", "warm" or "hot", "" if nothing tells.
	Type string
}

// Names of slices that tell of startups.
const (
	launchingActivity = "launchingActivity#"
	launching         = "launching: "
	intentStarted     = "MetricsLogger:launchObserverNotifyIntentStarted"
	launchFinished    = "MetricsLogger:launchObserverNotifyActivityLaunchFinished"
	systemServer      = "system_server"
	bindApplication   = "bindApplication"
	activityStart     = "activityStart"
	activityResume    = "activityResume"
	firstRecent       = 33 // SDK since which launchingActivity is there
	firstObserved     = 29 // and since which MetricsLogger is
)

// Startups finds the startups of apps. What tells of them differs by the version of Android, as in
// android/startup/*.sql of Perfetto's standard library:
//
//  1. Since SDK 33 a slice launchingActivity#ID is the startup, and an instant
//     launchingActivity#ID:completed-TYPE:PACKAGE says whose.
//  2. From 29 on a slice "launching: PACKAGE" of system_server is one, if it is alone between two instants at which
//     an intent came, and one that says that a launch was finished.
//  3. Before, each such slice is one. Hot starts, which have none, are not found.
//
// An unknown version is told by the slices that there are. The process is that of the package,
// or one whose name begins with it if no process tells its package, in whose main thread an
// activity was resumed meanwhile. What that thread did besides tells the type, where the slices do not:
// bindApplication a cold start, activityStart a warm one, activityResume alone a hot one.
func (t *Timeline) Startups() []Startup {
	if t.startups == nil {
		t.startups = t.findStartups()
	}
	return t.startups
}

// launchSlices are the slices that tell of startups.
type launchSlices struct {
	activities        map[int64]Span // by ID
	completed         []completed
	launching         []Startup
	intents, finished []int64
}

type completed struct {
	at      int64
	id      int64
	kind    string
	Package string
}

func (t *Timeline) findStartups() []Startup {
	l := t.launchSlices()
	sdk := t.SDK
	if sdk == 0 {
		switch {
		case len(l.completed) > 0:
			sdk = firstRecent
		case len(l.intents) > 0:
			sdk = firstObserved
		}
	}
	list := []Startup{}
	switch {
	case sdk >= firstRecent:
		for _, c := range l.completed {
			if s, ok := l.activities[c.id]; ok {
				list = append(list, Startup{Start: s.Start, End: s.End, Package: c.Package, Type: c.kind})
			}
		}
	case sdk >= firstObserved:
		list = l.observed(t.End)
	default:
		list = l.launching
	}
	slices.SortFunc(list, func(a, b Startup) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	for i := range list {
		t.startedProcess(&list[i])
	}
	return list
}

// launchSlices finds the slices that tell of startups.
func (t *Timeline) launchSlices() *launchSlices {
	l := &launchSlices{activities: make(map[int64]Span)}
	interesting := make([]bool, len(t.names))
	some := false
	for i, name := range t.names {
		interesting[i] = strings.HasPrefix(name, launchingActivity) || strings.HasPrefix(name, launching) || name == intentStarted || name == launchFinished
		some = some || interesting[i]
	}
	if !some {
		return l
	}
	for i := range t.Tracks {
		for _, s := range t.Slices(TrackID(i), nil) {
			if interesting[s.Name] {
				l.take(t, &t.Tracks[i], &s)
			}
		}
	}
	// The first of equal ones.
	slices.SortStableFunc(l.completed, func(a, b completed) int { return cmp.Compare(a.at, b.at) })
	seen := make(map[completed]bool)
	l.completed = slices.DeleteFunc(l.completed, func(c completed) bool {
		c.at = 0
		again := seen[c]
		seen[c] = true
		return again
	})
	return l
}

func (l *launchSlices) take(t *Timeline, track *Track, s *Slice) {
	name := t.names[s.Name]
	switch {
	case name == intentStarted:
		l.intents = append(l.intents, s.Start)
	case name == launchFinished:
		l.finished = append(l.finished, s.Start)
	case strings.HasPrefix(name, launching):
		process := t.Processes[track.Process].Name
		if s.Unfinished() || track.Thread != 0 || process != "" && process != systemServer {
			return
		}
		l.launching = append(l.launching, Startup{Start: s.Start, End: s.End, Package: strings.TrimPrefix(name, launching)})
	default:
		idText, rest, says := strings.Cut(strings.TrimPrefix(name, launchingActivity), ":")
		id, err := strconv.ParseInt(idText, 10, 64)
		if err != nil {
			return
		}
		if !says {
			if s.Duration() > 0 {
				l.activities[id] = Span{Start: s.Start, End: s.End}
			}
			return
		}
		what, name, ok := strings.Cut(rest, ":")
		kind, isCompleted := strings.CutPrefix(what, "completed")
		if !ok || !isCompleted || s.End != s.Start || kind == "-same-process" {
			return
		}
		kind = strings.TrimPrefix(kind, "-")
		if kind != "cold" && kind != "warm" && kind != "hot" {
			kind = ""
		}
		l.completed = append(l.completed, completed{at: s.Start, id: id, kind: kind, Package: name})
	}
}

// observed are the startups that MetricsLogger saw: from the intent to the end of the only launch before
// the next intent.
func (l *launchSlices) observed(end int64) (list []Startup) {
	slices.Sort(l.intents)
	between := func(at, from, to int64) bool { return at >= from && at <= to }
	for i, from := range l.intents {
		to := end
		if i+1 < len(l.intents) {
			to = l.intents[i+1]
		}
		var in []Startup
		for _, s := range l.launching {
			if between(s.Start, from, to) {
				in = append(in, s)
			}
		}
		if len(in) == 1 && between(in[0].End, from, to) && slices.ContainsFunc(l.finished, func(at int64) bool { return between(at, from, to) }) {
			in[0].Start = from
			list = append(list, in[0])
		}
	}
	return list
}

// startedProcess finds the process of a startup, and its type.
func (t *Timeline) startedProcess(s *Startup) {
	packaged := slices.ContainsFunc(t.Processes, func(p Process) bool { return p.Package != "" })
	for i := range t.Threads {
		th := &t.Threads[i]
		p := &t.Processes[th.Process]
		is := p.Package == s.Package
		if !packaged {
			is = strings.HasPrefix(p.Name, s.Package)
		}
		if !is || !th.Main || th.Process == 0 {
			continue
		}
		var bound, started, resumed bool
		for _, slice := range t.Slices(th.Track, nil) {
			if slice.Start < s.Start || slice.Start >= s.End {
				continue
			}
			switch t.names[slice.Name] {
			case bindApplication:
				bound = true
			case activityStart:
				started = true
			case activityResume:
				resumed = true
			}
		}
		if !resumed {
			continue
		}
		s.Process = th.Process
		if s.Type == "" {
			switch {
			case bound && started:
				s.Type = "cold"
			case started:
				s.Type = "warm"
			default:
				s.Type = "hot"
			}
		}
		return
	}
}
