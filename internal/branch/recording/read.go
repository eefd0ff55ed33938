// Package recording is the door to what recordings say of branches.
//
//  1. The start of a file tells its format.
//  2. Of perf.data, samples go to both who collect branch stacks and who collect single
//     addresses and counters; when all have been read, stacks are taken if there are any.
//     Other formats have one reader each.
//  3. Totals of perf stat, if the user gave any, replace those of samples.
package recording

import (
	"errors"
	"io"
	"slices"

	"profdiff/internal/branch"
	"profdiff/internal/branch/simulated"
	"profdiff/internal/branch/stacks"
	"profdiff/internal/branch/totals"
	"profdiff/internal/callgrind"
	"profdiff/internal/perffile"
)

// Read reads what a perf.data file, the text of perf script, callgrind.out or
// cachegrind.out, or the text of perf stat or simpleperf stat says of branches, of size
// bytes. name is what the user called it.
func Read(name string, r io.ReaderAt, size int64, opt *branch.Options) (*branch.Table, error) {
	t, err := read(name, r, size, opt)
	if err == nil && opt.Stat != nil && t.Sampled == nil {
		err = totals.Use(t, opt.Stat)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

func read(name string, r io.ReaderAt, size int64, opt *branch.Options) (*branch.Table, error) {
	head := make([]byte, 4096)
	n, err := r.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch head = head[:n]; {
	case n == 0:
		return nil, errors.New("is empty")
	case perffile.IsPerfData(head):
		return readPerfData(name, r, size, opt)
	case n > 2 && head[0] == 0x1f && head[1] == 0x8b:
		return nil, errors.New("is compressed with gzip: decompress it first")
	}
	if slices.Contains(head[:min(n, 8)], 0) {
		return nil, errors.New("is neither perf.data nor the text of perf script -F +brstack, nor callgrind.out")
	}
	if branch.IsStatText(head) {
		s, err := branch.ReadStatText(name, io.NewSectionReader(r, 0, size))
		if err != nil {
			return nil, err
		}
		return totals.Table(s, opt)
	}
	if callgrind.Detect(head) {
		return simulated.Read(name, r, size, opt)
	}
	return stacks.ReadScript(name, r, size, opt)
}
