package diff

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"profdiff/internal/compare"
	"profdiff/internal/source"
)

// Sources are the text of functions, of both sides beside each other.
type Sources struct {
	// Base and Head say whose text it is, "" if the side has none.
	Base, Head string
	Functions  []SourceFunction
	// LeftOut is how many functions with text there are beside these.
	LeftOut int
	// Notes say what was not checked, and what is not shown.
	Notes []string
}

// A SourceFunction is the text of a function, and some lines around it. Of long functions, what is
// far from lines with cost is left out, and if it is much, what changed there, too.
type SourceFunction struct {
	Name, DSO string // as in [Function]
	// BaseFile and HeadFile are below the root of the side, "" if its text is not there.
	BaseFile, HeadFile string
	Rows               []source.Row
	// Withheld says why the text of a side is not there, "" if it is, or if there is no file.
	Withheld string
}

// Limits of source text.
const (
	maxSourceFunctions = 60
	maxSourceRows      = 5000    // in all
	maxSourceText      = 500_000 // bytes in all
	maxFunctionRows    = 160     // of a function; of a longer one, what is far from all else is left out
	aroundFunction     = 3       // lines
	aroundLine         = 5       // lines, in a long function
	maxNames           = 4       // of files, in a note
)

// sources are the functions with the heaviest lines, of all events: those that were decided
// first.
func (b *builder) sources(sides *source.Sides, list []*sourceCandidate) *Sources {
	if !sides.Any() {
		return nil
	}
	s := sourceBuilder{
		Sources: &Sources{}, trees: [2]*source.Tree{sides.Base, sides.Head}, beside: make(map[[2]string][]source.Row),
	}
	for i, t := range s.trees {
		s.noted[i].unchecked, s.noted[i].missing = make(map[string]bool), make(map[string]bool)
		if t != nil {
			*[]*string{&s.Base, &s.Head}[i] = t.Title
		}
	}
	b.addListed(list)
	rows, size := 0, 0
	for _, x := range list {
		f := s.function(x)
		if f == nil {
			continue
		}
		own := 0
		for i := range f.Rows {
			own += len(f.Rows[i].Text) + len(f.Rows[i].Was)
		}
		switch {
		case len(s.Functions) == maxSourceFunctions || rows+len(f.Rows) > maxSourceRows || size+own > maxSourceText:
			s.LeftOut++
		default:
			rows, size = rows+len(f.Rows), size+own
			s.Functions = append(s.Functions, *f)
		}
	}
	if len(s.Functions) == 0 && !slices.ContainsFunc(s.trees[:], func(t *source.Tree) bool { return t != nil && t.Built == "" }) {
		return nil // nobody asked for it
	}
	s.note()
	return s.Sources
}

// A sourceCandidate is a function with lines.
type sourceCandidate struct {
	f      *Function
	share  float64 // of the event in which it has most; decided changes have 1 more
	lines  [2]map[int64]float64
	weight [2]map[compare.Source]float64
}

