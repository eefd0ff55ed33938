package diff

import (
	"fmt"
	"io"
	"slices"

	"profdiff/internal/report/text"
	"profdiff/internal/report/waits"
	"profdiff/internal/run"
	"profdiff/internal/wait"
)

// Waits are who waited for whom on both sides, nil where no recording tells.
type Waits struct {
	Base *wait.Report `json:"base"`
	Head *wait.Report `json:"head"`
}

// AddWaits adds who waited for whom on both sides. Reports may be nil.
func (d *Document) AddWaits(base, head *wait.Report) {
	if base != nil && base.Known() || head != nil && head.Known() {
		d.Waits = &Waits{base, head}
	}
}

// maxWaits is how many chains are listed.
const maxWaits = 5

// waiting are the events of which it is of interest who waited for whom.
var waiting = []string{"off-cpu", "delay", "contentions", "stack-dumps"}

// writeWaits writes how long threads waited for others before and after, in a run, below lists of
// functions or threads of what they waited.
func writeWaits(w io.Writer, d *Document, opt Options) error {
	shows := opt.By == "" || opt.By == run.ByFunction || opt.By == run.ByThread
	if d.Waits == nil || !shows || !slices.ContainsFunc(d.Events, func(e Event) bool { return slices.Contains(waiting, e.Name) }) {
		return nil
	}
	rows := waits.Compare(d.Waits.Base, d.Waits.Head, d.Design.RunsBase, d.Design.RunsHead)
	if len(rows) == 0 {
		return nil
	}
	shown := rows[:min(len(rows), maxWaits)]
	if _, err := fmt.Fprintln(w, "\nwho waits"+waits.Arrow+"for whom, "+waits.Per(d.Waits.Base, d.Waits.Head)+":"); err != nil {
		return err
	}
	return text.WriteColumns(w, []text.Column[waits.Change]{
		text.Right("base", func(c waits.Change) string { return c.Base }),
		text.Right("head", func(c waits.Change) string { return c.Head }),
		text.Right("longest", func(c waits.Change) string { return text.Dash(c.Longest) }),
		text.Left("threads", func(c waits.Change) string { return c.Threads }),
	}, shown)
}
