package llvm

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/asm"
	kernels "profdiff/internal/probe"
)

var longMode = flag.Bool("long", false, "ask all models about all probes")

// probedModels are CPUs of which the table of probes has the models: with LLVM's choice where
// that is another one.
var probedModels = map[asm.Arch][]string{
	asm.X8664:   {"emeraldrapids", "lunarlake", "icelake-server", "skylake", "haswell", "znver2", "znver3", "znver5"},
	asm.AArch64: {"cortex-a53", "cortex-a55", "cortex-a510", "cortex-a72", "cortex-a76", "neoverse-n1", "cortex-x1", "neoverse-v1", "neoverse-n2", "neoverse-v2", "cortex-x4", "apple-m1"},
}

// fewProbes are asked about always: those of the idioms, moves and loads that models are wrong
// about, and of what is most frequent.
var fewProbes = []string{
	"add.latency", "add.throughput", "nop.throughput", "mix.throughput", "load.latency", "load.throughput", "load.operand.latency", "load.operand.after.alu", "load.compare.select",
	"store.lines.throughput", "move64.latency", "move32.latency", "move.vector.latency", "move8.latency", "xor.zero", "sub.zero", "vector.xor.zero", "vector.ones", "add.immediate.latency",
	"and.latency", "test.select", "cmp.select", "shift.latency", "shift.register.latency", "extr.latency", "select.latency", "set.throughput", "multiply.latency",
	"div64.small.latency", "float.add.latency", "forward.same.latency",
}

