package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"profdiff/internal/fleet/store"
	"profdiff/internal/report/text"
)

func newFleetCompactCmd(std *stdio) *cobra.Command {
	return &cobra.Command{
		Use:   "compact STORE",
		Short: "Sum a store by release, device model and unit",
		Example: `  profdiff fleet compact store
  profdiff fleet compact store && profdiff fleet show store`,
		Long: `Sum a store by release, sample type, device model and unit, one of 64 into which devices
fall: two tables more, units and function_units, whose size does not grow with the number
of profiles. Comparisons of large stores read them instead of facts, see --sums of profdiff
fleet compare. What has not changed since it
was summed is not summed again; sums of releases whose profiles came or went are stale,
are not used, and are removed.`,
		Args: args(oneStore),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := store.Open(args[0])
			if err != nil {
				return err
			}
			rolled, err := s.Compact()
			if err != nil {
				return err
			}
			if len(rolled) == 0 {
				_, err = fmt.Fprintf(std.out, "%s: is rolled up already\n", args[0])
			} else {
				_, err = fmt.Fprintf(std.out, "%s: rolled up %s %s\n", args[0], text.Plural(len(rolled), "release", "releases"), text.Printable(strings.Join(rolled, ", ")))
			}
			return standardOutput(err)
		},
	}
}
