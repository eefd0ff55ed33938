package perffile

import (
	"container/heap"
	"fmt"
	"io"
	"iter"
)

// A part is one of several files with records, of which the next is at hand.
type part struct {
	next   *Record
	follow func() (*Record, error, bool)
}

// parts is a heap with the part on top whose next record is the oldest.
type parts []*part

func (p parts) Len() int           { return len(p) }
func (p parts) Less(i, j int) bool { return p[i].next.Time < p[j].next.Time }
func (p parts) Swap(i, j int)      { p[i], p[j] = p[j], p[i] }
func (p *parts) Push(x any)        { *p = append(*p, x.(*part)) }

func (p *parts) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}

// readParts merges the records of the parts by time. A part holds what one thread of perf
// read, mostly of one CPU, so that nearly all of it is in order. perf marks no rounds there.
func (f *File) readParts(yield func(*Record, error) bool) {
	var open parts
	for i, src := range f.opt.Parts {
		s := newStream(io.NewSectionReader(src, 0, src.Size()), 0, src.Size())
		s.name = fmt.Sprintf("data.%d", i)
		follow, stop := iter.Pull2(func(yield func(*Record, error) bool) { f.read(s, yield) })
		defer stop()
		r, err, more := follow()
		if err != nil {
			yield(nil, err)
			return
		}
		if more {
			open = append(open, &part{r, follow})
		}
	}
	heap.Init(&open)
	for len(open) > 0 {
		p := open[0]
		if !yield(p.next, nil) {
			return
		}
		r, err, more := p.follow()
		switch {
		case err != nil:
			yield(nil, err)
			return
		case more:
			p.next = r
			heap.Fix(&open, 0)
		default:
			heap.Pop(&open)
		}
	}
}
