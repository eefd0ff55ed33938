package calibrate

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"profdiff/internal/probe"
)

var update = flag.Bool("update", false, "rewrite expected outputs")

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs, -update rewrites it: %s", file, diff)
	}
}

// modelFile is what the model gives as a file.
func modelFile(t *testing.T) *File {
	t.Helper()
	c, err := measureModel(t, newModel())
	if err != nil {
		t.Fatal(err)
	}
	c.CPUs, c.ID, c.Name = []int{4, 5, 6}, "0x00000000410fd440", "cortex-x1"
	f := NewFile("(devel)", "android", runtime.GOARCH)
	f.Cores = []Core{*c}
	return f
}

func TestFile(t *testing.T) {
	want := modelFile(t)
	var b, text bytes.Buffer
	if err := want.Write(&b); err != nil {
		t.Fatal(err)
	}
	got, err := Read(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if err := got.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"cpu 4, 5, 6: cortex-x1, 0x00000000410fd440\n", "cost of a miss", " cycles: the least to the most of what follows\n", "measured   ", "trust      the core was alone, with 4.6"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
	if strings.Contains(text.String(), "to decide") != slices.ContainsFunc(slices.Collect(maps.Values(want.Cores[0].Refused)), func(why string) bool { return !strings.HasPrefix(why, featureMissing) }) {
		t.Errorf("what would decide:\n%s", &text)
	}
	s, err := jsonschema.For[File](nil)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "calibrate.schema.json", append(schema, '\n'))
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(b.Bytes(), &v); err != nil {
		t.Fatal(err)
	}
	if err := resolved.Validate(v); err != nil {
		t.Error(err)
	}
}

