package llvm

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "record the outputs of the installed tools again")

// recording is a run of llvm-mca whose output is kept for each version.
type recording struct {
	name  string
	input string
	args  string
}

var recordings = []recording{
	{"aarch64", "aarch64.s", "-mtriple=aarch64 -mcpu=cortex-a76 -iterations=2 -timeline -timeline-max-cycles=0 -timeline-max-iterations=2"},
	{"in-order", "aarch64.s", "-mtriple=aarch64 -mcpu=cortex-a55 -iterations=1 -timeline -timeline-max-cycles=0 -timeline-max-iterations=1"},
	{"x86_64", "x86_64.s", "-mtriple=x86_64 -mcpu=znver3 -iterations=100 -bottleneck-analysis"},
	{"cut", "x86_64.s", "-mtriple=x86_64 -mcpu=znver3 -iterations=4 -timeline -instruction-info=false -resource-pressure=false"},
	{"unmodelled", "unmodelled.s", "-mtriple=aarch64 -mattr=+lse -mcpu=cortex-a76 -iterations=1 -resource-pressure=false"},
	{"unparsable", "unparsable.s", "-mtriple=aarch64 -mcpu=cortex-a76 -iterations=1 -resource-pressure=false"},
}

func (r recording) path(major int, kind string) string {
	return filepath.Join("testdata", fmt.Sprintf("llvm-%d", major), r.name+"."+kind)
}

// recorded is what a version printed.
func (r recording) recorded(t *testing.T, major int) (stdout, stderr []byte) {
	t.Helper()
	return readFile(t, r.path(major, "json")), readFile(t, r.path(major, "stderr"))
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestRecordings compares the recordings with what the installed tools print.
func TestRecordings(t *testing.T) {
	eachVersion(t, func(t *testing.T, tc *Toolchain) {
		for _, r := range recordings {
			args := append(strings.Fields(r.args), "-json")
			if tc.Major >= majorSkip && r.name == "unmodelled" {
				args = append(args, "-skip-unsupported-instructions=lack-sched")
			}
			out, err := run(t.Context(), process{
				path: tc.MCA, args: append(args, "-"), stdout: 1 << 20,
				stdin: readFile(t, filepath.Join("testdata", r.input)),
			})
			if err != nil {
				t.Fatal(err)
			}
			for kind, got := range map[string][]byte{"json": out.stdout, "stderr": out.stderr} {
				path := r.path(tc.Major, kind)
				if *update {
					if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, got, 0o644); err != nil {
						t.Fatal(err)
					}
				}
				if want := readFile(t, path); !bytes.Equal(got, want) {
					t.Errorf("%s: %s\n%s", path, r.args, cmp.Diff(string(want), string(got)))
				}
			}
		}
	})
}

func byName(t *testing.T, name string) recording {
	t.Helper()
	for _, r := range recordings {
		if r.name == name {
			return r
		}
	}
	t.Fatalf("no recording %q", name)
	return recording{}
}

func TestParseReport(t *testing.T) {
	for _, major := range installed {
		t.Run(fmt.Sprintf("llvm-%d", major), func(t *testing.T) {
			data, _ := byName(t, "aarch64").recorded(t, major)
			r, err := parseReport(data)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := r.TargetInfo.Resources, []string{
				"A57UnitB", "A57UnitI.0", "A57UnitI.1", "A57UnitL", "A57UnitM", "A57UnitS", "A57UnitW", "A57UnitX",
			}; !cmp.Equal(got, want) {
				t.Errorf("resources %v, want %v", got, want)
			}
			if len(r.CodeRegions) != 2 {
				t.Fatalf("%d regions, want 2", len(r.CodeRegions))
			}
			region := &r.CodeRegions[0]
			if got, want := region.Instructions[1], "sdiv\tw4, w3, w7"; got != want {
				t.Errorf("instruction %q, want %q", got, want)
			}
			if got, want := region.latencies()[1], (Latency{Latency: 19, Uops: 1, RThroughput: 19}); got != want {
				t.Errorf("division %+v, want %+v", got, want)
			}
			if got, want := region.latencies()[0], (Latency{Latency: 4, Uops: 2, RThroughput: 1, Loads: true}); got != want {
				t.Errorf("load %+v, want %+v", got, want)
			}
			rows, err := region.timeline(2)
			if err != nil {
				t.Fatal(err)
			}
			// The second division waits for the divider.
			if got, want := rows[1], (Row{Dispatched: 0, Ready: 5, Issued: 5, Executed: 24, Retired: 25}); got != want {
				t.Errorf("first division %+v, want %+v", got, want)
			}
			if rows[7].Issued < rows[1].Executed {
				t.Errorf("second division %+v begins before the first ends", rows[7])
			}
			if _, err := region.timeline(3); err == nil {
				t.Error("a timeline of 2 iterations passes for one of 3")
			}
			var division float64
			for _, u := range region.pressure(r.TargetInfo.Resources) {
				if u.Instruction == 1 && u.Resource == "A57UnitM" {
					division += u.Cycles
				}
				if u.Instruction >= len(region.Instructions) {
					t.Errorf("usage of instruction %d", u.Instruction)
				}
			}
			if division != 19 {
				t.Errorf("the division takes %v cycles of A57UnitM, want 19", division)
			}
		})
	}
}

func TestParseReportInOrder(t *testing.T) {
	for _, major := range installed {
		data, _ := byName(t, "in-order").recorded(t, major)
		r, err := parseReport(data)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := r.CodeRegions[0].timeline(1)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range rows {
			if row.Retired != row.Executed {
				t.Errorf("llvm-%d: row %d: %+v", major, i, row)
			}
		}
	}
}

