package predict

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"profdiff/internal/asm"
	"profdiff/internal/calibrate"
	"profdiff/internal/llvm"
	"profdiff/internal/predict/core"
	"profdiff/internal/probe"
)

var update = flag.Bool("update", false, "rewrite expected outputs")

// longMode predicts with all models where some of them are enough otherwise.
var longMode = flag.Bool("long", false, "predict the kernels with models of other cores, too")

const casesDir = "../../mca-cases"

func findLLVM(t testing.TB) *llvm.Toolchain {
	t.Helper()
	tool, err := llvm.Find(context.Background(), "")
	if err != nil {
		t.Skip(err)
	}
	return tool
}

// A subject is a way to predict what was measured on a CPU.
type subject struct {
	model string // the CPU that LLVM is asked about
	known knownCore
	// kin is how near the model's core is to the CPU that was measured, "" if it is what
	// LLVM takes for that.
	kin llvm.Kinship
	// brief is set if another model of the kind is evaluated with simulated misses, too.
	brief bool
}

// A knownCore is what is known of a core beside LLVM's model.
type knownCore string

const (
	storedCore     knownCore = "stored core"     // what is known of it here
	calibratedCore knownCore = "calibrated core" // what the probes of a calibration say, and nothing else
	modelAlone     knownCore = "LLVM's model"
)

// subjects are the ways to predict by the CPU that was measured, best first.
var subjects = map[string][]subject{
	"znver5": {
		{model: "znver5", known: storedCore},
		{model: "znver5", known: calibratedCore},
		{model: "znver5", known: modelAlone},
		{model: "znver2", known: modelAlone, kin: llvm.KinGeneration},
		{model: "skylake", known: modelAlone, kin: llvm.KinVendor, brief: true},
		{model: "sapphirerapids", known: modelAlone, kin: llvm.KinVendor, brief: true},
	},
	"emeraldrapids": {
		{model: "emeraldrapids", known: storedCore},
		{model: "emeraldrapids", known: calibratedCore},
		{model: "emeraldrapids", known: modelAlone},
		{model: "icelake-server", known: modelAlone, kin: llvm.KinGeneration},
		{model: "skylake", known: modelAlone, kin: llvm.KinGeneration, brief: true},
		{model: "znver4", known: modelAlone, kin: llvm.KinVendor},
		{model: "znver2", known: modelAlone, kin: llvm.KinVendor, brief: true},
	},
}

// machine is what a subject predicts for.
func (s *subject) machine(t testing.TB, tool *llvm.Toolchain) *Machine {
	t.Helper()
	m, err := NewMachine(tool, asm.X8664, s.model, nil)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case s.known == storedCore:
		return m
	case s.known == calibratedCore:
		probes := m.Core.Probes
		if len(probes) == 0 {
			probes = calibration(t, s.model)
		}
		c, err := core.FromProbes(m.Arch, m.Model.CPU, m.Model, probes, nil)
		if err != nil {
			t.Fatal(err)
		}
		m.Core, m.Refill, m.Taken = c, c.Refill, c.TakenPerCycle
		return m
	}
	m.Core, m.Refill, m.Taken = nil, float64(m.Model.MispredictPenalty), max(1, float64(m.Model.TakenPerCycle))
	if s.kin != "" {
		m.Model.Kinship, m.Model.StandIn = s.kin, s.model
	}
	return m
}

// evaluatedPs are the p that are evaluated. The errors of a kernel at others are nearly the
// same.
var evaluatedPs = []string{"0", "0.1", "0.5"}

