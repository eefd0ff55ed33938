package align

import (
	"strings"
)

// A name is a function's name at the grades in which names are compared.
type name struct {
	// entity is the name without the suffixes of parts and clones: f of f.cold, and f@file
	// of f.cold@file.
	entity string
	// part is what entity lacks: ".cold".
	part string
	// normal is Normalize of the name. It differs from entity where compilers
	// number or hash what has no name of its own, and where a file tells functions apart.
	normal string
	// numbered is set if the compiler had a part in the name.
	numbered bool
}

func parseName(f *Function) name {
	if f.Unknown {
		return name{entity: f.Name, normal: f.Name}
	}
	plain := f.Plain()
	entity, part := cutParts(plain)
	n := name{entity: entity, part: part, normal: Normalize(plain)}
	n.numbered = n.normal != plain
	if f.Apart != "" {
		n.entity += "@" + f.Apart
	} else if plain != f.Name {
		n.entity = f.Name
	}
	return n
}

// maxNormalizePasses bounds the work for names that lose text at every pass.
const maxNormalizePasses = 4

// Normalize returns a name without what compilers add to it and change from build to
// build. What is removed:
//
//   - suffixes of parts and clones: .part.0, .cold, .constprop.0, .isra.0,
//     [clone .cold] of binutils, (.cold) of LLVM, and LLVM's .specialized.1,
//     .argelim, .argprom, .retelim, .cfi
//   - suffixes that make local names unique: .llvm.123, .lto_priv.0,
//     .__uniq.123, and .123 of C names; ::h0123456789abcdef and crate hashes of
//     Rust; [abi:cxx11]
//   - numbers of lambdas, closures and unnamed types: {lambda(int)#2},
//     'lambda0', $_0, {closure#1}, {unnamed type#1}, block_invoke_2; Go's
//     func1.2 (as "func."), gowrap1, deferwrap1, -range1, init.0
//   - numbers of Java's and Kotlin's lambdas, anonymous and hidden classes:
//     lambda$main$3, $$Lambda$14/0x0800, $$ExternalSyntheticLambda7, Foo$1,
//     $Proxy12, access$000, GeneratedMethodAccessor5
//   - (anonymous namespace)::
//
// Template arguments and parameters stay. Different functions of one program may
// have the same normalised name. The result is never empty unless the name is, and
// normalising it again changes nothing.
func Normalize(full string) string {
	s := full
	for range maxNormalizePasses {
		next := normalizeOnce(s)
		if next == s || next == "" {
			return s
		}
		s = next
	}
	if normalizeOnce(s) != s {
		// No compiler wrote this name.
		return full
	}
	return s
}

func normalizeOnce(s string) string {
	for {
		rest, suffix := lastSuffix(s)
		if suffix == noSuffix {
			break
		}
		s = rest
	}
	return withoutNumbers(s)
}

// cutParts splits the suffixes of parts and clones from a name.
func cutParts(full string) (entity, part string) {
	s := full
	for {
		rest, suffix := lastSuffix(s)
		if suffix != partSuffix {
			return s, full[len(s):]
		}
		s = rest
	}
}

// partKind is a part without its numbers: ".constprop" of ".constprop.1".
func partKind(part string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9', r == ' ', r == '(', r == ')', r == '[', r == ']':
			return -1
		}
		return r
	}, strings.ReplaceAll(part, "[clone ", ""))
}

type suffixKind int

const (
	noSuffix    suffixKind = iota
	partSuffix             // of a piece or a copy of a function
	localSuffix            // of a function of its own whose name was made unique
)

// lastSuffix cuts the last suffix that a compiler added.
func lastSuffix(s string) (rest string, kind suffixKind) {
	switch {
	case s == "":
		return s, noSuffix
	case s[len(s)-1] == ']': // binutils: f(int) [clone .cold]
		if i := strings.LastIndex(s, " [clone "); i > 0 {
			return s[:i], suffixWord(s[i+len(" [clone ") : len(s)-1])
		}
		return s, noSuffix
	case s[len(s)-1] == ')': // LLVM: f(int) (.cold)
		if i := strings.LastIndex(s, " (."); i > 0 && !strings.ContainsAny(s[i+2:len(s)-1], " ()") {
			return s[:i], suffixWord(s[i+2 : len(s)-1])
		}
		return s, noSuffix
	}
	dot := strings.LastIndexByte(s, '.')
	if dot <= 0 {
		return s, noSuffix
	}
	if !isDigits(s[dot+1:]) {
		if kind := suffixWord(s[dot:]); kind == partSuffix && !isNumbered(s[dot+1:]) {
			return s[:dot], kind
		}
		return s, noSuffix
	}
	if prev := strings.LastIndexByte(s[:dot], '.'); prev > 0 {
		switch word := s[prev+1 : dot]; {
		case partWord(word), word == "__part":
			return s[:prev], partSuffix
		case word == "llvm", word == "lto_priv", word == "__uniq":
			return s[:prev], localSuffix
		}
		return s, noSuffix
	}
	if isIdentifier(s[:dot]) {
		return s[:dot], localSuffix
	}
	return s, noSuffix
}

