package recording

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"profdiff/internal/branch"
	"profdiff/internal/branch/advice"
	"profdiff/internal/disasm"
	"profdiff/internal/objects/objectstest"
	"profdiff/internal/objfile"
	"profdiff/internal/perffile/perffiletest"
)

// A largeProgram is the largest library with much code on the machine, with functions
// from all of it.
type largeProgram struct {
	path      string
	load      uint64 // address less offset in the file, of the code
	functions []*disasm.Function
}

func findLarge(b *testing.B, functions int) *largeProgram {
	b.Helper()
	const least = 50 << 20 // bytes
	var names []string
	for _, pattern := range []string{"/usr/lib/llvm-*/lib/libLLVM*.so*", "/usr/lib/*/libLLVM*.so*", "/usr/lib64/libLLVM*.so*"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			b.Fatal(err)
		}
		names = append(names, found...)
	}
	size := func(name string) int64 {
		info, err := os.Stat(name)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	if len(names) == 0 {
		b.Skip("no libLLVM is installed")
	}
	p := &largeProgram{path: slices.MaxFunc(names, func(x, y string) int { return cmp.Or(cmp.Compare(size(x), size(y)), cmp.Compare(x, y)) })}
	if size(p.path) < least {
		b.Skip("libLLVM has less than 50 MB")
	}
	f, err := objfile.Open(p.path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for _, s := range f.Segments() {
		if s.Executable {
			p.load = s.Offset - s.Vaddr
		}
	}
	code, err := disasm.New(f)
	if err != nil {
		b.Fatal(err)
	}
	text, _ := f.Section(".text")
	r := rand.New(rand.NewPCG(1, 2))
	for tries := 0; len(p.functions) < functions && tries < 100*functions; tries++ {
		if fn, err := code.FunctionAt(text.Vaddr + r.Uint64N(text.Size)); err == nil && len(fn.Blocks) > 3 {
			p.functions = append(p.functions, fn)
		}
	}
	b.Logf("%s, %d functions", p.path, len(p.functions))
	return p
}

// read reads a recording again and again.
func (p *largeProgram) read(b *testing.B, text string) {
	b.Helper()
	data := perffiletest.Fixture(b, text)
	paths := objectstest.Dir("/")
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		opt := &branch.Options{}
		opt.Names.Objects = paths
		table, err := readBytes("large.data", data, opt)
		if err != nil {
			b.Fatal(err)
		}
		advice.Add(table, paths)
		if len(table.Branches) < 1000 {
			b.Fatalf("%d branches, warnings %v, %+v", len(table.Branches), table.Warnings, table.Samples)
		}
	}
}

const (
	largeStart     = uint64(0x7f0000000000)
	largeFunctions = 5000
	largeSamples   = 50000
)

func (p *largeProgram) mapping(id string) string {
	return fmt.Sprintf("MMAP2 misc=USER pid=10 tid=10 start=%#x len=0x10000000 pgoff=0 prot=READ|EXEC filename=%q sample_id={pid=10,tid=10,time=1%s}\n", largeStart, p.path, id)
}

// BenchmarkLargeSampled names branches behind samples from all over a large library.
func BenchmarkLargeSampled(b *testing.B) {
	p := findLarge(b, largeFunctions)
	r := rand.New(rand.NewPCG(3, 4))
	var text strings.Builder
	text.WriteString("header\n" + missAttr + branchAttr + p.mapping(",id=1,cpu=0"))
	for i := range largeSamples {
		f := p.functions[r.IntN(len(p.functions))]
		text.WriteString(smSamples(1, 1+i%2, 10+i, largeStart+p.load+f.Insts[r.IntN(len(f.Insts))].Addr, ""))
	}
	p.read(b, text.String())
}

// BenchmarkLargeStacks reads stacks of 16 branches from all over a large library.
func BenchmarkLargeStacks(b *testing.B) {
	p := findLarge(b, largeFunctions)
	r := rand.New(rand.NewPCG(3, 4))
	var text strings.Builder
	text.WriteString(brAttr + p.mapping(""))
	for i := range largeSamples / 4 {
		f := p.functions[r.IntN(len(p.functions))]
		var jumps []disasm.Inst
		for _, in := range f.Insts {
			if in.Kind == disasm.Conditional && f.Inst(in.Target) >= 0 {
				jumps = append(jumps, in)
			}
		}
		if len(jumps) == 0 {
			continue
		}
		var entries []string
		for range 16 {
			in := jumps[r.IntN(len(jumps))]
			flag := "PREDICTED"
			if r.IntN(8) == 0 {
				flag = "MISPRED"
			}
			entries = append(entries, fmt.Sprintf("from=%#x,to=%#x,flags=%s", largeStart+p.load+in.Addr, largeStart+p.load+in.Target, flag))
		}
		text.WriteString(brSample(10, 10+i, entries...))
	}
	p.read(b, text.String())
}
