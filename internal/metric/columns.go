package metric

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"profdiff/internal/input"
)

// A role is what a column of a table is for.
type role int8

const (
	roleNone     role = iota // says nothing that is measured
	roleValue                // values of the metric that has the column's name
	roleRun                  // tells runs apart
	roleSubject              // says what was measured
	roleQuantity             // says what of it
	roleUnit                 // of the values in the row
)

// Names of columns in lower case, by what they are for. Of columns that tell runs apart, the
// first in this order does.
var (
	runColumns = []string{
		"run", "run_id", "runid", "session", "launch", "execution", "invocation", "trial", "fork", "process", "pid", "repetition", "rep", "iteration", "iter",
	}
	subjectColumns = []string{
		"benchmark", "bench", "name", "test", "case", "scenario", "command", "label", "config", "variant", "workload", "method", "function", "operation", "op",
		"endpoint", "url", "story", "query", "group",
	}
	quantityColumns = []string{"metric", "metric_name", "quantity", "counter"}
	unitColumns     = []string{"unit", "units"}
	valueColumns    = []string{"value", "val"}
	otherColumns    = []string{
		"timestamp", "ts", "date", "datetime", "index", "idx", "id", "seq", "sequence", "row", "line", "frame_id", "vsync_id", "#", "",
	}
)

// columns makes metrics of the rows of a table.
type columns struct {
	set   *Set
	names []string
	roles []role
	// long is set if a row has one value, whose name stands in the row.
	long bool
	runs map[string]int
	// all are the names of runs in the order of their numbers.
	all []string
}

// noNumbers is why a table is none of measured values.
const noNumbers = "no column of numbers"

// roles says what the columns of a table are for by their names and some rows, whose cells are
// "" where a row has none; and whether it is a table of measured values, or why not.
func roles(names []string, rows [][]string) (list []role, why string) {
	list = make([]role, len(names))
	lower := make([]string, len(names))
	for i, name := range names {
		lower[i] = strings.ToLower(strings.TrimSpace(name))
	}
	first := func(of []string) int {
		for _, name := range of {
			if i := slices.Index(lower, name); i >= 0 {
				return i
			}
		}
		return -1
	}
	run, quantity, unit, value := first(runColumns), first(quantityColumns), first(unitColumns), first(valueColumns)
	long := value >= 0 && (quantity >= 0 || unit >= 0)
	var named, told bool // a unit, a direction
	measured := 0
	for i, name := range lower {
		number := isNumeric(rows, i)
		switch {
		case i == run:
			list[i] = roleRun
		case slices.Contains(runColumns, name), slices.Contains(otherColumns, name):
		case i == quantity && !number:
			list[i] = roleQuantity
		case i == unit && !number:
			list[i] = roleUnit
		case slices.Contains(subjectColumns, name) && !number:
			list[i] = roleSubject
		case number && (!long || i == value):
			list[i] = roleValue
			measured++
			u, _, _ := UnitOf(names[i])
			d, _ := DirectionOf(names[i], u)
			named, told = named || u != "", told || d != Unknown
		}
	}
	switch {
	case measured == 0:
		return nil, noNumbers
	case long && unit >= 0, named, told && (run >= 0 || len(names) == 1), long && quantity >= 0 && run >= 0:
		return list, ""
	}
	return nil, "no name of a column ends in a unit, such as frame_ms, and no column is called unit"
}

// isNumeric reports whether the cells of a column are numbers, but for few.
func isNumeric(rows [][]string, i int) bool {
	numbers, others := 0, 0
	for _, row := range rows {
		switch cell := strings.TrimSpace(row[i]); {
		case cell == "":
		case isFinite(parseNumber(cell)):
			numbers++
		default:
			others++
		}
	}
	return numbers > 0 && 3*others <= numbers
}

// parseNumber is the number that a cell is, NaN if it is none.
func parseNumber(cell string) float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(cell), 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

func newColumns(s *Set, names []string, list []role) *columns {
	c := &columns{set: s, names: names, roles: list, runs: make(map[string]int)}
	for i, name := range names {
		switch list[i] {
		case roleUnit, roleQuantity:
			c.long = true
		case roleRun:
			if lower := strings.ToLower(name); lower != "run" {
				s.warn("each %s counts as a run", input.Text(name))
			}
		case roleNone:
			if !slices.Contains(otherColumns, strings.ToLower(strings.TrimSpace(name))) {
				s.warn("column %s is left out: it is no number, and its name says not what it is for", input.Text(name))
			}
		}
	}
	if c.long && !slices.Contains(list, roleValue) {
		c.long = false
	}
	return c
}

// row takes the cells of a row, in the order of the columns.
func (c *columns) row(cells []string, where string) {
	var subject []string
	quantity, unit, run := "", "", 0
	for i, r := range c.roles {
		cell := strings.TrimSpace(cells[i])
		switch {
		case cell == "":
		case r == roleRun:
			run = c.run(cell)
		case r == roleSubject:
			subject = append(subject, input.Text(cell))
		case r == roleQuantity:
			quantity = input.Text(cell)
		case r == roleUnit:
			unit = input.Text(cell)
		}
	}
	for i, r := range c.roles {
		if r != roleValue || cells[i] == "" {
			continue
		}
		c.set.Read++
		v := parseNumber(cells[i])
		if !isFinite(v) {
			c.set.lose("a cell that is no number", where)
			continue
		}
		if !c.long {
			quantity = input.Text(strings.TrimSpace(c.names[i]))
		}
		m := c.set.Add(strings.Join(subject, " "), quantity, unit)
		if unit != "" && unit != m.Written {
			u, scale := ParseUnit(unit)
			if u != m.Unit {
				c.set.lose("a value in another unit than others of its metric", where)
				continue
			}
			v *= scale / m.Scale
		}
		c.set.put(m, run, v)
	}
}

// run is the number of a run.
func (c *columns) run(name string) int {
	n, ok := c.runs[name]
	if !ok {
		n = len(c.runs)
		c.runs[name], c.all = n, append(c.all, name)
	}
	return n
}

// finish names the runs.
func (c *columns) finish() {
	for _, m := range c.set.Metrics {
		for i := range m.Runs {
			if i < len(c.all) {
				m.Runs[i].Name = input.Text(c.all[i])
			}
		}
	}
}

// mostRuns bounds the runs of a table: more is a column that tells rows apart, not runs.
const mostRuns = 100_000

func (c *columns) err() error {
	if len(c.runs) > mostRuns {
		return fmt.Errorf("has more than %d runs", mostRuns)
	}
	return nil
}
