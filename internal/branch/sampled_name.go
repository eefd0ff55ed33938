package branch

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"profdiff/internal/disasm"
	"profdiff/internal/perfsession"
)

// A namer names the branches behind samples of misses.
type namer struct {
	*sampledTable
	at   *Attribution
	sets []candidateSet

	rows  map[candidateKey]*candidateRow
	order []*candidateRow
	// executed are precise samples of branches.
	executed map[candidateKey]*tally
}

// A candidateSet is the samples of one address, with what they may be of.
type candidateSet struct {
	placeOfMisses
	tally
	list  []Candidate
	named bool // the sample is at the branch
}

// A candidateKey is a branch as one PMU sees it.
type candidateKey struct {
	set    int
	walker *Walker
	addr   uint64
}

// A candidateRow is a branch while samples are counted.
type candidateRow struct {
	candidateKey
	place int32 // of a sample
	kind  Kind
	// only are samples without another candidate, any all samples in whose sets it is.
	only, any  tally
	part       float64 // weight, by how likely it is
	samples    float64 // likewise
	confidence [3]float64
	exact      bool
	others     map[*candidateRow]float64 // by the weight of the samples in common
	sets       []byte                    // those it is in, as a key
	group      []*candidateRow
	function   *disasm.Function
	grouped    bool
}

// misses notes the samples of misses at one address.
func (n *namer) misses(key placeOfMisses, t tally) {
	n.at.In += t.n
	l := n.locate(key.place)
	unnamed := func(reason string) {
		if !l.mapped {
			n.at.Unmapped += t.n
			return
		}
		n.at.Unnamed[reason] += t.n
		row := n.function(n.sampledTable.sets[key.set], key.place)
		if row.Unnamed == nil {
			row.Unnamed = make(map[string]int64)
		}
		row.Unnamed[reason] += t.n
	}
	if l.walker == nil {
		unnamed(l.unnamed)
		return
	}
	if key.exact {
		f, err := l.walker.function(l.addr)
		if err == nil {
			if i := f.Inst(l.addr); i >= 0 && f.Insts[i].Addr == l.addr && kindOf(&f.Insts[i]) != UnknownKind {
				n.sets = append(n.sets, candidateSet{key, t, []Candidate{{Address: l.addr, Kind: kindOf(&f.Insts[i]), Part: 1, Function: f.Function}}, true})
				return
			}
		}
		unnamed("not at a branch, though precise")
		return
	}
	list, err := l.walker.Walk(l.addr)
	switch {
	case err != nil:
		unnamed("no instruction there")
	case len(list) == 0:
		unnamed("no branch within 8 instructions before")
	default:
		n.sets = append(n.sets, candidateSet{key, t, list, false})
	}
}

// finish ranks candidates and makes the rows of branches.
func (n *namer) finish() {
	var lists [][]Candidate
	var weights []float64
	for i := range n.sets {
		if s := &n.sets[i]; !s.named {
			lists, weights = append(lists, s.list), append(weights, float64(s.n))
		}
	}
	if len(lists) > 0 {
		skid := LearnSkid(lists, weights)
		n.at.Skid = skid[:]
		for i := range n.sets {
			if s := &n.sets[i]; !s.named {
				s.list = skid.Rank(s.list)
			}
		}
	}
	n.rows = make(map[candidateKey]*candidateRow)
	n.executions()
	for i := range n.sets {
		n.count(uint64(i), &n.sets[i])
	}
	n.group()
	for _, r := range n.order {
		if !r.grouped {
			n.t.Branches = append(n.t.Branches, n.branch(r))
		}
	}
	orderRows(n.t.Branches)
}

// executions counts precise samples of branches, for rates of single ones.
func (n *namer) executions() {
	n.executed = make(map[candidateKey]*tally)
	for _, s := range n.sampledTable.sets {
		attr := s.attrs[roleBranches]
		if attr < 0 || n.file.Attrs[attr].Flags.PreciseIP() < 2 {
			continue
		}
		n.kept(attr, func(at *sampledAt) {
			l := n.locate(at.place)
			if l.walker == nil {
				return
			}
			key := candidateKey{s.index, l.walker, l.addr}
			if n.executed[key] == nil {
				n.executed[key] = new(tally)
			}
			n.executed[key].add(float64(at.weight))
		})
	}
}

// rate fills in the rate of a branch of which misses and executions were sampled
// precisely.
func (n *namer) rate(b *Branch, r *candidateRow, s *roleSet) {
	executed := n.executed[r.candidateKey]
	if !r.exact || executed == nil || s.k[roleBranches] == 0 {
		return
	}
	of := executed.scaled(s.k[roleBranches])
	b.Executed, b.N = new(of.sum), of.n
	ratio := ratioOf(r.any.scaled(s.k[roleMisses]), of, 1)
	if s.refused[roleBranches] != "" || !ratio.enough() || ratio.Value == nil {
		return
	}
	b.Rate = &Rate{Value: ratio.Value, Bounds: [2]float64{*ratio.Value, *ratio.Value}, CI: *ratio.CI, Method: AllSeen}
}

