package main

import (
	"runtime"

	"github.com/spf13/cobra"

	"profdiff/internal/fleet/batch"
	"profdiff/internal/fleet/store"
	"profdiff/internal/report/show"
)

func newFleetIngestCmd(std *stdio) *cobra.Command {
	var (
		plan planFlags
		work workFlags
	)
	cmd := &cobra.Command{
		Use:   "ingest [INPUT…] --out DIR [flags]",
		Short: "Read profiles into a store, on this machine",
		Example: `  profdiff fleet ingest profiles --out store
  profdiff fleet ingest --manifest profiles.csv --salt-file secret --out store`,
		Long: `Read profiles into a store: profdiff fleet plan and profdiff fleet worker in one, on this
machine.

` + planHelp,
		RunE: func(cmd *cobra.Command, inputs []string) error {
			w, err := work.worker(cmd)
			if err != nil {
				return err
			}
			var receipts []*store.Receipt
			if err := plan.plan(cmd, std, inputs, func(s *batch.Spec) error {
				r, err := w.Work(cmd.Context(), s)
				receipts = append(receipts, r)
				return err
			}); err != nil {
				return err
			}
			for _, r := range receipts {
				for _, d := range r.Dropped {
					std.warn("%s: %s: %s", d.Source, d.Reason, d.Detail)
				}
			}
			return standardOutput(show.WriteReceipts(std.out, work.out, receipts))
		},
	}
	plan.register(cmd)
	work.register(cmd, runtime.GOMAXPROCS(0))
	return cmd
}