func TestReadErrors(t *testing.T) {
	var b bytes.Buffer
	if err := modelFile(t).Write(&b); err != nil {
		t.Fatal(err)
	}
	whole := b.String()
	var f File
	if err := json.Unmarshal(b.Bytes(), &f); err != nil {
		t.Fatal(err)
	}
	with := func(change func(*File)) string {
		c := f
		core := f.Cores[0]
		for _, e := range []**probe.Estimate{&core.Cost, &core.Load, &core.CycleNS} {
			value := **e
			*e = &value
		}
		core.Probes = maps.Clone(core.Probes)
		c.Cores = []Core{core}
		change(&c)
		var b bytes.Buffer
		if err := c.Write(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for name, test := range map[string]struct{ text, want string }{
		"empty":     {"", "unexpected end of JSON input"},
		"text":      {"cost: 20", "offset 1: invalid character 'c'"},
		"cut":       {whole[:len(whole)/2], "unexpected end of JSON input"},
		"schema":    {`{"schema":"profdiff.diff/v1"}`, `schema is "profdiff.diff/v1", not "profdiff.calibrate/v2"`},
		"no cores":  {with(func(f *File) { f.Cores = nil }), "has no cores"},
		"zero":      {with(func(f *File) { f.Cores[0].Cost.Lo = 0 }), "cores: entry 0: cost_cycles: 0 < lo 0 "},
		"turned":    {with(func(f *File) { f.Cores[0].Load.Lo = 1000 }), "entry 0: with_load_cycles: "},
		"too large": {with(func(f *File) { f.Cores[0].CycleNS.Hi = 1e9 }), "entry 0: cycle_ns: "},
		"probe":     {with(func(f *File) { f.Cores[0].Probes["add.latency"] = Measured{} }), "entry 0: probes: add.latency: 0 < lo 0"},
		"first":     {with(func(f *File) { f.Schema, f.Cores[0].Load = firstSchema, nil }), "entry 0: with_load_cycles is missing"},
		"not one":   {strings.Replace(whole, `"centre": `, `"centre": true, "x": `, 1), "cannot unmarshal bool"},
		"endless":   {strings.Repeat(" ", largest+1), "longer than 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Read(strings.NewReader(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) || got != nil {
				t.Errorf("got %+v, %v, want an error with %q", got, err, test.want)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	var b bytes.Buffer
	m := NewFile("(devel)", "linux", "amd64")
	if err := m.Write(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.String())
	f.Add(`{"schema":"profdiff.calibrate/v1","cores":[{"cost_cycles":{"lo":1,"centre":2,"hi":3}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Read(strings.NewReader(text))
		if (file == nil) == (err == nil) {
			t.Fatalf("got %+v, %v", file, err)
		}
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := file.Write(&b); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(file, again); diff != "" {
			t.Error(diff)
		}
	})
}

func TestCPUs(t *testing.T) {
	x86 := func(i, model string) string {
		return "processor\t: " + i + "\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: " + model + "\nmodel name\t: Intel(R) Core(TM)\nstepping\t: 2\n\n"
	}
	arm := func(i, part string) string {
		return "processor\t: " + i + "\nBogoMIPS\t: 49.15\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: " + part + "\nCPU revision\t: 2\n\n"
	}
	for name, test := range map[string]struct {
		files map[string]string
		want  []CPU
		kinds int
	}{
		"x86": {
			map[string]string{"proc/cpuinfo": x86("0", "85") + x86("1", "85")},
			[]CPU{{0, "GenuineIntel,6,85,2", "Intel(R) Core(TM)", ""}, {1, "GenuineIntel,6,85,2", "Intel(R) Core(TM)", ""}},
			1,
		},
		"hybrid": {
			map[string]string{
				"proc/cpuinfo":              x86("0", "154") + x86("1", "154") + x86("2", "154"),
				"sys/devices/cpu_core/cpus": "0-1\n", "sys/devices/cpu_atom/cpus": "2\n",
			},
			[]CPU{{0, "GenuineIntel,6,154,2", "Intel(R) Core(TM)", "cpu_core"}, {1, "GenuineIntel,6,154,2", "Intel(R) Core(TM)", "cpu_core"}, {2, "GenuineIntel,6,154,2", "Intel(R) Core(TM)", "cpu_atom"}},
			2,
		},
		"big.LITTLE": {
			map[string]string{"proc/cpuinfo": arm("0", "0xd05") + arm("1", "0xd44") + "Hardware\t: Tensor\n"},
			[]CPU{{0, "0x00000000411fd052", "", ""}, {1, "0x00000000411fd442", "", ""}},
			2,
		},
		"MIDR of the kernel": {
			map[string]string{
				"proc/cpuinfo": arm("0", "0xd05"),
				"sys/devices/system/cpu/cpu0/regs/identification/midr_el1": "0x00000000412fd050\n",
			},
			[]CPU{{0, "0x00000000412fd050", "", ""}},
			1,
		},
		"old kernel": {
			map[string]string{"proc/cpuinfo": "Processor\t: AArch64 rev 3\nprocessor\t: 0\nprocessor\t: 1\n\nCPU implementer\t: 0x41\nCPU variant\t: 0x0\nCPU part\t: 0xd03\nCPU revision\t: 3\n"},
			[]CPU{{0, "", "", ""}, {1, "", "", ""}},
			1,
		},
		"unknown": {
			map[string]string{"proc/cpuinfo": "processor\t: 0\nisa\t: rv64\n"},
			[]CPU{{0, "", "", ""}},
			1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := make(fstest.MapFS)
			for file, text := range test.files {
				root[file] = &fstest.MapFile{Data: []byte(text)}
			}
			got, err := CPUs(root)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if got := len(kinds(got)); got != test.kinds {
				t.Errorf("%d kinds, want %d", got, test.kinds)
			}
		})
	}
	for name, root := range map[string]fstest.MapFS{
		"does not exist":     {},
		"lists no processor": {"proc/cpuinfo": {Data: []byte("model name: x\n")}},
	} {
		if _, err := CPUs(root); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want an error with %q", err, name)
		}
	}
}
