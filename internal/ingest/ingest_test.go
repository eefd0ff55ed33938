package ingest

import (
	"bytes"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/run"
)

// detected is the name of the format of an input that starts with head, "" if there is
// none.
func detected(head input.Head) string {
	f, err := formats.Detect(head)
	if err != nil {
		return ""
	}
	return f.Name
}

// readBytes reads data of any format.
func readBytes(name string, data []byte, opt *reading.Options) (*run.Run, error) {
	src, err := input.New(name, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return Read(src, opt)
}
