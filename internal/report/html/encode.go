package html

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"profdiff/internal/report/diff"
	"profdiff/internal/report/text"
	"profdiff/internal/verdict"

	"github.com/klauspost/compress/gzip"
)

// A block is compressed JSON for the script.
type block struct {
	name string
	data []byte
}

func rounded(list []float64) []float64 {
	var out []float64
	for _, v := range list {
		out = append(out, round(v, 5))
	}
	return out
}

// round keeps so many digits: more of them are noise, and bytes.
func round(v float64, digits int) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil {
		return v
	}
	return r
}

func finite(v float64) *float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	v = round(v, maxDigits)
	return &v
}

// A textTable numbers texts, which it cleans.
type textTable struct {
	clean func(string) string
	index map[string]int
	list  []string
}

func (t *textTable) id(s string) int {
	i, ok := t.index[s]
	if c := t.clean(s); !ok && c != s {
		i, ok = t.id(c), true
		t.index[s] = i
	}
	if !ok {
		i = len(t.list)
		t.index[s] = i
		t.list = append(t.list, s)
	}
	return i
}

// encode makes the blocks. Trees are pruned until the page is not too large.
func encode(d *Document) ([]block, error) {
	clean := d.clean()
	texts := &textTable{clean: clean, index: make(map[string]int)}
	var blocks []block
	var gz compressor
	add := func(name string, v any) error {
		data, ok := v.([]byte)
		if !ok {
			var err error
			if data, err = json.Marshal(v); err != nil {
				return err
			}
		}
		data, err := gz.compress(data)
		blocks = append(blocks, block{name, data})
		return err
	}
	room := MaxBytes*3/4 - leastTimes // base64
	if len(d.Listings) > 0 {
		if err := add("listings", listingBlocks(d.Listings, clean)); err != nil {
			return nil, err
		}
	}
	if d.Sources != nil {
		if err := add("sources", d.Sources); err != nil {
			return nil, err
		}
	}
	if d.Branches != nil {
		if err := add("branches", d.Branches); err != nil {
			return nil, err
		}
	}
	if d.Pipeline != nil {
		if err := add("pipeline", d.Pipeline); err != nil {
			return nil, err
		}
	}
	if len(d.Runs) > 0 || len(d.Facts) > 0 {
		if err := add("data", dataBlock{d.Runs, d.Facts}); err != nil {
			return nil, err
		}
	}
	var own [][]byte
	var indexes, threads [][]int
	for i := range d.Events {
		e := &d.Events[i]
		functions, index := byFrequency(e)
		own = append(own, functionColumns(e, functions, index, texts))
		indexes = append(indexes, index)
		threads = append(threads, ids(texts, e.Frames.Threads))
		if len(e.HotLines) > 0 {
			if err := add("lines"+strconv.Itoa(i), linesOf(e, index)); err != nil {
				return nil, err
			}
		}
	}
	names, err := json.Marshal(texts.list)
	if err != nil {
		return nil, err
	}
	if err := add("names", names); err != nil {
		return nil, err
	}
	used := 0
	for _, b := range blocks {
		used += len(b.data)
	}
	at := make([][]int32, len(d.Events)) // by event and frame: the row of the page
	for i := range d.Events {
		e := &d.Events[i]
		limit := MaxFrames / len(d.Events)
		all := e.Frames
		prune := pruner{all: &all}
		for {
			e.Frames = prune.pruned(limit)
			q := quantize(e)
			c := &columns{bytes.Clone(own[i])}
			costs(c, e, q, indexes[i])
			c.key("frames")
			data := append(append(c.buf, frameColumns(e, q, indexes[i], threads[i])...), '}')
			small, err := gz.compress(data)
			if err != nil {
				return nil, err
			}
			share := (room - used) / (len(d.Events) - i)
			if len(small) <= max(share, 50_000) || limit < 2000 {
				used += len(small)
				blocks = append(blocks, block{"event" + strconv.Itoa(i), small})
				at[i] = prune.at
				break
			}
			limit = min(limit, len(all.Level)) * 2 / 3
		}
	}
	return addTimes(blocks, d, at, &gz)
}

