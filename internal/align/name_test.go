package align

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// names are names as compilers, demanglers and profilers write them, with what is left of
// them after normalising, and of that without arguments.
var names = []struct{ name, normal, bare string }{
	{"", "", ""},
	{"main", "main", "main"},
	// gcc's and clang's suffixes: mangled, as binutils and as LLVM demangle them.
	{"main.cold", "main", "main"},
	{"f.cold.1", "f", "f"},
	{"f.part.0", "f", "f"},
	{"f.isra.0.cold", "f", "f"},
	{"f.constprop.12", "f", "f"},
	{"f.lto_priv.0", "f", "f"},
	{"f.__uniq.257431094723", "f", "f"},
	{"f.__uniq.257431094723.llvm.9912", "f", "f"},
	{"f.llvm.16471839481", "f", "f"},
	{"f.specialized.1", "f", "f"},
	{"finish_task_switch.isra.0", "finish_task_switch", "finish_task_switch"},
	{"init_once.12", "init_once", "init_once"},
	{"big(int, int) [clone .constprop.0]", "big(int, int)", "big"},
	{"big(int, int) [clone .isra.0] [clone .cold]", "big(int, int)", "big"},
	{"big(int, int) (.isra.0) (.cold)", "big(int, int)", "big"},
	{"big(int, int) (.llvm.123456)", "big(int, int)", "big"},
	{"(anonymous namespace)::H::go(int) [clone .isra.0]", "H::go(int)", "H::go"},
	{"`anonymous namespace'::H::go(int)", "H::go(int)", "H::go"},
	{"S::tagged[abi:cxx11]()", "S::tagged()", "S::tagged"},
	// Lambdas: gcc's, LLVM's demangler's, clang's of internal linkage.
	{"main::{lambda(int)#3}::operator()(int) const", "main::{lambda(int)}::operator()(int) const", "main::{lambda}::operator()"},
	{"auto main::{lambda(auto:1)#2}::operator()<int>(int) const", "auto main::{lambda(auto:1)}::operator()<int>(int) const", "main::{lambda}::operator()"},
	{"auto main::'lambda0'(auto)::operator()<int>(int) const", "auto main::'lambda'(auto)::operator()<int>(int) const", "main::'lambda'::operator()"},
	{"main::$_12::operator()(int) const", "main::$_::operator()(int) const", "main::$_::operator()"},
	{"int call<main::{lambda(int)#3}>(main::{lambda(int)#3}, int)", "int call<main::{lambda(int)}>(main::{lambda(int)}, int)", "call"},
	{"std::_Function_handler<int (int), main::$_0>::_M_invoke(std::_Any_data const&, int&&)", "std::_Function_handler<int (int), main::$_>::_M_invoke(std::_Any_data const&, int&&)", "std::_Function_handler::_M_invoke"},
	{"f(int)::{unnamed type#1}::g()", "f(int)::{unnamed type}::g()", "f::{unnamed type}::g"},
	{"__main_block_invoke_2", "__main_block_invoke", "__main_block_invoke"},
	// Templates, operators, return types.
	{"double add<double>(double, double)", "double add<double>(double, double)", "add"},
	{"std::vector<int, std::allocator<int> >::push_back(int const&)", "std::vector<int, std::allocator<int> >::push_back(int const&)", "std::vector::push_back"},
	{"S::operator<(S const&) const", "S::operator<(S const&) const", "S::operator<"},
	{"S& operator<< <int>(S&, int)", "S& operator<< <int>(S&, int)", "operator<<"},
	{"S::operator==(S const&) const", "S::operator==(S const&) const", "S::operator=="},
	{"S::operator()(int)", "S::operator()(int)", "S::operator()"},
	{"S::operator bool() const", "S::operator bool() const", "S::operator bool"},
	{"operator new[](unsigned long)", "operator new[](unsigned long)", "operator new[]"},
	{"S::operator->() const", "S::operator->() const", "S::operator->"},
	{"A<&(f(int))>::g(void (*)(int))", "A<&(f(int))>::g(void (*)(int))", "A::g"},
	// Rust: the old mangling, v0, v0 with crate hashes.
	{"core::ptr::drop_in_place::h0123456789abcdef", "core::ptr::drop_in_place", "core::ptr::drop_in_place"},
	{"core::ptr::drop_in_place::h0123456789abcdef.llvm.12", "core::ptr::drop_in_place", "core::ptr::drop_in_place"},
	{"core::ptr::drop_in_place::h0123", "core::ptr::drop_in_place::h0123", "core::ptr::drop_in_place::h0123"},
	{"a::main::{{closure}}::h0123456789abcdef", "a::main::{closure}", "a::main::{closure}"},
	{"a::apply::<a::main::{closure#1}::{closure#0}>", "a::apply::<a::main::{closure}::{closure}>", "a::apply"},
	{"<a::P<u8> as a::Tr>::go", "<a::P<u8> as a::Tr>::go", "<a::P as a::Tr>::go"},
	{"core[846817f741e54dfd]::slice::sort", "core::slice::sort", "core::slice::sort"},
	// Go.
	{"main.main.func1", "main.main.func", "main.main.func"},
	{"main.(*T).m.func2.1", "main.(*T).m.func.", "main.(*T).m.func."},
	{"main.main.gowrap3", "main.main.gowrap", "main.main.gowrap"},
	{"main.main.func1.deferwrap2", "main.main.func.deferwrap", "main.main.func.deferwrap"},
	{"main.main-range1", "main.main-range", "main.main-range"},
	{"main.init.0", "main.init", "main.init"},
	{"main.init.1.func2", "main.init.func", "main.init.func"},
	{"glob..func5", "glob..func", "glob..func"},
	{"slices.pdqsortCmpFunc[go.shape.int32]", "slices.pdqsortCmpFunc[go.shape.int32]", "slices.pdqsortCmpFunc"},
	{"sync/atomic.(*Pointer[...]).Load", "sync/atomic.(*Pointer[...]).Load", "sync/atomic.(*Pointer).Load"},
	{"main.func1", "main.func", "main.func"},
	{"gopkg.in/yaml.v3.unmarshal", "gopkg.in/yaml.v3.unmarshal", "gopkg.in/yaml.v3.unmarshal"},
	// Java, Kotlin, R8.
	{"com.example.Main.lambda$main$3", "com.example.Main.lambda$main$", "com.example.Main.lambda$main$"},
	{"com.example.Main$$Lambda$14/0x0000000800c03000.run", "com.example.Main$$Lambda.run", "com.example.Main$$Lambda.run"},
	{"com.example.Main$$Lambda$14/1234567.run", "com.example.Main$$Lambda.run", "com.example.Main$$Lambda.run"},
	{"com.example.Main$$Lambda/0x00007f0a1c001234.run", "com.example.Main$$Lambda.run", "com.example.Main$$Lambda.run"},
	{"com.example.Main$$Lambda.0x00007f0a1c001234.run", "com.example.Main$$Lambda.run", "com.example.Main$$Lambda.run"},
	{"java.lang.invoke.LambdaForm$MH/0x0000000800c03000.invoke", "java.lang.invoke.LambdaForm$MH.invoke", "java.lang.invoke.LambdaForm$MH.invoke"},
	{"java.lang.invoke.LambdaForm$MH.0x0000000800c03000.invoke", "java.lang.invoke.LambdaForm$MH.invoke", "java.lang.invoke.LambdaForm$MH.invoke"},
	{"com.example.-$$Lambda$Main$1x2Y3z4A5b6C7d8E9f0G1h2I3j4.run", "com.example.-$$Lambda$Main.run", "com.example.-$$Lambda$Main.run"},
	{"com.example.Main$$ExternalSyntheticLambda7.run", "com.example.Main$$ExternalSyntheticLambda.run", "com.example.Main$$ExternalSyntheticLambda.run"},
	{"com.example.Main$$ExternalSyntheticOutline0.m", "com.example.Main$$ExternalSyntheticOutline.m", "com.example.Main$$ExternalSyntheticOutline.m"},
	{"com.example.Main$1.run", "com.example.Main$.run", "com.example.Main$.run"},
	{"com.example.Main$1$2.run", "com.example.Main$$.run", "com.example.Main$$.run"},
	{"com.example.Main$onCreate$1.invoke", "com.example.Main$onCreate$.invoke", "com.example.Main$onCreate$.invoke"},
	{"com.example.Main$1Local.run", "com.example.Main$1Local.run", "com.example.Main$1Local.run"},
	{"com.example.Main.access$000", "com.example.Main.access$", "com.example.Main.access$"},
	{"com.sun.proxy.$Proxy12.call", "com.sun.proxy.$Proxy.call", "com.sun.proxy.$Proxy.call"},
	{"jdk.internal.reflect.GeneratedMethodAccessor12.invoke", "jdk.internal.reflect.GeneratedMethodAccessor.invoke", "jdk.internal.reflect.GeneratedMethodAccessor.invoke"},
	{"void com.example.Main.run(int)", "void com.example.Main.run(int)", "com.example.Main.run"},
	// Names that only look so.
	{".cold", ".cold", ".cold"},
	{"libfoo.so.6", "libfoo.so.6", "libfoo.so.6"},
	{"pay$5now", "pay$5now", "pay$5now"},
	{"a.part", "a.part", "a.part"},
	{"(anonymous namespace)::", "(anonymous namespace)::", "::"},
	{"f(((", "f(((", "f((("},
	{"a<b", "a<b", "a<b"},
	{")]>}", ")]>}", ")]>}"},
	{"\x00\xff#1}", "\x00\xff}", "\x00\xff}"},
}

