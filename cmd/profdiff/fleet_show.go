package main

import (
	"io"
	"slices"

	"github.com/spf13/cobra"

	"profdiff/internal/fleet/store"
	"profdiff/internal/report/show"
	"profdiff/internal/report/text"
)

func newFleetShowCmd(std *stdio) *cobra.Command {
	var (
		sel            store.Selection
		release        string
		limit          int
		format, output string
	)
	cmd := &cobra.Command{
		Use:   "show STORE [flags]",
		Short: "Say what is in a store",
		Example: `  profdiff fleet show store
  profdiff fleet show store --release 1.1 --limit 50`,
		Long: `Say what is in a store: releases with their profiles, devices, days and sample types;
device models; the tables and their sizes; what became of all profiles and samples that
were listed, and why some were dropped. With --release, the functions in which that
release spent most.`,
		Args: args(oneStore),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case !slices.Contains([]string{"text", "json"}, format):
				return usagef(cmd, "--format is text or json, not %q", format)
			case limit < 1:
				return usagef(cmd, "--limit is at least 1, not %d", limit)
			}
			s, err := store.Open(args[0])
			if err != nil {
				return err
			}
			d := new(show.Store)
			if d.Summary, err = s.Summary(); err != nil {
				return err
			}
			if release != "" {
				top := &show.StoreTop{Release: release, SampleType: sel.SampleType}
				if top.SampleType == "" {
					if top.SampleType, err = d.SampleType(release); err != nil {
						return err
					}
				}
				if top.Functions, top.Weight, err = s.Top(release, top.SampleType, limit); err != nil {
					return err
				}
				d.Top = top
			}
			return std.writeTables(output, format == "text", func(w io.Writer) error {
				if format == "json" {
					return text.WriteJSON(w, d)
				}
				return show.WriteStore(w, d)
			})
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&release, "release", "", "list the functions in which the release `NAME` spent most")
	fs.StringVar(&sel.SampleType, "sample-type", "", "of samples of the `TYPE`, such as cpu/nanoseconds; by default of that of most profiles")
	fs.IntVar(&limit, "limit", 20, "list `N` functions")
	fs.StringVar(&format, "format", "text", "write `FORM`: text or json")
	fs.StringVarP(&output, "output", "o", "-", "write to `FILE`, - for standard output")
	return cmd
}