// gzipLevel is the last before a slower algorithm, which makes pages no smaller.
const gzipLevel = 6

// A compressor compresses one block after the other. It is deterministic: the header has
// no time and no name.
type compressor struct{ z *gzip.Writer }

func (c *compressor) compress(data []byte) ([]byte, error) {
	var buf bytes.Buffer
	if c.z == nil {
		var err error
		if c.z, err = gzip.NewWriterLevel(&buf, gzipLevel); err != nil {
			return nil, err
		}
	} else {
		c.z.Reset(&buf)
	}
	c.z.ModTime = time.Unix(0, 0)
	if _, err := c.z.Write(data); err != nil {
		return nil, err
	}
	if err := c.z.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// columns is a JSON object of arrays.
type columns struct{ buf []byte }

func (c *columns) key(name string) {
	if len(c.buf) == 0 {
		c.buf = append(c.buf, '{')
	} else {
		c.buf = append(c.buf, ',')
	}
	c.buf = strconv.AppendQuote(c.buf, name)
	c.buf = append(c.buf, ':')
}

func column[T any](c *columns, name string, n int, at func(i int) T, write func(buf []byte, v T) []byte) {
	c.key(name)
	c.buf = append(c.buf, '[')
	for i := range n {
		if i > 0 {
			c.buf = append(c.buf, ',')
		}
		c.buf = write(c.buf, at(i))
	}
	c.buf = append(c.buf, ']')
}

func writeInt(buf []byte, v int) []byte      { return strconv.AppendInt(buf, int64(v), 10) }
func writeInt64(buf []byte, v int64) []byte  { return strconv.AppendInt(buf, v, 10) }
func writeCost(buf []byte, v float64) []byte { return writeFloat(buf, v, 5) }

// writeRatio writes a ratio with so many digits that the change is the same in percent.
func writeRatio(buf []byte, v float64) []byte {
	for n := 2; n < maxDigits; n++ {
		if percent(round(v, n)) == percent(v) {
			return writeFloat(buf, v, n)
		}
	}
	return writeFloat(buf, v, maxDigits)
}

// maxDigits is how many digits a number keeps that must not be rounded twice.
const maxDigits = 10

// exactDigits is how many digits a cost on both sides needs, so that it and the
// difference look as they do in outputs that round once.
func (e *Event) exactDigits(c *diff.Change) int {
	for n := 5; n < maxDigits; n++ {
		if e.alike(c, round(c.Base, n), round(c.Head, n)) {
			return n
		}
	}
	return maxDigits
}

// alike reports whether costs look like those of a change: as weights with four digits, as shares
// with two decimals. Costs of functions that were tested are on the first screen and in other
// outputs, too, with their difference.
func (e *Event) alike(c *diff.Change, base, head float64) bool {
	same := func(a, b float64) bool { return round(a, 4) == round(b, 4) }
	if e.Share {
		same = func(a, b float64) bool { return share(a) == share(b) }
	}
	difference := func(base, head float64) float64 {
		if math.Abs(head-base) < 1e-12*max(base, head) { // what arithmetic leaves
			return 0
		}
		return head - base
	}
	return same(base, c.Base) && same(head, c.Head) && (!c.Tested || same(difference(base, head), difference(c.Base, c.Head)))
}

// nearSteps is into how many parts of a quantum what frames leave of the cost of a function is told.
const nearSteps = 8

// costs writes what functions cost, in columns of those for which the frames do not say it: by how much it differs, or,
// where that would look different from what other outputs say, the cost.
func costs(c *columns, e *Event, q *quanta, index []int) {
	order := make([]int, len(index))
	for i, at := range index {
		order[at] = i
	}
	step := q.quantum / nearSteps
	self, total := q.ofFunctions(&e.Frames, len(index))
	for _, of := range []struct {
		name   string
		known  [][2]float64
		change func(f *diff.Function) *diff.Change
	}{
		{"self", self, func(f *diff.Function) *diff.Change { return &f.Self }},
		{"total", total, func(f *diff.Function) *diff.Change { return &f.Total }},
	} {
		var at, nearAt []int
		var stated []*diff.Change
		var near [][2]int64
		last, lastNear := 0, 0
		for i, fn := range order {
			x, known := of.change(&e.Functions[fn]), of.known[fn]
			if e.alike(x, known[0], known[1]) {
				continue
			}
			tested := *x
			tested.Tested = true // their difference, too, is to look as it is
			steps := [2]float64{math.Round((x.Base - known[0]) / step), math.Round((x.Head - known[1]) / step)}
			if max(math.Abs(steps[0]), math.Abs(steps[1])) < 1<<20 && e.alike(&tested, known[0]+steps[0]*step, known[1]+steps[1]*step) {
				nearAt, near = append(nearAt, i-lastNear), append(near, [2]int64{int64(steps[0]), int64(steps[1])})
				lastNear = i
				continue
			}
			at, stated = append(at, i-last), append(stated, x)
			last = i
		}
		column(c, of.name+"At", len(at), func(i int) int { return at[i] }, writeInt)
		change := func(i int) *diff.Change { return stated[i] }
		column(c, of.name+"Base", len(at), change, func(b []byte, x *diff.Change) []byte { return writeFloat(b, x.Base, e.exactDigits(x)) })
		column(c, of.name+"Head", len(at), change, func(b []byte, x *diff.Change) []byte { return writeFloat(b, x.Head, e.exactDigits(x)) })
		if len(near) > 0 {
			c.packed(of.name+"Near", len(near), func(i int) int64 { return int64(nearAt[i]) })
			c.packed(of.name+"NearBase", len(near), func(i int) int64 { return near[i][0] })
			c.packed(of.name+"NearHead", len(near), func(i int) int64 { return near[i][1] })
		}
	}
}

// writeFloat writes a number with few digits, null if JSON has none for it.
func writeFloat(buf []byte, v float64, digits int) []byte {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return append(buf, "null"...)
	}
	if v == math.Trunc(v) && math.Abs(v) < 1e6 {
		return strconv.AppendInt(buf, int64(v), 10)
	}
	at := len(buf)
	buf = strconv.AppendFloat(buf, v, 'g', digits, 64)
	if bytes.IndexByte(buf[at:], 'e') >= 0 {
		buf = strconv.AppendFloat(buf[:at], round(v, digits), 'g', -1, 64)
	}
	return buf
}