func TestNormalize(t *testing.T) {
	for _, test := range names {
		if got := Normalize(test.name); got != test.normal {
			t.Errorf("Normalize(%q) = %q, want %q", test.name, got, test.normal)
		}
		if got := bareName(Normalize(test.name)); got != test.bare {
			t.Errorf("bareName of %q = %q, want %q", test.name, got, test.bare)
		}
	}
}

func FuzzNormalize(f *testing.F) {
	for _, test := range names {
		f.Add(test.name)
	}
	f.Add(strings.Repeat("f.cold", 100))
	f.Add(strings.Repeat("(anonymous namespace)::", 3) + "(anonymous (anonymous namespace)::namespace)::f")
	f.Fuzz(func(t *testing.T, name string) {
		got := Normalize(name)
		if again := Normalize(got); again != got {
			t.Errorf("Normalize(%q) = %q, and of that %q", name, got, again)
		}
		if (got == "") != (name == "") || len(got) > len(name) {
			t.Errorf("Normalize(%q) = %q", name, got)
		}
		entity, part := cutParts(name)
		if entity+part != name || entity == "" && name != "" {
			t.Errorf("cutParts(%q) = %q, %q", name, entity, part)
		}
		if bare := bareName(name); len(bare) > len(name) || bare == "" && name != "" {
			t.Errorf("bareName(%q) = %q", name, bare)
		}
		if lead := leadingName(name); !strings.HasPrefix(name, lead) {
			t.Errorf("leadingName(%q) = %q", name, lead)
		}
		if r, err := ParseRename(name); err == nil && (r.Old == "" || r.New == "" || len(r.Old)+len(r.New) >= len(name)) {
			t.Errorf("ParseRename(%q) = %q", name, r)
		}
	})
}

