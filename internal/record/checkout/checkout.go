// Package checkout builds commits of a repository, so that both sides of a comparison can be
// recorded where they were built.
//
//  1. A range BASE..HEAD names two commits, as git-diff(1) has it; without HEAD, the working
//     tree is the head. Its tracked files become a commit of their own, which no branch has.
//  2. Each commit is checked out as a worktree (git-worktree(1)) in the cache of the user, with
//     the submodules that the repository has checked out, and built there by a command.
//  3. The repository forgets the worktree as soon as it is built, and keeps no trace of one
//     that could not be built. What was built stays in the cache for a day: the same commit
//     is not built twice, as for each step of git bisect.
//  4. The text of a commit's files is read without a checkout (git-cat-file(1)).
package checkout

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"profdiff/internal/record"
	"profdiff/internal/record/command"
	"profdiff/internal/scratch"
)

// A Repository is one of git, with a working tree.
type Repository struct {
	top    string // the working tree
	folder string // of the working tree that the caller was in, and where commands run
	cache  string // for what is built, "" if there is no folder for it
	env    []string
}

// Open finds the repository that a folder is in. Commands run in the same folder of each
// checkout.
func Open(ctx context.Context, dir string) (*Repository, error) {
	r := &Repository{top: dir, env: environment()}
	if cache, err := os.UserCacheDir(); err == nil {
		r.cache = filepath.Join(cache, "profdiff", "builds")
	}
	top, err := r.git(ctx, "rev-parse", "--show-toplevel")
	if errors.Is(err, command.ErrNotFound) {
		return nil, errors.New("git is not installed: install the package git")
	}
	// The last line of what git says of it is about the boundary if there is one above.
	if err != nil && (strings.Contains(err.Error(), "not a git repository") || strings.Contains(err.Error(), "filesystem boundary")) {
		return nil, errors.New("this folder is in no git repository: go to one of the repository that has the commits")
	}
	if err != nil {
		return nil, err
	}
	folder, err := r.git(ctx, "rev-parse", "--show-prefix")
	if err != nil {
		return nil, err
	}
	r.top, r.folder = top, folder
	return r, nil
}

// environment is that of this process without what git tells programs that it runs of one
// working tree, such as hooks.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"}, name)
	})
}

// git runs git in the working tree and returns what it printed.
func (r *Repository) git(ctx context.Context, args ...string) (string, error) {
	return r.gitIn(ctx, r.top, nil, args...)
}

func (r *Repository) gitIn(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	out, err := r.output(ctx, dir, env, 0, args...)
	return strings.TrimSuffix(string(out), "\n"), err
}

// output runs git and returns the end of what it printed, up to limit bytes, or as many as
// package command keeps.
func (r *Repository) output(ctx context.Context, dir string, env []string, limit int, args ...string) ([]byte, error) {
	stderr := &command.Tail{Max: 64 << 10}
	// Hooks are for those who work in a checkout.
	argv := append([]string{"git", "-c", "core.hooksPath=/dev/null", "-c", "advice.detachedHead=false"}, args...)
	done, err := command.Program{Argv: argv, Dir: dir, Env: append(slices.Clip(r.env), env...), Stderr: stderr, MaxOutput: limit}.Run(ctx)
	if exit, ok := errors.AsType[*command.ExitError](err); ok {
		text := strings.TrimPrefix(exit.Stderr, "fatal: ")
		if text == "" {
			text = exit.State
		}
		return nil, fmt.Errorf("git %s: %s", args[0], text)
	}
	if err != nil {
		return nil, err
	}
	return done.Output, nil
}

// A Revision is a commit that can be checked out.
type Revision struct {
	record.Commit
	checkout string // the commit to check out, which is another one for a working tree
	notes    []string
}

// Same reports whether two revisions have the same files.
func (r *Revision) Same(o *Revision) bool { return r.checkout == o.checkout }

