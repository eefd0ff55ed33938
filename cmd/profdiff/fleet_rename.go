package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"profdiff/internal/align"
	"profdiff/internal/fleet"
	"profdiff/internal/fleet/query"
	"profdiff/internal/fleet/store"
	"profdiff/internal/report/text"
)

func newFleetRenameCmd(std *stdio) *cobra.Command {
	var (
		f       fleetQuestion
		similar bool
	)
	cmd := &cobra.Command{
		Use:   "rename STORE [OLD=NEW…] [flags]",
		Short: "Say which functions of two releases are the same under other names",
		Example: `  profdiff fleet rename store parse_header=parseHeader
  profdiff fleet rename store --similar --before 1.0 --after 1.1`,
		Long: `Say which functions of two releases are the same under other names: the table renames
of the store, which comparisons read, and so do the SQL statements of profdiff fleet sql.
OLD=NEW declares one, with names as --rename of profdiff diff has them. --similar adds
those that profdiff finds by what functions call and what calls them, in the heaviest
stacks of both releases: look at the list before you rely on it. Behind each stands how
sure it is, and why.

What an earlier call wrote is replaced. Profiles stay as they are: without OLD=NEW and
without --similar no function is renamed any more.`,
		Args: args(firstStore),
		RunE: func(cmd *cobra.Command, args []string) error {
			var list []align.Rename
			for _, s := range args[1:] {
				r, err := align.ParseRename(s)
				if err != nil {
					return &usageError{cmd, err}
				}
				list = append(list, r)
			}
			s, err := store.Open(args[0])
			if err != nil {
				return err
			}
			f.sums = "facts"
			q, err := f.question(cmd, s)
			if err != nil {
				return err
			}
			var found []query.FoundRename
			if len(list) > 0 || similar {
				if found, err = query.FindRenames(s, q, list, similar); err != nil {
					return err
				}
			}
			renames := make([]fleet.Rename, len(found))
			for i, r := range found {
				renames[i] = r.Rename
			}
			if err := s.SetRenames(renames); err != nil {
				return err
			}
			names := make(map[int64]string)
			for x, err := range s.Functions() {
				if err != nil {
					return err
				}
				names[x.FunctionID] = x.Name
			}
			out := &text.Lines{W: std.out}
			out.Printf("%s: %d %s", args[0], len(renames), text.Plural(len(renames), "rename", "renames"))
			for _, r := range found {
				because := ""
				if r.Reason != "" && r.Confidence < 1 {
					because = fmt.Sprintf("  (%.0f%%: %s)", 100*r.Confidence, r.Reason)
				}
				out.Printf("%s  %s → %s%s", r.Origin, text.Printable(names[r.FromID]), text.Printable(names[r.ToID]), text.Printable(because))
			}
			return standardOutput(out.Err)
		},
	}
	fs := cmd.Flags()
	fs.BoolVar(&similar, "similar", false, "add functions that are found to be the same by what they call and what calls them")
	fs.StringVar(&f.before, "before", "", "the release with old names, `NAME` (default: the newest but one)")
	fs.StringVar(&f.after, "after", "", "the release with new names, `NAME` (default: the newest)")
	fs.StringVar(&f.sampleType, "sample-type", "", "look at samples of the `TYPE`, such as cpu/nanoseconds (default: what most profiles of both releases have)")
	f.per = string(query.Share)
	return cmd
}
