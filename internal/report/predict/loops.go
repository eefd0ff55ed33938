package predict

import (
	"io"
	"strings"
	"unicode"

	"profdiff/internal/asm"
	"profdiff/internal/predict"
	"profdiff/internal/report/text"
)

// WriteLoops writes loops as assembly that llvm-mca reads as it is: a region for each
// way through each loop, everything else in comments. Lines of comments begin with #,
// which llvm-mca takes for a comment on every machine; behind instructions of AArch64
// it is //.
func WriteLoops(w io.Writer, loops []*predict.Annotated, input, cpu string) error {
	p := &text.Lines{W: w}
	p.Printf("# %s", input)
	command := "llvm-mca"
	if len(loops) > 0 {
		command += " -mtriple=" + string(loops[0].Arch)
		if loops[0].Arch == asm.AArch64 {
			command += " -mattr=+all"
		}
	}
	if cpu == "" {
		cpu = "CPU"
	}
	p.Printf("# %s -mcpu=%s FILE simulates each way: no branch is mispredicted, all data is in the L1 cache", command, cpu)
	for _, l := range loops {
		comment := "#"
		if l.Arch == asm.AArch64 {
			comment = "//"
		}
		p.Printf("")
		p.Printf("# %s", l.Name)
		if l.Share != nil {
			samples := ""
			if l.Count > 0 {
				samples = " (" + text.Count(l.Count) + ")"
			}
			p.Printf("# %s of the samples%s, with those in the functions without loops that it calls", text.Share(*l.Share, 1), samples)
		}
		p.Printf("# frequencies of branches: %s", l.Source)
		for _, f := range l.Flags {
			p.Printf("# flag: %s", f)
		}
		for _, way := range l.Ways {
			if way.Share != nil {
				p.Printf("# %s of the units", text.Share(*way.Share, 1))
			}
			p.Printf("# LLVM-MCA-BEGIN %s", regionName(way.Name))
			for _, line := range way.Lines {
				note := line.Place
				if line.Heat > 0 {
					note += ", " + text.Share(line.Heat, 1) + " of samples"
				}
				if line.Text == "" {
					p.Printf("# %s: %s", line.Raw, note)
					continue
				}
				if line.Raw != "" {
					note += ", for " + line.Raw
				}
				p.Printf("%-40s %s %s", line.Text, comment, note)
			}
			p.Printf("# LLVM-MCA-END")
		}
	}
	return p.Err
}

// regionName is a name that fits in the comment of a region.
func regionName(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r > unicode.MaxASCII {
			return '?'
		}
		return r
	}, s)
}
