package symbolizer

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/fstest"

	"profdiff/internal/objects/objectstest"
	"profdiff/internal/perffile"
	"profdiff/internal/perfsession"
)

// BenchmarkSymbolize names addresses all over the code of a program with 10,000
// functions, whose names come from the recording or from the file.
func BenchmarkSymbolize(b *testing.B) {
	const functions, size = 10_000, 64
	e := objectstest.ELF{Size: functions * size}
	var recorded []perffile.Symbol
	for i := range uint64(functions) {
		name := fmt.Sprintf("_ZN3app8function%d3runEi", i%97)
		e.Symbols = append(e.Symbols, objectstest.Symbol{Name: name, Addr: i * size, Size: size})
		recorded = append(recorded, perffile.Symbol{Addr: i * size, Len: size, Name: name})
	}
	rng := rand.New(rand.NewPCG(1, 2))
	addrs := make([]uint64, 4096)
	for i := range addrs {
		addrs[i] = rng.Uint64N(functions * size)
	}
	for _, source := range []struct {
		name string
		z    *Symbolizer
		m    perfsession.Mapping
	}{
		{"recorded", New(Options{Simpleperf: true}), perfsession.Mapping{End: 1 << 40}},
		{"file", New(Options{Objects: objectstest.Stored(fstest.MapFS{"a": e.File(b)})}), perfsession.Mapping{End: 1 << 40, PgOff: objectstest.TextOffset}},
	} {
		b.Run(source.name, func(b *testing.B) {
			if source.name == "recorded" {
				source.z.addRecorded(&perffile.SymbolFile{Path: "/a", Type: perffile.DSOELF, Symbols: recorded})
			}
			f := userFrame(0, source.m, "/a")
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				f.Addr = addrs[i%len(addrs)]
				i++
				if len(source.z.Symbolize(f, nil, 0).Frames) != 1 {
					b.Fatalf("%#x has no name", f.Addr)
				}
			}
		})
	}
}
