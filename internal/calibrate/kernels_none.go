//go:build !amd64 && !arm64

package calibrate

const supported = false

func branchOnRegister(*uint32, int) uint64           { return 0 }
func branchOnLoad(*byte, int) uint64                 { return 0 }
func branchOnTwoLoads(*byte, int, *[256]byte) uint64 { return 0 }
func selectOnLoad(*byte, int) uint64                 { return 0 }
func jumpsNear(int) uint64                           { return 0 }
func jumpsFar(int) uint64                            { return 0 }
