package trace

import (
	"cmp"
	"math"
	"slices"
)

// A Rank says how much a name of a thread or a process is worth: a better one stays, of equal
// ones the last.
type Rank uint8

// The ranks of names.
const (
	// CommRank is for names that the kernel has at events of scheduling.
	CommRank Rank = iota + 1
	// TreeRank is for lists of processes.
	TreeRank
	// GivenRank is for names that a program gave its threads for the trace.
	GivenRank
)

// A Builder makes a [Timeline] of events, which may come in any order of time. Its methods take
// times in nanoseconds on one clock.
type Builder struct {
	t         *Timeline
	byName    map[string]NameID
	processes map[idKey]ProcessID
	threads   map[idKey]ThreadID
	namesakes map[namesake]ThreadID // of threads whose number several processes have
	direct    []ThreadID            // those of machine 0 by low numbers, as threads has them
	async     map[asyncKey]TrackID
	counters  map[asyncKey]int
	frames    map[int64]int
	sched     scheduler
	timed     bool // Start and End are set
}

type idKey struct {
	machine uint32
	id      int64
}

// A namesake is one of several threads of a number.
type namesake struct {
	idKey
	pid int64
}

type asyncKey struct {
	process ProcessID
	name    NameID
}

// NewBuilder starts a timeline.
func NewBuilder() *Builder {
	return &Builder{
		t: &Timeline{
			Processes: []Process{{PID: Unknown}},
			Threads:   []Thread{{TID: Unknown}},
			Tracks:    []Track{{}},
			names:     []string{""},
		},
		byName:    map[string]NameID{"": 0},
		processes: make(map[idKey]ProcessID),
		threads:   make(map[idKey]ThreadID),
		namesakes: make(map[namesake]ThreadID),
		async:     make(map[asyncKey]TrackID),
		counters:  make(map[asyncKey]int),
		sched:     scheduler{from: math.MinInt64},
	}
}

// Name returns the number of a name, which is copied if it is new.
func (b *Builder) Name(name []byte) NameID {
	id, ok := b.byName[string(name)]
	if !ok {
		id = b.addName(string(name))
	}
	return id
}

// NameString is [Builder.Name] of a string.
func (b *Builder) NameString(name string) NameID {
	id, ok := b.byName[name]
	if !ok {
		id = b.addName(name)
	}
	return id
}

func (b *Builder) addName(name string) NameID {
	id := NameID(len(b.t.names))
	b.t.names = append(b.t.names, name)
	b.byName[name] = id
	return id
}

// NameOf returns the name of a number.
func (b *Builder) NameOf(id NameID) string { return b.t.names[id] }

// Kernel tells the version of the kernel, as uname -r prints it: on it depends what numbers of states
// mean.
func (b *Builder) Kernel(release string) { b.sched.kernel = parseKernel(release) }

// SDK tells Android's version as a number.
func (b *Builder) SDK(version int) { b.t.SDK = version }

// Process returns the process of a machine (0 for the one that recorded). PIDs below 0 are
// not known.
func (b *Builder) Process(machine uint32, pid int64) ProcessID {
	if pid < 0 {
		return 0
	}
	key := idKey{machine, pid}
	id, ok := b.processes[key]
	if !ok {
		id = ProcessID(len(b.t.Processes))
		b.t.Processes = append(b.t.Processes, Process{PID: pid, Machine: machine})
		b.processes[key] = id
	}
	return id
}

// NameProcess names a process. "" names nothing.
func (b *Builder) NameProcess(id ProcessID, name string, rank Rank) {
	if p := &b.t.Processes[id]; id != 0 && name != "" && rank >= p.rank {
		p.Name, p.rank = name, rank
	}
}

// Package tells the Android package of a process.
func (b *Builder) Package(id ProcessID, name string) {
	if id != 0 {
		b.t.Processes[id].Package = name
	}
}

