package main

import (
	"os"

	"github.com/rogpeppe/go-internal/testscript"

	"profdiff/internal/perffile/perffiletest"
)

// perfData FROM TO makes a recording of its text form.
func perfData(ts *testscript.TestScript, _ bool, args []string) {
	data, err := perffiletest.Build([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o666))
}
