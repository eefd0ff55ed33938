package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"profdiff/internal/record/checkout"
	"profdiff/internal/run"
	"profdiff/internal/source"
)

// sourceFlags say where a report takes source text from.
type sourceFlags struct {
	both, before, after string // directories
	revisions, repo     string
}

func (f *sourceFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.both, "html-source", "", "show source text of both sides from `DIR` and full paths in the report")
	fs.StringVar(&f.before, "html-source-before", "", "show source text of BEFORE from `DIR`")
	fs.StringVar(&f.after, "html-source-after", "", "show source text of AFTER from `DIR`")
	fs.StringVar(&f.revisions, "html-source-git", "", "show source text of two commits, `BASE..HEAD`, or BASE and the working tree (default: those that record --git built)")
	fs.StringVar(&f.repo, "html-source-repo", "", "take these commits from the repository in `DIR` (default: from that of the working directory)")
}

// named is the first flag that was given, "" if none was.
func (f *sourceFlags) named() string {
	for _, flag := range [][2]string{
		{f.both, "--html-source"}, {f.before, "--html-source-before"}, {f.after, "--html-source-after"}, {f.revisions, "--html-source-git"}, {f.repo, "--html-source-repo"},
	} {
		if flag[0] != "" {
			return flag[1]
		}
	}
	return ""
}

// check refuses flags that contradict each other.
func (f *sourceFlags) check(cmd *cobra.Command) error {
	directories := f.both != "" || f.before != "" || f.after != ""
	switch {
	case f.both != "" && (f.before != "" || f.after != ""):
		return usagef(cmd, "--html-source is the text of both sides: give it, or --html-source-before and --html-source-after")
	case f.revisions != "" && directories:
		return usagef(cmd, "%s and --html-source-git exclude each other: source text is in directories, or in commits", f.named())
	case f.repo != "" && directories:
		return usagef(cmd, "%s and --html-source-repo exclude each other: source text is in directories, or in commits", f.named())
	}
	for _, dir := range [][2]string{{f.both, "--html-source"}, {f.before, "--html-source-before"}, {f.after, "--html-source-after"}, {f.repo, "--html-source-repo"}} {
		if dir[0] != "" && !isDir(dir[0]) {
			return fmt.Errorf("%s: %s is not a directory", dir[1], dir[0])
		}
	}
	return nil
}

// sides is the source text of both sides. What no flag names is that of the commits that were
// recorded, if they are here.
func (f *sourceFlags) sides(ctx context.Context, base, head []*run.Run) (s source.Sides, err error) {
	if f.both != "" || f.before != "" || f.after != "" {
		if s.Base, err = directory(cmp.Or(f.before, f.both)); err == nil {
			s.Head, err = directory(cmp.Or(f.after, f.both))
		}
		return s, err
	}
	recorded := len(base) > 0 && base[0].Recording.Tree != "" || len(head) > 0 && head[0].Recording.Tree != ""
	switch {
	case f.revisions == "" && f.repo != "" && !recorded:
		return s, fmt.Errorf("--html-source-repo: the recordings name no commits: record --git does; name them by --html-source-git BASE..HEAD")
	case f.revisions == "" && !recorded:
		return s, nil
	}
	r, err := checkout.Open(ctx, cmp.Or(f.repo, "."))
	if f.revisions != "" {
		if err != nil {
			return s, fmt.Errorf("--html-source-git: %w", err)
		}
		before, after, err := r.Range(ctx, f.revisions)
		if err != nil {
			return s, fmt.Errorf("--html-source-git: %w", err)
		}
		return source.Sides{Base: r.Source(ctx, before), Head: r.Source(ctx, after)}, nil
	}
	if err == nil {
		if s.Base, err = recordedTree(ctx, r, base); err == nil {
			s.Head, err = recordedTree(ctx, r, head)
		}
	}
	switch {
	case ctx.Err() != nil:
		return s, context.Cause(ctx)
	case err != nil && f.repo != "":
		return s, fmt.Errorf("--html-source-repo: %w", err)
	case err != nil:
		return source.Sides{}, nil // this is another repository, or none
	}
	return s, nil
}

// recordedTree is the commit that runs are of, nil if they name none.
func recordedTree(ctx context.Context, r *checkout.Repository, runs []*run.Run) (*source.Tree, error) {
	if len(runs) == 0 || runs[0].Recording.Tree == "" {
		return nil, nil
	}
	files, err := r.Files(ctx, runs[0].Recording.Tree)
	if err != nil {
		return nil, err
	}
	t := source.New(runs[0].Recording.Commit, files)
	t.Built = runs[0].Recording.Dir
	return t, nil
}

// directory is the text below a directory, nil if there is none.
func directory(dir string) (*source.Tree, error) {
	if dir == "" {
		return nil, nil
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir) // closed with the process
	if err != nil {
		return nil, err
	}
	return source.New(filepath.Base(abs), source.Directory(root.FS())), nil
}
