package align

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// generated makes a call graph of n functions with names like those of C++, of which
// share is renamed on the head side.
func generated(n int, share float64) (base, head []Function) {
	words := []string{"parse", "read", "write", "hash", "node", "tree", "list", "sort", "merge", "flush", "page", "block", "index", "cache", "token", "lookup", "insert", "erase", "visit", "emit"}
	r := rand.New(rand.NewPCG(1, 1))
	pick := func() string { return words[r.IntN(len(words))] }
	name := func(i int) string {
		s := fmt.Sprintf("%s::%s%s%d::%s_%s", pick(), pick(), pick(), r.IntN(n/4+1), pick(), pick())
		switch i % 10 {
		case 0:
			return fmt.Sprintf("%s::{lambda(int)#%d}::operator()(int) const", s, 1+r.IntN(3))
		case 1:
			return s + "(int, char const*) [clone .isra.0]"
		case 2:
			return fmt.Sprintf("%s<std::vector<int, std::allocator<int> > >(unsigned long) (.llvm.%d)", s, r.Uint32())
		}
		return s + "(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const&)"
	}
	base = make([]Function, n)
	for i := range base {
		s := name(i)
		base[i] = Function{Name: s, SystemName: s, DSO: fmt.Sprintf("lib%d.so", i%7), Weight: 1 / (1 + 1e5*math.Pow(r.Float64(), 2))}
	}
	head = make([]Function, n)
	for i := range base {
		head[i] = base[i]
		if r.Float64() < share {
			head[i].Name = name(i)
		}
	}
	for _, fns := range [][]Function{base, head} {
		r := rand.New(rand.NewPCG(2, 2))
		for i := 1; i < n; i++ {
			for range 1 + r.IntN(5) {
				// Low numbers are called from everywhere or call everything.
				from, to, w := r.IntN(i), i, r.Float64()
				fns[from].Callees = append(fns[from].Callees, Edge{to, w})
				fns[to].Callers = append(fns[to].Callers, Edge{from, w})
			}
		}
	}
	return base, head
}

func BenchmarkFunctions(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		for _, share := range []float64{0, 0.05, 0.5} {
			b.Run(fmt.Sprintf("n=%d/renamed=%v", n, share), func(b *testing.B) {
				base, head := generated(n, share)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Functions(base, head, Options{}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkNormalize(b *testing.B) {
	base, _ := generated(1000, 0)
	bytes := 0
	for i := range base {
		bytes += len(base[i].Name)
	}
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	for b.Loop() {
		for i := range base {
			Normalize(base[i].Name)
		}
	}
}

func BenchmarkUnknownRename(b *testing.B) {
	base, head := generated(100_000, 0)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Functions(base, head, Options{Renames: []Rename{{"parse::nodes", "x"}}}); err == nil {
			b.Fatal("no error")
		}
	}
}
