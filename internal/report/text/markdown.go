package text

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxName is the number of runes of a name in Markdown.
const MaxName = 120

// Shorten leaves out the middle of a text of more than limit runes.
func Shorten(s string, limit int) string {
	if len(s) <= limit || utf8.RuneCountInString(s) <= limit {
		return s
	}
	// The halves are searched from both ends: names may be long.
	head, tail := 0, len(s)
	for range limit / 2 {
		_, n := utf8.DecodeRuneInString(s[head:])
		head += n
	}
	for range limit - limit/2 - 1 {
		_, n := utf8.DecodeLastRuneInString(s[:tail])
		tail -= n
	}
	return s[:head] + "…" + s[tail:]
}

// MarkdownCode is a foreign text of up to limit runes as a code span of GitHub
// Flavored Markdown: nothing in it is Markdown or HTML, and GitHub makes no mentions,
// references, links and emoji of it. Backticks need a longer fence (CommonMark 0.31,
// section 6.1). Characters that break the line, are invisible or reorder what is around
// them are replaced. In a table it needs MarkdownCell.
func MarkdownCode(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if r != ' ' && (!unicode.IsGraphic(r) || unicode.Is(unicode.Zs, r)) {
			return utf8.RuneError
		}
		return r
	}, Shorten(strings.ToValidUTF8(s, "\ufffd"), limit))
	if strings.Trim(s, " ") == "" {
		return "(no name)"
	}
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	// One space at each end is not part of a code span.
	if strings.Trim(s, "` ") != s {
		s = " " + s + " "
	}
	return fence + s + fence
}

// MarkdownCell is a line of Markdown as a cell of a table, in which pipes need a
// backslash even in code spans (GFM 0.29, section 4.10). Parsers differ in whether a
// backslash in front of that one escapes it, so that there it becomes a fullwidth one.
func MarkdownCell(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, `\|`, "＼|"), "|", `\|`)
}

var (
	plainProse = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9 ,;:.()%'→±-]*$`)
	// linkedProse is what GitHub or its Markdown would link or draw: hosts, hashes of
	// commits, references of trackers, emoji.
	linkedProse = regexp.MustCompile(`(?i)www\.|[0-9a-f]{7}|[a-z]-[0-9]|:[a-z0-9-]+:`)
)

// MarkdownProse is a foreign text as it is if nothing in it can mean anything but
// itself, else as a code span.
func MarkdownProse(s string, limit int) string {
	s = Shorten(s, limit)
	if plainProse.MatchString(s) && !linkedProse.MatchString(s) {
		return s
	}
	return MarkdownCode(s, limit)
}

// plainWord is a word, number or interval that means nothing but itself.
var plainWord = regexp.MustCompile(`^[(\[]?[A-Za-z0-9±+−×→–-][A-Za-z0-9./,%×±−'’σµ\x{202f}-]*[)\]]?[.,;:)]*$`)

// MarkdownSentence is a sentence with foreign names in it: what means something else in Markdown is a
// code span, word by word.
func MarkdownSentence(s string, limit int) string {
	var b strings.Builder
	for i, word := range strings.Fields(Shorten(s, limit)) {
		if i > 0 {
			b.WriteByte(' ')
		}
		if plainWord.MatchString(word) && !linkedProse.MatchString(word) {
			b.WriteString(word)
			continue
		}
		core := strings.TrimRight(word, ".,;:")
		b.WriteString(MarkdownCode(core, limit) + word[len(core):])
	}
	return b.String()
}

// MarkdownStory is what happened: its word, and sentences.
func MarkdownStory(word string, sentences []string) string {
	var s strings.Builder
	s.WriteString("**" + strings.ToUpper(word[:min(1, len(word))]) + word[min(1, len(word)):] + ":**")
	for _, sentence := range sentences {
		s.WriteString(" " + MarkdownSentence(sentence, 4*MaxName))
	}
	return s.String()
}
