package llvm

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// loop is an iteration of a reduction over an array.
var loop = []string{
	"ldr w3, [x6, x1, lsl #2]",
	"add x1, x1, #0x1",
	"add w0, w0, w3",
	"cmp x5, x1",
	"b.ne .Lx0x390",
}

func TestSimulate(t *testing.T) {
	eachVersion(t, func(t *testing.T, tc *Toolchain) {
		got, err := tc.Simulate(t.Context(), Options{Triple: "aarch64", CPU: "cortex-a72", Timeline: true, Pressure: true},
			[]Region{{Name: "loop", Lines: loop}, {Name: "loop", Lines: loop[:4]}})
		if err != nil {
			t.Fatal(err)
		}
		s := got[0]
		if s.Name != "loop" || s.Iterations != 100 || s.DispatchWidth != 3 || len(s.Timeline) != 500 {
			t.Errorf("%q: %d iterations, width %d, %d rows", s.Name, s.Iterations, s.DispatchWidth, len(s.Timeline))
		}
		if diff := cmp.Diff([]int{0, 1, 2, 3, 4}, s.Source); diff != "" {
			t.Error(diff)
		}
		// Six micro-operations at three per cycle are two cycles per iteration.
		if per := s.TotalCycles / 100; per < 2 || per > 2.3 || s.RThroughput != 2 || s.Uops != 600 {
			t.Errorf("%v cycles per iteration, reciprocal throughput %v, %d uops", per, s.RThroughput, s.Uops)
		}
		if got[1].Uops >= s.Uops || len(got[1].Instructions) != 4 {
			t.Errorf("without its branch the loop has %d uops", got[1].Uops)
		}
		var cycles float64
		for _, u := range s.Pressure {
			cycles += u.Cycles
		}
		if cycles != 6 {
			t.Errorf("an iteration uses resources for %v cycles, want 6: %v", cycles, s.Pressure)
		}
		if len(s.Unmodelled)+len(s.Warnings) != 0 {
			t.Errorf("unmodelled %v, warnings %q", s.Unmodelled, s.Warnings)
		}
	})
}

// TestLatencies compares the latencies, which come from runs of single instructions,
// with those of the whole region.
func TestLatencies(t *testing.T) {
	eachVersion(t, func(t *testing.T, tc *Toolchain) {
		lines := inputLines(t, filepath.Join("testdata", "x86_64.s"))
		got, err := tc.Simulate(t.Context(), Options{Triple: "x86_64", CPU: "znver3", Iterations: 1}, []Region{{Lines: lines}})
		if err != nil {
			t.Fatal(err)
		}
		var want []Latency
		data, _ := byName(t, "x86_64").recorded(t, tc.Major)
		r, err := parseReport(data)
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.CodeRegions {
			want = append(want, r.CodeRegions[i].latencies()...)
		}
		if diff := cmp.Diff(want, got[0].Latencies); diff != "" {
			t.Error(diff)
		}
	})
}

func TestUnmodelled(t *testing.T) {
	lines := []string{
		"add x1, x1, #1",
		"ldaddalb w0, w2, [x3]",
		"stsmax x0, [x3]",
		"irg x0, x1",
		"casp x0, x1, x2, x3, [x4]",
		"add x1, x1, #2",
	}
	eachVersion(t, func(t *testing.T, tc *Toolchain) {
		opt := Options{Triple: "aarch64", CPU: "cortex-a72", Iterations: 10}
		got, err := tc.Simulate(t.Context(), opt, []Region{
			{Name: "atomics", Lines: lines}, {Name: "nothing", Lines: lines[3:4]}, {Name: "rest", Lines: lines[:1]},
		})
		if err != nil {
			t.Fatal(err)
		}
		s := got[0]
		want := []Unmodelled{
			{Index: 1, Text: lines[1], StandIn: "ldrb w2, [x3]"},
			{Index: 2, Text: lines[2], StandIn: "str x0, [x3]"},
			{Index: 3, Text: lines[3]},
			{Index: 4, Text: lines[4], StandIn: "ldp x0, x1, [x4]"},
		}
		if diff := cmp.Diff(want, s.Unmodelled); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]int{0, 1, 2, 4, 5}, s.Source); diff != "" || len(s.Instructions) != 5 || len(s.Latencies) != 5 {
			t.Errorf("%q %s", s.Instructions, diff)
		}
		if want := []string{"4 of 6 instructions are not modelled for cortex-a72: 1 left out, 3 stood in for"}; !cmp.Equal(s.Warnings, want) {
			t.Errorf("warnings %q, want %q", s.Warnings, want)
		}
		if n := got[1]; len(n.Instructions) != 0 || n.TotalCycles != 0 || len(n.Unmodelled) != 1 || len(n.Warnings) != 2 {
			t.Errorf("a region of which nothing is modelled: %+v", n)
		}
		if r := got[2]; len(r.Unmodelled) != 0 || r.TotalCycles == 0 {
			t.Errorf("a region beside: %+v", r)
		}
	})
}

