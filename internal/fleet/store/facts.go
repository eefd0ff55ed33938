package store

import (
	"container/heap"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"

	"profdiff/internal/fleet"
	"profdiff/internal/fleet/table"
)

// Facts are what some spent in one function, by columns: of each row whose it is, as a number that the caller gave, and what that
// spent. Several rows may be of one.
type Facts struct {
	Function    int64
	Of          []int32
	Self, Total []int64
}

// FactsByFunction hands on the facts of one sample type in the order of functions, those of one in several pieces, whose slices are
// used again. of numbers what a profile counts for, which is asked for once for the many facts of a profile in a file; facts of
// what has a negative number are passed over: of says what the view has.
//
// Files are sorted by function, and merged: of each file the pages at hand are in memory, some hundred kilobytes.
func (s *Store) FactsByFunction(sel Selection, of func(profile, batch string) (int32, error), each func(*Facts) error) error {
	all, err := files(s.dir, fleet.TableProfileFunctions)
	if err != nil {
		return err
	}
	var streams []stream
	for _, f := range all {
		if b := s.batches[f.id]; b != nil && b.seen > 0 && sel.release(f.Release) {
			streams = append(streams, func(each func(*rows) error) error { return readFacts(f.path, sel.SampleType, of, each) })
		}
	}
	return merged(streams, each)
}

// UnitsByFunction hands on the roll-up of facts, as [Store.FactsByFunction] does facts. It is an error if one of the selected releases
// has none that is up to date.
func (s *Store) UnitsByFunction(sel Selection, of func(release, model string, unit int32) int32, each func(*Facts) error) error {
	all, missing, err := s.rollUps(fleet.TableFunctionUnits, sel)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return s.stale(fleet.TableFunctionUnits, missing[0])
	}
	var streams []stream
	for _, f := range all {
		streams = append(streams, func(each func(*rows) error) error { return readUnits(f, sel.SampleType, of, each) })
	}
	return merged(streams, each)
}

// rows are facts of several functions by columns, in the order of functions.
type rows struct {
	functions   []int64
	of          []int32
	self, total []int64
}

// A stream hands on rows of one sample type in the order of functions. The slices are used again.
type stream func(each func(*rows) error) error

// keep keeps the rows whose number is not negative, in slices of their own if there are others.
func (r *rows) keep(own *rows) *rows {
	all := true
	for _, n := range r.of {
		all = all && n >= 0
	}
	if all {
		return r
	}
	own.functions, own.of, own.self, own.total = own.functions[:0], own.of[:0], own.self[:0], own.total[:0]
	for i, n := range r.of {
		if n >= 0 {
			own.functions, own.of = append(own.functions, r.functions[i]), append(own.of, n)
			own.self, own.total = append(own.self, r.self[i]), append(own.total, r.total[i])
		}
	}
	return own
}

// readFacts reads a file of facts.
func readFacts(name, sampleType string, of func(profile, batch string) (int32, error), each func(*rows) error) error {
	n := &numbers{of: of, sampleType: sampleType}
	var own rows
	columns := []string{"sample_type", "profile_id", "batch_id", "function_id", "self_value", "total_value"}
	return table.ReadColumns[fleet.ProfileFunction](name, columns, func(b *table.Block) error {
		numbers, err := n.number(b.Texts(0), b.Texts(1), b.Texts(2))
		if err != nil || numbers == nil {
			return err
		}
		kept := (&rows{functions: b.Numbers(3), of: numbers, self: b.Numbers(4), total: b.Numbers(5)}).keep(&own)
		if len(kept.of) == 0 {
			return nil
		}
		return each(kept)
	})
}

// numbers are those of the profiles of a file.
type numbers struct {
	of         func(profile, batch string) (int32, error)
	sampleType string
	rows       []int32

	// known are the numbers of some profiles, which are the texts of a dictionary, in a batch.
	profiles *string
	batch    string
	known    []int32
}

// number has a number for each row, nil if all are of other sample types.
func (n *numbers) number(types, profiles, batches table.Texts) (_ []int32, err error) {
	n.rows = n.rows[:0]
	one := func(t table.Texts) bool {
		for _, at := range t.At {
			if at != t.At[0] {
				return false
			}
		}
		return true
	}
	if one(types) && types.Distinct[types.At[0]] != n.sampleType {
		return nil, nil
	}
	if !one(types) || !one(batches) {
		for i, at := range profiles.At {
			number := int32(-1)
			if types.Distinct[types.At[i]] == n.sampleType {
				if number, err = n.of(profiles.Distinct[at], batches.Distinct[batches.At[i]]); err != nil {
					return nil, err
				}
			}
			n.rows = append(n.rows, number)
		}
		return n.rows, nil
	}
	// The usual case: a file is of one batch.
	batch := batches.Distinct[batches.At[0]]
	if n.profiles != &profiles.Distinct[0] || n.batch != batch {
		n.profiles, n.batch, n.known = &profiles.Distinct[0], batch, n.known[:0]
		for range profiles.Distinct {
			n.known = append(n.known, unasked)
		}
	}
	for _, at := range profiles.At {
		number := n.known[at]
		if number == unasked {
			if number, err = n.of(profiles.Distinct[at], batch); err != nil {
				return nil, err
			}
			n.known[at] = number
		}
		n.rows = append(n.rows, number)
	}
	return n.rows, nil
}

