package branches

import (
	"cmp"
	"fmt"
	"strings"

	"profdiff/internal/branch"
	"profdiff/internal/branch/annotate"
	"profdiff/internal/symbolizer"
)

// Parts are what outputs need beside what all of them show.
type Parts struct {
	// All has every branch, else those with enough misses to say anything.
	All bool
	// Frames are the functions at each branch of the table, as [annotate.Frames] finds them.
	// Profiles for LLVM need them, with All.
	Frames [][]symbolizer.Frame
	// Listing is the code of a function, and Source the lines of a source file, nil if it is
	// not there. Source may be nil.
	Listing *annotate.Listing
	Source  func(file string) []string
	// Page is what a page has.
	Page *Page
}

// New makes the document of a table, with the parts that are asked for.
func New(t *branch.Table, parts Parts) *Document {
	d := newHead(t)
	d.All = parts.All
	d.Functions, d.Blocks = newFunctions(t), make([]Block, 0, len(t.Blocks()))
	for i := range t.Blocks() {
		d.Blocks = append(d.Blocks, newBlock(&t.Blocks()[i]))
	}
	for i := range t.Branches {
		b := &t.Branches[i]
		if b.Misses != nil {
			d.BranchMisses += *b.Misses
		}
		d.ByLine = d.ByLine || b.ByLine
		d.ByCycles = d.ByCycles || b.Rate != nil && b.Rate.Method == branch.ByCycles
		if !b.Enough && !parts.All {
			d.Hidden++
			continue
		}
		row := newBranch(b, d.Prediction.Known)
		if parts.Frames != nil {
			row.Source = parts.Frames[i]
		}
		d.Branches = append(d.Branches, row)
	}
	if parts.Page != nil {
		places := make(branchPlaces)
		for i := range d.Branches {
			places.add(&d.Branches[i], i)
		}
		d.Code = parts.Page.code(places, nil, func(row, code int) { d.Branches[row].Code = code })
	}
	if parts.Listing != nil {
		d.Listing = newListing(parts.Listing, d.Prediction.Known, parts.Source)
	}
	return d
}

// newHead is a document without branches, functions and blocks.
func newHead(t *branch.Table) *Document {
	known := t.Unknown == ""
	stacks := cmp.Or(t.Stacks, new(branch.StackTable))
	d := &Document{
		Schema: Schema, Tier: t.Tier, Input: newInput(t),
		Events: append([]Event{}, t.Events...), Prediction: Known{Known: known, Reason: t.Unknown},
		Unit: entries, FirstIndex: stacks.FirstIndex,
		Samples: newAccount(t.Samples), Entries: newAccount(stacks.Entries),
		Ranges: stacks.Ranges, Totals: Totals{Instructions: t.Instructions, Cycles: t.Cycles, PMUs: newPMUs(t)},
		Attribution: newAttribution(t.Sampled),
		Branches:    []Branch{}, Advice: t.Advice, Warnings: append([]string{}, t.Warnings...),
		Cost: t.Cost, Misses: t.Misses,
	}
	if t.Scaled {
		d.Unit = executions
	}
	if known {
		d.MissCost = d.Cost
		if t.Stacks != nil {
			d.Totals.MispredictedEntries = &t.Misses
		}
	}
	return d
}

func newInput(t *branch.Table) Input {
	return Input{Path: t.Name, Format: t.Format, Tool: t.Tool, Arch: t.Arch, CPU: t.CPU}
}

func newAccount(a branch.Account) Account {
	a.Dropped = counts(a.Dropped)
	return a
}

func newEstimate(e *branch.Estimate) *Estimate {
	if e == nil {
		return nil
	}
	return &Estimate{Value: e.Value, CI: []float64{e.Lo, e.Hi}}
}

func newPlace(b *branch.Branch) Place {
	p := Place{
		DSO: b.DSO, BuildID: b.BuildID, Address: fmt.Sprintf("%#x", b.Address), Function: b.Function, Offset: b.Offset,
		File: b.File, Line: b.Line, Inlined: make([]Frame, 0, len(b.Inlined)), Kind: b.Kind,
	}
	if b.ByLine {
		p.Address = ""
	}
	for _, f := range b.Inlined {
		p.Inlined = append(p.Inlined, Frame{Function: f.Name, File: f.File, Line: f.Line})
	}
	return p
}

func newBranch(b *branch.Branch, known bool) Branch {
	stacks := cmp.Or(b.Stacks, new(branch.StackCounts))
	out := Branch{
		Place: newPlace(b), Enough: b.Enough, Code: -1, Addr: b.Address, Stack: b.Inlined,
		Executed: b.Executed, Taken: b.Taken, NotTaken: b.NotTaken, PTaken: newEstimate(b.PTaken),
		Misses: b.Misses, MissShare: b.MissShare, TakenRate: newEstimate(b.TakenRate()), MPKI: newEstimate(b.MPKI),
		Share: b.Share, N: b.N, NTaken: &b.NTaken, Samples: b.Samples,
		Entries: EntryCounts{Taken: stacks.Taken, NotTaken: stacks.NotTaken},
		Targets: stacks.Targets, TopTarget: stacks.TopTarget, Classes: []string{}, Candidates: []Candidate{},
		BreakEven: b.BreakEven, Advice: newAdvice(b.Advice),
	}
	if p, ok := b.MinP(); ok {
		out.MinP = &p
	}
	if known {
		out.NMisses = &b.NMisses
		out.Entries.Mispredicted, out.Entries.Predicted = &stacks.Mispredicted, &stacks.Predicted
		out.MissCost = b.Cost
	}
	if r := b.Rate; r != nil {
		out.Rate, out.RateBounds, out.CI, out.RateMethod = r.Value, r.Bounds[:], r.CI[:], r.Method
	}
	if b.Rate != nil && b.Rate.Method == branch.Counted {
		out.CI = nil
		for _, e := range []*Estimate{out.PTaken, out.MPKI} {
			if e != nil && e.CI[0] == e.CI[1] {
				e.CI = nil
			}
		}
		if b.Taken == nil {
			out.NTaken = nil
		}
	}
	if b.MissesCI != nil {
		out.MissesCI = b.MissesCI[:]
	}
	if b.CyclesLost != nil {
		out.CyclesLost = b.CyclesLost[:]
	}
	sampledBranch(&out, b)
	for _, c := range b.Classes {
		out.Classes = append(out.Classes, string(c))
	}
	return out
}

