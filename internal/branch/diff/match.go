package diff

import (
	"path"
	"slices"
	"strings"

	"profdiff/internal/align"
	"profdiff/internal/branch"
	"profdiff/internal/branch/code"
	"profdiff/internal/objects"
)

// A MatchKind says by what two branches were found to be the same.
type MatchKind string

// The kinds of matches, surest first.
const (
	NoMatch   MatchKind = ""
	ByAddress MatchKind = "address" // of the same build
	ByOffset  MatchKind = "offset"  // in a function whose branches are all where they were
	BySource  MatchKind = "line"    // of the source, and what is inlined there
	ByCode    MatchKind = "code"    // the instructions around them are the same
	ByOrder   MatchKind = "order"   // in a function without lines that has as many branches
)

// presence says whether a branch that was seen on one side is in the program of the
// other.
type presence uint8

const (
	unknownPresence presence = iota
	present                  // by its code
	sameBuild
	absent
)

// A matcher pairs the branches of two sides.
type matcher struct {
	base, head *side
	code       *code.Files // nil without binaries
	toHead     []int       // by row of base, -1 is none
	toBase     []int
	how        []MatchKind // by row of base
	// Of rows that have no match.
	basePresence, headPresence []presence
	groups                     []functionGroup
	// The group of each function, by side.
	groupOfBase, groupOfHead []int
}

// A functionGroup is a function in both sides, or what became several of one.
type functionGroup struct {
	base, head []int // functions
	reason     string
}

// match pairs the branches of two sides. Each is in one pair at most.
func match(base, head *side, code *code.Files, renames []align.Rename) (*matcher, error) {
	m := &matcher{
		base: base, head: head, code: code,
		toHead: make([]int, len(base.rows)), toBase: make([]int, len(head.rows)), how: make([]MatchKind, len(base.rows)),
		basePresence: make([]presence, len(base.rows)), headPresence: make([]presence, len(head.rows)),
	}
	for i := range m.toHead {
		m.toHead[i] = -1
	}
	for i := range m.toBase {
		m.toBase[i] = -1
	}
	if err := m.functions(renames); err != nil {
		return nil, err
	}
	m.sameBuilds()
	for i := range m.groups {
		g := &m.groups[i]
		if len(g.base) == 0 || len(g.head) == 0 {
			continue
		}
		m.byOffset(g)
		m.bySource(g, true)
		m.byCode(g)
		m.bySource(g, false)
		m.byOrder(g)
	}
	return m, nil
}

// functions finds the functions that are the same.
func (m *matcher) functions(renames []align.Rename) error {
	matches, err := align.Functions(m.base.functions, m.head.functions, align.Options{Renames: renames})
	if err != nil {
		return err
	}
	m.groupOfBase, m.groupOfHead = make([]int, len(m.base.functions)), make([]int, len(m.head.functions))
	for _, f := range matches {
		for len(m.groups) <= f.Group {
			m.groups = append(m.groups, functionGroup{})
		}
		g := &m.groups[f.Group]
		if f.Base >= 0 && !slices.Contains(g.base, f.Base) {
			g.base = append(g.base, f.Base)
			m.groupOfBase[f.Base] = f.Group
		}
		if f.Head >= 0 && !slices.Contains(g.head, f.Head) {
			g.head = append(g.head, f.Head)
			m.groupOfHead[f.Head] = f.Group
		}
		if f.Reason != "" {
			g.reason = f.Reason
		}
	}
	return nil
}

func (m *matcher) pair(base, head int, how MatchKind) {
	m.toHead[base], m.toBase[head], m.how[base] = head, base, how
}

// sameBuilds pairs branches of files that are the same.
func (m *matcher) sameBuilds() {
	at := make(map[buildAddress]int)
	builds := make(map[string]bool)
	for i := range m.head.rows {
		if r := &m.head.rows[i]; r.BuildID != "" && !r.ByLine {
			id := objects.TrimBuildID(r.BuildID)
			at[buildAddress{id, r.PMU, r.Address}] = i
			builds[id] = true
		}
	}
	seen := make(map[string]bool)
	for i := range m.base.rows {
		r := &m.base.rows[i]
		if r.BuildID == "" || r.ByLine {
			continue
		}
		id := objects.TrimBuildID(r.BuildID)
		seen[id] = true
		if h, ok := at[buildAddress{id, r.PMU, r.Address}]; ok && m.toBase[h] < 0 {
			m.pair(i, h, ByAddress)
		} else if builds[id] {
			m.basePresence[i] = sameBuild
		}
	}
	for i := range m.head.rows {
		if r := &m.head.rows[i]; m.toBase[i] < 0 && r.BuildID != "" && !r.ByLine && seen[objects.TrimBuildID(r.BuildID)] {
			m.headPresence[i] = sameBuild
		}
	}
}

type buildAddress struct {
	id, pmu string
	address uint64
}

// open lists the rows of functions that have no match yet and may have one.
func (m *matcher) open(s *side, functions, to []int, p []presence) (rows []int) {
	for _, f := range functions {
		for _, i := range s.ofFunction[f] {
			if to[i] < 0 && p[i] != present && p[i] != sameBuild {
				rows = append(rows, i)
			}
		}
	}
	return rows
}