// suffixWord tells the kind of a suffix that is marked as one: ".cold",
// ".constprop.0".
func suffixWord(s string) suffixKind {
	s = strings.TrimPrefix(s, ".")
	word, _, _ := strings.Cut(s, ".")
	switch {
	case word == "llvm", word == "lto_priv", word == "__uniq", isDigits(word):
		return localSuffix
	case partWord(word), word == "localalias", word == "cfi", word == "cfi_jt", word == "warm":
		return partSuffix
	}
	return noSuffix
}

func partWord(s string) bool {
	switch s {
	case "part", "cold", "constprop", "isra", "specialized", "argelim", "argprom", "retelim":
		return true
	}
	return false
}

// isNumbered reports whether a part never comes without a number, so that the bare
// word is a name.
func isNumbered(word string) bool {
	switch word {
	case "part", "constprop", "isra", "specialized":
		return true
	}
	return false
}

// withoutNumbers removes the numbers of what has no name of its own.
func withoutNumbers(s string) string {
	if !strings.ContainsAny(s, "#${}'[(`:.-_/+") && !strings.Contains(s, "Generated") {
		return s
	}
	var b strings.Builder
	n := numbers{s: s}
	last := 0 // s[:last] is written or left out
	for i := 0; i < len(s); {
		from, to := n.at(i)
		if to <= i {
			i++
			continue
		}
		if from < to {
			if b.Cap() == 0 {
				b.Grow(len(s))
			}
			b.WriteString(s[last:from])
			last = to
		}
		i = to
	}
	if last == 0 {
		return s
	}
	b.WriteString(s[last:])
	return b.String()
}

// numbers looks for numbers from the start of a name to its end.
type numbers struct {
	s       string
	dollar  bool // there was a '$': it may be a hidden class of Java
	closure int  // where the number of one of Go's closures ended, 0 if nowhere
}

// maxABITag bounds how far the end of an ABI tag is looked for.
const maxABITag = 128

// at looks for something to leave out at s[i:]. It returns the range to leave out,
// and ends where to look next; or 0, 0.
func (n *numbers) at(i int) (from, to int) {
	s, rest := n.s, n.s[i:]
	switch s[i] {
	case '#': // {lambda(int)#2}, {closure#1}
		if d := digits(rest[1:]); d > 0 && strings.HasPrefix(rest[1+d:], "}") {
			return i, i + 1 + d
		}
	case '{': // {{closure}} of Rust's old mangling
		switch {
		case strings.HasPrefix(rest, "{{closure}}"):
			return i, i + 1
		case strings.HasPrefix(rest, "{anonymous}::"):
			return i, i + len("{anonymous}::")
		}
	case '}':
		if strings.HasSuffix(s[:i], "{{closure}") {
			return i, i + 1
		}
	case '\'': // 'lambda0'(int), 'unnamed1'
		for _, word := range [...]string{"'lambda", "'unnamed", "'block-literal"} {
			if d := numberAfter(rest, word); d > 0 && strings.HasPrefix(rest[len(word)+d:], "'") {
				return i + len(word), i + len(word) + d
			}
		}
	case '(':
		if strings.HasPrefix(rest, "(anonymous namespace)::") {
			return i, i + len("(anonymous namespace)::")
		}
	case '`':
		if strings.HasPrefix(rest, "`anonymous namespace'::") {
			return i, i + len("`anonymous namespace'::")
		}
	case '[': // S::f[abi:cxx11](), core[846817f741e54dfd]::slice
		if strings.HasPrefix(rest, "[abi:") {
			if end := strings.IndexByte(rest[:min(len(rest), maxABITag)], ']'); end > 0 {
				return i, i + end + 1
			}
		}
		if d := hexDigits(rest[1:]); d >= 8 && d <= 16 && strings.HasPrefix(rest[1+d:], "]") && i > 0 && isWordByte(s[i-1]) {
			return i, i + d + 2
		}
	case ':': // Rust: f::h0123456789abcdef
		const hash = "::h"
		if i > 0 && strings.HasPrefix(rest, hash) && hexDigits(rest[len(hash):]) == 16 && !wordAt(rest, len(hash)+16) {
			return i, i + len(hash) + 16
		}
	case '$':
		n.dollar = true
		return javaNumber(s, i)
	case '/', '+': // Java: hidden classes Foo/0x0000000800c03000
		return n.hidden(i)
	case '.', '-':
		if from, to := n.hidden(i); to > 0 {
			return from, to
		}
		return n.goNumber(i)
	case '_':
		const block = "_block_invoke_"
		if d := numberAfter(rest, block); d > 0 && !wordAt(rest, len(block)+d) {
			return i + len(block) - 1, i + len(block) + d
		}
	case 'G': // jdk.internal.reflect.GeneratedMethodAccessor12
		for _, word := range [...]string{"GeneratedMethodAccessor", "GeneratedConstructorAccessor", "GeneratedSerializationConstructorAccessor"} {
			if d := numberAfter(rest, word); d > 0 && !wordAt(rest, len(word)+d) {
				return i + len(word), i + len(word) + d
			}
		}
	}
	return 0, 0
}

