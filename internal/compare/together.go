package compare

import (
	"runtime"
	"sync"
)

// together does things of which none writes what another reads or writes, at the same time where there are processors.
func together(things ...func()) {
	var others sync.WaitGroup
	for _, do := range things[1:] {
		others.Go(do)
	}
	things[0]()
	others.Wait()
}

// eachTogether does a thing for each number below n, as together does.
func eachTogether(n int, do func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), n/leastTogether+1)
	parts := make([]func(), workers)
	for k := range parts {
		parts[k] = func() {
			for i := k * n / workers; i < (k+1)*n/workers; i++ {
				do(i)
			}
		}
	}
	together(parts...)
}

// leastTogether is for how many numbers a goroutine is worth its start.
const leastTogether = 64
