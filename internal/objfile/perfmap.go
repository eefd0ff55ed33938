package objfile

import (
	"bytes"
	"container/heap"
	"io"
	"math"
	"slices"

	"profdiff/internal/radix"
)

// ParsePerfMap reads a perf map file, /tmp/perf-PID.map, in which JIT compilers
// list their code: lines of start, size (hexadecimal) and name, which may contain
// spaces (tools/perf/Documentation/jit-interface.txt). Compilers reuse memory and
// append to the file: where ranges overlap, the later line counts. A symbol that
// was partly overwritten is listed from the first to the last address that is left
// of it.
func ParsePerfMap(r io.Reader) (*SymbolTable, error) {
	l := newSymbolLines(r, "perf map")
	for l.next() {
		field, rest := word(l.scan.Bytes())
		addr, ok := parseHex(field)
		if !ok {
			return nil, l.fail("start %.40q", field)
		}
		field, rest = word(rest)
		size, ok := parseHex(field)
		if !ok {
			return nil, l.fail("size %.40q", field)
		}
		name := bytes.TrimSpace(rest)
		if len(name) == 0 {
			return nil, l.fail("no name")
		}
		if size > math.MaxUint64-addr {
			return nil, l.fail("%#x bytes at %#x reach beyond the end of memory", size, addr)
		}
		if size == 0 {
			continue // nothing can be in it
		}
		if err := l.add(addr, size, 0, name); err != nil {
			return nil, err
		}
	}
	if err := l.err(); err != nil {
		return nil, err
	}
	return newSymbolTable(visible(l.list), l.names, noLimit), nil
}

// visible returns what is left of symbols when each overwrites those before it.
func visible(list []candidate) []candidate {
	points := make([]uint64, 0, 2*len(list)) // where something starts or ends
	order := make([]int, len(list))          // by start
	for i, c := range list {
		points = append(points, c.addr, c.addr+c.size)
		order[i] = i
	}
	slices.Sort(points)
	points = slices.Compact(points)
	radix.Sort(order, func(i *int) uint64 { return list[*i].addr })
	left := make([]candidate, len(list))
	var open indexHeap // what has started, the last line on top
	for k, p := range points {
		for ; len(order) > 0 && list[order[0]].addr == p; order = order[1:] {
			heap.Push(&open, order[0])
		}
		for len(open) > 0 && list[open[0]].addr+list[open[0]].size <= p {
			heap.Pop(&open)
		}
		if len(open) == 0 {
			continue
		}
		// There is another point, where this one ends.
		top := open[0]
		if left[top].size == 0 {
			left[top] = list[top]
			left[top].addr = p
		}
		left[top].size = points[k+1] - left[top].addr
	}
	return slices.DeleteFunc(left, func(c candidate) bool { return c.size == 0 })
}

// indexHeap is a heap with the highest index on top.
type indexHeap []int

func (h indexHeap) Len() int           { return len(h) }
func (h indexHeap) Less(i, j int) bool { return h[i] > h[j] }
func (h indexHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *indexHeap) Push(x any)        { *h = append(*h, x.(int)) }

func (h *indexHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