// unasked stands for a number that was not asked for yet.
const unasked = -1 << 31

// readUnits reads a file of facts that are rolled up.
func readUnits(f file, sampleType string, of func(release, model string, unit int32) int32, each func(*rows) error) error {
	type unit struct {
		model string
		id    int64
	}
	known := make(map[unit]int32)
	var own rows
	var numbers []int32
	columns := []string{"sample_type", "device_model", "unit_id", "function_id", "self_sum", "total_sum"}
	return table.ReadColumns[fleet.FunctionUnit](f.path, columns, func(b *table.Block) error {
		types, models, units := b.Texts(0), b.Texts(1), b.Numbers(2)
		numbers = numbers[:0]
		last, number := unit{id: -1}, int32(-1)
		for i, at := range models.At {
			if types.Distinct[types.At[i]] != sampleType {
				numbers = append(numbers, -1)
				continue
			}
			if this := (unit{models.Distinct[at], units[i]}); this != last {
				var ok bool
				if number, ok = known[this]; !ok {
					number = of(f.Release, this.model, int32(this.id))
					known[unit{strings.Clone(this.model), this.id}] = number
				}
				last = this
			}
			numbers = append(numbers, number)
		}
		kept := (&rows{functions: b.Numbers(3), of: numbers, self: b.Numbers(4), total: b.Numbers(5)}).keep(&own)
		if len(kept.of) == 0 {
			return nil
		}
		return each(kept)
	})
}

// merged hands on the rows of streams, function by function.
func merged(streams []stream, each func(*Facts) error) error {
	var m merge
	defer func() {
		for _, c := range m.all {
			c.stop()
		}
	}()
	for _, s := range streams {
		c := newCursor(s)
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
	var facts Facts
	for len(m.open) > 0 {
		c := m.open[0]
		first, end := c.at, c.at+1
		for end < len(c.rows.functions) && c.rows.functions[end] == c.rows.functions[first] {
			end++
		}
		facts = Facts{c.rows.functions[first], c.rows.of[first:end], c.rows.self[first:end], c.rows.total[first:end]}
		if err := each(&facts); err != nil {
			return err
		}
		c.at = end
		ok, err := c.more()
		switch {
		case err != nil:
			return err
		case !ok:
			heap.Pop(&m)
		case c.function() < facts.Function:
			return fmt.Errorf("facts are not sorted: function %d follows %d", c.function(), facts.Function)
		default:
			heap.Fix(&m, 0)
		}
	}
	return nil
}

// A cursor is where a stream is.
type cursor struct {
	rows *rows
	at   int
	next func() (*rows, error, bool)
	stop func()
}

// errStopped ends a stream of which no more is wanted.
var errStopped = errors.New("stopped")

func newCursor(s stream) *cursor {
	c := &cursor{rows: &rows{}}
	c.next, c.stop = iter.Pull2(func(yield func(*rows, error) bool) {
		err := s(func(r *rows) error {
			if !yield(r, nil) {
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

// more reports whether there is another row.
func (c *cursor) more() (bool, error) {
	for c.at == len(c.rows.functions) {
		r, err, ok := c.next()
		if !ok || err != nil {
			return false, err
		}
		c.rows, c.at = r, 0
	}
	return true, nil
}

func (c *cursor) function() int64 { return c.rows.functions[c.at] }

// A merge is a heap of cursors by function.
type merge struct{ all, open []*cursor }

func (m *merge) Len() int           { return len(m.open) }
func (m *merge) Less(i, j int) bool { return m.open[i].function() < m.open[j].function() }
func (m *merge) Swap(i, j int)      { m.open[i], m.open[j] = m.open[j], m.open[i] }
func (m *merge) Push(x any)         { m.open = append(m.open, x.(*cursor)) }
func (m *merge) Pop() any {
	last := m.open[len(m.open)-1]
	m.open = m.open[:len(m.open)-1]
	return last
}

// stale is the error of a release whose roll-up is missing or not up to date.
func (s *Store) stale(name, release string) error {
	return fmt.Errorf("%s: release %s has changed since it was rolled up: profdiff fleet compact %s does it again", filepath.Join(s.dir, name), release, s.dir)
}
