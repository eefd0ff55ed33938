package budget

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/cputime"
)

// TestParseErrors checks what the reader refuses beside the cases of the command's scripts.
func TestParseErrors(t *testing.T) {
	const head = "version: 1\nbudgets:\n  - id: a\n"
	for _, test := range []struct{ data, want string }{
		{"", "b.yaml:1:1: no budgets: nothing was checked"},
		{"# nothing\n", "b.yaml:1:1: no budgets: nothing was checked"},
		{"budgets\n", "b.yaml:1:1: is budgets: want a mapping"},
		{"- a\n", "b.yaml:1:1: is a list: want a mapping"},
		{"version: 2\nbudgets: [{id: a, limit: {fail: +1%}}]\n", "b.yaml:1:10: version: want version: 1, not 2"},
		{"budgets: [{id: a, limit: {fail: +1%}}]\n", "b.yaml:1:1: version: want version: 1, not 0"},
		{"version: one\n", "b.yaml:1:10: version: want a whole number, not one"},
		{"version: 1\nbudgets:\n", "b.yaml:2:10: budgets: is empty: give a value, or leave it out"},
		{head, `b.yaml:3:5: budgets[0]: budget "a" has no limit: give limit or max`},
		{"version: 1\nbudgets:\n  - limit: {fail: +1%}\n", `b.yaml:3:5: budgets[0]: budget has no id: add "id:"`},
		{head + "    limit: +5%\n", "b.yaml:4:12: budgets[0].limit: is +5%: want a mapping"},
		{head + "    limit: {fail: {}}\n", "b.yaml:4:19: budgets[0].limit.fail: is a mapping: want a change such as +5%"},
		{head + "    limit: {fail: [+1%]}\n", "b.yaml:4:19: budgets[0].limit.fail: is a list: want a change such as +5%"},
		{head + "    limit: {}\n", "b.yaml:4:12: budgets[0].limit: is empty: give warn, fail or both"},
		{head + "    max: {fail: 0%}\n", "b.yaml:4:17: budgets[0].max.fail: 0% is never proven: write 0 samples"},
		{head + "    max: {fail: 5 samples}\n", "b.yaml:4:17: budgets[0].max.fail: 5 samples: the only limit in samples is 0 samples, since recordings differ in length: use a share or a cost"},
		{head + "    max: {fail: 5 parsecs}\n", `b.yaml:4:17: budgets[0].max.fail: unknown unit "parsecs" of 5 parsecs: known are %, ns, us, ms, s, k, M, G, T and samples, and of measured values B, MB, MiB/s, Mbit/s and the like`},
		{head + "    max: {fail: 0x1p900}\n", "b.yaml:4:17: budgets[0].max.fail: want a finite amount such as 8%, 1.2ms, 14.5, 3G or 0 samples, not 0x1p900"},
		{head + "    max: {fail: 1e300}\n", "b.yaml:4:17: budgets[0].max.fail: want a finite amount, not 1e300"},
		{head + "    max: {fail: 5%}\n", "b.yaml:4:10: budgets[0].max: everything is 100% of the total: add a match"},
		{head + "    match: {function: f}\n    max: {warn: 5%, fail: 10ms}\n", "b.yaml:5:10: budgets[0].max: warn 5% and fail 10ms differ in unit"},
		{head + "    match: {function: f}\n    max: {warn: 5%, fail: 4%}\n", "b.yaml:5:10: budgets[0].max: warn 5% is not below fail 4%"},
		{head + "    match: {function: f}\n    max: {fail: 4ms, of: total}\n", "b.yaml:5:10: budgets[0].max: a share of the total is a percentage, not 4ms"},
		{head + "    match: {}\n    limit: {fail: +1%}\n", "b.yaml:4:12: budgets[0].match: is empty: give function, dso, file, thread, process or category"},
		{head + "    match: {under: f}\n    limit: {fail: +1%}\n", "b.yaml:4:20: budgets[0].match.under: needs function, dso or file: what is counted below it"},
		{head + "    match: {function: 'a*', regexp: yes}\n    limit: {fail: +1%}\n", "b.yaml:4:37: budgets[0].match.regexp: want true or false, not yes"},
		{head + "    match: {function: 'a*', regexp: true}\n    limit: {fail: +1%}\n", "b.yaml:4:23: budgets[0].match.function: a* matches the empty text, and so everything"},
		{head + "    rate: branch-misses/branches\n    limit: {fail: +1%}\n", "b.yaml:4:11: budgets[0].rate: want two events as branch-misses / branches, with spaces, not branch-misses/branches"},
		{head + "    samples: a_mbps\n    mean: true\n    quantile: 0.5\n    limit: {fail: -1%}\n", "b.yaml:3:5: budgets[0]: quantile, mean and over exclude each other"},
		{head + "    samples: a_mbps\n    mean: true\n    better: higher\n    limit: {fail: +1%}\n", "b.yaml:7:12: budgets[0].limit: better is higher: write how far it may fall, such as -5%"},
		{head + "    limit: {fail: 10%}\n", "b.yaml:4:19: budgets[0].limit.fail: 10% has no sign: write +10%"},
		{head + "    limit: {fail: 0.1}\n    samples: a_mbps\n    mean: true\n    better: higher\n", "b.yaml:4:19: budgets[0].limit.fail: 0.1 has no sign: write -10%, as better is higher"},
		{head + "    samples: a_mbps\n    mean: true\n    better: lower\n    limit: {fail: 10%}\n", "b.yaml:7:19: budgets[0].limit.fail: 10% has no sign: write +10%"},
		{head + "    samples: a_mbps\n    mean: true\n    limit: {warn: 5%, fail: 10%}\n", "b.yaml:6:19: budgets[0].limit.warn: 5% has no sign: write +5% if lower values of a_mbps are better, -5% if higher ones are"},
		{head + "    samples: a_ms\n    over: 16ms\n    limit: {fail: 10%}\n", "b.yaml:6:19: budgets[0].limit.fail: 10% has no sign: write +10%"},
		{head + "    samples: a_mbps\n    mean: true\n    better: higher\n    limit: {warn: -5%, fail: -2%}\n", "b.yaml:7:12: budgets[0].limit: warn -5% is not above fail -2%"},
		{head + "    samples: a_mbps\n    mean: true\n    better: more\n    limit: {fail: -2%}\n", "b.yaml:6:13: budgets[0].better: want lower or higher, not more"},
		{head + "    samples: a_mbps\n    mean: true\n    better: higher\n    max: {fail: 2}\n", "b.yaml:7:10: budgets[0].max: better is higher: give min"},
		{head + "    samples: a_mbps\n    mean: true\n    min: {warn: 1Mbit/s, fail: 2Mbit/s}\n", "b.yaml:6:10: budgets[0].min: warn 1Mbit/s is not above fail 2Mbit/s"},
		{head + "    samples: a_ms\n    over: 16ms\n    max: {fail: 2ms}\n", "b.yaml:6:10: budgets[0].max: want a percentage for a share over a deadline"},
		{head + "    match: {function: f}\n    max: {fail: 2MB}\n", "b.yaml:5:10: budgets[0].max: 2MB needs samples: only measured values are in that unit"},
		{head + "    match: {function: f}\n    min: {fail: 2}\n", "b.yaml:5:10: budgets[0].min: needs samples"},
		{head + "    samples: frame_ms\n    limit: {fail: +1%}\n", "b.yaml:3:5: budgets[0]: samples needs a quantile, such as 0.95, or mean: true, or over: and a deadline"},
		{head + "    samples: frame_ms\n    quantile: 95\n    limit: {fail: +1%}\n", "b.yaml:5:15: budgets[0].quantile: want a number between 0 and 1, not 95"},
		{head + "    mca: {target: x}\n", "b.yaml:3:5: budgets[0]: needs a match with a function"},
		{head + "    match: {function: f}\n    rate: a / b\n    samples: x\n    limit: {fail: +1%}\n", "b.yaml:3:5: budgets[0]: rate, samples, branch_cost and mca exclude each other"},
		{head + "    limit: {fail: +1%}\n    owner: !!str x\n", "b.yaml:5:12: budgets[0].owner: tags are not read"},
		{head + "    limit: {fail: +1%}\n    owner: &x y\n", "b.yaml:5:12: budgets[0].owner: anchors and aliases are not read: write it out"},
		{head + "    <<: {owner: x}\n", "b.yaml:4:5: budgets[0]: anchors and aliases are not read: write it out"},
		{head + "    limit: {fail: +1%\n", "b.yaml:4:12: is no YAML: could not find flow mapping end token '}'"},
		{head + "    limit: {fail: +1%}\ndefaults: {alpha: 0.9}\n", "b.yaml:5:19: defaults.alpha: a chance of 0.9 of wrong fails is no gate: want at most 0.5"},
		{head + "    limit: {fail: +1%}\ndefaults: {reference: {dso: [x]}}\n", "b.yaml:5:23: defaults.reference: needs defaults.normalize: reference, not auto"},
		{head + "    limit: {fail: +1%}\ndefaults: {normalize: 'work:'}\n", "b.yaml:5:23: defaults.normalize: want work:COUNTER, reference, instructions, total, none or auto, not work:"},
		{head + "    limit: {fail: +1%}\ndefaults: {on_missing: pass}\n", "b.yaml:5:24: defaults.on_missing: want fail or warn, not pass"},
		{head + "    limit: {fail: +1%}\ndefaults: {require: {same: [clock]}}\n", "b.yaml:5:29: defaults.require.same[0]: want arch, cpu_model, cpus, device, build, kernel, governor, recorder, event, period_mode or symbols, not clock"},
		{head + "    limit: {fail: +1%}\nwaivers: [{budget: a, ceiling: 5%, until: 2026-01-01, reason: x}]\n", `b.yaml:5:32: waivers[0].ceiling: 5% is absolute, but budget "a" has no max.fail: a relative one has a sign`},
		{head + "    limit: {fail: +1%}\nwaivers: [{budget: a, ceiling: +5%, until: 2026-02-30, reason: x}]\n", "b.yaml:5:44: waivers[0].until: want a date as 2006-01-02, not 2026-02-30"},
		{"version: 1\nbudgets: " + strings.Repeat("[", 600) + "\n", "b.yaml:2:522: nested too deeply"},
		{"version: 1\nbudgets:\n" + strings.Repeat("- ", 200) + "a\n", "b.yaml:3:129: nested too deeply"},
		{"version: 1\x00\n", "b.yaml:1:11: control character 0x0"},
		{"a: " + strings.Repeat("x", 20000), "b.yaml:1:1: the line has more than 16384 bytes"},
		{"a: |" + strings.Repeat("\n", 20000), "b.yaml:20001:1: the file has more than 20000 lines"},
		{"a: " + strings.Repeat("x", MaxSize), "b.yaml:1:1: the file has 1048579 bytes or more, of at most 1048576"},
	} {
		f, err := Parse("b.yaml", []byte(test.data))
		if err == nil || f != nil {
			t.Errorf("Parse(%.200q) = %v, want %s", test.data, f, test.want)
			continue
		}
		if diff := cmp.Diff(test.want, err.Error()); diff != "" {
			t.Errorf("Parse(%.200q): %s", test.data, diff)
		}
	}
}

