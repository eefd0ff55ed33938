package main

import (
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"profdiff/internal/fleet/batch"
	"profdiff/internal/fleet/store"
	"profdiff/internal/report/show"
	"profdiff/internal/report/text"
)

// warnedProfiles are the profiles that were dropped and are told one by one.
const warnedProfiles = 10

func newFleetIngestCmd(std *stdio) *cobra.Command {
	var (
		plan planFlags
		work workFlags
	)
	cmd := &cobra.Command{
		Use:         "ingest [INPUT…] --out DIR [flags]",
		Short:       "Read profiles into a store, on this machine",
		Annotations: map[string]string{needsLess: "a smaller --batch, and --jobs 1, need less"},
		Example: `  profdiff fleet ingest profiles --out store
  profdiff fleet ingest --manifest profiles.csv --salt-file secret --out store`,
		Long: `Read profiles into a store: profdiff fleet plan and profdiff fleet worker in one, on this
machine. Profiles that the store has already are not read again. Exit code 3 says that no
profile came in: then nothing is written.

` + planHelp,
		RunE: func(cmd *cobra.Command, inputs []string) error {
			w, err := work.worker(cmd)
			if err != nil {
				return err
			}
			all := new(store.Receipt)
			// Receipts wait for the first profile: without one there is to be no store that has nothing but receipts.
			var waiting []*store.Receipt
			keep := func() error {
				for len(waiting) > 0 {
					if err := store.WriteReceipt(work.out, waiting[0]); err != nil {
						return err
					}
					waiting = waiting[1:]
				}
				return nil
			}
			stored, err := plan.plan(cmd, std, inputs, work.out, func(s *batch.Spec) error {
				r, err := w.Work(cmd.Context(), s)
				if err != nil {
					return err
				}
				all.Add(r)
				if waiting = append(waiting, r); all.Profiles.Out == 0 {
					return nil
				}
				return keep()
			})
			if err != nil {
				return err
			}
			all.Profiles.Add(stored)
			if dropped := all.Profiles.In - stored.In; dropped > 0 && all.Profiles.Out == 0 && stored.In == 0 {
				d := all.Dropped[0]
				return fmt.Errorf("%s: none of %s %s came in; the first: %s: %s: %s", work.out,
					text.Count(dropped), text.Plural(int(dropped), "profile", "profiles"), d.Source, d.Reason, d.Detail)
			}
			if err := keep(); err != nil {
				return err
			}
			for i, d := range all.Dropped {
				if i == warnedProfiles {
					std.warn("%s more profiles were dropped: %s lists all", text.Count(int64(len(all.Dropped)-i)), filepath.Join(work.out, store.Receipts))
					break
				}
				std.warn("%s: %s: %s", d.Source, d.Reason, d.Detail)
			}
			return standardOutput(show.WriteReceipt(std.out, work.out, all))
		},
	}
	plan.register(cmd)
	work.register(cmd, runtime.GOMAXPROCS(0))
	return cmd
}
