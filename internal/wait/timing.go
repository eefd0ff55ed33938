package wait

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"profdiff/internal/interval"
	"profdiff/internal/run"
)

// Where nobody says who ended a wait for a region, times do, as far as they can: who has the
// region waits for something else, gets it, and leaves the region at once, so that the wait of the
// other ends right after. For the waits for one region at one place:
//
//  1. Of each thread that they can be for, the end of its last wait before the end of each of
//     theirs is found, and the gap between both. Short gaps speak for the thread: its score is the
//     sum of log(maxGap/gap).
//  2. The same is done with all waits shifted in time by one of many amounts, around within the
//     time of their process. Threads that wake often have high scores at many shifts; a score is
//     taken in standard deviations above the mean of its thread's shifts.
//  3. The p-value of a thread is the share of shifts at which some thread has a score as high, so
//     that trying many threads makes none fit. Threads below maxChance fit, if few of their
//     matches are due to chance. The one that fits most waits is named, with how many within how long, how many would by chance, and the
//     others that fit. If one of these fits almost as many, it is not decided who it was.
//
// Shifts keep the paces of both: two clocks that tick at the same rate fit at many of them.
const (
	// maxGap is how long after its own wait a thread can leave the region. Gaps below minGap count
	// as that: it takes as long to wake a thread.
	maxGap = 5_000_000
	minGap = 2_000
	shifts = 499
	// maxTimed is how many waits are looked at, the longest, for maxCandidates threads at
	// maxPools places.
	maxTimed      = 64
	maxCandidates = 32
	maxPools      = 8
	maxChance     = 0.05
	// mostByChance is the share of the waits that match which may do so by chance: each is told to
	// be for that thread.
	mostByChance = 0.25
	// leastShare of the waits has to match: a thread that is busy at the same time fits some.
	leastShare = 0.5
	// leastMatches is how many waits it takes: one or two may end together for any reason.
	leastMatches = 3
	// leastWait is the shortest wait that is looked at.
	leastWait = 20_000
	// almost is the share of waits from which on another thread fits as well.
	almost = 0.8
)

// withins are the limits of gaps among which the one is that a Timing tells.
var withins = []int64{10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000, maxGap}

// A pool is the waits for one region at one place.
type pool struct {
	rule  int
	lock  string
	at    Place
	waits []int32
	total int64
}

// A candidate is a thread that waits can be for, or those of its name in several runs.
type candidate struct {
	Timing
	threads []run.ThreadID
	ends    map[int64][]int64 // of its waits, by process that it can meet
	score   float64
	shifted []float64 // score by shift
	counts  []float64 // waits that match within withins, summed over shifts
}

// byTime finds edges for waits of which nobody says who ended them.
func (s *regions) byTime() {
	type key struct {
		rule int
		lock string
		at   Place
	}
	known := make(map[key]*pool)
	var pools []*pool
	for _, i := range s.open {
		w := &s.r.Waits[i]
		if w.Clipped || w.End-w.Start < leastWait {
			continue
		}
		k := key{rule: int(s.wants[i]), lock: w.For}
		if p := s.b.place(w.Stack); p != nil {
			k.at = *p
		}
		p := known[k]
		if p == nil {
			p = &pool{rule: k.rule, lock: k.lock, at: k.at}
			known[k] = p
			pools = append(pools, p)
		}
		p.waits = append(p.waits, i)
		p.total += w.End - w.Start
	}
	if len(pools) == 0 {
		return
	}
	slices.SortStableFunc(pools, func(a, b *pool) int { return -cmp.Compare(a.total, b.total) })
	t := s.newTimes()
	for _, p := range pools[:min(len(pools), maxPools)] {
		t.decide(p)
	}
}

// times has the threads of processes, and the time that each process is known for.
type times struct {
	*regions
	threads map[int64][]run.ThreadID
	all     []run.ThreadID
	spans   map[int64]interval.Interval
}

func (s *regions) newTimes() *times {
	t := &times{regions: s, threads: make(map[int64][]run.ThreadID), spans: make(map[int64]interval.Interval)}
	for id, list := range s.blocked {
		if len(list) == 0 {
			continue
		}
		pid := s.r.Threads[id].PID
		t.threads[pid] = append(t.threads[pid], run.ThreadID(id))
		t.all = append(t.all, run.ThreadID(id))
		first, last := s.r.Waits[list[0]].Start, s.r.Waits[list[len(list)-1]].End
		if known, ok := t.spans[pid]; ok {
			first, last = min(first, known.Start), max(last, known.End)
		}
		t.spans[pid] = interval.Interval{Start: first, End: last}
	}
	return t
}

