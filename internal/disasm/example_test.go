package disasm_test

import (
	"fmt"

	"profdiff/internal/disasm"
)

// Blocks 1 to 3 are a loop with the header 1, block 2 is one of its own within.
func ExampleFindLoops() {
	blocks := []disasm.Block{
		{Succs: []int{1}, Dominator: -1, Reachable: true},
		{Succs: []int{2}, Preds: []int{0, 3}, Reachable: true},
		{Succs: []int{2, 3}, Preds: []int{1, 2}, Dominator: 1, Reachable: true},
		{Succs: []int{1, 4}, Preds: []int{2}, Dominator: 2, Reachable: true},
		{Preds: []int{3}, Dominator: 3, Reachable: true},
	}
	loops, innermost, _ := disasm.FindLoops(blocks, 0)
	for _, l := range loops {
		fmt.Println("header", l.Header, "blocks", l.Blocks, "depth", l.Depth)
	}
	fmt.Println(innermost)
	// Output:
	// header 1 blocks [1 2 3] depth 1
	// header 2 blocks [2] depth 2
	// [-1 0 1 0 -1]
}