func TestHostileNamesAreFast(t *testing.T) {
	// Quadratic work on a name of a megabyte would take minutes.
	n := 1 << 20
	if testing.Short() {
		n = 1 << 18
	}
	for _, part := range []string{"(", "<", "f<", "#1}", "$1", "-$$Lambda$", "[abi:", "[0a0a0a0a", ".1", ".func1", "operator", "operator ", "/0x$", "::h", " [clone ", " (.", "f.cold", "'lambda", "{{closure}}", "(anonymous namespace)::", "=", "aA"} {
		name := strings.Repeat(part, n/len(part))
		Normalize(name)
		bareName(name)
		if _, err := ParseRename(name); err == nil {
			t.Errorf("%q…: no error", part)
		}
		fns := []Function{{Name: name, Weight: 1}}
		if _, err := Functions(fns, []Function{{Name: name + "x", Weight: 1}}, Options{}); err != nil {
			t.Errorf("%q…: %v", part, err)
		}
	}
}

func TestParseRename(t *testing.T) {
	for _, test := range []struct {
		in   string
		want Rename
	}{
		{"hash_v1=hash_v2", Rename{"hash_v1", "hash_v2"}},
		{" a = b ", Rename{"a", "b"}},
		{"S::operator==S::assign", Rename{"S::operator=", "S::assign"}},
		{"S::operator===S::equal", Rename{"S::operator==", "S::equal"}},
		{"f=operator=", Rename{"f", "operator="}},
		{"f=operator==", Rename{"f", "operator=="}},
		{"operator==operator==", Rename{"operator=", "operator=="}},
		{"operator===operator!=", Rename{"operator==", "operator!="}},
		{"operator==(A, B)=operator!=(A, B)", Rename{"operator==(A, B)", "operator!=(A, B)"}},
		{"operator+==add", Rename{"operator+=", "add"}},
		{"operator+=add", Rename{"operator+", "add"}},
		{"operator<=less", Rename{"operator<", "less"}},
		{"operator<=>=compare", Rename{"operator<=>", "compare"}},
		{"A<(x==1)>::f=A<1>::f", Rename{"A<(x==1)>::f", "A<1>::f"}},
		{"std::vector<int>::push_back(int const&)=my::vec<int>::push(int const&)", Rename{"std::vector<int>::push_back(int const&)", "my::vec<int>::push(int const&)"}},
		{"main.(*T).m=main.(*U).m", Rename{"main.(*T).m", "main.(*U).m"}},
		{"a=b = c", Rename{"a=b", "c"}},
		{"f(=g", Rename{"f(", "g"}},
	} {
		got, err := ParseRename(test.in)
		if err != nil {
			t.Errorf("ParseRename(%q): %v", test.in, err)
		} else if diff := cmp.Diff(got, test.want); diff != "" {
			t.Errorf("ParseRename(%q): got, want\n%s", test.in, diff)
		}
	}
	for in, want := range map[string]string{
		"":          `rename "": want OLD=NEW`,
		"a":         `rename "a": want OLD=NEW`,
		"a=":        `rename "a=": want OLD=NEW`,
		"=b":        `rename "=b": want OLD=NEW`,
		" = b":      `rename " = b": want OLD=NEW`,
		"operator=": `rename "operator=": want OLD=NEW`,
		"a=b=c":     `rename "a=b=c": which '=' separates the names is not clear: write OLD = NEW with spaces`,
	} {
		if r, err := ParseRename(in); err == nil || err.Error() != want {
			t.Errorf("ParseRename(%q) = %q, %v, want error %q", in, r, err, want)
		}
	}
}

func TestUnknownFunction(t *testing.T) {
	base := functionsOf(parseStacks(t, "main;hash_v1(char const*, int) 1", "main;sort_v1(int) 1", "main;hashing() 1", "main;unrelated 1", "main;[prog] 1"))
	_, err := Functions(base, base, Options{Renames: []Rename{{"hash_v2", "main"}}})
	if err == nil {
		t.Fatal("no error")
	}
	if got, want := err.Error(), `rename: base has no function "hash_v2"; nearest: "hash_v1(char const*, int)", "hashing()", "sort_v1(int)"`; got != want {
		t.Errorf("error %q, want %q", got, want)
	}
	_, err = Functions(base, nil, Options{Renames: []Rename{{"main", "main"}}})
	if got, want := err.Error(), `rename: head has no function "main"`; got != want {
		t.Errorf("error %q, want %q", got, want)
	}
}
