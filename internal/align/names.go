package align

import (
	"regexp"
	"slices"
	"strings"
)

// Names finds names of files, processes or threads that mean the same on both sides, by the
// name that head has, where it is another one:
//
//  1. The program that was recorded is the same program, whatever it is called: names that
//     only one side has and that its command has ([CommandWords]) are paired in the order of
//     the command, if there are as many on both sides.
//  2. What else only one side has is paired if it differs in its version or in a word for
//     the side, as libz.so.1.2.11 and libz.so.1.2.12, app.before and app.after, and if
//     nothing else could be meant.
//
// Whatever both sides have is itself.
func Names(base, head []string, commands [2][]string) map[string]string {
	onlyBase, onlyHead := without(base, head), without(head, base)
	same := make(map[string]string)
	b, h := ran(onlyBase, commands[0]), ran(onlyHead, commands[1])
	if len(b) == len(h) {
		for i := range h {
			same[h[i]] = b[i]
		}
	}
	if len(same) > 0 {
		onlyBase, onlyHead = without(onlyBase, b), without(onlyHead, h)
	}
	pairUnique(onlyBase, onlyHead, same, func(name string, head bool) string {
		for i := range min(len(b), len(same)) {
			own := b[i]
			if head {
				own = h[i]
			}
			// A thread that is called after its program.
			if rest, ok := strings.CutPrefix(name, own); ok && rest != "" && !isWordByte(rest[0]) {
				return "\x00" + rest
			}
		}
		return Stem(name)
	})
	return same
}

// maxSuffix is the most directories by which paths are told apart.
const maxSuffix = 16

// Paths is Names for paths of source files: directories differ between builds, as the
// versions in them do. Of files with one name those are the same whose last directories are.
func Paths(base, head []string) map[string]string {
	onlyBase, onlyHead := without(base, head), without(head, base)
	same, stems := make(map[string]string), make(map[string]string)
	stemOf := func(part string) string {
		s, ok := stems[part]
		if !ok {
			s = Stem(part)
			stems[part] = s
		}
		return s
	}
	for n := maxSuffix; n > 0 && len(onlyBase)*len(onlyHead) > 0; n-- {
		pairUnique(onlyBase, onlyHead, same, func(path string, _ bool) string {
			parts := strings.Split(path, "/")
			if len(parts) < n {
				return ""
			}
			parts = parts[len(parts)-n:]
			for i := range parts[:n-1] {
				parts[i] = stemOf(parts[i])
			}
			return strings.Join(parts, "/")
		})
		taken := make([]string, 0, len(same))
		for h, b := range same {
			taken = append(taken, b)
			onlyHead = slices.DeleteFunc(onlyHead, func(s string) bool { return s == h })
		}
		onlyBase = without(onlyBase, taken)
	}
	return same
}

// pairUnique pairs names whose keys are equal, if no other of their side has the key. What
// has the key "" is not paired.
func pairUnique(base, head []string, same map[string]string, key func(name string, head bool) string) {
	type found struct {
		base, head string
		bases      int
		heads      int
	}
	by := make(map[string]*found)
	at := func(k string) *found {
		if by[k] == nil {
			by[k] = new(found)
		}
		return by[k]
	}
	for _, name := range base {
		f := at(key(name, false))
		f.base = name
		f.bases++
	}
	for _, name := range head {
		f := at(key(name, true))
		f.head = name
		f.heads++
	}
	for k, f := range by {
		if k != "" && f.bases == 1 && f.heads == 1 {
			same[f.head] = f.base
		}
	}
}

// without are the names that others lack, each once.
func without(names, others []string) (only []string) {
	has := make(map[string]bool, len(others)+len(names))
	for _, name := range others {
		has[name] = true
	}
	for _, name := range names {
		if !has[name] {
			has[name] = true
			only = append(only, name)
		}
	}
	return only
}

// maxComm is the length to which Linux cuts the name of a thread (TASK_COMM_LEN, 16 with
// the zero at the end).
const maxComm = 15

// ran are the names that a command has, in its order.
func ran(names, command []string) (list []string) {
	for _, word := range command {
		for _, name := range names {
			if (name == word || len(word) > maxComm && name == word[:maxComm]) && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

// CommandWords are the words of a command without the directories in them, whether it is for
// a shell or not.
func CommandWords(command string) (words []string) {
	for _, word := range strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\n'\"`();|&<>=$", r) }) {
		if word = word[strings.LastIndexByte(word, '/')+1:]; word != "" {
			words = append(words, word)
		}
	}
	return words
}

// What of a name is its version, and its side.
var (
	soVersion   = regexp.MustCompile(`\.so(\.[0-9]+)+$`)
	version     = regexp.MustCompile(`[-._]?v?[0-9]+(\.[0-9]+)+([-._]?(rc|beta|alpha)[0-9]*)?`)
	lastVersion = regexp.MustCompile(`-[0-9]+(\.so)?$`)
	sideWord    = regexp.MustCompile(`[-._](old|new|before|after|base|head)$|^(old|new|before|after|base|head)[-._]`)
	letters     = regexp.MustCompile(`[A-Za-z]{2}`)
)

// Stem is a name without its version and without a word for the side, or all of it if little
// else is left.
func Stem(name string) string {
	s := soVersion.ReplaceAllString(name, ".so")
	s = version.ReplaceAllString(s, "")
	s = lastVersion.ReplaceAllString(s, "$1")
	s = sideWord.ReplaceAllString(s, "")
	if !letters.MatchString(strings.TrimSuffix(s, ".so")) {
		return name
	}
	return s
}
