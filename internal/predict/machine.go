package predict

import (
	"profdiff/internal/asm"
	"profdiff/internal/branch"
	"profdiff/internal/llvm"
	"profdiff/internal/predict/core"
	"profdiff/internal/probe"
)

// A Machine is what code is predicted for.
type Machine struct {
	Arch    asm.Arch
	Version string // of LLVM
	Model   llvm.Model
	Core    *core.Core // nil if llvm-mca's model is all that is known
	Refill  float64    // cycles from a mispredicted branch's execution until what follows is dispatched
	// RefillSource says where Refill is from.
	RefillSource string
	Taken        float64 // taken branches per cycle
}

// resolveOfCalibration is the cycles until a mispredicted branch on a loaded value is
// executed, which are part of what a calibration measures.
const resolveOfCalibration = 7

// NewMachine returns the machine with a CPU by LLVM's name. cost is what a misprediction
// costs there if it was measured, or nil.
func NewMachine(tool *llvm.Toolchain, arch asm.Arch, cpu string, cost *branch.Cost) (*Machine, error) {
	model, err := llvm.ModelOf(tool.Major, string(arch), cpu)
	if err != nil {
		return nil, err
	}
	m := &Machine{Arch: arch, Version: tool.Version, Model: model, Core: core.Of(cpu), Taken: float64(model.TakenPerCycle)}
	m.Refill, m.RefillSource = float64(model.MispredictPenalty), "LLVM "+tool.Version
	if m.Core != nil {
		m.Refill, m.RefillSource, m.Taken = m.Core.Refill, m.Core.Source, m.Core.TakenPerCycle
	}
	if m.Taken == 0 {
		m.Taken = 1
	}
	if cost != nil {
		m.Refill, m.RefillSource = max(1, cost.Centre-resolveOfCalibration), cost.Source
	}
	if m.Core != nil {
		core := *m.Core
		core.Refill = m.Refill
		m.Core = &core
	}
	return m, nil
}

// Calibrate makes the core that of what was measured on a CPU of its kind. The source
// says where that is from. A core that was fitted to kernels stays as it is, and without
// enough that was measured the machine does, of which the error says why.
func (m *Machine) Calibrate(values probe.Values, source string) error {
	known := core.Of(m.Model.CPU)
	if known != nil && len(known.Fitted) > 0 {
		return nil
	}
	c, err := core.FromProbes(m.Arch, m.Model.CPU, m.Model, values, known)
	if err != nil {
		return err
	}
	c.Source, c.Probes = source, values
	m.Core, m.Refill, m.RefillSource, m.Taken = c, c.Refill, source, c.TakenPerCycle
	return nil
}

// drawing are the options for what is drawn: what llvm-mca has for the CPU, with its faults.
func (m *Machine) drawing() llvm.Options {
	o := m.options()
	o.Plain, o.Repairs = true, nil
	return o
}

func (m *Machine) options() llvm.Options {
	return llvm.Options{Triple: string(m.Arch), CPU: m.Model.CPU, Iterations: 1, Timeline: true, Repairs: m.Model.Repairs}
}
