package run

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"profdiff/internal/slots"
)

// EscapeFrame writes the name of a function as a frame of a folded stack: `;`, `\`, TAB and line
// ends are `\;`, `\\`, `\t`, `\n` and `\r`; the bytes of other control characters, and of what is not seen
// or reorders what is around it, are `\x1b`.
func EscapeFrame(name string) string {
	if !strings.ContainsFunc(name, special) {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		switch {
		case r == ';' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case special(r):
			for _, c := range []byte(name[i : i+n]) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		default:
			b.WriteString(name[i : i+n])
		}
		i += n
	}
	return b.String()
}

// special reports whether a character is written another way in a frame.
func special(r rune) bool {
	if r >= ' ' && r < 0x7f {
		return r == ';' || r == '\\'
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// Folded sums the samples of one event by the names of their frames: keys are
// frame;frame;…;leaf, root first, inlined functions as frames of their own, with
// `;`, `\` and TAB within a name written `\;`, `\\` and `\t`.
func (r *Run) Folded(event int) map[string]FoldedSum {
	sums := make(map[string]FoldedSum)
	r.fold(event).Each(func(stack []byte, sum *FoldedSum) bool {
		sums[string(stack)] = *sum
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
	if err := f.Check(); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	var err error
	f.Each(func(line []byte, sum *FoldedSum) bool {
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

// fold adds up the samples of one event by names.
func (r *Run) fold(event int) *Folding[FoldedSum] {
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
	f := NewFolding[FoldedSum]()
	nameOf := make([]int32, len(r.Functions)) // + 1
	pathOf := make([]int32, len(used))
	for id := StackID(1); int(id) < len(used); id++ {
		if !used[id] {
			continue
		}
		path := pathOf[r.Stacks.Parent(id)]
		for _, line := range slices.Backward(r.Locations[r.Stacks.Location(id)].Lines) {
			name := &nameOf[line.Function]
			if *name == 0 {
				*name = f.Name(r.Functions[line.Function].Name) + 1
			}
			path = f.Path(path, *name-1)
		}
		pathOf[id] = path
	}
	for i := range r.Samples {
		if s := &r.Samples[i]; int(s.Event) == event {
			sum := f.Sum(pathOf[s.Stack])
			sum.Weight += s.Weight
			sum.Count += s.Count
		}
	}
	return f
}

// A Folding adds up what was spent in stacks by the text of their folded form, as a tree of names: each name, and what
// stacks have in common, is there once. S is a sum.
type Folding[S any] struct {
	numbers map[string]int32 // of names
	names   []string         // of frames, escaped
	paths   *Prefixes        // of indices in names
	sizes   []int64          // by path: of its text, in bytes
	has     []bool           // by path: something was spent there
	sums    []S
}

// NewFolding has the stack without frames.
func NewFolding[S any]() *Folding[S] {
	return &Folding[S]{numbers: make(map[string]int32), paths: NewPrefixes(), sizes: make([]int64, 1)}
}

// Name is the number of a function's name, which is escaped as a frame.
func (f *Folding[S]) Name(function string) int32 {
	text := EscapeFrame(function)
	n, ok := f.numbers[text]
	if !ok {
		n = int32(len(f.names))
		f.names = append(f.names, text)
		f.numbers[text] = n
	}
	return n
}

// Path is the number of a stack with one more frame, of a name by its number. The stack without frames is 0.
func (f *Folding[S]) Path(caller, name int32) int32 {
	path := f.paths.Of(caller, name)
	if int(path) == len(f.sizes) {
		f.sizes = append(slots.Room(f.sizes), f.start(path)+int64(len(f.names[name])))
	}
	return path
}

// Sum is what was spent in a stack. There are no more calls of Path after the first one of it.
func (f *Folding[S]) Sum(path int32) *S {
	if f.sums == nil {
		f.has, f.sums = make([]bool, f.paths.Len()), make([]S, f.paths.Len())
	}
	if f.sizes[path] == 0 {
		path = 0 // one function without a name reads as no stack does
	}
	f.has[path] = true
	return &f.sums[path]
}

// Check returns an error if all lines together are more than can be written.
func (f *Folding[S]) Check() error {
	var n int64
	for path, has := range f.has {
		if has {
			n += f.sizes[path]
		}
	}
	if n <= mostFolded {
		return nil
	}
	return fmt.Errorf("folded stacks would take %.1f GB, as each line has all frames of its stack, and at most %.1f GB are written: choose samples, as by --focus and --thread",
		float64(n)/1e9, mostFolded/1e9)
}

// start is where the last name of a path starts in its text.
func (f *Folding[S]) start(path int32) int64 {
	if prefix := f.paths.Parent(path); prefix != 0 {
		return f.sizes[prefix] + 1
	}
	return 0
}

// Each yields the stacks in which something was spent in the order of their text, which yield may append to.
func (f *Folding[S]) Each(yield func(stack []byte, sum *S) bool) {
	if f.sums == nil || f.has[0] && !yield(nil, &f.sums[0]) {
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
		if !yield(text, &f.sums[path]) {
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
func (f *Folding[S]) order() (first, next []int32) {
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
