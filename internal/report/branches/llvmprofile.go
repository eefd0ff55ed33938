package branches

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"profdiff/internal/report/text"
	"profdiff/internal/symbolizer"
)

// LLVMProfiles are two sample profiles of LLVM at one scale: how often conditional
// branches and switches were executed and how often they were mispredicted, by function,
// line from its start and discriminator. A compiler that marks branches as
// unpredictable compares the two.
type LLVMProfiles struct {
	functions map[string]*llvmFunction
	// Kept branches have Misses; Dropped counts the others by reason.
	Kept    int
	Misses  float64
	Dropped map[string]LLVMDropped
	// Bounds is how many branches have misses that are not seen, those that ended not
	// taken.
	Bounds int
}

// LLVMDropped is what is not in the profiles for one reason.
type LLVMDropped struct {
	Branches int
	Misses   float64
}

// llvmPlace is a line from the start of a function.
type llvmPlace struct {
	offset, discriminator uint32
}

func (p llvmPlace) String() string {
	if p.discriminator == 0 {
		return fmt.Sprint(p.offset)
	}
	return fmt.Sprintf("%d.%d", p.offset, p.discriminator)
}

func comparePlaces(a, b llvmPlace) int {
	return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.discriminator, b.discriminator))
}

// llvmFunction is a function, or one that was inlined at a place.
type llvmFunction struct {
	counts  map[llvmPlace]*llvmCounts
	inlined map[llvmCall]*llvmFunction
}

type llvmCall struct {
	place llvmPlace
	name  string
}

type llvmCounts struct{ executed, misses float64 }

func newLLVMFunction() *llvmFunction {
	return &llvmFunction{counts: make(map[llvmPlace]*llvmCounts), inlined: make(map[llvmCall]*llvmFunction)}
}

// Reasons to leave branches out.
const (
	llvmNoLine   = "without a line of the source, or the line where the function starts"
	llvmNoCounts = "it is not known how often they were executed"
	llvmUnsure   = "it is not sure which branch it is"
	llvmKind     = "neither conditional nor a switch"
	llvmNoKind   = "the kind of branch is not known"
	llvmName     = "a function has no name that the format can hold"
)

// NewLLVMProfiles makes the profiles of a document of all branches, with the functions at
// each.
func NewLLVMProfiles(d *Document) (*LLVMProfiles, error) {
	if !d.Prediction.Known {
		return nil, errors.New("prediction is unknown: " + d.Prediction.Reason)
	}
	p := &LLVMProfiles{functions: make(map[string]*llvmFunction), Dropped: make(map[string]LLVMDropped)}
	for i := range d.Branches {
		b := &d.Branches[i]
		misses := 0.0
		if b.Misses != nil {
			misses = *b.Misses
		}
		if reason := p.add(b); reason != "" {
			left := p.Dropped[reason]
			left.Branches++
			left.Misses += misses
			p.Dropped[reason] = left
			continue
		}
		p.Kept++
		if b.RateMethod == ByBounds {
			p.Bounds++
		}
		p.Misses += misses
	}
	if p.Kept == 0 {
		var reasons []string
		for _, reason := range slices.Sorted(maps.Keys(p.Dropped)) {
			reasons = append(reasons, fmt.Sprintf("%d %s", p.Dropped[reason].Branches, reason))
		}
		return nil, fmt.Errorf("no branch can be in the profile: %s", strings.Join(reasons, "; "))
	}
	return p, nil
}

// add adds a branch, or says why not.
func (p *LLVMProfiles) add(b *Branch) string {
	frames := b.Source
	switch {
	case b.Kind == "":
		return llvmNoKind
	case b.Kind != Conditional && b.Kind != Indirect:
		return llvmKind
	case b.Confidence != Exact && b.Confidence != High:
		return llvmUnsure
	case b.Executed == nil || b.Misses == nil:
		return llvmNoCounts
	}
	if len(frames) == 0 {
		return llvmNoLine
	}
	for i := range frames {
		f := &frames[i]
		if f.Line == 0 || f.StartLine == 0 {
			return llvmNoLine
		}
		if name := llvmFunctionName(f); name == "" || strings.ContainsFunc(name, unicode.IsSpace) {
			return llvmName
		}
	}
	outer := llvmFunctionName(&frames[len(frames)-1])
	fn := p.functions[outer]
	if fn == nil {
		fn = newLLVMFunction()
		p.functions[outer] = fn
	}
	// Outside in: each frame but the innermost has the line of a call.
	for i := len(frames) - 1; i > 0; i-- {
		call := llvmCall{llvmPlaceOf(&frames[i]), llvmFunctionName(&frames[i-1])}
		inner := fn.inlined[call]
		if inner == nil {
			inner = newLLVMFunction()
			fn.inlined[call] = inner
		}
		fn = inner
	}
	at := llvmPlaceOf(&frames[0])
	c := fn.counts[at]
	if c == nil {
		c = &llvmCounts{}
		fn.counts[at] = c
	}
	c.executed += *b.Executed
	c.misses += *b.Misses
	return ""
}

