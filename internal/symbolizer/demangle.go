package symbolizer

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// linkerPrefix marks symbols of Android's dynamic linker, which hides its copies of
// libc functions so.
const linkerPrefix = "__dl_"

// demangle returns the name of a C++ or Rust symbol as it is written in source,
// as simpleperf prints it, or the name itself if it is not mangled.
func (z *Symbolizer) demangle(name string) string {
	if d, ok := z.demangled[name]; ok {
		return d
	}
	d := Demangle(name)
	z.demangled[name] = d
	return d
}

// Demangle returns the name of a C++ or Rust symbol as it is written in source,
// with parameters, in the style of LLVM's demangler up to version 13: simpleperf's,
// and like perf's in that nested template arguments end in "> >". Other names
// stay. Symbols of Android's linker are marked [linker], as in simpleperf/dso.cpp.
func Demangle(name string) string {
	symbol, linker := strings.CutPrefix(name, linkerPrefix)
	if target, ok := strings.CutSuffix(name, "@plt"); ok {
		return Demangle(target) + "@plt"
	}
	if strings.HasPrefix(symbol, "_Z") || strings.HasPrefix(symbol, "_R") {
		if d, err := demangle.ToString(symbol, demangle.LLVMStyle); err == nil {
			symbol = spaceBrackets(d)
		}
	}
	if linker {
		return "[linker]" + symbol
	}
	return symbol
}

// spaceBrackets writes ">>" as "> >" where it closes template arguments.
func spaceBrackets(name string) string {
	if !strings.Contains(name, ">>") {
		return name
	}
	var b strings.Builder
	b.Grow(len(name) + 16)
	for i := 0; i < len(name); i++ {
		if strings.HasPrefix(name[i:], ">>") {
			if strings.HasSuffix(name[:i], "operator") {
				b.WriteString(">>")
				i++
			} else {
				b.WriteString("> ")
			}
			continue
		}
		b.WriteByte(name[i])
	}
	return b.String()
}

// isUnique reports whether a symbol of Rust is meant: its hash, or in the newer mangling
// that of its crate, tells it apart from all others.
func isUnique(name string) bool {
	const hash = "17h0123456789abcdefE"
	n := len(name) - len(hash)
	return strings.HasPrefix(name, "_R") || n > 0 && strings.HasPrefix(name, "_ZN") && strings.HasPrefix(name[n:], "17h") && strings.HasSuffix(name, "E")
}
