package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"profdiff/internal/report/html"
)

func newReportCmd(std *stdio) *cobra.Command {
	var from, output string
	cmd := &cobra.Command{
		Use:   "report --from FILE [-o OUT]",
		Short: "Write a report of --html again",
		Example: `  profdiff report --from report.html -o again.html
  profdiff report --from report.html > again.html`,
		Long: `Write a report again that --html wrote, from the data in it: as this version of
profdiff draws it, with the numbers of the version that compared. Of FILE nothing but
the data is used, so a page whose other parts were damaged becomes whole. A report of
this version is written as it was, byte by byte. FILE may be - for standard input.`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if from == "" {
				return usagef(cmd, "--from names the report")
			}
			p, err := std.readPage(from)
			if err != nil {
				return err
			}
			if missing := p.Incomplete(); missing != "" {
				std.warn("%s: %s", from, missing)
			}
			p.DrawnBy(reportTool())
			std.outputs.Inputs = nil // a report may be drawn anew in its place: its data stay
			return std.writeOutput(output, p.Write)
		},
	}
	f := cmd.Flags()
	f.StringVar(&from, "from", "", "read the report `FILE`, - for standard input")
	f.StringVarP(&output, "output", "o", "-", "write to `FILE`, - for standard output")
	return cmd
}

func (s *stdio) readPage(name string) (p *html.Page, err error) {
	if name == "-" {
		if p, err = html.Read(s.in); err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		return p, nil
	}
	err = withFile(name, func(r io.Reader) (err error) {
		p, err = html.Read(r)
		return err
	})
	return p, err
}
