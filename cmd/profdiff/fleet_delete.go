package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"profdiff/internal/fleet"
	"profdiff/internal/fleet/store"
	"profdiff/internal/report/text"
)

func newFleetDeleteCmd(std *stdio) *cobra.Command {
	var device, pseudonym, saltFile string
	cmd := &cobra.Command{
		Use:   "delete STORE --device ID [flags]",
		Short: "Delete all that a store has of a device",
		Example: `  profdiff fleet delete store --device R58M123ABC --salt-file secret
  profdiff fleet delete store --device-id 3f7a90c1d2e4b586`,
		Long: `Delete all that a store has of a device. Batches with profiles of it are written again
without them, with functions and stacks that no other profile of the batch has, and sums
of releases that had it are removed: profdiff fleet compact makes them anew. What workers
left that died is removed, too, as nobody can tell whose it is: no worker may be at work
at the time. If it is interrupted, it is done again.`,
		Args: args(oneStore),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (device == "") == (pseudonym == "") {
				return usagef(cmd, "name the device: --device ID, or --device-id PSEUDONYM")
			}
			if device != "" {
				salt, err := readSalt(saltFile)
				if err != nil {
					return err
				}
				pseudonym = fleet.Device(salt, device)
			}
			s, err := store.Open(args[0])
			if err != nil {
				return err
			}
			d, err := s.Delete(pseudonym)
			if err != nil {
				return err
			}
			if d.Profiles == 0 {
				return fmt.Errorf("%s: has no profile of device %s: was another secret used?", args[0], pseudonym)
			}
			_, err = fmt.Fprintf(std.out, "%s: deleted %d %s of device %s from %d %s, and %d %s\n", args[0], d.Profiles, text.Plural(d.Profiles, "profile", "profiles"), pseudonym,
				d.Batches, text.Plural(d.Batches, "batch", "batches"), d.RollUps, text.Plural(d.RollUps, "roll-up", "roll-ups"))
			return standardOutput(err)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&device, "device", "", "delete what there is of the device `ID`, as the manifest or the directory named it")
	fs.StringVar(&pseudonym, "device-id", "", "delete what there is of the device with the `PSEUDONYM`")
	fs.StringVar(&saltFile, "salt-file", "", "make pseudonyms of devices with the secret in `FILE`")
	return cmd
}
