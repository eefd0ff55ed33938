package diff

import (
	"fmt"
	"io"
	"strings"

	"profdiff/internal/report/text"
)

// WriteCSV writes the functions of a comparison as CSV, one row for each and each event, with
// the fields that they have in JSON: see diff.schema.json and [text.WriteCSV]. The last column
// has the parts of a function with what each costs itself.
func WriteCSV(w io.Writer, d *Document) error {
	type row struct {
		Function
		Parts string `json:"parts"`
	}
	rows := make([]row, len(d.Functions))
	for i := range d.Functions {
		rows[i].Function = d.Functions[i]
		var parts []string
		for _, p := range d.Functions[i].Parts {
			parts = append(parts, fmt.Sprintf("%s: %s %.6g", p.Side, p.Name, p.Self))
		}
		rows[i].Parts = strings.Join(parts, "; ")
	}
	return text.WriteCSV(w, rows)
}
