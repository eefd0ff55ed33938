package waits

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"profdiff/internal/report/text"
	"profdiff/internal/wait"
)

// A Comparison is who waited for whom on both sides.
type Comparison struct {
	Chains  []Change `json:"chains"`
	Regions []Change `json:"regions"`
}

// A Change is how long was waited on both sides. In Comparison.Chains it is of a chain or a deadlock, in words: places may
// differ between the sides, the threads are the same. In Comparison.Regions it is of all waits for what a rule names.
type Change struct {
	Of   string `json:"of"`
	Base Side   `json:"base"`
	Head Side   `json:"head"`
	// Links are the threads of a chain, none of a region, and how each waits for the next.
	Links  []wait.Link `json:"-"`
	weight float64
}

// A Side is how long was waited on one side, in all its runs.
type Side struct {
	wait.Sum
	// Unknown are waits for the same, or of a chain for nobody knows what, of which the side does not tell who had it.
	Unknown wait.Sum `json:"unknown"`
	// Known is false if there is no such chain but Unknown, of which it may have been, or nothing that tells of waits.
	Known bool `json:"known"`
	text  string
}

// String is how long was waited in a run, or in how many dumps.
func (s *Side) String() string { return s.text }

// Longest are the longest waits on both sides, "" if times are not known.
func (c *Change) Longest() string {
	if c.Base.TotalNS+c.Head.TotalNS == 0 {
		return ""
	}
	return c.Base.longest() + " → " + c.Head.longest()
}

func (s *Side) longest() string {
	switch {
	case s.Count > 0:
		return duration(s.LongestNS)
	case !s.Known:
		return "not known"
	}
	return "none"
}

// Unknown is how much of the waits for a region is of a holder that is not known, on both sides.
func (c *Change) Unknown() string {
	return unknownOf(&c.Base) + " → " + unknownOf(&c.Head)
}

func unknownOf(s *Side) string {
	switch {
	case !s.Known:
		return "-"
	case s.Unknown.Count == 0:
		return "none"
	case s.Unknown.Count == s.Count:
		return "all"
	}
	return text.Share(float64(s.Unknown.TotalNS), float64(s.TotalNS))
}

// deadlock is in front of the threads of one.
const deadlock = "deadlock: "

// Per says what numbers of Compare are of.
func Per(base, head *wait.Report) string {
	if dumps(base)+dumps(head) > 0 {
		return "in dumps"
	}
	return "time in a run"
}

func dumps(r *wait.Report) int {
	if r == nil {
		return 0
	}
	return r.Dumps
}

// A compared chain is one on both sides while it is summed up.
type compared struct {
	sides [2]wait.Sum
	links []wait.Link     // where most was waited
	rules map[string]bool // by which its threads wait, "" for locks that the input names
}

// Compare lists who waited for whom on both sides, what was waited longest first, as far as it matters, and how long
// for what. Times in words are divided by the number of runs. Either report may be nil.
func Compare(base, head *wait.Report, runsBase, runsHead int) *Comparison {
	known := make(map[string]*compared)
	var order []string
	add := func(side int, names string, links []wait.Link, s *wait.Sum) {
		if known[names] == nil {
			known[names] = &compared{links: links, rules: make(map[string]bool)}
			order = append(order, names)
		}
		known[names].sides[side].Add(s)
		for i := range links {
			if e := links[i].Evidence; e != wait.NoEvidence && e != wait.Woke {
				known[names].rules[links[i].Rule] = true
			}
		}
	}
	if dumps(base)+dumps(head) > 0 { // where nobody waits in a dump, that is known
		base, head = cmp.Or(base, new(wait.Report)), cmp.Or(head, new(wait.Report))
	}
	reports, runs := []*wait.Report{base, head}, []int{runsBase, runsHead}
	for side, r := range reports {
		if r == nil {
			continue
		}
		for i := range r.Cycles {
			c := &r.Cycles[i]
			add(side, deadlock+names(c.Links, c.Threads, true), c.Links, &c.Sum)
		}
		for i := range r.Chains {
			if c := &r.Chains[i]; !c.Cycle {
				add(side, names(c.Links, c.Threads, false), c.Links, &c.Sum)
			}
		}
	}
	all := &Comparison{Chains: []Change{}, Regions: compareRegions(reports, runs)}
	for _, name := range order {
		k := known[name]
		if !strings.HasPrefix(name, deadlock) && (base == nil || !base.Matters(&k.sides[0])) && (head == nil || !head.Matters(&k.sides[1])) {
			continue
		}
		c := Change{Of: name, Links: k.links}
		for side, to := range []*Side{&c.Base, &c.Head} {
			*to = sideOf(reports[side], &k.sides[side], runs[side])
			c.weight = max(c.weight, weight(reports[side], &k.sides[side], runs[side]))
		}
		for side, to := range []*Side{&c.Base, &c.Head} {
			to.lookFor(reports[side], k, c.weight, runs[side])
		}
		all.Chains = append(all.Chains, c)
	}
	sortChanges(all.Chains)
	return all
}

