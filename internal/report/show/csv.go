package show

import (
	"io"

	"profdiff/internal/report/text"
)

// A csvRow is a function in one event. Fields are named as in JSON, but for the event, which
// is a key there.
type csvRow struct {
	Name       string `json:"name"`
	SystemName string `json:"system_name"`
	File       string `json:"file"`
	DSO        string `json:"dso"`
	Event      string `json:"event"`
	Self       Sum    `json:"self"`
	Total      Sum    `json:"total"`
}

// WriteCSV writes the functions of a document as CSV, one row for each and each event in which
// it has samples, the events in their order: see [text.WriteCSV].
func WriteCSV(w io.Writer, d *Document) error {
	var rows []csvRow
	for i := range d.Events {
		event := d.Events[i].Name
		for _, f := range d.Functions {
			total, ok := f.Total[event]
			if self, isSelf := f.Self[event]; ok || isSelf {
				rows = append(rows, csvRow{f.Name, f.SystemName, f.File, f.DSO, event, self, total})
			}
		}
	}
	return text.WriteCSV(w, rows)
}
