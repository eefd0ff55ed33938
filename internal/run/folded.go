package run

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// EscapeFrame writes the name of a function as a frame of a folded stack: `;`, `\`, TAB and line
// ends are `\;`, `\\`, `\t`, `\n` and `\r`, other control characters `\x1b`.
func EscapeFrame(name string) string {
	if !strings.ContainsFunc(name, special) {
		return name
	}
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case c == ';' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\t':
			b.WriteString(`\t`)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case special(rune(c)):
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// special reports whether a character is written another way in a frame.
func special(r rune) bool { return r < ' ' || r == 0x7f || r == ';' || r == '\\' }

// Folded sums the samples of one event by the names of their frames: keys are
// frame;frame;…;leaf, root first, inlined functions as frames of their own, with
// `;`, `\` and TAB within a name written `\;`, `\\` and `\t`.
func (r *Run) Folded(event int) map[string]FoldedSum {
	sums := make(map[string]FoldedSum)
	r.fold(event).each(func(stack []byte, sum FoldedSum) bool {
		sums[string(stack)] = sum
		return true
	})
	return sums
}

// FoldedSum is the sum of the samples with one folded stack.
type FoldedSum struct{ Weight, Count int64 }

// mostFolded is how large a file of folded stacks may be, in bytes. Each line has all frames of its stack, so that
// a small recording of stacks that are calls of calls would fill a disk.
const mostFolded = 4 << 30

// WriteFolded writes one event as folded stacks, one line per distinct stack:
// the stack, a space, and the weight or, if counts is set, the number of samples.
// Lines are sorted. More than 4 GiB are an error, and nothing is written.
func (r *Run) WriteFolded(w io.Writer, event int, counts bool) error {
	f := r.fold(event)
	if n := f.bytes(); n > mostFolded {
		return fmt.Errorf("folded stacks would take %.1f GB, as each line has all frames of its stack, and at most %.1f GB are written: choose samples, as by --focus and --thread",
			float64(n)/1e9, mostFolded/1e9)
	}
	out := bufio.NewWriter(w)
	var err error
	f.each(func(line []byte, sum FoldedSum) bool {
		n := sum.Weight
		if counts {
			n = sum.Count
		}
		line = append(strconv.AppendInt(append(line, ' '), n, 10), '\n')
		_, err = out.Write(line)
		return err == nil
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// A folding is the samples of one event as a tree of names.
type folding struct {
	names []string  // of frames, escaped
	paths *Prefixes // of indices in names
	sizes []int64   // by path: of its text, in bytes
	has   []bool    // by path: samples end there
	sums  []FoldedSum
}

// fold adds up the samples of one event by names.
func (r *Run) fold(event int) *folding {
	used := make([]bool, r.Stacks.Len())
	for i := range r.Samples {
		if s := &r.Samples[i]; int(s.Event) == event {
			used[s.Stack] = true
		}
	}
	for id := StackID(len(used) - 1); id > 0; id-- { // callers precede
		if used[id] {
			used[r.Stacks.Parent(id)] = true
		}
	}
	f := &folding{paths: NewPrefixes()}
	nameOf := make([]int32, len(r.Functions)) // + 1
	numbers := make(map[string]int32)
	name := func(function uint32) int32 {
		n := &nameOf[function]
		if *n == 0 {
			text := EscapeFrame(r.Functions[function].Name)
			known, ok := numbers[text]
			if !ok {
				f.names = append(f.names, text)
				known = int32(len(f.names))
				numbers[text] = known
			}
			*n = known
		}
		return *n - 1
	}
	pathOf := make([]int32, len(used))
	for id := StackID(1); int(id) < len(used); id++ {
		if !used[id] {
			continue
		}
		path := pathOf[r.Stacks.Parent(id)]
		for _, line := range slices.Backward(r.Locations[r.Stacks.Location(id)].Lines) {
			path = f.paths.Of(path, name(line.Function))
		}
		pathOf[id] = path
	}
	n := f.paths.Len()
	f.sizes, f.has, f.sums = make([]int64, n), make([]bool, n), make([]FoldedSum, n)
	for path := int32(1); int(path) < n; path++ {
		f.sizes[path] = f.start(path) + int64(len(f.names[f.paths.Last(path)]))
	}
	for i := range r.Samples {
		if s := &r.Samples[i]; int(s.Event) == event {
			path := pathOf[s.Stack]
			if f.sizes[path] == 0 {
				path = 0 // one function without a name reads as no stack does
			}
			f.has[path] = true
			f.sums[path].Weight += s.Weight
			f.sums[path].Count += s.Count
		}
	}
	return f
}

// start is where the last name of a path starts in its text.
func (f *folding) start(path int32) int64 {
	if prefix := f.paths.Parent(path); prefix != 0 {
		return f.sizes[prefix] + 1
	}
	return 0
}

// bytes is how large all lines are, but for their numbers.
func (f *folding) bytes() (n int64) {
	for path, size := range f.sizes {
		if f.has[path] {
			n += size
		}
	}
	return n
}

// each yields the stacks in the order of their text, which yield may append to.
func (f *folding) each(yield func(stack []byte, sum FoldedSum) bool) {
	if f.has[0] && !yield(nil, f.sums[0]) {
		return
	}
	first, next := f.order()
	var text []byte
	for at := first[0]; at != 0; {
		path := at >> 1
		text = append(text[:f.start(path)], f.names[f.paths.Last(path)]...)
		if at&1 == 1 {
			text = append(text, ';')
			at = first[path]
			continue
		}
		if !yield(text, f.sums[path]) {
			return
		}
		for next[at] == 0 {
			if path = f.paths.Parent(path); path == 0 {
				return
			}
			at = path<<1 | 1
		}
		at = next[at]
	}
}

// order lists what follows each path, in the order of text: the paths one longer that end (twice their number), and
// those that go on behind a semicolon (that and 1). The first of each path, and the next of each.
func (f *folding) order() (first, next []int32) {
	n := f.paths.Len()
	goesOn := make([]bool, n)
	of := make([][]int32, len(f.names)) // paths by their last name
	for path := int32(1); int(path) < n; path++ {
		goesOn[f.paths.Parent(path)] = true
		of[f.paths.Last(path)] = append(of[f.paths.Last(path)], path)
	}
	ends := make([]int32, 2*len(f.names)) // of paths, names twice as paths in next
	for i := range ends {
		ends[i] = int32(i)
	}
	slices.SortFunc(ends, func(a, b int32) int { return compareEnds(f.names[a>>1], f.names[b>>1], a&1 == 1, b&1 == 1) })
	first, next = make([]int32, n), make([]int32, 2*n)
	for _, end := range slices.Backward(ends) {
		on := end & 1
		for _, path := range of[end>>1] {
			if on == 1 && !goesOn[path] || on == 0 && !f.has[path] {
				continue
			}
			prefix, at := f.paths.Parent(path), path<<1|on
			next[at], first[prefix] = first[prefix], at
		}
	}
	return first, next
}

// compareEnds compares names behind which there is a semicolon, or nothing.
func compareEnds(a, b string, aOn, bOn bool) int {
	n := min(len(a), len(b))
	if c := strings.Compare(a[:n], b[:n]); c != 0 {
		return c
	}
	rest := func(name string, on bool) int {
		switch {
		case len(name) > n:
			return int(name[n])
		case on:
			return ';'
		}
		return -1
	}
	return cmp.Compare(rest(a, aOn), rest(b, bOn))
}
