package checkout

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"profdiff/internal/record"
	"profdiff/internal/record/command"
)

// A Build is a commit that was checked out and built.
type Build struct {
	Commit record.Commit
	// Dir is where commands run.
	Dir string

	lock *lock
}

// Close lets the cache forget what was built, some time.
func (b *Build) Close() { b.lock.unlock() }

// A BuildError is a commit that cannot be built.
type BuildError struct {
	Commit record.Commit
	Reason string
}

func (e *BuildError) Error() string {
	return fmt.Sprintf("%s: cannot be built: %s", &e.Commit, e.Reason)
}

// Build checks out a revision and runs a command there; "" runs none. tell is told what takes
// time.
func (r *Repository) Build(ctx context.Context, rev *Revision, build string, tell func(string)) (*Build, error) {
	if r.cache == "" {
		return nil, errors.New("there is no folder for builds: set XDG_CACHE_HOME or HOME")
	}
	b := &Build{Commit: rev.Commit}
	b.Commit.Build = build
	for _, note := range rev.notes {
		tell(note)
	}
	prune(r.cache)
	place := filepath.Join(r.cache, r.key(rev, build))
	wait := func() { tell(fmt.Sprintf("%s: waiting for another process that builds it", &b.Commit)) }
	built := false
	var err error
	b.lock, err = obtain(ctx, place, wait, func() error {
		built = true
		begin := time.Now()
		if build != "" {
			tell(fmt.Sprintf("%s: %s", &b.Commit, build))
		}
		err := r.build(ctx, rev, build, place)
		if build != "" && err == nil {
			tell(fmt.Sprintf("%s: built in %.1f s", &b.Commit, time.Since(begin).Seconds()))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(place); err == nil && !built && build != "" {
		tell(fmt.Sprintf("%s: built at %s", &b.Commit, info.ModTime().Format(time.TimeOnly)))
	}
	now := time.Now()
	if err := os.Chtimes(filepath.Join(place, builtName), now, now); err != nil {
		b.Close()
		return nil, err
	}
	b.Dir = filepath.Join(place, treeName, filepath.FromSlash(r.folder))
	return b, nil
}

// build leaves a built tree in its place, or nothing at all.
func (r *Repository) build(ctx context.Context, rev *Revision, build, place string) (err error) {
	tree := filepath.Join(place, treeName)
	// What an earlier process left when it was killed. The repository may know nothing of it.
	_ = r.remove(tree)
	if err := os.RemoveAll(place); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = r.remove(tree)
			_ = os.RemoveAll(place)
		}
	}()
	if err := os.MkdirAll(place, 0o777); err != nil {
		return err
	}
	if _, err := r.git(ctx, "worktree", "add", "--quiet", "--force", "--detach", tree, rev.checkout); err != nil {
		return err
	}
	if err := r.submodules(ctx, r.top, tree); err != nil {
		return &BuildError{rev.Commit, err.Error()}
	}
	if err := r.make(ctx, rev, build, filepath.Join(tree, filepath.FromSlash(r.folder))); err != nil {
		return err
	}
	// The repository forgets a worktree that is not there.
	aside := filepath.Join(place, "built-tree")
	if err := os.Rename(tree, aside); err != nil {
		return err
	}
	if err := r.remove(tree); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(aside, ".git")); err != nil {
		return err
	}
	if err := os.Rename(aside, tree); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(place, builtName), nil, 0o666)
}

// remove has the repository remove a worktree, also after an interruption.
func (r *Repository) remove(tree string) error {
	_, err := r.git(context.Background(), "worktree", "remove", "--force", tree)
	return err
}

// make runs the command that builds a checkout.
func (r *Repository) make(ctx context.Context, rev *Revision, build, dir string) error {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return &BuildError{rev.Commit, "has no folder " + r.folder}
	}
	if build == "" {
		return nil
	}
	// Errors come last in what a build prints, wherever it does so.
	done, err := command.Program{Argv: []string{"/bin/sh", "-c", "exec 2>&1\n" + build}, Dir: dir, Env: r.env}.Run(ctx)
	exit, failed := errors.AsType[*command.ExitError](err)
	if !failed || ctx.Err() != nil {
		return err
	}
	return &BuildError{rev.Commit, fmt.Sprintf("%s: %s: %s", build, exit.State, lastLines(done.Output))}
}

// lastLines are the last lines of what a program printed, as one.
func lastLines(output []byte) string {
	const most = 5
	var lines []string
	for _, line := range slices.Backward(bytes.Split(output, []byte("\n"))) {
		if line = bytes.TrimSpace(line); len(line) > 0 && len(lines) < most {
			lines = append(lines, string(line[:min(len(line), 200)]))
		}
	}
	slices.Reverse(lines)
	if len(lines) == 0 {
		return "it printed nothing"
	}
	return strings.Join(lines, " | ")
}

// submodules checks out the submodules of a worktree that the working tree, or the one of
// those submodules, has: from there, without a network.
func (r *Repository) submodules(ctx context.Context, from, to string) error {
	if _, err := os.Stat(filepath.Join(to, ".gitmodules")); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	// 160000 is the mode of a commit among files.
	list, err := r.gitIn(ctx, to, nil, "ls-files", "--stage", "-z")
	if err != nil {
		return err
	}
	for entry := range strings.SplitSeq(list, "\x00") {
		meta, path, _ := strings.Cut(entry, "\t")
		f := strings.Fields(meta)
		if len(f) < 2 || f[0] != "160000" {
			continue
		}
		source, target := filepath.Join(from, path), filepath.Join(to, path)
		if _, err := os.Stat(filepath.Join(source, ".git")); err != nil {
			continue // as the user has it
		}
		if _, err := r.gitIn(ctx, to, nil, "clone", "--quiet", "--shared", "--no-checkout", source, target); err != nil {
			return err
		}
		if _, err := r.gitIn(ctx, target, nil, "checkout", "--quiet", "--detach", f[1]); err != nil {
			return fmt.Errorf("submodule %s: %w: fetch it (git submodule update --init)", path, err)
		}
		if err := r.submodules(ctx, source, target); err != nil {
			return err
		}
	}
	return nil
}

// key names a build: of the same commit in the same repository, by the same command and with
// the same tools. Keys are of one length, as a program may run slower for the length of its path.
func (r *Repository) key(rev *Revision, build string) string {
	h := sha256.New()
	for _, text := range []string{r.top, r.folder, rev.checkout, build} {
		fmt.Fprintf(h, "%s\x00", text)
	}
	for _, name := range []string{"PATH", "CC", "CXX", "CPPFLAGS", "CFLAGS", "CXXFLAGS", "LDFLAGS", "GOFLAGS", "GOARCH", "GOAMD64", "CGO_ENABLED", "RUSTFLAGS", "RUSTUP_TOOLCHAIN", "CARGO_BUILD_TARGET", "JAVA_HOME"} {
		fmt.Fprintf(h, "%s\x00", os.Getenv(name))
	}
	return fmt.Sprintf("%s-%.12s-%.8x", filepath.Base(r.top), rev.checkout, h.Sum(nil))
}