// decide finds the thread that waits are for, and adds their edges.
func (t *times) decide(p *pool) {
	longest := slices.Clone(p.waits)
	took := func(i int32) int64 { return t.r.Waits[i].End - t.r.Waits[i].Start }
	slices.SortStableFunc(longest, func(a, b int32) int { return -cmp.Compare(took(a), took(b)) })
	longest = longest[:min(len(longest), maxTimed)]
	fits := t.fitting(p, longest)
	if len(fits) == 0 {
		return
	}
	best := fits[0]
	if float64(best.Matched) < leastShare*float64(best.Waits) {
		return
	}
	names := []string{t.describe(best)}
	for _, other := range fits[1:] {
		best.Others = append(best.Others, other.Fit)
		if float64(other.Matched) >= almost*float64(best.Matched) {
			names = append(names, t.describe(other))
		}
	}
	if len(names) > 1 {
		t.notes = append(t.notes, fmt.Sprintf("%s: whom threads waited for in %s is not decided: by their times, %s fit; a recording with the event sched:sched_waking tells",
			t.rules[p.rule].name, p.at.Function, strings.Join(names, " and ")))
		return
	}
	t.timing[timingKey{p.rule, t.b.one[best.threads[0]]}] = &best.Timing
	for _, i := range p.waits {
		w := &t.r.Waits[i]
		for _, id := range best.threads {
			if h := t.lastEnd(id, w.End); h != nil && t.counts(p, w, id, h) && w.End-h.End <= best.WithinNS {
				e := Edge{
					Waiter: w.Thread, Holder: id, Start: w.Start, End: w.End, Wait: int(i),
					Evidence: EndedTogether, Rule: t.rules[p.rule].name,
				}
				if own := t.lastWaitFor(id, p.rule, w.For, w.End); own != nil {
					e.Start = max(e.Start, own.End)
				}
				if next := t.firstWait(id, h.End); next != nil {
					e.End = min(e.End, next.Start) // the thread has left the region before
				}
				t.edges = append(t.edges, e)
			}
		}
	}
}

func (t *times) describe(c *candidate) string {
	name := c.Thread.Name
	if c.Thread.TID >= 0 {
		name += fmt.Sprintf(" (thread %d)", c.Thread.TID)
	}
	return fmt.Sprintf("%s to %d of %d", name, c.Matched, c.Waits)
}

// counts reports whether a wait of another thread can be one within the region.
func (t *times) counts(p *pool, w *run.Wait, id run.ThreadID, h *run.Wait) bool {
	return t.meets(p.rule, w.Thread, id) && h.End > w.Start
}

// lastEnd is the last wait of a thread that ended up to a time.
func (t *times) lastEnd(id run.ThreadID, time int64) *run.Wait {
	list := t.blocked[id]
	i := sort.Search(len(list), func(i int) bool { return t.r.Waits[list[i]].End > time })
	if i == 0 {
		return nil
	}
	return &t.r.Waits[list[i-1]]
}

// fitting lists the threads that fit, the one that fits most waits first.
func (t *times) fitting(p *pool, waits []int32) []*candidate {
	candidates := t.candidates(p, waits)
	best := make([]float64, shifts)
	for _, c := range candidates {
		t.shift(c, waits)
		mean, deviation := spread(c.shifted)
		c.score = (c.score - mean) / deviation
		for j, score := range c.shifted {
			best[j] = max(best[j], (score-mean)/deviation)
		}
	}
	for _, c := range candidates {
		as := 1
		for _, score := range best {
			if score >= c.score {
				as++
			}
		}
		c.P = float64(as) / (shifts + 1)
	}
	fits := slices.DeleteFunc(candidates, func(c *candidate) bool {
		return c.P > maxChance || c.Matched < leastMatches || c.ByChance > mostByChance*float64(c.Matched)
	})
	slices.SortStableFunc(fits, func(a, b *candidate) int {
		return cmp.Or(-cmp.Compare(a.Matched, b.Matched), -cmp.Compare(a.score, b.score))
	})
	return fits
}

// spread is the mean and the standard deviation, which is at least what one short gap adds.
func spread(list []float64) (mean, deviation float64) {
	for _, x := range list {
		mean += x / float64(len(list))
	}
	for _, x := range list {
		deviation += (x - mean) * (x - mean) / float64(len(list))
	}
	return mean, max(math.Sqrt(deviation), 1)
}

