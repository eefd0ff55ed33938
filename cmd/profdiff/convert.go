package main

import (
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"profdiff/internal/exchange"
	"profdiff/internal/otlp"
	"profdiff/internal/report/show"
	"profdiff/internal/run"
)

func newConvertCmd(std *stdio) *cobra.Command {
	var (
		in     inputFlags
		to     string
		names  string
		output string
		count  bool
		strip  []string
	)
	cmd := &cobra.Command{
		Use:   "convert INPUT... -o OUT [flags]",
		Short: "Convert recordings to pprof, OTLP profiles, folded stacks or JSON",
		Example: `  profdiff convert perf.data -o profile.pb.gz
  profdiff convert perf.data --to folded -o stacks.folded`,
		Long: `Convert recordings of any format to a pprof profile, to a profile of
OpenTelemetry's protocol, to folded stacks, or to JSON. Several inputs are added up.
INPUT and OUT may be - for standard input and output. All but JSON lists the frames of
each sample again: where stacks are so deep that this would be more than 268,435,456 frames,
or folded stacks of more than 4 GiB, nothing is written.

OUT may be a server that takes profiles: pyroscope://HOST/SERVICE, parca://HOST/JOB, or
otlp://HOST for a collector of OpenTelemetry; profdiff --help says how addresses are written.
There, a parameter LABEL=VALUE is a label of the profile, or an attribute of the resource,
type=KIND the kind under which Pyroscope and Parca file it (process_cpu, memory), and
at=now when it was recorded, for what a store refuses as too old.

OTLP profiles, v1development, are experimental: they are written and read as version 1.10
of the protocol has them, and what is of another version is refused. OUT.otlp is one even
without --to. Files of a collector are read, too: messages as JSON, or with their lengths.

With --strip it is a recording that can be given away: paths keeps base names of files,
commands removes command lines, commit and host, kernel the addresses in the kernel, its
version and build. What was removed is said. Names of functions and threads stay.`,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, inputs []string) error {
			if !cmd.Flags().Changed("to") && filepath.Ext(output) == ".otlp" {
				to = "otlp"
			}
			form, ok := map[string]run.SampleTypeNames{"aosp": run.AOSPNames, "p2p": run.PerfToProfileNames, "go-pgo": run.GoPGONames}[names]
			switch {
			case !ok:
				return usagef(cmd, "--names is aosp, p2p or go-pgo, not %q", names)
			case to != "pprof" && to != "folded" && to != "json" && to != "otlp":
				return usagef(cmd, "--to is pprof, otlp, folded or json, not %q", to)
			case output == "":
				return usagef(cmd, "-o names the output")
			case output == "-" && (to == "pprof" || to == "otlp") && isTerminal(std.out):
				return usagef(cmd, "a profile is binary: not written to a terminal")
			case exchange.Is(output) && cmd.Flags().Changed("to"):
				return usagef(cmd, "--to is for files: what a server takes is told by its address")
			case count && to != "folded":
				return usagef(cmd, "--count goes with --to folded")
			}
			for _, what := range strip {
				if !slices.Contains(run.Privates, run.Private(what)) {
					return usagef(cmd, "--strip takes paths, commands and kernel, with commas between, not %q", what)
				}
			}
			l, err := in.loader(cmd, std)
			if err != nil {
				return err
			}
			r, err := l.loadAll(inputs)
			if err != nil {
				return err
			}
			for _, what := range strip {
				std.note("removed " + r.Strip(run.Private(what)))
			}
			if to == "folded" && len(r.Events) > 1 {
				return usagef(cmd, "folded stacks hold one event: choose by --event: it has %s", r.EventNames())
			}
			if exchange.Is(output) {
				if !cmd.Flags().Changed("names") {
					form = run.StoreNames
				}
				if err := std.send(cmd.Context(), output, r, form); err != nil {
					return err
				}
				l.account(r)
				return nil
			}
			err = std.writeOutput(output, func(w io.Writer) error {
				switch to {
				case "folded":
					if len(r.Events) == 0 {
						return nil
					}
					return r.WriteFolded(w, 0, count)
				case "json":
					return show.WriteJSON(w, show.New(r, show.Parts{Lists: true}))
				case "otlp":
					return otlp.Write(w, r, otlp.Options{Names: form})
				}
				return r.WriteProfile(w, run.ProfileOptions{Names: form})
			})
			if err != nil {
				return err
			}
			l.account(r)
			return nil
		},
	}
	in.register(cmd)
	f := cmd.Flags()
	f.StringVarP(&output, "output", "o", "", "write to `FILE`, - for standard output")
	f.StringVar(&to, "to", "pprof", "output `FORMAT`: pprof, otlp, folded or json")
	f.StringVar(&names, "names", "aosp", "call pprof sample types as `TOOL` does: aosp, p2p (perf_to_profile) or go-pgo")
	f.StringSliceVar(&strip, "strip", nil, "remove what not everybody needs to see: `WHAT` is of paths, commands and kernel, separated by commas")
	f.BoolVar(&count, "count", false, "fold the number of samples instead of their weight")
	return cmd
}
