package llvm_test

import (
	"fmt"

	"profdiff/internal/llvm"
)

// A recording of a Neoverse N1 says so by its MIDR_EL1. LLVM 14 has no model of it and
// takes the model of the Cortex-A57.
func ExampleModelOf() {
	cpu := llvm.CPUOf("0x00000000410fd0c0")
	m, err := llvm.ModelOf(14, "aarch64", cpu)
	if err != nil {
		panic(err)
	}
	fmt.Println(cpu, m.Name, m.StandIn, m.MispredictPenalty)
	// Output: neoverse-n1 CortexA57 cortex-a57 14
}
