package llvm

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
)

// diagnostic is an error at a place of the assembly.
type diagnostic struct {
	line, column int // from 1
	message      string
}

// messages is what llvm-mca said on standard error.
type messages struct {
	diagnostics []diagnostic // errors at a place
	// Texts of instructions without scheduling information, as llvm-mca prints them.
	unsupported []string
	errors      []string // without a place
	warnings    []string // each once; calls and returns are not among them
}

var (
	diagnosticLine = regexp.MustCompile(`^(?:<stdin>|-):(\d{1,9}):(\d{1,9}): (error|warning|note): (.*)$`)
	generalLine    = regexp.MustCompile(`^(?:\S*llvm-mca\S* (?:: )?)?(error|warning|note): (.*)$`)
)

// parseStderr reads the standard error of llvm-mca. The lines that show the source and
// point at a column follow a diagnostic and are skipped; a program cannot tell them from
// what it does not know, so the lines directly behind a diagnostic are never warnings.
func parseStderr(data []byte) messages {
	var m messages
	seen := make(map[string]bool)
	warn := func(text string) {
		if text != "" && !seen[text] {
			seen[text] = true
			m.warnings = append(m.warnings, text)
		}
	}
	source := 0 // lines of source that may follow
	note := ""  // what the next note belongs to
	for line := range bytes.Lines(data) {
		text := strings.ToValidUTF8(strings.TrimRight(string(line), "\r\n"), "?")
		if f := diagnosticLine.FindStringSubmatch(text); f != nil {
			source = 2
			switch f[3] {
			case "error":
				d := diagnostic{message: f[4]}
				// The expression limits both to nine digits.
				d.line, _ = strconv.Atoi(f[1])
				d.column, _ = strconv.Atoi(f[2])
				m.diagnostics = append(m.diagnostics, d)
			case "warning":
				warn(f[4])
			}
			continue
		}
		if f := generalLine.FindStringSubmatch(text); f != nil {
			source = 0
			severity, message := f[1], f[2]
			switch {
			case severity == "note":
				if instruction, ok := strings.CutPrefix(message, "instruction:"); ok && note == "unsupported" {
					m.unsupported = append(m.unsupported, strings.TrimSpace(instruction))
				}
			case strings.HasPrefix(message, "found an unsupported instruction"):
				note = "unsupported"
			case strings.HasPrefix(message, "found a call"), strings.HasPrefix(message, "found a return"):
				note = "flow"
			case severity == "error":
				note = ""
				m.errors = append(m.errors, message)
			default:
				note = ""
				warn(message)
			}
			continue
		}
		if source > 0 {
			source--
			continue
		}
		if strings.TrimSpace(text) != "" {
			warn(text)
		}
	}
	return m
}
