//go:build !amd64 && !arm64

package probe

var kernels map[string]kernel

func features() map[string]bool { return nil }
