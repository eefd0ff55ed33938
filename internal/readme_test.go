package internal

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	paragraph = regexp.MustCompile("(?m)^\\* `([a-z0-9/]+)`: ")
	codeSpan  = regexp.MustCompile("`([^`\n]+)`")
	pathName  = regexp.MustCompile(`^(\.ci/[\w-]+|[\w-]+(/[\w.-]+)+|[\w.-]+\.(go|md|yaml))$`)
	camelCase = regexp.MustCompile("`(?:ingesttest\\.([A-Z]\\w*)|([a-z]+[A-Z][A-Za-z]*))`")
	stepRow   = regexp.MustCompile("(?m)^\\| `([^`]+\\.go)` \\| (.*?) \\|")
)

// readme is the plan of the house.
func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// inReadme is the path of a file that README.md names.
func inReadme(name string) string {
	switch first, _, _ := strings.Cut(name, "/"); first {
	case "cmd", ".ci", "internal", "profiles", "mca-cases":
		return path.Join("..", name)
	}
	return name
}

// TestReadmePackages checks that each package has its paragraph in README.md, and that no
// paragraph is of a package that is gone.
func TestReadmePackages(t *testing.T) {
	var named []string
	for _, m := range paragraph.FindAllStringSubmatch(readme(t), -1) {
		if slices.Contains(named, m[1]) {
			t.Errorf("README.md has two paragraphs of package %s", m[1])
		}
		named = append(named, m[1])
	}
	packages := importsOf(t)
	for name := range packages {
		if !slices.Contains(named, name) {
			t.Errorf("README.md has no paragraph of package %s: add it, as \"* `%s`: …\"", name, name)
		}
	}
	for _, name := range named {
		if _, ok := packages[name]; !ok {
			t.Errorf("README.md has a paragraph of package %s, which there is not", name)
		}
	}
}

// TestReadmePaths checks that the files and folders that README.md names exist.
func TestReadmePaths(t *testing.T) {
	found := 0
	for _, m := range codeSpan.FindAllStringSubmatch(readme(t), -1) {
		if !pathName.MatchString(m[1]) {
			continue
		}
		found++
		if _, err := os.Stat(filepath.FromSlash(inReadme(m[1]))); err != nil {
			t.Errorf("README.md names %s, which there is not", m[1])
		}
	}
	if found == 0 {
		t.Error("README.md names no files")
	}
}

// TestReadmeSteps checks that the functions on the way of a recording are declared in the
// files that README.md says.
func TestReadmeSteps(t *testing.T) {
	rows := stepRow.FindAllStringSubmatch(readme(t), -1)
	if len(rows) == 0 {
		t.Fatal("README.md has no table of steps")
	}
	for _, row := range rows {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.FromSlash(inReadme(row[1])), nil, 0)
		if err != nil {
			t.Error(err)
			continue
		}
		var declared []string
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok {
				declared = append(declared, receiver(d)+d.Name.Name)
			}
		}
		for _, m := range codeSpan.FindAllStringSubmatch(row[2], -1) {
			if !slices.Contains(declared, m[1]) {
				t.Errorf("README.md says that %s has %s, which it has not", row[1], m[1])
			}
		}
	}
}

// receiver is the type of a method with a dot, or nothing.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if generic, ok := typ.(*ast.IndexExpr); ok {
		typ = generic.X
	}
	return typ.(*ast.Ident).Name + "."
}

// TestReadmeNames checks that the functions and tables that README.md tells to use or to
// extend are in the code.
func TestReadmeNames(t *testing.T) {
	_, text, ok := strings.Cut(readme(t), "\n## How to add")
	if !ok {
		t.Fatal("README.md does not say how to add something")
	}
	var code strings.Builder
	for _, pattern := range []string{"../cmd/profdiff/*.go", "ingest/*.go", "ingest/ingesttest/*.go", "report/diff/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			code.Write(data)
		}
	}
	found := camelCase.FindAllStringSubmatch(text, -1)
	if len(found) == 0 {
		t.Error("README.md names nothing to use or to extend")
	}
	for _, m := range found {
		name := m[1] + m[2]
		declared := regexp.MustCompile(`(?m)^(func|var|const|type) (\(\w+ \*?\w+\) )?` + name + `\b`)
		if !declared.MatchString(code.String()) {
			t.Errorf("README.md names %s, which is not declared", name)
		}
	}
}
