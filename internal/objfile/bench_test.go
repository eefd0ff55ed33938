package objfile

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// largeFile returns the file with the largest symbol table of some that a system
// may have.
func largeFile(b *testing.B) *File {
	b.Helper()
	var best string
	var largest uint64
	for _, pattern := range []string{
		"/usr/bin/node", "/usr/lib/*/libLLVM*.so*", "/usr/lib/llvm-*/lib/libLLVM*.so*", "/usr/lib/*/libc.so.6", "/usr/local/go/bin/go", "/proc/self/exe",
	} {
		names, _ := filepath.Glob(pattern)
		for _, name := range names {
			f, err := Open(name)
			if err != nil {
				continue
			}
			if size := symbolBytes(f); size > largest {
				best, largest = name, size
			}
			f.Close()
		}
	}
	f, err := Open(best)
	if err != nil {
		b.Skipf("no large file: %v", err)
	}
	b.Cleanup(func() { f.Close() })
	b.Log(best)
	return f
}

// symbolBytes is the size of the symbol table and its names.
func symbolBytes(f *File) uint64 {
	for _, names := range [][2]string{{".symtab", ".strtab"}, {".dynsym", ".dynstr"}} {
		symbols, ok := f.Section(names[0])
		if strings, ok2 := f.Section(names[1]); ok && ok2 {
			return symbols.Size + strings.Size
		}
	}
	return 0
}

func BenchmarkSymbols(b *testing.B) {
	f := largeFile(b)
	b.SetBytes(int64(symbolBytes(f)))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		t, err := f.Symbols()
		if err != nil {
			b.Fatal(err)
		}
		n = t.Len()
	}
	b.ReportMetric(float64(n), "symbols")
}

func BenchmarkLookup(b *testing.B) {
	t, err := largeFile(b).Symbols()
	if err != nil {
		b.Fatal(err)
	}
	var addrs []uint64
	for s := range t.All() {
		addrs = append(addrs, s.Addr+s.Len/2)
	}
	// In an order that is neither the table's nor random.
	slices.SortFunc(addrs, func(a, b uint64) int { return int(a*0x9E3779B97F4A7C15>>33) - int(b*0x9E3779B97F4A7C15>>33) })
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if _, ok := t.Lookup(addrs[i]); !ok {
			b.Fatalf("no symbol at %#x", addrs[i])
		}
		if i++; i == len(addrs) {
			i = 0
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	f := largeFile(b)
	b.ReportAllocs()
	for b.Loop() {
		if g, err := New(f.r, f.size); err != nil || g.Arch() == "" {
			b.Fatal(err)
		}
	}
}

// BenchmarkFrames looks up addresses of a unit that has been read.
func BenchmarkFrames(b *testing.B) {
	f := open(b, library(b, "-g"))
	l := lines(b, f)
	addrs := addresses(b, f, 1000)
	for _, a := range addrs {
		l.Frames(a)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		l.Frames(addrs[i])
		if i++; i == len(addrs) {
			i = 0
		}
	}
}

// BenchmarkFirstFrame opens the line table and looks one address up, for which a
// unit of several hundred kilobytes is read.
func BenchmarkFirstFrame(b *testing.B) {
	f := open(b, library(b, "-g"))
	info, _ := f.Section(".debug_info")
	addrs := addresses(b, f, 1)
	b.SetBytes(int64(info.Size))
	b.ReportAllocs()
	for b.Loop() {
		l, err := f.Lines()
		if err != nil {
			b.Fatal(err)
		}
		l.Frames(addrs[0])
	}
}

func BenchmarkKallsyms(b *testing.B) {
	data, err := os.ReadFile("/proc/kallsyms")
	if err != nil {
		b.Skip(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		r := bytes.NewReader(data)
		if _, err := ParseKallsyms(r); err != nil {
			b.Skip(err)
		}
	}
}

func BenchmarkDex(b *testing.B) {
	var classes []dexClass
	for range 20 {
		classes = append(classes, testClasses()...)
	}
	data, _ := buildDex(dexKind{magic: dex035}, classes)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DexSymbols(bytes.NewReader(data), int64(len(data)), 0); err != nil {
			b.Fatal(err)
		}
	}
}
