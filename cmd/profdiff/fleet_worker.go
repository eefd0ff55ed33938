package main

import (
	"github.com/spf13/cobra"

	"profdiff/internal/fleet/batch"
	"profdiff/internal/fleet/store"
	"profdiff/internal/report/text"
)

func newFleetWorkerCmd(std *stdio) *cobra.Command {
	var f workFlags
	cmd := &cobra.Command{
		Use:         "worker --out DIR < SPECS > RECEIPTS",
		Short:       "Read batches of profiles into a store",
		Annotations: map[string]string{needsLess: "--jobs 1, or lines that profdiff fleet plan made with a smaller --batch, need less"},
		Example: `  profdiff fleet worker --out store < specs.jsonl > receipts.jsonl
  profdiff fleet worker --out store --symfs symbols < specs.jsonl`,
		Long: `Read batches of profiles into a store: lines of profdiff fleet plan on standard input, and
for each a receipt on standard output, a line of JSON, once its files are complete.

What it writes depends on the line and the profiles alone: it may be run again, run twice
at the same time, or killed. What cannot be read of a profile, or is more than bounds
allow, is in the receipt with its reason, and the others go on: a file of more than
256 MB, or that decompresses to more, more than 1,048,576 distinct stacks, or 16,777,216
frames of these. In a receipt, in = out + dropped, of profiles and of samples.`,
		Args: args(noInputs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			w, err := f.worker(cmd)
			if err != nil {
				return err
			}
			return batch.Specs(std.in, func(s *batch.Spec) error {
				r, err := w.Work(cmd.Context(), s)
				if err == nil {
					err = store.WriteReceipt(f.out, r)
				}
				if err != nil {
					return err
				}
				return standardOutput(text.WriteJSONLine(std.out, r))
			})
		},
	}
	f.register(cmd, 1)
	return cmd
}