func newAmount(a *branch.Amount, event string) *Amount {
	if a == nil {
		return nil
	}
	out := &Amount{Event: event, Value: a.Value, Samples: a.Samples, NEff: a.Effective}
	if !a.Counted {
		out.CI = a.CI[:]
	}
	return out
}

func newRatio(r *branch.Ratio) *Ratio {
	if r == nil {
		return nil
	}
	out := &Ratio{Value: r.Value}
	if r.CI != nil {
		out.CI = r.CI[:]
	}
	return out
}

func newPMUs(t *branch.Table) []PMU {
	list := []PMU{}
	for i := range t.Totals {
		p := &t.Totals[i]
		out := PMU{
			PMU: p.PMU, Source: p.Source, Misses: newAmount(p.Misses, p.MissEvent), Branches: newAmount(p.Branches, p.BranchEvent),
			Instructions: newAmount(p.Instructions, p.InstructionEvent), Cycles: newAmount(p.Cycles, p.CycleEvent),
			Rate: newRatio(p.Rate), MPKI: newRatio(p.MPKI), Refused: []string{}, RateRefused: p.RateRefused, MPKIRefused: p.MPKIRefused,
		}
		for _, why := range []string{p.RateRefused, p.MPKIRefused} {
			if why != "" {
				out.Refused = append(out.Refused, why)
			}
		}
		list = append(list, out)
	}
	return list
}

func newAttribution(t *branch.SampledTable) *Attribution {
	if t == nil {
		return nil
	}
	a := t.Attribution
	a.Unnamed = counts(a.Unnamed)
	return &a
}

// counts is a map that is never null.
func counts(m map[string]int64) map[string]int64 {
	if m == nil {
		return map[string]int64{}
	}
	return m
}

func newFunctions(t *branch.Table) []Function {
	list := []Function{}
	for i := range t.Functions() {
		f := &t.Functions()[i]
		out := Function{
			PMU: f.PMU, DSO: f.DSO, BuildID: f.BuildID, Function: f.Name, File: f.File, Line: f.Line,
			Misses: newAmount(&f.Misses, ""), Branches: newAmount(f.Branches, ""), Instructions: newAmount(f.Instructions, ""), Cycles: newAmount(f.Cycles, ""),
			MissShare: f.Share, Rate: newRatio(f.Rate), MPKI: newRatio(f.MPKI), Named: f.Named, Unnamed: counts(f.Unnamed), Enough: f.Enough,
		}
		if f.CyclesLost != nil {
			out.CyclesLost = f.CyclesLost[:]
		}
		list = append(list, out)
	}
	return list
}

func newBlock(b *branch.Block) Block {
	return Block{
		PMU: b.PMU, DSO: b.DSO, BuildID: b.BuildID, Function: b.Function, Start: fmt.Sprintf("%#x", b.Start), End: fmt.Sprintf("%#x", b.End),
		Misses: newAmount(&b.Misses, ""), Branches: newAmount(&b.Branches, ""), Rate: newRatio(b.Rate),
	}
}

// sampledBranch fills in what imprecise samples say of a branch.
func sampledBranch(out *Branch, b *branch.Branch) {
	out.PMU, out.Confidence = b.PMU, b.Known()
	s := b.Sampled
	if s == nil {
		return
	}
	out.MoreCandidates = s.MoreCandidates
	for i := range s.Candidates {
		c := &s.Candidates[i]
		out.Candidates = append(out.Candidates, Candidate{
			Address: fmt.Sprintf("%#x", c.Address), Kind: c.Kind, Function: c.Function, Offset: c.Offset,
			File: c.File, Line: c.Line, Part: c.Part, Grouped: c.Grouped,
		})
	}
	out.Sampled = s
	out.NTaken = nil
}

func newAdvice(a *branch.Advice) *Advice {
	if a == nil {
		return nil
	}
	out := *a
	out.Against = append([]string{}, a.Against...)
	return &out
}

func newListing(l *annotate.Listing, known bool, source func(file string) []string) *Listing {
	out := &Listing{Listing: l, Insts: make([]Inst, len(l.Insts))}
	files := make(map[string][]string)
	for i := range l.Insts {
		in := Inst{Inst: l.Insts[i]}
		for _, b := range in.Inst.Branches {
			in.Branches = append(in.Branches, newBranch(b, known))
		}
		for _, b := range in.Inst.Blocks {
			in.Blocks = append(in.Blocks, newBlock(b))
		}
		if len(in.Frames) > 0 && source != nil {
			in.Source = sourceLine(files, source, &in.Frames[0])
		}
		out.Insts[i] = in
	}
	return out
}

// sourceLine is the text of a line behind two spaces, "" if it is not known. files has the
// lines of those that were asked for.
func sourceLine(files map[string][]string, source func(file string) []string, f *symbolizer.Frame) string {
	if f.File == "" {
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