// TestParseLarge reads a file of the largest size in reasonable time.
func TestParseLarge(t *testing.T) {
	var b strings.Builder
	b.WriteString("version: 1\ndefaults: {require: {runs: 12}}\nbudgets:\n")
	for i := 0; b.Len() < MaxSize-100000; i++ {
		b.WriteString("  - id: b" + strings.Repeat("x", 60) + string(rune('a'+i%26)) + strings.Repeat("y", i/26%30) + strings.Repeat("z", i/26/30) + "\n    match: {function: \"" + strings.Repeat("f*", 100) + "\"}\n    limit: {fail: +5%}\n")
	}
	start := cputime.Now()
	f, err := Parse("large.yaml", []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if d := cputime.Now() - start; d > 20*time.Second {
		t.Errorf("%d budgets took %v", len(f.Budgets), d)
	}
}

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/valid/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, s := range []string{
		"version: 1\nbudgets: &a [*a, *a]\n", "version: 1\nbudgets: [[[[", "? - ? -", "a: |\n  x\n y", "{a: {b: {c: [d, {e: f}]}}}",
		"version: 1\nbudgets:\n- {id: a, limit: {fail: .nan}}\n", "\"\\u0000\": 1", "a: !!binary x", "%YAML 1.2\n---\na: b\n...\n---\nc", "<<: *x",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		start := cputime.Now()
		file, err := Parse("fuzz.yaml", data)
		if d := cputime.Now() - start; d > 10*time.Second {
			t.Fatalf("%d bytes took %v", len(data), d)
		}
		if (file == nil) == (err == nil) {
			t.Fatalf("Parse(%q) = %v, %v", data, file, err)
		}
		if err != nil {
			if _, ok := errors.AsType[*FileError](err); !ok || strings.Contains(err.Error(), "\n") {
				t.Errorf("Parse(%q): %T %q", data, err, err)
			}
			return
		}
		if len(file.Budgets) == 0 {
			t.Errorf("Parse(%q) has no budgets", data)
		}
		for i := range file.Budgets {
			b := &file.Budgets[i]
			if b.Limit == nil && b.Max == nil && b.MCA == nil || b.ID == "" || b.Position.Line == 0 {
				t.Errorf("Parse(%q): %+v", data, b)
			}
			newMatcher(b.Match)
		}
	})
}
