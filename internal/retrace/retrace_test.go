package retrace

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func parseMapping(t testing.TB, text string) *Mapping {
	t.Helper()
	r, err := Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRetraceFrames(t *testing.T) {
	const (
		v2       = `# {"id":"com.android.tools.r8.mapping","version":"2.2"}` + "\n"
		synth    = `      # {"id":"com.android.tools.r8.synthesized"}` + "\n"
		outline  = `      # {"id":"com.android.tools.r8.outline"}` + "\n"
		residual = `      # {"id":"com.android.tools.r8.residualsignature","signature":"(I)V"}` + "\n"
	)
	type lookup struct {
		class, method string
		line          int
		want          []Frame
	}
	tests := []struct {
		name, mapping string
		lookups       []lookup
	}{
		{
			name:    "range with original range",
			mapping: "org.App -> a.b:\n    1:3:void foo(int):17:19 -> a\n    4:4:void foo(int):30:30 -> a\n",
			lookups: []lookup{
				{"a.b", "a", 1, []Frame{{Class: "org.App", Method: "foo", Line: 17}}},
				{"a.b", "a", 3, []Frame{{Class: "org.App", Method: "foo", Line: 19}}},
				{"a.b", "a", 4, []Frame{{Class: "org.App", Method: "foo", Line: 30}}},
				{"a.b", "a", 0, []Frame{{Class: "org.App", Method: "foo"}}},
				{"a.b", "a", -1, []Frame{{Class: "org.App", Method: "foo"}}},
			},
		},
		{
			name:    "line outside of all ranges keeps the name and loses the line",
			mapping: "org.App -> a.b:\n    1:3:void foo(int):17:19 -> a\n",
			lookups: []lookup{{"a.b", "a", 99, []Frame{{Class: "org.App", Method: "foo"}}}},
		},
		{
			name:    "range without original range is the identity",
			mapping: "org.App -> a.b:\n    82:128:void <init>() -> <init>\n    7:9:void <clinit>() -> <clinit>\n",
			lookups: []lookup{
				{"a.b", "<init>", 100, []Frame{{Class: "org.App", Method: "<init>", Line: 100}}},
				{"a.b", "<clinit>", 9, []Frame{{Class: "org.App", Method: "<clinit>", Line: 9}}},
			},
		},
		{
			name:    "no range at all",
			mapping: "org.App -> a.b:\n    void foo() -> a\n    void bar():12:12 -> b\n    void baz():12:14 -> c\n    void qux():0:0 -> d\n    void one():5 -> e\n",
			lookups: []lookup{
				{"a.b", "a", 8, []Frame{{Class: "org.App", Method: "foo", Line: 8}}},
				{"a.b", "a", 0, []Frame{{Class: "org.App", Method: "foo"}}},
				{"a.b", "b", 8, []Frame{{Class: "org.App", Method: "bar", Line: 12}}},
				{"a.b", "c", 8, []Frame{{Class: "org.App", Method: "baz"}}},
				{"a.b", "d", 8, []Frame{{Class: "org.App", Method: "qux"}}},
				{"a.b", "e", 8, []Frame{{Class: "org.App", Method: "one", Line: 5}}},
			},
		},
		{
			name:    "a range beats a line without range",
			mapping: "org.App -> a.b:\n    void other() -> a\n    3:3:void foo():7:7 -> a\n    void last(int) -> a\n",
			lookups: []lookup{
				{"a.b", "a", 3, []Frame{{Class: "org.App", Method: "foo", Line: 7}}},
				{"a.b", "a", 4, []Frame{{Class: "org.App", Method: "last", Line: 4, Ambiguous: true}}},
				{"a.b", "a", 0, []Frame{{Class: "org.App", Method: "last", Ambiguous: true}}},
			},
		},
		{
			name: "inlined frames, innermost first, from other classes and inner classes",
			mapping: "org.App -> a.b:\n    1:1:void org.Util.m():5:5 -> a\n    1:1:int org.App$Inner.n(int,int[]):22 -> a\n    1:1:void foo():30 -> a\n" +
				"    2:4:void org.App.own():40:42 -> a\n    2:4:void foo():31 -> a\n",
			lookups: []lookup{
				{"a.b", "a", 1, []Frame{
					{Class: "org.Util", Method: "m", Line: 5},
					{Class: "org.App$Inner", Method: "n", Line: 22},
					{Class: "org.App", Method: "foo", Line: 30},
				}},
				{"a.b", "a", 3, []Frame{
					{Class: "org.App", Method: "own", Line: 41},
					{Class: "org.App", Method: "foo", Line: 31},
				}},
				// A sample without a line is in foo; what else is open.
				{"a.b", "a", 0, []Frame{{Class: "org.App", Method: "foo"}}},
			},
		},
		{
			name:    "inlined constructor",
			mapping: "org.App -> a.b:\n    1:1:void org.Point.<init>(int,int):9:9 -> a\n    1:1:void foo():30 -> a\n",
			lookups: []lookup{{"a.b", "a", 1, []Frame{
				{Class: "org.Point", Method: "<init>", Line: 9}, {Class: "org.App", Method: "foo", Line: 30},
			}}},
		},
		{
			name:    "caller without original range has no line",
			mapping: "org.App -> a.b:\n    1:1:void m():5:5 -> a\n    1:1:void foo() -> a\n    2:2:void org.I.s() -> a\n    2:2:void foo():0 -> a\n",
			lookups: []lookup{
				{"a.b", "a", 1, []Frame{{Class: "org.App", Method: "m", Line: 5}, {Class: "org.App", Method: "foo"}}},
				{"a.b", "a", 2, []Frame{{Class: "org.I", Method: "s", Line: 2}, {Class: "org.App", Method: "foo"}}},
			},
		},
		{
			name:    "methods on one source line are not inlined in each other",
			mapping: "org.App -> a.b:\n    7:7:void <init>(int) -> <init>\n    7:7:void <init>(int,int) -> <init>\n    9:9:void x() -> a\n    9:9:void y(int) -> a\n",
			lookups: []lookup{
				{"a.b", "<init>", 7, []Frame{{Class: "org.App", Method: "<init>", Line: 7}}},
				{"a.b", "a", 9, []Frame{{Class: "org.App", Method: "y", Line: 9, Ambiguous: true}}},
			},
		},
		{
			name:    "catch-all range",
			mapping: v2 + "org.App -> a.b:\n    0:65535:void org.Util.m():12:12 -> a\n    0:65535:void foo():33:33 -> a\n",
			lookups: []lookup{
				{"a.b", "a", 41, []Frame{{Class: "org.Util", Method: "m", Line: 12}, {Class: "org.App", Method: "foo", Line: 33}}},
				{"a.b", "a", 0, []Frame{{Class: "org.App", Method: "foo"}}},
			},
		},
		{
			name:    "original line is one of several",
			mapping: "org.App -> a.b:\n    1:1:void foo():10:20 -> a\n    5:9:void bar():10:11 -> b\n",
			lookups: []lookup{
				{"a.b", "a", 1, []Frame{{Class: "org.App", Method: "foo"}}},
				{"a.b", "b", 9, []Frame{{Class: "org.App", Method: "bar"}}},
			},
		},
		{
			name:    "ranges written backwards",
			mapping: "org.App -> a.b:\n    5:3:void foo():19:17 -> a\n    8:0:void bar():9:0 -> b\n",
			lookups: []lookup{
				{"a.b", "a", 4, []Frame{{Class: "org.App", Method: "foo", Line: 18}}},
				{"a.b", "b", 8, []Frame{{Class: "org.App", Method: "bar", Line: 9}}},
			},
		},
		{
			name:    "overloads of one name",
			mapping: "org.App -> a.b:\n    1:1:void foo(int):10:10 -> a\n    2:2:void foo(long):20:20 -> a\n    3:3:void foo(int):11:11 -> a\n    1:4:void foo(byte):30:33 -> a\n",
			lookups: []lookup{
				{"a.b", "a", 0, []Frame{{Class: "org.App", Method: "foo"}}},
				{"a.b", "a", 4, []Frame{{Class: "org.App", Method: "foo", Line: 33}}},
				// The name is certain, the line is not.
				{"a.b", "a", 2, []Frame{{Class: "org.App", Method: "foo"}}},
			},
		},
		{
			name:    "overlapping ranges of several methods",
			mapping: "org.App -> a.b:\n    1:3:void x():17:19 -> a\n    2:4:void y(int):27:29 -> a\n",
			lookups: []lookup{
				{"a.b", "a", 1, []Frame{{Class: "org.App", Method: "x", Line: 17}}},
				{"a.b", "a", 2, []Frame{{Class: "org.App", Method: "y", Line: 27, Ambiguous: true}}},
				{"a.b", "a", 0, []Frame{{Class: "org.App", Method: "y", Ambiguous: true}}},
			},
		},
		{
			name:    "first of two ranges of one method",
			mapping: "org.App -> a.b:\n    1:3:void x():17:19 -> a\n    3:3:void x():40:40 -> a\n",
			lookups: []lookup{{"a.b", "a", 3, []Frame{{Class: "org.App", Method: "x", Line: 19}}}},
		},
		{
			name:    "synthesized yields, before and after",
			mapping: v2 + "org.App -> a.b:\n    void s1() -> a\n" + synth + "    void foo(int) -> a\n    void s2(long) -> a\n" + synth,
			lookups: []lookup{
				{"a.b", "a", 0, []Frame{{Class: "org.App", Method: "foo"}}},
				{"a.b", "a", 5, []Frame{{Class: "org.App", Method: "foo", Line: 5}}},
			},
		},
		{
			name:    "all synthesized: the first, as simpleperf",
			mapping: v2 + "org.App -> a.b:\n    void s1() -> a\n" + synth + "    void s2(long) -> a\n" + synth + "    void s3() -> b\n" + synth,
			lookups: []lookup{
				{"a.b", "a", 0, []Frame{{Class: "org.App", Method: "s1", Synthesized: true, Ambiguous: true}}},
				{"a.b", "b", 0, []Frame{{Class: "org.App", Method: "s3", Synthesized: true}}},
			},
		},
		{
			name: "code of the program inlined in a synthesized method",
			mapping: v2 + "org.App -> a.b:\n    4:4:void org.Foo.lambda$main$0():225 -> a\n    4:4:void run(org.Foo):2 -> a\n" + synth +
				"    5:5:void org.Foo.lambda$main$1():228 -> a\n    5:5:void run(org.Foo):4 -> a\n" +
				"    4:4:void org.Foo.only():1:1 -> b\n    4:4:void run(org.Foo):2 -> b\n" + synth,
			lookups: []lookup{
				{"a.b", "a", 4, []Frame{
					{Class: "org.Foo", Method: "lambda$main$0", Line: 225}, {Class: "org.App", Method: "run", Line: 2, Synthesized: true},
				}},
				// Said once, it holds for the method.
				{"a.b", "a", 5, []Frame{
					{Class: "org.Foo", Method: "lambda$main$1", Line: 228}, {Class: "org.App", Method: "run", Line: 4, Synthesized: true},
				}},
				// simpleperf takes the last line for not synthesized.
				{"a.b", "a", 0, []Frame{{Class: "org.App", Method: "run", Ambiguous: true}}},
				{"a.b", "b", 0, []Frame{{Class: "org.Foo", Method: "only"}}},
			},
		},
		{
			name:    "synthesized class and field",
			mapping: v2 + "org.App -> a.b:\n# {\"id\":\"sourceFile\",\"fileName\":\"App.kt\"}\n" + synth + "    int f -> a\n" + synth + "    void foo() -> b\n",
			lookups: []lookup{
				{"a.b", "b", 0, []Frame{{Class: "org.App", Method: "foo", File: "App.kt"}}},
				{"a.b", "kept", 6, []Frame{{Class: "org.App", Method: "kept", File: "App.kt", Line: 6, Synthesized: true}}},
			},
		},
		{
			name:    "only the class is mapped",
			mapping: "org.App -> a.b:\n    int c -> c\n",
			lookups: []lookup{
				{"a.b", "run", 0, []Frame{{Class: "org.App", Method: "run"}}},
				{"a.b", "c", 3, []Frame{{Class: "org.App", Method: "c", Line: 3}}},
				{"a", "b", 3, nil},
				{"org.App", "run", 3, nil},
			},
		},
		{
			name: "source files of the classes that code was inlined from",
			mapping: "org.Util -> a.a:\n  # {'id':'sourceFile', 'fileName':'Util.kt'}\n" +
				"org.App -> a.b:\n# { id: sourceFile, fileName: \"A\\u0027s.java\" }\n    1:1:void org.Util.m():5:5 -> a\n    1:1:void org.Gone.m():6 -> a\n    1:1:void foo():30 -> a\n" +
				"# {\"id\":\"sourceFile\",\"fileName\":\"TooLate.java\"}\n",
			lookups: []lookup{{"a.b", "a", 1, []Frame{
				{Class: "org.Util", Method: "m", Line: 5, File: "Util.kt"},
				{Class: "org.Gone", Method: "m", Line: 6},
				{Class: "org.App", Method: "foo", Line: 30, File: "A's.java"},
			}}},
		},
		{
			name:    "outline",
			mapping: v2 + "org.Out -> a.b:\n    1:2:int outline():0 -> a\n" + outline + synth,
			lookups: []lookup{
				{"a.b", "a", 2, []Frame{{Class: "org.Out", Method: "outline", Outline: true, Synthesized: true}}},
				{"a.b", "a", 0, []Frame{{Class: "org.Out", Method: "outline", Outline: true, Synthesized: true}}},
			},
		},
		{
			name: "comments, blank lines, CRLF, tabs, byte order mark, arrow without spaces",
			mapping: "\ufeff# compiler: R8\r\n\r\norg.App->a.b:\r\n# plain\r\n\t1:1:void foo( int , long ):3:3->a\r\n\r\n  # {not json\r\n    # {\"id\":\"com.example.other\",\"x\":[{\"id\":\"sourceFile\"}]}\r\n" +
				"    2:2:void foo(int,long):4:4 -> a  \r\n" + residual,
			lookups: []lookup{
				{"a.b", "a", 1, []Frame{{Class: "org.App", Method: "foo", Line: 3}}},
				{"a.b", "a", 2, []Frame{{Class: "org.App", Method: "foo", Line: 4}}},
			},
		},
		{
			name:    "names as bytes",
			mapping: "org.A\xffp -> \xfe.b:\n    void f\xc3o() -> \u00e9\n",
			lookups: []lookup{{"\xfe.b", "\u00e9", 0, []Frame{{Class: "org.A\xffp", Method: "f\xc3o"}}}},
		},
		{
			name:    "dashes in names",
			mapping: "org.-$$Lambda$App$1 -> a.-$b:\n    void -$$Nest$mrun(org.App) -> -$c\n",
			lookups: []lookup{{"a.-$b", "-$c", 0, []Frame{{Class: "org.-$$Lambda$App$1", Method: "-$$Nest$mrun"}}}},
		},
		{
			name:    "lines of a method that are not together",
			mapping: "org.App -> a.b:\n    1:1:void foo():10:10 -> b\n    1:1:void bar():20:20 -> a\n    2:2:void foo():11:11 -> b\n    3:3:void bar():21:21 -> a\n",
			lookups: []lookup{
				{"a.b", "a", 3, []Frame{{Class: "org.App", Method: "bar", Line: 21}}},
				{"a.b", "b", 2, []Frame{{Class: "org.App", Method: "foo", Line: 11}}},
			},
		},
		{
			name:    "class that starts like the own class",
			mapping: "org.App -> a.b:\n    1:1:void org.App$Companion.m():5:5 -> a\n    2:2:void org.Apple.m():6:6 -> b\n",
			lookups: []lookup{
				{"a.b", "a", 0, []Frame{{Class: "org.App$Companion", Method: "m"}}},
				{"a.b", "b", 2, []Frame{{Class: "org.Apple", Method: "m", Line: 6}}},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := parseMapping(t, tt.mapping)
			if n := r.Skipped(); n != 0 {
				t.Errorf("skipped %d lines, want 0", n)
			}
			for _, l := range tt.lookups {
				got := r.Frames(l.class, l.method, l.line)
				if diff := cmp.Diff(l.want, got); diff != "" {
					t.Errorf("%s.%s:%d (-want +got):\n%s", l.class, l.method, l.line, diff)
				}
			}
		})
	}
}

func TestRetraceMethod(t *testing.T) {
	r := parseMapping(t, `# {"id":"com.android.tools.r8.mapping","version":"2.2"}
org.Type -> t:
org.App -> a.b:
    1:1:void foo(int):10:10 -> a
    1:1:void bar(org.Type,int[]):20:20 -> a
    1:1:java.lang.String baz(org.Type[][]):30:30 -> a
    1:1:void org.Util.inlined():5:5 -> b
    1:1:void gone(org.Type,int):40 -> b
      # {"id":"com.android.tools.r8.residualsignature","signature":"(Lt;)V"}
    2:2:void gone(org.Type,int):41:41 -> b
    1:2:void other(int):50:51 -> b
`)
	// The first lines of a share a range and have original ranges: one stack.
	stack := []Frame{
		{Class: "org.App", Method: "foo", Line: 10},
		{Class: "org.App", Method: "bar", Line: 20},
		{Class: "org.App", Method: "baz", Line: 30},
	}
	tests := []struct {
		name string
		line int
		want []Frame
	}{
		{"a.b.a", 1, stack},
		{"java.lang.String a.b.a(t[][])", 1, stack},
		{"a.b.b", 0, []Frame{{Class: "org.App", Method: "other", Ambiguous: true}}},
		{"void a.b.b(int)", 0, []Frame{{Class: "org.App", Method: "other"}}},
		{"void a.b.b(t)", 0, []Frame{{Class: "org.App", Method: "gone"}}},
		{"void a.b.b(t)", 1, []Frame{
			{Class: "org.Util", Method: "inlined", Line: 5}, {Class: "org.App", Method: "gone", Line: 40},
		}},
		{"void a.b.b(t)", 2, []Frame{{Class: "org.App", Method: "gone", Line: 41}}},
		{"void a.b.b(int)", 2, []Frame{{Class: "org.App", Method: "other", Line: 51}}},
		// Types that fit nothing, or are incomplete, select nothing.
		{"void a.b.b(t, int)", 0, []Frame{{Class: "org.App", Method: "other", Ambiguous: true}}},
		{"a.b.b(int)", 0, []Frame{{Class: "org.App", Method: "other", Ambiguous: true}}},
		{"void a.b.b(int", 0, []Frame{{Class: "org.App", Method: "other", Ambiguous: true}}},
		{"void a.b.kept(int)", 0, []Frame{{Class: "org.App", Method: "kept"}}},
		{"void java.lang.String.length()", 0, nil},
		{"main", 0, nil},
		{"", 0, nil},
		{"void a(", 0, nil},
		{".", 0, nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, r.Method(tt.name, tt.line)); diff != "" {
			t.Errorf("%q:%d (-want +got):\n%s", tt.name, tt.line, diff)
		}
	}
}

func TestRetraceOverloadsBySignature(t *testing.T) {
	r := parseMapping(t, `org.Type -> t:
org.App -> a.b:
    void one() -> a
    boolean two(boolean,byte,char,short,long,float,double) -> a
    org.Type three(org.Type[],int) -> a
    void three(org.Type[],int) -> a
`)
	for name, want := range map[string]string{
		"void a.b.a()": "one",
		"boolean a.b.a(boolean, byte, char, short, long, float, double)": "two",
		"t a.b.a(t[], int)": "three",
	} {
		want := []Frame{{Class: "org.App", Method: want}}
		if diff := cmp.Diff(want, r.Method(name, 0)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", name, diff)
		}
	}
}

// retraceStackOf retraces a stack, leaf first, as [Mapping.CallsiteLine] wants it,
// and leaves out what R8 leaves out.
func retraceStackOf(r *Mapping, stack []Frame) []string {
	var out []string
	carry := 0
	for _, f := range stack {
		line := f.Line
		if carry != 0 {
			line, carry = r.CallsiteLine(f.Class, f.Method, line, carry), 0
		}
		for _, o := range r.Frames(f.Class, f.Method, line) {
			if o.Outline {
				carry = line
			}
			if !o.Outline && !o.Synthesized {
				out = append(out, fmt.Sprintf("%s:%d", o.Name(), o.Line))
			}
		}
	}
	return out
}

func TestRetraceOutline(t *testing.T) {
	r := parseMapping(t, `# {"id":"com.android.tools.r8.mapping","version":"2.2"}
out.One -> a:
    4:5:int org.Util.inlined():75:76 -> a
    4:5:int outline():0 -> a
      # {"id":"com.android.tools.r8.outline"}
out.Two -> b:
    6:6:int outline():0:0 -> a
      # {"id":"com.android.tools.r8.outlineCallsite","positions":{"4":43,"5":42},"outline":"La;a()I"}
    42:43:int outline():0:0 -> a
      # {"id":"com.android.tools.r8.outline"}
org.App -> c:
    10:10:int org.Caller.m(int):98:98 -> s
    10:10:int caller(int):24 -> s
    11:11:int caller(int):100:100 -> s
    28:28:int caller(int):0:0 -> s
      # {'id':'com.android.tools.r8.outlineCallsite','positions':{'4':10,'42':10,'43':11,'x':1,'7':{}},'outline':'Lb;a()I'}
`)
	tests := []struct {
		name  string
		stack []Frame
		want  []string
	}{
		{
			"callsite by the line of the outline",
			[]Frame{{Class: "a", Method: "a", Line: 4}, {Class: "c", Method: "s", Line: 28}},
			[]string{"org.Util.inlined:75", "org.Caller.m:98", "org.App.caller:24"},
		},
		{
			"outline in outline",
			[]Frame{{Class: "a", Method: "a", Line: 4}, {Class: "b", Method: "a", Line: 6}, {Class: "c", Method: "s", Line: 28}},
			[]string{"org.Util.inlined:75", "org.App.caller:100"},
		},
		{
			"line that the callsite does not list stays",
			[]Frame{{Class: "b", Method: "a", Line: 11}, {Class: "c", Method: "s", Line: 28}},
			[]string{"org.App.caller:0"},
		},
		{
			"no outline before",
			[]Frame{{Class: "c", Method: "s", Line: 28}, {Class: "c", Method: "s", Line: 11}},
			[]string{"org.App.caller:0", "org.App.caller:100"},
		},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, retraceStackOf(r, tt.stack)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	for _, l := range [][3]int{{11, 4, 11}, {0, 4, 0}, {28, 0, 28}, {28, 9, 28}, {99, 4, 99}} {
		if got := r.CallsiteLine("c", "s", l[0], l[1]); got != l[2] {
			t.Errorf("CallsiteLine(c, s, %d, %d) = %d, want %d", l[0], l[1], got, l[2])
		}
	}
	if got := r.CallsiteLine("no", "s", 28, 4); got != 28 {
		t.Errorf("CallsiteLine of an unknown class = %d, want 28", got)
	}
}

func TestRetraceAdd(t *testing.T) {
	const (
		base  = "org.App -> a.b:\n    1:1:void foo():7:7 -> a\n"
		extra = "org.App -> a.b:\n    1:1:void bar(int):8:8 -> c\norg.More -> m:\n"
		clash = "org.Else -> a.b:\n    void x() -> x\n"
	)
	add := func(t *testing.T, texts ...string) *Mapping {
		t.Helper()
		r := parseMapping(t, texts[0])
		for _, text := range texts[1:] {
			if err := r.Add(strings.NewReader(text)); err != nil {
				t.Fatal(err)
			}
		}
		return r
	}
	for name, r := range map[string]*Mapping{
		"files":    add(t, base, extra),
		"sections": add(t, base+extra),
		"repeated": add(t, base, base+base, extra, extra),
	} {
		// Repeating a line does not make it its own caller.
		for _, l := range []struct {
			class, method string
			line          int
			want          Frame
		}{
			{"a.b", "a", 1, Frame{Class: "org.App", Method: "foo", Line: 7}},
			{"a.b", "c", 1, Frame{Class: "org.App", Method: "bar", Line: 8}},
			{"m", "c", 1, Frame{Class: "org.More", Method: "c", Line: 1}},
		} {
			if diff := cmp.Diff([]Frame{l.want}, r.Frames(l.class, l.method, l.line)); diff != "" {
				t.Errorf("%s: %s.%s (-want +got):\n%s", name, l.class, l.method, diff)
			}
		}
	}
	r := add(t, base, clash)
	for _, l := range []struct {
		method string
		line   int
		want   Frame
	}{
		{"a", 1, Frame{Class: "org.Else", Method: "foo", Line: 7, Ambiguous: true}},
		{"x", 0, Frame{Class: "org.Else", Method: "x", Ambiguous: true}},
		{"kept", 0, Frame{Class: "org.Else", Method: "kept", Ambiguous: true}},
	} {
		if diff := cmp.Diff([]Frame{l.want}, r.Frames("a.b", l.method, l.line)); diff != "" {
			t.Errorf("clash: %s (-want +got):\n%s", l.method, diff)
		}
	}
}
