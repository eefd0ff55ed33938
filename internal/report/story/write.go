package story

import (
	"cmp"
	"fmt"
	"io"

	"profdiff/internal/report/text"
	"profdiff/internal/verdict"
)

// Write writes a story for people, a sentence a line, the first one in the style of the outcome.
func (s *Story) Write(w io.Writer) error {
	screen := text.ScreenOf(w)
	for i := range s.Sentences {
		line := text.Printable(s.Sentences[i].Text)
		if i == 0 {
			line = screen.Paint(cmp.Or(StyleOf(s.Outcome), text.Bold), line)
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// StyleOf is how what is better or worse looks.
func StyleOf(v verdict.Verdict) text.Style {
	switch v {
	case verdict.Improved, verdict.Removed, verdict.Pass:
		return text.Green
	case verdict.Regressed, verdict.New, verdict.Fail:
		return text.Red
	}
	return text.Plain
}
