package disasm

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"profdiff/internal/objfile"
)

// largeFile is the largest library with much code on the machine.
func largeFile(b *testing.B) *objfile.File {
	b.Helper()
	const least = 50 << 20 // bytes of code
	var best string
	size := uint64(least)
	for _, pattern := range []string{"/usr/lib/llvm-*/lib/libLLVM*.so*", "/usr/lib/*/libLLVM*.so*", "/usr/lib64/libLLVM*.so*", "/usr/lib/*/libwebkit*.so*", "/usr/lib/firefox*/libxul.so"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			b.Fatal(err)
		}
		for _, name := range found {
			info, err := os.Stat(name)
			if err != nil || uint64(info.Size()) <= size {
				continue
			}
			best, size = name, uint64(info.Size())
		}
	}
	if best == "" {
		b.Skip("no library with 50 MB is installed, such as libLLVM")
	}
	f, err := objfile.Open(best)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	b.Log(best)
	return f
}

// BenchmarkLarge analyses all functions of a large library: bounds, instructions, jump
// tables, blocks, dominators, loops.
func BenchmarkLarge(b *testing.B) {
	f := largeFile(b)
	b.ReportAllocs()
	for b.Loop() {
		c, err := New(f)
		if err != nil {
			b.Fatal(err)
		}
		starts := make([]uint64, 0, len(c.bounds().frames)+len(c.bounds().list))
		for _, s := range c.bounds().list {
			starts = append(starts, s.start)
		}
		for _, s := range c.bounds().frames {
			starts = append(starts, s.start)
		}
		slices.Sort(starts)
		starts = slices.Compact(starts)
		end, bytes, functions, loops := uint64(0), uint64(0), 0, 0
		for _, start := range starts {
			if start < end {
				continue
			}
			fn, err := c.FunctionAt(start)
			if err != nil {
				continue
			}
			end = max(end, fn.End)
			bytes += fn.End - fn.Start
			functions++
			loops += len(fn.Loops)
		}
		if functions < 1000 || loops < 1000 {
			b.Fatalf("%d functions with %d loops", functions, loops)
		}
		b.SetBytes(int64(bytes))
		b.ReportMetric(float64(functions), "functions")
		b.ReportMetric(float64(loops), "loops")
	}
}
