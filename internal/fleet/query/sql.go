package query

import (
	_ "embed"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"profdiff/internal/fleet"
	"profdiff/internal/template"
)

// parts are the parts of the SQL, of which each statement is made. DuckDB, Spark, Trino, ClickHouse and DataFusion run
// them as they are.
//
//go:embed sql/compare.sql
var parts string

var statements = sync.OnceValue(func() *template.Template {
	t, err := template.Parse(parts, nil)
	if err != nil {
		panic(err)
	}
	return t
})

// A Query is what an engine is asked for: the rows of one kind.
type Query struct {
	Question
	By    By
	Value Value
}

// SQL is the text that an engine runs. It wants the tables of package fleet as views, see [Views].
func (q *Query) SQL() (string, error) { return q.statement("compare", &stage{renamed: true}) }

// A stage is what a statement builds on.
type stage struct {
	staged  bool   // sums over devices are in a table
	renamed bool   // there are renames: joining none with all facts takes as long as the rest
	release string // whose facts are summed into that table
}

// words are what a statement has where questions differ. Texts are literals.
type words struct {
	Before, After, SampleType string
	RowOf, Counted, Per       string
	Divisor                   string // a column
	Value                     Value  // the start of the name of a column
	Key                       string // the column by which rows differ
	Category, Model, RolledUp bool
	Staged, Renamed           bool
	Release                   string // of a stage
	LeastDevices              int
}

// statement is one of those that [parts] define.
func (q *Query) statement(name string, on *stage) (string, error) {
	if q.By == Category && (q.Value == Total || q.RolledUp) {
		return "", errors.New("categories have neither a total, as a stack is in one, nor a roll-up")
	}
	w := words{
		RowOf: "'" + string(q.By) + "'", Counted: "'" + string(q.Value) + "'", Per: "'" + string(q.Per) + "'",
		Value: q.Value, Key: "function_id", Category: q.By == Category, Model: q.By == Model, RolledUp: q.RolledUp, Staged: on.staged, Renamed: on.renamed, LeastDevices: LeastDevices,
		Divisor: map[Per]string{Share: "weight", Work: "work_units", Second: "duration_ns"}[q.Per],
	}
	if w.Category {
		w.Key = "category"
	}
	if w.RolledUp && q.Per == Share {
		w.Divisor = "w"
	}
	for to, text := range map[*string]string{&w.Before: q.Before, &w.After: q.After, &w.SampleType: q.SampleType, &w.Release: on.release} {
		var err error
		if *to, err = literal(text); err != nil {
			return "", err
		}
	}
	return strings.TrimSpace(statements().Execute(name, &w)) + "\n", nil
}

// literal is a text in SQL. Engines differ in what a backslash means there.
func literal(s string) (string, error) {
	if i := strings.IndexFunc(s, func(r rune) bool { return r == '\\' || r < ' ' || r == 0x7f }); i >= 0 {
		return "", fmt.Errorf("%q has %q, which engines read in different ways", s, s[i:i+1])
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'", nil
}

// An Engine is what runs SQL.
type Engine string

// The engines.
const (
	DuckDB     Engine = "duckdb"
	Spark      Engine = "spark"
	Trino      Engine = "trino"
	ClickHouse Engine = "clickhouse"
	DataFusion Engine = "datafusion"
	BigQuery   Engine = "bigquery"
)

// Engines are all of them.
var Engines = []Engine{DuckDB, Spark, Trino, ClickHouse, DataFusion, BigQuery}

// Files are where an engine finds the files of the tables that a query reads. A table that has none is
// empty.
type Files map[string][]Directory

// A Directory has files of a table, in directories called KEY=VALUE for each of its partitions.
type Directory struct {
	Path       string
	Partitions []string
	File       string // if not "", only this one
}

// glob are the files.
func (d *Directory) glob() string {
	if d.File != "" {
		return d.Path + "/" + d.File
	}
	return d.Path + strings.Repeat("/*", len(d.Partitions)) + "/*.parquet"
}

// tables are the tables that queries read, by what their rows are in Go.
var tables = []struct {
	name string
	row  any
}{
	{fleet.TableProfiles, fleet.Profile{}},
	{fleet.TableProfileFunctions, fleet.ProfileFunction{}},
	{fleet.TableProfileCategories, fleet.ProfileCategory{}},
	{fleet.TableFunctions, fleet.Function{}},
	{fleet.TableRenames, fleet.Rename{}},
	{fleet.TableUnits, fleet.Unit{}},
	{fleet.TableFunctionUnits, fleet.FunctionUnit{}},
}

// Tables are the names of the tables that a query reads.
func (q *Query) Tables() []string {
	switch {
	case q.By == Category:
		return []string{fleet.TableProfiles, fleet.TableProfileCategories}
	case q.RolledUp:
		return []string{fleet.TableUnits, fleet.TableFunctionUnits, fleet.TableFunctions, fleet.TableRenames}
	}
	return []string{fleet.TableProfiles, fleet.TableProfileFunctions, fleet.TableFunctions, fleet.TableRenames}
}

// A column of a table.
type column struct {
	name string
	kind reflect.Kind
}

func columns(row any) (list []column) {
	t := reflect.TypeOf(row)
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("parquet"), ",")
		kind := f.Type.Kind()
		if kind == reflect.Pointer {
			kind = f.Type.Elem().Kind()
		}
		list = append(list, column{name, kind})
	}
	return list
}

func names(list []column) string {
	var s []string
	for _, c := range list {
		s = append(s, c.name)
	}
	return strings.Join(s, ", ")
}

