package run

import (
	"fmt"
	"regexp"
	"slices"
)

// A Filter chooses samples. Expressions that are nil choose all. Samples that are
// not chosen are counted in Accounting.Filtered.
type Filter struct {
	// Process and Thread match the names of process and thread.
	Process, Thread *regexp.Regexp
	// DSO matches the file of the leaf frame: where the time was spent.
	DSO *regexp.Regexp
	// Focus keeps samples with a function on the stack that matches, Ignore
	// drops them.
	Focus, Ignore *regexp.Regexp
	// Events keeps samples of these events only. Names as for EventIndex.
	Events []string
}

// Apply removes the samples that the filter does not choose.
func (f *Filter) Apply(r *Run) error {
	if f.Process == nil && f.Thread == nil && f.DSO == nil && f.Focus == nil && f.Ignore == nil && len(f.Events) == 0 {
		return nil
	}
	r.Measured = slices.DeleteFunc(r.Measured, func(m Measured) bool { return !matches(f.Process, m.Process) })
	keepEvent := make([]bool, len(r.Events))
	var events []int
	for _, name := range f.Events {
		i, ok := r.EventIndex(name)
		if !ok {
			return fmt.Errorf("no event %s; it has %s", name, r.EventNames())
		}
		keepEvent[i] = true
	}
	for i := range keepEvent {
		if keepEvent[i] = keepEvent[i] || len(f.Events) == 0; keepEvent[i] {
			events = append(events, i)
		}
	}
	keepLabels := make([]bool, len(r.Labels))
	for i := range r.Labels {
		l := &r.Labels[i]
		keepLabels[i] = matches(f.Process, l.Process) && matches(f.Thread, l.Thread)
	}
	keepStack := f.stacks(r)
	drop := func(event uint32, labels uint32, stack StackID) bool {
		return !keepEvent[event] || !keepLabels[labels] || keepStack != nil && !keepStack[stack]
	}
	r.Samples = slices.DeleteFunc(r.Samples, func(s Sample) bool {
		dropped := drop(s.Event, s.Labels, s.Stack)
		if dropped && !r.Events[s.Event].Derived {
			r.Accounting.Filtered += s.Count
		}
		return dropped
	})
	unwanted := func(s TimedSample) bool { return drop(s.Event, s.Labels, s.Stack) }
	r.Timeline, r.Spans = slices.DeleteFunc(r.Timeline, unwanted), slices.DeleteFunc(r.Spans, unwanted)
	for i := range r.Waits {
		w := &r.Waits[i]
		t := &r.Threads[w.Thread]
		w.Filtered = w.Filtered || !matches(f.Process, t.Process) || !matches(f.Thread, t.Name) || keepStack != nil && !keepStack[w.Stack]
	}
	r.pickEvents(events)
	r.total()
	return nil
}

func matches(re *regexp.Regexp, s string) bool { return re == nil || re.MatchString(s) }

// stacks says for every stack whether to keep it; nil keeps all.
func (f *Filter) stacks(r *Run) []bool {
	if f.DSO == nil && f.Focus == nil && f.Ignore == nil {
		return nil
	}
	focus := make([]bool, len(r.Functions))
	ignore := make([]bool, len(r.Functions))
	for i := range r.Functions {
		fn := &r.Functions[i]
		focus[i] = f.Focus != nil && (fn.Means(f.Focus) || f.Focus.MatchString(fn.SystemName))
		ignore[i] = f.Ignore != nil && (fn.Means(f.Ignore) || f.Ignore.MatchString(fn.SystemName))
	}
	type state struct{ focused, ignored bool }
	onPath := make([]state, r.Stacks.Len())
	keep := make([]bool, r.Stacks.Len())
	dso := make([]bool, len(r.Mappings))
	for i := range r.Mappings {
		dso[i] = matches(f.DSO, r.Mappings[i].File)
	}
	for id := StackID(1); int(id) < r.Stacks.Len(); id++ {
		st := onPath[r.Stacks.Parent(id)]
		l := &r.Locations[r.Stacks.Location(id)]
		for _, line := range l.Lines {
			st.focused = st.focused || focus[line.Function]
			st.ignored = st.ignored || ignore[line.Function]
		}
		onPath[id] = st
		keep[id] = dso[l.Mapping] && (f.Focus == nil || st.focused) && !st.ignored
	}
	keep[0] = f.DSO == nil && f.Focus == nil
	return keep
}
