package llvm

import (
	"fmt"
	"os"
	"testing"
)

// hundred are a hundred different loops of five to seventeen instructions.
func hundred() []Region {
	regions := make([]Region, 100)
	for i := range regions {
		lines := []string{fmt.Sprintf("add x9, x9, #%d", i)}
		for range 1 + i%4 {
			lines = append(lines, loop[:4]...)
		}
		regions[i] = Region{Name: fmt.Sprint(i), Lines: append(lines, loop[4])}
	}
	return regions
}

// BenchmarkSimulate simulates 100 regions of 100 iterations with nothing in the cache:
// two processes.
func BenchmarkSimulate(b *testing.B) {
	for _, timeline := range []bool{false, true} {
		b.Run(fmt.Sprintf("timeline=%t", timeline), func(b *testing.B) {
			real := toolchain(b, 19)
			regions := hundred()
			b.ReportAllocs()
			for b.Loop() {
				tc := &Toolchain{Major: real.Major, MCA: real.MCA}
				if _, err := tc.Simulate(b.Context(), Options{Triple: "aarch64", CPU: "cortex-a72", Timeline: timeline}, regions); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSimulateCached has everything in the cache.
func BenchmarkSimulateCached(b *testing.B) {
	tc := toolchain(b, 19)
	regions := hundred()
	opt := Options{Triple: "aarch64", CPU: "cortex-a72"}
	if _, err := tc.Simulate(b.Context(), opt, regions); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tc.Simulate(b.Context(), opt, regions); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseReport(b *testing.B) {
	data := readFile(b, recording{name: "aarch64"}.path(19, "json"))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parseReport(data); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDisassemble disassembles 64 KiB of this program.
func BenchmarkDisassemble(b *testing.B) {
	tc := toolchain(b, 19)
	path, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	from, _ := textSection(b, path)
	b.SetBytes(64 << 10)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tc.Disassemble(b.Context(), path, from, from+64<<10, DisassembleOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
