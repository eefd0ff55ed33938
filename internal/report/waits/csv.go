package waits

import (
	"io"
	"strings"

	"profdiff/internal/report/text"
	"profdiff/internal/wait"
)

// A row is a lock in CSV. Fields are named as in JSON, but for lists, which are names there.
type row struct {
	Lock    string   `json:"lock"`
	Blocked place    `json:"blocked"`
	Held    place    `json:"held"`
	Sum     wait.Sum `json:"sum"`
	HeldNS  int64    `json:"held_ns"`
	Main    wait.Sum `json:"main"`
	Waiters string   `json:"waiters"`
	Holders string   `json:"holders"`
}

// A place is a wait.Place, of which no field may be missing.
type place struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int64  `json:"line"`
}

// WriteCSV writes the locks of a report, one row each: see [text.WriteCSV].
func WriteCSV(w io.Writer, r *wait.Report) error {
	rows := make([]row, 0, len(r.Locks))
	for i := range r.Locks {
		l := &r.Locks[i]
		rows = append(rows, row{l.Lock, place(l.Blocked), place(l.Held), l.Sum, l.HeldNS, l.Main, partyNames(l.Waiters), partyNames(l.Holders)})
	}
	return text.WriteCSV(w, rows)
}

func partyNames(list []wait.Party) string {
	var names []string
	for i := range list {
		names = append(names, Thread(&list[i].Thread))
	}
	return strings.Join(names, ", ")
}