// Thread returns the thread of a machine. pid may be [Unknown]: the thread gets its process when
// that is told. Two processes may have a thread of one number, if they are in containers or one
// after the other; then the thread without a PID is the last one.
func (b *Builder) Thread(machine uint32, pid, tid int64) ThreadID {
	if tid < 0 {
		return 0
	}
	if pid < 0 && machine == 0 && tid < int64(len(b.direct)) && b.direct[tid] != 0 {
		return b.direct[tid]
	}
	key := idKey{machine, tid}
	first := b.threads[key]
	if first != 0 && pid < 0 {
		return first
	}
	if first != 0 {
		t := &b.t.Threads[first]
		if t.Process == 0 {
			t.Process = b.Process(machine, pid)
			return first
		}
		old := b.t.Processes[t.Process].PID
		if old == pid {
			return first
		}
		if id, ok := b.namesakes[namesake{key, pid}]; ok {
			return id
		}
		b.namesakes[namesake{key, old}] = first
		b.namesakes[namesake{key, pid}] = ThreadID(len(b.t.Threads))
	}
	id := ThreadID(len(b.t.Threads))
	b.t.Threads = append(b.t.Threads, Thread{TID: tid, Machine: machine, Process: b.Process(machine, pid)})
	b.threads[key] = id
	// Systems number threads from 1 to 32768, and start again.
	const low = 1 << 16
	if machine == 0 && tid < low {
		b.direct = append(b.direct, make([]ThreadID, max(0, int(tid)+1-len(b.direct)))...)
		b.direct[tid] = id
	}
	return id
}

// NameThread names a thread. "" names nothing.
func (b *Builder) NameThread(id ThreadID, name string, rank Rank) {
	if t := &b.t.Threads[id]; id != 0 && name != "" && rank >= t.rank {
		t.Name, t.rank = name, rank
	}
}

// Comm is the name that the kernel has for a thread at an event.
func (b *Builder) Comm(id ThreadID, name []byte) {
	if t := &b.t.Threads[id]; t.rank <= CommRank && t.Name != string(name) {
		b.NameThread(id, string(name), CommRank)
	}
}

// PIDOf returns the PID of a thread, [Unknown] until it is told.
func (b *Builder) PIDOf(id ThreadID) int64 { return b.t.Processes[b.t.Threads[id].Process].PID }

// NewTrack adds a track. What it is of may be told later, by [Builder.Place].
func (b *Builder) NewTrack(t Track) TrackID {
	b.t.Tracks = append(b.t.Tracks, t)
	return TrackID(len(b.t.Tracks) - 1)
}

// Place says what a track is of: its Thread, Process, Name and Own.
func (b *Builder) Place(id TrackID, t Track) {
	old := &b.t.Tracks[id]
	old.Thread, old.Process, old.Name, old.Own = t.Thread, t.Process, t.Name, t.Own
}

// ThreadTrack is the track of a thread's own slices.
func (b *Builder) ThreadTrack(id ThreadID) TrackID {
	t := &b.t.Threads[id]
	if t.Track == 0 && id != 0 {
		t.Track = b.NewTrack(Track{Thread: id})
	}
	return t.Track
}

// AsyncTrack is the track of a process and a name whose slices meet by cookies.
func (b *Builder) AsyncTrack(process ProcessID, name NameID) TrackID {
	key := asyncKey{process, name}
	id, ok := b.async[key]
	if !ok {
		id = b.NewTrack(Track{Process: process, Name: b.t.names[name], Async: true})
		b.async[key] = id
	}
	return id
}

// The kinds of records of tracks.
const (
	beginRecord byte = iota
	endRecord
	completeRecord // with a duration
	asyncBeginRecord
	asyncNestRecord
	asyncEndRecord
)

// Begin opens a slice on a track.
func (b *Builder) Begin(id TrackID, ts int64, name, category NameID) {
	b.record(id, beginRecord, ts, uint64(name), uint64(category))
}

// End closes the topmost open slice of a track whose name and category are equal to those that
// are given; 0 fits all.
func (b *Builder) End(id TrackID, ts int64, name, category NameID) {
	b.record(id, endRecord, ts, uint64(name), uint64(category))
}

// Complete adds a slice with its duration, and instants, which have none.
func (b *Builder) Complete(id TrackID, ts, duration int64, name, category NameID) {
	duration = max(duration, 0)
	b.record(id, completeRecord, ts, uint64(name), uint64(category), uint64(duration))
	b.clock(ts + duration)
}