// hidden looks for the address of a hidden class of Java: Foo$$Lambda/0x0000000800c03000.
func (n *numbers) hidden(i int) (from, to int) {
	rest := n.s[i:]
	const address = "0x"
	if !n.dollar || rest[0] == '-' || !strings.HasPrefix(rest[1:], address) {
		return 0, 0
	}
	d := hexDigits(rest[1+len(address):])
	if end := 1 + len(address) + d; d >= 8 && !wordAt(rest, end) {
		return i, i + end
	}
	return 0, 0
}

// goNumber looks for the numbers of Go's closures and wrappers.
func (n *numbers) goNumber(i int) (from, to int) {
	rest := n.s[i:]
	for _, word := range [...]string{".func", ".gowrap", ".deferwrap", "-range"} {
		if d := numberAfter(rest, word); d > 0 && !wordAt(rest, len(word)+d) {
			n.closure = i + len(word) + d
			return i + len(word), n.closure
		}
	}
	const initializer = ".init."
	if d := numberAfter(rest, initializer); d > 0 && !wordAt(rest, len(initializer)+d) {
		return i + len(".init"), i + len(initializer) + d
	}
	// func1.2 is the second closure of func1.
	if d := numberAfter(rest, "."); d > 0 && !wordAt(rest, 1+d) && i > 0 && i == n.closure {
		n.closure = i + 1 + d
		return i + 1, n.closure
	}
	return 0, 0
}

// javaNumber looks for the numbers of Java, Kotlin and clang's C++ at a '$'.
func javaNumber(s string, i int) (from, to int) {
	rest := s[i:]
	if d := numberAfter(rest, "$_"); d > 0 && !wordAt(rest, 2+d) { // clang: main::$_0
		return i + 2, i + 2 + d
	}
	for _, word := range [...]string{"$$ExternalSynthetic", "$Proxy"} { // D8 and R8; java.lang.reflect
		if !strings.HasPrefix(rest, word) {
			continue
		}
		end := len(word)
		for end < len(rest) && isLetter(rest[end]) {
			end++
		}
		if d := digits(rest[end:]); d > 0 && !wordAt(rest, end+d) {
			return i + end, i + end + d
		}
	}
	const lambda = "$$Lambda"
	if strings.HasPrefix(rest, lambda) {
		if i > 0 && s[i-1] == '-' {
			return d8Hash(s, i+len(lambda))
		}
		// $$Lambda$14/0x0000000800c03000, $$Lambda$14/1234, $$Lambda.0x…
		end := len(lambda)
		if d := numberAfter(rest[end:], "$"); d > 0 {
			end += 1 + d
		}
		switch next := rest[end:]; {
		case next == "", strings.IndexByte("/.+", next[0]) < 0:
		case strings.HasPrefix(next[1:], "0x"):
			end += len("/0x") + hexDigits(next[len("/0x"):])
		case digits(next[1:]) > 0:
			end += 1 + digits(next[1:])
		}
		return i + len(lambda), i + end
	}
	// Foo$1, lambda$main$3, access$000
	if d := digits(rest[1:]); d > 0 && !wordAt(rest, 1+d) {
		return i + 1, i + 1 + d
	}
	return 0, 0
}

// d8Hash looks for the hash that D8 once gave to lambdas: -$$Lambda$Main$hash, with
// the name of the class that has the lambda from s[end+1:].
func d8Hash(s string, end int) (from, to int) {
	if end >= len(s) || s[end] != '$' {
		return 0, 0
	}
	class := strings.IndexByte(s[end+1:], '$')
	if class < 0 {
		return 0, 0
	}
	from = end + 1 + class
	const least = 20 // it is 27 characters of base 64
	if n := hash64(s[from+1:]); n >= least {
		return from, from + 1 + n
	}
	return 0, 0
}

// numberAfter returns the number of decimal digits after the prefix of s, 0 without
// the prefix.
func numberAfter(s, prefix string) int {
	if rest, ok := strings.CutPrefix(s, prefix); ok {
		return digits(rest)
	}
	return 0
}

// digits returns the number of decimal digits at the start of s.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// hexDigits returns the number of hexadecimal digits at the start of s.
func hexDigits(s string) int {
	n := 0
	for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n] >= 'a' && s[n] <= 'f') {
		n++
	}
	return n
}

// hash64 returns the number of bytes at the start of s that are of URL-safe base 64.
func hash64(s string) int {
	n := 0
	for n < len(s) && (isWordByte(s[n]) && s[n] < 0x80 || s[n] == '-') {
		n++
	}
	return n
}

func isDigits(s string) bool { return s != "" && digits(s) == len(s) }

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// isWordByte reports whether c can be in an identifier; bytes of other scripts can.
func isWordByte(c byte) bool {
	return isLetter(c) || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}

// wordAt reports whether an identifier goes on at s[i:].
func wordAt(s string, i int) bool { return i < len(s) && isWordByte(s[i]) }

// isIdentifier reports whether s is an identifier of C.
func isIdentifier(s string) bool {
	for i := range len(s) {
		if !isWordByte(s[i]) {
			return false
		}
	}
	return s != "" && digits(s) == 0
}
