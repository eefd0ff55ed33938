package align

import (
	"math"
	"slices"
	"strings"
)

// A word is a part of a name as people choose it: "hash" of hash_v1.
type word struct {
	id   int32
	last bool // of the last component, the function's own name
}

// vocabulary numbers the words of names and knows how common they are.
type vocabulary struct {
	ids map[string]int32
	// names is in how many names each word is, short whether it says little:
	// a number or a letter.
	names   []int32
	short   []bool
	weights []float64
}

// maxWords bounds the words of a name, the last ones count.
const maxWords = 24

// read splits a bare name into words and counts them.
func (v *vocabulary) read(bare string) []word {
	words := v.wordsOf(bare)
	for _, w := range words {
		v.names[w.id]++
	}
	return words
}

// wordsOf splits a bare name into words, in the order of their numbers.
func (v *vocabulary) wordsOf(bare string) []word {
	const longest = 1024
	bare = bare[max(0, len(bare)-longest):]
	var words []word
	lastStart := lastComponent(bare)
	for start := 0; start < len(bare); {
		if !isWordByte(bare[start]) || bare[start] == '_' {
			start++
			continue
		}
		end := wordEnd(bare, start)
		words = append(words, word{v.id(bare[start:end]), start >= lastStart})
		start = end
	}
	words = words[max(0, len(words)-maxWords):]
	slices.SortFunc(words, func(a, b word) int {
		if a.id != b.id {
			return int(a.id) - int(b.id)
		}
		if a.last && !b.last {
			return -1
		}
		return 1
	})
	return slices.CompactFunc(words, func(a, b word) bool { return a.id == b.id })
}

func (v *vocabulary) id(s string) int32 {
	s = strings.ToLower(s)
	id, ok := v.ids[s]
	if !ok {
		id = int32(len(v.names))
		v.ids[s] = id
		v.names = append(v.names, 0)
		v.short = append(v.short, saysLittle(s))
	}
	return id
}

// saysLittle reports whether a word is a number, a letter, or what closures are called.
func saysLittle(s string) bool {
	switch s {
	case "func", "lambda", "closure", "operator":
		return true
	}
	return len(s) == 1 && !isDigits(s) || isDigits(s) && !isWidth(s)
}

// isWidth reports whether a number is of bits or bytes, and so not a version: fast32 and
// fast64 are different functions.
func isWidth(s string) bool {
	switch s {
	case "8", "16", "32", "64", "128", "256", "512":
		return true
	}
	return false
}

// lastComponent is where a function's own name starts. Closures have none: they go by the
// name of the function around them.
func lastComponent(bare string) int {
	end := len(bare)
	for end > 0 {
		start := componentStart(bare[:end])
		if !isClosure(bare[start:end]) {
			return start
		}
		end = start
		for end > 0 && isSeparator(bare[end-1]) {
			end--
		}
	}
	return 0
}

func componentStart(bare string) int {
	if i := strings.LastIndex(bare[max(0, len(bare)-maxOperator):], "operator"); i >= 0 {
		if i += max(0, len(bare)-maxOperator); operatorAt(bare, i) > 0 {
			return i
		}
	}
	for i := len(bare) - 2; i >= 0; i-- {
		if isSeparator(bare[i]) {
			return i + 1
		}
	}
	return 0
}

// maxOperator bounds the name of an operator: operator and a type.
const maxOperator = 256

// endsInClosure reports whether a bare name is of a closure: not the same as the function
// around it, however similar the names are.
func endsInClosure(bare string) bool { return isClosure(bare[componentStart(bare):]) }

func isSeparator(c byte) bool { return c == ':' || c == '.' || c == '/' || c == '$' }

// isClosure reports whether a component of a normalised name is what compilers call a
// function without a name.
func isClosure(component string) bool {
	switch component {
	case "", "func", "func.", "gowrap", "deferwrap", "{closure}", "{lambda}", "'lambda'", "operator()", "_", "lambda", "Lambda":
		return true
	}
	return false
}

// wordEnd is where the word that starts at i ends: at a change of case, between
// letters and digits, and at what is neither.
func wordEnd(s string, i int) int {
	class := func(c byte) int {
		switch {
		case c >= '0' && c <= '9':
			return 1
		case c >= 'A' && c <= 'Z':
			return 2
		case c == '_' || !isWordByte(c):
			return 0
		}
		return 3
	}
	first := class(s[i])
	j := i + 1
	for j < len(s) && class(s[j]) == first {
		j++
	}
	if first == 2 && j < len(s) && class(s[j]) == 3 {
		if j-i > 1 {
			return j - 1 // HTTPServer: the S is of the next word
		}
		for j < len(s) && class(s[j]) == 3 {
			j++
		}
	}
	return j
}

// withoutEdition returns a bare name in lower case without words at its end that tell
// editions of a function: hash_v1, hashV2, hash_old.
func withoutEdition(bare string) string {
	s := strings.ToLower(bare)
	for {
		rest := strings.TrimRight(s, "_")
		number := strings.TrimRight(rest, "0123456789")
		switch {
		case number != rest && strings.HasSuffix(number, "v"):
			rest = number[:len(number)-1]
		default:
			for _, word := range [...]string{"old", "new", "orig", "legacy"} {
				if trimmed, ok := strings.CutSuffix(rest, word); ok {
					rest = trimmed
					break
				}
			}
		}
		if rest == s || rest == "" || isSeparator(rest[len(rest)-1]) {
			return s
		}
		s = rest
	}
}

// weigh computes how much each word tells, when all names are read.
func (v *vocabulary) weigh() {
	const common = 4 // words in as many names are still rare
	v.weights = make([]float64, len(v.names))
	for id, n := range v.names {
		v.weights[id] = 1 / (1 + 0.5*math.Log2(max(1, float64(n)/common)))
		if v.short[id] {
			v.weights[id] *= 0.3
		}
	}
}

// weight is how much a word tells where it is.
func (v *vocabulary) weight(w word) float64 {
	if w.last {
		return 2 * v.weights[w.id]
	}
	return v.weights[w.id]
}

// similarity is the weighted share of the words in common, 0 to 1.
func (v *vocabulary) similarity(a, b []word) float64 {
	var common, all float64
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case j == len(b) || i < len(a) && a[i].id < b[j].id:
			all += v.weight(a[i])
			i++
		case i == len(a) || b[j].id < a[i].id:
			all += v.weight(b[j])
			j++
		default:
			x, y := v.weight(a[i]), v.weight(b[j])
			common += 2 * min(x, y)
			all += x + y
			i++
			j++
		}
	}
	if all == 0 {
		return 0
	}
	return common / all
}

// contained is the weighted share of the words of a name that another one has, 0 to 1.
func (v *vocabulary) contained(a, b []word) float64 {
	var common, all float64
	for _, w := range a {
		all += v.weight(w)
		if slices.ContainsFunc(b, func(x word) bool { return x.id == w.id }) {
			common += v.weight(w)
		}
	}
	if all == 0 {
		return 0
	}
	return common / all
}