// llvmFunctionName is the mangled name without what compilers append to parts of
// functions, as FunctionSamples::getCanonicalFnName of SampleProf.h does.
func llvmFunctionName(f *symbolizer.Frame) string {
	name := cmp.Or(f.SystemName, f.Name)
	for _, suffix := range []string{".llvm.", ".part.", ".isra.", ".constprop.", ".cold"} {
		if i := strings.Index(name, suffix); i > 0 {
			name = name[:i]
		}
	}
	return name
}

// llvmPlaceOf is the place of a branch or call in its function, with the offset of
// FunctionSamples::getOffset: 16 bits of the difference.
func llvmPlaceOf(f *symbolizer.Frame) llvmPlace {
	return llvmPlace{uint32(f.Line-f.StartLine) & 0xffff, baseDiscriminator(f.Discriminator)}
}

// baseDiscriminator is the part of a discriminator that tells blocks apart: the others
// count copies. See DILocation::getBaseDiscriminatorFromDiscriminator and
// getUnsignedFromPrefixEncoding in DebugInfoMetadata.h and Discriminator.h.
func baseDiscriminator(d uint32) uint32 {
	if d&1 != 0 {
		return 0
	}
	d >>= 1
	if d&0x20 != 0 {
		return d>>1&0xfe0 | d&0x1f
	}
	return d & 0x1f
}

// WriteFrequencies writes how often branches were executed, as the text of SampleProf:
// see SampleProfReader.h, "Text format".
func (p *LLVMProfiles) WriteFrequencies(w io.Writer) error {
	return p.write(w, func(c *llvmCounts) float64 { return c.executed })
}

// WriteMisses writes how often branches were mispredicted.
func (p *LLVMProfiles) WriteMisses(w io.Writer) error {
	return p.write(w, func(c *llvmCounts) float64 { return c.misses })
}

func (p *LLVMProfiles) write(w io.Writer, of func(*llvmCounts) float64) error {
	out := bufio.NewWriter(w)
	names := slices.Sorted(maps.Keys(p.functions))
	totals := make(map[string]uint64, len(names))
	for _, name := range names {
		totals[name] = p.functions[name].total(of)
	}
	// As llvm-profdata does, the function with the largest total first.
	slices.SortStableFunc(names, func(a, b string) int { return -cmp.Compare(totals[a], totals[b]) })
	for _, name := range names {
		if totals[name] == 0 {
			continue
		}
		// How often functions were called is not known.
		fmt.Fprintf(out, "%s:%d:0\n", name, totals[name])
		p.functions[name].write(out, 1, of)
	}
	return out.Flush()
}

// wholeCount rounds a count. It need not add up with others, except to the sum of its
// function.
func wholeCount(v float64) uint64 {
	if v >= math.MaxInt64 {
		return math.MaxInt64
	}
	return uint64(math.Round(max(v, 0)))
}

func (f *llvmFunction) total(of func(*llvmCounts) float64) (sum uint64) {
	for _, c := range f.counts {
		sum += wholeCount(of(c))
	}
	for _, inner := range f.inlined {
		sum += inner.total(of)
	}
	return sum
}

func (f *llvmFunction) write(w io.Writer, depth int, of func(*llvmCounts) float64) {
	indent := strings.Repeat(" ", depth)
	places := make([]llvmPlace, 0, len(f.counts))
	for at := range f.counts {
		places = append(places, at)
	}
	slices.SortFunc(places, comparePlaces)
	for _, at := range places {
		if n := wholeCount(of(f.counts[at])); n > 0 {
			fmt.Fprintf(w, "%s%v: %d\n", indent, at, n)
		}
	}
	calls := make([]llvmCall, 0, len(f.inlined))
	for call := range f.inlined {
		calls = append(calls, call)
	}
	slices.SortFunc(calls, func(a, b llvmCall) int {
		return cmp.Or(comparePlaces(a.place, b.place), strings.Compare(a.name, b.name))
	})
	for _, call := range calls {
		inner := f.inlined[call]
		if total := inner.total(of); total > 0 {
			fmt.Fprintf(w, "%s%v: %s:%d\n", indent, call.place, call.name, total)
			inner.write(w, depth+1, of)
		}
	}
}

// Accounting says what is in the profiles, in one line.
func (p *LLVMProfiles) Accounting() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%d branches with %s misses are in the profiles", p.Kept, text.Weight(p.Misses, "count"))
	for _, reason := range slices.Sorted(maps.Keys(p.Dropped)) {
		d := p.Dropped[reason]
		fmt.Fprintf(&s, "; %d with %s are not: %s", d.Branches, text.Weight(d.Misses, "count"), reason)
	}
	if p.Bounds > 0 {
		fmt.Fprintf(&s, "; of %d the misses that ended not taken are not seen", p.Bounds)
	}
	return s.String()
}