// Range finds the two ends of BASE..HEAD, of BASE...HEAD, whose base is where both parted, or of
// BASE, whose head is the working tree. What is left out is HEAD, but at the end it is the
// working tree.
func (r *Repository) Range(ctx context.Context, text string) (base, head *Revision, err error) {
	from, to, parted := strings.Cut(text, "...")
	if !parted {
		from, to, _ = strings.Cut(text, "..")
	}
	if from == "" {
		from = "HEAD"
	}
	if to == "" {
		head, err = r.workingTree(ctx)
	} else {
		head, err = r.commit(ctx, to)
	}
	if err != nil {
		return nil, nil, err
	}
	if parted {
		merge, err := r.git(ctx, "merge-base", "--end-of-options", from, head.ID)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: no commit is where both sides parted: fetch the history (git fetch --unshallow)", text)
		}
		from = merge
	}
	base, err = r.commit(ctx, from)
	return base, head, err
}

// commit finds a commit by any of its names.
func (r *Repository) commit(ctx context.Context, name string) (*Revision, error) {
	id, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("no commit %s in %s: a shallow clone has to fetch its history (git fetch --unshallow, fetch-depth: 0)", name, r.top)
	}
	subject, err := r.git(ctx, "log", "-1", "--format=%s", id)
	if err != nil {
		return nil, err
	}
	return &Revision{Commit: record.Commit{ID: id, Subject: subject}, checkout: id}, nil
}

// workingTree is the commit that is checked out, with what was changed in the files that git
// tracks.
func (r *Repository) workingTree(ctx context.Context) (*Revision, error) {
	head, err := r.commit(ctx, "HEAD")
	if err != nil {
		return nil, err
	}
	status, err := r.git(ctx, "status", "--porcelain=v2", "--untracked-files=normal")
	if err != nil {
		return nil, err
	}
	untracked := 0
	for line := range strings.Lines(status) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 9) // git-status(1), Porcelain Format Version 2
		switch {
		case fields[0] == "?":
			untracked++
		case fields[0] == "u":
			return nil, fmt.Errorf("%s: a merge is not finished: %s has conflicts", r.top, strings.TrimSpace(line[strings.LastIndexByte(line, ' ')+1:]))
		default:
			head.Changed++
			// The third field is of a submodule: S, then C, M and U for another commit, for files
			// that changed, and for files that git does not track.
			if strings.HasPrefix(fields[2], "S") && strings.ContainsAny(fields[2][2:], "MU") {
				head.notes = append(head.notes, fmt.Sprintf("the submodule %s is built as its commit is: changes in it are left out", fields[8]))
			}
		}
	}
	if untracked > 0 {
		head.notes = append(head.notes, fmt.Sprintf("%d files or folders that git does not track are left out: git add -N what belongs to the change", untracked))
	}
	if head.Changed == 0 {
		return head, nil
	}
	// The index of the user stays as it is.
	index, forget, err := scratch.Dir("", "profdiff-index-")
	if err != nil {
		return nil, err
	}
	defer forget()
	defer os.RemoveAll(index)
	env := []string{
		"GIT_INDEX_FILE=" + filepath.Join(index, "index"),
		// The same files are the same commit.
		"GIT_AUTHOR_NAME=profdiff", "GIT_AUTHOR_EMAIL=profdiff", "GIT_AUTHOR_DATE=2000-01-01T00:00:00Z",
		"GIT_COMMITTER_NAME=profdiff", "GIT_COMMITTER_EMAIL=profdiff", "GIT_COMMITTER_DATE=2000-01-01T00:00:00Z",
	}
	users, err := r.git(ctx, "rev-parse", "--git-path", "index")
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(users) {
		users = filepath.Join(r.top, users)
	}
	text, err := os.ReadFile(users)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(index, "index"), text, 0o666); err != nil {
		return nil, err
	}
	if _, err := r.gitIn(ctx, r.top, env, "add", "--update", "."); err != nil {
		return nil, err
	}
	if head.Tree, err = r.gitIn(ctx, r.top, env, "write-tree"); err != nil {
		return nil, err
	}
	head.checkout, err = r.gitIn(ctx, r.top, env, "commit-tree", "-p", head.ID, "-m", "working tree of "+head.Subject, head.Tree)
	return head, err
}
