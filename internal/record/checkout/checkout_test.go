package checkout

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A repo is a repository of a test.
type repo struct {
	t   *testing.T
	dir string
}

// newRepo has one commit of a file and a folder.
func newRepo(t *testing.T) *repo {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	for name, value := range map[string]string{
		"HOME": t.TempDir(), "XDG_CACHE_HOME": t.TempDir(), "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null",
		"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a",
	} {
		t.Setenv(name, value)
	}
	r := &repo{t, filepath.Join(t.TempDir(), "project")}
	if err := os.Mkdir(r.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	r.git("init", "--quiet", "--initial-branch=main")
	r.write("file", "1\n")
	r.write("sub/inner", "1\n")
	r.commit("first")
	return r
}

func (r *repo) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *repo) write(name, text string) {
	r.t.Helper()
	name = filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		r.t.Fatal(err)
	}
}

func (r *repo) commit(subject string) string {
	r.git("add", "--all")
	r.git("commit", "--quiet", "--message", subject)
	return r.git("rev-parse", "HEAD")
}

func (r *repo) open(folder string) *Repository {
	r.t.Helper()
	opened, err := Open(r.t.Context(), filepath.Join(r.dir, folder))
	if err != nil {
		r.t.Fatal(err)
	}
	return opened
}

// untouched checks that the repository knows of one worktree, and that nothing changed in it.
func (r *repo) untouched(status string) {
	r.t.Helper()
	if list := r.git("worktree", "list", "--porcelain"); strings.Count(list, "worktree ") != 1 {
		r.t.Errorf("worktrees: %s", list)
	}
	if got := r.git("status", "--porcelain"); got != status {
		r.t.Errorf("status %q, was %q", got, status)
	}
}

func contents(t *testing.T, names ...string) (list []string) {
	t.Helper()
	for _, name := range names {
		text, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) {
			text = []byte("none")
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, strings.TrimSpace(string(text)))
	}
	return list
}

func TestRange(t *testing.T) {
	r := newRepo(t)
	first := r.git("rev-parse", "HEAD")
	r.git("checkout", "--quiet", "-b", "topic")
	r.write("file", "topic\n")
	topic := r.commit("on the topic")
	r.git("checkout", "--quiet", "main")
	r.write("file", "main\n")
	main := r.commit("on main")
	r.git("tag", "-a", "-m", "a release", "v1")
	opened := r.open(".")
	for _, test := range []struct{ text, base, head, err string }{
		{text: "main..topic", base: main, head: topic},
		{text: "main...topic", base: first, head: topic},
		{text: "HEAD^..HEAD", base: first, head: main},
		{text: "v1..topic", base: main, head: topic},
		{text: "..topic", base: main, head: topic},
		{text: "topic..", base: topic, head: main},
		{text: "topic...", base: first, head: main},
		{text: "topic", base: topic, head: main},
		{text: "..", base: main, head: main},
		{text: first[:8] + "..v1", base: first, head: main},
		{text: "nowhere..topic", err: "no commit nowhere in " + r.dir},
		{text: "main..nowhere", err: "no commit nowhere in "},
		{text: "nowhere...topic", err: "no commit is where both sides parted"},
		{text: "--all..topic", err: "no commit --all in "},
	} {
		base, head, err := opened.Range(t.Context(), test.text)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: error %v, want %s", test.text, err, test.err)
			}
			continue
		}
		if err != nil || base.ID != test.base || head.ID != test.head || head.Changed != 0 {
			t.Errorf("%s: %+v, %+v, %v", test.text, base, head, err)
		}
	}
	if _, err := Open(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "is in no git repository: go to one of") {
		t.Errorf("no repository: %v", err)
	}
}

// A commit is built once, apart from the repository, which keeps no trace of that.
func TestBuild(t *testing.T) {
	r := newRepo(t)
	first := r.git("rev-parse", "HEAD")
	r.write("file", "2\n")
	r.commit("second")
	r.write("file", "3\n") // not committed
	for _, folder := range []string{".", "sub"} {
		opened := r.open(folder)
		base, head, err := opened.Range(t.Context(), "HEAD^..HEAD")
		if err != nil {
			t.Fatal(err)
		}
		if base.String() != first[:10]+" first" {
			t.Errorf("base is %s", base)
		}
		log := filepath.Join(t.TempDir(), "log")
		command := "git rev-parse HEAD >commit && pwd >>" + log
		var dirs []string
		for range 2 {
			for _, rev := range []*Revision{base, head} {
				b, err := opened.Build(t.Context(), rev, command, func(string) {})
				if err != nil {
					t.Fatal(err)
				}
				defer b.Close()
				dirs = append(dirs, b.Dir)
				top := filepath.Join(b.Dir, map[string]string{".": ".", "sub": ".."}[folder])
				want := []string{map[*Revision]string{base: "1", head: "2"}[rev], rev.ID, "none"}
				if diff := cmp.Diff(want, contents(t, filepath.Join(top, "file"), filepath.Join(b.Dir, "commit"), filepath.Join(top, ".git"))); diff != "" {
					t.Errorf("%s of %s: %s", folder, rev, diff)
				}
				if b.Commit.Build != command || b.Commit.ID != rev.ID {
					t.Errorf("noted %+v", b.Commit)
				}
			}
		}
		if dirs[0] != dirs[2] || dirs[1] != dirs[3] || len(dirs[0]) != len(dirs[1]) {
			t.Errorf("built in %v", dirs)
		}
		if built := strings.Fields(contents(t, log)[0]); !slices.Equal(built, dirs[:2]) {
			t.Errorf("in %s built in %v, want %v", folder, built, dirs[:2])
		}
		r.untouched("M file")
	}
}

