package metric

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"profdiff/internal/input"
)

// recogniseGoBench recognises a line of a benchmark's result.
func recogniseGoBench(head input.Head) (e input.Evidence) {
	for line := range head.Lines() {
		e.Seen++
		if _, ok := parseGoBenchLine(line); ok {
			e.Known++
		} else if bytes.HasPrefix(line, []byte("Benchmark")) {
			e.Why = "none has a number of iterations and values with units"
		}
	}
	e.Is = e.Known > 0
	return e
}

// recogniseGoTestJSON recognises what go test -json writes, if a benchmark is in it.
func recogniseGoTestJSON(head input.Head) input.Evidence {
	keys := head.Keys()
	return input.Evidence{Is: keys["Action"] && keys["Package"] && bytes.Contains(head, []byte(`"Benchmark`))}
}

// goBench reads the text of Go benchmarks
// (https://go.googlesource.com/proposal/+/master/design/14313-benchmark-format.md):
//
//	key: value
//	BenchmarkName-8   ITERATIONS   VALUE UNIT   VALUE UNIT …
//	Unit UNIT better=higher assume=exact
//
// Keys hold for the results that follow; where they tell results apart, they are part of the
// name, as benchstat has tables of their own for them. Each execution of a package's tests writes its keys
// again: it is a run. Repetitions of -count are values of one run.
type goBench struct {
	set     *Set
	pkg     string
	ended   map[string]bool // packages that said PASS or ok since their last result
	runs    map[string]int  // number of the current run by package
	series  []*goSeries
	index   map[goKeys]*goSeries
	units   map[string]map[string]string
	keys    map[string]string // that hold now; results share it, so that it is never changed
	changes int               // of keys
	last    string            // package of the last result
}

// A goSeries is the values of one unit of one benchmark while keys hold.
type goSeries struct {
	goKeys
	keys map[string]string
	mean bool // values are of more than one iteration each
	runs []goRun
}

type goKeys struct {
	pkg, name, unit string
	changes         int
}

type goRun struct {
	number int
	values []float64
}

// goLine is the line of a result.
type goLine struct {
	name       string
	iterations int64
	values     []float64
	units      []string
}

func newGoBench(s *Set) *goBench {
	s.subjects = "benchmark"
	return &goBench{
		set: s, ended: make(map[string]bool), runs: make(map[string]int), index: make(map[goKeys]*goSeries), units: make(map[string]map[string]string),
	}
}

func readGoBench(src *input.Source, s *Set) error {
	g, lines := newGoBench(s), src.Lines()
	for {
		line, ok := lines.Next()
		if !ok {
			break
		}
		g.line(line, lines.Number())
	}
	if err := lines.Err(); err != nil {
		return err
	}
	g.finish()
	return nil
}

// readGoTestJSON reads what go test -json makes of the same text: lines may come in parts, and
// those of several packages in turn (https://pkg.go.dev/cmd/test2json).
func readGoTestJSON(src *input.Source, s *Set) error {
	g, lines := newGoBench(s), src.Lines()
	parts := make(map[string][]byte) // what no end of a line followed yet, by package
	for {
		line, ok := lines.Next()
		if !ok {
			break
		}
		var event struct{ Action, Package, Output string }
		if err := json.Unmarshal(line, &event); err != nil {
			s.Read++
			s.lose("is no event of go test -json", fmt.Sprintf("line %d", lines.Number()))
			continue
		}
		if event.Action != "output" {
			continue
		}
		rest := append(parts[event.Package], event.Output...)
		for {
			before, after, ok := bytes.Cut(rest, []byte("\n"))
			if !ok {
				break
			}
			g.pkg = event.Package
			g.line(before, lines.Number())
			rest = after
		}
		if len(rest) > input.MaxLine {
			return fmt.Errorf("line %d: a line of output is longer than %d bytes", lines.Number(), input.MaxLine)
		}
		parts[event.Package] = rest
	}
	if err := lines.Err(); err != nil {
		return err
	}
	g.finish()
	return nil
}

