package traces

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"profdiff/internal/perfetto"
	"profdiff/internal/run"
	"profdiff/internal/trace"
)

// contents says in a line what a timeline has besides what becomes an event.
func contents(tl *trace.Timeline) string {
	threads, processes := 0, make(map[trace.ProcessID]bool)
	for _, id := range tl.Sorted() {
		threads++
		if p := tl.Threads[id].Process; p != 0 {
			processes[p] = true
		}
	}
	list := []string{count(int64(threads), "thread") + " of " + count(int64(len(processes)), "process")}
	add := func(n int64, what string) {
		if n > 0 {
			list = append(list, count(n, what))
		}
	}
	add(tl.Sched.Switches, "switch")
	add(tl.Sched.Wakings, "waking")
	add(int64(len(tl.Counters)), "counter")
	add(int64(len(tl.AppFrames())), "frame")
	add(int64(len(tl.Startups())), "startup")
	return strings.Join(list, ", ")
}

// busiest says in which threads most of the time of slices is, "" if there are few.
func busiest(r *run.Run) string {
	const most = 4
	event, ok := r.EventIndex(slicesEvent)
	if !ok || r.Events[event].Weight <= 0 {
		return ""
	}
	rows := r.GroupSelf(run.ByThread)
	if len(rows) < most {
		return ""
	}
	slices.SortFunc(rows, func(a, b run.Row) int {
		return cmp.Or(-cmp.Compare(a.Self[event].Weight, b.Self[event].Weight), strings.Compare(a.Name, b.Name))
	})
	var list []string
	for _, row := range rows[:most] {
		list = append(list, fmt.Sprintf("%s %.0f%%", row.Name, 100*float64(row.Self[event].Weight)/float64(r.Events[event].Weight)))
	}
	return "; of the time of slices: " + strings.Join(list, ", ")
}

// count is a number of things.
func count(n int64, what string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(what, "s") || strings.HasSuffix(what, "ch"):
		what += "es"
	default:
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// dataSources has the kinds of packets that data sources write, by the names by which configurations ask for
// them.
var dataSources = map[string][]perfetto.Kind{
	"linux.ftrace":                         {perfetto.FtraceEvents},
	"linux.process_stats":                  {perfetto.ProcessTree, perfetto.ProcessStats},
	"linux.perf":                           {perfetto.PerfSample},
	"android.packages_list":                {perfetto.PackagesList},
	"android.surfaceflinger.frametimeline": {perfetto.FrameTimeline},
	"android.log":                          {perfetto.AndroidLog},
	"android.heapprofd":                    {perfetto.ProfilePacket},
	"track_event":                          {perfetto.TrackEvent},
	"org.chromium.trace_event":             {perfetto.TrackEvent},
	"org.chromium.sampler_profiler":        {perfetto.StreamingProfile},
	"org.chromium.native_stack_sampler":    {perfetto.StreamingProfile, perfetto.StackSample},
	"org.chromium.trace_metadata":          {perfetto.ChromeMetadata},
	"org.chromium.trace_metadata2":         {perfetto.ChromeMetadata},
}

// missing lists the data sources that were asked for and of which nothing is in the trace.
func (r *reader) missing() (list []string) {
	for _, name := range r.facts.sources {
		kinds, known := dataSources[name]
		if known && !slices.ContainsFunc(kinds, func(k perfetto.Kind) bool { return r.trace.Counts[k] > 0 }) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// unread are kinds of packets that hold measurements which are not read.
var unread = []perfetto.Kind{7, perfetto.ProcessStats, perfetto.ProfilePacket, 38, perfetto.AndroidLog, 40, 52, 53, 56, 68}

// others says which measurements the trace has that are not read.
func (r *reader) others() string {
	var list []string
	for _, kind := range unread {
		if n := r.trace.Counts[kind]; n > 0 {
			list = append(list, fmt.Sprintf("%d of %v", n, kind))
		}
	}
	return strings.Join(list, ", ")
}

// say notes in a run what the trace has, and what of that is missing or not read.
func (r *reader) say(out *run.Run, tl *trace.Timeline) {
	out.Recording.Holds = contents(tl)
	if others := r.others(); others != "" {
		out.Recording.Holds += "; not read are packets: " + others
	}
	if list := r.missing(); len(list) > 0 {
		out.Warnings = append(out.Warnings, "asked for, but not in the trace: "+strings.Join(list, ", "))
	}
}
