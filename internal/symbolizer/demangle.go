package symbolizer

import (
	"regexp"
	"strconv"
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
		if base, suffix, ok := cutRust(symbol); ok {
			if d, err := demangle.ToString(withUnderscores(base), demangle.LLVMStyle); err == nil {
				if symbol = d; suffix != "" {
					symbol += " (" + suffix + ")"
				}
			}
		} else if d, err := demangle.ToString(symbol, demangle.LLVMStyle); err == nil {
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

// rustSymbol is a symbol of Rust with suffixes that LLVM adds.
var rustSymbol = regexp.MustCompile(`^(_R[0-9A-Za-z_]*|_ZN.*17h[0-9a-f]{16}E)(\..*)?$`)

// llvmSuffix says in which module a symbol was local, by a number that changes with each build.
var llvmSuffix = regexp.MustCompile(`\.llvm\.[0-9]+`)

// cutRust cuts the suffixes off a symbol of Rust, of which the hash, or in the newer mangling
// that of its crate, tells it apart from all others. Where it was local is left out.
func cutRust(symbol string) (base, suffix string, ok bool) {
	if !strings.HasPrefix(symbol, "_R") && !strings.Contains(symbol, "17h") {
		return "", "", false // as nearly all others are: the expression would take each apart
	}
	m := rustSymbol.FindStringSubmatch(symbol)
	if m == nil {
		return "", "", false
	}
	return m[1], llvmSuffix.ReplaceAllString(m[2], ""), true
}

// withUnderscores doubles the first underscore of each part of a symbol in Rust's older mangling:
// the library takes one for a separator, which that mangling does not have.
func withUnderscores(symbol string) string {
	parts, ok := strings.CutPrefix(symbol, "_ZN")
	if !ok {
		return symbol
	}
	var b strings.Builder
	b.WriteString("_ZN")
	for parts != "" && parts[0] >= '1' && parts[0] <= '9' {
		digits := 0
		for digits < len(parts) && parts[digits] >= '0' && parts[digits] <= '9' {
			digits++
		}
		n, err := strconv.Atoi(parts[:digits])
		if err != nil || n > len(parts)-digits {
			return symbol
		}
		name := parts[digits : digits+n]
		if name[0] == '_' {
			name = "_" + name
		}
		b.WriteString(strconv.Itoa(len(name)))
		b.WriteString(name)
		parts = parts[digits+n:]
	}
	return b.String() + parts
}
