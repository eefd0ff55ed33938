// Package internal holds only tests: of the import policy, and of the plan in README.md.
package internal

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// policy says which packages of this module each package may import, and does import: a
// line that nothing needs any more has to go. Dependencies point one way: what decodes
// recordings knows nothing of comparisons, and what compares knows nothing of perf.data.
// Test files are free. Tools are a module of their own, which nothing here can import.
var policy = map[string][]string{
	"exchange":              {"exchange/parca", "exchange/pyroscope", "exchange/transport", "protobuf"},
	"exchange/parca":        {"exchange/transport", "protobuf"},
	"exchange/pyroscope":    {"exchange/transport", "protobuf"},
	"exchange/transport":    {"protobuf"},
	"input":                 {"exchange", "input/xz", "limit"},
	"input/xz":              {},
	"cputime":               {},
	"limit":                 {},
	"input/inputtest":       {"perffile"},
	"scratch":               {},
	"output":                {"scratch"},
	"perffile":              {},
	"perffile/perffiletest": {"perffile"},
	"perfsession":           {"limit", "perffile", "slots"},
	"userstack":             {"objects", "perfsession", "unwind"},
	"objfile":               {"input/xz", "radix"},
	"radix":                 {},
	"slots":                 {},
	"unwind":                {"objfile"},
	"debuginfod":            {"objfile", "scratch"},
	"disasm":                {"objfile"},
	"asm":                   {"disasm"},
	"retrace":               {},
	"objects":               {"debuginfod", "disasm", "objfile", "perfsession", "unwind"},
	"objects/objectstest":   {"objects"},
	"symbolizer":            {"objects", "objfile", "perffile", "perfsession"},
	"run":                   {"limit", "slots"},
	"otlp":                  {"protobuf", "run"},
	"protobuf":              {},
	"interval":              {},
	"trace":                 {"interval"},
	"run/runtest":           {"run"},
	"remark":                {},
	"callgrind":             {"input"},
	"perfstat":              {"input"},
	"perfscript":            {"input"},
	"wait":                  {"category", "interval", "run", "yaml"},
	"metric":                {"input", "perfstat"},
	"metric/diff":           {"metric", "stats", "verdict"},
	"perfetto":              {"input"},
	"ftrace":                {"input", "trace"},
	"perfetto/perfettotest": {"perfetto"},
	"ingest":                {"callgrind", "ftrace", "ingest/gecko", "ingest/jfr", "ingest/otlp", "ingest/perfdata", "ingest/pprof", "ingest/reading", "ingest/reportsample", "ingest/stackdump", "ingest/traces", "input", "perfetto", "perfscript", "perfstat", "run", "slots"},
	"ingest/gecko":          {"ingest/reading", "input", "run"},
	"ingest/jfr":            {"ingest/reading", "input", "run"},
	"ingest/otlp":           {"ingest/pprof", "ingest/reading", "input", "otlp", "protobuf", "run"},
	"ingest/perfdata":       {"ingest/reading", "input", "objects", "perffile", "perfsession", "radix", "run", "symbolizer", "userstack"},
	"ingest/pprof":          {"ingest/reading", "input", "run"},
	"ingest/reportsample":   {"ingest/reading", "input", "run"},
	"ingest/stackdump":      {"ingest/reading", "input", "objects", "perfsession", "retrace", "run", "symbolizer"},
	"ingest/traces":         {"ftrace", "ingest/reading", "input", "objects", "perfetto", "perfsession", "retrace", "run", "symbolizer", "trace"},
	"ingest/reading":        {"input", "objects", "retrace", "run", "trace"},
	"ingest/ingesttest":     {"ingest/reading", "input", "run"},
	"branch":                {"objects", "perfstat", "stats", "symbolizer", "verdict"},
	"branch/branchtest":     {"branch", "llvm", "objfile"},
	"branch/code":           {"align", "branch", "disasm", "llvm", "objects", "objfile", "perfsession", "scratch"},
	"branch/shape":          {"asm", "branch/code", "disasm"},
	"branch/advice":         {"branch", "branch/code", "branch/shape", "objects"},
	"branch/annotate":       {"branch", "branch/code", "disasm", "objects", "spelling", "symbolizer"},
	"branch/events":         {"branch", "perffile"},
	"branch/estimate":       {"branch", "stats"},
	"branch/counters":       {"perffile", "perfsession"},
	"branch/totals":         {"branch", "branch/counters", "branch/estimate", "branch/events", "perffile", "perfstat"},
	"branch/skid":           {"branch", "disasm"},
	"branch/samples":        {"branch", "branch/code", "branch/counters", "branch/estimate", "branch/events", "branch/skid", "branch/totals", "disasm", "objects", "perffile", "perfsession", "perfstat", "symbolizer"},
	"branch/stacks":         {"branch", "branch/code", "branch/counters", "branch/estimate", "branch/events", "input", "objects", "perffile", "perfscript", "perfsession", "stats", "symbolizer", "verdict"},
	"branch/simulated":      {"branch", "callgrind"},
	"branch/recording":      {"branch", "branch/code", "branch/events", "branch/samples", "branch/simulated", "branch/stacks", "branch/totals", "ingest", "input", "objects", "perffile", "perfsession", "perfstat", "symbolizer", "verdict"},
	"branch/diff":           {"align", "branch", "branch/code", "branch/shape", "disasm", "objects", "stats", "verdict"},
	"category":              {"run", "yaml"},
	"stats":                 {},
	"verdict":               {"stats"},
	"align":                 {},
	"fleet":                 {},
	"fleet/fleettest":       {"fleet", "fleet/store", "fleet/table"},
	"fleet/query":           {"align", "fleet", "fleet/store", "run", "stats", "template", "verdict"},
	"fleet/batch":           {"align", "category", "fleet", "fleet/store", "fleet/table", "ingest", "input", "objects", "retrace", "run"},
	"fleet/table":           {"fleet", "input"},
	"fleet/store":           {"fleet", "fleet/table", "input", "radix"},
	"heatmap":               {"radix"},
	"compare":               {"heatmap", "run", "stats", "verdict", "align", "category", "remark", "slots"},
	"compare/comparetest":   {"run", "compare"},
	"calibrate":             {"asm", "probe", "stats"},
	"probe":                 {"asm"},
	"llvm":                  {"spelling"},
	"spelling":              {},
	"template":              {},
	"predict/flow":          {"asm", "disasm"},
	"predict/interpret":     {"asm", "disasm", "predict/flow"},
	"predict/core":          {"asm", "disasm", "llvm", "predict/flow", "predict/interpret", "probe"},
	"predict/hot":           {"asm", "disasm", "llvm", "objects", "predict/flow", "run", "stats", "symbolizer"},
	"predict":               {"align", "asm", "branch", "disasm", "llvm", "objects", "predict/core", "predict/flow", "predict/hot", "predict/interpret", "probe", "run", "stats"},
	"budget":                {"align", "branch", "category", "compare", "fleet", "fleet/query", "input", "metric", "run", "spelling", "stats", "verdict", "yaml"},
	"record":                {"objects", "objfile", "perffile", "perfsession", "record/command", "run", "sampler", "scratch"},
	"sampler":               {"objfile", "perffile"},
	"record/android":        {"objfile", "record", "record/command"},
	"record/checkout":       {"record", "record/command", "scratch", "source"},
	"record/command":        {},
	"looks":                 {"budget", "compare", "record", "run", "stats", "verdict"},
	"listing":               {"align", "objects", "objfile", "run", "source", "symbolizer"},
	"privacy":               {"run"},
	"report/html":           {"heatmap", "listing", "privacy", "radix", "report/branches", "report/check", "report/diff", "report/metrics", "report/predict", "report/story", "report/text", "report/waits", "run", "source", "stats", "template", "verdict", "wait"},
	"source":                {"align"},
	"report/text":           {},
	"report/story":          {"report/text", "verdict"},
	"report/waits":          {"report/text", "wait"},
	"report/reporttest":     {"report/text"},
	"report/show":           {"category", "fleet/store", "report/text", "report/waits", "run", "wait"},
	"report/metrics":        {"metric", "metric/diff", "report/story", "report/text", "stats", "verdict"},
	"report/diff":           {"align", "compare", "fleet/query", "listing", "report/story", "report/text", "report/waits", "run", "source", "stats", "verdict", "wait"},
	"report/branches":       {"branch", "branch/annotate", "branch/diff", "listing", "objects", "report/story", "report/text", "source", "stats", "symbolizer", "verdict"},
	"report/check":          {"budget", "report/diff", "report/story", "report/text", "stats", "verdict"},
	"report/predict":        {"asm", "llvm", "predict", "report/text", "verdict"},
	"yaml":                  {},
	"cmd/profdiff":          {"align", "asm", "branch", "branch/advice", "branch/annotate", "branch/diff", "branch/recording", "budget", "calibrate", "category", "compare", "debuginfod", "exchange", "fleet", "fleet/batch", "fleet/query", "fleet/store", "ingest", "input", "limit", "listing", "llvm", "looks", "metric", "metric/diff", "objects", "otlp", "output", "perffile", "perfstat", "predict", "predict/hot", "privacy", "record", "record/android", "record/checkout", "record/command", "remark", "report/branches", "report/check", "report/diff", "report/html", "report/metrics", "report/predict", "report/show", "report/text", "report/waits", "retrace", "run", "scratch", "source", "spelling", "symbolizer", "trace", "verdict", "wait", "yaml"},
}

