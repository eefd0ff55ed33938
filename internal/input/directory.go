package input

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// IsRecording reports whether a directory is one recording: what perf record --threads or
// --kcore writes (tools/perf/Documentation/perf.data-directory-format.txt). Its file called
// data is a perf.data file. That says that there are others, data.0 and so on, or it has the
// kernel beside it, or nothing.
//
// So is one that criterion writes, see [Source.Tree].
func IsRecording(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir() && (isPerfData(dir) || criterionSample(os.DirFS(dir)) != "")
}

// isPerfData reports whether a directory is one that perf writes.
func isPerfData(dir string) bool {
	f, err := os.Open(filepath.Join(dir, "data"))
	if err != nil {
		return false
	}
	defer f.Close()
	// The bits for features follow the sizes and places of three sections.
	const features = 8 + 8 + 8 + 3*16
	const dirFormat = 24 // HEADER_DIR_FORMAT
	head := make([]byte, features+8)
	if n, _ := io.ReadFull(f, head); n < 8 {
		return false
	}
	var parts bool
	switch string(head[:8]) {
	case "PERFILE2":
		parts = head[features+dirFormat/8]&(1<<(dirFormat%8)) != 0
	case "2ELIFREP":
		parts = head[features+7-dirFormat/8]&(1<<(dirFormat%8)) != 0
	default:
		return false
	}
	if parts {
		return true
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if e.Name() == kernelCopy && e.IsDir() {
			return true
		}
	}
	return len(entries) == 1
}

// kernelCopy is the directory with what perf record --kcore keeps of the kernel.
const kernelCopy = "kcore_dir"

// maxKallsyms bounds a copy of /proc/kallsyms, some megabytes mostly.
const maxKallsyms = 256 << 20

// openDirectory opens a recording that is a directory.
func openDirectory(dir string, digests Digests) (*Source, error) {
	if !isPerfData(dir) {
		return openCriterion(dir, digests)
	}
	src, err := open(filepath.Join(dir, "data"), nil, digests)
	if err != nil {
		return nil, err
	}
	src.Name, src.Dir = dir, filepath.Dir(dir)
	if err := src.openParts(dir, digests); err != nil {
		return nil, errors.Join(err, src.Close())
	}
	return src, nil
}

// openParts opens what a directory has beside the file data.
func (s *Source) openParts(dir string, digests Digests) error {
	// perf numbers them without gaps.
	for i := 0; ; i++ {
		name := filepath.Join(dir, fmt.Sprintf("data.%d", i))
		if _, err := os.Stat(name); errors.Is(err, os.ErrNotExist) {
			break
		}
		part, err := open(name, nil, digests)
		if err != nil {
			return err
		}
		s.closers = append(s.closers, part)
		at, size, err := part.Random()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		s.Parts = append(s.Parts, io.NewSectionReader(at, 0, size))
	}
	name := filepath.Join(dir, kernelCopy, "kallsyms")
	if _, err := os.Stat(name); err == nil {
		return Read(name, nil, func(src *Source) (err error) {
			s.Kallsyms, err = src.ReadAll(maxKallsyms)
			return err
		})
	}
	return nil
}

// CriterionLatest is the directory that criterion keeps the last results of a benchmark in.
const CriterionLatest = "new"

// criterionSample finds the first results in a tree that criterion wrote, or a part of one:
// GROUP/FUNCTION/VALUE/new/sample.json. It is "" if there are none, or if the tree has several
// of criterion's below it: the file beside it says where in its tree it is.
func criterionSample(tree fs.FS) (first string) {
	const mostEntries, mostDepth = 10_000, 5
	seen := 0
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if seen++; err != nil || seen > mostEntries {
			return fs.SkipAll
		}
		if d.IsDir() && strings.Count(name, "/") >= mostDepth {
			return fs.SkipDir
		}
		if path.Base(name) == "sample.json" && path.Base(path.Dir(name)) == CriterionLatest {
			first = name
			return fs.SkipAll
		}
		return nil
	})
	if err != nil || first == "" {
		return ""
	}
	data, err := fs.ReadFile(tree, path.Join(path.Dir(first), "benchmark.json"))
	var benchmark struct {
		Directory string `json:"directory_name"`
	}
	at := path.Dir(path.Dir(first))
	if err != nil || json.Unmarshal(data, &benchmark) != nil || at != "." && !strings.HasSuffix(benchmark.Directory, at) {
		return ""
	}
	return first
}

// openCriterion opens what criterion wrote. The head is that of the first results.
func openCriterion(dir string, digests Digests) (*Source, error) {
	tree := os.DirFS(dir)
	src, err := open(filepath.Join(dir, filepath.FromSlash(criterionSample(tree))), nil, digests)
	if err != nil {
		return nil, err
	}
	src.Name, src.Dir, src.Tree = dir, filepath.Dir(dir), tree
	return src, nil
}