// TestPointerAuthentication has what LLVM 14 has no information on.
func TestPointerAuthentication(t *testing.T) {
	lines := []string{"paciasp", "sub sp, sp, #0x20", "autiasp", "ret"}
	eachVersion(t, func(t *testing.T, tc *Toolchain) {
		got, err := tc.Simulate(t.Context(), Options{Triple: "aarch64", CPU: "cortex-a78"}, []Region{{Name: "f", Lines: lines}})
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		if tc.Major == 14 {
			want = 2
		}
		if n := len(got[0].Unmodelled); n != want || len(got[0].Instructions) != 4 {
			t.Errorf("%d are not modelled, want %d, and %d instructions", n, want, len(got[0].Instructions))
		}
	})
}

func TestStandIn(t *testing.T) {
	tests := []struct{ line, want string }{
		{"ldadd x0, x1, [x2]", "ldr x1, [x2]"},
		{"ldclrah w0, w1, [sp]", "ldrh w1, [sp]"},
		{"swpal x0, x1, [x2]", "ldr x1, [x2]"},
		{"casal w0, w1, [x2]", "ldr w0, [x2]"},
		{"caspal x0, x1, x2, x3, [x4]", "ldp x0, x1, [x4]"},
		{"ldaprb w0, [x1]", "ldrb w0, [x1]"},
		{"steorlb w0, [x1]", "strb w0, [x1]"},
		{"paciasp", "add x30, x30, #0"},
		{"pacia x0, x1", "add x0, x0, x1"},
		{"autda x0, sp", "add x0, x0, #0"},
		{"retaa", "ret"},
		{"blraaz x8", "blr x8"},
		{"brab x8, sp", "br x8"},
		{"irg x0, x1", ""},
		{"ldraa x0, [x1]", ""},
		{"swpq x0, [x2]", ""},
		{"casx", ""},
		{"ldadd [x2]", ""},
	}
	for _, tt := range tests {
		if got := standIn("aarch64", []string{tt.line}); got != tt.want {
			t.Errorf("standIn(%q) = %q, want %q", tt.line, got, tt.want)
		}
	}
	if got := standIn("x86_64", []string{"ldadd x0, x1, [x2]"}); got != "" {
		t.Errorf("a stand-in for x86: %q", got)
	}
}