func sortChanges(list []Change) {
	slices.SortStableFunc(list, func(x, y Change) int {
		return cmp.Or(-cmp.Compare(x.weight, y.weight), -cmp.Compare(strings.Count(x.Of, Arrow), strings.Count(y.Of, Arrow)))
	})
}

// lookFor says of a side without a chain whether it may have been there: among waits for the same of
// which who had it is not known, unless these are next to nothing compared to the chain, which took a weight.
func (s *Side) lookFor(r *wait.Report, k *compared, chain float64, runs int) {
	if r == nil || s.Count > 0 || r.Dumps > 0 {
		return
	}
	if k.rules[""] {
		s.Unknown.Add(&r.Unknown)
	}
	for i := range r.Wanted {
		if x := &r.Wanted[i]; k.rules[x.Rule] {
			s.Unknown.Add(&x.Unknown)
		}
	}
	s.Unknown.Add(&r.Unnamed)
	if w := weight(r, &s.Unknown, runs); w > 0 && w >= little*chain {
		s.Known, s.text = false, fmt.Sprintf("not known (%s)", duration(int64(w)))
	}
}

// compareRegions lists how long threads waited for what the rules name, whoever had it.
func compareRegions(reports []*wait.Report, runs []int) []Change {
	type region struct{ rule, name string }
	known := make(map[region]*Change)
	var order []region
	matters := make(map[region]bool)
	var most float64
	for side, r := range reports {
		if r == nil || r.Dumps > 0 {
			continue
		}
		for i := range r.Wanted {
			x := &r.Wanted[i]
			k := region{x.Rule, x.Region}
			if known[k] == nil {
				known[k] = &Change{Of: named(x.Region, x.Rule)}
				order = append(order, k)
				for i, to := range []*Side{&known[k].Base, &known[k].Head} {
					*to = sideOf(reports[i], new(wait.Sum), runs[i])
				}
			}
			c := known[k]
			to := []*Side{&c.Base, &c.Head}[side]
			*to = sideOf(r, &x.Sum, runs[side])
			to.Unknown = x.Unknown
			c.weight = max(c.weight, weight(r, &x.Sum, runs[side]))
			most = max(most, c.weight)
			matters[k] = matters[k] || r.Matters(&x.Sum)
		}
	}
	list := []Change{}
	for _, k := range order {
		if matters[k] && known[k].weight >= little*most {
			list = append(list, *known[k])
		}
	}
	sortChanges(list)
	return list
}

// names draws the threads of a chain in a line.
func names(links []wait.Link, all int, cycle bool) string {
	d := Drawing{Deadlock: cycle}
	d.Threads, d.More = drawLinks(links, all, nil, 0)
	return strings.Join(d.Names(), Arrow)
}

// sideOf is how long was waited in a run, or in how many dumps.
func sideOf(r *wait.Report, s *wait.Sum, runs int) Side {
	side := Side{Sum: *s, Known: true}
	switch {
	case r == nil:
		side.Known, side.text = false, "not known"
	case s.Count == 0:
		side.text = "none"
	case r.Dumps > 0:
		side.text = fmt.Sprintf("%d of %d", s.Count, r.Dumps)
	default:
		side.text = duration(int64(weight(r, s, runs)))
	}
	return side
}

// weight is how long was waited in a run, or in which share of the dumps.
func weight(r *wait.Report, s *wait.Sum, runs int) float64 {
	switch {
	case s.Count == 0:
		return 0
	case r.Dumps > 0:
		return float64(s.Count) / float64(r.Dumps)
	}
	return float64(s.TotalNS) / float64(max(1, runs))
}

// NotKnown says what it is that both sides of a comparison call so.
const NotKnown = "not known: threads waited for the same, or for locks that stacks do not name, as long as the brackets say, and nothing tells who had them"