// line takes one line.
func (g *goBench) line(line []byte, number int) {
	line = bytes.TrimRight(line, "\r")
	switch {
	case bytes.HasPrefix(line, []byte("Benchmark")):
		r, ok := parseGoBenchLine(line)
		if !ok {
			if len(bytes.Fields(line)) > 1 {
				g.set.Read++
				g.set.lose("a result without a number of iterations, or with a value without unit", fmt.Sprintf("line %d", number))
			}
			return // -v names benchmarks that begin
		}
		g.set.Read++
		if g.ended[g.pkg] {
			g.ended[g.pkg] = false
			g.runs[g.pkg]++
		}
		for i, unit := range r.units {
			g.add(r.name, unit, r.iterations > 1, r.values[i])
		}
	case bytes.HasPrefix(line, []byte("Unit ")):
		g.unit(strings.Fields(input.Text(line))[1:], number)
	case bytes.Equal(line, []byte("PASS")), bytes.HasPrefix(line, []byte("ok  ")), bytes.HasPrefix(line, []byte("FAIL")):
		g.end()
		if bytes.HasPrefix(line, []byte("FAIL\t")) {
			g.set.warn("%s", input.Text(bytes.ReplaceAll(line, []byte("\t"), []byte(" "))))
		}
	default:
		if m := goKey.FindSubmatch(line); m != nil {
			g.key(input.Text(m[1]), input.Text(m[2]))
		}
	}
}

// goKey is a line of a key, which begins with a lower letter and has no space.
var goKey = regexp.MustCompile(`^(\p{Ll}[^\s\p{Lu}:]*):[ \t]+(.*?)[ \t]*$`)

// add adds a value to its series.
func (g *goBench) add(name, unit string, mean bool, v float64) {
	if g.set.kept++; g.set.kept > maxValues {
		return
	}
	of, run := goKeys{g.pkg, name, unit, g.changes}, g.runs[g.pkg]
	series := g.index[of]
	if series == nil {
		of.name, of.unit = strings.Clone(name), strings.Clone(unit) // the line is not kept
		series = &goSeries{goKeys: of, keys: g.keys}
		g.index[of] = series
		g.series = append(g.series, series)
	}
	series.mean = series.mean || mean
	if n := len(series.runs); n == 0 || series.runs[n-1].number != run {
		series.runs = append(series.runs, goRun{number: run})
	}
	last := &series.runs[len(series.runs)-1]
	last.values = append(last.values, v)
	g.last = g.pkg
}

// end notes that the tests of a package ended, if it had results since they began.
func (g *goBench) end() {
	if len(g.series) > 0 && g.last == g.pkg {
		g.ended[g.pkg] = true
	}
}

func (g *goBench) key(key, value string) {
	f := &g.set.Facts
	switch key {
	case "pkg":
		g.end()
		g.pkg = value
		return
	case "cpu":
		f.CPU = value
		return
	}
	if old, known := g.keys[key]; old != value && (known || len(g.keys) < mostKeys) {
		g.keys = maps.Clone(g.keys)
		if g.keys == nil {
			g.keys = make(map[string]string)
		}
		g.keys[key] = value
		g.changes++
	}
	for _, o := range f.Others {
		if o.Key == key && o.Value == value {
			return
		}
	}
	if len(f.Others) < mostKeys {
		f.Others = append(f.Others, Fact{key, value})
	}
}

// mostKeys bounds the keys of a file.
const mostKeys = 64