func TestParseErrors(t *testing.T) {
	good := Region{Name: "good", Lines: []string{"nop", "add x0, x0, #1"}}
	tests := []struct {
		lines  []string
		line   int
		column int
		want   string // in the message
	}{
		{[]string{"nop", "  frobnicate x1"}, 1, 2, "unrecognized instruction mnemonic"},
		{[]string{"nop", "nop", "add x0, x0, [x1"}, 2, 12, ""},
		{[]string{"b.ne 0x40000001"}, 0, 5, ""},
		{[]string{"nop", ".incbin \"/etc/passwd\""}, 1, 0, "a directive is not an instruction"},
		{[]string{"here: nop"}, 0, 0, "a label is not an instruction"},
		{[]string{"x = 5"}, 0, 0, "a label is not an instruction"},
		{[]string{"nop ; nop"}, 0, 4, "is not part of an instruction"},
		{[]string{"nop\nnop"}, 0, 3, "control character"},
		{[]string{"nop # LLVM-MCA-END"}, 0, 6, "is not part of an instruction"},
		{[]string{"nop /* a"}, 0, 4, "is not part of an instruction"},
		{[]string{""}, 0, 0, "no instruction"},
		{[]string{"# nop"}, 0, 0, "not an instruction"},
		{[]string{"nop" + strings.Repeat(" ", 300)}, 0, 256, "over 256 bytes"},
	}
	eachVersion(t, func(t *testing.T, tc *Toolchain) {
		for _, tt := range tests {
			for _, known := range []bool{false, true} { // the second time from the cache
				got, err := tc.Simulate(t.Context(), Options{Triple: "aarch64", CPU: "cortex-a72"},
					[]Region{good, {Name: "bad", Lines: tt.lines}, good})
				pe, ok := errors.AsType[*ParseError](err)
				if !ok || got != nil {
					t.Errorf("%q: %v, error %v", tt.lines, got, err)
					continue
				}
				if pe.Region != "bad" || pe.Index != 1 || pe.Line != tt.line || pe.Column != tt.column ||
					pe.Text != tt.lines[tt.line] || !strings.Contains(pe.Message, tt.want) {
					t.Errorf("%q (known: %t): %+v", tt.lines, known, pe)
				}
			}
		}
		it := []string{"cmp r0, #1", "ite eq", "moveq r1, #1", "movne r1, [r2"}
		_, err := tc.Simulate(t.Context(), Options{Triple: "thumbv7", CPU: "cortex-a57"}, []Region{{Name: "it", Lines: it}})
		if pe, ok := errors.AsType[*ParseError](err); !ok || pe.Line != 3 || pe.Text != it[3] {
			t.Errorf("in an IT block: error %v", err)
		}
		for _, bad := range []struct {
			opt     Options
			regions []Region
			want    string
		}{
			{Options{Triple: "aarch64", CPU: "cortex-a72"}, []Region{{Name: "none"}}, "has no instructions"},
			{Options{Triple: "aarch64", CPU: "carmel"}, []Region{good}, "no scheduling model of CPU \"carmel\"; nearest names:"},
			{Options{Triple: "sparc", CPU: "v9"}, []Region{good}, "triple \"sparc\""},
			{Options{Triple: "aarch64", CPU: "cortex-a72", Iterations: -1}, []Region{good}, "-1 iterations"},
			{Options{Triple: "aarch64", CPU: "cortex-a72", Timeline: true, Iterations: maxIterations}, []Region{good}, "more output than 512 MiB"},
		} {
			if _, err := tc.Simulate(t.Context(), bad.opt, bad.regions); err == nil || !strings.Contains(err.Error(), bad.want) {
				t.Errorf("error %v, want %q", err, bad.want)
			}
		}
	})
}