// typeOf is the type of a column that all engines know.
func typeOf(k reflect.Kind) string {
	switch k {
	case reflect.Int32:
		return "INT"
	case reflect.Int64:
		return "BIGINT"
	}
	return "VARCHAR"
}

// Statements are the views that a query wants and the query, as an engine has them: each is one
// statement.
func (q *Query) Statements(e Engine, files Files) ([]string, error) {
	text, err := q.SQL()
	if err != nil {
		return nil, err
	}
	list, err := Views(e, files, q.Tables())
	if err != nil {
		return nil, err
	}
	if e == BigQuery {
		text = strings.NewReplacer("DECIMAL(38,0)", "BIGNUMERIC", "AS DOUBLE", "AS FLOAT64", "AS BIGINT", "AS INT64").Replace(text)
	}
	return append(list, strings.TrimSpace(text)), nil
}

// Views make the tables that are named of files. The ledger has each profile of a release once: the
// highest schema, then the highest decoder, then the least batch.
func Views(e Engine, files Files, wanted []string) (list []string, err error) {
	for _, t := range tables {
		if !slices.Contains(wanted, t.name) {
			continue
		}
		cols := columns(t.row)
		raw := t.name
		if t.name == fleet.TableProfiles {
			raw += "_raw"
		}
		var made []string
		switch paths := files[t.name]; {
		case len(paths) == 0:
			made = []string{view(e, raw, emptySelect(e, cols))}
		default:
			if made, err = viewOf(e, raw, cols, paths); err != nil {
				return nil, err
			}
		}
		list = append(list, made...)
		if raw != t.name {
			list = append(list, view(e, t.name, `SELECT * FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY release_id, profile_id, sample_type ORDER BY schema_version DESC, decoder_version DESC, batch_id) AS rn
  FROM `+raw+`
) t WHERE rn = 1`))
		}
	}
	return list, nil
}

func view(e Engine, name, query string) string {
	if e == Spark {
		return "CREATE OR REPLACE TEMPORARY VIEW " + name + " AS\n" + query
	}
	return "CREATE OR REPLACE VIEW " + name + " AS\n" + query
}

// emptySelect has the columns of a table and no rows.
func emptySelect(e Engine, cols []column) string {
	var list []string
	for _, c := range cols {
		value := map[string]string{"INT": "CAST(0 AS INT)", "BIGINT": "CAST(0 AS BIGINT)", "VARCHAR": "''"}[typeOf(c.kind)]
		if e == BigQuery {
			value = strings.NewReplacer("BIGINT", "INT64", "INT)", "INT64)").Replace(value)
		}
		list = append(list, value+" AS "+c.name)
	}
	return "SELECT " + strings.Join(list, ", ") + " WHERE 1 = 0"
}

// viewOf makes a view of files.
func viewOf(e Engine, name string, cols []column, from []Directory) (list []string, err error) {
	var globs, parts []string
	for i := range from {
		text, err := literal(from[i].glob())
		if err != nil {
			return nil, err
		}
		if strings.Contains(text, "`") {
			return nil, fmt.Errorf("%s has a backquote, which Spark takes for the end of the name", text)
		}
		globs = append(globs, text)
	}
	switch e {
	case DuckDB:
		return []string{view(e, name, "SELECT "+names(cols)+" FROM read_parquet(["+strings.Join(globs, ", ")+"], union_by_name = true, hive_partitioning = false)")}, nil
	case BigQuery:
		return []string{"CREATE OR REPLACE EXTERNAL TABLE " + name + "\nOPTIONS (format = 'PARQUET', uris = [" + strings.Join(globs, ", ") + "])"}, nil
	case Trino:
		return hive(name, cols, from[0]), nil
	}
	for i, d := range from {
		table := ""
		switch e {
		case ClickHouse:
			table = "file(" + globs[i] + ", Parquet)"
		case Spark:
			table = "parquet.`" + d.glob() + "`"
		case DataFusion:
			table = fmt.Sprintf("%s_%d", name, i+1)
			create := "CREATE EXTERNAL TABLE " + table + " STORED AS PARQUET"
			if len(d.Partitions) > 0 {
				create += " PARTITIONED BY (" + strings.Join(d.Partitions, ", ") + ")"
			}
			list = append(list, create+" LOCATION '"+strings.ReplaceAll(d.Path, "'", "''")+"/"+d.File+"'")
		}
		parts = append(parts, "SELECT "+names(cols)+" FROM "+table)
	}
	return append(list, view(e, name, strings.Join(parts, "\nUNION ALL\n"))), nil
}

// hive is a table of Trino's connector hive, which is one directory: of all releases, though not all are asked for.
func hive(name string, cols []column, d Directory) []string {
	var list []string
	for _, c := range cols {
		list = append(list, c.name+" "+strings.ToLower(typeOf(c.kind)))
	}
	if parent, below, ok := strings.Cut(d.Path, "/"+name+"/"); ok && below != "" {
		d = Directory{Path: parent + "/" + name, Partitions: append([]string{"release"}, d.Partitions...)}
	}
	partitions := ""
	if len(d.Partitions) > 0 {
		for _, p := range d.Partitions {
			list = append(list, p+" varchar")
		}
		partitions = ", partitioned_by = ARRAY['" + strings.Join(d.Partitions, "', '") + "']"
	}
	out := []string{"CREATE TABLE IF NOT EXISTS " + name + " (\n  " + strings.Join(list, ",\n  ") + "\n) WITH (format = 'PARQUET', external_location = '" +
		strings.ReplaceAll(d.Path, "'", "''") + "'" + partitions + ")"}
	if partitions != "" {
		out = append(out, "CALL system.sync_partition_metadata(current_schema, '"+name+"', 'FULL')")
	}
	return out
}