// sourceCandidates are the functions with lines that cost something, the heaviest first.
func (b *builder) sourceCandidates() []*sourceCandidate {
	var list []*sourceCandidate
	index := make(map[[2]string]*sourceCandidate)
	for i := range b.Events {
		e := &b.Events[i]
		for k := range e.HotLines {
			l := &e.HotLines[k]
			f := &e.Functions[l.Function]
			x := index[[2]string{f.Name, f.DSO}]
			if x == nil {
				x = &sourceCandidate{f: f}
				for side := range x.lines {
					x.lines[side], x.weight[side] = make(map[int64]float64), make(map[compare.Source]float64)
				}
				index[[2]string{f.Name, f.DSO}] = x
				list = append(list, x)
			}
			share := max(f.Self.Base/max(e.Total.Base, f.Self.Base), f.Self.Head/max(e.Total.Head, f.Self.Head))
			if f.Self.Tested && f.Self.Verdict.Changed() {
				share++
			}
			x.share = max(x.share, share)
			if l.BaseLine > 0 {
				x.lines[0][l.BaseLine] += l.Self.Base
				x.weight[0][l.BaseAt] += l.Self.Base
			}
			if l.HeadLine > 0 {
				x.lines[1][l.HeadLine] += l.Self.Head
				x.weight[1][l.HeadAt] += l.Self.Head
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *sourceCandidate) int { return -cmp.Compare(a.share, b.share) })
	return list
}

// tell tells where functions start.
func (x *sourceCandidate) tell(sides *source.Sides) {
	for side, t := range []*source.Tree{sides.Base, sides.Head} {
		for at := range x.weight[side] {
			t.Starts(at.Path, []string{x.f.BaseName, x.f.Name}[side], at.Start)
		}
	}
}

// addListed adds the lines of code that is listed: where a function ends is known by it.
func (b *builder) addListed(list []*sourceCandidate) {
	for i := range b.Listings {
		l := &b.Listings[i]
		at := slices.IndexFunc(list, func(x *sourceCandidate) bool { return x.f.Name == l.Function && x.f.DSO == l.DSO })
		if at < 0 {
			continue
		}
		x := list[at]
		files := [2]string{path.Base(x.at(0).Path), path.Base(x.at(1).Path)}
		for k := range l.Rows {
			r := &l.Rows[k]
			place := r.Place
			if n := len(r.Inlined); n > 0 {
				place = r.Inlined[n-1].Place
			}
			side := 1
			if r.HeadOffset < 0 {
				side = 0
			}
			if place.File == files[side] && place.Line > 0 {
				x.lines[side][place.Line] += 0
			}
		}
	}
}

// at is the place of a function on a side in which most of its cost is.
func (x *sourceCandidate) at(side int) (at compare.Source) {
	most := -1.0
	for place, weight := range x.weight[side] {
		if weight > most || weight == most && (place.Path < at.Path || place.Path == at.Path && place.Start < at.Start) {
			at, most = place, weight
		}
	}
	return at
}

// span is from the start of the function to the last line that is known, 0 and 0 if none is.
func (x *sourceCandidate) span(side int) (lo, hi int) {
	for line := range x.lines[side] {
		if lo == 0 || int(line) < lo {
			lo = int(line)
		}
		hi = max(hi, int(line))
	}
	if start := int(x.at(side).Start); lo > 0 && start > 0 && start < lo && lo-start < maxSourceRows {
		lo = start
	}
	return lo, hi
}

type sourceBuilder struct {
	*Sources
	trees  [2]*source.Tree
	beside map[[2]string][]source.Row // by paths
	noted  [2]struct {
		unchecked, missing map[string]bool
		withheld           []string
	}
}

// function is the text of a function, nil if neither side has it.
func (s *sourceBuilder) function(x *sourceCandidate) *SourceFunction {
	out := &SourceFunction{Name: x.f.Name, DSO: x.f.DSO}
	var files [2]*source.File
	for side, name := range []string{x.f.BaseName, x.f.Name} {
		at := x.at(side)
		if at.Path == "" || s.trees[side] == nil {
			continue
		}
		f, err := s.trees[side].File(at.Path)
		if err == nil && !f.Checked {
			if named, ok := f.Names(name, at.Start); ok && !named {
				err = fmt.Errorf("%s: line %d does not name the function", f.Path, at.Start)
			}
		}
		noted := &s.noted[side]
		switch {
		case errors.Is(err, source.ErrNone):
			noted.missing[path.Base(at.Path)] = true
		case err != nil:
			out.Withheld = strings.TrimPrefix(out.Withheld+"; "+[]string{"before", "after"}[side]+": "+err.Error(), "; ")
			if !slices.Contains(noted.withheld, err.Error()) {
				noted.withheld = append(noted.withheld, err.Error())
			}
		default:
			files[side] = f
			noted.unchecked[f.Path] = !f.Checked
		}
	}
	if files[0] == nil && files[1] == nil {
		return nil
	}
	// Where a side has no cost in the function, there may be text still.
	for side, other := range [2]*source.File{files[1], files[0]} {
		if files[side] == nil && x.at(side).Path == "" {
			files[side] = s.trees[side].Below(other.Path)
		}
	}
	if files[0] != nil {
		out.BaseFile = files[0].Path
	}
	if files[1] != nil {
		out.HeadFile = files[1].Path
	}
	out.Rows = s.passage(x, files)
	return out
}

// passage are the rows of a function.
func (s *sourceBuilder) passage(x *sourceCandidate, files [2]*source.File) []source.Row {
	var span [2][2]int
	var names [2]string
	for side, f := range files {
		if f != nil {
			span[side][0], span[side][1] = x.span(side) // 0 and 0 without cost
			names[side] = f.Path
		}
	}
	all, ok := s.beside[names]
	if !ok {
		all = source.Beside(files[0], files[1])
		s.beside[names] = all
	}
	rows, alike := within(all, span)
	if span[0][0] > 0 && span[1][0] > 0 && 3*alike < len(rows) {
		// The function may have moved in its file.
		length := max(span[0][1]-span[0][0], span[1][1]-span[1][0])
		for side := range span {
			span[side][1] = span[side][0] + length
		}
		moved := source.Beside(files[0].Part(span[0][0]-aroundFunction, span[0][1]+aroundFunction), files[1].Part(span[1][0]-aroundFunction, span[1][1]+aroundFunction))
		for i := range moved {
			// Parts are numbered from their own start.
			if r := &moved[i]; r.Base > 0 {
				r.Base += max(span[0][0]-aroundFunction, 1) - 1
			}
			if r := &moved[i]; r.Head > 0 {
				r.Head += max(span[1][0]-aroundFunction, 1) - 1
			}
		}
		if m, n := within(moved, span); n > alike {
			rows = m
		}
	}
	if len(rows) <= maxFunctionRows {
		return rows
	}
	hot := func(r *source.Row) bool {
		return x.lines[0][int64(r.Base)] > 0 || x.lines[1][int64(r.Head)] > 0 || r.Base > 0 && r.Base == span[0][0] || r.Head > 0 && r.Head == span[1][0]
	}
	if list := around(rows, aroundLine, func(r *source.Row) bool { return hot(r) || r.Changed() }); len(list) <= 2*maxFunctionRows {
		return list
	}
	return around(rows, aroundLine, hot)
}

// within are the rows in the spans of both sides, and around them, and how many of these are
// alike.
func within(rows []source.Row, span [2][2]int) (list []source.Row, alike int) {
	list = around(rows, aroundFunction, func(r *source.Row) bool {
		return r.Base > 0 && r.Base >= span[0][0] && r.Base <= span[0][1] || r.Head > 0 && r.Head >= span[1][0] && r.Head <= span[1][1]
	})
	for i := range list {
		if !list[i].Changed() {
			alike++
		}
	}
	return list, alike
}

// around are the rows that are wanted, and so many before and after them.
func around(rows []source.Row, n int, wanted func(r *source.Row) bool) (list []source.Row) {
	done := 0 // rows before it are in the list, or left out
	for i := range rows {
		if !wanted(&rows[i]) {
			continue
		}
		from, to := max(done, i-n), min(len(rows), i+n+1)
		list = append(list, rows[min(from, to):to]...)
		done = max(done, to)
	}
	return list
}

// note says what the text rests on.
func (s *sourceBuilder) note() {
	for i, side := range []string{"Before", "After"} {
		if s.trees[i] == nil {
			continue
		}
		noted := &s.noted[i]
		unchecked, all := 0, len(noted.unchecked)
		for _, is := range noted.unchecked {
			if is {
				unchecked++
			}
		}
		switch {
		case all == 0:
		case unchecked == 0 && s.trees[i].Built != "":
			s.Notes = append(s.Notes, side+": the commit that was built.")
		case unchecked == 0:
			s.Notes = append(s.Notes, side+": debug information has the MD5 of this text.")
		default:
			s.Notes = append(s.Notes, fmt.Sprintf("%s: %d of %d files could not be checked, as debug information has no MD5 of the text that was compiled. Functions are named in the lines where they start.", side, unchecked, all))
		}
		for _, w := range noted.withheld[:min(len(noted.withheld), maxNames)] {
			s.Notes = append(s.Notes, side+", withheld: "+w+".")
		}
		if n := len(noted.withheld) - maxNames; n > 0 {
			s.Notes = append(s.Notes, fmt.Sprintf("%s: withheld likewise: %d more.", side, n))
		}
		if n := len(noted.missing); n > 0 {
			names := make([]string, 0, n)
			for name := range noted.missing {
				names = append(names, name)
			}
			slices.Sort(names)
			list := strings.Join(names[:min(n, maxNames)], ", ")
			if n > maxNames {
				list += fmt.Sprintf(" and %d more", n-maxNames)
			}
			s.Notes = append(s.Notes, fmt.Sprintf("%s: not there: %s.", side, list))
		}
	}
	if s.LeftOut > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("Left out: the text of %d functions that cost less.", s.LeftOut))
	}
}