// libraries lists the libraries that few packages may import, and which packages: all
// others ask these.
var libraries = map[string][]string{
	"compress/bzip2":                     {},
	"compress/flate":                     {},
	"compress/gzip":                      {},
	"compress/zlib":                      {"perfetto/perfettotest"},
	"debug/dwarf":                        {"objfile"},
	"debug/elf":                          {"objects/objectstest", "objfile"},
	"github.com/chromedp/chromedp":       {},
	"github.com/ianlancetaylor/demangle": {"symbolizer"},
	"github.com/klauspost/compress/gzip": {"exchange", "input", "input/inputtest", "report/diff", "report/html", "run"},
	"github.com/klauspost/compress/s2":   {"fleet/table"},
	"github.com/klauspost/compress/zlib": {"input", "objfile"},
	"github.com/klauspost/compress/zstd": {"fleet/table", "input", "input/inputtest", "objfile", "perffile", "perffile/perffiletest", "perfetto/perfettotest"},
	"github.com/rivo/uniseg":             {"report/text"},
	"github.com/ulikunitz/xz":            {},
	"github.com/ulikunitz/xz/lzma":       {"input/xz"},
	"github.com/goccy/go-yaml":           {"predict", "record", "yaml"},
	"go.yaml.in/yaml/v3":                 {},
	"golang.org/x/arch/x86/x86asm":       {"disasm"},
	"os/exec":                            {"branch/branchtest", "ingest/ingesttest", "llvm", "record/command"},
}

