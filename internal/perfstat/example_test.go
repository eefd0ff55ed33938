package perfstat_test

import (
	"fmt"
	"strings"

	"profdiff/internal/input"
	"profdiff/internal/perfstat"
)

// What perf stat -x, printed: instructions were counted in half of the time.
func ExampleRead() {
	const counts = `52000000,,cycles:u,10000000,100.00,,
130000000,,instructions:u,5000000,50.00,2.50,insn per cycle
310000,,branch-misses:u,10000000,100.00,,
`
	src, err := input.New("stat.csv", strings.NewReader(counts))
	if err != nil {
		panic(err)
	}
	s, err := perfstat.Read(src)
	if err != nil {
		panic(err)
	}
	fmt.Println(s.Format)
	for _, c := range s.Counters {
		fmt.Printf("%s %.0f, counted in %.0f%% of the time\n", c.Name, c.Value, 100*c.Running)
	}
	// Output:
	// perf stat -x
	// cycles:u 52000000, counted in 100% of the time
	// instructions:u 130000000, counted in 50% of the time
	// branch-misses:u 310000, counted in 100% of the time
}
