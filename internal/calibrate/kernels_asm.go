//go:build amd64 || arm64

package calibrate

// Kernels are in assembly: a compiler may make a select of a branch, or the reverse.
// Each returns how many branches were not taken.

const supported = true

// branchOnRegister runs 32 n branches, each taken if its bit of outcomes is 0. It reads
// one element more than it uses.
//
//go:noescape
func branchOnRegister(outcomes *uint32, n int) uint64

// branchOnLoad runs 16 n branches, each taken if its value is less than 128.
//
//go:noescape
func branchOnLoad(values *byte, n int) uint64

// branchOnTwoLoads runs 16 n branches, each taken if what the table has for its value
// is less than 128.
//
//go:noescape
func branchOnTwoLoads(values *byte, n int, table *[256]byte) uint64

// selectOnLoad counts like branchOnLoad, without branches.
//
//go:noescape
func selectOnLoad(values *byte, n int) uint64

// jumpsNear runs 4 n branches, of which all but the last are taken, and returns n. They
// are 20 bytes apart or so.
func jumpsNear(n int) uint64

// jumpsFar is jumpsNear with branches on lines of the cache of their own.
func jumpsFar(n int) uint64
