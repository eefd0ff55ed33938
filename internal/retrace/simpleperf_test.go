package retrace

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// simpleperfModel is simpleperf's ProguardMappingRetrace in a few words: of the lines
// for a name the last one counts that is not synthesized.
type simpleperfModel struct {
	classes map[string]*simpleperfClass
}

type simpleperfClass struct {
	original    string
	synthesized bool
	methods     map[string]simpleperfMethod
}

type simpleperfMethod struct {
	name        string // with class if it is another one
	synthesized bool
}

// newSimpleperfModel reads maps as a compiler writes them, one space around "->".
func newSimpleperfModel(text string) simpleperfModel {
	m := simpleperfModel{make(map[string]*simpleperfClass)}
	var class *simpleperfClass
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		left, residual, ok := strings.Cut(line, " -> ")
		if !ok || strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		synthesized := false
		for _, next := range lines[i+1:] {
			if !strings.HasPrefix(strings.TrimSpace(next), "#") {
				break
			}
			synthesized = synthesized || strings.Contains(next, "com.android.tools.r8.synthesized")
		}
		if !strings.HasPrefix(line, " ") {
			residual = strings.TrimSuffix(residual, ":")
			if class = m.classes[residual]; class == nil {
				class = &simpleperfClass{methods: make(map[string]simpleperfMethod)}
				m.classes[residual] = class
			}
			class.original = left
			class.synthesized = class.synthesized || synthesized
			continue
		}
		left, _, ok = strings.Cut(left, "(")
		if !ok {
			continue
		}
		name := left[strings.LastIndexByte(left, ' ')+1:]
		name = strings.TrimPrefix(name, class.original+".")
		if _, ok := class.methods[residual]; !ok || !synthesized {
			class.methods[residual] = simpleperfMethod{name, synthesized}
		}
	}
	return m
}

func (m simpleperfModel) lookup(class, method string) (name string, synthesized bool) {
	c := m.classes[class]
	if c == nil {
		return "", false
	}
	o, ok := c.methods[method]
	switch {
	case !ok:
		return c.original + "." + method, c.synthesized
	case strings.Contains(o.name, "."):
		return o.name, o.synthesized
	}
	return c.original + "." + o.name, o.synthesized
}

func checkSimpleperfParity(t *testing.T, text string) (lookups int) {
	t.Helper()
	r := parseMapping(t, text)
	m := newSimpleperfModel(text)
	check := func(class, method string) {
		t.Helper()
		lookups++
		name, synthesized := m.lookup(class, method)
		got := r.Frames(class, method, 0)
		if len(got) != 1 || got[0].Name() != name || got[0].Synthesized != synthesized {
			t.Errorf("%s.%s = %+v, simpleperf has %s, synthesized %v, in:\n%s", class, method, got, name, synthesized, text)
		}
	}
	for class, c := range m.classes {
		for method := range c.methods {
			check(class, method)
		}
		check(class, "unmapped")
	}
	return lookups
}