// byFrequency orders the functions of an event by how many frames they have: small numbers
// take less room. It returns the functions, and the new index of each.
func byFrequency(e *Event) (ordered []*diff.Function, index []int) {
	frames := make([]int, len(e.Functions))
	for _, fn := range e.Frames.Function {
		if fn >= 0 {
			frames[fn]++
		}
	}
	order := make([]int, len(frames))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return frames[b] - frames[a] })
	index, ordered = make([]int, len(order)), make([]*diff.Function, len(order))
	for at, i := range order {
		index[i] = at
		ordered[at] = &e.Functions[i]
	}
	return ordered, index
}

// baseName names a function as base has it, by all of its parts.
func baseName(f *diff.Function) string {
	base, _ := f.Sides()
	return strings.Join(base, " + ")
}

// functionColumns are the functions of an event and what goes with them, a JSON object
// without its end.
func functionColumns(e *Event, f []*diff.Function, index []int, texts *textTable) []byte {
	n := len(f)
	c := &columns{}
	// Most names are new: as differences they take no room.
	last := -1
	column(c, "name", n, func(i int) int {
		id := texts.id(f[i].Name)
		step := id - last
		last = id
		return step
	}, writeInt)
	column(c, "dso", n, func(i int) int { return texts.id(f[i].DSO) }, writeInt)
	column(c, "nBase", n, func(i int) int64 { return f[i].Self.BaseSamples }, writeInt64)
	column(c, "nHead", n, func(i int) int64 { return f[i].Self.HeadSamples }, writeInt64)
	// How they were matched, where that says something.
	var matched []int
	for i := range f {
		if f[i].Match != "exact" && f[i].Match != "" {
			matched = append(matched, i)
		}
	}
	column(c, "matched", len(matched), func(i int) int { return matched[i] }, writeInt)
	column(c, "match", len(matched), func(i int) int { return texts.id(f[matched[i]].Match) }, writeInt)
	column(c, "baseName", len(matched), func(i int) int { return texts.id(baseName(f[matched[i]])) }, writeInt)
	column(c, "baseDSO", len(matched), func(i int) int { return texts.id(f[matched[i]].BaseDSO) }, writeInt)
	column(c, "reason", len(matched), func(i int) int { return texts.id(reason(e, f[matched[i]])) }, writeInt)
	column(c, "confidence", len(matched), func(i int) float64 { return f[matched[i]].Confidence }, writeCost)
	type reasoned struct {
		function int
		reason   metaReason
	}
	var why []reasoned
	for i := range f {
		for _, r := range reasonsOf(f[i]) {
			why = append(why, reasoned{i, r})
		}
	}
	if len(why) > 0 {
		column(c, "why", len(why), func(i int) int { return why[i].function }, writeInt)
		column(c, "whyText", len(why), func(i int) int { return texts.id(why[i].reason.Text) }, writeInt)
		column(c, "whyView", len(why), func(i int) int { return texts.id(why[i].reason.View) }, writeInt)
	}
	var shifted []int
	for i := range f {
		if f[i].Shift >= 0 {
			shifted = append(shifted, i)
		}
	}
	column(c, "shifted", len(shifted), func(i int) int { return shifted[i] }, writeInt)
	column(c, "shift", len(shifted), func(i int) int { return f[shifted[i]].Shift }, writeInt)
	c.key("shifts")
	c.buf = append(c.buf, '[')
	for i := range e.Shifts {
		if i > 0 {
			c.buf = append(c.buf, ',')
		}
		s := &e.Shifts[i]
		data, err := json.Marshal(jsonShift{index[s.Caller], mapped(s.Parts, index), toJSON(&s.Net)})
		if err != nil {
			data = []byte("null") // numbers were made finite
		}
		c.buf = append(c.buf, data...)
	}
	c.buf = append(c.buf, ']')
	tests(c, "self", n, func(i int) *diff.Change { return &f[i].Self })
	tests(c, "total", n, func(i int) *diff.Change { return &f[i].Total })
	c.key("groups")
	groups := []jsonGroup{}
	for _, g := range e.Groups {
		out := jsonGroup{string(g.By), []jsonGroupRow{}}
		for i := range g.Rows {
			out.Rows = append(out.Rows, jsonGroupRow{text.Clean(g.Rows[i].Name), toJSON(&g.Rows[i].Self)})
		}
		groups = append(groups, out)
	}
	data, err := json.Marshal(groups)
	if err != nil {
		data = []byte("[]")
	}
	c.buf = append(c.buf, data...)
	return c.buf
}