// calibration are the probes of the calibration of a CPU that is kept with what kernels took on it.
func calibration(t testing.TB, cpu string) probe.Values {
	t.Helper()
	f, err := os.Open(filepath.Join(casesDir, "measured", cpu+".calibration.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c, err := calibrate.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return c.Cores[0].Values()
}

// ps are the p that are evaluated, all if there are none.
func (s *subject) ps() []string {
	if s.kin == "" {
		return nil
	}
	return evaluatedPs
}

// seeds are the walks: llvm-mca simulates one in the time in which the model of a core
// computes many.
func (s *subject) seeds() int {
	if s.known == modelAlone {
		return 1
	}
	return 0
}

// sources are where misses are from. With models of other cores both say nearly the same.
func (s *subject) sources() []Source {
	if s.brief {
		return []Source{SourceKnown}
	}
	return []Source{SourceKnown, SourceSimulated}
}

// measuredCycles are the cycles of a CPU.
func measuredCycles(t testing.TB, cpu string) []CaseCycles {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(casesDir, "measured", cpu+".tsv"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := ReadCaseCycles(text)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// predictCases predicts the kernels of a set that were measured on a CPU, or of all sets
// if it is "", at some p or at all.
func predictCases(t testing.TB, p *Predictor, cpu, set string, ps []string, sources ...Source) []*measuredPair {
	t.Helper()
	var list []*measuredPair
	byKey := make(map[string]*measuredPair)
	var pairs []*Pair
	for _, r := range measuredCycles(t, cpu) {
		if r.Arch != "x86-64" || len(ps) > 0 && !slices.Contains(ps, r.P) {
			continue
		}
		c, err := ReadCase(os.DirFS(filepath.Join(casesDir, r.Case)))
		if err != nil {
			t.Fatal(err)
		}
		if set != "" && c.Set != set {
			continue
		}
		key := r.Case + " " + r.P
		m := byKey[key]
		if m == nil {
			m = &measuredPair{name: r.Case, p: r.P, set: c.Set, results: make(map[Source]*Result)}
			byKey[key] = m
			list = append(list, m)
			for _, source := range sources {
				pairs = append(pairs, casePair(t, c, r.P, source))
			}
		}
		if r.Side == Branchy {
			m.branchy = r
		} else {
			m.branchless = r
		}
	}
	results, err := p.predict(t.Context(), pairs)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		list[i/len(sources)].results[r.Pair.Source] = r
	}
	return list
}

// casePair is a case at one p.
func casePair(t testing.TB, c *Case, p string, source Source) *Pair {
	t.Helper()
	pair := &Pair{Name: c.Name + " " + p, Source: source}
	for side, to := range map[string]**Side{Branchy: &pair.Base, Branchless: &pair.Head} {
		text, err := os.ReadFile(filepath.Join(casesDir, c.Name, c.Listing(side, asm.X8664)))
		if err != nil {
			t.Fatal(err)
		}
		l, err := asm.Parse(string(text), asm.X8664)
		if err != nil {
			t.Fatal(err)
		}
		if *to, err = c.side(l, side, p, source); err != nil {
			t.Fatal(err)
		}
	}
	return pair
}

// What is asked for. What is not reached stands in the document.
const (
	mostError      = 1.10 // of the speed-up, of cores that were measured
	mostErrorModel = 1.20 // of those that were not
	mostWorst      = 2.0
	leastWinners   = 0.95
	leastCoverage  = 0.88
	mostCoverage   = 0.95
	mostWidth      = 1.44 // of cores that were measured
)

// missed are the limits that a score is beyond.
func (s *subject) missed(of *score) (list []string) {
	limit := mostErrorModel
	if s.known != modelAlone {
		limit = mostError
	}
	add := func(is bool, format string, args ...any) {
		if is {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	add(of.geometric > limit, "error ×%.2f, not ×%.2f", of.geometric, limit)
	add(of.worst > mostWorst, "worst ×%.2f, not ×%g", of.worst, mostWorst)
	add(float64(of.winners) < leastWinners*float64(of.decided), "right winner of %.1f %%, not %g %%", 100*float64(of.winners)/float64(of.decided), 100*leastWinners)
	add(of.judged < leastCoverage || of.judged > mostCoverage, "in the interval %.1f %% of blind and fresh, not %g to %g %%", 100*of.judged, 100*leastCoverage, 100*mostCoverage)
	add(s.known != modelAlone && of.width > mostWidth, "width ×%.2f, not ×%g", of.width, mostWidth)
	return list
}

// reached is what is reached, with a little room, by how well a core is known.
var reached = map[Tier]struct{ geometric, worst, winners, least, most float64 }{
	TierFitted:     {1.10, 2.0, 0.97, 0.90, 0.99},
	TierProbed:     {1.11, 1.95, 0.97, 0.90, 0.99},
	TierRepaired:   {1.17, 2.0, 0.96, 0.90, 0.98},
	TierGeneration: {1.37, 4.7, 0.89, 0.88, 1},
	TierVendor:     {1.34, 5.8, 0.91, 0.90, 0.99},
}

// keeps fails the test if a way to predict is worse than what was reached.
func (s *subject) keeps(t *testing.T, tier Tier, source Source, of *score) {
	t.Helper()
	limit := reached[tier]
	winners := float64(of.winners) / float64(of.decided)
	if of.geometric > limit.geometric || of.worst > limit.worst || winners < limit.winners || of.judged < limit.least || of.judged > limit.most {
		t.Errorf("%s, misses %s: error ×%.3f, worst ×%.2f, right winner of %.1f %%, %.1f %% of blind and fresh in the interval; was as good as %+v",
			s.name(), source, of.geometric, of.worst, 100*winners, 100*of.judged, limit)
	}
}

// name is the first column of a row.
func (s *subject) name() string {
	name := string(s.known) + " of " + s.model
	if s.kin != "" {
		name += ", " + string(s.kin)
	}
	return name
}

const tableHead = `| Model | Misses | Pairs | Error of cycles | Error of the speed-up | Worst | Median width | In the 90 % interval | Of blind and fresh | Right winner |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
`

// row is a row of a table.
func (s *subject) row(name string, source Source, of *score) string {
	judged := "-"
	if of.judged > 0 {
		judged = fmt.Sprintf("%.0f %%", 100*of.judged)
	}
	return fmt.Sprintf("| %s | %s | %d | %.1f %% | ×%.2f | ×%.2f, %s | ×/÷%.2f | %.0f %% | %s | %d of %d |\n", name, source, of.pairs, 100*of.cycles,
		of.geometric, of.worst, of.worstPair, of.width, 100*of.coverage(), judged, of.winners, of.decided)
}

// An evaluated is the rows of the table of one way to predict, and whether they reach what is
// asked for.
type evaluated struct{ rows, verdicts []string }

// evaluateAll predicts what was measured in each way, side by side: the results by CPU.
func evaluateAll(t *testing.T, tool *llvm.Toolchain) map[string][]evaluated {
	t.Helper()
	all := make(map[string][]evaluated)
	t.Run("evaluate", func(t *testing.T) {
		for cpu, list := range subjects {
			list = slices.DeleteFunc(slices.Clone(list), func(s subject) bool { return s.known == modelAlone && !*longMode && !*update })
			all[cpu] = make([]evaluated, len(list))
			for i := range list {
				of := all[cpu]
				t.Run(cpu+", "+list[i].name(), func(t *testing.T) {
					t.Parallel()
					of[i].rows, of[i].verdicts = list[i].evaluate(t, tool, cpu)
				})
			}
		}
	})
	return all
}

// evaluate predicts what was measured on a CPU in one way: the rows of the table, and whether
// they reach what is asked for.
func (s *subject) evaluate(t *testing.T, tool *llvm.Toolchain, cpu string) (rows, verdicts []string) {
	m := s.machine(t, tool)
	list := predictCases(t, &Predictor{Tool: tool, Machine: m, Seeds: s.seeds()}, cpu, "", s.ps(), s.sources()...)
	tier := m.tier()
	for _, source := range s.sources() {
		of := scoreOf(list, "", source)
		rows = append(rows, s.row(s.name(), source, &of))
		said := "all is reached"
		if list := s.missed(&of); len(list) > 0 {
			said = "missed: " + strings.Join(list, "; ")
		}
		verdicts = append(verdicts, fmt.Sprintf("%s, misses %s: %s", s.name(), source, said))
		s.keeps(t, tier, source, &of)
		t.Logf("%s, %s, misses %s: tier %s, standard error %.3f, in the code %.3f", cpu, s.name(), source, tier, of.sigma, tier.sigma())
		t.Log(s.row(s.name(), source, &of))
		if far := of.sigma / tier.sigma(); source == SourceKnown && far > 1.2 {
			t.Errorf("%s, %s: the standard error is %.3f, that of the tier %s is %.3f", cpu, s.name(), of.sigma, tier, tier.sigma())
		}
		for _, set := range []string{"tune", "report", "blind", "fresh"} {
			if s.known != storedCore {
				break
			}
			of := scoreOf(list, set, source)
			rows = append(rows, s.row("the set "+set+" of these", source, &of))
		}
		if s.known == modelAlone && s.kin == "" && source == SourceKnown {
			of := scoreOf(list, "", source)
			defer func() {
				rows = append(rows, fmt.Sprintf("| llvm-mca alone | none | %d | %.1f %% | ×%.2f | ×%.1f, %s | - | - | - | %d of %d |\n", of.pairs, 100*of.mca.cycles,
					of.mca.geometric, of.mca.worst, of.mca.worstPair, of.mca.winners, of.decided))
			}()
		}
	}
	for _, m := range list {
		for _, source := range s.sources() {
			r := m.results[source]
			t.Logf("%-6s %-18s p %-4s %-9s branchy %7.2f predicted %7.2f, branchless %6.2f predicted %6.2f, speed-up %5.2f predicted %5.2f [%.2f, %.2f]", m.set, m.name, m.p, source,
				m.branchy.Cycles, r.Base.Total, m.branchless.Cycles, r.Head.Total, m.speedup(), r.Speedup.Value, r.Speedup.Lo, r.Speedup.Hi)
		}
	}
	return rows, verdicts
}

const (
	accuracyBegin = "<!-- accuracy: begin -->\n"
	accuracyEnd   = "<!-- accuracy: end -->"
)

// TestAccuracy compares predictions with the measured cycles of mca-cases, for each CPU and
// in each way to predict. What it finds stands in the README there: -update rewrites it, and
// without it a row that the README does not state is an error. Models alone, which
// llvm-mca simulates, are evaluated with -long; see TestAccuracyModels.
func TestAccuracy(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates some thousand loops; see TestAccuracyShort")
	}
	tool := findLLVM(t)
	file := filepath.Join(casesDir, "README.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), accuracyBegin)
	stated, after, ok2 := strings.Cut(rest, accuracyEnd)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the accuracy", file)
	}
	made := fmt.Sprintf("By profdiff with LLVM %s, written by `go test ./internal/predict -run Accuracy -long -update`.\n", tool.Version)
	ways := evaluateAll(t, tool)
	b := strings.Builder{}
	b.WriteString(made)
	for _, cpu := range []string{"znver5", "emeraldrapids"} {
		fmt.Fprintf(&b, "\nOn %s:\n\n%s", cpu, tableHead)
		_, of, _ := strings.Cut(stated, "\nOn "+cpu+":\n")
		of, _, _ = strings.Cut(of, "\nOn ")
		var all []string
		for _, way := range ways[cpu] {
			all = append(all, way.verdicts...)
			for _, row := range way.rows {
				b.WriteString(row)
				if !*update && strings.HasPrefix(stated, made) && !strings.Contains(of, row) {
					t.Errorf("%s does not state this of %s, -update rewrites it: %s", file, cpu, row)
				}
			}
		}
		fmt.Fprintf(&b, "\nWhat is asked for on %s:\n\n", cpu)
		for _, said := range all {
			fmt.Fprintf(&b, "* %s\n", said)
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(before+accuracyBegin+b.String()+"\n"+accuracyEnd+after), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAccuracyShort checks some kernels with the cores that are known.
func TestAccuracyShort(t *testing.T) {
	tool := findLLVM(t)
	for cpu, list := range subjects {
		s := &list[0]
		p := &Predictor{Tool: tool, Machine: s.machine(t, tool)}
		of := scoreOf(predictCases(t, p, cpu, "blind", evaluatedPs, SourceSimulated), "", SourceSimulated)
		if of.geometric > 1.15 || of.far > 2 || 10*len(of.wrong) > of.decided || of.coverage() < leastCoverage {
			t.Errorf("%s: error ×%.3f, ×%.2f for %s, wrong winner of %s, %.0f %% in the interval", cpu, of.geometric, of.far, of.farPair, cmp.Or(strings.Join(of.wrong, ", "), "none"), 100*of.coverage())
		}
	}
}

// TestAccuracyModels checks LLVM's models of the CPUs that were measured with some kernels.
func TestAccuracyModels(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates some hundred loops; see TestAccuracyShort")
	}
	tool := findLLVM(t)
	for cpu, list := range subjects {
		for i := range list {
			s := &list[i]
			if s.known != modelAlone || s.kin != "" {
				continue
			}
			m := s.machine(t, tool)
			of := scoreOf(predictCases(t, &Predictor{Tool: tool, Machine: m, Seeds: s.seeds()}, cpu, "blind", []string{"0.1"}, SourceKnown), "", SourceKnown)
			t.Logf("%s, %s: %d pairs, error ×%.3f, %.0f %% in the interval", cpu, s.name(), of.pairs, of.geometric, 100*of.coverage())
			if tier := m.tier(); of.pairs < 10 || of.sigma > 1.2*tier.sigma() || of.coverage() < 0.8 {
				t.Errorf("%s, %s: %d pairs, standard error %.3f, that of the tier %s is %.3f, %.0f %% in the interval", cpu, s.name(), of.pairs, of.sigma, tier, tier.sigma(), 100*of.coverage())
			}
		}
	}
}
