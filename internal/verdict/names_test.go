package verdict

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// otherWords are words of verdicts that other packages mean something else by.
var otherWords = map[string]map[string]string{
	"internal/align": {"removed": "a match of a name that head does not have", "new": "a token that is no part of a name"},
	"internal/budget": {
		"new": "a mark beside a verdict: base has nothing of it", "pass": "a value in budget files",
		"warn": "a key and a value in budget files", "fail": "a key and a value in budget files",
	},
	"internal/fleet/query":    {"new": "a name of a release"},
	"internal/input":          {"new": "a directory of criterion"},
	"internal/metric":         {"fail": "a word in names of metrics"},
	"internal/report/diff":    {"new": "a ratio without base, and lines of code that base lacks"},
	"internal/report/html":    {"new": "a ratio without base", "removed": "a match"},
	"internal/report/metrics": {"new": "a ratio without base"},
	"internal/report/text":    {"new": "a ratio without base"},
}

// TestNobodyElseNames checks that no other package of the program has a verdict as a
// string or a constant of its own.
func TestNobodyElseNames(t *testing.T) {
	words := make(map[string]bool)
	for _, v := range slices.Concat(TwoSided, Limits) {
		words[string(v)] = true
	}
	const root = "../.."
	meant := make(map[string]map[string]bool)
	files := 0
	for _, dir := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			pkg, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			pkg = filepath.ToSlash(pkg)
			if d.IsDir() {
				if d.Name() == "testdata" || pkg == "internal/tools" || pkg == "internal/verdict" {
					return filepath.SkipDir
				}
				return nil
			}
			if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			files++
			pkg = pkg[:strings.LastIndexByte(pkg, '/')]
			for _, found := range named(file, words) {
				if otherWords[pkg][found.word] == "" {
					t.Errorf("%s: %s is named here: ask package verdict", set.Position(found.at), found.word)
					continue
				}
				if meant[pkg] == nil {
					meant[pkg] = make(map[string]bool)
				}
				meant[pkg][found.word] = true
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 200 {
		t.Errorf("only %d files were looked at", files)
	}
	for pkg, list := range otherWords {
		for word := range list {
			if !meant[pkg][word] {
				t.Errorf("%s does not have the word %q: remove it from the list", pkg, word)
			}
		}
	}
}

type name struct {
	at   token.Pos
	word string
}

// named are the words in literals of a file, and its constants that are verdicts.
func named(file *ast.File, words map[string]bool) (list []name) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil && words[text] {
				list = append(list, name{n.Pos(), text})
			}
		case *ast.GenDecl:
			if n.Tok != token.CONST {
				return true
			}
			ast.Inspect(n, func(v ast.Node) bool {
				if s, ok := v.(*ast.SelectorExpr); ok && isVerdict(s) {
					list = append(list, name{s.Pos(), "the constant " + s.Sel.Name})
				}
				return true
			})
		}
		return true
	})
	return list
}

// isVerdict reports whether an expression is a name of a verdict of this package.
func isVerdict(s *ast.SelectorExpr) bool {
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == "verdict" && slices.ContainsFunc(slices.Concat(TwoSided, Limits), func(v Verdict) bool {
		return strings.EqualFold(strings.ReplaceAll(string(v), " ", ""), s.Sel.Name)
	})
}

// TestNamedIsFound checks that the search finds what it is for.
func TestNamedIsFound(t *testing.T) {
	const source = `package other
import "profdiff/internal/verdict"
const Worse = verdict.Regressed
type Kind string
const Odd Kind = Kind(verdict.NotComparable)
const level = verdict.Level
func f(v verdict.Verdict) bool { return v == verdict.Improved || string(v) == "unchanged" || v == "is unchanged" }
`
	file, err := parser.ParseFile(token.NewFileSet(), "other.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range named(file, map[string]bool{"unchanged": true}) {
		got = append(got, n.word)
	}
	if want := []string{"the constant Regressed", "the constant NotComparable", "unchanged"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
