package reading

import (
	"profdiff/internal/run"
)

// A Tally sums the samples of an input that names its threads and processes only
// after their samples.
type Tally struct {
	index   map[tallyKey]uint32
	rows    []tallyRow
	threads map[Thread]uint32
	list    []Thread
	Comms   map[int64]string // of main threads, by process
	maxima  map[uint32]int64 // weight of the heaviest sample, by event
	// Timed keeps the times of samples that are added with one.
	Timed   bool
	moments []moment
}

// A moment is a sample whose time is known.
type moment struct {
	row          uint32
	lasts        bool
	time, weight int64
}

type tallyKey struct {
	event, thread uint32
	stack         run.StackID
}

type tallyRow struct {
	tallyKey
	count, weight int64
	sq            float64
}

// A Thread is what an input says of where a sample was taken. Unknown ids are -1.
type Thread struct {
	Comm          string
	PID, TID, CPU int64
	State         string
	Mode          string // as in run.Labels
}

// NewTally is one without samples.
func NewTally() *Tally {
	return &Tally{
		index:   make(map[tallyKey]uint32),
		threads: make(map[Thread]uint32),
		Comms:   make(map[int64]string),
		maxima:  make(map[uint32]int64),
	}
}

// Thread returns the index of th.
func (t *Tally) Thread(th Thread) uint32 {
	if th.PID >= 0 && th.PID == th.TID {
		t.Comms[th.PID] = th.Comm
	}
	i, ok := t.threads[th]
	if !ok {
		i = uint32(len(t.list))
		t.list = append(t.list, th)
		t.threads[th] = i
	}
	return i
}

// Of is the thread of an index.
func (t *Tally) Of(index uint32) Thread { return t.list[index] }

// Add adds one sample.
func (t *Tally) Add(event uint32, stack run.StackID, thread uint32, weight int64) {
	t.AddSum(event, stack, thread, 1, weight, float64(weight)*float64(weight))
	if weight > t.maxima[event] {
		t.maxima[event] = weight
	}
}

// AddAt is Add of a sample at a time in nanoseconds. If times are kept, it becomes one of the Run's
// [run.Run.Spans], too. If it lasts, its weight is the time that ended then.
func (t *Tally) AddAt(time int64, lasts bool, event uint32, stack run.StackID, thread uint32, weight int64) {
	t.Add(event, stack, thread, weight)
	if t.Timed {
		t.moments = append(t.moments, moment{t.index[tallyKey{event, thread, stack}], lasts, time, weight})
	}
}

// Last makes samples of an event last: until now their times are those when they began.
func (t *Tally) Last(event uint32) {
	for i := range t.moments {
		if m := &t.moments[i]; t.rows[m.row].event == event && !m.lasts {
			m.lasts, m.time = true, AddSaturating(m.time, m.weight)
		}
	}
}

// AddSum adds count samples.
func (t *Tally) AddSum(event uint32, stack run.StackID, thread uint32, count, weight int64, sq float64) {
	key := tallyKey{event, thread, stack}
	i, ok := t.index[key]
	if !ok {
		i = uint32(len(t.rows))
		t.rows = append(t.rows, tallyRow{tallyKey: key})
		t.index[key] = i
	}
	row := &t.rows[i]
	row.count += count
	row.sq += sq
	row.weight = AddSaturating(row.weight, weight)
}

// AddSaturating adds numbers that are not negative.
func AddSaturating(a, b int64) int64 {
	if sum := a + b; sum >= 0 {
		return sum
	}
	return 1<<63 - 1
}

// Flush adds the sums to b. resolve, which may be nil, completes what is known of the
// thread of a row, and its event.
func (t *Tally) Flush(b *run.Builder, opt *Options, resolve func(event uint32, th Thread) (uint32, Thread)) {
	flushed := make([]run.TimedSample, len(t.rows))
	for i := range t.rows {
		row := &t.rows[i]
		event, th := row.event, t.list[row.thread]
		if resolve != nil {
			event, th = resolve(event, th)
		}
		to := run.TimedSample{Event: event, Stack: row.stack, Labels: b.Labels(t.labels(th, opt))}
		b.AddSum(event, row.stack, to.Labels, row.count, row.weight, row.sq)
		if e := &b.Run().Events[event]; t.maxima[row.event] > e.MaxWeight {
			e.MaxWeight = t.maxima[row.event]
		}
		flushed[i] = to
	}
	if len(t.moments) > 0 {
		b.KeepTimeline()
	}
	for _, m := range t.moments {
		s := flushed[m.row]
		s.Time, s.Lasts, s.Weight = m.time, m.lasts, m.weight
		b.NoteSpan(s)
	}
	t.moments = nil
}

// Labels are those of a thread that were asked for. resolve, which may be nil, completes what is known
// of it.
func (t *Tally) Labels(thread uint32, opt *Options, resolve func(Thread) Thread) run.Labels {
	th := t.list[thread]
	if resolve != nil {
		th = resolve(th)
	}
	return t.labels(th, opt)
}

// labels are the labels that were asked for.
func (t *Tally) labels(th Thread, opt *Options) run.Labels {
	l := run.Labels{Thread: th.Comm, PID: -1, TID: -1, CPU: -1, State: th.State}
	if th.PID >= 0 {
		l.Process = t.Comms[th.PID]
		if opt.PID {
			l.PID = th.PID
		}
	}
	if opt.TID {
		l.TID = th.TID
	}
	if opt.CPU {
		l.CPU = th.CPU
	}
	if opt.Mode {
		l.Mode = th.Mode
	}
	return l
}

// CopyEvent gives the event to the sums of the event from.
func (t *Tally) CopyEvent(from, to uint32) {
	copies := make(map[uint32]uint32)
	for i := range t.rows {
		if row := t.rows[i]; row.event == from {
			row.event = to
			copies[uint32(i)] = uint32(len(t.rows))
			t.rows = append(t.rows, row)
		}
	}
	for _, m := range t.moments {
		if row, ok := copies[m.row]; ok {
			m.row = row
			t.moments = append(t.moments, m)
		}
	}
}

// SwitchEvent is what is sampled when a thread leaves the CPU.
const SwitchEvent = "sched:sched_switch"