// The working tree is what git tracks, as it is; the index stays as it is, too.
func TestWorkingTree(t *testing.T) {
	r := newRepo(t)
	base := r.git("rev-parse", "HEAD")
	r.write("file", "changed\n")
	r.write("added", "added\n")
	r.git("add", "added")
	r.write("added", "and changed\n")
	r.write("intended", "intended\n")
	r.git("add", "--intent-to-add", "intended")
	r.write("untracked", "untracked\n")
	if err := os.Remove(filepath.Join(r.dir, "sub/inner")); err != nil {
		t.Fatal(err)
	}
	status := r.git("status", "--porcelain")
	staged := r.git("diff", "--cached")
	opened := r.open(".")
	var notes []string
	var ids []string
	for range 2 {
		_, head, err := opened.Range(t.Context(), "HEAD")
		if err != nil {
			t.Fatal(err)
		}
		if head.ID != base || head.Changed != 4 || head.Tree == "" || !strings.HasSuffix(head.String(), " first (and 4 changed files)") {
			t.Errorf("head %+v: %s", head, head)
		}
		ids = append(ids, head.checkout)
		notes = nil
		b, err := opened.Build(t.Context(), head, "", func(note string) { notes = append(notes, note) })
		if err != nil {
			t.Fatal(err)
		}
		b.Close()
		var names []string
		for _, name := range []string{"file", "added", "intended", "untracked", "sub/inner"} {
			names = append(names, filepath.Join(b.Dir, name))
		}
		if diff := cmp.Diff([]string{"changed", "and changed", "intended", "none", "none"}, contents(t, names...)); diff != "" {
			t.Errorf("built: %s", diff)
		}
	}
	if ids[0] != ids[1] {
		t.Errorf("the same files are the commits %v", ids)
	}
	if diff := cmp.Diff([]string{"1 files or folders that git does not track are left out: git add -N what belongs to the change"}, notes); diff != "" {
		t.Errorf("notes: %s", diff)
	}
	if got := r.git("diff", "--cached"); got != staged {
		t.Errorf("staged is %s, was %s", got, staged)
	}
	r.untouched(status)
}

// A commit that cannot be built is told with the end of what its build said, in one line, and
// leaves nothing.
func TestBuildFails(t *testing.T) {
	r := newRepo(t)
	opened := r.open("sub")
	_, head, err := opened.Range(t.Context(), "..HEAD")
	if err != nil {
		t.Fatal(err)
	}
	interrupted, stop := context.WithCancel(t.Context())
	for _, test := range []struct {
		name, build, err string
		ctx              context.Context
		tell             func(string)
	}{
		{
			"fails", "echo to standard output; echo; echo and error >&2; exit 7",
			": exit status 7: to standard output | and error", t.Context(), func(string) {},
		},
		{"says nothing", "exit 1", ": exit status 1: it printed nothing", t.Context(), func(string) {}},
		{"is interrupted", "sleep 1000", "context canceled", interrupted, func(string) { time.AfterFunc(200*time.Millisecond, stop) }},
	} {
		_, err := opened.Build(test.ctx, head, test.build, test.tell)
		if err == nil || !strings.HasSuffix(err.Error(), test.err) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", test.name, err)
		}
		_, cannot := errors.AsType[*BuildError](err)
		if cannot == (test.ctx == interrupted) {
			t.Errorf("%s: %T", test.name, err)
		}
		if places, _ := filepath.Glob(filepath.Join(opened.cache, "*-*[0-9a-f]")); len(places) > 0 {
			t.Errorf("%s: left behind %v", test.name, places)
		}
		r.untouched("")
	}
	r.git("rm", "--quiet", "-r", "sub")
	r.commit("without the folder")
	gone, err := opened.commit(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := opened.Build(t.Context(), gone, "", func(string) {}); err == nil || !strings.HasSuffix(err.Error(), "without the folder: cannot be built: has no folder sub/") {
		t.Errorf("no folder: %v", err)
	}
}

