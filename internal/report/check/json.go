package check

import (
	"io"

	"profdiff/internal/report/text"
)

// WriteJSON writes a document as JSON: see check.schema.json.
func WriteJSON(w io.Writer, d *Document) error { return text.WriteJSON(w, d) }
