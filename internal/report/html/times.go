package html

import (
	"encoding/json"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"profdiff/internal/heatmap"
	"profdiff/internal/radix"
	"profdiff/internal/report/diff"
)

// A timesBlock says when the costs of an event were spent. Cells of a row are in order: steps from bin to
// bin, and values, which are multiples of a quantum, such that no sum from the start is off by more than
// one.
type timesBlock struct {
	Bin  int64 `json:"bin"` // nanoseconds
	Bins int   `json:"bins"`
	// Threads are the rows. If Others is not 0, the last is so many threads.
	// After are their names after, absent if no thread was renamed.
	Threads []string `json:"threads"`
	After   []string `json:"after,omitempty"`
	Others  int      `json:"others"`
	// Base is how many runs are of base. Length is of each run in nanoseconds, and Untimed the cost of
	// samples without a time.
	Base    int        `json:"base"`
	Length  []int64    `json:"length"`
	Untimed []*float64 `json:"untimed"`
	// Single is set if there are rows of single runs behind those of the means of base and head.
	Single  bool    `json:"single"`
	Quantum float64 `json:"quantum"`
	Cells   []int   `json:"cells"` // of a row: the threads of base, of head, of each run
	Step    []int   `json:"step"`
	Value   []int64 `json:"value"`
	// Stacks are rows by side, thread and frame. There are none if there is no room for them.
	Stacks stackTimes `json:"stacks"`
}

// stackTimes say when frames cost how much, as means.
type stackTimes struct {
	Quantum float64 `json:"quantum"`
	// Kept is how many frames are told apart: the costs of the others are those of their callers.
	Kept   int     `json:"kept"`
	Head   int     `json:"head"` // rows of base, behind which those of head are
	Thread []int   `json:"thread"`
	Frame  []int   `json:"frame"`
	Cells  []int   `json:"cells"`
	Step   []int   `json:"step"`
	Value  []int64 `json:"value"`
}

// The compressed blocks of times may be as large as mostTimes all together, as long as all blocks are not larger
// than roomForTimes. In a larger page they may be a sixteenth of the others, and leastTimes in any page.
const (
	mostTimes    = 48_000
	leastTimes   = 10_500
	roomForTimes = 176_000
)

// addTimes adds the blocks of events that have times. at is by event and frame the row of the page.
func addTimes(blocks []block, d *Document, at [][]int32, gz *compressor) ([]block, error) {
	timed, used := 0, 0
	for i := range d.Events {
		if d.Events[i].Times != nil {
			timed++
		}
	}
	for _, b := range blocks {
		if b.name != "listings" && b.name != "sources" { // whose size nobody can help
			used += len(b.data)
		}
	}
	room := min(max(roomForTimes-used, leastTimes, used/20), mostTimes)
	for i := range d.Events {
		t := d.Events[i].Times
		if t == nil {
			continue
		}
		data, err := encodeTimes(t, at[i], room/timed, gz, d.clean())
		if err != nil {
			return nil, err
		}
		room -= len(data)
		timed--
		blocks = append(blocks, block{"times" + strconv.Itoa(i), data})
	}
	return blocks, nil
}

// encodeTimes makes the block of an event. If single runs take half of the room, they are left out. Until the rest is small
// enough, costs of frames are rounded to larger multiples, so that fewer cells have one, and fewer frames are told
// apart; then there are no stacks. at is by frame of the event the one of the page, or the nearest above it.
func encodeTimes(t *diff.Times, at []int32, room int, gz *compressor, clean func(string) string) ([]byte, error) {
	b := newTimesBlock(t, clean)
	small, err := b.compressed(gz)
	if b.Single && len(small) > room/2 {
		b.dropRuns()
	}
	stacks := t.Stacks.Clone()
	parts := 0
	stacks.Cells(func(heatmap.Cell) { parts += 4 })
	for err == nil {
		b.Stacks = newStackTimes(stacks, parts, t.Frames, at)
		if small, err = b.compressed(gz); len(small) <= room || b.Stacks.Kept == 0 {
			break
		}
		if parts > leastParts {
			parts = max(leastParts, parts*4/5)
			stacks.Keep(max(leastKept, parts/8))
		} else {
			stacks.Keep(0)
		}
	}
	return small, err
}

func (b *timesBlock) compressed(gz *compressor) ([]byte, error) {
	data, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	return gz.compress(data)
}

// With fewer than leastParts of the cost and leastKept frames, stacks do not say what happened when.
const (
	leastParts = 2000
	leastKept  = 100
)