func (n *namer) count(index uint64, s *candidateSet) {
	n.at.Named += s.n
	if s.named {
		n.at.Exact += s.n
	}
	n.function(n.sampledTable.sets[s.set], s.place).Named += s.n
	walker := n.locate(s.place).walker
	confidence := Confide(s.list)
	var rows []*candidateRow
	for i := range s.list {
		c := &s.list[i]
		key := candidateKey{s.set, walker, c.Address}
		row := n.rows[key]
		if row == nil {
			row = &candidateRow{candidateKey: key, place: s.place, kind: c.Kind, exact: true, others: make(map[*candidateRow]float64), function: c.Function}
			n.rows[key] = row
			n.order = append(n.order, row)
		}
		rows = append(rows, row)
		row.any.merge(s.tally)
		if len(s.list) == 1 {
			row.only.merge(s.tally)
		}
		row.part += c.Part * s.sum
		row.samples += c.Part * float64(s.n)
		row.exact = row.exact && s.named
		of := Low
		if i == 0 {
			of = confidence
		}
		row.confidence[of.Rank()] += c.Part * s.sum
		row.sets = strconv.AppendUint(append(row.sets, ' '), index, 36)
	}
	for i, r := range rows {
		for k, o := range rows {
			if i != k {
				r.others[o] += s.list[k].Part * s.sum
			}
		}
	}
}

// group joins branches that are candidates of the same samples only: these cannot be
// told apart.
func (n *namer) group() {
	bySets := make(map[string]*candidateRow)
	for _, r := range n.order {
		first, ok := bySets[string(r.sets)]
		if !ok {
			bySets[string(r.sets)] = r
			r.group = []*candidateRow{r}
			continue
		}
		first.group = append(first.group, r)
		r.grouped = true
	}
	for _, r := range n.order {
		if r.grouped {
			continue
		}
		slices.SortStableFunc(r.group, func(a, b *candidateRow) int { return cmp.Or(-cmp.Compare(a.part, b.part), cmp.Compare(a.addr, b.addr)) })
	}
}

// branch makes the row of a group of branches, mostly one.
func (n *namer) branch(r *candidateRow) Branch {
	s := n.sampledTable.sets[r.set]
	first := r.group[0]
	k := s.k[roleMisses]
	b := n.place(first.candidateKey, r.place)
	b.Kind, b.PMU, b.Cost = first.kind, s.pmu, s.cost
	counts := &SampledCounts{}
	var part, samples float64
	var confidence [3]float64
	others := make(map[*candidateRow]float64)
	for _, m := range r.group {
		part += m.part
		samples += m.samples
		for i, w := range m.confidence {
			confidence[i] += w
		}
		maps.Copy(others, m.others)
		if m.kind != b.Kind {
			b.Kind = UnknownKind
		}
	}
	counts.Exclusive, counts.ExclusiveSamples = k*r.only.sum, r.only.n
	counts.Shared, counts.SharedSamples = k*(part-r.only.sum), r.any.n-r.only.n
	b.Sampled = counts
	b.Misses = new(k * part)
	b.Samples, b.NMisses = r.any.n, int64(samples+1e-9)
	b.Enough = b.NMisses >= MinMisses
	// The interval holds that all samples in common are of this branch, or none.
	low, high := r.only.scaled(k).amount(), r.any.scaled(k).amount()
	b.MissesCI = &[2]float64{low.CI[0], high.CI[1]}
	if r.only.n == 0 {
		b.MissesCI[0] = 0
	}
	if all := s.totals.Misses; all != nil && all.Value > 0 {
		b.MissShare = new(*b.Misses / all.Value)
	}
	if i := s.totals.Instructions; i != nil && i.Value > 0 && s.refused[roleInstructions] == "" && b.Enough {
		of := s.tallies[roleInstructions].scaled(s.k[roleInstructions])
		e := Estimate{Value: 1000 * *b.Misses / i.Value}
		if lo := ratioOf(r.only.scaled(k), of, 1000); lo != nil && r.only.n > 0 {
			e.Lo = lo.CI[0]
		}
		if hi := ratioOf(r.any.scaled(k), of, 1000); hi != nil {
			e.Hi = hi.CI[1]
			b.MPKI = &e
		}
	}
	if s.cost != nil && b.Enough {
		b.CyclesLost = &[2]float64{b.MissesCI[0] * s.cost.Lo, b.MissesCI[1] * s.cost.Hi}
		b.centre = *b.Misses * s.cost.Centre
		if c := s.totals.Cycles; c != nil && c.Value > 0 {
			b.Share = new(b.centre / c.Value)
		}
	}
	b.Confidence = n.confidence(r, confidence, part)
	n.rate(&b, r, s)
	n.candidates(&b, r, others)
	return b
}

