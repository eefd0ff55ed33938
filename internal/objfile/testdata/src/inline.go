// As inline.c.
package main

import (
	"fmt"
	"os"
)

var sink int

func leaf_inlined(x int) int {
	sink = x // line of leaf_inlined
	return x * 7
}

func mid_inlined(x int) int {
	y := x ^ 0x55
	return leaf_inlined(y) + 1 // call of leaf_inlined
}

//go:noinline
func outer(x int) int {
	r := x - 3
	return mid_inlined(r) ^ 3 // call of mid_inlined
}

func main() {
	fmt.Println(outer(len(os.Args)), sink)
}
