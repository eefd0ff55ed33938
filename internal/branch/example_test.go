package branch_test

import (
	"fmt"
	"strings"

	"profdiff/internal/branch"
	"profdiff/internal/branch/recording"
	"profdiff/internal/input"
)

// Whatever a recording is, what it says of branches is a table. Callgrind counted
// these: conditional branches (Bc), and those its predictor missed (Bcm).
func Example() {
	const counts = `# callgrind format
version: 1
positions: instr line
events: Ir Bc Bcm Bi Bim
ob=/usr/bin/app
fl=sort.c
fn=sift
0x401136 12 8000 8000 2000 0 0
0x401140 14 8000 8000 80 0 0
`
	src, err := input.New("callgrind.out", strings.NewReader(counts))
	if err != nil {
		panic(err)
	}
	t, err := recording.Read(src, &branch.Options{})
	if err != nil {
		panic(err)
	}
	fmt.Println("tier", t.Tier)
	for _, b := range t.Branches {
		fmt.Printf("%#x in %s, line %d: %.0f of %.0f mispredicted, %.0f %%\n", b.Address, b.Function, b.Line, *b.Misses, *b.Executed, 100**b.Rate.Value)
	}
	// Output:
	// tier S
	// 0x401136 in sift, line 12: 2000 of 8000 mispredicted, 25 %
	// 0x401140 in sift, line 14: 80 of 8000 mispredicted, 1 %
}

// A core has a cost by its name in LLVM; users may know it better.
func ExampleCostOf() {
	known, err := branch.CostOf("znver3")
	if err != nil {
		panic(err)
	}
	given, err := branch.ParseCost("12-20")
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.4g cycles, from %.4g to %.4g\n", known.Centre, known.Lo, known.Hi)
	fmt.Printf("%.4g cycles, from %.4g to %.4g\n", given.Centre, given.Lo, given.Hi)
	// Output:
	// 20.8 cycles, from 13 to 26
	// 16 cycles, from 12 to 20
}