// confidence is what at least half of the misses of a row have.
func (n *namer) confidence(r *candidateRow, weights [3]float64, all float64) Confidence {
	if r.exact {
		return Exact
	}
	sum := 0.0
	for _, c := range []Confidence{High, Medium} {
		sum += weights[c.Rank()]
		if 2*sum < all {
			continue
		}
		if c == High && len(r.group) > 1 {
			return Medium
		}
		return c
	}
	return Low
}

// maxCandidates is how many other branches a row names.
const maxCandidates = 8

// candidates names the branches that a row may be instead, the likeliest first.
func (n *namer) candidates(b *Branch, r *candidateRow, others map[*candidateRow]float64) {
	list := slices.SortedFunc(maps.Keys(others), func(x, y *candidateRow) int {
		return cmp.Or(-cmp.Compare(others[x], others[y]), cmp.Compare(x.addr, y.addr))
	})
	list = slices.DeleteFunc(list, func(m *candidateRow) bool { return m == r.group[0] })
	b.MoreCandidates = max(0, len(list)-maxCandidates)
	for _, m := range list[:min(len(list), maxCandidates)] {
		at := n.place(m.candidateKey, r.place)
		b.Candidates = append(b.Candidates, RowCandidate{
			Address: at.Address, Kind: m.kind, Function: at.Function, Offset: at.Offset, File: at.File, Line: at.Line,
			Part: others[m] / r.any.sum, Grouped: slices.Contains(r.group, m),
		})
	}
}

// place fills in where a branch is, given a place in the same file.
func (n *namer) place(key candidateKey, near int32) Branch {
	l, p := n.locate(near), &n.s.places[near]
	m := p.frame.Map
	addr := p.frame.Addr + (key.addr - l.addr)
	b := Branch{DSO: l.dso, BuildID: l.buildID, Address: l.vaddr + (key.addr - l.addr), runtime: addr, rel: p.key.rel + (key.addr - l.addr)}
	if n.z == nil || addr < m.Start || addr >= m.End {
		return b
	}
	sym := n.z.Symbolize(perfsession.Frame{Addr: addr, Map: m}, n.kernel, 0)
	b.named(&sym)
	return b
}

// A blockKey is a basic block as one PMU sees it.
type blockKey struct {
	set    int
	walker *Walker
	start  uint64
}

// blocks counts samples by basic block.
func (f *sampledTable) blocks() {
	type counted struct {
		place            int32
		end              uint64
		misses, branches tally
	}
	rows := make(map[blockKey]*counted)
	var order []blockKey
	row := func(s *roleSet, place int32, add bool) *counted {
		l := f.locate(place)
		if l.walker == nil {
			return nil
		}
		fn, err := l.walker.function(l.addr)
		if err != nil {
			return nil
		}
		i := fn.Inst(l.addr)
		if i < 0 || fn.block[i] < 0 {
			return nil
		}
		b := &fn.Blocks[fn.block[i]]
		key := blockKey{s.index, l.walker, fn.Insts[b.First].Addr}
		if rows[key] == nil && add {
			c := &counted{place: place, end: fn.Insts[b.End-1].Next()}
			c.misses.unitless = s.tallies[roleMisses].unit()
			c.branches.unitless = s.tallies[roleBranches].unit()
			rows[key] = c
			order = append(order, key)
		}
		return rows[key]
	}
	for _, s := range f.sets {
		f.kept(s.attrs[roleMisses], func(at *sampledAt) {
			if c := row(s, at.place, true); c != nil {
				c.misses.add(float64(at.weight))
			}
		})
		if s.attrs[roleBranches] < 0 {
			continue
		}
		f.kept(s.attrs[roleBranches], func(at *sampledAt) {
			if c := row(s, at.place, false); c != nil {
				c.branches.add(float64(at.weight))
			}
		})
	}
	for _, key := range order {
		c, s := rows[key], f.sets[key.set]
		l := f.locate(c.place)
		delta := l.vaddr - l.addr
		b := Block{
			PMU: s.pmu, DSO: l.dso, BuildID: l.buildID, Function: l.name, Start: key.start + delta, End: c.end + delta,
			Misses: c.misses.scaled(s.k[roleMisses]).amount(), Branches: c.branches.scaled(s.k[roleBranches]).amount(),
		}
		if s.k[roleBranches] > 0 && s.refused[roleBranches] == "" {
			if r := ratioOf(c.misses.scaled(s.k[roleMisses]), c.branches.scaled(s.k[roleBranches]), 1); r.enough() {
				b.Rate = r
			}
		}
		f.t.Blocks = append(f.t.Blocks, b)
	}
	slices.SortFunc(f.t.Blocks, func(a, b Block) int {
		return cmp.Or(-cmp.Compare(a.Misses.Value, b.Misses.Value), cmp.Compare(a.DSO, b.DSO), cmp.Compare(a.BuildID, b.BuildID), cmp.Compare(a.Start, b.Start), cmp.Compare(a.PMU, b.PMU))
	})
}