func mapped(list, index []int) []int {
	out := make([]int, len(list))
	for i, v := range list {
		out[i] = index[v]
	}
	return out
}

const (
	// maxWithRuns is the number of functions with the cost of each run, in a table.
	maxWithRuns = 250
	// maxRunCosts is the number of these costs: with a thousand runs a side, fewer functions have
	// them.
	maxRunCosts = 100_000
)

// tests are the results of those changes that were tested.
func tests(c *columns, name string, n int, at func(int) *diff.Change) {
	var known []int
	for i := range n {
		if at(i).Tested {
			known = append(known, i)
		}
	}
	of := func(i int) *diff.Change { return at(known[i]) }
	m := len(known)
	t := &columns{}
	last := 0
	column(t, "at", m, func(i int) int {
		step := known[i] - last
		last = known[i]
		return step
	}, writeInt)
	column(t, "ratio", m, func(i int) float64 { return float64(of(i).Ratio) }, writeRatio)
	column(t, "lo", m, func(i int) float64 { return of(i).CI.Lo }, writeRatio)
	column(t, "hi", m, func(i int) float64 { return of(i).CI.Hi }, writeRatio)
	column(t, "p", m, func(i int) float64 { return of(i).Adjusted }, func(b []byte, v float64) []byte { return writeFloat(b, v, 3) })
	column(t, "runs", m, func(i int) int { return of(i).RunsNeeded }, writeInt)
	t.key("verdict")
	t.buf = append(t.buf, '"')
	for i := range m {
		t.buf = append(t.buf, verdictLetter(of(i)))
	}
	t.buf = append(t.buf, '"')
	var withRuns []int
	runs := 1
	for i := range m {
		if n := len(of(i).BaseRuns) + len(of(i).HeadRuns); n > 0 {
			withRuns = append(withRuns, i)
			runs = max(runs, n)
		}
	}
	if m := min(maxWithRuns, maxRunCosts/runs); len(withRuns) > m {
		cost := func(i int) float64 { return max(of(i).Base, of(i).Head) }
		slices.SortStableFunc(withRuns, func(a, b int) int { return -cmp.Compare(cost(a), cost(b)) })
		withRuns = withRuns[:m]
		slices.Sort(withRuns)
	}
	values := func(b []byte, list []float64) []byte {
		b = append(b, '[')
		for i, v := range list {
			if i > 0 {
				b = append(b, ',')
			}
			b = writeFloat(b, v, 4)
		}
		return append(b, ']')
	}
	column(t, "withRuns", len(withRuns), func(i int) int { return withRuns[i] }, writeInt)
	column(t, "baseRuns", len(withRuns), func(i int) []float64 { return of(withRuns[i]).BaseRuns }, values)
	column(t, "headRuns", len(withRuns), func(i int) []float64 { return of(withRuns[i]).HeadRuns }, values)
	c.key(name)
	c.buf = append(append(c.buf, t.buf...), '}')
}