// measuredProbes are the cycles of testdata/measured.tsv by core and probe.
func measuredProbes(t *testing.T) map[string]map[string]kernels.Estimate {
	t.Helper()
	out := make(map[string]map[string]kernels.Estimate)
	err := eachRow(string(readFile(t, filepath.Join("testdata", "measured.tsv"))), 5, func(f []string) error {
		var e kernels.Estimate
		for i, v := range []*float64{&e.Centre, &e.Lo, &e.Hi} {
			var err error
			if *v, err = strconv.ParseFloat(f[2+i], 64); err != nil {
				return err
			}
		}
		if out[f[0]] == nil {
			out[f[0]] = make(map[string]kernels.Estimate)
		}
		out[f[0]][f[1]] = e
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// probeLines are the instructions of a unit of a probe, as llvm-mca reads them.
func probeLines(p *kernels.Probe) (lines []string) {
	for _, line := range p.Unit {
		if _, message := checkLine(line); message != "" {
			continue // a label or a directive
		}
		if fields := strings.Fields(line); len(fields) > 1 && strings.HasSuffix(fields[len(fields)-1], "1f") {
			line = strings.TrimSuffix(line, "1f") + ".L1"
		}
		lines = append(lines, line)
	}
	return lines
}

// A probed is what a model says of a probe, in cycles: as LLVM has it for the CPU, and with the
// model that stands for the CPU and its repairs.
type probed struct{ plain, repaired float64 }

func (p probed) String() string {
	if p.plain == 0 {
		return "-"
	}
	if plain, repaired := fmt.Sprintf("%.2f", p.plain), fmt.Sprintf("%.2f", p.repaired); plain != repaired {
		return plain + " > " + repaired
	}
	return fmt.Sprintf("%.2f", p.plain)
}

// probeModels asks models about probes. It leaves out those with instructions that a model does
// not know.
func probeModels(t *testing.T, tc *Toolchain, arch asm.Arch, cpus []string, list []kernels.Probe) map[string]map[string]probed {
	t.Helper()
	out := make(map[string]map[string]probed)
	for _, cpu := range cpus {
		m, err := ModelOf(tc.Major, string(arch), cpu)
		if err != nil {
			continue // this version does not know the CPU
		}
		var regions []Region
		for i := range list {
			regions = append(regions, Region{Name: list[i].Name, Lines: probeLines(&list[i])})
		}
		out[cpu] = make(map[string]probed)
		cycles := func(opt Options) []float64 {
			opt.Triple, opt.CPU = string(arch), cpu
			return perIteration(t, tc, opt, regions)
		}
		plain, repaired := cycles(Options{Plain: true}), cycles(Options{Repairs: m.Repairs})
		for i := range list {
			n := float64(list[i].Count)
			out[cpu][list[i].Name] = probed{plain[i] / n, repaired[i] / n}
		}
	}
	return out
}

// probeTable is the table as it is kept for each version.
func probeTable(tc *Toolchain, arch asm.Arch, list []kernels.Probe, models map[string]map[string]probed, measured map[string]map[string]kernels.Estimate) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Cycles of probes by the models of LLVM %d for some CPUs; behind > with the model that stands for\n", tc.Major)
	b.WriteString("# the CPU in profdiff and with its repairs. In brackets: measured, see measured.tsv.\n")
	var cpus []string
	for _, cpu := range probedModels[arch] {
		if models[cpu] != nil {
			cpus = append(cpus, cpu)
		}
	}
	b.WriteString("probe\t" + strings.Join(cpus, "\t") + "\n")
	for i := range list {
		name := list[i].Name
		b.WriteString(name)
		for _, cpu := range cpus {
			b.WriteString("\t" + models[cpu][name].String())
			if e, ok := measured[cpu][name]; ok {
				fmt.Fprintf(&b, " [%.2f]", e.Centre)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TestProbes asks models about probes and compares with the tables in testdata, which -update
// -long rewrites. Repairs have to bring what was measured nearer, and none may take what is right
// away.
func TestProbes(t *testing.T) {
	measured := measuredProbes(t)
	for _, arch := range []asm.Arch{asm.X8664, asm.AArch64} {
		eachVersion(t, func(t *testing.T, tc *Toolchain) {
			list, cpus := kernels.Table(arch), probedModels[arch]
			if !*longMode {
				list = slices.DeleteFunc(list, func(p kernels.Probe) bool { return !slices.Contains(fewProbes, p.Name) })
				cpus = slices.DeleteFunc(slices.Clone(cpus), func(cpu string) bool { return measured[cpu] == nil })
			}
			models := probeModels(t, tc, arch, cpus, list)
			checkProbes(t, models, measured)
			path := filepath.Join("testdata", fmt.Sprintf("llvm-%d", tc.Major), "probes-"+string(arch)+".tsv")
			if *longMode {
				golden(t, path, probeTable(tc, arch, list, models, measured))
				return
			}
			stated := make(map[string]string)
			lines := strings.Split(string(readFile(t, path)), "\n")
			names := strings.Split(lines[2], "\t")
			for _, line := range lines[3:] {
				for i, cell := range strings.Split(line, "\t") {
					cell, _, _ = strings.Cut(cell, " [")
					stated[strings.Split(line, "\t")[0]+" "+names[i]] = cell
				}
			}
			for cpu, of := range models {
				for name, p := range of {
					if got := p.String(); got != stated[name+" "+cpu] {
						t.Errorf("%s: %s: %s, %s has %s: -long -update writes it anew", cpu, name, got, path, stated[name+" "+cpu])
					}
				}
			}
		})
	}
}

// golden compares with a file, or writes it.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(readFile(t, path)), got); diff != "" {
		t.Errorf("%s: %s", path, diff)
	}
}

// checkProbes compares models with what was measured.
func checkProbes(t *testing.T, models map[string]map[string]probed, measured map[string]map[string]kernels.Estimate) {
	t.Helper()
	for cpu, of := range models {
		var plain, repaired float64
		n, off, offRepaired := 0, 0, 0
		for name, p := range of {
			e, ok := measured[cpu][name]
			if !ok || p.plain == 0 || p.repaired == 0 {
				continue
			}
			before, after := math.Abs(math.Log(p.plain/e.Centre)), math.Abs(math.Log(p.repaired/e.Centre))
			n++
			plain, repaired = plain+before, repaired+after
			if before > math.Log(1.2) {
				off++
			}
			if after > math.Log(1.2) {
				offRepaired++
			}
			if after > before+math.Log(1.25) {
				t.Errorf("%s: %s: %v, measured %.2f: the repair makes it worse", cpu, name, p, e.Centre)
			}
		}
		if n > 0 {
			t.Logf("%s: of %d probes %d are off by more than 20 %%, by ×%.2f on the average; repaired %d, ×%.2f", cpu, n, off, math.Exp(plain/float64(n)), offRepaired, math.Exp(repaired/float64(n)))
		}
	}
}
