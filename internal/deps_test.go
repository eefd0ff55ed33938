// Package internal holds only the test of the import policy.
package internal

import (
	"go/build"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// policy says which packages of this module each package may import. Dependencies
// point one way: what decodes recordings knows nothing of comparisons, and what
// compares knows nothing of perf.data. Test files are free.
var policy = map[string][]string{
	"perffile":              {},
	"perffile/perffiletest": {"perffile"},
	"perfsession":           {"perffile"},
	"objfile":               {},
	"disasm":                {"objfile"},
	"symbolizer":            {"objfile", "perfsession"},
	"run":                   {},
	"run/runtest":           {"run"},
	"callgrind":             {},
	"ingest":                {"perffile", "perfsession", "symbolizer", "objfile", "run", "callgrind"},
	"branch":                {"perffile", "perfsession", "symbolizer", "objfile", "disasm", "llvm", "stats", "callgrind", "align"},
	"branch/diff":           {"branch", "disasm", "stats", "symbolizer", "align"},
	"category":              {"run"},
	"stats":                 {},
	"align":                 {},
	"compare":               {"run", "stats", "align", "category"},
	"compare/comparetest":   {"run", "compare"},
	"calibrate":             {"stats"},
	"llvm":                  {},
	"predict":               {"objfile", "disasm", "llvm", "branch", "run", "align", "stats", "symbolizer", "calibrate"},
	"budget":                {"run", "category", "compare", "align", "stats", "branch", "predict"},
	"record":                {"perffile", "objfile"},
	"report/html":           {"run", "category", "compare", "align", "stats", "branch", "branch/diff", "predict", "llvm", "budget"},
	"report/text":           {},
	"report/reporttest":     {},
	"report/show":           {"report/text", "run", "category"},
	"report/diff":           {"report/text", "run", "compare", "align", "stats"},
	"report/branches":       {"report/text", "branch", "branch/diff", "stats", "llvm"},
	"report/check":          {"report/text", "report/diff", "budget", "compare", "run", "stats"},
	"report/predict":        {"report/text", "predict"},
}

func TestImports(t *testing.T) {
	const module = "profdiff/internal/"
	seen := make(map[string]bool)
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if d.Name() == "testdata" || path == "tools" {
			return filepath.SkipDir
		}
		pkg, err := build.ImportDir(path, 0)
		if _, empty := err.(*build.NoGoError); empty || path == "." {
			return nil
		}
		if err != nil {
			return err
		}
		name := filepath.ToSlash(path)
		seen[name] = true
		allowed, ok := policy[name]
		if !ok {
			t.Errorf("package %s has no line in the import policy", name)
		}
		for _, imp := range pkg.Imports {
			if imp, ok := strings.CutPrefix(imp, module); ok && !slices.Contains(allowed, imp) {
				t.Errorf("package %s imports %s, against the policy", name, imp)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range policy {
		if !seen[name] {
			t.Logf("package %s of the policy does not exist yet", name)
		}
	}
}
