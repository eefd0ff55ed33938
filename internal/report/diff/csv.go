package diff

import (
	"io"

	"profdiff/internal/report/text"
)

// WriteCSV writes the functions of a comparison as CSV, one row for each and each event, with
// the fields that they have in JSON: see diff.schema.json and [text.WriteCSV].
func WriteCSV(w io.Writer, d *Document) error { return text.WriteCSV(w, d.Functions) }