// candidates lists threads whose waits ended shortly before those of a pool, those with the highest
// scores.
func (t *times) candidates(p *pool, waits []int32) []*candidate {
	known := make(map[run.ThreadID]*candidate)
	var list []*candidate
	seen := make(map[run.ThreadID]bool)
	for _, i := range waits {
		w := &t.r.Waits[i]
		threads := t.all
		if t.rules[p.rule].scope == process {
			threads = t.threads[t.r.Threads[w.Thread].PID]
		}
		for _, id := range threads {
			h := t.lastEnd(id, w.End)
			if h == nil || !t.counts(p, w, id, h) || w.End-h.End > maxGap {
				continue
			}
			who := t.who(p, id)
			c := known[who]
			if c == nil {
				c = &candidate{Timing: Timing{Fit: Fit{Thread: t.b.threads[id]}, Waits: int64(len(waits)), Others: []Fit{}}, ends: make(map[int64][]int64)}
				known[who] = c
				list = append(list, c)
			}
			if !seen[id] {
				seen[id] = true
				c.Thread.join(&t.b.threads[id])
				c.threads = append(c.threads, id)
			}
		}
	}
	for _, c := range list {
		t.prepare(c, p, waits)
	}
	slices.SortStableFunc(list, func(a, b *candidate) int { return -cmp.Compare(a.score, b.score) })
	return list[:min(len(list), maxCandidates)]
}

// who is the number under which a thread is tried: within a process, threads of one name in several runs
// are one.
func (t *times) who(p *pool, id run.ThreadID) run.ThreadID {
	if t.rules[p.rule].scope == process {
		return t.b.one[id]
	}
	return id
}

// prepare finds the ends of a candidate's waits, for the processes of those who waited, and its
// score. Waits of its own for the same region do not count.
func (t *times) prepare(c *candidate, p *pool, waits []int32) {
	for _, i := range waits {
		pid := t.r.Threads[t.r.Waits[i].Thread].PID
		if _, ok := c.ends[pid]; ok {
			continue
		}
		ends := []int64{}
		for _, id := range c.threads {
			if t.rules[p.rule].scope == process && t.r.Threads[id].PID != pid {
				continue
			}
			for _, j := range t.blocked[id] {
				if int(t.wants[j]) != p.rule {
					ends = append(ends, t.r.Waits[j].End)
				}
			}
		}
		slices.Sort(ends)
		c.ends[pid] = ends
	}
	matches := make([]float64, len(withins))
	c.score = t.scoreAt(c, waits, 0, matches)
	c.counts = matches
}

// scoreAt is the score with waits shifted by a share of the time of their process. It adds to
// counts how many waits match within withins.
func (t *times) scoreAt(c *candidate, waits []int32, share float64, counts []float64) (score float64) {
	for _, i := range waits {
		w := &t.r.Waits[i]
		pid := t.r.Threads[w.Thread].PID
		ends, span := c.ends[pid], t.spans[pid]
		end := w.End
		if length := span.End - span.Start; length > 0 {
			end = span.Start + (end-span.Start+int64(share*float64(length)))%(length+1)
		}
		j := sort.Search(len(ends), func(j int) bool { return ends[j] > end })
		if j == 0 {
			continue
		}
		gap := end - ends[j-1]
		if gap >= maxGap || gap >= w.End-w.Start {
			continue
		}
		score += math.Log(float64(maxGap) / float64(max(gap, minGap)))
		for k := len(withins) - 1; k >= 0 && gap <= withins[k]; k-- {
			counts[k]++
		}
	}
	return score
}

// shift finds the scores at all shifts, and how many waits match within what limit, which is the one with the
// most matches beyond chance.
func (t *times) shift(c *candidate, waits []int32) {
	const golden = 0.6180339887498949 // shares of which are spread evenly
	chance := make([]float64, len(withins))
	c.shifted = make([]float64, shifts)
	for j := range c.shifted {
		_, share := math.Modf(golden * float64(j+1))
		c.shifted[j] = t.scoreAt(c, waits, share, chance)
	}
	at := 0
	for k := range withins {
		chance[k] /= shifts
		if c.counts[k]-chance[k] > c.counts[at]-chance[at] {
			at = k
		}
	}
	c.Matched, c.WithinNS, c.ByChance = int64(c.counts[at]), withins[at], chance[at]
}
