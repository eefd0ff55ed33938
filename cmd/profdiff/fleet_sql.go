package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"profdiff/internal/fleet/query"
	"profdiff/internal/fleet/store"
)

func newFleetSQLCmd(std *stdio) *cobra.Command {
	var (
		f                      fleetQuestion
		by, engine, at, output string
		total                  bool
	)
	cmd := &cobra.Command{
		Use:   "sql STORE [flags]",
		Short: "Print the SQL of a comparison for an engine",
		Example: `  profdiff fleet sql store --engine duckdb > compare.sql
  profdiff fleet sql store --engine spark --at s3://bucket/store`,
		Long: `Print the SQL that compares two releases, with the views on the files of the store that an
engine wants before it. The query itself is the same text for DuckDB, Spark, Trino,
ClickHouse and DataFusion.

Rows that the engine prints as JSON, an object a line, become the report:
profdiff fleet compare STORE --before A --after B --rows FILE. It decides by Student's t, while
p_value and q_value of the SQL are of the normal distribution. The store on this machine has to
have the ledger, the table profiles, and the functions; --at says where the engine finds all tables.`,
		Args: args(oneStore),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case !slices.Contains([]string{"function", "model", "category"}, by):
				return usagef(cmd, "--by is function, model or category, not %q", by)
			case !slices.Contains(query.Engines, query.Engine(engine)):
				return usagef(cmd, "--engine is %s, not %q", engines(), engine)
			}
			s, err := store.Open(args[0])
			if err != nil {
				return err
			}
			q, err := f.question(cmd, s)
			if err != nil {
				return err
			}
			base := at
			if base == "" {
				if base, err = filepath.Abs(args[0]); err != nil {
					return err
				}
			}
			k := query.Query{Question: q, By: query.By(by), Value: query.Self}
			if total {
				k.Value = query.Total
			}
			files, err := query.FilesOf(s, base, q)
			if err != nil {
				return err
			}
			list, err := k.Statements(query.Engine(engine), files)
			if err != nil {
				return err
			}
			return std.writeOutput(output, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "%s;\n", strings.Join(list, ";\n\n"))
				return err
			})
		},
	}
	f.register(cmd)
	fs := cmd.Flags()
	fs.StringVar(&by, "by", "function", "compare by `GROUP`: function, model (functions on each model of devices) or category")
	fs.BoolVar(&total, "total", false, "compare what functions and their callees cost, instead of what they cost themselves")
	fs.StringVar(&engine, "engine", "duckdb", "write for `ENGINE`: "+engines())
	fs.StringVar(&at, "at", "", "the engine finds the store at `URI` (default: where it is)")
	fs.StringVarP(&output, "output", "o", "-", "write to `FILE`, - for standard output")
	return cmd
}

// engines lists them.
func engines() string {
	var names []string
	for _, e := range query.Engines {
		names = append(names, string(e))
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
