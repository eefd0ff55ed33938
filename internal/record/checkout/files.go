package checkout

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"profdiff/internal/source"
)

// maxTree is how many bytes the list of the files of a commit may have.
const maxTree = 256 << 20

// files are those of a commit, or of a tree of git.
type files struct {
	r       *Repository
	ctx     context.Context
	id      string
	objects map[string]object
}

// An object is a file of a commit.
type object struct {
	id   string
	size int64
}

// Source is the text of a revision.
func (r *Repository) Source(ctx context.Context, rev *Revision) *source.Tree {
	return source.New(rev.String(), &files{r: r, ctx: ctx, id: rev.checkout})
}

// Files are the files of an object of git, a commit or a tree: what it has as files, neither
// links nor submodules. The error says if the repository does not have it.
func (r *Repository) Files(ctx context.Context, id string) (source.Files, error) {
	if _, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", id+"^{tree}"); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("%s does not have %s", r.top, id)
	}
	return &files{r: r, ctx: ctx, id: id}, nil
}

func (f *files) List() (list []string, err error) {
	out, err := f.r.output(f.ctx, f.r.top, nil, maxTree, "ls-tree", "-r", "-z", "--long", "--full-tree", f.id)
	if err != nil {
		return nil, err
	}
	f.objects = make(map[string]object)
	for entry := range strings.SplitSeq(string(out), "\x00") {
		// git-ls-tree(1): mode, type, object, size; a tab; the path.
		about, name, _ := strings.Cut(entry, "\t")
		fields := strings.Fields(about)
		if len(fields) != 4 || fields[1] != "blob" || !strings.HasPrefix(fields[0], "100") {
			continue
		}
		size, err := strconv.ParseInt(fields[3], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("git ls-tree: %s: size %q", name, fields[3])
		}
		f.objects[name] = object{fields[2], size}
		list = append(list, name)
	}
	return list, nil
}

func (f *files) Read(name string) ([]byte, error) {
	o, ok := f.objects[name]
	switch {
	case !ok:
		return nil, fmt.Errorf("%s: %w", name, source.ErrNone)
	case o.size > source.MaxFile:
		return nil, source.TooLarge(name)
	}
	return f.r.output(f.ctx, f.r.top, nil, source.MaxFile, "cat-file", "blob", o.id)
}