// AsyncBegin opens a slice on an asynchronous track. A second one of the same cookie is part of
// the first.
func (b *Builder) AsyncBegin(id TrackID, ts int64, name NameID, cookie int64) {
	b.record(id, asyncBeginRecord, ts, uint64(name), uint64(cookie))
}

// AsyncNest opens a slice on an asynchronous track, within that of its cookie if one is open.
func (b *Builder) AsyncNest(id TrackID, ts int64, name NameID, cookie int64) {
	b.record(id, asyncNestRecord, ts, uint64(name), uint64(cookie))
}

// AsyncEnd closes the topmost slice of a cookie.
func (b *Builder) AsyncEnd(id TrackID, ts, cookie int64) {
	b.record(id, asyncEndRecord, ts, 0, uint64(cookie))
}

func (b *Builder) record(id TrackID, kind byte, ts int64, numbers ...uint64) {
	if id == 0 {
		return
	}
	t := &b.t.Tracks[id]
	if len(t.tapes) == 0 {
		t.tapes = make([]tape, 1)
	}
	t.tapes[0].add(kind, ts, numbers...)
	if kind != endRecord && kind != asyncEndRecord {
		t.begins++
	}
	b.clock(ts)
}

// clock notes the time of an event.
func (b *Builder) clock(ts int64) {
	t := b.t
	if !b.timed {
		b.timed, t.Start, t.End = true, ts, ts
	}
	t.Start, t.End = min(t.Start, ts), max(t.End, ts)
}

// Count notes the value of a counter of a process.
func (b *Builder) Count(process ProcessID, name NameID, ts int64, value float64) {
	b.clock(ts)
	key := asyncKey{process, name}
	i, ok := b.counters[key]
	if !ok {
		i = len(b.t.Counters)
		b.counters[key] = i
		b.t.Counters = append(b.t.Counters, Counter{Process: process, Name: b.t.names[name], Min: value, Max: value, LastAt: ts})
	}
	c := &b.t.Counters[i]
	c.Values++
	c.Min, c.Max = min(c.Min, value), max(c.Max, value)
	if ts >= c.LastAt {
		c.Last, c.LastAt = value, ts
	}
}

// Finish completes the timeline; the Builder must not be used afterwards.
//
//  1. Tracks of one thread are merged into the first, unless they are to stay alone.
//  2. Threads whose number is that of their process are main threads.
//  3. Names that only one of a process and its main thread has are given to the other.
//  4. The states of threads are computed, see sched.go.
func (b *Builder) Finish() *Timeline {
	t := b.t
	for i := range t.Tracks {
		track := &t.Tracks[i]
		if track.Thread == 0 {
			continue
		}
		thread := &t.Threads[track.Thread]
		track.Process = thread.Process
		switch {
		case track.Own:
		case thread.Track == 0:
			thread.Track = TrackID(i)
		case thread.Track != TrackID(i):
			first := &t.Tracks[thread.Track]
			first.tapes = append(first.tapes, track.tapes...)
			first.begins += track.begins
			track.tapes, track.merged, track.begins = nil, true, 0
		}
	}
	for i := range t.Threads {
		thread := &t.Threads[i]
		p := &t.Processes[thread.Process]
		if thread.Process == 0 || p.PID != thread.TID {
			continue
		}
		thread.Main = true
		if thread.Name == "" {
			thread.Name = p.Name
		}
		if p.Name == "" {
			p.Name = thread.Name
		}
	}
	t.states = b.sched.finish(t)
	t.Sched = b.sched.counts
	b.t = nil
	return t
}

// Sorted returns the threads ordered by process and number, without those that are idle.
func (t *Timeline) Sorted() []ThreadID {
	var ids []ThreadID
	for i := range t.Threads {
		if i > 0 && !t.Threads[i].Idle() {
			ids = append(ids, ThreadID(i))
		}
	}
	slices.SortFunc(ids, func(a, b ThreadID) int {
		x, y := &t.Threads[a], &t.Threads[b]
		return cmp.Or(cmp.Compare(x.Machine, y.Machine), cmp.Compare(t.Processes[x.Process].PID, t.Processes[y.Process].PID),
			cmp.Compare(x.TID, y.TID), cmp.Compare(a, b))
	})
	return ids
}