// openers are files that open what is no input of a user, each for a reason. All else that
// a user names, package input opens.
var openers = map[string]string{
	"debuginfod/cache.go":             "how long the cache keeps what",
	"debuginfod/download.go":          "headers of requests, which the environment names",
	"fleet/table/read.go":             "tables of a store, which are read at random",
	"ingest/ingesttest/ingesttest.go": "recordings of tests",
	"objects/objectstest/store.go":    "object files of tests",
	"objfile/elf.go":                  "object files, which debug information names",
	"llvm/cpu.go":                     "what the kernel says of the CPU",
	"llvm/objdump.go":                 "object files",
	"record/checkout/checkout.go":     "the index of a repository",
	"output/output.go":                "outputs, copied to where they are written in place",
	"record/looks.go":                 "recordings that record wrote, to be hashed",
	"record/machine.go":               "what the kernel says of the machine",
	"record/recording.go":             "notes that record wrote",
	"record/samples.go":               "recordings that record wrote",
	"record/generated.go":             "files of names that programs write, which are copied",
	"record/symbols.go":               "object files, and the kernel's symbols",
	"sampler/attach_linux.go":         "what the kernel says of processes",
	"sampler/running_linux.go":        "what the kernel says of processes, and their object files",
	"sampler/file_linux.go":           "what the kernel says of the machine",
	"sampler/kernel_linux.go":         "what the kernel says of itself",
	"sampler/record_linux.go":         "what the kernel says of the machine",
	"report/reporttest/reporttest.go": "expected outputs of tests",
	"../cmd/profdiff/check_out.go":    "the end of an output that grows",
}

// TestOpeners looks for files that open files.
func TestOpeners(t *testing.T) {
	used := make(map[string]bool)
	visit := func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || path == "tools" || path == "input"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, call := range []string{"os.Open(", "os.ReadFile("} {
			if !strings.Contains(string(text), call) {
				continue
			}
			used[filepath.ToSlash(path)] = true
			if _, ok := openers[filepath.ToSlash(path)]; !ok {
				t.Errorf("%s calls %s…): package input opens what a user names", path, call)
			}
		}
		return nil
	}
	for _, root := range []string{".", "../cmd"} {
		if err := filepath.WalkDir(root, visit); err != nil {
			t.Fatal(err)
		}
	}
	for name := range openers {
		if !used[name] {
			t.Errorf("%s may open files, but does not: remove the permission", name)
		}
	}
}

