package probe

import "golang.org/x/sys/cpu"

func features() map[string]bool {
	return map[string]bool{
		"avx2": cpu.X86.HasAVX2, "bmi1": cpu.X86.HasBMI1, "bmi2": cpu.X86.HasBMI2, "fma": cpu.X86.HasFMA,
		"popcnt": cpu.X86.HasPOPCNT, "sse4": cpu.X86.HasSSE41,
	}
}
