package callgrind

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDecimals compares what reads nearly all lines of costs with what reads all of them.
func TestDecimals(t *testing.T) {
	words := []string{
		"0", "7", "12", "+1", "-3", "*", "+999999999999999999", "999999999999999999", "9223372036854775807", "18446744073709551615",
		"0x10", "+0x10", "-7", "+", "-", "**", "1a", "\t3", "", "+18446744073709551615", "1000000000000000000",
	}
	rng, plain := rand.New(rand.NewPCG(1, 2)), 0
	for range 200_000 {
		var line []string
		for range rng.IntN(6) {
			line = append(line, words[rng.IntN(len(words))])
		}
		text := []byte(strings.Join(line, " "))
		p := parser{part: &Part{Positions: [][]Position{{LinePosition}, {InstrPosition, LinePosition}, {LinePosition, LinePosition}}[rng.IntN(3)]}}
		for i := range p.at {
			p.at[i] = []uint64{0, 5, math.MaxInt64, math.MaxUint64 - 4}[rng.IntN(4)]
		}
		all := p
		var got, want [2]int64
		n, ok := p.decimals(text, got[:])
		if !ok {
			if p.at != all.at {
				t.Fatalf("%q: positions are %d before and %d after what was not read", text, all.at, p.at)
			}
			continue
		}
		plain++
		c := lineScanner{line: text}
		all.positions(&c, &all.at)
		if m := all.costs(&c, want[:]); c.err != nil || m != n {
			t.Fatalf("%q: got %d costs, want %d, %v", text, n, m, c.err)
		}
		if d := cmp.Diff([]any{all.at, want}, []any{p.at, got}); d != "" {
			t.Fatalf("%q (-want +got):\n%s", text, d)
		}
	}
	if plain < 1000 {
		t.Errorf("%d lines were read", plain)
	}
}
