// Package heatmap says when costs were spent: by thread and bin of time, and by frame of a call
// tree and bin, in memory that does not grow with the recording.
//
//  1. An [Axis] has bins of a length that people can name, 1, 2 or 5 times a power of ten. There are
//     fewer of them where samples are few: a bin without samples says nothing.
//  2. A sample falls into one bin. Time that was spent without a break is spread over the bins that it
//     was in, to the last unit.
//  3. Frames are numbered by their cost. What was spent in one that has too high a number is spent
//     in its caller, so that sums stay the same whatever is left out. [Frames] leaves more of them out
//     when it has too many cells.
package heatmap

import (
	"math/bits"
	"slices"

	"profdiff/internal/radix"
)

// Limits of an axis and of frames.
const (
	MostBins   = 400 // of an axis
	leastBins  = 50
	perBin     = 3       // samples of a side, on average
	MostFrames = 1 << 12 // that are told apart
	mostCells  = 1 << 17
)

// An Axis is time from the start of a run, in bins.
type Axis struct {
	Bin  int64 // nanoseconds
	Bins int
}

// NewAxis is an axis for runs, of which the longest takes so many nanoseconds, with so many samples on
// a side. Samples that last are enough for any number of bins.
func NewAxis(longest int64, samples int, last bool) Axis {
	most := MostBins
	if !last {
		most = min(max(samples/perBin, leastBins), MostBins)
	}
	longest = max(longest, 1)
	bin, factor := int64(1), int64(1)
	for longest/int64(most) >= bin && bin < 1<<62/10 { // the last bin has the end
		switch {
		case bin == factor:
			bin = 2 * factor
		case bin == 2*factor:
			bin = 5 * factor
		default:
			factor *= 10
			bin = factor
		}
	}
	return Axis{bin, int(longest/bin) + 1}
}

// Of is the bin of a time.
func (a Axis) Of(time int64) int { return int(min(max(time, 0)/a.Bin, int64(a.Bins-1))) }

// Spread divides a weight among the bins from start to end, as the time in each: their sum is the
// weight.
func (a Axis) Spread(start, end, weight int64, add func(bin int, part int64)) {
	first, last := a.Of(start), a.Of(end)
	if whole := end - start; whole > 0 && weight > 0 {
		given := int64(0)
		for bin := first; bin < last; bin++ {
			upTo := int64(bin+1)*a.Bin - start
			hi, lo := bits.Mul64(uint64(weight), uint64(min(upTo, whole)))
			all, _ := bits.Div64(hi, lo, uint64(whole)) // hi < whole, as upTo is not above it
			if part := int64(all) - given; part != 0 {
				add(bin, part)
			}
			given = int64(all)
		}
		weight -= given
	}
	if weight != 0 {
		add(last, weight)
	}
}

// A Cell is what was spent in a frame, and in those below it that are not told apart.
type Cell struct {
	Head        bool
	Thread, Bin int
	Frame       int32
	Weight      float64
}

// Frames are cells by side, thread, frame and bin.
type Frames struct {
	parent []int32
	kept   int
	cells  []packed
	sorted int // of cells, in order and each key once
}

// A packed cell has all but its weight in a number, in the order in which cells are sorted.
type packed struct {
	key    uint64
	weight float64
}

const (
	binBits    = 16
	frameBits  = 16
	threadBits = 16
)

// NewFrames has no cells. parent is by frame its caller, which has a lower number; frame 0 is the root.
func NewFrames(parent []int32) *Frames {
	return &Frames{parent: parent, kept: min(len(parent), MostFrames)}
}

// Add adds what was spent.
func (f *Frames) Add(c Cell) {
	key := uint64(c.Thread)<<(frameBits+binBits) | uint64(f.at(c.Frame))<<binBits | uint64(c.Bin)
	if c.Head {
		key |= 1 << (threadBits + frameBits + binBits)
	}
	f.cells = append(f.cells, packed{key, c.Weight})
	if len(f.cells) >= 2*mostCells {
		f.merge()
		for len(f.cells) > mostCells && f.kept > 1 {
			f.Keep(f.kept / 2)
		}
	}
}

// at is the frame that stands for one.
func (f *Frames) at(frame int32) int32 {
	for int(frame) >= f.kept {
		frame = f.parent[frame]
	}
	return frame
}

// merge sorts cells and adds up those of one key.
func (f *Frames) merge() {
	if f.sorted == len(f.cells) {
		return
	}
	radix.Sort(f.cells, func(c *packed) uint64 { return c.key })
	to := 0
	for i := 1; i < len(f.cells); i++ {
		if f.cells[i].key == f.cells[to].key {
			f.cells[to].weight += f.cells[i].weight
			continue
		}
		to++
		f.cells[to] = f.cells[i]
	}
	f.cells = f.cells[:to+1]
	f.sorted = len(f.cells)
}

// Keep tells no more than n frames apart. Of none there are no cells.
func (f *Frames) Keep(n int) {
	if n >= f.kept {
		return
	}
	if f.kept = max(n, 0); f.kept == 0 {
		f.cells, f.sorted = nil, 0
	}
	for i := range f.cells {
		c := &f.cells[i]
		frame := f.at(int32(c.key >> binBits & (1<<frameBits - 1)))
		c.key = c.key&^((1<<frameBits-1)<<binBits) | uint64(frame)<<binBits
	}
	f.sorted = 0
	f.merge()
}

// Kept is how many frames are told apart.
func (f *Frames) Kept() int { return f.kept }

// Cells visits the cells in the order of side, thread, frame and bin.
func (f *Frames) Cells(visit func(Cell)) {
	f.merge()
	for _, c := range f.cells {
		visit(Cell{
			Head: c.key>>(threadBits+frameBits+binBits) != 0, Thread: int(c.key >> (frameBits + binBits) & (1<<threadBits - 1)),
			Frame: int32(c.key >> binBits & (1<<frameBits - 1)), Bin: int(c.key & (1<<binBits - 1)), Weight: c.weight,
		})
	}
}

// Clone is a copy, to leave frames out of.
func (f *Frames) Clone() *Frames {
	f.merge()
	c := *f
	c.cells = slices.Clone(f.cells)
	return &c
}
