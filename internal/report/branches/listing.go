package branches

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"profdiff/internal/report/text"
	"profdiff/internal/symbolizer"
)

// WriteListing writes the disassembly of the function that a document has the listing of,
// with what is known of its branches beside each, as text.
func WriteListing(w io.Writer, d *Document) error {
	l := d.Listing
	var names []string
	for i := range d.Events {
		if !d.Sampled() || d.Events[i].Rates {
			names = append(names, d.Events[i].Name)
		}
	}
	facts := text.Table{Prose: true}
	if l.BuildID != "" {
		facts.Add("build ID", l.BuildID)
	}
	facts.Add("code", fmt.Sprintf("%#x to %#x, %d instructions; > starts a block, | is within a loop", l.Start, l.End, len(l.Insts)))
	facts.Add("input", d.Input.Path)
	facts.Add("tier", fmt.Sprintf("%s (%s) of %s", d.Tier, d.Tier.Describe(), strings.Join(names, ", ")))
	facts.Add("counts", d.counts())
	facts.Add("misses", listingMisses(d))
	facts.Fact("cost", costText(d.MissCost))
	if l.Incomplete != "" {
		facts.Add("warning", "not all ways through the code are known: "+l.Incomplete)
	}
	for _, b := range l.Elsewhere {
		facts.Add("warning", fmt.Sprintf("a branch at %#x is at none of the instructions", b.Address))
	}
	return text.ScreenOf(w).Gather(func(out *text.Screen) {
		fmt.Fprintf(out, "%s in %s\n", text.Printable(l.Function), text.Printable(l.DSO))
		facts.Write(out)
		fmt.Fprintln(out)
		writeListingRows(out, d)
	})
}

// listingMisses is how many of all misses are in the function.
func listingMisses(d *Document) string {
	if !d.Prediction.Known {
		return "unknown: " + d.Prediction.Reason
	}
	var here float64
	rows := 0
	for i := range d.Listing.Insts {
		for _, b := range d.Listing.Insts[i].Branches {
			if b.Misses != nil {
				here += *b.Misses
			}
			rows++
		}
	}
	s := fmt.Sprintf("%s in %d branches", text.Weight(here, "count"), rows)
	if all := d.BranchMisses; all > 0 {
		s += fmt.Sprintf(", %s of those of all branches", text.Share(here/all, 1))
	}
	return s
}

// listingColumns are the columns of the table of branches, without where the branch is and
// what follows from the others.
func listingColumns(d *Document) []text.Column[*Branch] {
	return slices.DeleteFunc(d.columns(), func(c text.Column[*Branch]) bool {
		return slices.Contains([]string{"dso", "branch", "likeliest branch, or", "share", "MPKI", "min(p,1-p)"}, c.Name)
	})
}

func writeListingRows(w io.Writer, d *Document) {
	l := d.Listing
	var rows []*Branch
	for i := range l.Insts {
		rows = append(rows, pointers(l.Insts[i].Branches)...)
	}
	columns := slices.DeleteFunc(listingColumns(d), func(c text.Column[*Branch]) bool {
		return !slices.ContainsFunc(rows, func(b *Branch) bool { return c.Cell(b) != "-" })
	})
	out := text.Table{Prose: true}
	head := make([]string, 0, len(columns)+3)
	for _, c := range columns {
		out.Right = append(out.Right, c.Right)
		head = append(head, c.Name)
	}
	for i := len(columns) - 1; i > 0; i-- {
		out.Spare = append(out.Spare, []int{i})
	}
	out.Right = append(out.Right, true)
	out.Add(append(head, "address", "block", "instruction")...)
	// comment is a line of its own in the column of instructions.
	comment := func(text string) {
		out.Add(append(make([]string, len(columns)+2), "; "+text)...)
	}
	before := ""
	for i := range l.Insts {
		in := &l.Insts[i]
		if where := listingPlace(in.Frames); where != "" && where != before {
			comment(where + in.Source)
			before = where
		}
		for i := range in.Blocks {
			b := &in.Blocks[i]
			s := fmt.Sprintf("block to %s: %s misses of samples in it", b.End, amountCell(b.Misses))
			if b.Rate != nil {
				s += ", " + b.Rate.Text(text.Percent) + " of its branches"
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
				b := &in.Branches[n]
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
	out.Write(w)
}

// listingPlace is where code comes from: the line, and what it is inlined into.
func listingPlace(frames []symbolizer.Frame) string {
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