// verdictLetter stands for a verdict, - for a change that was not tested.
func verdictLetter(c *diff.Change) byte {
	switch {
	case !c.Tested:
		return '-'
	case c.Verdict == verdict.Improved:
		return 'i'
	case c.Verdict == verdict.Regressed:
		return 'r'
	case c.Verdict == verdict.Unchanged:
		return 'u'
	case c.Lead == verdict.More:
		return 'm'
	case c.Lead == verdict.Less:
		return 'l'
	}
	return '?'
}

// frameColumns are the frames of an event. threads are the numbers of the names of threads.
func frameColumns(e *Event, q *quanta, index, threads []int) []byte {
	f := &e.Frames
	n := len(f.Level)
	c := &columns{}
	c.key("quantum")
	c.buf = strconv.AppendFloat(c.buf, q.quantum, 'g', -1, 64)
	last := int32(-1)
	column(c, "up", n, func(i int) int {
		up := last + 1 - f.Level[i]
		last = f.Level[i]
		return int(up)
	}, writeInt)
	known, fresh := callees(f)
	c.key("known")
	c.buf = append(append(append(c.buf, '"'), known...), '"')
	c.packed("fn", len(fresh), func(i int) int64 {
		if fresh[i] < 0 {
			return int64(fresh[i])
		}
		return int64(index[fresh[i]])
	})
	leaves, inner := withCosts(f.Level, q.self)
	column(c, "base", len(leaves), func(i int) int64 { return q.self[leaves[i]][0] }, writeInt64)
	column(c, "head", len(leaves), func(i int) int64 { return q.self[leaves[i]][1] }, writeInt64)
	before := 0
	column(c, "innerAt", len(inner), func(i int) int {
		step := inner[i] - before
		before = inner[i]
		return step
	}, writeInt)
	column(c, "innerBase", len(inner), func(i int) int64 { return q.self[inner[i]][0] }, writeInt64)
	column(c, "innerHead", len(inner), func(i int) int64 { return q.self[inner[i]][1] }, writeInt64)
	c.key("flags")
	c.buf = append(c.buf, '"')
	for _, flags := range f.Flags {
		c.buf = append(c.buf, '0'+byte(flags))
	}
	c.buf = append(c.buf, '"')
	if f.Threads != nil {
		column(c, "threads", len(threads), func(i int) int { return threads[i] }, writeInt)
		threadColumns(c, f)
	}
	c.buf = append(c.buf, '}')
	return c.buf
}

