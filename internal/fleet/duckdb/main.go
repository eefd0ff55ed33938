// Profdiff-duckdb runs the SQL of profdiff fleet compare in DuckDB. It is a module of its own, as DuckDB is C++: profdiff is without.
//
//  1. Standard input has one request in JSON: statements that make views of files, and queries.
//  2. DuckDB runs them in memory, in as many threads and with as much memory as the request allows. What does
//     not fit goes to a temporary directory.
//  3. The rows of all queries go to standard output, each an object of JSON in a line.
package main

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"os"

	duckdb "github.com/duckdb/duckdb-go/v2"
)

// A request is what is run.
type request struct {
	Views   []string `json:"views"`
	Queries []string `json:"queries"`
	// Memory is a size as DuckDB has them, such as 1GB, and Threads a number; both have defaults.
	Memory  string `json:"memory"`
	Threads int    `json:"threads"`
}

func main() {
	if err := answer(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "profdiff-duckdb: %v\n", err)
		os.Exit(3)
	}
}

// answer runs a request.
func answer(ctx context.Context, r io.Reader, w io.Writer) (err error) {
	var q request
	if err := json.NewDecoder(r).Decode(&q); err != nil {
		return fmt.Errorf("the request: %w", err)
	}
	scratch, err := os.MkdirTemp("", "profdiff-duckdb-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	connector, err := duckdb.NewConnector("", nil)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	// Views and settings are of a connection.
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	settings := []string{"SET temp_directory = '" + scratch + "'", "SET preserve_insertion_order = false"}
	if q.Memory != "" {
		settings = append(settings, "SET memory_limit = '"+q.Memory+"'")
	}
	if q.Threads > 0 {
		settings = append(settings, fmt.Sprintf("SET threads = %d", q.Threads))
	}
	for _, text := range append(settings, q.Views...) {
		if _, err := c.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("%w in: %.200s", err, text)
		}
	}
	out := bufio.NewWriter(w)
	for _, text := range q.Queries {
		if err := rows(ctx, c, text, out); err != nil {
			return err
		}
	}
	return out.Flush()
}

// rows writes the rows of a query.
func rows(ctx context.Context, c *sql.Conn, text string, w io.Writer) error {
	list, err := c.QueryContext(ctx, text)
	if err != nil {
		return err
	}
	defer list.Close()
	names, err := list.Columns()
	if err != nil {
		return err
	}
	values, at := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		at[i] = &values[i]
	}
	e := json.NewEncoder(w)
	for list.Next() {
		if err := list.Scan(at...); err != nil {
			return err
		}
		row := make(map[string]any, len(names))
		for i, name := range names {
			row[name] = plain(values[i])
		}
		if err := e.Encode(row); err != nil {
			return err
		}
	}
	return list.Err()
}

// plain is a value as JSON has it: sums of integers are of 128 bits.
func plain(v any) any {
	switch v := v.(type) {
	case *big.Int:
		return json.Number(v.String())
	case duckdb.Decimal:
		return json.Number(v.String())
	}
	return v
}
