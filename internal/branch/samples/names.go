package samples

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"profdiff/internal/branch"
	"profdiff/internal/branch/code"
	"profdiff/internal/branch/estimate"
	"profdiff/internal/branch/events"
	"profdiff/internal/branch/skid"
	"profdiff/internal/disasm"
	"profdiff/internal/perfsession"
)

// A namer names the branches behind samples of misses.
type namer struct {
	*table
	at   *branch.Attribution
	sets []candidateSet

	rows  map[candidateKey]*candidateRow
	order []*candidateRow
	// executed are precise samples of branches.
	executed map[candidateKey]*estimate.Tally
}

// A candidateSet is the samples of one address, with what they may be of.
type candidateSet struct {
	placeOfMisses
	estimate.Tally
	list  []skid.Candidate
	named bool // the sample is at the branch
}

// A candidateKey is a branch as one PMU sees it.
type candidateKey struct {
	set    int
	walker *skid.Walker
	addr   uint64
}

// A candidateRow is a branch while samples are counted.
type candidateRow struct {
	candidateKey
	place int32 // of a sample
	kind  branch.Kind
	// only are samples without another candidate, any all samples in whose sets it is.
	only, any  estimate.Tally
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
func (n *namer) misses(key placeOfMisses, t estimate.Tally) {
	n.at.In += t.N
	l := n.locate(key.place)
	unnamed := func(reason string) {
		if !l.mapped {
			n.at.Unmapped += t.N
			return
		}
		n.at.Unnamed[reason] += t.N
		row := n.function(n.table.sets[key.set], key.place)
		if row.Unnamed == nil {
			row.Unnamed = make(map[string]int64)
		}
		row.Unnamed[reason] += t.N
	}
	if l.walker == nil {
		unnamed(l.unnamed)
		return
	}
	if key.exact {
		f, err := l.walker.Flow(l.addr)
		if err == nil {
			if i := f.Inst(l.addr); i >= 0 && f.Insts[i].Addr == l.addr && code.KindOf(&f.Insts[i]) != branch.UnknownKind {
				n.sets = append(n.sets, candidateSet{key, t, []skid.Candidate{{Address: l.addr, Kind: code.KindOf(&f.Insts[i]), Part: 1, Function: f.Function}}, true})
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
	var lists [][]skid.Candidate
	var weights []float64
	for i := range n.sets {
		if s := &n.sets[i]; !s.named {
			lists, weights = append(lists, s.list), append(weights, float64(s.N))
		}
	}
	if len(lists) > 0 {
		skid := skid.Learn(lists, weights)
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
	n.executed = make(map[candidateKey]*estimate.Tally)
	for _, s := range n.table.sets {
		attr := s.Attrs[events.Branches]
		if attr < 0 || n.File.Attrs[attr].Flags.PreciseIP() < 2 {
			continue
		}
		for _, at := range n.of(attr) {
			l := n.locate(at.place)
			if l.walker == nil {
				continue
			}
			key := candidateKey{s.index, l.walker, l.addr}
			if n.executed[key] == nil {
				n.executed[key] = new(estimate.Tally)
			}
			n.executed[key].Add(float64(at.weight))
		}
	}
}

// rate fills in the rate of a branch of which misses and executions were sampled
// precisely.
func (n *namer) rate(b *branch.Branch, r *candidateRow, s *roleSet) {
	executed := n.executed[r.candidateKey]
	if !r.exact || executed == nil || s.k[events.Branches] == 0 {
		return
	}
	of := executed.Scaled(s.k[events.Branches])
	b.Executed, b.N = new(of.Sum), of.N
	ratio := estimate.RatioOf(r.any.Scaled(s.k[events.Misses]), of, 1)
	if s.refused[events.Branches] != "" || !ratio.Enough() || ratio.Value == nil {
		return
	}
	b.Rate = &branch.Rate{Value: ratio.Value, Bounds: [2]float64{*ratio.Value, *ratio.Value}, CI: *ratio.CI, Method: branch.AllSeen}
}

func (n *namer) count(index uint64, s *candidateSet) {
	n.at.Named += s.N
	if s.named {
		n.at.Exact += s.N
	}
	n.function(n.table.sets[s.set], s.place).Named += s.N
	walker := n.locate(s.place).walker
	confidence := skid.Confide(s.list)
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
		row.any.Merge(s.Tally)
		if len(s.list) == 1 {
			row.only.Merge(s.Tally)
		}
		row.part += c.Part * s.Sum
		row.samples += c.Part * float64(s.N)
		row.exact = row.exact && s.named
		of := branch.Low
		if i == 0 {
			of = confidence
		}
		row.confidence[of.Rank()] += c.Part * s.Sum
		row.sets = strconv.AppendUint(append(row.sets, ' '), index, 36)
	}
	for i, r := range rows {
		for k, o := range rows {
			if i != k {
				r.others[o] += s.list[k].Part * s.Sum
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
func (n *namer) branch(r *candidateRow) branch.Branch {
	s := n.table.sets[r.set]
	first := r.group[0]
	k := s.k[events.Misses]
	b := branch.Branch{Place: n.place(first.candidateKey, r.place), Kind: first.kind, PMU: s.PMU, Loss: branch.Loss{Cost: s.cost}}
	counts := &branch.SampledCounts{}
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
			b.Kind = branch.UnknownKind
		}
	}
	counts.Exclusive, counts.ExclusiveSamples = k*r.only.Sum, r.only.N
	counts.Shared, counts.SharedSamples = k*(part-r.only.Sum), r.any.N-r.only.N
	b.Sampled = counts
	b.Misses = new(k * part)
	b.Samples, b.NMisses = r.any.N, int64(samples+1e-9)
	b.Enough = b.NMisses >= branch.MinMisses
	// The interval holds that all samples in common are of this branch, or none.
	low, high := r.only.Scaled(k).Amount(), r.any.Scaled(k).Amount()
	b.MissesCI = &[2]float64{low.CI[0], high.CI[1]}
	if r.only.N == 0 {
		b.MissesCI[0] = 0
	}
	if all := s.totals.Misses; all != nil && all.Value > 0 {
		b.MissShare = new(*b.Misses / all.Value)
	}
	if i := s.totals.Instructions; i != nil && i.Value > 0 && s.refused[events.Instructions] == "" && b.Enough {
		of := s.tallies[events.Instructions].Scaled(s.k[events.Instructions])
		e := branch.Estimate{Value: 1000 * *b.Misses / i.Value}
		if lo := estimate.RatioOf(r.only.Scaled(k), of, 1000); lo != nil && r.only.N > 0 {
			e.Lo = lo.CI[0]
		}
		if hi := estimate.RatioOf(r.any.Scaled(k), of, 1000); hi != nil {
			e.Hi = hi.CI[1]
			b.MPKI = &e
		}
	}
	if b.Enough {
		var cycles *float64
		if c := s.totals.Cycles; c != nil {
			cycles = &c.Value
		}
		b.Lose(branch.Estimate{Value: *b.Misses, Lo: b.MissesCI[0], Hi: b.MissesCI[1]}, cycles)
	}
	b.Sampled.Confidence = n.confidence(r, confidence, part)
	n.rate(&b, r, s)
	n.candidates(&b, r, others)
	return b
}

// confidence is what at least half of the misses of a row have.
func (n *namer) confidence(r *candidateRow, weights [3]float64, all float64) branch.Confidence {
	if r.exact {
		return branch.Exact
	}
	sum := 0.0
	for _, c := range []branch.Confidence{branch.High, branch.Medium} {
		sum += weights[c.Rank()]
		if 2*sum < all {
			continue
		}
		if c == branch.High && len(r.group) > 1 {
			return branch.Medium
		}
		return c
	}
	return branch.Low
}

// maxCandidates is how many other branches a row names.
const maxCandidates = 8

// candidates names the branches that a row may be instead, the likeliest first.
func (n *namer) candidates(b *branch.Branch, r *candidateRow, others map[*candidateRow]float64) {
	list := slices.SortedFunc(maps.Keys(others), func(x, y *candidateRow) int {
		return cmp.Or(-cmp.Compare(others[x], others[y]), cmp.Compare(x.addr, y.addr))
	})
	list = slices.DeleteFunc(list, func(m *candidateRow) bool { return m == r.group[0] })
	b.Sampled.MoreCandidates = max(0, len(list)-maxCandidates)
	for _, m := range list[:min(len(list), maxCandidates)] {
		b.Sampled.Candidates = append(b.Sampled.Candidates, branch.RowCandidate{
			Place: n.place(m.candidateKey, r.place), Kind: m.kind,
			Part: others[m] / r.any.Sum, Grouped: slices.Contains(r.group, m),
		})
	}
}

// place fills in where a branch is, given a place in the same file.
func (n *namer) place(key candidateKey, near int32) branch.Place {
	l, p := n.locate(near), &n.s.places[near]
	m := p.frame.Map
	addr := p.frame.Addr + (key.addr - l.addr)
	at := branch.Place{DSO: l.dso, BuildID: l.buildID, Address: l.vaddr + (key.addr - l.addr)}
	if n.Symbolizer == nil || addr < m.Start || addr >= m.End {
		return at
	}
	sym := n.Symbolizer.Symbolize(perfsession.Frame{Addr: addr, Map: m}, n.Kernel, 0)
	at.SetSymbol(&sym)
	return at
}

// A blockKey is a basic block as one PMU sees it.
type blockKey struct {
	set    int
	walker *skid.Walker
	start  uint64
}

// blocks counts samples by basic block.
func (f *table) blocks() {
	type counted struct {
		place            int32
		end              uint64
		misses, branches estimate.Tally
	}
	rows := make(map[blockKey]*counted)
	var order []blockKey
	row := func(s *roleSet, place int32, add bool) *counted {
		l := f.locate(place)
		if l.walker == nil {
			return nil
		}
		fn, err := l.walker.Flow(l.addr)
		if err != nil {
			return nil
		}
		i := fn.Inst(l.addr)
		if i < 0 || fn.Block[i] < 0 {
			return nil
		}
		b := &fn.Blocks[fn.Block[i]]
		key := blockKey{s.index, l.walker, fn.Insts[b.First].Addr}
		if rows[key] == nil && add {
			c := &counted{place: place, end: fn.Insts[b.End-1].Next()}
			c.misses.Unitless = s.tallies[events.Misses].Unit()
			c.branches.Unitless = s.tallies[events.Branches].Unit()
			rows[key] = c
			order = append(order, key)
		}
		return rows[key]
	}
	for _, s := range f.sets {
		for _, at := range f.of(s.Attrs[events.Misses]) {
			if c := row(s, at.place, true); c != nil {
				c.misses.Add(float64(at.weight))
			}
		}
		if s.Attrs[events.Branches] < 0 {
			continue
		}
		for _, at := range f.of(s.Attrs[events.Branches]) {
			if c := row(s, at.place, false); c != nil {
				c.branches.Add(float64(at.weight))
			}
		}
	}
	for _, key := range order {
		c, s := rows[key], f.sets[key.set]
		l := f.locate(c.place)
		delta := l.vaddr - l.addr
		b := branch.Block{
			PMU: s.PMU, DSO: l.dso, BuildID: l.buildID, Function: l.name, Start: key.start + delta, End: c.end + delta,
			Misses: c.misses.Scaled(s.k[events.Misses]).Amount(), Branches: c.branches.Scaled(s.k[events.Branches]).Amount(),
		}
		if s.k[events.Branches] > 0 && s.refused[events.Branches] == "" {
			if r := estimate.RatioOf(c.misses.Scaled(s.k[events.Misses]), c.branches.Scaled(s.k[events.Branches]), 1); r.Enough() {
				b.Rate = r
			}
		}
		f.t.Sampled.Blocks = append(f.t.Sampled.Blocks, b)
	}
	slices.SortFunc(f.t.Sampled.Blocks, func(a, b branch.Block) int {
		return cmp.Or(-cmp.Compare(a.Misses.Value, b.Misses.Value), cmp.Compare(a.DSO, b.DSO), cmp.Compare(a.BuildID, b.BuildID), cmp.Compare(a.Start, b.Start), cmp.Compare(a.PMU, b.PMU))
	})
}
