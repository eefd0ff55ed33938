package reading

import (
	"regexp"
	"strings"

	"profdiff/internal/run"
)

// Code tells what code of Java and its runtime on Android there is in a native frame.
type Code uint8

// The kinds of code.
const (
	OtherCode      Code = iota
	JavaCode            // Java code, compiled or interpreted
	RuntimeCode         // the runtime
	TrampolineCode      // what calls a native method
)

// CodeOf tells from its name and file what a native frame is in.
func CodeOf(name, file string) Code {
	path := strings.TrimSuffix(file, " (deleted)")
	base := path[strings.LastIndexByte(path, '/')+1:]
	if strings.HasSuffix(name, "jni_trampoline") {
		return TrampolineCode
	}
	if base == "libart.so" || base == "libartd.so" {
		return RuntimeCode
	}
	for _, suffix := range []string{".oat", ".odex", ".dex", ".vdex", ".jar"} {
		if strings.HasSuffix(base, suffix) {
			return JavaCode
		}
	}
	switch {
	case strings.HasPrefix(path, "[anon:dalvik-"), MappingKind(path) == run.JITMapping:
		return JavaCode
	case strings.HasSuffix(base, ".apk") && IsJavaName(name): // interpreted
		return JavaCode
	}
	return OtherCode
}

// IsJavaName reports whether a function is called as functions of Java are: a.b.C.method.
func IsJavaName(name string) bool {
	return strings.Contains(name, ".") && !strings.Contains(name, "::") && !strings.HasPrefix(name, "_")
}

// WithoutRuntime leaves out of native frames, leaf first, what Java frames show: if
// those follow, all from the first Java frame on, else the frames of the runtime that
// call Java code, but for native methods. It changes frames, which are locations; code has
// what each is in.
func WithoutRuntime(frames []uint32, code []Code, java bool) []uint32 {
	out := frames[:0]
	calls := false // Java code
	for i, loc := range frames {
		in := code[loc]
		if java && (in == JavaCode || in == TrampolineCode) {
			break
		}
		native := i+1 < len(frames) && code[frames[i+1]] == TrampolineCode
		if in != TrampolineCode && !(in == RuntimeCode && calls && !native) {
			out = append(out, loc)
		}
		calls = in == JavaCode || calls && (in == RuntimeCode || in == TrampolineCode)
	}
	return out
}

// hidden is what the name of a hidden class has that differs from run to run: the number and the address of a lambda,
// Main$$Lambda$1+0x00007fb578000a08 before JDK 21 and Main$$Lambda/0x00007fb578000a08 since, the address of another.
var hidden = regexp.MustCompile(`(?:(\$\$Lambda)(?:\$\d+)?)?[+/.]0x[0-9a-f]{8,16}`)

// JavaClass is the name of a class in the JVM, or of a method behind it, as programmers write it: with dots, and without what
// differs from run to run.
func JavaClass(name string) string {
	return strings.ReplaceAll(SteadyName(name), "/", ".")
}

// SteadyName removes from the name of a class or method of Java what differs from run to run.
func SteadyName(name string) string {
	if !strings.Contains(name, "0x") {
		return name
	}
	return hidden.ReplaceAllString(name, "$1")
}
