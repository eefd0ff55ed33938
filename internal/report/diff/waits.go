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
	*waits.Comparison
}

// NewWaits compares who waited for whom. Reports may be nil.
func NewWaits(base, head *wait.Report, runsBase, runsHead int) *Waits {
	return &Waits{base, head, waits.Compare(base, head, runsBase, runsHead)}
}

// AddWaits adds who waited for whom on both sides, and tells the story with it. Reports may be nil.
func (d *Document) AddWaits(base, head *wait.Report) {
	if base != nil && base.Known() || head != nil && head.Known() {
		d.Waits = NewWaits(base, head, d.Design.RunsBase, d.Design.RunsHead)
		d.waitReasons()
		d.Story = d.tell()
	}
}

// maxWaits is how many chains are listed.
const maxWaits = 5

// writeWaits writes how long threads waited for others before and after, in a run, before lists of
// functions or threads of what they waited.
func writeWaits(w io.Writer, d *Document, opt Options) error {
	shows := opt.By == "" || opt.By == run.ByFunction || opt.By == run.ByThread
	if d.Waits == nil || !shows || !slices.ContainsFunc(d.Events, func(e Event) bool { return run.IsWait(e.Name) }) {
		return nil
	}
	per := waits.Per(d.Waits.Base, d.Waits.Head)
	base := text.Right("base", func(c waits.Change) string { return c.Base.String() })
	head := text.Right("head", func(c waits.Change) string { return c.Head.String() })
	if rows := d.Waits.Chains; len(rows) > 0 {
		if _, err := fmt.Fprintln(w, "\nwho waits"+waits.Arrow+"for whom, "+per+":"); err != nil {
			return err
		}
		shown := rows[:min(len(rows), maxWaits)]
		err := text.WriteColumns(w, []text.Column[waits.Change]{
			base, head,
			text.Right("longest", func(c waits.Change) string { return text.Dash(c.Longest()) }).Spared(1),
			text.Names("threads", func(c waits.Change) string { return c.Of }),
		}, shown)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(shown, func(c waits.Change) bool { return !c.Base.Known || !c.Head.Known }) {
			if _, err := fmt.Fprintln(w, "("+waits.NotKnown+")"); err != nil {
				return err
			}
		}
	}
	rows := d.Waits.Regions
	if len(rows) == 0 {
		return nil
	}
	if _, err := fmt.Fprintln(w, "\nwaits for what one thread has, whoever that is, "+per+":"); err != nil {
		return err
	}
	return text.WriteColumns(w, []text.Column[waits.Change]{
		base, head,
		text.Right("longest", func(c waits.Change) string { return text.Dash(c.Longest()) }).Spared(2),
		text.Right("of unknown holders", func(c waits.Change) string { return c.Unknown() }).Spared(1),
		text.Phrases("waited for", func(c waits.Change) string { return c.Of }),
	}, rows[:min(len(rows), maxWaits)])
}