func (m *matcher) openBase(g *functionGroup) []int {
	return m.open(m.base, g.base, m.toHead, m.basePresence)
}

func (m *matcher) openHead(g *functionGroup) []int {
	return m.open(m.head, g.head, m.toBase, m.headPresence)
}

// maxVotes is how many branches of a function say how far others have moved.
const maxVotes = 64

// voters are some of a list, evenly.
func voters(list []int) []int {
	if len(list) <= maxVotes {
		return list
	}
	some := make([]int, maxVotes)
	for i := range some {
		some[i] = list[i*len(list)/maxVotes]
	}
	return some
}

// elected is the value with most votes, of several the least far from 0.
func elected(votes map[int64]int) (value int64, n int) {
	distance := func(v int64) uint64 {
		if v < 0 {
			return -uint64(v)
		}
		return uint64(v)
	}
	for v, k := range votes {
		if k > n || k == n && (distance(v) < distance(value) || distance(v) == distance(value) && v < value) {
			value, n = v, k
		}
	}
	return value, n
}

type addressKind struct {
	address uint64
	kind    branch.Kind
	pmu     string
}

// byOffset pairs the branches of a function that has not changed: nearly all of those
// seen on both sides are as far from each other as they were, in addresses and in
// lines. One branch alone says this only by its offset in the function.
func (m *matcher) byOffset(g *functionGroup) {
	a, b := m.openBase(g), m.openHead(g)
	at := make(map[addressKind]int, len(b))
	for _, i := range b {
		if r := &m.head.rows[i]; !r.ByLine {
			at[addressKind{r.Address, r.Kind, r.PMU}] = i
		}
	}
	if len(at) == 0 {
		return
	}
	votes := make(map[int64]int)
	for _, i := range voters(a) {
		r := &m.base.rows[i]
		if r.ByLine {
			continue
		}
		for _, j := range b {
			if o := &m.head.rows[j]; o.Kind == r.Kind && !o.ByLine {
				votes[int64(o.Address-r.Address)]++
			}
		}
	}
	delta, _ := elected(votes)
	var pairs [][2]int
	shifts := make(map[string]int64) // by file
	for _, i := range a {
		r := &m.base.rows[i]
		j, ok := at[addressKind{r.Address + uint64(delta), r.Kind, r.PMU}]
		if !ok || r.ByLine {
			continue
		}
		o := &m.head.rows[j]
		shift, known := shifts[r.File]
		switch {
		case path.Base(r.File) != path.Base(o.File) || (r.Line == 0) != (o.Line == 0) || known && shift != o.Line-r.Line:
			return
		case !known:
			shifts[r.File] = o.Line - r.Line
		}
		pairs = append(pairs, [2]int{i, j})
	}
	n := min(len(a), len(b))
	switch {
	case len(pairs)*5 < n*4 || n == 0:
		return
	case len(pairs) == 1:
		r, o := &m.base.rows[pairs[0][0]], &m.head.rows[pairs[0][1]]
		if r.Offset == nil || o.Offset == nil || *r.Offset != *o.Offset {
			return
		}
	}
	for _, p := range pairs {
		m.pair(p[0], p[1], ByOffset)
	}
}

// sourceKey is the place of a branch in the source.
type sourceKey struct {
	file   string
	line   int64
	stack  string // of what is inlined
	kind   branch.Kind
	pmu    string
	byLine bool
}

func source(r *sideRow, shift int64) sourceKey {
	k := sourceKey{file: path.Base(r.File), line: r.Line + shift, kind: r.Kind, pmu: r.PMU, byLine: r.ByLine}
	if n := len(r.Inlined); n > 1 {
		var names []string
		for _, f := range r.Inlined[:n-1] {
			names = append(names, align.Normalize(f.Name))
		}
		k.stack = strings.Join(names, "\x00")
	}
	return k
}

// bySource pairs branches of the same source line. Lines may have moved as one, by an
// edit above them: at least two branches, and half of those there are, say how far.
// Of several branches of a line it is the first with the first; unless there are as
// many on both sides this is the last resort, even pairs only if so.
func (m *matcher) bySource(g *functionGroup, even bool) {
	a, b := m.openBase(g), m.openHead(g)
	shifts := m.shifts(a, b)
	at := make(map[sourceKey][]int)
	for _, j := range b {
		if r := &m.head.rows[j]; r.Line > 0 {
			k := source(r, 0)
			at[k] = append(at[k], j)
		}
	}
	if len(at) == 0 {
		return
	}
	from := make(map[sourceKey][]int)
	var keys []sourceKey
	for _, i := range a {
		r := &m.base.rows[i]
		k := source(r, shifts[path.Base(r.File)])
		if r.Line == 0 || len(at[k]) == 0 {
			continue
		}
		if len(from[k]) == 0 {
			keys = append(keys, k)
		}
		from[k] = append(from[k], i)
	}
	for _, k := range keys {
		if even && len(from[k]) != len(at[k]) {
			continue
		}
		// Where the code is known it has told which are gone.
		x, y := m.maybe(from[k], m.basePresence), m.maybe(at[k], m.headPresence)
		for n := range min(len(x), len(y)) {
			m.pair(x[n], y[n], BySource)
		}
	}
}