func newTimesBlock(t *diff.Times, clean func(string) string) *timesBlock {
	b := &timesBlock{Bin: t.Bin, Bins: t.Bins, Threads: list(t.Threads), After: slices.Clone(t.After), Others: t.Others, Single: len(t.Runs) > 2}
	cleanAll(b, clean)
	var means [2][][]float64
	for i := range means {
		means[i] = make([][]float64, len(t.Threads))
		for k := range means[i] {
			means[i][k] = make([]float64, t.Bins)
		}
	}
	n := [2]int{}
	for i := range t.Runs {
		n[side(t.Runs[i].Head)]++
	}
	most := 0.0
	for i := range t.Runs {
		r := &t.Runs[i]
		s := side(r.Head)
		b.Length = append(b.Length, r.Length)
		b.Untimed = append(b.Untimed, finite(float64(r.Untimed)/r.Divisor))
		for k, row := range r.Weights {
			for bin, w := range row {
				most = max(most, float64(w)/r.Divisor)
				means[s][k][bin] += float64(w) / r.Divisor / float64(n[s])
			}
		}
	}
	b.Base = n[0]
	if b.Quantum = most / steps; b.Quantum == 0 {
		b.Quantum = 1
	}
	for _, rows := range means {
		for _, row := range rows {
			b.addRow(row)
		}
	}
	if b.Single {
		row := make([]float64, t.Bins)
		for i := range t.Runs {
			for _, weights := range t.Runs[i].Weights {
				for bin, w := range weights {
					row[bin] = float64(w) / t.Runs[i].Divisor
				}
				b.addRow(row)
			}
		}
	}
	return b
}

// steps is how many colors of a cell are told apart, and more, for sums.
const steps = 1000

func side(head bool) int {
	if head {
		return 1
	}
	return 0
}

func (b *timesBlock) addRow(row []float64) {
	d := diffusion{quantum: b.Quantum}
	n, last := 0, 0
	for bin, w := range row {
		if v := d.next(w); v != 0 {
			b.Step, b.Value = append(b.Step, bin-last), append(b.Value, v)
			last = bin
			n++
		}
	}
	b.Cells = append(b.Cells, n)
}

// dropRuns leaves out the rows of single runs.
func (b *timesBlock) dropRuns() {
	b.Single = false
	b.Cells = b.Cells[:2*len(b.Threads)]
	n := 0
	for _, cells := range b.Cells {
		n += cells
	}
	b.Step, b.Value = b.Step[:n], b.Value[:n]
}

// A diffusion rounds numbers to multiples of a quantum, and what it rounds off goes to the next ones.
type diffusion struct{ quantum, exact, written float64 }

func (d *diffusion) next(v float64) int64 {
	d.exact += v
	steps := math.Round(d.exact/d.quantum) - d.written
	d.written += steps
	return int64(steps)
}

// newStackTimes are the rows of stacks, whose costs are multiples of one of so many parts of them.
func newStackTimes(f *heatmap.Frames, parts int, frames, at []int32) stackTimes {
	s := stackTimes{Quantum: 1, Thread: []int{}, Frame: []int{}, Cells: []int{}, Step: []int{}, Value: []int64{}}
	if s.Kept = f.Kept(); s.Kept == 0 {
		return s
	}
	sum := 0.0
	var cells []heatmap.Cell
	var most struct{ thread, frame, bin int }
	f.Cells(func(c heatmap.Cell) {
		sum += c.Weight
		c.Frame = at[frames[c.Frame]]
		cells = append(cells, c)
		most.thread, most.frame, most.bin = max(most.thread, c.Thread), max(most.frame, int(c.Frame)), max(most.bin, c.Bin)
	})
	if sum > 0 {
		s.Quantum = sum / float64(max(parts, steps))
	}
	// Rounded bin by bin, the sums of a thread are right in any span of time, and nearly so those of subtrees.
	thread := func(c *heatmap.Cell) uint64 { return uint64(side(c.Head)<<bits.Len(uint(most.thread)) | c.Thread) }
	frameBits, binBits := bits.Len(uint(most.frame)), bits.Len(uint(most.bin))
	radix.Sort(cells, func(c *heatmap.Cell) uint64 {
		return (thread(c)<<binBits|uint64(c.Bin))<<frameBits | uint64(c.Frame)
	})
	d := diffusion{quantum: s.Quantum}
	for i := range cells {
		c := &cells[i]
		if i > 0 && (c.Head != cells[i-1].Head || c.Thread != cells[i-1].Thread) {
			d = diffusion{quantum: s.Quantum}
		}
		c.Weight = float64(d.next(c.Weight))
	}
	radix.Sort(cells, func(c *heatmap.Cell) uint64 {
		return (thread(c)<<frameBits|uint64(c.Frame))<<binBits | uint64(c.Bin)
	})
	var row heatmap.Cell
	for _, c := range cells {
		if c.Weight == 0 {
			continue
		}
		if n := len(s.Cells); n == 0 || c.Head != row.Head || c.Thread != row.Thread || c.Frame != row.Frame {
			s.Thread, s.Frame, s.Cells = append(s.Thread, c.Thread), append(s.Frame, int(c.Frame)), append(s.Cells, 0)
			row = c
			row.Bin = 0
			if !c.Head {
				s.Head = n + 1
			}
		}
		s.Step, s.Value = append(s.Step, c.Bin-row.Bin), append(s.Value, int64(c.Weight))
		row.Bin = c.Bin
		s.Cells[len(s.Cells)-1]++
	}
	return s
}
