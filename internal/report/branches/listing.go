package branches

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"profdiff/internal/branch"
	"profdiff/internal/branch/annotate"
	"profdiff/internal/report/text"
)

// SourceLines returns the lines of a source file, nil if it is not there.
type SourceLines func(file string) []string

// WriteListing writes the disassembly of a function with what is known of its
// branches beside each, as text. source may be nil.
func WriteListing(w io.Writer, t *branch.Table, l *annotate.Listing, source SourceLines) error {
	var names []string
	for i := range t.Events {
		if isSampled(t) && !t.Events[i].Rates {
			continue
		}
		names = append(names, t.Events[i].Name)
	}
	if _, err := fmt.Fprintf(w, "%s in %s\n", text.Printable(l.Function), text.Printable(l.DSO)); err != nil {
		return err
	}
	facts := text.Table{}
	if l.BuildID != "" {
		facts.Add("build ID", l.BuildID)
	}
	facts.Add("code", fmt.Sprintf("%#x to %#x, %d instructions; > starts a block, | is within a loop", l.Start, l.End, len(l.Insts)))
	facts.Add("input", t.Name)
	facts.Add("tier", fmt.Sprintf("%s (%s) of %s", t.Tier, t.Tier.Describe(), strings.Join(names, ", ")))
	facts.Add("counts", listingCounts(t))
	facts.Add("misses", listingMisses(t, l))
	if c := t.Cost; c != nil && t.Unknown == "" {
		facts.Add("cost", fmt.Sprintf("%s to %s cycles a miss (%s)", text.Cycles(c.Lo), text.Cycles(c.Hi), c.Source))
	}
	if l.Incomplete != "" {
		facts.Add("warning", "not all ways through the code are known: "+l.Incomplete)
	}
	for _, b := range l.Elsewhere {
		facts.Add("warning", fmt.Sprintf("a branch at %#x is at none of the instructions", b.Address))
	}
	if err := facts.Write(w); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return writeListingRows(w, t, l, source)
}

// listingCounts says what counts are of.
func listingCounts(t *branch.Table) string {
	switch {
	case t.Counted():
		return "exact, of the whole run"
	case t.Scaled:
		return "estimates for the whole recording"
	}
	return "entries of stacks"
}

// listingMisses is how many of all misses are in the function.
func listingMisses(t *branch.Table, l *annotate.Listing) string {
	if t.Unknown != "" {
		return "unknown: " + t.Unknown
	}
	var here, all float64
	rows := 0
	for i := range l.Insts {
		for _, b := range l.Insts[i].Branches {
			if b.Misses != nil {
				here += *b.Misses
			}
			rows++
		}
	}
	for i := range t.Branches {
		if m := t.Branches[i].Misses; m != nil {
			all += *m
		}
	}
	s := fmt.Sprintf("%s in %d branches", text.Weight(here, "count"), rows)
	if all > 0 {
		s += fmt.Sprintf(", %s of those of all branches", text.Share(here/all, 1))
	}
	return s
}

// listingColumns are the columns of the table of branches, without where the branch is and
// what follows from the others.
func listingColumns(t *branch.Table) []text.Column[*branch.Branch] {
	var list []text.Column[*branch.Branch]
	if isSampled(t) {
		list = sampledColumns()
	} else {
		list = branchColumns(t)
	}
	return slices.DeleteFunc(list, func(c text.Column[*branch.Branch]) bool {
		return slices.Contains([]string{"dso", "branch", "likeliest branch, or", "share", "MPKI", "min(p,1-p)"}, c.Name)
	})
}

func writeListingRows(w io.Writer, t *branch.Table, l *annotate.Listing, source SourceLines) error {
	var rows []*branch.Branch
	for i := range l.Insts {
		rows = append(rows, l.Insts[i].Branches...)
	}
	columns := slices.DeleteFunc(listingColumns(t), func(c text.Column[*branch.Branch]) bool {
		return !slices.ContainsFunc(rows, func(b *branch.Branch) bool { return c.Cell(b) != "-" })
	})
	out := text.Table{}
	head := make([]string, 0, len(columns)+3)
	for _, c := range columns {
		out.Right = append(out.Right, c.Right)
		head = append(head, c.Name)
	}
	out.Right = append(out.Right, true)
	out.Add(append(head, "address", "block", "instruction")...)
	// comment is a line of its own in the column of instructions.
	comment := func(text string) {
		out.Add(append(make([]string, len(columns)+2), "; "+text)...)
	}
	files := make(map[string][]string)
	sourceLine := func(f *annotate.Frame) string {
		if source == nil || f.File == "" {
			return ""
		}
		lines, ok := files[f.File]
		if !ok {
			lines = source(f.File)
			files[f.File] = lines
		}
		if f.Line < 1 || f.Line > int64(len(lines)) {
			return ""
		}
		return "  " + strings.ReplaceAll(strings.TrimSpace(lines[f.Line-1]), "\t", " ")
	}
	before := ""
	for i := range l.Insts {
		in := &l.Insts[i]
		if where := listingPlace(in.Frames); where != "" && where != before {
			comment(where + sourceLine(&in.Frames[0]))
			before = where
		}
		for _, b := range in.Blocks {
			s := fmt.Sprintf("block to %#x: %s misses of samples in it", b.End, amountCell(&b.Misses))
			if b.Rate != nil {
				s += ", " + missRatio(b.Rate, text.Percent) + " of its branches"
			}
			if b.PMU != "" {
				s += " on " + b.PMU
			}
			comment(s)
		}
		loop := strings.Repeat("|", in.Loop)
		if in.Block {
			loop += ">" // a block starts here
		}
		for n := range max(len(in.Branches), 1) {
			line := make([]string, 0, len(columns)+3)
			instruction := in.Text
			if n < len(in.Branches) {
				b := in.Branches[n]
				for _, c := range columns {
					cell := c.Cell(b)
					if cell == "-" {
						cell = ""
					}
					line = append(line, cell)
				}
				instruction += strings.Replace(branchCandidates(b), ", or", "  ; or", 1)
			} else {
				line = append(line, make([]string, len(columns))...)
			}
			out.Add(append(line, fmt.Sprintf("%x", in.Addr), loop, instruction)...)
		}
	}
	return out.Write(w)
}

// listingPlace is where code comes from: the line, and what it is inlined into.
func listingPlace(frames []annotate.Frame) string {
	var parts []string
	for i := range frames {
		f := &frames[i]
		if f.File == "" || f.Line == 0 {
			break
		}
		s := fmt.Sprintf("%s:%d", path.Base(f.File), f.Line)
		if len(frames) > 1 {
			s = f.Name + " " + s
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, " < ")
}