// Submodules are taken from where they are checked out; those that are not stay so.
func TestSubmodules(t *testing.T) {
	r := newRepo(t)
	library := &repo{t, filepath.Join(t.TempDir(), "library")}
	if err := os.Mkdir(library.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	library.git("init", "--quiet")
	library.write("code", "1\n")
	library.commit("first")
	for _, name := range []string{"used", "unused"} {
		r.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library.dir, name)
	}
	r.git("submodule", "--quiet", "deinit", "--force", "unused")
	r.commit("a library")
	inner := &repo{t, filepath.Join(r.dir, "used")}
	inner.write("code", "2\n")
	inner.commit("second")
	r.commit("a newer library")
	if err := os.Rename(library.dir, library.dir+" is gone"); err != nil {
		t.Fatal(err)
	}
	opened := r.open(".")
	base, head, err := opened.Range(t.Context(), "HEAD^")
	if err != nil {
		t.Fatal(err)
	}
	for i, rev := range []*Revision{base, head} {
		b, err := opened.Build(t.Context(), rev, "cat used/code", func(string) {})
		if err != nil {
			t.Fatal(err)
		}
		b.Close()
		if diff := cmp.Diff([]string{fmt.Sprint(i + 1), "none"}, contents(t, filepath.Join(b.Dir, "used/code"), filepath.Join(b.Dir, "unused/code"))); diff != "" {
			t.Errorf("%s: %s", rev, diff)
		}
	}
	r.untouched("")
	inner.write("code", "3\n")
	_, head, err = opened.Range(t.Context(), "HEAD")
	if err != nil || len(head.notes) != 1 || head.notes[0] != "the submodule used is built as its commit is: changes in it are left out" {
		t.Errorf("changes in a submodule: %v, %v", head.notes, err)
	}
}

// Two who need the same commit build it once, and one of them waits.
func TestBuildAtOnce(t *testing.T) {
	r := newRepo(t)
	log := filepath.Join(t.TempDir(), "log")
	var wait sync.WaitGroup
	for range 3 {
		opened := r.open(".")
		_, head, err := opened.Range(t.Context(), "HEAD")
		if err != nil {
			t.Fatal(err)
		}
		wait.Go(func() {
			b, err := opened.Build(t.Context(), head, "sleep 0.2; echo x >>"+log, func(string) {})
			if err != nil {
				t.Error(err)
				return
			}
			b.Close()
		})
	}
	wait.Wait()
	if got := contents(t, log)[0]; got != "x" {
		t.Errorf("built %d times", strings.Count(got, "x"))
	}
}

// What is old, or one too many, or was never finished, goes, unless it is in use.
func TestPrune(t *testing.T) {
	r := newRepo(t)
	opened := r.open(".")
	_, head, err := opened.Range(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	build := func(i int) *Build {
		t.Helper()
		b, err := opened.Build(t.Context(), head, fmt.Sprint("true ", i), func(string) {})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	exists := func(b *Build) bool {
		_, err := os.Stat(b.Dir)
		return err == nil
	}
	used, unused, killed := build(1), build(2), build(3)
	unused.Close()
	killed.Close()
	yesterday := time.Now().Add(-maxAge - time.Minute)
	for _, b := range []*Build{used, unused} {
		if err := os.Chtimes(filepath.Dir(b.Dir), yesterday, yesterday); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(filepath.Dir(killed.Dir), builtName)); err != nil {
		t.Fatal(err)
	}
	prune(opened.cache)
	if !exists(used) || exists(unused) || exists(killed) {
		t.Errorf("used stays %v, unused stays %v, killed stays %v", exists(used), exists(unused), exists(killed))
	}
	used.Close()
	var builds []*Build
	for i := range maxBuilds + 2 {
		b := build(10 + i)
		b.Close()
		at := time.Now().Add(time.Duration(i-100) * time.Second)
		if err := os.Chtimes(filepath.Join(filepath.Dir(b.Dir), builtName), at, at); err != nil {
			t.Fatal(err)
		}
		builds = append(builds, b)
	}
	prune(opened.cache)
	for i, b := range builds {
		if exists(b) != (i >= 2) {
			t.Errorf("build %d of %d, the last one was used last: stays %v", i+1, len(builds), exists(b))
		}
	}
	if locks, _ := filepath.Glob(filepath.Join(opened.cache, "*"+lockName)); len(locks) != maxBuilds {
		t.Errorf("%d locks", len(locks))
	}
}

// A hook, which git tells its repository, may name another one.
func TestEnvironment(t *testing.T) {
	r := newRepo(t)
	t.Setenv("GIT_DIR", filepath.Join(t.TempDir(), "none"))
	opened := r.open(".")
	if _, _, err := opened.Range(t.Context(), "HEAD"); err != nil {
		t.Error(err)
	}
}
