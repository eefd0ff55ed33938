package check

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"strings"

	"profdiff/internal/report/text"
	"profdiff/internal/verdict"
)

// Options say how outcomes are written for CI systems.
type Options struct {
	Tool, Version string
	// SourceRoot is the directory that files are named relative to, "" for none.
	SourceRoot string
}

// maxAnnotations is the number of annotations: GitHub shows ten of a kind for each step and
// drops the others without notice.
const maxAnnotations = 9

// WriteAnnotations writes the outcome and the worst results as workflow commands of GitHub
// Actions, and how many more there are.
func WriteAnnotations(w io.Writer, o *Document, opt Options) error {
	var b strings.Builder
	command := map[verdict.Verdict]string{verdict.Fail: "error", verdict.Inconclusive: "warning", verdict.Warn: "warning"}
	fmt.Fprintf(&b, "::%s title=%s::%s\n", cmp.Or(command[o.Outcome], "notice"), commandProperty("performance budgets"), commandData(o.Sentence()))
	n, more := 0, 0
	for _, r := range worstFirst(o) {
		if command[r.Verdict] == "" {
			continue
		}
		if n == maxAnnotations {
			more++
			continue
		}
		n++
		file, line := place(r, o, opt)
		fmt.Fprintf(&b, "::%s file=%s,line=%d,title=%s::%s\n", command[r.Verdict],
			commandProperty(file), line, commandProperty("budget: "+r.ID), commandData(message(r)))
	}
	if more > 0 {
		fmt.Fprintf(&b, "::notice::%d more budgets did not pass, see the summary\n", more)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// commandData escapes the message of a workflow command, and commandProperty a property:
// escapeData and escapeProperty of actions/toolkit.
func commandData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func commandProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(commandData(text.Printable(s)))
}

// place is where a result is shown: where its heaviest function starts, if that is in
// the source root, else its budget in the budget file.
func place(r *Budget, o *Document, opt Options) (file string, line int64) {
	if f, ok := relativePath(r.Location.File, opt.SourceRoot); ok && r.Location.Line > 0 {
		return f, r.Location.Line
	}
	file = cmp.Or(r.File, o.File)
	if f, ok := relativePath(file, opt.SourceRoot); ok {
		file = f
	}
	return file, max(int64(r.Line), 1)
}

// relativePath names a file relative to a directory that it is in.
func relativePath(file, root string) (string, bool) {
	file = path.Clean(strings.ReplaceAll(file, `\`, "/"))
	root = strings.TrimSuffix(strings.ReplaceAll(root, `\`, "/"), "/")
	if path.IsAbs(file) {
		inside, ok := strings.CutPrefix(file, root+"/")
		if !ok || root == "" {
			return "", false
		}
		file = inside
	}
	if file == "." || file == ".." || strings.HasPrefix(file, "../") {
		return "", false
	}
	return file, true
}
