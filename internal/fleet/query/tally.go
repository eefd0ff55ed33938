package query

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"profdiff/internal/fleet"
	"profdiff/internal/fleet/store"
)

// A tally sums what devices spend in one thing.
type tally struct {
	*Population
	x       []uint64 // by unit
	touched []int32  // units with any
	strata  []sums
}

// sums are those of a stratum: over its devices that have any.
type sums struct {
	n            int64
	sx, sxx, sxw wide
}

func (p *Population) newTally() *tally {
	return &tally{Population: p, x: make([]uint64, len(p.units)), strata: make([]sums, len(p.strata))}
}

// errRange is why sums of devices cannot be told.
var errRange = errors.New("the values of one device sum up to more than 64 bits")

func (t *tally) add(unit int32, v int64) error {
	if v <= 0 {
		return nil
	}
	x := t.x[unit]
	if x == 0 {
		t.touched = append(t.touched, unit)
	}
	if t.x[unit] = x + uint64(v); t.x[unit] < x {
		return errRange
	}
	return nil
}

// addAll adds what units spent.
func (t *tally) addAll(units []int32, values []int64) error {
	for i, unit := range units {
		if err := t.add(unit, values[i]); err != nil {
			return err
		}
	}
	return nil
}

// sum fills in the sums by stratum and forgets the devices.
func (t *tally) sum() {
	clear(t.strata)
	for _, i := range t.touched {
		u, x := &t.units[i], t.x[i]
		s := &t.strata[u.stratum]
		s.n++
		s.sx.add(x)
		s.sxx.addProduct(x, x)
		s.sxw.addProduct(x, u.w)
		t.x[i] = 0
	}
	t.touched = t.touched[:0]
}

// rounding is what a difference of sums has to be of them: where devices are all alike, what is left is
// rounding.
const rounding = 1e-10

// mean is what one stratum spends, not weighted.
func (t *tally) mean(at int) (m Mean) {
	s, of := &t.strata[at], &t.Population.strata[at]
	if s.n == 0 || of.weight == 0 {
		return m
	}
	n, sx := float64(of.n), s.sx.float()
	v := n / (n - 1) * t.spread(at) / (of.w * of.w)
	return Mean{Mean: sx / of.w, Variance: v, Freedom: v * v / (n - 1), Devices: s.n}
}

// spread is by how much the devices of a stratum differ from its mean: the sum of squares.
func (t *tally) spread(at int) float64 {
	s, of := &t.strata[at], &t.Population.strata[at]
	r, sxx := s.sx.float()/of.w, s.sxx.float()
	// As the SQL has it, operation by operation: the same numbers are to come out.
	spread := sxx - 2*r*s.sxw.float() + r*r*of.ww
	if !(spread > rounding*sxx) {
		return 0
	}
	return spread
}

// means are what both sides of a model spend, not weighted.
func (t *tally) means(model int) (before, after Mean) {
	a, b := &t.Population.strata[2*model], &t.Population.strata[2*model+1]
	before, after = t.mean(2*model), t.mean(2*model+1)
	if a.weight == 0 {
		return before, after
	}
	n := float64(a.n) + float64(b.n)
	per := n / (n - 2) * (t.spread(2*model) + t.spread(2*model+1)) / (a.w + b.w)
	before.Common, after.Common = per/a.w, per/b.w
	return before, after
}

// add adds the mean of a model with a weight.
func (m *Mean) add(of *Mean, w float64) {
	m.Mean += w * of.Mean
	m.Variance += w * w * of.Variance
	m.Freedom += w * w * w * w * of.Freedom
	m.Common += w * w * of.Common
	m.Devices += of.Devices
}

// row is what all models spend, and forgets it.
func (t *tally) row() (r Row) {
	t.sum()
	for model := range len(t.strata) / 2 {
		before, after := t.means(model)
		w := t.Population.strata[2*model].weight
		r.Before.add(&before, w)
		r.After.add(&after, w)
	}
	return r
}