func TestWarnings(t *testing.T) {
	eachVersion(t, func(t *testing.T, tc *Toolchain) {
		got, err := tc.Simulate(t.Context(), Options{Triple: "x86_64", CPU: "znver3"}, []Region{
			{Name: "call", Lines: []string{"callq .Lx0x40", "callq *%rax"}},
			{Name: "lock", Lines: []string{"lock addl %ecx, (%rdx)", "xchgq %rax, (%rdx)"}},
			{Name: "plain", Lines: []string{"xchgq %rax, %rdx", "retq"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range [][]string{
			{"2 calls: what is called is not simulated, a call is taken to have a latency of 100 cycles"},
			{"2 locked instructions are simulated without the cost of the lock"},
			nil,
		} {
			if diff := cmp.Diff(want, got[i].Warnings, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: %s", got[i].Name, diff)
			}
		}
		// A prefix on a line of its own would be 100 micro-operations.
		if got[1].Uops > 10*100 {
			t.Errorf("two locked instructions are %d micro-operations in 100 iterations", got[1].Uops)
		}
	})
}

// TestBatches compares regions simulated together, with the limits of a process
// reached, with the same regions alone.
func TestBatches(t *testing.T) {
	if testing.Short() {
		t.Skip("has llvm-mca print so much that it takes several processes")
	}
	tc := toolchain(t, 19)
	opt := Options{Triple: "aarch64", CPU: "neoverse-n1", Iterations: 4500, Timeline: true}
	var regions []Region
	for i := range 7 { // more than one process may print
		lines := append([]string{fmt.Sprintf("add x0, x0, #%d", i)}, loop...)
		regions = append(regions, Region{Name: fmt.Sprint(i), Lines: lines[:6-i%2]})
	}
	together, err := tc.Simulate(t.Context(), opt, regions)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 3, 6} { // of the first and of the last process
		alone, err := (&Toolchain{Major: tc.Major, MCA: tc.MCA}).Simulate(t.Context(), opt, regions[i:i+1])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(alone[0], together[i]); diff != "" {
			t.Fatalf("region %d alone and together: %s", i, diff)
		}
	}
	if w := together[0].DispatchWidth; w != 4 {
		t.Errorf("neoverse-n1 dispatches %d, want 4", w)
	}
}

// TestCache counts the runs of llvm-mca.
func TestCache(t *testing.T) {
	real := toolchain(t, 19)
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	counting := script(t, filepath.Join(dir, "llvm-mca"), "echo run >>"+log+"; exec "+real.MCA+` "$@"`)
	tc := &Toolchain{Major: real.Major, Version: real.Version, MCA: counting}
	runs := func() int {
		data, err := os.ReadFile(log)
		if err != nil {
			return 0
		}
		return strings.Count(string(data), "run\n")
	}
	opt := Options{Triple: "aarch64", CPU: "cortex-a72"}
	simulate := func(want int, opt Options, regions ...Region) []Simulation {
		t.Helper()
		got, err := tc.Simulate(t.Context(), opt, regions)
		if err != nil {
			t.Fatal(err)
		}
		if n := runs(); n != want {
			t.Errorf("%d runs of llvm-mca, want %d", n, want)
		}
		return got
	}
	first := simulate(2, opt, Region{Name: "a", Lines: loop}, Region{Name: "b", Lines: loop}, Region{Name: "c", Lines: loop[:2]})
	again := simulate(2, opt, Region{Name: "x", Lines: loop})
	if again[0].Name != "x" || first[1].Name != "b" || again[0].TotalCycles != first[0].TotalCycles {
		t.Errorf("from the cache: %q, %q", again[0].Name, first[1].Name)
	}
	simulate(3, opt, Region{Name: "d", Lines: loop[1:]}) // its instructions are known
	opt.Iterations = 7
	simulate(4, opt, Region{Name: "a", Lines: loop})
	opt.CPU = "cortex-a55"
	simulate(6, opt, Region{Name: "a", Lines: loop})
	// Lines that are known are, even if a new one makes the cache drop all.
	tc.cache.lineSize = cacheLimit
	simulate(8, opt, Region{Name: "f", Lines: append([]string{"mul x9, x9, x9"}, loop...)})

	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			s, err := tc.Simulate(t.Context(), opt, []Region{{Name: "a", Lines: loop}, {Name: "e", Lines: loop[i%3:]}})
			if err != nil || s[0].TotalCycles == 0 || s[1].Name != "e" {
				t.Errorf("at once: %v %v", s, err)
			}
		})
	}
	wg.Wait()
}

// TestLyingTool has programs that print something else than what llvm-mca would.
func TestLyingTool(t *testing.T) {
	const region = `{"Name":"0","Instructions":["nop"],"InstructionInfoView":{"InstructionList":[{"Instruction":0}]},` +
		`"SummaryView":{"BlockRThroughput":1,"DispatchWidth":3,"IPC":1,"Instructions":1,"Iterations":1,"TotalCycles":1,"TotaluOps":1}}`
	report := func(regions string) string {
		return `cat >/dev/null; echo '{"CodeRegions":[` + regions + `],"TargetInfo":{"Resources":["A57UnitB"]}}'`
	}
	tests := []struct{ name, body, want string }{
		{"an unknown region", report(strings.ReplaceAll(region, `"0"`, `"7"`)), `region "7" in its output is none of the input`},
		{"a region twice", report(region + "," + region), `region "0" in its output is none of the input`},
		{"other iterations", report(region), "1 iterations in the output, not 100"},
		{"no region", report(""), "not an instruction"},
		{"no JSON", "cat >/dev/null; echo hello", "llvm-mca: json: "},
		{"nothing", "cat >/dev/null", "prints nothing"},
		{"an error", "cat >/dev/null; echo 'error: no luck' >&2; exit 1", "llvm-mca: no luck"},
		{"no end", "cat >/dev/null; yes", "prints more than expected"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tc := &Toolchain{Major: 22, MCA: script(t, filepath.Join(t.TempDir(), "llvm-mca"), tt.body)}
			_, err := tc.Simulate(t.Context(), Options{Triple: "aarch64", CPU: "cortex-a72"}, []Region{{Name: "x", Lines: []string{"nop"}}})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}