// The maps that simpleperf's own tests use, in shape.
func TestRetraceSimpleperfCases(t *testing.T) {
	const synth = "      # {\"id\":\"com.android.tools.r8.synthesized\"}\n"
	const head = "lib.support.Parcelizer -> x:\n"
	tests := []struct {
		name, mapping, method string
		want                  Frame
	}{
		{"method of the class", head + "    13:13:lib.Action read(lib.Parcel) -> m\n", "x.m", Frame{Class: "lib.support.Parcelizer", Method: "read"}},
		{"name with the class", head + "    13:13:lib.Action lib.support.Parcelizer.read2(lib.Parcel) -> m\n", "x.m", Frame{Class: "lib.support.Parcelizer", Method: "read2"}},
		{"only the class", head + "    13:13:lib.Action read(lib.Parcel) -> m\n", "x.java_method4", Frame{Class: "lib.support.Parcelizer", Method: "java_method4"}},
		{"synthesized is kept and marked", head + "    13:13:lib.Action read(lib.Parcel) -> m\n" + synth, "x.m", Frame{Class: "lib.support.Parcelizer", Method: "read", Synthesized: true}},
		{"signature", head + "    13:13:lib.Action read(lib.Parcel) -> v\n", "void x.v(cteo, ctgc, ctbn)", Frame{Class: "lib.support.Parcelizer", Method: "read"}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff([]Frame{tt.want}, parseMapping(t, tt.mapping).Method(tt.method, 0)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		checkSimpleperfParity(t, tt.mapping)
	}
}

// randomMapping writes a map as R8 does, with all its features and more clashes.
func randomMapping(rnd *rand.Rand) string {
	var b strings.Builder
	pick := func(s ...string) string { return s[rnd.IntN(len(s))] }
	maybe := func(n int, s string) {
		if rnd.IntN(n) == 0 {
			b.WriteString(s)
		}
	}
	const (
		synth    = "      # {\"id\":\"com.android.tools.r8.synthesized\"}\n"
		residual = "      # {\"id\":\"com.android.tools.r8.residualsignature\",\"signature\":\"(I)V\"}\n"
	)
	b.WriteString("# {\"id\":\"com.android.tools.r8.mapping\",\"version\":\"2.2\"}\n")
	for range 1 + rnd.IntN(5) {
		fmt.Fprintf(&b, "org.%s -> %s:\n", pick("App", "Util", "Point"), pick("a", "b", "c.d"))
		maybe(3, "# {\"id\":\"sourceFile\",\"fileName\":\"X.kt\"}\n")
		maybe(4, synth)
		maybe(2, "    int field -> a\n")
		line := 1
		for range rnd.IntN(8) {
			residualName, outer := pick("a", "b", "<init>"), pick("foo", "bar", "baz")+"("+pick("", "int", "long,int")+")"
			to := line + rnd.IntN(3)
			if rnd.IntN(4) == 0 {
				fmt.Fprintf(&b, "    void %s -> %s\n", outer, residualName)
			} else {
				at := fmt.Sprintf("%d:%d:", line, to)
				for range rnd.IntN(3) {
					fmt.Fprintf(&b, "    %svoid %s%s():%d -> %s\n", at, pick("", "org.App.", "net.Other.", "net.Other$In."), pick("in", "foo"), rnd.IntN(99), residualName)
				}
				original := pick("", fmt.Sprintf(":%d", rnd.IntN(99)), fmt.Sprintf(":%d:%d", 10, 10+to-line))
				fmt.Fprintf(&b, "    %svoid %s%s%s -> %s\n", at, pick("", "", "net.Merged."), outer, original, residualName)
			}
			maybe(5, residual)
			maybe(3, synth)
			if rnd.IntN(5) > 0 {
				line = to + 1
			}
		}
	}
	return b.String()
}

func TestRetraceSimpleperfParity(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	n := 0
	for range 2000 {
		n += checkSimpleperfParity(t, randomMapping(rnd))
		if t.Failed() {
			return
		}
	}
	if n < 5000 {
		t.Errorf("compared %d names only", n)
	}
}

func TestRetraceRealMapping(t *testing.T) {
	name := filepath.Join("..", "..", "..", "shared", "perfdata", "simpleperf", "proguard_mapping.txt")
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("the recordings in ../shared/perfdata are not here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if n := checkSimpleperfParity(t, string(text)); n < 20 {
		t.Errorf("compared %d names only", n)
	}
	r := parseMapping(t, string(text))
	if n := r.Skipped(); n != 0 {
		t.Errorf("skipped %d lines", n)
	}
	for _, tt := range []struct {
		name string
		line int
		want Frame
	}{
		{"a.h.a.c.onStart", 0, Frame{Class: "androidx.fragment.app.FragmentActivity", Method: "onStart"}},
		{"void a.h.a.c.p()", 584, Frame{Class: "androidx.fragment.app.FragmentActivity", Method: "supportInvalidateOptionsMenu", Line: 584}},
		{"a.h.a.c.startActivityForResult", 675, Frame{Class: "androidx.fragment.app.FragmentActivity", Method: "startActivityForResult", Line: 675}},
		{"a.h.a.c.kept", 0, Frame{Class: "androidx.fragment.app.FragmentActivity", Method: "kept"}},
	} {
		if diff := cmp.Diff([]Frame{tt.want}, r.Method(tt.name, tt.line)); diff != "" {
			t.Errorf("%s:%d (-want +got):\n%s", tt.name, tt.line, diff)
		}
	}
}

// symbolsOf returns the names that simpleperf prints for a recording, in its order.
func symbolsOf(t *testing.T, tool, recording string, args ...string) []string {
	t.Helper()
	args = append([]string{"report-sample", "-i", recording, "--show-callchain", "--remove-gaps", "0"}, args...)
	out, err := exec.Command(tool, args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(out)) {
		if _, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "symbol: "); ok {
			names = append(names, name)
		}
	}
	return names
}

// TestRetraceSimpleperfOracle renames the Java methods of a recording at random and
// compares with what simpleperf makes of them.
func TestRetraceSimpleperfOracle(t *testing.T) {
	tool, err := exec.LookPath("simpleperf")
	if err != nil {
		t.Skip("simpleperf is not installed")
	}
	recording := filepath.Join("..", "..", "..", "shared", "perfdata", "simpleperf", "perf_display_bitmaps.data")
	if _, err := os.Stat(recording); errors.Is(err, os.ErrNotExist) {
		t.Skipf("the recordings in ../shared/perfdata are not here: %v", err)
	}
	before := symbolsOf(t, tool, recording)
	methods := make(map[string][]string)
	for _, name := range before {
		dot := strings.LastIndexByte(name, '.')
		if dot < 0 || strings.ContainsAny(name, " ()[]:+,~@") {
			continue
		}
		if class, method := name[:dot], name[dot+1:]; !slices.Contains(methods[class], method) {
			methods[class] = append(methods[class], method)
		}
	}
	rnd := rand.New(rand.NewPCG(7, 8))
	compared := 0
	for range 5 {
		var b strings.Builder
		for _, class := range slices.Sorted(maps.Keys(methods)) {
			fmt.Fprintf(&b, "org.App%d -> %s:\n", rnd.IntN(1000), class)
			for line := range rnd.IntN(12) {
				method := methods[class][rnd.IntN(len(methods[class]))]
				if rnd.IntN(3) == 0 {
					fmt.Fprintf(&b, "    %d:%d:void net.Other.in%d():7:7 -> %s\n", line, line, rnd.IntN(9), method)
				}
				fmt.Fprintf(&b, "    %d:%d:void m%d(int):%d -> %s\n", line, line, rnd.IntN(99), line, method)
				if rnd.IntN(3) == 0 {
					b.WriteString("      # {\"id\":\"com.android.tools.r8.synthesized\"}\n")
				}
			}
		}
		mapping := filepath.Join(t.TempDir(), "mapping.txt")
		if err := os.WriteFile(mapping, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		after := symbolsOf(t, tool, recording, "--proguard-mapping-file", mapping)
		if len(after) != len(before) {
			t.Fatalf("%d frames with a map, %d without", len(after), len(before))
		}
		r := parseMapping(t, b.String())
		for i, name := range before {
			if after[i] == name {
				continue // native, or not in the map
			}
			compared++
			if got := r.Method(name, 0); len(got) != 1 || got[0].Name() != after[i] {
				t.Errorf("%s = %+v, simpleperf has %s", name, got, after[i])
			}
		}
	}
	if compared < 1000 {
		t.Errorf("compared %d frames only", compared)
	}
}