// A Scan says what functions are looked for in the facts.
type Scan struct {
	// Values are what is counted, by default both.
	Values []Value
	// ByModel has rows of each function on each model too.
	ByModel bool
	// Renames are ids of functions that stand for another.
	Renames map[int64]int64
	// Sets are functions that count together, as one: ids after renames. Rows of a set have its index
	// as their id, see [Found].
	Sets []map[int64]bool
}

// Found is what a scan found.
type Found struct {
	// Rows are functions that can be tested, sorted, and Untested other functions that either release has: devices or
	// differences are too few. Rows that an engine computed have none of these.
	Rows, Untested []Row
	// Sets are rows by set and then by value.
	Sets [][]Row
}

// A RowFacts hands on rows of the fact table, in slices that it may use again.
type RowFacts func(func([]fleet.ProfileFunction) error) error

// Functions compares functions. facts calls with the rows of the fact table, sorted by function;
// rows of other sample types, releases and batches than the ledger has are passed over.
func (p *Population) Functions(s Scan, facts RowFacts) (*Found, error) {
	return p.functions(s, func(each func(*store.Facts) error) error {
		return facts(func(rows []fleet.ProfileFunction) error {
			for i := range rows {
				f := &rows[i]
				if f.SampleType != p.SampleType {
					continue
				}
				if unit := p.unitOf(f.ProfileID, f.BatchID); unit >= 0 {
					if err := each(&store.Facts{Function: f.FunctionID, Of: []int32{unit}, Self: []int64{f.SelfValue}, Total: []int64{f.TotalValue}}); err != nil {
						return err
					}
				}
			}
			return nil
		})
	})
}

// functions compares functions by what units spent in each, in the order of functions.
func (p *Population) functions(s Scan, facts func(each func(*store.Facts) error) error) (*Found, error) {
	if len(s.Values) == 0 {
		s.Values = []Value{Self, Total}
	}
	c := &scan{Scan: s, p: p, found: new(Found), together: make(map[int64]*together), ends: make(map[int64]bool)}
	for _, to := range s.Renames {
		c.ends[to] = true
	}
	for range s.Values {
		c.tallies = append(c.tallies, p.newTally())
	}
	for range s.Sets {
		var list []*tally
		for range s.Values {
			list = append(list, p.newTally())
		}
		c.sets = append(c.sets, list)
	}
	if err := facts(c.add); err != nil {
		return nil, err
	}
	return c.finish(), nil
}

// A scan is one pass over the facts.
type scan struct {
	Scan
	p       *Population
	found   *Found
	tallies []*tally // of the function at hand, by value
	sets    [][]*tally
	// together are functions whose rows are not in one place, as one was renamed; ends are those that
	// others were renamed to.
	together map[int64]*together
	ends     map[int64]bool

	id  int64
	any bool
	in  []int // sets that have the function
}

// together is what devices spent in a function and in what is renamed to it, by value.
type together struct {
	units  [][]int32
	values [][]uint64
}

// add adds what units spent in a function.
func (c *scan) add(f *store.Facts) error {
	if !c.any || f.Function != c.id {
		if c.any && f.Function < c.id {
			return fmt.Errorf("facts are not sorted: function %d follows %d", f.Function, c.id)
		}
		c.flush()
		c.id, c.any = f.Function, true
		c.in = c.in[:0]
		for s := range c.Sets {
			if c.Sets[s][c.named(f.Function)] {
				c.in = append(c.in, s)
			}
		}
	}
	for k, v := range c.Values {
		values := f.Self
		if v == Total {
			values = f.Total
		}
		if err := c.tallies[k].addAll(f.Of, values); err != nil {
			return fmt.Errorf("function %d: %w", f.Function, err)
		}
		for _, s := range c.in {
			if err := c.sets[s][k].addAll(f.Of, values); err != nil {
				return fmt.Errorf("set %d: %w", s, err)
			}
		}
	}
	return nil
}

// named is the id under which a function counts.
func (c *scan) named(id int64) int64 {
	if to, ok := c.Renames[id]; ok {
		return to
	}
	return id
}