// varying are the keys that tell results apart, which have several values, but for otherKeys.
func (g *goBench) varying() (keys []string) {
	values := make(map[string]map[string]bool)
	for _, series := range g.series {
		for key := range series.keys {
			values[key] = make(map[string]bool)
		}
	}
	for key, of := range values {
		for _, series := range g.series {
			of[series.keys[key]] = true
		}
		if len(of) > 1 && !slices.Contains(otherKeys, key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// otherKeys are keys whose values differ where the same is measured again, and words that begin
// messages.
var otherKeys = []string{
	"date", "time", "timestamp", "run", "runid", "iteration", "upload", "upload-time", "upload-part", "runstamp",
	"testing", "warning", "error", "panic", "info", "debug", "exit", "signal",
}

// unit takes what a line says of a unit.
func (g *goBench) unit(fields []string, number int) {
	if len(fields) == 0 {
		return
	}
	unit := fields[0]
	for _, f := range fields[1:] {
		key, value, ok := strings.Cut(f, "=")
		if !ok {
			g.set.Read++
			g.set.lose("a unit with a word that is no KEY=VALUE", fmt.Sprintf("line %d", number))
			continue
		}
		if g.units[unit] == nil {
			g.units[unit] = make(map[string]string)
		}
		g.units[unit][key] = value
	}
}

// parseGoBenchLine reads the line of a result.
func parseGoBenchLine(line []byte) (r goLine, ok bool) {
	if !bytes.HasPrefix(line, []byte("Benchmark")) {
		return r, false
	}
	f := strings.Fields(input.Text(line))
	if len(f) < 4 || len(f)%2 != 0 {
		return r, false
	}
	r.name = strings.TrimPrefix(f[0], "Benchmark")
	var err error
	if r.iterations, err = strconv.ParseInt(f[1], 10, 64); err != nil || r.iterations < 0 {
		return r, false
	}
	for i := 2; i < len(f); i += 2 {
		v, err := strconv.ParseFloat(f[i], 64)
		if err != nil || !isFinite(v) {
			return r, false
		}
		r.values, r.units = append(r.values, v), append(r.units, f[i+1])
	}
	return r, true
}

// finish makes metrics of the results.
func (g *goBench) finish() {
	procs := g.procs()
	if procs != "" {
		g.set.Facts.Others = append(g.set.Facts.Others, Fact{"GOMAXPROCS", procs[1:]})
	}
	packages, varying := make(map[string]bool), g.varying()
	for _, series := range g.series {
		packages[series.pkg] = true
	}
	if len(packages) == 1 && g.pkg != "" {
		g.set.Facts.Others = append(g.set.Facts.Others, Fact{"pkg", g.pkg})
	}
	if g.set.kept > maxValues {
		return // Read says so
	}
	g.set.kept = 0 // put counts again
	for _, series := range g.series {
		subject := strings.TrimSuffix(series.name, procs)
		if len(packages) > 1 && series.pkg != "" {
			subject = series.pkg + "." + subject
		}
		for _, key := range varying {
			subject += " " + key + "=" + series.keys[key]
		}
		m := g.metric(subject, series.unit)
		if series.mean {
			m.Each = "the mean of one repetition's iterations"
		}
		for _, r := range series.runs {
			g.set.put(m, r.number, r.values...)
		}
	}
}

// metric adds a metric with what a line said of its unit.
func (g *goBench) metric(subject, unit string) *Metric {
	if m := g.set.Metric(subject, unit); m != nil {
		return m
	}
	m := g.set.Add(subject, unit, "")
	if m.Unit == "" {
		m.Unit, m.Written = Unit(unit), unit
	}
	switch g.units[unit]["better"] {
	case "lower":
		m.Direction, m.Why = Lower, "as the file says"
	case "higher":
		m.Direction, m.Why = Higher, "as the file says"
	}
	m.Exact = g.units[unit]["assume"] == "exact"
	return m
}

// procs is the suffix of all names, -8 where GOMAXPROCS is 8, or "" if they differ in it.
func (g *goBench) procs() (suffix string) {
	for i, r := range g.series {
		at := strings.LastIndexByte(r.name, '-')
		if at < 0 || !input.IsDigits(r.name[at+1:]) || i > 0 && r.name[at:] != suffix {
			return ""
		}
		suffix = r.name[at:]
	}
	return suffix
}
