package llvm

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// liveTimeline is the timeline that llvm-mca itself draws.
func liveTimeline(t *testing.T, tc *Toolchain, opt Options, lines []string) string {
	t.Helper()
	model, err := ModelOf(tc.Major, opt.Triple, opt.CPU)
	if err != nil {
		t.Fatal(err)
	}
	args := tc.arguments(target{triple: opt.Triple, cpu: model.MCPU, dispatch: model.Dispatch})[1:]
	n := strconv.Itoa(opt.Iterations)
	args = append(args, "-iterations="+n, "-timeline", "-timeline-max-cycles=0", "-timeline-max-iterations="+n, "-")
	out, err := run(t.Context(), process{path: tc.MCA, args: args, stdin: []byte(strings.Join(lines, "\n") + "\n"), stdout: 16 << 20})
	if err != nil || out.code != 0 {
		t.Fatalf("%v %s", err, out.stderr)
	}
	_, text, ok := strings.Cut(string(out.stdout), "Timeline view:\n")
	if !ok {
		t.Fatalf("no timeline in %s", out.stdout)
	}
	text, _, _ = strings.Cut(text, "\n\nAverage Wait times")
	return strings.TrimRight(text, "\n") + "\n"
}

// inputLines are the instructions of the files in testdata.
func inputLines(t *testing.T, name string) []string {
	t.Helper()
	var lines []string
	for line := range strings.Lines(string(readFile(t, name))) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "//") && !strings.HasSuffix(line, ":") {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestTimelineText(t *testing.T) {
	tests := []struct {
		triple, cpu, input string
		iterations         int
	}{
		{"aarch64", "cortex-a72", "aarch64.s", 1},
		{"aarch64", "cortex-a72", "aarch64.s", 12}, // rows to [11,7], over 200 cycles
		{"aarch64", "cortex-a55", "aarch64.s", 3},  // in-order
		{"aarch64", "cortex-a510", "aarch64.s", 3},
		{"aarch64", "cortex-x2", "aarch64.s", 3},
		{"aarch64", "neoverse-n1", "aarch64.s", 3},
		{"aarch64", "apple-m1", "aarch64.s", 3},
		{"x86_64", "znver3", "x86_64.s", 101}, // three digits in the index
		{"x86_64", "skylake", "x86_64.s", 4},
		{"x86_64", "btver2", "x86_64.s", 4}, // instructions without latency
		{"x86_64", "atom", "x86_64.s", 4},
		{"thumbv7", "cortex-a57", "thumb.s", 3},
	}
	eachVersion(t, func(t *testing.T, tc *Toolchain) {
		for _, tt := range tests {
			opt := Options{Triple: tt.triple, CPU: tt.cpu, Iterations: tt.iterations, Timeline: true}
			lines := inputLines(t, filepath.Join("testdata", tt.input))
			got, err := tc.Simulate(t.Context(), opt, []Region{{Name: "x", Lines: lines}})
			if err != nil {
				t.Errorf("%s %s: %v", tt.triple, tt.cpu, err)
				continue
			}
			want := liveTimeline(t, tc, opt, lines)
			if got := got[0].TimelineText(); got != want {
				t.Errorf("%s %s: %s", tt.triple, tt.cpu, cmp.Diff(want, got))
			}
		}
	})
}

var blanks = regexp.MustCompile(`\s+`)

// TestPublishedTimelines draws two timelines that were published with their assembly; in
// the publication runs of blanks are one.
func TestPublishedTimelines(t *testing.T) {
	const dir = "../../../shared/mca-cases"
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the published timelines are not here: shared/mca-cases is absent")
	}
	for _, major := range []int{19, 22} {
		t.Run("llvm-"+strconv.Itoa(major), func(t *testing.T) {
			tc := toolchain(t, major)
			equal, total := 0, 0
			for _, name := range []string{"comparator-branchy", "comparator-branchless"} {
				lines := inputLines(t, filepath.Join(dir, name+".s"))
				s, err := tc.Simulate(t.Context(), Options{Triple: "aarch64", CPU: "cortex-a72", Iterations: 1, Timeline: true},
					[]Region{{Name: name, Lines: lines}})
				if err != nil {
					t.Fatal(err)
				}
				rows := func(text string) []string {
					var rows []string
					for line := range strings.Lines(text) {
						if strings.HasPrefix(line, "[") {
							rows = append(rows, strings.TrimSpace(blanks.ReplaceAllString(line, " ")))
						}
					}
					return rows
				}
				got, want := rows(s[0].TimelineText()), rows(string(readFile(t, filepath.Join(dir, name+".published.txt"))))
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
				for i := range min(len(got), len(want)) {
					if got[i] == want[i] {
						equal++
					}
				}
				total += len(want)
			}
			if equal != 31 || total != 31 {
				t.Errorf("%d of %d rows are equal, want 31 of 31", equal, total)
			}
		})
	}
}