// maybe are the rows that the code does not say to be absent from the other side.
func (m *matcher) maybe(rows []int, p []presence) []int {
	return slices.DeleteFunc(slices.Clone(rows), func(i int) bool { return p[i] == absent })
}

// shifts says by file how far lines have moved.
func (m *matcher) shifts(a, b []int) map[string]int64 {
	type fileLine struct {
		key  sourceKey
		line int64
	}
	lines := make(map[sourceKey][]int64) // without the line
	count := make(map[string]int)
	for _, j := range b {
		if r := &m.head.rows[j]; r.Line > 0 {
			k := source(r, -r.Line)
			lines[k] = append(lines[k], r.Line)
			count[k.file]++
		}
	}
	votes := make(map[string]map[int64]int)
	seen := make(map[fileLine]bool)
	for _, i := range voters(a) {
		r := &m.base.rows[i]
		k := source(r, -r.Line)
		if r.Line == 0 || seen[fileLine{k, r.Line}] {
			continue
		}
		seen[fileLine{k, r.Line}] = true
		if votes[k.file] == nil {
			votes[k.file] = make(map[int64]int)
		}
		last := int64(0)
		for _, line := range lines[k] {
			if line != last { // of several branches of a line one votes
				votes[k.file][line-r.Line]++
				last = line
			}
		}
	}
	shifts := make(map[string]int64)
	for file, v := range votes {
		n := 0
		for f := range seen {
			if f.key.file == file {
				n++
			}
		}
		shift, k := elected(v)
		rivals := 0
		for _, other := range v {
			if other == k {
				rivals++
			}
		}
		if v[0] < k && k >= 2 && rivals == 1 && 2*k >= min(n, count[file]) {
			shifts[file] = shift
		}
	}
	return shifts
}

// byOrder pairs what is left of functions of which no lines are known, if there are as
// many branches of each kind and all that were executed are known.
func (m *matcher) byOrder(g *functionGroup) {
	if !m.base.tables[0].Counted() {
		return
	}
	a, b := m.openBase(g), m.openHead(g)
	if len(a) != len(b) {
		return
	}
	for n, i := range a {
		x, y := &m.base.rows[i], &m.head.rows[b[n]]
		if x.Line > 0 || y.Line > 0 || x.Function == "" || x.Kind != y.Kind || m.basePresence[i] == absent {
			return
		}
	}
	for n, i := range a {
		m.pair(i, b[n], ByOrder)
	}
}

// byCode pairs branches by the instructions of their functions, if the binaries of both
// sides are there. What has no counterpart in the code is absent from it.
func (m *matcher) byCode(g *functionGroup) {
	if m.code == nil {
		return
	}
	a, b := m.openBase(g), m.openHead(g)
	if len(a) == 0 && len(b) == 0 {
		return
	}
	// All rows of the group tell where the functions are.
	base, head := functionCode(m.code, m.base, g.base), functionCode(m.code, m.head, g.head)
	for _, f := range base {
		o := counterpart(f, base, head)
		if o == nil {
			continue
		}
		toHead := alignCode(f.code, o.code)
		m.pairCode(f, o, a, toHead)
		taken := make(map[uint64]bool)
		for _, to := range toHead {
			taken[to] = true
		}
		for _, j := range b {
			if r := &m.head.rows[j]; m.toBase[j] < 0 && o.has(r) {
				m.headPresence[j] = absent
				if taken[r.Address] {
					m.headPresence[j] = present
				}
			}
		}
	}
}

func (m *matcher) pairCode(f, o *codeOf, rows []int, toHead map[uint64]uint64) {
	at := make(map[addressKind]int)
	for _, j := range o.rows {
		h := &m.head.rows[j]
		at[addressKind{h.Address, "", h.PMU}] = j
	}
	for _, i := range rows {
		r := &m.base.rows[i]
		if !f.has(r) {
			continue
		}
		to, ok := toHead[r.Address]
		if !ok {
			m.basePresence[i] = absent
			continue
		}
		if j, seen := at[addressKind{to, "", r.PMU}]; seen && m.toBase[j] < 0 {
			m.pair(i, j, ByCode)
		} else if !seen {
			m.basePresence[i] = present
		}
	}
}

// counterpart is the function of the other side that f is to be compared with: the one
// of its name, or the only one.
func counterpart(f *codeOf, own, others []*codeOf) *codeOf {
	var found []*codeOf
	for _, o := range others {
		if align.Normalize(o.code.Name) == align.Normalize(f.code.Name) && f.code.Name != "" {
			found = append(found, o)
		}
	}
	switch {
	case len(found) == 1:
		return found[0]
	case len(found) == 0 && len(own) == 1 && len(others) == 1:
		return others[0]
	}
	return nil
}
