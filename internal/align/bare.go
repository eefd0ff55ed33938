package align

import "strings"

// Bare is a name, normalised, without template or type arguments, parameters and return type.
func Bare(name string) string { return bareName(Normalize(name)) }

// Leading is a name, normalised, without parameters and what is behind them.
func Leading(name string) string { return leadingName(Normalize(name)) }

// bareName returns a normalised name without template or type arguments, parameters
// and return type: "T S<int>::f<T>(T) const" is "S::f". Names with brackets that do
// not match stay as they are.
func bareName(s string) string {
	name, _ := splitBare(s)
	return name
}

// leadingName is the part of a name before its parameters.
func leadingName(s string) string {
	_, end := splitBare(s)
	return s[:end]
}

// splitBare returns the bare name and where the last parameter list starts in s, or
// the length of s if there is none.
func splitBare(s string) (bare string, parameters int) {
	if !strings.ContainsAny(s, "<([") {
		return s, len(s)
	}
	var (
		b       = make([]byte, 0, len(s))
		stack   []byte // opening brackets
		dropped int    // how many of them, from which on is not written, 0 if none
		// params is where a parameter list at the outermost level was left out
		// of b, -1 if nowhere, end where it ends in s.
		params, end = -1, 0
		space       = -1 // last outermost space in b before params
		// afterOperator is where the last operator's name ends in s.
		afterOperator = -1
	)
	parameters = len(s)
	for i := 0; i < len(s); {
		if n := operatorAt(s, i); n > 0 {
			if n == len("operator") {
				// operator bool, operator new
				if next := strings.IndexAny(s[i+n:], "(<"); next > 0 {
					n += next
				}
			}
			if dropped == 0 {
				b = append(b, s[i:i+n]...)
			}
			i += n
			if strings.HasPrefix(s[i:], " <") {
				i++ // operator<< <int>
			}
			afterOperator = i
			continue
		}
		c := s[i]
		switch c {
		case '<', '(', '[', '{':
			stack = append(stack, c)
			if dropped == 0 && (i == afterOperator || isArguments(s, i, c)) {
				dropped = len(stack)
				if c == '(' && len(stack) == 1 {
					params, parameters = len(b), i
				}
				if c == '<' {
					b = trimTurbofish(b)
				}
			}
		case '>', ')', ']', '}':
			if c == '>' && i > 0 && s[i-1] == '-' {
				break // ->
			}
			if len(stack) == 0 || !closes(stack[len(stack)-1], c) {
				return s, len(s)
			}
			if dropped == len(stack) {
				dropped = 0
				stack = stack[:len(stack)-1]
				end = i + 1
				i++
				continue
			}
			stack = stack[:len(stack)-1]
		case ' ':
			if len(stack) == 0 && params < 0 {
				space = len(b)
			}
		}
		if dropped == 0 {
			b = append(b, c)
		}
		i++
	}
	if len(stack) > 0 {
		return s, len(s)
	}
	if params >= 0 {
		if isQualifiers(s[end:]) {
			b = b[:params]
		}
		if space >= 0 && space < params {
			b = b[space+1:]
		}
	}
	if len(b) == 0 {
		return s, len(s)
	}
	return string(b), parameters
}

// isArguments reports whether the bracket at s[i] starts something that is not of
// the bare name.
func isArguments(s string, i int, c byte) bool {
	switch c {
	case '<': // but not <T as Trait>::f
		return i > 0 && s[i-1] != ' ' && s[i-1] != '(' && s[i-1] != '<' && s[i-1] != '&'
	case '(': // but not Go's (*T).f
		return !strings.HasPrefix(s[i:], "(*") || i > 0 && s[i-1] != '.'
	case '[':
		return i > 0 && (isWordByte(s[i-1]) || s[i-1] == '>')
	}
	return false
}

// trimTurbofish removes the "::" of Rust's f::<T>.
func trimTurbofish(b []byte) []byte {
	if n := len(b); n > 2 && b[n-1] == ':' && b[n-2] == ':' {
		return b[:n-2]
	}
	return b
}

// isQualifiers reports whether s is what follows the parameters of a member
// function, if anything.
func isQualifiers(s string) bool {
	for word := range strings.FieldsSeq(s) {
		switch word {
		case "const", "volatile", "noexcept", "&", "&&":
		default:
			return false
		}
	}
	return true
}
