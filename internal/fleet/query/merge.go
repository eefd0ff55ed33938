package query

import (
	"container/heap"
	"errors"
	"iter"

	"profdiff/internal/fleet"
)

// errStopped ends a stream of which no more is wanted.
var errStopped = errors.New("stopped")

// A Facts hands on rows of the fact table in slices that it may use again.
type Facts func(func([]fleet.ProfileFunction) error) error

// Merged hands on the facts of one sample type of several streams, each of which is sorted by sample type
// and then by function, in the order of functions.
func Merged(sampleType string, streams []Facts) Facts {
	return func(each func([]fleet.ProfileFunction) error) error {
		var m merge
		defer func() {
			for _, c := range m.all {
				c.stop()
			}
		}()
		for _, s := range streams {
			c := newCursor(sampleType, s)
			m.all = append(m.all, c)
			ok, err := c.more()
			if err != nil {
				return err
			}
			if ok {
				m.open = append(m.open, c)
			}
		}
		heap.Init(&m)
		for len(m.open) > 0 {
			c := m.open[0]
			n := 1
			for n < len(c.rows) && c.rows[n].FunctionID == c.rows[0].FunctionID && c.rows[n].SampleType == sampleType {
				n++
			}
			if err := each(c.rows[:n:n]); err != nil {
				return err
			}
			c.rows = c.rows[n:]
			ok, err := c.more()
			if err != nil {
				return err
			}
			if ok {
				heap.Fix(&m, 0)
			} else {
				heap.Pop(&m)
			}
		}
		return nil
	}
}

// A cursor is where a stream is.
type cursor struct {
	sampleType string
	rows       []fleet.ProfileFunction
	next       func() ([]fleet.ProfileFunction, error, bool)
	stop       func()
}

func newCursor(sampleType string, s Facts) *cursor {
	c := &cursor{sampleType: sampleType}
	c.next, c.stop = iter.Pull2(func(yield func([]fleet.ProfileFunction, error) bool) {
		err := s(func(rows []fleet.ProfileFunction) error {
			if !yield(rows, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && err != errStopped {
			yield(nil, err)
		}
	})
	return c
}

// more reports whether there is another row of the sample type.
func (c *cursor) more() (bool, error) {
	for {
		for len(c.rows) > 0 && c.rows[0].SampleType != c.sampleType {
			c.rows = c.rows[1:]
		}
		if len(c.rows) > 0 {
			// Other sample types may follow.
			return true, nil
		}
		rows, err, ok := c.next()
		if !ok || err != nil {
			return false, err
		}
		c.rows = rows
	}
}

// A merge is a heap of cursors by function.
type merge struct{ all, open []*cursor }

func (m *merge) Len() int { return len(m.open) }
func (m *merge) Less(i, j int) bool {
	return m.open[i].rows[0].FunctionID < m.open[j].rows[0].FunctionID
}
func (m *merge) Swap(i, j int) { m.open[i], m.open[j] = m.open[j], m.open[i] }
func (m *merge) Push(x any)    { m.open = append(m.open, x.(*cursor)) }
func (m *merge) Pop() any {
	last := m.open[len(m.open)-1]
	m.open = m.open[:len(m.open)-1]
	return last
}
