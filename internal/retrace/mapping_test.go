package retrace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestRetraceSkipped(t *testing.T) {
	tests := []struct {
		name, lines string
		want        int
	}{
		{"member before any class", "    void foo() -> a\norg.App -> a.b:\n", 1},
		{"class without colon ends the class before it", "org.App -> a.b:\norg.Bad -> b\n    void foo() -> a\n", 2},
		{"text", "org.App -> a.b:\nhello\nhello -> \n -> b:\nx -> a b:\n", 4},
		{"range of one number", "org.App -> a.b:\n    5:void foo() -> a\n", 1},
		{"range without end", "org.App -> a.b:\n    5:6 void foo() -> a\n    5:6: -> a\n    5: -> a\n", 3},
		{"number beyond 31 bits", "org.App -> a.b:\n    1:2147483648:void foo() -> a\n    1:99999999999999999999:void foo() -> a\n", 2},
		{"largest number", "org.App -> a.b:\n    1:2147483647:void foo() -> a\n", 0},
		{"original range", "org.App -> a.b:\n    1:2:void foo():x -> a\n    1:2:void foo():3: -> a\n    1:2:void foo()3 -> a\n    1:2:void foo(): -> a\n", 4},
		{"parameters not closed", "org.App -> a.b:\n    void foo(int -> a\n", 1},
		{"names", "org.App -> a.b:\n    void .foo() -> a\n    void foo.() -> a\n    void () -> a\n    int -> a\n    void foo() -> \n    void foo() -> a b\n", 6},
		{"field with range", "org.App -> a.b:\n    1:1:int f -> a\n", 1},
		{"fields are fine", "org.App -> a.b:\n    int f -> a\n    org.App$X[] g -> b\n", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := parseMapping(t, tt.lines)
			if got := r.Skipped(); got != tt.want {
				t.Errorf("Skipped() = %d, want %d", got, tt.want)
			}
			want := []Frame{{Class: "org.App", Method: "a"}}
			if tt.want > 0 {
				if diff := cmp.Diff(want, r.Frames("a.b", "a", 0)); diff != "" {
					t.Errorf("a skipped line left a trace (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestRetraceCommentAfterSkippedLine(t *testing.T) {
	r := parseMapping(t, "org.App -> a.b:\n    void foo() -> a\n    void ( -> b\n    # {\"id\":\"com.android.tools.r8.synthesized\"}\n")
	want := []Frame{{Class: "org.App", Method: "foo"}}
	if diff := cmp.Diff(want, r.Frames("a.b", "a", 0)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRetraceErrors(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	broken := errors.New("broken pipe")
	tests := []struct {
		name string
		r    io.Reader
		want string // "" for none
	}{
		{"empty", strings.NewReader(""), "no class mapping found: is this a mapping.txt?"},
		{"no class", strings.NewReader("# compiler: R8\nhello\n"), "no class mapping found: is this a mapping.txt?"},
		{"binary", bytes.NewReader([]byte{0x1f, 0x8b, 8, 0, 0}), "no class mapping found: is this a mapping.txt?"},
		{"line too long", strings.NewReader("a -> b:\n\n" + long + "x\n"), "line 3: longer than 1048576 bytes"},
		{"much too long", strings.NewReader("a -> b:\n\n" + long + long + long), "line 3: longer than 1048576 bytes"},
		{"longest line", strings.NewReader("a -> b:\n# " + long[2:] + "\r\nb -> c:\n"), ""},
		{"longest line at the end", strings.NewReader("a -> b:\n" + long), ""},
		{"reader fails", io.MultiReader(strings.NewReader("a -> b:\nc -> d:\n"), iotest.ErrReader(broken)), "line 3: broken pipe"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Parse(tt.r)
			if tt.want == "" {
				if err != nil || r == nil {
					t.Fatalf("got %v, %v", r, err)
				}
				return
			}
			if err == nil || err.Error() != tt.want {
				t.Errorf("got error %v, want %q", err, tt.want)
			}
			if r != nil {
				t.Error("got a value beside the error")
			}
		})
	}
	if _, err := Parse(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("got error %v, want it to wrap %v", err, broken)
	}
}

func TestRetraceNewerVersion(t *testing.T) {
	for version, want := range map[string]string{
		"1.0": "", "2.2": "", "2.3": "2.3", "2.10": "2.10", "3.0": "3.0", "10": "10", "experimental": "", "": "",
	} {
		r := parseMapping(t, `# {"id":"com.android.tools.r8.mapping","version":"`+version+"\"}\na -> b:\n")
		if got := r.NewerVersion(); got != want {
			t.Errorf("version %q: NewerVersion() = %q, want %q", version, got, want)
		}
	}
	r := parseMapping(t, "# {id:com.android.tools.r8.mapping,version:'3.1'}\n# {id:com.android.tools.r8.mapping,version:'2.9'}\na -> b:\n")
	if got := r.NewerVersion(); got != "3.1" {
		t.Errorf("NewerVersion() = %q, want the highest, 3.1", got)
	}
}

func TestScanMappingInfo(t *testing.T) {
	type info struct {
		ID, FileName, Signature string
		Positions               map[uint32]uint32
	}
	tests := map[string]info{
		`{"id":"a","fileName":"b","signature":"()V"}`:                      {ID: "a", FileName: "b", Signature: "()V"},
		`{ 'id' : 'a' , fileName : b }`:                                    {ID: "a", FileName: "b"},
		`{"x":{"id":"no","y":[1,{"id":"no"}]},"z":[],"id":"a"}`:            {ID: "a"},
		`{"x":-1.5e3,"y":null,"z":"}","id":"a"}`:                           {ID: "a"},
		`{"id":"\u003ca\"\\\/>"}`:                                          {ID: `<a"\/>`},
		`{'id':'a"\x'}`:                                                    {ID: `a"\x`}, // no JSON: as it is
		`{"positions":{"1":4,"2":"5","x":6,"3":-1,"4":{},"5":4294967296}}`: {Positions: map[uint32]uint32{1: 4, 2: 5}},
		`{"positions":7,"id":"a"}`:                                         {ID: "a", Positions: map[uint32]uint32{}},
		`{"id":{"id":"no"},"fileName":["b"]}`:                              {},
		`{"id":"a"} {"fileName":"b"}`:                                      {ID: "a"},
		// What stands before a mistake counts.
		`{"id":"a","fileName":"b`:  {ID: "a"},
		`{"id":"a" "fileName":"b"`: {ID: "a"},
		`{"id":"a","fileName"}`:    {ID: "a"},
		`{"id":"a","x":[[[`:        {ID: "a"},
		`{"id":"a\`:                {},
		`{"id":`:                   {},
		`{`:                        {},
		`{:}`:                      {},
		``:                         {},
		`[]`:                       {},
	}
	for text, want := range tests {
		got := scanInfo([]byte(text))
		if diff := cmp.Diff(want, info{string(got.id), string(got.fileName), string(got.signature), got.positions}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// Maps made to cost more than they are long.
func TestRetraceHostileMappings(t *testing.T) {
	const n = 20_000
	tests := map[string]string{
		"class in many sections": strings.Repeat("a -> b:\n  1:1:void f():2:2 -> c\n", n),
		"one deep stack":         "a -> b:\n" + strings.Repeat("  1:1:void f():2:2 -> c\n", n),
		"many candidates":        "a -> b:\n" + manyOverloads(n),
		"deep comment":           "a -> b:\n# " + strings.Repeat(`{"x":[`, maxLine/6-1) + "\n",
		"many informations":      "a -> b:\n  1:1:void f() -> c\n" + strings.Repeat("  # {\"id\":\"com.android.tools.r8.outlineCallsite\",\"positions\":{\"1\":2}}\n", n),
		"many clashing classes":  manyClasses(n),
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			before := heapInUse()
			r := parseMapping(t, text)
			if grown, limit := heapInUse()-before, 8*int64(len(text))+1<<20; grown > limit {
				t.Errorf("holds %d bytes of a map of %d", grown, len(text))
			}
			for _, line := range []int{0, 1, 2} {
				if len(r.Frames("b", "c", line)) == 0 {
					t.Errorf("no frame for line %d", line)
				}
			}
			r.CallsiteLine("b", "c", 1, 1)
		})
	}
}

func manyOverloads(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "  1:%d:void f%d(t%d):2:2 -> c\n", 2+i%2, i, i)
	}
	return b.String()
}

func manyClasses(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "a%d -> b:\n  void f() -> c\n", i)
	}
	return b.String()
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func FuzzMapping(f *testing.F) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 5 {
		f.Add([]byte(randomMapping(rnd)))
	}
	f.Add([]byte("# {\"id\":\"com.android.tools.r8.mapping\",\"version\":\"2.2\"}\r\norg.App -> a.b:\r\n# { 'id':'sourceFile','fileName':'A\\u0027.kt' }\r\n" +
		"    5:3:int[] org.Util$X.<init>(int, long):17:19 -> a\r\n    5:3:void foo(int):20 -> a\r\n      # {'id':'com.android.tools.r8.outline'}\r\n" +
		"      # {'id':'com.android.tools.r8.outlineCallsite','positions':{'1':4,'2':5},'outline':'La;a()I'}\r\n    0:65535:void bar() -> b\r\n    int f -> f\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Parse(bytes.NewReader(data))
		if (r == nil) == (err == nil) {
			t.Fatalf("got %v, %v", r, err)
		}
		if err != nil {
			return
		}
		if n := bytes.Count(data, []byte("\n")) + 1; r.Skipped() > n {
			t.Fatalf("skipped %d of %d lines", r.Skipped(), n)
		}
		again, err := Parse(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		for residual := range r.byName {
			class := r.names[residual]
			methods := map[string]bool{"unmapped": true}
			lines := map[int]bool{0: true, 1: true, 1 << 30: true}
			for _, s := range r.classes[r.byName[residual]].spans {
				if len(methods) > 8 {
					break
				}
				methods[r.names[s.residual]] = true
				lines[int(s.from)], lines[int(s.to)] = true, true
			}
			for method := range methods {
				for line := range lines {
					frames := r.Frames(class, method, line)
					if len(frames) == 0 {
						t.Fatalf("no frames for %q.%q:%d", class, method, line)
					}
					if line == 0 && (len(frames) != 1 || frames[0].Line != 0) {
						t.Fatalf("%q.%q without a line: %+v", class, method, frames)
					}
					for _, f := range frames {
						if f.Class == "" || f.Method == "" || f.Line < 0 || f.Ambiguous != frames[0].Ambiguous {
							t.Fatalf("%q.%q:%d: %+v", class, method, line, frames)
						}
					}
					if diff := cmp.Diff(frames, again.Frames(class, method, line)); diff != "" {
						t.Fatalf("not a function of the input:\n%s", diff)
					}
					r.CallsiteLine(class, method, line, 1)
					r.Method("int "+class+"."+method+"(a[], "+class+")", line)
				}
			}
		}
	})
}

// largeMapping generates about size bytes in the manner of R8.
func largeMapping(size int) []byte {
	rnd := rand.New(rand.NewPCG(5, 6))
	var b bytes.Buffer
	b.WriteString("# {\"id\":\"com.android.tools.r8.mapping\",\"version\":\"2.2\"}\n")
	class := func(i int) string { return fmt.Sprintf("com.example.feature%d.module%d.Class%d", i%37, i%911, i) }
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "%s -> %c%c.x%d:\n# {\"id\":\"sourceFile\",\"fileName\":\"Class%d.kt\"}\n", class(i), 'a'+i%26, 'a'+i/26%26, i, i)
		for range rnd.IntN(6) {
			fmt.Fprintf(&b, "    %s field%d -> %c\n", class(rnd.IntN(i+1)), rnd.IntN(500), 'a'+rnd.IntN(26))
		}
		line := 1
		for m := range 2 + rnd.IntN(12) {
			params := class(rnd.IntN(i+1)) + ",int"
			for range 1 + rnd.IntN(4) {
				if rnd.IntN(2) == 0 {
					fmt.Fprintf(&b, "    %d:%d:void %s.inlined%d(%s):%d:%d -> %c\n", line, line+2, class(rnd.IntN(i+1)), rnd.IntN(2000), params, 10, 12, 'a'+m)
				}
				fmt.Fprintf(&b, "    %d:%d:void method%d(%s):%d -> %c\n", line, line+2, rnd.IntN(3000), params, 100+line, 'a'+m)
				line += 3
			}
			if rnd.IntN(4) == 0 {
				b.WriteString("      # {\"id\":\"com.android.tools.r8.residualsignature\",\"signature\":\"(La/b;)V\"}\n")
			}
		}
	}
	return b.Bytes()
}

func BenchmarkParseMapping(b *testing.B) {
	text := largeMapping(20 << 20)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	before := heapInUse()
	var r *Mapping
	for b.Loop() {
		var err error
		if r, err = Parse(bytes.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
	held := heapInUse() - before
	runtime.KeepAlive(text)
	b.ReportMetric(float64(held)/float64(len(text)), "held-B/input-B")
	if r.Skipped() != 0 {
		b.Fatalf("skipped %d lines", r.Skipped())
	}
}

func BenchmarkRetraceMethod(b *testing.B) {
	r, err := Parse(bytes.NewReader(largeMapping(1 << 20)))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if len(r.Method("void aa.x0.a(aa.x0, int)", 2)) == 0 {
			b.Fatal("no frame")
		}
	}
}
