package budget

import _ "embed"

//go:embed budget.schema.json
var schemaJSON []byte

// Schema is the JSON Schema (draft 2020-12) of budget files, for editors.
func Schema() []byte { return append([]byte(nil), schemaJSON...) }
