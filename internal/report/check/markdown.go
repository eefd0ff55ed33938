package check

import (
	"fmt"
	"io"
	"strings"

	"profdiff/internal/report/text"
	"profdiff/internal/verdict"
)

// Sizes of Markdown in bytes. GitHub refuses comments of more than 65,536 characters, and
// drops a step summary of more than 1,024 KiB as a whole.
const (
	MaxComment     = 60_000
	MaxStepSummary = 900 << 10
)

// WriteMarkdown writes an outcome as Markdown of up to limit bytes: what failed first.
// What does not fit is left out and counted.
func WriteMarkdown(w io.Writer, o *Document, limit int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "### Performance budgets: %s\n\n%s **%s:** %s%s\n\n%s\n\n", o.Outcome.Word(verdict.Amount),
		o.Outcome.ColorSign(), o.Outcome.Title(verdict.Amount), text.MarkdownSentence(o.Decides, 8*text.MaxName), alsoMarkdown(o), orderText(&o.Design))
	fmt.Fprintf(&b, "| Verdict | Budget | Estimate | %s | Limit | %s | p (Holm) | Shows | Owner |\n| --- | --- | ---: | --- | --- | ---: | ---: | ---: | --- |\n", boundTitle(o.Alpha), map[bool]string{false: "Runs", true: "Devices"}[o.Design.Devices])
	const reserve = 1000 // for what is counted
	left := 0
	for _, r := range worstFirst(o) {
		c := row(r)
		line := "| " + strings.Join([]string{
			r.Verdict.ColorSign() + " " + markedVerdict(r), text.MarkdownCell(text.MarkdownCode(r.ID, text.MaxName)),
			text.MarkdownCell(c.estimate), text.MarkdownCell(c.bound), text.MarkdownCell(text.MarkdownProse(c.limit, text.MaxName)), c.runs, text.MarkdownCell(c.p), c.shows,
			text.MarkdownCell(ownerMarkdown(r.Owner)),
		}, " | ") + " |\n"
		if b.Len()+len(line) > limit*2/3-reserve {
			left++
			continue
		}
		b.WriteString(line)
	}
	if left > 0 {
		fmt.Fprintf(&b, "\n%d more budgets are not shown.\n", left)
	}
	list := remarks(o)
	if len(list) > 0 {
		b.WriteString("\n")
	}
	for i, line := range list {
		if b.Len()+len(line) > limit-reserve {
			fmt.Fprintf(&b, "\n%d more remarks are not shown.\n", len(list)-i)
			break
		}
		b.WriteString(line)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// alsoMarkdown is what the story says beside the outcome, behind it.
func alsoMarkdown(o *Document) (s string) {
	for _, also := range o.also() {
		s += ". " + text.MarkdownSentence(strings.TrimSuffix(also, "."), 4*text.MaxName)
	}
	return s
}

// remarks are the reasons and notes as a list.
func remarks(o *Document) (list []string) {
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf("* "+format+"\n", args...)) }
	for _, r := range worstFirst(o) {
		id := text.MarkdownCode(r.ID, text.MaxName)
		for _, reason := range reasons(r) {
			add("%s: %s", id, text.MarkdownProse(reason, 4*text.MaxName))
		}
		if r.Waived {
			add("%s: %s", id, text.MarkdownProse(waiverText(r.Waiver), 4*text.MaxName))
		}
		for _, note := range r.Notes {
			add("%s: %s", id, text.MarkdownProse(note, 4*text.MaxName))
		}
	}
	for _, d := range o.Discoveries {
		add("%s has no budget and costs %s %s", text.MarkdownCode(d.Name, text.MaxName), text.Change(float64(d.Ratio)), interval(d.CI, relativeValue))
	}
	for _, note := range o.Notes {
		add("%s", text.MarkdownProse(note, 4*text.MaxName))
	}
	for _, warning := range o.Design.Warnings {
		add("Warning: %s", text.MarkdownProse(warning, 4*text.MaxName))
	}
	return list
}

// ownerMarkdown mentions the owner only by name: who is asked is for people to decide, and a
// mention in each comment of a job is a nuisance.
func ownerMarkdown(owner string) string {
	if owner == "" {
		return ""
	}
	return text.MarkdownCode(owner, text.MaxName)
}

// worstFirst are the results by verdict, fail first, and else in their order.
func worstFirst(o *Document) (list []*Budget) {
	for _, v := range verdict.Limits {
		for i := range o.Budgets {
			if o.Budgets[i].Verdict == v {
				list = append(list, &o.Budgets[i])
			}
		}
	}
	return list
}
