package callgrind_test

import (
	"fmt"
	"strings"

	"profdiff/internal/callgrind"
)

func ExampleRead() {
	const file = `# callgrind format
version: 1
positions: line
events: Ir Bc Bcm
fl=(1) sort.c
fn=(1) sift
12 1000 250 61
14 4000
`
	f, err := callgrind.Read(strings.NewReader(file), callgrind.Visitor{Cost: func(c *callgrind.Cost) error {
		fmt.Println(c.Function.Name, c.Line, c.Costs)
		return nil
	}})
	if err != nil {
		panic(err)
	}
	fmt.Println(f.Format)
	// Output:
	// sift 12 [1000 250 61]
	// sift 14 [4000 0 0]
	// callgrind
}
