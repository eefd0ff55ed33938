package batch

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/fleet"
	"profdiff/internal/retrace"
	"profdiff/internal/run"
)

// TestNames has functions of two releases, whose names are to meet.
func TestNames(t *testing.T) {
	native := func(file string) run.Mapping { return run.Mapping{File: file, Kind: run.NativeMapping} }
	for _, c := range []struct {
		mapping run.Mapping
		f       run.Function
		want    fleet.Function
	}{
		{native("/data/app/~~xyz==/com.app-1/lib/arm64/libfoo.so.1.2.3"), run.Function{Name: "work.isra.0"}, fleet.Function{Name: "work", Module: "libfoo.so"}},
		{native("/system/lib64/libfoo.so"), run.Function{Name: "work.part.3.cold"}, fleet.Function{Name: "work", Module: "libfoo.so"}},
		{native("/data/app/base.apk!/lib/arm64/libfoo.so (deleted)"), run.Function{Name: "work.llvm.123456"}, fleet.Function{Name: "work", Module: "libfoo.so"}},
		{native("/opt/app-2.1/bin/app-2.1"), run.Function{Name: "core::fmt::write::h0123456789abcdef"}, fleet.Function{Name: "core::fmt::write", Module: "app"}},
		{run.Mapping{File: "[kernel.kallsyms]_text", Kind: run.KernelMapping}, run.Function{Name: "schedule"}, fleet.Function{Name: "schedule", Module: "[kernel]"}},
		{run.Mapping{File: "/lib/modules/6.1/nf-tables.ko.xz", Kind: run.ModuleMapping}, run.Function{Name: "f"}, fleet.Function{Name: "f", Module: "[nf_tables]"}},
		{run.Mapping{File: "[nf_tables]", Kind: run.ModuleMapping}, run.Function{Name: "f"}, fleet.Function{Name: "f", Module: "[nf_tables]"}},
		{run.Mapping{File: "/data/app/base.vdex", Kind: run.JavaMapping}, run.Function{Name: "com.a.B$$Lambda$14/0x0800.run"}, fleet.Function{Name: "com.a.B$$Lambda.run", Module: "[managed]"}},
		{run.Mapping{File: "[JIT app cache]", Kind: run.JITMapping}, run.Function{Name: "com.a.B.run"}, fleet.Function{Name: "com.a.B.run", Module: "[managed]"}},
		{native("/bin/prog"), run.Function{Name: "parse@lexer.c", Apart: uint32(len("lexer.c")), Origin: "/build/17/src/lexer.c"}, fleet.Function{Name: "parse", Module: "prog", File: "lexer.c"}},
		{native("/bin/prog"), run.Function{Name: "parse", Origin: "/other/src/lexer.c"}, fleet.Function{Name: "parse", Module: "prog", File: "lexer.c"}},
		{native("/bin/prog"), run.Function{Name: "parse@0x1240", Apart: uint32(len("0x1240")), Origin: "0x1240"}, fleet.Function{Name: "parse", Module: "prog"}},
		{native("/lib/libc-2.31.so"), run.Function{Name: "[libc-2.31.so]", Unknown: true}, fleet.Function{Name: "[libc.so]", Module: "libc.so"}},
		{run.Mapping{}, run.Function{Name: "[unknown]", Unknown: true}, fleet.Function{Name: "[unknown]"}},
		{run.Mapping{}, run.Function{Name: "bad\xffname"}, fleet.Function{Name: "bad\ufffdname"}},
	} {
		n := newNamer(nil)
		c.want.FunctionID = fleet.FunctionID(c.want.Module, c.want.Name, c.want.File)
		for range 2 { // what is remembered is the same
			if diff := cmp.Diff(c.want, n.function(n.module(&c.mapping), &c.f).Function); diff != "" {
				t.Errorf("%s in %s (-want +got):\n%s", c.f.Name, c.mapping.File, diff)
			}
		}
	}
}

func TestRetraced(t *testing.T) {
	m, err := retrace.Parse(strings.NewReader(`com.example.Main -> a.a:
    1:1:void inlined():10:10 -> b
    1:1:void run():20 -> b
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		line     int64
		retraced bool
		want     []string
	}{
		{"a.a.b", 1, false, []string{"com.example.Main.inlined", "com.example.Main.run"}},
		{"a.a.b", 1, true, []string{"a.a.b"}},
		{"other.Class.b", 1, false, []string{"other.Class.b"}},
		{"native_function", 0, false, []string{"native_function"}},
	} {
		var got []string
		for _, row := range newNamer(m).frames(nil, "[managed]", &run.Function{Name: c.name}, c.line, c.retraced) {
			got = append(got, row.Name)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