// unitOf is the device of a profile, if it is compared and its facts are of the batch that counts, else -1.
func (p *Population) unitOf(profile, batch string) int32 {
	of, b := p.profiles[profile], p.batches[batch]
	if of == nil || b == 0 {
		return -1
	}
	for _, m := range of {
		if m.batch == b && p.strata[p.units[m.unit].stratum].weight > 0 {
			return m.unit
		}
	}
	return -1
}

// flush ends a function.
func (c *scan) flush() {
	if !c.any {
		return
	}
	id := c.named(c.id)
	if id == c.id && !c.ends[id] {
		for k := range c.tallies {
			c.emit(k, id)
		}
		return
	}
	t, ok := c.together[id]
	if !ok {
		t = &together{make([][]int32, len(c.Values)), make([][]uint64, len(c.Values))}
		c.together[id] = t
	}
	for k, from := range c.tallies {
		for _, u := range from.touched {
			t.units[k], t.values[k] = append(t.units[k], u), append(t.values[k], from.x[u])
			from.x[u] = 0
		}
		from.touched = from.touched[:0]
	}
}

// emit adds the rows of the tally of a value.
func (c *scan) emit(k int, id int64) {
	t := c.tallies[k]
	if len(t.touched) == 0 {
		return
	}
	r := t.row()
	r.By, r.Value, r.FunctionID = Function, c.Values[k], id
	if r.tells() {
		c.found.Rows = append(c.found.Rows, r)
	} else {
		c.found.Untested = append(c.found.Untested, r)
	}
	if !c.ByModel {
		return
	}
	// The sums are still there.
	for _, m := range t.models() {
		m.Value, m.FunctionID = c.Values[k], id
		if m.tells() {
			c.found.Rows = append(c.found.Rows, m)
		}
	}
}

// models are what each model spent, of the sums of the last row.
func (t *tally) models() (list []Row) {
	for i := range t.Models {
		m := &t.Models[i]
		r := Row{By: Model, Model: m.Name}
		if r.Before, r.After = t.means(m.before / 2); r.Before.Devices+r.After.Devices > 0 {
			list = append(list, r)
		}
	}
	return list
}

func (c *scan) finish() *Found {
	c.flush()
	for id, t := range c.together {
		for k, to := range c.tallies {
			for i, u := range t.units[k] {
				if to.x[u] == 0 {
					to.touched = append(to.touched, u)
				}
				to.x[u] += t.values[k][i]
			}
			c.emit(k, id)
		}
	}
	for s, list := range c.sets {
		var rows []Row
		for k, t := range list {
			r := t.row()
			r.By, r.Value, r.FunctionID = Function, c.Values[k], int64(s)
			rows = append(rows, r)
		}
		c.found.Sets = append(c.found.Sets, rows)
	}
	for _, rows := range [][]Row{c.found.Rows, c.found.Untested} {
		slices.SortFunc(rows, func(a, b Row) int { return compareRows(&a, &b) })
	}
	return c.found
}

// Categories compares categories. facts calls with the rows of the table, sorted by category or not: there
// are few.
func (p *Population) Categories(facts func(func([]fleet.ProfileCategory) error) error) ([]Row, error) {
	tallies := make(map[string]*tally)
	err := facts(func(rows []fleet.ProfileCategory) error {
		for i := range rows {
			f := &rows[i]
			if f.SampleType != p.SampleType {
				continue
			}
			unit := p.unitOf(f.ProfileID, f.BatchID)
			if unit < 0 {
				continue
			}
			t, ok := tallies[f.Category]
			if !ok {
				if len(tallies) == maxCategories {
					return fmt.Errorf("more than %d categories", maxCategories)
				}
				t = p.newTally()
				tallies[f.Category] = t
			}
			if err := t.add(unit, f.SelfValue); err != nil {
				return fmt.Errorf("category %q, profile %s: %w", f.Category, f.ProfileID, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var list []Row
	for name, t := range tallies {
		r := t.row()
		if r.By, r.Value, r.Category = Category, Self, name; r.tells() {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b Row) int { return cmp.Compare(a.Category, b.Category) })
	return list, nil
}

// maxCategories is the most categories that are compared: each has a number for each device.
const maxCategories = 200