// TestParseReportCut has a timeline that ends after 80 cycles: LLVM 14 writes 0 for what
// comes later, the others have no rows for it.
func TestParseReportCut(t *testing.T) {
	for _, major := range installed {
		data, _ := byName(t, "cut").recorded(t, major)
		r, err := parseReport(data)
		if err == nil {
			_, err = r.CodeRegions[1].timeline(4)
		}
		if err == nil || !strings.Contains(err.Error(), "TimelineView") {
			t.Errorf("llvm-%d: error %v of a timeline that is cut", major, err)
		}
	}
}

func TestParseReportBottleneck(t *testing.T) {
	for _, major := range installed {
		data, _ := byName(t, "x86_64").recorded(t, major)
		r, err := parseReport(data)
		if err != nil {
			t.Fatal(err)
		}
		b := r.CodeRegions[1].BottleneckAnalysis.bottleneck()
		if (b != nil) != (major >= 22) {
			t.Errorf("llvm-%d: bottleneck %v", major, b)
		}
		if b != nil && (b.PressureCycles <= 0 || b.RegisterCycles <= 0) {
			t.Errorf("llvm-%d: two divisions on one register and no pressure: %+v", major, b)
		}
	}
}

func TestParseReportLies(t *testing.T) {
	const (
		summary = `"SummaryView":{"BlockRThroughput":1,"DispatchWidth":3,"IPC":1.5,"Instructions":4,"Iterations":2,"TotalCycles":5,"TotaluOps":4}`
		good    = `{"CodeRegions":[{"Name":"0","Instructions":["a","b"],` + summary + `}],"TargetInfo":{"Resources":["U"]}}`
	)
	if _, err := parseReport([]byte(good)); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ old, new, want string }{
		{`"Iterations":2`, `"Iterations":1e300`, "Iterations is 1e+300"},
		{`"Iterations":2`, `"Iterations":3`, "3 iterations and 4 instructions in total"},
		{`"Iterations":2`, `"Iterations":-2`, "Iterations is -2"},
		{`"TotalCycles":5`, `"TotalCycles":5.5`, "TotalCycles is 5.5"},
		{`"TotalCycles":5`, `"TotalCycles":"5"`, "cannot unmarshal string"},
		{`"IPC":1.5`, `"IPC":-1`, "IPC is -1"},
		{summary, `"X":1`, "has no SummaryView"},
		{summary, summary + `,"InstructionInfoView":{"InstructionList":[{"Instruction":0}]}`, "2 instructions and 1 rows"},
		{summary, summary + `,"InstructionInfoView":{"InstructionList":[{"Instruction":0},{"Instruction":0}]}`, "row 1 of InstructionInfoView is of instruction 0"},
		{summary, summary + `,"ResourcePressureView":{"ResourcePressureInfo":[{"InstructionIndex":3}]}`, "InstructionIndex is 3"},
		{summary, summary + `,"ResourcePressureView":{"ResourcePressureInfo":[{"ResourceIndex":1}]}`, "ResourceIndex is 1"},
		{summary, summary + `,"TimelineView":{"TimelineInfo":[{"CycleExecuted":90,"CycleRetired":0}]}`, "the timeline is cut"},
		{summary, summary + `,"TimelineView":{"TimelineInfo":[{"CycleDispatched":4294967295}]}`, "a cycle is 4.294967295e+09"},
		{summary, summary + `,"TimelineView":{"TimelineInfo":[{"CycleIssued":2,"CycleExecuted":1,"CycleRetired":1}]}`, "before it is issued"},
		{`}]`, ``, "llvm-mca: json: "},
	}
	for _, tt := range tests {
		_, err := parseReport([]byte(strings.Replace(good, tt.old, tt.new, 1)))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s instead of %s: error %v, want %q", tt.new, tt.old, err, tt.want)
		}
	}
}

func TestParseStderr(t *testing.T) {
	twice := func(major int) int {
		if major >= majorSkip {
			return 2 // the regions are looked for with a parser of their own
		}
		return 1
	}
	for _, major := range installed {
		_, stderr := byName(t, "unparsable").recorded(t, major)
		m := parseStderr(stderr)
		count := 0
		for _, d := range m.diagnostics {
			if d.line == 3 && d.column == 3 && d.message == "unrecognized instruction mnemonic" {
				count++
			}
		}
		if count < 1 || count > twice(major) || len(m.warnings) != 0 {
			t.Errorf("llvm-%d: unparsable: %+v", major, m)
		}

		_, stderr = byName(t, "unmodelled").recorded(t, major)
		m = parseStderr(stderr)
		want := []string{"ldadd\tx0, x1, [x2]", "ldaddal\tw1, w1, [x2]"}
		if major < majorSkip {
			want = want[:1] // it stops there
		}
		if !cmp.Equal(m.unsupported, want) || len(m.warnings) != 0 {
			t.Errorf("llvm-%d: unmodelled: %+v, want %q", major, m, want)
		}

		_, stderr = byName(t, "aarch64").recorded(t, major)
		if m = parseStderr(stderr); len(m.warnings)+len(m.errors)+len(m.diagnostics) != 0 {
			t.Errorf("llvm-%d: a call and a return: %+v", major, m)
		}
	}
	m := parseStderr([]byte("llvm-mca-14: : error: unable to get target for 'x', see --version and --triple.\n" +
		"'y' is not a recognized feature for this target (ignoring feature)\n" +
		"'y' is not a recognized feature for this target (ignoring feature)\n"))
	if want := (messages{
		errors:   []string{"unable to get target for 'x', see --version and --triple."},
		warnings: []string{"'y' is not a recognized feature for this target (ignoring feature)"},
	}); !cmp.Equal(m, want, cmp.AllowUnexported(messages{}, diagnostic{})) {
		t.Errorf("%+v, want %+v", m, want)
	}
}
