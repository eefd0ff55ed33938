package ingest

import (
	"profdiff/internal/run"
)

// A tally sums the samples of an input that names its threads and processes only
// after their samples.
type tally struct {
	index   map[tallyKey]uint32
	rows    []tallyRow
	threads map[thread]uint32
	list    []thread
	comms   map[int64]string // of main threads, by process
	maxima  map[uint32]int64 // weight of the heaviest sample, by event
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

// A thread is what an input says of where a sample was taken. Unknown ids are -1.
type thread struct {
	comm          string
	pid, tid, cpu int64
	state         string
}

func newTally() *tally {
	return &tally{
		index:   make(map[tallyKey]uint32),
		threads: make(map[thread]uint32),
		comms:   make(map[int64]string),
		maxima:  make(map[uint32]int64),
	}
}

// thread returns the index of th.
func (t *tally) thread(th thread) uint32 {
	if th.pid >= 0 && th.pid == th.tid {
		t.comms[th.pid] = th.comm
	}
	i, ok := t.threads[th]
	if !ok {
		i = uint32(len(t.list))
		t.list = append(t.list, th)
		t.threads[th] = i
	}
	return i
}

// add adds one sample.
func (t *tally) add(event uint32, stack run.StackID, thread uint32, weight int64) {
	t.addSum(event, stack, thread, 1, weight, float64(weight)*float64(weight))
	if weight > t.maxima[event] {
		t.maxima[event] = weight
	}
}

// addSum adds count samples.
func (t *tally) addSum(event uint32, stack run.StackID, thread uint32, count, weight int64, sq float64) {
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
	row.weight = addSaturating(row.weight, weight)
}

// addSaturating adds numbers that are not negative.
func addSaturating(a, b int64) int64 {
	if sum := a + b; sum >= 0 {
		return sum
	}
	return 1<<63 - 1
}

// flush adds the sums to b. resolve, which may be nil, completes what is known of the
// thread of a row, and its event.
func (t *tally) flush(b *run.Builder, opt *Options, resolve func(event uint32, th thread) (uint32, thread)) {
	for i := range t.rows {
		row := &t.rows[i]
		event, th := row.event, t.list[row.thread]
		if resolve != nil {
			event, th = resolve(event, th)
		}
		b.AddSum(event, row.stack, b.Labels(t.labels(th, opt)), row.count, row.weight, row.sq)
		if e := &b.Run().Events[event]; t.maxima[row.event] > e.MaxWeight {
			e.MaxWeight = t.maxima[row.event]
		}
	}
}

// labels are the labels that were asked for.
func (t *tally) labels(th thread, opt *Options) run.Labels {
	l := run.Labels{Thread: th.comm, PID: -1, TID: -1, CPU: -1, State: th.state}
	if th.pid >= 0 {
		l.Process = t.comms[th.pid]
		if opt.PID {
			l.PID = th.pid
		}
	}
	if opt.TID {
		l.TID = th.tid
	}
	if opt.CPU {
		l.CPU = th.cpu
	}
	return l
}

// copyEvent gives the event to the sums of the event from.
func (t *tally) copyEvent(from, to uint32) {
	for i := range t.rows {
		if row := t.rows[i]; row.event == from {
			row.event = to
			t.rows = append(t.rows, row)
		}
	}
}
