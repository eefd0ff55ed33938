package main

import (
	"regexp"
	"strings"
)

// A line is an instruction of a listing.
type line struct {
	number   int
	function string
	text     string // "jle .L3": one blank behind the mnemonic
}

var (
	label       = regexp.MustCompile(`^([A-Za-z_.$][\w.$]*):`)
	conditional = map[string]*regexp.Regexp{
		"x86-64":  regexp.MustCompile(`^(j[^m]\w*|loop\w*) `),
		"aarch64": regexp.MustCompile(`^(b\.?(eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)|cbn?z|tbn?z) `),
	}
	transfer = map[string]*regexp.Regexp{
		"x86-64":  regexp.MustCompile(`^(j|loop|call|ret)`),
		"aarch64": regexp.MustCompile(`^(b|br|bl|blr|ret)( |$)`),
	}
)

// parseListing returns the instructions of a listing by the compiler.
func parseListing(text string) []line {
	var lines []line
	function := ""
	for i, s := range strings.Split(text, "\n") {
		if m := label.FindStringSubmatch(s); m != nil && !strings.HasPrefix(s, ".") {
			function = m[1]
		}
		s, ok := strings.CutPrefix(s, "\t")
		if !ok || s == "" || s[0] == '.' {
			continue
		}
		lines = append(lines, line{i + 1, function, strings.Join(strings.Fields(s), " ")})
	}
	return lines
}

// branches reports whether an instruction is a conditional branch.
func (l *line) branches(arch string) bool { return conditional[arch].MatchString(l.text) }

// transfers reports whether control may go on elsewhere than behind the instruction.
func (l *line) transfers(arch string) bool {
	return l.branches(arch) || transfer[arch].MatchString(l.text)
}

// canonical returns what of the compiler's output is kept: everything but comments and
// the marks of inline assembly.
func canonical(output []byte) []byte {
	var kept strings.Builder
	for s := range strings.Lines(string(output)) {
		if t := strings.TrimSpace(s); t != "" && t[0] != '#' && !strings.HasPrefix(t, "//") {
			kept.WriteString(s)
		}
	}
	return []byte(kept.String())
}