func TestImports(t *testing.T) {
	imports := importsOf(t)
	for name, list := range imports {
		allowed, ok := policy[name]
		if !ok {
			t.Errorf("package %s has no line in the import policy", name)
			continue
		}
		for _, imp := range list {
			if imp, ok := strings.CutPrefix(imp, "profdiff/internal/"); ok && !slices.Contains(allowed, imp) {
				t.Errorf("package %s imports %s, against the policy", name, imp)
			}
			if few, ok := libraries[imp]; ok && !slices.Contains(few, name) {
				t.Errorf("package %s imports %s, which only %q may", name, imp, few)
			}
		}
		for _, imp := range allowed {
			if !slices.Contains(list, "profdiff/internal/"+imp) {
				t.Errorf("the policy lets package %s import %s, which it does not: remove the permission", name, imp)
			}
			if strings.HasSuffix(imp, "test") && !strings.HasSuffix(name, "test") {
				t.Errorf("the policy lets package %s import %s, which is for tests", name, imp)
			}
		}
	}
	for name := range policy {
		if _, ok := imports[name]; !ok {
			t.Errorf("the policy has a line for package %s, which there is not: remove the line", name)
		}
	}
	for lib, few := range libraries {
		for _, name := range few {
			if !slices.Contains(imports[name], lib) {
				t.Errorf("the policy lets package %s import %s, which it does not: remove the permission", name, lib)
			}
		}
	}
}

// importsOf returns what the files of each package import that are built on Linux on
// x86-64, by the name that the policy has for the package.
func importsOf(t *testing.T) map[string][]string {
	t.Helper()
	linux := build.Default
	linux.GOOS, linux.GOARCH = "linux", "amd64"
	imports := make(map[string][]string)
	visit := func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if d.Name() == "testdata" || path == "tools" || path == "fleet/duckdb" { // modules of their own
			return filepath.SkipDir
		}
		pkg, err := linux.ImportDir(path, 0)
		if _, empty := err.(*build.NoGoError); empty || path == "." {
			return nil
		}
		if err != nil {
			return err
		}
		imports[strings.TrimPrefix(filepath.ToSlash(path), "../")] = pkg.Imports
		return nil
	}
	for _, root := range []string{".", "../cmd"} {
		if err := filepath.WalkDir(root, visit); err != nil {
			t.Fatal(err)
		}
	}
	return imports
}

// drawn are the packages of documents, with what their writers may not import: they read the
// document, which the files that are named make of results.
var drawn = map[string]struct {
	results []string
	makers  []string
}{
	"report/branches": {[]string{"branch", "branch/annotate", "branch/diff", "listing"}, []string{"build.go", "code.go", "diff_build.go", "diff_document.go", "document.go"}},
	"report/check":    {[]string{"budget"}, []string{"build.go", "budget.go"}},
	"report/metrics":  {[]string{"metric", "metric/diff"}, []string{"build.go", "diff_build.go"}},
	"report/predict":  {[]string{"predict"}, []string{"build.go", "document.go", "doubt.go", "loops.go"}},
	"report/diff":     {[]string{"compare", "fleet/query"}, []string{"build.go", "document.go", "fleet.go", "frames.go", "leads.go", "selftest.go", "sources.go"}},
	// A page draws documents alone.
	"report/html": {[]string{"branch", "branch/annotate", "branch/diff", "budget", "compare", "predict"}, nil},
}

// TestWritersDraw checks that what writes a document computes nothing on the way.
func TestWritersDraw(t *testing.T) {
	for dir, d := range drawn {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", dir, len(files), err)
		}
		for _, name := range files {
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			imported := slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool {
				name, ok := strings.CutPrefix(i.Path.Value, `"profdiff/internal/`)
				return ok && slices.Contains(d.results, strings.TrimSuffix(name, `"`))
			})
			maker := slices.Contains(d.makers, filepath.Base(name))
			switch {
			case strings.HasSuffix(name, "_test.go"):
			case imported && !maker:
				t.Errorf("%s imports one of %q: it is to write a document, which is made by %q", name, d.results, d.makers)
			case maker && !imported:
				t.Errorf("%s imports none of %q: remove it from the files that make the document", name, d.results)
			}
		}
	}
}