// withCosts are the frames that call nothing, all of which cost something on a side, and those of the others that cost
// something themselves.
func withCosts(level []int32, self [][2]int64) (leaves, inner []int) {
	for i := range level {
		if i+1 == len(level) || level[i+1] <= level[i] {
			leaves = append(leaves, i)
		} else if self[i] != [2]int64{} {
			inner = append(inner, i)
		}
	}
	return leaves, inner
}

// ids are the numbers of texts.
func ids(texts *textTable, list []string) []int {
	out := make([]int, len(list))
	for i, s := range list {
		out[i] = texts.id(s)
	}
	return out
}

// callees numbers what functions call by caller, in the order in which it is first seen: most frames call what
// their function called elsewhere. A frame has the letter of its function's number, from 1, or that of 0 if
// its function is the next of fresh.
func callees(f *diff.Frames) (known []byte, fresh []int32) {
	type call struct{ caller, callee int32 }
	number, calls := make(map[call]int), make(map[int32]int)
	known = make([]byte, len(f.Level))
	var path []int32 // of functions
	for i, level := range f.Level {
		c := call{noCaller, f.Function[i]}
		if level > 0 {
			c.caller = path[level-1]
		}
		path = append(path[:level], f.Function[i])
		if k, ok := number[c]; ok {
			known[i] = calleeLetters[k]
			continue
		}
		known[i] = calleeLetters[0]
		fresh = append(fresh, f.Function[i])
		// What has no letter is always fresh.
		if calls[c.caller]+1 < len(calleeLetters) {
			calls[c.caller]++
			number[c] = calls[c.caller]
		}
	}
	return known, fresh
}

// calleeLetters are those from 0 on that JSON takes as they are.
const calleeLetters = "0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}"

// noCaller is of the root.
const noCaller = math.MinInt32

// threadColumns says where a frame is of another thread than its caller.
func threadColumns(c *columns, f *diff.Frames) {
	var at, thread []int
	last := 0
	var path []int32
	for i, level := range f.Level {
		if own := f.Thread[i]; level == 0 || own != path[level-1] {
			at, thread = append(at, i-last), append(thread, int(own))
			last = i
		}
		path = append(path[:level], f.Thread[i])
	}
	column(c, "threadAt", len(at), func(i int) int { return at[i] }, writeInt)
	column(c, "thread", len(thread), func(i int) int { return thread[i] }, writeInt)
}

// linesOf are lines by columns.
func linesOf(e *Event, index []int) []byte {
	l := e.HotLines
	n := len(l)
	texts := &textTable{clean: text.CleanLine, index: make(map[string]int)}
	c := &columns{}
	column(c, "function", n, func(i int) int { return index[l[i].Function] }, writeInt)
	column(c, "file", n, func(i int) int { return texts.id(l[i].File) }, writeInt)
	column(c, "text", n, func(i int) int { return texts.id(string(l[i].Text)) }, writeInt)
	column(c, "base", n, func(i int) int64 { return l[i].BaseLine }, writeInt64)
	column(c, "head", n, func(i int) int64 { return l[i].HeadLine }, writeInt64)
	column(c, "selfBase", n, func(i int) float64 { return l[i].Self.Base }, writeCost)
	column(c, "selfHead", n, func(i int) float64 { return l[i].Self.Head }, writeCost)
	tests(c, "self", n, func(i int) *diff.Change { return &l[i].Self })
	names, err := json.Marshal(texts.list)
	if err != nil {
		names = []byte("[]") // texts were cleaned
	}
	c.key("texts")
	c.buf = append(append(c.buf, names...), '}')
	return c.buf
}
