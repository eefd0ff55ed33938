package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"profdiff/internal/fleet/query"
	"profdiff/internal/fleet/store"
)

// near is by how much of it a z may differ between engines.
const near = 1e-9

// A key is what a row is of.
type key struct {
	By, Value string
	Function  int64
	Model     string
	Category  string
}

// compare runs the SQL on each engine.
func (t *trial) compare() error {
	s, err := store.Open(t.store(0))
	if err != nil {
		return err
	}
	question := query.Question{Before: "a", After: "b", SampleType: "cpu/nanoseconds", Per: query.Share}
	start := time.Now()
	answer, err := query.Ask(s, question, query.Scan{Values: []query.Value{query.Self}, ByModel: true})
	if err != nil {
		return err
	}
	want := make(map[key]float64)
	for _, rows := range [][]query.Row{answer.Rows, answer.Categories} {
		for i := range rows {
			r := &rows[i]
			want[key{string(r.By), string(r.Value), r.FunctionID, r.Model, r.Category}] = r.Z()
		}
	}
	fmt.Printf("\n| Compared by | rows | z differs by at most | CPU s | s |\n| --- | --- | --- | --- | --- |\n")
	fmt.Printf("| Go | %d | | | %.1f |\n", len(want), time.Since(start).Seconds())
	engines := []query.Engine{query.DuckDB, query.DataFusion, query.ClickHouse}
	if t.spark {
		engines = append(engines, query.Spark)
	}
	for _, e := range engines {
		start := time.Now()
		got := make(map[key]float64)
		cpu, err := t.ask(e, []query.By{query.Function, query.Model, query.Category}, got)
		if err != nil {
			return fmt.Errorf("%s: %w", e, err)
		}
		worst, err := differ(want, got)
		if err != nil {
			return fmt.Errorf("%s: %w", e, err)
		}
		fmt.Printf("| %s | %d | %.1e | %.1f | %.1f |\n", e, len(got), worst, cpu.Seconds(), time.Since(start).Seconds())
	}
	return nil
}

// differ is by how much of it a z differs at most. Other rows are an error, and so is a z that differs by more than is near.
func differ(want, got map[key]float64) (worst float64, err error) {
	for k := range got {
		if _, ok := want[k]; !ok {
			return 0, fmt.Errorf("has a row %+v, and Go has none", k)
		}
	}
	for k, w := range want {
		g, ok := got[k]
		if !ok {
			return 0, fmt.Errorf("has no row %+v, and Go has", k)
		}
		d := math.Abs(g - w)
		if w > 0 {
			d /= w
		}
		if !(d <= near) {
			return d, fmt.Errorf("has z %v of %+v, and Go %v", g, k, w)
		}
		worst = max(worst, d)
	}
	return worst, nil
}

// ask runs what `profdiff fleet sql` prints for some kinds of rows.
func (t *trial) ask(e query.Engine, kinds []query.By, got map[key]float64) (cpu time.Duration, err error) {
	var files []string
	for _, by := range kinds {
		name := filepath.Join(t.dir, string(e)+"-"+string(by))
		files = append(files, name+".sql", name+".jsonl")
		sql := command{args: []string{t.profdiff, "fleet", "sql", t.store(0), "--before", "a", "--after", "b", "--engine", string(e), "--by", string(by), "-o", name + ".sql"}}
		if _, err := sql.run(t); err != nil {
			return 0, err
		}
	}
	run := command{args: append([]string{t.python, repository("internal", "tools", "fleetengines", "rows.py"), string(e)}, files...)}
	if e == query.Spark {
		run = t.sparkSubmit("spark_compare.py", files...)
	}
	if cpu, err = run.run(t); err != nil {
		return 0, err
	}
	for i := 1; i < len(files); i += 2 {
		if err := readRows(files[i], got); err != nil {
			return 0, err
		}
	}
	return cpu, nil
}

// readRows adds the z of rows that an engine printed.
func readRows(name string, to map[key]float64) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	for d := json.NewDecoder(bufio.NewReader(file)); d.More(); {
		var r struct {
			RowOf       string      `json:"row_of"`
			Counted     string      `json:"counted"`
			FunctionID  json.Number `json:"function_id"`
			DeviceModel string      `json:"device_model"`
			Category    string      `json:"category"`
			Z           float64     `json:"z"`
		}
		if err := d.Decode(&r); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		id, err := r.FunctionID.Int64()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		k := key{r.RowOf, r.Counted, id, r.DeviceModel, r.Category}
		if _, ok := to[k]; ok {
			return fmt.Errorf("%s: has two rows %+v", name, k)
		}
		to[k] = r.Z
	}
	return nil
}
