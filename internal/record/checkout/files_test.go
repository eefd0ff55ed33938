package checkout

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/source"
)

// TestSource reads the text of commits and of the working tree, and checks nothing out.
func TestSource(t *testing.T) {
	r := newRepo(t)
	r.write("sub/Größe, 1.c", "int size;\n")
	if err := os.Symlink("/etc/passwd", filepath.Join(r.dir, "link.c")); err != nil {
		t.Skip(err)
	}
	first := r.commit("second")
	r.write("file", "2\n")
	r.write("large.c", strings.Repeat("x", source.MaxFile+1))
	r.commit("third")
	r.write("file", "changed\n")
	repository := r.open("sub")
	base, head, err := repository.Range(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	before, after := repository.Source(t.Context(), base), repository.Source(t.Context(), head)
	for _, test := range []struct {
		tree *source.Tree
		name string
		want source.Text
	}{
		{before, "/build/file", "1"},
		{after, "/build/file", "changed"},
		{before, "/build/sub/inner", "1"},
		{after, "sub/Größe, 1.c", "int size;"},
		{before, "link.c", ""},
		{after, "link.c", ""},
		{before, "large.c", ""},
		{after, "large.c", ""},
	} {
		if got := test.tree.Line(test.name, 1); got != test.want {
			t.Errorf("%s of %s: %q, want %q", test.name, test.tree.Title, got, test.want)
		}
	}
	if _, err := after.File("large.c"); err == nil || err.Error() != "large.c: has more than 32 MB" {
		t.Errorf("a large file: %v", err)
	}
	if !strings.HasSuffix(before.Title, " second") || !strings.HasSuffix(after.Title, " third (and 1 changed file)") {
		t.Errorf("the sides are %q and %q", before.Title, after.Title)
	}
	if list := strings.Count(r.git("worktree", "list"), "\n"); list != 0 {
		t.Errorf("%d worktrees are left", list)
	}
}

// TestFiles reads the files of an object of which nothing but the ID is known.
func TestFiles(t *testing.T) {
	r := newRepo(t)
	repository := r.open("")
	for _, id := range []string{r.git("rev-parse", "HEAD"), r.git("rev-parse", "HEAD^{tree}")} {
		files, err := repository.Files(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		list, err := files.List()
		if d := cmp.Diff([]string{"file", "sub/inner"}, list); d != "" || err != nil {
			t.Errorf("%v, %s", err, d)
		}
		if _, err := files.Read("../file"); !errors.Is(err, source.ErrNone) {
			t.Errorf("outside: %v", err)
		}
	}
	for _, id := range []string{strings.Repeat("1", 40), "--help", r.git("rev-parse", "HEAD:file")} {
		if _, err := repository.Files(t.Context(), id); err == nil || !strings.Contains(err.Error(), " does not have "+id) {
			t.Errorf("%s: %v", id, err)
		}
	}
}
